"""Make a seeded instance; the same arguments give the same instance.

`graphpart generate FAMILY --help` lists the parameters of a family.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphpart.cli import arguments
from graphpart.cli.files import write_labels, write_problem
from graphpart.errors import InvalidOption

if TYPE_CHECKING:
    from graphpart.generate import Parameter

NAME = "generate"
HELP = "make a seeded instance of a family"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One parser for each family, from the table of families."""
    from graphpart.generate import FAMILIES

    families = parser.add_subparsers(title="families", metavar="FAMILY", required=True)
    for family in FAMILIES:
        sub = families.add_parser(family.name, help=family.summary, description=family.summary)
        for parameter in family.parameters:
            default = "" if parameter.required else f"; default: {str(parameter.default).lower()}"
            sub.add_argument(
                f"--{parameter.name.replace('_', '-')}",
                dest=f"parameter_{parameter.name}",
                type=parsed(parameter),
                required=parameter.required,
                default=parameter.default,
                metavar=parameter.type.upper(),
                help=(parameter.help.rstrip(".") + default).replace("%", "%%"),
            )
        sub.add_argument("-o", "--output", required=True, metavar="FILE", help="what to write; '-' is standard output")
        arguments.add_format(sub, "--to", "of the file", reading=False, dest="target")
        sub.add_argument("--truth", metavar="LABELS", help="write the planted labels to this file")
        sub.set_defaults(family=family)


def parsed(parameter: Parameter) -> Callable[[str], Any]:
    """The parser of a parameter's value as argparse wants it."""

    def parse(text: str) -> Any:
        try:
            return parameter.parse(text)
        except InvalidOption as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse


def run(args: argparse.Namespace) -> int:
    """Generate and write."""
    values = {parameter.name: getattr(args, f"parameter_{parameter.name}") for parameter in args.family.parameters}
    problem, truth = args.family.function(**values)
    if args.truth is not None and truth is None:
        raise InvalidOption(f"family {args.family.name} plants no labels: expected no --truth")
    write_problem(problem, args.output, args.target)
    if args.truth is not None:
        write_labels(truth, args.truth)
    return 0

"""The command line: one file for each command, one list of commands.

A command is a module of this folder with `NAME`, `HELP`, ``add_arguments(parser)`` and ``run(args)``, which returns the
exit status: 0 done, 1 the input is wrong, 2 the call is wrong, 130 interrupted without a result. A module imports large
packages inside its functions, so that ``graphpart --help`` is fast.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from graphpart.cli.console import INTERRUPTED, discard_output, emit, say, say_error, say_warning
from graphpart.cli.interrupt import termination
from graphpart.errors import NO_SMALLEST_SIZE, SMALLEST_SIZES, GraphPartWarning, nearest

__all__ = ["COMMANDS", "main"]

COMMANDS = (
    "solve",
    "evaluate",
    "info",
    "convert",
    "generate",
    "bench",
    "verify",
    "learn",
    "cost",
    "compare",
    "match",
    "segment",
    "questions",
    "review",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; errors are reported in one line, without a traceback.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; default: those of the process.

    Returns
    -------
    int
        The exit status.
    """
    with warnings.catch_warnings(), termination():
        warnings.showwarning = say_warning
        try:
            argv = sys.argv[1:] if argv is None else argv
            args = build_parser(argv[0] if argv else "").parse_args(argv)
            warnings.simplefilter("ignore" if args.quiet else "always", GraphPartWarning)
            status: int = args.run(args)
            emit("")  # errors of writing must occur here, not at the end of the process
        except SystemExit as end:  # argparse: --help, --version or a usage error
            status = end.code if isinstance(end.code, int) else 2
            try:
                emit("")
            except OSError as error:
                status = say_error(error)
                discard_output()
        except KeyboardInterrupt:
            say("interrupted")
            status = INTERRUPTED
        except Exception as error:
            status = say_error(error)
            discard_output()
    return status


OTHER_NAMES = {"--source": "--group", "--group": "--source"}  # of the column with the source of each record


class _Parser(argparse.ArgumentParser):
    """A parser that reports errors of standard output, which argparse ignores if the help is larger than the buffer."""

    def print_help(self, file: Any = None) -> None:
        """Print the help, and fail if that fails."""
        if file is None:
            emit(self.format_help())
        else:
            super().print_help(file)

    def error(self, message: str) -> NoReturn:
        """Report a wrong call in one line, which leads to the help."""
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse all arguments; of options that a command does not have, the message says which one is nearest."""
        found, rest = self.parse_known_args(args, namespace)
        parser: _Parser = getattr(found, "parser", self)
        if "parser" in found:
            del found.parser  # no argument of the command
        if rest:
            options = [one.partition("=")[0] for one in rest if one.startswith("-")]
            known = parser._option_string_actions
            hint = next(filter(None, (nearest(one, known) for one in options)), "")
            words = [one for one in rest if not one.startswith("-")]
            if "--on" in known and words and getattr(found, "on", None):
                hint = f"; commas between columns: --on {','.join([found.on, *words])}"
            for one in options:
                if (name := OTHER_NAMES.get(one)) in known:
                    hint = f"; the column is named by {name}"
            if "--clusters" in known and any(one[2:].replace("-", "_") in SMALLEST_SIZES for one in options):
                hint = f": {NO_SMALLEST_SIZE.format('--clusters 1:MOST')}"
            parser.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
        return found

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise ArgumentError unless the value is among the choices; the message says which one is nearest."""
        choices = action.choices
        if choices is not None and value not in choices:
            known = ", ".join(map(str, choices))
            text = f"invalid choice: {value!r}: expected one of {known}{nearest(value, choices)}"
            raise argparse.ArgumentError(action, text)


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands; with `only`, of that command's arguments, since some import what they describe."""
    parser = _Parser(prog="graphpart", description="Cluster from pairwise evidence, and say how good the answer is.")
    parser.add_argument("--version", action="version", version=f"graphpart {sys.modules['graphpart'].__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in COMMANDS:
        command = import_module(f"graphpart.cli.{name}")
        description = command.__doc__.strip() if command.__doc__ else command.HELP
        sub = commands.add_parser(
            command.NAME,
            help=command.HELP,
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if only in (None, name):
            command.add_arguments(sub)
        sub.add_argument("-q", "--quiet", action="store_true", help="no warnings")
        sub.set_defaults(run=command.run, parser=sub)
    return parser


def __dir__() -> list[str]:
    return sorted(__all__)

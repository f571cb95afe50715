"""Arguments that several commands share. Names of methods and their options come from the table of methods."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable

from graphpart.errors import InvalidOption
from graphpart.methods import METHODS

__all__ = [
    "add_files",
    "add_format",
    "add_json",
    "add_limits",
    "add_method",
    "check_one_input",
    "check_options",
    "whole",
]


def add_files(parser: argparse.ArgumentParser) -> None:
    """One or several instances."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="an instance, '-' for standard input")
    add_format(parser, "--format", "of the instances")


def add_format(
    parser: argparse.ArgumentParser, flag: str, what: str, *, reading: bool = True, dest: str | None = None
) -> None:
    """The format of a file, by name."""
    from graphpart.io import FORMATS

    names = [known.name for known in FORMATS]
    default = "by suffix, else by content" if reading else "by suffix"
    parser.add_argument(
        flag,
        choices=names,
        metavar="FORMAT",
        help=f"format {what}; default: {default}; one of {', '.join(names)}",
        dest=dest or flag.lstrip("-"),
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Output for programs."""
    parser.add_argument(
        "--json", action="store_true", help="one JSON object per instance and line; infinite numbers are null"
    )


def add_method(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """The method, or several, with the table of methods at the end of the help."""
    names = ["auto", *dict.fromkeys(method.name for method in METHODS)]
    if several:
        parser.add_argument(
            "--method", choices=names, metavar="METHOD", action="append", dest="methods", help="may be given repeatedly"
        )
    else:
        parser.add_argument("--method", choices=names, metavar="METHOD", default="auto", help="default: auto")
    width = max(map(len, names))
    summaries = {"auto": "what fits the instance; the message says what"}
    summaries |= {method.name: method.summary for method in METHODS}
    parser.epilog = "\n".join(["methods:", *(f"  {name:<{width}}  {summaries[name]}" for name in names)])


def add_limits(parser: argparse.ArgumentParser, time_limit: float | None = None) -> None:
    """When a run ends, and the seed of its random choices."""
    default = "none" if time_limit is None else f"{time_limit:g}"
    parser.add_argument(
        "--time-limit", type=seconds, default=time_limit, metavar="SECONDS", help=f"of each run; default: {default}"
    )
    parser.add_argument("--seed", type=whole, metavar="INTEGER", help="for methods that make random choices")


def check_options(method: str, args: argparse.Namespace, options: Iterable[str]) -> None:
    """Raise InvalidOption if an option is given that no method of this name takes."""
    named = [entry for entry in METHODS if entry.name == method]
    for option in options:
        if named and getattr(args, option) is not None and not any(option in entry.options for entry in named):
            raise InvalidOption(f"method {method} takes no --{option.replace('_', '-')}")


def seconds(text: str) -> float:
    """A duration."""
    value = float(text)
    if not 0 <= value < math.inf:
        raise ValueError
    return value


def whole(text: str) -> int:
    """A whole number of at least 0 (argparse names the function in its message)."""
    value = int(text)
    if value < 0:
        raise ValueError
    return value


def check_one_input(*files: str) -> None:
    """Raise InvalidOption if standard input is to be read twice."""
    if files.count("-") > 1:
        raise InvalidOption("standard input '-' is given twice: expected once")

"""Arguments that several commands share. Names of methods and their options come from the table of methods."""

from __future__ import annotations

import argparse
import inspect
import json
import math
from typing import Any

from graphpart.errors import InvalidOption
from graphpart.methods import METHODS, find_name, methods_for, other_names
from graphpart.solve import solve

__all__ = [
    "add_columns",
    "add_files",
    "add_format",
    "add_json",
    "add_limits",
    "add_method",
    "add_missing",
    "add_options",
    "check_one_input",
    "columns_of",
    "whole",
]

KINDS = {"partition": "set partition problems", "crf": "factor graphs", "labeled": "labelled partitions"}


def add_files(parser: argparse.ArgumentParser) -> None:
    """One or several instances."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="an instance, '-' for standard input, or a folder")
    add_format(parser, "--format", "of the instances")


def add_columns(parser: argparse.ArgumentParser) -> None:
    """The columns of a table with a row for each pair; only those that are given are attributes of the result."""
    group = parser.add_argument_group("columns of a CSV or Parquet file with a row for each pair, by name")
    for side in ("left", "right"):
        group.add_argument(
            f"--{side}", metavar="COLUMN", help=f"identifiers of the {side} element; default: the first columns"
        )
    kinds = group.add_mutually_exclusive_group()
    for kind, meaning in (
        ("cost", "negative attracts"),
        ("weight", "positive attracts"),
        ("similarity", "attracts above the threshold"),
        ("probability", "that both belong together"),
    ):
        kinds.add_argument(f"--{kind}", metavar="COLUMN", help=f"values: {meaning}")
    group.add_argument("--threshold", type=float, metavar="VALUE", help="values above it attract")
    group.add_argument(
        "--prior", type=float, metavar="SHARE", help="expected share of joins, for probabilities; default: 0.5"
    )
    group.add_argument(
        "--clip",
        type=float,
        metavar="VALUE",
        help="limit for probabilities near 0 and 1; 0: none, these pairs are required",
    )
    group.add_argument(
        "--duplicates",
        choices=("error", "sum", "mean", "max"),
        help="rows with the same two elements: an error, the sum of costs, or one value; default: sum, with a warning",
    )


def add_missing(parser: argparse.ArgumentParser) -> None:
    """The cost of pairs that a file does not list."""
    parser.add_argument(
        "--missing",
        type=finite,
        metavar="COST",
        help="cost of a pair that is not listed; default: derived for scores, else 0, or as stated in FILE",
    )


def finite(text: str) -> float:
    """A finite number."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def columns_of(args: argparse.Namespace) -> dict[str, Any] | None:
    """The arguments of `add_columns` for `io.read_pairs`; None if none is given."""
    names = ("left", "right", "cost", "weight", "similarity", "probability", "threshold", "prior", "clip", "duplicates")
    given = {name: value for name in names if (value := getattr(args, name)) is not None}
    if not given:
        return None
    if not given.keys() & {"cost", "weight", "similarity", "probability"}:
        raise InvalidOption(
            f"--{next(iter(given))} without values: expected --cost, --weight, --similarity or --probability"
        )
    if args.format not in (None, "csv"):
        raise InvalidOption(f"--format {args.format} has no columns: expected csv")
    return given


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


ALSO = other_names(METHODS)


def add_method(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """The method, or several, with the table of methods at the end of the help."""
    if several:
        parser.add_argument(
            "--method", type=method, metavar="METHOD", action="append", dest="methods", help="may be given repeatedly"
        )
    else:
        parser.add_argument("--method", type=method, metavar="METHOD", default="auto", help="default: auto")
    width = max(len(one.name) for one in METHODS)
    lines = []
    for kind, what in KINDS.items():
        lines += [f"methods for {what}:", *(f"  {one.name:<{width}}  {one.summary}" for one in methods_for(kind))]
    lines += ["also known as:", *(f"  {one:<{width}}  {', '.join(also)}" for one, also in ALSO.items() if also)]
    parser.epilog = "\n".join(lines)


def add_limits(parser: argparse.ArgumentParser, time_limit: float | None = None) -> None:
    """When a run ends, and the seed of its random choices."""
    default = "none" if time_limit is None else f"{time_limit:g}"
    parser.add_argument(
        "--time-limit",
        type=seconds,
        default=time_limit,
        metavar="SECONDS",
        help=f"limit of each run; default: {default}",
    )
    parser.add_argument(
        "--seed", type=whole, metavar="INTEGER", help="seed of methods that make random choices; the others ignore it"
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of a method that have no argument of their own."""
    parser.add_argument(
        "--option",
        type=option,
        action="append",
        default=[],
        dest="options",
        metavar="NAME=VALUE",
        help="a further option of the method, such as solver=highs for ilp; may be given repeatedly",
    )


def method(text: str) -> str:
    """The name of a method of either kind, which may be given by a further name."""
    try:
        return find_name(text, ALSO, ALSO)
    except InvalidOption as error:
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r}: {str(error).partition(': ')[2]}") from None


def seconds(text: str) -> float:
    """A duration."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of seconds, 0 or more")
    return value


def whole(text: str) -> int:
    """A whole number of at least 0 (argparse names the function in its message)."""
    value = int(text)
    if value < 0:
        raise ValueError
    return value


def positive_integer(text: str) -> int:
    """A whole number of at least 1."""
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def option(text: str) -> tuple[str, Any]:
    """NAME=VALUE; the value is a number, true, false, null, or else text."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=VALUE")
    if name in inspect.signature(solve).parameters:
        raise argparse.ArgumentTypeError(f"{text!r}: {name} is not set in this way")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def check_one_input(*files: str) -> None:
    """Raise InvalidOption if standard input is to be read twice."""
    if files.count("-") > 1:
        raise InvalidOption("standard input '-' is given twice: expected once")

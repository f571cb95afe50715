"""Requirements of partitions as arguments of commands: groups, sizes, numbers, pairs, connectedness, answers."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from graphpart.cli.arguments import positive_integer
from graphpart.cli.console import check_input
from graphpart.errors import FormatError, GraphPartError, InfeasibleProblem, InvalidOption, InvalidProblem

__all__ = ["NAMES", "add_arguments", "answers_in", "elements_in", "flag", "obeying", "options_of", "wanted"]


def price(text: str) -> float:
    """A cost of at least 0, which may be inf."""
    value = float(text)
    if not value >= 0:
        raise ValueError
    return value


def number(text: str) -> tuple[int, int | None]:
    """A number of clusters, or limits of it."""
    least, colon, most = text.partition(":")
    try:
        if not colon:
            return positive_integer(text), positive_integer(text)
        return positive_integer(least) if least else 1, positive_integer(most) if most else None
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number such as 12, or limits such as 5:12") from None


#: The arguments: the name of each after parsing, its flag, and its parser.
OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "elements": (
        "--elements",
        {"metavar": "FILE", "help": "table with a row for each element, CSV or Parquet; it adds those in no pair"},
    ),
    "id": ("--id", {"metavar": "COLUMN", "help": "identifiers in --elements; default: the first column"}),
    "groups": (
        "--group",
        {
            "metavar": "COLUMN",
            "action": "append",
            "help": "column of --elements with a group of each element, such as its source; empty: none; may be "
            "repeated",
        },
    ),
    "group_costs": (
        "--group-cost",
        {
            "type": price,
            "metavar": "COST",
            "action": "append",
            "help": "of two elements of a group in one cluster; default: inf, at most one; one, or one for each "
            "--group",
        },
    ),
    "max_size": (
        "--max-size",
        {"type": positive_integer, "metavar": "INTEGER", "help": "elements of a cluster at most"},
    ),
    "clusters": (
        "--clusters",
        {"type": number, "metavar": "K|MIN:MAX", "help": "number of clusters, or its limits: 5:12, :12"},
    ),
    "together": (
        "--together",
        {"metavar": "FILE", "help": "pairs that belong together: a table, its first two columns"},
    ),
    "apart": ("--apart", {"metavar": "FILE", "help": "pairs that do not belong together"}),
    "connected": (
        "--connected",
        {
            "action": "store_const",
            "const": True,
            "help": "every cluster must be connected by the pairs of the file, also by those of cost 0",
        },
    ),
    "lifted": (
        "--lifted",
        {
            "metavar": "FILE",
            "help": "further pairs with costs, which do not connect: a table, its first three columns; the clusters "
            "must be connected by the other pairs",
        },
    ),
    "answers": (
        "--answers",
        {
            "metavar": "FILE",
            "action": "append",
            "help": "answers of people: a table with the columns left, right and answer (together, apart or empty); "
            "may be repeated",
        },
    ),
    "error": (
        "--error",
        {
            "type": float,
            "metavar": "PROBABILITY",
            "help": "that an answer of --answers is wrong; default: 0, answers are required",
        },
    ),
}
NAMES = tuple(OPTIONS)
TABLES = ("together", "apart", "lifted")  # those that are tables of pairs


def add_arguments(parser: argparse.ArgumentParser, *names: str) -> None:
    """The arguments of these names, or all of them; `wanted` tells which are given."""
    group = parser.add_argument_group("what the clusters of a set partition problem have to obey")
    for name in names or NAMES:
        option, how = OPTIONS[name]
        group.add_argument(option, dest=name, **how)


def wanted(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Those arguments that are given, among these names, or among all.

    Raises
    ------
    InvalidOption
        If some are given without those that they need.
    """
    given = {name: value for name in names or NAMES if (value := getattr(args, name)) is not None}
    if "elements" not in given:
        for name, flag in (("id", "--id"), ("groups", "--group")):
            if name in given:
                raise InvalidOption(f"{flag} is a column of --elements, which is not given: expected both")
    if "group_costs" in given and "groups" not in given:
        raise InvalidOption("--group-cost is without --group: expected both")
    if "error" in given and "answers" not in given:
        raise InvalidOption("--error is without --answers: expected both")
    costs, groups = given.get("group_costs", []), given.get("groups", [])
    if len(costs) not in (0, 1, len(groups)):
        raise InvalidOption(
            f"{len(costs)} times --group-cost for {len(groups)} of --group: expected one, or one for each"
        )
    return given


def flag(given: Mapping[str, Any]) -> str:
    """The first of the arguments that are given, as on the command line."""
    return OPTIONS[next(iter(given))][0]


def options_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same as options of :func:`graphpart.solve`, without elements and groups."""
    from graphpart.io.elements import read_named_pairs

    options: dict[str, Any] = {"max_size": given.get("max_size"), "n_clusters": given.get("clusters")}
    for name in TABLES:
        if name in given:
            check_input(given[name])
            options[name] = read_named_pairs(given[name], costs=name == "lifted")
    return options | {name: given[name] for name in ("connected",) if name in given}


def answers_in(files: Sequence[str]) -> dict[str, list[Any]]:
    """The answers of all files, one after the other."""
    from graphpart.io.elements import read_answers

    found: dict[str, list[Any]] = {}
    tables: list[dict[str, list[Any]]] = []
    for file in files:
        check_input(file)
        tables.append(read_answers(file))
    for name in ("left", "right", "answer", "decision", "chance", "about"):
        if any(name in table for table in tables):
            blank = math.nan if name == "chance" else ""
            found[name] = [x for table in tables for x in table.get(name, [blank] * len(table["left"]))]
    return found


def elements_in(given: Mapping[str, Any]) -> tuple[list[Any], list[Any]] | None:
    """The elements that --elements lists, and their groups of each --group; None without it."""
    from graphpart.io.elements import read_elements

    if "elements" not in given:
        return None
    check_input(given["elements"])
    return read_elements(given["elements"], given.get("id"), given.get("groups", []))


def obeying(problem: Any, given: Mapping[str, Any], file: str, elements: tuple[list[Any], list[Any]] | None) -> Any:
    """The problem of a file with the requirements of the arguments; `elements` are those of `elements_in`.

    Raises
    ------
    InvalidOption
        If it is a factor graph.
    FormatError
        If a table does not fit.
    """
    from graphpart.partition.problem.derived import with_elements
    from graphpart.solve import problem_kind

    if not given:
        return problem
    kind = problem_kind(problem)
    if kind == "crf":
        raise InvalidOption(f"{flag(given)} is for set partition problems: {file} is a factor graph")
    if kind == "labeled" and "elements" in given:
        raise InvalidOption(f"--elements is for set partition problems: {file} is a labelled partition")
    options = {name: value for name, value in options_of(given).items() if value is not None}
    if elements is not None:
        names, groups = elements
        try:
            problem = with_elements(problem, names)
        except InvalidProblem as error:
            raise FormatError(given["elements"], None, str(error)) from error
        if groups:
            costs = given.get("group_costs", [math.inf])
            options |= {"groups": groups, "group_cost": costs if len(costs) == len(groups) else costs * len(groups)}
    for name in TABLES:
        pairs = options.get(name, ())
        for node in chain.from_iterable(pairs[0] if name == "lifted" and pairs else pairs):
            try:
                problem.index(node)
            except GraphPartError:
                raise FormatError(given[name], None, f"{node!r} is no element of {file}") from None
    problem = problem.require(**options)
    if "answers" not in given:
        return problem
    from graphpart.answers import answered

    answers = answers_in(given["answers"])
    try:
        return answered(problem, answers, error=given.get("error", 0.0))
    except (InvalidProblem, InfeasibleProblem) as error:
        raise FormatError(", ".join(given["answers"]), None, str(error)) from error

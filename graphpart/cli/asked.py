"""What the commands `questions` and `review` have in common: the result about which they ask."""

from __future__ import annotations

import argparse
from typing import Any

from graphpart.cli import arguments, demands, match
from graphpart.cli.console import say
from graphpart.cli.files import read_labels, read_problem
from graphpart.errors import InvalidOption

__all__ = ["about", "add_arguments"]


def add_arguments(parser: argparse.ArgumentParser, n: int) -> None:
    """The arguments; `n` is the default number of questions."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="an instance, or with --on tables of records")
    parser.add_argument(
        "-n", "--n", type=arguments.positive_integer, default=n, metavar="INTEGER", help=f"questions; default: {n}"
    )
    parser.add_argument("--labels", metavar="PATH", help="the result, a labels file; default: FILE is solved")
    parser.add_argument("--records", metavar="FILE", help="a CSV table with a row for each element, to be shown")
    group = parser.add_argument_group("tables of records, compared as graphpart match does")
    group.add_argument("--on", metavar="COLUMNS", help="the columns to compare, with commas between")
    group.add_argument("--source", metavar="COLUMN", help="sources of records, or FILE: each file is a source")
    match.add_learn(group)
    arguments.add_format(parser, "--format", "of the instance")
    arguments.add_limits(parser)
    arguments.add_missing(parser)
    demands.add_arguments(parser)
    arguments.add_columns(parser)


def about(args: argparse.Namespace) -> tuple[Any, Any, dict[str, Any]]:
    """The problem, its result, and the options of :func:`graphpart.questions`: earlier answers, and records."""
    from graphpart.records import match as matched
    from graphpart.solve import solve

    answers = demands.answers_in(args.answers) if args.answers is not None else None
    options: dict[str, Any] = {"n": args.n, "answers": answers}
    if args.on is not None:
        if args.labels is not None or args.records is not None:
            raise InvalidOption(
                "--on is given with --labels or --records: expected it alone, since records are matched"
            )
        frame, on, source = match.columns_of(args)
        given = match.options_of(args)
        result = matched(frame, on, args.id, source, time_limit=args.time_limit, progress=say, **given)
        return result.problem, result, options
    if len(args.files) > 1:
        raise InvalidOption(f"{len(args.files)} FILEs without --on: expected one instance")
    for flag, value in (("--source", args.source), ("--learn", args.learn or None)):
        if value is not None:
            raise InvalidOption(f"{flag} is without --on: expected both")
    of_records = args.records is not None and args.elements is None  # --id is a column of --records, then
    given = demands.wanted(args, *(name for name in demands.NAMES if name != "id" or not of_records))
    problem = read_problem(args.files[0], args.format, arguments.columns_of(args), args.missing, given)
    if args.records is not None:
        records = match.tables([args.records])
        name = args.id if args.id is not None else records.columns[0]
        options |= {"records": records, "id": name}
    if args.labels is not None:
        return problem, read_labels(args.labels, problem), options
    return problem, solve(problem, time_limit=args.time_limit, seed=args.seed), options

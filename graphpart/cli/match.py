"""Find the records of a table that are of the same entity, such as a person, and write a cluster for each record.

FILEs are CSV tables with a header, and the same columns; several make one table. --on names the columns to compare.
Their contents decide which pairs are compared, and how; standard error reports this. Scores come from splink (pip
install 'graphpart[records]'). With --source, a column names the source of each record, and no two records of one source
are put together; several FILEs without a column of sources can be sources themselves: --source FILE.

-o writes a table with the columns element, cluster and size. An element is the text in the column --id names, or the
number of its row, counted from 0 through all FILEs. --doubts writes a CSV table of the least certain decisions, each
with a pair of records, their columns and scores, and the chance that it is wrong: the columns are those of
gp.partition.doubts(r.problem, r).to_frame(). Into a folder, it also writes pairs, elements and clusters.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from graphpart.cli import arguments, demands
from graphpart.cli.console import check_input, emit, emit_json, say
from graphpart.cli.files import check_reports, is_folder, write_doubts, write_labels, write_report
from graphpart.display import plural
from graphpart.errors import FormatError, InvalidOption, InvalidProblem, no_column
from graphpart.files.source import check_writable

NAME = "match"
HELP = "find the records that are of the same person or thing"
DEMANDS = ("max_size", "clusters", "together", "apart", "answers", "error")
FILE = "__file"  # the column that says from which file a row is


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="a CSV table with a row for each record")
    parser.add_argument("--on", required=True, metavar="COLUMNS", help="the columns to compare, with commas between")
    parser.add_argument("--id", metavar="COLUMN", help="names of records; default: rows, from 0")
    parser.add_argument("--source", metavar="COLUMN", help="sources of records, or FILE: each file is a source")
    parser.add_argument("-o", "--output", metavar="PATH", help="labels file, '-' for standard output")
    parser.add_argument("--doubts", metavar="PATH", help="what is least sure: CSV file or folder")
    parser.add_argument("--report", metavar="PATH", help="write a report, .html, for any browser")
    demands.add_arguments(parser, *DEMANDS)
    add_learn(parser)
    arguments.add_limits(parser)
    arguments.add_json(parser)


def add_learn(parser: Any) -> None:
    """The argument about learning from answers."""
    parser.add_argument("--learn", action="store_true", help="learn match weights from --answers, too")


def run(args: argparse.Namespace) -> int:
    """Match and write."""
    from graphpart.records import match

    paths = {"-o": args.output, "--doubts": args.doubts, "--report": args.report}
    if len(both := [f"{flag} -" for flag, path in paths.items() if path == "-"] + ["--json"] * args.json) > 1:
        raise InvalidOption(f"{both[0]} and {both[1]} both write to standard output: expected one of them")
    for path in paths.values():
        if path is not None and not (path == args.doubts and is_folder(path)):
            check_writable(path)
    if args.report is not None:
        check_reports()
    frame, on, source = columns_of(args)
    options = options_of(args)
    result = match(frame, on, args.id, source, time_limit=args.time_limit, progress=say, **options)
    if args.output is not None:
        write_labels(result, args.output)
    if args.doubts is not None:
        write_doubts(result.problem, result, args.doubts, args.time_limit)
    if args.report is not None:
        write_report(result.problem, result, args.report, Path(args.files[0]).name, args.time_limit)
    if args.json:
        counts = {"records": len(result.labels), "clusters": result.n_clusters, "pairs": result.scores.num_rows}
        emit_json({**counts, "cost": result.cost, "status": str(result.status), "message": result.message})
    elif "-" not in paths.values():
        emit(
            f"{plural(len(result.labels), 'record')}, {plural(result.n_clusters, 'cluster')}, cost {result.cost:.6g}, "
            f"{result.status}\n"
        )
    return 0


def columns_of(args: argparse.Namespace) -> tuple[Any, list[str], str | None]:
    """The rows of all tables, the columns to compare, and the one with sources."""
    on = [name.strip() for name in args.on.split(",")]
    frame = tables(args.files)
    columns = [name for name in frame.columns if name != FILE]
    source = FILE if args.source == "FILE" else args.source
    for name in [*on, *(name for name in (args.id, source) if name not in (None, FILE))]:
        if name not in columns:
            raise InvalidProblem(no_column(name, columns))
    if args.id is None and "id" in columns:
        say("the table has a column 'id': --id id names records by it; without --id, their names are numbers of rows")
    return frame, on, source


def options_of(args: argparse.Namespace) -> dict[str, Any]:
    """What clusters must obey, and answers, as options of :func:`graphpart.records.match`."""
    given = demands.wanted(args, *DEMANDS)
    options = demands.options_of(given)
    if args.id is not None:  # names are texts, as all in the table
        pairs = ("together", "apart")
        options |= {name: [tuple(map(str, pair)) for pair in options[name]] for name in pairs if name in options}
    if "answers" in given:
        way = "pairs" if args.learn else "answers"
        options |= {way: demands.answers_in(given["answers"]), "error": given.get("error", 0.0)}
    elif args.learn:
        raise InvalidOption("--learn is without --answers: expected both")
    return options


def tables(files: list[str]) -> Any:
    """The rows of all tables as texts, with a column of files, in a frame of pandas."""
    from graphpart.errors import MissingDependency

    try:
        import pandas
    except ImportError:
        raise MissingDependency("pandas", "records", "matching records") from None
    tables: list[Any] = []
    for file in files:
        check_input(file)
        try:
            table = pandas.read_csv(file, dtype=str, keep_default_na=False)
        except (pandas.errors.ParserError, pandas.errors.EmptyDataError, UnicodeDecodeError) as error:
            raise FormatError(file, None, f"{error}: expected a CSV table with a header") from None
        if tables and list(table.columns) != list(tables[0].columns[:-1]):
            found = ", ".join(table.columns)
            raise FormatError(file, 1, f"found the columns {found}: expected those of {files[0]}")
        tables.append(table.assign(**{FILE: file}))
    return pandas.concat(tables, ignore_index=True)

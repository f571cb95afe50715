"""Write the pairs about which to ask people: those whose answers are worth most for the clusters.

FILE is an instance, such as a table of scored pairs. It is solved, unless --labels names its result. With --on, FILEs
are tables of records, which are matched as by graphpart match. --records names a table of the elements (its first
column, or the one that --id names, has their names), whose columns are added.

-o writes a table with a row for each question: left, right, the columns of both records, what the result says, the
chance that it is wrong, the gain, and an empty column answer. Fill that in with together or apart, leave it empty where
you do not know, and give the file to graphpart solve or graphpart match as --answers. With --answers FILE, earlier
answers are required, and what follows from them is not asked again.
"""

from __future__ import annotations

import argparse

import numpy as np

from graphpart.cli import arguments, asked
from graphpart.cli.console import emit_json, say
from graphpart.cli.files import writing
from graphpart.display import plural
from graphpart.files.source import check_writable

NAME = "questions"
HELP = "write the pairs about which to ask people"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    asked.add_arguments(parser, 20)
    parser.add_argument("-o", "--output", metavar="PATH", default="-", help="CSV file; default: standard output")
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Find the questions and write them."""
    from graphpart.answers import questions
    from graphpart.files.tables import write_table

    if not args.json:
        check_writable(args.output)
    problem, result, options = asked.about(args)
    table = questions(problem, result, library="dict", **options)
    count = len(table["left"])
    if args.json:
        for row in zip(*(values.tolist() for values in table.values()), strict=True):
            emit_json(dict(zip(table, row, strict=True)))
        return 0
    with writing(args.output):
        write_table({**table, "answer": np.full(count, "", object)}, args.output)
    if args.output != "-":
        say(f"{plural(count, 'question')} in {args.output}: fill in the column answer with together or apart")
    return 0

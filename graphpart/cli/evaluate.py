"""Check a labels file against an instance, and print the cost of the labels.

LABELS has one label on each line, or is a table element,cluster, or a result of UAI (.mpe, .MAP).

It is an error if the labels do not fit the instance, violate one of its requirements, or are forbidden by a factor.
"""

from __future__ import annotations

import argparse

from graphpart.cli import arguments, demands
from graphpart.cli.console import Batch, emit_json
from graphpart.cli.display import Table
from graphpart.cli.files import read_labels, read_problem
from graphpart.cli.kinds import columns, evaluate, size

NAME = "evaluate"
HELP = "check a labels file against an instance"
COLUMNS = ["elements", "pairs", "cost.", "objective.", "clusters"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("file", metavar="FILE", help="an instance, '-' for standard input")
    parser.add_argument("labels", metavar="LABELS", help="a labels file, '-' for standard input")
    arguments.add_format(parser, "--format", "of the instance")
    arguments.add_json(parser)
    arguments.add_missing(parser)
    demands.add_arguments(parser)
    arguments.add_columns(parser)


def run(args: argparse.Namespace) -> int:
    """Evaluate the labels."""
    arguments.check_one_input(args.file, args.labels)
    problem = read_problem(args.file, args.format, arguments.columns_of(args), args.missing, demands.wanted(args))
    batch = Batch()
    with batch.guard(args.labels):
        facts = evaluate(args.file, problem, read_labels(args.labels, problem))
        if args.json:
            emit_json(facts)
        else:
            with Table([args.file], columns(problem, COLUMNS)) as table:
                table.add(args.file, facts | size(problem))
    return batch.status

"""Write an instance in another format.

If a format cannot store the problem, the error says why: some need all pairs, PACE needs costs -1 and +1, ...
"""

from __future__ import annotations

import argparse

from graphpart.cli import arguments, demands
from graphpart.cli.files import read_problem, write_problem

NAME = "convert"
HELP = "write an instance in another format"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("input", metavar="IN", help="an instance, '-' for standard input")
    parser.add_argument("output", metavar="OUT", help="the file to write, '-' for standard output")
    arguments.add_format(parser, "--from", "of IN", dest="source")
    arguments.add_format(parser, "--to", "of OUT", reading=False, dest="target")
    arguments.add_missing(parser)
    demands.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Read, then write."""
    problem = read_problem(args.input, args.source, missing=args.missing, given=demands.wanted(args))
    write_problem(problem, args.output, args.target)
    return 0

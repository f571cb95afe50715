"""Write a page on which people answer questions about pairs: one HTML file for any browser, without a server.

FILE is an instance, such as a table of scored pairs. It is solved, unless --labels names its result. With --on, FILEs
are tables of records, which are matched as by graphpart match. --records names a table of the elements (its first
column, or the one that --id names, has their names), which is shown.

The page shows two records side by side, and asks whether they belong together. By keyboard: T together, A apart, D not
known, B back, U undo, S save. Save the answers, and give the file answers.csv to graphpart solve or graphpart match as
--answers. With --answers FILE here, earlier answers are required, and what follows from them is not asked again.
"""

from __future__ import annotations

import argparse

from graphpart.cli import asked
from graphpart.cli.console import say
from graphpart.cli.files import check_writable, writing
from graphpart.display import plural

NAME = "review"
HELP = "write a page on which people answer questions about pairs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    asked.add_arguments(parser, 100)
    parser.add_argument("-o", "--output", metavar="PATH", default="review.html", help="default: review.html")
    parser.add_argument("--title", metavar="TEXT", help="of the page; default: the name of the file")


def run(args: argparse.Namespace) -> int:
    """Find the questions and write the page."""
    from graphpart.reviewing import review

    check_writable(args.output)
    problem, result, options = asked.about(args)
    with writing(args.output):
        count = review(problem, result, args.output, title=args.title, **options)
    if args.output != "-":
        say(f"{plural(count, 'question')} in {args.output}: open it in a browser, and give its file to --answers")
    return 0

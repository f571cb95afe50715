"""Write a page on which people answer questions about pairs: one HTML file for any browser, without a server.

FILE is an instance, such as a table of scored pairs. It is solved, unless --labels names its result. With --on, FILEs
are tables of records, which are matched as by graphpart match. --records names a table of the elements (its first
column, or the one that --id names, has their names), which is shown.

The page shows two records side by side, and asks whether they belong together. By keyboard: T together, A apart, D not
known, B back, U undo, S save. Save the answers, and give the file answers.csv to graphpart solve or graphpart match as
--answers. With --answers FILE here, earlier answers are required, and what follows from them is not asked again.

With --serve, the page is served to browsers on this machine, until Ctrl-C. Each answer is written to the file of -o
(answers.csv) at once, and after each ten answers, the open questions are replaced by those that matter most then. If
the file exists, its answers are taken up, so that the work can go on another day.
"""

from __future__ import annotations

import argparse
import os
from contextlib import suppress

from graphpart.cli import asked, demands
from graphpart.cli.console import say
from graphpart.cli.files import writing
from graphpart.display import plural
from graphpart.errors import InvalidOption
from graphpart.files.source import check_writable

NAME = "review"
HELP = "write a page on which people answer questions about pairs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    asked.add_arguments(parser, 100)
    parser.add_argument("-o", "--output", metavar="PATH", help="default: review.html; answers.csv with --serve")
    parser.add_argument("--title", metavar="TEXT", help="of the page; default: the name of the file")
    parser.add_argument("--serve", action="store_true", help="serve the page on this machine; write answers at once")
    parser.add_argument("--port", type=int, metavar="NUMBER", help="of --serve; default: any that is free")


def run(args: argparse.Namespace) -> int:
    """Find the questions, and write or serve the page."""
    if args.serve:
        return _serve(args)
    if args.port is not None:
        raise InvalidOption("--port is without --serve: expected both")
    from graphpart.reviewing import review

    path = "review.html" if args.output is None else args.output
    check_writable(path)
    problem, result, options = asked.about(args)
    with writing(path):
        count = review(problem, result, path, title=args.title, **options)
    if path != "-":
        say(f"{plural(count, 'question')} in {path}: open it in a browser, and give its file to --answers")
    return 0


def _serve(args: argparse.Namespace) -> int:
    from graphpart.reviewing import ReviewServer

    path = "answers.csv" if args.output is None else args.output
    if path == "-":
        raise InvalidOption("-o - with --serve: expected a file, which is written after each answer")
    check_writable(path)
    files = [*(args.answers or []), *([path] if os.path.exists(path) and os.path.getsize(path) else [])]
    error = 0.0 if args.error is None else args.error
    args.answers = args.error = None  # the problem is read without answers, so that they can be changed on the page
    problem, result, options = asked.about(args)
    options["answers"] = demands.answers_in(files) if files else None
    options |= {"error": error, "title": os.path.basename(args.files[0]) if args.title is None else args.title}
    with writing(path), ReviewServer(problem, result, path, port=args.port or 0, **options) as server:
        say(f"open {server.url} in a browser; answers are written to {path} until Ctrl-C")
        with suppress(KeyboardInterrupt):
            server.serve_forever()
    say(f"{plural(server.count, 'answer')} in {path}: give it to --answers")
    return 0

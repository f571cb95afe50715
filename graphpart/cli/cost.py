"""Compute the costs of candidate pairs by a learned model, and write them as an instance (u,v,cost).

The table is a CSV file with a header; each row is a pair, with the names of its elements and a number for each
attribute of the model, found by the names of columns. It is read and written some thousand rows at a time.
"""

from __future__ import annotations

import argparse

from graphpart.cli import arguments
from graphpart.cli.console import check_input, emit_json
from graphpart.cli.display import Progress
from graphpart.cli.files import read_model, writing
from graphpart.display import plural
from graphpart.errors import InvalidOption

NAME = "cost"
HELP = "costs of pairs by a learned model, as an instance"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("model", metavar="MODEL", help="a JSON file that graphpart learn wrote")
    parser.add_argument("pairs", metavar="PAIRS", help="a CSV file with a header, '-' for standard input")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the CSV file to write; '-' is stdout")
    parser.add_argument("--u", default="u", metavar="COLUMN", help="the column of the first element; default: u")
    parser.add_argument("--v", default="v", metavar="COLUMN", help="the column of the second element; default: v")
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Read, compute and write, block by block."""
    import csv
    import io

    from graphpart.files.source import bare_name, opened, replacing
    from graphpart.files.text import numbers
    from graphpart.io.table import TableReader

    arguments.check_one_input(args.model, args.pairs)
    if args.output != "-" and not bare_name(args.output).endswith(".csv"):
        raise InvalidOption(
            f"-o {args.output}: expected a name that ends in .csv; graphpart convert writes other formats"
        )
    if args.json and args.output == "-":
        raise InvalidOption("--json and -o - both take standard output: expected one of them")
    check_input(args.pairs)
    model = read_model(args.model)
    if model.attributes_ is None:
        raise InvalidOption(f"{args.model} does not name its attributes: expected a model that graphpart learn wrote")
    count = joins = 0
    with Progress(1) as progress, opened(args.pairs) as source, writing(args.output), replacing(args.output) as stream:
        progress.start("pairs")
        table = TableReader(source)
        stream.write(b"u,v,cost\n")
        for lines, X, names in table.blocks(model.attributes_, (args.u, args.v)):
            for line, (u, v) in zip(lines, names, strict=True):
                if u == v:
                    raise source.error(line, f"found the pair {u!r}, {v!r}: expected two different elements")
            costs = model.costs(X)
            text = io.StringIO(newline="")
            rows = zip(names, numbers(costs), strict=True)
            csv.writer(text, lineterminator="\n").writerows((u, v, cost) for (u, v), cost in rows)
            stream.write(text.getvalue().encode())
            count += len(costs)
            joins += int((costs < 0).sum())
            progress.start(plural(count, "pair"))
        if not count:
            raise source.error(2, "no row follows the header: expected pairs")
    if args.json:
        emit_json({"file": args.pairs, "pairs": count, "negative": joins})
    return 0

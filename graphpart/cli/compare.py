"""Compare a partition with the true one: Rand index, variation of information, precision and recall of joins and cuts.

Both files contain labels: one integer on each line in the order of the elements, or a table element,cluster. The
latter are matched by node, and TRUTH need not have nodes whose true label is not known.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from graphpart.cli import arguments
from graphpart.cli.console import emit, emit_json
from graphpart.cli.files import read_labels
from graphpart.errors import FormatError

NAME = "compare"
HELP = "compare a partition with the true one"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("labels", metavar="LABELS", help="a labels file, '-' for standard input")
    parser.add_argument("truth", metavar="TRUTH", help="the labels file with the true labels")
    parser.add_argument(
        "--missing", default="-1", metavar="LABEL", help="the true label of elements without one; default: -1"
    )
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Read both and compare."""
    from graphpart.files.text import INTEGER
    from graphpart.metrics import compare

    arguments.check_one_input(args.labels, args.truth)
    partition, truth = (labels_of(path) for path in (args.labels, args.truth))
    missing = int(args.missing) if INTEGER.fullmatch(args.missing) else args.missing
    facts = asdict(compare(truth, partition, missing=missing))
    if args.json:
        old = {"true_subsets": facts["n_true_clusters"], "subsets": facts["n_clusters"]}  # the names in version 0.2
        emit_json({"file": args.labels, "truth": args.truth, **facts, **old})
        return 0
    width = max(map(len, facts))
    for name, value in facts.items():
        words = name.removeprefix("n_").replace("_", " ")
        emit(f"{words:<{width}}  {f'{value:.6f}' if isinstance(value, float) else value}\n", flush=False)
    return 0


def labels_of(path: str) -> Any:
    """The labels in a file that is not empty."""
    labels = read_labels(path)
    if not len(labels):
        raise FormatError(path, 1, "the file is empty: expected labels")
    return labels

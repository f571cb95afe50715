"""Learn costs of pairs from a table of labelled pairs, and write the model.

The table is a CSV file with a header. Each row is a pair, with 1 (same cluster) or 0 in the label column, and a number
in each attribute column. The model that is written is fitted to all pairs. The held-out scores are those of a second
model of the same kind, which is fitted without the held-out pairs.

With --loss max-margin, costs are learned such that the true partition is better than all others by a margin. The
columns u and v have to name the elements, and the labels have to be those of a partition. With --problem, the pairs
belong to several partitions, some of which are held out as a whole. Without --problem, elements are divided into
samples of 60, and nothing is held out.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from graphpart.cli import arguments
from graphpart.cli.console import check_input, emit_json
from graphpart.cli.display import Callback, Progress, Table
from graphpart.cli.files import write_model
from graphpart.display import plural
from graphpart.errors import InvalidOption
from graphpart.files.source import check_writable

if TYPE_CHECKING:
    from graphpart.learn import LogisticRegression, MaxMarginPartition

NAME = "learn"
HELP = "learn costs of pairs from labelled pairs"
SCORES = ["pairs", "joins", "accuracy", "precision", "recall", "f1", "bits"]

Blocks = list[tuple[Any, ...]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("pairs", metavar="PAIRS", help="a CSV file with a header, '-' for standard input")
    parser.add_argument("--label", required=True, metavar="COLUMN", help="the column that holds 1 (same) or 0")
    columns = parser.add_mutually_exclusive_group()
    columns.add_argument(
        "--attribute", action="append", metavar="COLUMN", dest="attributes",
        help="a column to learn from; may be given repeatedly; default: all but the label, u and v",
    )  # fmt: skip
    columns.add_argument(
        "--ignore", action="append", metavar="COLUMN", default=[], help="a column not to learn from; may be repeated"
    )
    parser.add_argument(
        "--loss", choices=["logistic", "max-margin"], default="logistic",
        help="learn from pairs as if independent, or from whole partitions; default: logistic",
    )  # fmt: skip
    parser.add_argument(
        "--problem", metavar="COLUMN", help="with max-margin, the column that tells the partition of each pair"
    )
    parser.add_argument("--sigma", type=positive, help="standard deviation of the prior; default: 1, for max-margin 10")
    parser.add_argument("--no-intercept", action="store_true", help="no constant attribute")
    parser.add_argument(
        "--held-out", type=share, default=0.2, metavar="SHARE", help="of the pairs, for the scores; default: 0.2"
    )
    parser.add_argument("--seed", type=arguments.whole, default=0, metavar="INTEGER", help="of the held-out pairs")
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the JSON file to write")
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Read, fit, score, write."""
    if args.json and args.output == "-":
        raise InvalidOption("--json and -o - both take standard output: expected one of them")
    check_input(args.pairs)
    check_writable(args.output)
    if args.problem is not None and args.loss != "max-margin":
        raise InvalidOption("--problem is given: expected --loss max-margin")
    with Progress(3) as progress:
        progress.start("reading")
        if args.loss == "max-margin":
            names, training, held_out = read_partitions(args)
        else:
            names, training, held_out = read_samples(args, progress)
        progress.advance()
        records = {}
        if held_out:
            model = fit(args, names, training, progress.start("fitting without the held-out pairs"))
            records = {"training": scores(model, training), "held-out": scores(model, held_out)}
        progress.advance()
        model = fit(args, names, training + held_out, progress.start("fitting"))
        records["all"] = scores(model, training + held_out)
        progress.advance()
    write_model(model, args.output)
    if args.json:
        facts = {"file": args.pairs, "attributes": names, "theta": model.theta_.tolist(), "sigma": model.sigma}
        facts |= {
            "intercept": model.intercept,
            "status": str(model.status_),
            "iterations": model.n_iter_,
            "loss": args.loss,
        }
        emit_json(facts | {"scores": records})
    else:
        with Table(list(records), SCORES, aside=args.output == "-") as table:
            for name, record in records.items():
                table.add(name, record)
    return 0


def read_samples(args: argparse.Namespace, progress: Progress) -> tuple[list[str], Blocks, Blocks]:
    """The names of the attributes, and blocks (attributes, decisions) of training and of held-out pairs."""
    import numpy as np

    from graphpart.files.source import opened
    from graphpart.io.table import TableReader

    rng = np.random.default_rng(args.seed)
    training: Blocks = []
    held_out: Blocks = []
    count = 0
    with opened(args.pairs) as source:
        table = TableReader(source)
        table.place(args.label)
        for name in args.ignore:
            table.place(name)
        names = args.attributes or [
            name for name in table.columns if name not in ("u", "v", args.label, *args.ignore)
        ]  # fmt: skip
        if args.label in names:
            raise InvalidOption(f"--attribute {args.label} is the label: expected other columns")
        if not names:
            raise source.error(1, "no column is left to learn from: expected at least one attribute")
        for lines, values, _ in table.blocks([*names, args.label]):
            X, y = np.ascontiguousarray(values[:, :-1]), values[:, -1]
            wrong = np.flatnonzero((y != 0) & (y != 1))
            if len(wrong):
                line = lines[int(wrong[0])]
                raise source.error(line, f"column {args.label!r} has {y[wrong[0]]:g}: expected 0 or 1")
            y = y.astype(np.int8)
            out = rng.random(len(y)) < args.held_out
            training.append((X[~out], y[~out]) if out.any() else (X, y))
            if out.any():
                held_out.append((X[out], y[out]))
            count += len(y)
            progress.start(f"reading: {plural(count, 'pair')}")
        if not count:
            raise source.error(2, "no row follows the header: expected pairs to learn from")
    return names, training, held_out


def read_partitions(args: argparse.Namespace) -> tuple[list[str], Blocks, Blocks]:
    """The names of the attributes, and blocks (attributes, decisions, pairs), one for each partition."""
    import numpy as np

    from graphpart.files.source import opened
    from graphpart.io.table import TableReader

    rng = np.random.default_rng(args.seed)
    with opened(args.pairs) as source:
        table = TableReader(source)
        for name in ("u", "v", args.label, *args.ignore, *([args.problem] if args.problem else [])):
            table.place(name)
        apart = ("u", "v", args.label, args.problem, *args.ignore)
        names = args.attributes or [name for name in table.columns if name not in apart]
        if not names:
            raise source.error(1, "no column is left to learn from: expected at least one attribute")
        texts = ("u", "v", args.problem) if args.problem else ("u", "v")
        rows, decisions, ends = [], [], []
        for lines, values, found in table.blocks([*names, args.label], texts):
            wrong = np.flatnonzero((values[:, -1] != 0) & (values[:, -1] != 1))
            if len(wrong):
                line, value = lines[int(wrong[0])], values[wrong[0], -1]
                raise source.error(line, f"column {args.label!r} has {value:g}: expected 0 or 1")
            rows.append(np.ascontiguousarray(values[:, :-1]))
            decisions.append(values[:, -1].astype(np.int8))
            ends.append(np.array(found).reshape(-1, len(texts)))
        if not rows:
            raise source.error(2, "no row follows the header: expected pairs to learn from")
    X, y, text = np.concatenate(rows), np.concatenate(decisions), np.concatenate(ends)
    elements = np.unique(text[:, :2].ravel(), return_inverse=True)[1].reshape(-1, 2)
    if args.problem is None:
        return names, [(X, y, elements)], []
    number = np.unique(text[:, 2], return_inverse=True)[1]
    blocks = [(X[at], y[at], elements[at]) for at in (number == k for k in range(number.max() + 1))]
    out = rng.random(len(blocks)) < args.held_out
    if out.all():
        out[:] = False
    training = [block for block, o in zip(blocks, out, strict=True) if not o]
    return names, training, [block for block, o in zip(blocks, out, strict=True) if o]


def fit(
    args: argparse.Namespace, names: list[str], blocks: Blocks, callback: Callback | None
) -> LogisticRegression | MaxMarginPartition:
    """A model fitted to blocks of pairs."""
    from graphpart.learn import LogisticRegression, MaxMarginPartition

    if args.loss == "max-margin":
        parts = cut(*blocks[0]) if args.problem is None else blocks
        margin = MaxMarginPartition(10.0 if args.sigma is None else args.sigma, intercept=not args.no_intercept, seed=0)
        X, y, pairs = (list(part) for part in zip(*parts, strict=True))
        return margin.fit(X, y, pairs, attributes=names, callback=callback)

    def samples() -> Iterator[tuple[Any, ...]]:
        return iter(blocks)

    model = LogisticRegression(1.0 if args.sigma is None else args.sigma, intercept=not args.no_intercept)
    return model.fit_blocks(samples, len(names), attributes=names, callback=callback)


def cut(X: Any, y: Any, pairs: Any) -> Blocks:
    """The pairs of random samples of elements, with few and with many clusters; all pairs if there are few."""
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    from graphpart.learn.pairs import cut_into_problems

    n = int(pairs.max()) + 1
    if n <= 60:  # the elements of a sample
        return [(X, y, pairs)]
    joined = pairs[y == 1].T.astype(np.int32)  # the components of SciPy 1.11 take no other indices
    truth = connected_components(coo_array((np.ones(joined.shape[1]), joined), shape=(n, n)), directed=False)[1]
    parts = []
    for sample in cut_into_problems(truth, seed=0):
        at = np.isin(pairs, sample).all(axis=1)
        if at.any():
            parts.append((X[at], y[at], pairs[at]))
    return parts or [(X, y, pairs)]


def scores(model: LogisticRegression | MaxMarginPartition, blocks: Blocks) -> dict[str, float | int | None]:
    """Accuracy of independent decisions; precision, recall and F1 of joins; mean of -log2 P(y | x), in bits."""
    import numpy as np

    joins = cuts = right_joins = right_cuts = 0
    bits = 0.0
    for X, y, *_ in blocks:
        f = model.decision_function(X)
        joins += int((y == 1).sum())
        cuts += int((y == 0).sum())
        right_joins += int(((f > 0) & (y == 1)).sum())
        right_cuts += int(((f <= 0) & (y == 0)).sum())
        bits += float(np.logaddexp2(0.0, np.where(y == 1, -f, f)).sum())
    n, predicted = joins + cuts, right_joins + cuts - right_cuts

    def ratio(part: float, whole: int) -> float | None:
        return part / whole if whole else None

    return {
        "pairs": n,
        "joins": joins,
        "accuracy": ratio(right_joins + right_cuts, n),
        "precision": ratio(right_joins, predicted),
        "recall": ratio(right_joins, joins),
        "f1": ratio(2 * right_joins, predicted + joins),
        "bits": ratio(bits, n),
    }


def positive(text: str) -> float:
    """A number greater than 0."""
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError
    return value


def share(text: str) -> float:
    """A number from 0 to less than 1."""
    value = float(text)
    if not 0 <= value < 1:
        raise ValueError
    return value

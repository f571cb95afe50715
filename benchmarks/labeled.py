"""Labelled partitions: `auto` beside the methods that improve one half at a time, on planted grids.

    python benchmarks/labeled.py --csv docs/benchmarks/labeled.csv    20 grids of 40 x 40 pixels, 3 classes, 30 s each
    python benchmarks/labeled.py --quick                              small sizes: does everything run?

Beside `auto`, from the same problem: `alternating` (clusters given the classes, classes given the clusters, in turns,
from the best classes), and both halves by `auto` of each kind once: classes first, as if all pairs were apart, then
clusters for these classes. Costs are recomputed from the arrays. A row has one seed: gap and seconds of `auto`, and by
how much the others are above it, as shares of its cost.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from pathlib import Path

import numpy as np

import graphpart as gp
from graphpart.labeled.finite import tables_of
from graphpart.labeled.halves import classes_half, clusters_half

COLUMNS = [
    "seed",
    "sigma",
    "cost",
    "gap",
    "seconds to a gap of 1%",
    "seconds",
    "alternating above",
    "classes first above",
]


def classes_first(q: gp.LabeledPartition) -> float:
    """The cost of the best classes if all pairs were apart, and of the best clusters for these classes."""
    tables = tables_of(q)
    classes = gp.solve(classes_half(tables, np.arange(q.n, dtype=np.int32)), time_limit=10).labels
    p, _ = clusters_half(tables, classes)
    return q.evaluate(gp.solve(p, time_limit=10).labels, classes)


def run(seed: int, size: int, sigma: float, seconds: float) -> dict[str, object]:
    q, labels, classes = gp.generate.labeled_grid(size, size, 3, max(2, size * size // 40), sigma, seed=seed)
    began = time.perf_counter()
    r = gp.solve(q, time_limit=seconds)
    took = time.perf_counter() - began
    assert r.cost == q.evaluate(r) <= q.evaluate(labels, classes)
    near = next((when for when, bound in r.bounds if r.cost - bound <= 0.01 * abs(r.cost)), math.inf)
    others = gp.solve(q, "alternating").cost, classes_first(q)
    above = [f"{(cost - r.cost) / abs(r.cost):.3%}" for cost in others]
    assert all(cost >= r.cost for cost in others), (r.cost, others)
    return dict(
        zip(COLUMNS, [seed, sigma, f"{r.cost:.4f}", f"{r.gap:.3%}", f"{near:.1f}", f"{took:.1f}", *above], strict=True)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--csv", metavar="FILE")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    size, seeds, seconds = (6, range(1), 0.5) if args.quick else (40, range(20), 30.0)
    rows = []
    for seed in seeds:
        rows.append(run(seed, size, 0.7 if seed % 2 else 1.0, seconds))
        print("  ".join(map(str, rows[-1].values())), flush=True)
    if args.csv:
        with Path(args.csv).open("w", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()

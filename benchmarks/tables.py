"""Tables of scored pairs with known clusters: what the default cost of unlisted pairs does, beside given costs.

For each kind of table the adjusted Rand index and the largest cluster, by local search, with pairs that are not in the
table at no cost, at the default, which is derived from the table, and at given costs.

    python benchmarks/tables.py [--quick] [--csv docs/benchmarks/tables.csv]
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import graphpart as gp

Ints = NDArray[np.integer[Any]]
Within = Callable[[int, np.random.Generator], tuple[Ints, Ints]]
COSTS = (0.0, None, 0.05, 0.2, 0.5, 1.0, 2.0)  # None: the default
MATCHES = (6.0, 1.5)  # of the beta distribution of scores within clusters
ABOVE = {"8.5%": 3.56, "4%": 4.64, "1%": 6.64}  # the share of others above one half, and their beta distribution


class Table(NamedTuple):
    """Columns `left`, `right` and `score`, all names, and the cluster of each."""

    columns: dict[str, Any]
    names: list[str]
    truth: Ints


def some(share: float) -> Within:
    """So many of the pairs within a cluster, at random."""

    def pairs(size: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        u, v = np.triu_indices(size, 1)
        kept = rng.random(len(u)) < share
        return u[kept], v[kept]

    return pairs


def path(size: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """The pairs of a path through a cluster."""
    return np.arange(size - 1), np.arange(1, size)


def nearest(k: int) -> Within:
    """Each element of a cluster with its k nearest ones; elements are points in a square."""

    def pairs(size: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        points = rng.random((size, 2))
        far = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        np.fill_diagonal(far, np.inf)
        near = np.argsort(far, axis=1)[:, : min(k, size - 1)]
        low, high = np.sort([np.repeat(np.arange(size), near.shape[1]), near.ravel()], axis=0)
        keys = np.unique(low * size + high)
        return keys // size, keys % size

    return pairs


def table(sizes: Ints, within: Within, others: int, above: float, seed: int = 0) -> Table:
    """A table with some pairs within clusters of these sizes, and so many pairs of different ones."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    n, starts = len(truth), np.concatenate([[0], np.cumsum(sizes)[:-1]])
    found = [(u + start, v + start) for start, size in zip(starts, sizes, strict=True) for u, v in [within(size, rng)]]
    a, b = np.sort(rng.integers(n, size=(2, 2 * others + 10)), axis=0)
    keys = rng.permutation(np.unique((a * n + b)[truth[a] != truth[b]]))[:others]
    u = np.concatenate([*(u for u, _ in found), keys // n])
    v = np.concatenate([*(v for _, v in found), keys % n])
    score = np.where(truth[u] == truth[v], rng.beta(*MATCHES, len(u)), rng.beta(1.0, above, len(u)))
    order, member = rng.permutation(len(u)), np.arange(n) - starts[truth]
    names = [f"rec-{c}-{k}" for c, k in zip(truth.tolist(), member.tolist(), strict=True)]
    array = np.array(names, object)
    columns = {"left": array[u[order]], "right": array[v[order]], "score": np.round(score[order], 2).clip(0.005, 0.995)}
    return Table(columns, names, truth)


def records(above: str, share: float = 0.8, part: int = 1, rows: int = 50_000) -> Table:
    """12,000 records in 3,400 clusters of 3.5 and 50,000 rows, or a part of them."""
    sizes = 1 + np.random.default_rng(1).poisson(2.53, 3400 // part)
    within = int((sizes * (sizes - 1) // 2).sum() * share)
    return table(sizes, some(share), rows // part - within, ABOVE[above])


def tables(part: int = 1) -> Iterator[tuple[str, Table]]:
    """All kinds of tables by name; with `part`, only one of so many clusters."""
    for above in ABOVE:
        yield f"3.5 records, {above} of others above 1/2", records(above, part=part)
    yield "3.5 records, half of the pairs compared", records("8.5%", 0.5, part)
    full = records("8.5%", part=part)
    kept = full.columns["score"] > 0.5
    yield (
        "3.5 records, only scores above 1/2 listed",
        full._replace(columns={name: column[kept] for name, column in full.columns.items()}),
    )
    rng = np.random.default_rng(2)
    few = rng.choice(6, 6500 // part, p=[0.5, 0.3, 0.1, 0.05, 0.03, 0.02]) + 1
    yield "mostly 1 to 3 records", table(few, some(0.8), 20_000 // part, ABOVE["8.5%"])
    yield "2 records", table(np.full(3000 // part, 2), some(0.9), 30_000 // part, ABOVE["8.5%"])
    large = rng.integers(20, 101, 100 // part)
    for share in (0.1, 0.3, 0.6):
        others = int((large * (large - 1) // 2).sum() * share)
        yield f"20 to 100 records, {share:.0%} of pairs compared", table(large, some(share), others, ABOVE["8.5%"])
    for k in (3, 5, 10):
        yield (
            f"20 to 100 records, {k} nearest ones compared",
            table(large, nearest(k), k * 3000 // part, ABOVE["8.5%"]),
        )
    small = 1 + rng.poisson(2.53, 3400 // part)
    yield "3.5 records compared along a path", table(small, path, 10_000 // part, ABOVE["1%"])
    yield "20 to 100 records compared along a path", table(large, path, 3000 // part, ABOVE["1%"])

    def either(size: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        return some(0.9)(size, rng) if size < 12 else nearest(5)(size, rng)

    both = np.concatenate([small[: len(small) * 2 // 3], large])
    yield "3.5 records, and 20 to 100 with 5 nearest", table(both, either, 40_000 // part, ABOVE["8.5%"])


def measure(one: Table, missing: float | None) -> dict[str, Any]:
    """What local search finds with a cost of unlisted pairs."""
    began = time.process_time()
    p = gp.SetPartition.from_frame(
        one.columns, "left", "right", probability="score", nodes=one.names, missing=missing, dense=False
    )
    built = time.process_time() - began
    labels = gp.partition.kernighan_lin_pairs(p).labels
    return {
        "missing": 0.0 if p.background is None else p.background.constant,
        "adjusted_rand": gp.metrics.adjusted_rand_index(one.truth, labels),
        "largest": int(np.bincount(labels).max()),
        "build_seconds": built,
        "solve_seconds": time.process_time() - began - built,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of each table")
    parser.add_argument("--csv", metavar="FILE", help="where to write the figures")
    args = parser.parse_args()
    rows = []
    for name, one in tables(10 if args.quick else 1):
        found = [measure(one, missing) for missing in COSTS]
        best = max(found[2:] + found[:1], key=lambda f: f["adjusted_rand"])
        true = int(np.bincount(one.truth).max())
        row = {"table": name, "rows": len(one.columns["left"]), "derived": f"{found[1]['missing']:.3g}"}
        row |= {"true largest": true, "largest, 0": found[0]["largest"], "largest": found[1]["largest"]}
        row |= {"ARI, 0": f"{found[0]['adjusted_rand']:.2f}", "ARI": f"{found[1]['adjusted_rand']:.2f}"}
        row |= {"best ARI": f"{best['adjusted_rand']:.2f}", "at": f"{best['missing']:g}"}
        rows.append(row)
        print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    if args.csv:
        with open(args.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()

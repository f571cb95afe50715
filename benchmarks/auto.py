"""Whether the default is as good as the best method: `auto` in T seconds beside every other method in T / 2 seconds.

python benchmarks/auto.py --seconds 1 5 20 --csv docs/benchmarks/auto.csv
python benchmarks/auto.py --seconds 1 --kinds grid dense          # those whose names have one of these words

One line for each kind of problem and time: the cost and the bound of `auto`, the best other method and its cost.
"above" is by how much the cost of `auto` is above that cost, as a share of it: above 0 is worse. "late" are the most
seconds that any method took past its limit, where 0.3 s and 5% are allowed. With --all, one line for each method.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from auto_factor_graphs import kinds as factor_graphs
from auto_jobs import kinds as jobs

import graphpart as gp
from graphpart.methods import methods_for

COLUMNS = ("kind", "problem", "size", "seconds", "method", "cost", "bound", "took", "late", "above")
SHOWN = ("problem", "elements", "seconds", "auto", "its bound", "best other", "cost of that", "above", "late")
SMALL = {"ilp": 100, "brute-force": 14}  # elements or variables, up to which such a method is worth the time


def normal_costs(n: int, seed: int = 1) -> gp.SetPartition:
    """A complete graph with normal costs."""
    costs = np.triu(np.random.default_rng(seed).standard_normal((n, n)), 1)
    return gp.SetPartition.from_matrix(costs + costs.T)


def random_pairs(n: int, m: int, seed: int = 1) -> gp.SetPartition:
    """Random pairs with normal costs."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(n, size=(m, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return gp.SetPartition.from_pairs(n, pairs, rng.standard_normal(len(pairs)))


def pixels(height: int, width: int, seed: int = 1) -> gp.SetPartition:
    """A grid with normal costs between neighbours."""
    at = np.arange(height * width).reshape(height, width)
    u = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    v = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    return gp.SetPartition.from_pairs(height * width, (u, v), np.random.default_rng(seed).standard_normal(len(u)))


def clusters(n: int, size: int, seed: int = 1) -> gp.SetPartition:
    """Cluster editing of a large sparse graph: pairs that are not listed cost one."""
    rng = np.random.default_rng(seed)
    pairs = np.stack([rng.integers(n, size=4 * n), rng.integers(-size, size + 1, 4 * n)], 1)
    pairs[:, 1] = np.clip(pairs[:, 0] // size * size + pairs[:, 1] % size, 0, n - 1)
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return gp.SetPartition.from_pairs(n, pairs, np.full(len(pairs), -2.0), missing=1.0)


def partitions() -> dict[str, Callable[[], gp.SetPartition]]:
    """Each kind of set partition problem by its name: from 20 to 10^6 elements."""
    generate = gp.generate
    return {
        "dense, 20 elements": lambda: normal_costs(20),
        "dense, 100 elements": lambda: normal_costs(100),
        "dense, 200 elements": lambda: normal_costs(200),
        "dense, 1000 elements": lambda: normal_costs(1000),
        "dense, 3000 elements": lambda: normal_costs(3000),
        "small integers, 300 elements": lambda: generate.uniform_integers(300, seed=1).problem,
        "planted, 300 elements": lambda: generate.planted_partition(300, 12, 2.0, seed=1).problem,
        "cluster editing, 150 elements": lambda: generate.cluster_editing(150, seed=1).problem,
        "correlations, 200 elements": lambda: generate.correlations(200, seed=1).problem,
        "machine parts, 120 elements": lambda: generate.machine_parts(50, 70, seed=1).problem,
        "region graph, 2000 elements": lambda: generate.volume(2000, seed=1).problem,
        "region graph, 20,000 elements": lambda: generate.volume(20_000, seed=1).problem,
        "grid 100 x 100, far pairs": lambda: generate.grid(100, 100, seed=1).problem,
        "grid 100 x 100, normal": lambda: pixels(100, 100),
        "grid 1000 x 1000, normal": lambda: pixels(1000, 1000),
        "sparse, 3000 elements, 15,000 pairs": lambda: random_pairs(3000, 15_000),
        "sparse, 100,000 elements, 10^6 pairs": lambda: random_pairs(100_000, 10**6),
        "many clusters, 20,000 elements": lambda: clusters(20_000, 8),
        "two components of 80 elements": lambda: twice(normal_costs(80), normal_costs(80, 2)),
    }


def twice(first: gp.SetPartition, second: gp.SetPartition) -> gp.SetPartition:
    """A problem with two components."""
    u, v, cost = (np.concatenate([a, b]) for a, b in zip(first.pairs(), second.pairs(), strict=True))
    shift = np.where(np.arange(len(u)) < first.m, 0, first.n)
    return gp.SetPartition.from_pairs(first.n + second.n, (u + shift, v + shift), cost)


def measured(problem: Any, method: str, limit: float) -> tuple[gp.Result, float, float]:
    """The result of a method, the seconds it took, and those past the limit and what is allowed."""
    began = time.perf_counter()
    result = gp.solve(problem, method, time_limit=limit)
    took = time.perf_counter() - began
    return result, took, max(0.0, took - 0.3 - 1.05 * limit)


def rows(sort: str, name: str, problem: Any, seconds: float) -> list[dict[str, Any]]:
    """`auto` in all of the time, and every other method in half of it."""
    size = len(problem.nodes)
    default, took, late = measured(problem, "auto", seconds)
    found = [("auto", default, took, late, 0.0)]
    for method in methods_for(sort):
        if method.name == "auto" or size > SMALL.get(method.name, size):
            continue
        try:
            result, took, late = measured(problem, method.name, seconds / 2)
        except gp.GraphPartError:
            continue
        found.append((method.name, result, took, late, (default.cost - result.cost) / max(abs(result.cost), 1e-12)))
    return [
        dict(
            zip(
                COLUMNS,
                (sort, name, size, seconds, method, f"{r.cost:.9g}", f"{r.lower_bound:.9g}", f"{took:.2f}",
                 f"{late:.2f}", f"{above:+.5%}"),
                strict=True,
            )
        )
        for method, r, took, late, above in found
    ]  # fmt: skip


def in_short(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The line of one kind and time, from those of all methods."""
    own, others = rows[0], rows[1:]
    best = min(others, key=lambda row: float(row["cost"]))
    late = max(float(row["late"]) for row in rows)
    values = (own["problem"], own["size"], own["seconds"], own["cost"], own["bound"], best["method"], best["cost"],
              f"{float(best['above'].rstrip('%')):+.3f}%", f"{late:.2f}")  # fmt: skip
    return dict(zip(SHOWN, values, strict=True))


def main() -> None:
    """All kinds, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, nargs="+", default=[1.0, 5.0, 20.0])
    parser.add_argument("--kinds", nargs="*", default=[""], help="words in the names of kinds")
    parser.add_argument("--csv", help="a file for the table")
    parser.add_argument("--all", action="store_true", help="a line for each method")
    options = parser.parse_args()
    table: list[dict[str, Any]] = []
    for sort, kinds in (("partition", partitions() | jobs()), ("crf", factor_graphs())):
        for name, make in kinds.items():
            if not any(word in name for word in options.kinds):
                continue
            problem = make()
            for seconds in options.seconds:
                new = rows(sort, name, problem, seconds)
                short = in_short(new)
                table += new if options.all else [short]
                print(
                    f"{name:40} {seconds:4g} s  auto {short['auto']:>12}  above {short['above']:>8} "
                    f"{short['best other']}  late {short['late']} s",
                    flush=True,
                )
    if options.csv:
        with open(options.csv, "w", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS if options.all else SHOWN, lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)


if __name__ == "__main__":
    main()

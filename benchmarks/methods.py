"""Time, memory and cost of each method on problems of several kinds and sizes: the tables of docs/how-to/choosing.md.

    python benchmarks/methods.py                                    all rows, some minutes
    python benchmarks/methods.py --csv docs/benchmarks/methods.csv  and keep them; rows that are there are not repeated
    python benchmarks/methods.py --problems "complete, 1000" --quick

Each run is a process of its own on one thread, in which the problem is generated before the clock starts. Gaps are
those to the best cost that any method reached on the problem, and to the method's own lower bound. Memory is the peak
above what the problem takes itself, where the system says it (Linux).
"""

from __future__ import annotations

import argparse
import csv
import gc
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import graphpart as gp
from graphpart.methods import find_method

LIMIT = 5.0  # seconds, for methods that would go on
COLUMNS = ["problem", "kind", "method", "seconds", "above the best", "gap to its bound", "status", "memory", "cost"]

PARTITION: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "complete, 100": (
        lambda: gp.generate.planted_partition(100, 5, 2.0, seed=1),
        ("greedy-joining", "kernighan-lin", "search", "exact", "auto"),
    ),
    "complete, 1000": (
        lambda: gp.generate.planted_partition(1000, 33, 2.5, seed=1),
        ("greedy-joining", "kernighan-lin", "kernighan-lin-pairs", "search", "auto"),
    ),
    "complete, 3000": (
        lambda: gp.generate.planted_partition(3000, 100, 3.0, seed=1),
        ("greedy-joining", "kernighan-lin", "search", "auto"),
    ),
    "10^4 elements, 10^5 pairs": (
        lambda: gp.generate.sparse_random(10**4, 10**5, seed=1),
        ("greedy-joining", "kernighan-lin", "kernighan-lin-pairs", "search", "auto"),
    ),
    "10^5 elements, 10^6 pairs": (
        lambda: gp.generate.sparse_random(10**5, 10**6, seed=1),
        ("greedy-joining", "kernighan-lin", "kernighan-lin-pairs", "search", "auto"),
    ),
    "10^6 elements, 10^7 pairs": (lambda: gp.generate.sparse_random(10**6, 10**7, seed=1), ("greedy-joining",)),
    "grid of 300 x 300": (
        lambda: gp.generate.grid(300, 300, seed=1),
        ("greedy-joining", "kernighan-lin", "kernighan-lin-pairs", "search", "auto"),
    ),
}
FACTORS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "tree, 10^5 variables": (lambda: gp.generate.factor_tree(10**5, seed=1), ("icm", "min-sum", "auto")),
    "two labels, submodular, 300 x 300": (
        lambda: gp.generate.noisy_image(300, 300, seed=1),
        ("icm", "graph-cut", "message-passing", "auto"),
    ),
    "eight labels, Potts, 100 x 100": (
        lambda: potts(100, 8),
        ("icm", "expansion", "message-passing", "search", "auto"),
    ),
    "four labels, any tables, 40 x 40": (
        lambda: tables(40, 4),
        ("icm", "expansion", "message-passing", "search", "exact", "auto"),
    ),
    "four labels, any tables, 6 x 300": (
        lambda: tables(6, 4, 300),
        ("icm", "message-passing", "elimination", "exact", "auto"),
    ),
    "binary quadratic, 500 variables": (
        lambda: gp.generate.qubo(500, seed=1),
        ("icm", "message-passing", "search", "auto"),
    ),
}
PROBLEMS = PARTITION | FACTORS


def pairs_of_grid(height: int, width: int) -> np.ndarray:
    """Neighbours in a grid."""
    place = np.arange(height * width).reshape(height, width)
    right = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1)
    down = np.stack([place[:-1].ravel(), place[1:].ravel()], axis=1)
    return np.concatenate([right, down])


def potts(size: int, labels: int) -> gp.FactorGraph:
    """A grid whose neighbours pay for different labels, with normal unary costs."""
    n, pairs = size * size, pairs_of_grid(size, size)
    unary = np.random.default_rng(1).normal(size=(n, labels))
    both = np.repeat(0.6 * (1 - np.eye(labels))[None], len(pairs), axis=0)
    return gp.FactorGraph.from_arrays([labels] * n, [(np.arange(n)[:, None], unary), (pairs, both)])


def tables(height: int, labels: int, width: int | None = None) -> gp.FactorGraph:
    """A grid whose neighbours have any normal tables."""
    width = width or height
    pairs = pairs_of_grid(height, width)
    values = np.random.default_rng(1).normal(size=(len(pairs), labels, labels))
    return gp.FactorGraph.from_arrays([labels] * height * width, [(pairs, values)])


def memory(name: str) -> float:
    """A number of kB from what Linux says of this process; NaN elsewhere."""
    try:
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
    except OSError:
        return math.nan
    return next((float(line.split()[1]) for line in lines if line.startswith(name)), math.nan)


def child(problem: str, method: str, limit: float) -> None:
    """Run a method once and print what it costs."""
    made = PROBLEMS[problem][0]()
    p = made if isinstance(made, gp.FactorGraph) else made.problem
    del made
    gc.collect()
    gp.solve(gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 2.0]), time_limit=1)  # what is imported when used
    before = memory("VmRSS")
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak from here on
    except OSError:
        before = math.nan
    start = time.perf_counter()
    options = {"threads": 1} if method == "search" else {}
    kind = "crf" if isinstance(p, gp.FactorGraph) else "partition"
    ends = not (method in ("auto", "message-passing") or find_method(method, kind).exact or method == "search")
    r = gp.solve(p, method, time_limit=None if ends else limit, **options)
    seconds = time.perf_counter() - start
    used = memory("VmHWM") - before
    print(
        json.dumps({"seconds": seconds, "cost": r.cost, "gap": r.gap, "status": str(r.status), "memory": used / 1024})
    )


def finished(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Rows as they are shown, with the gap to the best cost that any method reached."""
    best: dict[str, float] = {}
    for row in rows:
        best[row["problem"]] = min(best.get(row["problem"], math.inf), float(row["cost"]))
    order = {name: k for k, name in enumerate(PROBLEMS)}
    methods = {(name, method): k for name in PROBLEMS for k, method in enumerate(PROBLEMS[name][1])}
    rows = sorted(rows, key=lambda row: (order[row["problem"]], methods[row["problem"], row["method"]]))
    least = {row["problem"]: best[row["problem"]] for row in rows}
    for row in rows:
        above = (float(row["cost"]) - least[row["problem"]]) / abs(least[row["problem"]])
        row["above the best"] = f"{above:.3%}" if above > 0 else "0%"
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS), metavar="NAME")
    parser.add_argument("--seconds", type=float, default=LIMIT, help=f"limit of each run; default: {LIMIT:g}")
    parser.add_argument("--quick", action="store_true", help="a tenth of the limit")
    parser.add_argument("--csv", type=Path, help="rows are kept here, and read from here")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    limit = options.seconds / 10 if options.quick else options.seconds
    if options.child:
        child(*options.child, limit)
        return
    rows: list[dict[str, Any]] = []
    if options.csv is not None and options.csv.exists():
        with options.csv.open(newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.DictReader(stream) if row["method"] in PROBLEMS.get(row["problem"], ("", ""))[1]]
    done = {(row["problem"], row["method"]) for row in rows}
    for problem in options.problems:
        for method in PROBLEMS[problem][1]:
            if (problem, method) in done:
                continue
            call = [sys.executable, __file__, "--child", problem, method, "--seconds", str(limit)]
            found = json.loads(subprocess.run(call, capture_output=True, text=True, check=True).stdout)
            gap = "-" if math.isinf(found["gap"]) else f"{found['gap']:.3%}" if found["gap"] else "0%"
            memory = "-" if math.isnan(found["memory"]) else f"{max(0.0, found['memory']):.0f} MB"
            kind = "set partition" if problem in PARTITION else "factor graph"
            cells = [problem, kind, method, f"{found['seconds']:.3g}", "", gap, found["status"], memory, found["cost"]]
            rows.append(dict(zip(COLUMNS, cells, strict=True)))
            print(*rows[-1].values(), sep="\t", flush=True)
            if options.csv is not None:
                with options.csv.open("w", newline="", encoding="utf-8") as stream:
                    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(finished(rows))
    for row in finished(rows):
        print(*row.values(), sep="\t")


if __name__ == "__main__":
    main()

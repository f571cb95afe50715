"""Pairwise Kernighan-Lin against that of bioimage-cpp: how often it ends above, how far below, at what cost in time.

    python benchmarks/pairwise.py                      all families (pip install -e '.[bench]' first)
    python benchmarks/pairwise.py --quick              small instances, one seed each: does everything run?
    python benchmarks/pairwise.py --families grid pace some of them
    python benchmarks/pairwise.py --train              instances of other seeds, to choose the algorithm by
    python benchmarks/pairwise.py --verbose            a line for each instance

Two contests on each instance: both greedy joinings followed by both Kernighan-Lins (GAEC+KL there), and both
Kernighan-Lins from the partition that greedy joining ends with here. "Above" counts the instances on which graphpart
ends above. Differences are (graphpart - bioimage-cpp) / |bioimage-cpp| in cost. Ratios are of processor time, graphpart
over bioimage-cpp, of the calls alone: problems, objectives and solvers are built before. Of short runs, the fastest of
several counts.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

import numpy as np
from real import INSTANCES

import graphpart as gp

TRAIN, TEST = 1_000, 9_000  # first seeds of generated instances
REPEAT = 0.05, 20  # until so many seconds, or runs
QUICK = 100  # largest number of elements with --quick

Instances = Iterator[tuple[str, int, Callable[[], gp.SetPartition]]]  #: name, number of elements, the problem
Family = Callable[[int, int], Instances]  #: from first seed and number of seeds


# ----------------------------------------------------------------------------------------------------------- instances


def planted_sparse(n: int, m: int, subsets: int, sigma: float, seed: int) -> gp.SetPartition:
    """Costs -1 within and +1 across planted subsets, plus noise, on random pairs."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(subsets, size=n)
    inside = rng.integers(n, size=(m // 2, 2))
    order = np.argsort(truth, kind="stable")
    size, first = np.bincount(truth, minlength=subsets), np.searchsorted(truth[order], np.arange(subsets))
    mate = order[first[truth[inside[:, 0]]] + inside[:, 1] % size[truth[inside[:, 0]]]]
    pairs = np.concatenate([np.stack([inside[:, 0], mate], 1), rng.integers(n, size=(m // 2, 2))])
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    costs = np.where(truth[pairs[:, 0]] == truth[pairs[:, 1]], -1.0, 1.0) + sigma * rng.standard_normal(len(pairs))
    return gp.SetPartition.from_pairs(n, pairs, costs)


def geometric(n: int, degree: float, seed: int) -> gp.SetPartition:
    """Points of a square, linked if near; half of the links attract, the shorter the more."""
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(seed)
    points, radius = rng.random((n, 2)), float(np.sqrt(degree / (np.pi * n)))
    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray")
    distance = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1) / radius
    return gp.SetPartition.from_pairs(n, pairs, distance - 0.7 + 0.2 * rng.standard_normal(len(pairs)))


def family(*kinds: tuple[int, Callable[..., Any], dict[str, Any]]) -> Family:
    """Each kind with each seed: number of elements, generator, its options."""

    def instances(first: int, seeds: int) -> Instances:
        for n, generate, options in kinds:
            for seed in range(first, first + seeds):

                def problem(generate=generate, options=options, seed=seed) -> gp.SetPartition:
                    made = generate(**options, seed=seed)
                    return made if isinstance(made, gp.SetPartition) else made.problem

                yield f"{generate.__name__} {' '.join(f'{k}={v}' for k, v in options.items())} {seed}", n, problem

    return instances


def of_size(generate: Callable[..., Any], *all_options: dict[str, Any]) -> Family:
    return family(*((options["n"], generate, options) for options in all_options))


def grids(**options: Any) -> Family:
    return family(
        *(
            (
                side * side,
                gp.generate.grid,
                {"height": side, "width": side, "regions": max(2, side * side // 450)} | options,
            )
            for side in (5, 10, 30, 100, 300)
        )
    )


def shared(name: str) -> Family:
    """The public instances of a family; nothing where they are not at hand."""

    def instances(_first: int, _seeds: int) -> Instances:
        if INSTANCES.is_dir():
            with open(INSTANCES / "best_known.csv", newline="") as file:
                for line in csv.DictReader(file):
                    if line["family"] == name:
                        yield line["file"], int(line["n"]), lambda path=INSTANCES / line["file"]: gp.read(path)

    return instances


def modularities(_first: int, _seeds: int) -> Instances:
    for name, n in (
        ("davis-southern-women", 32),
        ("florentine-families", 15),
        ("karate-club", 34),
        ("les-miserables", 77),
    ):
        yield name, n, lambda name=name: gp.generate.modularity(name).problem


def sparse(degree: int, sizes: tuple[int, ...], **options: Any) -> Family:
    return of_size(gp.generate.sparse_random, *({"n": n, "m": n * degree // 2} | options for n in sizes))


FAMILIES: dict[str, Family] = {
    "sparse, 3 neighbours": sparse(3, (20, 100, 1000, 10_000, 100_000)),
    "sparse, 6 neighbours": sparse(6, (20, 100, 1000, 10_000)),
    "sparse, 16 neighbours": sparse(16, (20, 100, 1000, 5000)),
    "sparse, signs": sparse(8, (20, 100, 1000, 5000), signs=True),
    "sparse, few attract": sparse(10, (20, 100, 1000, 5000), negative=0.3),
    "sparse, many attract": sparse(10, (20, 100, 1000, 5000), negative=0.65),
    "grid": grids(),
    "grid, no long edges": grids(long_range=0.0),
    "grid, noise alone": grids(regions=None),
    "planted, complete": of_size(
        gp.generate.planted_partition,
        *({"n": n, "subsets": max(2, n // 15), "sigma": s} for n in (20, 50, 100, 300) for s in (1.0, 2.0)),
        {"n": 1000, "subsets": 50, "sigma": 2.5},
    ),
    "planted, sparse": of_size(
        planted_sparse,
        *({"n": n, "m": 6 * n, "subsets": max(2, n // 50), "sigma": 1.0} for n in (100, 1000, 10_000, 50_000)),
    ),
    "geometric": of_size(geometric, *({"n": n, "degree": d} for n in (20, 100, 1000, 10_000) for d in (8, 20))),
    "cluster editing": of_size(
        gp.generate.cluster_editing, *({"n": n, "p": q} for n in (20, 50, 100, 300) for q in (0.2, 0.5, 0.7))
    ),
    "uniform integers": of_size(
        gp.generate.uniform_integers, *({"n": n, "largest": c} for n in (20, 50, 100, 300, 500) for c in (5, 100))
    ),
    "correlations": of_size(gp.generate.correlations, *({"n": n, "rows": r} for n in (40, 126) for r in (10, 50))),
    "modularity": modularities,
    "pace": shared("cluster-editing"),
    "signed networks": shared("signed-network"),
}


# --------------------------------------------------------------------------------------------------------- contestants


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """What it returns, and the processor time of the fastest of several runs."""
    fastest, total, runs = np.inf, 0.0, 0
    while total < REPEAT[0] and runs < REPEAT[1]:
        started = time.process_time()
        result = run()
        seconds = time.process_time() - started
        fastest, total, runs = min(fastest, seconds), total + seconds, runs + 1
    return result, fastest


@dataclass(frozen=True)
class Contest:
    """Cost and seconds of both, in both contests."""

    name: str
    ours: dict[str, tuple[float, float]]
    theirs: dict[str, tuple[float, float]]

    def difference(self, kind: str) -> float:
        """In cost; rounding is no difference."""
        x, y = self.ours[kind][0], self.theirs[kind][0]
        return 0.0 if abs(x - y) <= 1e-9 * max(1.0, abs(y)) else (x - y) / abs(y) if y else np.copysign(1.0, x - y)

    def ratio(self, kind: str) -> float:
        return self.ours[kind][1] / self.theirs[kind][1]


def contest(name: str, p: gp.SetPartition) -> Contest:
    from bioimage_cpp.graph import UndirectedGraph, multicut

    u, v, cost = p.pairs()
    graph = UndirectedGraph.from_unique_edges(p.n, np.stack([u, v], 1).astype(np.uint64))
    objective = multicut.MulticutObjective(graph, -cost)
    joining, sequences = multicut.GreedyAdditiveMulticut(), multicut.KernighanLinMulticut()
    chain = multicut.ChainedMulticutSolvers([joining, sequences])
    start = gp.partition.greedy_joining(p).labels

    def theirs(solver: Any, labels: Any) -> Any:
        objective.set_labels(labels)
        return solver.optimize(objective)

    p._rows() if not p.is_dense else None  # made once for all methods
    runs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "with joining": (
            lambda: gp.partition.kernighan_lin_pairs(p).labels,
            lambda: theirs(chain, np.arange(p.n, dtype=np.uint64)),
        ),
        "alone": (
            lambda: gp.partition.kernighan_lin_pairs(p, initial=start).labels,
            lambda: theirs(sequences, start.astype(np.uint64)),
        ),
    }
    measured: list[dict[str, tuple[float, float]]] = [{}, {}]
    for kind, pair in runs.items():
        for whose, run in zip(measured, pair, strict=True):
            labels, seconds = timed(run)
            whose[kind] = p.evaluate(labels.astype(np.int64)), seconds
    return Contest(name, *measured)


# --------------------------------------------------------------------------------------------------------------- table


def row(name: str, contests: list[Contest]) -> str:
    cells = [name, str(len(contests))]
    for kind in ("with joining", "alone"):
        d = [c.difference(kind) for c in contests]
        ratios = [c.ratio(kind) for c in contests]
        sums = [
            sum(whose[kind][1] for whose in both) for both in zip(*((c.ours, c.theirs) for c in contests), strict=True)
        ]
        cells += [
            f"{sum(x > 0 for x in d)} / {sum(x == 0 for x in d)} / {sum(x < 0 for x in d)}",
            f"{100 * mean(d):+.3f}%",
            f"{median(ratios):.2f}, {max(ratios):.2f}",
            f"{sums[0]:.2f} / {sums[1]:.2f}",
            str(sum(r > 1 for r in ratios)),
        ]
    return "| " + " | ".join(cells) + " |"


def table(measured: dict[str, list[Contest]]) -> Iterator[str]:
    head = "above / equal / below | difference | ratio: median, worst | s, sums | slower"
    yield f"| family | instances | joining + KL: {head} | KL alone: {head} |"
    yield "|---" * 12 + "|"
    for name, contests in measured.items():
        if contests:
            yield row(name, contests)
    if everything := [c for contests in measured.values() for c in contests]:
        yield row("all", everything)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", default=[""], help="only those whose name contains one of these")
    parser.add_argument("--quick", action="store_true", help=f"at most {QUICK} elements, one seed")
    parser.add_argument("--seeds", type=int, default=3, help="instances of each kind")
    parser.add_argument("--largest", type=int, default=10**9, help="largest number of elements")
    parser.add_argument("--train", action="store_true", help="instances to choose the algorithm by")
    parser.add_argument("--verbose", action="store_true", help="a line for each instance")
    given = parser.parse_args()
    if not any(part in name for part in given.families for name in FAMILIES):
        parser.error(f"expected a part of one of: {', '.join(FAMILIES)}")
    largest, seeds = (QUICK, 1) if given.quick else (given.largest, given.seeds)
    measured: dict[str, list[Contest]] = {}
    for name, instances in FAMILIES.items():
        if any(part in name for part in given.families):
            measured[name] = []
            for label, n, problem in instances(TRAIN if given.train else TEST, seeds):
                if n <= largest:
                    measured[name].append(found := contest(label, problem()))
                    if given.verbose:
                        kinds = ((k, found.difference(k), found.ratio(k), found.ours[k][1]) for k in found.ours)
                        print(
                            label,
                            *(f"{k}: {100 * d:+.4f}% x{r:.2f} {t:.4f}s" for k, d, r, t in kinds),
                            sep=", ",
                            flush=True,
                        )
    print("\n".join(table(measured)))


if __name__ == "__main__":
    main()

"""What each family of problems loses if the anytime search does without one of its strategies.

    python benchmarks/strategies.py --runs runs.jsonl --csv docs/benchmarks/strategies.csv    all families, 3 seeds
    python benchmarks/strategies.py --runs runs.jsonl --families grid --seeds 9000            some of it

Each run has one thread and a limit in processor seconds, so other work on the machine does not count. The gap of a run
is (cost - best) / |best|, where best is the least cost of all runs on the instance. A cell of the table is the mean gap
without a strategy less the mean gap with all of them: positive if the family misses the strategy. Runs are added to the
file of runs, and the table is made from all runs in it. `benchmarks/search.py --without NAME` measures the large rows.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import graphpart as gp
from graphpart.generate.networks import clustered_network, community_network, scored_pairs
from graphpart.partition.anytime_search.parameters import SearchParameters

DENSE = ("restarts", "annealing")
SPARSE = ("core annealing", "fusion")
BACKGROUND = ("annealing", "fusion", "multilevel", "evolution", "propagation")
EDITING = (*BACKGROUND[1:], "reheating")
NAMES = (*dict.fromkeys((*DENSE, *SPARSE, *BACKGROUND, *EDITING)),)


@dataclass(frozen=True)
class Family:
    """Instances by their seed, a limit in processor seconds, and the strategies that take part."""

    make: Callable[[int], gp.SetPartition]
    seconds: float
    strategies: tuple[str, ...]


def generated(family: str, **options: Any) -> Callable[[int], gp.SetPartition]:
    """Instances of a family of `graphpart.generate`."""
    return lambda seed: gp.generate.find_family(family).function(**options, seed=seed).problem


def signs(n: int) -> Callable[[int], gp.SetPartition]:
    """Cluster editing on G(n, 1/2)."""

    def make(seed: int) -> gp.SetPartition:
        upper = np.triu(np.random.default_rng(seed).random((n, n)) < 0.5, 1)
        return gp.SetPartition.from_matrix(np.where(upper | upper.T, -1.0, 1.0))

    return make


def two_clusters(n: int, m: int) -> Callable[[int], gp.SetPartition]:
    """Random pairs, and at most two clusters: a maximum cut."""
    return lambda seed: gp.generate.sparse_random(n, m, seed=seed).problem.require(n_clusters=(1, 2))


def editing(kind: str, n: int, m: int) -> Callable[[int], gp.SetPartition]:
    """Cluster editing on a graph of similarities."""
    return lambda seed: gp.SetPartition.from_editing(
        adjacency(n, clustered_network(n, m, kind, seed=seed).edges), dense=False
    )


def power_law(n: int, m: int) -> Callable[[int], gp.SetPartition]:
    """Cluster editing on a graph whose degrees follow a power law, without communities."""
    return lambda seed: gp.SetPartition.from_editing(
        adjacency(n, community_network(n, m, 1.0, seed=seed).edges), dense=False
    )


def modularity(n: int, m: int, mixing: float) -> Callable[[int], gp.SetPartition]:
    """Modularity of a graph with communities."""
    return lambda seed: gp.SetPartition.from_modularity(
        adjacency(n, community_network(n, m, mixing, seed=seed).edges), dense=False
    )


def adjacency(n: int, edges: np.ndarray) -> Any:
    from scipy.sparse import csr_matrix

    half = csr_matrix((np.ones(len(edges)), edges.T), (n, n))
    return half + half.T


def records(count: int, missing: float, sources: int = 0) -> Callable[[int], gp.SetPartition]:
    """Scored pairs of records; with sources, at most one record of each source in a cluster."""

    def make(seed: int) -> gp.SetPartition:
        pairs, probability, truth = scored_pairs(count, seed=seed)
        groups = {"groups": np.arange(len(truth)) % sources} if sources else {}
        odds = np.log(probability / (1 - probability))
        return gp.SetPartition.from_pairs(len(truth), pairs, -odds, missing=missing, **groups)

    return make


FAMILIES = {
    "dense 5, n=60": Family(generated("uniform-integers", n=60, largest=5), 0.4, DENSE),
    "dense 5, n=120": Family(generated("uniform-integers", n=120, largest=5), 0.4, DENSE),
    "dense 100, n=120": Family(generated("uniform-integers", n=120, largest=100), 0.4, DENSE),
    "signs, n=100": Family(signs(100), 0.4, DENSE),
    "soft requirements, n=60": Family(generated("soft-requirements", n=60), 0.4, DENSE),
    "dense 5, n=300": Family(generated("uniform-integers", n=300, largest=5), 2, DENSE),
    "dense 100, n=500": Family(generated("uniform-integers", n=500, largest=100), 2.5, DENSE),
    "signs, n=300": Family(signs(300), 2, DENSE),
    "planted, n=1000": Family(generated("planted-partition", n=1000, subsets=50, sigma=2.5), 1.5, DENSE),
    "two clusters, degree 6": Family(two_clusters(400, 1200), 1, DENSE),
    "sparse random, degree 8": Family(generated("sparse-random", n=5000, m=20_000), 2.5, SPARSE),
    "sparse random, degree 20": Family(generated("sparse-random", n=5000, m=50_000), 2.5, SPARSE),
    "grid 80x80": Family(generated("grid", height=80, width=80), 2, SPARSE),
    "grid with regions": Family(
        generated("grid", height=100, width=100, regions=200, sigma=1.5, long_range=3.0, reach=6, decimals=1),
        2.5,
        SPARSE,
    ),
    "lifted": Family(lambda seed: gp.generate.lifted_random(25, 25, radius=3, seed=seed).problem, 2, BACKGROUND[:2]),
    "lifted, planted": Family(lambda seed: gp.generate.lifted_grid(50, 50, seed=seed).problem, 2, BACKGROUND[:2]),
    "editing, geometric": Family(editing("geometric", 5000, 25_000), 2.5, EDITING),
    "editing, power law": Family(power_law(3000, 21_000), 2.5, EDITING),
    "editing, random": Family(editing("random", 3000, 30_000), 2.5, EDITING),
    "modularity": Family(modularity(5000, 25_000, 0.4), 2.5, ("annealing", "multilevel")),
    "records": Family(records(12_000, 0.1), 2, BACKGROUND),
    "records of 3 sources": Family(records(12_000, 0.0, 3), 2, BACKGROUND),
}


def run(p: gp.SetPartition, seconds: float, seed: int, without: tuple[str, ...]) -> float:
    """The cost after so many processor seconds of one thread."""
    started = time.process_time()

    def over(*_: float) -> bool:
        return time.process_time() - started >= seconds

    parameters = SearchParameters(without=without)
    return gp.partition.search(
        p, time_limit=100 * seconds, seed=seed, threads=1, callback=over, parameters=parameters
    ).cost


def measure(names: list[str], seeds: list[int], path: Path) -> None:
    """Add runs to the file: each instance with all strategies, and without each of them."""
    for seed in seeds:
        for name in names:
            family = FAMILIES[name]
            p = family.make(seed)
            for without in ("", *family.strategies):
                cost = run(p, family.seconds, seed, (without,) if without else ())
                with path.open("a", encoding="utf-8") as stream:
                    print(json.dumps([name, seed, without, cost]), file=stream)
                print(f"  {name}, seed {seed}, without {without or 'none'}: {cost:.10g}", flush=True)


def table(path: Path, families: Iterable[str], names: Sequence[str]) -> Iterator[list[str]]:
    """The rows of the table: for each family what it loses without each strategy."""
    costs: dict[str, dict[str, dict[int, float]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, seed, without, cost = json.loads(line)
        costs.setdefault(name, {}).setdefault(without, {})[seed] = cost
    yield ["family", "runs", "gap of all", *names]
    for name in (name for name in families if name in costs):
        found = costs[name]
        best = {seed: min(each.get(seed, np.inf) for each in found.values()) for seed in found[""]}
        gaps = {
            without: {seed: (cost - best[seed]) / abs(best[seed]) for seed, cost in each.items() if seed in best}
            for without, each in found.items()
        }
        row = [name, str(len(best)), f"{mean(gaps[''].values()):.3%}"]
        for without in names:
            both = sorted(set(gaps.get(without, ())) & set(gaps[""]))
            lost = mean(gaps[without][seed] - gaps[""][seed] for seed in both) if both else None
            row.append("" if lost is None else "0" if abs(lost) < 5e-6 else f"{lost:+.3%}")
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="*", default=[""], help="those whose names contain one of these")
    parser.add_argument("--seeds", nargs="*", type=int, default=[9000, 9001, 9002])
    parser.add_argument("--runs", type=Path, required=True, help="the file of runs, to which runs are added")
    parser.add_argument("--csv", type=Path, help="write the table of the site here")
    given = parser.parse_args()
    measure([name for name in FAMILIES if any(part in name for part in given.families)], given.seeds, given.runs)
    rows = list(table(given.runs, FAMILIES, NAMES))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    if given.csv:
        with given.csv.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()

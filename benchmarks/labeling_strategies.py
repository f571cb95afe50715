"""What each family of factor graphs loses if `gp.crf.search` does without one of its strategies.

    python benchmarks/labeling_strategies.py --runs runs.jsonl --csv docs/benchmarks/labeling_strategies.csv
    python benchmarks/labeling_strategies.py --runs runs.jsonl --families grid --without regions --seeds 1

Each run has one thread and a limit in processor seconds, so other work on the machine does not count. The gap of a run
is (cost - best) / |best|, where best is the least cost of all runs on the instance. A cell of the table is the mean gap
without a strategy less the mean gap with all of them: positive if the family misses the strategy. Runs are added to the
file of runs, and the table is made from all runs in it. Instances of `GRAPHPART_INSTANCES` are left out if there are
none. `benchmarks/strategies.py` does the same for set partition.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from real import INSTANCES
from strategies import table

import graphpart as gp
from graphpart.crf.anytime_search.parameters import STRATEGIES, LabelingParameters

ANY = ("message passing", "annealing", "fresh starts", "regions", "parts")
PAIRS = (*ANY, "expansion")
SPARSE = ("quadratic form", "low degree", "contraction", "lines", "parts")
DENSE = ("quadratic form", "families")


@dataclass(frozen=True)
class Family:
    """Instances by their seed, and the strategies that take part."""

    make: Callable[[int], gp.FactorGraph]
    strategies: tuple[str, ...]


def generated(family: str, **options: Any) -> Callable[[int], gp.FactorGraph]:
    """Instances of a family of `graphpart.generate`."""
    return lambda seed: gp.generate.find_family(family).function(**options, seed=seed).problem


def real(path: str) -> Callable[[int], gp.FactorGraph]:
    """The same instance for each seed."""
    return lambda seed: gp.read(INSTANCES / path)


def normal(n: int, labels: int, count: int, arity: int) -> Callable[[int], gp.FactorGraph]:
    """Normal costs of labels, and of random sets of variables."""

    def make(seed: int) -> gp.FactorGraph:
        rng = np.random.default_rng(seed)
        scopes = np.unique(np.sort([rng.choice(n, arity, replace=False) for _ in range(count)], axis=1), axis=0)
        unary, tables = rng.normal(size=(n, labels)), rng.normal(size=(len(scopes), *[labels] * arity))
        return gp.FactorGraph.from_arrays([labels] * n, [(np.arange(n)[:, None], unary), (scopes, tables)])

    return make


FAMILIES = {
    "grid, 8 labels": Family(generated("factor-grid", height=60, width=60, couplings="mixed", labels=8), PAIRS),
    "attractive grid, 16 labels": Family(generated("factor-grid", height=100, width=100, labels=16), PAIRS),
    "random pairs, 4 labels": Family(normal(3000, 4, 9000, 2), PAIRS),
    "dense pairs, 6 labels": Family(normal(60, 6, 4000, 2), PAIRS),
    "triples, 4 labels": Family(normal(400, 4, 1600, 3), ANY),
    "pedigree": Family(real("uai/pedigree19.uai.gz"), (*ANY, "reduction")),
    "frequencies (celar6sub0)": Family(real("wcsp/celar6sub0.wcsp.gz"), (*PAIRS, "reduction")),
    "binary grid 80x80": Family(real("uai/grid80x80.f15.wrap.uai.gz"), SPARSE),
    "spin glass 12x12x12": Family(generated("spin-glass", length=12, couplings="normal"), SPARSE),
    "maximum cut, torus": Family(generated("max-cut", n=2000, graph="torus", weights="signs"), SPARSE),
    "maximum cut, degree 4.5": Family(generated("max-cut", n=3000, density=0.0015, weights="signs"), SPARSE),
    "maximum cut, 2000 nodes": Family(generated("max-cut", n=2000, density=0.01, weights="signs"), DENSE),
    "maximum cut, complete": Family(generated("max-cut", n=1000, density=1.0, weights="signs"), DENSE),
    "QUBO, n=2500": Family(generated("qubo", n=2500, density=0.1), DENSE),
}


def run(f: gp.FactorGraph, seconds: float, seed: int, without: tuple[str, ...]) -> float:
    """The cost after so many processor seconds of one thread."""
    started = time.process_time()

    def over(*_: float) -> bool:
        return time.process_time() - started >= seconds

    return gp.crf.search(
        f, time_limit=25 * seconds, seed=seed, threads=1, callback=over, parameters=LabelingParameters(without=without)
    ).cost


def measure(names: list[str], without: list[str], seeds: list[int], seconds: float, path: Path) -> None:
    """Add runs to the file: each instance with all strategies, and without each of them."""
    for seed in seeds:
        for name in names:
            family = FAMILIES[name]
            try:
                f = family.make(seed)
            except FileNotFoundError:
                continue
            for left_out in ("", *(each for each in family.strategies if each in without)):
                cost = run(f, seconds, seed, (left_out,) if left_out else ())
                with path.open("a", encoding="utf-8") as stream:
                    print(json.dumps([name, seed, left_out, cost]), file=stream)
                print(f"  {name}, seed {seed}, without {left_out or 'none'}: {cost:.10g}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="*", default=[""], help="those whose names contain one of these")
    parser.add_argument(
        "--without", nargs="*", default=list(STRATEGIES), help="names of strategies to leave out, in turn"
    )
    parser.add_argument("--seeds", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=1.5, help="processor seconds of a run")
    parser.add_argument("--runs", type=Path, required=True, help="the file of runs, to which runs are added")
    parser.add_argument("--csv", type=Path, help="write the table of the site here")
    given = parser.parse_args()
    names = [name for name in FAMILIES if any(part in name for part in given.families)]
    measure(names, given.without, given.seeds, given.seconds, given.runs)
    rows = list(table(given.runs, FAMILIES, list(STRATEGIES)))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    if given.csv:
        with given.csv.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()

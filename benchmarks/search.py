"""The search against its targets: how often and how soon it reaches the best known value, and what peers reach.

    python benchmarks/search.py                      the whole table (hours; --reference 0: about three quarters of one)
    python benchmarks/search.py --quick              the same, an estimated ten minutes: fewer seeds, instances, peers
    python benchmarks/search.py --quick --csv docs/benchmarks/anytime_search.csv   and keep it for the site
    python benchmarks/search.py --rows uniform pace  some rows
    python benchmarks/search.py --rows dense --seeds 3 --reference 0
                                                     ten complete graphs of each kind, 20 s each: an hour with 3 seeds
    python benchmarks/search.py --train              instances of other seeds, to choose parameters by
    python benchmarks/search.py --plot gap.png       the gap over time as a picture
    python benchmarks/search.py --without annealing fusion   without these strategies (see also strategies.py)
    python benchmarks/search.py --cpu                on a machine with other work: CPU seconds of CORES cores

Parameters of the search are chosen on the instances of ``--train``; figures are those of the others. The gap of a run
is (cost - best) / |best|, where best is the best published value or, without one, the least cost that any run found,
here or earlier, including peers. `--reference` adds a run that takes so many times as long. Each run gets only its
limit and its seed. With `--cpu`, time is measured in processor seconds divided by CORES. A peer has one thread, the
search has CORES. A peer is compared with the result of the search after as many seconds as the peer takes to build its
graph from arrays and to solve. Memory is the peak of a separate process during the search less the memory in use
before, plus the arrays of the problem; its unit is the matrix, or the arrays of pairs and costs.
"""

from __future__ import annotations

import argparse
import csv
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from real import INSTANCES

import graphpart as gp
from graphpart.partition.anytime_search.parameters import SearchParameters

FRACTIONS = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0)  # of the time limit, for gaps over time
TRAIN, TEST = 1_000, 9_000  # first seeds of generated instances
CORES = 2
QUICK = 5  # instances of a row, with --quick
SMALL = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 1.0])


@dataclass(frozen=True)
class Row:
    """A line of the table: a recipe of instances, a time limit and a target."""

    name: str
    instances: Callable[[int], Iterator[tuple[str, gp.SetPartition, float | None]]]  #: from the first seed
    seconds: float
    target: str
    peers: tuple[str, ...] = ()
    stop_at_best: bool = False  #: end at the published value
    memory: bool = False  #: measure the peak memory, too
    only_named: bool = False  #: not part of the whole table


@dataclass
class Runs:
    """All runs on one instance."""

    name: str
    row: Row
    published: float | None
    results: list[gp.PartitionResult] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    histories: list[list[tuple[float, float]]] = field(default_factory=list)
    reference: float = np.inf
    memory: float | None = None
    peers: dict[str, tuple[float, float]] = field(default_factory=dict)  #: (cost, seconds)

    @property
    def best(self) -> float:
        costs = [r.cost for r in self.results] + [cost for cost, _ in self.peers.values()] + [self.reference]
        return min(costs if self.published is None else [*costs, self.published])

    def gap(self, cost: float) -> float:
        return (cost - self.best) / abs(self.best) if self.best else 0.0 if cost == self.best else np.inf

    def times_to_best(self) -> list[float]:
        return [next((t for t, cost in h if self.gap(cost) <= 1e-12), np.inf) for h in self.histories]

    def gaps_at(self, seconds: float) -> list[float]:
        """Of each run after so many seconds; infinite where it had nothing by then."""
        return [self.gap(min([cost for t, cost in h if t <= seconds], default=np.inf)) for h in self.histories]


# ---------------------------------------------------------------------------------------------------------------- rows


def generated(family: str, count: int = 1, **options: Any) -> Callable[[int], Iterator[Any]]:
    """`count` instances of a family of `graphpart.generate`."""
    make = gp.generate.find_family(family).function

    def instances(first: int) -> Iterator[Any]:
        for seed in range(first, first + count):
            yield f"{family} {options} seed {seed}", make(**options, seed=seed).problem, None

    return instances


def signs(n: int, share: float) -> Callable[[int], Iterator[Any]]:
    """Cluster editing on G(n, share)."""

    def instances(first: int) -> Iterator[Any]:
        for seed in range(first, first + 3):
            upper = np.triu(np.random.default_rng(seed).random((n, n)) < share, 1)
            yield (
                f"G({n}, {share}) seed {seed}",
                gp.SetPartition.from_matrix(np.where(upper | upper.T, -1.0, 1.0)),
                None,
            )

    return instances


def rounded_correlations(n: int) -> Callable[[int], Iterator[Any]]:
    """Costs -round(100 r) for the correlations r of random columns that share factors."""

    def instances(first: int) -> Iterator[Any]:
        for seed in range(first, first + 3):
            rng = np.random.default_rng(seed)
            data = rng.standard_normal((60, 6)) @ rng.standard_normal((6, n)) + 2 * rng.standard_normal((60, n))
            yield (
                f"correlations n={n} seed {seed}",
                gp.SetPartition.from_matrix(-np.round(100 * np.corrcoef(data.T))),
                None,
            )

    return instances


def pace(_: int) -> Iterator[Any]:
    """The public graphs of PACE 2021; nothing where they are not at hand."""
    if not INSTANCES.is_dir():
        return
    with open(INSTANCES / "best_known.csv", newline="") as file:
        for line in csv.DictReader(file):
            if line["family"] == "cluster-editing":
                p = gp.read(INSTANCES / line["file"])
                yield line["file"], p, float(line["value"]) - p.offset


ENDING = ("bioimage KL", "bioimage fusion", "chszlablib")  # peers for any problem, that end by themselves
ALL = (*ENDING, "chszlablib memetic")
SLOW = ("chszlablib memetic", "igraph Leiden")  # the first takes as long as the search, the second two minutes
LARGE = ("bioimage KL", "chszlablib", "chszlablib memetic")

DENSE = tuple(
    Row(
        f"dense {largest}, n={n}", generated("uniform-integers", 10, n=n, largest=largest), 20,
        "best known in 8 of 10 runs" if n == 500 else "mean gap 0.02%", only_named=True,
    )
    for n in (500, 700, 1000)
    for largest in (5, 100)
)  # fmt: skip

ROWS: tuple[Row, ...] = (
    *DENSE,
    Row("uniform 5, n=300", generated("uniform-integers", n=300, largest=5), 5, "same best on every seed", ALL),
    Row("uniform 5, n=500", generated("uniform-integers", n=500, largest=5), 15, "same best on every seed", ALL),
    Row("uniform 100, n=500", generated("uniform-integers", n=500, largest=100), 60, "mean gap 0.05%", ALL),
    Row("uniform 100, n=700", generated("uniform-integers", n=700, largest=100), 60, "mean gap 0.1%", ALL),
    Row("uniform 100, n=1000", generated("uniform-integers", n=1000, largest=100), 60, "mean gap 0.2%", ALL),
    Row("pace", pace, 10, "best known on 77 of 78", ENDING, stop_at_best=True),
    Row("correlations, n=40", rounded_correlations(40), 1, "best on every seed", ALL),
    Row("correlations, n=126", rounded_correlations(126), 1, "best on every seed", ALL),
    Row("signs, n=50", signs(50, 0.5), 1, "best on every seed", ALL),
    Row("signs, n=100", signs(100, 0.5), 1, "best on every seed", ALL),
    Row("machine-parts, n=38", generated("machine-parts", 20, machines=14, parts=24, cells=7, outside=0.1), 0.5,
        "best on every seed", ENDING),
    Row("machine-parts, n=55", generated("machine-parts", 20, machines=20, parts=35, cells=8, outside=0.1), 0.5,
        "best on every seed", ENDING),
    Row("soft requirements, n=45", generated("soft-requirements", 20, n=45), 0.5, "best on every seed", ENDING),
    Row("planted, n=1000", generated("planted-partition", n=1000, subsets=50, sigma=2.5), 1,
        "below joining + KL in the time of bioimage-cpp's", ALL),
    Row("planted, n=3000", generated("planted-partition", n=3000, subsets=100, sigma=3.0), 5,
        "below joining + KL in the time of bioimage-cpp's", LARGE, memory=True),
    Row("grid 100x100", generated("grid", height=100, width=100), 3, "below fusion in Python in 10 s", ENDING),
    Row("grid 150x150 with regions", generated("grid", height=150, width=150, regions=400, sigma=1.5, long_range=3.0,
        reach=6, decimals=1), 10, "below fusion in Python in 30 s", ENDING),
    Row("sparse random 10^4, degree 8", generated("sparse-random", n=10**4, m=4 * 10**4), 3,
        "below fusion in Python in 10 s", ENDING),
    Row("sparse random 10^4", generated("sparse-random", n=10**4, m=10**5), 0.5,
        "below Leiden in a third of its time", ("igraph Leiden", *ALL)),
    Row("sparse random 10^5", generated("sparse-random", n=10**5, m=10**6), 10,
        "below Leiden in a third of its time", ("igraph Leiden", *LARGE[1:]), memory=True),  # KL: over two minutes
    Row("grid 1000x1000", generated("grid", height=1000, width=1000, regions=2000), 20,
        "below all peers in 20 s", LARGE, memory=True),
)  # fmt: skip


# The least costs that any run ever ended with, by the names of instances. Runs of 30 minutes on one core, by an earlier
# build, ended at -526225 for n = 700, and at what stands here for n = 1000.
BEST_EVER = {
    "uniform-integers {'n': 300, 'largest': 5} seed 9000": -7967,
    "uniform-integers {'n': 500, 'largest': 5} seed 9000": -17560,
    "uniform-integers {'n': 500, 'largest': 100} seed 9000": -322745,
    "uniform-integers {'n': 700, 'largest': 100} seed 9000": -526321,
    "uniform-integers {'n': 1000, 'largest': 100} seed 9000": -896783,
}


# --------------------------------------------------------------------------------------------------------------- peers


def bioimage(p: gp.SetPartition, solver: str) -> np.ndarray:
    from bioimage_cpp.graph import UndirectedGraph, multicut

    u, v, cost = p.pairs()
    graph = UndirectedGraph.from_unique_edges(p.n, np.stack([u, v], 1).astype(np.uint64))
    objective = multicut.MulticutObjective(graph, -cost)
    chosen = multicut.ChainedMulticutSolvers(
        [multicut.GreedyAdditiveMulticut(), multicut.KernighanLinMulticut()]
        if solver == "KL"
        else [
            multicut.GreedyAdditiveMulticut(),
            multicut.FusionMoveMulticut(proposal_generator=multicut.GreedyAdditiveProposalGenerator()),
        ]
    )
    return np.asarray(chosen.optimize(objective)).astype(np.int64)


def leiden(p: gp.SetPartition) -> np.ndarray:
    import random

    import igraph

    random.seed(0)
    u, v, cost = p.pairs()
    graph = igraph.Graph(p.n, np.stack([u, v], 1))
    found = graph.community_leiden("CPM", weights=(-cost).tolist(), resolution=0.0, n_iterations=-1)
    return np.array(found.membership)


def chszlab(p: gp.SetPartition, seconds: float | None) -> np.ndarray:
    from chszlablib import Decomposition, Graph

    starts, neighbours, costs = p._rows().arrays
    weights = np.rint(-1000 * costs).astype(np.int64)
    graph = Graph.from_csr(starts, neighbours.astype(np.int64), edge_weights=weights)
    if seconds is None:
        return np.asarray(Decomposition.correlation_clustering(graph, seed=0).assignment)
    return np.asarray(Decomposition.evolutionary_correlation_clustering(graph, seed=0, time_limit=seconds).assignment)


# A peer gets the problem and the row's seconds. All but the memetic one end by themselves.
PEERS: dict[str, Callable[[gp.SetPartition, float], np.ndarray]] = {
    "bioimage KL": lambda p, _: bioimage(p, "KL"),
    "bioimage fusion": lambda p, _: bioimage(p, "fusion"),
    "igraph Leiden": lambda p, _: leiden(p),
    "chszlablib": lambda p, _: chszlab(p, None),
    "chszlablib memetic": chszlab,
}


# ------------------------------------------------------------------------------------------------------------- running


def run(
    p: gp.SetPartition, seconds: float, seed: int, target: float | None, cpu: bool, without: tuple[str, ...] = ()
) -> tuple[gp.PartitionResult, float, list[tuple[float, float]]]:
    """The result, CPU seconds, and the best cost over time, all in seconds of CORES processors if `cpu`."""
    history: list[tuple[float, float]] = []
    started = time.process_time()

    def note(wall: float, cost: float) -> bool:
        now = (time.process_time() - started) / CORES if cpu else wall
        history.append((now, cost))
        return cpu and now >= seconds

    limit = 50 * seconds if cpu else seconds
    parameters = SearchParameters(without=without)
    r = gp.partition.search(
        p, time_limit=limit, seed=seed, target=target, threads=CORES, callback=note, parameters=parameters
    )
    used = time.process_time() - started
    history.append((used / CORES if cpu else r.seconds, r.cost))
    return r, used, history


def measure(
    row: Row,
    seconds: float,
    seeds: int,
    first: int,
    reference: float,
    cpu: bool,
    say: Callable[[str], None],
    most: int | None = None,
    slow: bool = True,
    without: tuple[str, ...] = (),
) -> list[Runs]:
    """Run the search and the peers, slow ones too if `slow`, on all instances of a row, or on the first `most`."""
    measured = []
    for name, p, published in islice(row.instances(first), most):
        runs = Runs(name, row, published, reference=BEST_EVER.get(name, np.inf))
        clock = time.process_time if cpu else time.perf_counter
        for peer in row.peers:
            if peer in SLOW and not slow:
                continue
            try:
                PEERS[peer](SMALL, 0.01)  # imports
            except ImportError:
                continue
            p.pairs(), p._rows()
            started = clock()
            labels = PEERS[peer](p, seconds)
            took = clock() - started
            runs.peers[peer] = (p.evaluate(labels), took)
            say(f"{name}: {peer} {runs.peers[peer]}")
        target = published if row.stop_at_best else None
        if reference and not row.stop_at_best:
            runs.reference = min(runs.reference, run(p, reference * seconds, 1_000, None, cpu)[0].cost)
        for seed in range(1 if row.stop_at_best else seeds):
            r, used, history = run(p, seconds, seed, target, cpu, without)
            runs.results.append(r)
            runs.cpu.append(used)
            runs.histories.append(history)
        if row.memory:
            runs.memory = memory_of(row, seconds, first)
        measured.append(runs)
        say(f"{name}: {[r.cost for r in runs.results]} (best {runs.best:.10g})")
    return measured


def memory_of(row: Row, seconds: float, first: int) -> float:
    """The peak memory of the search in a process of its own, in units of the problem's arrays."""
    command = [sys.executable, __file__, "--memory-of", row.name, str(seconds), str(first)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def print_memory(name: str, seconds: float, first: int) -> None:
    _, p, _ = next(next(row for row in ROWS if row.name == name).instances(first))
    arrays = (p.matrix,) if p.is_dense else (p.u, p.v, p.cost)
    size = sum(array.nbytes for array in arrays if array is not None)
    gp.partition.search(gp.generate.uniform_integers(30, 5, seed=0).problem, max_iterations=1)  # imports
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _status("VmRSS")
    gp.partition.search(p, time_limit=seconds, threads=CORES)
    print((_status("VmHWM") - before) / size + 1)


def _status(key: str) -> int:
    found = re.search(rf"{key}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return 1024 * int(found[1])


def table(measured: list[tuple[Row, float, list[Runs]]]) -> Iterator[str]:
    yield "| work | limit | best reached | mean gap | worst gap | median s to best | CPU s | memory | peers | target |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for row, seconds, all_runs in measured:
        pairs = [(runs, r) for runs in all_runs for r in runs.results]
        if not pairs:
            continue
        gaps = [runs.gap(r.cost) for runs, r in pairs]
        reached = sum(gap <= 1e-12 for gap in gaps)
        soon = median(t for runs in all_runs for t in runs.times_to_best())
        memory = ", ".join(f"{runs.memory:.1f} x" for runs in all_runs if runs.memory)
        peers = "; ".join(against(peer, all_runs) for peer in row.peers)
        cpu = mean(x for runs in all_runs for x in runs.cpu)
        yield (
            f"| {row.name} | {seconds:g} s | {reached} of {len(gaps)} | {mean(gaps):.4%} | {max(gaps):.4%} "
            f"| {soon:.2f} | {cpu:.1f} | {memory} | {peers} | {row.target} |"
        )


def against(peer: str, all_runs: list[Runs]) -> str:
    """Mean gap of a peer, the seconds it takes, and how many runs of the search are not better or as good by then."""
    known = [(runs, *runs.peers[peer]) for runs in all_runs if peer in runs.peers]
    if not known:
        return f"{peer}: none"
    gaps = [runs.gap(cost) for runs, cost, _ in known]
    ours = [runs.gaps_at(took) for runs, _, took in known]
    behind = sum(gap > theirs + 1e-12 for theirs, some in zip(gaps, ours, strict=True) for gap in some)
    took = mean(seconds for *_, seconds in known)
    return f"{peer} {mean(gaps):.3%} in {took:.2g} s (search behind in {behind} of {sum(map(len, ours))})"


def write_csv(measured: list[tuple[Row, float, list[Runs]]], path: Path) -> None:
    """What the site shows: for each row a sentence about the search, and one about each peer."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["work", "limit", "the search", "peers"])
        for row, seconds, all_runs in measured:
            if any(runs.results for runs in all_runs):
                peers = "; ".join(said_of(peer, all_runs) for peer in row.peers)
                writer.writerow([row.name, f"{seconds:g} s", said_of_search(all_runs), peers.strip("; ")])


def said_of_search(all_runs: list[Runs]) -> str:
    """How many runs reached the best value, and when; or by how much they missed it."""
    gaps = [runs.gap(r.cost) for runs in all_runs for r in runs.results]
    reached = sum(gap <= 1e-12 for gap in gaps)
    said = f"{reached} of {len(gaps)} runs at the best value"
    if len(all_runs) == 1:
        said += f", {all_runs[0].best:.10g}"
    if reached > len(gaps) / 2:
        said += f", median {median(t for runs in all_runs for t in runs.times_to_best()):.2g} s"
    if reached < len(gaps):
        said += f"; mean gap {mean(gaps):.3%}, worst {max(gaps):.3%}"
    memory = [runs.memory for runs in all_runs if runs.memory]
    return said + (f"; memory {max(memory):.1f} times the arrays" if memory else "")


def said_of(peer: str, all_runs: list[Runs]) -> str:
    """By how much a peer misses the best value on average, and the seconds it takes."""
    known = [(runs.gap(cost), took) for runs in all_runs if peer in runs.peers for cost, took in [runs.peers[peer]]]
    if not known:
        return ""
    return f"{peer} {mean(gap for gap, _ in known):.2%} above in {mean(took for _, took in known):.2g} s"


def gaps_over_time(measured: list[tuple[Row, float, list[Runs]]]) -> Iterator[str]:
    yield "| mean gap at | " + " | ".join(f"{f:.0%} of the limit" for f in FRACTIONS) + " |"
    yield "|---" * (len(FRACTIONS) + 1) + "|"
    for row, seconds, all_runs in measured:
        if any(runs.results for runs in all_runs):
            means = (mean(gap for runs in all_runs for gap in runs.gaps_at(f * seconds)) for f in FRACTIONS)
            yield f"| {row.name} | " + " | ".join(f"{x:.3%}" if x < np.inf else "-" for x in means) + " |"


def plot(measured: list[tuple[Row, float, list[Runs]]], path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5))
    for row, seconds, all_runs in measured:
        times = np.geomspace(0.01 * seconds, seconds, 60)
        if any(runs.results for runs in all_runs):
            gaps = [mean(gap for runs in all_runs for gap in runs.gaps_at(t)) for t in times]
            axes.loglog(times, [1e-6 + gap for gap in gaps], label=row.name)
    axes.set(xlabel="seconds", ylabel="mean gap + 1e-6")
    axes.legend(fontsize="small")
    figure.savefig(path)


def say(text: str) -> None:
    print("  " + text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", default=[""], help="only rows whose name contains one of these")
    parser.add_argument("--quick", action="store_true", help="2 seeds, or 1 from 20 s on; 5 instances; no slow peers")
    parser.add_argument("--seeds", type=int, default=5, help="runs on each instance")
    parser.add_argument("--train", action="store_true", help="instances to choose parameters by")
    parser.add_argument("--reference", type=float, default=30.0, help="times the limit, of a longer run; 0: none")
    parser.add_argument("--cpu", action="store_true", help="count CPU seconds")
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--without", nargs="+", default=(), help="names of strategies that take no part")
    parser.add_argument("--csv", type=Path, help="also write the table of the site here")
    parser.add_argument("--memory-of", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.memory_of:
        print_memory(given.memory_of[0], float(given.memory_of[1]), int(given.memory_of[2]))
        return
    measured = []
    for row in ROWS:
        if any(part in row.name and (part or not row.only_named) for part in given.rows):
            seeds = (2 if row.seconds < 20 else 1) if given.quick else given.seeds
            first, most = TRAIN if given.train else TEST, None if row.stop_at_best or not given.quick else QUICK
            reference = 0.0 if given.quick else given.reference
            runs = measure(
                row, row.seconds, seeds, first, reference, given.cpu, say, most, not given.quick, tuple(given.without)
            )
            measured.append((row, row.seconds, runs))
            if given.csv:
                write_csv(measured, given.csv)
    print("\n".join(["", *table(measured), "", *gaps_over_time(measured)]))
    if given.plot:
        plot(measured, given.plot)


if __name__ == "__main__":
    main()

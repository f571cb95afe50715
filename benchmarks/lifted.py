"""Connected clusters and lifted pairs, beside bioimage-cpp's lifted multicut: joining, Kernighan-Lin, fusion moves.

    python benchmarks/lifted.py --csv docs/benchmarks/lifted.csv     everything (pip install -e '.[bench]' first)
    python benchmarks/lifted.py joining search                       some of it
    python benchmarks/lifted.py --quick                              small sizes: does everything run?

* joining: a planted grid of 300 x 300 elements with 270,000 lifted pairs; greedy joining and pairwise Kernighan-Lin
  beside GAEC and GAEC + Kernighan-Lin. Seconds are the least of three runs in turns; one thread each.
* search: six families with five seeds each. The peer has GAEC, Kernighan-Lin and 100 fusion moves. Of graphpart,
  `search` has 10 s.
* bounds: gaps of `auto` on planted grids after 30 and 60 s, with less noise and with more. The peer has no bounds.
* proofs: seconds until `exact` has proven its result: random costs within a radius, regions of a volume, a planted
  grid.
* large: 10^6 elements and 4 * 10^6 pairs in all; joining and Kernighan-Lin, and the largest memory of the process.

The volume is that of electron microscopy in the folder GRAPHPART_INSTANCES (docs/benchmarks/index.md); without it, it
is a generated one of cells. Seed 0 has the given regions, others have those of a part of it. A lifted pair of regions
is up to three regions apart. Its cost is the log-odds of the weakest wall, of the path on which the largest boundary
probability is least, times half the area of a boundary in the middle of all. These regions are nearly cells, so greedy
joining alone is nearly optimal. `search` has four times as many, with costs in balance: pairs of neighbours whose
boundary probability is below 0.9 attract, and the half of the lifted pairs with the lower log-odds.

Costs are in the convention of graphpart, and all are recomputed from the arrays. Rows of `--csv` take the place of rows
of the same work.
"""

from __future__ import annotations

import argparse
import csv
import math
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from real import INSTANCES

import graphpart as gp

Row = tuple[str, str, str, str, str]  #: work, method, cost, seconds, lower bound
HEADER = ("work", "method", "cost", "seconds", "proven")
RUNS, SLOW = 3, 20.0  # runs in turns; seconds of a run that is not repeated
HOPS = 3
BALANCED = 0.9  # boundary probability below which about half of the neighbours are
FINE = 0.5  # width of the seeds of small regions, in voxels


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    found = call()
    return found, time.perf_counter() - start


def in_turns(contestants: dict[str, Callable[[], Any]]) -> dict[str, tuple[Any, float]]:
    """The last answer and the least seconds of each, in rounds."""
    found: dict[str, tuple[Any, float]] = {}
    for _ in range(RUNS):
        for name, call in contestants.items():
            if found.get(name, (None, 0.0))[1] < SLOW:
                answer, seconds = timed(call)
                found[name] = answer, min(seconds, found.get(name, (None, math.inf))[1])
    return found


def proven(r: gp.Result) -> str:
    return "optimal" if r.status == "optimal" else f"gap {100 * r.gap:.3g}%" if math.isfinite(r.gap) else ""


# ------------------------------------------------------------------------------------------------------------ the peer


def peer(p: gp.SetPartition, solver: str) -> Callable[[], Any]:
    """What the peer does with a problem, without the making of its objective; it returns labels."""
    from bioimage_cpp.graph import UndirectedGraph
    from bioimage_cpp.graph import lifted_multicut as peer

    u, v, cost = p.pairs()
    base = ~p.lifted
    ends = np.stack([u, v], 1).astype(np.uint64)
    graph = UndirectedGraph.from_edges(p.n, ends[base])
    joining = peer.LiftedGreedyAdditiveMulticut
    solvers: dict[str, Callable[[], Any]] = {
        "GAEC": joining,
        "GAEC + KL": lambda: peer.LiftedChainedSolvers([joining(), peer.LiftedKernighanLinMulticut()]),
        "GAEC + KL + fusion": lambda: peer.LiftedChainedSolvers([
            joining(),
            peer.LiftedKernighanLinMulticut(),
            peer.FusionMoveLiftedMulticut(
                proposal_generator=peer.WatershedProposalGenerator(), number_of_iterations=100,
                stop_if_no_improvement=100,
            ),
        ]),
    }  # fmt: skip

    def run() -> Any:
        objective = peer.LiftedMulticutObjective(graph, -cost[base], lifted_uvs=ends[~base], lifted_costs=-cost[~base])
        return np.asarray(solvers[solver]().optimize(objective))

    return run


# --------------------------------------------------------------------------------------------------------- the problems


def random_map(seed: int, n: int = 2000) -> gp.SetPartition:
    """Districts of a map, planted parties; few neighbours say much, and people far away say who belongs together."""
    from scipy.spatial import Delaunay, cKDTree

    rng = np.random.default_rng(seed)
    points = rng.random((n, 2))
    corners = Delaunay(points).simplices
    near = np.unique(
        np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]]), axis=1), axis=0
    )
    party = cKDTree(rng.random((12, 2))).query(points)[1]
    far = np.unique(np.sort(cKDTree(points).query_pairs(2.7 / math.sqrt(n), output_type="ndarray"), axis=1), axis=0)
    far = far[~np.isin(far[:, 0] * n + far[:, 1], near[:, 0] * n + near[:, 1])]
    far = far[rng.random(len(far)) < 0.3]
    costs = [
        np.where(party[pairs[:, 0]] == party[pairs[:, 1]], -1.0, 1.0) * (rng.random(len(pairs)) < share)
        * np.where(rng.random(len(pairs)) < 0.25, -1.0, 1.0)
        for pairs, share in ((near, 0.5), (far, 1.0))
    ]  # fmt: skip
    return gp.SetPartition.from_pairs(n, near, costs[0], lifted=(far, costs[1]))


def volume(seed: int, size: int, fine: bool = False) -> gp.SetPartition:
    """Regions of a volume; a lifted pair is up to three regions apart. Fine: small regions, costs in balance."""
    folder = INSTANCES / "em" / "train.npz"
    regions = None
    if folder.is_file():
        with np.load(folder) as arrays:
            boundary, regions = arrays["boundary"].astype(np.float64), arrays["regions"]
        if seed:  # another part, with regions of its own
            rng = np.random.default_rng(seed)
            low = [int(rng.integers(0, n // 5)) for n in boundary.shape]
            boundary = boundary[tuple(slice(a, a + 4 * n // 5) for a, n in zip(low, boundary.shape, strict=True))]
            regions = None
    else:
        boundary, _ = gp.images.cells((size // 2, size, size), size=12, noise=0.12, seed=seed)
    if fine:
        g = gp.images.region_graph(gp.images.watershed(boundary, seed_width=FINE), boundary)
    else:
        g = gp.images.segment(boundary, regions=regions, time_limit=1.0).graph
    apart = g.columns["q25"]
    ends = [dict[int, float]() for _ in range(g.n)]
    for (a, b), wall in zip(g.pairs.tolist(), apart.tolist(), strict=True):
        ends[a][b] = ends[b][a] = wall
    pairs, walls = [], []
    for a in range(g.n):
        reached, fresh = {a: 0.0}, {a: 0.0}
        for _ in range(HOPS):
            further: dict[int, float] = {}
            for b, wall in fresh.items():
                for c, next_wall in ends[b].items():
                    most = max(wall, next_wall)
                    if most < reached.get(c, math.inf):
                        reached[c] = further[c] = most
            fresh = further
        for b, wall in reached.items():
            if a < b and b not in ends[a]:
                pairs.append((a, b))
                walls.append(wall)
    weakest, area = np.clip(np.array(walls), 0.01, 0.99), 0.5 * float(np.median(g.weights))
    odds = np.log2(weakest / (1 - weakest))
    if fine:
        odds -= np.median(odds)
    return g.problem(g.costs(BALANCED if fine else 0.5), lifted=(np.array(pairs).reshape(-1, 2), area * odds))


def families(quick: bool) -> dict[str, Callable[[int], gp.SetPartition]]:
    side = 20 if quick else 60
    made = gp.generate
    return {
        "random, radius 3": lambda seed: made.lifted_random(side, side, radius=3, seed=seed).problem,
        "random, radius 4": lambda seed: made.lifted_random(side, side, radius=4, seed=seed).problem,
        "planted, 2-D": lambda seed: made.lifted_grid(2 * side, 2 * side, seed=seed).problem,
        "planted, 3-D": lambda seed: made.lifted_grid(side // 3, side // 3, side // 3, seed=seed).problem,
        "volume": lambda seed: volume(seed, 32 if quick else 64, fine=True),
        "signed map": lambda seed: random_map(seed, 300 if quick else 2000),
    }


# ------------------------------------------------------------------------------------------------------------ the works


def joining(options: argparse.Namespace) -> Iterator[Row]:
    side = 60 if options.quick else 300
    p = gp.generate.lifted_grid(side, side, seed=options.seed).problem
    start = gp.partition.greedy_joining(p)
    found = in_turns({
        "bioimage-cpp, GAEC": peer(p, "GAEC"),
        "graphpart, greedy joining": lambda: gp.partition.greedy_joining(p).labels,
        "bioimage-cpp, GAEC + KL": peer(p, "GAEC + KL"),
        "graphpart, joining and pairwise Kernighan-Lin": lambda: gp.partition.kernighan_lin_pairs(p).labels,
    })  # fmt: skip
    assert start.cost < 0
    for name, (labels, seconds) in found.items():
        yield f"joining, {side} x {side}", name, f"{p.evaluate(labels):.8g}", f"{seconds:.3f}", ""


def search(options: argparse.Namespace) -> Iterator[Row]:
    limit = 1.0 if options.quick else 10.0
    for family, make in families(options.quick).items():
        for seed in range(1 if options.quick else 5):
            p = make(seed)
            work = f"search, {family}, seed {seed}"
            for name in ("GAEC", "GAEC + KL", "GAEC + KL + fusion"):
                labels, seconds = timed(peer(p, name))
                yield work, f"bioimage-cpp, {name}", f"{p.evaluate(labels):.8g}", f"{seconds:.2f}", ""
            r, seconds = timed(lambda p=p: gp.partition.kernighan_lin_pairs(p))
            yield work, "graphpart, joining and pairwise Kernighan-Lin", f"{r.cost:.8g}", f"{seconds:.2f}", ""
            r, seconds = timed(lambda p=p, seed=seed: gp.partition.search(p, time_limit=limit, seed=seed))
            yield work, f"graphpart, search {limit:g} s", f"{r.cost:.8g}", f"{seconds:.2f}", ""


def bounds(options: argparse.Namespace) -> Iterator[Row]:
    for sigma in (1.0, 2.0):
        for side, limit in ((20, 5),) if options.quick else ((40, 30), (120, 60)):
            p = gp.generate.lifted_grid(side, side, sigma=sigma, lifted_sigma=sigma, seed=options.seed).problem
            r, seconds = timed(lambda p=p, limit=limit: gp.solve(p, time_limit=limit))
            work = f"bounds, planted {side} x {side}, noise {sigma:g}"
            yield work, f"graphpart, auto {limit} s", f"{r.cost:.8g}", f"{seconds:.1f}", proven(r)


def proofs(options: argparse.Namespace) -> Iterator[Row]:
    side = 20 if options.quick else 40
    works = {
        "random 10 x 10, radius 3": lambda: gp.generate.lifted_random(10, 10, radius=3, seed=options.seed).problem,
        "regions of a volume": lambda: volume(0, 32 if options.quick else 64),
        f"planted {side} x {side}, low noise": lambda: (
            gp.generate.lifted_grid(side, side, sigma=1.0, lifted_sigma=1.0, seed=options.seed).problem
        ),
    }
    for name, make in works.items():
        p = make()
        r, seconds = timed(lambda p=p: gp.partition.exact(p, time_limit=5 if options.quick else 60))
        work = f"proofs, {name}: {p.n} elements, {p.m} pairs"
        yield work, "graphpart, exact", f"{r.cost:.8g}", f"{seconds:.1f}", proven(r)


def large(options: argparse.Namespace) -> Iterator[Row]:
    side = 100 if options.quick else 1000
    p = gp.generate.lifted_grid(side, side, lifted=2.0, seed=options.seed).problem
    r, seconds = timed(lambda: gp.partition.kernighan_lin_pairs(p))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    work = f"large, {p.n} elements, {p.m} pairs"
    yield work, f"graphpart, joining and pairwise Kernighan-Lin, {memory:.2f} GB", f"{r.cost:.8g}", f"{seconds:.1f}", ""


WORKS = {"joining": joining, "search": search, "bounds": bounds, "proofs": proofs, "large": large}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", nargs="*", help=f"of {', '.join(WORKS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--csv", type=Path, help="write the rows to this file")
    options = parser.parse_args()
    if unknown := set(options.works) - set(WORKS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; expected {', '.join(WORKS)}")
    rows: list[Row] = []
    for name in options.works or WORKS:
        for row in WORKS[name](options):
            print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, (44, 48, 14, 8, 12), strict=True)))
            sys.stdout.flush()
            rows.append(row)
    if options.csv:
        kept: list[Row] = []
        if options.csv.exists():
            done = {row[0] for row in rows}
            with options.csv.open(newline="") as stream:
                kept = [tuple(row) for row in list(csv.reader(stream))[1:] if row[0] not in done]  # type: ignore[misc]
        with options.csv.open("w", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(HEADER)
            writer.writerows(sorted([*kept, *rows], key=lambda row: list(WORKS).index(row[0].split(",")[0])))


if __name__ == "__main__":
    main()

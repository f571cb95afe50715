"""Networks: modularity, constant Potts model, cluster editing and scored pairs, with a background, against peers.

    python benchmarks/networks.py                                     # all that takes less than two minutes
    python benchmarks/networks.py modularity --nodes 100000 --edges 1000000 --seeds 3
    python benchmarks/networks.py cpm --nodes 1000000 --edges 10000000
    python benchmarks/networks.py editing --nodes 100000 --edges 500000 --kind cliques --seconds 60
    python benchmarks/networks.py pairs --count 50000
    python benchmarks/networks.py small pace --csv networks.csv

Graphs are those of `graphpart.generate.networks`, made by another process, so that the peak of memory is that of the
problem and its solution. All contestants get the edges in arrays; the time is that of their call alone, with a model
that is already there, on one thread. Modularity is computed by igraph for all. Rows of `--csv` are added to those
that the file has, and take the place of rows of the same work.

Peers: Leiden of igraph and leidenalg, Louvain of networkx, and the memetic clustering of signed graphs of chszlablib,
which knows no background: it gets the edges, and all pairs with a common neighbour, since clusters of an optimal
editing have a diameter of at most two. Its answer is evaluated with all pairs.
"""

from __future__ import annotations

import argparse
import csv
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from real import INSTANCES
from scipy.sparse import coo_array, csr_array

import graphpart as gp

Labels = np.ndarray
Row = tuple[str, str, str, str]


def timed(call: Callable[[], Labels]) -> tuple[Labels, float]:
    start = time.perf_counter()
    labels = call()
    return labels, time.perf_counter() - start


def megabytes() -> float:
    """The peak of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def made(family: str, *arguments: Any) -> tuple[np.ndarray, ...]:
    """The arrays of a generator, made by another process."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "made.npz")
        code = (
            f"import numpy as np\nfrom graphpart.generate import networks\n"
            f"np.savez({file!r}, *networks.{family}(*{arguments!r}))"
        )
        subprocess.run([sys.executable, "-c", code], check=True)
        with np.load(file) as arrays:
            return tuple(arrays[name] for name in arrays.files)


def adjacency(n: int, edges: np.ndarray) -> csr_array:
    matrix = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    return matrix + matrix.T


def leiden(graph: Any, iterations: int, seed: int, resolution: float | None) -> Labels:
    random.seed(seed)
    options = {"objective_function": "modularity"} if resolution is None else {"resolution": resolution}
    return np.array(graph.community_leiden(n_iterations=iterations, **options).membership)


def modularity(options: argparse.Namespace) -> Iterator[Row]:
    """Leiden until nothing changes; ours that ends by itself, in the same time, and in ten times that time."""
    import igraph

    n, m, mixing = options.nodes, options.edges, options.mixing
    ours: dict[str, list[tuple[float, float]]] = {"multilevel": [], "auto": [], "search, equal time": []}
    if not options.brief:
        ours["search, 10 times the time"] = []
    for seed in range(options.first, options.first + options.seeds):
        edges, _ = made("community_network", n, m, mixing, seed)
        graph = igraph.Graph(n, edges)
        p = gp.SetPartition.from_modularity(adjacency(n, edges), dense=False)
        labels, seconds = timed(lambda graph=graph, seed=seed: leiden(graph, -1, seed, None))
        peer = graph.modularity(labels.tolist())
        print(f"  seed {seed}, {len(edges)} edges: Leiden {seconds:.3f} s  {peer:.6f}", flush=True)
        for name, found in ours.items():
            limit = seconds if "equal" in name else 10 * seconds
            if name in ("multilevel", "auto"):
                labels, took = timed(lambda p=p, name=name: gp.solve(p, name).labels)
            else:
                labels, took = timed(
                    lambda p=p, limit=limit: gp.partition.search(p, time_limit=limit, threads=1).labels
                )
            value = graph.modularity(labels.tolist())
            assert abs(value - p.objective(p.evaluate(labels))) < 1e-9
            found.append((took / seconds, value - peer))
            print(f"    {name:28} {took:.3f} s  {value:.6f}  {value - peer:+.6f}", flush=True)
    for name, found in ours.items():
        ratios, gains = np.array(found).T
        higher, equal = np.count_nonzero(gains > 1e-9), np.count_nonzero(np.abs(gains) <= 1e-9)
        yield (
            f"modularity, {n} nodes, {m} edges, mixing {mixing}: {name}",
            f"higher on {higher} of {len(gains)} seeds, equal on {equal}; by {gains.min():+.6f} to {gains.max():+.6f}",
            "igraph's Leiden until nothing changes",
            f"{ratios.mean():.2f} of its time",
        )


def cpm(options: argparse.Namespace) -> Iterator[Row]:
    """The constant Potts model: one iteration of multilevel moves, joining and moving, against one of Leiden."""
    n, m = options.nodes, options.edges
    resolution = options.resolution or 0.1 * 2 * m / n / 100
    edges, _ = made("community_network", n, m, options.mixing, options.first)
    before = megabytes()
    matrix = adjacency(n, edges)
    p = gp.SetPartition.from_cpm(matrix, resolution, dense=False)
    del matrix
    print(
        f"  {len(edges)} edges, resolution {resolution}; model {megabytes():.0f} MB (before: {before:.0f} MB)",
        flush=True,
    )
    found = {}
    calls = {"multilevel, 1 iteration": lambda: gp.partition.multilevel(p, max_iterations=1).labels}
    if not options.brief:
        calls["joining and moving"] = lambda: gp.partition.greedy_moving(p).labels
    for name, call in calls.items():
        labels, seconds = timed(call)
        found[name] = seconds, p.objective(p.evaluate(labels)), megabytes()
        print(f"    {name:28} {seconds:.2f} s  {found[name][1]:.1f}  peak {found[name][2]:.0f} MB", flush=True)
    import igraph

    graph = igraph.Graph(n, edges)
    labels, peer = timed(lambda: leiden(graph, 1, 0, resolution))
    value = p.objective(p.evaluate(labels))
    print(f"    {'Leiden, 1 iteration':28} {peer:.2f} s  {value:.1f}", flush=True)
    for name, (seconds, mine, memory) in found.items():
        yield (
            f"constant Potts model, {n} nodes, {m} edges, resolution {resolution:g}: {name}",
            f"{seconds:.1f} s, quality {mine:.1f}, peak {memory:.0f} MB",
            f"igraph's Leiden, 1 iteration: {peer:.1f} s, {value:.1f}",
            f"{seconds / peer:.2f} of its time",
        )


def memetic(p: gp.SetPartition, seconds: float) -> Labels:
    """chszlablib's clustering of signed graphs."""
    from chszlablib import Decomposition, Graph

    starts, neighbours, _ = p._rows().arrays
    edges = csr_array((np.ones(2 * p.m, np.int64), neighbours, starts), shape=(p.n, p.n))
    near = (edges @ edges).tocoo()
    keys = near.row.astype(np.int64) * p.n + near.col
    own = np.repeat(np.arange(p.n), np.diff(starts)) * np.int64(p.n) + neighbours
    apart = np.setdiff1d(keys[near.row != near.col], own, assume_unique=True)
    u, v = np.divmod(np.concatenate([own, apart]), p.n)
    weight = np.concatenate([np.ones(len(own), np.int64), -np.ones(len(apart), np.int64)])
    matrix = coo_array((weight, (u, v)), shape=(p.n, p.n)).tocsr()
    matrix.sort_indices()
    graph = Graph.from_csr(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), edge_weights=matrix.data)
    return np.asarray(Decomposition.evolutionary_correlation_clustering(graph, seed=0, time_limit=seconds).assignment)


def editing(options: argparse.Namespace) -> Iterator[Row]:
    """Cluster editing: local search, and the search against memetic clustering in the same time."""
    n, m = options.nodes, options.edges
    for kind in options.kind:
        edges, _ = made("clustered_network", n, m, kind, options.first)
        p = gp.SetPartition.from_pairs(
            n, edges, np.full(len(edges), -1.0), missing=1.0, offset=float(len(edges)), dense=False
        )
        parts = []
        for name in ("greedy-joining", "multilevel", "kernighan-lin", "kernighan-lin-pairs", "auto"):
            labels, seconds = timed(lambda p=p, name=name: gp.solve(p, name).labels)
            parts.append(f"{name} {p.objective(p.evaluate(labels)):.0f} in {seconds:.2f} s")
            print(f"    {kind}: {parts[-1]}", flush=True)
        labels, seconds = timed(lambda p=p: gp.partition.search(p, time_limit=options.seconds, threads=1).labels)
        mine = p.objective(p.evaluate(labels))
        print(f"    {kind}: search {mine:.0f} in {seconds:.1f} s", flush=True)
        peer = np.nan
        if not options.brief:
            labels, took = timed(lambda p=p: memetic(p, options.seconds))
            peer = p.objective(p.evaluate(labels))
            print(f"    {kind}: chszlablib memetic {peer:.0f} in {took:.1f} s", flush=True)
        yield (
            f"cluster editing, {kind}, {n} nodes, {len(edges)} edges",
            f"search {mine:.0f} edits in {options.seconds:g} s; " + "; ".join(parts),
            f"chszlablib memetic {peer:.0f} in {options.seconds:g} s" if peer == peer else "-",
            f"{100 * (mine / peer - 1):+.2f}%" if peer == peer else "-",
        )


def small(options: argparse.Namespace) -> Iterator[Row]:
    """Networks that are proven."""
    import networkx as nx

    graphs = {"karate": nx.karate_club_graph(), "Les Miserables": nx.les_miserables_graph()}
    graphs |= {"Davis": nx.davis_southern_women_graph(), "Florentine families": nx.florentine_families_graph()}
    graphs["62 nodes in 5 groups"] = nx.random_partition_graph([13, 13, 12, 12, 12], 0.3, 0.03, seed=1)
    graphs["115 nodes in 12 groups"] = nx.random_partition_graph([10] * 7 + [9] * 5, 0.75, 0.035, seed=1)
    for name, graph in graphs.items():
        p = gp.SetPartition.from_modularity(graph, weight=None)
        start = time.perf_counter()
        r = gp.solve(p)
        seconds = time.perf_counter() - start
        peer = nx.community.modularity(graph, nx.community.louvain_communities(graph, weight=None, seed=0), weight=None)
        print(f"  {name:24} {r.objective:.6f} {r.status!s:14} {seconds:.3f} s", flush=True)
        yield (
            f"modularity of {name}", f"{r.objective:.6f}, {r.status!s}, {seconds:.2f} s",
            f"networkx Louvain {peer:.6f}", f"{r.objective - peer:+.6f}",
        )  # fmt: skip


def pairs(options: argparse.Namespace) -> Iterator[Row]:
    """Scored pairs: what is not listed costs 0.5; the same costs as a matrix, where that fits into memory."""
    listed, probability, truth = made("scored_pairs", options.count, options.first)
    n, costs = len(truth), gp.costs_from_probabilities(probability)
    arrays = listed.nbytes + costs.nbytes
    for method in ("greedy-joining", "kernighan-lin", "auto"):
        before = megabytes()
        start = time.perf_counter()
        p = gp.SetPartition.from_pairs(n, listed, costs, missing=0.5)
        r = gp.solve(p, method)
        seconds = time.perf_counter() - start
        memory = (megabytes() - before) * 2**20 / arrays
        f1 = gp.metrics.pair_scores(truth, r.labels)["joins_f1"]
        print(
            f"  {method:16} {seconds:.3f} s  {r.cost:.4f}  pair F1 {f1:.3f}  {memory:.1f} times the pairs", flush=True
        )
        peer, ratio = "-", "-"
        if n <= 20_000 and not options.brief and method != "auto":
            q, took = timed(p._to_dense)
            dense, more = timed(lambda q=q, method=method: gp.solve(q, method))
            peer = f"as a matrix {dense.cost:.4f} in {took + more:.1f} s, {8 * n * n / 1e6:.0f} MB"
            ratio = f"{r.cost - dense.cost:+.1g} in cost, {seconds / (took + more):.3f} of the time"
            print(f"    {peer}", flush=True)
            del q
        what = f"{seconds:.2f} s, cost {r.cost:.4f}, pair F1 {f1:.3f}, memory {max(memory, 0):.1f} times the pairs"
        yield f"{len(listed)} scored pairs of {n} records, others cost 0.5: {method}", what, peer, ratio


def pace(options: argparse.Namespace) -> Iterator[Row]:
    """Graphs of PACE 2021 as pairs with a background, and as matrices: partitions have the same costs in both."""
    same, graphs, lower, higher, seconds, dense = 0, 0, 0, 0, 0.0, 0.0
    for path in sorted((INSTANCES / "pace").glob("*.gr*"))[: options.graphs]:
        q = gp.read(path)._to_dense()
        u, v = np.nonzero(np.triu(q.matrix, 1) < 0)
        one = np.full(len(u), -1.0)
        p = gp.SetPartition.from_pairs(q.n, (u, v), one, missing=1.0, dense=False, offset=q.offset)
        for method in ("greedy-joining", "kernighan-lin"):
            x, took = timed(lambda p=p, method=method: gp.solve(p, method))
            y, more = timed(lambda q=q, method=method: gp.solve(q, method))
            same += q.evaluate(x.labels) == x.cost and p.evaluate(y.labels) == y.cost
            seconds, dense = seconds + took, dense + more
            graphs += 1
            lower, higher = lower + (x.cost < y.cost), higher + (x.cost > y.cost)
    yield (
        f"PACE 2021, {graphs // 2} graphs as pairs with a background, joining and Kernighan-Lin",
        f"same value of each partition in both forms: {same} of {graphs}; ties make {lower} lower, {higher} higher",
        f"as matrices: {dense:.1f} s", f"{seconds / dense:.2f} of the time",
    )  # fmt: skip


WORKS = {"modularity": modularity, "cpm": cpm, "editing": editing, "small": small, "pairs": pairs, "pace": pace}
COLUMNS = ["work", "graphpart", "peer", "ratio"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", nargs="*", metavar="WORK", help=f"of {', '.join(WORKS)}; default: all")
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--edges", type=int, default=100_000)
    parser.add_argument("--mixing", type=float, default=0.4)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--resolution", type=float, help="of the constant Potts model")
    parser.add_argument("--kind", nargs="+", default=["cliques"], help="cliques, geometric, random")
    parser.add_argument("--seconds", type=float, default=10.0, help="of the search in cluster editing")
    parser.add_argument("--count", type=int, default=50_000, help="of scored pairs")
    parser.add_argument("--graphs", type=int, default=1000, help="of PACE, at most")
    parser.add_argument("--brief", action="store_true", help="without the runs that take longest")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    if unknown := set(options.works) - set(WORKS):
        parser.error(f"unknown work {min(unknown)!r}: expected {', '.join(WORKS)}")
    for name in options.works or list(WORKS):
        print(name, flush=True)
        for row in WORKS[name](options):
            print("  " + " | ".join(row), flush=True)
            if options.csv is not None:
                keep(options.csv, row, COLUMNS)


def keep(path: Path, row: Sequence[str], columns: list[str], keys: int = 1) -> None:
    """Add a row to a table, in place of one whose first `keys` columns are the same."""
    rows = {}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as stream:
            rows = {tuple(old[:keys]): old for old in list(csv.reader(stream))[1:]}
    rows[tuple(row[:keys])] = list(row)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows.values())


if __name__ == "__main__":
    main()

"""Networks: modularity, the constant Potts model and scored pairs, against igraph's and leidenalg's Leiden.

    python benchmarks/networks.py                       # 10^4 nodes with 10^5 edges
    python benchmarks/networks.py --nodes 100000 --edges 1000000 --seeds 3
    python benchmarks/networks.py --small               # networks that are proven
    python benchmarks/networks.py --pairs 50000         # scored pairs of records

Graphs are LFR-like (Lancichinetti, Fortunato & Radicchi 2008): degrees and sizes of communities follow power laws, and
each node has a share `--mixing` of its edges outside of its community; edges are drawn by matching stubs, and nodes are
numbered at random. All contestants get the edges in arrays; the time is that of their call alone, with a model that is
already there. Modularity is computed by igraph for all.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np
from scipy.sparse import coo_array

import graphpart as gp


def power_law(rng: np.random.Generator, size: int, exponent: float, low: float, high: float) -> np.ndarray:
    """Samples of a density proportional to ``x**-exponent`` between two numbers."""
    e = 1.0 - exponent
    return (low**e + rng.random(size) * (high**e - low**e)) ** (1.0 / e)


def matched(rng: np.random.Generator, stubs: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Random pairs of stubs of the same group, as rows (u, v)."""
    order = np.lexsort((rng.random(len(stubs)), group))
    stubs, group = stubs[order], group[order]
    rank = np.arange(len(stubs)) - np.searchsorted(group, group)
    first = np.flatnonzero((rank % 2 == 0) & (np.append(group[1:], -1) == group))
    return np.stack([stubs[first], stubs[first + 1]], 1)


def network(n: int, m: int, mixing: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(edges of shape (about m, 2), planted labels)."""
    rng = np.random.default_rng(seed)
    degree = power_law(rng, n, 2.5, 1.0, max(10.0, np.sqrt(n)))
    degree = np.maximum(1, np.rint(degree * (2 * m / degree.sum()))).astype(np.int64)
    sizes: list[int] = []
    while sum(sizes) < n:
        sizes.append(int(power_law(rng, 1, 1.5, 20, max(50, n / 20))[0]))
    label = np.repeat(np.arange(len(sizes)), sizes)[:n]
    rng.shuffle(label)
    inside = np.minimum(rng.binomial(degree, 1.0 - mixing), np.bincount(label)[label] - 1)
    nodes = np.arange(n)
    own = np.repeat(nodes, inside)
    other = np.repeat(nodes, degree - inside)
    edges = np.concatenate([matched(rng, own, label[own]), matched(rng, other, np.zeros(len(other), np.int64))])
    edges = np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1)
    return np.unique(edges, axis=0), label


def timed(call: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    start = time.perf_counter()
    labels = call()
    return labels, time.perf_counter() - start


def compare(
    n: int, m: int, mixing: float, seeds: int, resolution: float | None, peers: list[str], limit: float
) -> None:
    """One line for each contestant and seed."""
    import igraph

    kind = "modularity" if resolution is None else f"CPM {resolution}"
    print(f"{kind}, {n} nodes, {m} edges, mixing {mixing}")
    for seed in range(seeds):
        edges, _ = network(n, m, mixing, seed)
        g = igraph.Graph(n, edges)
        one = np.ones(len(edges))
        matrix = coo_array((one, (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
        matrix = matrix + matrix.T
        start = time.perf_counter()
        p = (
            gp.from_modularity(matrix, dense=False)
            if resolution is None
            else gp.from_cpm(matrix, resolution, dense=False)
        )
        made = time.perf_counter() - start

        def igraph_leiden(iterations: int, g=g, seed=seed) -> np.ndarray:
            import random

            random.seed(seed)
            options = (
                {"objective_function": "modularity"}
                if resolution is None
                else {"objective_function": "CPM", "resolution": resolution}
            )
            return np.array(g.community_leiden(n_iterations=iterations, **options).membership)

        def leidenalg(g=g, seed=seed) -> np.ndarray:
            import leidenalg

            if resolution is None:
                return np.array(
                    leidenalg.find_partition(
                        g, leidenalg.ModularityVertexPartition, n_iterations=-1, seed=seed
                    ).membership
                )
            return np.array(
                leidenalg.find_partition(
                    g, leidenalg.CPMVertexPartition, n_iterations=-1, seed=seed, resolution_parameter=resolution
                ).membership
            )

        contestants: dict[str, Callable[[], np.ndarray]] = {
            "multilevel": lambda p=p: gp.partition.multilevel(p).labels,
            "multilevel, 1 iteration": lambda p=p: gp.partition.multilevel(p, max_iterations=1).labels,
            "greedy-joining": lambda p=p: gp.partition.greedy_joining(p, time_limit=limit).labels,
            "greedy-moving": lambda p=p: gp.partition.greedy_moving(p, time_limit=limit).labels,
            "kernighan-lin": lambda p=p: gp.partition.kernighan_lin(p, time_limit=limit).labels,
            "auto": lambda p=p: gp.solve(p, time_limit=limit).labels,
            "igraph": lambda f=igraph_leiden: f(-1),
            "igraph, 1 iteration": lambda f=igraph_leiden: f(1),
            "leidenalg": leidenalg,
        }
        for name in peers:
            labels, seconds = timed(contestants[name])
            value = p.objective(p.evaluate(labels))
            if resolution is None:
                assert abs(value - g.modularity(labels.tolist())) < 1e-9
            print(f"  seed {seed}  {name:24} {seconds:8.3f} s  {value:.6f}  {labels.max() + 1} communities", flush=True)
        print(f"  seed {seed}  {len(edges)} edges, model made in {made:.3f} s", flush=True)


def small() -> None:
    """Networks that are proven."""
    import networkx as nx

    graphs = {"karate": nx.karate_club_graph(), "les miserables": nx.les_miserables_graph()}
    graphs |= {"davis": nx.davis_southern_women_graph(), "florentine": nx.florentine_families_graph()}
    for name, graph in graphs.items():
        start = time.perf_counter()
        r = gp.solve(gp.from_modularity(graph, weight=None))
        print(f"{name:16} {r.objective:.6f} {r.status!s:14} {time.perf_counter() - start:.3f} s")


def scored_pairs(count: int, seed: int) -> None:
    """Records of a few each of which are the same; pairs with a score are candidates, all others cost 0.5 or 0."""
    rng = np.random.default_rng(seed)
    n = round(0.34 * count)
    entity = np.sort(rng.integers(0, n // 3, n))
    u = rng.integers(0, n, 4 * count)
    v = np.minimum(u + rng.integers(1, 6, 4 * count), n - 1)
    far = rng.integers(0, n, (count // 3, 2))
    both = np.concatenate([np.stack([u, v], 1)[u != v], np.sort(far[far[:, 0] != far[:, 1]], axis=1)])
    pairs = np.unique(both, axis=0)
    pairs = pairs[np.sort(rng.permutation(len(pairs))[:count])]
    same = entity[pairs[:, 0]] == entity[pairs[:, 1]]
    score = np.clip(rng.normal(np.where(same, 0.7, 0.35), 0.2), 0.01, 0.99)
    costs = gp.costs_from_probabilities(score)
    print(f"{len(pairs)} pairs of {n} records, {16 * len(pairs) / 1e6:.1f} MB as arrays")
    for missing in (0.5, 0.0):
        for method in ("greedy-joining", "greedy-moving", "multilevel", "auto"):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            start = time.perf_counter()
            p = gp.SetPartition.from_pairs(n, pairs, costs, missing=missing)
            r = gp.solve(p, method)
            seconds = time.perf_counter() - start
            more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            f1 = gp.metrics.pair_scores(entity, r.labels)["joins_f1"]
            print(
                f"  missing {missing}  {method:16} {seconds:6.3f} s  cost {r.cost:.4f}  pair F1 {f1:.3f}"
                f"  {r.status!s:14} {more:6.1f} MB more at most",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--edges", type=int, default=100_000)
    parser.add_argument("--mixing", type=float, default=0.4)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--resolution", type=float, help="of the constant Potts model, in place of modularity")
    parser.add_argument("--peers", nargs="+", default=["multilevel", "igraph"])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each method of graphpart")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--pairs", type=int)
    args = parser.parse_args()
    if args.small:
        small()
    elif args.pairs:
        scored_pairs(args.pairs, 0)
    else:
        compare(args.nodes, args.edges, args.mixing, args.seeds, args.resolution, args.peers, args.limit)


if __name__ == "__main__":
    main()

"""graphpart and its peers side by side on the same generated instances: cost, seconds, memory, ratios, targets.

    python benchmarks/peers.py                       # all rows, 5 rounds (pip install -e '.[bench]' first)
    python benchmarks/peers.py --quick --rounds 1    # small sizes: does everything run?
    python benchmarks/peers.py --rows complete grid --csv measured.csv
    python benchmarks/peers.py --cpu                 # on a machine with other work: CPU instead of wall-clock seconds

measuring.py says how: each measurement is a process of its own, ratios are taken within a round.

A benchmark is one line in ROWS; a contestant is one function: it takes the arrays of an instance, builds what it needs
and returns the function to be measured, which returns labels (or None).
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
from measuring import Arrays, Contestant, Figure, Measurements, Row, Run, main

import graphpart as gp

# ------------------------------------------------------------------------------------------------------------ instances


def arrays_of(instance: gp.generate.Instance) -> Arrays:
    p = instance.problem
    if p.is_dense:
        return {"matrix": p.matrix}
    return {"n": np.array(p.n), "u": p.u, "v": p.v, "cost": p.cost}


def planted(**options: Any) -> Arrays:
    return arrays_of(gp.generate.planted_partition(sigma=3.0, **options))


def grid(**options: Any) -> Arrays:
    return arrays_of(gp.generate.grid(**options))


def sparse(**options: Any) -> Arrays:
    return arrays_of(gp.generate.sparse_random(**options))


def communities(n: int) -> Arrays:
    """The edges of a random graph with 20 communities, ten neighbours inside and five outside on average."""
    inside, outside = 10 / (n / 20), 5 / n
    truth = np.arange(n) // (n // 20)
    u, v = np.triu_indices(n, 1)
    kept = np.random.default_rng(0).random(len(u)) < np.where(truth[u] == truth[v], inside, outside)
    return {"n": np.array(n), "u": u[kept].astype(np.int32), "v": v[kept].astype(np.int32)}


def tiny(count: int, n: int) -> Arrays:
    return {"matrices": np.stack([gp.generate.planted_partition(n, 3, seed=k).problem.matrix for k in range(count)])}


def problem_of(arrays: Arrays) -> gp.SetPartition:
    if "matrix" in arrays:
        return gp.SetPartition.from_matrix(arrays["matrix"], dense=True)
    return gp.SetPartition.from_pairs(int(arrays["n"]), (arrays["u"], arrays["v"]), arrays["cost"])


def pairs_of(arrays: Arrays) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    if "matrix" in arrays:
        n = len(arrays["matrix"])
        u, v = np.triu_indices(n, 1)
        return n, u, v, arrays["matrix"][u, v]
    return int(arrays["n"]), arrays["u"], arrays["v"], arrays["cost"]


def cost_within(arrays: Arrays, labels: np.ndarray) -> float:
    """The cost of a partition, recomputed."""
    if "matrix" in arrays:
        matrix = arrays["matrix"]
        return sum(float(row[a + 1 :][labels[a + 1 :] == labels[a]].sum()) for a, row in enumerate(matrix))
    return float(arrays["cost"][labels[arrays["u"]] == labels[arrays["v"]]].sum())


def negated_modularity(arrays: Arrays, labels: np.ndarray) -> float:
    """Minus the modularity of an unweighted graph, recomputed by its definition."""
    u, v = arrays["u"], arrays["v"]
    m, k = len(u), int(labels.max()) + 1
    degrees = np.bincount(labels[u], minlength=k) + np.bincount(labels[v], minlength=k)
    return float((degrees / (2 * m)) @ (degrees / (2 * m)) - (labels[u] == labels[v]).sum() / m)


# ---------------------------------------------------------------------------------------------------------- contestants


def numpy_sum(arrays: Arrays) -> Run:
    matrix = arrays["matrix"]
    matrix.sum()
    return lambda: matrix.sum() and None


def joining(arrays: Arrays) -> Run:
    p = problem_of(arrays)
    return lambda: gp.partition.greedy_joining(p).labels


def joining_kl(arrays: Arrays) -> Run:
    p = problem_of(arrays)
    return lambda: gp.partition.kernighan_lin(p, initial=gp.partition.greedy_joining(p)).labels


def joining_pairs(arrays: Arrays) -> Run:
    p = problem_of(arrays)
    return lambda: gp.partition.kernighan_lin_pairs(p).labels


def one_kl_iteration(arrays: Arrays) -> Run:
    p = problem_of(arrays)
    joined = gp.partition.greedy_joining(p)
    return lambda: gp.partition.kernighan_lin(p, initial=joined, max_iterations=1).labels


def modularity_kl(arrays: Arrays) -> Run:
    p, _ = gp.generate.modularity(networkx_graph(arrays))
    return lambda: gp.partition.kernighan_lin(p).labels


def bioimage(arrays: Arrays, solver: str) -> Run:
    from bioimage_cpp.graph import UndirectedGraph, multicut

    n, u, v, cost = pairs_of(arrays)
    graph = UndirectedGraph.from_unique_edges(n, np.stack([u, v], 1).astype(np.uint64))
    objective = multicut.MulticutObjective(graph, -cost)  # its costs are paid by pairs that are cut
    gaec = multicut.GreedyAdditiveMulticut()
    chosen = {"GAEC": gaec, "KL": multicut.ChainedMulticutSolvers([gaec, multicut.KernighanLinMulticut()])}[solver]
    return lambda: chosen.optimize(objective)


def igraph_graph(arrays: Arrays) -> Any:
    import igraph

    random.seed(0)  # igraph draws from it
    return igraph.Graph(int(arrays["n"]), np.stack([arrays["u"], arrays["v"]], 1))


def igraph_cpm(arrays: Arrays) -> Run:
    graph, weights = igraph_graph(arrays), (-arrays["cost"]).tolist()
    return lambda: np.array(graph.community_leiden("CPM", weights=weights, resolution=0.0, n_iterations=-1).membership)


def igraph_modularity(arrays: Arrays) -> Run:
    graph = igraph_graph(arrays)
    return lambda: np.array(graph.community_leiden("modularity", n_iterations=-1).membership)


def networkx_graph(arrays: Arrays) -> Any:
    import networkx as nx

    G = nx.empty_graph(int(arrays["n"]))
    G.add_edges_from(zip(arrays["u"].tolist(), arrays["v"].tolist(), strict=True))
    return G


def networkx_modularity(arrays: Arrays, method: str) -> Run:
    import networkx as nx

    G = networkx_graph(arrays)
    run = {
        "greedy": nx.community.greedy_modularity_communities,
        "louvain": lambda graph: nx.community.louvain_communities(graph, seed=0),
    }[method]

    def labels() -> np.ndarray:
        out = np.empty(len(G), int)
        for label, nodes in enumerate(run(G)):
            out[list(nodes)] = label
        return out

    return labels


def chszlab(arrays: Arrays) -> Run:
    from chszlablib import Decomposition, Graph

    starts, neighbours, costs = problem_of(arrays)._rows()
    weights = np.rint(-1000 * costs).astype(np.int64)  # it takes integers only
    graph = Graph.from_csr(starts, neighbours.astype(np.int64), edge_weights=weights)
    return lambda: np.asarray(Decomposition.correlation_clustering(graph, seed=0).assignment)


def solve_many(arrays: Arrays) -> Run:
    problems = [gp.SetPartition.from_matrix(matrix) for matrix in arrays["matrices"]]

    def run() -> None:
        for p in problems:
            gp.solve(p, method="kernighan-lin")

    return run


def kernels_many(arrays: Arrays) -> Run:
    """What solve_many cannot do without: its calls of kernels are recorded first, and replayed when measured."""
    from graphpart.partition.local_search import _kernels

    calls: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []

    def recorded(kernel: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: calls.append((kernel, given)) or kernel(*given)

    with (
        mock.patch.object(_kernels, "join_dense", recorded(_kernels.join_dense)),
        mock.patch.object(_kernels, "kernighan_lin", recorded(_kernels.kernighan_lin)),
    ):
        solve_many(arrays)()
    if len(calls) != 2 * len(arrays["matrices"]):
        raise RuntimeError(f"{len(calls)} calls of kernels: expected two for each problem")

    def run() -> None:
        for kernel, given in calls:
            kernel(*given)

    return run


FLOOR, JOINING, BOTH, STEP = "C.sum()", "graphpart joining", "graphpart joining + KL", "graphpart KL, 1 iteration"
GAEC, GAEC_KL, LEIDEN, SCC = "bioimage-cpp GAEC", "bioimage-cpp GAEC + KL", "igraph Leiden CPM", "chszlablib SCC"
PAIRS = "graphpart joining + KL in pairs"
SOLVE, KERNELS = "1000 calls of solve", "1000 calls of the kernels"

#: name: (module that must be importable, function, times it is run in one process)
CONTESTANTS: dict[str, Contestant] = {
    FLOOR: ("numpy", numpy_sum, 5),
    JOINING: ("graphpart", joining, 1),
    BOTH: ("graphpart", joining_kl, 1),
    PAIRS: ("graphpart", joining_pairs, 1),
    STEP: ("graphpart", one_kl_iteration, 1),
    "graphpart KL on modularity": ("graphpart", modularity_kl, 1),
    SOLVE: ("graphpart", solve_many, 5),
    KERNELS: ("graphpart", kernels_many, 5),
    GAEC: ("bioimage_cpp", lambda arrays: bioimage(arrays, "GAEC"), 1),
    GAEC_KL: ("bioimage_cpp", lambda arrays: bioimage(arrays, "KL"), 1),
    LEIDEN: ("igraph", igraph_cpm, 1),
    SCC: ("chszlablib", chszlab, 1),
    "igraph Leiden modularity": ("igraph", igraph_modularity, 1),
    "networkx greedy modularity": ("networkx", lambda arrays: networkx_modularity(arrays, "greedy"), 1),
    "networkx Louvain": ("networkx", lambda arrays: networkx_modularity(arrays, "louvain"), 1),
}


# -------------------------------------------------------------------------------------------------------------- figures


def matrices(r: Measurements) -> float:
    """Extra memory of joining in units of the matrix."""
    return r.extra(JOINING) / (8 * int(r.sizes[-1].removeprefix("n=")) ** 2)


def per_pair(r: Measurements) -> float:
    """Time per pair of joining on the largest instance, in units of that on the smallest."""
    m = [float(size.removeprefix("m=")) for size in r.sizes]
    pairs = zip(r.of(JOINING, -1)["seconds"], r.of(JOINING, 0)["seconds"], strict=True)
    return statistics.median(a / b for a, b in pairs) * m[0] / m[-1]


GRID_FIGURES = (
    Figure("joining: times faster than GAEC", lambda r: 1 / r.ratio(JOINING, GAEC), ">=", 2),
    Figure("joining: extra memory over GAEC's", lambda r: r.extra(JOINING) / r.extra(GAEC), "<=", 0.5),
    Figure("joining: cost above GAEC, relative", lambda r: abs(r.excess(JOINING, GAEC)), "<=", 1e-4),
    Figure("joining + KL: time over GAEC + KL", lambda r: r.ratio(BOTH, GAEC_KL), "<=", 1),
    Figure("joining + KL: cost above GAEC + KL, relative", lambda r: r.excess(BOTH, GAEC_KL), "<=", 4e-4),
    Figure("joining + KL in pairs: time over GAEC + KL", lambda r: r.ratio(PAIRS, GAEC_KL), "<=", 0.5),
    Figure("joining + KL in pairs: cost above GAEC + KL, relative", lambda r: r.excess(PAIRS, GAEC_KL), "<=", 0),
)

ROWS = (
    Row(
        "complete", "complete graph, 100 planted subsets, noise 3", planted,
        {"n=3000": {"n": 3000, "subsets": 100}}, {"n=400": {"n": 400, "subsets": 13}},
        (FLOOR, JOINING, BOTH, STEP, GAEC, GAEC_KL),
        (
            Figure("joining: cost above GAEC, relative", lambda r: abs(r.excess(JOINING, GAEC)), "<=", 1e-9),
            Figure("joining: times faster than GAEC", lambda r: 1 / r.ratio(JOINING, GAEC), ">=", 40),
            Figure("joining: time over C.sum()", lambda r: r.ratio(JOINING, FLOOR), "<=", 40),
            Figure("joining: extra memory in matrices", matrices, "<=", 1.5),
            Figure("joining + KL: cost above GAEC + KL, relative", lambda r: r.excess(BOTH, GAEC_KL), "<", 0),
            Figure("joining + KL: times faster than GAEC + KL", lambda r: 1 / r.ratio(BOTH, GAEC_KL), ">=", 10),
            Figure("one KL iteration: time over C.sum()", lambda r: r.ratio(STEP, FLOOR), "<=", 15),
        ),
    ),
    Row(
        "growth", "complete graph, n/30 planted subsets, noise 3", planted,
        {f"n={n}": {"n": n, "subsets": n // 30} for n in (1000, 2000, 4000, 8000)},
        {f"n={n}": {"n": n, "subsets": n // 30} for n in (250, 500, 1000)},
        (JOINING, STEP),
        (
            Figure("joining: exponent of n", lambda r: r.exponent(JOINING), "<=", 2.2),
            Figure("one KL iteration: exponent of n", lambda r: r.exponent(STEP), "<=", 2.2),
        ),
    ),
    Row(
        "grid", "grid with 10% long-range edges, standard normal costs", grid,
        {"1000x1000": {"height": 1000, "width": 1000}}, {"60x60": {"height": 60, "width": 60}},
        (JOINING, BOTH, PAIRS, GAEC, GAEC_KL),
        GRID_FIGURES,
    ),
    Row(
        "regions", "the same grid with a planted region for every 1000 pixels, noise 1", grid,
        {"1000x1000": {"height": 1000, "width": 1000, "regions": 1000}},
        {"60x60": {"height": 60, "width": 60, "regions": 4}},
        (JOINING, BOTH, PAIRS, GAEC, GAEC_KL),
        GRID_FIGURES,
    ),
    Row(
        "sparse", "sparse random graph, standard normal costs", sparse,
        {"n=100000, m=1000000": {"n": 10**5, "m": 10**6}}, {"n=2000, m=20000": {"n": 2000, "m": 20000}},
        (JOINING, BOTH, GAEC, GAEC_KL, LEIDEN, SCC),
        (
            Figure("joining: times faster than GAEC", lambda r: 1 / r.ratio(JOINING, GAEC), ">=", 3),
            Figure("joining + KL: cost above Leiden, relative", lambda r: r.excess(BOTH, LEIDEN), "<", 0),
            Figure("joining + KL: time over Leiden", lambda r: r.ratio(BOTH, LEIDEN), "<=", 0.2),
        ),
    ),
    Row(
        "large", "sparse random graph, ten pairs for each element, standard normal costs", sparse,
        {"m=1e6": {"n": 10**5, "m": 10**6}, "m=1e7": {"n": 10**6, "m": 10**7}},
        {"m=1e4": {"n": 10**3, "m": 10**4}, "m=1e5": {"n": 10**4, "m": 10**5}},
        (JOINING,),
        (
            Figure("joining: extra memory in GB", lambda r: r.extra(JOINING) / 1e9, "<=", 2),
            Figure("joining: time per pair over that of the smaller", per_pair, "<=", 2),
        ),
    ),
    Row(
        "signs", "sparse random graph, costs -1 and +1", sparse,
        {"n=100000, m=1000000": {"n": 10**5, "m": 10**6, "signs": True}},
        {"n=2000, m=20000": {"n": 2000, "m": 20000, "signs": True}},
        (JOINING, BOTH, GAEC, GAEC_KL, SCC),
    ),
    Row(
        "modularity", "random graph with 20 communities", communities,
        {"n=2000": {"n": 2000}}, {"n=200": {"n": 200}},
        ("graphpart KL on modularity", "igraph Leiden modularity", "networkx Louvain", "networkx greedy modularity"),
        cost=negated_modularity,
    ),
    Row(
        "overhead", "1000 problems with 10 elements", tiny,
        {"n=10": {"count": 1000, "n": 10}}, {"n=10": {"count": 1000, "n": 10}},
        (SOLVE, KERNELS),
        (
            Figure(
                "solve: microseconds per call above the kernels",
                lambda r: 1e3 * (r.median(SOLVE)
                                 - r.median(KERNELS)),
                "<=", 50,
            ),
        ),
    ),
)  # fmt: skip

if __name__ == "__main__":
    packages = ("numpy", "bioimage-cpp", "igraph", "networkx", "chszlablib")
    main(ROWS, CONTESTANTS, packages, __doc__, __file__, cost_within)

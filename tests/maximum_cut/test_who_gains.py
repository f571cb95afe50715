"""The same problem of two sides said as a factor graph, as a partition into at most two clusters, and as a QUBO."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from grouped import seeds

import graphpart as gp
from graphpart.maximum_cut.branch_and_cut import BranchAndCut
from graphpart.maximum_cut.signed_graph import SignedGraph
from graphpart.partition.anytime_search.two_sides import TwoSides, form_of
from graphpart.partition.exact_solvers.two_clusters import TwoClusters, switched_bound
from graphpart.stopping import Stopping


def network(n: int, degree: int, seed: int) -> nx.Graph:
    """A signed network with two planted sides and some wrong signs."""
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, n)
    graph = nx.gnm_random_graph(n, n * degree // 2, seed=seed)
    for a, b in graph.edges:
        sign = 1 if side[a] == side[b] else -1
        graph.edges[a, b]["sign"] = -sign if rng.random() < 0.06 else sign
        graph.edges[a, b]["cost"] = -graph.edges[a, b]["sign"]
    return graph


def frustrated(graph: nx.Graph, labels) -> int:
    side = dict(zip(graph, labels, strict=True))
    return sum((side[a] == side[b]) != (sign > 0) for a, b, sign in graph.edges(data="sign"))


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_networks_of_hundreds_are_proven_in_all_forms(method):
    graph = network(400, 6, 3)
    positive = sum(sign > 0 for *_, sign in graph.edges(data="sign"))
    partition = gp.solve(graph, method, n_clusters=(1, 2))
    differ = np.array([[0.0, 1.0], [1.0, 0.0]])
    pairs = np.array([sorted(edge) for edge in graph.edges])
    signs = np.array([graph.edges[edge]["sign"] for edge in map(tuple, pairs.tolist())])
    tables = [differ if sign > 0 else 1.0 - differ for sign in signs]
    f = gp.FactorGraph.from_arrays([2] * 400, [(pairs, np.array(tables))])
    labeling = gp.solve(f, method)
    assert str(partition.status) == str(labeling.status) == "optimal"
    assert partition.cost + positive == labeling.cost == frustrated(graph, labeling.labels)
    assert frustrated(graph, partition.labels) == labeling.cost
    assert partition.lower_bound == partition.cost and labeling.lower_bound == labeling.cost


@pytest.mark.parametrize("seed", range(6))
def test_fields_and_two_required_clusters_against_enumeration(seed):
    rng = np.random.default_rng(seed)
    n = 13
    matrix = np.triu(rng.integers(-3, 4, (n, n)) * (rng.random((n, n)) < 0.4)).astype(float)
    qubo = gp.FactorGraph.from_qubo(matrix)
    assert gp.crf.exact(qubo).cost == gp.crf.brute_force(qubo).cost
    pairs = [(a, b) for a in range(n) for b in range(a) if matrix[b, a]]
    p = gp.SetPartition.from_pairs(n, pairs, [matrix[b, a] for a, b in pairs])
    for clusters in (2, (1, 2), (2, 2)):
        q = p.require(n_clusters=clusters)
        found, best = gp.partition.exact(q), gp.partition.brute_force(q)
        assert found.cost == best.cost
        assert found.lower_bound <= best.cost


def test_one_cluster_is_not_called_optimal_where_two_are_required():
    """All pairs attract: the bound without the requirement is not reached."""
    graph = nx.random_regular_graph(4, 40, seed=1)
    nx.set_edge_attributes(graph, -1.0, "cost")
    r = gp.solve(graph, n_clusters=2, time_limit=5)
    assert r.n_clusters == 2
    assert r.cost >= -76.0
    assert r.lower_bound <= r.cost


def test_where_one_cluster_is_best_the_contestant_ends():
    """Branch and cut without the requirement is complete then; it does not take turns from search."""
    graph = nx.random_regular_graph(4, 40, seed=1)
    p = gp.SetPartition.from_pairs(40, list(graph.edges), [-1.0] * 80).require(n_clusters=2)
    contestant = TwoClusters(p, (np.arange(40) < 20).astype(np.int32))
    contestant.run(Stopping(), None)
    assert contestant.done
    assert contestant.bound == -80.0 < contestant.cost


def test_two_clusters_are_searched_as_a_binary_quadratic_form():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 9))
        u, v = np.triu_indices(n, 1)
        p = gp.SetPartition.from_pairs(n, (u, v), rng.integers(-3, 4, len(u)).astype(float), n_clusters=(1, 2))
        q = form_of(p)
        for labels in rng.integers(0, 2, (8, n)):
            assert q.energy(labels) == p.evaluate(labels), seed
        search = TwoSides(p, np.zeros(n, np.int32), 0, 1)
        search.run(Stopping(), None)
        assert search.cost == gp.partition.brute_force(p).cost == p.evaluate(search.labels), seed


def test_a_torus_of_weights_1_and_minus_1_is_proven():
    """Many points of equal cost: costs that differ a little lead to one of whole values."""
    n = 12
    index = np.arange(n * n).reshape(n, n)
    pairs = np.concatenate([np.stack([index, np.roll(index, -1, axis)], -1).reshape(-1, 2) for axis in (0, 1)])
    for seed in range(4):
        weights = np.random.default_rng(seed).choice([-1.0, 1.0], len(pairs))
        u, v = pairs.min(1).astype(np.int32), pairs.max(1).astype(np.int32)
        g = SignedGraph.from_pairs(n * n, u, v, weights)
        solver = BranchAndCut(g, np.zeros(n * n, np.uint8))
        solver.run(Stopping())
        assert solver.done and solver.bound == solver.cost == g.cost(solver.sides), seed
        p = gp.SetPartition.from_pairs(n * n, (u, v), -weights, n_clusters=(1, 2))
        result = gp.solve(p)
        assert result.status == "optimal" and result.cost - (-weights).sum() == solver.cost, seed


def test_two_required_clusters_are_proven_where_one_is_better():
    """The bound of two sides does not know that both are required: the integer program does."""
    n = 15
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < 0.3
    u, v = u[kept], v[kept]
    costs = -rng.integers(1, 5, len(u)).astype(float)
    p = gp.SetPartition.from_pairs(n, (u, v), costs, n_clusters=2)
    sides = np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n) & 1
    best = ((sides[:, u] == sides[:, v]) @ costs).min()
    result = gp.solve(p, "exact")
    assert result.status == "optimal" and result.cost == best > costs.sum()


def test_bounds_from_known_sides_against_enumeration_in_fractions():
    tight = 0
    for seed in seeds(800):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 9))
        u, v = np.triu_indices(n, 1)
        kept = rng.random(len(u)) < rng.choice([0.3, 0.6, 1])
        u, v, m = u[kept], v[kept], int(kept.sum())
        kinds = [rng.integers(-3, 4, m) * 1.0, rng.normal(size=m), rng.integers(-9, 10, m) / 10]
        costs = [*kinds, rng.normal(size=m) * 1e-150, rng.integers(-5, 6, m) * 1e15 / 3][seed % 5]
        p = gp.SetPartition.from_pairs(n, (u, v), costs).require(n_clusters=(1, 2))
        bound = switched_bound(p, rng.integers(0, 2, n).astype(np.int32), Stopping())
        exact = [Fraction(c) for c in costs.tolist()]
        sides = [[k >> a & 1 for a in range(n)] for k in range(1 << (n - 1))]
        ends = list(zip(exact, u.tolist(), v.tolist(), strict=True))
        least = min(sum((c for c, a, b in ends if side[a] == side[b]), Fraction(0)) for side in sides)
        assert Fraction(bound) <= least, seed
        tight += float(least - Fraction(bound)) <= 1e-9 * float(np.abs(costs).sum())
    assert tight > 0.5 * len(seeds(800))


def test_frustration_has_a_bound_and_advice_where_time_ends():
    r = gp.frustration(network(3000, 8, 5), time_limit=1.5)
    assert r.status == "optimal" or r.lower_bound > 0.85 * r.index, r

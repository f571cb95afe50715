"""The search with a background: its parts against the dense form, and what it promises at any size."""

import math

import networkx as nx
import numpy as np
import pytest
from backgrounds import background_problem

import graphpart as gp
from graphpart.common.variates import exponential_variates
from graphpart.generate.networks import clustered_network, community_network, scored_pairs
from graphpart.partition import default
from graphpart.partition.anytime_search._kernels import Annealing
from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.fusion import LevelRounds, fused
from graphpart.partition.anytime_search.levels import polished, proposal_by_levels
from graphpart.partition.anytime_search.recombination import best_of_regions
from graphpart.partition.anytime_search.search import _sets
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.problem import canonical
from graphpart.stopping import Stopping


def problems(seed, count, **options):
    """Problems without required joins, and two partitions of each that satisfy its required cuts."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        p = background_problem(rng, repels=bool(number % 4), **options)
        p = p._contract(p._must_join_classes())
        x, y = (canonical(rng.integers(0, 4, p.n).astype(np.int32)) for _ in range(2))
        if p.n > 1 and math.isfinite(p.evaluate(x)) and math.isfinite(p.evaluate(y)):
            yield p, x, y


def test_annealing_knows_what_it_changed_and_ends_where_no_move_to_a_linked_subset_helps():
    seen = 0
    for number, (p, x, _) in enumerate(problems(1, 300)):
        kernel = Annealing(*p._rows().arrays, p._tolerance, terms_of(p))
        labels, change = kernel.run(x, 20, 2.0, 0.1, exponential_variates(64), number, p.evaluate(x), Stopping())
        labels = canonical(labels)
        assert change == pytest.approx(p.evaluate(labels) - p.evaluate(x), abs=1e-9)
        if p.background.repels:
            assert gp.partition.greedy_moving(p, labels).cost >= p.evaluate(labels) - 1e-9
            seen += 1
    assert seen > 100


def test_changes_that_set_temperatures_are_those_of_the_dense_form():
    for p, x, _ in problems(2, 200, requirements=False):
        deltas, count = Annealer(p)._deltas(x)
        assert count == p.n
        expected = []
        for a in range(p.n):
            linked = {int(x[b]) for b in (*p.v[p.u == a], *p.u[p.v == a])} - {int(x[a])}
            if (x == x[a]).sum() > 1:
                linked.add(p.n)
            else:
                expected.append(0.0)  # what is alone has nowhere else to be alone
            for U in linked:
                y = x.copy()
                y[a] = U
                expected.append(p.evaluate(y) - p.evaluate(x))
        np.testing.assert_allclose(np.sort(deltas), np.sort(expected), atol=1e-9)


def test_the_best_of_regions_is_that_of_the_dense_form():
    mixed = 0
    for p, x, y in problems(3, 400, requirements=False):
        q = p._to_dense()
        found = best_of_regions(p, x, y)
        assert p.evaluate(found) <= min(p.evaluate(x), p.evaluate(y)) + 1e-9
        assert p.evaluate(found) == pytest.approx(q.evaluate(best_of_regions(q, x, y)), abs=1e-9)
        mixed += not (np.array_equal(found, x) or np.array_equal(found, y))
    assert mixed > 5


def test_what_fusion_and_multilevel_moves_make_is_no_worse():
    rng = np.random.default_rng(4)
    for p, x, y in problems(4, 150):
        annealer = Annealer(p)
        assert p.evaluate(fused(annealer, x, y, 0.3, 20, 1, Stopping())) <= p.evaluate(x) + 1e-12
        for thorough in (True, False):
            assert p.evaluate(polished(p, x, Stopping(), thorough)) <= p.evaluate(x) + 1e-12
        assert math.isfinite(p.evaluate(proposal_by_levels(p, Stopping(), rng)))


def test_small_problems_are_searched_as_matrices():
    edges, _ = clustered_network(120, 500, seed=3)
    p = gp.SetPartition.from_pairs(120, edges, -np.ones(len(edges)), missing=1.0, dense=False)
    a, b = (gp.partition.search(x, max_iterations=3, seed=5) for x in (p, p._to_dense()))
    assert np.array_equal(a.labels, b.labels) and a.cost == b.cost and a.iterations == b.iterations


@pytest.mark.parametrize("kind", ["cliques", "geometric", "communities", "scores", "both signs"])
def test_large_problems(kind):
    if kind == "communities":
        edges, _ = community_network(1500, 9000, seed=2)
        graph = nx.Graph(edges.tolist())
        p = gp.SetPartition.from_modularity(graph, dense=False)
    elif kind == "scores":
        pairs, probability, truth = scored_pairs(6000, seed=2)
        p = gp.SetPartition.from_pairs(len(truth), pairs, gp.costs_from_probabilities(probability), missing=0.5)
    elif kind == "both signs":
        edges, _ = community_network(1500, 9000, seed=3)
        rng = np.random.default_rng(3)
        graph = nx.Graph()
        graph.add_weighted_edges_from(np.column_stack([edges, rng.normal(0.5, 1, len(edges))]).tolist())
        p = gp.SetPartition.from_modularity(graph, dense=False)
        assert not p.background.repels
    else:
        edges, _ = clustered_network(1500, 7000, kind, seed=2)
        p = gp.SetPartition.from_pairs(1500, edges, -np.ones(len(edges)), missing=1.0)
    assert p.n > 1000 and not p.is_dense
    start = gp.partition.multilevel(p, max_iterations=1)
    r = gp.partition.search(p, max_iterations=2, seed=1)
    assert r.cost == p.evaluate(r.labels) and r.iterations == 2
    assert np.array_equal(r.labels, gp.partition.search(p, max_iterations=2, seed=1, threads=1).labels)
    assert r.cost < start.cost
    dense = gp.partition.kernighan_lin(p._to_dense())
    assert r.cost <= dense.cost + 1e-12
    again = gp.partition.search(p, dense, max_iterations=1)
    assert again.cost <= dense.cost


def test_requirements_limits_and_callbacks():
    edges, _ = clustered_network(1400, 6000, seed=4)
    joins, cuts = [(0, 700), (1, 2)], [tuple(edges[0].tolist()), (0, 1)]
    p = gp.SetPartition.from_pairs(1400, edges, -np.ones(len(edges)), missing=1.0, must_join=joins, must_cut=cuts)
    r = gp.partition.search(p, max_iterations=1)
    p._check_feasible(r.labels)
    assert r.cost == p.evaluate(r.labels)
    assert gp.partition.search(p, target=0.9 * r.cost).status == "target"
    assert gp.partition.search(p, callback=lambda seconds, cost: True).status == "interrupted"
    limited = gp.partition.search(p, time_limit=0.2)
    assert limited.status == "time_limit" and limited.cost == p.evaluate(limited.labels)


def test_auto_goes_on_with_the_search(monkeypatch):
    monkeypatch.setattr(default, "PATIENCE", 1.0)
    edges, _ = clustered_network(4000, 20_000, "random", seed=5)
    p = gp.SetPartition.from_pairs(4000, edges, -np.ones(len(edges)), missing=1.0)
    r = gp.solve(p)
    assert r.method == "auto" and r.status == "local_optimum" and r.lower_bound <= r.cost
    assert r.cost <= gp.partition.greedy_joining(p).cost
    longer = gp.solve(p, initial=r, time_limit=0.5)
    assert longer.method == "auto" and longer.cost <= r.cost and longer.status == "time_limit"


def test_multilevel_moves_are_a_strategy_of_their_own():
    assert LevelRounds.name == "multilevel"
    edges, _ = community_network(1200, 6000, seed=1)
    p = gp.SetPartition.from_modularity(nx.Graph(edges.tolist()), dense=False)
    one, two = (gp.partition.search(p, max_iterations=k) for k in (1, 3))
    assert two.cost <= one.cost


def test_what_some_optimum_joins_is_contracted_only_where_unlisted_pairs_cost_the_same():
    pairs = [(2 * a, 2 * a + 1) for a in range(600)] + [(2 * a + 1, 2 * a + 4) for a in range(598)]
    alike = gp.SetPartition.from_pairs(1200, pairs, np.full(len(pairs), -1.0), missing=1.0, must_join=[(7, 90)])
    weights = np.arange(1.0, 1201.0) / 100
    others = gp.SetPartition.from_pairs(
        1200, pairs, np.full(len(pairs), -1.0), background=[(1.0, weights)], dense=False
    )
    joined = gp.partition.reduce(alike).persistency.labels
    assert _sets(alike, Stopping()).tolist() == joined.tolist()
    assert joined[7] == joined[90] and joined.max() + 1 < 1199
    assert _sets(others, Stopping()).tolist() == list(range(1200))
    r = gp.partition.search(alike, max_iterations=2)
    assert r.labels[7] == r.labels[90] and alike.evaluate(r.labels) == r.cost


def test_required_joins_that_leave_few_elements_make_no_matrix_of_all():
    n, few = 30_000, 300
    pairs = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    joins = [(a, a % few) for a in range(few, n)]
    p = gp.SetPartition.from_pairs(n, pairs, np.full(n - 1, -1.0), missing=1.0, must_join=joins)
    assert gp.partition.reduce(p).problem.n <= few
    r = gp.partition.search(p, max_iterations=1, threads=1)
    assert (r.labels == r.labels[np.arange(n) % few]).all() and p.evaluate(r.labels) == r.cost


def test_elements_with_very_many_neighbours_are_looked_at_once_and_not_for_each_neighbour():
    n = 100_000
    leaves = np.arange(2, n)
    hubs = np.concatenate([np.stack([np.full(n - 2, a), leaves], 1) for a in (0, 1)])
    p = gp.SetPartition.from_pairs(n, hubs, np.full(len(hubs), -1.0), missing=1.0)
    assert _sets(p, Stopping()).tolist() == list(range(n))

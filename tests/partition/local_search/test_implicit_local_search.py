"""Local search with a background: the same steps as on the dense form, and what multilevel moves promise."""

import networkx as nx
import numpy as np
import pytest
import reference
from backgrounds import background_problem
from trials import trials

import graphpart as gp

SMALL = 700  # random problems for each of four seeds


@pytest.mark.parametrize("seed", range(4))
def test_steps_are_those_of_the_dense_form(seed):
    rng = np.random.default_rng(seed)
    for number in range(SMALL):
        p = background_problem(rng)
        q = p._to_dense()
        steps = (None, 1, 2, 3)[number % 4]
        a, b = (gp.partition.greedy_joining(x, max_iterations=steps) for x in (p, q))
        assert np.array_equal(a.labels, b.labels) and a.iterations == b.iterations, (seed, number)
        start = None
        if number % 2 and not len(p.must_join) and not p._has_must_cut:
            start = rng.integers(0, 4, p.n)
        for method in (gp.partition.greedy_moving, gp.partition.kernighan_lin):
            a, b = (method(x, start, max_iterations=steps) for x in (p, q))
            assert np.array_equal(a.labels, b.labels) and a.iterations == b.iterations, (seed, number, method)


def test_steps_are_those_of_the_definition():
    rng = np.random.default_rng(11)
    for number in range(trials(60)):
        p = background_problem(rng, largest=8)
        q = p._to_dense()
        *_, last = [q._must_join_classes().tolist(), *reference.greedy_joining(q, q._must_join_classes().tolist())]
        assert gp.partition.greedy_joining(p).labels.tolist() == last, number
        joined = last
        *_, last = [joined, *reference.greedy_moving(q, joined)]
        assert gp.partition.greedy_moving(p).labels.tolist() == last, number
        *_, last = [joined, *reference.kernighan_lin(q, joined)]
        assert gp.partition.kernighan_lin(p).labels.tolist() == last, number


@pytest.mark.parametrize("method", ["kernighan-lin", "kernighan-lin-pairs"])
def test_large_communities_are_not_left_to_joining(method):
    G = nx.planted_partition_graph(30, 50, 0.2, 0.003, seed=1)
    p = gp.SetPartition.from_modularity(G)
    joined = gp.solve(p, method="greedy-joining")
    r = gp.solve(p, method=method)
    assert r.objective > 1.02 * joined.objective and r.n_clusters == 30
    assert r.objective >= gp.solve(p, method="multilevel", max_iterations=1).objective


@pytest.mark.parametrize("repels", [True, False])
def test_multilevel_ends_where_no_move_helps(repels):
    rng = np.random.default_rng(5)
    optimal = 0
    for number in range(400):
        p = background_problem(rng, repels, largest=10)
        r = gp.partition.multilevel(p, seed=number)
        assert r.cost == p.evaluate(r.labels) <= p.evaluate(p._must_join_classes())
        assert gp.partition.greedy_moving(p._to_dense(), r).cost >= r.cost - 1e-12
        again = gp.partition.multilevel(p, r)
        assert again.cost <= r.cost
        optimal += r.cost <= gp.partition.brute_force(p).cost + 1e-9
    assert optimal > 350


def test_where_any_subset_attracts(monkeypatch):
    """Above some number of elements there is no matrix; joins, moves and sequences end where no other helps."""
    from graphpart.partition.local_search import attracting

    monkeypatch.setattr(attracting, "LARGEST_DENSE", 0)
    rng = np.random.default_rng(9)
    equal = 0
    for number in range(300):
        p = background_problem(rng, repels=False, largest=10)
        if p.background.repels:
            continue
        q = p._to_dense()
        joined, moved = gp.partition.greedy_joining(p), gp.partition.greedy_moving(p)
        assert gp.partition.greedy_joining(q, joined).cost >= joined.cost - 1e-12, number
        assert gp.partition.greedy_moving(q, moved).cost >= moved.cost - 1e-12, number
        for method in (gp.partition.kernighan_lin, gp.partition.kernighan_lin_pairs):
            r = method(p)
            assert r.cost == p.evaluate(r.labels) <= joined.cost
            assert gp.partition.greedy_joining(q, r).cost >= r.cost - 1e-12, number
            assert gp.partition.greedy_moving(q, r).cost >= r.cost - 1e-12, number
            equal += r.cost <= gp.partition.kernighan_lin(q).cost + 1e-12
    assert equal > 350


def test_multilevel_without_background():
    rng = np.random.default_rng(6)
    for number in range(trials(200)):
        n = int(rng.integers(1, 12))
        u, v = np.triu_indices(n, 1)
        listed = rng.random(len(u)) < 0.6
        costs = rng.integers(-3, 4, listed.sum()) * 10.0 ** rng.integers(-200, 200)
        p = gp.SetPartition.from_pairs(n, (u[listed], v[listed]), costs, dense=bool(number % 2))
        r = gp.partition.multilevel(p)
        assert gp.partition.greedy_moving(p, r).cost == r.cost
        start = rng.integers(0, 3, n)
        assert gp.partition.multilevel(p, start).cost <= p.evaluate(start)


def test_huge_and_tiny_weights():
    for unit in (1e-150, 1.0, 1e120):
        w = np.array([1.0, 2.0, 3.0, 0.0, 1.0]) * unit
        pairs, costs = [(0, 1), (1, 2), (3, 4), (0, 4)], np.array([-4.0, -5.0, -1.0, 0.5]) * unit**2
        p = gp.SetPartition.from_pairs(5, pairs, costs, background=(1.0, w), dense=False)
        for method in ("greedy-joining", "greedy-moving", "kernighan-lin-pairs", "multilevel", "auto"):
            r = gp.solve(p, method)
            assert r.cost == pytest.approx(-3.0 * unit**2, rel=1e-12), method


def test_limits_and_seeds():
    G = nx.planted_partition_graph(20, 20, 0.5, 0.02, seed=1)
    p = gp.SetPartition.from_modularity(G, dense=False)
    r = gp.partition.multilevel(p)
    planted = np.arange(400) // 20
    assert r.cost <= p.evaluate(planted) and r.status == "local_optimum"
    assert np.array_equal(r.labels, gp.partition.multilevel(p, seed=0).labels)
    assert gp.partition.multilevel(p, max_iterations=1).iterations == 1
    assert gp.partition.multilevel(p, target=r.cost * 0.5).status == "target"
    assert gp.partition.multilevel(p, callback=lambda seconds, cost: True).status == "interrupted"
    with pytest.raises(gp.InvalidOption, match="seed is -1"):
        gp.partition.multilevel(p, seed=-1)
    limited = gp.solve(gp.SetPartition.from_modularity(nx.gnp_random_graph(3500, 0.002, seed=2)), time_limit=0.3)
    assert limited.status == "time_limit" and limited.lower_bound < limited.cost

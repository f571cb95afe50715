"""What all methods share at their end: subsets that hang together, local searches that stay at their optimum."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import partitions
from trials import trials

import graphpart as gp
from graphpart.partition.results.finish import finish, settled
from graphpart.stopping import Stopping

LOCAL = ("greedy_joining", "greedy_moving", "kernighan_lin", "kernighan_lin_pairs")


def pieces_of(p, labels):
    """The number of connected pieces of all subsets, by networkx."""
    graph = nx.Graph()
    graph.add_nodes_from(range(p.n))
    u, v, cost = p.pairs()
    pairs = [*zip(u[cost != 0].tolist(), v[cost != 0].tolist(), strict=True), *map(tuple, p.must_join.tolist())]
    graph.add_edges_from((a, b) for a, b in pairs if labels[a] == labels[b])
    return nx.number_connected_components(graph)


def feasible(p, rng):
    """Random labels of few subsets that satisfy all requirements."""
    blocks = p._must_join_classes()
    q = p._contract(blocks)
    for _ in range(20):
        labels = rng.integers(0, 2, q.n)[blocks]
        if np.isfinite(p._evaluate_labels(labels.astype(np.int32))):
            return labels
    return blocks


@given(partitions(max_n=8, density=0.35), st.integers(0, 2**31), st.booleans())
@settings(max_examples=trials(150))
@pytest.mark.parametrize(
    "method", ["greedy-joining", "kernighan-lin", "kernighan-lin-pairs", "search", "exact", "auto"]
)
def test_subsets_of_every_method_hang_together(method, p, seed, stopped):
    start = feasible(p, np.random.default_rng(seed))
    limits = {"time_limit": 0} if stopped else {"max_iterations": 2} if method == "search" else {}
    r = gp.solve(p, method, initial=start, **limits)
    assert r.cost <= p.evaluate(start) + p._tolerance * p.n and np.isfinite(r.cost) == np.isfinite(p.evaluate(start))
    assert pieces_of(p, r.labels) == len(set(r.labels.tolist()))
    assert r.cost == p._evaluate_labels(r.labels)


@given(partitions(max_n=8, density=0.35))
@settings(max_examples=trials(100))
def test_so_do_those_of_methods_without_a_start(p):
    for method in (gp.partition.brute_force, gp.partition.ilp):
        labels = method(p).labels
        assert pieces_of(p, labels) == len(set(labels.tolist()))


@given(partitions(max_n=9, density=0.4), st.integers(0, 2**31))
@settings(max_examples=trials(200))
def test_a_local_search_ends_where_it_finds_nothing_better(p, seed):
    start = feasible(p, np.random.default_rng(seed))
    for name in LOCAL:
        method = getattr(gp.partition, name)
        r = method(p, initial=start)
        again = p._evaluate_labels(r.labels)
        for a in range(p.n):
            for subset in range(p.n):
                labels = np.where(p._must_join_classes() == p._must_join_classes()[a], subset, r.labels)
                if name != "greedy_joining":
                    assert p.evaluate(labels) >= again - 1e-9 * max(p._magnitude, 1e-300)
        for a, b in itertools.combinations(range(p.n), 2):
            if name == "greedy_joining":
                labels = np.where(r.labels == r.labels[b], r.labels[a], r.labels)
                assert p.evaluate(labels) >= again - 1e-9 * max(p._magnitude, 1e-300)


@given(partitions(max_n=9, density=0.4), st.integers(0, 2**31))
@settings(max_examples=trials(200))
def test_finish_costs_nothing(p, seed):
    labels = gp.partition.problem.canonical(feasible(p, np.random.default_rng(seed)))
    r = finish(p, labels.copy(), Stopping(), "none", gp.Status.FEASIBLE)
    assert r.cost == p._evaluate_labels(labels) == p._evaluate_labels(r.labels)
    assert len(set(r.labels.tolist())) == pieces_of(p, labels)
    assert all(r.labels[a] == r.labels[b] for a, b in p.must_join.tolist())


def test_a_stopped_search_is_not_taken_up_again():
    p = gp.SetPartition.from_pairs(3, [(0, 2), (1, 2)], [1.0, -1.0])
    stopping = Stopping()
    stopping.stop(gp.Status.TARGET)
    labels = settled(p, np.array([0, 0, 1], np.int32), lambda _: pytest.fail("went on"), stopping)
    assert labels.tolist() == [0, 0, 1]

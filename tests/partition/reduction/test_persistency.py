"""Partial optimality: all that is proven holds in an optimal partition, and the smaller problem keeps the optimum."""

import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from strategies import partitions
from trials import trials

import graphpart as gp
from graphpart.partition import brute_force, persistency, reduce
from graphpart.testing import partition_problems, tolerance_of


def check(p):
    r = reduce(p)
    best, small = brute_force(p), brute_force(r.problem)
    labels = r.lift(small)
    assert r.project(labels).tolist() == r.problem.labels(small).tolist()
    p._check_feasible(labels)
    tolerance = tolerance_of(p)
    assert abs(p.evaluate(labels) - best.cost) <= tolerance
    assert abs(small.cost + r.constant - best.cost) <= tolerance
    found = r.persistency
    # One optimal partition agrees with all of it.
    assert (labels[found.joined[:, 0]] == labels[found.joined[:, 1]]).all()
    assert (labels[found.cut[:, 0]] != labels[found.cut[:, 1]]).all()
    assert len(found.joined) == len(found.join_criteria) and len(found.cut) == len(found.cut_criteria)
    assert set(found.join_criteria) <= JOINS and set(found.cut_criteria) <= CUTS
    return found


JOINS = {"edge", "neighbourhood", "pair", "triangle", "subgraph", "cut-set"}
CUTS = {"component", "node", "neighbourhood", "triangle", "cut-set"}


def test_sound_on_many_problems():
    """And each criterion proves something."""
    counts = Counter()
    problems = [p for _, p in partition_problems(seed=9, random=700)] + list(structured(np.random.default_rng(4), 1100))
    for p in problems:
        found = check(p)
        counts.update(("join", why) for why in found.join_criteria)
        counts.update(("cut", why) for why in found.cut_criteria)
    assert set(counts) == {("join", why) for why in JOINS} | {("cut", why) for why in CUTS}


def structured(rng, count):
    """Near-cliques, heavy tails, sparse costs, and whole or real noise on a hidden partition; with requirements."""
    for number in range(count):
        n = int(rng.integers(3, 9))
        u, v = np.triu_indices(n, 1)
        m = len(u)
        hidden = rng.integers(0, rng.integers(1, 4), n)
        sign = np.where((hidden[u] == hidden[v]) ^ (rng.random(m) < 0.2), -1.0, 1.0)
        some = rng.random(m) < 0.35
        cost = (
            sign,
            sign * rng.integers(1, 5, m),
            sign * rng.choice([1, 10, 100], m),
            sign * 0.7 + rng.normal(size=m),
            rng.choice([-1, 1], m) * np.floor(rng.pareto(1, m) + 1),
            some * rng.integers(-4, 5, m) * 1.0,
            some * rng.normal(size=m),
        )[number % 7]
        joins, cuts = [], []
        for a, b in rng.integers(0, n, (3 if number % 3 == 0 else 0, 2)).tolist():
            if a != b:
                (joins if hidden[a] == hidden[b] else cuts).append((a, b))
        kept = cost != 0 if number % 2 else np.ones(m, bool)
        costs = cost[kept]
        yield gp.SetPartition.from_pairs(
            n, (u[kept], v[kept]), costs, must_join=joins, must_cut=cuts, dense=number % 4 < 2
        )


@given(p=partitions(max_n=8, kinds=("integer", "sign", "quarter", "real", "huge", "tiny")))
def test_sound_on_problems_of_all_kinds(p):
    check(p)


def test_cliques_of_unit_costs_are_joined():
    labels = np.array([0, 0, 0, 1, 1, 2])
    u, v = np.triu_indices(6, 1)
    p = gp.SetPartition.from_pairs(6, (u, v), np.where(labels[u] == labels[v], -1.0, 1.0))
    r = reduce(p)
    assert r.problem.n == 3 and r.lift([0, 1, 2]).tolist() == labels.tolist() and r.constant == -4.0
    assert set(r.persistency.join_criteria) == {"neighbourhood"}
    assert set(r.persistency.cut_criteria) == {"component"}


def test_each_criterion():
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (0, 2), (2, 3)], [-5.0, 1.0, -1.0, 2.0])
    assert persistency(p).join_criteria == ("edge",)
    ring = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2), (1, 3)]
    found = persistency(gp.SetPartition.from_pairs(4, ring, [-2.0, -2.0, -2.0, -2.0, 4.0, 1.0]))
    assert (0, 2) in [tuple(pair) for pair in found.cut.tolist()]
    # both ends leave: neither end alone may move, for there is as much against as for it
    pair = [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (2, 4), (3, 5), (2, 3), (4, 5)]
    p = gp.SetPartition.from_pairs(6, pair, [-3.0, -1.0, 4.0, -1.0, 4.0, -9.0, 9.0, 9.0, 9.0])
    assert ("pair", [0, 1]) in zip(persistency(p).join_criteria, persistency(p).joined.tolist(), strict=True)


def test_a_near_clique_is_a_subgraph():
    """Of 12 elements, four have a repulsive pair inside and all with weak attraction to two elements outside."""
    u, v = np.triu_indices(14, 1)
    inside = v < 12
    cost = np.where(inside, -1.0, np.where(u < 12, -0.25, 5.0))
    cost[(v == u + 1) & ((u == 0) | (u == 2))] = 1.0
    found = persistency(gp.SetPartition.from_pairs(14, (u, v), cost))
    assert len(set(found.labels[:12].tolist())) == 1


def test_sets_grown_along_a_path_of_clusters():
    """Two paths of strong pairs, tied by one pair each of which alone is weaker than what is at its ends."""
    path = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]
    two = path + [(a + 4, b + 4) for a, b in path] + [(0, 4), (1, 5)]
    p = gp.SetPartition.from_pairs(8, two, [-5.0, 4.9, -5.0, 4.9, -5.0, 4.9] * 2 + [-2.0, 1.5])
    check(p)


@pytest.mark.parametrize("dense", [False, True])
def test_unit_costs_without_common_neighbours_are_cut(dense):
    """A cycle of 8: opposite elements have distance 4, elements at distance 2 have one common neighbour."""
    u, v = np.triu_indices(8, 1)
    around = np.minimum(v - u, 8 - (v - u))
    p = gp.SetPartition.from_pairs(8, (u, v), np.where(around == 1, -1.0, 1.0), dense=dense)
    found = check(p)
    apart = {tuple(pair) for pair in found.cut.tolist()}
    joined = found.labels[u] == found.labels[v]
    assert {
        (a, b) for a, b, d, j in zip(u.tolist(), v.tolist(), around, joined, strict=True) if d > 1 and not j
    } <= apart


def test_is_the_same_however_the_problem_is_stored():
    rng = np.random.default_rng(2)
    for _ in range(40):
        u, v = np.triu_indices(12, 1)
        cost = rng.integers(-3, 4, len(u)) * 1.0
        sparse, dense = (gp.SetPartition.from_pairs(12, (u, v), cost, dense=dense) for dense in (False, True))
        assert persistency(sparse).labels.tolist() == persistency(dense).labels.tolist()


def test_contraction_leaves_nothing_to_do():
    """At the fixed point of the queue, the criteria for pairs prove nothing about the smaller problem."""
    rng = np.random.default_rng(3)
    for _ in range(trials(60)):
        u, v = np.triu_indices(30, 1)
        some = rng.random(len(u)) < 0.15
        cost = rng.integers(-9, 10, int(some.sum())) * 1.0
        r = reduce(gp.SetPartition.from_pairs(30, (u[some], v[some]), cost))
        again = reduce(r.problem).persistency
        assert not {"edge", "pair", "neighbourhood", "triangle"} & set(again.join_criteria)


def test_large_sparse_problems_take_seconds():
    started = time.process_time()
    r = reduce(gp.generate.sparse_random(20_000, 100_000, seed=1).problem)
    assert r.problem.n < 20_000 and time.process_time() - started < 10


def test_time_limit_of_zero_proves_less():
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-5.0, 1.0])
    assert reduce(p, time_limit=0).problem.n >= reduce(p).problem.n


@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_problems(n):
    assert reduce(gp.SetPartition.from_pairs(n, [], [])).problem.n == n


def test_a_time_limit_is_obeyed_in_every_phase():
    """It ends soon, whatever it is at, and has proven no more than it would have with more time."""
    p = gp.generate.grid(150, 150, seed=2).problem
    started = time.process_time()
    whole = reduce(p)
    seconds = time.process_time() - started
    for share in (0.0, 0.1, 0.3, 0.6, 0.9):
        started = time.process_time()
        part = reduce(p, time_limit=share * seconds)
        assert time.process_time() - started < share * seconds + 0.5
        assert part.problem.n >= whole.problem.n - 50  # another order may prove a little more

"""Brute force against a plain enumeration of all set partitions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from reference import all_partitions
from strategies import partitions
from trials import trials

import graphpart as gp
from graphpart.partition.bounds.trivial_bound import lowered, trivial_bound
from graphpart.partition.problem.derived import connected_subsets


def test_the_enumeration_has_as_many_partitions_as_the_bell_numbers_say():
    assert [sum(1 for _ in all_partitions(n)) for n in range(8)] == [1, 1, 2, 5, 15, 52, 203, 877]


@given(partitions(max_n=7))
@settings(max_examples=trials(300))
def test_finds_the_first_partition_of_least_cost(p):
    r = gp.partition.brute_force(p)
    costs = {labels: p.evaluate(np.array(labels, np.int64)) for labels in all_partitions(p.n)}
    least = min(costs.values())
    assert r.cost == pytest.approx(least, abs=p._tolerance)
    assert r.lower_bound == r.cost and r.status == gp.Status.OPTIMAL and r.gap == 0
    # The costs of `partitions` that differ, differ by far more than rounding, so the order of ties is the exact one.
    first = next(x for x, cost in costs.items() if cost <= least + p._tolerance)
    assert r.labels.tolist() == connected_subsets(p, np.array(first, np.int32)).tolist()


@given(partitions(max_n=7, kinds=("huge", "tiny")))
@settings(max_examples=trials(50))
def test_is_right_for_huge_and_tiny_costs(p):
    r = gp.partition.brute_force(p)
    least = min(p.evaluate(np.array(labels, np.int64)) for labels in all_partitions(p.n))
    assert r.cost == pytest.approx(least, abs=p._tolerance)


@given(partitions(max_n=7))
def test_trivial_bound_is_the_sum_of_negative_costs(p):
    bound = trivial_bound(p)
    assert bound <= gp.partition.brute_force(p).cost + p._tolerance
    if not len(p.must_join):
        assert bound == pytest.approx(sum(c for c in p.pairs()[2].tolist() if c < 0))


@pytest.mark.parametrize("method", ["auto", "exact", "brute-force", "search"])
def test_bounds_of_stopped_runs_hold_in_exact_arithmetic(method):
    for seed in range(trials(60)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 7))
        u, v = (index.tolist() for index in np.triu_indices(n, 1))
        cost = (rng.standard_normal(len(u)) * 10.0 ** rng.integers(-3, 4, len(u))).tolist()
        joins = [(0, 1)] if seed % 5 == 0 else []
        p = gp.SetPartition.from_pairs(n, list(zip(u, v, strict=True)), cost, must_join=joins)
        least = min(
            sum((Fraction(c) for a, b, c in zip(u, v, cost, strict=True) if labels[a] == labels[b]), Fraction(0))
            for labels in all_partitions(n)
            if all(labels[a] == labels[b] for a, b in joins)
        )
        assert Fraction(trivial_bound(p)) <= least
        stopped = [gp.solve(p, method=method, time_limit=0.0), gp.solve(p, method=method, callback=lambda *_: True)]
        for r in stopped:
            if r.status != gp.Status.OPTIMAL and math.isfinite(r.lower_bound):
                assert Fraction(r.lower_bound) <= least, (seed, r.lower_bound)


@pytest.mark.parametrize("dense", [False, True])
def test_bounds_of_many_pairs_are_lowered_by_little(dense):
    p = gp.generate.uniform_integers(30, 9, seed=1).problem
    assert lowered(p, -1.0) == -1.0  # sums of integers are exact
    matrix = p.matrix / 3
    u, v = np.triu_indices(30, 1)
    p = gp.SetPartition.from_matrix(matrix) if dense else gp.SetPartition.from_pairs(30, (u, v), matrix[u, v])
    exact = math.fsum(np.minimum(matrix[u, v], 0.0))
    assert 0 < exact - trivial_bound(p) < 1e-11 * abs(exact)


def test_fourteen_elements_are_the_most():
    n = 14
    labels = np.arange(n) % 3
    C = np.where(labels[:, None] == labels, -1.0, 1.0)
    np.fill_diagonal(C, 0)
    r = gp.partition.brute_force(gp.SetPartition.from_matrix(C))
    assert r.labels.tolist() == labels.tolist()
    with pytest.raises(gp.InvalidProblem, match="15 elements: brute force takes at most 14"):
        gp.partition.brute_force(gp.SetPartition.from_matrix(np.zeros((15, 15))))


def test_required_joins_count_as_one_element():
    p = gp.SetPartition.from_pairs(16, [(0, 15)], [-1.0], must_join=[(1, 2), (3, 4)])
    r = gp.partition.brute_force(p)
    assert r.labels[1] == r.labels[2] and r.labels[3] == r.labels[4] and r.labels[0] == r.labels[15]
    with pytest.raises(gp.InvalidProblem, match="15 elements after required joins"):
        gp.partition.brute_force(gp.SetPartition.from_pairs(16, [(0, 15)], [-1.0], must_join=[(1, 2)]))


def test_all_ties_give_what_the_first_partition_falls_into():
    r = gp.partition.brute_force(gp.SetPartition.from_matrix(np.zeros((14, 14))))
    assert r.labels.tolist() == list(range(14)) and r.cost == 0  # one subset, which no pair holds together


def test_no_time_gives_a_feasible_partition_and_the_trivial_bound():
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-1.0, math.inf, -2.0])
    r = gp.partition.brute_force(p, time_limit=0)
    assert r.status == gp.Status.TIME_LIMIT and r.lower_bound == -3 and math.isfinite(r.cost)


def test_the_callback_stops_it():
    rng = np.random.default_rng(1)
    C = rng.integers(-1, 2, (14, 14)).astype(float)
    r = gp.partition.brute_force(gp.SetPartition.from_matrix(C + C.T), callback=lambda seconds, cost: True)
    assert r.status == gp.Status.INTERRUPTED and r.lower_bound <= r.cost

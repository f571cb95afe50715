"""Partial optimality: all that is proven holds in an optimal partition, and the smaller problem keeps the optimum."""

import numpy as np
import pytest
from hypothesis import given
from strategies import partitions

import graphpart as gp
from graphpart.partition import brute_force, persistency, reduce
from graphpart.testing import partition_problems, tolerance_of


def check(p):
    r = reduce(p)
    best, small = brute_force(p), brute_force(r.problem)
    labels = r.lift(small)
    p.check_feasible(labels)
    tolerance = tolerance_of(p)
    assert abs(p.evaluate(labels) - best.cost) <= tolerance
    assert abs(small.cost + r.constant - best.cost) <= tolerance
    found = r.persistency
    # One optimal partition agrees with all of it.
    assert (labels[found.joined[:, 0]] == labels[found.joined[:, 1]]).all()
    assert (labels[found.cut[:, 0]] != labels[found.cut[:, 1]]).all()
    assert len(found.joined) == len(found.join_criteria) and len(found.cut) == len(found.cut_criteria)
    assert set(found.join_criteria) <= {"edge", "neighbourhood"} and set(found.cut_criteria) <= {"component", "node"}
    return found


def test_sound_on_many_problems():
    joined = cut = 0
    for _case, p in partition_problems(seed=9, random=1500):
        found = check(p)
        joined += len(found.joined)
        cut += len(found.cut)
    assert joined > 1000 and cut > 2000


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
    assert (found.cut.tolist(), found.cut_criteria, len(found.joined)) == ([[0, 2]], ("node",), 0)


def test_time_limit_of_zero_proves_less():
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-5.0, 1.0])
    assert reduce(p, time_limit=0).problem.n >= reduce(p).problem.n


@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_problems(n):
    assert reduce(gp.SetPartition.from_pairs(n, [], [])).problem.n == n

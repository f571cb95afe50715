"""Sizes and numbers of clusters: brute force and the integer program against all partitions, one by one."""

import math

import numpy as np
import pytest
from corrections import random_problem

import graphpart as gp
from graphpart.methods import methods_for


def all_labels(n):
    """All partitions of n elements, as restricted growth strings."""
    rows = [([], 0)]
    for _ in range(n):
        rows = [([*labels, k], max(top, k + 1)) for labels, top in rows for k in range(top + 1)]
    return [np.array(labels, np.int32) for labels, _ in rows]


ALL = {n: all_labels(n) for n in range(8)}


@pytest.mark.parametrize("chunk", range(5))
def test_brute_force(chunk):
    for seed in range(200 * chunk, 200 * chunk + 200):
        problem = random_problem(seed, 7)
        if problem is None:
            continue
        q = problem[1]
        best = min(q.evaluate_labels(labels) for labels in ALL[q.n])
        if best == math.inf:
            with pytest.raises(gp.InfeasibleProblem, match="no partition satisfies what is required"):
                gp.partition.brute_force(q)
            continue
        r = gp.partition.brute_force(q)
        q.check_feasible(r.labels)
        assert r.cost == pytest.approx(best, abs=1e-9), seed


@pytest.mark.parametrize("formulation", ["full", "cutting-plane"])
@pytest.mark.parametrize("chunk", range(2))
def test_integer_program(formulation, chunk):
    for seed in range(30 * chunk, 30 * chunk + 30):
        problem = random_problem(seed, 7)
        if problem is None:
            continue
        q = problem[1]
        try:
            best = gp.partition.brute_force(q).cost
        except gp.InfeasibleProblem:
            with pytest.raises(gp.InfeasibleProblem, match="no partition satisfies what is required"):
                gp.partition.ilp(q, formulation=formulation, solver="highs")
            continue
        r = gp.partition.ilp(q, formulation=formulation, solver="highs")
        q.check_feasible(r.labels)
        assert r.cost == pytest.approx(best, abs=1e-6) and r.status == "optimal", seed


def test_every_method_obeys_or_refuses():
    p = gp.SetPartition.from_pairs(7, [(a, b) for b in range(7) for a in range(b)], [-1.0] * 21)
    for q in (p.require(n_clusters=3), p.require(n_clusters=(2, 4), max_size=4)):
        for method in methods_for("partition"):
            options = {"time_limit": 0.1} if method.anytime else {}
            if method.limits:
                q.check_feasible(gp.solve(q, method.name, **options).labels)
            else:
                with pytest.raises(gp.InvalidProblem, match="cannot limit the sizes or the number of clusters"):
                    gp.solve(q, method.name, **options)

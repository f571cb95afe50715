"""Sizes and numbers of clusters: brute force and the integer program against all partitions, one by one."""

import io
import math

import numpy as np
import pytest
from corrections import random_problem
from trials import trials

import graphpart as gp
from graphpart.methods import methods_for
from graphpart.partition import within_limits
from graphpart.partition.bounds.bounding import Bounding
from graphpart.stopping import Stopping


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
        best = min(q._evaluate_labels(labels) for labels in ALL[q.n])
        if best == math.inf:
            with pytest.raises(gp.InfeasibleProblem, match="no partition satisfies what is required"):
                gp.partition.brute_force(q)
            continue
        r = gp.partition.brute_force(q)
        q._check_feasible(r.labels)
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
        q._check_feasible(r.labels)
        assert r.cost == pytest.approx(best, abs=1e-6) and r.status == "optimal", seed


@pytest.mark.parametrize("seed", range(2))
def test_a_proof_within_limits_does_not_wait_for_its_time_limit(seed):
    """What the integer program proves at once: neither a limit nor the bounds without the limits delay it."""
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(30, 1)
    chosen = rng.random(len(u)) < 0.15
    cost = rng.integers(-5, 6, int(chosen.sum())).astype(float)
    p = gp.SetPartition.from_pairs(30, (u[chosen], v[chosen]), cost, max_size=4)
    best = gp.partition.ilp(p)
    assert best.status == "optimal"
    for r in (gp.partition.exact(p, time_limit=40), gp.solve(p, time_limit=40), gp.solve(p)):
        assert (r.status, r.cost, r.lower_bound) == ("optimal", best.cost, best.cost)
        assert r.seconds < 5


def test_every_method_obeys_or_refuses():
    p = gp.SetPartition.from_pairs(7, [(a, b) for b in range(7) for a in range(b)], [-1.0] * 21)
    for q in (p.require(n_clusters=3), p.require(n_clusters=(2, 4), max_size=4)):
        for method in methods_for("partition"):
            options = {"time_limit": 0.1} if method.anytime else {}
            if not method.refuses & {"max_size", "n_clusters"}:
                q._check_feasible(gp.solve(q, method.name, **options).labels)
            else:
                with pytest.raises(gp.InvalidProblem, match="cannot limit the sizes or the number of clusters"):
                    gp.solve(q, method.name, **options)


def test_integer_program_with_a_huge_price_and_a_largest_number():
    """A price that no better partition pays does not blur what is optimal."""
    p = gp.SetPartition.from_pairs(
        3, [(0, 2), (1, 2)], [2.8, 3.0], missing=2.0, groups=[2, 0, 0], group_cost=1e9, max_size=3, n_clusters=(1, 2)
    )
    r = gp.partition.ilp(p)
    assert (r.cost, str(r.status)) == (gp.partition.brute_force(p).cost, "optimal")
    assert r.lower_bound <= r.cost


def test_who_does_not_obey_limits_says_what_does():
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-1.0, 2.0, -1.0], max_size=2)
    r = gp.solve(p)
    assert gp.partition.extend(p, r).cost == r.cost
    with pytest.raises(gp.InvalidProblem, match="expected one of the formats json, npz, csv"):
        gp.write(p, io.BytesIO(), "metis")
    page = io.BytesIO()
    pytest.importorskip("bokeh")
    gp.report(p, r, page)
    assert "What is doubtful" in page.getvalue().decode()


def test_the_integer_program_without_time_has_a_partition():
    for seed in range(trials(60)):
        problem = random_problem(seed, 7)
        if problem is None:
            continue
        q = problem[1]
        try:
            best = gp.partition.brute_force(q).cost
        except gp.InfeasibleProblem:
            continue
        r = gp.partition.ilp(q, time_limit=0)
        q._check_feasible(r.labels)
        assert r.lower_bound <= best + 1e-9 <= r.cost + 2e-9, seed


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_without_time_the_bound_is_the_sum_of_negative_costs(method):
    p = gp.generate.sparse_random(60, 120, seed=1).problem.require(max_size=3, n_clusters=(10, 30))
    r = gp.solve(p, method, time_limit=0)
    p._check_feasible(r.labels)
    costs = p.pairs()[2]
    assert costs[costs < 0].sum() - 1e-6 <= r.lower_bound <= r.cost


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_one_cluster_is_the_only_partition(method):
    C = np.triu(np.random.default_rng(0).normal(size=(60, 60)), 1)
    r = gp.solve(gp.SetPartition.from_matrix(C + C.T), method, n_clusters=1)
    assert r.status == "optimal" and r.n_clusters == 1 and "only partition" in r.message


def test_limits_do_not_choose_a_slower_bound():
    """Without limits, a matrix of more than 100,000 pairs has no branch and cut, nor has it with them."""
    C = np.triu(np.random.default_rng(0).normal(size=(460, 460)), 1)
    p = gp.SetPartition.from_matrix(C + C.T)
    labels = np.arange(p.n, dtype=np.int32)
    prover = within_limits._prover(p, labels, Stopping(), 0.0, 1, None)
    assert isinstance(prover, Bounding)


def test_a_bound_without_limits_leaves_time_for_the_search():
    """Of a time limit, the packing of cycles takes a share: with all of it, a search of 876 elements had one round."""
    u, v = np.triu_indices(460, 1)
    cost = np.random.default_rng(0).normal(size=len(u))
    p = gp.SetPartition.from_pairs(460, (u[::4], v[::4]), cost[::4], missing=0.05)
    prover = within_limits._prover(p, np.arange(p.n, dtype=np.int32), Stopping(), 0.0, 1, 6.0)
    assert isinstance(prover, Bounding)
    assert prover._packing is not None and prover._packing < 2.0 and prover.needs < 1.0


@pytest.mark.parametrize("k", [3, 4])
def test_a_bound_that_knows_the_number_of_clusters(k, monkeypatch):
    """Without limits, elements that repel each other cost nothing; this bound is near the cost of k clusters."""
    monkeypatch.setattr(within_limits, "LARGEST_PROVEN", 10)  # no integer program
    rng = np.random.default_rng(k)
    pairs = [(a, b) for b in range(24) for a in range(b)]
    p = gp.SetPartition.from_pairs(24, pairs, rng.integers(0, 9, len(pairs)), n_clusters=(1, k))
    r = gp.partition.exact(p)
    assert 0.9 * r.cost < r.lower_bound <= r.cost
    assert r.status == "optimal" or "without limits" not in r.message
    monkeypatch.setattr(within_limits.FewClusters, "fits", lambda q: False)
    r = gp.partition.exact(p, time_limit=0.2)
    assert 0.0 < r.lower_bound <= r.cost  # from sizes alone
    monkeypatch.setattr(within_limits, "size_bound", lambda *_: -math.inf)
    r = gp.partition.exact(p, time_limit=0.2)
    assert r.status == "optimal" or ("without limits" in r.message and "to the bound without limits" in repr(r))


def test_groups_that_are_not_listed_for_the_search_are_for_branch_and_cut():
    rng = np.random.default_rng(0)
    groups, (u, v) = rng.integers(0, 3, 300), rng.integers(0, 300, (2, 700))
    kept = u != v
    costs = rng.normal(size=int(kept.sum()))
    p = gp.SetPartition.from_pairs(300, (u[kept], v[kept]), costs, dense=False, groups=groups, max_size=5)
    r = gp.partition.exact(p, time_limit=60)
    assert r.status == "optimal" and r.seconds < 30

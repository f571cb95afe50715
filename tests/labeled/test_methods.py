"""Methods for labelled partitions: against brute force, and that against a naive enumeration."""

import itertools

import numpy as np
import pytest
from labeled import least_cost, planted, random_problem

import graphpart as gp
from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.labeled import choosing
from graphpart.methods import methods_for

METHODS = [method.name for method in methods_for("labeled")]
SEEDS = range(30)


def problems(seeds, most=5):
    for seed in seeds:
        try:
            yield seed, gp.LabeledPartition.from_arrays(*random_problem(np.random.default_rng(seed), most))
        except InfeasibleProblem:
            continue


def optimum(q):
    try:
        return gp.labeled.brute_force(q).cost
    except InfeasibleProblem:
        return np.inf


def check(q, r, least):
    tolerance = 1e-9
    assert r.cost == q.evaluate(r) or r.cost == np.inf
    assert r.cost >= least - tolerance and r.lower_bound <= least + tolerance
    assert np.array_equal(r.labels, q.labels(r.labels)) and r.classes.dtype == np.int32
    if r.status == gp.Status.OPTIMAL:
        assert r.cost == pytest.approx(least)
    if r.history:
        assert r.history[-1][1] == r.cost


def test_brute_force_is_right():
    for seed in range(12):
        arrays = random_problem(np.random.default_rng(seed), 4)
        try:
            q = gp.LabeledPartition.from_arrays(*arrays)
        except InfeasibleProblem:
            assert least_cost(*arrays) == np.inf
            continue
        assert optimum(q) == pytest.approx(least_cost(*arrays))


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("brute-force", "ilp")])
def test_methods_against_brute_force(method):
    options = {"max_iterations": 50} if method == "search" else {}
    for _, q in problems(SEEDS):
        least = optimum(q)
        try:
            r = gp.solve(q, method, **options)
        except InfeasibleProblem:
            assert least == np.inf
            continue
        check(q, r, least)
        if method == "auto":
            assert r.status == gp.Status.OPTIMAL
        again = gp.solve(q, method, **options)
        assert np.array_equal(again.labels, r.labels) and np.array_equal(again.classes, r.classes)
        assert gp.solve(q, method, initial=(r.labels, r.classes), **options).cost <= r.cost


def test_integer_program_against_brute_force():
    for _, q in problems(range(6)):
        r = gp.labeled.ilp(q)
        check(q, r, optimum(q))
        assert r.status == gp.Status.OPTIMAL


def test_bounds_are_proven():
    tight = 0
    for _, q in problems(SEEDS):
        least = optimum(q)
        if least < np.inf:
            c = gp.labeled.lower_bound(q)
            assert c.bound <= least + 1e-9 and c.verify(q)
            tight += c.bound >= least - 1e-6
            cheaper = gp.LabeledPartition.from_arrays(q.label_costs - 1.0, np.stack([q.u, q.v], 1), q.joined, q.parted)
            assert not c.verify(cheaper)
    assert tight >= 15


def test_auto_beyond_enumeration(monkeypatch):
    monkeypatch.setattr(choosing, "FEW", 0)
    for _, q in itertools.islice(problems(range(100, 112)), 10):
        least = optimum(q)
        if least < np.inf:
            check(q, gp.solve(q), least)


def test_one_class_is_set_partition():
    rng = np.random.default_rng(3)
    pairs = np.stack(np.triu_indices(20, 1), 1)[::3]
    costs = rng.normal(size=len(pairs))
    costs[:3] = np.inf
    q = gp.LabeledPartition.from_arrays(np.ones((20, 1)), pairs, costs)
    r, s = gp.solve(q), gp.solve(gp.SetPartition.from_pairs(20, pairs, costs))
    assert r.cost == pytest.approx(s.cost + 20) and r.status == s.status == gp.Status.OPTIMAL
    assert set(r.info["components"]) == {"set partition"}
    p = gp.SetPartition.from_pairs(20, pairs, costs)
    r, s = gp.solve(q.require(together=[tuple(pairs[5])])), gp.solve(p, together=[tuple(pairs[5])])
    assert r.cost == pytest.approx(s.cost + 20)


def test_no_joins_are_a_factor_graph():
    rng = np.random.default_rng(4)
    pairs = np.stack(np.triu_indices(16, 1), 1)[::4]
    own, tables = rng.normal(size=(16, 3)), rng.normal(size=(len(pairs), 3, 3))
    f = gp.FactorGraph.from_arrays([3] * 16, [(np.arange(16)[:, None], own), (pairs, tables)])
    r, s = gp.solve(gp.LabeledPartition.from_arrays(own, pairs, np.inf, tables)), gp.solve(f)
    assert r.cost == pytest.approx(s.cost) and r.status == s.status == gp.Status.OPTIMAL
    assert r.info["components"] == {"factor graph": 1} and r.n_clusters == 16
    every = gp.solve(gp.LabeledPartition.from_arrays(own, pairs, tables, np.inf))
    assert every.cost == pytest.approx(s.cost) and every.n_clusters == 1


def test_a_planted_grid_is_bounded():
    q, segment, truth = planted(14, 3, seed=1)
    r = gp.solve(q)
    assert r.cost <= q.evaluate(segment, truth) and r.gap < 0.01
    assert r.cost <= gp.solve(q, "alternating").cost
    assert r.cost <= gp.solve(q, "kernighan-lin").cost <= gp.solve(q, "greedy-joining").cost
    for a, b in zip(q.u, q.v, strict=True):
        assert r.labels[a] != r.labels[b] or r.classes[a] == r.classes[b]


def test_no_move_or_join_lowers_the_cost():
    for _, q in problems(range(200, 210)):
        r = gp.solve(q, "kernighan-lin")
        if r.cost == np.inf:
            continue
        for a, c, k in itertools.product(range(q.n), range(q.n + 1), range(q.n_classes)):
            labels, classes = r.labels.copy(), r.classes.copy()
            labels[a], classes[a] = c, k
            assert q.evaluate(labels, classes) >= r.cost - 1e-9
        for c, d in itertools.combinations(range(r.n_clusters), 2):
            labels = np.where(r.labels == d, c, r.labels)
            assert q.evaluate(labels, r.classes) >= r.cost - 1e-9


def test_time_limits_and_targets():
    q, _, _ = planted(12, 3, seed=2)
    for method in METHODS:
        if method != "brute-force":
            r = gp.solve(q, method, time_limit=0)
            assert r.cost == q.evaluate(r) and r.status in (gp.Status.TIME_LIMIT, gp.Status.OPTIMAL)
    r = gp.solve(q, target=0.0)
    assert r.cost <= 0.0 and r.status == gp.Status.TARGET
    seen = []
    r = gp.solve(q, callback=lambda seconds, cost: seen.append(cost))
    assert seen == sorted(seen, reverse=True) and seen[-1] >= r.cost - 1e-9


def test_wrong_calls():
    q, _, _ = planted(12, 3, seed=2)
    with pytest.raises(InvalidProblem, match="144 elements of 3 classes have inf solutions"):
        gp.labeled.brute_force(q)
    with pytest.raises(InvalidProblem, match="got int: expected a LabeledPartition"):
        gp.labeled.auto(7)


def test_components_are_solved_one_by_one():
    q, _, _ = planted(6, 2, seed=5)
    n, pairs = q.n, np.stack([q.u, q.v], 1)
    own = np.concatenate([q.label_costs, q.label_costs, [[1.0, 0.5]]])
    both = gp.LabeledPartition.from_arrays(own, np.concatenate([pairs, pairs + n]), np.concatenate([q.joined] * 2))
    r, s = gp.solve(both), gp.solve(q)
    assert r.cost == pytest.approx(2 * s.cost + 0.5) and sum(r.info["components"].values()) == 3
    assert r.lower_bound == pytest.approx(2 * s.lower_bound + 0.5)


def test_degenerate_problems():
    empty = gp.LabeledPartition.from_arrays(np.zeros((0, 2)), [], [])
    one = gp.LabeledPartition.from_arrays([[2.0, 1.0]], [], [])
    for method in METHODS:
        options = {"max_iterations": 3} if method == "search" else {}
        assert gp.solve(empty, method, **options).cost == 0.0
        r = gp.solve(one, method, **options)
        assert r.cost == 1.0 and r.classes.tolist() == [1]

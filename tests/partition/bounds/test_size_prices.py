"""Prices of sizes: below all partitions within the limits for any prices, in exact arithmetic, and far above the bound
from sizes alone."""

import math
from fractions import Fraction

import numpy as np
import pytest
from grouped import grouped_problem, seeds
from reference import all_partitions

import graphpart as gp
from graphpart.partition import within_limits
from graphpart.partition.bounds.size_bound import size_bound
from graphpart.partition.bounds.size_prices import with_prices, with_size_prices
from graphpart.partition.pieces.contraction import Contraction
from graphpart.stopping import Stopping


def limited_problem(seed):
    """A small problem with a largest size, and sizes of its elements if some had to be together; None if it has none.

    Every fifth has clusters that are all full, whose prices may be negative.
    """
    rng = np.random.default_rng(seed)
    if seed % 5 == 0:
        n, size = [(4, 2), (6, 2), (6, 3), (8, 4)][int(rng.integers(4))]
        costs = rng.normal(size=n * (n - 1) // 2) * rng.choice([1.0, 1e-200, 1e200]) + rng.integers(0, 3)
        return gp.SetPartition.from_pairs(n, np.triu_indices(n, 1), costs, max_size=size, n_clusters=n // size)
    p = grouped_problem(seed, limits=True)
    if p is None or p._limits is None or p._limits.max_size is None:
        return None
    return Contraction(p).problem


def cost_in(problem, labels):
    """The cost of labels in exact arithmetic; None if it is infinite or has other terms than listed pairs."""
    total = Fraction(0)
    for a, b, cost in zip(*(each.tolist() for each in problem.pairs()), strict=True):
        if labels[a] == labels[b]:
            if math.isinf(cost):
                return None
            total += Fraction(cost)
    return total


def partitions_within(p):
    for labels in all_partitions(p.n):
        found = np.array(labels, np.int32)
        if math.isfinite(p._evaluate_labels(found)):
            yield found


def test_no_partition_within_the_limits_costs_less_than_with_any_prices():
    exact = tried = 0
    for seed in seeds(300):
        p = limited_problem(seed)
        if p is None or p.n < 2 or p.n > 7 or p.lifted is not None:
            continue
        rng, costs = np.random.default_rng(seed), p._listed()[2]
        scale = float(np.abs(costs[np.isfinite(costs)]).max(initial=1e-3))
        prices = rng.exponential(scale, p.n) * (rng.random(p.n) < 0.7)
        if p._limits.is_full(p.n) and p.background is None and p.m == p.n * (p.n - 1) // 2:
            prices *= rng.choice([-1.0, 1.0], p.n)
        priced = with_prices(p, prices)
        for labels in partitions_within(p):
            tried += 1
            if p.background is None:
                assert cost_in(priced.problem, labels) - Fraction(priced.less) <= cost_in(p, labels), (seed, labels)
                exact += 1
            else:
                paid = priced.problem._evaluate_labels(labels) - priced.less
                assert paid <= p._evaluate_labels(labels) + 1e-12 * scale, (seed, labels)
    assert tried > 2 * len(seeds(300)) and exact > 0.1 * tried


def test_the_bound_is_below_all_partitions():
    tried = priced = 0
    for seed in seeds(600):
        p = limited_problem(seed)
        if p is None or p.n > 8:
            continue
        least = min((p._evaluate_labels(labels) for labels in partitions_within(p)), default=math.inf)
        found = with_size_prices(p, Stopping())
        assert found.bound <= least, seed
        tried, priced = tried + 1, priced + (found.less != 0)
    assert tried > 0.2 * len(seeds(600)) and priced > 0.02 * tried


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_methods_with_prices_in_place_of_the_integer_program(method, monkeypatch):
    monkeypatch.setattr(within_limits, "LARGEST_PROVEN", 1)
    monkeypatch.setattr(within_limits, "ENUMERATED_ELEMENTS", 1)
    optimal = tried = 0
    for seed in seeds(60):
        p = limited_problem(seed)
        if p is None or p.n > 8 or p._sizes is not None:
            continue
        least = min((p._evaluate_labels(labels) for labels in partitions_within(p)), default=math.inf)
        if least == math.inf:
            continue
        r = gp.solve(p, method, time_limit=0.3)
        assert r.lower_bound <= least + p._tolerance * p.n and least <= r.cost + p._tolerance * p.n, seed
        assert r.status != "optimal" or r.cost <= least + p._tolerance * p.n, seed
        tried, optimal = tried + 1, optimal + (r.status == "optimal")
    assert tried > 0.1 * len(seeds(60)) and optimal > 0.3 * tried


def test_twice_as_near_as_sizes_alone_where_groups_are_larger_than_clusters_may_be():
    rng = np.random.default_rng(0)
    n, group = 120, np.arange(120) % 6
    u, v = np.triu_indices(n, 1)
    costs = np.where(group[u] == group[v], -1.0, 0.5) + 0.5 * rng.normal(size=len(u))
    p = gp.SetPartition.from_pairs(n, (u, v), costs, max_size=10)
    r = gp.partition.search(p, max_iterations=5)
    gaps = [r.cost - bound for bound in (size_bound(p), with_size_prices(p, Stopping()).bound)]
    assert 0.0 <= gaps[1] < 0.5 * gaps[0]
    assert gp.solve(p, time_limit=3).lower_bound > r.cost - gaps[1] - 1e-9


def test_no_prices_where_there_is_no_time_and_where_sizes_do_not_matter():
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(120, 1)
    p = gp.SetPartition.from_pairs(120, (u, v), rng.normal(-1, 1, size=len(u)), max_size=20)
    assert with_size_prices(p, Stopping(time_limit=1e-4)).less == 0.0 < with_size_prices(p, Stopping()).less
    p = gp.SetPartition.from_pairs(120, (u, v), np.where(u % 12 == v % 12, -1.0, 1.0), max_size=100)
    assert with_size_prices(p, Stopping()).less == 0.0
    r = gp.solve(p, time_limit=10)
    assert r.status == "optimal" and "prices" not in r.message

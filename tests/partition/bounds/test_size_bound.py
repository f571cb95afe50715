"""The bound from sizes: below all partitions, and as high as a plain computation of it at any price."""

import math

import numpy as np
import pytest
from corrections import random_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import all_partitions
from trials import trials

import graphpart as gp
from graphpart.partition.bounds.size_bound import size_bound
from graphpart.partition.problem.forms import as_pairs

SCALES = st.sampled_from([1.0, 0.1, 1e-300, 1e300])


@st.composite
def limited(draw):
    """A problem with limits, and its matrix of costs: ties, pairs that are not listed, pairs that must be cut."""
    n = draw(st.integers(2, 7))
    kinds = st.one_of(st.integers(-3, 3), st.just(0), st.just(math.inf), st.floats(-2, 2).map(lambda x: round(x, 3)))
    pairs = [(a, b) for b in range(n) for a in range(b)]
    scale = draw(SCALES)
    C = np.zeros((n, n))
    for a, b in pairs:
        C[a, b] = C[b, a] = draw(kinds) * scale
    most = draw(st.integers(1, n))
    number = draw(st.sampled_from([None, (1, most), (most, n), (draw(st.integers(1, most)), most), most]))
    largest = draw(st.one_of(st.none(), st.integers(1, n)))
    usual = draw(st.sampled_from([0.0, 0.0, 0.5, -0.25])) * scale
    for a, b in pairs:
        if draw(st.integers(0, 2)) == 0:
            C[a, b] = C[b, a] = usual
    listed = [pair for pair in pairs if C[pair] != usual or draw(st.booleans())]
    try:
        p = gp.SetPartition.from_pairs(
            n, listed, [C[pair] for pair in listed], missing=usual, n_clusters=number, max_size=largest
        )
    except gp.GraphPartError:
        return None
    return p, C


def least_cost(p):
    """The least cost of all partitions that satisfy what the problem requires; inf if there are none."""
    return min(p._evaluate_labels(np.array(labels, np.int32)) for labels in all_partitions(p.n))


def at_price(p, C, price):
    """The bound at one price, from its definition."""
    n, limits = p.n, p._limits
    total = []
    for a in range(n):
        others = sorted(C[a, b] / 2 for b in range(n) if b != a)
        sizes = range(1, min(n, limits.max_size or n) + 1)
        total.append(min(math.fsum(others[: s - 1]) + price / s for s in sizes))
    return math.fsum(total) - price * ((limits.most or n) if price > 0 else limits.least)


@pytest.mark.filterwarnings("ignore:.* costs are infinite")
@settings(max_examples=trials(2000), deadline=None)
@given(limited(), st.floats(-4, 4))
def test_below_all_partitions_and_above_each_price(made, price):
    if made is None or made[0]._limits is None:
        return
    p, C = made
    best, size = least_cost(p), float(np.abs(C[np.isfinite(C)]).sum())
    bound = size_bound(p)
    assert bound <= best
    if best < math.inf:
        scaled = price * float(np.abs(C[np.isfinite(C)]).max(initial=0.0))
        assert bound >= at_price(p, C, scaled) - 1e-6 * (size + p.n * abs(scaled))


@pytest.mark.parametrize("chunk", range(4))
def test_with_all_requirements(chunk):
    for seed in range(100 * chunk, 100 * chunk + 100):
        problem = random_problem(seed, 7)
        if problem is not None and problem[1]._limits is not None:
            q = as_pairs(problem[1])
            assert size_bound(q) <= least_cost(q), seed


def test_auto_says_it():
    """Points in two groups of 30, at most ten in a cluster: without limits, the bound is three times as far."""
    rng = np.random.default_rng(0)
    t = np.arange(60) % 2
    u, v = np.triu_indices(60, 1)
    cost = np.where(t[u] == t[v], -3.0, 3.0) + rng.normal(size=len(u))
    p = gp.SetPartition.from_pairs(60, (u, v), cost, max_size=10)
    r = gp.solve(p, time_limit=0.3)
    assert size_bound(p) <= r.lower_bound <= r.cost
    assert size_bound(p, 1e-5) == -math.inf  # there is no time for it
    assert "without limits" not in r.message
    assert r.gap < 0.6

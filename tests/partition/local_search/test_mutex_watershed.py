"""The mutex watershed beside a naive one, and what it promises."""

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.partition.problem import canonical


def naive(n, pairs, costs):
    """Sets of elements and of excluded pairs of sets, pair by pair."""
    label = list(range(n))
    excluded = set()
    for k in sorted(range(len(pairs)), key=lambda k: (-abs(costs[k]), k)):
        a, b = label[pairs[k][0]], label[pairs[k][1]]
        if a == b or frozenset((a, b)) in excluded or costs[k] == 0:
            continue
        if costs[k] > 0:
            excluded.add(frozenset((a, b)))
        else:
            label = [a if x == b else x for x in label]
            excluded = {frozenset(a if x == b else x for x in pair) for pair in excluded}
    return canonical(np.array(label))


@pytest.mark.parametrize("seed", range(trials(60)))
def test_against_the_naive_one(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < rng.choice([0.1, 0.3, 1.0])
    pairs = np.stack([u[kept], v[kept]], axis=1)
    costs = rng.normal(size=len(pairs)) if seed % 2 else rng.integers(-3, 4, len(pairs)).astype(float)
    if seed % 5 == 0:
        costs = costs * 2.0 ** rng.integers(-40, 40, len(pairs))
    p = gp.SetPartition.from_pairs(n, pairs, costs, dense=False)
    r = gp.partition.mutex_watershed(p)
    assert np.array_equal(r.labels, naive(n, pairs.tolist(), costs.tolist()))
    assert r.status == "feasible" and r.cost == p.evaluate(r.labels)


def test_requirements():
    p = gp.SetPartition.from_pairs(
        4, [(0, 1), (1, 2), (2, 3)], [-5.0, -4.0, -3.0], must_join=[(0, 3)], must_cut=[(1, 2)]
    )
    assert gp.solve(p, "mutex-watershed").partition == [{0, 1, 3}, {2}]
    assert gp.solve(p, "mws").method == "mutex-watershed"


def test_any_increasing_function_of_the_sizes_gives_the_same():
    rng = np.random.default_rng(1)
    pairs = np.stack(np.triu_indices(40, 1), axis=1)
    costs = rng.normal(size=len(pairs))
    results = [
        gp.partition.mutex_watershed(gp.SetPartition.from_pairs(40, pairs, f(np.abs(costs)) * np.sign(costs))).labels
        for f in (np.abs, np.sqrt, lambda x: x**3)
    ]
    assert all(np.array_equal(results[0], other) for other in results)


def test_a_matrix_that_takes_longer_than_the_limit_is_not_made():
    p = gp.SetPartition.from_pairs(20_000, [(0, 1), (2, 3)], [-2.0, -1.0], missing=1.0, must_join=[(4, 5)])
    r = gp.partition.mutex_watershed(p, time_limit=1e-3)
    assert r.status == "time_limit" and r.n_clusters == 19_999 and r.labels[4] == r.labels[5]

"""One problem said in several ways: the same cost, and the same status."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphpart as gp


def of_groups(n, group, u, v, costs, way):
    """Elements of which no two of one group may be together, said in a way."""
    apart = group[u] != group[v]
    pairs, costs = np.stack([u, v], 1), np.asarray(costs, float)
    if way in ("groups", "groups in a matrix"):
        return gp.SetPartition.from_pairs(n, pairs[apart], costs[apart], groups=group, dense=way != "groups")
    a, b = np.triu_indices(n, 1)
    same = group[a] == group[b]
    cuts = np.stack([a[same], b[same]], 1)
    if way == "cuts":
        return gp.SetPartition.from_pairs(n, pairs[apart], costs[apart], must_cut=cuts, dense=False)
    matrix = np.zeros((n, n))
    matrix[u[apart], v[apart]] = matrix[v[apart], u[apart]] = costs[apart]
    matrix[a[same], b[same]] = matrix[b[same], a[same]] = np.inf
    return gp.SetPartition.from_matrix(matrix, dense=True)


@pytest.mark.filterwarnings("ignore:.*costs are infinite")
@settings(max_examples=60)
@given(st.integers(1, 9), st.integers(1, 4), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 0.1, 0.3333]))
def test_groups_cuts_and_matrices_are_one_problem(n, groups, seed, unit):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, n)
    u, v = np.triu_indices(n, 1)
    some = rng.random(len(u)) < rng.uniform(0.3, 1.0)
    u, v = u[some], v[some]
    costs = rng.integers(-9, 6, len(u)) * unit
    best = gp.partition.brute_force(of_groups(n, group, u, v, costs, "matrix")).cost
    for way in ("groups", "groups in a matrix", "cuts", "matrix"):
        p = of_groups(n, group, u, v, costs, way)
        for method in ("auto", "exact"):
            r = gp.solve(p, method)
            assert r.cost == pytest.approx(best, abs=1e-9) and str(r.status) == "optimal", (way, method)
            assert p.evaluate(r.labels) == r.cost


@pytest.mark.filterwarnings("ignore:.*costs are infinite")
@pytest.mark.parametrize("groups", [2, 3])
def test_larger_groups_are_proven_in_every_way(groups):
    size = 120 if groups == 2 else 10  # two groups are a matching of any size
    rng = np.random.default_rng(3)
    n, group = groups * size, np.repeat(np.arange(groups), size)
    u, v = np.triu_indices(n, 1)
    costs = rng.normal(0.3, 1.0, len(u))
    found = {
        (way, method): gp.solve(of_groups(n, group, u, v, costs, way), method)
        for way in ("groups", "groups in a matrix", "cuts", "matrix")
        for method in ("auto", "exact")
    }
    assert {str(r.status) for r in found.values()} == {"optimal"}
    costs = [r.cost for r in found.values()]
    assert max(costs) - min(costs) < 1e-9
    if groups == 2:
        assert all("matching" in r.message for (_, method), r in found.items() if method == "auto")

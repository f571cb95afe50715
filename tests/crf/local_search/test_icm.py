"""Iterated conditional modes: the trajectory of a naive reference, local optima, forbidden labelings, restarts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_crf import all_energies, is_local_optimum, naive_icm
from strategies_crf import factor_graphs, random_factor_graph
from trials import trials

import graphpart as gp
from graphpart.crf import icm


def labels_after(f, start, k):
    return tuple(icm(f, start, max_iterations=k).labels.tolist())


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("block", range(4))
def test_the_trajectory_is_that_of_the_reference(block, whole):
    """Whole entries make ties exact, so also the order among ties is compared."""
    rng = np.random.default_rng(block)
    for _ in range(trials(150)):
        f = random_factor_graph(rng, whole=whole, forbidden=0.2 * (block == 3))
        energies = all_energies(f)
        start = np.array([rng.integers(0, d) for d in f.domains], np.int32)
        if energies[tuple(start)] == np.inf:
            continue
        path = naive_icm(f, start)
        for k in {1, len(path) // 2, len(path) - 1}:
            if 0 < k < len(path):
                assert labels_after(f, start, k) == path[k]
        r = icm(f, start)
        assert tuple(r.labels.tolist()) == path[-1]
        assert r.iterations == len(path) - 1
        assert r.status == (gp.Status.OPTIMAL if r.lower_bound >= r.cost else gp.Status.LOCAL_OPTIMUM)


@given(factor_graphs(), st.sampled_from(["best", "sweep"]), st.integers(0, 2))
@settings(max_examples=trials(200))
def test_ends_in_a_local_optimum_that_is_not_worse(f, order, restarts):
    energies = all_energies(f)
    try:
        r = icm(f, order=order, restarts=restarts, seed=3)
    except gp.InfeasibleProblem:
        assert energies.min() == np.inf
        return
    assert r.cost == f.evaluate(r.labels)
    assert r.cost == pytest.approx(energies[tuple(r.labels)], abs=1e-9)
    assert r.cost <= energies[(0,) * f.n] + 1e-12 or restarts
    assert r.lower_bound <= energies.min() + 1e-12
    if r.cost < np.inf:
        assert is_local_optimum(f, r.labels)
    assert not np.isnan(r.cost)


def test_leaves_forbidden_labelings_although_no_single_change_makes_the_energy_finite():
    f = gp.FactorGraph.from_arrays([2] * 4, [(np.arange(4)[:, None], [[np.inf, 1.0]] * 4)])
    for order in ("best", "sweep"):
        r = icm(f, order=order)
        assert r.labels.tolist() == [1] * 4 and r.cost == 4.0 and r.iterations == 4


def test_a_forbidden_end_is_told():
    differ = [[np.inf, 0.0], [0.0, np.inf]]
    f = gp.FactorGraph.from_arrays([2] * 3, [([[0, 1], [1, 2], [0, 2]], [differ] * 3)])
    r = icm(f)
    assert r.cost == np.inf and "no allowed labeling was found: factor" in r.message and r.status == "not_found"


def test_better_by_less_than_the_sum_of_huge_entries_can_resolve_elsewhere():
    """What counts as zero is judged variable by variable, not by the largest entry of all."""
    f = gp.FactorGraph.from_arrays([2, 2], [([[0], [1]], [[1e12, 0.0], [1e-6, 0.0]])])
    assert icm(f).labels.tolist() == [1, 1]


def test_restarts_are_seeded_and_keep_the_best():
    rng = np.random.default_rng(0)
    f = random_factor_graph(rng, n=6, max_arity=3)
    first, second = (icm(f, restarts=10, seed=7) for _ in range(2))
    assert first.labels.tolist() == second.labels.tolist()
    assert first.cost <= icm(f).cost
    assert icm(f, restarts=60, seed=1).cost == pytest.approx(all_energies(f).min())


def test_limits():
    f = gp.FactorGraph.from_arrays([2] * 9, [(np.arange(9)[:, None], [[1.0, 0.0]] * 9)])
    assert icm(f, max_iterations=3).status == gp.Status.ITERATION_LIMIT
    assert icm(f, max_iterations=3).cost == 6.0
    assert icm(f, max_iterations=0).labels.tolist() == [0] * 9
    assert icm(f, target=4.5).cost == 4.0
    assert icm(f, time_limit=0).status == gp.Status.TIME_LIMIT
    assert icm(f, callback=lambda seconds, cost: True).status == gp.Status.INTERRUPTED
    for order in ("best", "sweep"):
        assert icm(f, [1] * 9, order=order).iterations == 0


def test_wrong_options():
    f = gp.FactorGraph.from_arrays([2], [([[0]], [[0.0, 1.0]])])
    with pytest.raises(gp.InvalidOption, match="order is 'worst': expected one of best, sweep"):
        icm(f, order="worst")
    with pytest.raises(gp.InvalidOption, match="restarts is -1"):
        icm(f, restarts=-1)
    with pytest.raises(gp.InvalidPartition, match="variable 0 has the label 2: expected 0 to 1"):
        icm(f, [2])


def test_a_grid_against_steepest_descent_in_numpy():
    """The binary grid of the benchmark, small: fields are updated in NumPy, the best flip is taken by argmin."""
    rng = np.random.default_rng(4)
    size = 12
    index = np.arange(size * size).reshape(size, size)
    pairs = np.concatenate(
        [
            np.stack([index[:, :-1].ravel(), index[:, 1:].ravel()], 1),
            np.stack([index[:-1].ravel(), index[1:].ravel()], 1),
        ]
    )
    unary, tables = rng.standard_normal((size * size, 2)), rng.standard_normal((len(pairs), 2, 2))
    f = gp.FactorGraph.from_arrays(np.full(size * size, 2), [(np.arange(size * size)[:, None], unary), (pairs, tables)])
    labels = np.zeros(size * size, np.int32)
    steps = 0
    while True:
        delta = np.where(labels == 0, 1, -1) * (unary[:, 1] - unary[:, 0])
        a, b = labels[pairs[:, 0]], labels[pairs[:, 1]]
        k = np.arange(len(pairs))
        np.add.at(delta, pairs[:, 0], tables[k, 1 - a, b] - tables[k, a, b])
        np.add.at(delta, pairs[:, 1], tables[k, a, 1 - b] - tables[k, a, b])
        if delta.min() >= 0:
            break
        labels[delta.argmin()] ^= 1
        steps += 1
    r = icm(f)
    np.testing.assert_array_equal(r.labels, labels)
    assert r.iterations == steps

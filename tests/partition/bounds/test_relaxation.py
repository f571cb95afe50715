"""The relaxation: never behind message passing, as good as the simplex method, and close where it ought to be."""

import numpy as np
import pytest
from scipy.optimize import linprog
from trials import trials

import graphpart as gp
from graphpart.generate import cluster_editing, planted_partition, sparse_random
from graphpart.partition.bounds import _kernels
from graphpart.partition.bounds.relaxation import Relaxation, rounds_of
from graphpart.stopping import Stopping


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", ["planted", "editing", "sparse"])
def test_it_is_never_behind_message_passing(family, seed):
    p = {
        "planted": lambda: planted_partition(36, 4, 2, seed=seed).problem,
        "editing": lambda: cluster_editing(30, 0.4, seed=seed).problem,
        "sparse": lambda: sparse_random(100, 250, seed=seed).problem,
    }[family]()
    passed, lp = (gp.partition.lower_bound(p, method) for method in ("message-passing", "lp"))
    assert lp.bound >= passed.bound - p.n * p._tolerance
    lp.check(p, exact=True)


def test_heavy_noise_where_triangles_prove_half_the_negative_costs():
    """60 elements, noise 2: the bound of all inequalities found at the root is within 1% of the optimum."""
    p = planted_partition(60, 6, 2, seed=0).problem
    optimum = -303.6865110526018  # as branch and cut proves, and as the bound below confirms from one side
    negative = float(np.minimum(p.pairs()[2], 0).sum())
    lp = gp.partition.lower_bound(p, "lp")
    assert negative / 2 < -500 and optimum * 1.01 <= lp.bound <= optimum + 1e-6
    kinds = np.bincount(lp.inequalities.splits, lp.multipliers > 0)
    assert kinds[2:].sum() > 100  # 2-partitions with several elements on both sides prove it


def test_the_bound_is_that_of_its_linear_program():
    """Iterated on fixed inequalities, the bound comes to the optimum of the linear program over them."""
    p = planted_partition(20, 3, 2, seed=1).problem
    r = Relaxation(p, Stopping())
    for _ in range(5):
        r.round()
        r.separate()
    for _ in range(60):
        r.round(200)
    rows = r.rows
    matrix = np.zeros((len(rows), rows.m))
    matrix[np.repeat(np.arange(len(rows)), rows.lengths), rows.pairs] = rows.signs()
    reference = linprog(r.cost, matrix, rows.rhs, bounds=(0, 1)).fun
    assert r.bound <= reference + 1e-9
    assert r.bound == pytest.approx(reference, rel=1e-4)


def test_variables_in_no_inequality_stay_where_their_cost_is_least():
    p = gp.SetPartition.from_matrix(np.array([[0, -2, 9, 9], [-2, 0, -3, 9], [9, -3, 0, 9], [9, 9, 9, 0.0]]))
    r = Relaxation(p, Stopping())
    for _ in range(30):
        r.round()
        r.separate()
    used = r.rows.counts > 0
    assert not used.all() and (r.y[~used] == (r.cost[~used] < 0)).all()
    assert r.bound == pytest.approx(-3.0, abs=1e-3)


def reflected(matrix, rhs, cost, lower, upper, pair_steps, row_steps, y, multipliers, iterations):
    """The iteration as the docstring of `relaxation` states it, with matrices."""
    first = y, multipliers
    for k in range(iterations):
        y_next = np.clip(y - pair_steps * (cost + matrix.T @ multipliers), lower, upper)
        multipliers_next = np.maximum(multipliers + row_steps * (matrix @ (2 * y_next - y) - rhs), 0)
        if k == iterations - 1:
            return y_next, multipliers_next
        w = (k + 1) / (k + 2)
        y = w * (2 * y_next - y) + (1 - w) * first[0]
        multipliers = w * (2 * multipliers_next - multipliers) + (1 - w) * first[1]
    return y, multipliers


@pytest.mark.parametrize("seed", range(trials(20)))
def test_iterations_are_those_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    m, k, iterations = 12, 15, int(rng.integers(1, 40))
    signs = rng.choice([-1.0, 0.0, 1.0], (k, m), p=[0.2, 0.5, 0.3])
    signs[:, 0] = 1.0  # no row is empty
    rows = [(np.flatnonzero(row > 0), np.flatnonzero(row < 0)) for row in signs]
    pairs = np.concatenate([np.concatenate(row) for row in rows]).astype(np.int32)
    starts = np.cumsum([0] + [len(plus) + len(minus) for plus, minus in rows])
    middles = starts[:-1] + [len(plus) for plus, _ in rows]
    cost, rhs = rng.normal(size=m), rng.normal(1.0, 1.0, k)
    lower, upper = np.zeros(m), np.where(rng.random(m) < 0.2, 0.3, 1.0)
    pair_steps, row_steps = 1 / np.maximum(np.abs(signs).sum(axis=0), 1), 1 / np.abs(signs).sum(axis=1)
    y, multipliers = rng.random(m) * upper, np.where(rng.random(k) < 0.9, rng.random(k), 0.0) + 1e-9  # no row rests
    expected = reflected(signs, rhs, cost, lower, upper, pair_steps, row_steps, y, multipliers, iterations)
    program = _kernels.Program(starts, middles, pairs, rhs, lower, upper)
    done = program.reflect(1.0, y, multipliers, cost + signs.T @ multipliers, iterations, Stopping())
    assert done == iterations
    np.testing.assert_allclose(y, expected[0], atol=1e-9)
    np.testing.assert_allclose(multipliers, expected[1], atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_fixed_variables_change_nothing_but_the_right_hand_sides(seed):
    """The bound with some variables fixed comes to the optimum of the linear program in which they are."""
    p = planted_partition(14, 3, 1.5, seed=seed).problem
    r = Relaxation(p, Stopping())
    for _ in range(4):
        r.round()
        r.separate()
    labels = gp.partition.kernighan_lin(p).labels
    fixed = np.random.default_rng(seed).random(len(r.cost)) < 0.6
    r.lower[fixed] = r.upper[fixed] = (labels[r.u] == labels[r.v])[fixed]
    r.bound = -np.inf
    for _ in range(80):
        r.round(200)
    assert (r.y[fixed] == r.lower[fixed]).all()
    rows = r.rows
    matrix = np.zeros((len(rows), rows.m))
    matrix[np.repeat(np.arange(len(rows)), rows.lengths), rows.pairs] = rows.signs()
    reference = linprog(r.cost, matrix, rows.rhs, bounds=np.stack([r.lower, r.upper], 1)).fun
    assert r.bound <= reference + 1e-9
    assert r.bound == pytest.approx(reference, rel=1e-3)


def test_the_bound_grows_without_end_where_all_that_is_fixed_violates_an_inequality():
    p = gp.SetPartition.from_matrix(np.array([[0, -2, 3], [-2, 0, -2], [3, -2, 0.0]]))
    r = Relaxation(p, Stopping())
    for _ in range(3):
        r.round()
        r.separate()
    r.lower[:] = r.upper[:] = [1.0, 0.0, 1.0]  # joined, cut, joined: no partition
    before = []
    for _ in range(5):
        r.round()
        before.append(r.bound)
    assert (np.diff(before) > 0).all() and before[-1] > 10


def test_large_two_partitions_are_sought_before_the_relaxation_ends():
    """The point costs what is proven after a few rounds, when only small 2-partitions have been sought."""
    cost = np.full((14, 14), 3.0)
    cost[0] = cost[:, 0] = [0.0] + 7 * [-1.0] + 6 * [1.0]
    np.fill_diagonal(cost, 0.0)
    relaxation = Relaxation(gp.SetPartition.from_matrix(cost), Stopping())
    for _ in rounds_of(relaxation, Stopping()):
        pass
    assert relaxation.bound >= -1.000001

"""The relaxation: never behind message passing, as good as the simplex method, and close where it ought to be."""

import numpy as np
import pytest
from scipy.optimize import linprog

import graphpart as gp
from graphpart.generate import cluster_editing, planted_partition, sparse_random
from graphpart.partition.bounds.relaxation import Relaxation
from graphpart.stopping import Stopping


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", ["planted", "editing", "sparse"])
def test_it_is_never_behind_message_passing(family, seed):
    p = {
        "planted": lambda: planted_partition(50, 5, 2, seed=seed).problem,
        "editing": lambda: cluster_editing(40, 0.4, seed=seed).problem,
        "sparse": lambda: sparse_random(120, 300, seed=seed).problem,
    }[family]()
    passed, lp = (gp.partition.lower_bound(p, method, time_limit=5) for method in ("message-passing", "lp"))
    assert lp.bound >= passed.bound - p.n * p.tolerance
    lp.check(p, exact=True)


def test_heavy_noise_where_triangles_prove_half_the_negative_costs():
    """60 elements, noise 2: the bound of all inequalities found at the root is within 1% of the optimum."""
    p = planted_partition(60, 6, 2, seed=0).problem
    optimum = -303.6865110526018  # as branch and cut proves, and as the bound below confirms from one side
    negative = float(np.minimum(p.pairs()[2], 0).sum())
    lp = gp.partition.lower_bound(p, "lp", time_limit=30)
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

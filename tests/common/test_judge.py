"""The judge of proofs: when a bound meets a cost, for partitions and for labelings, of any form."""

import math

import numpy as np
import pytest

import graphpart as gp
from graphpart.common.judge import Judge, judge_of
from graphpart.common.race import Race
from graphpart.crf.certificates.judging import is_far, judge_of_labels
from graphpart.partition.certificates.judging import judge_of_partition
from graphpart.stopping import Stopping


def test_without_a_step_only_rounding_is_no_gap():
    judge = judge_of(0.0, 0.0, 1e-6)
    assert judge.meets(-1.0, -1.0) and judge.meets(-1.0000005, -1.0) and not judge.meets(-1.000002, -1.0)
    assert not judge.meets(-1.0, math.inf) and not judge.meets(-math.inf, -1.0)
    assert judge.meets(judge.cautious(-1.0), -1.0) and not judge.meets(judge.cautious(-1.0000005), -1.0)


def test_a_bound_less_than_a_step_below_meets_the_cost():
    exact, decimal = judge_of(1.0, 0.0, 1e-6), judge_of(0.1, 1e-9, 1e-6)
    assert exact.meets(-3.99, -3.0) and not exact.meets(-4.0, -3.0)
    assert decimal.meets(-3.09, -3.0) and not decimal.meets(-3.1, -3.0)
    assert exact.rounded(-3.4) == -3.0 and decimal.rounded(-3.4) == -3.4
    assert not judge_of(0.1, 1e-3, 1e-6).step  # a solution that is better by an error would not be seen


def test_a_step_counts_where_costs_are_so_large_that_a_fraction_of_it_is_lost():
    judge, cost = Judge(step=1.0), -200_000_000_017.0
    assert cost - judge.resolution == cost - 1  # rounded
    assert not judge.meets(cost - 1, cost) and judge.meets(cost - 0.5, cost)
    assert cost - 1 < judge.goal(cost) < cost - 0.5


def test_a_large_tolerance_hides_no_step():
    assert not Judge(tolerance=5.0, step=1.0).meets(-4.0, -3.0)


def test_an_attraction_that_decides_nothing_hides_no_gap():
    rng = np.random.default_rng(0)
    pairs = [(0, 1), *((a, b) for a in range(1, 8) for b in range(a + 1, 8))]
    costs = np.concatenate([[-1e12], rng.normal(size=len(pairs) - 1)])
    p = gp.SetPartition.from_pairs(8, pairs, costs)
    assert judge_of_partition(p).tolerance < 0.1


@pytest.mark.parametrize("form", ["matrix", "pairs"])
def test_pairs_without_neighbours_are_proven(form):
    """Each cost decides nothing, and bounds are rounded: the tolerance is not 0."""
    pairs, costs = np.array([[0, 1], [2, 3], [3, 4]]), np.array([-1.27902313, -0.3333333334, 0.1234567891])
    p = gp.SetPartition.from_pairs(18, pairs, costs, n_clusters=(1, 2))
    if form == "matrix":
        C = np.zeros((18, 18))
        C[pairs[:, 0], pairs[:, 1]] = C[pairs[:, 1], pairs[:, 0]] = costs
        p = gp.SetPartition.from_matrix(C, n_clusters=(1, 2))
    assert 1e-14 < judge_of_partition(p).tolerance < 1e-9 and gp.solve(p).status == "optimal"
    huge = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-1e12, -1.1e-3, 1e-3])
    assert judge_of_partition(huge).tolerance < 0.01


def test_a_race_is_over_as_soon_as_a_solution_meets_the_bound():
    class Finder:
        name, proves, bound, done, needs = "finder", False, -math.inf, False, 0.0
        labels, cost = np.zeros(2, np.int32), 10.0

        def offer(self, labels, cost):
            raise AssertionError("nothing runs on")

        def run(self, stopping, until):
            self.cost = 1.0 + 1e-9

    race = Race([Finder()], Finder.labels, 10.0, 1.0, lambda _: Judge(1e-8))
    assert race.run(Stopping(), 10.0) and race.proven and race.prover == "finder"
    assert not race.run(Stopping(), 10.0)


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("form", ["matrix", "pairs"])
def test_what_meets_the_bound_up_to_rounding_is_optimal_at_once(form, decimals):
    """Above 100,000 pairs, branch and cut takes no part, and the bound comes close only."""
    rng = np.random.default_rng(0)
    n, k = 460, 57
    t = np.arange(n) % k
    u, v = np.triu_indices(n, 1)
    c = np.where(t[u] == t[v], -2, 3) + 1.5 * rng.normal(size=len(u))
    c = c if decimals is None else np.round(c, decimals)
    p = gp.SetPartition.from_pairs(n, np.c_[u, v], c)
    if form == "matrix":
        C = np.zeros((n, n))
        C[u, v] = C[v, u] = c
        p = gp.SetPartition.from_matrix(C)
    r = gp.solve(p, time_limit=60)  # which a busy machine may need; a quiet one takes one second
    assert r.status == "optimal" and r.gap == 0 and r.lower_bound == r.cost and "proven optimal" in r.message
    limited = gp.solve(p, time_limit=1000.0)
    assert limited.status == "optimal" and limited.seconds < 500 and limited.cost == r.cost


def test_decimal_costs_of_a_factor_graph_have_a_step():
    f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.1, 0.3], [1.2, -0.7]]])])
    judge = judge_of_labels(f, np.array([1, 1], np.int32))
    assert judge.step == pytest.approx(0.1) and judge.meets(-0.79, -0.7) and not judge.meets(-0.8, -0.7)
    assert judge_of_labels(f, np.array([0, 0], np.int32)).tolerance < judge.tolerance
    for cost in (5.0, -1e9):
        for below in np.geomspace(1e-12, 1e3, 40):  # a bound that meets the cost of any labels is not far
            meets = any(judge_of_labels(f, np.array(y, np.int32)).meets(cost - below, cost) for y in np.ndindex(2, 2))
            assert not (meets and is_far(f, cost - below, cost))
    assert is_far(f, 4.0, 5.0) and not is_far(f, -np.inf, -np.inf)

"""Annealing without the largest size, made to fit: requirements hold, the same work twice, lower costs where full."""

import numpy as np
import pytest
from grouped import grouped_problem, seeds

import graphpart as gp
from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.exchanges import ExchangeRounds
from graphpart.partition.anytime_search.fitted import FittedRounds
from graphpart.partition.anytime_search.parameters import SearchParameters
from graphpart.partition.anytime_search.pool import Pool
from graphpart.partition.anytime_search.search import search
from graphpart.partition.anytime_search.strategy import Turn
from graphpart.partition.local_search.limited import packed
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem.labels import check_feasible
from graphpart.stopping import Stopping


def performed(p, labels):
    """The results of the tasks of one round."""
    turn = Turn(Pool(p, labels, 6), Annealer(p), 0, 0, 0, 0.0, [1, 2, 3, 4], np.random.default_rng(0), 2e5)
    rounds = FittedRounds(turn, ExchangeRounds(ExchangeRounds.listed(p, packed(p)), 1.0), 1.0)
    assert rounds.annealer.p._limits is None or rounds.annealer.p._limits.max_size is None
    return [rounds.perform(task, Stopping()) for task in rounds.plan(turn)]


def test_results_obey_all_requirements_and_are_the_same_again():
    tried = moved = 0
    for seed in seeds(300):
        p = grouped_problem(seed, limits=True)
        if p is None or p._limits is None or p._limits.max_size is None:
            continue
        q = Contraction(p).problem
        try:
            start = None if ExchangeRounds.listed(q, np.zeros(0, np.int32)) is None else packed(q)
        except gp.InfeasibleProblem:
            continue
        if start is None or not np.isfinite(q._evaluate_labels(start)):
            continue
        tried += 1
        found = performed(q, start)
        for one, again in zip(found, performed(q, start), strict=True):
            check_feasible(q, one.labels)
            assert one.work > 0 and np.array_equal(one.labels, again.labels), seed
        moved += any(not np.array_equal(one.labels, start) for one in found)
    assert tried > 0.1 * len(seeds(300)) and moved > 0.2 * tried  # many starts are optimal


@pytest.mark.parametrize("most", [{}, {"n_clusters": 30}])
def test_nearly_full_clusters_cost_less_with_it(most):
    gains = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        truth, (u, v) = rng.integers(0, 30, 300), np.triu_indices(300, 1)
        costs = np.where(truth[u] == truth[v], -1.0, 1.0) + rng.normal(0, 2, len(u))
        p = gp.SetPartition.from_pairs(300, (u, v), costs).require(max_size=10, **most)
        without = SearchParameters(without=("fitted", "restarts", "annealing"))
        some = SearchParameters(without=("restarts", "annealing"))
        costs = [search(p, max_iterations=3, seed=seed, parameters=a).cost for a in (some, without)]
        gains.append((costs[1] - costs[0]) / abs(costs[1]))
    assert np.mean(gains) > 0.005, gains

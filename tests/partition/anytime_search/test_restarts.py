"""Short annealings and their children: small problems to the optimum, requirements, ends, and the same work twice."""

from __future__ import annotations

import numpy as np
import pytest

import graphpart as gp
from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.parameters import RestartParameters
from graphpart.partition.anytime_search.pool import Pool
from graphpart.partition.anytime_search.restarts import RestartRounds
from graphpart.partition.anytime_search.strategy import Turn
from graphpart.stopping import Stopping


def dense(n: int, seed: int, **options: object) -> gp.SetPartition:
    p = gp.generate.uniform_integers(n, 9, seed=seed).problem
    return gp.SetPartition.from_pairs(p.n, p.pairs()[:2], p.pairs()[2], dense=True, **options)


def turn_of(p: gp.SetPartition, level: int = 0) -> Turn:
    pool = Pool(p, np.arange(p.n, dtype=np.int32), 6)
    return Turn(pool, Annealer(p), 0, 0, level, 0.0, [1, 2, 3, 4], np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(3))
def test_tasks_find_the_optimum_and_do_the_same_again(seed: int) -> None:
    p = dense(20, seed)
    turn = turn_of(p)
    rounds = RestartRounds(turn, RestartParameters(), 1.0)
    tasks = rounds.plan(turn)
    found = [rounds.perform(task, Stopping()) for task in tasks]
    again = rounds.perform(tasks[0], Stopping())
    assert again.labels.tolist() == found[0].labels.tolist() and again.work == found[0].work > 0
    assert all(each.independent for each in found)
    assert min(p._evaluate_labels(each.labels) for each in found) == gp.partition.exact(p).cost


def test_tasks_are_shorter_on_large_problems_and_at_first_and_slower_when_nothing_is_found() -> None:
    turn = turn_of(dense(30, 1))
    sweep = turn.annealer.work(turn.pool.labels)
    assert RestartRounds(turn, RestartParameters(work=(16e9, 16e9)), 1.0).lengths(turn) == (24, 240)
    assert RestartRounds(turn, RestartParameters(work=(1.0, 1.0)), 1.0).lengths(turn) == (4, 2)
    rounds = RestartRounds(turn, RestartParameters(work=(240 * sweep, 16 * 240 * sweep)), 1.0)
    lengths = []
    for _ in range(6):
        lengths.append(rounds.lengths(turn))
        rounds.plan(turn)
    assert lengths == [(4, 60), (4, 120), (4, 240), (8, 240), (16, 240), (16, 240)]
    for _ in range(1100):  # of which none may overflow a double
        rounds.plan(turn)
    assert rounds.lengths(turn) == (16, 240)
    later = turn_of(dense(30, 1), level=2)
    assert RestartRounds(later, RestartParameters(work=(16e9, 16e9)), 1.0).lengths(later) == (24, 480)


def test_required_cuts_hold_and_tasks_end_when_told_to() -> None:
    cuts = [(0, 1), (2, 3), (4, 20)]
    p = dense(30, 2, must_cut=cuts)
    turn = turn_of(p)
    rounds = RestartRounds(turn, RestartParameters(), 1.0)
    task = rounds.plan(turn)[0]
    for stopping in (Stopping(), Stopping(0.0)):
        labels = rounds.perform(task, stopping).labels
        assert p._evaluate_labels(labels) < np.inf and all(labels[a] != labels[b] for a, b in cuts)


def test_a_first_sweep_from_many_elements_apart_may_end_early() -> None:
    p = dense(300, 0)
    stopped = Stopping()
    stopped.stop("time_limit")
    alone = np.arange(p.n, dtype=np.int32)
    annealer = Annealer(p)
    labels = annealer.run(alone, 100, annealer.temperatures(alone, 0.3), 1, stopped)
    assert np.count_nonzero(np.bincount(labels) > 1) <= 1  # all elements were offered to one subset only
    assert p._evaluate_labels(labels) <= 0.0

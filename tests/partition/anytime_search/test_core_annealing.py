"""Annealing over cores: what stays together, what it works, and what it is for."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from strategies import partitions
from trials import trials

import graphpart as gp
from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.core_annealing import CoreAnnealing
from graphpart.partition.anytime_search.fusion import noisy_joining
from graphpart.partition.anytime_search.parameters import CoreParameters, SearchParameters
from graphpart.partition.anytime_search.pool import Pool
from graphpart.partition.anytime_search.strategy import Turn
from graphpart.partition.problem import canonical
from graphpart.partition.problem.labels import agreement
from graphpart.stopping import Stopping


def alone(p):
    return np.arange(p.n, dtype=np.int32)


def turn_of(p, labels, number=0):
    seeds = [4 * number + k for k in range(4)]
    return Turn(Pool(p, labels, 6), Annealer(p), number, 0, 0, 0.0, seeds, np.random.default_rng(number))


@settings(max_examples=trials(60))
@given(partitions(max_n=9))
def test_results_satisfy_the_problem_and_gains_are_those_over_the_start(p):
    p = p._contract(p._must_join_classes())
    if p._limits is not None or p.lifted is not None or p.n < 2:
        return
    start = alone(p)
    strategy = CoreAnnealing(turn_of(p, start), CoreParameters(arms=((2, 0.5), (0, 0.0))), 1.0, None)
    for number in range(2):
        for task in strategy.plan(turn_of(p, start, number)):
            task = replace(task, work=1e4)
            found = strategy.perform(task, Stopping())
            cost = p.evaluate(found.labels)
            assert np.isfinite(cost) and np.array_equal(found.labels, canonical(found.labels))
            assert found.work > 0 and found.arm == (task.arm, max(0.0, p.evaluate(start) - cost))
            np.testing.assert_array_equal(strategy.perform(task, Stopping()).labels, found.labels)
            strategy.learn(found, 0.0)


def test_cores_stay_together():
    for seed in range(10):
        p = gp.generate.sparse_random(200, 600, seed=seed).problem
        start = canonical(gp.partition.kernighan_lin(p).labels)
        strategy = CoreAnnealing(turn_of(p, start), CoreParameters(arms=((3, 0.2),)), 1.0, None)
        task = strategy.plan(turn_of(p, start, seed))[0]
        labels = strategy.perform(task, Stopping()).labels
        rng, sets = np.random.default_rng(task.seed), start
        for _ in range(3):
            sets = agreement(sets, noisy_joining(p, 0.2, rng, Stopping()))
        assert 20 < sets.max() < 199
        assert len(np.unique(np.stack([sets, labels]), axis=1).T) == sets.max() + 1


def test_tasks_grow_with_the_work_of_all_rounds_and_begin_at_two_heats():
    p = gp.generate.sparse_random(300, 1500, seed=1).problem
    turn, a = turn_of(p, alone(p)), CoreParameters()
    strategy = CoreAnnealing(turn, a, 1.0, None)
    first = strategy.plan(turn)
    assert [task.arm for task in first] == [0, 1]
    later = strategy.plan(replace(turn, worked=1e12))
    assert len(later) == a.tasks and sum(task.work for task in later) == a.part * 1e12
    assert first[0].temperatures[0] > later[0].temperatures[0] > later[0].temperatures[1] == first[0].temperatures[1]
    assert strategy.first_work(turn) >= 2 * first[0].work


def test_stopped_tasks_end_with_what_they_began_with():
    p = gp.generate.sparse_random(300, 900, seed=1).problem
    start = canonical(gp.partition.kernighan_lin(p).labels)
    strategy = CoreAnnealing(turn_of(p, start), CoreParameters(), 1.0, None)
    for task in strategy.plan(turn_of(p, start)):
        found = strategy.perform(task, Stopping(0.0))
        assert p.evaluate(found.labels) <= p.evaluate(start) and found.arm == (task.arm, 0.0)


def test_random_graphs_cost_less_with_it():
    p = gp.generate.sparse_random(1000, 4000, signs=True, seed=7).problem
    cost, without = (
        gp.partition.search(p, max_iterations=3, seed=1, parameters=SearchParameters(without=names)).cost
        for names in (("fusion",), ("core annealing",))
    )
    assert cost < 1.01 * without < 0.0

"""The strategies of the search, each by itself: tabu search, fusion, and the credit by which rounds are given."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import partitions

import graphpart as gp
from graphpart.common.credit import Credit
from graphpart.partition.anytime_search import _tabu
from graphpart.partition.anytime_search.annealing import Annealer, as_integers
from graphpart.partition.anytime_search.fusion import FusionRounds, FusionTask, fused, noisy_joining, regions
from graphpart.partition.anytime_search.parameters import FusionParameters, TabuParameters
from graphpart.partition.anytime_search.pool import Pool
from graphpart.partition.anytime_search.strategy import Turn
from graphpart.partition.anytime_search.tabu import TabuRounds
from graphpart.partition.problem import canonical
from graphpart.stopping import Stopping


def turn_of(p: gp.SetPartition, labels: np.ndarray, number: int = 0, members: int = 6) -> Turn:
    seeds = [4 * number + k for k in range(4)]
    return Turn(Pool(p, labels, members), Annealer(p), number, 0, 0, 0.0, True, seeds, np.random.default_rng(number))


def alone(p: gp.SetPartition) -> np.ndarray:
    return np.arange(p.n, dtype=np.int32)


# ---------------------------------------------------------------------------------------------------------------- tabu


@given(partitions(min_n=2, max_n=8, dense=True, kinds=("integer", "sign")), st.integers(0, 99))
@settings(max_examples=80, derandomize=True, deadline=None)
def test_tabu_search_knows_its_cost_and_finds_optima(p: gp.SetPartition, seed: int) -> None:
    q = p.contract(p.blocks()) if len(p.must_join) else p
    if q.n < 2:
        return
    matrix, scale = as_integers(q.matrix)
    small = gp.SetPartition.from_matrix(matrix.astype(float), dense=True)
    labels, gain, work = _tabu.tabu_search(matrix, matrix[None], alone(q), 3000, 2, 30, seed, 0.0, scale, Stopping())
    assert small.evaluate(labels) == gain * scale and work > 0
    assert small.evaluate(labels) == gp.partition.brute_force(small).cost
    again = _tabu.tabu_search(matrix, matrix[None], alone(q), 3000, 2, 30, seed, 0.0, scale, Stopping())
    assert again[0].tolist() == labels.tolist() and again[2] == work


def test_tabu_search_ends_when_told_to_and_needs_no_steps() -> None:
    p = gp.generate.machine_parts(14, 24, 7, outside=0.1, seed=3).problem
    matrix, scale = as_integers(p.matrix)
    labels, gain, work = _tabu.tabu_search(matrix, matrix[None], alone(p), 0, 4, 100, 1, 0.0, scale, Stopping())
    assert labels.tolist() == list(range(p.n)) and gain == work == 0
    labels, gain, _ = _tabu.tabu_search(matrix, matrix[None], alone(p), 10**12, 4, 100, 1, 0.0, scale, Stopping(0.2))
    assert p.evaluate(labels) == gain < 0


@pytest.mark.parametrize("seed", range(3))
def test_tabu_rounds_reach_the_proven_best_on_plateaus(seed: int) -> None:
    p = gp.generate.machine_parts(10, 16, 5, 0.7, 0.15, seed=seed).problem
    best = gp.partition.exact(p, time_limit=20)
    assert best.status == gp.Status.OPTIMAL
    turn = turn_of(p, alone(p))
    rounds = TabuRounds(turn, TabuParameters(work=2e7), 1.0)
    found = [rounds.perform(task, Stopping()) for task in rounds.plan(turn)]
    assert min(p.evaluate_labels(one.labels) for one in found) == best.cost
    assert all(one.work > 0 for one in found)


# -------------------------------------------------------------------------------------------------------------- fusion


@given(partitions(min_n=2, max_n=9, dense=False, kinds=("integer", "sign", "real")), st.integers(0, 99))
@settings(max_examples=80, derandomize=True, deadline=None)
def test_fusion_is_no_worse_than_either(p: gp.SetPartition, seed: int) -> None:
    q = p.contract(p.blocks()) if len(p.must_join) else p
    rng = np.random.default_rng(seed)
    x, y = (noisy_joining(q, strength, rng, Stopping()) for strength in (0.0, 1.0))
    costs = [q.evaluate_labels(x), q.evaluate_labels(y)]
    found = fused(Annealer(q), x, y, 0.3, 50, seed, Stopping())
    assert found.tolist() == canonical(found).tolist()
    if math.isfinite(max(costs)):
        assert q.evaluate_labels(found) <= min(costs) + q.tolerance * (q.n + 1)


def test_noise_joins_otherwise_and_required_cuts_hold() -> None:
    p = gp.generate.grid(8, 9, seed=1).problem
    cuts = [(0, 1), (10, 11), (40, 41)]
    q = gp.SetPartition.from_pairs(p.n, (p.u, p.v), p.cost, must_cut=cuts)
    rng = np.random.default_rng(0)
    made = [noisy_joining(q, 1.0, rng, Stopping()) for _ in range(5)]
    assert len({tuple(labels.tolist()) for labels in made}) > 1
    assert all(q.evaluate_labels(labels) < math.inf for labels in made)
    same = gp.partition.greedy_joining(q).labels
    assert noisy_joining(q, 0.0, rng, Stopping()).tolist() == same.tolist()


@pytest.mark.parametrize("size", [10, 100, 10_000])
def test_regions_are_disjoint_unions_of_subsets(size: int) -> None:
    p = gp.generate.grid(20, 30, seed=2).problem
    labels = gp.partition.kernighan_lin(p).labels
    found = regions(p, labels, 4, size, np.random.default_rng(1))
    elements = np.concatenate(found)
    assert len(elements) == len(set(elements.tolist())) and len(found) == 4
    for region in found:
        assert region.tolist() == sorted(region.tolist())
        assert np.isin(labels, labels[region]).sum() == len(region)
    assert size < p.n or sum(map(len, found)) == p.n


@pytest.mark.parametrize("region", [80, 20_000])
def test_fusion_rounds_improve_and_learn(region: int) -> None:
    p = gp.generate.grid(20, 30, seed=2).problem
    turn = turn_of(p, gp.partition.greedy_joining(p).labels)
    rounds = FusionRounds(turn, FusionParameters(region=region), 1.0)
    before = turn.pool.cost
    for _ in range(2):
        for task in rounds.plan(turn):
            found = rounds.perform(task, Stopping())
            assert p.evaluate_labels(found.labels) <= p.evaluate_labels(task.start) + p.tolerance * p.n
            rounds.learn(found, turn.pool.take(found.labels, found.independent))
    assert turn.pool.cost < before
    assert rounds.credit.work.any() and rounds.credit.shares().sum() == pytest.approx(1.0)


def test_a_region_without_elements_changes_nothing() -> None:
    p = gp.generate.grid(10, 10, seed=2).problem
    labels = canonical(gp.partition.kernighan_lin(p).labels)
    rounds = FusionRounds(turn_of(p, labels), FusionParameters(), 1.0)
    task = FusionTask(labels, 3, 0, np.zeros(0, np.int64), 1, 0.3)
    assert rounds.perform(task, Stopping()).labels.tolist() == labels.tolist()


# -------------------------------------------------------------------------------------------------------------- credit


def test_credit_follows_gain_per_work_and_forgets() -> None:
    credit = Credit(3, kept=0.5, floor=0.3)
    assert credit.shares().tolist() == [1 / 3] * 3
    for way, gain in ((0, 1.0), (1, 3.0), (2, 0.0)):
        credit.learn(way, gain, 1.0)
    assert credit.shares() == pytest.approx([0.1 + 0.7 / 4, 0.1 + 0.7 * 3 / 4, 0.1])
    for _ in range(60):
        credit.learn(1, 0.0, 1.0)
    assert credit.shares() == pytest.approx([0.8, 0.1, 0.1])
    rng = np.random.default_rng(0)
    chosen = np.bincount([credit.choose(rng) for _ in range(3000)], minlength=3) / 3000
    assert chosen == pytest.approx([0.8, 0.1, 0.1], abs=0.03)

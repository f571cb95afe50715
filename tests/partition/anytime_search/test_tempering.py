"""Replica exchange: the kernel against its naive form, step by step; ladders, chains, and who uses them."""

from __future__ import annotations

import numpy as np
import pytest

import graphpart as gp
from graphpart.common.variates import exponential_variates
from graphpart.kernels.elementary import geometric
from graphpart.partition.anytime_search import _dense_annealing, _tempering
from graphpart.partition.anytime_search.annealing import Annealer, narrowed
from graphpart.partition.anytime_search.parameters import SearchParameters, TemperingParameters
from graphpart.partition.anytime_search.pool import Pool
from graphpart.partition.anytime_search.population import PopulationRounds
from graphpart.partition.anytime_search.portfolio import Portfolio
from graphpart.partition.anytime_search.strategy import Turn
from graphpart.partition.anytime_search.tempering import TemperingRounds, ladder
from graphpart.partition.problem import Labels, canonical
from graphpart.stopping import Stopping

VARIATES = exponential_variates(65536, np.float32)
PADDING = 32  # variates behind the last element


class Random:
    """SplitMix64."""

    def __init__(self, seed: int) -> None:
        self.state = seed % 2**64

    def below(self, bound: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return ((z ^ (z >> 31)) >> 32) * bound >> 32


class Replica:
    """A partition whose costs are summed anew for each offer."""

    def __init__(self, matrix: np.ndarray, labels: np.ndarray, seed: int) -> None:
        self.matrix, self.label, self.random = matrix, labels.copy(), Random(seed)
        k = int(labels.max()) + 1
        self.active, self.unused = list(range(k)), list(range(len(labels), k - 1, -1))

    @property
    def cost(self) -> int:
        return int(self.matrix[np.equal.outer(self.label, self.label)].sum()) // 2

    def offer(self, U: int, thresholds: np.ndarray) -> bool:
        moved = False
        for b, threshold in enumerate(thresholds):
            mine = int(self.label[b])
            alone, empty = np.count_nonzero(self.label == mine) == 1, not (self.label == U).any()
            change = self.matrix[b, self.label == U].sum() - self.matrix[b, self.label == mine].sum()
            if mine == U or change > threshold or (alone and empty):
                continue
            if empty:
                self.unused.remove(U)
                self.active.append(U)
            self.label[b] = U
            if alone:
                place, last = self.active.index(mine), self.active[-1]
                self.active[place] = last
                self.active.pop()
                self.unused.append(mine)
            moved = True
        return moved

    def sweep(self, temperature: float) -> None:
        n, i = len(self.label), 0
        first = len(self.active) + 1
        while i < first:
            k = self.random.below(len(self.active) + 1)
            at = self.random.below(len(VARIATES) - n - PADDING)
            thresholds = (np.float32(temperature) * VARIATES[at : at + n]).astype(np.int32)
            self.offer(self.active[k] if k < len(self.active) else self.unused[-1], thresholds)
            i += 1

    def descended(self) -> tuple[int, Labels]:
        copy = Replica(self.matrix, self.label, 0)
        copy.active, copy.unused = self.active[:], self.unused[:]
        moved, never = True, np.full(len(self.label), -1)
        while moved:
            moved, i = False, 0
            while i <= len(copy.active):
                moved |= copy.offer(copy.active[i] if i < len(copy.active) else copy.unused[-1], never)
                i += 1
        return copy.cost, copy.label


def naive_run(
    matrix: np.ndarray, labels: np.ndarray, temperatures: np.ndarray, steps: int, seed: int
) -> tuple[Labels, list[Labels]]:
    replicas = [Replica(matrix, each, seed + k + 1) for k, each in enumerate(labels)]
    random, best = Random(seed), labels[-1]
    least = replicas[-1].cost
    for _ in range(steps):
        for replica, temperature in zip(replicas, temperatures, strict=True):
            replica.sweep(temperature)
        for replica in replicas[-3:]:
            cost, found = replica.descended()
            if cost < least:
                least, best = cost, found
        for k in range(len(replicas) - 1):
            difference = replicas[k].cost - replicas[k + 1].cost
            x = difference * (1 / temperatures[k + 1] - 1 / temperatures[k])
            if x <= VARIATES[random.below(len(VARIATES) - len(matrix) - PADDING)]:
                replicas[k], replicas[k + 1] = replicas[k + 1], replicas[k]
    return best, [replica.label for replica in replicas]


def random_matrix(n: int, seed: int, mean: int = 0) -> np.ndarray:
    matrix = np.triu(np.random.default_rng(seed).integers(mean - 20, mean + 21, (n, n)), 1).astype(np.int32)
    return matrix + matrix.T


@pytest.mark.parametrize(("n", "count", "mean", "seed"), [(2, 2, 0, 1), (9, 1, 0, 2), (20, 4, 3, 3), (33, 5, 0, 4)])
def test_replicas_go_as_their_naive_form_does(n: int, count: int, mean: int, seed: int) -> None:
    matrix, rng = random_matrix(n, seed, mean), np.random.default_rng(seed)
    temperatures = geometric(60.0, 4.0, count)
    labels = np.stack([canonical(rng.integers(0, 4, n)) for _ in range(count)])
    expected, ends = naive_run(matrix, labels, temperatures, 6, seed)
    for integers in (np.int16, np.int32):
        kernel = _tempering.Tempering(matrix.astype(integers), VARIATES, count)
        best, last = kernel.run(labels, temperatures, 6, seed, Stopping())
        assert canonical(best).tolist() == canonical(expected).tolist()
        assert [canonical(each).tolist() for each in last] == [canonical(each).tolist() for each in ends]
        assert not (best == labels[-1]).all() or n == 2


def test_integers_of_16_bits_go_the_same_way_up_to_their_largest_sums() -> None:
    """The first element attracts half of the others, and repels the rest, as much as fits."""
    n, largest = 65, _dense_annealing.NARROW_ROW - 1
    costs = random_matrix(n, 1)
    costs[0, 1:] = costs[1:, 0] = np.repeat((-(largest // 32), largest // 32), 32)
    costs[0, [1, -1]] = costs[[1, -1], 0] = costs[0, 2] - largest % 32, costs[0, -2] + largest % 32
    narrow, parts = narrowed(costs * 64)
    assert parts == 64 and narrow is not None and narrow.dtype == np.int16 and (narrow == costs).all()
    hot = float(_dense_annealing.NARROW_HOTTEST)
    kernels = [_dense_annealing.Annealing(each, VARIATES) for each in (narrow, costs)]
    for start in (np.zeros(n), np.arange(n), np.arange(n) > 32):
        for temperature in (hot, 20.0):
            ends = [each.run(start.astype(np.int32), 40, temperature, 1.0, 3, 0.0, 1.0, Stopping()) for each in kernels]
            assert ends[0][0].tolist() == ends[1][0].tolist() and ends[0][1] == ends[1][1]
    costs[0, 1] = costs[1, 0] = costs[0, 1] - 1
    assert narrowed(costs) == (None, 1)


def test_annealers_choose_16_bits_for_whole_numbers_unless_it_is_too_hot() -> None:
    annealer = Annealer(gp.generate.uniform_integers(40, 100, seed=1).problem.to_dense())
    assert annealer.integers(256.0)[0].dtype == np.int16 and annealer.integers(256.0)[1] == 1.0
    assert annealer.integers(257.0)[0].dtype == np.int32
    costs = np.triu(np.random.default_rng(1).random((40, 40)) - 0.5, 1)
    assert Annealer(gp.SetPartition.from_matrix(costs + costs.T)).integers(0.1)[0].dtype == np.int32


def test_cooling_goes_as_its_naive_form_does() -> None:
    n, sweeps, temperatures = 25, 4, geometric(60.0, 4.0, 5)
    matrix = random_matrix(n, 5)
    start = np.arange(n, dtype=np.int32)
    labels, means = _tempering.Tempering(matrix, VARIATES, 1).cool(start, temperatures, sweeps, 3, Stopping())
    replica = Replica(matrix, start, 3)
    for k, temperature in enumerate(temperatures):
        costs = []
        for _ in range(sweeps):
            replica.sweep(temperature)
            costs.append(replica.cost)
        assert canonical(labels[k]).tolist() == canonical(replica.label).tolist()
        assert means[k] == np.mean(costs[sweeps // 2 :])


def test_replicas_end_when_told_to() -> None:
    matrix, stopping = random_matrix(30, 1), Stopping(0.0)
    labels = np.zeros((3, 30), np.int32)
    kernel = _tempering.Tempering(matrix, VARIATES, 3)
    best, last = kernel.run(labels, geometric(60.0, 4.0, 3), 10**9, 1, stopping)
    assert last.shape == (3, 30) and best.shape == (30,)
    labels, means = kernel.cool(labels[0], geometric(60.0, 4.0, 8), 10**9, 1, stopping)
    assert labels.shape == (8, 30) and means.tolist() == [0.0] * 8


def test_ladders_are_dense_where_costs_change_much_and_not_too_long() -> None:
    temperatures = geometric(10.0, 1.0, 64)
    costs = -1000.0 * (1.0 - 1.0 / (1.0 + np.exp(8.0 * (3.0 - temperatures))))  # most of the change is around 3
    chosen = ladder(temperatures, costs, 64)
    assert chosen[0] == 0 and chosen[-1] == 63 and chosen == sorted(set(chosen))
    middle = [k for k in chosen if 2.5 < temperatures[k] < 3.5]
    assert len(middle) > len(chosen) / 2
    assert len(ladder(temperatures, costs, 6)) <= 6
    assert ladder(temperatures, np.zeros(64), 32) == [0, 63]


def test_chains_are_continued_and_find_the_optimum() -> None:
    p = gp.generate.uniform_integers(24, 9, seed=1).problem
    p = gp.SetPartition.from_pairs(p.n, p.pairs()[:2], p.pairs()[2], dense=True)
    best = gp.partition.exact(p)
    annealer = Annealer(p)
    pool = Pool(p, np.arange(p.n, dtype=np.int32), 6)
    rounds, found = None, []
    for number in range(2):
        seeds = [4 * number + k for k in range(4)]
        turn = Turn(pool, annealer, number, 0, 0, 0.0, True, seeds, np.random.default_rng(number))
        rounds = rounds or TemperingRounds(turn, TemperingParameters(work=5e6), 1.0)
        tasks = rounds.plan(turn)
        assert [task.chain is None for task in tasks] == [number == 0] * 4
        for task in tasks:
            one = rounds.perform(task, Stopping())
            again = rounds.perform(task, Stopping())
            assert one.labels.tolist() == again.labels.tolist() and one.work == again.work > 0
            rounds.learn(one, 0.0)
            found.append(p.evaluate_labels(one.labels))
    assert best.status == gp.Status.OPTIMAL and min(found) == best.cost


def test_chains_and_restarts_take_part_on_dense_problems_only_and_populations_wait_for_restarts() -> None:
    def strategies(p: gp.SetPartition) -> dict[str, object]:
        stopping = Stopping(None, 3)
        state = Portfolio(p, np.arange(p.n, dtype=np.int32), 0.0, 0, 1, stopping, SearchParameters())
        state.run()
        return {each.name: each for each in state.strategies}

    dense = strategies(gp.generate.uniform_integers(130, 9, seed=1).problem)
    assert {"restarts", "annealing", "population"} == set(dense)
    assert isinstance(dense["population"], PopulationRounds) and dense["population"].restarts
    small = strategies(gp.generate.uniform_integers(60, 9, seed=1).problem)
    assert "tempering" in small and "restarts" not in small
    assert not {"tempering", "restarts"} & set(strategies(gp.generate.grid(12, 12, seed=1).problem))


def test_required_cuts_hold_in_all_results_of_chains() -> None:
    p = gp.generate.uniform_integers(30, 9, seed=2).problem
    cuts = [(0, 1), (2, 3), (4, 20)]
    q = gp.SetPartition.from_pairs(p.n, p.pairs()[:2], p.pairs()[2], must_cut=cuts, dense=True)
    turn = Turn(Pool(q, np.arange(30, dtype=np.int32), 6), Annealer(q), 0, 0, 0, 0.0, True, [1, 2, 3, 4], None)
    rounds = TemperingRounds(turn, TemperingParameters(work=1e6), 1.0)
    for task in rounds.plan(turn):
        found = rounds.perform(task, Stopping()).labels
        assert q.evaluate_labels(found) < 0 and all(found[a] != found[b] for a, b in cuts)

"""The strategies of the search, each by itself: annealing, fusion; and the credit that they get."""

from __future__ import annotations

import importlib
import math
import pkgutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import partitions
from trials import trials

import graphpart as gp
from graphpart.common.credit import Credit
from graphpart.common.variates import exponential_variates
from graphpart.partition.anytime_search import _dense_annealing
from graphpart.partition.anytime_search.annealing import Annealer, narrowed
from graphpart.partition.anytime_search.fusion import FusionRounds, FusionTask, fused, noisy_joining, regions
from graphpart.partition.anytime_search.parameters import STRATEGIES, FusionParameters, SearchParameters
from graphpart.partition.anytime_search.pool import Pool
from graphpart.partition.anytime_search.portfolio import Portfolio
from graphpart.partition.anytime_search.strategy import Turn
from graphpart.partition.problem import canonical
from graphpart.stopping import Stopping

VARIATES = exponential_variates(65536, np.float32)


def turn_of(p: gp.SetPartition, labels: np.ndarray, number: int = 0, members: int = 6) -> Turn:
    seeds = [4 * number + k for k in range(4)]
    return Turn(Pool(p, labels, members), Annealer(p), number, 0, 0, 0.0, seeds, np.random.default_rng(number))


def alone(p: gp.SetPartition) -> np.ndarray:
    return np.arange(p.n, dtype=np.int32)


# ----------------------------------------------------------------------------------------------------------- annealing


def moved(labels: tuple[int, ...], element: int, subset: int) -> tuple[int, ...]:
    out = list(labels)
    out[element] = subset
    return tuple(canonical(np.array(out, np.int32)).tolist())


def change(matrix: np.ndarray, labels: tuple[int, ...], element: int, subset: int) -> float:
    others = np.arange(len(labels)) != element
    where = np.array(labels)
    return float(
        matrix[element, others & (where == subset)].sum() - matrix[element, others & (where == labels[element])].sum()
    )


def distribution_of_pass(matrix: np.ndarray, labels: tuple[int, ...], subset: int, temperature: float) -> dict:
    """The share of each partition after elements were offered to a subset, in turn, by the rule of Metropolis."""
    ends = {labels: 1.0}
    for element in range(len(labels)):
        shares: dict[tuple[int, ...], float] = {}
        for each, share in ends.items():
            useless = each[element] == subset or (subset not in each and each.count(each[element]) == 1)
            odds = 0.0 if useless else min(1.0, math.exp(-change(matrix, each, element, subset) / temperature))
            goes = (*each[:element], subset, *each[element + 1 :])
            shares[goes] = shares.get(goes, 0.0) + share * odds
            shares[each] = shares.get(each, 0.0) + share * (1.0 - odds)
        ends = shares
    found: dict[tuple[int, ...], float] = {}
    for each, share in ends.items():
        key = tuple(canonical(np.array(each, np.int32)).tolist())
        found[key] = found.get(key, 0.0) + share
    return found


@pytest.mark.parametrize("seed", range(4))
def test_passes_of_dense_annealing_are_offers_by_the_rule_of_metropolis(seed: int) -> None:
    rng, runs = np.random.default_rng(seed), 4000
    matrix = np.triu(rng.integers(-5, 6, (5, 5)), 1).astype(np.int32)
    matrix += matrix.T
    annealing = _dense_annealing.Annealing(matrix, exponential_variates(65536, np.float32))
    start = tuple(canonical(rng.integers(0, 3, 5).astype(np.int32)).tolist())
    for subset in range(max(start) + 2):
        counts: dict[tuple[int, ...], int] = {}
        for k in range(runs):
            end = canonical(annealing.one_pass(np.array(start, np.int32), subset, 4.0, 10_000 * seed + k))
            counts[tuple(end.tolist())] = counts.get(tuple(end.tolist()), 0) + 1
        expected = distribution_of_pass(matrix, start, subset, 4.0)
        assert set(counts) <= {key for key, share in expected.items() if share > 0}
        for key, share in expected.items():
            assert abs(counts.get(key, 0) / runs - share) <= 4.5 * math.sqrt(share * (1 - share) / runs) + 1e-12


def descended(matrix: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Labels after the descent at the end of annealing, step by step: sums are taken anew for each offer."""
    n, label = len(matrix), labels.copy()
    active = list(range(int(label.max()) + 1))
    fresh = len(active)
    moved = True
    while moved:
        moved, i = False, 0
        while i <= len(active):
            empty = i == len(active)
            U = fresh if empty else active[i]
            for b in range(n):
                mine = int(label[b])
                if mine == U or (empty and not (label == U).any() and np.count_nonzero(label == mine) == 1):
                    continue
                if matrix[b, label == U].sum() - matrix[b, label == mine].sum() <= -1:
                    if empty and U not in active:
                        active.append(U)
                        fresh += 1
                    label[b] = U
                    moved = True
                    if not (label == mine).any():
                        active[active.index(mine)] = active[-1]
                        active.pop()
            i += 1
    return label


@pytest.mark.parametrize(
    ("n", "seed"), [(1, 0), (2, 1), (15, 2), (31, 3), (32, 4), (33, 5), (64, 6), (70, 7), (101, 8)]
)
def test_the_descent_of_dense_annealing_goes_as_its_naive_form_does(n: int, seed: int) -> None:
    """Numbers of elements around those that fill lines of the cache and blocks; subsets that have to be made."""
    rng = np.random.default_rng(seed)
    for mean in (-1, 0, 3):
        matrix = np.triu(rng.integers(mean - 20, mean + 21, (n, n)), 1).astype(np.int16 if n % 2 else np.int32)
        matrix += matrix.T
        annealing = _dense_annealing.Annealing(matrix, exponential_variates(65536, np.float32))
        for start in (np.zeros(n, np.int32), np.arange(n, dtype=np.int32), canonical(rng.integers(0, 5, n))):
            found, gain = annealing.run(start, 0, 1.0, 1.0, 0, 0.0, 1.0, Stopping())
            assert canonical(found).tolist() == canonical(descended(matrix, start)).tolist()
            together = [np.equal.outer(labels, labels) for labels in (found, start)]
            assert gain == sum(s * np.triu(matrix * t, 1).sum() for s, t in zip((1, -1), together, strict=True))


def test_a_descent_makes_as_many_subsets_as_it_needs() -> None:
    matrix = 1 - np.eye(100, dtype=np.int32)
    annealing = _dense_annealing.Annealing(matrix, exponential_variates(65536, np.float32))
    found, gain = annealing.run(np.zeros(100, np.int32), 0, 1.0, 1.0, 0, 0.0, 1.0, Stopping())
    assert len(set(found.tolist())) == 100 and gain == -4950


@pytest.mark.parametrize("seed", range(4))
def test_single_offers_are_in_detailed_balance_and_passes_are_not(seed: int) -> None:
    rng, n, temperature = np.random.default_rng(seed), 4, 2.0
    matrix = np.triu(rng.integers(-5, 6, (n, n)), 1)
    matrix = matrix + matrix.T
    states = {(0,) * n}
    while True:
        more = {moved(s, a, U) for s in states for a in range(n) for U in range(max(s) + 2)} - states
        if not more:
            break
        states |= more
    weight = {
        s: math.exp(-sum(matrix[a, b] for a in range(n) for b in range(a) if s[a] == s[b]) / temperature)
        for s in states
    }
    single, passes = ({s: dict.fromkeys(states, 0.0) for s in states} for _ in range(2))
    for s in states:
        for U in range(max(s) + 2):  # each with the same rate
            for end, share in distribution_of_pass(matrix, s, U, temperature).items():
                passes[s][end] += weight[s] * share
            for a in range(n):
                if s[a] != U and (U in s or s.count(s[a]) > 1):
                    single[s][moved(s, a, U)] += weight[s] * min(1.0, math.exp(-change(matrix, s, a, U) / temperature))
    worst = {
        kind: max(abs(flow[s][t] - flow[t][s]) for s in states for t in states)
        for kind, flow in (("single", single), ("passes", passes))
    }
    assert worst["single"] <= 1e-12 * max(weight.values())
    assert worst["passes"] > 1e-3 * max(weight.values())


def random_matrix(n: int, seed: int, mean: int = 0) -> np.ndarray:
    matrix = np.triu(np.random.default_rng(seed).integers(mean - 20, mean + 21, (n, n)), 1).astype(np.int32)
    return matrix + matrix.T


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
    annealer = Annealer(gp.generate.uniform_integers(40, 100, seed=1).problem._to_dense())
    assert annealer.integers(256.0)[0].dtype == np.int16 and annealer.integers(256.0)[1] == 1.0
    assert annealer.integers(257.0)[0].dtype == np.int32
    costs = np.triu(np.random.default_rng(1).random((40, 40)) - 0.5, 1)
    assert Annealer(gp.SetPartition.from_matrix(costs + costs.T)).integers(0.1)[0].dtype == np.int32


# -------------------------------------------------------------------------------------------------------------- fusion


@given(partitions(min_n=2, max_n=9, dense=False, kinds=("integer", "sign", "real")), st.integers(0, 99))
@settings(max_examples=trials(80), derandomize=True, deadline=None)
def test_fusion_is_no_worse_than_either(p: gp.SetPartition, seed: int) -> None:
    q = p._contract(p._must_join_classes()) if len(p.must_join) else p
    rng = np.random.default_rng(seed)
    x, y = (noisy_joining(q, strength, rng, Stopping()) for strength in (0.0, 1.0))
    costs = [q._evaluate_labels(x), q._evaluate_labels(y)]
    found = fused(Annealer(q), x, y, 0.3, 50, seed, Stopping())
    assert found.tolist() == canonical(found).tolist()
    if math.isfinite(max(costs)):
        assert q._evaluate_labels(found) <= min(costs) + q._tolerance * (q.n + 1)


def test_noise_joins_otherwise_and_required_cuts_hold() -> None:
    p = gp.generate.grid(8, 9, seed=1).problem
    cuts = [(0, 1), (10, 11), (40, 41)]
    q = gp.SetPartition.from_pairs(p.n, (p.u, p.v), p.cost, must_cut=cuts)
    rng = np.random.default_rng(0)
    made = [noisy_joining(q, 1.0, rng, Stopping()) for _ in range(5)]
    assert len({tuple(labels.tolist()) for labels in made}) > 1
    assert all(q._evaluate_labels(labels) < math.inf for labels in made)
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
            assert p._evaluate_labels(found.labels) <= p._evaluate_labels(task.start) + p._tolerance * p.n
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


# ----------------------------------------------------------------------------------------------------------- portfolio


@pytest.mark.parametrize(
    ("p", "first"),
    [
        (gp.generate.sparse_random(3000, 30000, seed=1).problem, "core annealing"),
        (gp.generate.machine_parts(14, 24, 7, outside=0.1, seed=3).problem, "annealing"),
    ],
)
def test_strategies_begin_in_the_order_of_their_first_work(
    p: gp.SetPartition, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What takes long must not come before what takes little: a short search would end with nothing."""
    begun: list[tuple[str, float]] = []
    chosen = Portfolio._chosen

    def noted(self: Portfolio, turn: Turn) -> int:
        k = chosen(self, turn)
        begun.append((self.strategies[k].name, self.strategies[k].first_work(turn)))
        if turn.number == 0:
            assert begun[0][1] == min(s.first_work(turn) for s in self.strategies if s.ready(turn))
        return k

    monkeypatch.setattr(Portfolio, "_chosen", noted)
    gp.partition.search(p, max_iterations=2, seed=0)
    assert begun[0][0] == first


def test_restarts_take_part_on_dense_problems_small_ones_and_within_limits() -> None:
    def strategies(p: gp.SetPartition, *without: str) -> dict[str, object]:
        parameters = SearchParameters(without=without)
        state = Portfolio(p, np.arange(p.n, dtype=np.int32), 0.0, 0, 1, Stopping(None, 3), parameters)
        state.run()
        return {each.name: each for each in state.strategies}

    for n in (60, 130):
        p = gp.generate.uniform_integers(n, 9, seed=1).problem
        dense = strategies(p)
        assert {"restarts", "annealing"} == set(dense)
        assert set(strategies(p, "annealing")) == {"restarts"}
    group = np.arange(210) % 70  # so many pairs must be cut that fusion takes part
    costs = np.where(group[:, None] == group, np.inf, np.random.default_rng(0).normal(size=(210, 210)))
    np.fill_diagonal(costs, 0.0)
    assert "fusion" in strategies(gp.SetPartition.from_matrix(np.triu(costs) + np.triu(costs).T))
    grid = gp.generate.grid(12, 12, seed=1).problem
    assert {"restarts", "annealing"} == set(strategies(grid))
    assert "restarts" not in strategies(gp.generate.grid(21, 21, seed=1).problem)
    assert {"restarts", "annealing"} == set(strategies(grid.require(n_clusters=(1, 3))))


def test_without_some_strategies_the_others_search_and_none_is_an_error() -> None:
    p = gp.generate.uniform_integers(40, 9, seed=1).problem
    best = gp.partition.search(p, max_iterations=3).cost
    for names in (("restarts",), ("annealing",)):
        parameters = SearchParameters(without=names)
        r = gp.partition.search(p, max_iterations=3, parameters=parameters)
        assert r.iterations == 3 and best <= r.cost < 0
    nothing = SearchParameters(without=("annealing", "restarts"))
    with pytest.raises(gp.InvalidOption, match="leaves no strategy"):
        gp.partition.search(p, max_iterations=3, parameters=nothing)


def test_auto_hands_its_parameters_to_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    given = SearchParameters(without=("restarts",))
    seen = []
    run = Portfolio.run

    def noted(self: Portfolio, *args: object, **options: object) -> gp.Status:
        seen.append(self.parameters)
        return run(self, *args, **options)

    monkeypatch.setattr(Portfolio, "run", noted)
    small = gp.generate.uniform_integers(40, 9, seed=1).problem
    for p in (gp.generate.uniform_integers(60, 9, seed=1).problem, small.require(n_clusters=(1, 3))):
        seen.clear()
        gp.solve(p, time_limit=0.3, parameters=given)
        assert seen and all(each is given for each in seen)


def test_names_of_strategies():
    """Names that no strategy has are errors, and all strategies have one that is known."""

    room = importlib.import_module("graphpart.partition.anytime_search")
    modules = [importlib.import_module(f"{room.__name__}.{each.name}") for each in pkgutil.iter_modules(room.__path__)]
    kinds = {each for module in modules for each in vars(module).values() if isinstance(each, type)}
    names = {each.name for each in kinds if isinstance(getattr(each, "name", None), str)}
    assert names - {"", "search"} == set(STRATEGIES)
    for without in ("nonsense", ("fusion", "nonsense"), {"nonsense"}):
        with pytest.raises(gp.InvalidOption, match="strategy is 'nonsense': expected one of annealing"):
            SearchParameters(without=without)

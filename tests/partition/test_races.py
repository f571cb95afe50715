"""Races of components: what their bounds and proofs are worth together, and what stopped steps do not prove."""

import math
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.common.steps import RunningSum
from graphpart.partition import proving
from graphpart.partition.anytime_search.parameters import SearchParameters
from graphpart.partition.anytime_search.searcher import Searcher
from graphpart.partition.exact_solvers.branch_and_cut import BranchAndCut, Rest, Smaller, _start_of
from graphpart.partition.problem import canonical
from graphpart.partition.races import LEAST_WORK, Races, RacesParameters
from graphpart.partition.reduction.persistency import reduced
from graphpart.stopping import Stopping

RACES = import_module("graphpart.partition.races")
BRUTE_FORCE = import_module("graphpart.partition.exact_solvers.brute_force")
PORTFOLIO = import_module("graphpart.partition.anytime_search.portfolio")
SEARCHER = import_module("graphpart.partition.anytime_search.searcher")


def noisy(n, seed, subsets=3):
    """A planted problem whose costs have no common step."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, subsets, n)
    C = np.triu(np.where(labels[:, None] == labels, -1.0, 1.0) + rng.normal(0, 0.7, (n, n)), 1)
    return C + C.T


def apart(*matrices):
    """A problem with one component for each matrix."""
    n = sum(map(len, matrices))
    C, at = np.zeros((n, n)), 0
    for one in matrices:
        C[at : at + len(one), at : at + len(one)] = one
        at += len(one)
    return gp.SetPartition.from_matrix(C, dense=False)


def stopped_enumeration(p, stopping):
    """Stands for an enumeration that its own limit ends."""
    stopping.stop(gp.Status.TIME_LIMIT)
    return np.arange(p.n, dtype=np.int32)


def test_what_a_proven_part_may_miss_is_subtracted_from_the_bound_of_all():
    p = apart(noisy(32, 1), noisy(36, 2))
    races = Races(p, np.arange(p.n, dtype=np.int32), Stopping(), RacesParameters(), 0.0, improved=False)
    one, other = races._parts
    races._solve(one, None)
    assert one.race.proven and one.prover.allowance > 0 and other.race is None
    least = gp.partition.exact(one.problem).cost
    assert one.bound <= one.race.cost - one.prover.allowance <= least
    assert races.bound <= one.race.cost - one.prover.allowance + other.bound


def test_what_is_left_may_miss_its_allowance_too():
    rest = Rest(None, None, None, None, None)
    rest._search = SimpleNamespace(bound=-5.0, allowance=0.5)
    assert rest.bound == -5.5


def test_an_enumeration_that_was_stopped_is_no_proof(monkeypatch):
    p = gp.SetPartition.from_matrix(noisy(9, 3))
    for module in (RACES, BRUTE_FORCE, PORTFOLIO):
        monkeypatch.setattr(module, "enumerated", stopped_enumeration)
    r = gp.partition.brute_force(p)
    assert r.status == gp.Status.TIME_LIMIT and r.lower_bound < r.cost == 0.0
    start = np.arange(p.n, dtype=np.int32)
    races = Races(p, start, Stopping(), RacesParameters(), 0.0, improved=True)
    (part,) = races._parts
    races._solve(part, None)
    assert not part.enumerated and not races.proven and races.bound < races.cost
    search = PORTFOLIO.Portfolio(p, start, 0.0, 0, 1, Stopping(), SearchParameters())
    assert search.run(patience=1, improved=True) is gp.Status.FEASIBLE


def test_the_search_begins_with_labels_that_obey_known_cuts(monkeypatch):
    C = noisy(40, 4)
    p, known = gp.SetPartition.from_matrix(C), C.copy()
    joined, obeying = np.zeros(p.n, np.int32), np.arange(p.n, dtype=np.int32)
    known[0, 1] = known[1, 0] = math.inf
    left = Smaller(gp.SetPartition.from_matrix(known), 0.0, obeying, lambda labels: labels)
    starts, taken = [], []

    class Portfolio(SEARCHER.Portfolio):
        def __init__(self, q, labels, *more):
            starts.append(q._evaluate_labels(labels))
            super().__init__(q, labels, *more)

        def offer(self, labels):
            taken.append(self.p._evaluate_labels(labels))
            super().offer(labels)

    monkeypatch.setattr(SEARCHER, "Portfolio", Portfolio)
    searcher = Searcher(p, joined, True, 0, 1, lambda: left)
    searcher.run(Stopping(max_iterations=1), None)
    searcher.offer(joined, p._evaluate_labels(joined))
    searcher.offer(obeying, 0.0)
    assert starts == [0.0] and taken == [0.0]
    assert math.isfinite(left.problem._evaluate_labels(searcher._portfolio.labels))


def test_the_search_goes_on_with_a_smaller_problem_if_that_saves_more_than_is_lost():
    p, found = gp.SetPartition.from_matrix(noisy(40, 4)), []
    searcher = Searcher(p, np.arange(40, dtype=np.int32), True, 0, 1, lambda: found[-1] if found else None)
    first = searcher._begin(Stopping(time_limit=100))
    labels = np.arange(39, dtype=np.int32)
    found.append(Smaller(p._restrict(labels), 0.0, labels, lambda labels: labels))
    first.worked = 1e10  # nanoseconds; 40 of 820 elements and pairs save 5 of 100 seconds
    assert searcher._begin(Stopping(time_limit=100)) is first
    first.worked = 1e9
    assert searcher._begin(Stopping(time_limit=100)) is not first


def test_turns_without_a_limit_go_on_until_half_of_all_work_has_found_nothing(monkeypatch):
    p = gp.SetPartition.from_matrix(noisy(20, 4))
    searcher = Searcher(p, np.arange(20, dtype=np.int32), True, 0, 1)
    portfolio = searcher._begin(Stopping())
    turns = []

    def work(until, improved):
        portfolio.worked += 1e8
        if portfolio.worked <= 2.5e9:
            cost, labels = portfolio.pool.members[0]
            portfolio.pool.members[0] = (cost - 1.0, labels)
        return gp.Status.FEASIBLE

    monkeypatch.setattr(portfolio, "run", work)
    for _ in range(3):
        searcher.run(Stopping(), None)
        turns.append(round(portfolio.worked / 1e8))
    assert turns == [11, 22, 33]  # something was found in each
    searcher.run(Stopping(), None)
    assert round(portfolio.worked / 1e8) == 51


@pytest.mark.parametrize(("again", "steps"), [(4, 7), (9, 9), (20, 13)])
def test_turns_without_a_limit_have_another_round_of_what_found_the_best_partition(again, steps, monkeypatch):
    p = gp.SetPartition.from_matrix(noisy(20, 4))
    searcher = Searcher(p, np.arange(20, dtype=np.int32), True, 0, 1)
    portfolio, made = searcher._begin(Stopping()), []

    def work(until, improved):
        made.append(1)
        portfolio.worked += 5e7
        portfolio.way = 1 if len(made) == 3 or len(made) == again else 0
        if len(made) <= 3:  # until here, then half of the work finds nothing with 6 steps
            cost, labels = portfolio.pool.members[0]
            portfolio.pool.members[0] = (cost - 1.0, labels)
        return gp.Status.FEASIBLE

    monkeypatch.setattr(portfolio, "run", work)
    searcher.run(Stopping(), None)
    assert len(made) == steps


def test_branch_and_cut_begins_with_labels_that_obey_required_cuts():
    C = noisy(20, 5)
    C[0, 1] = C[1, 0] = math.inf
    p = gp.SetPartition.from_matrix(C)
    small = reduced(p, Stopping())
    joined = np.zeros(p.n, np.int32)
    start = _start_of(small.problem, joined, small, p._evaluate_labels(joined), Stopping())
    assert math.isfinite(small.problem._evaluate_labels(start))
    prover = BranchAndCut(p, joined, improved=True)
    prover.run(Stopping(), None)
    assert prover.cost == pytest.approx(gp.partition.exact(p).cost)


@pytest.mark.parametrize("method", [gp.partition.auto, proving.exact])
def test_the_constant_and_the_bound_add_up_to_no_more_than_in_exact_arithmetic(method, monkeypatch):
    """Required joins cost a sum of many numbers, which rounding may have made larger."""
    monkeypatch.setattr(Races, "proven", False)
    monkeypatch.setattr(Races, "run", lambda *_: None)
    monkeypatch.setattr(Races, "report", lambda _: "")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        C = np.triu(rng.random((8, 8)) - 0.3, 1)
        C[:4, 4:] = C[4:, :4] = 0.0
        p = gp.SetPartition.from_matrix(C + C.T, must_join=[(0, 1), (1, 2), (2, 3)])
        least = -10 - rng.random()
        monkeypatch.setattr(Races, "bound", least)
        constant = sum(Fraction(C[i, j]) for j in range(4) for i in range(j))
        lower = method(p).lower_bound
        assert Fraction(lower) <= constant + Fraction(least), seed
        assert lower == pytest.approx(float(constant) + least)


def test_labels_of_parts_become_labels_of_the_whole():
    p = apart(noisy(12, 6), noisy(31, 7))
    races = Races(p, np.zeros(p.n, np.int32), Stopping(), RacesParameters(), 0.0, improved=False)
    races.run(None)
    assert races.cost == pytest.approx(p._evaluate_labels(races.labels))
    assert races.labels.tolist() == canonical(races.labels).tolist() and races.proven


@pytest.mark.parametrize("seed", range(trials(20)))
def test_numbers_of_a_sum_are_replaced_one_by_one(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=200) * 10.0 ** rng.integers(-8, 9, 200)
    total = RunningSum(values.tolist())
    for k in rng.integers(0, 200, 1000).tolist():
        new = float(rng.normal() * 10.0 ** rng.integers(-8, 9))
        total.replace(float(values[k]), new)
        values[k] = new
    assert total.value == math.fsum(values.tolist())


@pytest.mark.parametrize("seconds", [None, 10.0])
def test_bounds_and_labels_of_many_components_add_up(seconds):
    p = apart(*[noisy(6 + seed % 12, seed) for seed in range(60)])
    races = Races(p, np.arange(p.n, dtype=np.int32), Stopping(seconds), RacesParameters(), 0.0, improved=False)
    assert len(races._parts) > 20
    races.run(seconds)
    assert races.bound == pytest.approx(races._closed + math.fsum(part.bound for part in races._parts), abs=1e-9)
    assert races.proven and races.cost == pytest.approx(p._evaluate_labels(races.labels), abs=1e-9)
    assert races.cost == pytest.approx(gp.partition.ilp(p).cost, abs=1e-6)


def test_bounds_of_unlisted_costs_begin_with_the_first_turn():
    rng = np.random.default_rng(3)
    pairs = np.unique(np.sort(rng.integers(0, 6000, (24_000, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    p = gp.SetPartition.from_pairs(6000, pairs, np.full(len(pairs), -1.0), missing=1.0)
    races = Races(p, np.arange(p.n, dtype=np.int32), Stopping(time_limit=60), RacesParameters(), 0.0)
    part = races._parts[-1]
    race, stopping = races._begin(part, 60.0)
    prover = next(record.contestant for record in race._records if record.contestant.proves)
    assert prover.name == "bounds" and prover.needs == 0.0
    prover.run(stopping, 0.0)  # ends after its first step
    packed = gp.partition.lower_bound(p, "cycle-packing").bound
    assert prover.bound >= packed - 0.02 * abs(packed) and prover.bound > -0.5 * len(pairs)


@pytest.mark.parametrize(
    ("gains", "expected"), [("", "spsp"), ("1", "spspsp"), ("01", "spsppsp"), ("11", "spspspsp"), ("0001", "spsp")]
)
def test_without_a_limit_searches_and_proofs_go_on_until_neither_finds_better_partitions(gains, expected, monkeypatch):
    """s and p are turns of searches and proofs; `gains` says which turns of proofs find a better partition."""
    races = Races(
        gp.SetPartition.from_matrix(noisy(40, 1)), np.arange(40, dtype=np.int32), Stopping(60.0), RacesParameters(), 0.0
    )
    turns, left = [], [int(gain) for gain in gains]

    def solved(part, seconds, *, searching=False, hopeful=False):
        assert searching != hopeful
        turns.append("s" if searching else "p")
        races.cost -= left.pop(0) if hopeful and left else 0
        return False

    monkeypatch.setattr(races, "_solve", solved)
    races.run(False)
    assert "".join(turns) == expected


def test_small_components_beside_a_large_one_have_a_proof_and_a_short_search() -> None:
    parts = [gp.generate.sparse_random(25, 60, seed=seed).problem for seed in range(4)]
    parts += [gp.generate.sparse_random(60, 150, seed=5).problem, gp.generate.sparse_random(2000, 8000, seed=6).problem]
    firsts = np.cumsum([0, *(part.n for part in parts)])
    u, v, cost = (np.concatenate(each) for each in zip(*(part.pairs() for part in parts), strict=True))
    shift = np.repeat(firsts[:-1], [part.m for part in parts])
    p = gp.SetPartition.from_pairs(int(firsts[-1]), (u + shift, v + shift), cost)
    races = Races(p, np.arange(p.n, dtype=np.int32), Stopping(60.0), RacesParameters(), 0.0, seed=0, threads=1)
    together = next(part for part in races._parts if part.count > 1)
    alone = next(part for part in races._parts if part.count == 1 and 30 <= part.problem.n < 100)
    for part in (together, alone):
        alone_cost = part.problem.evaluate(np.arange(part.problem.n))
        for _ in range(100):  # beside other work, a share may be over before anything was done
            assert races._solve(part, 1e-3)  # shares by pairs: the large component has nearly all of them
            if part.cost < alone_cost:
                break
        assert part.cost < alone_cost
    assert together.prover is not None and alone.prover is None
    (searcher,) = (one.contestant for one in alone.race._records if not one.contestant.proves)
    assert searcher.parameters.work == LEAST_WORK < SearchParameters().work

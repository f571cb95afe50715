"""Local searches that keep subsets connected: the same steps as naive references, and what is left at the end."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference as naive
from lifted import connected_labels, lifted_problem
from reference_pairs import chained, improve_pairs_alone, reference_chains
from reference_pairs import reference as reference_pairs
from trials import trials

import graphpart as gp
from graphpart.partition.local_search._kernighan_lin_pairs import Pairs
from graphpart.partition.local_search._levels import Level
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.problem import canonical
from graphpart.stopping import Stopping

SEARCHES = {"greedy_joining", "greedy_moving", "kernighan_lin"}
ALL = sorted(SEARCHES | {"kernighan_lin_pairs", "multilevel"})


def numbered(rng: np.random.Generator, most: int, number: int) -> gp.SetPartition:
    """A problem with at most so many elements; with ties, cuts, joins, or none of these."""
    n = int(rng.integers(1, most + 1))
    return lifted_problem(rng, n, ties=number % 2 == 0, cuts=number % 3 == 0, joins=number % 5 == 0)


@pytest.mark.parametrize("name", sorted(SEARCHES))
@pytest.mark.parametrize("seed", range(3))
def test_same_trajectory_as_the_naive_reference(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for number in range(trials(60)):
        p = lifted_problem(
            rng, int(rng.integers(1, 10)), ties=number % 2 == 0, cuts=number % 3 == 0, joins=number % 5 == 0
        )
        start = connected_labels(rng, p).tolist()
        steps = [start, *itertools.islice(getattr(naive, name)(p, start), 12)]
        for k, expected in enumerate(steps):
            result = getattr(gp.partition, name)(p, start, max_iterations=k)
            assert result.labels.tolist() == expected, (seed, number, k)
        if len(steps) <= 12:
            assert getattr(gp.partition, name)(p, start).labels.tolist() == steps[-1], (seed, number)


@pytest.mark.parametrize("seed", range(3))
def test_same_pairs_and_chains_as_the_references(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for number in range(25):
        p = lifted_problem(rng, int(rng.integers(1, 13)), ties=number % 2 == 0, cuts=number % 3 == 0)
        for labels in (connected_labels(rng, p), np.arange(p.n, dtype=np.int32)):
            found = improve_pairs_alone(p, labels, Stopping())
            assert canonical(found).tolist() == canonical(reference_pairs(p, labels)).tolist(), (seed, number)
            for patience in (1, 3, 10):
                assert chained(p, labels, patience) == reference_chains(p, labels, patience), (seed, number)


def test_subsets_that_only_lifted_pairs_link_by_now_are_not_joined() -> None:
    """What linked two subsets may have left one of them since the pairs of a round were listed."""
    for seed in range(trials(250)):
        rng = np.random.default_rng(seed)
        pairs = np.array([(a, b) for a in range(12) for b in range(a + 1, 12) if rng.random() < 0.5])
        costs, far = rng.normal(size=len(pairs)), rng.random(len(pairs)) < 0.4
        p = gp.SetPartition.from_pairs(12, pairs[~far], costs[~far], lifted=(pairs[far], costs[far]))
        start = np.arange(12, dtype=np.int32)
        pairs_of = Pairs(None, p._rows().arrays, start, p._magnitude, p._tolerance, 0.0, 20, terms=terms_of(p))
        while pairs_of.round(Stopping()):
            cost = p._evaluate_labels(canonical(pairs_of.labels))  # inf if a subset is not connected
            assert cost == pytest.approx(pairs_of.cost), seed


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_left_to_gain_and_subsets_are_connected(name: str) -> None:
    rng = np.random.default_rng(len(name))
    for number in range(trials(60)):
        p = lifted_problem(
            rng, int(rng.integers(1, 30)), ties=number % 2 == 0, cuts=number % 3 == 0, joins=number % 5 == 0
        )
        start = connected_labels(rng, p)
        r = getattr(gp.partition, name)(p, start)
        p._check_feasible(r.labels)
        assert r.cost == p.evaluate(r.labels) <= p.evaluate(start)
        units = naive.Units(p)
        labels = units.start(r.labels.tolist())
        if name in {"greedy_joining", "kernighan_lin_pairs"}:
            assert next(naive.greedy_joining(p, r.labels.tolist()), None) is None, number
        if name != "greedy_joining":
            best = naive._best_move(units, labels, list(range(units.n)))
            assert best is None or not best[0] < -units.tolerance, number


@pytest.mark.parametrize("seed", range(4))
def test_levels_stay_connected(seed: int) -> None:
    """Sets that are contracted are connected, and pairs of a level are base pairs where one of theirs is."""
    rng = np.random.default_rng(seed)
    for _ in range(30):
        p = lifted_problem(rng, 20, ties=bool(seed % 2))
        level = Level(*p._rows().arrays, terms_of(p))
        labels = np.arange(p.n, dtype=np.int32)
        level.move(labels, 0.0, Stopping())
        p._check_feasible(canonical(labels))
        fine = canonical(level.refine(labels))
        p._check_feasible(fine)
        q, above = p._contract(fine), level.coarsen(fine, int(fine.max()) + 1)
        moved, expected = np.arange(q.n, dtype=np.int32), np.arange(q.n, dtype=np.int32)
        above.move(moved, 0.0, Stopping())
        q._check_feasible(canonical(moved))
        if seed % 2 == 0:  # without rounding, the level is the contracted problem with its rows in another order
            Level(*q._rows().arrays, terms_of(q)).move(expected, 0.0, Stopping())
            assert q._evaluate_labels(canonical(moved)) == q._evaluate_labels(canonical(expected))


@pytest.mark.parametrize("name", ["kernighan_lin", "kernighan_lin_pairs"])
def test_floods_of_large_subsets_do_not_hold_up_the_end(name: str) -> None:
    """On a path in few subsets, hardly any element may leave, and to see that takes long (without a look, 8 s)."""
    rng = np.random.default_rng(1)
    n = 100_000
    first, left = np.arange(n - 1), rng.integers(0, n - 60, 3 * n)
    far = np.stack([left, left + rng.integers(2, 50, 3 * n)], 1)
    path = np.stack([first, first + 1], 1)
    costs = rng.normal(size=n - 1) - 3
    p = gp.SetPartition.from_pairs(n, path, costs, lifted=(far, rng.normal(size=3 * n) - 0.5))
    assert getattr(gp.partition, name)(p, time_limit=0.1).seconds < 4.0

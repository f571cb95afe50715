"""The search where subsets have to be connected: what its parts make of partitions, and what it finds."""

from __future__ import annotations

import numpy as np
import pytest
from lifted import connected_labels, lifted_problem

import graphpart as gp
from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.annealing_rounds import other_start
from graphpart.partition.anytime_search.fusion import fused, noisy_joining, polished_changes
from graphpart.partition.anytime_search.levels import proposal_by_levels
from graphpart.partition.anytime_search.recombination import best_of_regions, common_sets, recombined
from graphpart.partition.problem import canonical
from graphpart.stopping import Stopping


@pytest.mark.parametrize("seed", range(2))
def test_all_that_makes_partitions_keeps_subsets_connected(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for number in range(15):
        p = lifted_problem(rng, 40, ties=number % 2 == 0, cuts=number % 3 == 0)
        x, y = connected_labels(rng, p), connected_labels(rng, p)
        common = common_sets(p, x, y)
        assert p._contract(common).n == int(common.max()) + 1
        for labels in (x, y):  # each set is within a subset of both
            assert len(np.unique(np.stack([common, labels]), axis=1).T) == int(common.max()) + 1
        annealer, stopping = Annealer(p), Stopping()
        better = best_of_regions(p, x, y)
        assert p.evaluate(better) <= min(p.evaluate(x), p.evaluate(y)) + 1e-9
        merged = fused(annealer, x, y, 0.3, 20, number, stopping)
        assert p.evaluate(merged) <= p.evaluate(better) + 1e-9
        cool = annealer.temperatures(x, 0.05)
        found = [
            common, better, merged, recombined(annealer, x, y, 0.3, cool, (20, 20), number, stopping),
            annealer.run(y, 30, annealer.temperatures(y, 1.0), number, stopping),
            annealer.evolve(y, np.arange(p.n, dtype=np.int32), 1e5, number, stopping),
            noisy_joining(p, 0.3, rng, stopping), proposal_by_levels(p, stopping, rng), other_start(p, x, 1),
            polished_changes(annealer, x, merged, stopping, True),
        ]  # fmt: skip
        for labels in found:
            p._check_feasible(canonical(labels))


@pytest.mark.parametrize("threads", [1, 2])
def test_search_is_not_above_local_search(threads: int) -> None:
    """With as many elements as fusion takes, also in regions that are searched by themselves."""
    p = gp.generate.lifted_grid(15, 15, seed=3).problem
    start = gp.partition.kernighan_lin_pairs(p)
    r = gp.partition.search(p, max_iterations=4, seed=2, threads=threads)
    p._check_feasible(r.labels)
    assert r.cost == p.evaluate(r.labels) < start.cost
    if threads == 1:
        assert gp.partition.search(p, max_iterations=4, seed=2, threads=2).cost == r.cost


def test_search_finds_optima() -> None:
    rng = np.random.default_rng(5)
    for number in range(6):
        p = lifted_problem(rng, 16, ties=number % 2 == 0)
        r = gp.partition.search(p, max_iterations=6, seed=number)
        assert r.cost == pytest.approx(gp.partition.exact(p).cost, abs=1e-6), number


def test_annealing_alone_finds_many_optima() -> None:
    rng = np.random.default_rng(0)
    optimal = 0
    for number in range(20):
        p = lifted_problem(rng, 9, ties=False)
        found = Annealer(p).run(np.arange(p.n, dtype=np.int32), 300, (2.0, 0.05), number, Stopping())
        p._check_feasible(found)
        optimal += p.evaluate(found) <= gp.partition.brute_force(p).cost + 1e-9
    assert optimal >= 10

"""Recombination and populations: against the members they begin with, brute force, and themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import partitions
from trials import trials

import graphpart as gp
from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.recombination import recombined
from graphpart.partition.anytime_search.restarts import best_of_population
from graphpart.partition.problem import Labels, canonical
from graphpart.stopping import Stopping


def members_of(p: gp.SetPartition, labels: list[Labels]) -> list[tuple[float, Labels]]:
    return sorted(((p._evaluate_labels(each), each) for each in labels), key=lambda member: member[0])


def random_labels(p: gp.SetPartition, seed: int) -> Labels:
    """Random labels that satisfy required cuts: elements of a violated one are alone."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(1 + p.n // 2, size=p.n)
    u, v, cost = p.pairs()
    violated = np.isinf(cost) & (labels[u] == labels[v])
    labels[u[violated]] = p.n + u[violated]
    return canonical(labels)


@given(partitions(min_n=2, max_n=9, kinds=("integer", "sign", "real", "huge", "tiny")))
@settings(max_examples=trials(60), derandomize=True, deadline=None)
def test_the_best_member_is_feasible_and_no_worse_than_the_first(p: gp.SetPartition) -> None:
    q = p._contract(p._must_join_classes()) if len(p.must_join) else p
    first = [random_labels(q, seed) for seed in range(5)]
    costs = [q._evaluate_labels(labels) for labels in first]
    found = best_of_population(Annealer(q), members_of(q, first), 1, Stopping())
    again = best_of_population(Annealer(q), members_of(q, first), 1, Stopping())
    assert found.tolist() == again.tolist() == canonical(found).tolist()
    cost = q._evaluate_labels(found)
    assert gp.partition.brute_force(q).cost - q._tolerance <= cost <= min(costs) and cost < math.inf


@pytest.mark.parametrize("dense", [True, False])
def test_populations_find_what_their_members_do_not_have(dense: bool) -> None:
    """Poor first members: the optimum must come from recombination."""
    reached = 0
    for seed in range(12):
        p = gp.generate.uniform_integers(11, 9, seed=seed).problem
        p = gp.SetPartition.from_pairs(p.n, p.pairs()[:2], p.pairs()[2], dense=dense)
        optimum = gp.partition.brute_force(p).cost
        first = [random_labels(p, 100 * seed + k) for k in range(8)]
        assert all(p._evaluate_labels(labels) > optimum for labels in first)
        found = best_of_population(Annealer(p), members_of(p, first), seed, Stopping())
        reached += p._evaluate_labels(found) == optimum
    assert reached >= 10


def test_recombination_of_equal_partitions_without_sweeps_is_that_partition() -> None:
    p = gp.generate.uniform_integers(30, 5, seed=2).problem
    annealer, labels = Annealer(p), random_labels(p, 3)
    cool = annealer.temperatures(labels, 0.05)
    assert recombined(annealer, labels, labels, 3.0, cool, (0, 0), 0, Stopping()).tolist() == labels.tolist()


def test_a_stopped_population_gives_its_best_member_so_far() -> None:
    p = gp.generate.uniform_integers(40, 5, seed=4).problem
    first = [random_labels(p, k) for k in range(9)]
    stopping = Stopping()
    stopping.stop(gp.Status.INTERRUPTED)
    found = best_of_population(Annealer(p), members_of(p, first), 0, stopping)
    assert p._evaluate_labels(found) == min(p._evaluate_labels(labels) for labels in first)

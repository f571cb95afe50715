"""Pairwise Kernighan-Lin with joins, chains and long sequences, against references that recompute every cost."""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from fractions import Fraction

import numpy as np
import pytest
import reference as naive
from backgrounds import background_problem
from hypothesis import example, given, settings
from reference_pairs import chained, improve_pairs_alone, reference, reference_chains
from strategies import partitions
from trials import trials

import graphpart as gp
from graphpart.partition.local_search import _kernels
from graphpart.partition.local_search import kernighan_lin_pairs as module
from graphpart.partition.local_search._kernighan_lin_pairs import Pairs
from graphpart.partition.local_search._sparse_chains import Chains
from graphpart.partition.local_search.kernighan_lin_pairs import (
    CHAIN,
    LONGEST,
    kernighan_lin_pairs,
)
from graphpart.partition.problem import canonical
from graphpart.partition.problem.derived import connected_subsets
from graphpart.stopping import Stopping


@given(partitions(max_n=8, kinds=("integer", "sign", "quarter"), requirements=False))
@settings(max_examples=trials(70), derandomize=True, deadline=None)
def test_same_partition_as_the_reference(p: gp.SetPartition) -> None:
    start = np.arange(p.n, dtype=np.int32)
    for labels in (start, canonical(start % 3), start * 0):
        if not math.isinf(p._evaluate_labels(labels)):
            found = improve_pairs_alone(p, labels, Stopping())
            assert canonical(found).tolist() == canonical(reference(p, labels)).tolist()


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_same_partition_as_the_reference_without_ties(dense: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 14
    pairs = [(a, b) for a in range(n) for b in range(a) if rng.random() < (1.0 if dense else 0.3)]
    costs = rng.normal(size=len(pairs))
    cuts = [pairs[k] for k in rng.choice(len(pairs), 3, replace=False)]
    p = gp.SetPartition.from_pairs(n, pairs, costs, must_cut=cuts, dense=dense)
    start = np.arange(n, dtype=np.int32)
    assert canonical(improve_pairs_alone(p, start, Stopping())).tolist() == canonical(reference(p, start)).tolist()
    impatient = improve_pairs_alone(p, start, Stopping(), 2)
    assert canonical(impatient).tolist() == canonical(reference(p, start, 2)).tolist()


@pytest.mark.parametrize("threads", ["1", "2"])
@given(partitions(max_n=9, kinds=("integer", "sign", "quarter"), dense=False, requirements=False))
@settings(max_examples=trials(40), derandomize=True, deadline=None)
def test_groups_of_subsets_in_the_order_of_the_reference(threads: str, p: gp.SetPartition) -> None:
    start = np.arange(p.n, dtype=np.int32)
    for labels in (start, canonical(start % 5), start * 0):
        if not math.isinf(p._evaluate_labels(labels)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("GRAPHPART_THREADS", threads)
                found = improve_pairs_alone(p, labels, Stopping(), 1000, True)
            assert canonical(found).tolist() == canonical(reference(p, labels, divided=True)).tolist()


@pytest.mark.parametrize("seed", range(6))
def test_groups_of_small_subsets_in_the_order_of_the_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 30
    pairs = [(a, b) for a in range(n) for b in range(a) if rng.random() < 0.2]
    p = gp.SetPartition.from_pairs(n, pairs, rng.normal(size=len(pairs)) - 0.1, dense=False)
    labels = canonical(rng.integers(0, 12, n).astype(np.int32))
    found = improve_pairs_alone(p, labels, Stopping(), 3, True)
    assert canonical(found).tolist() == canonical(reference(p, labels, 3, divided=True)).tolist()


@pytest.mark.parametrize("divided", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_subsets_that_changed_partly_as_the_reference(seed: int, divided: bool) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 26))
    pairs = [(a, b) for a in range(n) for b in range(a) if rng.random() < rng.choice([0.1, 0.3])]
    costs = rng.integers(-2, 3, len(pairs)) if seed % 2 else rng.normal(size=len(pairs))
    p = gp.SetPartition.from_pairs(n, pairs, costs, missing=0.1 * (seed % 3 == 0), dense=False)
    labels = canonical(rng.integers(0, rng.integers(2, 6), n).astype(np.int32))
    for parts in ((0, 0), (3, 1), (4, 2)):
        found = improve_pairs_alone(p, labels, Stopping(), 3, divided, parts)
        expected = reference(p, labels, 3, divided=divided, parts=parts)
        assert canonical(found).tolist() == canonical(expected).tolist()


@pytest.mark.parametrize("kind", ["normal", "signs", "background"])
def test_the_same_on_any_number_of_threads(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DIVIDED", 0)
    monkeypatch.setattr(module, "PARTLY", 20)
    n, m = 2000, 8000
    rng = np.random.default_rng(len(kind))
    a, b = rng.integers(0, n, m), rng.integers(1, n, m)
    costs = rng.integers(-1, 2, m) if kind == "signs" else rng.normal(size=m)
    p = gp.SetPartition.from_pairs(
        n, np.column_stack([a, (a + b) % n]), costs, missing=0.01 * (kind == "background"), dense=False
    )
    found = []
    for threads in ("1", "2", "3", "7"):
        monkeypatch.setenv("GRAPHPART_THREADS", threads)
        for initial in ("alone", "together"):
            r = kernighan_lin_pairs(p, initial=np.arange(n) if initial == "alone" else np.zeros(n, int))
            assert r.cost == p.evaluate(r.labels) < 0
            found.append((initial, r.labels.tolist()))
    assert found == 4 * found[:2]


@pytest.mark.parametrize("limit", ["time", "iterations", "callback"])
def test_two_threads_stop_and_keep_the_best(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DIVIDED", 0)
    monkeypatch.setenv("GRAPHPART_THREADS", "2")
    n, m = 30_000, 150_000
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, n, m), rng.integers(1, n, m)
    p = gp.SetPartition.from_pairs(n, np.column_stack([a, (a + b) % n]), rng.normal(size=m))
    start = np.arange(n) % 20
    if limit == "time":
        r = kernighan_lin_pairs(p, start, time_limit=0.1)
    elif limit == "iterations":
        r = kernighan_lin_pairs(p, start, max_iterations=1)
    else:
        r = kernighan_lin_pairs(p, start, callback=lambda seconds, cost: seconds > 0.1)
    assert r.status == {"time": "time_limit", "iterations": "iteration_limit", "callback": "interrupted"}[limit]
    assert r.cost == p.evaluate(r.labels) <= p.evaluate(start)


@pytest.mark.parametrize(("height", "whole"), [(0.7, 0), (0.0, 8), (0.5, 6)])
@pytest.mark.parametrize("seed", range(6))
def test_same_sequences_as_the_reference_by_height_and_size(seed: int, height: float, whole: int) -> None:
    rng = np.random.default_rng(seed)
    n = 16
    pairs = [(a, b) for a in range(n) for b in range(a) if rng.random() < 0.4]
    p = gp.SetPartition.from_pairs(n, pairs, rng.normal(size=len(pairs)) - 0.2, dense=False)
    for labels in starts(p):
        found = Pairs(
            None, p._rows().arrays, labels, p._magnitude, p._tolerance, p._evaluate_labels(labels), 1, height, whole
        )
        while found.round(Stopping()):
            pass
        expected = reference(p, labels, 1, height, whole)
        assert canonical(found.labels).tolist() == canonical(expected).tolist()


def starts(p: gp.SetPartition) -> list[np.ndarray]:
    singletons = np.arange(p.n, dtype=np.int32)
    return [x for x in (singletons, canonical(singletons % 3), singletons * 0) if not math.isinf(p._evaluate_labels(x))]


FINE = gp.SetPartition.from_pairs(6, [(0, 1), (0, 2), (0, 4)], [-1.0, -1.0, 1.2e-38], dense=False)


@given(partitions(max_n=8, dense=False))
@example(FINE)  # a cost that is 0 in fixed point, where two moves tie
@settings(max_examples=trials(70), derandomize=True, deadline=None)
def test_same_chains_as_the_reference(p: gp.SetPartition) -> None:
    p = p._contract(p._must_join_classes())
    for labels in starts(p):
        for patience, hub in ((1, 99), (2, 99), (CHAIN, 99), (CHAIN, 2)):
            assert chained(p, labels, patience, hub) == reference_chains(p, labels, patience, hub)
        assert chained(p, labels, CHAIN, longest=3) == reference_chains(p, labels, CHAIN, longest=3)


@pytest.mark.parametrize("seed", range(8))
def test_same_chains_as_the_reference_without_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = [(a, b) for a in range(18) for b in range(a) if rng.random() < 0.25]
    cuts = [pairs[k] for k in rng.choice(len(pairs), 3, replace=False)]
    p = gp.SetPartition.from_pairs(18, pairs, rng.normal(size=len(pairs)), must_cut=cuts, dense=False)
    for labels in starts(p):
        assert chained(p, labels, 6) == reference_chains(p, labels, 6)


@given(partitions(max_n=9, dense=False))
@settings(max_examples=trials(30), derandomize=True, deadline=None)
def test_same_chains_in_batches_as_the_reference(p: gp.SetPartition) -> None:
    p = p._contract(p._must_join_classes())
    for labels in starts(p):
        for longest, *batches in ((3, 2, 4), (2, 4, 0), (LONGEST, 9, 0)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("GRAPHPART_THREADS", str(1 + p.n % 2))
                found = chained(p, labels, CHAIN, 5, longest, *batches)
            assert found == reference_chains(p, labels, CHAIN, 5, longest, *batches)


@pytest.mark.parametrize("seed", range(8))
def test_same_chains_in_batches_of_more_elements(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some are not applied, since others have moved an element or a neighbour; some make new subsets."""
    monkeypatch.setenv("GRAPHPART_THREADS", str(1 + seed % 2))
    rng = np.random.default_rng(seed)
    n = 60
    pairs = [(a, b) for a in range(n) for b in range(a) if rng.random() < 0.1]
    costs = rng.integers(-2, 3, len(pairs)) if seed % 3 == 0 else rng.normal(size=len(pairs))
    p = gp.SetPartition.from_pairs(n, pairs, costs, must_cut=[pairs[3]], dense=False)
    for labels in (gp.partition.greedy_joining(p).labels, canonical(rng.integers(0, 8, n).astype(np.int32))):
        if not math.isinf(p._evaluate_labels(labels)):
            for often in (0, 4):
                found = chained(p, labels, 6, 99, LONGEST, 24, often)
                assert found == reference_chains(p, labels, 6, 99, LONGEST, 24, often)


@pytest.mark.parametrize("kind", ["normal", "signs", "grid", "background", "weights"])
def test_chains_in_batches_are_the_same_on_any_number_of_threads(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 0)
    monkeypatch.setattr(module, "BATCHES", 8)
    n, m = 20_000, 60_000
    rng = np.random.default_rng(len(kind))
    a, b = rng.integers(0, n, m), rng.integers(1, n, m)
    if kind == "grid":
        b = np.where(rng.random(m) < 0.5, 1, 141)
    costs = rng.integers(-1, 2, m) if kind == "signs" else rng.normal(size=m)
    background = {"background": (1e-5, np.ones(n)), "weights": [(1e-6, a[:n], b[:n]), (0.01, rng.random(n))]}.get(kind)
    pairs = np.column_stack([a, (a + b) % n])
    p = gp.SetPartition.from_pairs(n, pairs, costs, background=background, dense=False)
    found = []
    for threads in ("1", "2", "3", "7"):
        monkeypatch.setenv("GRAPHPART_THREADS", threads)
        r = kernighan_lin_pairs(p)
        assert r.cost == p.evaluate(r.labels) < 0
        found.append(r.labels.tolist())
    assert found == 4 * found[:1]


@pytest.mark.parametrize("seed", range(8))
def test_same_chains_in_batches_with_a_background(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some are applied although others have changed one of their subsets, if they lower the cost still."""
    monkeypatch.setenv("GRAPHPART_THREADS", str(1 + seed % 2))
    rng = np.random.default_rng(seed)
    for _ in range(8):
        p = background_problem(rng, repels=seed < 6)
        p = p._contract(p._must_join_classes())
        for labels in starts(p):
            for often in (0, 4):
                assert chained(p, labels, 6, 99, 5, 4, often) == reference_chains(p, labels, 6, 99, 5, 4, often)
    n = 40
    pairs = [(a, b) for a in range(n) for b in range(a) if rng.random() < 0.2]
    w = rng.integers(0, 1000, n)
    for factor in (0.3, 2.0):
        costs = rng.integers(-4_000_000, 2_000_000, len(pairs)).astype(float)
        p = gp.SetPartition.from_pairs(n, pairs, costs, background=(factor, w), dense=False)
        for labels in (np.arange(n, dtype=np.int32), canonical(rng.integers(0, 5, n).astype(np.int32))):
            assert chained(p, labels, 6, 99, LONGEST, 20, 0) == reference_chains(p, labels, 6, 99, LONGEST, 20, 0)


@pytest.mark.parametrize("seed", range(4))
def test_same_as_the_references_with_a_background(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for number in range(32):
        p = background_problem(rng, repels=bool(number % 4))
        p = p._contract(p._must_join_classes())
        for labels in starts(p):
            assert chained(p, labels, 6) == reference_chains(p, labels, 6), (seed, number)
            if p.background.constant is None:  # no ties
                found = improve_pairs_alone(p, labels, Stopping())
                assert canonical(found).tolist() == canonical(reference(p, labels)).tolist(), (seed, number)


@pytest.mark.parametrize("seed", range(3))
def test_same_as_the_references_with_a_background_and_more_elements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 24
    pairs = [(a, b) for a in range(n) for b in range(a) if rng.random() < 0.25]
    w = rng.integers(0, 1000, (2, n))  # whole numbers, whose sums are exact, since two elements tie in {a}, {b}
    for background in ((1.0, w[0]), [(0.5, w[0], w[1])], [(-1.0, w[1]), (2.0, w[0], w[1])]):
        costs = rng.integers(-4_000_000, 3_000_000, len(pairs)).astype(float)
        p = gp.SetPartition.from_pairs(n, pairs, costs, background=background, dense=False)
        for labels in starts(p):
            assert chained(p, labels, CHAIN) == reference_chains(p, labels, CHAIN)
            found = improve_pairs_alone(p, labels, Stopping())
            assert canonical(found).tolist() == canonical(reference(p, labels)).tolist()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("background", ["none", "constant", "weights"])
def test_what_is_left_out_changes_nothing(background: str, seed: int) -> None:
    """With a limit that forbids nothing, all pairs of subsets, elements that wait and candidates are looked at."""
    rng = np.random.default_rng(seed)
    n = 400
    truth = np.repeat(np.arange(n), rng.integers(1, 9, n))[:n] if seed % 2 else rng.integers(3, size=n)
    pairs = np.stack(np.triu_indices(n, 1), 1)
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    share = 0.8 if seed % 2 else 0.03
    kept = rng.random(len(pairs)) < np.where(same, share, 0.02)
    costs = np.where(same, -1.5, 1.0)[kept] + rng.normal(size=int(kept.sum()))
    weights = np.ones(n) if background == "constant" else rng.random(n)
    given = None if background == "none" else [(0.02 + 0.3 * (seed % 2), weights)]
    free, limited = (
        gp.SetPartition.from_pairs(n, pairs[kept], costs, background=given, max_size=most, dense=False)
        for most in (None, n)
    )
    for labels in starts(free):
        found, expected = (improve_pairs_alone(p, labels, Stopping()) for p in (free, limited))
        assert found.tolist() == expected.tolist()
        assert chained(free, labels, CHAIN) == chained(limited, labels, CHAIN)


def test_a_long_chain_stays_in_range_and_in_time() -> None:
    """Each of many moves lowers the cost: their sum once left the range of fixed point."""
    path = gp.SetPartition.from_pairs(400, [(a, a + 1) for a in range(399)], -np.ones(399), dense=False)
    labels = np.arange(400, dtype=np.int32)
    assert chained(path, labels, CHAIN) == reference_chains(path, labels, CHAIN)
    assert kernighan_lin_pairs(path, initial=labels).cost == -399
    assert kernighan_lin_pairs(path, initial=labels, target=-150).status == gp.Status.TARGET
    n, rng = 40_000, np.random.default_rng(0)
    u, v = rng.integers(n, size=(2, 3 * n))
    u, v = np.unique(np.sort(np.stack([u[u != v], v[u != v]], 1), axis=1), axis=0).T
    p = gp.SetPartition.from_pairs(n, (u, v), -np.ones(len(u)))
    r = kernighan_lin_pairs(p, initial=np.arange(n, dtype=np.int32), time_limit=0.02)
    assert r.status == gp.Status.TIME_LIMIT  # it was quadratic, and never asked for the time


def test_chains_after_a_change_are_those_from_scratch() -> None:
    """What is remembered of the moves of elements is forgotten where another partition differs."""
    p = gp.generate.sparse_random(300, 1200, seed=1).problem
    chains = Chains(*p._rows().arrays, np.arange(p.n, dtype=np.int32), p._magnitude, p._tolerance, CHAIN, LONGEST, 99)
    cost = chains.improve(0.0, Stopping())
    assert chains.improve(cost, Stopping()) == cost  # nothing to do
    labels = np.array(chains.labels)
    labels[::7] = labels[3]
    chains.adopt(labels)
    chains.improve(0.0, Stopping())
    again = Chains(*p._rows().arrays, chains.labels, p._magnitude, p._tolerance, CHAIN, LONGEST, 99)
    again.improve(0.0, Stopping())
    assert again.labels.tolist() == chains.labels.tolist()


def reference_sequences(p: gp.SetPartition, labels: np.ndarray, rest: int, patience: int) -> list[int]:
    """Long sequences on a matrix, literally."""
    units, current = naive.Units(p), labels.tolist()
    while True:
        x, kept, since, resting = naive.canonical(current), None, 0, deque[int](maxlen=rest)
        total = smallest = Fraction(0)
        while since < patience:
            best = naive._best_move(units, x, [a for a in range(p.n) if a not in resting])
            if best is None:
                break
            total += best[0]
            x[best[1]] = best[3]
            resting.append(best[1])
            since += 1
            if total < smallest - Fraction(p._tolerance):
                smallest, kept, since = total, list(x), 0
        if kept is None:
            return current
        current = kept


@given(partitions(max_n=7, dense=True, requirements=False, kinds=("integer", "sign", "quarter")))
@settings(max_examples=trials(80), derandomize=True, deadline=None)
def test_same_long_sequences_as_the_reference(p: gp.SetPartition) -> None:
    for labels in starts(p)[: p.n]:
        for rest, patience in ((1, 5), (3, 12)):
            found = _kernels.kernighan_lin(
                p.matrix,
                labels,
                p._magnitude,
                p._tolerance,
                False,
                p._evaluate_labels(labels),
                Stopping(),
                rest,
                patience,
            )
            assert canonical(found).tolist() == naive.canonical(reference_sequences(p, labels, rest, patience))


@pytest.mark.parametrize("seed", range(4))
def test_long_sequences_keep_apart_what_must_be(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 12
    pairs = [(a, b) for a in range(n) for b in range(a)]
    cuts = [pairs[k] for k in rng.choice(len(pairs), 6, replace=False)]
    p = gp.SetPartition.from_pairs(n, pairs, rng.integers(-9, 10, len(pairs)), must_cut=cuts, dense=True)
    labels = np.arange(n, dtype=np.int32)
    found = _kernels.kernighan_lin(p.matrix, labels, p._magnitude, p._tolerance, True, 0.0, Stopping(), 3, 30)
    assert canonical(found).tolist() == naive.canonical(reference_sequences(p, labels, 3, 30))
    assert math.isfinite(p.evaluate(canonical(found)))


@given(partitions(max_n=9))
@settings(max_examples=trials(80), derandomize=True, deadline=None)
def test_never_above_its_start_and_feasible(p: gp.SetPartition) -> None:
    start = gp.partition.greedy_joining(p)
    r = kernighan_lin_pairs(p, initial=start)
    assert r.cost <= start.cost
    p._check_feasible(r.labels)
    again = kernighan_lin_pairs(p, initial=r)
    assert again.labels.tolist() == r.labels.tolist()


def test_below_whole_partition_sequences_where_a_split_is_needed() -> None:
    """Two triangles held together by what only a split of three elements at once undoes."""
    C = np.full((6, 6), 1.0)
    C[:3, :3] = C[3:, 3:] = -2.0
    r = kernighan_lin_pairs(gp.SetPartition.from_matrix(C), initial=[0] * 6)
    assert r.partition == [{0, 1, 2}, {3, 4, 5}] and r.cost == -12.0


@given(partitions(max_n=9))
@settings(max_examples=trials(100), derandomize=True, deadline=None)
def test_ends_where_neither_form_helps(p: gp.SetPartition) -> None:
    r = kernighan_lin_pairs(p)
    assert gp.partition.greedy_moving(p, initial=r).cost >= r.cost - p._tolerance
    assert gp.partition.greedy_joining(p, initial=r).cost >= r.cost - p._tolerance
    if not len(p.must_join):
        assert p.evaluate(improve_pairs_alone(p, r.labels, Stopping())) >= r.cost - p._tolerance
        if not p.is_dense:
            assert p.evaluate(np.array(chained(p, r.labels, CHAIN))) >= r.cost - p._tolerance


def test_a_star_takes_no_quadratic_time() -> None:
    """Chains through the centre would look at it 200,000 times, at 200,000 pairs each time."""
    n = 200_000
    pairs = np.stack([np.zeros(n - 1, np.int64), np.arange(1, n)], 1)
    p = gp.SetPartition.from_pairs(n, pairs, np.random.default_rng(0).normal(size=n - 1))
    r = kernighan_lin_pairs(p, initial=np.zeros(n, np.int32))
    assert r.status == gp.Status.LOCAL_OPTIMUM
    assert r.cost == pytest.approx(float(np.minimum(p.cost, 0.0).sum()))


def test_hubs_of_subsets_that_changed_partly_take_no_quadratic_time() -> None:
    rng = np.random.default_rng(1)
    n, hub, other = 150_000, 140_000, 66_000
    pairs = np.concatenate(
        [
            np.stack([np.zeros(hub, int), np.arange(1, hub + 1)], 1),
            np.stack([np.full(other, 3), np.arange(10, other + 10)], 1),
            rng.integers(0, n, (200_000, 2)),
        ]
    )
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    p = gp.SetPartition.from_pairs(n, pairs, rng.normal(size=len(pairs)))
    start = time.thread_time()
    assert kernighan_lin_pairs(p).cost < gp.partition.greedy_joining(p).cost
    assert time.thread_time() - start < 30  # 1.3 s; if hubs are looked at for each subset near a change, over 100 s


def test_a_large_subset_that_gains_many_elements_takes_no_quadratic_time() -> None:
    """To look at the whole subset after each of 100,000 joins would take 10^11 steps."""
    side = 1000
    at, rng = np.arange(side * side).reshape(side, side), np.random.default_rng(0)
    pairs = [np.stack([x.ravel(), y.ravel()], 1) for x, y in ((at[:-1], at[1:]), (at[:, :-1], at[:, 1:]))]
    p = gp.SetPartition.from_pairs(at.size, np.concatenate(pairs), -rng.random(2 * side * (side - 1)))
    alone = np.flatnonzero(rng.random(at.size) < 0.1)
    labels = np.zeros(at.size, np.int32)
    labels[alone] = np.arange(1, len(alone) + 1)
    labels = canonical(labels)
    found = Pairs(None, p._rows().arrays, labels, p._magnitude, p._tolerance, p._evaluate_labels(labels), 20)
    assert found.round(Stopping())
    assert found.cost < 0.99 * p.cost.sum()  # what nothing linked to the large subset at first is left for later


def test_a_round_looks_at_what_is_linked_to_a_changed_subset_since_this_round() -> None:
    """Once 1 moves from {0, 1} to the changed subset {3, 4}, the pair (1, 2) links that to {2}."""
    pairs = [(0, 1), (1, 2), (0, 2), (1, 3), (0, 3), (1, 4), (0, 4)]
    p = gp.SetPartition.from_pairs(5, pairs, [-1.0, -0.9, 2.5, -0.5, 1.0, -0.8, 1.0], dense=False)
    labels, changed = np.array([[0, 0, 1, 2, 3], [0, 0, 1, 2, 2]], np.int32)
    found = Pairs(None, p._rows().arrays, labels, p._magnitude, p._tolerance, p._evaluate_labels(labels), 20)
    assert not found.round(Stopping())
    found.adopt(changed, p._evaluate_labels(changed))
    assert found.round(Stopping())
    assert canonical(found.labels).tolist() == [0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "p",
    [
        gp.generate.grid(40, 40, regions=8, seed=3).problem,
        gp.generate.sparse_random(1000, 5000, seed=3).problem,
        gp.generate.uniform_integers(100, 100, seed=3).problem,
    ],
    ids=["grid", "sparse", "dense"],
)
def test_below_sequences_over_the_whole_partition(p: gp.SetPartition) -> None:
    assert kernighan_lin_pairs(p).cost < gp.partition.kernighan_lin(p).cost


def test_stops_and_keeps_the_best() -> None:
    p = gp.generate.sparse_random(2000, 20000, seed=4).problem
    full = kernighan_lin_pairs(p)
    r = kernighan_lin_pairs(p, max_iterations=1)
    assert r.status == gp.Status.ITERATION_LIMIT and r.iterations == 1
    assert full.cost <= r.cost <= gp.partition.greedy_joining(p).cost
    assert kernighan_lin_pairs(p, time_limit=0).status == gp.Status.TIME_LIMIT


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_pieces_of_subsets_take_no_second_search(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Subsets that fell apart are divided within the search, which goes on with what changed."""
    module = sys.modules["graphpart.partition.local_search.kernighan_lin_pairs"]
    p = gp.generate.grid(height=60, width=60, seed=seed).problem
    searches, divided = [], []
    whole, cut = module.improve_by_pairs, module.connected_subsets
    monkeypatch.setattr(module, "improve_by_pairs", lambda *given: searches.append(1) or whole(*given))
    monkeypatch.setattr(
        module, "connected_subsets", lambda q, x: divided.append(x.max() < cut(q, x).max()) or cut(q, x)
    )
    r = kernighan_lin_pairs(p)
    assert len(searches) == 1
    assert any(divided)
    assert connected_subsets(p, r.labels).max() == r.labels.max()
    assert gp.partition.greedy_joining(p, initial=r).cost >= r.cost - p._tolerance
    assert gp.partition.greedy_moving(p, initial=r).cost >= r.cost - p._tolerance


def test_a_chain_may_end_early():
    rng = np.random.default_rng(0)
    p = gp.SetPartition.from_pairs(60, np.stack(np.triu_indices(60, 1), 1), rng.normal(size=1770), dense=False)
    moved = []
    for stopped in (False, True):
        stopping = Stopping()
        if stopped:
            stopping.stop("time_limit")
        start = np.arange(60, dtype=np.int32)
        chains = Chains(*p._rows().arrays, start, p._magnitude, p._tolerance, CHAIN, LONGEST, 100)
        chains.improve(0.0, stopping)
        moved.append(np.count_nonzero(chains.labels != start))
    assert moved[0] > 5 and moved[1] == 1

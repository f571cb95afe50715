"""Pairwise Kernighan-Lin with joins, against a reference that recomputes every cost from scratch."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import partitions

import graphpart as gp
from graphpart.partition.kernighan_lin_pairs import improve_by_pairs, kernighan_lin_pairs
from graphpart.partition.problem import canonical
from graphpart.stopping import Stopping


def cost_matrix(p: gp.SetPartition) -> tuple[np.ndarray, np.ndarray]:
    """All costs, and which pairs are stored."""
    if p.matrix is not None:
        return p.matrix, ~np.eye(p.n, dtype=bool)
    C, stored = np.zeros((p.n, p.n)), np.zeros((p.n, p.n), bool)
    C[p.u, p.v] = C[p.v, p.u] = p.cost
    stored[p.u, p.v] = stored[p.v, p.u] = True
    return C, stored


def total(C: np.ndarray, x: np.ndarray) -> float:
    return float(np.triu(np.where(x[:, None] == x[None, :], C, 0.0), 1).sum())


def reference(p: gp.SetPartition, labels: np.ndarray, patience: int = 1000) -> np.ndarray:
    """The statement of the module, literally."""
    C, stored = cost_matrix(p)
    n, x, tolerance = p.n, np.array(labels), p.tolerance
    unused = [U for U in range(n, -1, -1) if U not in set(x.tolist())]

    def linked(a: int, W: int) -> bool:
        return bool((stored[a] & (x == W)).any())

    def improve(U: int, V: int) -> bool:
        start = x.copy()
        waiting = [a for a in range(n) if x[a] in (U, V) and (linked(a, V if x[a] == U else U) or V not in start)]
        joined = np.where(x == V, U, x)
        join = total(C, joined) - total(C, x)
        smallest, sum_, kept, sequence, done = 0.0, 0.0, 0, [], set()
        while waiting and len(sequence) - kept < patience:
            deltas = []
            for a in waiting:
                y = x.copy()
                y[a] = V if x[a] == U else U
                deltas.append((total(C, y) - total(C, x), a))
            delta, a = min(deltas)
            if delta == math.inf:
                break
            old = x[a]
            x[a] = V if old == U else U
            sum_ += delta
            sequence.append(a)
            waiting.remove(a)
            done.add(a)
            waiting += [b for b in np.flatnonzero(stored[a] & (x == old)).tolist() if b not in done | set(waiting)]
            if sum_ < smallest - tolerance:
                smallest, kept = sum_, len(sequence)
        x[:] = start
        if V in start and join < -tolerance and join <= smallest:
            x[:] = joined
        elif kept:
            for a in sequence[:kept]:
                x[a] = V if x[a] == U else U
        else:
            return False
        for W in (U, V):
            changed.discard(W)
            if W in x:
                changed.add(W)
            else:
                unused.append(W)
        return True

    changed = set(range(n + 1))
    while True:
        at_start, changed = changed, set()
        pairs = sorted(
            {(min(x[a], x[b]), max(x[a], x[b])) for a in range(n) for b in range(a) if stored[a, b] and x[a] != x[b]}
        )
        for U, V in pairs:
            if (U in at_start or V in at_start) and U in x and V in x:
                improve(U, V)
        touched = at_start | changed
        for U in sorted(set(x.tolist())):
            while U in touched and (x == U).sum() > 1:
                if not improve(U, unused.pop()):
                    unused.append(min(set(range(n + 1)) - set(x.tolist()) - set(unused)))
                    break
        if not changed:
            return x


@given(partitions(max_n=8, kinds=("integer", "sign", "quarter"), requirements=False))
@settings(max_examples=250, derandomize=True, deadline=None)
def test_same_partition_as_the_reference(p: gp.SetPartition) -> None:
    start = np.arange(p.n, dtype=np.int32)
    for labels in (start, canonical(start % 3), start * 0):
        if not math.isinf(p.evaluate_labels(labels)):
            found = improve_by_pairs(p, labels, Stopping())
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
    assert canonical(improve_by_pairs(p, start, Stopping())).tolist() == canonical(reference(p, start)).tolist()
    impatient = improve_by_pairs(p, start, Stopping(), 2)
    assert canonical(impatient).tolist() == canonical(reference(p, start, 2)).tolist()


@given(partitions(max_n=9))
@settings(max_examples=150, derandomize=True, deadline=None)
def test_never_above_its_start_and_feasible(p: gp.SetPartition) -> None:
    start = gp.partition.greedy_joining(p)
    r = kernighan_lin_pairs(p, initial=start)
    assert r.cost <= start.cost
    p.check_feasible(r.labels)
    again = kernighan_lin_pairs(p, initial=r)
    assert again.labels.tolist() == r.labels.tolist()


def test_below_whole_partition_sequences_where_a_split_is_needed() -> None:
    """Two triangles held together by what only a split of three elements at once undoes."""
    C = np.full((6, 6), 1.0)
    C[:3, :3] = C[3:, 3:] = -2.0
    r = kernighan_lin_pairs(gp.SetPartition.from_matrix(C), initial=[0] * 6)
    assert r.partition == [{0, 1, 2}, {3, 4, 5}] and r.cost == -12.0


@given(partitions(max_n=9))
@settings(max_examples=100, derandomize=True, deadline=None)
def test_ends_where_neither_form_helps(p: gp.SetPartition) -> None:
    r = kernighan_lin_pairs(p)
    assert gp.partition.kernighan_lin(p, initial=r).cost >= r.cost - p.tolerance
    if not len(p.must_join):
        start = gp.partition.greedy_joining(p)
        assert r.cost <= p.evaluate(improve_by_pairs(p, start.labels, Stopping())) + p.tolerance
        assert p.evaluate(improve_by_pairs(p, r.labels, Stopping())) >= r.cost - p.tolerance


def test_stops_and_keeps_the_best() -> None:
    p = gp.generate.sparse_random(2000, 20000, seed=4).problem
    full = kernighan_lin_pairs(p)
    r = kernighan_lin_pairs(p, max_iterations=1)
    assert r.status == gp.Status.ITERATION_LIMIT and r.iterations == 1
    assert full.cost <= r.cost <= gp.partition.greedy_joining(p).cost
    assert kernighan_lin_pairs(p, time_limit=0).status == gp.Status.TIME_LIMIT

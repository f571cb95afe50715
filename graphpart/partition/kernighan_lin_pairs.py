"""Pairwise Kernighan-Lin with joins (Keuper et al. 2015): two subsets at a time.

One round looks at all pairs of subsets {U, V} that a stored pair links, one of which changed since the pair was last
looked at, in order of their numbers. From the elements of U and V that a stored pair links to the other subset,
always the one whose switch from U to V or back changes the cost least switches next, whatever the sign; it may not
switch again, and the elements it is linked to in the subset it left may switch from then on. A sequence ends when no
element may switch, or after PATIENCE switches without a new best prefix. The best prefix of this sequence is compared
with joining U and V, and the better of the two is applied if it lowers the cost; joining is if they tie. After the
pairs, every subset that changed is split in the same way, against the empty set, to which all its elements may
switch, as long as that lowers the cost. Rounds end when one changes nothing. Then Kernighan-Lin over the whole
partition (see kernighan_lin.py) has its turn; if it lowers the cost, all starts again.

Ties go to the smallest element. Subsets are numbered in the order of their smallest elements at the start; the subset
of larger number joins that of smaller number, and a new subset takes the number that was given back last, at first the
smallest free one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.partition._kernighan_lin_pairs import Pairs
from graphpart.partition.greedy_joining import joined
from graphpart.partition.kernighan_lin import improve_by_sequences
from graphpart.partition.local_search import improve
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.result import PartitionResult
from graphpart.stopping import Stopping, interruptible

__all__ = ["kernighan_lin_pairs"]

CHUNK = 2**18  # stored pairs that are looked at together
PATIENCE = 30  # with ten times as much, costs differ by less than 0.01%, and time doubles


@interruptible
def kernighan_lin_pairs(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Improve a partition by sequences of switches between two subsets, joins and splits.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``. Elements that must be joined move together.
    initial : Result, labels, mapping or list of sets, optional
        The partition to start from; default: the fixed point of greedy joining.
    time_limit, target, callback
        As for :func:`~graphpart.partition.greedy_joining`.
    max_iterations : int, optional
        Number of rounds, and of outer iterations of Kernighan-Lin.

    Returns
    -------
    PartitionResult
        With status ``local_optimum``: no join of two subsets and no sequence as described lowers the cost; `iterations`
        counts rounds and those of Kernighan-Lin, fruitless ones included.

    Raises
    ------
    InvalidProblem, InvalidPartition, InvalidOption
        If an argument is not as described.

    Notes
    -----
    One round takes O(m log n) time for each neighbour of a subset in the worst case, and about O(m log n) in all where
    most pairs lead to few other subsets; O(n^2) on dense problems.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [-2.0, 1.0, -2.0, 0.5])
    >>> kernighan_lin_pairs(p, initial=[0, 1, 0, 1]).partition
    [{0, 1}, {2, 3}]
    """
    stopping = Stopping(time_limit, max_iterations, target, callback)
    return improve(problem, initial, joined, improve_in_turn, "kernighan-lin-pairs", stopping)


def improve_in_turn(p: SetPartition, labels: Labels, stopping: Stopping) -> Labels:
    """The fixed point of both forms of Kernighan-Lin from canonical labels."""
    if p.n == 0:
        return labels
    while True:
        labels = canonical(improve_by_pairs(p, labels, stopping))
        cost = p.evaluate_labels(labels)
        if stopping.check(cost):
            return labels
        moved = improve_by_sequences(p, labels, stopping)
        if not p.evaluate_labels(moved) < cost - p.tolerance:
            return labels
        labels = canonical(moved)
        if stopping.reason is not None:
            return labels


def improve_by_pairs(p: SetPartition, labels: Labels, stopping: Stopping, patience: int = PATIENCE) -> Labels:
    """The fixed point of pairwise Kernighan-Lin with joins from canonical labels."""
    if p.n == 0:
        return labels
    cost = p.evaluate_labels(labels)
    rows = None if p.is_dense else p.rows()
    state = Pairs(p.matrix, rows, labels, p.magnitude, p.tolerance, cost, patience)
    while True:
        before, at_start = state.cost, state.changed.astype(bool)
        state.changed[:] = 0
        state.improve(*_linked_pairs(p, state.labels, at_start), stopping)
        touched = at_start | state.changed.astype(bool)
        present = np.unique(state.labels)
        state.split(present[touched[present]], stopping)
        if stopping.step(state.cost) or not state.changed.any():
            return state.labels
        if state.cost < before:
            stopping.record(state.cost)


def _linked_pairs(
    p: SetPartition, labels: Labels, changed: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The pairs U < V of linked subsets of which at least one changed, in lexicographic order."""
    if p.is_dense:
        present = np.unique(labels)
        i, j = np.triu_indices(len(present), 1)
        first, second = present[i], present[j]
        kept = changed[first] | changed[second]
        return first[kept], second[kept]
    assert p.u is not None and p.v is not None
    keys = [np.zeros(0, np.int64)]
    for at in range(0, p.m, CHUNK):
        a, b = labels[p.u[at : at + CHUNK]], labels[p.v[at : at + CHUNK]]
        kept = (a != b) & (changed[a] | changed[b])
        a, b = a[kept].astype(np.int64), b[kept].astype(np.int64)
        keys.append(np.unique(np.minimum(a, b) * (p.n + 1) + np.maximum(a, b)))
    both = np.unique(np.concatenate(keys))
    return (both // (p.n + 1)).astype(np.int32), (both % (p.n + 1)).astype(np.int32)

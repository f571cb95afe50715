"""From the final labels of a method to its Result: subsets are made connected, and the cost is recomputed.

A subset may consist of pieces without a stored non-zero pair or a required join between them, or, if subsets have to be
connected, without a base pair. It is then divided into
these pieces, for all methods: the cost does not rise, and users get connected clusters. After this, a local search may
find another improvement: an element that one piece attracts and another repels can now move to the first. So local
searches continue from the pieces until nothing changes, see `settled`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import numpy as np

from graphpart.common.finishing import Ending, result_of
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem.derived import connected_subsets
from graphpart.partition.problem.forms import is_form
from graphpart.partition.problem.labels import canonical
from graphpart.partition.problem.pair_costs import Labels
from graphpart.partition.problem.set_partition import SetPartition
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["finish", "joins_help", "settled"]


def finish(
    p: SetPartition,
    labels: Labels,
    stopping: Stopping,
    method: str,
    status: Status,
    *,
    start: tuple[Labels, float] | None = None,
    cost: float | None = None,
    **ending: Unpack[Ending],
) -> PartitionResult:
    """A Result for labels, with the cost recomputed; `status` is used unless the run was stopped early. A proven result
    is ``optimal`` in any case.

    `cost`, if given, is the cost of exactly these labels, just evaluated from the problem. If rounding made the labels
    worse than the start, the start is returned. Subsets are divided into their connected pieces, in O(n + m) (for a
    matrix O(n) if there are few zeros).
    """
    given, labels = labels, canonical(labels)
    if cost is None or not np.array_equal(labels, given):
        cost = p._evaluate_labels(labels)
    if start is not None and cost > start[1]:
        labels, cost = start
    pieces = connected_subsets(p, np.ascontiguousarray(labels, np.int32))
    if pieces.max(initial=0) > labels.max(initial=0):
        labels = pieces
        if is_form(p) or p.lifted is not None:  # there may be pairs with a cost that this problem does not list
            cost = p._evaluate_labels(labels)
    status = status if status == Status.OPTIMAL else stopping.reason or status
    return result_of(PartitionResult, p, labels, cost, stopping, method, status, **ending)


def settled(p: SetPartition, labels: Labels, improved: Callable[[Labels], Labels], stopping: Stopping) -> Labels:
    """Labels with connected subsets that a local search cannot improve, from labels that it reached.

    Parameters
    ----------
    p : SetPartition
    labels : ndarray of int32, shape (n,)
        The result of the local search.
    improved : callable
        The local search: from canonical labels to labels that are not worse. It is called only if a single move or join
        lowers the cost of the pieces, so that subsets that are divided into very many pieces need no second search.
    stopping : Stopping
        Once it has a reason, labels are returned as they are.

    Notes
    -----
    Ends because every repetition lowers the cost. O(n + m) if subsets are connected, else O(m log m) more.
    """
    while stopping.reason is None:
        pieces = connected_subsets(p, labels)
        if pieces.max(initial=0) == labels.max(initial=0) or not _is_open(p, pieces):
            return pieces
        labels = improved(pieces)
        if not p._evaluate_labels(labels) < p._evaluate_labels(pieces):
            return pieces
    return labels


def joins_help(p: SetPartition, labels: Labels) -> bool:
    """Whether joining two subsets lowers the cost, from canonical labels, for a problem without required joins."""
    if labels.max(initial=0) == 0:
        return False
    q = p._contract(labels)
    cost = q.pairs()[2]
    return bool((cost if q.lifted is None else cost[~q.lifted]).min(initial=0.0) < -p._tolerance)


def _is_open(p: SetPartition, labels: Labels) -> bool:
    """Whether a join of two subsets lowers the cost, or a move of an element to a linked subset or to a new one."""
    if len(p.must_join):  # elements that must be together move together
        contraction = Contraction(p)
        p, labels = contraction.problem, contraction.project(labels)
    if joins_help(p, labels):
        return True
    k = int(labels.max(initial=0)) + 1
    u, v, cost = p.pairs()
    element, subset = np.concatenate([u, v]).astype(np.int64), labels[np.concatenate([v, u])]
    keys, slots = np.unique(element * k + subset, return_inverse=True)
    with np.errstate(invalid="ignore"):
        sums = np.bincount(slots.ravel(), np.concatenate([cost, cost]), len(keys))
    element, subset = keys // k, keys % k
    inside = subset == labels[element]
    own = np.zeros(p.n)
    own[element[inside]] = sums[inside]
    gain = np.where(inside, 0.0, sums) - own[element]
    return bool(gain.min(initial=0.0) < -p._tolerance)

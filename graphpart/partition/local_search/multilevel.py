"""Multilevel moves: move elements, then sets of elements, then sets of sets, as Louvain and Leiden do.

One iteration starts from a partition of the elements, and goes up level by level:

1. Elements are taken one after the other from a queue, and each moves to the subset, or the empty set, with which it
   costs least, until no move lowers the cost (Blondel et al. 2008; the queue: Ozaki, Tezuka & Inaba 2016).
2. Each subset is divided into sets. At first, each element is a set of its own. One after the other, each element that
   is still alone joins the set, within its subset, with which it costs least, if this lowers the cost (Traag, Waltman &
   Van Eck 2019). The sets are the elements of the next level. The partition of the next level is that of 1, so that
   parts of a subset can move to other subsets. If all elements stay alone, the subsets themselves are the elements of
   the next level.
3. The next level begins with step 1, until each element is in a subset of its own.
4. The partition is carried down level by level, and on each level elements move as in step 1 (Rotta & Noack 2011).
   Without terms, only elements wait that are not where they were on the way up, and their neighbours.

The next iteration starts from the result, in which no move of an element lowers the cost: it begins with step 2. There,
elements join in their given order in the first iteration, and in random order in later iterations, so that each
iteration finds other sets. An iteration goes one level above the highest one whose moves lowered the cost by WORTH of
it in the iteration before; it goes up all levels after an iteration that lowered the cost by less than SMALLEST of it.
After PATIENCE of the latter in a row, subsets are divided into connected pieces, and all elements move as in step 1.
The method ends if this does not lower the cost, else it goes on from there until AGAIN such iterations.

For a background, the method only keeps the sums of weights of each subset on each level. For groups, it also keeps the
number of members of each group in each subset. On each level, all moves obey groups and limits, and keep subsets
connected where this is required.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphpart.common.rounds import check_seed_and_threads
from graphpart.partition.local_search._levels import Level, subset_by_subset
from graphpart.partition.local_search.greedy_joining import joined
from graphpart.partition.local_search.improve import improve
from graphpart.partition.local_search.limited import has_room
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.background import SMALL
from graphpart.partition.problem.derived import connected_subsets
from graphpart.partition.problem.forms import as_pairs, cut_huge
from graphpart.result import PartitionResult
from graphpart.stopping import Stopping, interruptible

__all__ = ["improve_by_levels", "multilevel", "start_of_sequences"]

PATIENCE = 3  # iterations with little gain after which the method ends; for 1, see docs/explanation/tried.md
SMALLEST = 1e-4  # share of the cost
AGAIN = 2  # the same, after subsets were divided
MANY = 2**17  # pairs from which on elements are numbered subset by subset, for neighbours to be near in memory
FEW = 2000  # a level has fewer elements than the one below by more than one in so many: others find little
WORTH = 2e-6  # share of the cost that the moves of a level lower it by, if the next iteration is to reach that level


@interruptible
def multilevel(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    seed: int | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Move elements and sets of elements on several levels, as long as this lowers the cost; for large sparse problems.

    Also known by the methods of that kind for modularity, ``louvain`` and ``leiden``.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``. Elements that must be joined move together. A background,
        as of modularity, needs no memory, whether it repels or attracts.
    initial : Result, labels, mapping or list of sets, optional
        The partition to start from; default: the fixed point of greedy joining, or, for matrices and if unlisted pairs
        cost something, every element alone. Elements that it leaves out start alone.
    time_limit, target, callback
        As for :func:`~graphpart.partition.greedy_joining`.
    max_iterations : int, optional
        Number of iterations over all levels.
    seed : int, optional
        Of the random numbers; default 0.

    Returns
    -------
    PartitionResult
        With status ``local_optimum``: no move of one element lowers the cost.

    Raises
    ------
    InvalidProblem, InvalidPartition, InvalidOption
        If an argument is not as described.

    Notes
    -----
    About O(n + m) time for each level, of which there are few; O(n + m) memory. If the background attracts some pairs,
    the best cluster among those that are not linked has to be found each time an element is taken from the queue. This
    takes about O(log n) if the background has one term, and at worst the number of clusters if it has several.

    Examples
    --------
    >>> import networkx as nx
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_modularity(nx.les_miserables_graph(), weight=None)
    >>> r = multilevel(p)
    >>> r.n_clusters, round(r.objective, 3)
    (6, 0.56)
    """
    stopping = Stopping(time_limit, max_iterations, target, callback)
    check_seed_and_threads(seed, None)
    state = np.random.default_rng(seed or 0)

    def kernel(p: SetPartition, labels: Labels, stopping: Stopping) -> Labels:
        return improve_by_levels(p, labels, stopping, state)

    def start(p: SetPartition, stopping: Stopping) -> Labels:
        alone = p._must_join_classes()
        is_sparse = p.background is None and not p.is_dense
        return joined(p, stopping) if is_sparse or not has_room(p, alone) else alone

    return improve(problem, initial, start, kernel, "multilevel", stopping, lambda p: True)


def start_of_sequences(p: SetPartition, stopping: Stopping) -> Labels:
    """Where Kernighan-Lin starts: greedy joining; on large problems with a background, one iteration over all levels.

    If communities are large, as for modularity, greedy joining ends with few subsets that are far too large. From
    these, sequences of moves take long, and end at higher costs than levels.
    """
    alone = p._must_join_classes()
    if p.n <= SMALL or p.background is None or not len(p.background.beta) or not has_room(p, alone):
        return joined(p, stopping)
    contraction = Contraction(p)
    q, inner = cut_huge(contraction.problem), stopping.child(iterations=1, plus=contraction.constant)
    return contraction.lift(improve_by_levels(q, q._must_join_classes(), inner, np.random.default_rng(0)))


def improve_by_levels(
    p: SetPartition,
    labels: Labels,
    stopping: Stopping,
    state: np.random.Generator,
    patience: int = PATIENCE,
    shuffled: bool = False,
) -> Labels:
    """Iterations from canonical labels, until `patience` of them in a row have lowered the cost by little."""
    p = as_pairs(p)
    cost = p._evaluate_labels(labels)
    numbered = p.m >= MANY and stopping.max_iterations > 1  # it takes about as long as one iteration gains by it
    bottom = Level(*p._rows(not numbered).arrays, terms_of(p))
    number = None
    if numbered:
        number = subset_by_subset(labels)
        bottom = bottom.coarsen(number, p.n)
    labels = _carried(labels, number)
    bottom.move(labels, cost, stopping)
    labels = canonical(labels)
    cost = p._evaluate_labels(_brought_back(labels, number))
    fruitless, first, most, last = 0, not shuffled, p.n, patience
    rows: list[Any] = []
    while True:
        reached, lowered, height = _iteration(bottom, labels, cost, stopping, None if first else state, most, rows)
        first = False
        if lowered < 0:
            labels, cost = reached, p._evaluate_labels(_brought_back(reached, number))
        fruitless = 0 if lowered < -max(bottom.tolerance, SMALLEST * abs(cost)) else fruitless + 1
        most = p.n if fruitless else height + 1
        if stopping.step(cost):
            break
        if fruitless == 0:
            stopping.record(cost)
        if fruitless >= last:
            before = cost
            labels = _divided(p, bottom, labels, cost, stopping, number)
            cost = p._evaluate_labels(_brought_back(labels, number))
            if not cost < before - bottom.tolerance:
                break
            fruitless, first, last = 0, True, min(patience, AGAIN)
    return _brought_back(labels, number)


def _carried(labels: Labels, number: Labels | None) -> Labels:
    """A copy of labels, for elements that have these numbers now."""
    carried = labels.copy()
    if number is not None:
        carried[number] = labels
    return carried


def _brought_back(labels: Labels, number: Labels | None) -> Labels:
    """Canonical labels for the elements that have these numbers now."""
    return labels if number is None else canonical(labels[number])


def _divided(
    p: SetPartition, bottom: Level, labels: Labels, cost: float, stopping: Stopping, number: Labels | None
) -> Labels:
    """Connected subsets that no move of an element improves; without a background.

    All elements are looked at until none moves, since a queue leaves out neighbours that an element repels in its new
    subset.
    """
    while p.background is None and stopping.reason is None:
        labels = canonical(_carried(connected_subsets(p, _brought_back(labels, number)), number))
        moved = labels.copy()
        change = bottom.move(moved, cost, stopping)
        if not change < 0:
            break
        labels = canonical(moved)
        cost += change
    return labels


def _iteration(
    level: Level,
    labels: Labels,
    cost: float,
    stopping: Stopping,
    state: np.random.Generator | None,
    most: int,
    rows: list[Any],
) -> tuple[Labels, float, int]:
    """One iteration over at most `most` levels above, from labels that no move improves; without random numbers in
    order.

    Returns the labels, the change of the cost, and the highest level whose moves lowered the cost by WORTH of it.
    `rows` has the rows of the levels of the iteration before, and then of this one, in the same memory.
    """
    steps: list[tuple[Level, Labels, Labels]] = []  # levels, their labels, and the elements of the next one
    before, height = cost, 0
    while len(steps) < most:
        count = int(labels.max(initial=-1)) + 1
        if level.n - count <= level.n // FEW or stopping.reason is not None:
            break
        elements = level.refine(labels, None if state is None else int(state.integers(2**63)))
        size = int(elements.max()) + 1
        if size == level.n:
            elements, size = labels, count
        steps.append((level, labels, elements))
        above = np.empty(size, np.int32)
        above[elements] = labels
        at = len(steps) - 1
        level = level.coarsen(elements, size, rows.pop(at) if at < len(rows) else None)
        rows.insert(at, level.rows)
        change = level.move(above, cost, stopping)
        cost += change
        if change < -WORTH * abs(cost):
            height = len(steps)
        labels = canonical(above)
    while steps:
        level, old, elements = steps.pop()
        labels = labels[elements]
        if stopping.reason is None:
            cost += level.move(labels, cost, stopping, level.touched(old, labels))
    return canonical(labels), cost - before, height

"""Multilevel moves: move elements, then sets of elements, then sets of sets, as Louvain and Leiden do.

One iteration starts from a partition of the elements, and goes up level by level:

1. Elements move to the subset, or the empty set, where they cost least, one after the other from a queue, until none
   lowers the cost by moving (Blondel et al. 2008; the queue: Ozaki, Tezuka & Inaba 2016).
2. Within each subset, elements start alone, and one after the other joins the set there with which it costs least, if it
   is still alone and that lowers the cost (Traag, Waltman & Van Eck 2019). The sets are the elements of the next level;
   their subsets are those of 1, so that parts of a subset can move to others. If all stay alone, the subsets themselves
   are the elements of the next level.
3. The next level begins at 1, until no two elements share a subset.

Then the subsets of all levels are taken down to the elements. Iterations go on from there, until one does not lower the
cost: no move of an element, and none of a set that the last iteration made, lowers the cost then.

The background of a problem costs nothing but sums of weights for each subset, at each level.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphpart.partition.local_search._levels import Level
from graphpart.partition.local_search.improve import improve
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.result import PartitionResult
from graphpart.stopping import Stopping, interruptible

__all__ = ["improve_by_levels", "multilevel"]


@interruptible
def multilevel(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Move elements and sets of elements on several levels, while that lowers the cost; for large sparse problems.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``. Elements that must be joined move together. A background,
        as of modularity, needs no memory, whether it repels or attracts.
    initial : Result, labels, mapping or list of sets, optional
        The partition to start from; default: every element alone (required joins joined).
        Elements that it leaves out start alone.
    time_limit, target, callback
        As for :func:`~graphpart.partition.greedy_joining`.
    max_iterations : int, optional
        Number of iterations over all levels.

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
    About O(n + m) time for each level, of which there are few; O(n + m) memory. Where the background attracts some pairs,
    finding the best subset among those that are not linked takes about O(log n) for each look at an element if the
    background has one term, and at worst the number of subsets if it has several.

    Examples
    --------
    >>> import networkx as nx
    >>> import graphpart as gp
    >>> p = gp.from_modularity(nx.les_miserables_graph(), weight=None)
    >>> r = multilevel(p)
    >>> r.subsets, round(r.objective, 3)
    (6, 0.56)
    """
    stopping = Stopping(time_limit, max_iterations, target, callback)
    return improve(problem, initial, lambda p, _: p.blocks(), improve_by_levels, "multilevel", stopping, lambda p: True)


def improve_by_levels(p: SetPartition, labels: Labels, stopping: Stopping) -> Labels:
    """Iterations from canonical labels, until one does not lower the cost."""
    cost = p.evaluate_labels(labels)
    bottom = Level(*p.rows(), *terms_of(p))
    while True:
        reached, lowered = _iteration(bottom, labels, cost, stopping)
        if lowered < 0:
            labels, cost = reached, cost + lowered
        if stopping.step(cost) or not lowered < -bottom.tolerance:
            return labels
        stopping.record(cost)


def _iteration(level: Level, labels: Labels, cost: float, stopping: Stopping) -> tuple[Labels, float]:
    """Labels after one iteration, and by how much the cost changed."""
    maps: list[Labels] = []
    before = cost
    subsets = labels.copy()
    while True:
        cost += level.move(subsets, cost, stopping)
        subsets = canonical(subsets)
        count = int(subsets.max(initial=-1)) + 1
        if count == level.n or stopping.reason is not None:
            break
        elements = canonical(level.refine(subsets))
        size = int(elements.max()) + 1
        if size == level.n:
            elements, size = subsets, count
        level = level.coarsen(elements, size)
        maps.append(elements)
        above = np.empty(size, np.int32)
        above[elements] = subsets
        subsets = above
    for elements in reversed(maps):
        subsets = subsets[elements]
    return canonical(subsets), cost - before

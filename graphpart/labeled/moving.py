"""Local search over clusters and classes: moves of elements, sequences of moves, and joins of whole clusters.

1. Elements move to another cluster, another class or both, while that lowers the cost.
2. Sequences of moves, with the technique of Kernighan and Lin: a move may raise the cost if later ones lower it more.
3. Clusters become the elements of a smaller problem, whose choices are the classes, and the classes that the members
   have (see `finite`). Greedy joining and moves there join clusters and change the classes of whole clusters.
4. If that has lowered the cost, it begins again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import group
from graphpart.labeled._kernels import LocalSearch
from graphpart.labeled.finite import Tables, tables_of
from graphpart.labeled.joining import joined_sets
from graphpart.labeled.labeled_partition import as_labeled
from graphpart.labeled.results import LabeledResult, finish
from graphpart.labeled.solutions import alone, start_of
from graphpart.partition.problem.labels import canonical
from graphpart.result import Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["improved", "kernighan_lin", "local_search_of"]

Elements = NDArray[np.int32]
LONGEST = 2e9  # operations of a round of sequences: with more, where elements have very many pairs, they are left out


@interruptible
def kernighan_lin(
    problem: Any,
    initial: Any = None,
    *,
    max_iterations: int | None = None,
    time_limit: float | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabeledResult:
    """Move elements between clusters and classes, by sequences of moves, and join clusters, while that lowers the cost.

    Parameters
    ----------
    problem : LabeledPartition or networkx.Graph
    initial : LabeledResult, or pair (labels, classes), or labels, optional
        The clusters and classes to start from. Default: the result of greedy joining.
    max_iterations : int, optional
        Moves and joins.
    time_limit : float, optional
        Seconds.
    target : float, optional
        Stop as soon as the cost is at most this.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    LabeledResult
        No move of an element to another cluster and class, and no join of two clusters, lowers its cost. `iterations`
        counts moves and joins.

    Raises
    ------
    InvalidPartition
        If the start does not fit the problem.

    Notes
    -----
    The best move of an element takes O(d L) for its d pairs. Sequences are those of Kernighan & Lin (1970); Keuper et
    al. (2015) and Levinkov et al. (2017) use such moves for set partition and labelled partitions.

    Examples
    --------
    >>> import graphpart as gp
    >>> q = gp.LabeledPartition.from_arrays([[0.0, 2.0], [1.0, 0.0]], [(0, 1)], [[[-3.0, 1.0], [1.0, 1.0]]])
    >>> r = kernighan_lin(q, initial=([0, 1], [1, 1]))
    >>> r.labels.tolist(), r.classes.tolist(), r.cost
    ([0, 0], [0, 0], -2.0)
    """
    q = as_labeled(problem)
    stopping = Stopping(time_limit, max_iterations, target, callback)
    tables = tables_of(q)
    solution = joined_sets(tables, *alone(tables.own), stopping) if initial is None else start_of(q, initial)
    solution = improved(tables, *solution, stopping)
    return finish(q, solution, stopping, "kernighan-lin", Status.LOCAL_OPTIMUM)


def improved(tables: Tables, labels: Elements, classes: Elements, stopping: Stopping) -> tuple[Elements, Elements]:
    """Clusters and classes that local search reaches, from canonical clusters; not worse."""
    search, sequences = local_search_of(tables), sequences_fit(tables)
    best, cost = (labels, classes), tables.cost(labels, classes)
    while not stopping.check(tables.known(cost)):
        labels, classes = best[0].copy(), best[1].copy()
        search.begin(labels, classes, cost)
        search.improve(sequences, stopping)
        found = moved_clusters(tables, canonical(labels), classes, stopping)
        reached = tables.cost(*found)
        if not reached < cost - tables.tolerance:
            best = found if reached <= cost else best
            break
        best, cost = found, reached
    return best


def moved_clusters(
    tables: Tables, labels: Elements, classes: Elements, stopping: Stopping
) -> tuple[Elements, Elements]:
    """The result of joins of clusters, and of moves of whole clusters to other clusters and classes."""
    labels, classes = joined_sets(tables, labels, classes, stopping)
    cost = tables.cost(labels, classes)
    if stopping.check(tables.known(cost)):
        return labels, classes
    small = tables.contracted(labels, classes)
    sets, choices = np.arange(small.n, dtype=np.int32), np.full(small.n, tables.choices, np.int32)
    search = local_search_of(small)
    search.begin(sets, choices, cost)
    search.improve(sequences_fit(small), stopping)
    found = tables.lifted(labels, classes, sets, choices)
    return found if tables.cost(*found) <= cost else (labels, classes)


def local_search_of(tables: Tables) -> LocalSearch:
    """The kernel for these tables, which has no solution yet."""
    m = len(tables.u)
    order, start = group(np.concatenate([tables.u, tables.v]), tables.n)
    other = np.concatenate([tables.v, tables.u])[order]
    code = np.concatenate([2 * np.arange(m), 2 * np.arange(m) + 1])[order]
    return LocalSearch(tables.own, tables.joined, tables.parted, start, other, code, tables.most, tables.tolerance)


def sequences_fit(tables: Tables) -> bool:
    """Whether a round of sequences, one from each element, takes no more than some seconds."""
    degree = np.bincount(np.concatenate([tables.u, tables.v]), minlength=tables.n).astype(np.float64)
    neighbours = np.bincount(tables.u, degree[tables.v], tables.n) + np.bincount(tables.v, degree[tables.u], tables.n)
    return bool(16.0 * tables.choices * math.fsum((neighbours + degree).tolist()) <= LONGEST)

"""Greedy joining: from single elements of the best classes, repeatedly the join that lowers the cost most.

A join also chooses classes. Each of the two sets keeps the classes that its elements have, or gets one class for all of
them; all combinations are compared, with the other sets as they are. If costs depend on no classes, this is greedy
additive edge contraction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.labeled import _kernels
from graphpart.labeled.finite import Tables, tables_of
from graphpart.labeled.labeled_partition import as_labeled
from graphpart.labeled.results import LabeledResult, finish
from graphpart.labeled.solutions import alone, start_of
from graphpart.result import Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["greedy_joining", "joined_sets"]

Elements = NDArray[np.int32]


@interruptible
def greedy_joining(
    problem: Any,
    initial: Any = None,
    *,
    max_iterations: int | None = None,
    time_limit: float | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabeledResult:
    """Join the two clusters whose join, with a choice of classes for each, lowers the cost most, while there are any.

    Parameters
    ----------
    problem : LabeledPartition or networkx.Graph
    initial : LabeledResult, or pair (labels, classes), or labels, optional
        The clusters and classes to start from. Default: every element alone, with its class of least label cost.
    max_iterations : int, optional
        Joins.
    time_limit : float, optional
        Seconds.
    target : float, optional
        Stop as soon as the cost is at most this.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    LabeledResult
        `iterations` counts joins.

    Raises
    ------
    InvalidPartition
        If the start does not fit the problem.

    Notes
    -----
    A join takes time proportional to the number of pairs of the joined sets, times L^2, and times the pairs of their
    neighbours if a class changes. It is a form of greedy additive edge contraction (Keuper et al. 2015), and of that
    with classes by Abbas & Swoboda (2021).

    Examples
    --------
    >>> import graphpart as gp
    >>> q = gp.LabeledPartition.from_arrays([[0.0, 2.0], [1.0, 0.0]], [(0, 1)], [[[-3.0, 1.0], [1.0, 1.0]]])
    >>> r = greedy_joining(q)
    >>> r.labels.tolist(), r.classes.tolist(), r.cost
    ([0, 0], [0, 0], -2.0)
    """
    q = as_labeled(problem)
    stopping = Stopping(time_limit, max_iterations, target, callback)
    tables = tables_of(q)
    start = alone(tables.own) if initial is None else start_of(q, initial)
    solution = joined_sets(tables, *start, stopping)
    return finish(q, solution, stopping, "greedy-joining", Status.LOCAL_OPTIMUM)


def joined_sets(tables: Tables, labels: Elements, classes: Elements, stopping: Stopping) -> tuple[Elements, Elements]:
    """Clusters and choices after greedy joining, from canonical clusters."""
    cost = tables.cost(labels, classes)
    if stopping.check(tables.known(cost)):
        return labels, classes
    small = tables.contracted(labels, classes)
    sets, choices = _kernels.join_sets(
        small.own, small.u, small.v, small.joined, small.parted, small.tolerance, cost, stopping
    )
    found = tables.lifted(labels, classes, sets, choices)
    return found if tables.cost(*found) <= cost else (labels, classes)

"""Alternating improvement: clusters given the classes, then classes given the clusters, until neither lowers the cost.

Clusters given the classes are a set partition problem, which greedy joining and Kernighan-Lin improve. Classes given
the clusters are a factor graph, which message passing and iterated conditional modes improve. The usual start is the
classes of least energy if all pairs were apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds.message_passing import Ascent
from graphpart.crf.local_search.icm import improve as improve_labels
from graphpart.labeled.finite import Tables, tables_of
from graphpart.labeled.halves import classes_half, clusters_half
from graphpart.labeled.labeled_partition import as_labeled
from graphpart.labeled.results import LabeledResult, finish
from graphpart.labeled.solutions import alone, start_of
from graphpart.partition.anytime_search.start import improved_start
from graphpart.partition.problem.labels import canonical
from graphpart.result import Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["alternated", "alternating", "classes_first", "clusters_of"]

Elements = NDArray[np.int32]
ITERATIONS = 60  # of message passing for the classes; it mostly ends before, as the bound hardly rises


@interruptible
def alternating(
    problem: Any,
    initial: Any = None,
    *,
    max_iterations: int | None = None,
    time_limit: float | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabeledResult:
    """Improve clusters given the classes, then classes given the clusters, in turns.

    Parameters
    ----------
    problem : LabeledPartition or networkx.Graph
    initial : LabeledResult, or pair (labels, classes), or labels, optional
        The clusters and classes to start from. Default: the best classes found if all pairs were apart, and then
        clusters for these classes.
    max_iterations : int, optional
        Rounds, each of both halves.
    time_limit : float, optional
        Seconds.
    target : float, optional
        Stop as soon as the cost is at most this.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    LabeledResult
        `iterations` counts rounds.

    Raises
    ------
    InvalidPartition
        If the start does not fit the problem.

    Notes
    -----
    A step that would have to change clusters and classes at the same time is not found: :func:`kernighan_lin` makes
    such steps.

    Examples
    --------
    >>> import graphpart as gp
    >>> q = gp.LabeledPartition.from_arrays([[0.0, 2.0], [1.0, 0.0]], [(0, 1)], [[[-3.0, 1.0], [1.0, -2.5]]])
    >>> r = alternating(q)
    >>> r.labels.tolist(), r.classes.tolist(), r.cost
    ([0, 1], [0, 1], 0.0)
    """
    q = as_labeled(problem)
    stopping = Stopping(time_limit, max_iterations, target, callback)
    tables = tables_of(q)
    solution = classes_first(tables, stopping) if initial is None else start_of(q, initial)
    solution = alternated(tables, *solution, stopping)
    return finish(q, solution, stopping, "alternating", Status.LOCAL_OPTIMUM)


def classes_first(tables: Tables, stopping: Stopping) -> tuple[Elements, Elements]:
    """The best classes found if all pairs were apart, then clusters for these classes."""
    labels, classes = alone(tables.own)
    if stopping.check(tables.known(tables.cost(labels, classes))):
        return labels, classes
    classes = _better_classes(tables, labels, classes, stopping)
    return clusters_of(tables, labels, classes, True, stopping), classes


def alternated(tables: Tables, labels: Elements, classes: Elements, stopping: Stopping) -> tuple[Elements, Elements]:
    """Clusters and classes after rounds of both halves, from canonical clusters; not worse."""
    cost = tables.cost(labels, classes)
    while not stopping.check(tables.known(cost)):
        found = clusters_of(tables, labels, classes, False, stopping)
        chosen = _better_classes(tables, found, classes, stopping)
        reached = tables.cost(found, chosen)
        if not reached < cost - tables.tolerance:
            break
        labels, classes, cost = found, chosen, reached
        if stopping.step(tables.known(cost)):
            break
    return labels, classes


def clusters_of(tables: Tables, labels: Elements, classes: Elements, apart: bool, stopping: Stopping) -> Elements:
    """Better clusters for classes, by local search from these clusters, or from all elements alone."""
    p, constant = clusters_half(tables, classes)
    found = canonical(improved_start(p, labels, apart, stopping.child(plus=constant), 0))
    return found if tables.cost(found, classes) <= tables.cost(labels, classes) else labels


def _better_classes(tables: Tables, labels: Elements, classes: Elements, stopping: Stopping) -> Elements:
    """Better classes for clusters, by message passing."""
    if stopping.check(tables.known(tables.cost(labels, classes))) or not tables.n:
        return classes
    f = classes_half(tables, labels)
    ascent = Ascent(f, stopping.child(iterations=ITERATIONS), classes, tightening=False)
    ascent.run()
    found, _ = improve_labels(f, ascent.labels.copy(), stopping.child())
    return found if tables.cost(labels, found) <= tables.cost(labels, classes) else classes

"""Brute force: all clusters and classes of a few elements, with pruning. Other methods are tested against it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.labeled import _kernels
from graphpart.labeled.finite import trivial_bound
from graphpart.labeled.labeled_partition import LabeledPartition, as_labeled
from graphpart.labeled.results import LabeledResult, finish
from graphpart.labeled.solutions import alone
from graphpart.methods import ENUMERATED_SOLUTIONS
from graphpart.result import Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["brute_force", "enumerated", "solutions"]

Elements = NDArray[np.int32]


@interruptible
def brute_force(
    problem: Any,
    *,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabeledResult:
    """Find clusters and classes of least cost by enumeration.

    Also known as ``enumeration``.

    Parameters
    ----------
    problem : LabeledPartition or networkx.Graph
        With at most 10^9 solutions: partitions times classes.
    time_limit : float, optional
        Seconds.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    LabeledResult
        With status ``optimal`` unless stopped early; of solutions whose costs differ by rounding errors only, the first
        one. `iterations` counts the nodes of the search.

    Raises
    ------
    InvalidProblem
        If there are more solutions.
    InfeasibleProblem
        If every solution is forbidden.

    Notes
    -----
    At most Bell(n) L^n solutions for n elements and L classes, of which pruning leaves a part. O(n^2 L^2) memory.

    Examples
    --------
    >>> import graphpart as gp
    >>> q = gp.LabeledPartition.from_arrays([[0.0, 2.0], [1.0, 0.0]], [(0, 1)], [[[-3.0, 1.0], [1.0, 1.0]]])
    >>> r = brute_force(q)
    >>> r.labels.tolist(), r.classes.tolist(), r.cost, str(r.status)
    ([0, 0], [0, 0], -2.0, 'optimal')
    """
    q = as_labeled(problem)
    if solutions(q) > ENUMERATED_SOLUTIONS:
        raise InvalidProblem(
            f"{q.n} elements of {q.n_classes} classes have {solutions(q):.3g} solutions: expected at most "
            f"{ENUMERATED_SOLUTIONS:.0e} for brute force; use auto or ilp instead"
        )
    stopping = Stopping(time_limit, callback=callback)
    found = enumerated(q, stopping)
    if found is None and stopping.reason is None:
        raise InfeasibleProblem("every solution is forbidden: enumeration found none with a finite cost")
    bound = trivial_bound(q) if stopping.reason else q._evaluate(*found) if found else math.inf
    status = Status.FEASIBLE if stopping.reason else Status.OPTIMAL
    return finish(q, found or alone(q.label_costs), stopping, "brute-force", status, lower_bound=bound)


def enumerated(q: LabeledPartition, stopping: Stopping) -> tuple[Elements, Elements] | None:
    """Clusters and classes of least cost of few elements; None if none is allowed, or the run ended before."""
    n, classes = q.n, q.n_classes
    if not n:
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    tables = np.zeros((2, n, n, classes, classes))
    tables[0, q.u, q.v], tables[1, q.u, q.v] = q.joined, q.parted
    least = q.label_costs.min(axis=1)
    np.add.at(least, q.v, np.minimum(q.joined, q.parted).min(axis=(1, 2)))
    rest = np.append(np.cumsum(least[::-1])[::-1], 0.0)
    finite = [np.abs(x[np.isfinite(x)]).sum() for x in (q.label_costs, q.joined, q.parted)]
    found: tuple[Elements, Elements] | None = _kernels.enumerate_solutions(
        q.label_costs, tables[0], tables[1], rest, 2.0**-50 * float(sum(finite)), stopping
    )
    return found


def solutions(q: LabeledPartition) -> float:
    """The number of solutions: partitions of n elements (Bell number) times classes; inf if it is too large."""
    if q.n > 24:
        return math.inf
    row = [1]
    for _ in range(q.n - 1):  # the triangle of Peirce and Aitken
        following = [row[-1]]
        for value in row:
            following.append(following[-1] + value)
        row = following
    return float(row[-1]) * float(q.n_classes) ** q.n

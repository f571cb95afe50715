"""Brute force: all partitions of a small set, in lexicographic order of their labels, with pruning.

A partition is a restricted growth string: the first element has label 0, and each label exceeds the labels before it by
at most one. The strings are enumerated depth first. A prefix is dropped if its cost, plus for each element that has no
label yet the least cost of joining a subset (or none), plus all negative costs between such elements, is no better
than the best partition found. If subsets have to be connected, it is also dropped if the elements without a label
cannot connect the elements of a subset. The oracle of the tests of everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.methods import ENUMERATED_ELEMENTS
from graphpart.partition.bounds.trivial_bound import trivial_bound
from graphpart.partition.exact_solvers import _kernels
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition, as_problem
from graphpart.partition.problem.forms import cut_huge, matrix_of
from graphpart.partition.problem.limits import Limits
from graphpart.partition.results.finish import finish
from graphpart.partition.results.starts import start_of
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["brute_force", "enumerated"]


@interruptible
def brute_force(
    problem: Any,
    *,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Find a partition of least cost by enumeration.

    Also known as ``enumeration``.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        With at most 14 elements; elements that must be joined count as one.
    time_limit : float, optional
        Seconds.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    PartitionResult
        With status ``optimal`` and ``lower_bound == cost``. Of partitions whose costs differ by no more than rounding
        errors, the one with the lexicographically first labels, its clusters divided into pieces where no non-zero pair
        connects them. `iterations` counts the nodes of the search. When stopped early, the lower bound is the sum of
        negative costs.

    Raises
    ------
    InvalidProblem
        If there are too many elements.
    InfeasibleProblem
        If no partition satisfies what is required.

    Notes
    -----
    At most Bell(n) partitions: 1.2e5 for n = 10, 1.9e8 for n = 14; pruning leaves a small part of them. O(n^2) memory.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-2.0, -3.0, 4.0])
    >>> r = brute_force(p)
    >>> r.partition, r.cost, str(r.status)
    ([{0}, {1, 2}], -3.0, 'optimal')
    """
    p = as_problem(problem)
    classes = p._must_join_classes()
    elements = int(classes.max(initial=-1)) + 1
    if elements > ENUMERATED_ELEMENTS:
        joined = "" if elements == p.n else " after required joins"
        raise InvalidProblem(
            f"{elements} elements{joined}: brute force takes at most {ENUMERATED_ELEMENTS}; use ilp instead"
        )
    p = p._to_dense() if p.n <= ENUMERATED_ELEMENTS and not p._connected else p
    contraction = Contraction(p)
    stopping = Stopping(time_limit, None, None, callback)
    inner = stopping.child(plus=contraction.constant)
    labels = contraction.lift(enumerated(contraction.problem, inner))
    if inner.reason is not None:
        stopping.stop(inner.reason)
    bound = trivial_bound(p) if stopping.reason else p._evaluate_labels(labels)
    status = Status.FEASIBLE if stopping.reason else Status.OPTIMAL
    return finish(p, labels, stopping, "brute-force", status, lower_bound=bound)


def enumerated(p: SetPartition, stopping: Stopping) -> Labels:
    """An optimal partition of a problem without required joins, of at most 14 elements; any one if stopped.

    Raises
    ------
    InfeasibleProblem
        If no partition satisfies what is required.
    """
    q = cut_huge(p)
    found: Labels | None = None
    if not stopping.check(np.inf):
        limits = p._limits or Limits()
        weight = np.ones(p.n, np.int64) if p._sizes is None else p._sizes
        most_elements = int(weight.sum()) if limits.max_size is None else limits.max_size
        most = p.n if limits.most is None else limits.most
        matrix = matrix_of(q)
        found = _kernels.enumerate_partitions(
            matrix, q._tolerance, stopping, weight, most_elements, min(limits.least, most), most,
            np.ascontiguousarray(np.stack(q._links(), 1)) if q._connected else None,
        )  # fmt: skip
        if found is None and stopping.reason is None:
            limited = "" if p._limits is None else f": {limits}"
            raise InfeasibleProblem(f"no partition satisfies what is required{limited}")
    if found is None:
        alone = np.arange(p.n, dtype=np.int32)
        return alone if p._limits is None else start_of(p, alone)
    return found

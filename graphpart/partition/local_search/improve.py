"""The common part of all local searches: from a problem and an initial partition to a Result, with requirements.

Required joins are contracted before a kernel runs, so that kernels have only finite costs and ``inf`` for required
cuts. If a subset consists of pieces that no non-zero pair connects, it is divided, and the kernel continues from the
pieces.

A cost may be so huge (2^20 times the attraction of an element) that the attraction would be lost in its rounding. Such
a cost counts as a required cut, so that tolerances and the resolution of fixed point do not depend on a cost that is
never paid. If the initial partition pays such a cost, the kernel first runs with the given costs, until it is not paid
any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphpart.common.local_search import improved
from graphpart.partition.local_search.limited import has_room, packed
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition, as_problem, canonical
from graphpart.partition.problem.forms import as_pairs, cut_huge, with_matrix
from graphpart.partition.results.finish import finish, settled
from graphpart.partition.results.starts import start_of
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["fixed_point", "improve", "problems_with_huge_costs_cut", "repels"]

Kernel = Callable[[SetPartition, Labels, Stopping], Labels]


def repels(p: SetPartition) -> bool:
    """Whether a problem has no background, or one that repels."""
    return p.background is None or p.background.repels


def improve(
    problem: Any,
    initial: Any,
    default: Callable[[SetPartition, Stopping], Labels],
    kernel: Kernel,
    method: str,
    stopping: Stopping,
    background: Callable[[SetPartition], bool] = lambda p: False,
) -> PartitionResult:
    """Run a kernel from an initial partition.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
    initial : None or a partition in any form
        None means ``default(problem, stopping)``. Elements that it leaves out start alone, see `start_of`.
    kernel : callable
        ``kernel(problem, labels, stopping)`` returns labels that are not worse, for a problem without required joins
        and canonical labels that satisfy its required cuts.
    method : str
    stopping : Stopping
    background : callable
        Whether the kernel, and the default, can use the background of a problem; if not, the problem is converted to a
        matrix.

    Raises
    ------
    InvalidPartition
        If the initial partition does not fit the problem or violates a requirement.
    """
    p = as_problem(problem)
    if p._limits is not None:
        p = as_pairs(p)
    elif not background(p):
        p = with_matrix(p)
    start = default(p, stopping) if initial is None else start_of(p, initial)

    def run(labels: Labels, _: float) -> Labels:
        return fixed_point(p, labels, kernel, stopping)

    labels, cost = improved(start, p._evaluate_labels, run, stopping)
    if initial is None and not has_room(p, labels):  # there was no time for that
        labels = packed(p)
        cost = p._evaluate_labels(labels)
    return finish(p, labels, stopping, method, Status.LOCAL_OPTIMUM, cost=cost)


def fixed_point(p: SetPartition, labels: Labels, kernel: Kernel, stopping: Stopping) -> Labels:
    """Labels that a kernel does not improve, and whose subsets are connected; for a problem of any form."""
    contraction, inner = Contraction(p), stopping
    if contraction.problem is not p:  # the kernel does not have the costs of required joins
        inner = stopping.child(iterations=stopping.max_iterations - stopping.iterations, plus=contraction.constant)

    def once(labels: Labels) -> Labels:
        found = first = contraction.project(labels)
        for q in problems_with_huge_costs_cut(contraction.problem, found):
            if found is not first and (inner.reason is not None or not np.isfinite(q._evaluate_labels(found))):
                break
            found = canonical(kernel(q, found, inner))
        return canonical(contraction.lift(found))

    found = settled(p, once(labels), once, inner)
    if inner is not stopping:
        stopping.iterations += inner.iterations
        if inner.reason is not None:
            stopping.stop(inner.reason)
    return found


def problems_with_huge_costs_cut(p: SetPartition, labels: Labels) -> list[SetPartition]:
    """The problems that a kernel improves canonical labels on, one after the other; without required joins.

    The last one has huge costs as required cuts. If the labels pay a huge cost, the problem as it is comes before it. A
    caller ends after it if the labels that it has reached pay such a cost still.
    """
    q = cut_huge(p)
    return [q] if q is p or np.isfinite(q._evaluate_labels(labels)) else [p, q]

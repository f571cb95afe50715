"""What the local searches share: from a problem and an initial partition to a Result, with required pairs honoured.

Required joins are contracted before a kernel runs, so kernels know only finite costs and ``inf`` for required cuts.
Where a subset falls apart into pieces that no non-zero pair connects, the kernel goes on from these.

A cost so huge that all that attracts an element would drown in its rounding (2^20 times that) counts as a required cut,
so that tolerances, and the resolution of fixed point, do not follow what nobody will pay. If the partition to start
from does pay it, the kernel first runs on the costs as they are, until it does no more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphpart.common.local_search import improved
from graphpart.partition.problem import Labels, SetPartition, as_problem, canonical
from graphpart.partition.problem.contraction import Contraction
from graphpart.partition.problem.derived import cut_huge
from graphpart.partition.problem.finish import finish, settled
from graphpart.partition.problem.labels import start_of
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["improve", "repels", "with_huge_costs_cut"]

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
        Whether the kernel, and the default, can do with the background of a problem; if not, it is made a matrix.

    Raises
    ------
    InvalidPartition
        If the initial partition does not fit the problem or violates a requirement.
    """
    p = as_problem(problem, background=True)
    if not background(p):
        p = as_problem(p)
    start = default(p, stopping) if initial is None else start_of(p, initial)

    contraction = Contraction(p)

    def once(labels: Labels) -> Labels:
        found = with_huge_costs_cut(contraction.problem, contraction.project(labels), stopping, kernel)
        return canonical(contraction.lift(found))

    def run(labels: Labels, _: float) -> Labels:
        return settled(p, once(labels), once, stopping)

    labels, cost = improved(start, p.evaluate_labels, run, stopping)
    return finish(p, labels, stopping, method, Status.LOCAL_OPTIMUM, cost=cost)


def with_huge_costs_cut(p: SetPartition, labels: Labels, stopping: Stopping, kernel: Kernel) -> Labels:
    """What a kernel makes of labels if huge costs are required cuts; for a problem without required joins."""
    q = cut_huge(p)
    if q is p:
        return kernel(p, labels, stopping)
    if not np.isfinite(q.evaluate_labels(labels)):
        labels = canonical(kernel(p, labels, stopping))
        if stopping.reason is not None or not np.isfinite(q.evaluate_labels(labels)):
            return labels
    return kernel(q, labels, stopping)

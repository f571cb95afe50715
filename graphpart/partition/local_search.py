"""What the local searches share: from a problem and an initial partition to a Result, with required pairs honoured.

Required joins are contracted before a kernel runs, so kernels know only finite costs and ``inf`` for required cuts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphpart.partition.problem import Labels, SetPartition, as_problem
from graphpart.partition.problem import canonical as _canonical
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["finish", "improve"]

Kernel = Callable[[SetPartition, Labels, Stopping], Labels]


def improve(
    problem: Any,
    initial: Any,
    default: Callable[[SetPartition, Stopping], Labels],
    kernel: Kernel,
    method: str,
    stopping: Stopping,
) -> PartitionResult:
    """Run a kernel from an initial partition.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
    initial : None or a partition in any form
        None means ``default(problem, stopping)``.
    kernel : callable
        ``kernel(problem, labels, stopping)`` returns labels that are not worse, for a problem without required joins
        and canonical labels that satisfy its required cuts.
    method : str
    stopping : Stopping

    Raises
    ------
    InvalidPartition
        If the initial partition does not fit the problem or violates a requirement.
    """
    p = as_problem(problem)
    if initial is None:
        start = default(p, stopping)
    else:
        start = p.labels(initial)
        p.check_feasible(start)
    cost = p.evaluate_labels(start)
    stopping.record(cost)
    labels = start
    if not stopping.check(cost):
        if len(p.must_join):
            blocks = p.blocks()
            first = np.unique(blocks, return_index=True)[1]
            labels = kernel(p.contract(blocks), _canonical(start[first]), stopping)[blocks]
        else:
            labels = kernel(p, start, stopping)
    return finish(p, labels, stopping, method, Status.LOCAL_OPTIMUM, start=(start, cost))


def finish(
    p: SetPartition,
    labels: Labels,
    stopping: Stopping,
    method: str,
    status: Status,
    message: str | None = None,
    lower_bound: float = -np.inf,
    start: tuple[Labels, float] | None = None,
    info: dict[str, Any] | None = None,
) -> PartitionResult:
    """A Result for labels, with the cost recomputed; `status` holds unless the run was stopped early.

    If rounding made the labels worse than the start, the start is returned.
    """
    stopping.reraise()
    labels = _canonical(labels)
    cost = p.evaluate_labels(labels)
    if start is not None and cost > start[1]:
        labels, cost = start
    labels.flags.writeable = False
    status = stopping.reason or status
    stopping.history.append((stopping.seconds, cost))
    return PartitionResult(
        labels=labels,
        cost=cost,
        objective=p.objective(cost),
        lower_bound=min(lower_bound, cost),  # rounding
        status=status,
        message=message or MESSAGES[status],
        iterations=stopping.iterations,
        seconds=stopping.seconds,
        method=method,
        nodes=p.nodes,
        history=tuple(stopping.history),
        info=info or {},
    )


MESSAGES = {
    Status.OPTIMAL: "proven optimal",
    Status.LOCAL_OPTIMUM: "no further transformation lowers the cost",
    Status.FEASIBLE: "ended",
    Status.TIME_LIMIT: "stopped at the time limit",
    Status.ITERATION_LIMIT: "stopped at the iteration limit",
    Status.TARGET: "stopped at the target cost",
    Status.INTERRUPTED: "interrupted",
}

"""From the labels that a method ends with to its Result, the cost recomputed."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphpart.common.finishing import result_of
from graphpart.partition.problem.labels import canonical
from graphpart.partition.problem.pair_costs import Labels
from graphpart.partition.problem.set_partition import SetPartition
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["finish"]


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
    labels = canonical(labels)
    cost = p.evaluate_labels(labels)
    if start is not None and cost > start[1]:
        labels, cost = start
    stopping.history.append((stopping.seconds, cost))
    return result_of(
        PartitionResult, p, labels, cost, stopping, method, stopping.reason or status, message, lower_bound, info
    )

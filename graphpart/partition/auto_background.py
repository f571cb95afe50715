"""What the default method does with a problem whose background is too large to be made explicit: multilevel moves.

Without a time limit, these end by themselves; with one, iterations go on as long as there is time. The bound is the sum
of all costs that attract, where the background repels.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from graphpart.partition.anytime_search.checkpoint import saved
from graphpart.partition.anytime_search.search import better_start
from graphpart.partition.bounds.trivial_bound import trivial_bound
from graphpart.partition.local_search.improve import improve
from graphpart.partition.local_search.multilevel import PATIENCE, improve_by_levels
from graphpart.partition.problem import Labels, SetPartition
from graphpart.result import PartitionResult
from graphpart.stopping import Stopping

__all__ = ["auto_by_levels"]

ENDLESS = 2**60


def auto_by_levels(
    p: SetPartition,
    initial: Any,
    time_limit: float | None,
    target: float | None,
    seed: int | None,
    checkpoint: str | os.PathLike[str] | None,
    callback: Callable[[float, float], object] | None,
) -> PartitionResult:
    """See :func:`graphpart.partition.auto`, of which this is one case."""
    stopping = Stopping(time_limit, None, target, callback)
    state = np.random.default_rng(seed or 0)
    patience = PATIENCE if time_limit is None else ENDLESS

    def kernel(p: SetPartition, labels: Labels, stopping: Stopping) -> Labels:
        return improve_by_levels(p, labels, stopping, state, patience)

    start = better_start(p, initial, checkpoint)
    result = improve(p, start, lambda p, _: p.blocks(), kernel, "auto", stopping, lambda p: True)
    bound = min(trivial_bound(p), result.cost)
    result = replace(result, lower_bound=bound, message=f"{result.message} (multilevel moves)")
    return saved(p, result, checkpoint)

"""What the default method does with a problem whose background is too large to be made explicit.

It starts as the search does (anytime_search/start.py): multilevel moves, and where subsets are small, also joining
and a little annealing, after which pairwise Kernighan-Lin follows. Without a time limit that is all; with one, the
search goes on from there as long as there is time. The bound is the sum of all costs that attract, where the
background repels.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from graphpart.common.rounds import check_seed_and_threads
from graphpart.partition.anytime_search.checkpoint import saved
from graphpart.partition.anytime_search.levels import polished
from graphpart.partition.anytime_search.search import better_start, search
from graphpart.partition.anytime_search.start import start_with_background
from graphpart.partition.bounds.trivial_bound import trivial_bound
from graphpart.partition.local_search.improve import improve
from graphpart.partition.problem import Labels, SetPartition
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["auto_by_levels"]


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
    check_seed_and_threads(seed, None)
    start = better_start(p, initial, checkpoint)
    if time_limit is not None:
        result = search(
            p, start, time_limit=time_limit, target=target, seed=seed, checkpoint=checkpoint, callback=callback
        )
        status = Status.LOCAL_OPTIMUM if result.status == Status.FEASIBLE else result.status
        result = replace(result, status=status, method="auto")
        return _bounded(p, result, "search")
    state = np.random.default_rng(seed or 0)

    def kernel(p: SetPartition, labels: Labels, stopping: Stopping) -> Labels:
        labels = start_with_background(p, labels, start is None, stopping, state)
        return polished(p, labels, stopping, thorough=True)

    result = improve(p, start, lambda p, _: p.blocks(), kernel, "auto", stopping, lambda p: True)
    return saved(p, _bounded(p, result, "multilevel moves"), checkpoint)


def _bounded(p: SetPartition, result: PartitionResult, how: str) -> PartitionResult:
    bound = max(result.lower_bound, min(trivial_bound(p), result.cost))
    return replace(result, lower_bound=bound, message=f"{result.message} ({how})")

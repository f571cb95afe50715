"""What the default method does with a problem whose background is too large to be made explicit.

It starts as the search does (anytime_search/start.py): multilevel moves, and where subsets are small, also joining
and a little annealing, after which pairwise Kernighan-Lin follows. With a time limit, the search goes on from there.

Where subsets are small, branch and cut follows, part by part, from the partition found: with a time limit, for SHARE of
it; else for at most PROOF seconds. Of large subsets, such as communities, it would prove little. The bound is then the
sum of all costs that attract.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from graphpart.common.rounds import check_seed_and_threads
from graphpart.partition.anytime_search.checkpoint import saved
from graphpart.partition.anytime_search.levels import has_small_subsets, polished
from graphpart.partition.anytime_search.search import better_start, search
from graphpart.partition.anytime_search.start import start_with_background
from graphpart.partition.bounds.trivial_bound import trivial_bound
from graphpart.partition.exact import exact
from graphpart.partition.local_search.improve import improve, repels
from graphpart.partition.problem import Labels, SetPartition
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["auto_by_levels"]

SHARE, PROOF = 0.5, 5.0
MOST = 2**18  # listed pairs, up to which branch and cut ends within about a second of its limit


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

        def searched(start: Labels | None, limit: float | None) -> PartitionResult:
            return search(
                p, start, time_limit=limit, target=target, seed=seed, checkpoint=checkpoint, callback=callback
            )

        result = searched(start, (1.0 - SHARE) * time_limit)
        if result.status not in (Status.INTERRUPTED, Status.TARGET) and not _is_worth_proving(p, result):
            result = searched(result.labels, stopping.remaining)
        status = Status.LOCAL_OPTIMUM if result.status == Status.FEASIBLE else result.status
        result = _bounded(p, replace(result, status=status, method="auto"), "search", stopping.remaining, callback)
    else:
        state = np.random.default_rng(seed or 0)

        def kernel(p: SetPartition, labels: Labels, stopping: Stopping) -> Labels:
            labels = start_with_background(p, labels, start is None, stopping, state)
            return polished(p, labels, stopping, thorough=True)

        result = improve(p, start, lambda p, _: p.blocks(), kernel, "auto", stopping, lambda p: True)
        result = _bounded(p, result, "multilevel moves", PROOF, callback)
    return saved(p, replace(result, seconds=stopping.seconds), checkpoint)


def _is_worth_proving(p: SetPartition, result: PartitionResult) -> bool:
    return len(p.listed()[2]) <= MOST and repels(p) and has_small_subsets(result.labels)


def _bounded(
    p: SetPartition,
    result: PartitionResult,
    how: str,
    limit: float | None,
    callback: Callable[[float, float], object] | None,
) -> PartitionResult:
    """The result with a bound; with what branch and cut makes of it, where that is worth it."""
    message = f"{result.message} ({how})"
    if result.status in (Status.INTERRUPTED, Status.TARGET) or not _is_worth_proving(p, result):
        bound = max(result.lower_bound, min(trivial_bound(p), result.cost))
        return replace(result, lower_bound=bound, message=message)
    proof = exact(p, result, time_limit=limit, callback=callback)
    status: Status = result.status
    message = f"{message}, then branch and cut"
    if proof.status in (Status.OPTIMAL, Status.INTERRUPTED):
        status, message = proof.status, f"{proof.message}, after {how}"
    later = tuple((result.seconds + seconds, cost) for seconds, cost in proof.history if cost < result.cost)
    return replace(
        result,
        labels=proof.labels,
        cost=proof.cost,
        lower_bound=max(proof.lower_bound, min(result.lower_bound, proof.cost)),
        status=status,
        message=message,
        history=result.history + later,
    )

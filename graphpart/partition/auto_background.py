"""What the default method does with a problem whose background is too large to be made explicit: multilevel moves.

They start from single elements, and, where the background repels, from the fixed point of greedy joining, too: the
former is better for communities, the latter where listed pairs repel as well; the better result is kept. Without a time
limit, they end by themselves; with one, iterations go on as long as there is time. The bound is the sum of all costs
that attract, where the background repels.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from graphpart.common.rounds import check_seed_and_threads
from graphpart.partition.anytime_search.checkpoint import saved
from graphpart.partition.anytime_search.search import better_start
from graphpart.partition.bounds.trivial_bound import trivial_bound
from graphpart.partition.local_search.greedy_joining import joined
from graphpart.partition.local_search.improve import improve, repels
from graphpart.partition.local_search.multilevel import PATIENCE, improve_by_levels
from graphpart.partition.problem import Labels, SetPartition, canonical
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
    check_seed_and_threads(seed, None)
    state = np.random.default_rng(seed or 0)
    patience = PATIENCE if time_limit is None else ENDLESS

    start = better_start(p, initial, checkpoint)

    def kernel(p: SetPartition, labels: Labels, stopping: Stopping) -> Labels:
        starts = [labels]
        if start is None and repels(p):
            starts.append(canonical(joined(p, stopping)))
        found: list[Labels] = []
        for labels in starts:
            if not found or not stopping.check(p.evaluate_labels(found[0])):
                found.append(improve_by_levels(p, labels, stopping, state))
        best = min(found, key=p.evaluate_labels)
        if patience > PATIENCE and not stopping.check(p.evaluate_labels(best)):
            best = improve_by_levels(p, best, stopping, state, patience)
        return best

    result = improve(p, start, lambda p, _: p.blocks(), kernel, "auto", stopping, lambda p: True)
    bound = min(trivial_bound(p), result.cost)
    result = replace(result, lower_bound=bound, message=f"{result.message} (multilevel moves)")
    return saved(p, result, checkpoint)

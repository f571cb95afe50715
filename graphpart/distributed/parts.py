"""Parts of a problem, each solved by one task with any method of the library, and a lower bound for each.

Pairs within a block go to the task that solves it, those between blocks stay away: they cost nothing as long as blocks
stay apart, and the negative ones among them are what a lower bound has to add.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphpart.distributed import pairs
from graphpart.distributed._streaming import compensated_sum
from graphpart.distributed.folder import Folder
from graphpart.partition.bounds.lower_bound import lower_bound
from graphpart.partition.problem import SetPartition
from graphpart.result import PartitionResult
from graphpart.solve import run

__all__ = ["bounded", "route", "solved"]

FEWEST = 1.0  # seconds for a lower bound at least


def route(folder: Folder, stage: str, number: int, level: str, division: str, tasks: int) -> dict[str, float]:
    """A task: the pairs of a range that lie within blocks, by task; the sum of negative costs of all others."""
    block, task = folder.load(division, "block"), folder.load(division, "task")
    u, v, cost = pairs.load(folder, level, number)
    of_u = task[u]
    within = (block[u] == block[v]) & (of_u >= 0)
    inner = np.flatnonzero(within)
    inner = inner[np.argsort(of_u[inner], kind="stable")]
    starts = np.searchsorted(of_u[inner], np.arange(tasks + 1))
    folder.save(stage, f"{number}.starts", starts.astype(np.int64))
    pairs.save(folder, stage, number, (u[inner], v[inner], cost[inner]))
    return {"between": compensated_sum(np.ascontiguousarray(np.minimum(cost[~within], 0.0)))}


def gathered(folder: Folder, routes: str, number: int, ranges: int) -> tuple[Any, SetPartition]:
    """The elements of a task, ascending, and the problem over them."""
    found = []
    for k in range(ranges):
        first, last = folder.load(routes, f"{k}.starts")[number : number + 2].tolist()
        found.append(pairs.load(folder, routes, k, slice(first, last)))
    u, v, cost = pairs.concatenated(found)
    elements = np.unique(np.concatenate([u, v]))
    place = np.searchsorted(elements, u).astype(np.int32), np.searchsorted(elements, v).astype(np.int32)
    return elements, SetPartition.of_pairs(range(len(elements)), *place, cost)


def solved(
    folder: Folder,
    stage: str,
    number: int,
    routes: str,
    ranges: int,
    method: str,
    options: dict[str, Any],
    start: tuple[str, str] | None,
    fewer: float | None,
) -> dict[str, Any]:
    """A task: labels of its elements. Saves ``elements`` and ``labels``.

    `start` names an array of labels of all elements to start from; subsets that its blocks share are not told apart.
    """
    elements, p = gathered(folder, routes, number, ranges)
    initial = None
    if start is not None:
        _, initial = np.unique(folder.load(*start)[elements], return_inverse=True)
    if fewer is not None:
        result = run(p, "greedy-joining", max_iterations=int(p.n * fewer))
    else:
        result = run(p, method, initial=initial, **options)
    assert isinstance(result, PartitionResult)
    folder.save(stage, f"{number}.elements", elements)
    folder.save(stage, f"{number}.labels", result.labels)
    before = None if initial is None else p.evaluate(initial)
    return {
        "elements": p.n,
        "clusters": result.subsets,
        "cost": result.cost,
        "before": before,
        "optimal": result.status == "optimal",
        "bound": result.lower_bound,
        "seconds": result.seconds,
    }


def bounded(
    folder: Folder, stage: str, number: int, routes: str, ranges: int, method: str, seconds: float
) -> dict[str, float]:
    """A task: a lower bound on the cost of its part, in half as many seconds as it was solved in, or 1."""
    _, p = gathered(folder, routes, number, ranges)
    return {"bound": lower_bound(p, method, time_limit=max(FEWEST, seconds / 2)).bound}

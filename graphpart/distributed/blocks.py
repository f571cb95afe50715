"""The division of elements: components of attractive pairs, and blocks of components that are too large.

In some optimal partition, two elements that no path of attractive pairs connects are apart, so components are solved
one by one. Each task that reads rows leaves a spanning forest of the attractive ones; these forests have the same
components as all rows. If each component fits into a task, its rows go there, and no other row is needed. Otherwise all
rows are sorted, and costs of equal pairs are added.

A component with more pairs than fit into a task is divided into blocks by Kruskal's algorithm with sets of
limited size. It goes through the attractive pairs from the strongest to the weakest: in classes of strength, which
divide a sample of the pairs evenly, and within a class in the order on disk. For each pair, the sets of both elements
are united, unless the union would have more pairs than fit. If blocks are given, like the tiles of an image, pairs
between different given blocks are skipped, so that each block lies within a given one. Small components are packed into
tasks, in the order of their first elements, and blocks into other tasks.

If clusters must be connected, base pairs of any cost below inf are in place of attractive ones.

One worker does this from the forests, or in passes over the pairs on disk. It keeps some numbers for each element in
memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.distributed import forests, pairs
from graphpart.distributed._streaming import numbered, unite_below, unite_strong
from graphpart.distributed.folder import Folder, Work
from graphpart.distributed.pairs import Level

__all__ = ["NOBODY", "count_ends", "divide", "packed", "whole"]

CLASSES = 16  # number of classes of strength
TOGETHER = 2**20  # largest number of pairs of a task of small components, unless there are more elements
NOBODY = -1


def divide(work: Work, level: Level, most: int, given: str = "") -> dict[str, Any]:
    """A task: for each element its block and the task that solves it, NOBODY if no pair attracts it.

    Saves the arrays ``block`` and ``task`` of elements, ``component`` of elements and ``large`` of components; the
    answer says how many there are, how many tasks, the first of which ("whole") have whole components, and whether a
    component was divided. `most` is the number of pairs of a task, `given` the stage that has the given blocks of
    elements.
    """
    parent = np.arange(level.n, dtype=np.int32)
    degree = np.zeros(level.n, np.int32)
    for k in range(level.ranges):
        u, v, cost = pairs.load(work.folder, level.stage, k)
        unite_below(parent, u, v, pairs.linking(u, v, cost, level.connected), np.inf if level.connected else 0.0)
        count_ends(degree, u, v)
    component = parent
    count = numbered(component)
    weights = np.bincount(component, degree, count) / 2  # pairs, also those to other components
    large = weights > most
    divided = bool(large.any())
    block = component
    if divided:
        of_elements = work.folder.load(given, "blocks", mapped=False) if given else np.zeros(0, np.int64)
        if given:
            of_elements[~large[component]] = 0
        block = _blocks(work.folder, level, degree, most, of_elements)
        count = int(block.max(initial=-1)) + 1
        weights = np.bincount(block, degree, count) / 2
    return _tasks(work, component, large, block, weights, most) | {"divided": divided}


def _tasks(
    work: Work,
    component: NDArray[np.int32],
    large: NDArray[np.bool_],
    block: NDArray[np.int32],
    weights: NDArray[np.float64],
    most: int,
) -> dict[str, Any]:
    """Pack blocks with these numbers of pairs into tasks, and save the division."""
    count = len(weights)
    alone = np.bincount(block, minlength=count) == 1
    partial = np.zeros(count, bool)  # blocks of large components
    partial[block] = large[component]
    task_of_block = np.full(count, NOBODY, np.int32)
    ends = [0]
    together = min(most, max(TOGETHER, len(block)))
    for mine, limit in ((np.flatnonzero(~partial & ~alone), together), (np.flatnonzero(partial & ~alone), most)):
        task_of_block[mine] = ends[-1] + packed(weights[mine], limit)
        ends.append(int(task_of_block.max(initial=NOBODY)) + 1)
    work.save("component", component)
    work.save("large", large)
    work.save("block", block)
    work.save("task", task_of_block[block])
    return {"components": len(large), "blocks": count, "tasks": ends[2], "whole": ends[1]}


def whole(work: Work, level: Level, most: int) -> dict[str, Any]:
    """A task: saves the same as `divide` if no component has more than `most` rows; otherwise "divided" is true."""
    component, weights = forests.united(work.folder, level.stage, level.ranges, level.n)
    count = len(weights)
    if weights[np.bincount(component, minlength=count) > 1].max(initial=0) > most:
        return {"components": count, "divided": True}
    large = np.zeros(count, bool)
    return _tasks(work, component, large, component, weights, most) | {"divided": False}


def count_ends(degree: NDArray[np.int32], u: NDArray[np.int32], v: NDArray[np.int32]) -> None:
    """Add the number of pairs of each element; `u` ascends."""
    if len(u):
        first = int(u[0])
        degree[first : int(u[-1]) + 1] += np.bincount(u - first).astype(np.int32)
        degree += np.bincount(v, minlength=len(degree)).astype(np.int32)


def _blocks(
    folder: Folder, level: Level, degree: NDArray[np.int32], most: int, given: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Numbers of blocks, in order of their first elements. Components that fit are one each, if no blocks are given."""
    samples = []
    for k in range(level.ranges):
        cost = pairs.linking(*pairs.load(folder, level.stage, k), level.connected)
        step = max(1, len(cost) // 2**16)  # costs that are sampled from each range
        taken = np.asarray(cost[::step])
        samples.append(taken[taken < 0])
    attractive = np.sort(np.concatenate(samples))
    edges = attractive[(len(attractive) * np.arange(1, CLASSES)) // CLASSES] if len(attractive) else np.zeros(0)
    thresholds = [*np.unique(edges).tolist(), 0.0, *([np.inf] if level.connected else [])]
    parent = np.arange(len(degree), dtype=np.int32)
    weights = degree.astype(np.int64)
    before = -np.inf
    for threshold in thresholds:
        for k in range(level.ranges):
            u, v, cost = pairs.load(folder, level.stage, k)
            cost = pairs.linking(u, v, cost, level.connected)
            unite_strong(parent, u, v, cost, before, threshold, weights, 2 * most, given)
        before = threshold
    numbered(parent)
    return parent


def packed(weights: NDArray[Any], most: int) -> NDArray[np.int64]:
    """Tasks of consecutive blocks; each task has a limited number of pairs, or a single block."""
    out = np.empty(len(weights), np.int64)
    reached = np.concatenate([[0.0], np.cumsum(weights)])
    begin = task = 0
    while begin < len(weights):
        end = int(np.searchsorted(reached, reached[begin] + most, side="right")) - 1
        end = max(end, begin + 1)
        out[begin:end] = task
        begin, task = end, task + 1
    return out

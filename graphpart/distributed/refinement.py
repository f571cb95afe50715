"""Refinement: groups of neighbouring subsets, across former borders of blocks, are solved again.

Subsets that attractive pairs connect are united to groups of limited weight, from the strongest attraction to the
weakest. Subsets that were in no common group before come first. A group consists of whole subsets, and some groups make
a task.

The elements of a task may also move to subsets outside. So the problem of a task has a node for each subset outside to
which pairs lead. This node stands for the elements of this subset that are not of the task, and the costs of pairs with
these elements are added. Any two of these nodes are kept apart by a group of price ``inf``.

Tasks are performed in waves. In a wave, each subset belongs to at most one task, either with its elements or as a node
outside. A wave of one task offers all other subsets to this task. In a wave of several tasks, a subset that is of no
task of this wave is offered to the task that attracts it most. So labels of different tasks of a wave differ, pairs
between these tasks stay apart, and the gains of all tasks add up. No wave increases the cost. Tasks that hardly attract
each other share waves: each task joins the first wave whose tasks attract it by at most the share APART of what all
tasks attract it by, or that wave of WAVES which attracts it least.

Where most pairs lie between groups, a task has few elements. So there are also rounds with groups of whole subsets that
have as many pairs within as fit, and with no nodes for subsets outside. There, a task has the elements of many more
subsets, to be joined, divided and moved between these subsets, and all tasks are performed at once. If clusters must be
connected, there are only such rounds, since the rest of a subset outside may be in pieces.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from graphpart.distributed import pairs
from graphpart.distributed._streaming import numbered, unite_within
from graphpart.distributed.blocks import NOBODY, count_ends, packed
from graphpart.distributed.folder import Folder, Work
from graphpart.distributed.grouped import Grouped, groups_of_nodes
from graphpart.distributed.levels import compact
from graphpart.distributed.pairs import Level
from graphpart.distributed.parts import routed
from graphpart.kernels import _pairs
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.background import Background
from graphpart.partition.problem.groups import Groups, joined
from graphpart.partition.problem.rules import Rules
from graphpart.result import PartitionResult
from graphpart.solve import run

__all__ = ["WAVES", "Round", "group", "improved", "regroup", "relabelled"]

FEW = 0.05  # smallest share of a task's pairs for groups of whole subsets; groups with fewer stay as they are
WAVES = 16  # largest number of waves, which are performed one after the other
APART = 0.02  # share of a task's attraction to all other tasks that may be to tasks of its wave


class Round(NamedTuple):
    """The data of one round of refinement for all its tasks.

    `routes` names the stage with the pairs within groups, `around` the stage with pairs to elements outside. Without
    `around`, elements stay among the subsets of their task. `ranges` is the number of ranges of pairs, `division` the
    stage with the groups, `method` and `options` say how a group is solved. With `connected`, clusters must be
    connected.
    """

    routes: str
    around: str
    ranges: int
    division: str
    method: str
    options: dict[str, Any]
    grouped: Grouped | None
    connected: bool


def group(work: Work, level: Level, borders: Level, labels: str, before: str, most: int) -> dict[str, Any]:
    """A task: for each element its group, as ``block``, and its ``task``, as `divide` saves them.

    `borders` has the attraction between subsets, `before` the division whose blocks were solved last. A task has at
    most `most` pairs, those with elements outside included. The answer has the tasks of each wave. If wave w has
    several, ``offered.w`` says to which of them each subset is offered.
    """
    label = work.folder.load(labels, "labels", mapped=False)
    degree = _degrees(work.folder, level)
    piece, subset = _pieces(label, degree, most)
    alone = np.bincount(piece, degree, len(subset)).astype(np.int64)
    last = np.zeros(len(subset), np.int32)
    last[piece] = work.folder.load(before, "block")  # of any of its elements
    for limit in (2 * most, most):  # the first one suffices where most pairs lie within groups
        parent, count = _united(work.folder, borders, last, alone, limit)
        within = _within(work.folder, level, parent[piece], count)
        weights = np.bincount(parent, alone, count).astype(np.int64) - within  # pairs with an element of each group
        if weights.max(initial=0) <= most:
            break
    task_of = np.full(count, NOBODY, np.int32)
    task_of[weights > 0] = packed(weights[weights > 0], most)
    tasks = int(task_of.max(initial=NOBODY)) + 1
    _save(work, parent[piece], task_of)
    between = [pairs.load(work.folder, borders.stage, r) for r in range(borders.ranges)]
    waves = _waves(between, task_of[parent], subset, tasks)
    for wave, mine in enumerate(waves):
        if len(mine) > 1:
            work.save(f"offered.{wave}", _offered(between, task_of[parent], subset, mine, tasks))
    return {"blocks": count, "tasks": tasks, "within": int(within.sum()), "waves": waves}


def regroup(work: Work, level: Level, borders: Level, labels: str, seed: list[int], most: int) -> dict[str, Any]:
    """A task: groups of whole subsets with at most `most` pairs within, saved as `group` saves them.

    Subsets are united in a random order, in which those with a strong attraction tend to come first. Each group is a
    task, unless it has few pairs, or is a subset with more pairs.
    """
    label = work.folder.load(labels, "labels", mapped=False)
    alone = np.bincount(label, _degrees(work.folder, level)).astype(np.int64)
    limit = int(alone.sum())
    while True:
        parent, weights, rng = np.arange(len(alone), dtype=np.int32), alone.copy(), np.random.default_rng(seed)
        for r in range(borders.ranges):
            u, v, cost = pairs.load(work.folder, borders.stage, r)
            order = np.argsort(cost * rng.random(len(cost)), kind="stable")
            unite_within(parent, u, v, cost, order, weights, limit)
        count = numbered(parent)
        within = _within(work.folder, level, parent[label], count)
        several = np.bincount(parent, minlength=count) > 1
        if limit <= most or within[several].max(initial=0) <= most:
            break
        limit = 3 * limit // 4
    chosen = (FEW * most < within) & (within <= most)
    tasks = int(chosen.sum())
    task_of = np.full(count, NOBODY, np.int32)
    task_of[chosen] = np.arange(tasks)
    _save(work, parent[label], task_of)
    return {"blocks": count, "tasks": tasks}


def _degrees(folder: Folder, level: Level) -> NDArray[np.int32]:
    """The number of pairs of each element."""
    degree = np.zeros(level.n, np.int32)
    for r in range(level.ranges):
        u, v, _ = pairs.load(folder, level.stage, r)
        count_ends(degree, u, v)
    return degree


def _within(folder: Folder, level: Level, block: NDArray[np.int32], count: int) -> NDArray[np.int64]:
    """The number of pairs within each group."""
    within = np.zeros(count, np.int64)
    for r in range(level.ranges):
        u, v, _ = pairs.load(folder, level.stage, r)
        of_u = block[u]
        within += np.bincount(of_u[of_u == block[v]], minlength=count)
    return within


def _save(work: Work, block: NDArray[np.int32], task_of: NDArray[np.int32]) -> None:
    """Save the group of each element, and its task."""
    work.save("block", block)
    work.save("task", task_of[block])


def _pieces(
    label: NDArray[np.int32], degree: NDArray[np.int32], most: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The piece of each element, and the subset of each piece: only subsets with too many pairs have several.

    The first piece of each subset has the number of the subset.
    """
    k = int(label.max(initial=-1)) + 1
    large = np.bincount(label, degree, k) > most
    piece, subset = label, [np.arange(k, dtype=np.int32)]
    if large.any():
        piece, count = label.copy(), k
        for one in np.flatnonzero(large).tolist():
            mine = np.flatnonzero(label == one)
            number = np.cumsum(degree[mine], dtype=np.int64) // max(1, most // 2)
            piece[mine[number > 0]] = count - 1 + number[number > 0]
            subset.append(np.full(int(number[-1]), one, np.int32))
            count += int(number[-1])
    return piece, np.concatenate(subset)


def _united(
    folder: Folder, borders: Level, last: NDArray[np.int32], alone: NDArray[np.int64], limit: int
) -> tuple[NDArray[np.int32], int]:
    """The group of each subset, and how many groups there are."""
    parent, weights = np.arange(len(last), dtype=np.int32), alone.copy()
    for fresh in (True, False):
        for r in range(borders.ranges):
            u, v, cost = pairs.load(folder, borders.stage, r)
            mine = np.flatnonzero((last[u] != last[v]) == fresh)
            mine = mine[np.argsort(cost[mine], kind="stable")]
            unite_within(parent, u, v, cost, mine, weights, limit)
    return parent, numbered(parent)


def _waves(
    between: list[pairs.Triple], task: NDArray[np.int32], subset: NDArray[np.int32], tasks: int
) -> list[list[int]]:
    """The tasks of each wave, from the attraction between subsets, and the task and the subset of each piece."""
    k = int(subset.max(initial=-1)) + 1
    mine = task >= 0
    pieces = coo_array((np.ones(mine.sum()), (subset[mine], task[mine])), shape=(k, tasks)).tocsr()
    parts = (pieces.T @ (coo_array((-cost, (u, v)), shape=(k, k)).tocsr() @ pieces) for u, v, cost in between)
    attraction = sum(parts, csr_array((tasks, tasks)))
    attraction = (attraction + attraction.T).tolil()
    attraction.setdiag(0.0)
    limit = APART * attraction.sum(axis=1)
    shared = (pieces.T @ pieces).tolil()  # two tasks with pieces of one subset do not share a wave if possible
    shared.setdiag(0.0)
    near = (attraction + attraction.sum() * shared).tocsr()
    wave = np.full(tasks, WAVES)
    for one in range(tasks):
        row = slice(*near.indptr[one : one + 2])
        within = np.bincount(wave[near.indices[row]], near.data[row], WAVES + 1)[:WAVES]
        free = np.flatnonzero(within <= limit[one])
        wave[one] = free[0] if len(free) else np.argmin(within)
    return [np.flatnonzero(wave == one).tolist() for one in range(int(wave.max(initial=-1)) + 1)]


def _offered(
    between: list[pairs.Triple], task: NDArray[np.int32], subset: NDArray[np.int32], wave: list[int], tasks: int
) -> NDArray[np.int32]:
    """The task of a wave to which each subset is offered: its own, or that which attracts it most.

    `task` and `subset` are the task and the subset of each piece.
    """
    mine = np.isin(task, wave)
    offered = np.full(int(subset.max(initial=-1)) + 1, NOBODY, np.int32)
    offered[subset[mine]] = task[mine]  # of several tasks with pieces of a subset, only the last one has it
    active = offered >= 0
    key: NDArray[Any] = np.zeros(0, np.int64)
    total: NDArray[Any] = np.zeros(0)
    for u, v, cost in between:
        for inside, outside in ((u, v), (v, u)):
            mine = active[inside] & ~active[outside]
            more = outside[mine].astype(np.int64) * tasks + offered[inside[mine]]
            key, place = np.unique(np.concatenate([key, more]), return_inverse=True)
            total = np.bincount(place, np.concatenate([total, cost[mine]]), len(key))
    order = np.argsort(-total, kind="stable")  # the strongest comes last, and counts
    offered[key[order] // tasks] = (key[order] % tasks).astype(np.int32)
    return offered


def improved(
    work: Work,
    of_round: Round,
    labels: str,
    offers: str,
    task: int,
) -> dict[str, Any]:
    """A task of a wave: better labels of its elements. Saves ``elements`` and ``labels``.

    `offers` names the array of the division that says to which task of the wave each subset is offered, if it has any.
    Labels of at least 0 stand for subsets that existed before. Labels -1, -2, ... stand for new subsets.
    """
    label, of = work.folder.load(labels, "labels"), work.folder.load(of_round.division, "task")
    elements = np.flatnonzero(of == task)
    offered = work.folder.load(of_round.division, offers) if offers else None
    if offered is not None:
        elements = elements[offered[label[elements]] == task]
    n, inside = len(of), len(elements)
    place = np.full(n, -1, np.int32)
    place[elements] = np.arange(inside, dtype=np.int32)
    found = [routed(work.folder, stage, task, of_round.ranges) for stage in (of_round.routes, of_round.around) if stage]
    u, v, cost = pairs.concatenated(found)
    del found
    at = [place[u], place[v]]
    subsets = np.unique(
        np.concatenate([label[x[(one < 0) & (other >= 0)]] for x, one, other in ((u, *at), (v, *at[::-1]))])
    )
    if offered is not None:
        subsets = subsets[subsets < len(offered)]  # others are new in this round
        subsets = subsets[offered[subsets] == task]
    node = np.full(int(label.max(initial=-1)) + 1, -1, np.int32)  # of each subset
    node[subsets] = inside + np.arange(len(subsets), dtype=np.int32)
    kept = (at[0] >= 0) | (at[1] >= 0)
    for one, x in zip(at, (u, v), strict=True):
        outer = one < 0
        one[outer] = node[label[x[outer]]]
        kept &= one >= 0
    del u, v, x, outer
    cost = cost[kept]
    at = [one[kept] for one in at]
    ends = list(pairs.oriented(at[0], at[1], of_round.connected & (at[0] > at[1])))
    del at, kept, one
    u, v, cost = pairs.sums(ends.pop(0), ends.pop(), cost)
    nodes = inside + len(subsets)
    outside = np.arange(inside, nodes)
    rules = []
    if len(outside):
        rules.append(Groups(nodes, outside, np.zeros(len(outside), int), np.ones(len(outside), int), [math.inf]))
    if of_round.grouped is not None:
        rules.append(groups_of_nodes(work.folder, of_round.grouped, np.where(place < 0, node[label], place), nodes))
    background = Background(groups=joined(rules) if rules else None)
    of_clusters = Rules(lifted=u > v if of_round.connected else None)
    p = SetPartition._of_pairs(range(nodes), u, v, cost, background, of_clusters)
    del u, v, cost, place, node
    initial = np.unique(np.concatenate([label[elements], subsets]), return_inverse=True)[1].ravel()
    before = p.evaluate(initial)
    result = run(p, of_round.method, initial=initial, callback=work.folder.ended, **of_round.options)
    assert isinstance(result, PartitionResult)
    better = result.labels if result.cost < before else initial
    name = np.full(int(better.max(initial=-1)) + 1, -1, np.int64)
    name[better[inside:]] = subsets
    new = np.flatnonzero(name < 0)
    name[new] = -1 - np.arange(len(new))
    work.save(f"{work.number}.elements", elements.astype(np.int32))
    work.save(f"{work.number}.labels", name[better[:inside]])
    return {"new": len(new), "gain": min(0.0, result.cost - before), "seconds": result.seconds}


def relabelled(work: Work, labels: str, solutions: str, sizes: list[int], last: bool) -> dict[str, int]:
    """A task: all labels after a wave, given the numbers of new subsets of its tasks; from 0 on if it is the last
    wave."""
    label = work.folder.load(labels, "labels", mapped=False).astype(np.int64)
    count = int(label.max(initial=-1)) + 1
    for k, size in enumerate(sizes):
        found = work.folder.load(solutions, f"{k}.labels")
        label[work.folder.load(solutions, f"{k}.elements")] = np.where(found < 0, count - 1 - found, found)
        count += size
    canonical, subsets = _pairs.canonical_labels(compact(label, count))
    work.save("labels", canonical if last else label.astype(np.int32))
    return {"subsets": subsets}

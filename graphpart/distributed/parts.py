"""Parts of a problem, each solved by one task with any method of the library, and a lower bound for each.

Pairs within a block are sent to the task that solves the block. Pairs between blocks are left out: they cost nothing as
long as the blocks are apart. A lower bound has to add the negative costs of these pairs.

The bound of a part proves that the costs of its pairs are at least a constant plus their *reduced* costs, for every
partition (see certificates/certificate.py). The blocks of a later division overlap those of earlier ones. They use the
reduced costs that the bounds of the earlier division have left, and the costs of pairs between its blocks.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.distributed import pairs
from graphpart.distributed._streaming import compensated_sum
from graphpart.distributed.folder import Folder, Work
from graphpart.distributed.grouped import Grouped, groups_of
from graphpart.partition.bounds.lower_bound import lower_bound
from graphpart.partition.certificates.certificate import reduced_costs
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.background import Background
from graphpart.partition.problem.rules import Rules
from graphpart.result import PartitionResult
from graphpart.solve import run

__all__ = ["Parts", "bounded", "left_over", "route", "routed", "solved"]

PER_PAIR = 6e-6  # seconds per pair for the lower bounds of a part in all divisions


class Parts(NamedTuple):
    """The parts of a division: the stage with the pairs within each of them, and settings of all parts.

    `ranges` is the number of ranges of pairs, `n` the number of elements of the level. `connected` says whether
    clusters must be connected.
    """

    routes: str
    ranges: int
    n: int
    grouped: Grouped | None
    connected: bool


def route(work: Work, level: str, division: str, tasks: int, left: str = "", around: str = "") -> dict[str, float]:
    """A task: the pairs of a range that lie within blocks, by task; the sum of negative costs of all others.

    `left` names the stage with the costs of all pairs that an earlier division has left; their sum is "left". `around`
    names a stage for all other pairs with an element of a task, once for each such task, this element first.
    """
    u, v, cost = pairs.load(work.folder, level, work.number)
    within, inner, starts = _inner(work.folder, division, u, v, tasks)
    work.save(f"{work.number}.starts", starts)
    pairs.save(work, (u[inner], v[inner], cost[inner]))
    if around:
        task = work.folder.load(division, "task")
        others = np.flatnonzero(~within)
        a, b, of_a, of_b = u[others], v[others], task[u[others]], task[v[others]]
        one, two = of_a >= 0, (of_b >= 0) & (of_b != of_a)
        owner = np.concatenate([of_a[one], of_b[two]])
        order, starts = _by_task(owner, tasks)
        work.folder.save(around, f"{work.number}.starts", starts)
        ends = np.concatenate([a[one], b[two]])[order], np.concatenate([b[one], a[two]])[order]
        pairs.save(work._replace(stage=around), (*ends, np.concatenate([cost[others[one]], cost[others[two]]])[order]))
    answer = {"between": _negative(cost[~within]), "others": len(u) - len(inner)}
    if left:
        rest = work.folder.load(left, f"{work.number}")
        work.save(f"{work.number}.left", rest[inner])
        answer["left"] = _negative(rest[~within])
    return answer


def _inner(folder: Folder, division: str, u: Any, v: Any, tasks: int) -> tuple[Any, Any, NDArray[np.int64]]:
    """The pairs within blocks: a flag for each pair, their places in the order of tasks, and the start of each task."""
    block, task = folder.load(division, "block"), folder.load(division, "task")
    of_u = task[u]
    within = (block[u] == block[v]) & (of_u >= 0)
    inner = np.flatnonzero(within)
    order, starts = _by_task(of_u[inner], tasks)
    return within, inner[order], starts


def _by_task(owner: NDArray[np.int32], tasks: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of pairs in the order of their tasks, and the start of each task."""
    order = np.argsort(owner.astype(np.int16) if tasks < 2**15 else owner, kind="stable")  # NumPy sorts int16 by radix
    starts = np.zeros(tasks + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=tasks), out=starts[1:])
    return order, starts


def _negative(cost: NDArray[np.float64]) -> float:
    return compensated_sum(np.ascontiguousarray(cost[cost < 0]))


def routed(folder: Folder, routes: str, number: int, ranges: int, left: bool = False) -> pairs.Triple:
    """The pairs of a task from all ranges, with costs as they are or as they are left."""
    found = []
    for k in range(ranges):
        which = slice(*folder.load(routes, f"{k}.starts")[number : number + 2].tolist())
        u, v, cost = pairs.load(folder, routes, k, which)
        found.append((u, v, folder.load(routes, f"{k}.left")[which] if left else cost))
    return pairs.concatenated(found)


def gathered(
    folder: Folder, parts: Parts, number: int, left: bool = False, dense: bool | None = None
) -> tuple[Any, SetPartition, int]:
    """The elements of a task, ascending, the problem over them, and its number of pairs.

    Costs are as they are, or as they are left.
    """
    u, v, cost = routed(folder, parts.routes, number, parts.ranges, left)
    if not pairs.ascending(u, v):  # rows as they were read
        u, v, cost = pairs.sums(u, v, cost)
        kept = (cost != 0) | (parts.connected & (u < v))
        u, v, cost = u[kept], v[kept], cost[kept]
    seen = np.zeros(parts.n, bool)
    seen[u] = seen[v] = True
    elements = np.flatnonzero(seen).astype(np.int32)
    place = np.empty(parts.n, np.int32)
    place[elements] = np.arange(len(elements), dtype=np.int32)
    groups = groups_of(folder, parts.grouped, elements)
    rules = Rules(lifted=u > v if parts.connected else None)
    ends, background = (place[u], place[v]), Background(groups=groups)
    p = SetPartition._of_pairs(range(len(elements)), *ends, cost, background, rules, dense=dense)
    return elements, p, len(u)


def solved(
    work: Work,
    parts: Parts,
    method: str,
    options: dict[str, Any],
    divided: bool,
) -> dict[str, Any]:
    """A task: labels of its elements. Saves ``elements`` and ``labels``.

    In a part of a `divided` component only the first joins are made; the next level decides about the others.
    """
    elements, p, m = gathered(work.folder, parts, work.number)
    if divided:
        result = run(p, "greedy-joining", max_iterations=p.n // 4, callback=work.folder.ended)
    else:
        result = run(p, method, callback=work.folder.ended, **options)
    assert isinstance(result, PartitionResult)
    work.save(f"{work.number}.elements", elements)
    work.save(f"{work.number}.labels", result.labels)
    return {
        "elements": p.n,
        "pairs": m,
        "clusters": result.n_clusters,
        "cost": result.cost,
        "optimal": result.status == "optimal",
        "bound": result.lower_bound,
        "seconds": result.seconds,
    }


def bounded(
    work: Work,
    parts: Parts,
    method: str,
    seconds: float,
    share: float,
    left: bool,
    leave: bool,
) -> dict[str, float]:
    """A task: a lower bound on the cost of its part.

    `seconds` is the time that solving the part took. The bounds of all divisions take half of this time, at least one
    second, and at least PER_PAIR for each pair. This bound takes the given `share` of it.
    With `left`, the bound is for the costs that are left. With `leave`, the costs that this bound leaves are saved as
    ``low``, and the answer contains the "constant". Costs that are left contain the finite prices of groups, as far as
    earlier bounds have not used these up. A bound of pairs that need not connect clusters is valid, too.
    """
    parts = parts._replace(connected=False)
    if parts.grouped is not None and left and math.isfinite(parts.grouped.price):
        parts = parts._replace(grouped=None)
    _, p, m = gathered(work.folder, parts, work.number, left, dense=False if leave else None)
    found = lower_bound(p, method, time_limit=share * max(1.0, seconds / 2, m * PER_PAIR), callback=work.folder.ended)
    answer = {"bound": found.bound, "constant": 0.0}
    if leave:
        assert p.matrix is None  # so that pairs are in the order of the gathered ones
        low, answer["constant"] = reduced_costs(p, found.inequalities, found.multipliers)
        if not low.min(initial=0.0) > -np.inf:  # beyond all measure
            low, answer["constant"] = p.pairs()[2], 0.0
        work.save(f"{work.number}.low", low)
    return answer


def left_over(
    work: Work,
    level: str,
    division: str,
    routes: str,
    bounds: str,
    tasks: int,
    left: str,
) -> float:
    """A task: the costs of a range that are left after the bounds of a division's parts, in the order of its pairs."""
    u, v, cost = pairs.load(work.folder, level, work.number)
    rest = work.folder.load(left, f"{work.number}", mapped=False) if left else np.array(cost)
    _, inner, starts = _inner(work.folder, division, u, v, tasks)
    begins = np.zeros(tasks, np.int64)
    for k in range(work.number):
        begins += np.diff(work.folder.load(routes, f"{k}.starts"))
    for k, (first, last) in enumerate(pairwise(starts.tolist())):
        if first < last:
            rest[inner[first:last]] = work.folder.load(bounds, f"{k}.low")[begins[k] : begins[k] + last - first]
    work.save(f"{work.number}", rest)
    return 0.0

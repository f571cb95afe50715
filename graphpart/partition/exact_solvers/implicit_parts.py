"""Branch and cut where pairs that are not listed cost something, part by part.

Joins that are known beforehand are contracted; then the components of attractive pairs are solved apart. Their problems
become explicit, many small ones at a time. One of more than `LARGEST` elements gets local search, and a bound by
message passing or, where its listed pairs are few, the relaxation; if that does not prove it, it becomes explicit, too,
unless it is very large.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.finishing import MESSAGES
from graphpart.partition.bounds.lower_bound import lower_bound
from graphpart.partition.bounds.trivial_bound import trivial_bound
from graphpart.partition.local_search.greedy_joining import greedy_joining
from graphpart.partition.local_search.multilevel import multilevel
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.explicit import ELEMENTS, PAIRS, listed_within
from graphpart.partition.problem.finish import finish
from graphpart.partition.problem.labels import agreement
from graphpart.partition.reduction.persistency import reduce
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["LARGEST", "solve_in_parts"]

LARGEST = 400  # elements of a component that becomes explicit at once
Solve = Callable[[SetPartition, Labels, float | None, Any], PartitionResult]


def solve_in_parts(
    p: SetPartition,
    initial: Any,
    time_limit: float | None,
    target: float | None,
    callback: Callable[[float, float], object] | None,
    solve: Solve,
) -> PartitionResult:
    """See `exact`; ``solve(problem, labels, time_limit, callback)`` solves an explicit problem."""
    stopping = Stopping(time_limit, None, target, callback)
    start = _start_of(p, initial, stopping)
    small = reduce(p, time_limit=stopping.remaining)
    q = small.problem
    given = _start_of(q, None, stopping).labels
    if q.evaluate_labels(given) + small.constant > start.cost:
        agreeing = canonical(start.labels[np.unique(small.persistency.labels, return_index=True)[1]])
        if q.evaluate_labels(agreeing) < q.evaluate_labels(given):
            given = agreeing
    component = q.components()
    given = agreement(given, component)  # no subset joins two of them
    labels, bound, proven = given.astype(np.int64), small.constant, True
    cost = small.constant + q.evaluate_labels(given)
    work: dict[str, Any] = {"nodes": 0, "rounds": 0, "cuts": 0, "lp_seconds": 0.0}
    left = int(np.count_nonzero(np.bincount(component) > 1))
    for elements, count in _parts(component):
        part = q.restrict(elements)
        mine = canonical(labels[elements])
        own = part.evaluate_labels(mine)
        share = stopping.remaining
        if share is not None:  # the components are solved in turn, the small ones first
            share = share * max(0.1, count / max(1, left)) if left > count else share
        left -= count

        def call(_: float, of_part: float, others: float = cost - own) -> object:
            return callback and callback(stopping.seconds, others + of_part)

        low, done, best = trivial_bound(part), False, mine
        if len(elements) > LARGEST and count == 1 and not stopping.check(cost):
            r, proven_low, done = _searched(part, mine, share, call if callback else None)
            low, best, share = max(low, proven_low), r.labels, stopping.remaining
            if r.status == Status.INTERRUPTED:
                stopping.stop(r.status)
        some = None if done or (len(elements) > ELEMENTS and count == 1) else listed_within(part)
        if some is not None and not stopping.check(cost):
            r = solve(some, best, share, call if callback else None)
            low, done, best = max(low, r.lower_bound), r.status == Status.OPTIMAL, r.labels
            for name in work:
                work[name] += r.info[name]
            if r.status == Status.INTERRUPTED:
                stopping.stop(r.status)
        better = part.evaluate_labels(best)
        if better < own:
            cost += better - own
            labels[elements] = q.n + elements[np.unique(best, return_index=True)[1]][best]
        bound, proven = bound + low, proven and done
        stopping.check(cost)
    found = finish(
        p, small.lift(canonical(labels)), stopping, "exact", Status.OPTIMAL, start=(start.labels, start.cost)
    )
    status = Status.OPTIMAL if proven else (stopping.reason or Status.FEASIBLE)
    return replace(
        found,
        status=status,
        message=f"{MESSAGES[status]} ({work['nodes']} nodes, {work['rounds']} rounds, {work['cuts']} cuts)",
        lower_bound=found.cost if proven else min(bound, found.cost),
        iterations=work["nodes"],
        history=tuple(entry for entry in found.history if math.isfinite(entry[1])),
        info={**work, "bounds": ((found.seconds, found.cost if proven else min(bound, found.cost)),)},
    )


def _start_of(p: SetPartition, initial: Any, stopping: Stopping) -> PartitionResult:
    """Multilevel moves, from an initial partition, or from elements and from the fixed point of greedy joining."""
    call, target = stopping.callback, stopping.target
    found = multilevel(p, initial, time_limit=stopping.remaining, target=target, callback=call)
    if initial is None and found.status == Status.LOCAL_OPTIMUM:
        joined = greedy_joining(p, time_limit=stopping.remaining, callback=call)
        other = multilevel(p, joined, time_limit=stopping.remaining, target=target, callback=call)
        found = min(found, other, key=lambda r: r.cost)
    if found.status in (Status.INTERRUPTED, Status.TARGET):
        stopping.stop(found.status)
    return found


def _parts(component: Labels) -> Iterator[tuple[NDArray[np.int64], int]]:
    """(elements, number of components) of parts that are solved together: the small ones first, single elements never.

    Parts have at most `PAIRS` pairs within components, unless it is one component.
    """
    sizes = np.bincount(component, minlength=1).astype(np.int64)
    order = np.argsort(sizes, kind="stable")
    order = order[sizes[order] > 1]
    pairs = np.cumsum(sizes[order] * (sizes[order] - 1) // 2)
    at, few = 0, int(np.count_nonzero(sizes[order] <= LARGEST))
    while at < len(order):
        before = pairs[at - 1] if at else 0
        end = max(at + 1, min(few, int(np.searchsorted(pairs, before + PAIRS, "right"))))
        wanted = np.zeros(len(sizes), bool)
        wanted[order[at:end]] = True
        yield np.flatnonzero(wanted[component]), end - at
        at = end


def _searched(p: SetPartition, labels: Labels, limit: float | None, call: Any) -> tuple[PartitionResult, float, bool]:
    """(a partition, a lower bound, is it optimal?) of a large component."""
    started = time.perf_counter()
    r = multilevel(p, labels, time_limit=None if limit is None else 0.5 * limit, callback=call)
    if limit is not None:
        limit = max(0.0, limit - (time.perf_counter() - started)) * (0.5 if p.n <= ELEMENTS else 0.9)
    low = lower_bound(p, "auto", time_limit=limit).bound
    return r, low, low >= r.cost

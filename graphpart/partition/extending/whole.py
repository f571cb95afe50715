"""Extensions of problems that limit sizes or the number of clusters, or whose clusters must be connected.

Each old cluster is contracted to one element, and a group at price ``inf`` keeps them apart. The method solves this
problem, with all that is required. If old clusters may change, the elements near the changes become free afterwards,
and only clusters that are farther away stay contracted.

An old cluster that base pairs do not connect by themselves becomes an element for each of its parts. Parts of different
clusters are cut, and a lifted pair rewards a part that is with the first part of its cluster by more than all other
costs together. So an optimum connects as many parts as possible, by new elements. The start connects them by paths.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InfeasibleProblem, InvalidPartition
from graphpart.partition.extending.near import near_changes
from graphpart.partition.extending.old import INSTEAD
from graphpart.partition.extending.solver import Solver
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.connectedness import linked_parts, shortest_path
from graphpart.partition.problem.derived import requiring, with_costs, with_rules
from graphpart.partition.problem.groups import Groups
from graphpart.partition.problem.requirements import Requirements
from graphpart.partition.problem.rules import Rules
from graphpart.partition.results.starts import start_of
from graphpart.result import Status

__all__ = ["improved_within", "is_whole", "placed_start", "placed_within"]


def is_whole(p: SetPartition) -> bool:
    """Whether a problem has requirements of whole clusters, which pairs near a change do not tell."""
    return p._limits is not None or p.lifted is not None


def placed_within(q: SetPartition, labels: Labels, solver: Solver) -> Labels:
    """Canonical labels of all elements: given labels stay, elements with the label -1 join these clusters or new ones.

    Raises
    ------
    InvalidPartition
        If given clusters violate what is required.
    InfeasibleProblem
        If no partition within the limits is found that has these clusters.
    """
    k = int(labels.max(initial=-1)) + 1
    cells = canonical(np.where(labels >= 0, labels, k + np.arange(q.n)))
    parts = cells if q.lifted is None else linked_parts(q, cells)
    r = q._contract(parts)
    limits, old = r._limits, np.unique(parts[labels >= 0])
    owner = np.full(r.n, -1, np.int32)  # the old cluster of each element of r
    owner[parts] = labels
    first, place = np.unique(owner[old], return_index=True)
    head = np.full(r.n, -1, np.int64)  # the first part of the old cluster
    head[old] = old[place][np.searchsorted(first, owner[old])]
    more = old[head[old] != old]
    if limits is not None and limits.sizes is not None:
        if limits.max_size is not None and np.bincount(head[old], limits.sizes[old]).max(initial=0) > limits.max_size:
            raise InvalidPartition(f"a frozen cluster has more than {limits.max_size} elements{INSTEAD}")
        if limits.most is not None and k > limits.most:
            raise InvalidPartition(f"{k} clusters are frozen, but at most {limits.most} allowed{INSTEAD}")
        if limits.least > max(1, r.n - len(more)):
            raise InvalidPartition(
                f"frozen clusters leave at most {r.n - len(more)}, but at least {limits.least} required{INSTEAD}"
            )
    if k > 1:
        ones = np.ones(k, np.int64)
        apart = Groups(r.n, old[place], np.zeros(k, np.int64), ones, np.array([np.inf]))
        r = requiring(r, Requirements(groups=apart))
    start: Labels = np.arange(r.n, dtype=np.int32)
    if len(more):
        a, b = np.repeat(more, len(old)), np.tile(old, len(more))
        other = owner[a] != owner[b]
        r = with_rules(r, Rules(cuts=np.sort(np.stack([a, b], 1)[other], axis=1), limits=r._limits))
        start = _by_paths(r, more, head, owner)
        r = with_costs(r, np.sort(np.stack([head[more], more], 1), axis=1), np.full(len(more), -_more_than_all(r)))
    given: Labels | None = None
    with suppress(InvalidPartition):  # the method then finds one
        given = start_of(r, start)
    try:
        found = solver.run(r, given).labels
    except InfeasibleProblem as none:
        raise InfeasibleProblem(f"{none}, with the frozen clusters{INSTEAD}") from None
    if (found[head[more]] != found[more]).any():
        raise InvalidPartition(f"no new elements were found that connect the parts of a frozen cluster{INSTEAD}")
    return canonical(found[parts])


def _by_paths(r: SetPartition, more: NDArray[Any], head: NDArray[np.int64], owner: Labels) -> Labels:
    """Labels in which shortest paths of new elements connect parts of old clusters, where there are some."""
    alone = np.arange(r.n)
    labels = alone.copy()
    for part in more.tolist():
        mine = np.flatnonzero(((owner < 0) & (labels == alone)) | (labels == head[part]) | (alone == part))
        a, b = np.searchsorted(mine, [head[part], part]).tolist()
        labels[mine[shortest_path(r._restrict(mine), a, b) or []]] = head[part]
    return canonical(labels)


def _more_than_all(r: SetPartition) -> float:
    """More than the costs of any two partitions differ by."""
    cost = r.pairs()[2]
    return 1.0 + float(np.abs(cost).sum(where=np.isfinite(cost)))


def improved_within(
    q: SetPartition, labels: Labels, free: NDArray[np.bool_], solver: Solver
) -> tuple[Labels, Status, float]:
    """Improve labels by moving changed elements and those near them; status and bound if these are all."""
    near = np.zeros(q.n, bool)
    near[near_changes(q, labels, free, 2)] = True
    cells = canonical(np.where(near, int(labels.max(initial=-1)) + 1 + np.arange(q.n), labels))
    r = q._contract(cells)
    found = solver.run(r, canonical(labels[np.unique(cells, return_index=True)[1]]))
    better = canonical(found.labels[cells])
    if not q._evaluate_labels(better) <= q._evaluate_labels(labels):  # methods without a start
        return labels, Status.FEASIBLE, -np.inf
    return better, found.status if near.all() else Status.FEASIBLE, found.lower_bound if near.all() else -np.inf


def placed_start(q: SetPartition, labels: Labels, solver: Solver) -> Labels:
    """The labels of `placed_within`; if given clusters violate what is required, they are repaired, or else left."""
    with suppress(InvalidPartition, InfeasibleProblem):
        return placed_within(q, labels, solver)
    with suppress(InvalidPartition):
        return start_of(q, labels)
    return canonical(solver.run(q, None).labels)

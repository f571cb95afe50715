"""Extensions of problems with a background: the costs of pairs near changed elements are listed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem
from graphpart.partition.extending.old import changed_elements, changed_groups
from graphpart.partition.extending.solver import Solver
from graphpart.partition.problem import Labels, SetPartition, as_problem, canonical
from graphpart.partition.problem.derived import connected
from graphpart.partition.problem.forms import ELEMENTS, listed_within, without_background
from graphpart.result import Status

__all__ = ["changed_since", "explicit_near", "improved_near", "near_changes", "prepared"]


def prepared(problem: Any) -> SetPartition:
    """The problem with all pairs listed if it is small or its background attracts; otherwise the problem itself.

    Groups stay: a new element may clash with an element of an old cluster to which no attracting pairs lead.
    """
    p = as_problem(problem)
    if (
        p.background is None
        or p._limits is not None
        or (p.background.repels and (p.n > ELEMENTS or p.background.groups is not None))
    ):
        return p
    return without_background(p, "extend")


def changed_since(p: SetPartition, before: Any) -> NDArray[np.int64]:
    """The elements whose pairs have changed; all of them if the background has."""
    old = as_problem(before)
    if p.background is None:
        return changed_elements(p, without_background(old, "extend"))
    if not len(p.background.beta) and (old.background is None or not len(old.background.beta)) and not old.is_dense:
        return np.concatenate([changed_elements(p, old), changed_groups(p, old)])
    if old.background is None or old.background.constant is None or old.background.constant != p.background.constant:
        return np.arange(p.n)
    return changed_elements(p, old)


def explicit_near(q: SetPartition, labels: Labels, free: NDArray[np.bool_]) -> SetPartition:
    """A problem with the same elements that lists the pairs of free elements and the clusters that they may join.

    Since the background repels, a free element joins only clusters with elements that it attracts, or that an element
    which it attracts itself attracts.

    Raises
    ------
    InvalidProblem
        If there are too many such pairs.
    """
    members = near_changes(q, labels, free, 1)
    part, mine = q._restrict(members), labels[members]
    order = np.argsort(mine, kind="stable").astype(np.int32)
    same = (mine[order[1:]] == mine[order[:-1]]) & (mine[order[1:]] >= 0)
    u, v, cost = part._listed()
    ends = [np.concatenate([x[cost < 0], y[same]]) for x, y in ((u, order[1:]), (v, order[:-1]))]
    found: SetPartition | None = part  # without background, if no group has several members there
    if part.background is not None:
        found = listed_within(part, connected(part.n, ends[0], ends[1]))
    if found is None:
        raise InvalidProblem(
            "extend needs the costs of all pairs near what is new, too many here as unlisted pairs cost something: "
            f"{len(members)} elements; fewer new elements leave fewer"
        )
    a, b, costs = found.pairs()
    return SetPartition._of_pairs(range(q.n), members[a], members[b], costs, dense=False)


def improved_near(
    q: SetPartition, labels: Labels, free: NDArray[np.bool_], solver: Solver
) -> tuple[Labels, Status, float]:
    """Improve labels by moving changed elements and those linked to them; status and bound if these are all."""
    members = near_changes(q, labels, free, 2)
    part = q._restrict(members)
    start = canonical(labels[members])
    r = solver.run(part, start)
    everything = len(members) == q.n
    if r.cost > part._evaluate_labels(start):  # methods without a start
        return labels, Status.FEASIBLE, -np.inf
    out = labels.astype(np.int64)
    out[members] = q.n + r.labels
    return canonical(out), r.status if everything else Status.FEASIBLE, r.lower_bound if everything else -np.inf


def near_changes(q: SetPartition, labels: Labels, free: NDArray[np.bool_], steps: int) -> NDArray[np.int64]:
    """Free elements and the clusters that they attract; with two steps, also clusters that these attract."""
    u, v, cost = q._listed()
    attracts = cost < 0
    near = free.copy()
    for _ in range(steps):
        clusters = np.zeros(int(labels.max(initial=-1)) + 2, bool)  # the last one: of none
        for a, b in ((u, v), (v, u)):
            clusters[labels[b[attracts & near[a]]]] = True
        if steps > 1:
            clusters[labels[near & (labels >= 0)]] = True
        clusters[-1] = False
        near |= clusters[labels]
    return np.flatnonzero(near)

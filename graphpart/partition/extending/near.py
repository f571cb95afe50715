"""What an extension can change where pairs that are not listed cost something: the costs of pairs near new elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem
from graphpart.partition.extending.old import changed_elements
from graphpart.partition.problem import Labels, SetPartition, as_problem
from graphpart.partition.problem.derived import connected
from graphpart.partition.problem.explicit import ELEMENTS, listed_within, without_background

__all__ = ["changed_since", "explicit_near", "prepared"]


def prepared(problem: Any) -> SetPartition:
    """The problem without a background, if it is small, or the background attracts; else as it is."""
    p = as_problem(problem, background=True)
    if p.background is None or (p.n > ELEMENTS and p.background.repels):
        return p
    return without_background(p, "extend")


def changed_since(p: SetPartition, before: Any) -> NDArray[np.int64]:
    """The elements whose pairs have changed; all of them if the background has."""
    old = as_problem(before, background=True)
    if p.background is None:
        return changed_elements(p, without_background(old, "extend"))
    if old.background is None or old.background.constant is None or old.background.constant != p.background.constant:
        return np.arange(p.n)
    return changed_elements(p, old)


def explicit_near(q: SetPartition, labels: Labels, free: NDArray[np.bool_], freeze: bool) -> SetPartition:
    """A problem with the same elements that lists what pairs cost near what is free to move, and no others.

    Free elements join clusters that they attract, and, unless these are frozen, what is linked to free elements may
    move to clusters that it attracts: the background repels, so nothing else pays.

    Raises
    ------
    InvalidProblem
        If there are too many such pairs.
    """
    u, v, cost = q.listed()
    attracts = cost < 0
    near = free.copy()
    for step in range(1 if freeze else 2):
        clusters = np.zeros(int(labels.max(initial=-1)) + 2, bool)  # the last one: of none
        for a, b in ((u, v), (v, u)):
            clusters[labels[b[attracts & near[a]]]] = True
        clusters[labels[near & (labels >= 0)]] |= step > 0
        clusters[-1] = False
        near |= clusters[labels]
    members = np.flatnonzero(near)
    part, mine = q.restrict(members), labels[members]
    order = np.argsort(mine, kind="stable")
    same = (mine[order[1:]] == mine[order[:-1]]) & (mine[order[1:]] >= 0)
    u, v, cost = part.listed()
    ends = [np.concatenate([x[cost < 0], y]) for x, y in ((u, order[1:][same]), (v, order[:-1][same]))]
    found = listed_within(part, connected(part.n, *(x.astype(np.int32) for x in ends)))
    if found is None:
        raise InvalidProblem(
            f"extend needs the costs of all pairs near what may change, too many here as unlisted pairs cost something: "
            f"{len(members)} elements; freeze=True, or fewer new elements, leave fewer"
        )
    a, b, costs = found.pairs()
    u, v = members[a], members[b]
    return SetPartition.of_pairs(range(q.n), u, v, costs, dense=False)

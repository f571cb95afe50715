"""Groups of elements of which a subset should have at most one, for the elements of each level.

The group of an element is given as a block is (see given.py): by rows ``id, group``, or by a function of identifiers.
Memberships are kept as arrays for each level; a subset that becomes an element stands for all members in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.distributed.folder import Folder, Work
from graphpart.distributed.given import NOWHERE
from graphpart.partition.problem.groups import Groups

__all__ = ["NAMES", "Grouped", "contracted", "evaluated", "groups_of", "groups_of_nodes", "memberships"]

NAMES = "id", "group"
PARTS = "starts", "group", "count"


class Grouped(NamedTuple):
    """The stage that has the memberships of a level, and the price of a pair of members in one subset."""

    stage: str
    price: float


def memberships(work: Work, n: int, given: str) -> int:
    """A task: the memberships of the first level. Returns the number of groups with several members."""
    group = work.folder.load(given, "blocks")
    members = np.flatnonzero(group != NOWHERE)
    codes = np.unique(group[members], return_inverse=True)[1].ravel()
    count = int(codes.max(initial=-1)) + 1
    return _save(work, Groups(n, members, codes, np.ones(len(members), np.int64), np.ones(count)))


def contracted(work: Work, below: str, labels: str, subsets: int) -> int:
    """A task: the memberships of the subsets of a level."""
    whole = _load(work.folder, below)
    return _save(work, whole.contract(np.asarray(work.folder.load(labels, "labels")), subsets))


def groups_of(folder: Folder, grouped: Grouped | None, elements: NDArray[np.int32]) -> Groups | None:
    """The groups of some elements of a level; None if there are none."""
    if grouped is None:
        return None
    part = _load(folder, grouped.stage).restrict(elements)
    if not len(part):
        return None
    return Groups(part.n, part.element, part.group, part.count, np.full(len(part), grouped.price))


def groups_of_nodes(folder: Folder, grouped: Grouped, node: NDArray[np.int64], n: int) -> Groups:
    """The groups of `n` nodes that stand for elements of a level: the node of each element, -1 for none."""
    whole = _load(folder, grouped.stage)
    at = node[whole.element]
    known = at >= 0
    return Groups(n, at[known], whole.group[known], whole.count[known], np.full(len(whole), grouped.price))


def evaluated(work: Work, grouped: Grouped, labels: str) -> float:
    """A task: the costs of pairs of members in one subset."""
    whole = _load(work.folder, grouped.stage)
    paid = whole.cost(np.asarray(work.folder.load(labels, "labels"), np.int32))  # each pair counts as 1
    return paid * grouped.price if paid else 0.0


def _save(work: Work, groups: Groups) -> int:
    for name in PARTS:
        work.save(name, getattr(groups, name))
    return len(groups)


def _load(folder: Folder, stage: str) -> Groups:
    starts, group, count = (np.asarray(folder.load(stage, name)) for name in PARTS)
    n = len(starts) - 1
    element: NDArray[Any] = np.repeat(np.arange(n), np.diff(starts))
    return Groups(n, element, group, count, np.ones(int(group.max(initial=-1)) + 1))

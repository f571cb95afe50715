"""A problem without background that has the same optima, as far as it does not take too much memory.

If the background repels, no optimum joins elements that no path of attracting pairs connects. So only the pairs within
the components of attracting pairs have to be listed; of groups, only the pairs of one group within one component.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphpart.common.groups import group
from graphpart.errors import InvalidProblem
from graphpart.partition.problem.derived import components
from graphpart.partition.problem.groups import Groups
from graphpart.partition.problem.pair_costs import Labels
from graphpart.partition.problem.set_partition import SetPartition, as_problem

__all__ = ["explicit", "listed_within", "without_background"]

PAIRS, TIMES = 4_000_000, 20  # to be listed at most: so many, and so many times those that are
FEW, MORE = 200_000, 4  # the same for pairs of one group, if nothing else is not listed: beyond, bounds make pairs
ELEMENTS = 3000  # up to which a matrix is as good
LARGEST_EXPLICIT = 5000  # elements of a problem that becomes a matrix where one is needed: 200 MB, and work takes more


def explicit(p: SetPartition) -> SetPartition | None:
    """A problem with the same elements and optima that has no background; None if it would be too large.

    Partitions that join no elements of different components of attracting pairs cost the same in both problems, and all
    others are evaluated as in the given problem, too. Pairs between components are not listed, even if they must be
    cut. O(n + m + pairs within components)
    """
    background = p.background
    if background is None:
        return p
    if not len(background.beta) and (found := listed_within(p, most=FEW + MORE * p.m)) is not None:
        return found
    if p.n <= ELEMENTS:
        return p.to_dense()
    if not background.repels or not len(background.beta):
        return None
    return listed_within(p)


def listed_within(p: SetPartition, component: Labels | None = None, most: int | None = None) -> SetPartition | None:
    """The problem with all pairs within components of attracting pairs listed, for a background that repels.

    `component`: canonical labels of sets that consist of such components, within which all pairs are listed. `most`:
    how many pairs may be listed in addition; None is returned if there are more.

    No pair between components is listed, not even one that must be cut. Otherwise it would connect elements whose
    other pairs, which repel, are not listed, and a proof for these elements would be wrong.
    """
    background = p.background
    assert background is not None and p.u is not None and p.v is not None and p.cost is not None
    component = components(p) if component is None else component
    most = PAIRS + TIMES * p.m if most is None else most
    made = _pairs_within(component, background.groups if not len(background.beta) else None, most)
    if made is None:
        return None
    inner = component[p.u] == component[p.v]
    low, high = np.concatenate([p.u[inner], made[0]]), np.concatenate([p.v[inner], made[1]])
    costs = np.concatenate([p.cost[inner], background.of_pairs(*made)])
    joins = [(p.nodes[a], p.nodes[b]) for a, b in p.must_join.tolist()]
    q = SetPartition.of_pairs(
        p.nodes, low, high, costs, joins, offset=p.offset, sense=p.sense, limits=p.limits, sizes=p.sizes
    )
    q._implicit, q.origin = p, p.origin
    return q


def _pairs_within(component: Labels, groups: Groups | None, most: int) -> tuple[Labels, Labels] | None:
    """All pairs within components, or only those of one group, each once; None if there are more than so many."""
    if groups is None:
        member, cell = np.arange(len(component)), component.astype(np.int64)
    else:
        member, cell = groups.element, component[groups.element].astype(np.int64) * len(groups) + groups.group
        cell = np.unique(cell, return_inverse=True)[1].ravel()
    sizes = np.bincount(cell).astype(np.int64)
    if int((sizes * (sizes - 1) // 2).sum()) > most:
        return None
    order, first = group(cell, len(sizes))
    members = member[order]  # ascending in each cell
    u, v = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for size in np.unique(sizes[sizes > 1]).tolist():
        some = members[first[:-1][sizes == size][:, None] + np.arange(size)]
        a, b = np.triu_indices(size, 1)
        u.append(some[:, a].ravel().astype(np.int32))
        v.append(some[:, b].ravel().astype(np.int32))
    low, high = np.concatenate(u), np.concatenate(v)
    if groups is not None:  # several groups may have the same two members
        n = max(1, len(component))
        keys = np.unique(low.astype(np.int64) * n + high)
        low, high = (keys // n).astype(np.int32), (keys % n).astype(np.int32)
    return low, high


def without_background(problem: Any, what: str) -> SetPartition:
    """A problem of any form with the same optima and no background, for `what` needs the costs of pairs.

    Whether subsets have to be connected stays as it is.

    Raises
    ------
    InvalidProblem
        If that would take too much memory.
    """
    p = as_problem(problem, background=True, groups=True, limits=True, connected=True)
    if p.background is None:
        return p
    found = explicit(p)
    if found is None and p.n <= LARGEST_EXPLICIT:
        found = p.to_dense()
    if found is None:
        size = np.bincount(components(p)).max(initial=0)
        if p.background.repels:
            why = f"{size} elements hang together by pairs that attract"
        else:
            why = "the background attracts some pairs"
        raise InvalidProblem(
            f"{what} needs the costs of all pairs of elements in one piece, too many here as unlisted pairs cost "
            f"something: {why}; expected at most {LARGEST_EXPLICIT} elements, or smaller pieces"
        )
    return found

"""A problem without background that has the same optima, as far as it does not take too much memory.

If the background repels, no optimum joins elements that no path of attracting pairs connects. So only the pairs within
the components of attracting pairs have to be listed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphpart.common.groups import group
from graphpart.errors import InvalidProblem
from graphpart.partition.problem.derived import components
from graphpart.partition.problem.pair_costs import Labels
from graphpart.partition.problem.set_partition import SetPartition, as_problem

__all__ = ["explicit", "listed_within", "without_background"]

PAIRS, TIMES = 4_000_000, 20  # to be listed at most: so many, and so many times those that are
ELEMENTS = 3000  # up to which a matrix is as good
LARGEST_EXPLICIT = 5000  # elements of a problem that becomes a matrix where one is needed: 200 MB, and work takes more


def explicit(p: SetPartition) -> SetPartition | None:
    """A problem with the same elements, requirements and optima that has no background; None if it would be too large.

    Partitions that join no elements of different components of attracting pairs cost the same in both problems, and all
    others are evaluated as in the given problem, too. O(n + m + pairs within components)
    """
    background = p.background
    if background is None:
        return p
    if p.n <= ELEMENTS:
        return p.to_dense()
    if not background.repels:
        return None
    return listed_within(p)


def listed_within(p: SetPartition, component: Labels | None = None) -> SetPartition | None:
    """The problem with all pairs within components of attracting pairs listed, for a background that repels.

    `component`: canonical labels of sets that consist of such components, within which all pairs are listed.
    """
    background = p.background
    assert background is not None and p.u is not None and p.v is not None and p.cost is not None
    component = components(p) if component is None else component
    sizes = np.bincount(component).astype(np.int64)
    if int((sizes * (sizes - 1) // 2).sum()) > PAIRS + TIMES * p.m:
        return None
    elements, first = group(component, len(sizes))
    inner = component[p.u] == component[p.v]
    u, v = [p.u[inner]], [p.v[inner]]
    for size in np.unique(sizes[sizes > 1]).tolist():
        members = elements[first[:-1][sizes == size][:, None] + np.arange(size)]
        a, b = np.triu_indices(size, 1)
        u.append(members[:, a].ravel().astype(np.int32))
        v.append(members[:, b].ravel().astype(np.int32))
    low, high = np.concatenate(u), np.concatenate(v)
    listed = len(u[0])
    costs = np.concatenate([p.cost[inner], background.of_pairs(low[listed:], high[listed:])])
    cuts = p.must_cut[component[p.must_cut[:, 0]] != component[p.must_cut[:, 1]]]
    low, high = np.concatenate([low, cuts[:, 0]]), np.concatenate([high, cuts[:, 1]])
    costs = np.concatenate([costs, np.full(len(cuts), np.inf)])
    joins = [(p.nodes[a], p.nodes[b]) for a, b in p.must_join.tolist()]
    q = SetPartition.of_pairs(
        p.nodes, low, high, costs, joins, offset=p.offset, sense=p.sense, limits=p.limits, sizes=p.sizes
    )
    q._implicit, q.origin = p, p.origin
    return q


def without_background(problem: Any, what: str) -> SetPartition:
    """A problem of any form with the same optima and no background, for `what` needs the costs of pairs.

    Raises
    ------
    InvalidProblem
        If that would take too much memory.
    """
    p = as_problem(problem, background=True, groups=True, limits=True)
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

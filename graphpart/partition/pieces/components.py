"""The connected components of the non-zero pairs of a problem, as problems of their own.

A pair between two components costs nothing, so each component can be solved separately, and costs and lower bounds add
up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import group, places_within
from graphpart.partition.problem.pair_costs import Labels
from graphpart.partition.problem.rules import Rules
from graphpart.partition.problem.set_partition import SetPartition

__all__ = ["Part", "split"]

Part = tuple[NDArray[np.int64], SetPartition]


def split(p: SetPartition, component: Labels, wanted: NDArray[np.bool_] | None = None) -> list[Part]:
    """The components with at least two elements, each as (ascending elements, the problem over them).

    Parameters
    ----------
    p : SetPartition
        Without required joins.
    component : ndarray of int32, shape (n,)
        ``p._components()``.
    wanted : ndarray of bool, optional
        Which components; default: all.

    Notes
    -----
    O(n + m log m), or the size of the parts of a matrix.
    """
    sizes = np.bincount(component, minlength=1)
    if p.n > 1 and len(sizes) == 1 and (wanted is None or wanted[0]):
        return [(np.arange(p.n), p)]
    chosen = sizes > 1 if wanted is None else wanted & (sizes > 1)
    elements, first = group(component, len(sizes))
    members = {k: elements[first[k] : first[k + 1]] for k in np.flatnonzero(chosen).tolist()}
    if p.matrix is not None:
        return [(mine, p._restrict(mine)) for mine in members.values()]
    u, v, cost = p.pairs()
    wanted = chosen[component[u]]
    if p.background is not None or p.lifted is not None:  # pairs may lead from one component to another
        wanted &= component[u] == component[v]
    if p.background is None:
        wanted &= cost != 0 if p.lifted is None else (cost != 0) | ~p.lifted
    used = np.flatnonzero(wanted)
    order, begin = group(component[u[used]], len(sizes))
    used = used[order]
    place = places_within(elements, first)
    parts = []
    for k, mine in members.items():
        pairs = used[begin[k] : begin[k + 1]]
        background = None if p.background is None else p.background.restrict(mine)
        limits = None if p._limits is None else p._limits.restrict(mine)
        rules = Rules(limits=limits, lifted=None if p.lifted is None else p.lifted[pairs])
        q = SetPartition._of_pairs(range(len(mine)), place[u[pairs]], place[v[pairs]], cost[pairs], background, rules)
        parts.append((mine, q))
    return parts

"""Local search for problems that limit the sizes or the number of clusters.

The kernels for listed pairs obey limits (kernels/groups.pxd), those for matrices do not; so a matrix becomes a list of
all pairs. Greedy joining leaves at least the least number of subsets. If it ends with more than the largest number, it
goes on with the joins that cost least, then with those of subsets that no listed pair links. Where sizes, groups or
required cuts forbid all of these, elements are packed anew: the largest first, each into the subset in which it costs
least of those that are open to it.
"""

from __future__ import annotations

import math

import numpy as np

from graphpart.errors import InfeasibleProblem
from graphpart.partition.local_search._sparse_joining import join_sparse
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.stopping import Stopping

__all__ = ["few_enough", "has_room", "listed", "packed"]


def listed(p: SetPartition) -> SetPartition:
    """The same problem with pairs in place of a matrix, if it limits clusters."""
    if p.matrix is None or p.limits is None:
        return p
    if p._implicit is not None and p._implicit.matrix is None:
        return p._implicit  # type: ignore[return-value]
    joins = [(p.nodes[a], p.nodes[b]) for a, b in p.must_join.tolist()]
    q = SetPartition.of_pairs(
        p.nodes, *p.pairs(), joins, dense=False, offset=p.offset, sense=p.sense, limits=p.limits, sizes=p.sizes
    )
    q._implicit = p  # which evaluates labels, to the last digit
    return q


def has_room(p: SetPartition, labels: Labels) -> bool:
    """Whether canonical labels have no more subsets than a problem allows."""
    return p.limits is None or p.limits.most is None or int(labels.max(initial=-1)) < p.limits.most


def few_enough(p: SetPartition, labels: Labels, stopping: Stopping) -> Labels:
    """Canonical labels with few enough subsets, made by joins of the subsets of canonical labels if there are more."""
    if has_room(p, labels):
        return labels
    assert p.limits is not None and p.limits.most is not None
    q = p.contract(labels)
    apart = stopping.child(plus=math.inf)
    joined = canonical(
        join_sparse(q.n, *q.pairs(), terms_of(q), -math.inf, 0.0, apart, fewest=p.limits.most)  # any finite cost
    )
    if not has_room(p, joined):
        found = _packed(q.contract(joined))
        if found is None:
            return packed(p)
        joined = found[joined]
    return canonical(joined[labels])


def packed(p: SetPartition) -> Labels:
    """Canonical labels with as few subsets as a problem allows, in which all limits, groups and cuts are obeyed.

    Raises
    ------
    InfeasibleProblem
        If none are found.
    """
    found = _packed(p)
    if found is None:
        raise InfeasibleProblem(
            f"no partition with {p.limits} was found that obeys all required cuts and groups: expected wider limits, "
            "or a partition that obeys them as initial="
        )
    return canonical(found)


def _packed(p: SetPartition) -> Labels | None:
    """Labels for a problem without required joins; None if an element finds no place. O((n + m) log n + n most)"""
    assert p.limits is not None
    most = p.n if p.limits.most is None else min(p.limits.most, p.n)
    room = math.inf if p.limits.max_size is None else p.limits.max_size
    sizes = np.ones(p.n, np.int64) if p.sizes is None else p.sizes
    starts, neighbours, costs = p.rows()
    groups = None if p.background is None else p.background.groups
    load = np.zeros(most)
    labels = np.full(p.n, -1, np.int64)
    held: dict[int, list[int]] = {}  # subsets with a member of each hard group
    cuts = np.bincount(np.repeat(np.arange(p.n), np.diff(starts))[costs == np.inf], minlength=p.n)
    for rank, a in enumerate(np.lexsort((-cuts, -sizes)).tolist()):
        price = np.zeros(most)
        others = labels[neighbours[starts[a] : starts[a + 1]]]
        np.add.at(price, others[others >= 0], costs[starts[a] : starts[a + 1]][others >= 0])
        price[load + sizes[a] > room] = np.inf
        mine = [] if groups is None else groups.group[groups.starts[a] : groups.starts[a + 1]].tolist()
        hard = [g for g in mine if groups is not None and groups.hard[g]]
        for g in hard:
            price[held.get(g, [])] = np.inf
        if rank < min(p.limits.least, most):  # there have to be so many
            price[load > 0] = np.inf
        U = int(np.lexsort((load, price))[0])
        if price[U] == np.inf:
            return None
        labels[a] = U
        load[U] += sizes[a]
        for g in hard:
            held.setdefault(g, []).append(U)
    return labels.astype(np.int32)

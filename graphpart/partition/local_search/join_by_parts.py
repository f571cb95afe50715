"""Greedy joining of large problems in two parts, at once in two threads, with the result of joining the whole.

A part has half of the pairs: the elements up to a number, or from it on. In a part, one further element stands for all
that are outside; elements with a pair to the other part join it at once. When a subset joins it, the costs above 0
between this subset and others become 0, and the others are multiplied by a little more than 1. So if any union of
subsets that are outside, or may have been joined by some that are, attracts a subset x, the cost of x with the outside
is below that. Greedy joining takes joins in the order of their costs; one that only became better by the last join
comes next. So until x joins the outside, none of its joins depends on what is there: they are those of the whole
problem, in the same order. At the end, each subset that has not joined the outside is one of the result for the whole.

All other elements are joined together afterwards. The result for the whole consists of the former subsets and of
subsets of these elements. So no join is between the two, and to leave out the former changes no join of the latter.

It needs a numbering in which few pairs are between both parts, as that of pixels has. More than two parts take longer,
and so do two in one thread (1.1 to 1.3 of the time of joining the whole).
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

from graphpart.machine import side_by_side
from graphpart.partition.local_search._sparse_joining import join_sparse
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.stopping import Stopping

__all__ = ["join_by_parts"]

MANY = 2**20  # pairs
CUT = 0.005  # largest share of pairs between both parts
MOST = 0.75  # largest share of pairs that attract: of 0.98, two parts in one thread took 2.3 times as long as the whole
FIRST = -sys.float_info.max  # cost of what joins the outside at once


def join_by_parts(p: SetPartition, tolerance: float, stopping: Stopping) -> Labels | None:
    """The fixed point of greedy joining from singletons, of a problem without terms; None if it does not pay.

    It does not if there are few pairs, many between both parts, or so many that attract that clusters are large.
    """
    if p.m < MANY:
        return None
    u, v, cost = p.pairs()
    middle = int(u[p.m // 2])
    end = int(np.searchsorted(u, middle))
    far = v[:end] >= middle
    if not middle or np.count_nonzero(far) > CUT * p.m or np.count_nonzero(cost < 0) > MOST * p.m:
        return None
    labels, inside = np.empty(p.n, np.int32), np.empty(p.n, bool)

    def join(begin: int, stop: int, pairs: slice, near: Labels, stopping: Stopping) -> None:
        n = stop - begin
        kept = slice(None) if begin else ~far  # no pair of the second part leads to the first
        found = join_sparse(
            n + 1,
            np.concatenate([u[pairs][kept] - np.int32(begin), near]),
            np.concatenate([v[pairs][kept] - np.int32(begin), np.full(len(near), n, np.int32)]),
            np.concatenate([cost[pairs][kept], np.full(len(near), FIRST)]),
            None, tolerance, 0.0, stopping, names=np.arange(begin, stop + 1, dtype=np.int32), outside=n,
        )  # fmt: skip
        labels[begin:stop] = found[:n] + np.int32(begin)
        inside[begin:stop] = found[:n] != found[n]

    inner = [stopping.child(plus=np.inf) for _ in range(3)]
    side_by_side(
        partial(join, 0, middle, slice(end), np.unique(u[:end][far]), inner[0]),
        partial(join, middle, p.n, slice(end, None), np.unique(v[:end][far]) - np.int32(middle), inner[1]),
    )
    left = np.flatnonzero(~inside).astype(np.int32)
    number = np.full(p.n, -1, np.int32)
    number[left] = np.arange(len(left), dtype=np.int32)
    kept = np.flatnonzero(~inside[u])
    kept = kept[~inside[v[kept]]]
    found = join_sparse(
        len(left), number[u[kept]], number[v[kept]], cost[kept], None, tolerance, 0.0, inner[2], names=left
    )
    labels[left] = left[found]
    joined = canonical(labels)
    stopping.iterations += p.n - int(joined.max()) - 1
    return joined

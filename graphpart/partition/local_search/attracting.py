"""Local search for problems whose background attracts some pairs, and that have too many elements for a matrix.

If a background attracts, a join or a move may lower the cost although no stored pair links the two subsets, or the
element and the subset. Up to `LARGEST_DENSE` elements, such a problem is converted to a matrix, and the methods work as
described. For more elements, to find the best of all moves would take all pairs. Instead, elements are taken one by one
from a queue, and each moves to the best of all subsets, linked or not, as in multilevel moves (_levels.pyx). At the end
the same holds: no join, or no move of one element, lowers the cost.
"""

from __future__ import annotations

import numpy as np

from graphpart.partition.local_search._levels import Level
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.forms import LARGEST_DENSE
from graphpart.stopping import Stopping

__all__ = ["any_subset_attracts", "is_native", "join_any", "move_to_any"]


def any_subset_attracts(p: SetPartition) -> bool:
    """Whether a problem has a background that attracts some pairs."""
    return p.background is not None and not p.background.repels


def is_native(p: SetPartition) -> bool:
    """Whether local search can use the stored pairs; all other problems are converted to matrices."""
    return not any_subset_attracts(p) or p.n > LARGEST_DENSE or p._limits is not None


def join_any(p: SetPartition, labels: Labels, cost: float, stopping: Stopping) -> Labels:
    """Let subsets join the best ones, one after the other, until no join of two lowers the cost."""
    while stopping.reason is None:
        q = p._contract(labels)
        joined = np.arange(q.n, dtype=np.int32)
        cost += Level(*q._rows().arrays, terms_of(q)).move(joined, cost, stopping)
        joined = canonical(joined)
        labels = canonical(joined[labels])
        if int(joined.max(initial=-1)) + 1 == q.n:
            break
    return labels


def move_to_any(p: SetPartition, labels: Labels, cost: float, stopping: Stopping) -> Labels:
    """Let elements move to the best subsets, one after the other, until no move lowers the cost."""
    moved = np.array(labels, np.int32)
    Level(*p._rows().arrays, terms_of(p)).move(moved, cost, stopping)
    return canonical(moved)

"""The blocks of a problem: parts that share no more than one element with each other, as problems of their own.

A block is a maximal set of elements that pairs with a cost connect, and that remains connected if any one element is
removed (a biconnected component; Hopcroft & Tarjan 1973). Partitions of the blocks give a partition of the whole: if
two blocks share an element, the subsets that contain it are united. No pair with a cost links two blocks, so the costs
of the blocks add up, and so do their optima and lower bounds.

If subsets have to be connected, base pairs of any cost connect elements, too. A path of base pairs that leaves a block
returns through the element by which it left. So the part of a connected subset within a block is connected there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import first_of
from graphpart.kernels import _pairs
from graphpart.partition.pieces.components import Part
from graphpart.partition.problem.derived import connected
from graphpart.partition.problem.pair_costs import Labels
from graphpart.partition.problem.rules import Rules
from graphpart.partition.problem.set_partition import SetPartition

__all__ = ["glued", "split_at_articulations"]


def split_at_articulations(p: SetPartition) -> list[Part]:
    """The blocks with at least two elements, each as (ascending elements, the problem over them).

    Parameters
    ----------
    p : SetPartition
        Without required joins.

    Notes
    -----
    O(n + m log m).

    Examples
    --------
    >>> p = SetPartition.from_pairs(5, [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)], [-1.0] * 6, dense=False)
    >>> sorted(elements.tolist() for elements, _ in split_at_articulations(p))
    [[0, 1, 2], [2, 3, 4]]
    """
    u, v, cost = p.pairs()
    used = np.flatnonzero(cost if p.lifted is None else (cost != 0) | ~p.lifted)
    lifted = None if p.lifted is None else p.lifted[used]
    u, v, cost = u[used], v[used], cost[used]
    block, count = _pairs.blocks(p.n, u, v)
    if count == 1 and len(used):
        elements = np.unique(np.concatenate([u, v])).astype(np.int64)
        if len(elements) == p.n:
            return [(elements, p)]
    order = np.argsort(block, kind="stable")
    starts = np.searchsorted(block[order], np.arange(count + 1))
    parts = []
    place = np.empty(p.n, np.int64)
    for k in range(count):
        pairs = order[starts[k] : starts[k + 1]]
        elements = np.unique(np.concatenate([u[pairs], v[pairs]])).astype(np.int64)
        place[elements] = np.arange(len(elements))
        rules = Rules(lifted=None if lifted is None else lifted[pairs])
        q = SetPartition._of_pairs(range(len(elements)), place[u[pairs]], place[v[pairs]], cost[pairs], rules=rules)
        parts.append((elements, q))
    return parts


def glued(n: int, parts: list[tuple[NDArray[np.int64], Labels]]) -> Labels:
    """Labels of n elements from labels of blocks: subsets of blocks that share an element are united.

    Examples
    --------
    >>> glued(4, [(np.array([0, 1]), np.array([0, 0])), (np.array([1, 2, 3]), np.array([0, 1, 0]))]).tolist()
    [0, 0, 1, 0]
    """
    ends = []
    for elements, labels in parts:
        first = first_of(labels)
        ends.append(np.stack([elements, elements[first][labels]]))
    a, b = np.concatenate(ends, axis=1).astype(np.int32) if ends else np.zeros((2, 0), np.int32)
    return connected(n, a, b)

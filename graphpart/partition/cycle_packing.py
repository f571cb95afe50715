"""Cycle packing (Lange, Karrenbauer & Andres 2018): a lower bound from conflicted cycles, short ones first.

On a cycle with exactly one repulsive pair, no partition joins all its attractive pairs and separates the repulsive one.
So every partition costs at least the sum of all negative costs plus, for a set of such cycles with amounts of which
no pair has to carry more than its absolute cost, the sum of the amounts. Cycles are packed greedily with the largest
possible amounts. A problem in a matrix has its triangles packed first, by a kernel of their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.partition import _cycle_packing
from graphpart.partition.inequalities import Inequalities
from graphpart.partition.problem import SetPartition
from graphpart.stopping import Stopping

__all__ = ["pack"]

Floats = NDArray[np.float64]
STAGES = (3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 48, 64, 128)


def pack(p: SetPartition, stopping: Stopping) -> tuple[Inequalities, Floats]:
    """Cycles and their amounts, for a problem without required joins.

    Notes
    -----
    O(n^3) on a matrix; on pairs, a search from both ends for each repulsive pair and each length of cycles.
    """
    if p.matrix is not None:
        rest = p.matrix.copy()
        starts, elements, amounts = _cycle_packing.pack_triangles(rest, stopping, 0.0)
        triangles = Inequalities.cycles(starts, elements)
        u, v = (index.astype(np.int32) for index in np.triu_indices(p.n, 1))
        left = rest[u, v]
        used = np.flatnonzero(left)
        longer, more = pack_pairs(p.n, u[used], v[used], left[used], stopping, STAGES[1:])
        return triangles + longer, np.concatenate([amounts, more])
    u, v, cost = p.pairs()
    return pack_pairs(p.n, u, v, cost, stopping, STAGES)


def pack_pairs(
    n: int,
    u: NDArray[np.int32],
    v: NDArray[np.int32],
    cost: Floats,
    stopping: Stopping,
    stages: tuple[int, ...] = STAGES,
) -> tuple[Inequalities, Floats]:
    """The same for pairs with costs."""
    attractive = (cost < 0).view(np.uint8)
    lengths = np.array([length for length in stages if length < n] + [n], np.int64)
    starts, elements, amounts = _cycle_packing.pack_cycles(n, u, v, attractive, np.abs(cost), lengths, stopping)
    return Inequalities.cycles(starts, elements), amounts

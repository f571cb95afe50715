"""Cycle packing (Lange, Karrenbauer & Andres 2018): a lower bound from conflicted cycles, short ones first.

In a conflicted cycle, which has exactly one repulsive pair, no partition joins all attractive pairs and separates the
repulsive one. Let amounts be assigned to a set of such cycles, such that the amounts of all cycles through a pair add
up to at most its absolute cost. Then every partition costs at least the sum of all negative costs plus the sum of the
amounts. Cycles are packed greedily with the largest possible amounts.

For a problem in a matrix, stars are packed first: a centre s and leaves T that it attracts, and that repel each other.
The 2-partition inequality of {s} and T (Grötschel & Wakabayashi 1990) raises the bound by |T| - 1 times the amount, and
takes the amount from |T| attractive pairs. Triangles, which are stars with two leaves, take it from two attractive
pairs and raise the bound by one amount only. (For unit costs, Bläsius et al. 2022 bound cluster editing by stars.)
After stars, triangles are packed by a kernel of their own, then longer cycles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.bounds import _kernels
from graphpart.partition.certificates.inequalities import TWO_PARTITION, Inequalities
from graphpart.partition.problem import SetPartition
from graphpart.stopping import Stopping

__all__ = ["DENSE_UP_TO", "STAGES", "pack", "pack_matrix", "pack_pairs"]

Floats = NDArray[np.float64]
LEAVES = (4, 6, 12)  # largest numbers of leaves of stars
SHARES = (1.0, 0.5, 0.25, 0.1, 0.05, 0.0)  # least amounts of stars, in turn, as shares of the mean absolute cost
DENSE_UP_TO = 400  # most elements of a matrix on which O(n^3) steps are fast, so that more is tried
STAGES = (3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 48, 64, 128)


def pack(p: SetPartition, stopping: Stopping) -> tuple[Inequalities, Floats]:
    """Stars, cycles and their amounts, for a problem without required joins.

    Notes
    -----
    O(n^3) on a matrix; on pairs, a search from both ends for each repulsive pair and each length of cycles.
    """
    if p.matrix is not None:
        return pack_matrix(p.matrix, stopping)
    assert p.background is None
    u, v, cost = p.pairs()
    return pack_pairs(p.n, u, v, cost, stopping, STAGES)


def pack_matrix(matrix: Floats, stopping: Stopping) -> tuple[Inequalities, Floats]:
    """Packing for a matrix of costs: the best of several packings of stars, then cycles."""
    n = len(matrix)
    finite = np.abs(matrix[np.isfinite(matrix)])
    mean = float(finite.mean()) if finite.size else 0.0
    stars, amounts, rest, best = Inequalities.none(), np.zeros(0), matrix, -1.0
    for leaves in LEAVES if n <= DENSE_UP_TO else LEAVES[-1:]:
        left = matrix.copy()
        starts, elements, some = _kernels.pack_stars(left, mean * np.array(SHARES), leaves, stopping)
        # An upper bound on the gain by triangles of the rest: half of its attraction.
        gain = float(some @ (np.diff(starts) - 2)) - 0.5 * float(left[left < 0].sum()) / 2
        if gain > best:
            kinds, splits = np.full(len(some), TWO_PARTITION, np.uint8), np.ones(len(some), np.int32)
            stars, amounts, rest, best = Inequalities(kinds, starts, elements, splits), some, left, gain
    rest = rest.copy()
    starts, elements, some = _kernels.pack_triangles(rest, stopping)
    u, v = (index.astype(np.int32) for index in np.triu_indices(n, 1))
    left = rest[u, v]
    used = np.flatnonzero(left)
    longer, more = pack_pairs(n, u[used], v[used], left[used], stopping, STAGES[1:])
    return stars + Inequalities.cycles(starts, elements) + longer, np.concatenate([amounts, some, more])


def pack_pairs(
    n: int,
    u: NDArray[np.int32],
    v: NDArray[np.int32],
    cost: Floats,
    stopping: Stopping,
    stages: tuple[int, ...] = STAGES,
) -> tuple[Inequalities, Floats]:
    """Packing for pairs with costs."""
    attractive = (cost < 0).view(np.uint8)
    lengths = np.array([length for length in stages if length < n] + [n], np.int64)
    starts, elements, amounts = _kernels.pack_cycles(n, u, v, attractive, np.abs(cost), lengths, stopping)
    return Inequalities.cycles(starts, elements), amounts

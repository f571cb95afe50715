"""The change of the cost of each region from one partition to another.

A region is a union of subsets of both partitions, so no pair of elements of two regions is together in either of them,
and the cost of a partition is the sum of the costs of its regions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.problem.background import Background
from graphpart.partition.problem.pair_costs import Labels, PairCosts

__all__ = ["changes_of_regions"]

ROWS, PAIRS = 64, 2**18  # rows and pairs that are processed at a time


def changes_of_regions(
    p: PairCosts, x: Labels, y: Labels, region: NDArray[np.int32], count: int
) -> NDArray[np.float64]:
    """The cost of y minus the cost of x in each region. O(n + m), O(n^2) on a matrix, O(n log n) more with groups.

    Parameters
    ----------
    p : PairCosts
    x, y : ndarray of int32, shape (n,)
        Canonical labels.
    region : ndarray of int32, shape (n,)
        The region of each element: ``0..count - 1``.
    count : int
    """
    change = np.zeros(count)
    if p.matrix is not None:
        for top in range(0, p.n, ROWS):
            rows, within = p.matrix[top : top + ROWS], slice(top, top + ROWS)
            in_x, in_y = x[within, None] == x, y[within, None] == y
            more = np.where(in_y, rows, 0.0).sum(axis=1) - np.where(in_x, rows, 0.0).sum(axis=1)
            change += np.bincount(region[within], more / 2, count)
        return change
    u, v, cost = p.pairs()
    for at in range(0, p.m, PAIRS):
        a, b, c = u[at : at + PAIRS], v[at : at + PAIRS], cost[at : at + PAIRS]
        in_x, in_y = x[a] == x[b], y[a] == y[b]
        differ = in_x != in_y
        change += np.bincount(region[a[differ]], np.where(in_y, c, -c)[differ], count)
    return change if p.background is None else change + _of_background(p.background, x, y, region, count)


def _of_background(
    background: Background, x: Labels, y: Labels, region: NDArray[np.int32], count: int
) -> NDArray[np.float64]:
    """The part of the background, where no two members of a group at price inf are together.

    Both partitions include the terms of single elements with themselves, which cancel.
    """
    change = np.zeros(count)
    for labels, sign in ((x, -1.0), (y, 1.0)):
        of = np.zeros(int(labels.max(initial=-1)) + 1, np.int32)
        of[labels] = region
        for beta, (v, w) in zip(background.beta.tolist(), background.vectors, strict=True):
            sums = np.bincount(labels, v)
            product = 0.5 * sums * sums if v is w else sums * np.bincount(labels, w)
            change += np.bincount(of, sign * beta * product, count)
        if background.groups is not None:
            subset, price, members = background.groups.members(labels)
            change += np.bincount(of[subset], 0.5 * sign * price * members * members, count)
    return change

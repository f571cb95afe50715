"""Stable numbers of clusters: each cluster gets the number of the old cluster with which it shares most elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["matched"]


def matched(
    labels: NDArray[np.integer[Any]],
    old: NDArray[np.integer[Any]],
    count: int,
    old_count: int,
    same: NDArray[np.integer[Any]] | None = None,
    same_first: bool = False,
) -> NDArray[np.int64]:
    """For each of `count` clusters the old cluster with the largest overlap, -1 if there is none.

    Pairs of clusters are taken in the order of falling overlap, each cluster once. A cluster that did not change is
    matched to itself.

    Parameters
    ----------
    labels : ndarray of int, shape (n,)
        From 0 to `count` - 1.
    old : ndarray of int, shape (n,)
        From 0 to `old_count` - 1, or -1 for elements without an old cluster.
    same : ndarray of int, shape (count,), optional
        The old cluster that each cluster is preferred to be matched to, -1 for none, among equal overlaps.
    same_first : bool
        Prefer it to larger overlaps, too, if they share any element.

    Examples
    --------
    >>> matched(np.array([0, 0, 1, 1]), np.array([1, 1, 1, 0]), 2, 2).tolist()
    [1, 0]
    """
    found = np.full(count, -1, np.int64)
    known = old >= 0
    keys, overlap = np.unique(labels[known].astype(np.int64) * max(old_count, 1) + old[known], return_counts=True)
    mine, theirs = keys // max(old_count, 1), keys % max(old_count, 1)
    other = np.zeros(len(mine), bool) if same is None else same[mine] != theirs
    order = np.lexsort((mine, theirs, -overlap, other) if same_first else (mine, theirs, other, -overlap))
    mine, theirs = mine[order], theirs[order]
    while len(mine):  # a pair that comes first for both is the one that a pass over all rows would take
        first = np.zeros(len(mine), np.int8)
        for ends in (mine, theirs):
            first[np.unique(ends, return_index=True)[1]] += 1
        taken = first == 2
        found[mine[taken]] = theirs[taken]
        left = ~np.isin(mine, mine[taken]) & ~np.isin(theirs, theirs[taken])
        mine, theirs = mine[left], theirs[left]
    return found

"""The rise of the cost if one element moves and all others stay: the quick part of doubts, for displays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.problem.pair_costs import Labels, PairCosts

__all__ = ["move_rises"]

PAIRS = 1_000_000  # that are looked at, at most


def move_rises(p: PairCosts, labels: Labels) -> NDArray[np.float64] | None:
    """The rise of the cost if an element moves to the best other cluster, or is alone; None if that takes long.

    ``inf`` for elements that no pair links to another cluster and that are alone. Problems with a background, limits of
    sizes, connected subsets or required pairs are left out, too. O(m log m), or O(n^2) for a matrix.
    """
    if p.background is not None or p.lifted is not None or len(p.must_join) or p._limits is not None or not p.n:
        return None
    if p.m > PAIRS:
        return None
    codes = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    sizes = np.bincount(codes)
    u, v, cost = p._listed()
    ends, others = np.concatenate([u, v]).astype(np.int64), np.concatenate([v, u])
    keys, place = np.unique(ends * len(sizes) + codes[others], return_inverse=True)
    sums = np.bincount(place, np.concatenate([cost, cost]), len(keys))
    element, cluster = keys // len(sizes), keys % len(sizes)
    at_home = cluster == codes[element]
    own = np.zeros(p.n)
    own[element[at_home]] = sums[at_home]
    best = np.where(sizes[codes] > 1, 0.0, np.inf)  # to be alone
    np.minimum.at(best, element[~at_home], sums[~at_home])
    return np.asarray(best - own)

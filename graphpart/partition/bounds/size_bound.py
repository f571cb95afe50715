"""A quick bound for partitions whose clusters are limited in size or number.

An element in a cluster of s elements has s - 1 partners. If each element pays half of the cost of its pairs, element a
pays at least P(a, s), the sum of the s - 1 least of these halves. The numbers 1 / s of all elements add up to the
number of clusters. So if there are at most K clusters, every partition costs, for each price l >= 0 of a cluster,

    at least    sum over elements a of min over s of (P(a, s) + l / s)  -  l K

where s runs over the possible sizes. For l <= 0, the same holds for at least K clusters. This bound is concave in l.

It does not see that attraction is in conflict, as the bounds without limits do. It is above these if clusters would be
much larger without limits, or if nearly all pairs repel and the number of clusters forces them together.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.certificates.judging import judge_of_partition
from graphpart.partition.problem import SetPartition

__all__ = ["size_bound"]

Floats = NDArray[np.float64]
MOST_PAIRS, MOST_SIZES = 5_000_000, 2_000_000  # most listed pairs, and elements times sizes: some 500 MB
PAIR, SIZE = 3e-7, 8e-9  # seconds for a pair, and for an element and a size in each step
STEPS = 60  # of the search for the best price: doublings, then halvings of an interval


def size_bound(p: SetPartition, seconds: float = math.inf) -> float:
    """A lower bound for a problem with limits, from these alone; -inf for some backgrounds, and if it takes too long.

    Required joins are not used. O(m log m + elements * sizes)

    Parameters
    ----------
    p : SetPartition
    seconds : float
        Nothing is begun that would take longer, by an estimate.

    Examples
    --------
    >>> from itertools import combinations
    >>> pairs = list(combinations(range(6), 2))
    >>> size_bound(SetPartition.from_pairs(6, pairs, [-1.0] * 15, max_size=2))  # three clusters of two
    -3.0
    >>> size_bound(SetPartition.from_pairs(6, pairs, [1.0] * 15, n_clusters=2))  # two clusters of three
    6.0
    """
    n, limits = p.n, p._limits
    assert limits is not None
    usual = 0.0 if p.background is None else p.background.constant
    most = n if limits.most is None else min(n, limits.most)
    largest = min(n if limits.max_size is None else limits.max_size, n - limits.least + 1)
    if n < 2 or usual is None or p.groups is not None or limits.sizes is not None or n * largest > MOST_SIZES:
        return -math.inf
    pairs = n * n // 2 if p.is_dense else p.m
    if pairs > MOST_PAIRS or PAIR * pairs + (SIZE * STEPS if limits.number else SIZE) * n * largest > seconds:
        return -math.inf
    u, v, cost = p._listed()
    scale = max(abs(usual), float(np.abs(cost[np.isfinite(cost)]).max(initial=0.0)))
    unit = 2.0 ** min(math.frexp(scale)[1], 1023)  # so that no price overflows
    paid = _least_paid(n, u, v, cost / unit, usual / unit, largest)
    smallest = max(1, n - (most - 1) * largest)
    paid, size = paid[:, smallest - 1 :], np.arange(smallest, largest + 1)
    if not np.isfinite(paid).any(axis=1).all():
        return -math.inf  # an element has no possible size: nothing is known of problems without a partition

    def at(price: float) -> tuple[float, float]:
        """The bound at a price, and the number of clusters for which it is the bound."""
        each = paid + price / size
        chosen = each.argmin(axis=1)
        total = math.fsum(each[np.arange(n), chosen].tolist())
        return total - price * (most if price > 0 else limits.least), float((1.0 / size[chosen]).sum())

    value, clusters = at(0.0)
    price, number = 0.0, min(max(clusters, limits.least), most)
    if number != clusters:
        value, price = _highest(at, math.copysign(1.0, clusters - number), number)
    if price or usual:
        value -= 2.0**-50 * n * (float(np.abs(paid[np.isfinite(paid)]).max()) + abs(price))  # the rounding errors
    low = unit * value
    return judge_of_partition(p).rounded(low if low / unit <= value else math.nextafter(low, -math.inf))


def _least_paid(n: int, u: NDArray[np.int32], v: NDArray[np.int32], cost: Floats, usual: float, largest: int) -> Floats:
    """For each element, the sums of the 0, 1, ..., largest - 1 least halves of its costs; inf if there are too few.

    All sums are exact, since the halves are rounded downwards; costs are at most 2.
    """
    part = 2.0 ** ((n * largest).bit_length() - 52)
    row, half = np.concatenate([u, v]), np.floor(np.tile(cost, 2) / (2 * part)) * part
    usual = math.floor(usual / (2 * part)) * part
    order = np.lexsort((half, row))
    row, half = row[order], half[order]
    begins = np.searchsorted(row, np.arange(n + 1))
    unlisted = n - 1 - np.diff(begins)
    place = np.arange(len(row)) - begins[row] + np.where(half < usual, 0, unlisted[row])
    paid = np.full((n, largest), usual)
    paid[:, 0] = 0.0
    kept = place + 1 < largest
    paid[row[kept], place[kept] + 1] = half[kept]
    return np.cumsum(paid, axis=1)


def _highest(at: Callable[[float], tuple[float, float]], price: float, number: float) -> tuple[float, float]:
    """The highest bound and its price, on the side of 0 of a first price, if the bound is for another number at 0."""
    side, low, high = price, 0.0, math.inf
    best = -math.inf, price
    for _ in range(STEPS):
        value, clusters = at(price)
        best = max(best, (value, price))
        if (clusters - number) * side > 0:
            low = price
        else:
            high = price
        if abs(high - low) <= 1e-9 * abs(high) < math.inf:
            break
        price = 2 * low if math.isinf(high) else (low + high) / 2
    return best

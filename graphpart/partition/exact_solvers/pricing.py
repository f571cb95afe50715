"""Subsets of small reduced cost for column generation, if pairs repel by products of weights.

Let x be weights such that most pairs that do not attract cost ``x[a] * x[b]``. For modularity these are the degrees,
for cluster editing the numbers of elements that are merged, up to a factor. The cost of any pair is at least ``x[a] *
x[b]`` less an attraction, which is 0 for most pairs; `_pricing` says how this bounds the cost of subsets. Any weights
give valid bounds. They are fitted: the logarithm of ``x[a]`` becomes the median of ``log c[a, b] - log x[b]`` over the
pairs of a that repel, again and again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import group
from graphpart.kernels._pairs import CompressedRows
from graphpart.kernels.elementary import exp, log
from graphpart.partition.exact_solvers import _kernels
from graphpart.partition.exact_solvers.subset_rows import Prices
from graphpart.stopping import Stopping

__all__ = ["Pricing", "fitting_weights"]

Floats = NDArray[np.float64]
Subsets = NDArray[np.uint8]
REPEATS, CLOSE = 10, 1e-12  # repetitions of the fit; relative error of weights, by which they are reduced
FITS = 0.8  # least share of the repelling pairs whose costs are products of the weights
ATTRACTING = 10  # most attracting pairs per element; with more, bounds on subsets are weak
STEPS = 40  # steps of the search from each subset


def fitting_weights(cost: Floats) -> Floats | None:
    """Weights whose products are the costs of most pairs that repel; None if there are none, or if too much attracts.

    Parameters
    ----------
    cost : ndarray of float64, shape (n, n)
        Symmetric, 0 on the diagonal; inf where a pair must be cut.
    """
    n = len(cost)
    repels = (cost > 0) & np.isfinite(cost)
    if 2 * np.count_nonzero(repels) < n:
        return None
    logs = np.full((n, n), np.nan)
    logs[repels] = log(cost[repels])
    some = repels.any(axis=1)
    weight = np.zeros(n)
    for _ in range(REPEATS):
        before = weight.copy()
        weight[some] = np.nanmedian(logs[some] - before, axis=1)
        weight += 0.5 * np.nanmedian(logs - weight - weight[:, None])
        if np.abs(weight - before).max() <= 1e-15 * np.abs(weight).max():
            break
    weight = np.where(some, exp(weight), 0.0) * (1.0 - CLOSE)
    products = np.outer(weight, weight)
    fits = np.abs(cost[repels] - products[repels]) <= 4 * CLOSE * cost[repels]
    attracts = np.count_nonzero(cost < products) / 2
    return weight if np.count_nonzero(fits) >= FITS * len(fits) and attracts <= ATTRACTING * n else None


class Pricing:
    """The subsets of the elements of a matrix of costs.

    Parameters
    ----------
    cost : ndarray of float64, shape (n, n)
        Symmetric, 0 on the diagonal; inf where a pair must be cut.
    weight : ndarray of float64, shape (n,)
        Not negative.
    """

    def __init__(self, cost: Floats, weight: Floats) -> None:
        self.n = len(cost)
        self.cost, self.weight = cost, weight
        known = np.isfinite(cost)
        attraction = float(-np.minimum(cost, 0.0).sum()) / 2
        self.forbidden = 4.0 * attraction + 1.0
        self.finite = np.where(known, cost, self.forbidden)  # for heuristics
        missing = np.outer(weight, weight) - self.finite
        np.fill_diagonal(missing, 0.0)
        self._attraction = np.maximum(missing, 0.0)
        self._most = float(np.abs(cost[known]).sum()) + float(weight.sum()) ** 2

    def error(self, prices: Prices) -> float:
        """The largest rounding error of the cost of a subset with these prices, and of bounds on it.

        No sum here has more than a few times n terms, and a few for each triple.
        """
        size = float(np.abs(prices.elements).sum()) + 8.0 * float(prices.penalties.sum())
        return 2.0**-51 * (self.n + 64 + len(prices.triples)) * (self._most + size)

    def costs(self, subsets: Subsets) -> Floats:
        """The cost of each row; large if it has a pair that must be cut."""
        rows = subsets.astype(np.float64)
        found: Floats = 0.5 * ((rows @ self.finite) * rows).sum(axis=1)
        return found

    def near(self, prices: Prices, starts: Subsets, stopping: Stopping) -> Subsets:
        """The results of a search from each of some subsets."""
        found = np.ascontiguousarray(starts)
        first, left, right, penalty, _ = self._by_element(prices)
        triples = CompressedRows(first, left, penalty)
        _kernels.descend(self.finite, -prices.elements, triples, right, found, STEPS, stopping)
        return found

    def below(
        self, prices: Prices, limit: float, room: int, target: float, few: int, work: int, stopping: Stopping
    ) -> tuple[Subsets, bool]:
        """Subsets whose reduced cost is below a limit; whether these are all.

        All that are below the limit by more than `error` are found. It ends with more than `room` subsets, with `few`
        of them below `target`, or after `work` nodes.
        """
        n = self.n
        first, left, right, penalty, of = self._by_element(prices)
        attraction, shares = self._attraction.copy(), np.zeros((len(prices.triples), 3))
        for k in np.flatnonzero(prices.penalties > 0):
            left_over = prices.penalties[k]
            for place in range(3):
                pair = np.delete(prices.triples[k], place)
                share = min(left_over, attraction[pair[0], pair[1]])
                attraction[pair[0], pair[1]] -= share
                attraction[pair[1], pair[0]] = attraction[pair[0], pair[1]]
                shares[k, place] = share
                left_over -= share
        linked = self._attraction > 0
        linked[left[:-1], right[:-1]] = linked[right[:-1], left[:-1]] = True
        tails, heads = np.nonzero(linked)
        keys = tails * np.int64(n) + heads
        attracting = attraction[tails, heads]
        return _kernels.examine(
            self.cost, self.weight, -prices.elements, group(tails, n)[1], heads.astype(np.int32),
            np.searchsorted(keys, heads * np.int64(n) + tails), attracting, 0.5 * attracting, first, left, right,
            penalty, np.searchsorted(keys, left * np.int64(n) + right), penalty + np.append(shares.ravel()[of], 0.0),
            limit, room, target, few, work, stopping,
        )  # fmt: skip

    def _by_element(self, prices: Prices) -> tuple[NDArray[Any], ...]:
        """The triples of each element: starts, the two other elements, penalties, and places in the array of triples.

        All but the starts and the places have one entry more, so that no array is empty.
        """
        paid = np.flatnonzero(prices.penalties > 0)
        triples = prices.triples[paid]
        order, first = group(triples.ravel(), self.n)
        left, right = (np.append(triples[:, columns].ravel()[order], 0) for columns in ([1, 0, 0], [2, 2, 1]))
        penalty = np.append(prices.penalties[paid[order // 3]], 0.0)
        return first, left.astype(np.int32), right.astype(np.int32), penalty, 3 * paid[order // 3] + order % 3

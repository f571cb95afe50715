"""Combining labelings of a binary quadratic form: the best regions of each, and the smaller form of what they leave open.

Two labelings differ in regions: sets of coupled variables in which they differ, with no coupling between two of them.
Each region can be flipped alone, and the changes of energy add up (Houdayer 2001; in evolutionary computation this is
partition crossover, Whitley, Hains & Howe 2009). So the best of all combinations takes no longer to find than to add up.

What several labelings agree on, they may be right about: where coupled variables have the same relation, equal or
different, in all of them, they are contracted (Houdayer & Martin 1999). A flip of a contracted variable flips all that
went into it. The form that is left has few variables, each of many, so it is soon annealed from scratch; the result is
no worse than the best of the labelings, as they all can be written in its variables. Where nearly all pairs are coupled,
nothing but labels relative to each other could be agreed on; there only variables with different labels are left open.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.binary_quadratic.form import QuadraticForm
from graphpart.crf.binary_quadratic.walks import Spins, Walker
from graphpart.kernels import _pairs

__all__ = ["Contraction", "best_of_regions"]


def best_of_regions(walker: Walker, best: Spins, other: Spins) -> Spins:
    """The first labeling, with all regions from the second in which that is better; equal ones stay. O(n + m)"""
    q = walker.q
    apart = best != other
    if not apart.any():
        return best
    if walker.symmetric and 2 * int(apart.sum()) > q.n:
        apart = ~apart
    u, v, couplings = walker.pairs
    inside = apart[u] & apart[v]
    u, v, couplings = u[inside], v[inside], couplings[inside]
    region = _pairs.connected_components(q.n, u, v)
    energies, gains = _regions(walker, best, region, u, v, couplings)
    better = (energies < 0)[region] & apart
    return np.where(better, -best, best).astype(np.int8) if better.any() else best


def _regions(
    walker: Walker, spins: Spins, region: NDArray[np.int32], u: Any, v: Any, couplings: Any
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The change of energy by a flip of each region, given the pairs within regions."""
    gains = walker.gains(spins)
    count = int(region.max(initial=-1)) + 1
    change = _sums(region, gains, count)
    change += _sums(region[u], couplings * (spins[u] * spins[v]), count)
    return change, gains


def _sums(places: NDArray[np.int32], values: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Sums of integers at equal places: of two halves in float64, which is exact."""
    low = values & 0xFFFFFFFF
    high = values >> 32
    out = np.bincount(places, low, count).astype(np.int64)
    out += np.bincount(places, high, count).astype(np.int64) << 32
    return out


class Contraction:
    """The form of what some labelings leave open, and the way back.

    Parameters
    ----------
    walker : Walker
    elite : list of Spins
        At least two; the first is the one from which flips are counted.

    Attributes
    ----------
    q : QuadraticForm
        One variable for each part; label 1 flips it. In units of the walker's integers.
    """

    def __init__(self, walker: Walker, elite: list[Spins]) -> None:
        spins = elite[0]
        u, v, couplings = walker.pairs
        if walker.few_neighbours:
            together = np.ones(len(u), bool)
            for other in elite[1:]:
                together &= (spins[u] == other[u]) == (spins[v] == other[v])
            part = _pairs.connected_components(walker.q.n, u[together], v[together])
        else:
            apart = np.zeros(walker.q.n, bool)
            for other in elite[1:]:
                apart |= spins != other
            part = np.zeros(walker.q.n, np.int32)
            part[apart] = np.arange(1, int(apart.sum()) + 1)
        a, b = part[u], part[v]
        inside = a == b
        count = int(part.max(initial=-1)) + 1
        products = couplings * (spins[u] * spins[v])
        change = _sums(part, walker.gains(spins), count)
        change += _sums(a[inside], products[inside], count)
        self.spins, self.part = spins, part
        outside = ~inside
        self.q = QuadraticForm.from_pairs(
            change.astype(np.float64), a[outside], b[outside], products[outside].astype(np.float64)
        )

    def lift(self, flips: Spins) -> Spins:
        """The labeling that flips of parts lead to."""
        return np.where(flips[self.part] > 0, -self.spins, self.spins).astype(np.int8)

    def flips(self, spins: Spins) -> Spins:
        """The flips that lead to one of the elite."""
        out = np.full(self.q.n, -1, np.int8)
        out[self.part[spins != self.spins]] = 1
        return out

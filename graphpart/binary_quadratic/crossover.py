"""Combining labelings of a quadratic form: take the better regions of each, or contract their common parts.

Two labelings differ in regions: sets of coupled variables in which they differ, with no coupling between two of them.
Each region can be flipped independently of the others, and the changes of energy add up (Houdayer 2001; in evolutionary
computation this is partition crossover, Whitley, Hains & Howe 2009). So the best of all combinations is found by one
sum for each region.

Labels on which several good labelings agree are probably optimal. If two coupled variables have the same relation,
equal or different, in all labelings, they are contracted (Houdayer & Martin 1999). Flipping a contracted variable flips
all variables that were contracted into it. The form that is left has few variables, so annealing it from scratch takes
little time, and it can express each of the given labelings. If variables have many neighbours, two variables hardly
ever have the same relation in all labelings unless each of them has the same label in all labelings. In this case,
variables whose labels agree are fixed, and the others remain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.binary_quadratic.form import QuadraticForm
from graphpart.binary_quadratic.walks import Spins, Walker
from graphpart.kernels import _pairs

__all__ = ["Contraction", "better_parts"]


def better_parts(walker: Walker, best: Spins, other: Spins) -> Spins:
    """The first labeling, with all regions of the second in which the second is strictly better. O(n + m)"""
    apart = best != other
    if walker.symmetric and 2 * int(apart.sum()) > walker.n:
        apart = ~apart
    if not apart.any():
        return best
    u, v, couplings = walker.pairs
    inside = apart[u] & apart[v]
    u, v, couplings = u[inside], v[inside], couplings[inside]
    region = _pairs.connected_components(walker.n, u, v)
    count = int(region.max(initial=-1)) + 1
    change = _sums(region, walker.gains(best), count) + _sums(region[u], couplings * (best[u] * best[v]), count)
    better = (change < 0)[region] & apart
    return np.where(better, -best, best).astype(np.int8) if better.any() else best


def _sums(places: NDArray[np.int32], values: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Sums of integers at equal places, in float64 if this is exact."""
    if float(np.abs(values).max(initial=0)) * len(values) < 2.0**53:
        return np.bincount(places, values, count).astype(np.int64)
    out = np.zeros(count, np.int64)
    np.add.at(out, places, values)
    return out


class Contraction:
    """The form after contracting the common parts of some labelings, and the way back.

    Parameters
    ----------
    walker : Walker
    elite : list of Spins
        At least two; the first is the one from which flips are counted.

    Attributes
    ----------
    walker : Walker
        Of a form with one variable for each part; label 1 flips it.
    """

    def __init__(self, walker: Walker, elite: list[Spins]) -> None:
        self.spins = elite[0]
        (self._contract if walker.few_neighbours else self._fix)(walker, elite)

    def _contract(self, walker: Walker, elite: list[Spins]) -> None:
        spins = self.spins
        u, v, couplings = walker.pairs
        together = np.ones(len(u), bool)
        relation = spins[u] == spins[v]
        for other in elite[1:]:
            together &= relation == (other[u] == other[v])
        self.part = part = _pairs.connected_components(walker.n, u[together], v[together])
        count = int(part.max(initial=-1)) + 1
        a, b = part[u], part[v]
        outside = np.flatnonzero(a != b)
        products = couplings * np.where(relation, 1, -1)
        change = _sums(part, walker.gains(spins), count) + _sums(a, products, count)
        change -= _sums(a[outside], products[outside], count)
        self.walker = Walker(
            QuadraticForm.from_pairs(
                change.astype(np.float64), a[outside], b[outside], products[outside].astype(np.float64)
            )
        )

    def _fix(self, walker: Walker, elite: list[Spins]) -> None:
        spins = self.spins
        apart = np.zeros(walker.n, bool)
        for other in elite[1:]:
            differs = spins != other
            apart |= ~differs if walker.symmetric and 2 * int(differs.sum()) > walker.n else differs
        free = np.flatnonzero(apart)
        self.part = np.full(walker.n, len(free), np.int32)  # beyond the last one: fixed
        self.part[free] = np.arange(len(free))
        linear, mine = walker.gains(spins)[free], spins[free]
        if walker.dense:
            matrix = walker.arrays[0][np.ix_(free, free)]
            matrix *= mine
            matrix *= mine[:, None]
            self.walker = Walker.of_matrix(matrix, linear.astype(np.int32))
            return
        u, v, couplings = walker.pairs
        inside = np.flatnonzero(apart[u] & apart[v])
        u, v, couplings = u[inside], v[inside], couplings[inside] * (spins[u[inside]] * spins[v[inside]])
        form = QuadraticForm.from_pairs(linear.astype(np.float64), self.part[u], self.part[v], couplings.astype(float))
        self.walker = Walker(form)

    def lift(self, flips: Spins) -> Spins:
        """The labeling that flips of parts lead to."""
        flipped = np.append(flips > 0, False)[self.part]
        return np.where(flipped, -self.spins, self.spins).astype(np.int8)

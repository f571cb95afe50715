"""A background in certificates: lower bounds on the background of pairs, rounded downwards, without listing all pairs.

The background between two sets of elements that required joins connect is computed from the sums of their weights, and
from how many members of each group they have. Each sum of weights is an interval, whose ends are rounded outwards. The
cost of all pairs that are in no inequality is at least the sum of all negative terms. This sum is computed from the
sums of the positive and of the negative weights; it is 0 if the background repels.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import first_of
from graphpart.common.steps import step_of
from graphpart.partition.certificates import _inequalities
from graphpart.partition.problem import SetPartition, _groups

__all__ = ["Weights", "steps_of_background"]

Floats = NDArray[np.float64]
Elements = NDArray[np.int32]


class Weights:
    """The weights of elements, or of the sets that required joins connect, in each term of a background.

    Parameters
    ----------
    p : SetPartition
        With a background.
    classes : ndarray of int32, shape (n,), optional
        Canonical labels of the sets that required joins connect.

    Attributes
    ----------
    within : float
        A lower bound on the background within these sets.
    """

    def __init__(self, p: SetPartition, classes: Elements | None) -> None:
        assert p.background is not None
        self.beta = p.background.beta
        self.single = np.array([x is y for x, y in p.background.vectors], np.uint8)
        first = np.arange(p.n) if classes is None else first_of(classes)
        shape = len(self.beta), p.n
        sides = [np.array([pair[side] for pair in p.background.vectors]).reshape(shape).T[first] for side in (0, 1)]
        self.low = [np.ascontiguousarray(side) for side in sides]
        self.high = [side.copy() for side in self.low]
        self.within = 0.0
        self.groups = p.background.groups
        if classes is not None:
            self._join(p, classes)
            if self.groups is not None:
                self.groups = self.groups.contract(classes, len(first))

    def _join(self, p: SetPartition, classes: Elements) -> None:
        """Sums of weights of sets with more than one element, in exact arithmetic."""
        assert p.background is not None
        several = np.flatnonzero(np.bincount(classes)[classes] > 1)
        total = Fraction(0)
        for t, (beta, (x, y)) in enumerate(zip(self.beta.tolist(), p.background.vectors, strict=True)):
            sums: list[dict[int, Fraction]] = [defaultdict(Fraction), defaultdict(Fraction)]
            inside = Fraction(0)
            for class_, first, second in zip(
                classes[several].tolist(), x[several].tolist(), y[several].tolist(), strict=True
            ):
                f, s = Fraction(first), Fraction(second)
                inside += f * sums[1][class_] if x is y else f * sums[1][class_] + s * sums[0][class_]
                sums[0][class_] += f
                sums[1][class_] += s
            total += Fraction(beta) * inside
            for side in (0, 1):
                for class_, value in sums[side].items():
                    self.low[side][class_, t], self.high[side][class_, t] = _down(value), -_down(-value)
        if p.background.groups is not None:
            paid = _groups.pairs_together(*p.background.groups.by_group, classes)
            for g in np.flatnonzero(paid).tolist():  # no class has two members of a group at price inf
                total += Fraction(float(p.background.groups.price[g])) * int(paid[g])
        self.within = _down(total)

    def lowest(self, a: NDArray[np.integer], b: NDArray[np.integer], start: Floats) -> tuple[Floats, float]:  # type: ignore[type-arg]
        """(lower bounds on start plus background of each pair, an upper bound on the sum of their negative terms)."""
        low, negative = np.empty(len(a)), np.empty(len(a))
        _inequalities.background_down(
            a.astype(np.int32), b.astype(np.int32), self.beta, self.low[0], self.high[0], self.low[1], self.high[1],
            self.single, start, low, negative,
        )  # fmt: skip
        if self.groups is not None:
            _inequalities.groups_down(
                a.astype(np.int32), b.astype(np.int32), self.groups.starts, self.groups.group, self.groups.count,
                self.groups.price, low,
            )  # fmt: skip
        return low, -float(_inequalities.sum_down(-negative, False))

    def all_negative(self) -> float:
        """A lower bound on the sum of the negative terms of all pairs."""
        total = 0.0
        for t, beta in enumerate(self.beta.tolist()):
            if self.single[t]:
                sums, squares = self._by_sign(0, t), self._squares(t)
                if beta > 0:
                    part = _product(sums[0], sums[1])
                else:
                    part = sum((_product(sums[k], sums[k]) - squares[k] for k in (0, 1)), Fraction(0)) / 2
            else:  # the diagonal is counted, too, which is safe
                x, y = self._by_sign(0, t), self._by_sign(1, t)
                if beta > 0:
                    part = _product(x[0], y[1]) + _product(x[1], y[0])
                else:
                    part = _product(x[0], y[0]) + _product(x[1], y[1])
            total = float(_inequalities.sum_down(np.array([total, min(_down(Fraction(beta) * part), 0.0)]), False))
        return total

    def _by_sign(self, side: int, t: int) -> tuple[float, float]:
        """(an upper bound on the sum of positive weights, a lower bound on that of negative ones)."""
        high, low = self.high[side][:, t], self.low[side][:, t]
        positive = -_inequalities.sum_down(-np.maximum(high, 0.0), False)
        return float(positive), float(_inequalities.sum_down(np.minimum(low, 0.0), False))

    def _squares(self, t: int) -> tuple[Fraction, Fraction]:
        """Lower bounds on the sums of squares of positive weights, and of negative weights."""
        found = []
        for side in (np.maximum(self.low[0][:, t], 0.0), np.maximum(-self.high[0][:, t], 0.0)):
            found.append(Fraction(-float(_inequalities.dot_up(side, -np.ascontiguousarray(side)))))
        return found[0], found[1]


def _product(x: float, y: float) -> Fraction:
    return Fraction(x) * Fraction(y)


def _down(value: Fraction | int) -> float:
    """The largest double that is not above a number."""
    rounded = float(value)
    return rounded if Fraction(rounded) <= value else math.nextafter(rounded, -math.inf)


def steps_of_background(p: SetPartition) -> Floats | None:
    """Numbers such that the background of every pair is a sum of multiples of them; None if there are none."""
    assert p.background is not None
    steps = []
    for beta, (x, y) in zip(p.background.beta, p.background.vectors, strict=True):
        product = Fraction(1)
        for factor in (np.array([beta]), x, y):
            product *= Fraction(step_of(factor, float(np.abs(factor).max(initial=0.0))) if factor.any() else 0.0)
        if not product and x.any() and y.any():
            return None
        if Fraction(float(product)) != product:
            return None
        steps.append(float(product))
    if p.background.groups is not None:
        price = np.unique(p.background.groups.price)
        steps += price[np.isfinite(price)].tolist()
    return np.array(steps)

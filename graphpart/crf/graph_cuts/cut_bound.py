"""The lower bound that the fixed-point sums of a cut prove, rounded down to a floating-point number."""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["bound_below"]


def bound_below(
    constant: float, sums: tuple[int, int, float, float, float, float, float, float], parts: int = 1
) -> float:
    """The largest float that is at most the bound, from the `sums` of `OrderedCut.bound`. Units count `parts` times.

    It is -inf if a sum has overflowed.

    Examples
    --------
    >>> bound_below(1.0, (0, 6, 0.0, 4.0, 1.0, 0.5, 0.0, 0.0))
    3.0
    """
    high, low, slack, scale, before, least, error, least_slack = sums
    if not all(map(math.isfinite, (constant, *sums[2:]))):
        return -math.inf
    units = (high << 32) + low - Fraction(slack) * (1 + Fraction(1, 2**20))
    exact = units / parts / Fraction(scale) / Fraction(before)
    exact += Fraction(constant) + Fraction(least) + Fraction(error) - Fraction(least_slack)
    rounded = float(exact)
    return rounded if Fraction(rounded) <= exact else math.nextafter(rounded, -math.inf)

"""Costs that are all multiples of one number: sums of costs are, too, and lower bounds can be rounded up."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["are_multiples", "round_up", "step_of", "sum_down"]

LARGEST_WHOLE = 2.0**50


def step_of(costs: NDArray[np.float64], largest_sum: float) -> float:
    """The largest number of which all finite costs are multiples, if they are multiples of ``2**-20``; else 0.

    1 if all costs are zero; 0 if sums, which reach `largest_sum` at most, may be too large to be exact.

    Examples
    --------
    >>> step_of(np.array([1.5, -3.0]), 4.5)
    1.5
    """
    few = costs[:1024]
    for finest in (1.0, 2.0**-20):
        if largest_sum / finest >= LARGEST_WHOLE:
            break
        if not (np.fmod(few, finest) == 0).all():  # mostly decided by the first ones
            continue
        scaled = np.abs(costs) / finest
        if (scaled == np.floor(scaled)).all():
            return float(np.gcd.reduce(scaled.astype(np.int64)) or 1) * finest if costs.any() else 1.0
    return 0.0


def are_multiples(costs: NDArray[np.float64], step: float) -> bool:
    """Whether all finite costs are multiples of a step."""
    return 0 < step < math.inf and not np.fmod(costs, step).any()


def round_up(bound: float, step: float) -> float:
    """The least multiple of a step that is not below a bound; the bound itself if the step is 0."""
    if not step or not math.isfinite(bound):
        return bound
    multiple = math.ceil(Fraction(bound) / Fraction(step)) * Fraction(step)
    rounded = float(multiple)
    return rounded if Fraction(rounded) <= multiple else math.nextafter(rounded, -math.inf)


def sum_down(values: Iterable[float]) -> float:
    """The sum of finite numbers, rounded towards minus infinity.

    Examples
    --------
    >>> sum_down([0.5, 0.25]), sum_down([0.1, 0.2]) < 0.1 + 0.2
    (0.75, True)
    """
    values = list(values)
    nearest = math.fsum(values)
    return nearest if math.fsum([*values, -nearest]) >= 0 else math.nextafter(nearest, -math.inf)

"""Common divisors of costs, by which lower bounds are rounded up, and sums of costs with bounded rounding errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LARGEST_WHOLE",
    "ROUNDING",
    "RunningSum",
    "are_multiples",
    "decimal_scales",
    "decimal_step",
    "least_step",
    "round_up",
    "step_of",
    "sum_down",
]

ROUNDING = 1e-9  # a smaller relative difference of two costs counts as none
LARGEST_WHOLE = 2.0**50  # sums of some numbers up to this are exact
PART = 1 << 16  # costs that are looked at at once, so few that they stay in the cache
DECIMALS, NEAR = 6, 1e-6  # decimals of costs at most, and how far from a whole number a scaled cost may be


def step_of(costs: NDArray[np.float64], largest_sum: float) -> float:
    """The greatest common divisor of all finite costs, if they are multiples of ``2**-20``; else 0.

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
        step = 0
        for at in range(0, len(costs), PART):
            scaled = np.abs(costs[at : at + PART]) / finest
            if not (scaled == np.floor(scaled)).all():
                break
            if step != 1:
                step = int(np.gcd.reduce(scaled.astype(np.int64), initial=step))
        else:
            return step * finest if step else 1.0
    return 0.0


def decimal_step(costs: NDArray[np.float64], times: NDArray[np.float64] | float = 1.0) -> tuple[float, float]:
    """The greatest common divisor of all finite costs in decimal notation, and an error; or 0 and 0.

    Few decimal fractions are floating-point numbers. The exact sum of a part of the costs differs from a multiple of
    the step by at most the error. `times` is how often each cost occurs.

    Examples
    --------
    >>> step, error = decimal_step(np.array([0.1, -0.3, 1.25]))
    >>> step, 0 < error < 1e-14
    (0.05, True)
    """
    parts = [slice(at, at + PART) for at in range(0, len(costs), PART)]
    each = [times[part] if isinstance(times, np.ndarray) else times for part in parts]
    for scale in decimal_scales(costs):
        size = math.fsum(float((np.abs(costs[part]) * count).sum()) for part, count in zip(parts, each, strict=True))
        if size * scale >= LARGEST_WHOLE:
            break
        step, error = 0, 0.0
        for part, count in zip(parts, each, strict=True):
            scaled = costs[part] * scale
            whole = np.rint(scaled)
            away = np.abs(scaled - whole)
            if away.max(initial=0.0) > NEAR:
                break
            step = int(np.gcd.reduce(np.abs(whole).astype(np.int64), initial=step))
            error += float((away * count).sum())
        else:
            if step:  # the last term bounds the error of rounding
                return step / scale, error / scale + 2.0**-50 * size
    return 0.0, 0.0


def decimal_scales(costs: NDArray[np.float64]) -> Iterator[float]:
    """The powers of ten that make the first costs whole numbers: none for most costs that are not decimal."""
    few = costs[:1024]
    for scale in (10.0**k for k in range(DECIMALS + 1)):
        if np.abs(few * scale - np.rint(few * scale)).max(initial=0.0) <= NEAR:
            yield scale


def least_step(costs: NDArray[np.float64], times: NDArray[np.float64] | float = 1.0) -> tuple[float, float]:
    """The least absolute cost and an error as in `decimal_step`, if all are multiples of it up to rounding; or 0 and 0.

    Examples
    --------
    >>> step, error = least_step(np.array([1e-9, -3e-9, 0.0]))
    >>> step, 0 < error < 1e-22, least_step(np.array([2.0, 3.0]) / 7)
    (1e-09, True, (0.0, 0.0))
    """
    sizes = np.abs(costs)
    step = float(sizes.min(initial=math.inf, where=sizes > 0))
    size = float((sizes * times).sum())
    if size < LARGEST_WHOLE / 16 * step < math.inf:
        error = float((np.abs(sizes - np.rint(sizes / step) * step) * times).sum()) + 2.0**-50 * size
        if error <= 2.0**-48 * size:
            return step, error
    return 0.0, 0.0


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


class RunningSum:
    """A sum of numbers that can be replaced one by one, each in O(1).

    The sum is kept as two numbers, the second of which is the error of the first (Knuth 1969, 4.2.2): its relative
    error is about ``2**-106`` for each replacement, so `value` is in general the sum that `math.fsum` has.

    Examples
    --------
    >>> total = RunningSum([1e16, 1.0])
    >>> total.replace(1e16, 0.5)
    >>> total.value
    1.5
    """

    def __init__(self, values: Iterable[float]) -> None:
        self._sum = self._error = 0.0
        for value in values:
            self._add(value)

    @property
    def value(self) -> float:
        """The sum, rounded to the nearest number."""
        return self._sum + self._error

    def replace(self, old: float, new: float) -> None:
        """Take one of the numbers out, and another in."""
        self._add(-old)
        self._add(new)

    def _add(self, value: float) -> None:
        total = self._sum + value
        part = total - self._sum
        self._error += (self._sum - (total - part)) + (value - part)
        self._sum = total

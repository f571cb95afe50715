"""Code that all generators share: the pair they return, checks of their parameters, random pairs and matrices.

Reproducibility: random numbers come from :func:`numpy.random.default_rng` through few of its methods (`random`,
`integers`, `standard_normal`), in an order that the generator states. NumPy may change the streams of these methods in
a new version, but has not since 1.18. Costs are computed from the random numbers by operations that IEEE 754 rounds
correctly, in a fixed order, never by exponentials of the C library or NumPy or by products of BLAS, which differ
between processors. So an instance is the same on every processor; the exception, of very small probability, is
described in :func:`standard_normal`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.common.matrices import symmetric_matrix as symmetric
from graphpart.crf.problem import FactorGraph
from graphpart.display import number, plural
from graphpart.errors import InvalidOption
from graphpart.partition.problem import Labels, SetPartition, canonical, check_matrix_fits

__all__ = [
    "FactorInstance",
    "Instance",
    "check_integer",
    "check_number",
    "cluster_labels",
    "distinct_integers",
    "random_generator",
    "rounded",
    "standard_normal",
    "symmetric_matrix",
    "unrank_pairs",
]


class Instance(NamedTuple):
    """A generated problem, and the partition planted in it (None where there is none); unpacks as a pair."""

    problem: SetPartition
    truth: Labels | None

    def __repr__(self) -> str:
        return _shown(self)

    def _repr_html_(self) -> str:
        return _html(self)


class FactorInstance(NamedTuple):
    """A generated factor graph, and the labeling planted in it (None where there is none); unpacks as a pair."""

    problem: FactorGraph
    truth: Labels | None

    def __repr__(self) -> str:
        return _shown(self)

    def _repr_html_(self) -> str:
        return _html(self)


def _planted(instance: Instance | FactorInstance) -> str:
    """The known truth."""
    if instance.truth is None:
        return "nothing planted"
    labels = plural(len(np.unique(instance.truth)), "cluster" if isinstance(instance, Instance) else "label")
    return f"truth with {labels}, cost {number(float(instance.problem.evaluate(instance.truth)))}"


def _shown(instance: Instance | FactorInstance) -> str:
    title = repr(instance.problem).partition("\n")[0].strip("<>")
    return f"<{type(instance).__name__} of {title}\n {_planted(instance)}>"


def _html(instance: Instance | FactorInstance) -> str:
    return f"<p><b>{type(instance).__name__}</b>, {_planted(instance)}</p>{instance.problem._repr_html_()}"


def check_integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """An integer from `low` to `high`; InvalidOption otherwise."""
    try:
        number: int = value.__index__()
    except AttributeError:
        raise InvalidOption(f"{name} is {value!r}: expected an integer") from None
    if number < low or (high is not None and number > high):
        wanted = f"at least {low}" if high is None else f"from {low} to {high}"
        raise InvalidOption(f"{name} is {number}: expected an integer {wanted}")
    return number


def check_number(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite number from `low` to `high`; InvalidOption otherwise."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidOption(f"{name} is {value!r}: expected a number") from None
    if not (math.isfinite(number) and low <= number <= high):
        wanted = {
            (False, False): "a finite number",
            (True, False): f"a number at least {low:g}",
            (False, True): f"a number at most {high:g}",
            (True, True): f"a number from {low:g} to {high:g}",
        }[math.isfinite(low), math.isfinite(high)]
        raise InvalidOption(f"{name} is {number}: expected {wanted}")
    return number


def random_generator(seed: Any) -> np.random.Generator:
    """``numpy.random.default_rng(seed)``; InvalidOption if that refuses the seed."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise InvalidOption(f"seed is {seed!r}: expected an integer at least 0 ({error})") from None


def standard_normal(rng: np.random.Generator, size: int | tuple[int, ...]) -> NDArray[np.float64]:
    """Standard normal variates that are the same on every processor.

    NumPy multiplies integers by numbers of a table (the ziggurat of Marsaglia & Tsang 2000), which is the same
    everywhere, except for one number in 3900: beyond 3.654 it takes logarithms, whose last bit may differ. Rounding to
    multiples of 2^-26 makes these equal too, unless a boundary lies in between: for one number in 10^10 at most.
    """
    values = rng.standard_normal(size)
    flat = values.reshape(-1)
    far, fine = np.flatnonzero(np.abs(flat) > 3.65), 2.0**26
    flat[far] = np.rint(flat[far] * fine) / fine
    return values


def rounded(costs: NDArray[np.float64], decimals: int | None) -> NDArray[np.float64]:
    """Costs rounded in place to a number of decimals, without negative zeros; None leaves them as they are."""
    if decimals is not None:
        np.round(costs, check_integer("decimals", decimals, 0, 12), out=costs)
        costs += 0.0
    return costs


def cluster_labels(n: int, subsets: int, rng: np.random.Generator) -> Labels:
    """Canonical labels of `subsets` random subsets whose sizes differ by at most one."""
    order = np.argsort(rng.random(n), kind="stable")
    return canonical(order % subsets)


def symmetric_matrix(n: int, draw: Callable[[int], NDArray[Any]]) -> NDArray[np.float64]:
    """As the function of this name in `common`, if such a matrix fits into memory."""
    check_matrix_fits(n)
    return symmetric(n, draw)


def distinct_integers(total: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """`count` distinct integers below `total`, ascending; all such sets are alike probable. O(count log count)"""
    if 2 * count > total:
        kept = np.ones(total, bool)
        kept[distinct_integers(total, total - count, rng)] = False
        return np.flatnonzero(kept)
    drawn = np.zeros(0, np.int64)
    while len(drawn) < count:
        more = rng.integers(total, size=count - len(drawn))
        drawn = np.sort(np.concatenate([drawn, more]))  # np.unique may hash instead, which is far slower here
        drawn = drawn[np.diff(drawn, prepend=-1) > 0]
    return drawn


def unrank_pairs(n: int, ranks: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs (u, v), u < v < n, that have these ranks, from 0 to n (n - 1) / 2 - 1, in lexicographic order."""
    # Counted from the end, the pairs of the last rows are triangular numbers; the root may be off by one.
    back = n * (n - 1) // 2 - 1 - ranks
    row = ((np.sqrt(8.0 * back + 1.0) - 1.0) / 2.0).astype(np.int64)
    row -= row * (row + 1) // 2 > back
    row += (row + 1) * (row + 2) // 2 <= back
    return n - 2 - row, n - 1 - (back - row * (row + 1) // 2)

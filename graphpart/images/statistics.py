"""Statistics of the boundaries between regions, which add up exactly over blocks, and the features made of them.

A row belongs to two regions that touch. It has the number of contacts along each axis, and of their values the sum, the
sum of squares, the extremes and a histogram; see the kernel, `_contacts`. Quantiles are interpolated within a bin of
the histogram, which is 1/64 wide, and lie between the extremes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.images._contacts import Contacts

__all__ = ["FIXED", "QUANTILES", "Statistics", "merge", "with_far"]

FIXED = 2.0**30  # fixed-point units of a sum that stand for 1
QUANTILES = {"q10": 0.1, "q25": 0.25, "median": 0.5, "q75": 0.75, "q90": 0.9}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Statistics:
    """Statistics of m boundaries.

    Attributes
    ----------
    pairs : ndarray of int, shape (m, 2)
        The two regions, ascending.
    numbers : ndarray of int64, shape (m, 3)
        Contacts along each axis; those of pictures are along the last two.
    sums : ndarray of int64, shape (m, 2)
        Sums of values and of their squares, in units of 2**-30.
    extremes : ndarray of float32, shape (m, 2)
    histograms : ndarray of int64 or uint32, shape (m, 64)
    """

    pairs: NDArray[Any]
    numbers: NDArray[np.int64]
    sums: NDArray[np.int64]
    extremes: NDArray[np.float32]
    histograms: NDArray[Any]

    @classmethod
    def of(cls, table: Contacts) -> Statistics:
        """Those that a kernel has found."""
        return cls(*table.arrays())

    def __len__(self) -> int:
        return len(self.pairs)

    def take(self, rows: NDArray[Any]) -> Statistics:
        """Some rows."""
        return Statistics(*(getattr(self, field.name)[rows] for field in fields(self)))

    @property
    def length(self) -> NDArray[np.int64]:
        """The number of contacts."""
        length: NDArray[np.int64] = self.numbers.sum(axis=1)
        return length

    def area(self, spacing: Sequence[float]) -> Floats:
        """The area of all faces between two regions, for the size of a voxel along each axis; lengths in a picture."""
        sizes = np.array([1.0, *spacing] if len(spacing) == 2 else spacing)
        area: Floats = self.numbers @ (sizes.prod() / sizes)
        return area

    def mean(self) -> Floats:
        """The mean value."""
        mean: Floats = self.sums[:, 0] / FIXED / np.maximum(self.length, 1)
        return mean

    def deviation(self) -> Floats:
        """The standard deviation."""
        square = self.sums[:, 1] / FIXED / np.maximum(self.length, 1)
        deviation: Floats = np.sqrt(np.maximum(square - self.mean() ** 2, 0.0))
        return deviation

    def quantiles(self, shares: Sequence[float]) -> list[Floats]:
        """The values below which these shares of the contacts lie."""
        bins = self.histograms.shape[1]
        rows = np.arange(len(self))
        upper = np.cumsum(self.histograms, axis=1, dtype=self.histograms.dtype)
        found = []
        for share in shares:
            wanted = share * upper[:, -1]
            whole = np.ceil(wanted).astype(upper.dtype)[:, None]  # a comparison of integers, which is fast
            at = np.minimum(np.count_nonzero(upper < whole, axis=1), bins - 1)
            inside = self.histograms[rows, at]
            before = upper[rows, at] - inside
            value = (at + (wanted - before) / np.maximum(inside, 1)) / bins
            found.append(np.clip(value, self.extremes[:, 0], self.extremes[:, 1]).astype(np.float64))
        return found

    def features(self) -> dict[str, Floats]:
        """Mean, deviation, extremes and quantiles, by name."""
        found = {"mean": self.mean(), "std": self.deviation(), "min": self.extremes[:, 0].astype(np.float64)}
        found |= dict(zip(QUANTILES, self.quantiles(list(QUANTILES.values())), strict=True))
        return found | {"max": self.extremes[:, 1].astype(np.float64)}


def merge(parts: Sequence[Statistics]) -> Statistics:
    """The statistics of the whole from the statistics of its parts. O(m log m)"""
    pairs = np.concatenate([part.pairs for part in parts]).astype(np.int64)
    distinct, row = np.unique(pairs, axis=0, return_inverse=True)
    row = row.reshape(-1)
    order = np.argsort(row, kind="stable")
    starts = np.searchsorted(row[order], np.arange(len(distinct)))

    def gathered(name: str, add: Any = np.add, dtype: Any = None) -> NDArray[Any]:
        values = np.concatenate([getattr(part, name) for part in parts])[order]
        if not len(values):
            return values
        merged: NDArray[Any] = add.reduceat(values if dtype is None else values.astype(dtype), starts, axis=0)
        return merged

    low, high = gathered("extremes", np.minimum)[:, :1], gathered("extremes", np.maximum)[:, 1:]
    return Statistics(
        distinct, gathered("numbers"), gathered("sums"), np.hstack([low, high]), gathered("histograms", dtype=np.int64)
    )


def with_far(near: Statistics, far: Statistics, regions: int) -> Statistics:
    """The statistics of contacts, with those of farther voxels of the same two regions added."""
    both = merge([near, far])
    keys = [pairs[:, 0].astype(np.int64) * regions + pairs[:, 1] for pairs in (both.pairs, near.pairs)]
    return both.take(np.searchsorted(keys[0], keys[1]))

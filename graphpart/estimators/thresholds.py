"""Thresholds between attraction and repulsion, chosen from the values of pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem


def otsu_threshold(values: NDArray[np.float64], bins: int = 1024) -> float:
    """The threshold that splits values into two groups with the largest variance between their means (Otsu 1979).

    Parameters
    ----------
    values : ndarray of float64
        Finite.
    bins : int
        Of the histogram on which the split is sought.

    Returns
    -------
    float
        The middle of the threshold's bin, or of the empty bins between the groups; the value itself if all are equal;
        0 if there are none.

    Examples
    --------
    >>> round(otsu_threshold(np.array([1.0, 1.1, 1.2, 8.9, 9.0])), 1)
    5.1
    """
    if not values.size:
        return 0.0
    low, high = float(values.min()), float(values.max())
    if not np.isfinite(high - low):
        raise InvalidProblem(f"values from {low} to {high}: expected finite ones for a threshold")
    if low == high:
        return low
    counts, edges = np.histogram(values, bins, range=(low, high))
    centers = 0.5 * (edges[:-1] + edges[1:])
    below = np.cumsum(counts)[:-1]
    above = values.size - below
    sums = np.cumsum(counts * (centers - low))
    split = np.square(sums[:-1] / below - (sums[-1] - sums[:-1]) / above) * below * above
    best = np.flatnonzero(split >= split.max() * (1 - 1e-12))
    return float(0.5 * (edges[best[0] + 1] + edges[best[-1] + 1]))

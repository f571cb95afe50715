"""Thresholds between attraction and repulsion, chosen from the values of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem
from graphpart.learn.thresholds import threshold_path
from graphpart.partition.problem import SetPartition

ELEMENTS = 500  # on so many, at most, the path is walked
QUANTILES = np.linspace(0.01, 0.9, 40)  # of the values of pairs: the thresholds tried
SHORTEST = 0.01  # share of the mean distance below which distances count as equal


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
        The middle of the bin at the threshold, or of the empty bins between the groups. If all values are equal, this
        value; 0 if there are no values.

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


def path_threshold(
    values: NDArray[np.float64], listed: Any = None, n: int | None = None, *, similarity: bool = False
) -> float:
    """The threshold whose partition separates near pairs from far pairs best.

    For each of 40 thresholds, which are quantiles of the values, the elements are partitioned with the costs value -
    threshold (for similarities, threshold - value). For each partition, the share of the variance of the logarithm of
    the distance that lies between joined pairs and cut pairs is computed. The threshold with the largest share is
    returned. This is Otsu's criterion (1979), applied to the decisions of a partition and to logarithms, so that only
    ratios of distances count. Similarities s become distances max(s) - s.

    Parameters
    ----------
    values : ndarray of float64, shape (n, n) or (m,)
        Distances or similarities of all pairs, or of listed ones.
    listed : ndarray of int, shape (m, 2), optional
        The pairs that have a value.
    n : int, optional
        The number of elements, if pairs are listed.
    similarity : bool

    Returns
    -------
    float
        The threshold. If all values are equal, this value; 0 if there are no values.

    Notes
    -----
    If there are more than 500 elements with all distances, 500 of them are drawn, always the same ones.

    Examples
    --------
    >>> x = np.array([0.0, 0.1, 0.2, 2.0, 2.2, 9.0, 9.1, 9.2])
    >>> threshold = path_threshold(np.abs(x[:, None] - x))
    >>> bool(0.2 < threshold < 1.8)
    True
    """
    if listed is None:
        if len(values) > ELEMENTS:
            drawn = np.sort(np.random.default_rng(0).choice(len(values), ELEMENTS, replace=False))
            values = values[np.ix_(drawn, drawn)]
        size = len(values)
        u, v = np.triu_indices(size, 1)
        among = values[u, v]
    else:
        u, v = np.asarray(listed).reshape(-1, 2).T
        once = u < v  # a sparse matrix lists each pair twice
        u, v, among = u[once], v[once], values[once]
        size = int(max(u.max(initial=-1), v.max(initial=-1))) + 1 if n is None else n
    if not among.size:
        return 0.0
    if not np.isfinite(among).all():
        raise InvalidProblem("a value is not finite: expected finite ones for a threshold")
    distances = float(among.max()) - among if similarity else among
    low, high = float(distances.min()), float(distances.max())
    if low == high:
        return float(among[0])
    grid = np.unique(np.quantile(distances, QUANTILES))
    if listed is None:
        matrix = np.zeros((size, size))
        matrix[u, v] = matrix[v, u] = distances
        problem = SetPartition.from_matrix(matrix)
    else:
        problem = SetPartition.from_pairs(size, np.stack([u, v], axis=1), distances)
    least = SHORTEST * float(np.abs(distances).mean())
    logs = np.log(np.maximum(distances, least))
    shares = [_explained(logs, labels[u] == labels[v]) for labels in threshold_path(problem, grid)]
    best = float(grid[int(np.argmax(shares))])
    return float(among.max()) - best if similarity else best


def _explained(values: NDArray[np.float64], joined: NDArray[np.bool_]) -> float:
    """The share of the variance that lies between the two groups; -1 if one is empty."""
    share = float(joined.mean())
    variance = float(values.var())
    if not 0 < share < 1 or variance <= 0:
        return -1.0
    between = float(values[joined].mean()) - float(values[~joined].mean())
    if between > 0:  # joined pairs are farther apart than others
        return -1.0
    return share * (1 - share) * between**2 / variance

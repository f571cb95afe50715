"""Points, such as embeddings, as a problem: pairs nearer than a threshold attract, pairs farther apart repel.

The cost of a pair is its distance - threshold. Up to some thousand points, all pairs are listed, in one matrix that
becomes that of the problem. Of more points, two kinds of pairs are listed: those of nearest neighbours, and as many
that are drawn from all pairs. Neighbours alone attract, and would join everything that they connect. The pairs drawn
stand for the others: they repel between clusters, as almost all pairs there do, and attract within. A constant cost of
all pairs that are not listed would repel within clusters, too. Neighbours connect a large cluster in few dimensions
only weakly, so that it would fall into pieces: the more elements, the more pieces (docs/explanation/tried.md).

The threshold is chosen from the distances of at most 500 points, always the same ones.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption, InvalidProblem, unknown
from graphpart.partition.inputs.arrays import check_matrix_fits, float_array
from graphpart.partition.inputs.neighbors import distances_of, neighbor_pairs
from graphpart.partition.inputs.thresholds import drawn, path_threshold

__all__ = ["ALL_PAIRS", "METRICS", "NEIGHBORS", "points", "scaled", "uses_neighbors", "with_others"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
METRICS = ("cosine", "euclidean")
ALL_PAIRS = 3000  # points up to which all pairs are listed by default
NEIGHBORS = 10  # of each of more points


def uses_neighbors(n: int, n_neighbors: Any) -> int | None:
    """How many neighbours are listed; None if all pairs are.

    Raises
    ------
    InvalidOption
        If `n_neighbors` is neither None nor a whole number of at least 1.
    """
    if n_neighbors is None:
        return None if n <= ALL_PAIRS else NEIGHBORS
    if isinstance(n_neighbors, bool) or not hasattr(n_neighbors, "__index__") or n_neighbors < 1:
        raise InvalidOption(f"n_neighbors is {n_neighbors!r}: expected a whole number of at least 1")
    return int(n_neighbors) if n_neighbors < n - 1 else None


def points(X: Any, metric: str) -> Floats:
    """Points whose Euclidean distances are looked at: for the cosine distance, of length 1.

    Raises
    ------
    InvalidOption
        If there is no such metric.
    InvalidProblem
        If X is no matrix of finite numbers, or a row is 0 and the metric is the cosine distance.
    """
    if metric not in METRICS:
        raise unknown("metric", metric, METRICS)
    X = float_array("X", X.to_numpy() if hasattr(X, "to_numpy") else X, copy=False)
    if X.ndim != 2 or not X.shape[1]:
        raise InvalidProblem(f"X has shape {X.shape}: expected (n, d), a row for each element")
    bad = ~np.isfinite(X.sum(axis=1))
    if bad.any() and not (finite := np.isfinite(X[bad]).all(axis=1)).all():
        row = int(np.flatnonzero(bad)[int(np.argmin(finite))])
        column = int(np.argmin(np.isfinite(X[row])))
        raise InvalidProblem(f"X has {X[row, column]} in row {row}, column {column}: expected finite numbers")
    if metric == "euclidean":
        return np.asarray(X, np.float64)
    length = np.sqrt(np.square(X).sum(axis=1))
    if not length.all():
        raise InvalidProblem(
            f"row {int(np.argmin(length))} of X is 0, without a direction: expected other rows, or metric='euclidean'"
        )
    return np.asarray(X / length[:, None], np.float64)


def scaled(distances: Floats, metric: str) -> Floats:
    """Euclidean distances of `points` as distances of the metric, in place: ``1 - cos`` is half of their square."""
    if metric == "cosine":
        np.square(distances, out=distances)
        distances *= 0.5
    return distances


def with_others(n: int, u: Ints, v: Ints) -> tuple[Ints, Ints]:
    """Listed pairs u < v, and as many others, drawn from all pairs, always the same ones; in lexicographic order."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, n, (2, len(u)))
    keys = np.minimum(a, b) * n + np.maximum(a, b)
    keys = np.union1d(u * n + v, keys[a != b])
    return keys // n, keys % n


def matrix_of_distances(P: Floats, metric: str) -> Floats:
    """All distances, in one matrix."""
    from scipy.spatial.distance import cdist

    n = len(P)
    out = np.empty((n, n)) if check_matrix_fits(n) else np.empty((0, 0))
    step = max(1, (1 << 22) // max(n, 1))
    for start in range(0, n, step):
        scaled(cdist(P[start : start + step], P, out=out[start : start + step]), metric)
    return out


def chosen(threshold: Any, sample: Floats) -> float:
    """The threshold, by default from the distances of some points."""
    if threshold is None:
        return path_threshold(sample)
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not math.isfinite(threshold):
        raise InvalidOption(
            f"threshold is {threshold!r}: expected a finite number, or None to choose one from the data"
        )
    return float(threshold)


def costs_of_points(
    X: Any, threshold: Any, n_neighbors: Any, metric: str
) -> tuple[Floats | None, tuple[Any, ...], float]:
    """(matrix of costs, or None, (u, v, costs) of listed pairs, threshold)."""
    P = points(X, metric)
    k = uses_neighbors(len(P), n_neighbors)
    if k is None:
        matrix = matrix_of_distances(P, metric)
        limit = chosen(threshold, matrix)
        matrix -= limit
        np.fill_diagonal(matrix, 0.0)
        return matrix, (), limit
    limit = chosen(threshold, matrix_of_distances(P[drawn(len(P))], metric))
    u, v = with_others(len(P), *neighbor_pairs(P, k))
    return None, (u, v, scaled(distances_of(P, u, v), metric) - limit), limit

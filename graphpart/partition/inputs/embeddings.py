"""Points, such as embeddings, as a problem: pairs nearer than a threshold attract, pairs farther apart repel.

The cost of a pair is its distance - threshold. Up to some thousand points, all pairs are listed, in one matrix that
becomes that of the problem. Of more points, up to `LARGEST`, all distances are looked at, some rows at a time:

1. Pairs that are not listed cost the mean of those that are about as far apart as most pairs are: a constant, times a
   share of each of the two points. It is 1 if a point has few near pairs, else so small that within its cluster this
   background is a fraction of the attraction (`BACKGROUND`): what drawn pairs make up for varies with the draw, and
   would split clusters that attract little compared with how much others repel.
2. Pairs that are nearer are listed, each with a probability p that is 1 if no element has many such pairs. Of an
   element in a large cluster, about `LISTED` that attract and as many that repel are drawn, nearer ones more probably.
3. A listed pair costs the background, and about 1 / p times what its own cost differs from that, such that the pairs of
   each element add up to what all of its pairs do. If it repels and one of both is in no large cluster, it costs not
   less than 0. So the cost within clusters is nearly that of all pairs, and large clusters, which repel each other by
   many pairs, do so by a share of it: large clusters keep together, and tiny ones apart.

Of even more points, or if `n_neighbors` is given, pairs of nearest neighbours are listed, and as many that are drawn
from all pairs. Neighbours alone attract, and would join everything that they connect. The pairs drawn stand for the
others. Clusters of a few elements are not found so if they are many (docs/explanation/tried.md).

The threshold is chosen from the distances of at most 500 points to all, always the same ones (`thresholds.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption, InvalidProblem, unknown
from graphpart.partition.inputs.arrays import check_matrix_fits, float_array
from graphpart.partition.inputs.far_thresholds import told_threshold
from graphpart.partition.inputs.neighbors import blocks_of_squares, distances_of, neighbor_pairs, squares_of
from graphpart.partition.inputs.texts import are_texts, vectors_of_texts
from graphpart.partition.inputs.thresholds import drawn, drawn_copies, given_threshold, threshold_of_points

__all__ = [
    "ALL_PAIRS", "METRICS", "NEIGHBORS", "count_of", "drawn_pairs", "points", "sample_of_distances", "scaled",
    "uses_neighbors", "with_others",
]  # fmt: skip

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
METRICS = ("cosine", "euclidean")
ALL_PAIRS = 3000  # points up to which all pairs are listed by default
LARGEST = 50_000  # points up to which all distances are looked at by default
NEIGHBORS = 30  # of each of more points
LISTED = 50  # pairs of an element that are drawn, about, if it has many near ones
BACKGROUND = 0.25  # of unlisted pairs in a large cluster, as a share of its attraction


def uses_neighbors(n: int, n_neighbors: Any) -> int | None:
    """How many neighbours are listed; None if all pairs count.

    Raises
    ------
    InvalidOption
        If `n_neighbors` is neither None nor a whole number of at least 1.
    """
    if n_neighbors is None:
        return None if n <= LARGEST else NEIGHBORS
    if isinstance(n_neighbors, bool) or not hasattr(n_neighbors, "__index__") or n_neighbors < 1:
        raise InvalidOption(f"n_neighbors is {n_neighbors!r}: expected a whole number of at least 1")
    return int(n_neighbors) if n_neighbors < n - 1 else None


def points(X: Any, metric: str) -> Any:
    """Points whose Euclidean distances are looked at: for the cosine distance, of length 1; an array, or sparse rows.

    Raises
    ------
    InvalidOption
        If there is no such metric.
    InvalidProblem
        If X is no matrix of finite numbers, or a row is 0 and the metric is the cosine distance.
    """
    if metric not in METRICS:
        raise unknown("metric", metric, METRICS)
    if hasattr(X, "tocsr"):
        return _sparse_points(X, metric)
    if isinstance(X, str):
        raise InvalidProblem("X is one text: expected a list of texts, or numbers with a row for each element")
    if are_texts(X):
        return _sparse_points(vectors_of_texts(X), metric)
    X = float_array("X", X.to_numpy() if hasattr(X, "to_numpy") else X, copy=False)
    if X.ndim != 2 or not X.shape[1]:
        raise InvalidProblem(f"X has shape {X.shape}: expected (n, d), a row for each element, or a list of texts")
    bad = ~np.isfinite(X.sum(axis=1))
    if bad.any() and not (finite := np.isfinite(X[bad]).all(axis=1)).all():
        row = int(np.flatnonzero(bad)[int(np.argmin(finite))])
        column = int(np.argmin(np.isfinite(X[row])))
        raise InvalidProblem(f"X has {X[row, column]} in row {row}, column {column}: expected finite numbers")
    if metric == "euclidean":
        return np.asarray(X, np.float64)
    largest = np.abs(X).max(axis=1)  # squares of very large or very small numbers would be inf or 0
    extreme = (largest > 1e150) | ((largest > 0) & (largest < 1e-150))
    if extreme.any():
        X = X / np.where(extreme, largest, 1.0)[:, None]
    return np.asarray(X / _lengths(X)[:, None], np.float64)


def _sparse_points(X: Any, metric: str) -> Any:
    """The same for a matrix of ``scipy.sparse``, which stays one."""
    from scipy.sparse import csr_array, diags

    X = csr_array(X)
    X = csr_array((float_array("X", X.data, copy=False).astype(np.float64), X.indices, X.indptr), shape=X.shape)
    if not np.isfinite(X.data).all():
        at = int(np.argmin(np.isfinite(X.data)))
        row = int(np.searchsorted(X.indptr, at, side="right")) - 1
        raise InvalidProblem(f"X has {X.data[at]} in row {row}, column {X.indices[at]}: expected finite numbers")
    return X if metric == "euclidean" else csr_array(csr_array(diags(1.0 / _lengths(X))) @ X)


def _lengths(X: Any) -> Floats:
    length = np.sqrt(squares_of(X))
    if not length.all():
        raise InvalidProblem(
            f"row {int(np.argmin(length))} of X is 0, without a direction: expected other rows, or metric='euclidean'"
        )
    return length


def count_of(X: Any) -> int:
    """The number of elements of X: rows of an array or a sparse matrix, or texts."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


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


def drawn_pairs(P: Any, metric: str, limit: float) -> tuple[Ints, Ints, Floats, dict[str, Any]]:
    """(u, v, costs, `missing` or `background` of all pairs) of points, as the docstring of this module says."""
    n = P.shape[0]
    far = _usual(P, metric, limit)
    if far <= 0:  # most pairs attract
        return *(np.zeros(0, np.int64),) * 2, np.zeros(0), {"missing": far}
    rng = np.random.default_rng(0)
    parts: list[tuple[Ints, Ints, Floats]] = []
    rates, (sums, counts), total, others = np.zeros((2, n)), np.zeros((2, n)), 0.0, 0  # sums, counts: of near pairs
    for start, block in blocks_of_squares(P):
        excess = scaled_squares(block, metric)  # excess over the attraction of most pairs; 1 at the threshold
        excess -= limit + far
        excess *= -1.0 / far
        excess[np.arange(len(block)), np.arange(start, start + len(block))] = 0.0
        row, column = np.nonzero(excess >= 0.7)
        value = excess[row, column]
        total += float(excess.sum() - value.sum())
        others += (n - 1) * len(block) - len(value)
        for attracts in (0, 1):
            weights = np.bincount(row, _weight(value) * ((value >= 1) == attracts), len(block))
            rates[attracts, start : start + len(block)] = LISTED / np.maximum(weights, 1e-300)
        sums[start : start + len(block)] = np.bincount(row, (value - 1) * (value >= 1), len(block))
        counts[start : start + len(block)] = np.bincount(row, value >= 1, len(block))
        kept = rng.random(len(row)) < _chance(value, rates, row + start)
        parts.append((row[kept] + start, column[kept].astype(np.int64), value[kept]))
    u, v, value = (np.concatenate(some) for some in zip(*parts, strict=True))
    keys, first = np.unique(np.minimum(u, v) * n + np.maximum(u, v), return_index=True)
    u, v, value = keys // n, keys % n, value[first]
    one, other = (_chance(value, rates, end) for end in (u, v))
    usual = total / others if others else 0.0
    many = rates[1] < 1
    share = np.ones(n)
    share[many] = np.sqrt(np.minimum(1.0, BACKGROUND * sums[many] / counts[many] / (1 - rates[1, many])))
    beside = (1 - usual) * share[u] * share[v]
    value = value - 1
    times = 1 / (one + other - one * other)
    near = value >= 0
    sums += (1 - usual) * np.square(share) * counts
    times[near] = _calibrated(u[near], v[near], (value + beside)[near], times[near], sums)
    costs = far * (beside - (value + beside) * times)
    few = ~(many[u] & many[v])  # of these, no pair attracts only because others were not drawn
    np.maximum(costs, 0.0, out=costs, where=few & (value < 0))
    if not many.any():
        return u, v, costs, {"missing": far * (1 - usual)}
    return u, v, costs - far * beside, {"background": (far * (1 - usual), share)}  # which is added to listed costs


def _calibrated(u: Ints, v: Ints, value: Floats, times: Floats, sums: Floats) -> Floats:
    """Factors of drawn pairs, changed such that the pairs of each element add up to the sum of all of its pairs.

    So the number of drawn pairs of an element does not decide whether it stays in a large cluster.
    """
    n = len(sums)
    known = times <= 1
    rest = sums - np.bincount(u[known], value[known], n) - np.bincount(v[known], value[known], n)
    u, v, value = u[~known], v[~known], value[~known]
    some = times[~known]
    for _ in range(20):
        parts = value * some
        found = np.bincount(u, parts, n) + np.bincount(v, parts, n)
        ratio = np.sqrt(np.clip(rest / np.maximum(found, 1e-300), 0.25, 4.0))
        some = some * ratio[u] * ratio[v]
    times = times.copy()
    times[~known] = some
    return times


def _weight(value: Floats) -> Floats:
    """How probably a pair is drawn: of pairs that repel, mainly those near the threshold."""
    return np.asarray(np.where(value >= 1, np.square(value), np.square(np.square(np.square(value)))))


def _chance(value: Floats, rates: Floats, end: Ints) -> Floats:
    """The probability with which an element draws a pair."""
    return np.minimum(1.0, _weight(value) * rates[(value >= 1).astype(np.int64), end])


def scaled_squares(squares: Floats, metric: str) -> Floats:
    """Squared Euclidean distances of `points` as distances of the metric, in place."""
    if metric == "cosine":
        squares *= 0.5
        return squares
    return np.sqrt(squares, out=squares)


def _usual(P: Any, metric: str, limit: float) -> float:
    """The median cost of a pair."""
    D = sample_of_distances(P, metric)[1]
    return float(np.median(D[np.isfinite(D)])) - limit


def sample_of_distances(P: Any, metric: str, rows: Ints | None = None) -> tuple[Ints, Floats]:
    """Some points, by default those of `drawn`, and their distances to all points; inf to themselves."""
    rows = drawn(P.shape[0]) if rows is None else rows
    D = np.concatenate([scaled_squares(block, metric) for _, block in blocks_of_squares(P, rows)] or [np.zeros((0, 0))])
    D[np.arange(len(rows)), rows] = np.inf
    return rows, D


def matrix_of_distances(P: Any, metric: str) -> Floats:
    """All distances, in one matrix."""
    from scipy.spatial.distance import cdist

    n = P.shape[0]
    out = np.empty((n, n)) if check_matrix_fits(n) else np.empty((0, 0))
    if not isinstance(P, np.ndarray):
        for start, block in blocks_of_squares(P):
            out[start : start + len(block)] = scaled_squares(block, metric)
        out += out.T  # a product of sparse rows may depend on their order in the last bit
        out *= 0.5
        return out
    step = max(1, (1 << 22) // max(n, 1))
    for start in range(0, n, step):
        scaled(cdist(P[start : start + step], P, out=out[start : start + step]), metric)
    return out


def chosen(threshold: Any, P: Any, metric: str) -> tuple[float, str]:
    """The threshold, by default from the distances of some points, and what the problem tells of it."""
    given = given_threshold(threshold)
    if given is None:
        copies = not isinstance(P, np.ndarray)
        rows, D = sample_of_distances(P, metric, drawn_copies(P.shape[0]) if copies else None)
        found = threshold_of_points(rows, D, lambda some: matrix_of_distances(P[some], metric), copies)
        return found, f"{found:.4g} (from the data)"
    if not isinstance(P, np.ndarray):  # texts, of whose topics and copies either may be meant
        return given, f"{given:.4g}"
    return given, told_threshold(given, sample_of_distances(P, metric)[1])


def costs_of_points(
    X: Any, threshold: Any, n_neighbors: Any, metric: str
) -> tuple[Floats | None, tuple[Any, ...], dict[str, Any], str]:
    """(matrix of costs, or None, (u, v, costs) of listed pairs, terms of all others, words about the threshold)."""
    P = points(X, metric)
    n = P.shape[0]
    k = uses_neighbors(n, n_neighbors)
    limit, words = chosen(threshold, P, metric)
    if k is not None:
        u, v = with_others(n, *neighbor_pairs(P, k))
        return None, (u, v, scaled(distances_of(P, u, v), metric) - limit), {"missing": 0.0}, words
    if n > ALL_PAIRS:
        u, v, costs, others = drawn_pairs(P, metric, limit)
        return None, (u, v, costs), others, words
    matrix = matrix_of_distances(P, metric)
    matrix -= limit
    np.fill_diagonal(matrix, 0.0)
    return matrix, (), {}, words

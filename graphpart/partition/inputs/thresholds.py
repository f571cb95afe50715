"""Thresholds between attraction and repulsion, chosen from the values of pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption, InvalidProblem, warn

__all__ = [
    "Path", "distances_of_similarities", "drawn", "drawn_copies", "given_threshold", "otsu_threshold", "path_of",
    "path_threshold", "threshold_of_points", "valley_threshold",
]  # fmt: skip

ELEMENTS = 500  # of which the path is walked, at most
DEEP = 3.0  # standard deviations: shallower valleys may be noise
COPIES, DISTANCES = 2000, 20_000_000  # elements drawn among copies with errors, and their distances to all, at most
SHORTEST = 0.01  # share of the mean distance below which distances count as equal
#: Share of the variance above which a threshold separates clusters. On generated points: at most 0.16 without clusters,
#: or if few points of each were drawn; else at least 0.23.
SEPARATES = 0.2
Among = Callable[[NDArray[np.int64]], NDArray[np.float64]]


def given_threshold(threshold: Any) -> float | None:
    """The threshold as a number, or None if it is to be chosen from the data, which "auto" says, too.

    Raises
    ------
    InvalidOption
        If it is no finite number.
    """
    if threshold is None or (isinstance(threshold, str) and threshold == "auto"):
        return None
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not math.isfinite(threshold):
        raise InvalidOption(
            f"threshold is {threshold!r}: expected a finite number, or None to choose one from the data"
        )
    return float(threshold)


def drawn(n: int, most: int = ELEMENTS) -> NDArray[np.int64]:
    """Indices of at most so many of n elements, in ascending order, always the same ones."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def drawn_copies(n: int) -> NDArray[np.int64]:
    """Indices of more elements, where copies with errors are sought: their valley is flat, and few do not show it."""
    return drawn(n, max(ELEMENTS, min(COPIES, DISTANCES // max(n, 1))))


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


def path_threshold(values: NDArray[np.float64], *, similarity: bool = False) -> float:
    """The threshold whose partition separates near pairs from far pairs best.

    Average linkage joins the two clusters of the smallest mean distance, again and again. If it stops at a distance t,
    the mean distance of any two clusters is at least t: between them, the costs distance - t add up to at least 0, as
    in a partition of least cost. So the steps of average linkage stand for the partitions for all thresholds. For each
    of them, the share of the variance of the logarithm of the distance that lies between joined pairs and cut pairs is
    computed. The threshold is between the step with the largest share and the next one. This is Otsu's
    criterion (1979), applied to the decisions of a partition and to logarithms, so that only ratios of distances count.
    Similarities s become distances max(s) - s.

    Parameters
    ----------
    values : ndarray of float64, shape (n, n)
        Distances or similarities of all pairs; the diagonal is ignored.
    similarity : bool

    Returns
    -------
    float
        The threshold. If all values are equal, this value; 0 if there are no values.

    Notes
    -----
    O(n^2). If there are more than 500 elements, 500 of them are drawn, always the same ones; so clusters that are so
    small that these hardly contain two elements of one are not found.

    Examples
    --------
    >>> x = np.array([0.0, 0.1, 0.2, 2.0, 2.2, 9.0, 9.1, 9.2])
    >>> threshold = path_threshold(np.abs(x[:, None] - x))
    >>> bool(0.2 < threshold < 1.8)
    True
    """
    return path_of(values, similarity).threshold


@dataclass(frozen=True)
class Path:
    """The steps of average linkage, and how well the partition after each of them separates near pairs from far pairs.

    Attributes
    ----------
    heights : ndarray of float64, shape (n - 1,)
        The mean distance of the two clusters that a step joins, in ascending order.
    shares : ndarray of float64, shape (n - 1,)
        The share of the variance of logarithms that lies between joined pairs and cut pairs; 0 if joined pairs are not
        the nearer ones.
    threshold, share : float
        The best threshold, and its share.
    """

    heights: NDArray[np.float64]
    shares: NDArray[np.float64]
    threshold: float
    share: float

    def share_at(self, distance: float) -> float:
        """The share of the partition into clusters whose mean distances are above a distance."""
        steps = int(np.searchsorted(self.heights, distance, side="right"))
        return float(self.shares[steps - 1]) if steps else 0.0


def path_of(values: NDArray[np.float64], similarity: bool = False) -> Path:
    """The path that `path_threshold` walks; of similarities, heights are distances max(s) - s."""
    from scipy.cluster.hierarchy import linkage

    some = drawn(len(values))
    if len(some) < len(values):
        values = values[np.ix_(some, some)]
    n = len(values)
    among = values[np.triu_indices(n, 1)]
    none = np.zeros(0)
    if not among.size:
        return Path(none, none, 0.0, 0.0)
    if not np.isfinite(among).all():
        raise InvalidProblem("a value is not finite: expected finite ones for a threshold")
    distances = float(among.max()) - among if similarity else among
    if distances.min() == distances.max():
        return Path(none, none, float(among[0]), 0.0)
    low = min(0.0, float(distances.min()))  # linkage takes no negative ones
    steps = linkage(distances - low, "average")
    logs = np.zeros((n, n))
    least = SHORTEST * float(np.abs(distances).mean())
    logs[np.triu_indices(n, 1)] = np.log(np.maximum(distances, least))
    logs += logs.T
    shares = _shares(steps, logs)
    middle, share = _middle(steps, shares, least)
    found = float(among.max()) - middle - low if similarity else middle + low
    return Path(steps[:, 2] + low, shares, found, share)


def threshold_of_points(
    rows: NDArray[np.int64], distances: NDArray[np.float64], among: Among, copies: bool = False
) -> float:
    """The threshold for n points, from the distances of some of them to all.

    `path_threshold` of those that were drawn, if these are all points, or contain several elements of most clusters:
    then at least one of a hundred pairs is below it, and it separates near pairs from far pairs. Else, and of texts,
    `valley_threshold`: the clusters of texts are to be copies with errors, but texts of a few words have larger
    clusters of those that share some words.

    Parameters
    ----------
    rows : ndarray of int64, shape (m,)
        The points that were drawn.
    distances : ndarray of float64, shape (m, n)
        inf from a point to itself.
    among : callable
        The square matrix of distances of the points with given indices; its diagonal is ignored.
    copies : bool
        Whether points are texts, or sparse rows, which mostly are those of texts.
    """
    finite = distances[np.isfinite(distances)]
    if finite.size and not finite.any():
        return 1.0  # all points are equal, and any threshold above 0 joins them
    square = distances[:, rows].copy()
    np.fill_diagonal(square, 0.0)
    walked = path_of(square)
    path = walked.threshold
    separates = walked.share > SEPARATES and np.count_nonzero(finite <= path) > 0.01 * finite.size
    if (len(rows) == distances.shape[1] or separates) and not (copies and len(rows) >= 100):  # fewer have no valley
        return path
    valley, depth = valley_threshold(rows, distances, among)
    if copies and depth < DEEP and len(rows) >= ELEMENTS:
        warn(
            "distances within clusters and to others are not clearly apart, so that the threshold from the data may be "
            "far off: compare with larger and smaller values of threshold"
        )
    return path if valley is None else valley


def distances_of_similarities(
    values: NDArray[np.float64], own: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.float64], float]:
    """(some elements, their distances to all, the similarity at distance 0), as `threshold_of_points` takes them.

    Distance 0 is the similarity of each element with itself in `own`, shape (n,), if all of these are equal and no pair
    has a larger one; else it is the largest similarity of a pair of theirs.
    """
    rows = drawn(len(values))
    some = values[rows]
    some[np.arange(len(rows)), rows] = -np.inf
    top = float(some.max(initial=-np.inf)) if len(values) > 1 else 0.0
    near = 1e-6 * abs(top)
    if own.dtype.kind in "fiu" and len(own) and np.ptp(own) <= near and own[0] >= top - near:
        top = max(top, float(own[0]))
    with np.errstate(invalid="ignore"):
        return rows, top - some, top


def valley_threshold(
    rows: NDArray[np.int64], distances: NDArray[np.float64], among: Among
) -> tuple[float | None, float]:
    """The threshold in the valley between the distances at which clusters grow and those at which they meet others,
    None if there is none; and the depth of the valley, in standard deviations, inf if all points are equal.

    Average linkage joins each drawn point and its 50 nearest ones. The distances at which the cluster of the
    drawn point is joined with another one have a histogram with two peaks: errors within clusters, and the nearest
    other clusters. The valley between is about where average linkage has its best F1, for clusters of two as of
    hundreds. Distances of pairs do not show it, as nearly all of them are between clusters. A join into a cluster of s
    elements counts s ** (-2 / 3), since each of them sees it: with 1 / s, the peak of clusters of thirty is lost in
    noise; with 1, the one of pairs among joins with others.

    The deepest valley counts: the place where the square root of the histogram is farthest below the highest place on
    its left and the highest one on its right. Such roots have about the same standard deviation everywhere. Of the
    places that are as deep but for one standard deviation or a fifth, the nearest is taken. Copies almost without
    errors count only if there is no valley without them. Beyond a threshold, there are at least a hundredth of the
    joins, since a valley below a few far ones is between groups of clusters.

    Parameters
    ----------
    rows, distances, among
        See `threshold_of_points`.

    Notes
    -----
    O(m n) for m drawn points.
    """
    from scipy.cluster.hierarchy import linkage

    finite = distances[np.isfinite(distances)]
    different = finite[finite > 1e-9 * float(finite.max(initial=0.0))]  # copies are at 0 up to rounding
    if not len(different):
        return None, math.inf
    scale = float(np.median(different))
    count = min(50, distances.shape[1] - 1)
    upper = np.triu_indices(count + 1, 1)
    joins = []
    for row, values in zip(rows.tolist(), distances, strict=True):
        near = np.argpartition(values, count - 1)[:count]
        cluster, apart = 0, among(np.append(row, near))[upper]
        apart = np.clip(apart, 0.0, 2 * scale)  # pairs that are required to be cut are infinitely far
        steps = linkage(apart, "average")
        for step, (one, other, height, size) in enumerate(steps.tolist()):
            if cluster in (one, other):
                joins.append((height, size ** (-2 / 3)))
                cluster = count + 1 + step
    heights, weights = np.array(joins).T
    step_width = scale / 75  # a fifth of the width of a window
    edges = np.arange(157) * step_width
    for least in (0.05 * scale, 0.0):
        kept = heights >= least
        numbers = np.histogram(heights[kept], edges, weights=weights[kept])[0]
        roots = np.sqrt(np.maximum(np.convolve(numbers, np.ones(5), "valid"), 0.0))
        middles = (np.arange(len(roots)) + 2.5) * step_width
        left, right = np.maximum.accumulate(roots), np.maximum.accumulate(roots[::-1])[::-1]
        depths = 2 * np.minimum(left - roots, right - roots)  # in standard deviations of a count
        beyond = np.cumsum(numbers[::-1])[::-1][2 : 2 + len(roots)]
        depths[beyond < 0.01 * numbers.sum()] = 0.0
        deepest = float(depths.max())
        if deepest > 1:
            return float(middles[np.argmax(depths >= deepest - min(1.0, 0.2 * deepest))]), deepest
    return None, 0.0


def _shares(steps: NDArray[np.float64], logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of the variance between joined pairs and cut pairs after each step; 0 if joined pairs are farther."""
    n = len(logs)
    members = {a: np.array([a]) for a in range(n)}
    pairs, total, variance = n * (n - 1) // 2, float(logs.sum()) / 2, float(logs[np.triu_indices(n, 1)].var())
    joined, inside = 0, 0.0
    shares = np.zeros(n - 1)
    for k in range(n - 2):
        a, b = (members.pop(int(x)) for x in steps[k, :2])
        inside += float(logs[np.ix_(a, b)].sum())
        joined += len(a) * len(b)
        members[n + k] = np.concatenate([a, b])
        between = inside / joined - (total - inside) / (pairs - joined)
        if between < 0 < variance:
            shares[k] = joined / pairs * (1 - joined / pairs) * between**2 / variance
    return shares


def _middle(steps: NDArray[np.float64], shares: NDArray[np.float64], least: float) -> tuple[float, float]:
    """A value between the step of average linkage after which the share of the variance is largest, and the next one;
    and that share.

    It is a third of the way in logarithms, since other elements may have clusters that are nearer to each other.
    Distances below `least` count as that, so equal elements and almost equal ones have the same threshold. Steps that
    differ by rounding only count as one.
    """
    heights = np.maximum(steps[:, 2], least)
    allowed = np.where(heights[1:] > heights[:-1] * (1 + 1e-9), shares[:-1], 0.0)
    k = int(allowed.argmax()) if allowed.size else 0
    if not allowed.size or allowed[k] <= 0:
        return 0.5 * float(steps[0, 2]), 0.0  # nothing is joined
    low, high = heights[k : k + 2].tolist()
    return math.cbrt(low) ** 2 * math.cbrt(high), float(allowed[k])

"""Thresholds between attraction and repulsion, chosen from the values of pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption, InvalidProblem

__all__ = [
    "Path", "distances_of_similarities", "drawn", "given_threshold", "otsu_threshold", "path_of", "path_threshold",
    "tail_threshold", "threshold_of_points",
]  # fmt: skip

ELEMENTS = 500  # of which the path is walked, at most
SHORTEST = 0.01  # share of the mean distance below which distances count as equal
#: Share of the variance above which a threshold separates clusters. On generated points: at most 0.16 without clusters,
#: or if few points of each were drawn; else at least 0.23.
SEPARATES = 0.2


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


def drawn(n: int) -> NDArray[np.int64]:
    """Indices of at most 500 of n elements, in ascending order, always the same ones."""
    if n <= ELEMENTS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, ELEMENTS, replace=False))


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


def threshold_of_points(rows: NDArray[np.int64], distances: NDArray[np.float64], copies: bool = False) -> float:
    """The threshold for n points, from the distances of some of them to all.

    `path_threshold` of those that were drawn, if these are all points, or contain several elements of most clusters:
    then at least one of a hundred pairs is below it, and it separates near pairs from far pairs, or more pairs are
    below it than chance explains. Else `tail_threshold`. This is also the threshold of texts, whose clusters are to be
    copies with errors: texts of a few words have larger clusters of those that share some words.

    Parameters
    ----------
    rows : ndarray of int64, shape (m,)
        The points that were drawn.
    distances : ndarray of float64, shape (m, n)
        inf from a point to itself.
    copies : bool
        Whether points are texts, or sparse rows, which mostly are those of texts.
    """
    square = distances[:, rows].copy()
    np.fill_diagonal(square, 0.0)
    walked = path_of(square)
    path = walked.threshold
    finite = distances[np.isfinite(distances)]
    separates = walked.share > SEPARATES and np.count_nonzero(finite <= path) > 0.01 * finite.size
    if (len(rows) == distances.shape[1] or separates) and not (copies and len(rows) >= 100):  # fewer tell no chance
        return path
    tail = tail_threshold(finite, path, copies)
    return path if tail is None else tail


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


def tail_threshold(values: NDArray[np.float64], path: float, copies: bool = False) -> float | None:
    """The distance below which chance explains a fifth of the pairs, or at which it explains a quarter of those of
    copies; None if `path` is better.

    Most pairs are far apart. The lower tail of a normal distribution through two quantiles of all distances says how
    many of them are near each other by chance. At a distance where four times as many are, three of four pairs are of
    one cluster. Not half of them, since a wrong pair joins whole clusters. Texts of different things are more often
    near each other than a normal distribution says, vectors hardly; so all nearer pairs of vectors count. The quantiles
    are as low as possible, since distances of real data have heavier tails than a normal distribution; if that has its
    middle below the median, they are among the near pairs.

    Parameters
    ----------
    values : ndarray of float64
        Distances of some elements to all.
    path : float
        Another threshold, which is better if a share of the pairs is below it that chance does not explain.
    copies : bool
        See `threshold_of_points`.
    """
    from scipy.special import ndtr, ndtri

    values = np.sort(values)
    count = len(values)
    for low, high, check in ((0.01, 0.1, 0.5), (0.25, 0.5, 0.9)):
        first, second, third = (float(values[int(q * count)]) for q in (low, high, check))
        spread = (second - first) / float(ndtri(high) - ndtri(low))
        middle = first - spread * float(ndtri(low))
        if spread <= 0 or middle + spread * float(ndtri(check)) < 0.99 * third:
            continue
        below = int(np.searchsorted(values, path, side="right"))
        if below > 0.01 * count and count * float(ndtr((path - middle) / spread)) < 0.5 * below:
            return None
        ends = int(low * count)
        at = np.unique(np.concatenate([np.arange(0, ends, 25), [ends]]))
        chance = np.diff(count * ndtr((values[at] - middle) / spread))
        below_a_fifth = np.cumsum(chance) <= 0.2 * at[1:]
        near = _rising(np.diff(at), chance, 0.25) if copies else np.flatnonzero(below_a_fifth) + 1
        if len(near):
            end = float(values[at[near[-1]]])
            more = float(ndtr((end - middle) / spread)) + 12.5 / count  # half of a step by chance
            return 0.5 * (end + max(end, middle + spread * float(ndtri(more))))
    return None


def _rising(numbers: NDArray[np.int64], chance: NDArray[np.float64], share: float) -> NDArray[np.int64]:
    """The ends of the steps at which chance explains at most this share of the pairs.

    Neighbouring steps are pooled such that the share rises.
    """
    pools: list[tuple[float, int, int]] = []
    for step, (by_chance, number) in enumerate(zip(chance.tolist(), numbers.tolist(), strict=True)):
        pool = (by_chance, number, step + 1)
        while pools and pools[-1][0] * pool[1] > pool[0] * pools[-1][1]:
            last = pools.pop()
            pool = (last[0] + pool[0], last[1] + pool[1], pool[2])
        pools.append(pool)
    return np.array([end for by_chance, number, end in pools if by_chance <= share * number], np.int64)


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

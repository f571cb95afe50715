"""Near duplicates among vectors or MinHash signatures: clusters in which all are near each other, and their medoids.

1. The pairs within the threshold are found: of vectors as `partition/problem/neighbors.py` says; of signatures, those
   that are equal in one of several bands of hash values, where a pair at the threshold is found with probability 0.995.
2. The cost of such a pair is its distance - threshold. In each connected component of up to `WHOLE` elements, all
   other pairs are listed, too, with their own costs; elsewhere they cost as much as the threshold, as at twice the
   distance. So a chain of pairs, each of them near, does not make one cluster of elements that are far apart.
3. The set partition problem is solved, and the medoid of each cluster represents it.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption, InvalidProblem, unknown, warn
from graphpart.machine import CHUNK
from graphpart.partition.inputs.arrays import names_of
from graphpart.partition.inputs.embeddings import METRICS, matrix_of_distances, points, sample_of_distances, scaled
from graphpart.partition.inputs.neighbors import MIX, distances_of, equal_keys, near_pairs
from graphpart.partition.inputs.thresholds import drawn_copies, given_threshold, threshold_of_points
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.background import background_of
from graphpart.partition.problem.derived import connected
from graphpart.partition.problem.requirements import RequirementOptions, with_options
from graphpart.records.results import NearDuplicates, extended
from graphpart.solve import run

__all__ = ["near_duplicates"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
WHOLE = 300  # elements of a component of which all pairs are listed
GAP = 2.0  # ratio of the distances beside a gap between copies and others
FEW, COPIES = 0.01, 20  # pairs below the gap at least and at most, per element that is looked at; more are no copies
WORDS = 10  # a sparse row with fewer entries is probably of whole words, since titles have about as many
FAR = 0.65  # distance of texts of which a third of the pieces are equal: 0.26 to 0.5 where words have one or two errors
SOME, TOPICS = 20, 0.25  # texts, and share of their pairs within the threshold, from which on clusters are topics
EQUAL = 0.001  # share of the mean distance below which distances count as equal


@with_options(RequirementOptions)
def near_duplicates(
    X: Any,
    threshold: float | None = None,
    metric: str = "cosine",
    nodes: Iterable[Hashable] | None = None,
    *,
    method: str = "auto",
    time_limit: float | None = None,
    **requirements: Unpack[RequirementOptions],
) -> NearDuplicates:
    """Clusters of near duplicates, and a representative of each.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, d), or sequence of n str
        Vectors, such as embeddings of texts or pictures; or the hash values of MinHash signatures. Of texts, the
        vectors say which pieces of two and three characters are in them.
    threshold : float, optional
        The distance up to which two elements count as near duplicates: 1 - the similarity, unless Euclidean. Default:
        for texts and sparse matrices, as in :meth:`graphpart.SetPartition.from_embeddings`; for vectors, and for texts
        of which that would join those that only share some words, in the gap between the distances of copies and all
        others. If there is none, or the metric is ``"minhash"``, give it.
    metric : {"cosine", "euclidean", "minhash"}
        With ``"minhash"``, rows of X are signatures, and the distance is the share of different hash values: an
        estimate of 1 - the Jaccard similarity of the hashed sets.
    nodes : iterable of n hashables, optional
        Names of the elements; default: the index of a data frame of pandas, else 0, ..., n - 1.
    method, time_limit
        As for :func:`graphpart.solve`. The limit is that of the search, which is after the pairs within the threshold
        are found; the `seconds` of the result include both.
    **requirements
        What clusters must obey, as :meth:`graphpart.SetPartition.require` takes it.

    Returns
    -------
    NearDuplicates
        A result with `representatives`, `kept` and a data frame with the representative of each element.

    Raises
    ------
    InvalidProblem
        If X has not the shape (n, d), or a number is not finite; the message names the row.
    InvalidOption
        If the metric is unknown, the threshold is not positive, or none is given and the distances have no gap.

    Warns
    -----
    GraphPartWarning
        If a large share of all pairs is within the threshold, as when a similarity is given.

    Notes
    -----
    A pair costs its distance less the threshold, but at most the threshold. In
    :meth:`graphpart.SetPartition.from_embeddings`, far pairs cost what their distances say, so clusters may differ.

    Unlike a connected component, a cluster contains no chain of near pairs whose ends are far apart, unless most of its
    pairs are near. All near pairs are found in up to 12 dimensions, of up to 20,000 elements, and of sparse matrices
    and texts; of more vectors, each pair at the threshold with a probability of 0.995, and nearer ones more probably,
    in O(n d) time for each of some tens of passes if most pairs are several times as far apart as the threshold.

    Examples
    --------
    >>> X = [[1.0, 0.0], [1.0, 0.01], [0.0, 1.0], [1.0, 0.02]]
    >>> r = near_duplicates(X)  # in the gap between 0.0001 and 0.98
    >>> r.labels.tolist(), r.kept
    ([0, 0, 1, 0], [1, 2])
    """
    began, threshold = time.perf_counter(), given_threshold(threshold)
    given = threshold is not None
    if threshold is not None and threshold <= 0:
        raise InvalidOption(f"threshold is {threshold:g}: expected a distance above 0, or None to choose one")
    if nodes is None and hasattr(getattr(X, "index", None), "tolist"):
        nodes = X.index.tolist()
    P: Any
    if metric == "minhash":
        if threshold is None:
            raise InvalidOption("minhash without threshold: expected the largest share of different values, as 0.2")
        P = _signatures(X)
        _check_threshold(P, threshold, _differing, similarity=True)
        u, v = _equal_bands(P, 1 - threshold)
        distance = _differing
    elif metric in METRICS:
        P = points(X, metric)
        if not given:
            _check_pieces(X, P)

        def distance(P: Any, u: Ints, v: Ints) -> Floats:
            return scaled(distances_of(P, u, v), metric)

        if threshold is None:
            threshold = _chosen(P, metric, not hasattr(X, "tocsr"))
        else:
            _check_threshold(P, threshold, distance, similarity=metric == "cosine")
        u, v, _ = near_pairs(P, float(np.sqrt(2 * threshold)) if metric == "cosine" else threshold)
    else:
        raise unknown("metric", metric, (*METRICS, "minhash"))
    n = P.shape[0]
    names = names_of(nodes, n)
    costs = distance(P, u, v) - threshold
    u, v, costs = u[costs <= 0], v[costs <= 0], costs[costs <= 0]
    a, b = _others(n, u, v)
    pairs = np.concatenate([u, a]), np.concatenate([v, b])
    costs = np.concatenate([costs, np.minimum(distance(P, a, b) - threshold, threshold)])
    problem = SetPartition._of_pairs(names, *pairs, costs, background_of(names, threshold), dense=False)
    result = run(problem.require(**requirements), method, time_limit=time_limit)
    if not given:
        result = replace(result, message=f"{result.message}; threshold {threshold:.4g} (from the data)")
    medoids = _medoids(P, result.labels, distance)
    seconds = time.perf_counter() - began
    return extended(NearDuplicates, result, representatives=medoids, seconds=seconds)  # type: ignore[arg-type]


def _chosen(P: Any, metric: str, texts: bool) -> float:
    """The threshold of texts as for their clusters; else in the lowest gap of the distances, if copies are below it.

    Also texts have it in the gap if it is that of topics, of texts that share some words: far away, or of many pairs.
    """
    copies = not isinstance(P, np.ndarray)
    rows, D = sample_of_distances(P, metric, drawn_copies(P.shape[0]) if copies else None)
    if copies:
        found = threshold_of_points(rows, D, lambda some: matrix_of_distances(P[some], metric), copies)
        many = len(rows) >= SOME and np.count_nonzero(found >= D) > TOPICS * D.size
        if not texts or (found <= FAR and not many):
            return found
    values = np.sort(D[np.isfinite(D)])
    if not len(values) or not values[-1]:
        return 1.0  # a single element, or only equal ones
    values = np.maximum(values, EQUAL * float(values.mean()))
    gaps = np.flatnonzero(values[1:] >= GAP * values[:-1])
    gaps = gaps[(gaps + 1 >= max(2, FEW * len(rows))) & (gaps < COPIES * len(rows))]
    if len(gaps):
        return float(np.sqrt(values[gaps[0]] * values[gaps[0] + 1]))
    low, middle = np.quantile(np.min(D, axis=1), [0.1, 0.5])
    raise InvalidOption(
        "near_duplicates has no threshold, and no gap in the distances tells copies from others: expected the largest "
        f"distance of near duplicates; of one element in ten, the nearest other one is within {low:.3g}, of half of "
        f"them within {middle:.3g}"
    )


def _check_pieces(X: Any, P: Any) -> None:
    """Warn of empty texts, and of sparse rows with so few entries that these are words rather than pieces of words."""
    if isinstance(P, np.ndarray):
        return
    if not hasattr(X, "tocsr"):
        empty = sum(not text.strip() for text in X)
        if empty > 1:
            warn(f"{empty} texts are empty, and so near duplicates of each other: leave them out if they are not")
        return
    middle = float(np.median(np.diff(P.indptr)))
    if P.shape[0] > 100 and middle < WORDS:
        warn(
            f"half of the rows have at most {middle:.0f} entries, as of whole words: a typing error then "
            "changes all of a word; of pieces of words, TfidfVectorizer(analyzer='char_wb', ngram_range=(2, 3)), it "
            "changes few"
        )


def _check_threshold(P: Any, threshold: float, distance: Any, *, similarity: bool) -> None:
    """Warn if a large share of drawn pairs is within the threshold: it is probably meant as a similarity."""
    n = P.shape[0]
    if n < 20:
        return
    u, step = np.random.default_rng(0).integers(0, [[n], [n - 1]], (2, 2000))
    share = float((distance(P, u, (u + 1 + step) % n) <= threshold).mean())
    if share <= (0.1 if similarity and threshold >= 0.5 else 0.5):  # 0.5: half the way to texts without common pieces
        return
    text = f"{share:.0%} of the pairs are within the threshold {threshold:g}: the threshold is a distance"
    if similarity:
        text += ", 1 - similarity"
        if 0.5 < threshold < 1:
            text += f"; for a similarity of {threshold:g}, give {1 - threshold:.3g}"
    warn(f"{text}; duplicates are far nearer than other pairs")


def _others(n: int, u: Ints, v: Ints) -> tuple[Ints, Ints]:
    """The pairs of components of up to `WHOLE` elements that are not among the given ones."""
    labels = connected(n, u.astype(np.int32), v.astype(np.int32))
    size = np.bincount(labels, minlength=1)
    order = np.argsort(labels, kind="stable")
    order = order[(size[labels[order]] > 2) & (size[labels[order]] <= WHOLE)]
    last = np.searchsorted(labels[order], labels[order], side="right")
    count = last - np.arange(len(order)) - 1
    first = np.repeat(np.arange(len(order)), count)
    offset = np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)
    a, b = order[first], order[first + 1 + offset]
    keys = np.setdiff1d(np.minimum(a, b) * n + np.maximum(a, b), u * n + v)
    return keys // max(n, 1), keys % max(n, 1)


def _medoids(P: Any, labels: NDArray[np.int32], distance: Any) -> Ints:
    """The element of each cluster with the smallest sum of distances to the others; of large ones, to some others."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    medoids = order[starts]
    sizes = np.diff(np.append(starts, len(labels)))
    for k in np.flatnonzero(sizes > 2).tolist():
        members = order[starts[k] : starts[k] + sizes[k]]
        others = members[:: -(-len(members) // 500)]
        u, v = np.repeat(members, len(others)), np.tile(others, len(members))
        medoids[k] = members[int(distance(P, u, v).reshape(len(members), -1).sum(axis=1).argmin())]
    return medoids


# ----------------------------------------------------------------------------------------------------------- signatures


def _signatures(X: Any) -> NDArray[np.uint64]:
    array = np.asarray(X)
    if array.ndim != 2 or not array.shape[1] or array.dtype.kind not in "iu":
        raise InvalidProblem(f"X has shape {array.shape} and dtype {array.dtype}: expected integers, (n, hash values)")
    return array.astype(np.uint64)


def _differing(P: NDArray[np.uint64], u: Ints, v: Ints) -> Floats:
    """The shares of hash values that differ."""
    out = np.empty(len(u))
    step = max(1, CHUNK // P.shape[1])
    for start in range(0, len(u), step):
        part = slice(start, start + step)
        out[part] = (P[u[part]] != P[v[part]]).mean(axis=1)
    return out


def _equal_bands(P: NDArray[np.uint64], similarity: float) -> tuple[Ints, Ints]:
    """Pairs that are equal in one of the bands; as few and wide bands as find nearly all pairs of a similarity."""
    n, values = P.shape
    width = 1
    for wider in range(2, values + 1):
        if 1 - (1 - max(similarity, 0.0) ** wider) ** (values // wider) >= 0.995:
            width = wider
    keys: Ints = np.zeros(0, np.int64)
    for first in range(0, values - width + 1, width):
        key = P[:, first].copy()
        for column in range(first + 1, first + width):
            key = key * MIX + P[:, column]
        keys = np.union1d(keys, equal_keys(key))
    return keys // max(n, 1), keys % max(n, 1)

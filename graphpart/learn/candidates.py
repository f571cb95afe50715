"""Selection of pairs: training pairs from labelled elements, and candidate pairs if all pairs are too many.

Pairs are arrays of int64 of shape (m, 2), with the smaller index first, in lexicographic order, each pair once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidOption, InvalidProblem, MissingDependency
from graphpart.metrics import label_codes

__all__ = ["cut_into_problems", "equal_keys", "nearest_neighbors", "training_pairs"]

Pairs = NDArray[np.int64]


def training_pairs(
    y: ArrayLike, size: int | None = None, *, balanced: bool = True, seed: int | None = None, missing: Any = -1
) -> tuple[Pairs, NDArray[np.int8]]:
    """Pairs of labelled elements, and whether they have the same label.

    Parameters
    ----------
    y : array_like, shape (n,)
        Labels of elements.
    size : int, optional
        Largest number of different pairs, which are drawn at random. Default: all pairs.
    balanced : bool
        If `size` is given: draw ``size // 2`` joins and as many cuts (all of them if there are fewer), instead of
        drawing from all pairs uniformly.
    seed : int, optional
    missing : any
        The label of elements without one, which are in no pair; None and NaN always count as missing.

    Returns
    -------
    pairs : ndarray of int64, shape (m, 2)
    same : ndarray of int8, shape (m,)
        1 for equal labels, 0 for different ones.

    Notes
    -----
    O(n log n + m log m); pairs that are not drawn are never listed.

    Examples
    --------
    >>> pairs, same = training_pairs(["x", "y", None, "x"])
    >>> pairs.tolist(), same.tolist()
    ([[0, 1], [0, 3], [1, 3]], [0, 1, 0])
    """
    codes = label_codes(y, missing)
    labelled = np.flatnonzero(codes >= 0)
    order = labelled[np.argsort(codes[labelled], kind="stable")]
    n = len(order)
    # Element p of the order forms joins with the elements p+1 .. end_p - 1, and cuts with end_p .. n - 1.
    _, sizes = np.unique(codes[order], return_counts=True)
    end = np.repeat(np.cumsum(sizes), sizes)
    joins, cuts = end - np.arange(n) - 1, n - end
    if size is None:
        chosen_joins = chosen_cuts = None
    else:
        if size < 0:
            raise InvalidOption(f"size is {size}: expected at least 0")
        rng = np.random.default_rng(seed)
        n_joins, n_cuts = int(joins.sum()), int(cuts.sum())
        if balanced:
            chosen_joins = _draw(rng, n_joins, size // 2)
            chosen_cuts = _draw(rng, n_cuts, size // 2)
        else:
            chosen = _draw(rng, n_joins + n_cuts, size)
            chosen_joins, chosen_cuts = chosen[chosen < n_joins], chosen[chosen >= n_joins] - n_joins
    parts = [_unrank(joins, np.arange(n) + 1, chosen_joins), _unrank(cuts, end, chosen_cuts)]
    pairs = np.sort(order[np.concatenate(parts)], axis=1)
    same = np.repeat(np.array([1, 0], np.int8), [len(part) for part in parts])
    at = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return pairs[at], same[at]


def cut_into_problems(
    y: ArrayLike,
    number: int = 50,
    size: int = 60,
    *,
    classes: int | None = None,
    seed: int | None = None,
    missing: Any = -1,
) -> list[NDArray[np.int64]]:
    """Samples of labelled elements, each a training problem of its own.

    Parameters
    ----------
    y : array_like, shape (n,)
        Labels of elements.
    number : int
        Number of samples.
    size : int
        Largest number of elements of a sample.
    classes : int, optional
        The number of classes in a sample, which are drawn at random. Default: a random number between 2 and all for
        each sample, so that learned costs are suitable for problems with few and with many classes.
    seed : int, optional
    missing : any
        The label of elements without one, which are in no sample; None and NaN always count as missing.

    Returns
    -------
    list of ndarray of int64
        Indices in ascending order; of at least two elements each. Empty if there are no two labelled elements.

    Examples
    --------
    >>> [sample.tolist() for sample in cut_into_problems(["x", "y", None, "x"], 1)]
    [[0, 1, 3]]
    """
    if number < 1 or size < 2 or (classes is not None and classes < 1):
        raise InvalidOption(f"number is {number}, size is {size}, classes is {classes}: expected at least 1, 2 and 1")
    codes = label_codes(y, missing)
    known = np.unique(codes[codes >= 0])
    rng = np.random.default_rng(seed)
    samples = []
    for _ in range(number if len(known) else 0):
        least = min(2, len(known))
        many = int(rng.integers(least, len(known) + 1)) if classes is None else min(classes, len(known))
        among = np.flatnonzero(np.isin(codes, rng.choice(known, many, replace=False)))
        if len(among) > 1:
            samples.append(np.sort(rng.choice(among, min(size, len(among)), replace=False)))
    return samples


def _draw(rng: np.random.Generator, population: int, size: int) -> NDArray[np.int64]:
    return (
        np.sort(rng.choice(population, min(size, population), replace=False)) if population else np.zeros(0, np.int64)
    )


def _unrank(counts: NDArray[np.int64], partner: NDArray[np.int64], ranks: NDArray[np.int64] | None) -> Pairs:
    """The pairs of given ranks (None: all) where element p comes with the partners partner_p, partner_p + 1, ..."""
    before = np.cumsum(counts) - counts
    if ranks is None:
        ranks = np.arange(int(counts.sum()))
        first = np.repeat(np.arange(len(counts)), counts)
    else:
        first = np.searchsorted(np.cumsum(counts), ranks, side="right")
    return np.stack([first, partner[first] + ranks - before[first]], axis=1)


def equal_keys(*keys: ArrayLike, largest: int | None = None) -> Pairs:
    """All pairs of elements that share a key.

    Parameters
    ----------
    *keys : array_like, shape (n,)
        One key for each element, such as a postcode or the sound of a name; a pair is a candidate if any of the given
        arrays has equal keys for both. None and NaN are equal to nothing.
    largest : int, optional
        Ignore a key if more elements than this share it: it would give many pairs and little information.

    Returns
    -------
    ndarray of int64, shape (m, 2)

    Examples
    --------
    >>> equal_keys(["a", "b", "a", None], [1, 1, 2, 3]).tolist()
    [[0, 1], [0, 2]]
    """
    found, n = [np.zeros(0, np.int64)], None
    for key in keys:
        codes = label_codes(key, missing=None)
        if n is not None and len(codes) != n:
            raise InvalidProblem(f"keys for {n} and for {len(codes)} elements: expected equally many")
        n = len(codes)
        known = np.flatnonzero(codes >= 0)
        order = known[np.argsort(codes[known], kind="stable")]
        _, sizes = np.unique(codes[order], return_counts=True)
        if largest is not None:
            order, sizes = order[np.repeat(sizes <= largest, sizes)], sizes[sizes <= largest]
        place = np.arange(len(order))
        pairs = order[_unrank(np.repeat(np.cumsum(sizes), sizes) - place - 1, place + 1, None)]
        found.append(pairs.min(axis=1) * n + pairs.max(axis=1))
    return _split(np.concatenate(found), n or 1)


def nearest_neighbors(X: ArrayLike, k: int, metric: Any = "euclidean") -> Pairs:
    """All pairs in which one element is among the k nearest neighbours of the other, by scikit-learn.

    Parameters
    ----------
    X : array_like or scipy.sparse matrix, shape (n, V)
        Attributes of elements.
    k : int
    metric : str or callable
        As for `sklearn.neighbors.NearestNeighbors`.

    Returns
    -------
    ndarray of int64, shape (m, 2)
        At most n k pairs.

    Examples
    --------
    >>> nearest_neighbors([[0.0], [1.0], [5.0]], 1).tolist()
    [[0, 1], [1, 2]]
    """
    try:
        from sklearn.neighbors import NearestNeighbors
    except ImportError:
        raise MissingDependency("scikit-learn", "learn", "the search for nearest neighbours") from None
    if k < 1:
        raise InvalidOption(f"k is {k}: expected at least 1")
    elements: Any = X if hasattr(X, "tocsr") else np.asarray(X)
    n = elements.shape[0]
    if n < 2:
        return np.zeros((0, 2), np.int64)
    near = NearestNeighbors(n_neighbors=min(k, n - 1), metric=metric).fit(elements).kneighbors(return_distance=False)
    u, v = np.repeat(np.arange(n), near.shape[1]), near.ravel()
    return _split(np.minimum(u, v) * n + np.maximum(u, v), n)


def _split(codes: NDArray[np.int64], n: int) -> Pairs:
    return np.stack(np.divmod(np.unique(codes), n), axis=1)

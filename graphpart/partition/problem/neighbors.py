"""Nearest neighbours of points by Euclidean distance, and pairs of points within a distance.

In few dimensions, a tree of SciPy finds them. In many, the neighbours are found by blocks of the matrix of distances,
or approximately by pynndescent, if it is installed and there are many points. Near pairs are found in the directions of
largest variance, in which no pair is farther apart than in all, and then checked.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["distances_of", "near_pairs", "neighbor_pairs"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TREE = 12  # dimensions up to which a tree is faster than all distances
MANY = 50_000  # points from which on pynndescent is faster than all distances
BLOCK = 1 << 22  # distances that are held at a time: 32 MB
DIRECTIONS = 10  # of largest variance, in which near pairs are looked for


def neighbor_pairs(X: Floats, k: int) -> tuple[Ints, Ints]:
    """Pairs u < v, in lexicographic order, of which one is among the k nearest neighbours of the other."""
    n, dimensions = X.shape
    k = min(k, n - 1)
    if k < 1:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if dimensions <= TREE:
        from scipy.spatial import KDTree

        near = KDTree(X).query(X, k + 1, workers=-1)[1]
    elif n < MANY or (approximate := _approximate(X, k + 1)) is None:
        near = np.concatenate([np.argpartition(block, k, axis=1)[:, : k + 1] for _, block in _blocks(X)])
    else:
        near = approximate
    u, v = np.repeat(np.arange(n), k + 1), near.ravel().astype(np.int64)
    keys = np.unique((np.minimum(u, v) * n + np.maximum(u, v))[u != v])
    return keys // n, keys % n


def near_pairs(X: Floats, distance: float) -> tuple[Ints, Ints, Floats]:
    """All pairs u < v of points whose distance is at most a given one, and their distances."""
    from scipy.spatial import KDTree

    n, dimensions = X.shape
    kept: list[tuple[Ints, Floats]] = [(np.zeros(0, np.int64), np.zeros(0))]
    if n > 1:
        Y = X if dimensions <= DIRECTIONS else _widest(X)
        tree, rows = KDTree(Y), max(1, BLOCK // 64)
        reach = distance * (1 + 1e-9) + 1e-12  # rounding
        for start in range(0, n, rows):
            part = KDTree(Y[start : start + rows])
            found = part.sparse_distance_matrix(tree, reach, output_type="ndarray")
            u, v = found["i"] + start, found["j"]
            u, v = u[u < v], v[u < v]
            exact = distances_of(X, u, v)
            near = exact <= distance
            kept.append((u[near] * n + v[near], exact[near]))
    keys, distances = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    order = np.argsort(keys)
    return keys[order] // max(n, 1), keys[order] % max(n, 1), distances[order]


def distances_of(X: Floats, u: Ints, v: Ints) -> Floats:
    """The distances of pairs, some at a time."""
    out = np.empty(len(u))
    step = max(1, BLOCK // X.shape[1])
    for start in range(0, len(u), step):
        part = slice(start, start + step)
        out[part] = np.sqrt(np.square(X[u[part]] - X[v[part]]).sum(axis=1))
    return out


def _blocks(X: Floats) -> Iterator[tuple[int, Floats]]:
    """Rows of the matrix of squared distances, without the part that is the same in a row."""
    squares = np.square(X).sum(axis=1)
    step = max(1, BLOCK // len(X))
    for start in range(0, len(X), step):
        block = X[start : start + step] @ X.T
        block *= -2.0
        block += squares
        block[np.arange(len(block)), np.arange(start, start + len(block))] = -np.inf  # itself comes first
        yield start, block


def _approximate(X: Floats, k: int) -> Ints | None:
    """Nearest neighbours by pynndescent; None if it is not installed."""
    try:
        from pynndescent import NNDescent
    except ImportError:
        return None
    found: Ints = NNDescent(X.astype(np.float32), n_neighbors=max(k, 15), random_state=0).neighbor_graph[0][:, :k]
    return found


def _widest(X: Floats) -> Floats:
    """The points in the directions of largest variance, whose distances are never larger than those in all."""
    centred = X - X.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    out: Floats = centred @ directions[:, -DIRECTIONS:]
    return out

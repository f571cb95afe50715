"""Nearest neighbours of points by Euclidean distance, and pairs of points within a distance.

In few dimensions, a tree of SciPy finds both. In many, neighbours are found by blocks of the matrix of distances, or
approximately by pynndescent, if it is installed and there are many points. Pairs within a distance are found by blocks,
too, or, of many points, by hashing (Datar et al. 2004): points are projected on some random directions, each of which
is divided into cells, and pairs in the same cells are candidates. This is repeated with other directions until a pair
at the given distance is found with probability `FOUND`; a nearer one is found more probably.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import distinct

__all__ = ["MIX", "blocks_of_squares", "distances_of", "equal_keys", "near_pairs", "neighbor_pairs"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TREE = 12  # dimensions up to which a tree is faster than all distances
MANY = 50_000  # points from which on pynndescent is faster than all distances
BLOCK = 1 << 22  # distances that are held at a time: 32 MB
HASHED = 20_000  # points from which on near pairs are found by hashing
CELL = 4.0  # the width of a cell, in units of the distance
FOUND = 0.995  # probability with which hashing finds a pair at the distance
PASSES = 400  # that hashing takes at most; if that is not enough, blocks are taken
GROUP = 100  # elements of equal keys from which on only those near in their order are paired


def neighbor_pairs(X: Any, k: int) -> tuple[Ints, Ints]:
    """Pairs u < v, in lexicographic order, of which one is among the k nearest neighbours of the other."""
    n, dimensions = X.shape
    k = min(k, n - 1)
    if k < 1:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if dimensions <= TREE and isinstance(X, np.ndarray):
        from scipy.spatial import KDTree

        near = KDTree(X).query(X, k + 1, workers=-1)[1]
    elif n < MANY or not isinstance(X, np.ndarray) or (approximate := _approximate(X, k + 1)) is None:
        # A copy of the nearest ones only: a view would keep the numbers of all points, 8 n bytes for each point.
        near = np.concatenate([np.argpartition(block, k, axis=1)[:, : k + 1].copy() for _, block in _blocks(X)])
    else:
        near = approximate
    u, v = np.repeat(np.arange(n), k + 1), near.ravel().astype(np.int64)
    keys = distinct((np.minimum(u, v) * n + np.maximum(u, v))[u != v])
    return keys // n, keys % n


def near_pairs(X: Any, distance: float) -> tuple[Ints, Ints, Floats]:
    """Pairs u < v of points whose distance is at most a given one, in lexicographic order, and their distances.

    All pairs, in up to 12 dimensions or of up to 20,000 points; else each pair with a probability of at least `FOUND`.
    """
    n, dimensions = X.shape
    if n < 2:
        keys = np.zeros(0, np.int64)
    elif dimensions <= TREE and isinstance(X, np.ndarray):
        from scipy.spatial import KDTree

        keys = KDTree(X).query_pairs(distance * (1 + 1e-9), output_type="ndarray") @ np.array([n, 1], np.int64)
    else:
        plan = None if n < HASHED or not isinstance(X, np.ndarray) else _plan(X, distance)
        keys = _in_blocks(X, distance) if plan is None else _hashed(X, distance, *plan)
    keys = np.sort(keys)
    found = distances_of(X, keys // n, keys % n) if n else np.zeros(0)
    keys, found = keys[found <= distance], found[found <= distance]
    return keys // max(n, 1), keys % max(n, 1), found


def _in_blocks(X: Any, distance: float) -> Ints:
    """Pairs within a distance, and some a little farther apart, as numbers u n + v."""
    n = X.shape[0]
    squares = squares_of(X)
    most = distance**2 + 1e-9 * float(squares.max())  # rounding
    parts = []
    for start, block in _blocks(X):
        block += squares[start : start + len(block), None]
        u, v = np.nonzero(block <= most)
        u += start
        parts.append(u[u < v] * n + v[u < v])
    return np.concatenate(parts)


def _plan(X: Floats, distance: float) -> tuple[int, int] | None:
    """(directions, passes) of hashing such that there are about n candidates in a pass; None if too many passes."""
    n = len(X)
    u, v = np.random.default_rng(1).integers(0, n, (2, 100_000))
    apart = distances_of(X, u, v)[u != v]
    ratio = apart[apart > distance] / distance
    rng = np.random.default_rng(2)
    steps = np.abs(rng.normal(size=4000))
    together = float(np.maximum(0.0, 1 - steps / CELL).mean())
    grid = np.geomspace(1.0, 1e4, 60)  # ratios, for which the probability of one cell is computed
    cell = np.array([np.maximum(0.0, 1 - steps * r / CELL).mean() for r in grid])
    others = np.interp(np.log(ratio), np.log(grid), cell) if len(ratio) else np.zeros(1)
    for directions in range(1, 40):
        passes = int(np.ceil(np.log(1 - FOUND) / np.log1p(-(together**directions))))
        if passes > PASSES:
            return None
        if 0.5 * n * float((others**directions).mean()) <= 2.0:
            return directions, passes
    return None


def _hashed(X: Floats, distance: float, directions: int, passes: int) -> Ints:
    """Pairs within a distance that share all cells in some pass, as numbers u n + v."""
    n, dimensions = X.shape
    rng = np.random.default_rng(0)
    width = CELL * distance
    kept: Ints = np.zeros(0, np.int64)
    for _ in range(passes):
        cells = np.floor((X @ rng.normal(size=(dimensions, directions))) / width + rng.random(directions))
        key = np.zeros(n, np.uint64)
        for column in cells.T.astype(np.int64).view(np.uint64):
            key = key * MIX + column
        keys = np.setdiff1d(equal_keys(key), kept, assume_unique=True)
        kept = np.union1d(kept, keys[distances_of(X, keys // n, keys % n) <= distance])
    return kept


MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd number that spreads keys


def equal_keys(key: NDArray[np.uint64]) -> Ints:
    """Pairs u < v of elements with equal keys, as ascending numbers u n + v.

    Of `GROUP` and more elements with one key, each is paired with the next ones only.
    """
    order = np.argsort(key, kind="stable")  # so that u < v
    same = key[order]
    found = [np.zeros(0, np.int64)]
    for step in range(1, min(GROUP, len(key))):
        at = np.flatnonzero(same[step:] == same[:-step])
        if not len(at):
            break
        found.append(order[at] * len(key) + order[at + step])
    return np.sort(np.concatenate(found))


def squares_of(X: Any) -> Floats:
    """The squared lengths of the rows of an array or a sparse matrix."""
    if isinstance(X, np.ndarray):
        return np.asarray(np.square(X).sum(axis=1))
    return np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()


def distances_of(X: Any, u: Ints, v: Ints) -> Floats:
    """The distances of pairs, some at a time."""
    out = np.empty(len(u))
    step = max(1, BLOCK // max(1, X.shape[1] if isinstance(X, np.ndarray) else 8 * X.nnz // max(1, X.shape[0])))
    for start in range(0, len(u), step):
        part = slice(start, start + step)
        out[part] = np.sqrt(squares_of(X[u[part]] - X[v[part]]))
    return out


def blocks_of_squares(X: Any, rows: Ints | None = None) -> Iterator[tuple[int, Floats]]:
    """Rows of the matrix of squared distances, or some of them, a block at a time, with the number of the first one."""
    squares = squares_of(X)
    own = squares if rows is None else squares[rows]
    for start, block in _blocks(X, rows):
        block += own[start : start + len(block), None]
        yield start, np.maximum(block, 0.0, out=block)


def _blocks(X: Any, rows: Ints | None = None) -> Iterator[tuple[int, Floats]]:
    """Rows of the matrix of squared distances, without the part that is the same in a row."""
    squares = squares_of(X)
    n = X.shape[0]
    rows = np.arange(n) if rows is None else rows
    step = max(1, BLOCK // max(n, 1))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        block = X[part] @ X.T
        if not isinstance(block, np.ndarray):
            block = block.toarray()
        block *= -2.0
        block += squares
        block[np.arange(len(block)), part] = -np.inf  # itself comes first
        yield start, block


def _approximate(X: Floats, k: int) -> Ints | None:
    """Nearest neighbours by pynndescent; None if it is not installed."""
    try:
        from pynndescent import NNDescent
    except ImportError:
        return None
    found: Ints = NNDescent(X.astype(np.float32), n_neighbors=max(k, 15), random_state=0).neighbor_graph[0][:, :k]
    return found

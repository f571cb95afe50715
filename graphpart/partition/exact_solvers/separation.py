"""Violated inequalities of the set partition polytope, most violated first.

For y[a, b] = 1 iff a and b are in the same subset, every partition satisfies for every cycle, with one of its pairs
called e and the path of its other pairs called P,

    sum of y over P  -  y[e]  <=  |P| - 1.

For a triangle these are the triangle inequalities (Grötschel & Wakabayashi 1989); if all pairs are variables, they
imply all others. If only some pairs are variables, those of the chordless cycles do (Chopra & Rao 1993).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

__all__ = ["Rows", "all_triangles", "violated_cycles", "violated_triangles"]

Rows = tuple[csr_array, NDArray[np.float64]]
Floats = NDArray[np.float64]


def pair_index(n: int) -> NDArray[np.int64]:
    """The (n, n) matrix of positions of the pairs {a, b} in lexicographic order."""
    index = np.zeros((n, n), np.int64)
    a, b = np.triu_indices(n, 1)
    index[a, b] = index[b, a] = np.arange(len(a))
    return index


def all_triangles(n: int) -> Rows:
    """The 3 C(n, 3) triangle inequalities of n elements, pairs in lexicographic order."""
    b, c = np.triu_indices(n, 1)
    centres = []
    for a in range(n):
        others = (b != a) & (c != a)
        centres.append(np.stack([np.full(int(others.sum()), a), b[others], c[others]], 1))
    return _triangle_rows(np.concatenate(centres) if centres else np.zeros((0, 3), np.int64), n)


def violated_triangles(y: Floats, n: int, limit: int, tolerance: float) -> Rows:
    """At most `limit` of the violated triangle inequalities ``y[a, b] + y[a, c] - y[b, c] <= 1``. O(n^3)

    Parameters
    ----------
    y : ndarray of float64, shape (n (n - 1) / 2,)
        All pairs in lexicographic order.
    """
    Y = np.zeros((n, n))
    Y[np.triu_indices(n, 1)] = y
    Y += Y.T
    found: list[NDArray[np.int64]] = []
    amounts: list[Floats] = []
    for a in range(n):
        some = np.flatnonzero(Y[a] > tolerance)  # both pairs at a have to be positive
        excess = Y[a, some][:, None] + Y[a, some][None, :] - Y[np.ix_(some, some)] - 1.0
        b, c = np.nonzero(np.triu(excess > tolerance, 1))
        found.append(np.stack([np.full(len(b), a), some[b], some[c]], 1))
        amounts.append(excess[b, c])
    triangles = np.concatenate(found) if found else np.zeros((0, 3), np.int64)
    most = np.argsort(-np.concatenate(amounts), kind="stable")[:limit] if found else np.zeros(0, np.int64)
    return _triangle_rows(triangles[most], n)


def _triangle_rows(triangles: NDArray[np.int64], n: int) -> Rows:
    index = pair_index(n)
    a, b, c = triangles.T
    indices = np.stack([index[a, b], index[a, c], index[b, c]], 1).ravel()
    data = np.tile([1.0, 1.0, -1.0], len(triangles))
    matrix = csr_array((data, indices, np.arange(len(triangles) + 1) * 3), shape=(len(triangles), n * (n - 1) // 2))
    return matrix, np.ones(len(triangles))


def violated_cycles(
    y: Floats, u: NDArray[np.int32], v: NDArray[np.int32], n: int, limit: int, tolerance: float
) -> Rows:
    """For each stored pair, the most violated inequality with this pair as e, if there is one; at most `limit`.

    The path P is a shortest one for the lengths 1 - y. O(n (m + n) log n) at worst; a search ends at length 1.

    Parameters
    ----------
    y : ndarray of float64, shape (m,)
    u, v : ndarray of int32, shape (m,)
        The pairs that are variables, sorted.
    """
    m = len(y)
    length = np.maximum(1.0 - y, 0.0) + 1e-6  # so that of equally short paths one with few pairs is found
    graph = csr_array((length, (u, v)), shape=(n, n))
    keys = u * np.int64(n) + v
    candidates = np.flatnonzero(1.0 - y > tolerance)
    rows: list[tuple[float, list[int]]] = []
    starts = np.searchsorted(u[candidates], np.arange(n + 1))
    for a in np.unique(u[candidates]).tolist():
        mine = candidates[starts[a] : starts[a + 1]]
        reach = float((1.0 - y[mine]).max())
        distance, before = dijkstra(graph, directed=False, indices=a, return_predecessors=True, limit=reach)
        for e, b in zip(mine.tolist(), v[mine].tolist(), strict=True):
            if distance[b] < 1.0 - y[e] - tolerance and before[b] != a:
                nodes = [b]
                while nodes[-1] != a:
                    nodes.append(int(before[nodes[-1]]))
                ends = np.sort(np.stack([nodes[:-1], nodes[1:]]), axis=0)
                path = np.searchsorted(keys, ends[0] * n + ends[1]).tolist()
                rows.append((float(distance[b] - (1.0 - y[e])), [e, *path]))
    rows.sort()
    kept = [path for _, path in rows[:limit]]
    starts_of_rows = np.cumsum([0] + [len(path) for path in kept])
    indices = np.array([k for path in kept for k in path], np.int64)
    data = np.ones(len(indices))
    data[starts_of_rows[:-1]] = -1.0
    matrix = csr_array((data, indices, starts_of_rows), shape=(len(kept), m))
    return matrix, np.array([len(path) - 2.0 for path in kept])

"""The positions of elements in a picture: on a grid, by the forces of springs, or each subset as a disc.

The elements of a subset lie in a disc, along a spiral of equal density (Vogel 1979), those of largest doubt in the
middle, those of smallest doubt at the rim. Discs are arranged in rows, from the largest subset to the smallest. For
small graphs, networkx computes a layout by springs between elements that attract (Fruchterman & Reingold 1991).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["discs", "springs"]

Floats = NDArray[np.float64]
GOLDEN = math.pi * (3.0 - math.sqrt(5.0))
GAP = 0.8  # between discs, in units of the distance between elements


def discs(labels: NDArray[np.integer], doubt: Floats, shape: float = 1.5) -> tuple[Floats, Floats]:
    """Places of elements, about 1 apart; O(n log n).

    Parameters
    ----------
    labels : ndarray of int, shape (n,)
    doubt : ndarray of shape (n,)
        Elements of small doubt lie at the rim.
    shape : float
        About width over height of the whole.

    Returns
    -------
    x, y : ndarray of shape (n,)

    Examples
    --------
    >>> x, y = discs(np.array([0, 0, 1]), np.array([1.0, 0.5, 2.0]))
    >>> np.hypot(x - x[0], y - y[0]).round(1).tolist()
    [0.0, 1.0, 3.6]
    """
    n = len(labels)
    codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)[1:]
    by_size = np.argsort(-sizes, kind="stable")
    rank = np.empty(len(sizes), np.int64)
    rank[by_size] = np.arange(len(sizes))
    order = np.lexsort((-doubt, rank[codes]))  # subset by subset, the surest first
    start = np.cumsum(sizes[by_size]) - sizes[by_size]
    turn = np.arange(n) - np.repeat(start, sizes[by_size])  # of each element within its disc
    radius = np.sqrt(sizes[by_size] / math.pi) + 0.5 + GAP / 2  # of each disc
    centre_x, centre_y = _rows(radius, shape)
    distance = np.where(np.repeat(sizes[by_size], sizes[by_size]) > 1, np.sqrt((turn + 0.5) / math.pi), 0.0)
    x, y = np.empty(n), np.empty(n)
    x[order] = np.repeat(centre_x, sizes[by_size]) + distance * np.cos(turn * GOLDEN - math.pi / 2)
    y[order] = np.repeat(centre_y, sizes[by_size]) + distance * np.sin(turn * GOLDEN - math.pi / 2)
    return x, y


def _rows(radius: Floats, shape: float) -> tuple[Floats, Floats]:
    """Centres of discs, the largest first, from left to right in rows, downwards."""
    width = max(math.sqrt(shape * float((4 * radius**2).sum())), 2 * float(radius.max(initial=0.0)))
    x, y = np.empty(len(radius)), np.empty(len(radius))
    left = top = height = 0.0
    for k, r in enumerate(radius.tolist()):
        if left and left + 2 * r > width:
            left, top, height = 0.0, top + height, 0.0
        height = max(height, 2 * r)
        x[k], y[k] = left + r, top + height / 2
        left += 2 * r
    return x, y


def springs(labels: NDArray[np.integer], u: NDArray[np.integer], v: NDArray[np.integer]) -> tuple[Floats, Floats]:
    """Places of elements by springs between those that attract, three times as strong within a subset; small graphs."""
    import networkx as nx

    n = len(labels)
    G = nx.Graph()
    G.add_nodes_from(range(n))
    for a, b in zip(u.tolist(), v.tolist(), strict=True):
        G.add_edge(a, b, weight=3.0 if labels[a] == labels[b] else 1.0)
    position = nx.spring_layout(G, seed=0, iterations=100)
    places = np.array([position[i] for i in range(n)], np.float64).reshape(n, 2)
    return places[:, 0] * 1.5, places[:, 1]

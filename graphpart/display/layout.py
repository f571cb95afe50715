"""The positions of points in a picture, by the forces of springs (Fruchterman & Reingold 1991, as in networkx).

Connected parts are placed one by one, and arranged in rows, from the largest to the smallest.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["CLUSTERS", "DRAWN", "READABLE", "clearest", "parts_in_rows", "springs"]

Floats = NDArray[np.float64]
READABLE = 60  # elements, clusters or bars that are told apart one by one
CLUSTERS = 72  # on a map, at most
DRAWN = 400  # points, or lines, of a graph as a whole


def clearest(n: int, u: NDArray[np.integer], v: NDArray[np.integer], *order: NDArray[np.generic]) -> NDArray[np.int64]:
    """Which lines between n points are drawn: each that is among the first two at one of its ends.

    Parameters
    ----------
    n : int
    u, v : ndarray of int, shape (m,)
        Lines.
    *order : ndarray of shape (m,)
        Keys of the order, the last one first, as :func:`numpy.lexsort` takes them.

    Returns
    -------
    ndarray of int64
        Indices of lines, ascending; at most 2 n.

    Examples
    --------
    >>> clearest(4, np.array([0, 0, 0, 1, 1, 2]), np.array([1, 2, 3, 2, 3, 3]), np.arange(6)).tolist()
    [0, 1, 2, 3, 4]
    """
    drawn, kept = [0] * n, []
    for k in np.lexsort(order).tolist():
        a, b = int(u[k]), int(v[k])
        if drawn[a] < 2 or drawn[b] < 2:
            kept.append(k)
            drawn[a] += 1
            drawn[b] += 1
    return np.array(sorted(kept), np.int64)


def parts_in_rows(
    radius: Floats,
    u: NDArray[np.integer],
    v: NDArray[np.integer],
    shape: float = 2.0,
    parts: NDArray[np.integer] | None = None,
) -> tuple[Floats, Floats]:
    """Places of points that lines link: each connected part by springs, the parts in rows, the largest first.

    Parameters
    ----------
    radius : ndarray of shape (n,)
        Of the points.
    u, v : ndarray of int
        Lines.
    shape : float
        About width over height of the whole.
    parts : ndarray of int, shape (n,), optional
        The part of each point; default: the connected parts.

    Returns
    -------
    x, y : ndarray of shape (n,)

    Examples
    --------
    >>> x, y = parts_in_rows(np.array([1.0, 1.0, 1.0]), np.array([0]), np.array([2]))
    >>> bool(np.hypot(x[0] - x[2], y[0] - y[2]) < np.hypot(x[0] - x[1], y[0] - y[1]))
    True
    """
    import networkx as nx

    n = len(radius)
    G = nx.Graph()
    G.add_nodes_from(range(n))
    G.add_edges_from(zip(u.tolist(), v.tolist(), strict=True))
    if parts is None:
        members = [np.array(sorted(part)) for part in nx.connected_components(G)]
    else:
        members = [np.flatnonzero(parts == k) for k in np.unique(parts)]
    places, reach = [], []
    for part in members:
        own = np.zeros((len(part), 2))
        if len(part) > 1:
            position = nx.spring_layout(G.subgraph(part.tolist()), seed=0, iterations=60)
            own = np.array([position[i] for i in part.tolist()], np.float64)
            own -= (own.max(0) + own.min(0)) / 2
            area = float((radius[part] ** 2).sum())
            own *= 1.8 * math.sqrt(area) / max(float(np.hypot(*own.T).max()), 1e-9)  # points fill a third of the disc
            own[:, 0] *= 1.6
        places.append(own)
        reach.append(float((np.hypot(*own.T) + radius[part]).max()) + 0.8 * float(radius[part].min()) / 2)
    order = np.argsort(-np.array(reach), kind="stable")
    centre_x, centre_y = _rows(np.array(reach)[order], shape)
    x, y = np.empty(n), np.empty(n)
    for at, k in enumerate(order.tolist()):
        x[members[k]], y[members[k]] = centre_x[at] + places[k][:, 0], centre_y[at] + places[k][:, 1]
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
    """Places of elements by springs between those that attract, three times as strong within a cluster; small
    graphs."""
    import networkx as nx

    n = len(labels)
    G = nx.Graph()
    G.add_nodes_from(range(n))
    for a, b in zip(u.tolist(), v.tolist(), strict=True):
        G.add_edge(a, b, weight=3.0 if labels[a] == labels[b] else 1.0)
    position = nx.spring_layout(G, seed=0, iterations=100)
    places = np.array([position[i] for i in range(n)], np.float64).reshape(n, 2)
    return places[:, 0] * 1.5, places[:, 1]

"""Large sparse networks in arrays, for problems with a background: communities, disturbed cliques, and scores.

Degrees and sizes follow power laws (Lancichinetti, Fortunato & Radicchi 2008). The results of these functions can be
passed to :func:`graphpart.SetPartition.from_modularity`, :func:`graphpart.SetPartition.from_editing` and
:meth:`graphpart.SetPartition.from_pairs`. They are the same on every processor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import distinct
from graphpart.errors import InvalidOption
from graphpart.generate.instance import check_integer, check_number, random_generator, standard_normal
from graphpart.kernels.elementary import exp, log

__all__ = ["Network", "ScoredPairs", "clustered_network", "community_network", "scored_pairs"]

Pairs = NDArray[np.int64]


class Network(NamedTuple):
    """Edges ``u < v`` without repetition, in lexicographic order, of shape (m, 2), and labels that are planted."""

    edges: Pairs
    truth: NDArray[np.int64]


class ScoredPairs(NamedTuple):
    """Pairs of records, the probability that each is of one entity, and the entity of each record."""

    pairs: Pairs
    probability: NDArray[np.float64]
    truth: NDArray[np.int64]


def community_network(n: int, m: int, mixing: float = 0.4, seed: int | None = 0) -> Network:
    """A network with communities, whose sizes and degrees follow power laws.

    Parameters
    ----------
    n, m : int
        Number of nodes, and about that of edges.
    mixing : float
        Share of the edges of a node that leave its community.
    seed : int, optional

    Returns
    -------
    Network

    Raises
    ------
    InvalidOption
        If a parameter is out of range.

    Notes
    -----
    O(n + m log m). The exponents are 2.5 for degrees and 1.5 for sizes, which are 20 to n / 20 nodes. Edges match stubs
    at random. Self-loops and repetitions are left out, so there are slightly fewer edges than m.

    Examples
    --------
    >>> edges, truth = community_network(200, 1000, seed=1)
    >>> len(edges) > 800, len(truth), bool((edges[:, 0] < edges[:, 1]).all())
    (True, 200, True)
    """
    n, m = check_integer("n", n, 0), check_integer("m", m, 0)
    mixing = check_number("mixing", mixing, 0, 1)
    rng = random_generator(seed)
    if n == 0:
        return Network(np.zeros((0, 2), np.int64), np.zeros(0, np.int64))
    degree = _power_law(rng, n, 2.5, 1.0, max(10.0, float(np.sqrt(n))))
    degree = np.maximum(1, np.rint(degree * (2 * m / degree.sum()))).astype(np.int64)
    truth = _groups(rng, n, 1.5, 20.0, max(50.0, n / 20))
    inside = np.bincount(np.repeat(np.arange(n), degree), rng.random(int(degree.sum())) >= mixing, n).astype(np.int64)
    inside = np.minimum(inside, np.bincount(truth)[truth] - 1)
    nodes = np.arange(n)
    own, other = np.repeat(nodes, inside), np.repeat(nodes, degree - inside)
    found = [_matched(rng, own, truth[own]), _matched(rng, other, np.zeros(len(other), np.int64))]
    return Network(_edges(n, np.concatenate(found)), truth)


def clustered_network(n: int, m: int, kind: str = "cliques", seed: int | None = 0) -> Network:
    """A graph for cluster editing, as similarities make them.

    Parameters
    ----------
    n, m : int
        Number of nodes, and about that of edges.
    kind : {"cliques", "geometric", "random"}
        "cliques": cliques whose sizes follow a power law, without 3 of 10 of their edges, and with random other edges
        up to m. "geometric": edges between near points in the unit square, nothing planted. "random": random edges,
        nothing planted.
    seed : int, optional

    Returns
    -------
    Network
        If nothing is planted, each node has a label of its own.

    Raises
    ------
    InvalidOption
        If a parameter is out of range.

    Examples
    --------
    >>> [len(clustered_network(500, 2000, kind, seed=1).edges) > 1500 for kind in ("cliques", "geometric", "random")]
    [True, True, True]
    """
    n, m = check_integer("n", n, 0), check_integer("m", m, 0)
    if kind not in ("cliques", "geometric", "random"):
        raise InvalidOption(f"kind is {kind!r}: expected cliques, geometric or random")
    rng = random_generator(seed)
    alone = np.arange(n)
    if n < 2:
        return Network(np.zeros((0, 2), np.int64), alone)
    if kind == "random":
        return Network(_edges(n, rng.integers(0, n, (m, 2))), alone)
    if kind == "geometric":
        return Network(_edges(n, _near(rng.random((n, 2)), float(np.sqrt(2 * m / (np.pi * n * n))))), alone)
    largest = max(3.0, min(n / 2, 6.0 * m / n))
    truth = _groups(rng, n, 1.5, 2.0, largest)
    order = np.argsort(truth, kind="stable")
    size = np.bincount(truth)
    begin = np.cumsum(size) - size
    found = []
    for k in np.unique(size).tolist():
        members = order[begin[size == k][:, None] + np.arange(k)]
        a, b = np.triu_indices(k, 1)
        pairs = np.stack([members[:, a].ravel(), members[:, b].ravel()], 1)
        found.append(pairs[rng.random(len(pairs)) >= 0.3])
    inner = np.concatenate(found)
    noise = rng.integers(0, n, (max(0, m - len(inner)), 2))
    return Network(_edges(n, np.concatenate([inner, noise])), truth)


def scored_pairs(count: int, seed: int | None = 0) -> ScoredPairs:
    """Candidates of entity resolution: scores of pairs of records, of which few are of one entity.

    Parameters
    ----------
    count : int
        The largest number of pairs. There are about a third as many records, three for each entity.
    seed : int, optional

    Returns
    -------
    ScoredPairs

    Examples
    --------
    >>> pairs, probability, truth = scored_pairs(1000, seed=1)
    >>> len(pairs) == len(probability) <= 1000, len(truth)
    (True, 340)
    """
    count = check_integer("count", count, 0)
    rng = random_generator(seed)
    n = round(0.34 * count)
    if n < 2:
        return ScoredPairs(np.zeros((0, 2), np.int64), np.zeros(0), np.arange(n))
    truth = np.sort(rng.integers(0, max(1, n // 3), n))
    u = rng.integers(0, n, 4 * count)
    v = np.minimum(u + rng.integers(1, 6, 4 * count), n - 1)
    pairs = _edges(n, np.concatenate([np.stack([u, v], 1), rng.integers(0, n, (count // 3, 2))]))
    pairs = pairs[np.sort(np.argsort(rng.random(len(pairs)), kind="stable")[:count])]
    mean = np.where(truth[pairs[:, 0]] == truth[pairs[:, 1]], 0.7, 0.35)
    score = mean + 0.2 * standard_normal(rng, len(pairs))
    return ScoredPairs(pairs, np.clip(score, 0.01, 0.99), truth)


def _power_law(rng: np.random.Generator, size: int, exponent: float, low: float, high: float) -> NDArray[np.float64]:
    """Samples of a density proportional to ``x**-exponent`` between two numbers."""
    e = 1.0 - exponent
    ends = exp(e * log(np.array([low, high])))
    return exp(log(ends[0] + rng.random(size) * (ends[1] - ends[0])) / e)


def _groups(rng: np.random.Generator, n: int, exponent: float, low: float, high: float) -> NDArray[np.int64]:
    """Labels of groups whose sizes follow a power law, in random order."""
    sizes = _power_law(rng, n, exponent, low, high).astype(np.int64)
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), n)) + 1]
    labels = np.repeat(np.arange(len(sizes)), sizes)[:n]
    return labels[np.argsort(rng.random(n), kind="stable")]


def _matched(rng: np.random.Generator, stubs: Pairs, group: Pairs) -> Pairs:
    """Random pairs of stubs of the same group, as rows (u, v)."""
    order = np.lexsort((rng.random(len(stubs)), group))
    stubs, group = stubs[order], group[order]
    rank = np.arange(len(stubs)) - np.searchsorted(group, group)
    first = np.flatnonzero((rank % 2 == 0) & (np.append(group[1:], -1) == group))
    return np.stack([stubs[first], stubs[first + 1]], 1) if len(stubs) else np.zeros((0, 2), np.int64)


def _near(points: NDArray[np.float64], distance: float) -> Pairs:
    """Pairs of points that are near each other, by cells of a grid. O(n + pairs) if points are spread evenly"""
    cells = max(1, min(int(1.0 / distance), 2 * int(np.sqrt(len(points))) + 1))
    cell = np.minimum((points * cells).astype(np.int64), cells - 1)
    key = cell[:, 0] * cells + cell[:, 1]
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    found = []
    for dx, dy in ((0, 0), (0, 1), (1, -1), (1, 0), (1, 1)):
        inside = (cell[:, 0] + dx < cells) & (cell[:, 1] + dy >= 0) & (cell[:, 1] + dy < cells)
        a = np.flatnonzero(inside)
        wanted = key[a] + dx * cells + dy
        low, high = np.searchsorted(ordered, wanted), np.searchsorted(ordered, wanted, side="right")
        u = np.repeat(a, high - low)
        v = order[np.arange(len(u)) + np.repeat(low - np.cumsum(high - low) + high - low, high - low)]
        difference = points[u] - points[v]
        near = difference[:, 0] * difference[:, 0] + difference[:, 1] * difference[:, 1] <= distance * distance
        found.append(np.stack([u[near], v[near]], 1))
    return np.concatenate(found)


def _edges(n: int, pairs: Pairs) -> Pairs:
    """Pairs of different nodes, each once, in lexicographic order."""
    u, v = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
    keys = distinct(u[u != v] * np.int64(n) + v[u != v])
    return np.stack(np.divmod(keys, max(1, n)), 1)

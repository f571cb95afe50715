"""As many connected subsets as a problem allows, where its clusters must be connected.

Too many: the smallest subset joins the smallest one to which a base pair leads and which it may join, until there are
few enough. If that fails, or there are too many subsets for it, subsets are carved out of the components one by one:
the part of a random spanning tree below one of its edges, neither larger than allowed nor so small that the rest does
not fit into the subsets that are left. The rest stays connected by the tree. Too few: elements without which their
subset stays connected leave the largest subsets.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.kernels import _pairs
from graphpart.partition.problem.connectedness import linked_parts
from graphpart.partition.problem.derived import contract
from graphpart.partition.problem.labels import canonical
from graphpart.partition.problem.pair_costs import Labels, PairCosts

__all__ = ["grown", "with_allowed_number"]

FEW = 300  # subsets that are joined one by one
ATTEMPTS = 50  # spanning trees for one subset, and for all of them


def grown(p: PairCosts) -> Labels | None:
    """Canonical labels of few enough connected subsets, for a problem without required joins; None if none are found.

    O(n m) for few subsets, else O(m log m) for each spanning tree.
    """
    labels = _joined(p) if p.n <= FEW else None
    return _carved(p) if labels is None else labels


def _joined(p: PairCosts) -> Labels | None:
    """The result of joins of small subsets; None if there are too many at their end."""
    assert p._limits is not None
    most, room = p._limits.most or p.n, p._limits.max_size or math.inf
    q, labels = p, np.arange(p.n, dtype=np.int32)
    while q.n > most:
        u, v, cost = q.pairs()
        assert q.lifted is not None
        size = np.ones(q.n, np.int64) if q._sizes is None else q._sizes
        fits = np.flatnonzero(~q.lifted & (cost < np.inf) & (size[u] + size[v] <= room))
        if not len(fits):
            return None
        small, large = np.minimum(size[u], size[v])[fits], np.maximum(size[u], size[v])[fits]
        k = fits[np.lexsort((large, small))[0]]
        joined = np.arange(q.n, dtype=np.int32)
        joined[v[k]] = u[k]
        joined = canonical(joined)
        q, labels = contract(q, joined), joined[labels]
    return labels


def _carved(p: PairCosts) -> Labels | None:
    """Labels of as few subsets as spanning trees show; None if these are too many, or if pairs forbid all of them."""
    assert p._limits is not None
    size = np.ones(p.n, np.int64) if p._sizes is None else p._sizes
    room = int(size.sum()) if p._limits.max_size is None else p._limits.max_size
    component = linked_parts(p, np.zeros(p.n, np.int32))
    fewest = np.ceil(np.bincount(component, size) / room).astype(np.int64)
    largest = int(np.argmax(np.bincount(component) - fewest)) if p.n else 0
    fewest[largest:][:1] += max(0, p._limits.least - int(fewest.sum()))
    rng = np.random.default_rng(p.n)
    for _ in range(ATTEMPTS):
        labels, count = np.zeros(p.n, np.int32), 0
        wanted, spare = fewest.copy(), min(p._limits.most or p.n, p.n) - int(fewest.sum())
        if p._has_must_cut and spare > 0:  # more subsets than sizes need
            wanted[largest] += rng.integers(spare + 1)
            spare -= int((wanted - fewest).sum())
        for k, parts in enumerate(wanted.tolist()):
            left = np.flatnonzero(component == k)
            while len(left):
                mine = _below_an_edge(p, left, size, parts, room, rng)
                while mine is None and spare > 0:
                    parts, spare = parts + 1, spare - 1
                    mine = _below_an_edge(p, left, size, parts, room, rng)
                if mine is None:
                    break
                labels[mine] = count
                count, parts, left = count + 1, parts - 1, np.setdiff1d(left, mine)
            if len(left):
                break
        else:
            if spare >= 0 and p._cost_within(labels) < math.inf:
                return canonical(labels)
    return None


def _below_an_edge(
    p: PairCosts, left: NDArray[np.int64], size: NDArray[np.int64], parts: int, room: int, rng: np.random.Generator
) -> NDArray[np.int64] | None:
    """The elements of one of some parts into which a connected set is divided; None if no tree shows one."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    total = int(size[left].sum())
    if parts == 1:
        return left if total <= room else None
    place = np.full(p.n, -1, np.int32)
    place[left] = np.arange(len(left), dtype=np.int32)
    u, v = (place[x] for x in p._links())
    inside = (u >= 0) & (v >= 0)
    u, v = u[inside], v[inside]
    for _ in range(ATTEMPTS):
        graph = csr_array((1.0 + rng.random(len(u)), (u, v)), shape=(len(left), len(left)))
        root = int(rng.integers(len(left)))
        order, above = breadth_first_order(minimum_spanning_tree(graph), root, directed=False)
        below = size[left].copy()
        for a in order[:0:-1].tolist():
            below[above[a]] += below[a]
        fits = np.flatnonzero((below <= room) & (total - below <= room * (parts - 1)) & (np.arange(len(left)) != root))
        if len(fits):
            chosen = np.zeros(len(left), bool)
            chosen[fits[rng.integers(len(fits))]] = True
            for a in order[1:].tolist():
                chosen[a] |= chosen[above[a]]
            return left[chosen]
    return None


def with_allowed_number(p: PairCosts, labels: Labels) -> Labels | None:
    """Canonical labels of as many connected subsets as are allowed, near given ones; None if none are found.

    Parameters
    ----------
    p : PairCosts
        Without required joins.
    labels : ndarray of int32, shape (n,)
        Canonical labels of connected subsets.
    """
    assert p._limits is not None
    few = grown(contract(p, labels))
    found = _carved(p) if few is None else few[labels]
    if found is None:
        return None
    labels = found
    starts, near, _ = _pairs.adjacency(p.n, *p._links()).arrays
    for fresh in range(int(labels.max(initial=-1)) + 1, p._limits.least):
        size = np.bincount(labels)
        reached = {int(np.flatnonzero(labels == np.argmax(size))[0]): None}  # a set that keeps its order
        for a in (waiting := list(reached)):
            new = [b for b in near[starts[a] : starts[a + 1]].tolist() if labels[b] == labels[a] and b not in reached]
            reached |= dict.fromkeys(new)
            waiting += dict.fromkeys(new)
        labels[waiting[-1]] = fresh  # the last one reached is not on the way to another one
    return canonical(labels)

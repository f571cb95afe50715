"""As many connected subsets as a problem allows, where its clusters must be connected.

Too many: the smallest subset joins the smallest one to which a base pair leads and which it may join, until there are
few enough. Subsets of equal size come in random order, another one in each of some attempts. Too few: elements without
which their subset stays connected leave the largest subsets.
"""

from __future__ import annotations

import math

import numpy as np

from graphpart.kernels import _pairs
from graphpart.partition.problem.derived import contract
from graphpart.partition.problem.labels import canonical
from graphpart.partition.problem.pair_costs import Labels, PairCosts

__all__ = ["grown", "with_allowed_number"]

ATTEMPTS = 20


def grown(p: PairCosts) -> Labels | None:
    """Canonical labels of few enough connected subsets, for a problem without required joins; None if none are found.

    O(n m) for each attempt.
    """
    assert p._limits is not None
    most, room = p._limits.most or p.n, p._limits.max_size or math.inf
    rng = np.random.default_rng(p.n)
    for _ in range(ATTEMPTS):
        q, labels = p, np.arange(p.n, dtype=np.int32)
        while q.n > most:
            u, v, cost = q.pairs()
            assert q.lifted is not None
            size = np.ones(q.n, np.int64) if q._sizes is None else q._sizes
            fits = np.flatnonzero(~q.lifted & (cost < np.inf) & (size[u] + size[v] <= room))
            if not len(fits):
                break
            small, large = np.minimum(size[u], size[v])[fits], np.maximum(size[u], size[v])[fits]
            k = fits[np.lexsort((rng.random(len(fits)), large, small))[0]]
            joined = np.arange(q.n, dtype=np.int32)
            joined[v[k]] = u[k]
            joined = canonical(joined)
            q, labels = contract(q, joined), joined[labels]
        if q.n <= most:
            return labels
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
    if few is None:
        return None
    labels = few[labels]
    starts, near, _ = _pairs.adjacency(p.n, *p._links(), np.zeros(len(p._links()[0]))).arrays
    for fresh in range(int(labels.max(initial=-1)) + 1, p._limits.least):
        size = np.bincount(labels)
        reached = {int(np.flatnonzero(labels == np.argmax(size))[0]): None}  # a set that keeps its order
        for a in (waiting := list(reached)):
            new = [b for b in near[starts[a] : starts[a + 1]].tolist() if labels[b] == labels[a] and b not in reached]
            reached |= dict.fromkeys(new)
            waiting += dict.fromkeys(new)
        labels[waiting[-1]] = fresh  # the last one reached is not on the way to another one
    return canonical(labels)

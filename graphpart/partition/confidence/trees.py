"""Splits of connected clusters in two connected parts: the two sides of each edge of a spanning tree.

Each cluster has a spanning tree of base pairs, in which those that attract most come first. Without one of its edges,
the tree falls apart into two connected parts. The pairs across are those whose path in the tree uses the edge: each
adds its cost at both ends and subtracts it twice at their lowest common ancestor, and sums over subtrees give what an
edge cuts. A pair is cut by the cheapest edge on its path.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.problem import Labels, SetPartition

__all__ = ["tree_partings"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def tree_partings(q: SetPartition, labels: Labels, weight: Integers, inside: Integers) -> tuple[Floats, Labels, Floats]:
    """The best split of each cluster, how many leave, and the least rise if a split cuts each pair within a cluster.

    Parameters
    ----------
    q : SetPartition
        Whose clusters have to be connected; without a background.
    labels : ndarray of int32, shape (n,)
    weight : ndarray of int64, shape (n,)
        The number of elements that each element stands for.
    inside : ndarray of int64
        The pairs within clusters.

    Notes
    -----
    O((n + m) log n).
    """
    n, k = q.n, int(labels.max(initial=-1)) + 1
    splits, leaving = np.full(k, np.inf), np.zeros(k, np.int32)
    u, v, cost = q.pairs()
    u, v, cost = u[inside], v[inside], cost[inside]
    assert q.lifted is not None
    order, parent = _trees(n, labels, u, v, cost, ~q.lifted[inside])
    depth, size = np.zeros(n + 1, np.int64), np.append(weight, 0)
    for x in order.tolist():
        depth[x] = depth[parent[x]] + 1
    ancestors = [parent]
    while 2 ** len(ancestors) <= int(depth.max()):
        ancestors.append(ancestors[-1][ancestors[-1]])
    meet = _meeting(u.astype(np.int64), v.astype(np.int64), depth, ancestors)
    added = np.bincount(u, cost, n + 1) + np.bincount(v, cost, n + 1) - 2 * np.bincount(meet, cost, n + 1)
    for x in order[::-1].tolist():
        added[parent[x]] += added[x]
        size[parent[x]] += size[x]
    rise = np.where(parent < n, -added, np.inf)  # the edge above each element is cut
    rise[n] = np.inf
    least = [rise]
    for up in ancestors[:-1]:
        least.append(np.minimum(least[-1], least[-1][up]))
    parted = np.minimum(_least_above(u, meet, depth, ancestors, least), _least_above(v, meet, depth, ancestors, least))
    best = np.lexsort((rise[:n], labels))
    first = best[np.searchsorted(labels[best], np.arange(k))]
    splits[:] = rise[first]
    whole = np.bincount(labels, weight, k).astype(np.int64)
    leaving[:] = np.where(np.isfinite(splits), np.minimum(size[first], whole - size[first]), 0)
    return splits, leaving, parted


def _trees(
    n: int, labels: Labels, u: Labels, v: Labels, cost: Floats, base: NDArray[np.bool_]
) -> tuple[Integers, Integers]:
    """A spanning tree of each cluster: elements in an order in which parents come first, and parents; n above roots."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    rank = np.empty(int(base.sum()))
    rank[np.argsort(cost[base], kind="stable")] = np.arange(1, len(rank) + 1)
    tree = minimum_spanning_tree(csr_array((rank, (u[base], v[base])), shape=(n + 1, n + 1))).tocoo()
    roots = np.unique(labels, return_index=True)[1]
    ends, others = np.concatenate([tree.row, np.full(len(roots), n)]), np.concatenate([tree.col, roots])
    whole = csr_array((np.ones(len(ends)), (ends, others)), shape=(n + 1, n + 1))
    order, parent = breadth_first_order(whole, n, directed=False)
    parent = parent.astype(np.int64)
    parent[n] = n
    return order[1:].astype(np.int64), parent


def _meeting(u: Integers, v: Integers, depth: Integers, ancestors: list[Integers]) -> Integers:
    """The lowest common ancestor of two elements."""
    u, v = np.where(depth[u] >= depth[v], u, v), np.where(depth[u] >= depth[v], v, u)
    for j in reversed(range(len(ancestors))):
        u = np.where(depth[u] - depth[v] >= 2**j, ancestors[j][u], u)
    for up in reversed(ancestors):
        apart = up[u] != up[v]
        u, v = np.where(apart, up[u], u), np.where(apart, up[v], v)
    return np.where(u == v, u, ancestors[0][u])


def _least_above(x: Labels, top: Integers, depth: Integers, ancestors: list[Integers], least: list[Floats]) -> Floats:
    """The least value from each element up to an ancestor of it, without that of the ancestor."""
    at, out = x.astype(np.int64), np.full(len(x), np.inf)
    left = depth[at] - depth[top]
    for j in range(len(ancestors)):
        step = (left >> j) & 1 == 1
        out = np.where(step, np.minimum(out, least[j][at]), out)
        at = np.where(step, ancestors[j][at], at)
    return out

"""The cheapest change of a partition that decides a pair, an element or a cluster otherwise.

This is for problems without required joins. The following changes are examined, in a few passes over the pairs:

* a **pair that is cut** is joined: one of its elements moves to the subset of the other, both move to a new subset, or
  both subsets are joined;
* a **pair that is joined** is cut: one of its elements moves to another subset that a pair links it to, or a set that
  contains one of the elements moves to a new subset. The sets are those that greedy joining forms within the subset,
  beginning with single elements;
* after a move of a single element for a pair, other elements follow: while the pair is held, the neighbours of the
  elements that moved move to their best subsets, for a limited number of elements;
* an **element** moves to another subset that a pair links it to, or to a new one; this is exact, since all others stay;
* a **cluster** is joined with another one that a pair links it to, which is exact; or it is split in two, by a set as
  above or, in small clusters, exactly, by trying all splits.

The costs of unlisted pairs, groups and limits are part of all these sums. A change that a requirement forbids is left
out. If clusters have to be connected, the sets that leave are the two sides of each edge of a spanning tree (`trees`),
and other elements do not follow.

In small pieces, pairs are exact: the least cost with the pair decided otherwise, over all partitions of the piece, is
computed (see `_subsets`). A piece is a connected component; if unlisted pairs cost something, a component of attracting
pairs. A pair of two pieces is exact if both together are small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import group
from graphpart.kernels import _pairs
from graphpart.partition.confidence import pieces
from graphpart.partition.confidence._kernels import SmallGroups, Sums
from graphpart.partition.confidence.trees import tree_partings
from graphpart.partition.inputs.arrays import keys_of_pairs
from graphpart.partition.local_search import _sparse_joining
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.rules import Rules
from graphpart.stopping import Stopping

__all__ = ["Changes", "cheapest_changes"]

Floats = NDArray[np.float64]
LARGEST_CLUSTER = 20  # most elements of a cluster of which all splits are tried
WORK = 2.0**28  # most steps for all components, and for all splits; the smallest come first
LOOKS = 64  # most elements that are looked at as ones that may follow a change of a pair


@dataclass
class Changes:
    """Rises of the cost for all pairs, elements and clusters; inf if there is no other decision.

    Attributes
    ----------
    pairs, pairs_exact : ndarray of shape (m,)
    elements, to : ndarray of shape (n,)
        The rise, and the cluster that the element moves to; -1 for one of its own.
    joins, with_ : ndarray of shape (k,)
        The rise by the best join of each cluster, and the other cluster.
    splits, leaving, splits_exact : ndarray of shape (k,)
        The rise by the best split, and the number of elements that leave.
    gain : float
        The difference of the cost and the least cost in the components that were solved exactly.
    """

    pairs: Floats
    pairs_exact: NDArray[np.bool_]
    elements: Floats
    to: Labels
    joins: Floats
    with_: Labels
    splits: Floats
    leaving: Labels
    splits_exact: NDArray[np.bool_]
    gain: float


def cheapest_changes(
    q: SetPartition,
    labels: Labels,
    weight: NDArray[np.int64],
    exactly: bool,
    stopping: Stopping,
) -> Changes:
    """The rises of the cost by all changes of a partition, given by canonical labels.

    Parameters
    ----------
    q : SetPartition
        Pairs, not a matrix, and without required joins.
    labels : ndarray of int32, shape (n,)
        A partition of finite cost.
    weight : ndarray of int64, shape (n,)
        The number of elements that each element stands for.
    exactly : bool
        Whether small pieces and small clusters are solved exactly.
    stopping : Stopping

    Notes
    -----
    O(m log^2 m) for joining, O(m log n) for the rest; at most 2^29 steps for exact solutions, and 2^27 for elements
    that follow.
    """
    u, v, cost = q.pairs()
    total = cost if q.background is None else cost + q.background.of_pairs(u, v)
    k = int(labels.max()) + 1 if q.n else 0
    sizes = np.bincount(labels, minlength=k).astype(np.int32)
    signals = Stopping()  # these passes take seconds, and nothing is known before their end
    rules = _Rules(q, labels, sizes)
    plain = q.background is None and q._limits is None
    sums = Sums(q._rows(), labels, k, None if plain else terms_of(q), signals)
    own = sums.own
    a, b = labels[u], labels[v]
    cut = a != b
    rules.forbid(sums, cut)
    between, joins, with_ = _joins(q, labels, k, a, b, cut, rules)
    at_u, at_v = own[u], own[v]
    pairs = np.minimum(sums.from_u - at_u, sums.from_v - at_v)
    both = np.where(rules.new_pair(u, v), total - at_u - at_v, np.inf)
    pairs = np.minimum(np.minimum(pairs, both), between)
    inside = np.flatnonzero(~cut)
    splits, leaving = np.full(k, np.inf), np.zeros(k, np.int32)
    if q.lifted is not None:
        splits, leaving, parted = tree_partings(q, labels, weight, inside)
    else:
        parted = _partings(q, sums, weight, inside, splits, leaving, signals)
    if signals.reason is not None:
        raise KeyboardInterrupt
    other = sums.best - own  # to another cluster
    iu, iv = u[inside], v[inside]
    if q._limits is not None and q._limits.number:
        both_alone = cut & rules.alone[u] & rules.alone[v] & rules.fits(u, v)
        if q.lifted is not None:
            both_alone &= rules.base
        singles = np.flatnonzero(both_alone)  # joined, while another cluster is split
        pairs[singles] = np.minimum(pairs[singles], total[singles] + splits.min(initial=np.inf))
        if not rules.more:
            splits[:], parted[:], leaving[:] = np.inf, np.inf, 0
        far = other
        if q.lifted is None:
            far = np.minimum(other, _to_small_clusters(q, labels, sizes, signals) - own)
        pairs[inside] = np.minimum(parted, np.minimum(far[iu], far[iv]))
    else:
        pairs[inside] = np.minimum(parted, np.minimum(other[iu], other[iv]))
    alone = np.where((sizes[labels] > 1) & rules.free & rules.more, -own, np.inf) if q.n else own
    elements = np.minimum(alone, other)
    to = np.where(other < alone, sums.where, -1).astype(np.int32)
    pairs_exact, splits_exact, gain = np.zeros(len(u), np.uint8), np.zeros(k, np.uint8), 0.0
    if exactly and not (q._limits is not None and q._limits.number):
        gain = pieces.exact_pairs(q, labels, pairs, pairs_exact, WORK, stopping)
    if exactly and rules.more and q.lifted is None:
        _small_clusters(q, labels, weight, splits, leaving, splits_exact, stopping)
    limited = q.lifted is not None or (q._limits is not None and q._limits.number)
    if not limited:
        sums.follow(elements, to, _far(q, pairs, pairs_exact), pairs, LOOKS, q._tolerance, stopping)
    splits_exact[(sizes == 1) | (not rules.more)] = True
    return Changes(
        pairs, pairs_exact.view(bool), elements, to, joins, with_, splits, leaving, splits_exact.view(bool), gain
    )


class _Rules:
    """Which changes limits of the number of clusters, sizes and connectedness allow.

    Attributes
    ----------
    more, fewer : bool
        Whether one cluster more, or one less, is allowed.
    free : ndarray of bool, shape (n,)
        Whether the cluster of an element stays connected without it, if it has to.
    """

    def __init__(self, q: SetPartition, labels: Labels, sizes: Labels) -> None:
        limits, k = q._limits, len(sizes)
        self.q, self.labels, self.k = q, labels, k
        self.least, self.most = (1, q.n) if limits is None else (limits.least, limits.most or q.n)
        self.more, self.fewer = k < self.most, k > self.least
        self.alone = sizes[labels] == 1
        self.free = np.ones(q.n, bool)
        if q.lifted is not None:
            self.base = ~q.lifted & (q.pairs()[2] < np.inf)
            u, v, _ = (array[self.base] for array in q.pairs())
            same = labels[u] == labels[v]
            block, count = _pairs.blocks(q.n, np.ascontiguousarray(u[same]), np.ascontiguousarray(v[same]))
            ends = np.concatenate([u[same], v[same]]).astype(np.int64)
            parts = np.unique(ends * max(1, count) + np.concatenate([block, block])) // max(1, count)
            self.free = np.bincount(parts, minlength=q.n) <= 1

    def forbid(self, sums: Sums, cut: NDArray[np.bool_]) -> None:
        """Replace the sums of moves that are not allowed by inf, and find the best of the others."""
        if self.q.lifted is None and self.fewer:
            return
        u, v, _ = self.q.pairs()
        ends, others = np.concatenate([u, v]).astype(np.int64), np.concatenate([v, u])
        keys = ends * max(1, self.k) + self.labels[others]
        allowed = self.free[ends]
        if not self.fewer:
            allowed &= ~self.alone[ends]
        if self.q.lifted is not None:
            allowed &= np.isin(keys, keys[np.concatenate([self.base, self.base])])
        sums.from_u[~allowed[: len(u)]] = sums.from_v[~allowed[len(u) :]] = np.inf
        values = np.concatenate([sums.from_u, sums.from_v])
        values[np.concatenate([~cut, ~cut])] = np.inf
        order = np.lexsort((keys, values, ends))
        first = order[np.flatnonzero(np.diff(ends[order], prepend=-1))]
        first = first[values[first] < np.inf]
        sums.best[:], sums.where[:] = np.inf, -1
        sums.best[ends[first]], sums.where[ends[first]] = values[first], self.labels[others[first]]

    def new_pair(self, u: Labels, v: Labels) -> NDArray[np.bool_]:
        """Whether the two elements of each pair may move to a new cluster."""
        clusters = self.k + 1 - self.alone[u].astype(np.int64) - self.alone[v]
        allowed: NDArray[np.bool_] = (clusters >= self.least) & (clusters <= self.most) & self.free[u] & self.free[v]
        allowed &= self.fits(u, v)
        return allowed if self.q.lifted is None else allowed & self.base

    def fits(self, u: Labels, v: Labels) -> NDArray[np.bool_]:
        """Whether the two elements of each pair are not too many for a cluster."""
        limits = self.q._limits
        if limits is None or limits.max_size is None:
            return np.ones(len(u), bool)
        weight = np.ones(self.q.n, np.int64) if limits.sizes is None else limits.sizes
        return np.asarray(weight[u] + weight[v] <= limits.max_size)


def _joins(
    q: SetPartition, labels: Labels, k: int, a: Labels, b: Labels, cut: NDArray[np.bool_], rules: _Rules
) -> tuple[Floats, Floats, Labels]:
    """For each cut pair the sum of costs between its clusters; for each cluster the least sum, and the other."""
    between, least, with_ = np.full(len(a), np.inf), np.full(k, np.inf), np.full(k, -1, np.int32)
    if not rules.fewer:
        return between, least, with_
    c = q._contract(labels)
    cu, cv, sums = c.pairs()
    if c.background is not None:
        sums = sums + c.background.of_pairs(cu, cv)
    if c._limits is not None and c._limits.max_size is not None and c._limits.sizes is not None:
        sums = np.where(c._limits.sizes[cu] + c._limits.sizes[cv] <= c._limits.max_size, sums, np.inf)
    if c.lifted is not None:
        sums = np.where(c.lifted, np.inf, sums)
    if c.matrix is not None:
        between[cut] = c.matrix[a[cut], b[cut]]
    elif len(sums):
        between[cut] = sums[np.searchsorted(keys_of_pairs(cu, cv, k), keys_of_pairs(a[cut], b[cut], k))]
    ends, others, values = np.concatenate([cu, cv]), np.concatenate([cv, cu]), np.concatenate([sums, sums])
    order = np.lexsort((others, values, ends))
    first = np.searchsorted(ends[order], np.arange(k))
    some = np.bincount(ends, minlength=k) > 0
    least[some] = values[order][first[some]]
    with_[some] = others[order][first[some]]
    return between, least, with_


def _to_small_clusters(q: SetPartition, labels: Labels, sizes: Labels, stopping: Stopping) -> Floats:
    """The sum of costs from each element to one of the two smallest clusters, whether a pair links them or not."""
    order = np.argsort(sizes, kind="stable")[:2]
    if len(order) < 2:
        return np.full(q.n, np.inf)
    to = np.where(labels == order[0], order[1], order[0])
    some = np.unique(labels, return_index=True)[1][to]
    u, v, cost = q.pairs()
    ends = np.concatenate([u, np.arange(q.n, dtype=np.int32)]), np.concatenate([v, some.astype(np.int32)])
    more = SetPartition._of_pairs(
        range(q.n), *ends, np.concatenate([cost, np.zeros(q.n)]), q.background, Rules(limits=q._limits), dense=False
    )
    sums = Sums(more._rows(), labels, len(sizes), terms_of(more), stopping)
    rules = _Rules(more, labels, sizes)
    mu, mv, _ = more.pairs()
    rules.forbid(sums, labels[mu] != labels[mv])
    return np.asarray(sums.best)


def _partings(
    q: SetPartition,
    sums: Sums,
    weight: NDArray[np.int64],
    inside: NDArray[np.int64],
    splits: Floats,
    leaving: Labels,
    stopping: Stopping,
) -> Floats:
    """The least rise if a set that greedy joining forms leaves, for pairs within clusters, and for clusters."""
    u, v, cost = (np.ascontiguousarray(array[inside]) for array in q.pairs())
    merges, merge_costs = np.zeros((q.n, 2), np.int32), np.zeros(q.n)
    joins, terms = 0, None
    if q.background is not None:
        terms = terms_of(q)._replace(sizes=None, max_size=0, least=1, most=0)
    if len(inside):
        joined = _sparse_joining.join_sparse(q.n, u, v, cost, terms, q._tolerance, 0.0, stopping, merges, merge_costs)
        joins = q.n - len(np.unique(joined))
    return sums.partings((u, v), weight, merges[:joins], merge_costs[:joins], splits, leaving, stopping)


def _far(q: SetPartition, rises: Floats, exact: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Which pairs no element follows: exact ones, and those of large rises if all would take more than WORK / 2."""
    degree = np.minimum(np.diff(q._rows().starts), 1000).astype(float)  # elements with more neighbours do not follow
    # The degree of a neighbour, on average over the ends of pairs; about 2.5 starts for each pair.
    near = float((degree**2).sum() / max(degree.sum(), 1.0))
    some, count = np.flatnonzero(exact == 0), int(WORK / 2 / (2.5 * LOOKS * max(near, 1.0)))
    far = exact.copy()
    if len(some) > count:
        far[some[np.argpartition(rises[some], count)[count:]]] = True
    return far


def _small_clusters(
    q: SetPartition,
    labels: Labels,
    weight: NDArray[np.int64],
    splits: Floats,
    leaving: Labels,
    exact: NDArray[np.uint8],
    stopping: Stopping,
) -> None:
    sizes = np.bincount(labels, minlength=len(splits))
    wanted = pieces.smallest(sizes, 2, LARGEST_CLUSTER, 2.0, WORK)
    if len(wanted):
        order, first = group(labels, len(sizes))
        rows = pieces.with_all_pairs(q, labels, wanted)._rows()
        SmallGroups(rows, order, first, wanted, weight).best_splits(splits, leaving, exact, stopping)

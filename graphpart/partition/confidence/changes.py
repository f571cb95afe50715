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

In small connected components, pairs are exact: the least cost with the pair decided otherwise, over all partitions of
the component, is computed (see `_subsets`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import group
from graphpart.partition.confidence._cheapest import Sums
from graphpart.partition.confidence._subsets import SmallGroups
from graphpart.partition.local_search import _sparse_joining
from graphpart.partition.problem import Labels, SetPartition
from graphpart.stopping import Stopping

__all__ = ["Changes", "cheapest_changes"]

Floats = NDArray[np.float64]
LARGEST_COMPONENT = 15  # most elements of a component whose pairs are exact
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


def cheapest_changes(q: SetPartition, labels: Labels, exactly: bool, stopping: Stopping) -> Changes:
    """The rises of the cost by all changes of a partition, given by canonical labels.

    Parameters
    ----------
    q : SetPartition
        Without required joins.
    labels : ndarray of int32, shape (n,)
        A partition of finite cost.
    exactly : bool
        Whether small components and small clusters are solved exactly.
    stopping : Stopping

    Notes
    -----
    O(m log^2 m) for joining, O(m log n) for the rest; at most 2^29 steps for exact solutions, and 2^27 for elements
    that follow.
    """
    u, v, cost = q.pairs()
    k = int(labels.max()) + 1 if q.n else 0
    sizes = np.bincount(labels, minlength=k).astype(np.int32)
    signals = Stopping()  # these passes take seconds, and nothing is known before their end
    sums = Sums(q._rows(), labels, k, signals)
    own = sums.own
    a, b = labels[u], labels[v]
    cut = a != b
    between, joins, with_ = _joins(q, labels, k, a, b, cut)
    at_u, at_v = own[u], own[v]
    pairs = np.minimum(sums.from_u - at_u, sums.from_v - at_v)
    pairs = np.minimum(np.minimum(pairs, cost - at_u - at_v), between)
    inside = np.flatnonzero(~cut)
    splits, leaving = np.full(k, np.inf), np.zeros(k, np.int32)
    parted = _partings(q, sums, inside, splits, leaving, signals)
    if signals.reason is not None:
        raise KeyboardInterrupt
    other = sums.best - own  # to another cluster
    iu, iv = u[inside], v[inside]
    pairs[inside] = np.minimum(parted, np.minimum(other[iu], other[iv]))
    alone = np.where(sizes[labels] > 1, -own, np.inf) if q.n else own
    elements = np.minimum(alone, other)
    to = np.where(other < alone, sums.where, -1).astype(np.int32)
    pairs_exact, splits_exact, gain = np.zeros(len(u), np.uint8), np.zeros(k, np.uint8), 0.0
    if exactly:
        gain = _small_components(q, labels, pairs, pairs_exact, stopping)
        _small_clusters(q, labels, sizes, splits, leaving, splits_exact, stopping)
    if looks := _affordable_looks(q, pairs_exact):
        sums.follow(elements, to, pairs_exact, pairs, looks, q._tolerance, stopping)
    splits_exact[sizes == 1] = True
    return Changes(
        pairs, pairs_exact.view(bool), elements, to, joins, with_, splits, leaving, splits_exact.view(bool), gain
    )


def _joins(
    q: SetPartition, labels: Labels, k: int, a: Labels, b: Labels, cut: NDArray[np.bool_]
) -> tuple[Floats, Floats, Labels]:
    """For each cut pair the sum of costs between its clusters; for each cluster the least sum, and the other."""
    between, least, with_ = np.full(len(a), np.inf), np.full(k, np.inf), np.full(k, -1, np.int32)
    c = q._contract(labels)
    cu, cv, sums = c.pairs()
    if c.matrix is not None:
        between[cut] = c.matrix[a[cut], b[cut]]
    elif len(sums):
        low, high = np.minimum(a[cut], b[cut]).astype(np.int64), np.maximum(a[cut], b[cut])
        between[cut] = sums[np.searchsorted(cu.astype(np.int64) * k + cv, low * k + high)]
    ends, others, values = np.concatenate([cu, cv]), np.concatenate([cv, cu]), np.concatenate([sums, sums])
    order = np.lexsort((others, values, ends))
    first = np.searchsorted(ends[order], np.arange(k))
    some = np.bincount(ends, minlength=k) > 0
    least[some] = values[order][first[some]]
    with_[some] = others[order][first[some]]
    return between, least, with_


def _partings(
    q: SetPartition, sums: Sums, inside: NDArray[np.int64], splits: Floats, leaving: Labels, stopping: Stopping
) -> Floats:
    """The least rise if a set that greedy joining forms leaves, for pairs within clusters, and for clusters."""
    u, v, cost = (np.ascontiguousarray(array[inside]) for array in q.pairs())
    merges, merge_costs = np.zeros((q.n, 2), np.int32), np.zeros(q.n)
    joins = 0
    if len(inside):
        joined = _sparse_joining.join_sparse(q.n, u, v, cost, None, q._tolerance, 0.0, stopping, merges, merge_costs)
        joins = q.n - len(np.unique(joined))
    return sums.partings((u, v), merges[:joins], merge_costs[:joins], splits, leaving, stopping)


def _affordable_looks(q: SetPartition, exact: NDArray[np.uint8]) -> int:
    """How many elements may follow the change of each pair that is not exact, so that all take about half of WORK."""
    degree = np.minimum(np.diff(q._rows().starts), 1000).astype(float)  # elements with more neighbours do not follow
    open_pairs = len(exact) - int(np.count_nonzero(exact))
    # The degree of a neighbour, on average over the ends of pairs; about 2.5 starts for each pair.
    near = float((degree**2).sum() / max(degree.sum(), 1.0))
    return int(min(LOOKS, 0.5 * WORK / max(2.5 * open_pairs * near, 1.0))) if open_pairs else 0


def _smallest(sizes: NDArray[np.integer], least: int, largest: int, base: float) -> NDArray[np.int64]:
    """Groups within these sizes, the smallest first, as long as the sum of ``base**size`` is within WORK."""
    some = np.flatnonzero((sizes >= least) & (sizes <= largest))
    some = some[np.argsort(sizes[some], kind="stable")]
    return some[np.cumsum(base ** sizes[some].astype(float)) <= WORK]


def _small_components(
    q: SetPartition, labels: Labels, rises: Floats, exact: NDArray[np.uint8], stopping: Stopping
) -> float:
    component = q._components()
    count = int(component.max()) + 1 if q.n else 0
    sizes = np.bincount(component, minlength=count)
    wanted = _smallest(sizes, 2, LARGEST_COMPONENT, 3.0)
    order, first = group(component, count)
    gains = SmallGroups(q._rows(), order, first, wanted).exact_rises(labels, rises, exact, stopping)
    gains[gains >= -16 * q._tolerance] = 0.0  # what rounding may add to the cost of a small component
    of_component = np.where(sizes == 1, 0.0, np.nan)
    of_component[wanted] = gains
    u, v, _ = q.pairs()
    across = np.flatnonzero(component[u] != component[v])  # such a pair can be joined in all partitions, for nothing
    both = of_component[component[u[across]]] + of_component[component[v[across]]]
    known = ~np.isnan(both)
    rises[across[known]], exact[across[known]] = both[known], True
    return -float(gains[~np.isnan(gains)].sum())


def _small_clusters(
    q: SetPartition,
    labels: Labels,
    sizes: Labels,
    splits: Floats,
    leaving: Labels,
    exact: NDArray[np.uint8],
    stopping: Stopping,
) -> None:
    wanted = _smallest(sizes, 2, LARGEST_CLUSTER, 2.0)
    if len(wanted):
        order, first = group(labels, len(sizes))
        SmallGroups(q._rows(), order, first, wanted).best_splits(splits, leaving, exact, stopping)

"""Small pieces of a problem, in which the least cost with a pair decided otherwise is computed over all partitions.

A piece is a set of elements that neither an optimum nor the partition joins with an element outside of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import distinct, group
from graphpart.partition.confidence._kernels import SmallGroups
from graphpart.partition.inputs.arrays import keys_of_pairs
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.background import pairs_within
from graphpart.partition.problem.derived import connected
from graphpart.stopping import Stopping

__all__ = ["exact_pairs", "pieces_of", "smallest", "with_all_pairs"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
LARGEST = 15  # most elements of a piece, or of two pieces together, whose pairs are exact


def pieces_of(q: SetPartition, labels: Labels) -> Labels:
    """Canonical labels of the pieces of a problem with a partition of it."""
    component = q._components()
    if q.background is None and q._limits is None:
        return component
    k = int(component.max(initial=-1)) + 1
    joined = connected(k + q.n, component, (k + labels).astype(np.int32))  # clusters connect the components they meet
    return np.unique(joined[:k], return_inverse=True)[1].astype(np.int32).ravel()[component]


def exact_pairs(
    q: SetPartition, labels: Labels, rises: Floats, exact: NDArray[np.uint8], work: float, stopping: Stopping
) -> float:
    """Enter the exact rises of pairs in small pieces, and of pairs of two small pieces; return the possible gain.

    Parameters
    ----------
    q : SetPartition
        Without required joins, and without a limit of the number of clusters.
    labels : ndarray of int32, shape (n,)
    rises, exact : ndarray, shape (m,)
    work : float
        Most steps, the smallest pieces first; of pairs of two pieces an eighth of it, those of the least rises first.
    stopping : Stopping
    """
    piece = pieces_of(q, labels)
    count = int(piece.max(initial=-1)) + 1
    sizes = np.bincount(piece, minlength=count)
    wanted = smallest(sizes, 2, LARGEST, 3.0, work)
    order, first = group(piece, count)
    u, v, _ = q.pairs()
    a, b = piece[u], piece[v]
    across = np.flatnonzero(a != b)
    plain = q.background is None and q._limits is None
    unions = np.zeros((0, 2), np.int64)
    if not plain and q.lifted is None and len(across):
        near = across[np.argsort(rises[across], kind="stable")]
        keys, rank = np.unique(keys_of_pairs(a[near], b[near], count), return_index=True)
        unions = np.stack([keys // count, keys % count], 1)
        chosen = smallest(sizes[unions].sum(1), 2, LARGEST, 3.0, work / 8, rank)
        unions = unions[np.sort(chosen)]
    listed = with_all_pairs(q, piece, wanted, unions)
    limits = q._limits
    weight = np.ones(q.n, np.int64) if limits is None or limits.sizes is None else limits.sizes
    heaviest = 0 if limits is None else limits.max_size or 0
    flags = None if q.lifted is None else listed._flags_of_rows()
    lu, lv, _ = listed.pairs()
    at = np.arange(len(u)) if listed is q else np.searchsorted(keys_of_pairs(lu, lv, q.n), keys_of_pairs(u, v, q.n))
    found, known = np.full(len(lu), np.inf), np.zeros(len(lu), np.uint8)
    if len(unions):
        members, starts = _members_of_both(order, first, sizes, unions)
        every = np.arange(len(unions))
        SmallGroups(listed._rows(), members, starts, every, weight, heaviest, flags).exact_rises(
            labels, found, known, stopping
        )
        known[piece[lu] == piece[lv]] = 0  # what is possible in the other piece does not count
    gains = SmallGroups(listed._rows(), order, first, wanted, weight, heaviest, flags).exact_rises(
        labels, found, known, stopping
    )
    some = np.flatnonzero(known[at])
    rises[some], exact[some] = found[at[some]], True
    gains[gains >= -16 * q._tolerance] = 0.0  # largest rounding error of the cost of a small piece
    if q.lifted is not None:
        rises[across], exact[across] = np.inf, True  # no base pairs connect the two
    elif plain:  # such a pair can be joined in all partitions, for nothing
        of_piece = np.where(sizes == 1, 0.0, np.nan)
        of_piece[wanted] = gains
        both = of_piece[a[across]] + of_piece[b[across]]
        solved = ~np.isnan(both)
        rises[across[solved]], exact[across[solved]] = both[solved], True
    return -float(gains[~np.isnan(gains)].sum())


def smallest(
    sizes: NDArray[np.integer], least: int, largest: int, base: float, work: float, rank: Integers | None = None
) -> Integers:
    """Groups within these sizes, the smallest or of least rank first, with a sum of ``base**size`` within `work`."""
    some = np.flatnonzero((sizes >= least) & (sizes <= largest))
    some = some[np.argsort((sizes if rank is None else rank)[some], kind="stable")]
    return some[np.cumsum(base ** sizes[some].astype(float)) <= work]


def with_all_pairs(q: SetPartition, labels: Labels, wanted: Integers, unions: Integers | None = None) -> SetPartition:
    """The problem with the background in the costs of listed pairs, and all pairs listed within some sets of elements.

    Itself if it has no background. All pairs within and between the two sets in each row of `unions` are listed, too.
    """
    if q.background is None:
        return q
    count = int(labels.max(initial=-1)) + 1
    some = np.zeros(count, bool)
    some[wanted] = True
    if unions is not None:
        some[unions] = True
    cell = np.where(some[labels], labels, count + np.arange(q.n))  # each other element is a set of its own
    cell = np.unique(cell, return_inverse=True)[1].astype(np.int32).ravel()
    made = pairs_within(cell, None, q.n * q.n)
    assert made is not None
    low, high = made
    if unions is not None and len(unions):
        order, first = group(labels, count)
        sizes = np.diff(first)
        inner, outer = sizes[unions[:, 0]], sizes[unions[:, 1]]
        total = inner * outer
        place = np.arange(int(total.sum())) - np.repeat(np.cumsum(total) - total, total)
        left, width = np.repeat(first[unions[:, 0]], total), np.repeat(outer, total)
        right = np.repeat(first[unions[:, 1]], total)
        low = np.concatenate([low, order[left + place // width].astype(np.int32)])
        high = np.concatenate([high, order[right + place % width].astype(np.int32)])
    u, v, cost = q.pairs()
    keys = distinct(np.concatenate([keys_of_pairs(u, v, q.n), keys_of_pairs(low, high, q.n)]))
    low, high = (keys // max(1, q.n)).astype(np.int32), (keys % max(1, q.n)).astype(np.int32)
    costs = q.background.of_pairs(low, high)
    costs[np.searchsorted(keys, keys_of_pairs(u, v, q.n))] += cost
    return SetPartition._of_pairs(range(q.n), low, high, costs, dense=False)


def _members_of_both(order: Integers, first: Integers, sizes: Integers, unions: Integers) -> tuple[Integers, Integers]:
    """The elements of each union, one after the other, and where each union begins."""
    length = sizes[unions]
    starts = np.concatenate([[0], np.cumsum(length.sum(1))])
    flat = length.ravel()
    place = np.arange(int(flat.sum())) - np.repeat(np.cumsum(flat) - flat, flat)
    return order[np.repeat(first[unions.ravel()], flat) + place].astype(np.int64), starts.astype(np.int64)

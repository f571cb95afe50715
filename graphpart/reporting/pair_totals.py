"""Sums and selections of the costs of pairs for a report, from one pass over all pairs in blocks.

O(m) time for m pairs, or O(n^2) for a matrix, and memory for a block beside the sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.machine import CHUNK
from graphpart.partition.problem import Labels, SetPartition

__all__ = ["KINDS", "LIFTED_KINDS", "PairTotals", "pair_totals"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
KINDS = ("together, attract", "apart, repel", "together though they repel", "apart though they attract")
LIFTED_KINDS = tuple(f"lifted: {kind}" for kind in KINDS)


@dataclass
class PairTotals:
    """Sums and selections.

    Attributes
    ----------
    inside, outside : ndarray of shape (k,)
        For each cluster, the sum of the costs of pairs within it, and of pairs that lead out of it.
    own : ndarray of shape (n,)
        For each element, the sum of the costs of its pairs within its cluster.
    kinds : ndarray of int64, shape (4,) or (8,)
        The number of pairs of each of `KINDS`, and of `LIFTED_KINDS` if there are lifted pairs; pairs of cost 0 are not
        counted.
    links : tuple of (u, v, cost, kind)
        Pairs with a cost other than 0, for each kind those of largest absolute cost.
    between : ndarray of shape (3, s, s)
        For chosen clusters, upper half: the summed cost of the pairs between two of them, how many there are, and how
        many of these attract.
    cells : ndarray of shape (c, c)
        The mean cost of pairs whose elements are in two cells of the order; NaN where there is none.
    """

    inside: Floats
    outside: Floats
    own: Floats
    kinds: Integers
    links: tuple[NDArray[np.int64], NDArray[np.int64], Floats, NDArray[np.int64]]
    between: Floats
    cells: Floats


def pair_totals(
    p: SetPartition, labels: Labels, chosen: Integers, order: Integers, cells: int, most: int
) -> PairTotals:
    """Go through all pairs.

    Parameters
    ----------
    p : SetPartition
    labels : ndarray of int32, shape (n,)
        0, 1, ...
    chosen : ndarray of int64, shape (s,)
        Clusters.
    order : ndarray of int64, shape (n,)
        The elements in the order of the matrix.
    cells : int
        Rows of the matrix; 0 for none.
    most : int
        Pairs of each kind in `links`.
    """
    n, k = p.n, int(labels.max(initial=-1)) + 1
    place = np.full(k, -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    between = np.zeros((3, len(chosen) ** 2))
    cell = np.empty(n, np.int64)
    cell[order] = np.arange(n) * cells // max(n, 1)
    inside, outside, own = np.zeros(k), np.zeros(k), np.zeros(n)
    count = len(KINDS) + (len(LIFTED_KINDS) if p._connected else 0)
    kinds = np.zeros(count, np.int64)
    sums, counts = np.zeros(cells * cells), np.zeros(cells * cells)
    links = _none()
    for u, v, cost, lifted in _blocks(p):
        a, b = labels[u], labels[v]
        joined = a == b
        inside += np.bincount(a[joined], cost[joined], k)
        out = np.where(np.isinf(cost) | joined, 0.0, cost)  # forbidden pairs are cut, at no cost
        outside += np.bincount(a, out, k) + np.bincount(b, out, k)
        own += np.bincount(u[joined], cost[joined], n) + np.bincount(v[joined], cost[joined], n)
        kind = np.where(joined, np.where(cost < 0, 0, 2), np.where(cost > 0, 1, 3))
        kind = kind + len(KINDS) * lifted
        kinds += np.bincount(kind[cost != 0], minlength=count)
        _add_between(between, place[a], place[b], out, cost)
        both = cost != 0
        found = u[both], v[both], cost[both], kind[both]
        links = _strongest(tuple(np.concatenate(x) for x in zip(links, found, strict=True)), most)
        if not cells:
            continue
        if cells < n:  # a mean is one of numbers
            finite = np.isfinite(cost)
            u, v, cost = u[finite], v[finite], cost[finite]
        i, j = cell[u], cell[v]
        at = np.minimum(i, j) * cells + np.maximum(i, j)
        sums += np.bincount(at, cost, cells * cells)
        counts += np.bincount(at, minlength=cells * cells)
    with np.errstate(invalid="ignore"):
        mean = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan).reshape(cells, cells)
    return PairTotals(inside, outside, own, kinds, links, between.reshape(3, len(chosen), len(chosen)), mean)


def _add_between(between: Floats, a: Integers, b: Integers, out: Floats, cost: Floats) -> None:
    """Add the pairs between two different chosen clusters."""
    some = (a >= 0) & (b >= 0) & (a != b)
    s = round(between.shape[1] ** 0.5)
    at, out, cost = (np.minimum(a, b) * s + np.maximum(a, b))[some], out[some], cost[some]
    for row, weights in zip(between, (out, np.ones(len(at)), (cost < 0).astype(float)), strict=True):
        row += np.bincount(at, weights, s * s)


def _none() -> tuple[NDArray[np.int64], NDArray[np.int64], Floats, NDArray[np.int64]]:
    empty = np.zeros(0, np.int64)
    return empty, empty, np.zeros(0), empty


def _strongest(
    links: tuple[NDArray[np.generic], ...], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats, NDArray[np.int64]]:
    """Of each kind those of largest absolute cost, in their order."""
    u, v, cost, kind = links
    kept = np.zeros(len(cost), bool)
    for k in range(int(kind.max(initial=-1)) + 1):
        mine = np.flatnonzero(kind == k)
        if len(mine) > most:  # all that are as strong as the last one that is kept: sorting those is enough
            size = np.abs(cost[mine])
            mine = mine[size >= np.partition(size, len(size) - most)[len(size) - most]]
        kept[mine[np.argsort(-np.abs(cost[mine]), kind="stable")[:most]]] = True
    return u[kept], v[kept], cost[kept], kind[kept]  # type: ignore[return-value]


def _blocks(p: SetPartition) -> Iterator[tuple[Integers, Integers, Floats, NDArray[np.bool_]]]:
    """All pairs, and which of them are lifted, a block at a time."""
    if p.matrix is None:
        u, v, cost = p._listed()
        for start in range(0, len(u), CHUNK):
            some = slice(start, start + CHUNK)
            far = np.zeros(len(u[some]), bool) if p.lifted is None else p.lifted[some]
            yield u[some].astype(np.int64), v[some].astype(np.int64), cost[some], far
    else:
        rows = max(1, CHUNK // max(p.n, 1))
        for start in range(0, p.n, rows):
            i, j = np.nonzero(np.arange(start, min(start + rows, p.n))[:, None] < np.arange(p.n)[None, :])
            yield i + start, j, p.matrix[i + start, j], np.zeros(len(i), bool)

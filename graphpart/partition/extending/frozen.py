"""Placing new elements while old clusters stay as they are; see `extend`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import first_of, group
from graphpart.partition.extending.solver import Solver
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.derived import connected

__all__ = ["place_new"]

MOST_CUTS = 2_000_000  # most cuts between copies of old clusters that are written out, smallest components first

Pairs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def place_new(q: SetPartition, labels: Labels, solver: Solver) -> Labels:
    """Labels of all elements: given labels stay, and new elements join these clusters or form new ones."""
    new = np.flatnonzero(labels < 0)
    k = int(labels.max(initial=-1)) + 1
    out = labels.astype(np.int64)
    out[new] = k + np.arange(len(new))
    if not len(new):
        return out.astype(np.int32)
    number = np.full(q.n, -1, np.int64)
    number[new] = np.arange(len(new))
    u, v, cost = q.pairs()
    mine = np.flatnonzero(((labels[u] < 0) | (labels[v] < 0)) & (cost != 0))
    u, v, cost = u[mine], v[mine], cost[mine]
    inside = (labels[u] < 0) & (labels[v] < 0)
    a, b, between = number[u[inside]], number[v[inside]], cost[inside]
    swap = labels[u] < 0
    x = np.where(swap, number[u], number[v])[~inside]
    cluster = np.where(swap, labels[v], labels[u])[~inside].astype(np.int64)
    # The sums from new elements to old clusters.
    keys, at = np.unique(x * max(k, 1) + cluster, return_inverse=True)
    sums = np.bincount(at, cost[~inside], len(keys)).astype(np.float64)
    x, cluster = keys // max(k, 1), keys % max(k, 1)
    component = connected(len(new), a.astype(np.int32), b.astype(np.int32))
    alone = np.bincount(component)[component] == 1
    single = np.flatnonzero(alone[x] & (sums < -q._tolerance))
    single = single[np.lexsort((cluster[single], sums[single], x[single]))]
    first = single[first_of(x[single])]
    out[new[x[first]]] = cluster[first]
    if not alone.all():
        _solve_components(component, (a, b, between), (x, cluster, sums), out, new, k, solver)
    return canonical(out)


def _solve_components(
    component: Labels,
    inside: Pairs,
    outside: Pairs,
    out: NDArray[np.int64],
    new: NDArray[np.int64],
    k: int,
    solver: Solver,
) -> None:
    """Place the new elements in components of several new elements; their labels are written to `out`."""
    x, cluster, sums = outside
    alone = np.bincount(component)[component] == 1
    # A cluster that attracts no element of a component can be left out there.
    of = component[x].astype(np.int64) * max(k, 1) + cluster
    useful = np.isin(of, of[sums < 0]) & ~alone[x]
    x, sums, of = x[useful], sums[useful], of[useful]
    copies, copy = np.unique(of, return_inverse=True)
    its_component, its_cluster = copies // max(k, 1), copies % max(k, 1)
    elements = np.flatnonzero(~alone)
    place = np.full(len(new), -1, np.int64)
    place[elements] = np.arange(len(elements))
    n = len(elements) + len(copies)
    a, b, between = inside
    u = np.concatenate([place[a], place[x]])
    v = np.concatenate([place[b], len(elements) + copy])
    cost = np.concatenate([between, sums])
    cuts, complete = _all_cuts(its_component, int(component.max()) + 1)
    cuts = cuts + len(elements)
    is_copy = np.arange(n) >= len(elements)
    labels = np.arange(n, dtype=np.int32)
    while True:
        rows = np.concatenate([u, cuts[:, 0]]), np.concatenate([v, cuts[:, 1]])
        costs = np.concatenate([cost, np.full(len(cuts), np.inf)])
        q = SetPartition._of_pairs(range(n), *rows, costs, dense=None if n < 2000 else False)
        found = solver.run(q, labels).labels
        met = _meetings(found, is_copy)
        parted = found if not len(met) else _parted(found, is_copy, u, v, cost)
        better = q._evaluate_labels(parted) < q._evaluate_labels(labels)
        labels = parted if better else labels
        if not better or complete or not len(met) or solver.stopping.check(np.inf):
            break
        cuts = np.unique(np.concatenate([cuts, met]), axis=0)
    # A subset with a copy is that old cluster; others are new clusters.
    old = np.full(n, -1, np.int64)
    old[labels[is_copy]] = its_cluster
    wanted = old[labels[: len(elements)]]
    fresh = k + len(new) + labels[: len(elements)]
    out[new[elements]] = np.where(wanted >= 0, wanted, fresh)


def _all_cuts(component: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], bool]:
    """At most MOST_CUTS pairs of copies within components, the smallest components first; whether these are all
    pairs."""
    order, first = group(component, count)
    sizes = np.diff(first)
    by_size = np.argsort(sizes, kind="stable")
    wanted = by_size[np.cumsum(sizes[by_size] * (sizes[by_size] - 1) // 2) <= MOST_CUTS]
    parts = [np.zeros((0, 2), np.int64)]
    for size in np.unique(sizes[wanted]).tolist():
        if size > 1:
            begin = first[wanted[sizes[wanted] == size]]
            i, j = np.triu_indices(size, 1)
            parts.append(np.stack([order[(begin[:, None] + i).ravel()], order[(begin[:, None] + j).ravel()]], 1))
    return np.concatenate(parts), len(wanted) == count


def _meetings(labels: Labels, is_copy: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Pairs of copies that are in one subset, of its first 200."""
    copies = np.flatnonzero(is_copy)
    copies = copies[np.argsort(labels[copies], kind="stable")]
    same = labels[copies[1:]] == labels[copies[:-1]]
    if not same.any():
        return np.zeros((0, 2), np.int64)
    rows = []
    begin = np.flatnonzero(np.r_[True, ~same])
    for i, j in zip(begin.tolist(), [*begin[1:].tolist(), len(copies)], strict=True):
        if j - i > 1:
            some = copies[i:j]
            low, high = np.triu_indices(min(j - i, 200), 1)
            rows.append(np.stack([some[low], some[high]], 1))
    return np.concatenate(rows)


def _parted(
    labels: Labels, is_copy: NDArray[np.bool_], u: NDArray[np.int64], v: NDArray[np.int64], cost: NDArray[np.float64]
) -> Labels:
    """In each subset with several copies, keep only the copy that attracts it most."""
    n = len(labels)
    within = labels[u] == labels[v]
    pull = np.bincount(v[within], cost[within], n)  # v is the copy, where there is one
    copies = np.flatnonzero(is_copy)
    copies = copies[np.lexsort((pull[copies], labels[copies]))]
    stays = np.r_[True, labels[copies[1:]] != labels[copies[:-1]]]
    out = labels.astype(np.int64)
    out[copies[~stays]] = n + copies[~stays]
    return canonical(out)

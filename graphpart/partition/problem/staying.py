"""A partition that stays near an old one, and why it differs from it.

Clusters of both partitions that share elements make a *region*. No cluster of either leaves its region, so the costs of
regions add up, and each region can have its old clusters or its new ones, independently of the others.

1. A region whose old clusters are allowed and cost no more than its new ones gets the old ones back.
2. Elements that have left an old cluster go back, if this costs nothing, to the new cluster with most elements in
   common with it: first sets that have left together, then single elements, one after the other. 3. Parts of a cluster
   that no non-zero pair connects are divided, as in every result: the elements that connected them may have left.

A region in which the old partition violates what is required has changed for this reason; one that has lower costs, and
nothing required, would have been found without it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.kernels import _pairs
from graphpart.kernels.overlaps import matched
from graphpart.partition.problem.derived import connected_subsets
from graphpart.partition.problem.labels import canonical
from graphpart.partition.problem.pair_costs import Labels, PairCosts
from graphpart.partition.problem.regions import changes_of_regions

__all__ = ["near", "reasons", "violated_cuts"]

RETURNING = 10_000  # elements that are tried one by one, at most


def near(p: PairCosts, old: Labels, labels: Labels) -> Labels:
    """Labels that cost no more than given ones and are nearer to old ones, which are allowed.

    O(n log n + m), and one step for each pair of an element that goes back.
    """
    cost = p._evaluate_labels(labels)
    region, count = _regions(old, labels)
    back = changes_of_regions(p, old, labels, region, count) >= 0.0
    shifted = np.where(back[region], old.astype(np.int64), labels.astype(np.int64) + int(old.max(initial=0)) + 1)
    found = canonical(shifted)
    if p._evaluate_labels(found) <= cost:
        labels = found
    if p.background is None and p._limits is None and not p._connected and not len(p.must_join):
        for atoms in (canonical(old.astype(np.int64) * p.n + labels), np.arange(p.n, dtype=np.int32)):
            q: Any = p._contract(atoms)  # type: ignore[attr-defined]
            first = np.unique(atoms, return_index=True)[1]
            found = canonical(_returned(q, old[first], labels[first])[atoms])
            if p._evaluate_labels(found) <= cost:
                labels = found
    return connected_subsets(p, labels)


def reasons(p: PairCosts, old: NDArray[np.int64], labels: Labels) -> NDArray[Any]:
    """Why the cluster of each element changed, if it did, as text.

    Parameters
    ----------
    p : PairCosts
    old : ndarray of int64, shape (n,)
        Labels 0, 1, ...; -1 for elements that have no old cluster.
    labels : ndarray of int32, shape (n,)
        Labels 0, 1, ...

    Returns
    -------
    ndarray of str, shape (n,)
        "required" and "new elements" where the region has such elements, in this order, else how its costs compare:
        "lower cost", "same cost" or "higher cost".
    """
    region, count = _regions(old, labels)
    required, fresh = np.zeros(count, bool), np.zeros(count, bool)
    required[region[_broken(p, old)]] = True
    fresh[region[old < 0]] = True
    alone = np.where(old < 0, int(old.max(initial=-1)) + 1 + np.arange(len(old)), old)
    with np.errstate(invalid="ignore"):  # partitions that violate a requirement cost inf
        change = changes_of_regions(p, canonical(alone), labels, region, count)
    slack = p._tolerance
    compared = np.where(change < -slack, "lower cost", np.where(change > slack, "higher cost", "same cost"))
    text = compared.astype(object)
    text[fresh] = "new elements"
    text[required] = "required"
    found: NDArray[Any] = text[region]
    return found


def _broken(p: PairCosts, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Elements at which labels violate what is required; all of them if the number of clusters is wrong."""
    joins = p.must_join.astype(np.int64)
    apart = joins[(labels[joins] >= 0).all(axis=1) & (labels[joins[:, 0]] != labels[joins[:, 1]])]
    parts = [apart.ravel(), violated_cuts(p, labels).ravel()]
    if p._limits is not None and (labels >= 0).any():
        sizes = np.bincount(labels[labels >= 0], None if p._sizes is None else p._sizes[labels >= 0])
        largest, most = p._limits.max_size, p._limits.most
        if len(sizes) < p._limits.least or (most is not None and len(sizes) > most):
            return np.arange(p.n)
        if largest is not None:
            parts.append(np.flatnonzero((labels >= 0) & (sizes > largest)[labels]))
    return np.concatenate(parts)


def violated_cuts(p: PairCosts, labels: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Pairs with one label of at least 0 that must be cut, shape (k, 2); of members of one group, a path of pairs."""
    cuts = p._must_cut if p._has_must_cut else p.must_join[:0]
    parts = [cuts[(labels[cuts[:, 0]] >= 0) & (labels[cuts[:, 0]] == labels[cuts[:, 1]])].astype(np.int64)]
    groups = None if p.background is None else p.background.groups
    if groups is not None:
        at = np.flatnonzero(groups.hard[groups.group] & (labels[groups.element] >= 0))
        element, group = groups.element[at], groups.group[at]
        order = np.lexsort((element, group, labels[element]))
        element, group = element[order], group[order]
        same = (group[1:] == group[:-1]) & (labels[element[1:]] == labels[element[:-1]])
        parts.append(np.stack([element[:-1][same], element[1:][same]], 1))
    return np.concatenate(parts)


def _regions(old: NDArray[np.integer[Any]], labels: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int32], int]:
    """The region of each element, and how many there are."""
    width = int(labels.max(initial=-1)) + 1
    known = old >= 0
    nodes = width + int(old.max(initial=-1)) + 1
    u, v = labels[known].astype(np.int32), (width + old[known]).astype(np.int32)
    part = _pairs.connected_components(nodes, np.ascontiguousarray(u), np.ascontiguousarray(v))
    present, region = np.unique(part[labels], return_inverse=True)
    return region.astype(np.int32), len(present)


def _returned(p: PairCosts, old: Labels, labels: Labels) -> NDArray[np.int64]:
    """Labels after elements have gone back, one after the other, if this costs nothing."""
    out = labels.astype(np.int64)
    count, old_count = int(labels.max(initial=-1)) + 1, int(old.max(initial=-1)) + 1
    home = np.full(old_count, -1, np.int64)  # the new cluster that an old one is matched with
    counterpart = matched(labels, old, count, old_count)
    home[counterpart[counterpart >= 0]] = np.flatnonzero(counterpart >= 0)
    waiting = np.flatnonzero((home[old] != out) & (home[old] >= 0))
    if not len(waiting) or len(waiting) > RETURNING:
        return out
    starts, neighbours, costs = p._rows().arrays
    while len(waiting):
        stay = []
        for i in waiting.tolist():
            here = slice(starts[i], starts[i + 1])
            at, cost, to = out[neighbours[here]], costs[here], home[old[i]]
            if cost[at == to].sum() <= cost[at == out[i]].sum():
                out[i] = to
            else:
                stay.append(i)
        if len(stay) == len(waiting):
            break
        waiting = np.array(stay, np.int64)
    return out

"""The labels of an old partition for a new problem, the elements that have changed, and labels that stay the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.columns import is_named, labels_in
from graphpart.display import plural
from graphpart.errors import InvalidPartition
from graphpart.kernels import LARGEST_INDEX
from graphpart.kernels.overlaps import matched
from graphpart.partition.inputs.arrays import keys_of_pairs
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.labels import places_of
from graphpart.partition.problem.staying import violated_cuts
from graphpart.result import Result, Status

__all__ = [
    "changed_elements",
    "changed_groups",
    "check_cuts",
    "conflicts",
    "in_cut_clusters",
    "labels_of_classes",
    "message_of",
    "old_labels",
    "stable",
]

INSTEAD = ": expected freeze=False (in the shell, no --freeze), so that old clusters near changes may change"


def old_labels(p: SetPartition, old: Any) -> tuple[Labels, NDArray[np.int64], tuple[Any, ...] | None]:
    """(labels 0, 1, ..., -1 for new elements; the number of each old cluster; old labels that are not such numbers)."""
    old = old if isinstance(old, Result) else labels_in(old)
    labels = p.labels(old, partial=True)
    old = old.to_dict() if is_named(old) else old
    k = int(labels.max(initial=-1)) + 1
    first = np.full(k, -1, np.int64)
    at = np.flatnonzero(labels >= 0)[::-1]
    first[labels[at]] = at
    if isinstance(old, Result):
        raw: Any = old.labels
        if old.nodes is not p.nodes and old.nodes != p.nodes:
            place = places_of(p, old.nodes)
            raw = np.full(p.n, -1, np.int64)
            raw[place[place >= 0]] = old.labels[place >= 0]
        given = raw[first].tolist()
    elif isinstance(old, Mapping):
        given = [old[p.nodes[i]] for i in first.tolist()]
    else:
        old = old if isinstance(old, np.ndarray) else list(old)
        sets = len(old) and isinstance(old[0], set | frozenset | list | tuple)
        given = list(range(k)) if sets else [old[i] for i in first.tolist()]
    if all(isinstance(x, int | np.integer) and not isinstance(x, bool) and 0 <= x <= LARGEST_INDEX for x in given):
        return labels, np.array(given, np.int64), None
    return labels, np.arange(k), tuple(given)


def labels_of_classes(p: SetPartition, labels: Labels, classes: Labels, frozen: bool) -> Labels:
    """The label of each set of elements that must be joined: the largest of its elements, -1 if all are new."""
    inner = np.full(int(classes.max()) + 1, -1, np.int32)
    np.maximum.at(inner, classes, labels)
    wrong = np.flatnonzero((labels >= 0) & (labels != inner[classes]))
    if frozen and len(wrong):
        a = int(wrong[0])
        b = int(np.flatnonzero((classes == classes[a]) & (labels == inner[classes[a]]))[0])
        pair = f"{p.nodes[a]!r} and {p.nodes[b]!r}"
        raise InvalidPartition(f"{pair} must be joined but are in two frozen clusters{INSTEAD}")
    return inner


def check_cuts(p: SetPartition, labels: Labels) -> None:
    """Raise InvalidPartition if two elements of one frozen cluster must be cut, also by way of required joins."""
    bad = violated_cuts(p, labels)
    if len(bad):
        a, b = (p.nodes[i] for i in bad[0].tolist())
        raise InvalidPartition(f"{a!r} and {b!r} must be cut but are in one frozen cluster{INSTEAD}")


def conflicts(p: SetPartition, labels: Labels) -> NDArray[np.int64]:
    """Old elements for which the old partition violates a requirement."""
    parts = []
    if len(p.must_join):
        a, b = p.must_join[:, 0], p.must_join[:, 1]
        parts += [end[(labels[a] >= 0) & (labels[b] >= 0) & (labels[a] != labels[b])] for end in (a, b)]
    parts += [*violated_cuts(p, labels).T]
    return np.concatenate([*parts, np.zeros(0, np.int64)]).astype(np.int64)


def in_cut_clusters(q: SetPartition, labels: Labels) -> NDArray[np.bool_]:
    """Elements that must be cut from another element of their cluster; they are treated as new."""
    out = np.zeros(q.n, bool)
    out[violated_cuts(q, labels)] = True
    return out


def changed_groups(p: SetPartition, before: SetPartition) -> NDArray[np.int64]:
    """Elements of both problems of which groups, prices or companions in a group differ."""
    place = places_of(p, before.nodes)
    keys, prices = [], []
    for q, where in ((p, np.where(np.isin(np.arange(p.n), place), np.arange(p.n), -1)), (before, place)):
        groups = q.groups
        if groups is None:
            continue
        element, group = where[groups.element], groups.group[where[groups.element] >= 0]
        element = element[element >= 0]
        first = np.full(len(groups), p.n, np.int64)  # the least member that both problems have stands for a group
        np.minimum.at(first, group, element)
        keys.append(element * p.n + first[group])
        prices.append(groups.price[group])
    rows = np.stack([np.concatenate([*keys, np.zeros(0)]), np.concatenate([*prices, np.zeros(0)])], 1)
    rows, times = np.unique(rows, axis=0, return_counts=True)
    changed: NDArray[np.int64] = np.unique(rows[times == 1, 0].astype(np.int64) // max(p.n, 1))
    return changed


def changed_elements(p: SetPartition, before: SetPartition) -> NDArray[np.int64]:
    """Elements of p with a pair whose cost has changed or that is gone, among the elements of both problems."""
    place = places_of(p, before.nodes)
    u, v, cost = before.pairs()
    a, b = place[u[cost != 0]], place[v[cost != 0]]
    cost = cost[cost != 0]
    gone = np.concatenate([a[(a >= 0) & (b < 0)], b[(b >= 0) & (a < 0)]])
    both = (a >= 0) & (b >= 0)
    shared = np.zeros(p.n, bool)
    shared[place[place >= 0]] = True
    u, v, now = p.pairs()
    mine = shared[u] & shared[v] & (now != 0)
    keys = np.concatenate([keys_of_pairs(a[both], b[both], p.n), keys_of_pairs(u[mine], v[mine], p.n)])
    costs = np.concatenate([cost[both], now[mine]])
    order = np.argsort(keys, kind="stable")
    keys, costs = keys[order], costs[order]
    twice = np.zeros(len(keys), bool)  # a pair that both have at the same cost
    same = (keys[1:] == keys[:-1]) & (costs[1:] == costs[:-1])
    twice[1:] |= same
    twice[:-1] |= same
    differ = keys[~twice]
    known = place[before.must_join]
    known = known[(known >= 0).all(axis=1)]
    joins = p.must_join
    differ = np.concatenate(
        [
            differ,
            np.setxor1d(keys_of_pairs(known[:, 0], known[:, 1], p.n), keys_of_pairs(joins[:, 0], joins[:, 1], p.n)),
        ]
    )
    return np.concatenate([gone, differ // max(p.n, 1), differ % max(p.n, 1)]).astype(np.int64)


def stable(labels: Labels, old: Labels, shown: NDArray[np.int64]) -> Labels:
    """The number of the cluster of each element: that of the old cluster with the largest overlap, or a new number."""
    number = np.append(shown, -1)[matched(labels, old, int(labels.max(initial=-1)) + 1, len(shown))]
    fresh = np.flatnonzero(number < 0)
    top = int(shown.max(initial=-1)) + 1
    if top + len(fresh) > LARGEST_INDEX + 1:
        raise InvalidPartition(f"the old labels reach {top - 1}: expected labels that leave room for new ones")
    number[fresh] = top + np.arange(len(fresh))
    return number[labels].astype(np.int32)


def message_of(labels: Labels, numbers: Labels, shown: NDArray[np.int64], status: Status) -> str:
    new = labels < 0
    joined = int(np.isin(numbers[new], shown).sum())
    fresh = len(np.unique(numbers[~np.isin(numbers, shown)]))
    moved = int((~new & (numbers != np.append(shown, -1)[labels])).sum())
    text = f"{plural(int(new.sum()), 'new element')}, {joined} of them in old clusters; {plural(fresh, 'new cluster')}"
    text += f"; {plural(moved, 'old element')} changed cluster"
    return text if status == Status.FEASIBLE else f"{text}; {status.value.replace('_', ' ')}"

"""The partition that a method starts from: completed, and repaired where it violates what is required.

A repair moves as few elements as a greedy rule finds:

1. Each must-join class gets the cluster that most of its elements are in; elements there that exclude it count against
   it.
2. A cluster of which some classes must not be together, or that is too large, keeps the classes with the fewest
   conflicts for their size; of equal ones those that the cluster attracts most. Each of the others goes to the first of
   the new clusters beside it that can take it.
3. If subsets have to be connected, each is divided into its connected parts (see growing.py for their number).
4. Else, if there are too many clusters, the smallest are dissolved into others that can take them; if there are too
   few, single classes leave the largest clusters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import first_of, group
from graphpart.errors import InvalidPartition
from graphpart.partition.problem.connectedness import linked_parts
from graphpart.partition.problem.derived import contract
from graphpart.partition.problem.forms import source_of
from graphpart.partition.problem.labels import canonical, check_feasible, completed, labels_of
from graphpart.partition.problem.pair_costs import Labels, PairCosts
from graphpart.partition.results.growing import with_allowed_number

__all__ = ["repaired", "repaired_start", "start_of"]


def start_of(p: PairCosts, initial: Any) -> Labels:
    """Canonical labels of the partition that a method starts from, in any form; elements may be left out.

    An element that is left out (a mapping does not name it, it is in no set, or its label is -1) starts alone, or with
    the elements that it must be joined with. A partition that violates what is required is repaired.

    Raises
    ------
    InvalidPartition
        If the partition does not fit the problem, or cannot be repaired.
    """
    return repaired_start(p, initial)[0]


def repaired_start(p: PairCosts, initial: Any) -> tuple[Labels, int]:
    """The labels of `start_of`, and the number of elements that a repair moved."""
    p = source_of(p)  # which has all requirements
    labels = labels_of(p, initial, partial=True)
    if p.n and labels.min() < 0:
        labels = completed(p, labels)
    try:
        check_feasible(p, labels)
    except InvalidPartition as violation:
        return repaired(p, labels, str(violation))
    return labels, 0


def repaired(p: PairCosts, labels: Labels, why: str) -> tuple[Labels, int]:
    """Feasible labels near given ones, and the number of elements that have moved; `why` they are not feasible.

    O(n + m) and, for each cluster that is changed, O(classes * (clusters made of it + their conflicts)).
    """
    repair = _Repair(p, labels)
    repair.divide()
    if p._limits is not None and p._limits.number and p.lifted is None:
        repair.fit_number(why)
    found = canonical(repair.label[repair.classes])
    if p.lifted is not None:
        found = linked_parts(p, found)
        if p._limits is not None and p._limits.number:
            q = contract(p, repair.classes)
            other = with_allowed_number(q, canonical(found[first_of(repair.classes)]))
            found = found if other is None else other[repair.classes]
    try:
        check_feasible(p, found)
    except InvalidPartition as still:
        raise InvalidPartition(f"{why}, and the start cannot be repaired: {still}") from None
    if p.lifted is not None:
        return found, _moved(found, labels)
    return found, int(np.count_nonzero(repair.label[repair.classes] != labels))


def _moved(found: Labels, labels: Labels) -> int:
    """The number of elements that are not in the largest part of their subset, over the divided subsets."""
    parts, sizes = np.unique(labels.astype(np.int64) * (len(found) + 1) + found, return_counts=True)
    largest = np.zeros(int(labels.max(initial=-1)) + 1, np.int64)
    np.maximum.at(largest, parts // (len(found) + 1), sizes)
    return len(labels) - int(largest.sum())


class _Repair:
    """Labels of must-join classes, and the pairs of classes that must be apart."""

    def __init__(self, p: PairCosts, labels: Labels) -> None:
        self.p = p
        self.classes = p._must_join_classes()
        count = int(self.classes.max(initial=-1)) + 1
        self.size = np.bincount(self.classes, p._sizes, count).astype(np.int64)
        self.label: NDArray[np.int64] = labels[first_of(self.classes)].astype(np.int64)  # of each class
        self.fresh = int(labels.max(initial=-1)) + 1
        self.apart: dict[int, set[int]] = defaultdict(set)  # classes that must be cut from a class
        cuts = self.classes[p._must_cut] if p._has_must_cut else np.zeros((0, 2), np.int32)
        for a, b in cuts.tolist():
            self.apart[a].add(b)
            self.apart[b].add(a)
        self.groups: list[list[int]] = [[] for _ in range(count)]  # hard groups of each class
        groups = p.groups if not p.is_dense else None  # a matrix has them among its required cuts
        if groups is not None:
            at = np.flatnonzero(groups.hard[groups.group])
            for c, g in zip(self.classes[groups.element[at]].tolist(), groups.group[at].tolist(), strict=True):
                self.groups[c].append(g)
        self.most = None if p._limits is None else p._limits.max_size
        self._unite(labels)

    def _unite(self, labels: Labels) -> None:
        """The cluster of each class: where most of its elements are, less those that exclude it."""
        order, start = group(self.classes, len(self.label))
        split = np.flatnonzero(np.bincount(self.classes, labels != self.label[self.classes], len(self.label)))
        for c in split.tolist():
            clusters, times = np.unique(labels[order[start[c] : start[c + 1]]], return_counts=True)
            score = dict(zip(clusters.tolist(), times.tolist(), strict=True))
            for other in self.apart.get(c, ()):
                k = int(self.label[other])
                if k in score:
                    score[k] -= int(self.size[other])
            self.label[c] = max(score, key=lambda k: (score[k], -k))

    def divide(self) -> None:
        """Divide clusters in which classes must not be together, or that are too large."""
        order, start = group(self.label, self.fresh)
        pull = self._attraction()
        for k in range(self.fresh):
            members = order[start[k] : start[k + 1]].tolist()
            if self._fits(members):
                continue
            inside = set(members)
            conflicts = {c: len(self.apart[c] & inside) for c in members}
            shared: dict[int, int] = defaultdict(int)
            for c in members:
                for g in self.groups[c]:
                    shared[g] += 1
            for c in members:
                conflicts[c] += sum(shared[g] - 1 for g in self.groups[c])
            members.sort(key=lambda c: (conflicts[c] / self.size[c], -self.size[c], pull[c], c))
            bins: list[_Cluster] = []
            for c in members:
                place = next((i for i, one in enumerate(bins) if one.takes(c)), None)
                if place is None:
                    place = len(bins)
                    bins.append(_Cluster(self))
                bins[place].add(c)
                if place:
                    self.label[c] = self.fresh + place - 1
            self.fresh += max(0, len(bins) - 1)

    def _fits(self, members: list[int]) -> bool:
        cluster = _Cluster(self)
        for c in members:
            if not cluster.takes(c):
                return False
            cluster.add(c)
        return True

    def _attraction(self) -> list[float]:
        """The sum of finite costs between each class and the rest of its cluster; low if the class is attracted."""
        u, v, cost = self.p.pairs()
        a, b = self.classes[u], self.classes[v]
        kept = np.isfinite(cost) & (a != b) & (self.label[a] == self.label[b])
        ends, costs = np.concatenate([a[kept], b[kept]]), np.concatenate([cost[kept], cost[kept]])
        pull: list[float] = np.bincount(ends, costs, len(self.label)).tolist()
        return pull

    def fit_number(self, why: str) -> None:
        """Dissolve clusters while there are too many, divide them while there are too few."""
        limits = self.p._limits
        assert limits is not None
        clusters: dict[int, _Cluster] = {}
        for c, k in enumerate(self.label.tolist()):
            clusters.setdefault(k, _Cluster(self)).add(c)
        if limits.most is not None and len(clusters) > limits.most:
            self._dissolve_some(clusters, limits.most, why)
        largest = [(-one.size, k) for k, one in clusters.items()] if len(clusters) < limits.least else []
        heapify(largest)
        leaving: dict[int, list[int]] = {}  # the members of a cluster, of which the last leaves next
        while len(clusters) < limits.least and largest:
            k = heappop(largest)[1]
            if len(clusters[k].members) == 1:
                continue
            if k not in leaving:
                leaving[k] = sorted(clusters[k].members, key=lambda c: (-self.size[c], c))
            c = leaving[k].pop()
            clusters[k].remove(c)
            heappush(largest, (-clusters[k].size, k))
            clusters[self.fresh] = _Cluster(self)
            clusters[self.fresh].add(c)
            self.label[c] = self.fresh
            self.fresh += 1

    def _dissolve_some(self, clusters: dict[int, _Cluster], most: int, why: str) -> None:
        """Dissolve the smallest clusters until `most` are left.

        A cluster that cannot be dissolved is not tried again: all others can only take less later on.
        """
        smallest = [(one.size, k) for k, one in clusters.items()]  # with outdated entries, which are skipped
        heapify(smallest)
        places = smallest.copy()
        stuck: set[int] = set()
        while len(clusters) > most:
            if not smallest:
                raise InvalidPartition(
                    f"{why}, and the start cannot be repaired: no cluster can be dissolved into others; "
                    "expected a start that obeys the limits"
                )
            size, k = heappop(smallest)
            if k not in clusters or clusters[k].size != size:
                continue
            changed = self._dissolve(k, clusters, places)
            if not changed:
                stuck.add(k)
            for other in changed - stuck:
                heappush(smallest, (clusters[other].size, other))

    def _dissolve(self, k: int, clusters: dict[int, _Cluster], places: list[tuple[int, int]]) -> set[int]:
        """Move all classes of a cluster to the smallest others that can take them.

        Returns the clusters that took them: none, and nothing is moved, if there are not enough. `places` is a heap of
        all clusters by size.
        """
        moved: list[tuple[int, int]] = []
        seen: list[int] = []  # other clusters that are no longer in the heap, in the order of their sizes

        def others() -> Iterator[int]:
            yield from seen
            while places:
                size, other = heappop(places)
                if other in clusters and clusters[other].size == size and other != k:
                    seen.append(other)
                    yield other

        for c in clusters[k].members:
            to = next((other for other in others() if clusters[other].takes(c)), None)
            if to is None:
                for d, place in moved:
                    clusters[place].remove(d)
                moved = []
                seen.append(k)
                break
            clusters[to].add(c)
            moved.append((c, to))
        else:
            del clusters[k]
        for c, to in moved:
            self.label[c] = to
        for other in seen:
            heappush(places, (clusters[other].size, other))
        return {to for _, to in moved}


class _Cluster:
    """Classes that are together, and the classes that they exclude."""

    def __init__(self, repair: _Repair) -> None:
        self.repair = repair
        self.members: dict[int, None] = {}  # a set that keeps its order
        self.excluded: dict[int, int] = defaultdict(int)
        self.groups: set[int] = set()
        self.size = 0

    def takes(self, c: int) -> bool:
        """Whether a class can be added."""
        r = self.repair
        too_large = r.most is not None and self.size + r.size[c] > r.most
        return not (too_large or self.excluded.get(c, 0) or any(g in self.groups for g in r.groups[c]))

    def add(self, c: int) -> None:
        """Add a class."""
        self.members[c] = None
        self.size += int(self.repair.size[c])
        self.groups.update(self.repair.groups[c])
        for other in self.repair.apart.get(c, ()):
            self.excluded[other] += 1

    def remove(self, c: int) -> None:
        """Take a class out again."""
        del self.members[c]
        self.size -= int(self.repair.size[c])
        self.groups.difference_update(self.repair.groups[c])
        for other in self.repair.apart.get(c, ()):
            self.excluded[other] -= 1

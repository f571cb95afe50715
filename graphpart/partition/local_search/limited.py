"""Local search for problems that limit the sizes or the number of clusters.

The kernels for listed pairs obey limits (kernels/groups.pxd), those for matrices do not. So a matrix becomes a list of
all pairs. Greedy joining stops at the smallest allowed number of subsets. If it ends with more than the largest allowed
number, it continues with the joins that raise the cost least, then with joins of subsets that no listed pair links. If
sizes, groups or required cuts forbid all of these joins, elements are packed anew. The largest elements come first, and
each joins the allowed subset in which it costs least. If no subset is allowed, conflicting elements leave a subset, and
wait for another one (eviction). Packing ends after at most EVICTIONS evictions per element. It may fail to find a
partition, since this problem can be as hard as graph colouring. Subsets that must be connected are joined instead (see
results/growing.py).
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InfeasibleProblem
from graphpart.partition.local_search._sparse_joining import join_sparse
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.results.growing import grown
from graphpart.stopping import Stopping

__all__ = ["few_enough", "has_room", "packed"]

EVICTIONS = 100  # most evictions, as a multiple of the number of elements


def has_room(p: SetPartition, labels: Labels) -> bool:
    """Whether labels have no more subsets than a problem allows."""
    most = None if p._limits is None else p._limits.most
    return most is None or int(canonical(labels).max(initial=-1)) < most


def few_enough(p: SetPartition, labels: Labels, stopping: Stopping) -> Labels:
    """The labels, or canonical ones with few enough subsets, made by joins of subsets if there are more."""
    if has_room(p, labels):
        return labels
    assert p._limits is not None and p._limits.most is not None
    labels = canonical(labels)
    q = p._contract(labels)
    apart = stopping.child(plus=math.inf)
    joined = canonical(
        join_sparse(q.n, *q.pairs(), terms_of(q), -math.inf, 0.0, apart, fewest=p._limits.most)  # any finite cost
    )
    if p.lifted is not None:
        return joined[labels] if has_room(p, joined) else packed(p)
    if not has_room(p, joined):
        found = _packed(q._contract(joined))
        if found is None:
            return packed(p)
        joined = found[joined]
    return canonical(joined[labels])


def packed(p: SetPartition) -> Labels:
    """Canonical labels with as few subsets as a problem allows, in which all limits, groups and cuts are obeyed.

    Raises
    ------
    InfeasibleProblem
        If none are found.
    """
    contraction = Contraction(p)
    found = _packed(contraction.problem) if p.lifted is None else grown(contraction.problem)
    if found is None:
        raise InfeasibleProblem(
            f"no partition with {p._limits} was found that obeys all required cuts and groups: expected wider limits, "
            "or a partition that obeys them as initial="
        )
    return canonical(contraction.lift(found))


def _packed(p: SetPartition) -> Labels | None:
    """Labels for a problem without required joins; None if an element finds no place."""
    assert p._limits is not None
    packing = _Packing(p)
    sizes, cuts = packing.sizes, packing.cuts_of_each
    waiting = deque(np.lexsort((-cuts, -sizes)).tolist())
    patience = EVICTIONS * p.n
    while waiting:
        a = waiting.popleft()
        U = packing.best(a)
        if U < 0:
            U, evicted = packing.made_open(a)
            patience -= 1 + len(evicted)
            if U < 0 or patience < 0:
                return None
            waiting.extend(evicted)
        packing.put(a, U)
    return packing.spread()


class _Packing:
    """Subsets that are filled with elements one by one. A step takes O(degree + groups + most)."""

    def __init__(self, p: SetPartition) -> None:
        limits = p._limits
        assert limits is not None
        self.most = p.n if limits.most is None else min(limits.most, p.n)
        self.least, self.room = limits.least, math.inf if limits.max_size is None else limits.max_size
        self.sizes = np.ones(p.n, np.int64) if p._sizes is None else p._sizes
        self.rows = p._rows().arrays
        starts, _, costs = self.rows
        self.cuts_of_each = np.bincount(np.repeat(np.arange(p.n), np.diff(starts))[costs == np.inf], minlength=p.n)
        groups = None if p.background is None else p.background.groups
        self.hard: list[list[int]] = [[] for _ in range(p.n)]
        if groups is not None:
            for a, g in zip(groups.element.tolist(), groups.group.tolist(), strict=True):
                if groups.hard[g]:
                    self.hard[a].append(g)
        self.labels = np.full(p.n, -1, np.int64)
        self.load = np.zeros(self.most)
        self.members: list[set[int]] = [set() for _ in range(self.most)]
        self.holder: dict[int, dict[int, int]] = {}  # of each hard group, the member in each subset
        self.left = np.full(p.n, -1, np.int64)  # the subset that an element had to leave last
        self.rng = np.random.default_rng(p.n)

    def _pairs(self, a: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        starts, neighbours, costs = self.rows
        mine = slice(starts[a], starts[a + 1])
        placed = self.labels[neighbours[mine]] >= 0
        return neighbours[mine][placed], costs[mine][placed]

    def best(self, a: int) -> int:
        """The subset in which an element costs least; -1 if none is open to it."""
        others, costs = self._pairs(a)
        price = np.zeros(self.most)
        np.add.at(price, self.labels[others], costs)
        price[self.load + self.sizes[a] > self.room] = np.inf
        for g in self.hard[a]:
            price[list(self.holder.get(g, ()))] = np.inf
        U = int(np.lexsort((self.load, price))[0])
        return U if price[U] < np.inf else -1

    def made_open(self, a: int) -> tuple[int, list[int]]:
        """A subset into which another element fits after few removals, and the elements to remove; -1 if there is
        none."""
        others, costs = self._pairs(a)
        conflicts: list[set[int]] = [set() for _ in range(self.most)]
        for b in others[costs == np.inf].tolist():
            conflicts[self.labels[b]].add(b)
        for g in self.hard[a]:
            for U, b in self.holder.get(g, {}).items():
                conflicts[U].add(b)
        chosen, fewest = -1, (math.inf, math.inf)
        for U, gone in enumerate(conflicts):
            over = self.load[U] + self.sizes[a] - sum(self.sizes[b] for b in gone) - self.room
            for b in sorted(self.members[U] - gone, key=lambda b: self.sizes[b]) if over > 0 else ():
                gone.add(b)
                over -= self.sizes[b]
                if over <= 0:
                    break
            rank = (len(gone) + 2 * (self.left[a] == U), float(self.rng.random()))
            if over <= 0 and rank < fewest:
                chosen, fewest = U, rank
        if chosen < 0:
            return -1, []
        evicted = sorted(conflicts[chosen])
        for b in evicted:
            self.take(b)
        return chosen, evicted

    def put(self, a: int, U: int) -> None:
        self.labels[a] = U
        self.load[U] += self.sizes[a]
        self.members[U].add(a)
        for g in self.hard[a]:
            self.holder.setdefault(g, {})[U] = a

    def take(self, a: int) -> None:
        U = int(self.labels[a])
        self.labels[a], self.left[a] = -1, U
        self.load[U] -= self.sizes[a]
        self.members[U].remove(a)
        for g in self.hard[a]:
            del self.holder[g][U]

    def spread(self) -> Labels:
        """The labels, after moving elements to new subsets while there are too few subsets."""
        empty = [U for U in range(self.most) if not self.members[U]]
        full = [U for U in range(self.most) if len(self.members[U]) > 1]
        while full and empty and self.most - len(empty) < self.least:
            a = max(self.members[full[-1]])
            self.take(a)
            self.put(a, empty.pop())
            if len(self.members[full[-1]]) == 1:
                full.pop()
        return self.labels.astype(np.int32)

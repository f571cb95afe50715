"""Decisions that pairs are together or apart: what follows from them, and reasons why no partition agrees with them."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.derived import connected

__all__ = ["Decided"]

Pair = tuple[int, int]


class Decided:
    """What follows from decisions in a problem without required joins: classes of elements, and classes kept apart.

    Parameters
    ----------
    p : SetPartition
        Without required joins; its limits count.
    joins, cuts : tuple of pairs of int

    Attributes
    ----------
    classes : ndarray of int32, shape (n,)
        Canonical labels of the sets that joins connect.
    apart : set of pairs of int
        Pairs of classes, the smaller first, that must be in different clusters.
    """

    def __init__(self, p: SetPartition, joins: tuple[Pair, ...], cuts: tuple[Pair, ...]) -> None:
        self.p, self.cuts = p, cuts
        ends = np.array(joins, np.int32).reshape(-1, 2)
        self.classes = connected(p.n, np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]))
        self.count = int(self.classes.max(initial=-1)) + 1
        self.never = np.concatenate([p._must_cut, np.array(cuts, np.int32).reshape(-1, 2)])
        pairs = np.sort(self.classes[self.never], axis=1)
        self.apart = set(map(tuple, pairs.tolist()))

    def contradiction(self) -> list[int] | None:
        """Elements that show that no partition agrees with the decisions; None if that is not clear."""
        classes, limits = self.classes, self.p._limits
        if (classes[self.never[:, 0]] == classes[self.never[:, 1]]).any():
            return []
        if limits is not None:
            sizes = np.bincount(classes, limits.sizes)
            too_large = limits.max_size is not None and sizes.max(initial=0) > limits.max_size
            if too_large or 0 < self.count < limits.least:
                return []
            if limits.most is not None and (some := self._clique(limits.most)) is not None:
                return [self._first(k) for k in some]
        return None if self.p.lifted is None else self._unlinked()

    def open_pair(self) -> Pair | None:
        """Two elements of classes that may be together or apart; None if all is decided."""
        for a in range(self.count):
            for b in range(a + 1, self.count):
                if (a, b) not in self.apart:
                    return self._first(a), self._first(b)
        return None

    def _first(self, k: int) -> int:
        return int(np.argmax(self.classes == k))

    def _clique(self, most: int) -> list[int] | None:
        """More than `most` classes that are pairwise apart, found greedily; all classes, if they all are apart."""
        beside: dict[int, set[int]] = defaultdict(set)
        for a, b in self.apart:
            beside[a].add(b)
            beside[b].add(a)
        for start in sorted(beside, key=lambda k: -len(beside[k])):
            clique, left = [start], set(beside[start])
            while left and len(clique) <= most:
                following = max(left, key=lambda k: (len(beside[k] & left), -k))
                clique.append(following)
                left &= beside[following]
            if len(clique) > most:
                return clique
        return [0] if most < 1 and self.count else None

    def _unlinked(self) -> list[int] | None:
        """Two elements of one class that no base pairs connect through elements that may be in their cluster."""
        links: dict[int, set[int]] = defaultdict(set)
        for a, b in zip(*(side.tolist() for side in self.p._links()), strict=True):
            links[a].add(b)
            links[b].add(a)
        for k in np.flatnonzero(np.bincount(self.classes) > 1).tolist():
            members = np.flatnonzero(self.classes == k).tolist()
            barred = {c for pair in self.apart if k in pair for c in pair} - {k}
            reached, waiting = {members[0]}, [members[0]]
            while waiting:
                following = {b for b in links[waiting.pop()] - reached if int(self.classes[b]) not in barred}
                reached |= following
                waiting += following
            lost = next((b for b in members if b not in reached), None)
            if lost is not None:
                return [members[0], lost]
        return None

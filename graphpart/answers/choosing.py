"""Which questions are asked, of those that are worth most: spread over clusters, and none that follows from others.

Questions are chosen by gain, one after the other. Of records that are matched, each earlier question about one of the
two clusters halves the gain: scores of pairs that share records err together, so one answer may settle more.

No question can follow from the answers to others: the pairs are a forest over the must-join classes, also together with
one pair that is known to be apart. Elements of a group that may have one element in a cluster are known to be apart, so
that all answers can be required, unless sizes or the number of clusters are limited.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from graphpart.answers.worth import Floats, Worth
from graphpart.partition.problem import Labels
from graphpart.partition.problem.groups import Groups

__all__ = ["Forest", "chosen"]


class Forest:
    """The pairs that are asked, as a forest over must-join classes, and which classes are known to be apart."""

    def __init__(
        self,
        classes: Labels,
        cuts: NDArray[np.int32],
        groups: Groups | None,
        skipped: NDArray[np.int32],
        pairs: NDArray[np.int64],
    ) -> None:
        self._classes, self._parent = classes, dict[int, int]()
        self._skipped = {(a, b) for a, b in skipped.tolist()}
        near = np.zeros(int(classes.max(initial=-1)) + 1, bool)
        near[classes[pairs].ravel()] = True
        ends = classes[cuts]
        self._apart: dict[int, set[int]] = {}
        for a, b in ends[near[ends].all(axis=1)].tolist():
            self._apart.setdefault(a, set()).add(b)
            self._apart.setdefault(b, set()).add(a)
        self._groups: dict[int, set[int]] = {}  # of which each class has the only element
        if groups is not None:
            own = classes[groups.element]
            some = groups.hard[groups.group] & near[own]
            for a, group in zip(own[some].tolist(), groups.group[some].tolist(), strict=True):
                self._groups.setdefault(a, set()).add(group)

    def add(self, i: int, j: int) -> bool:
        """Add a pair, unless it is skipped, or its answer may follow from those of others; whether it was added."""
        if (min(i, j), max(i, j)) in self._skipped:
            return False
        a, b = self._root(int(self._classes[i])), self._root(int(self._classes[j]))
        if a == b or any(self._root(c) == b for c in self._apart.get(a, ())):
            return False
        if not self._groups.get(a, set()).isdisjoint(self._groups.get(b, ())):
            return False
        if len(self._apart.get(a, ())) > len(self._apart.get(b, ())):
            a, b = b, a
        self._parent[a] = b
        if a in self._apart:
            self._apart.setdefault(b, set()).update(self._apart.pop(a))
        if a in self._groups:
            self._groups.setdefault(b, set()).update(self._groups.pop(a))
        return True

    def _root(self, x: int) -> int:
        while x in self._parent:
            x = self._parent[x]
        return x


def chosen(
    likely: NDArray[np.int64], gain: Floats, worth: Worth, forest: Forest, n: int, share: float = 1.0
) -> list[int]:
    """The questions by gain, of which each earlier question about the same clusters leaves this share."""
    heap = [(-float(gain[k]), order, k, 0) for order, k in enumerate(likely.tolist())]
    heapq.heapify(heap)
    asked: dict[int, int] = {}
    found: list[int] = []
    while heap and len(found) < n:
        _, order, k, counted = heapq.heappop(heap)
        mine = [c for c in worth.clusters[k].tolist() if c >= 0]
        before = max(asked.get(c, 0) for c in mine)
        if before > counted:
            heapq.heappush(heap, (-float(gain[k]) * share**before, order, k, before))
            continue
        if forest.add(*worth.pairs[k].tolist()):
            found.append(k)
            for c in mine:
                asked[c] = asked.get(c, 0) + 1
    return found

"""The costs of a labelled partition as kernels take them: forbidden entries have a large finite cost.

The penalty of a forbidden entry is more than the difference of the costs of any two allowed solutions. So a solution
with fewer forbidden entries costs less, whatever else it costs.

`Tables.contracted` makes elements of whole clusters. Such an element has one choice more than there are classes: each
class stands for that class of all its members, and the last choice for the classes that the members have. So a method
that moves elements to other clusters and classes also joins clusters, and changes the classes of whole clusters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.labeled.arrays import PairTables
from graphpart.labeled.joint_costs import JointCosts
from graphpart.partition.problem.labels import canonical

__all__ = ["Tables", "tables_of", "trivial_bound"]

Elements = NDArray[np.int32]
Floats = NDArray[np.float64]
FINEST = 2.0**-48  # of the penalty: smaller differences of costs are rounding errors


@dataclass(frozen=True)
class Tables(PairTables):
    """Finite costs of choices, and of pairs together and apart.

    Attributes
    ----------
    own : ndarray of float64, shape (n, K)
        The cost of each choice of each element.
    u, v : ndarray of int32, shape (m,)
    joined, parted : ndarray of float64, shape (m, K, K)
    most : float
        A solution that costs more is forbidden.
    tolerance : float
        A difference of at most this is a rounding error.
    """

    own: Floats
    u: Elements
    v: Elements
    joined: Floats
    parted: Floats
    most: float
    tolerance: float

    @property
    def n(self) -> int:
        """The number of elements."""
        return len(self.own)

    @property
    def choices(self) -> int:
        """The number K of choices."""
        return int(self.own.shape[1])

    def cost(self, labels: Elements, classes: Elements) -> float:
        """The cost of clusters and choices; O(n + m)."""
        own = self.own[np.arange(self.n), classes]
        return math.fsum(own.tolist()) + math.fsum(self._pair_costs(labels, classes).tolist())

    def known(self, cost: float) -> float:
        """The cost, or inf if it is that of a forbidden solution."""
        return cost if cost <= self.most else math.inf

    def contracted(self, labels: Elements, classes: Elements) -> Tables:
        """The tables over clusters, which have to be 0, ..., k - 1; the last choice of each is "as its members are".

        O(n + m K^2 + m log m); a pair of clusters has a table of (K + 1)^2 entries.
        """
        count, wide = int(labels.max(initial=-1)) + 1, self.choices + 1
        own = np.zeros((count, wide))
        np.add.at(own, labels, np.column_stack([self.own, self.own[np.arange(self.n), classes]]))
        joined, parted = (self._with_last(table, classes) for table in (self.joined, self.parted))
        a, b = labels[self.u].astype(np.int64), labels[self.v].astype(np.int64)
        inside = a == b
        diagonal = np.arange(wide)
        np.add.at(own, a[inside], joined[inside][:, diagonal, diagonal])
        swapped = a > b
        for table in (joined, parted):
            table[swapped] = table[swapped].transpose(0, 2, 1)
        keys = (np.minimum(a, b) * count + np.maximum(a, b))[~inside]
        every, place = np.unique(keys, return_inverse=True)
        sums = []
        for table in (joined, parted):
            total = np.zeros((len(every), wide, wide))
            np.add.at(total, place, table[~inside])
            sums.append(total)
        u, v = ((every // max(1, count)).astype(np.int32), (every % max(1, count)).astype(np.int32))
        return Tables(own, u, v, sums[0], sums[1], self.most, self.tolerance)

    def lifted(
        self, labels: Elements, classes: Elements, sets: Elements, choices: Elements
    ) -> tuple[Elements, Elements]:
        """Clusters and choices of the elements, from those of the clusters in `contracted`."""
        chosen = choices[labels]
        return canonical(sets[labels]), np.where(chosen < self.choices, chosen, classes).astype(np.int32)

    def _with_last(self, table: Floats, classes: Elements) -> Floats:
        """Tables with a last row and column: the row and the column of the classes that elements have."""
        at, k, m = np.arange(len(self.u)), classes[self.u], classes[self.v]
        wide = self.choices + 1
        out = np.empty((len(table), wide, wide))
        out[:, :-1, :-1] = table
        out[:, -1, :-1] = table[at, k, :]
        out[:, :-1, -1] = table[at, :, m]
        out[:, -1, -1] = table[at, k, m]
        return out


def tables_of(q: JointCosts) -> Tables:
    """The tables of a problem, with a penalty in place of inf. O(n L + m L^2)"""
    arrays = (q.label_costs, np.stack([q.joined, q.parted], axis=1).reshape(q.m, 2 * q.n_classes**2))
    least = most = largest = 0.0
    for array in arrays:
        if array.size:
            finite = np.isfinite(array)
            least += float(array.min(axis=1).sum())
            most += float(array.max(axis=1, where=finite, initial=-math.inf).sum())
            largest = max(largest, float(np.abs(array).max(where=finite, initial=0.0)))
    spread = max(most - least, 1e-9 * largest * (q.n + q.m)) or 1.0
    penalty = 2.0 * spread + largest  # in place of any entry of a table
    joined, parted = (np.where(np.isfinite(x), x, penalty) for x in (q.joined, q.parted))
    own = np.where(np.isfinite(q.label_costs), q.label_costs, penalty)
    return Tables(own, q.u, q.v, joined, parted, most + 0.25 * spread, FINEST * penalty)


def trivial_bound(q: JointCosts) -> float:
    """The sum of the least entry of each table, less the rounding error: no solution costs less."""
    terms = q.label_costs.min(axis=1, initial=math.inf).tolist() if q.n else []
    if q.m:
        terms += np.minimum(q.joined, q.parted).min(axis=(1, 2)).tolist()
    return math.nextafter(math.fsum(terms), -math.inf)

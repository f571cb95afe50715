"""Triples of elements: at most one subset of a partition contains two or three of the three.

For column generation (see `column_generation`) these are the subset-row inequalities of Jepsen, Petersen, Spoorendonk &
Pisinger (2008) with three rows: added up and halved, the equations of three elements say that the values of the subsets
which contain two or three of them add up to at most 3/2, hence to at most 1 where values are 0 or 1.

Let u be prices of elements, and ``s >= 0`` penalties of triples. The reduced cost of a subset S is

    r(S) = c(S) - u(S) + the sum of the penalties of the triples of which S contains two or three.

The subsets of a partition together pay the penalty of each triple at most once. So the partition costs at least the sum
of u, less the sum of all penalties, plus the sum of ``r(S)`` over its subsets. If no reduced cost is negative, the sum
of u less the sum of the penalties is a lower bound. If a partition costs less than this lower bound plus a gap, then
the reduced costs of all its subsets are below the gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Prices", "contained", "joined_triples", "violated"]

Floats = NDArray[np.float64]
Subsets = NDArray[np.uint8]
Triples = NDArray[np.int32]
VIOLATED = 0.05  # least violation: by how much the values of subsets have to exceed 1
AT_ONCE, EACH = 40, 4  # most triples added at once; most of them with one element in common


@dataclass(frozen=True)
class Prices:
    """Prices of elements, and penalties of triples.

    Parameters
    ----------
    elements : ndarray of float64, shape (n,)
    triples : ndarray of int32, shape (k, 3)
        Different elements in each row.
    penalties : ndarray of float64, shape (k,)
        Not negative.
    """

    elements: Floats
    triples: Triples
    penalties: Floats

    @property
    def total(self) -> float:
        """A lower bound on all partitions, if no reduced cost is negative."""
        return math.fsum(self.elements) - math.fsum(self.penalties)

    def reduced(self, subsets: Subsets, costs: Floats) -> Floats:
        """The reduced cost of each subset, a row; `costs` are those of the subsets."""
        found: Floats = costs - subsets @ self.elements
        paid = self.penalties > 0
        if paid.any():
            found += contained(subsets, self.triples[paid]) @ self.penalties[paid]
        return found

    def towards(self, other: Prices, part: float) -> Prices:
        """The mean of these prices and others of the same triples, where the others have the weight `part`."""
        return Prices(
            (1 - part) * self.elements + part * other.elements,
            self.triples,
            (1 - part) * self.penalties + part * other.penalties,
        )


def contained(subsets: Subsets, triples: Triples) -> NDArray[np.bool_]:
    """Whether each subset contains two or three elements of each triple; shape (subsets, triples)."""
    i, j, k = (subsets[:, column] for column in triples.T)
    found: NDArray[np.bool_] = i + j + k >= 2
    return found


def violated(subsets: Subsets, values: Floats, triples: Triples) -> Triples:
    """The triples, without those given, whose inequalities the values of subsets violate most.

    O(n**2) for each element and each subset with it.
    """
    rows = subsets[values > 0].astype(np.float64)
    weighted = rows * values[values > 0, None]
    together = rows.T @ weighted
    n = len(together)
    found, amounts = [], []
    for a in range(n - 2):
        inside = rows[:, a] > 0
        all_three = rows[inside, a + 1 :].T @ weighted[inside, a + 1 :]
        one = together[a, a + 1 :]
        amount = np.triu(one + one[:, None] + together[a + 1 :, a + 1 :] - 2.0 * all_three, 1)
        b, c = np.nonzero(amount > 1.0 + VIOLATED)
        found.append(np.stack([np.full(len(b), a), b + a + 1, c + a + 1], axis=1))
        amounts.append(amount[b, c])
    candidates = np.concatenate([np.zeros((0, 3), np.int64), *found]).astype(np.int32)
    order = np.argsort(-np.concatenate([np.zeros(0), *amounts]), kind="stable")
    known, count = set(map(tuple, np.sort(triples, axis=1).tolist())), np.zeros(n, np.int64)
    chosen: list[int] = []
    for k in order.tolist():
        triple = candidates[k]
        if len(chosen) == AT_ONCE:
            break
        if (count[triple] < EACH).all() and tuple(triple.tolist()) not in known:
            count[triple] += 1
            chosen.append(k)
    return candidates[chosen]


def joined_triples(triples: Triples, a: int, b: int) -> Triples:
    """The triples after element b is merged into a < b. A triple with both elements is dropped: it always holds."""
    kept = triples[~((triples == a).any(axis=1) & (triples == b).any(axis=1))]
    kept = np.where(kept == b, a, kept)
    return np.unique(np.sort(kept - (kept > b), axis=1), axis=0).astype(np.int32)

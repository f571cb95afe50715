"""Inequalities that every partition satisfies, as flat arrays: the common language of bounds, cuts and certificates.

With ``y[a, b] = 1`` iff a and b are in the same subset:

* **cycle** v1, ..., vk (k >= 3), the pair {v1, vk} closing the path:
  ``y[v1, v2] + ... + y[v(k-1), vk] - y[v1, vk] <= k - 2``. For k = 3 these are the triangle inequalities
  (Grötschel & Wakabayashi 1989; Chopra & Rao 1993).
* **odd wheel** with centre w and an odd cycle v1, ..., vk around it:
  ``sum of y[w, vi] - sum of y[vi, v(i+1)] <= (k - 1) / 2`` (Chopra & Rao 1993).
* **2-partition** of disjoint sets S and T:
  ``sum of y[s, t] - sum of y within S - sum of y within T <= min(|S|, |T|)`` (Grötschel & Wakabayashi 1990).
* **group star** of an element a and members b1, ..., bk of one group of which a subset has at most one:
  ``y[a, b1] + ... + y[a, bk] <= 1``. It is the 2-partition of {a} and these members, without the pairs that are cut.
  For k = 1 no group is needed.
* **cut** of elements a and b, if subsets have to be connected: ``y[a, b] - sum of y over S <= 0`` for pairs S without
  which no base pairs lead from a to b (Horňáková, Lange & Andres 2017). A pair of a or b with another element w stands
  for all base pairs of w. Proof: if a and b are together, base pairs within their subset link them. One of these is in
  S, or of such an element w, which then is together with a and with b.
* **general 2-partition** with an integer b[a] for each of some elements a: over all pairs, ``- sum of b[a1] b[a2] y[a1,
  a2] <= (sum of b[a]**2 - |sum of b[a]|) / 2``. Proof: for each subset, let s be the sum of its b. Then ``s**2 >=
  |s|``, and the sum of ``s**2`` over all subsets is the sum of ``b[a]**2`` over all elements plus twice the sum of
  ``b[a1] b[a2]`` over the pairs within subsets. 2-partitions have b = -1 in S and b = 1 in T. For large b, the
  inequality is nearly that of ``s**2 >= 0``, which is the condition that the matrix of y, with 1 on the diagonal, is
  positive semidefinite. So all such conditions can be expressed by these inequalities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption
from graphpart.partition.certificates import _inequalities

__all__ = [
    "CUT", "CYCLE", "GENERAL", "GROUP_STAR", "KINDS", "LARGEST_COEFFICIENT", "TWO_PARTITION", "WHEEL", "Inequalities",
]  # fmt: skip

KINDS = ("cycle", "odd-wheel", "2-partition", "general-2-partition", "group-star", "cut")
CYCLE, WHEEL, TWO_PARTITION, GENERAL, GROUP_STAR, CUT = range(6)
LARGEST_COEFFICIENT = _inequalities.largest_coefficient()


@dataclass(frozen=True)
class Inequalities:
    """A list of inequalities.

    Attributes
    ----------
    kinds : ndarray of uint8, shape (k,)
        Positions in `KINDS`.
    starts : ndarray of int64, shape (k + 1,)
        The elements of inequality i are ``elements[starts[i]:starts[i + 1]]``.
    elements : ndarray of int32
        Cycle: in order, the closing pair being the last and the first. Odd wheel: the centre, then the cycle around it.
        2-partition: S, then T. Group star: a, then the members. General 2-partition: the elements, then their numbers
        b, at most `LARGEST_COEFFICIENT`. Cut: a and b, then both elements of each pair of S.
    splits : ndarray of int32, shape (k,)
        Number of elements before the second part: 0 for a cycle, 1 for an odd wheel and a group star, |S| for a
        2-partition, all for a general one, 2 for a cut.
    """

    kinds: NDArray[np.uint8] = field(repr=False)
    starts: NDArray[np.int64] = field(repr=False)
    elements: NDArray[np.int32] = field(repr=False)
    splits: NDArray[np.int32] = field(repr=False)

    def __len__(self) -> int:
        return len(self.kinds)

    @classmethod
    def none(cls) -> Inequalities:
        """No inequalities."""
        return cls(np.zeros(0, np.uint8), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))

    @classmethod
    def cycles(cls, starts: NDArray[np.int64], elements: NDArray[np.int32]) -> Inequalities:
        """Cycles given by flat arrays."""
        count = len(starts) - 1
        return cls(np.zeros(count, np.uint8), starts, elements, np.zeros(count, np.int32))

    @classmethod
    def of(cls, items: Iterable[tuple[int, int, Sequence[int]]]) -> Inequalities:
        """From (kind, split, elements) for each inequality."""
        rows = list(items)
        starts = np.cumsum([0] + [len(row[2]) for row in rows], dtype=np.int64)
        return cls(
            np.array([row[0] for row in rows], np.uint8),
            starts,
            np.array([a for row in rows for a in row[2]], np.int32),
            np.array([row[1] for row in rows], np.int32),
        )

    def item(self, k: int) -> tuple[int, int, list[int]]:
        """Inequality k as (kind, split, elements)."""
        return int(self.kinds[k]), int(self.splits[k]), self.elements[self.starts[k] : self.starts[k + 1]].tolist()

    @classmethod
    def general(cls, numbers: NDArray[np.int32]) -> Inequalities:
        """A general 2-partition for each row of a matrix of numbers b, one column for each element."""
        rows, columns = np.nonzero(numbers)
        counts = np.bincount(rows, minlength=len(numbers))
        kept = counts >= 2  # a single element is in no pair
        chosen = kept[rows]
        rows, columns, counts = rows[chosen], columns[chosen], counts[kept]
        starts = np.concatenate([[0], np.cumsum(2 * counts)])
        elements = np.empty(starts[-1], np.int32)
        at = np.arange(len(columns)) + np.repeat(np.cumsum(counts) - counts, counts)
        elements[at] = columns
        elements[at + np.repeat(counts, counts)] = numbers[rows, columns]
        return cls(np.full(len(counts), GENERAL, np.uint8), starts, elements, counts.astype(np.int32))

    def take(self, which: NDArray[Any]) -> Inequalities:
        """Some of the inequalities, by a mask or by ascending positions."""
        lengths = np.diff(self.starts)
        mask = np.zeros(len(self), bool)
        mask[which] = True
        starts = np.concatenate([[0], np.cumsum(lengths[mask])])
        return Inequalities(self.kinds[mask], starts, self.elements[np.repeat(mask, lengths)], self.splits[mask])

    def __add__(self, other: Inequalities) -> Inequalities:
        return Inequalities(
            np.concatenate([self.kinds, other.kinds]),
            np.concatenate([self.starts, other.starts[1:] + self.starts[-1]]),
            np.concatenate([self.elements, other.elements]),
            np.concatenate([self.splits, other.splits]),
        )

    def renamed(self, names: NDArray[np.integer[Any]]) -> Inequalities:
        """The same inequalities with element i renamed to ``names[i]``."""
        is_general = self.kinds == GENERAL
        if not is_general.any():
            return Inequalities(self.kinds, self.starts, names[self.elements].astype(np.int32), self.splits)
        named = np.where(is_general, self.splits, np.diff(self.starts))
        parts = np.stack([named, np.diff(self.starts) - named], 1).ravel()
        is_name = np.repeat(np.tile([True, False], len(self)), parts)
        elements = self.elements.copy()
        elements[is_name] = names[elements[is_name]]
        return Inequalities(self.kinds, self.starts, elements, self.splits)

    def terms(self, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int8], NDArray[np.float64]]:
        """Written out for n elements: (starts, keys, signs, right-hand sides).

        The terms of inequality i are ``sign * y[key // n, key % n]`` for the keys and signs from ``starts[i]`` to
        ``starts[i + 1]``, smaller element first; a coefficient of k is k terms.

        Raises
        ------
        InvalidOption
            If one of them is not of a kind described above.
        """
        counts, rhs, bad = _inequalities.sizes(self.kinds, self.starts, self.splits, self.elements, n)
        if bad >= 0:
            raise InvalidOption(
                f"inequality {bad} over {self.elements[self.starts[bad] : self.starts[bad + 1]].tolist()[:20]}: "
                "expected a cycle, odd wheel, group star, cut or (general) 2-partition of different elements "
                f"from 0 to {n - 1}"
            )
        ends = np.cumsum(counts)
        keys, signs = _inequalities.expand(self.kinds, self.starts, self.splits, self.elements, ends, n)
        return np.concatenate([[0], ends]), keys, signs, rhs

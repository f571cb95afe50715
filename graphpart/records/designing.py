"""From which answers most is learned: candidates that make the decisions about all unsure candidates surer.

The weight of a candidate is taken for linear in what `match` knows of it: its first weight, and the parts of it from
each column. The precision of the coefficients is that of logistic regression: the identity, and ``p (1 - p) x x'`` of
each answer, and of the candidates that `learning` puts beside the answers, where x is what is known and p the present
probability. With the inverse A of that, the variance of the bits of a candidate is ``x' A x``. An answer about a
candidate z reduces the sum of ``p (1 - p)`` times this variance over unsure candidates, whatever it is, by

    ``p (1 - p) z' A S A z / (1 + p (1 - p) z' A z)``,  where S is the sum of ``p (1 - p) x x'`` over them.

Candidates are chosen one after the other such that this is largest, and A is updated after each (Schein & Ungar 2007;
Fedorov 1972). So no two ask for the same, as the candidates nearest to one half often do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.answers.given import NOT_KNOWN, Answers
from graphpart.partition.inputs.arrays import keys_of_pairs
from graphpart.partition.inputs.origin import chance_otherwise
from graphpart.records.learning import WIDER, spread

__all__ = ["Design"]

UNSURE = 4000  # candidates, those nearest to one half


class Design:
    """The candidates of a result of `match`, what is known of them, and how unsure they are.

    Attributes
    ----------
    u, v : ndarray of int64, shape (m,)
        The elements of each candidate.
    bits : ndarray of float64, shape (m,)
        Its present weight.
    """

    def __init__(self, first: Any, now: Any) -> None:
        place = {name: k for k, name in enumerate(first.nodes)}
        sides = (
            np.array([place[name] for name in first.scores.column(side).to_pylist()]) for side in ("left", "right")
        )
        self.u, self.v = (side.astype(np.int64) for side in sides)
        columns = ["match_weight", *(name for name in first.scores.column_names if name.startswith("mw_"))]
        rows = np.column_stack([first.scores.column(name).to_numpy() for name in columns])
        rows = np.nan_to_num(rows.astype(np.float64))
        scale = rows.std(axis=0)
        rows = (rows - rows.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
        self._rows = np.column_stack([rows, np.ones(len(rows))])
        self._rows[:, [0, -1]] *= WIDER
        self._some, self._share = spread(first.scores.column("match_weight").to_numpy())
        self.bits = now.scores.column("match_weight").to_numpy()
        self._n = len(place)
        self._keys = keys_of_pairs(self.u, self.v, self._n)
        self._order = np.argsort(self._keys)

    def worth_asking(self, classes: NDArray[np.int32], given: Answers, n: int) -> NDArray[np.int64]:
        """Unsure candidates, as rows: first 2 n of those from whose answers most is learned, then the least sure.

        Candidates within one of the must-join `classes`, and those that were answered, are left out. O(m log m)
        """
        keys = keys_of_pairs(given.pairs[:, 0], given.pairs[:, 1], self._n)
        at = self._order[np.minimum(np.searchsorted(self._keys, keys, sorter=self._order), len(self._keys) - 1)]
        at, known = at[self._keys[at] == keys], given.said[self._keys[at] == keys] != NOT_KNOWN
        free = classes[self.u] != classes[self.v]
        free[at] = False
        near = np.flatnonzero(free)
        near = near[np.argsort(np.abs(self.bits[near]), kind="stable")[:UNSURE]]
        samples = np.concatenate([self._some, at[known]])
        x = self._rows[samples]
        x *= np.sqrt(self._weight(samples) * np.concatenate([self._share, np.ones(int(known.sum()))]))[:, None]
        inverse = np.linalg.inv(np.eye(x.shape[1]) + x.T @ x)
        x, weight = self._rows[near], self._weight(near)
        unsure = (x * weight[:, None]).T @ x
        first: list[int] = []
        left = np.ones(len(near), bool)
        for _ in range(min(2 * n, len(near))):
            y = x @ inverse
            spread_of = 1 + weight * np.einsum("ij,ij->i", y, x)
            gain = weight * np.einsum("ij,ij->i", y @ unsure, y) / spread_of
            best = int(np.argmax(np.where(left, gain, -1.0)))
            first.append(best)
            left[best] = False
            inverse -= np.outer(y[best], y[best]) * (weight[best] / spread_of[best])
        return np.concatenate([near[first], near[left]])

    def _weight(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """``p (1 - p)`` of candidates."""
        chance = chance_otherwise(self.bits[rows])
        return chance * (1 - chance)

"""From which answers most is learned: candidates that make the decisions about all unsure candidates surer.

The weight of a candidate is taken for linear in what `match` knows of it: its first weight, and the parts of it from
each column. The precision of the coefficients is that of logistic regression: the identity, and ``p (1 - p) x x'`` of
each answer, and of the candidates that `learning` puts beside the answers, where x is what is known and p the present
probability. With the inverse A of that, the variance of the bits of a candidate is ``x' A x``. An answer about a
candidate z reduces the sum of ``p (1 - p)`` times this variance over unsure candidates, whatever it is, by

    ``p (1 - p) z' A S A z / (1 + p (1 - p) z' A z)``,  where S is the sum of ``p (1 - p) x x'`` over them.

Here p knows of the other pairs. Where these decide about a candidate, since both records have surer partners, say, the
answer is no news and tells hardly anything about the weight: the decision would be the same with other weights.
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
from graphpart.records.learning import WIDER, answered, candidates_of, spread

__all__ = ["Design"]


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
        self.u, self.v, weight, parts = candidates_of(first)
        rows = np.column_stack([weight, parts])
        scale = rows.std(axis=0)
        rows = (rows - rows.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
        self._rows = np.column_stack([rows, np.ones(len(rows))])
        self._rows[:, [0, -1]] *= WIDER
        self._some, self._share = spread(weight)
        self.bits = now.scores.column("match_weight").to_numpy()
        self._n = len(first.nodes)
        self._keys = keys_of_pairs(self.u, self.v, self._n)
        self._order = np.argsort(self._keys)

    def near(self, classes: NDArray[np.int32], given: Answers) -> NDArray[np.int64]:
        """The 4000 candidates nearest to one half, the least sure first; not those answered or required together."""
        at, _ = answered(self._keys, self._order, self._n, given)
        free = classes[self.u] != classes[self.v]
        free[at] = False
        near = np.flatnonzero(free)
        return near[np.argsort(np.abs(self.bits[near]), kind="stable")[:4000]]

    def worth_asking(
        self, near: NDArray[np.int64], chance: NDArray[np.float64], given: Answers, n: int
    ) -> NDArray[np.int64]:
        """Places in `near`: first 2 n of those from whose answers most is learned, then the others in their order.

        The chance of each to be wrong knows of the other pairs: from the answer about a pair that others decide, hardly
        anything is learned about its weight. O(m log m)
        """
        at, said = answered(self._keys, self._order, self._n, given)
        at = at[said != NOT_KNOWN]
        every = chance_otherwise(self.bits)
        samples, share = np.concatenate([self._some, at]), np.concatenate([self._share, np.ones(len(at))])
        x = self._rows[samples] * np.sqrt(share * every[samples] * (1 - every[samples]))[:, None]
        inverse = np.linalg.inv(np.eye(x.shape[1]) + x.T @ x)
        x, weight = self._rows[near], chance * (1 - chance)
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
        return np.concatenate([np.array(first, np.int64), np.flatnonzero(left)])

"""Factor templates: the parameters that the factors of all variables, and those of all pairs, share.

The score of a labeling y, the larger the more probable, is

    sum over variables v of <W[y_v], x_v>  +  sum over pairs (u, v) of <U[t(y_u, y_v)], g_uv>

with attributes x of variables and g of pairs. The tie t says which parameters two labels select: a full table has one
for each pair of labels, a symmetric one for each unordered pair, Potts one for all pairs of equal labels. Labels that
select none score 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption
from graphpart.learn.objective import MATRIX_WORK
from graphpart.learn.random_fields.forbidden import Rules
from graphpart.learn.random_fields.structures import Packed

__all__ = ["Template", "tie_of"]

Array = NDArray[np.float64]


def product(X: Any, W: Array) -> Array:
    """X @ W in slices of rows: waking threads of the BLAS, on a busy machine, costs more than the arithmetic."""
    if not isinstance(X, np.ndarray):
        return np.ascontiguousarray(X @ W)
    out = np.empty((len(X), W.shape[1]))
    W = np.ascontiguousarray(W)
    rows = max(1, MATRIX_WORK // max(1, W.size))
    whole = len(X) - len(X) % rows
    if rows < 32:  # large enough to be worth it
        rows = whole = 0
    if whole:
        np.matmul(X[:whole].reshape(-1, rows, X.shape[1]), W, out=out[:whole].reshape(-1, rows, W.shape[1]))
    np.matmul(X[whole:], W, out=out[whole:])
    return out


def sum_of_products(X: Any, D: Array) -> Array:
    """X.T @ D, likewise."""
    if not isinstance(X, np.ndarray):
        return np.asarray(X.T @ D)
    rows = max(1, MATRIX_WORK // max(1, X.shape[1] * D.shape[1]))
    whole = len(X) - len(X) % rows
    if rows < 32:
        rows = whole = 0
    total: Array = X[whole:].T @ D[whole:]
    if whole:
        D = np.ascontiguousarray(D[:whole]).reshape(-1, rows, D.shape[1])
        step = max(1, (1 << 16) // max(1, X.shape[1] * D.shape[2]))  # products that are kept at a time
        stack = X[:whole].reshape(-1, rows, X.shape[1]).transpose(0, 2, 1)
        for k in range(0, len(stack), step):
            total += np.matmul(stack[k : k + step], D[k : k + step]).sum(axis=0)
    return total


def tie_of(pairwise: Any, labels: int) -> tuple[NDArray[np.int32], int]:
    """(the number that each pair of labels selects, the count of numbers); the last number is 0, for no parameter.

    Parameters
    ----------
    pairwise : {"table", "symmetric", "potts"} or array_like of int, shape (labels, labels)
        In an array, a number from 0 on for each parameter, and -1 for none.

    Examples
    --------
    >>> tie_of("potts", 2)[0].tolist(), tie_of("symmetric", 2)[0].tolist()
    ([[0, 1], [1, 0]], [[0, 1], [1, 2]])
    """
    if isinstance(pairwise, str):
        if pairwise == "table":
            return np.arange(labels * labels, dtype=np.int32).reshape(labels, labels), labels * labels
        if pairwise == "potts":
            return np.where(np.eye(labels, dtype=bool), 0, 1).astype(np.int32), 1
        if pairwise == "symmetric":
            a, b = np.triu_indices(labels)
            tie = np.zeros((labels, labels), np.int32)
            tie[a, b] = tie[b, a] = np.arange(len(a))
            return tie, len(a)
        raise InvalidOption(f"pairwise is {pairwise!r}: expected 'table', 'symmetric', 'potts' or an array of integers")
    given = np.asarray(pairwise)
    if given.shape != (labels, labels) or given.dtype.kind not in "iu" or (given < -1).any():
        raise InvalidOption(
            f"pairwise is an array of shape {given.shape} and dtype {given.dtype}: expected ({labels}, {labels}) of "
            "integers of at least -1, one row for each label"
        )
    count = int(given.max(initial=-1)) + 1
    return np.where(given < 0, count, given).astype(np.int32), count


@dataclass(frozen=True, eq=False)
class Template:
    """The layout of the parameters in one vector: W, row by row of attributes, then U.

    Parameters
    ----------
    labels, columns, pair_columns : int
        Labels, attributes of variables, attributes of pairs (0: the constant 1).
    tie : ndarray of int32, shape (labels, labels)
    count : int
        Parameters of the tie.
    intercept : bool
        Whether each label has a parameter that no attribute multiplies.
    rules : Rules, optional
        Labels that may not follow each other. Then the tie has the number ``count + 1`` for these, whose score is -inf.
    """

    labels: int
    columns: int
    pair_columns: int
    tie: NDArray[np.int32]
    count: int
    intercept: bool
    rules: Rules | None = None

    @property
    def unary_size(self) -> int:
        """Parameters of variables."""
        return (self.columns + self.intercept) * self.labels

    @property
    def numbers(self) -> int:
        """Numbers of a pair: one for each parameter of the tie, 0 for none, -inf for what rules forbid."""
        return self.count + 1 + (self.rules is not None)

    @property
    def size(self) -> int:
        """All parameters."""
        return self.unary_size + max(1, self.pair_columns) * self.count

    def parts(self, theta: Array) -> tuple[Array, Array]:
        """W, shape (attributes, labels), and U, shape (attributes of pairs, parameters of the tie)."""
        unary = theta[: self.unary_size].reshape(self.columns + self.intercept, self.labels)
        return unary, theta[self.unary_size :].reshape(max(1, self.pair_columns), self.count)

    def scores(self, data: Packed, theta: Array) -> tuple[Array, Array]:
        """Scores of labels, shape (n, labels), and the numbers of pairs, shape (m or 1, numbers)."""
        unary, pair = self.parts(theta)
        scores = product(data.features, unary[: self.columns])
        if self.intercept:
            scores += unary[-1]
        numbers = np.zeros((1 if data.pair_features is None else len(data.pairs), self.numbers))
        numbers[:, : self.count] = pair if data.pair_features is None else product(data.pair_features, pair)
        if self.rules is not None:
            numbers[:, -1] = -np.inf
            filled = np.diff(data.start) > 0
            for at, forbidden in ((data.start[:-1], self.rules.first), (data.start[1:] - 1, self.rules.last)):
                scores[np.ix_(at[filled], forbidden)] = -np.inf
        return scores, numbers

    def gradient(self, data: Packed, by_scores: Array, by_numbers: Array) -> Array:
        """The derivatives of a function by the parameters, from those by the scores and the numbers of pairs."""
        out = np.empty(self.size)
        unary, pair = self.parts(out)
        unary[: self.columns] = sum_of_products(data.features, by_scores)
        if self.intercept:
            unary[-1] = by_scores.sum(axis=0)
        by_numbers = by_numbers[:, : self.count]
        pair[...] = by_numbers if data.pair_features is None else sum_of_products(data.pair_features, by_numbers)
        return out

    def selected(self, data: Packed, labels: NDArray[np.int32]) -> tuple[Array, Array]:
        """Indicators of the scores and numbers of pairs that a labeling selects, in the shape of `scores`."""
        ones = np.zeros((data.n, self.labels))
        ones[np.arange(data.n), labels] = 1.0
        at = self.tie[labels[data.pairs[:, 0]], labels[data.pairs[:, 1]]]
        if data.pair_features is None:
            return ones, np.bincount(at, minlength=self.numbers).astype(np.float64)[None, :]
        chosen = np.zeros((len(data.pairs), self.numbers))
        chosen[np.arange(len(at)), at] = 1.0
        return ones, chosen

    def tables(self, numbers: Array) -> Array:
        """The numbers of pairs as tables, shape (m or 1, labels, labels)."""
        return numbers[:, self.tie]

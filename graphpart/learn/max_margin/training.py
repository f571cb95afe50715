"""Training problems: the elements, pairs, attributes and true partition of each, and the loss of any other partition.

For a problem with pairs p, attributes x_p and weights a_p, scaled such that the a_p add up to 1, and the true decision
y_p = 1 for joined pairs, let for the decisions z of any partition

    loss(z)  =  sum over p of  b_p |y_p - z_p|                the weighted share of wrong pairs, b_p >= 0, sum 1
    psi(z)   =  sum over p of  a_p (y_p - z_p) x_p            what the truth has more of than z

With costs c_p = -<theta, x_p>, the sum of a_p c_p over joined pairs of z exceeds that of the truth by <theta, psi(z)>.
The hinge of the problem is the largest loss(z) - <theta, psi(z)> over all partitions z, at least 0 for the truth
itself. It is attained by a partition of least cost with

    c'_p  =  -a_p <theta, x_p>  +  b_p  if y_p = 1,  - b_p  if y_p = 0

because the loss is linear in z (Finley & Joachims 2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.learn.attributes import pair_indices
from graphpart.learn.objective import Array, check_lengths, decision_signs, float_rows
from graphpart.partition.problem import SetPartition

__all__ = ["TrainingProblem", "training_problems"]

Flags = NDArray[np.bool_]


class TrainingProblem:
    """One problem with its true partition.

    Parameters
    ----------
    pairs : ndarray of int64, shape (m, 2)
        Different pairs of different elements, the smaller index first.
    X : ndarray of float64, shape (m, V)
        Attributes, with a last column 1 if there is an intercept.
    same : ndarray of bool, shape (m,)
    weights : ndarray of float64, shape (m,)
        Of the pairs; not negative.
    join_weight, cut_weight : float
        The weights in the loss of a true join that is cut, and of a true cut that is joined.
    labels : ndarray of int64, shape (n,)
        The true partition.
    """

    def __init__(
        self,
        pairs: NDArray[np.int64],
        X: Array,
        same: Flags,
        weights: Array,
        join_weight: float,
        cut_weight: float,
        labels: NDArray[np.int64],
    ) -> None:
        self.labels = labels
        self.n, self.pairs, self.X, self.same = len(labels), pairs, X, same
        total = float(weights.sum())
        self.share = weights / total if total > 0 else weights
        loss = weights * np.where(same, join_weight, cut_weight)
        total = float(loss.sum())
        self.loss = loss / total if total > 0 else loss
        self.signed_loss = np.where(same, self.loss, -self.loss)
        self.truth = (self.share * same) @ X  # sum of a_p x_p over true joins
        self.constant = float(self.loss[same].sum())  # the loss of cutting every pair
        self._lists_all = 2 * len(pairs) == self.n * (self.n - 1)

    def costs(self, theta: Array) -> Array:
        """a_p c_p for each pair, without the loss."""
        costs: Array = self.X @ theta
        costs *= -self.share
        return costs

    def augmented(self, theta: Array) -> Array:
        """c'_p for each pair."""
        costs = self.costs(theta)
        costs += self.signed_loss
        return costs

    def problem(self, costs: Array) -> SetPartition:
        """The set partition problem with given costs of the pairs."""
        if not self._lists_all or not np.isfinite(costs).all():
            return SetPartition.from_pairs(self.n, self.pairs, costs)
        matrix = np.zeros((self.n, self.n))
        u, v = self.pairs.T
        matrix[u, v] = matrix[v, u] = costs
        return SetPartition._of_symmetric(range(self.n), matrix, {"dense": True})

    def decisions(self, labels: NDArray[np.integer[Any]]) -> Flags:
        """Which of the pairs a partition joins."""
        u, v = self.pairs.T
        joined: Flags = labels[u] == labels[v]
        return joined

    def plane(self, joined: NDArray[Any]) -> tuple[Array, float]:
        """psi(z) and loss(z) for decisions z, which may be fractions."""
        psi = self.truth - (self.share * joined) @ self.X
        return psi, float(self.loss @ np.abs(self.same - joined.astype(np.float64)))

    def hinge(self, theta: Array, least: float) -> float:
        """The hinge from the least augmented cost; from a lower bound on that cost, an upper bound on the hinge."""
        return self.constant - float(theta @ self.truth) - least


def training_problems(
    X: Any,
    y: Any,
    pairs: Any,
    problem: Any,
    weights: Any,
    loss_weights: Any,
    intercept: bool,
) -> list[TrainingProblem]:
    """Check the arguments of `fit` and split them into training problems.

    See `MaxMarginPartition.fit` for the parameters.
    """
    if isinstance(X, list | tuple) and X and all(np.ndim(part) == 2 for part in X):
        return _from_lists(X, y, pairs, problem, weights, loss_weights, intercept)
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if rows.ndim != 2:
        raise InvalidProblem(f"X has shape {rows.shape}: expected (pairs, attributes)")
    decisions = np.asarray(y)
    check_lengths(len(rows), decisions, weights)
    same = decision_signs(decisions, 0) < 0
    indices = _elements(pairs, len(rows))
    w = np.ones(len(rows)) if weights is None else np.asarray(weights, np.float64)
    if not ((w >= 0) & (w < np.inf)).all():
        at = int(np.flatnonzero(~((w >= 0) & (w < np.inf)))[0])
        raise InvalidProblem(f"weight {at} is {w[at]}: expected a finite number of at least 0")
    number = np.zeros(len(rows), np.int64)
    if problem is not None:
        given = np.asarray(problem)
        if given.shape != (len(rows),):
            raise InvalidProblem(f"problem has shape {given.shape}: expected ({len(rows)},), one for each pair")
        number = np.unique(given, return_inverse=True)[1].reshape(-1)
    values = float_rows(rows, 0)
    if intercept:
        values = np.hstack([values, np.ones((len(values), 1))])
    order = np.argsort(number, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(number[order])) + 1) if len(order) else []
    return [_checked(indices[at], values[at], same[at], w[at], loss_weights, at) for at in parts]


def _from_lists(
    X: Sequence[Any], y: Any, pairs: Any, problem: Any, weights: Any, loss_weights: Any, intercept: bool
) -> list[TrainingProblem]:
    """Training problems from lists with an entry for each problem."""
    if problem is not None:
        raise InvalidOption("problem is given, but X is a list of problems: expected one of them")
    if len(y) != len(X) or len(pairs) != len(X) or (weights is not None and len(weights) != len(X)):
        raise InvalidProblem(f"X has {len(X)} problems, y {len(y)}, pairs {len(pairs)}: expected equally many")
    out: list[TrainingProblem] = []
    for i, rows in enumerate(X):
        w = None if weights is None else weights[i]
        out += training_problems(np.asarray(rows), y[i], pairs[i], None, w, loss_weights, intercept)
    if len({part.X.shape[1] for part in out}) > 1:
        raise InvalidProblem("problems have different numbers of attributes: expected one number")
    return out


def _elements(pairs: ArrayLike, expected: int) -> NDArray[np.int64]:
    given = np.asarray(pairs)
    if given.shape != (expected, 2) and not (expected == 0 and given.size == 0):
        raise InvalidProblem(f"pairs have shape {given.shape}: expected ({expected}, 2)")
    largest = int(given.max()) + 1 if given.size else 0
    indices = np.sort(pair_indices(given, largest).astype(np.int64), axis=1)
    alike = indices[:, 0] == indices[:, 1]
    if alike.any():
        raise InvalidProblem(f"pair {int(np.argmax(alike))} joins an element with itself: expected two elements")
    return indices


def _checked(
    pairs: NDArray[np.int64], X: Array, same: Flags, weights: Array, loss_weights: Any, rows: NDArray[np.int64]
) -> TrainingProblem:
    """One problem; its decisions have to be those of a partition."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    elements, inverse = np.unique(pairs, return_inverse=True)
    local = inverse.reshape(pairs.shape).astype(np.int64)
    n = len(elements)
    keys = local[:, 0] * n + local[:, 1]
    unique, first = np.unique(keys, return_index=True)
    if len(unique) < len(keys):
        again = np.setdiff1d(np.arange(len(keys)), first)[0]
        u, v = pairs[again].tolist()
        raise InvalidProblem(f"pair ({u}, {v}) of row {rows[again]} is listed twice: expected each pair once")
    ends = local[same].T.astype(np.int32)  # the components of SciPy 1.11 take no other indices, and fail silently
    graph = coo_array((np.ones(ends.shape[1]), ends), shape=(n, n))
    labels = connected_components(graph, directed=False)[1]
    wrong = ~same & (labels[local[:, 0]] == labels[local[:, 1]])
    if wrong.any():
        at = int(np.argmax(wrong))
        u, v = pairs[at].tolist()
        raise InvalidProblem(
            f"pair ({u}, {v}) of row {rows[at]} has decision 0, but other pairs join these elements: "
            "expected the decisions of a partition"
        )
    join, cut = weights_of_loss(loss_weights, same, weights)
    return TrainingProblem(local, X, same, weights, join, cut, labels.astype(np.int64))


def weights_of_loss(given: Any, same: Flags, weights: Array) -> tuple[float, float]:
    """The weights of wrongly cut and of wrongly joined pairs; "balanced" lets joins and cuts count half each."""
    if isinstance(given, str):
        if given != "balanced":
            raise InvalidOption(f"loss_weights is {given!r}: expected two numbers or 'balanced'")
        joins, cuts = float(weights[same].sum()), float(weights[~same].sum())
        return (1.0 / joins if joins else 1.0), (1.0 / cuts if cuts else 1.0)
    pair = np.asarray(given, np.float64)
    if pair.shape != (2,) or not ((pair >= 0) & (pair < np.inf)).all() or not pair.any():
        raise InvalidOption(f"loss_weights is {given!r}: expected two finite numbers >= 0, not both 0, or 'balanced'")
    return float(pair[0]), float(pair[1])

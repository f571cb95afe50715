"""Linear metric learning with margins: positives are pulled together, negatives pushed apart.

For pairs s of elements with difference d_s = x_a - x_b of attributes, find the matrix P, of given number of rows, that
minimises

    mean over positive pairs of  max(0, ||P d_s||^2 - alpha)
    + lambda * mean over negative pairs of  max(0, beta - ||P d_s||^2)

with 0 <= alpha < beta: positive pairs closer than alpha and negative pairs farther than beta cost nothing. The gradient
is 2 P M, where M is the sum of d d^T over the positive pairs with a cost, divided by the number of positive pairs,
minus lambda times the same for negative pairs. L-BFGS minimises the objective, starting from the principal axes of the
data. The objective is not convex in P.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidOption, InvalidProblem, MissingDependency
from graphpart.learn import pairs
from graphpart.partition.problem import SetPartition

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError:
    raise MissingDependency("scikit-learn", "learn", "linear metric learning") from None

__all__ = ["LinearMetric", "metric_objective"]

Array = NDArray[np.float64]


class LinearMetric(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A linear transform after which squared distances separate pairs of one class from other pairs.

    Parameters
    ----------
    n_components : int, optional
        Rows of P. Default: the number of attributes.
    alpha, beta : float
        The margins, ``0 <= alpha < beta``.
    balance : float
        lambda, the weight of negative pairs.
    max_pairs : int, optional
        The number of pairs to learn from, half of them positive, drawn at random. Default: all.
    max_iter : int
        Iterations of L-BFGS.
    random_state : int, optional
        Seed of the draw.

    Attributes
    ----------
    components_ : ndarray of float64, shape (n_components, V)
        P.
    objective_ : float
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 5.0], [0.1, -5.0], [3.0, 5.1], [3.1, -4.9]])
    >>> metric = LinearMetric().fit(X, [0, 0, 1, 1])
    >>> metric.pair_costs(X, [(0, 1), (0, 2)]).round(1)  # the second attribute is ignored
    array([-0.5,  1. ])
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        alpha: float = 0.0,
        beta: float = 1.0,
        balance: float = 1.0,
        max_pairs: int | None = None,
        max_iter: int = 200,
        random_state: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.beta = beta
        self.balance = balance
        self.max_pairs = max_pairs
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> LinearMetric:
        """Learn from elements of known classes.

        Parameters
        ----------
        X : array_like, shape (n, V)
        y : array_like, shape (n,)
        """
        from scipy.optimize import minimize

        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        if not 0 <= self.alpha < self.beta or not self.balance > 0:
            raise InvalidOption(
                f"alpha is {self.alpha}, beta is {self.beta}, balance is {self.balance}: "
                "expected 0 <= alpha < beta and balance > 0"
            )
        V = X.shape[1]
        rows = V if self.n_components is None else self.n_components
        if not 1 <= rows <= V:
            raise InvalidOption(f"n_components is {rows}: expected 1 to {V}")
        y = column_or_1d(y, warn=True)
        chosen, same = pairs.training_pairs(y, self.max_pairs, seed=self.random_state, missing=None)

        def objective(p: Array) -> tuple[float, Array]:
            value, gradient = metric_objective(p.reshape(rows, V), X, chosen, same, self.alpha, self.beta, self.balance)
            return value, gradient.ravel()

        found = minimize(
            objective, _principal_axes(X, rows).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": self.max_iter}
        )
        self.components_ = found.x.reshape(rows, V)
        self.objective_, self.n_iter_ = float(found.fun), int(found.nit)
        return self

    def transform(self, X: Any) -> Array:
        """P x for each row, shape (n, n_components)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        transformed: Array = X @ self.components_.T
        return transformed

    def pair_costs(self, X: Any, candidates: ArrayLike) -> Array:
        """The learned squared distance minus ``(alpha + beta) / 2``, for each of m pairs."""
        theta = -np.ones(len(self.components_))
        return pairs.pair_costs(self.transform(X), candidates, theta, "squared-difference") - self._middle()

    def problem(self, X: Any) -> SetPartition:
        """The set partition problem over all pairs, with the costs of :meth:`pair_costs`."""
        C = pairs.cost_matrix(self.transform(X), -np.ones(len(self.components_)), "squared-difference")
        C -= self._middle()
        return SetPartition.from_matrix(C)

    def _middle(self) -> float:
        return 0.5 * (self.alpha + self.beta)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def metric_objective(
    P: Array,
    X: Array,
    chosen: NDArray[np.integer[Any]],
    same: NDArray[np.integer[Any]],
    alpha: float,
    beta: float,
    balance: float,
) -> tuple[float, Array]:
    """The objective and its gradient with respect to P, in blocks of pairs. O(m V rows + m V^2)"""
    if P.shape[1] != X.shape[1]:
        raise InvalidProblem(f"P has shape {P.shape} for {X.shape[1]} attributes")
    positives = int(same.sum())
    shares = (1.0 / max(1, positives), balance / max(1, len(same) - positives))
    value, moment = 0.0, np.zeros((X.shape[1], X.shape[1]))
    Z = X @ P.T
    for first in range(0, len(chosen), 4096):
        u, v = chosen[first : first + 4096].T
        joined = same[first : first + 4096] == 1
        difference = Z[u] - Z[v]
        squared = np.einsum("pr,pr->p", difference, difference)
        excess = np.where(joined, squared - alpha, beta - squared)
        active = excess > 0
        weight = np.where(joined, shares[0], shares[1]) * active
        value += float(weight @ excess)
        d = X[u[active]] - X[v[active]]
        moment += (d * (weight * np.where(joined, 1.0, -1.0))[active, None]).T @ d
    return value, 2 * P @ moment


def _principal_axes(X: Array, rows: int) -> Array:
    """The first principal axes, scaled so that the mean squared distance of pairs is about 1."""
    centered = X - X.mean(axis=0)
    _, values, axes = np.linalg.svd(centered, full_matrices=True)
    spread = 2 * float(np.square(values).sum()) / max(1, len(X))
    start: Array = axes[:rows] / np.sqrt(spread if spread > 0 else 1.0)
    return start

"""Logistic regression for decisions on pairs: the maximum a posteriori estimate of a linear cost.

Each pair of elements has an attribute vector x in R^V and a decision y, 1 for "in the same cluster". With
f = <theta, x>, a likelihood P(y = 1 | x) = 1 / (1 + 2^-f) and a Gaussian prior on theta with standard deviation sigma,
the estimate minimises

    sum_s (-y_s f_s + log2(1 + 2^f_s))  +  log2(e) / (2 sigma^2) ||theta - mu||^2

for the mean mu of the prior, which is 0 by default.

The most probable partition under the same model minimises the sum of the costs c = -<theta, x> of the pairs within
clusters; without the constraint that decisions form a partition, y = 1 where f > 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidOption, InvalidProblem, warn
from graphpart.learn.descent import Trace, newton, steepest_descent
from graphpart.learn.linear_costs import LinearCosts, check_scales, names_of, rows_of_matrix
from graphpart.learn.objective import LN2, Blocks, Objective, check_lengths
from graphpart.machine import CHUNK
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["LogisticRegression"]

SOLVERS = {"newton": newton, "steepest-descent": steepest_descent}
LIMITS = {"newton": 200, "steepest-descent": 10_000}


class LogisticRegression(LinearCosts):
    """l2-regularised logistic regression with base 2.

    Parameters
    ----------
    sigma : float
        Standard deviation of the Gaussian prior of each parameter, including the intercept.
    solver : {"newton", "steepest-descent"}
        Newton's method takes a few passes over the data. Steepest descent with exact line search, the algorithm of
        textbooks, takes hundreds of passes if attributes are correlated. Both reach the same parameters.
    tol : float
        Tolerance on the norm of the gradient of the objective, which is a sum over samples.
    max_iterations : int, optional
        Default 200 for Newton's method and 10000 for steepest descent. A warning is issued if the run ends by this
        limit.
    intercept : bool
        Append a constant attribute 1, whose parameter is the last one.
    mean : float or array_like
        Mean of the prior: of all parameters, or of each one, with that of the intercept last.

    Attributes
    ----------
    theta_ : ndarray of float64, shape (V,) or (V + 1,)
        The parameters.
    attributes_ : tuple of str, or None
        Names of the V attributes, if they were given or X is a data frame.
    objective_, gradient_norm_ : float
        At `theta_`.
    history_ : list of (float, float)
        Objective and norm of the gradient at each iterate. Steepest descent does not compute the last gradient: NaN.
    n_iter_ : int
    n_samples_ : int
    status_ : Status
        ``optimal`` (the tolerance is reached), ``feasible`` (rounding allows no further decrease), ``time_limit``,
        ``iteration_limit``, or ``interrupted``.

    Notes
    -----
    The prior makes the minimiser unique and finite also if the samples are separable, of one class only, or none, and
    if attributes are constant or collinear; parameters of attributes that are 0 in all samples are 0.

    O(n V^2) for each Newton iteration, O(n V) for each of steepest descent. X is read in blocks and never copied as
    a whole, so it may be a memory map. The same minimiser is that of
    ``sklearn.linear_model.LogisticRegression(C=(sigma * ln 2) ** 2, fit_intercept=False)``, whose coefficients are
    ``theta * ln 2``.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0, 1.0], [0.2, 1.0], [0.8, 1.0], [1.0, 1.0]]), np.array([1, 1, 0, 0])
    >>> model = LogisticRegression(sigma=10.0).fit(X, y)
    >>> model.predict(X)
    array([1, 1, 0, 0])
    >>> model.costs(X).round(1)
    array([-3.9, -2.2,  2.7,  4.3])
    """

    FORMAT = "graphpart logistic regression"
    gradient_norm_: float
    history_: Trace
    n_iter_: int
    n_samples_: int
    status_: Status

    def __init__(
        self,
        sigma: float = 1.0,
        *,
        solver: str = "newton",
        tol: float = 1e-6,
        max_iterations: int | None = None,
        intercept: bool = False,
        mean: ArrayLike = 0.0,
    ) -> None:
        self.sigma = sigma
        self.mean = mean
        self.solver = solver
        self.tol = tol
        self.max_iterations = max_iterations
        self.intercept = intercept

    def __repr__(self) -> str:
        fitted = f", {len(self.theta_)} parameters" if hasattr(self, "theta_") else ", not fitted"
        return f"LogisticRegression(sigma={self.sigma}, solver={self.solver!r}, intercept={self.intercept}{fitted})"

    # ---------------------------------------------------------------------------------------------------- learning

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        attributes: Sequence[str] | None = None,
        time_limit: float | None = None,
        callback: Callable[[float, float], object] | None = None,
    ) -> LogisticRegression:
        """Learn from samples.

        Parameters
        ----------
        X : array_like or scipy.sparse matrix, shape (n, V)
            Attributes; real numbers of any type, converted block by block. Also a data frame or a memory map. A
            sparse matrix is made dense some rows at a time.
        y : array_like, shape (n,)
            Decisions 0 or 1.
        sample_weight : array_like, shape (n,), optional
            Finite and not negative. A sample of weight k counts as much as k equal samples.
        attributes : sequence of V str, optional
            Names of the attributes; default: the columns of a data frame.
        time_limit : float, optional
            Seconds; the parameters of the last complete iteration are kept.
        callback : callable, optional
            ``callback(seconds, objective)`` after each iteration; a true return value ends the run.

        Raises
        ------
        InvalidProblem
            If shapes do not fit, an attribute is not a finite number, or a decision is neither 0 nor 1; the message
            names the first such sample.
        InvalidOption
            If a parameter of the model has no meaning.
        """
        attributes = names_of(attributes, X)
        X, y, dense = rows_of_matrix(X), np.asanyarray(y), not hasattr(X, "tocsr")
        weights = None if sample_weight is None else np.asanyarray(sample_weight)
        if X.ndim != 2:
            raise InvalidProblem(f"X has shape {X.shape}: expected (samples, attributes)")

        if not dense:
            check_lengths(X.shape[0], y, weights)

        def blocks() -> Iterator[tuple[Any, ...]]:
            samples: tuple[Any, ...] = (X, y) if weights is None else (X, y, weights)
            if dense:
                yield samples
                return
            step = max(1, CHUNK // max(1, X.shape[1]))
            for first in range(0, X.shape[0], step):
                part = [array[first : first + step] for array in samples]
                yield (part[0].toarray(), *part[1:])

        return self.fit_blocks(blocks, X.shape[1], attributes=attributes, time_limit=time_limit, callback=callback)

    def fit_blocks(
        self,
        blocks: Blocks,
        n_attributes: int,
        *,
        attributes: Sequence[str] | None = None,
        time_limit: float | None = None,
        callback: Callable[[float, float], object] | None = None,
    ) -> LogisticRegression:
        """Learn from samples that are produced block by block, once for each pass.

        Parameters
        ----------
        blocks : callable
            ``blocks()`` returns an iterator over tuples ``(X, y)`` or ``(X, y, weights)``, the same at each call.
        n_attributes : int
            V, the number of columns of each X.
        attributes, time_limit, callback
            As for :meth:`fit`.
        """
        self._check_options()
        if n_attributes + self.intercept < 1:
            raise InvalidProblem("X has no columns: expected at least one attribute")
        names = names_of(attributes, None, n_attributes)
        limit = LIMITS[self.solver] if self.max_iterations is None else self.max_iterations
        stopping = Stopping(time_limit, limit, None, callback)
        size, mean = n_attributes + self.intercept, np.asarray(self.mean, np.float64)
        if mean.shape not in ((), (size,)) or not np.isfinite(mean).all():
            raise InvalidOption(f"mean is {self.mean!r}: expected a finite number, or {size}, one for each")
        objective = Objective(blocks, n_attributes, self.sigma, self.intercept, stopping, mean)
        trace: Trace = []
        with np.errstate(over="ignore", invalid="ignore"):  # sums that overflow are told in one line
            theta, status = SOLVERS[self.solver](objective, self.tol, trace)
        stopping.reraise()
        self.theta_, self.status_, self.attributes_ = theta, status, names
        self.history_, self.n_iter_, self.n_samples_ = trace, stopping.iterations, objective.samples
        self.objective_, self.gradient_norm_ = trace[-1] if trace else (math.nan, math.nan)
        if status is Status.ITERATION_LIMIT:
            warn(
                f"logistic regression stopped after {stopping.iterations} iterations with gradient norm "
                f"{self.gradient_norm_:.3g}: rescale the attributes, or raise max_iterations or tol"
            )
        return self

    def _check_options(self) -> None:
        check_scales(self)
        if self.solver not in SOLVERS:
            raise InvalidOption(f"solver is {self.solver!r}: expected {' or '.join(SOLVERS)}")

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(y = 0 | x) and P(y = 1 | x), shape (n, 2)."""
        scores = self.decision_function(X) * LN2
        e = np.exp(-np.abs(scores))
        larger, smaller = 1.0 / (1.0 + e), e / (1.0 + e)
        joins = scores >= 0
        return np.stack([np.where(joins, smaller, larger), np.where(joins, larger, smaller)], axis=1)

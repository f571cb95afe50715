"""Linear costs of pairs learned from whole partitions, with a margin: the structured support vector machine.

The true partition of each training problem should cost less than every other partition, by a margin that is the loss of
the other one (margin rescaling, Tsochantaridis et al. 2005; for correlation clustering, Finley & Joachims 2005, Kim et
al. 2011). With costs c = -<theta, x> of joined pairs, averaged over the pairs of a problem, minimise

    1 / (2 sigma^2) ||theta - theta_0||^2
    +  1/N sum over problems i of  max over partitions z of  loss_i(z) - (cost_i(z) - cost_i(truth)).

The loss is the weighted share of wrong pairs. See `training` for the arithmetic and `frank_wolfe` for the solver.
Logistic regression, in contrast, assumes that pairs are independent. In dense problems, where many pairs rely on the
same evidence, it counts this evidence many times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.learn.linear_costs import LinearCosts, check_scales, names_of
from graphpart.learn.logistic import LogisticRegression
from graphpart.learn.max_margin.frank_wolfe import Found, History, Machine, minimise
from graphpart.learn.max_margin.oracle import ORACLES
from graphpart.learn.max_margin.perceptron import average
from graphpart.learn.max_margin.training import TrainingProblem, training_problems
from graphpart.learn.objective import Array
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["MaxMarginPartition"]

SOLVERS = ("frank-wolfe", "perceptron")
LIMITS = {"frank-wolfe": 1000, "perceptron": 20}


class MaxMarginPartition(LinearCosts):
    """Costs of pairs such that the true partition is better than every other partition, by a margin.

    Parameters
    ----------
    sigma : float
        Standard deviation of the Gaussian prior of each parameter around the start. The data term of the objective is
        an average over pairs; in `LogisticRegression`, it is a sum.
    solver : {"frank-wolfe", "perceptron"}
        Block-coordinate Frank-Wolfe, which bounds the distance from the least objective; or the averaged structured
        perceptron, which has no prior and no margin, and takes one inference for each step.
    oracle : {"local-search", "exact", "relaxed"}
        How the partition that violates the margin most is found: by greedy joining and Kernighan-Lin; by branch and
        cut; or as a point of the linear relaxation, whose pairs are joined by fractions (Finley & Joachims 2008).
    loss_weights : (float, float) or "balanced"
        The loss of a true join that is cut, and of a true cut that is joined. With ``"balanced"``, all joins of a
        problem together count as much as all its cuts.
    start : "logistic", None, or array_like
        The mean of the prior, from which the solver starts: the parameters of `LogisticRegression` on the same pairs,
        zeros, or given parameters.
    tol : float
        Stop as soon as the duality gap is at most this share of the objective.
    max_iterations : int, optional
        Rounds over all problems; default 1000, for the perceptron 20.
    intercept : bool
        Append a constant attribute 1, whose parameter is the last one.
    certify : bool
        After local search, compute upper bounds on the hinges at the solution by a relaxation, so that `objective_` and
        `gap_` are valid even if local search missed the worst partition. This takes from 20 ms to some seconds for a
        problem of 60 elements, and longer the less informative the attributes are.
    seed : int, optional
        Of the order of problems.

    Attributes
    ----------
    theta_ : ndarray of float64, shape (V,) or (V + 1,)
    start_ : ndarray of float64, of the same shape
    attributes_ : tuple of str, or None
    objective_ : float
        The objective at `theta_`. If `certified_`, it is an upper bound on the true objective; else it is computed from
        the answers of the oracle, and the true objective may be larger. For the perceptron, the mean loss in the last
        pass.
    bound_ : float
        The dual objective: no parameters have a smaller objective, up to relative rounding of about 1e-12, for every
        oracle. With the relaxed oracle this refers to the objective over the relaxation, up to the tolerance of its
        solver; the least objective over partitions may be smaller.
    gap_ : float
        ``(objective_ - bound_) / objective_``.
    certified_ : bool
        Whether `objective_` is proven.
    history_ : list of (seconds, objective, bound)
        An entry for each time when all oracles were asked about the same parameters.
    n_iter_, n_oracles_, n_problems_, n_samples_ : int
        Rounds, inferences, problems and pairs.
    status_ : Status
        ``optimal`` (the gap is reached), ``feasible`` (the perceptron made its passes), ``time_limit``,
        ``iteration_limit``, or ``interrupted``.

    Notes
    -----
    Each inference in a problem of n elements and m pairs takes O(n^2) or O(m log n) time for local search, plus O(m V)
    for costs and attributes.

    Examples
    --------
    >>> import numpy as np
    >>> from graphpart.learn import pairs
    >>> y = np.array([0, 0, 0, 1, 1])
    >>> P, same = pairs.training_pairs(y)
    >>> X = np.abs(y[P[:, 0]] - y[P[:, 1]])[:, None].astype(float)
    >>> model = MaxMarginPartition(intercept=True, oracle="exact").fit(X, same, P)
    >>> model.predict(X).tolist() == same.tolist(), model.gap_ <= 0.01, model.certified_
    (True, True, True)
    """

    FORMAT = "graphpart max margin partition"
    start_: Array
    bound_: float
    gap_: float
    certified_: bool
    history_: History
    n_iter_: int
    n_oracles_: int
    n_problems_: int
    status_: Status

    def __init__(
        self,
        sigma: float = 10.0,
        *,
        solver: str = "frank-wolfe",
        oracle: str = "local-search",
        loss_weights: tuple[float, float] | str = (1.0, 1.0),
        start: Any = "logistic",
        tol: float = 0.01,
        max_iterations: int | None = None,
        intercept: bool = False,
        certify: bool = False,
        seed: int | None = None,
    ) -> None:
        self.sigma = sigma
        self.solver = solver
        self.oracle = oracle
        self.loss_weights = loss_weights
        self.start = start
        self.tol = tol
        self.max_iterations = max_iterations
        self.intercept = intercept
        self.certify = certify
        self.seed = seed

    def __repr__(self) -> str:
        fitted = f", {len(self.theta_)} parameters" if hasattr(self, "theta_") else ", not fitted"
        return f"MaxMarginPartition(sigma={self.sigma}, solver={self.solver!r}, oracle={self.oracle!r}{fitted})"

    def fit(
        self,
        X: Any,
        y: Any,
        pairs: Any,
        problem: ArrayLike | None = None,
        sample_weight: Any = None,
        *,
        attributes: Sequence[str] | None = None,
        time_limit: float | None = None,
        callback: Callable[[float, float], object] | None = None,
    ) -> MaxMarginPartition:
        """Learn from one or several partitions.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame, shape (m, V)
            Attributes of pairs. Or a list of such arrays, one for each problem; then `y`, `pairs` and `sample_weight`
            are lists, too.
        y : array_like, shape (m,)
            1 for pairs of the same cluster, 0 for others; in each problem, the decisions of a partition.
        pairs : array_like of int, shape (m, 2)
            The elements of each pair. Equal numbers in different problems are different elements.
        problem : array_like, shape (m,), optional
            The problem that each pair belongs to; default: one problem.
            :func:`graphpart.learn.pairs.cut_into_problems` cuts one into many.
        sample_weight : array_like, shape (m,), optional
            Finite and not negative: how much a pair counts, in the costs and in the loss.
        attributes : sequence of V str, optional
            Names of the attributes; default: the columns of a data frame.
        time_limit : float, optional
            Seconds; the best parameters so far are kept.
        callback : callable, optional
            ``callback(seconds, objective)``, about every 50 ms; a true return value ends the run.

        Raises
        ------
        InvalidProblem
            If shapes do not fit, a number is not finite, or decisions are not those of a partition.
        InvalidOption
            If a parameter of the model has no meaning.
        """
        self._check_options()
        limit = LIMITS[self.solver] if self.max_iterations is None else self.max_iterations
        if not hasattr(limit, "__index__") or limit < 1:
            raise InvalidOption(f"max_iterations is {limit!r}: expected a whole number of at least 1")
        stopping = Stopping(time_limit, limit + 1, None, callback)  # counted at the start of each round
        parts = training_problems(X, y, pairs, problem, sample_weight, self.loss_weights, self.intercept)
        width = parts[0].X.shape[1] if parts else (np.shape(X)[1] if np.ndim(X) == 2 else 0) + self.intercept
        if width < 1:
            raise InvalidProblem("X has no columns: expected at least one attribute")
        names = names_of(attributes, X, width - self.intercept)
        base = self._start(parts, width, stopping)
        found = self._solve(parts, base, stopping)
        stopping.reraise()
        self.theta_, self.start_, self.attributes_ = found.theta, base, names
        self.objective_, self.bound_, self.certified_ = found.objective, found.bound, found.certified
        gap = found.objective - found.bound
        if gap < 0:  # by rounding: the perceptron's is not a number
            gap = 0.0
        self.gap_ = gap / abs(found.objective) if found.objective else gap
        self.history_, self.status_ = found.history, found.status
        self.n_iter_, self.n_oracles_ = min(stopping.iterations, limit), found.oracles
        self.n_problems_, self.n_samples_ = len(parts), sum(len(part.pairs) for part in parts)
        return self

    def _solve(self, parts: list[TrainingProblem], base: Array, stopping: Stopping) -> Found:
        if self.solver == "perceptron":
            return average(parts, base, self.oracle, self.seed, stopping)
        certify = self.certify and self.oracle == "local-search"
        return minimise(Machine(parts, base, self.sigma, self.oracle, stopping), self.tol, certify, self.seed)

    def _start(self, parts: list[TrainingProblem], width: int, stopping: Stopping) -> Array:
        """theta_0."""
        if self.start is None:
            return np.zeros(width)
        if not isinstance(self.start, str):
            given = np.array(self.start, np.float64)
            if given.shape != (width,) or not np.isfinite(given).all():
                raise InvalidOption(f"start has shape {given.shape}: expected {width} finite parameters")
            return given
        if self.start != "logistic":
            raise InvalidOption(f"start is {self.start!r}: expected 'logistic', None or parameters")

        def blocks() -> Any:
            for part in parts:
                yield part.X, part.same, part.share * len(part.share)

        return LogisticRegression(self.sigma).fit_blocks(blocks, width, time_limit=stopping.remaining).theta_

    def _check_options(self) -> None:
        check_scales(self)
        if self.seed is not None and (not hasattr(self.seed, "__index__") or self.seed < 0):
            raise InvalidOption(f"seed is {self.seed!r}: expected a whole number of at least 0, or None")
        if self.solver not in SOLVERS:
            raise InvalidOption(f"solver is {self.solver!r}: expected {' or '.join(SOLVERS)}")
        if self.oracle not in ORACLES:
            raise InvalidOption(f"oracle is {self.oracle!r}: expected one of {', '.join(ORACLES)}")

    def _more(self) -> dict[str, Any]:
        bound = getattr(self, "bound_", math.nan)
        return {"bound": bound if math.isfinite(bound) else None, "certified": getattr(self, "certified_", False)}

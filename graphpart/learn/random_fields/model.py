"""`ConditionalRandomField`: linear scores of labels and of pairs of labels, learned from labelled structures."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.approximate_inference import approximate_marginals
from graphpart.crf.bucket_elimination import log_partition, m_best
from graphpart.crf.bucket_elimination import marginals as exact_marginals
from graphpart.crf.problem import FactorGraph
from graphpart.display.progress import showing
from graphpart.errors import InvalidOption, InvalidProblem, warn
from graphpart.learn.frank_wolfe import block_frank_wolfe
from graphpart.learn.linear_costs import check_scales
from graphpart.learn.random_fields.descent import Trace, minimise
from graphpart.learn.random_fields.files import load, save
from graphpart.learn.random_fields.forbidden import check_labels, rules_of
from graphpart.learn.random_fields.inference import check_solver, factor_graph, solve
from graphpart.learn.random_fields.labels import encode, find_classes
from graphpart.learn.random_fields.max_margin import oracle
from graphpart.learn.random_fields.objective import MEMORY, Likelihood, Pseudolikelihood, expectations
from graphpart.learn.random_fields.structures import Packed, pack
from graphpart.learn.random_fields.templates import Template, tie_of
from graphpart.result import Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["ConditionalRandomField", "RankedLabels"]

Array = NDArray[np.float64]
TRAININGS = ("auto", "likelihood", "pseudolikelihood", "max-margin")
TOLERANCES = {"likelihood": 1e-6, "pseudolikelihood": 1e-6, "max-margin": 1e-2}
LIMITS = {"likelihood": 1000, "pseudolikelihood": 1000, "max-margin": 200}
NARROW = 20_000  # largest number of variables of structures with cycles for which exact marginals are tried


class RankedLabels(NamedTuple):
    """Labelings of one structure, the most probable first.

    Attributes
    ----------
    labels : ndarray, shape (k, n)
    scores : ndarray of float64, shape (k,)
    probabilities : ndarray of float64, shape (k,)
    """

    labels: NDArray[Any]
    scores: Array
    probabilities: Array


class ConditionalRandomField:
    """A conditional random field with parameters shared by all variables and by all pairs.

    The probability of labels y of the variables of a structure is proportional to

        exp(sum over variables v of <W[y_v], x_v>  +  sum over pairs (u, v) of <U[t(y_u, y_v)], g_uv>)

    with attributes x of variables and g of pairs (Lafferty, McCallum & Pereira 2001).

    Parameters
    ----------
    pairwise : {"table", "symmetric", "potts"} or array_like of int, shape (labels, labels)
        The parameters of pairs, for each attribute of pairs: one for each pair of labels ("table"), one for each
        unordered pair of labels ("symmetric"), or one for equal labels ("potts"). An array contains the number of the
        parameter that each pair of labels selects, -1 for none.
    training : {"auto", "likelihood", "pseudolikelihood", "max-margin"}
        The exact conditional likelihood is for chains, trees, and graphs of small width. The pseudolikelihood is for
        any structures. Max margin calls `solver` for labels many times. "auto" takes the likelihood if there are no
        cycles, else the pseudolikelihood.
    sigma : float
        Standard deviation of the Gaussian prior of each parameter, as in :class:`LogisticRegression`, but in natural
        logarithms: the objective has the term ``||theta||^2 / (2 sigma^2)``.
    intercept : bool
        Whether each label has a score that does not depend on the attributes.
    solver : {"auto", "min-sum", "graph-cut", "expansion", "message-passing", "icm"}
        The solver that finds labels, in :meth:`predict` and as the oracle of max margin. "auto" is min-sum on forests,
        which is exact, and otherwise :func:`graphpart.crf.auto`.
    tol : float, optional
        For likelihoods: the largest absolute entry of the gradient, relative to its value where all parameters are 0;
        default 1e-6. For max margin: the relative duality gap; default 0.01.
    max_iterations : int, optional
        For likelihoods: iterations of L-BFGS, default 1000. For max margin: passes over the structures, default 200. A
        warning is issued if the run ends by this limit.
    seed : int, optional
        For the order of the structures in max margin.

    Attributes
    ----------
    classes_ : ndarray
        The labels that occur in training, sorted.
    theta_ : ndarray of float64
        All parameters: W, row by row of attributes (the intercept last), then U, row by row of attributes of pairs.
    unary_, pairwise_ : ndarray of float64, shapes (attributes, labels) and (attributes of pairs, labels, labels)
        W and U, the latter as tables.
    training_ : str
        The training that was used.
    objective_ : float
        At `theta_`: the negative logarithm of the (pseudo)likelihood and of the prior, or the regularised hinge loss.
    gap_ : float
        Max margin: the relative duality gap, valid if the solver is exact; else NaN.
    history_ : list of (float, float)
        Objective and largest absolute entry of the gradient at each iterate; max margin: objective and dual.
    n_iter_ : int
    status_ : Status
        ``optimal`` (the tolerance is reached), ``feasible`` (rounding allows no further decrease), ``time_limit``,
        ``iteration_limit``, or ``interrupted``.

    See Also
    --------
    graphpart.learn.chain, graphpart.learn.grid : structures
    graphpart.estimators.ChainCRF, graphpart.estimators.GridCRF : the face of scikit-learn

    Notes
    -----
    One evaluation of the likelihood or pseudolikelihood takes O(n labels (V + labels)) for n variables in chains.
    The likelihood and the pseudolikelihood are convex and the prior makes the minimiser unique.

    Examples
    --------
    >>> import numpy as np
    >>> import graphpart as gp
    >>> rng = np.random.default_rng(0)
    >>> y = [np.repeat(rng.permutation(["a", "b"]), 5) for _ in range(30)]  # five of one label, five of the other
    >>> x = [gp.learn.chain((labels == "b")[:, None] + rng.normal(scale=0.4, size=(10, 1))) for labels in y]
    >>> model = ConditionalRandomField("potts", intercept=True).fit(x[:20], y[:20])
    >>> model.predict(x[20:21])[0].tolist() == y[20].tolist(), model.score(x[20:], y[20:]) > 0.9
    (True, True)
    """

    _noun = "structure"  # in messages
    _forbidden: Any = None  # the argument of `rules_of`, for sequences
    classes_: NDArray[Any]
    theta_: Array
    training_: str
    objective_: float
    gap_: float
    history_: Trace
    n_iter_: int
    status_: Status

    def __init__(
        self,
        pairwise: Any = "table",
        *,
        training: str = "auto",
        sigma: float = 1.0,
        intercept: bool = False,
        solver: str = "auto",
        tol: float | None = None,
        max_iterations: int | None = None,
        seed: int | None = None,
    ) -> None:
        self.pairwise = pairwise
        self.training = training
        self.sigma = sigma
        self.intercept = intercept
        self.solver = solver
        self.tol = tol
        self.max_iterations = max_iterations
        self.seed = seed

    def __repr__(self) -> str:
        fitted = f", {len(self.theta_)} parameters" if hasattr(self, "theta_") else ", not fitted"
        kind = self.pairwise if isinstance(self.pairwise, str) else "array"
        return f"ConditionalRandomField({kind!r}, training={self.training!r}, sigma={self.sigma}{fitted})"

    # ---------------------------------------------------------------------------------------------------- learning

    @interruptible
    def fit(
        self,
        structures: Iterable[Any] | Packed,
        labels: Iterable[Any],
        *,
        time_limit: float | None = None,
        callback: Callable[[float, float], object] | None = None,
        progress: bool = False,
    ) -> ConditionalRandomField:
        """Learn from structures whose labels are known.

        Parameters
        ----------
        structures : sequence of Structure, or of tuples (features, pairs) or (features, pairs, pair_features)
        labels : sequence of array_like
            A label for each variable of each structure: integers, texts, anything that can be sorted.
        time_limit : float, optional
            Seconds; the parameters of the last complete iteration are kept.
        callback : callable, optional
            ``callback(seconds, objective)`` after each iteration; a true return value ends the run.
        progress : bool
            Show progress on a terminal or in a notebook.

        Raises
        ------
        InvalidProblem
            If there are no labels, shapes do not fit, or an attribute is not a finite number; the structure is named.
        InvalidOption
            If an option has no meaning, or exact probabilities are out of reach.
        """
        self._check_options()
        given, answers = structures if isinstance(structures, Packed) else list(structures), list(labels)
        data = pack(given, noun=self._noun)
        self.classes_ = find_classes(answers, np.diff(data.start), self._noun)
        y = encode(answers, self.classes_, noun=self._noun)
        tie, count = tie_of(self.pairwise, len(self.classes_))
        rules = rules_of(self._forbidden, self.classes_)
        if rules is not None:
            check_labels(rules, data, y, self.classes_, self._noun)
            tie = np.where(rules.pairs, count + 1, tie).astype(np.int32)
        pair_columns = 0 if data.pair_features is None else data.pair_features.shape[1]
        self._template = Template(
            len(self.classes_), data.features.shape[1], pair_columns, tie, count, bool(self.intercept), rules
        )
        self.training_ = self.training
        if self.training == "auto":
            self.training_ = "likelihood" if data.forest is not None else "pseudolikelihood"
        limit = LIMITS[self.training_] if self.max_iterations is None else self.max_iterations
        tolerance = TOLERANCES[self.training_] if self.tol is None else self.tol
        with showing(f"{self.training_}, {data.n} variables" if progress else None, callback) as shown:
            stopping = Stopping(time_limit, limit, None, shown)
            if self.training_ == "max-margin":
                self._fit_max_margin(given, y, data, tolerance, stopping)
            else:
                self._fit_likelihood(data, y, tolerance, stopping)
            stopping.reraise()
        self.n_iter_ = stopping.iterations
        if self.status_ is Status.ITERATION_LIMIT:
            warn(
                f"the conditional random field stopped after {self.n_iter_} iterations: "
                "rescale the attributes, or raise max_iterations or tol"
            )
        if self.status_ is Status.TIME_LIMIT:
            warn(
                f"the conditional random field stopped at the time limit, after {self.n_iter_} iterations: "
                "raise time_limit or tol"
            )
        return self

    def _fit_likelihood(self, data: Packed, y: NDArray[np.int32], tolerance: float, stopping: Stopping) -> None:
        kind = Likelihood if self.training_ == "likelihood" else Pseudolikelihood
        objective = kind(self._template, data, y, self.sigma)
        self.history_, self.gap_ = [], math.nan
        with np.errstate(over="ignore", invalid="ignore"):  # sums that overflow are told in one line
            self.theta_, self.status_ = minimise(objective, self._template.size, tolerance, stopping, self.history_)
        self.objective_ = self.history_[-1][0] if self.history_ else math.nan

    def _fit_max_margin(
        self, given: Any, y: NDArray[np.int32], data: Packed, tolerance: float, stopping: Stopping
    ) -> None:
        pair_columns = self._template.pair_columns
        parts = [pack([s], self._template.columns, pair_columns) for s in given]
        if pair_columns:  # a structure without pairs has no attributes of pairs either
            parts = [p if len(p.pairs) else replace(p, pair_features=np.zeros((0, pair_columns))) for p in parts]
        with np.errstate(over="ignore", invalid="ignore"):  # told in one line
            solution = block_frank_wolfe(
                len(parts),
                np.zeros(self._template.size),
                oracle(self._template, parts, data.split(y), self.solver),
                self.sigma,
                tolerance,
                stopping,
                self.seed,
            )
        if not np.isfinite(solution.w).all():
            raise InvalidProblem("attributes are so large that scores overflow: expected them rescaled")
        self.theta_, self.status_, self.history_ = solution.w, solution.status, solution.history
        self.objective_, self.gap_ = solution.primal, solution.gap

    def _check_options(self) -> None:
        check_scales(self)
        if self.training not in TRAININGS:
            raise InvalidOption(f"training is {self.training!r}: expected one of {', '.join(TRAININGS)}")
        check_solver(self.solver)

    # --------------------------------------------------------------------------------------------------- inference

    @property
    def unary_(self) -> Array:
        """W, shape (attributes, labels); the last row is the intercept, if there is one."""
        return self._fitted().parts(self.theta_)[0]

    @property
    def pairwise_(self) -> Array:
        """U as tables, shape (attributes of pairs, labels, labels)."""
        template = self._fitted()
        pair = template.parts(self.theta_)[1]
        constants = np.array([0.0, -np.inf])[: template.numbers - template.count]
        return np.concatenate([pair, np.tile(constants, (len(pair), 1))], axis=1)[:, template.tie]

    def factor_graph(self, structure: Any) -> FactorGraph:
        """The factor graph of a structure: its energies are negative scores, its labels indices of `classes_`."""
        data = self._pack([structure])
        return factor_graph(self._template, data, *self._template.scores(data, self.theta_))

    def predict(self, structures: Iterable[Any] | Packed, *, time_limit: float | None = None) -> list[NDArray[Any]]:
        """The most probable labels of each structure, as `solver` finds them.

        Parameters
        ----------
        structures : sequence of Structure
        time_limit : float, optional
            Seconds, for all structures together.

        Returns
        -------
        list of ndarrays of labels, one for each structure
        """
        data = self._pack(structures)
        if not data.n:
            return data.split(np.zeros(0, self.classes_.dtype))
        f = factor_graph(self._template, data, *self._template.scores(data, self.theta_))
        solver = "min-sum" if self.solver == "auto" and data.forest is not None else self.solver
        if len(self.classes_) == 1 and self._template.rules is None:
            return data.split(np.repeat(self.classes_, data.n))
        return data.split(self.classes_[solve(f, solver, time_limit=time_limit).labels])

    def marginals(self, structure: Any, *, method: str = "auto", **options: Any) -> Any:
        """Probabilities of the labels of one structure, log Z, and whether these are exact.

        Parameters
        ----------
        structure : Structure
        method : {"auto", "exact", "sum-product", "tree-reweighted"}
            "exact", or one of the approximations by :func:`graphpart.crf.approximate_marginals`. "auto" is exact if
            memory allows.
        **options
            Of :func:`graphpart.crf.marginals` or :func:`graphpart.crf.approximate_marginals`.

        Returns
        -------
        Marginals or ApproximateMarginals
        """
        f = self.factor_graph(structure)
        if method not in ("auto", "exact", "sum-product", "tree-reweighted"):
            raise InvalidOption(f"method is {method!r}: expected auto, exact, sum-product or tree-reweighted")
        if method == "auto":
            if f.n <= NARROW or f.is_acyclic:  # larger ones have small width too seldom for the search of an order
                with suppress(InvalidOption):
                    return exact_marginals(f, memory_limit=MEMORY, time_limit=options.get("time_limit"))
            method = "sum-product"
        if method == "exact":
            return exact_marginals(f, **options)
        return approximate_marginals(f, method=method, **options)

    def predict_marginals(self, structures: Iterable[Any] | Packed, *, method: str = "auto") -> list[Array]:
        """Probabilities of the labels of each variable, shape (n, labels) for each structure.

        Parameters
        ----------
        structures : sequence of Structure
        method : str
            As for :meth:`marginals`. A warning is issued if loopy messages have not converged.
        """
        data = self._pack(structures)
        if method in ("auto", "exact") and data.forest is not None:
            scores, numbers = self._template.scores(data, self.theta_)
            return data.split(expectations(self._template, data, scores, numbers)[1])
        out, open_ones = [], []
        for k, structure in enumerate(data):
            options = {} if method == "exact" else {"tol": 1e-4}  # sufficient for probabilities
            found = self.marginals(structure, method=method, **options)
            out.append(found.probabilities.flat.reshape(-1, len(self.classes_)))
            if not getattr(found, "converged", True):
                open_ones.append(k)
        if open_ones:
            warn(f"loopy messages have not converged on {len(open_ones)} {self._noun}s, the first is {open_ones[0]}")
        return out

    def predict_k_best(self, structures: Iterable[Any] | Packed, k: int = 10) -> list[RankedLabels]:
        """The k most probable labelings of each structure, with scores and probabilities; the first one is the best.

        Parameters
        ----------
        structures : sequence of Structure
        k : int
            Fewer labelings are returned where there are fewer.

        Returns
        -------
        list of RankedLabels
            For each structure `labels`, shape (k, n), `scores` and `probabilities`, shape (k,).

        Raises
        ------
        InvalidOption
            If `k` is below 1, or there are cycles, and the tables of elimination need too much memory; see
            :func:`graphpart.crf.m_best`.

        Notes
        -----
        A score is the exponent in the formula above. The logarithm of the probability is the score less log Z.
        """
        if k < 1:
            raise InvalidOption(f"k is {k!r}: expected at least 1")
        out = []
        for structure in self._pack(structures):
            f = self.factor_graph(structure)
            best = m_best(f, k)
            scores = -best.costs
            out.append(RankedLabels(self.classes_[best.labels], scores, np.exp(scores - log_partition(f))))
        return out

    def log_likelihood(self, structures: Iterable[Any] | Packed, labels: Iterable[Any]) -> float:
        """The sum of ``log P(y | x)`` over structures, computed exactly: for forests and graphs of small width."""
        data, y = self._labelled(structures, labels)
        objective = Likelihood(self._template, data, y, 1.0)
        return 0.5 * float(self.theta_ @ self.theta_) - objective(self.theta_)[0]

    def score(self, structures: Iterable[Any] | Packed, labels: Iterable[Any]) -> float:
        """The share of labels that :meth:`predict` finds correctly."""
        given, answers = self._pack(structures), list(labels)
        data, y = self._labelled(given, answers)
        predicted = self.predict(given)
        if not data.n:
            return math.nan
        return float(np.mean(encode(predicted, self.classes_, unknown=-1) == y))

    def _labelled(self, structures: Iterable[Any] | Packed, labels: Iterable[Any]) -> tuple[Packed, NDArray[np.int32]]:
        data, answers = self._pack(structures), list(labels)
        find_classes(answers, np.diff(data.start), self._noun)
        return data, encode(answers, self.classes_, noun=self._noun)

    def _pack(self, structures: Iterable[Any] | Packed) -> Packed:
        template = self._fitted()
        data = pack(structures, template.columns, template.pair_columns, self._noun)
        if template.pair_columns and data.pair_features is None:
            data = replace(data, pair_features=np.zeros((0, template.pair_columns)))
        return data

    def _fitted(self) -> Template:
        if not hasattr(self, "theta_"):
            raise InvalidOption("the model is not fitted: call fit first")
        return self._template

    # ------------------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, with all digits; ``"-"`` is standard output.

        Raises
        ------
        InvalidOption
            If the model is not fitted, or its labels are neither numbers nor texts.
        """
        self._fitted()
        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ConditionalRandomField:
        """Read a model that :meth:`save` wrote; ``"-"`` is standard input.

        Raises
        ------
        FormatError
            If the file is not such a model.
        """
        model: ConditionalRandomField = load(cls, path)
        return model

"""`LearnedPartition`: costs of pairs learned from elements of known classes, then other elements are partitioned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from graphpart.errors import InvalidOption, InvalidProblem, unknown
from graphpart.estimators.solving import clustered, seed
from graphpart.learn import LogisticRegression, MaxMarginPartition, pairs
from graphpart.learn.attributes import KINDS, total_width
from graphpart.learn.rich_attributes import NAMES, RichAttributes
from graphpart.partition.inputs.thresholds import drawn
from graphpart.partition.problem import SetPartition
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[np.int64]
Model = LogisticRegression | MaxMarginPartition
FEW_PAIRS = 5000  # from which is learned if the time was up before


class LearnedPartition(BaseEstimator):  # type: ignore[misc]
    """Learn costs of pairs from elements of known classes, then partition elements of any classes.

    By default, `fit` takes the following steps. It standardises the elements and learns a linear map that makes classes
    compact. It computes attributes of pairs: the distance and the cosine after the map, and the similarity of random
    walks that start from both elements and go from neighbour to neighbour. It learns costs such that, on many samples
    of elements, the true partition is better than all others by a margin.

    Parameters
    ----------
    kind : "auto", str, callable, or sequence of these
        How attributes of a pair are made from those of its elements. For "auto", see
        :mod:`graphpart.learn.rich_attributes`; for other kinds, see :func:`graphpart.learn.pairs.pair_attributes`.
    loss : {"max-margin", "logistic"}
        "max-margin" learns costs from whole partitions, by `MaxMarginPartition` on 50 samples of 60 elements (fewer for
        less than 300 elements). "logistic" learns from pairs as if these were independent, by `LogisticRegression`.
    sigma : float, optional
        Standard deviation of the Gaussian prior of each parameter. Default: 10 for max-margin, 1 for logistic.
    threshold : float
        What is subtracted from the costs: larger values join more. `GridSearchCV` with groups, or
        :func:`graphpart.learn.cross_validate_threshold`, choose one by classes that are left out of learning.
    intercept : bool
        Whether pairs get a constant attribute.
    max_pairs : int, optional
        For the logistic loss: the number of pairs to learn from, drawn at random, half of them joins, with weights that
        make up for the draw. Default: all pairs.
    max_elements : int, optional
        The number of elements to learn from, drawn at random. None: all. Memory and time for the random walks of
        ``kind="auto"`` grow with the square of this number.
    n_neighbors : int, optional
        In `predict`, only pairs in which one element is among the nearest neighbours of the other get a cost. Default:
        all pairs.
    method
        As for :func:`graphpart.solve`, but without a limit, ``"auto"`` searches for about a tenth of a second if that
        finds nothing better, and proves for no longer than it has searched.
    time_limit : float, optional
        Seconds for `fit`, and for each partition of new elements. In any case, attributes are computed, which takes
        seconds for thousands of elements with ``kind="auto"``, and one round of learning is done, or, for the logistic
        loss, learning from some thousand pairs. What was learned until then is kept.
    random_state : int, RandomState or None
        For draws, and for methods that draw random numbers. None: 0 for samples, so that fits can be repeated.
    progress : bool
        Show progress on a terminal or in a notebook, as :func:`graphpart.solve` does.

    Attributes
    ----------
    model_ : MaxMarginPartition or LogisticRegression
        The parameters of the costs.
    attributes_ : RichAttributes or None
        The map, if `kind` is ``"auto"``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> centers = 8.0 * np.array([(i, j) for i in range(4) for j in range(3)])
    >>> y = np.repeat(np.arange(12), 15)
    >>> X = centers[y] + rng.normal(size=(180, 2))
    >>> known = y < 8
    >>> model = LearnedPartition().fit(X[known], y[known])
    >>> model.score(X[~known], y[~known])
    1.0
    """

    def __init__(
        self,
        kind: Any = "auto",
        *,
        loss: str = "max-margin",
        sigma: float | None = None,
        threshold: float = 0.0,
        intercept: bool = True,
        max_pairs: int | None = None,
        max_elements: int | None = 3000,
        n_neighbors: int | None = None,
        method: str = "auto",
        time_limit: float | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.kind = kind
        self.loss = loss
        self.sigma = sigma
        self.threshold = threshold
        self.intercept = intercept
        self.max_pairs = max_pairs
        self.max_elements = max_elements
        self.n_neighbors = n_neighbors
        self.method = method
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LearnedPartition:
        """Learn the costs.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame, shape (n, V)
            Attributes of elements.
        y : array_like, shape (n,)
            Their classes: integers, strings, or anything else that scikit-learn takes for classes.
        sample_weight : array_like, shape (n,), optional
            The weights of the elements, at least 0. The weight of a pair is the product of the weights of its elements.
            Equal elements of one class are merged into one element with the sum of their weights, so that repeating an
            element has the same effect as a larger weight.
        """
        if isinstance(self.kind, str) and self.kind not in (known := ("auto", *KINDS)):
            raise unknown("kind of attributes", self.kind, known)
        if self.loss not in ("max-margin", "logistic"):
            raise InvalidOption(f"loss is {self.loss!r}: expected max-margin or logistic")
        if not (isinstance(self.threshold, int | float | np.number) and np.isfinite(self.threshold)):
            raise InvalidOption(f"threshold is {self.threshold!r}: expected a finite number")
        if self.max_elements is not None and self.max_elements < 1:
            raise InvalidOption(f"max_elements is {self.max_elements!r}: expected at least 1, or None")
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse="csr")
        X = _dense(X)
        check_classification_targets(y)
        classes: NDArray[Any] = column_or_1d(y, warn=True)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        if weights is not None and not (weights >= 0).all():
            at = int(np.argmax(~(weights >= 0)))
            raise InvalidProblem(f"weight {at} is {weights[at]}: expected a number of at least 0")
        drawn_by = seed(self.random_state)
        chosen = np.arange(len(X)) if weights is None else np.flatnonzero(weights > 0)
        if self.max_elements is not None and len(chosen) > self.max_elements:
            rng = np.random.default_rng(drawn_by or 0)
            chosen = np.sort(rng.choice(chosen, self.max_elements, replace=False))
        X, classes, weights = _merged(X[chosen], classes[chosen], None if weights is None else weights[chosen])

        self.attributes_, self.model_ = self._learn(X, classes, weights, drawn_by, Stopping(self.time_limit))
        return self

    def _learn(
        self, X: Array, y: NDArray[Any], weights: Array | None, drawn_by: int | None, stopping: Stopping
    ) -> tuple[RichAttributes | None, Model]:
        """Attributes and costs from elements of known classes."""
        rich = RichAttributes().fit(X, y, weights) if self._automatic else None
        names = None
        if rich is not None:
            names = list(NAMES)
        elif hasattr(self, "feature_names_in_"):
            names = pairs.attribute_names(self.kind, self.feature_names_in_.tolist())
        if self.loss == "max-margin":
            number = int(np.clip(np.ceil(len(y) / 6), 5, 50))  # an element is in about 10, of 60 elements each
            samples = pairs.cut_into_problems(y, number, seed=drawn_by or 0, missing=None)
            if samples:
                return rich, self._learn_from_partitions(X, y, weights, samples, rich, names, stopping)
        train, same = pairs.training_pairs(y, self.max_pairs, seed=drawn_by, missing=None)
        w = self._pair_weights(y, train, same, weights)
        model = LogisticRegression(1.0 if self.sigma is None else self.sigma, intercept=self.intercept)

        def fit(train: Indices, same: NDArray[np.int8], w: Any, seconds: float | None) -> None:
            if rich is not None:
                model.fit(rich.of_pairs(X, train), same, w, attributes=names, time_limit=seconds)
            else:
                blocks, width = pairs.sample_blocks(X, train, same, self.kind, w), total_width(self.kind, X)
                model.fit_blocks(blocks, width, attributes=names, time_limit=seconds)

        fit(train, same, w, stopping.remaining)
        if model.status_ is Status.TIME_LIMIT and not model.theta_.any():  # before the first step
            some = drawn(len(train), FEW_PAIRS)
            fit(train[some], same[some], None if w is None else w[some], None)
            model.status_ = Status.TIME_LIMIT
        return rich, model

    def _learn_from_partitions(
        self,
        X: Array,
        y: NDArray[Any],
        weights: Array | None,
        samples: list[Indices],
        rich: RichAttributes | None,
        names: list[str] | None,
        stopping: Stopping,
    ) -> MaxMarginPartition:
        places, decisions = [], []
        for sample in samples:
            place, same = pairs.training_pairs(y[sample], missing=None)
            places.append(place)
            decisions.append(same)
        starts = np.cumsum([0, *(len(place) for place in places)])
        every = np.concatenate([sample[place] for sample, place in zip(samples, places, strict=True)])
        rows = pairs.pair_attributes(X, every, self.kind) if rich is None else rich.of_pairs(X, every)
        number = np.repeat(np.arange(len(samples)), np.diff(starts))
        w = None if weights is None else weights[every].prod(axis=1)
        # 0 is the mean of the prior: parameters of logistic regression do worse as one, as they count evidence twice.
        model = MaxMarginPartition(
            10.0 if self.sigma is None else self.sigma, start=None, intercept=self.intercept, seed=0
        )
        given = rows, np.concatenate(decisions), every, number, w
        model.fit(*given, attributes=names, time_limit=stopping.remaining)
        if model.status_ is Status.TIME_LIMIT and model.n_iter_ < 2:  # maybe within the first round
            model.max_iterations = 1
            model.fit(*given, attributes=names)
            model.max_iterations, model.status_ = None, Status.TIME_LIMIT
        return model

    def _pair_weights(self, y: NDArray[Any], train: Indices, same: NDArray[np.int8], weights: Array | None) -> Any:
        """Weights of training pairs: of their elements, and such that drawn pairs count as all."""
        w = None if weights is None else weights[train].prod(axis=1)
        if self.max_pairs is not None:
            sizes = np.unique(y, return_counts=True)[1].astype(np.float64)
            joins = float((sizes * (sizes - 1) / 2).sum())
            cuts = len(y) * (len(y) - 1) / 2 - joins
            drawn = max(1, int(same.sum())), max(1, int((1 - same).sum()))
            scale = np.where(same == 1, joins / drawn[0], cuts / drawn[1])
            w = scale if w is None else w * scale
        return w

    @property
    def _automatic(self) -> bool:
        return isinstance(self.kind, str) and self.kind == "auto"

    def _cost_matrix(self, X: Array, rich: RichAttributes | None, model: Model) -> Array:
        """Learned costs of all pairs, without the threshold."""
        if rich is None:
            return pairs.cost_matrix(X, model, self.kind)
        theta, constant = (model.theta_[:-1], model.theta_[-1]) if self.intercept else (model.theta_, 0.0)
        return rich.cost_matrix(X, theta, float(constant))

    def _pair_costs(self, X: Array, candidates: Any) -> Array:
        if self.attributes_ is None:
            return pairs.pair_costs(X, candidates, self.model_, self.kind) - self.threshold
        listed = pairs.pair_indices(candidates, len(X))
        return self.model_.costs(self.attributes_.of_pairs(X, listed)) - self.threshold

    def _elements(self, X: Any) -> Array:
        check_is_fitted(self)
        return _dense(validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False))

    def problem(self, X: Any) -> SetPartition:
        """The set partition problem over new elements, with learned costs."""
        X = self._elements(X)
        if self.n_neighbors is not None:
            candidates = pairs.nearest_neighbors(X, self.n_neighbors)
            return SetPartition.from_pairs(len(X), candidates, self._pair_costs(X, candidates))
        C = self._cost_matrix(X, self.attributes_, self.model_)
        C -= self.threshold
        np.fill_diagonal(C, 0.0)
        return SetPartition.from_matrix(C)

    def partition(self, X: Any) -> PartitionResult:
        """The partition of new elements with its cost, its lower bound, and why the solver stopped."""
        return clustered(self, self.problem(X))

    def predict(self, X: Any) -> Labels:
        """Partition new elements.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame, shape (n, V)
            Elements of classes that need not be those of the training data.

        Returns
        -------
        ndarray of int64, shape (n,)
            Labels 0, 1, ... in order of first appearance. They name clusters of this call, not classes: an element's
            label depends on the other elements.
        """
        return self.partition(X).labels.astype(np.int64)

    def predict_pairs(self, X: Any, candidates: ArrayLike) -> Labels:
        """Independent decisions: 1 for each pair with a negative cost, else 0.

        Parameters
        ----------
        X : array_like, shape (n, V)
        candidates : array_like of int, shape (m, 2)

        Returns
        -------
        ndarray of int64, shape (m,)
            They need not be consistent: a with b and b with c does not imply a with c.
        """
        return (self._pair_costs(self._elements(X), candidates) < 0).astype(np.int64)

    def score(self, X: Any, y: ArrayLike) -> float:
        """The adjusted Rand index of :meth:`predict` against true classes."""
        from sklearn.metrics import adjusted_rand_score

        return float(adjusted_rand_score(y, self.predict(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def _merged(X: Array, y: NDArray[Any], weights: Array | None) -> tuple[Array, NDArray[Any], Array | None]:
    """Merge equal elements of one class into one with the sum of their weights.

    The order depends on the elements only, not on how often they are given. Nothing is merged if there are no equal
    elements and all weights are 1, or if merging would leave no joined pair.
    """
    codes = np.unique(y, return_inverse=True)[1].reshape(-1)
    first, inverse = np.unique(np.column_stack([X, codes]), axis=0, return_index=True, return_inverse=True)[1:]
    w: Array = np.bincount(inverse.reshape(-1), weights, minlength=len(first)).astype(np.float64)
    if (w == 1.0).all():
        return X, y, None
    if len(first) < len(y) and np.bincount(codes[first]).max() < 2:
        return X, y, weights
    return X[first], y[first], w


def _dense(X: Any) -> Array:
    dense: Array = X.toarray() if hasattr(X, "toarray") else X
    return dense

"""`LearnedPartition`: costs of pairs learned from elements of known classes, then other elements are partitioned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from graphpart.estimators.seeds import seed
from graphpart.learn import LogisticRegression, pairs
from graphpart.learn.attributes import total_width
from graphpart.partition.problem import SetPartition
from graphpart.result import PartitionResult
from graphpart.solve import run

Labels = NDArray[np.int64]


class LearnedPartition(BaseEstimator):  # type: ignore[misc]
    """Learn costs of pairs from elements of known classes, then partition elements of any classes.

    Parameters
    ----------
    kind : str, callable, or sequence of these
        How attributes of a pair are made from those of its elements, see :func:`graphpart.learn.pairs.pair_attributes`.
    sigma : float
        Standard deviation of the Gaussian prior of each parameter.
    intercept : bool
        Whether pairs get a constant attribute.
    max_pairs : int, optional
        Learn from so many pairs drawn at random, half of them joins, weighted as if all had been taken. Default: all.
    n_neighbors : int, optional
        In `predict`, only pairs of which one is among the nearest neighbours of the other get a cost. Default: all.
    method, time_limit
        As for :func:`graphpart.solve`.
    random_state : int, RandomState or None
        For the draw of pairs, and for methods that draw random numbers.
    progress : bool
        Show progress on a terminal or in a notebook, as :func:`graphpart.solve` does.

    Attributes
    ----------
    model_ : LogisticRegression
        The parameters of the costs.
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
    >>> model = LearnedPartition(sigma=10.0).fit(X[known], y[known])
    >>> model.score(X[~known], y[~known])
    1.0
    """

    def __init__(
        self,
        kind: Any = "absolute-difference",
        *,
        sigma: float = 1.0,
        intercept: bool = True,
        max_pairs: int | None = None,
        n_neighbors: int | None = None,
        method: str = "auto",
        time_limit: float | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.kind = kind
        self.sigma = sigma
        self.intercept = intercept
        self.max_pairs = max_pairs
        self.n_neighbors = n_neighbors
        self.method = method
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: ArrayLike) -> LearnedPartition:
        """Learn the costs.

        Parameters
        ----------
        X : array_like, shape (n, V)
            Attributes of elements.
        y : array_like, shape (n,)
            Their classes: integers, strings, or anything else that scikit-learn takes for classes.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        drawn_by = seed(self.random_state) if self.max_pairs is not None else None
        train, same = pairs.training_pairs(y, self.max_pairs, seed=drawn_by, missing=None)
        weights = None
        if self.max_pairs is not None:
            sizes = np.unique(y, return_counts=True)[1].astype(np.float64)
            joins = float((sizes * (sizes - 1) / 2).sum())
            cuts = len(X) * (len(X) - 1) / 2 - joins
            drawn = max(1, int(same.sum())), max(1, int((1 - same).sum()))
            weights = np.where(same == 1, joins / drawn[0], cuts / drawn[1])
        width = total_width(self.kind, X)
        names = None
        if hasattr(self, "feature_names_in_"):
            names = pairs.attribute_names(self.kind, self.feature_names_in_.tolist())
        self.model_ = LogisticRegression(self.sigma, intercept=self.intercept).fit_blocks(
            pairs.sample_blocks(X, train, same, self.kind, weights), width, attributes=names
        )
        return self

    def problem(self, X: Any) -> SetPartition:
        """The set partition problem over new elements, with learned costs."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        candidates = None if self.n_neighbors is None else pairs.nearest_neighbors(X, self.n_neighbors)
        return pairs.problem(X, self.model_, self.kind, pairs=candidates)

    def partition(self, X: Any) -> PartitionResult:
        """The partition of new elements with its cost, its lower bound, and why the solver stopped."""
        result = run(
            self.problem(X),
            self.method,
            time_limit=self.time_limit,
            seed=seed(self.random_state),
            progress=self.progress,
        )
        assert isinstance(result, PartitionResult)
        return result

    def predict(self, X: Any) -> Labels:
        """Partition new elements.

        Parameters
        ----------
        X : array_like, shape (n, V)
            Elements of classes that need not be those of the training data.

        Returns
        -------
        ndarray of int64, shape (n,)
            Labels 0, 1, ... in order of first appearance. They name subsets of this call, not classes: an element's
            label depends on the other elements.
        """
        return self.partition(X).labels.astype(np.int64)

    def predict_pairs(self, X: Any, candidates: ArrayLike) -> Labels:
        """Independent decisions: 1 for each pair that is more likely in the same subset than not, else 0.

        Parameters
        ----------
        X : array_like, shape (n, V)
        candidates : array_like of int, shape (m, 2)

        Returns
        -------
        ndarray of int64, shape (m,)
            They need not be consistent: a with b and b with c does not imply a with c.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return (pairs.pair_costs(X, candidates, self.model_, self.kind) < 0).astype(np.int64)

    def score(self, X: Any, y: ArrayLike) -> float:
        """The adjusted Rand index of :meth:`predict` against true classes."""
        from sklearn.metrics import adjusted_rand_score

        return float(adjusted_rand_score(y, self.predict(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

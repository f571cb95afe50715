"""Partitions behind the interface of scikit-learn: `CorrelationClustering` and `LearnedPartition`.

The first turns distances or similarities into costs by a threshold; the second learns costs of pairs from elements of
known classes, and partitions other elements, whose classes it may never have seen. Neither is told the number of
subsets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidOption, InvalidProblem, MissingDependency
from graphpart.learn import LogisticRegression, pairs
from graphpart.learn.attributes import total_width
from graphpart.partition.problem import SetPartition, check_matrix_fits
from graphpart.partition.problem.misreadings import check_values
from graphpart.result import PartitionResult
from graphpart.solve import run

try:
    from scipy.spatial.distance import squareform
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.metrics.pairwise import pairwise_distances, pairwise_kernels
    from sklearn.utils import check_random_state, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingDependency("scikit-learn", "learn", "graphpart.estimators") from None

__all__ = ["CorrelationClustering", "LearnedPartition", "otsu_threshold"]

Labels = NDArray[np.int64]


class CorrelationClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Partition elements by which pairs are nearer than a threshold, and which are farther.

    The cost of joining a pair is ``distance - threshold``, or ``threshold - similarity``, or is given.

    Parameters
    ----------
    metric : str or callable
        A metric of `sklearn.metrics.pairwise_distances`, a kernel of `sklearn.metrics.pairwise.pairwise_kernels` if
        `kind` is ``"similarity"``, or ``"precomputed"``: then X is the symmetric matrix of n times n values; of a
        sparse one, only the stored values are used, all other pairs cost 0.
    kind : {"distance", "similarity", "cost"}
        What the values are. Costs must be precomputed.
    threshold : float or "otsu"
        Where attraction turns into repulsion. ``"otsu"`` splits the values of all pairs into two groups of smallest
        variance (Otsu 1979), which suits well separated clusters; what counts as near in your data is better.
    n_neighbors : int, optional
        Only pairs of which one is among the nearest neighbours of the other get a cost; for distances that are not
        precomputed. Default: all pairs.
    method, time_limit
        As for :func:`graphpart.solve`.
    random_state : int, RandomState or None
        For methods that draw random numbers.
    progress : bool
        Show progress on a terminal or in a notebook, as :func:`graphpart.solve` does.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n,)
        0, 1, ... in order of first appearance.
    cost_, lower_bound_ : float
        The sum of the costs of pairs within subsets, and a number that no partition is below.
    threshold_ : float
        The threshold used; NaN for costs.
    result_ : PartitionResult
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> CorrelationClustering(threshold=2.0).fit_predict([[0.0], [1.0], [10.0], [11.0], [30.0]])
    array([0, 0, 1, 1, 2])
    """

    def __init__(
        self,
        metric: Any = "euclidean",
        *,
        kind: str = "distance",
        threshold: float | str = "otsu",
        n_neighbors: int | None = None,
        method: str = "auto",
        time_limit: float | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.metric = metric
        self.kind = kind
        self.threshold = threshold
        self.n_neighbors = n_neighbors
        self.method = method
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> CorrelationClustering:
        """Partition the elements.

        Parameters
        ----------
        X : array_like, shape (n, V), or (n, n) if precomputed
        y : ignored
        """
        if self.kind not in ("distance", "similarity", "cost"):
            raise InvalidOption(f"kind is {self.kind!r}: expected distance, similarity or cost")
        precomputed = self.metric == "precomputed" if isinstance(self.metric, str) else False
        if self.kind == "cost" and not precomputed:
            raise InvalidOption("kind is 'cost' but metric is not 'precomputed': expected a matrix of costs")
        if self.n_neighbors is not None and (precomputed or self.kind != "distance"):
            raise InvalidOption("n_neighbors is given: expected distances that are not precomputed")
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr" if precomputed else False)
        problem = self._sparse(X) if self.n_neighbors is not None else self._dense(X, precomputed)
        if self.kind == "cost":
            check_values(problem)
        result = run(
            problem, self.method, time_limit=self.time_limit, seed=_seed(self.random_state), progress=self.progress
        )
        self.result_ = result
        self.labels_ = result.labels.astype(np.int64)
        self.cost_, self.lower_bound_ = result.cost, result.lower_bound
        return self

    def _sparse(self, X: Any) -> SetPartition:
        candidates = pairs.nearest_neighbors(X, self.n_neighbors, self.metric)  # type: ignore[arg-type]
        distances = np.empty(len(candidates))
        ends = np.searchsorted(candidates[:, 0], np.arange(len(X)), side="right")
        first = 0
        for a, last in enumerate(ends.tolist()):  # candidates are sorted by their first element
            if last > first:
                near = X[candidates[first:last, 1]]
                distances[first:last] = pairwise_distances(X[a : a + 1], near, metric=self.metric)[0]
            first = last
        return SetPartition.from_pairs(len(X), candidates, self._costs(distances))

    def _dense(self, X: Any, precomputed: bool) -> SetPartition:
        if not precomputed:
            try:
                check_matrix_fits(len(X), copies=2)
            except InvalidProblem as error:
                if self.kind != "distance":
                    raise
                raise InvalidProblem(
                    f"{error}: n_neighbors=10, for instance, uses the distances of near elements only"
                ) from None
            function = pairwise_distances if self.kind == "distance" else pairwise_kernels
            values = function(X, metric=self.metric)
        elif X.shape[0] != X.shape[1]:
            raise ValueError(f"precomputed {self.kind} matrix has shape {X.shape}: expected a square matrix")
        elif hasattr(X, "tocoo"):
            stored = X.tocoo()
            off = stored.row != stored.col
            costs = self._costs(stored.data[off])
            matrix = type(stored)((costs, (stored.row[off], stored.col[off])), shape=stored.shape)
            return SetPartition.from_matrix(matrix)
        else:
            values = X
        return SetPartition.from_matrix(self._costs(values))

    def _costs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.kind == "cost":
            self.threshold_ = float("nan")
            return values
        if isinstance(self.threshold, str):
            if self.threshold != "otsu":
                raise InvalidOption(f"threshold is {self.threshold!r}: expected a number or 'otsu'")
            among = values if values.ndim == 1 else squareform(values, checks=False)  # without the diagonal
            self.threshold_ = otsu_threshold(among)
        else:
            self.threshold_ = float(self.threshold)
        costs: NDArray[np.float64] = values - self.threshold_
        return costs if self.kind == "distance" else np.negative(costs, out=costs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = precomputed
        return tags


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
        seed = _seed(self.random_state) if self.max_pairs is not None else None
        train, same = pairs.training_pairs(y, self.max_pairs, seed=seed, missing=None)
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
        seed = _seed(self.random_state)
        result = run(self.problem(X), self.method, time_limit=self.time_limit, seed=seed, progress=self.progress)
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


def otsu_threshold(values: NDArray[np.float64], bins: int = 1024) -> float:
    """The threshold that splits values into two groups with the largest variance between their means (Otsu 1979).

    Parameters
    ----------
    values : ndarray of float64
        Finite.
    bins : int
        Of the histogram on which the split is sought.

    Returns
    -------
    float
        The middle of the threshold's bin, or of the empty bins between the groups; the value itself if all are equal;
        0 if there are none.

    Examples
    --------
    >>> round(otsu_threshold(np.array([1.0, 1.1, 1.2, 8.9, 9.0])), 1)
    5.1
    """
    if not values.size:
        return 0.0
    low, high = float(values.min()), float(values.max())
    if not np.isfinite(high - low):
        raise InvalidProblem(f"values from {low} to {high}: expected finite ones for a threshold")
    if low == high:
        return low
    counts, edges = np.histogram(values, bins, range=(low, high))
    centers = 0.5 * (edges[:-1] + edges[1:])
    below = np.cumsum(counts)[:-1]
    above = values.size - below
    sums = np.cumsum(counts * (centers - low))
    split = np.square(sums[:-1] / below - (sums[-1] - sums[:-1]) / above) * below * above
    best = np.flatnonzero(split >= split.max() * (1 - 1e-12))
    return float(0.5 * (edges[best[0] + 1] + edges[best[-1] + 1]))


def _seed(random_state: Any) -> int | None:
    return None if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))

"""`CorrelationClustering`: pairs that are nearer than a threshold attract, other pairs repel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.metrics.pairwise import pairwise_distances, pairwise_kernels
from sklearn.utils.validation import check_is_fitted, validate_data

from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.estimators.seeds import seed
from graphpart.estimators.thresholds import otsu_threshold, path_threshold
from graphpart.learn import pairs
from graphpart.partition.problem import SetPartition, check_matrix_fits
from graphpart.partition.problem.misreadings import check_values
from graphpart.solve import run


class CorrelationClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Partition elements such that pairs nearer than a threshold are joined, and others cut, as far as possible.

    The cost of joining a pair is ``distance - threshold``, or ``threshold - similarity``, or is given. The partition of
    least total cost is sought.

    Parameters
    ----------
    metric : str or callable
        A metric of `sklearn.metrics.pairwise_distances`, a kernel of `sklearn.metrics.pairwise.pairwise_kernels` if
        `kind` is ``"similarity"``, or ``"precomputed"``: then X is the symmetric matrix of n times n values. In a
        sparse matrix, only the stored values are used; all other pairs cost 0.
    kind : {"distance", "similarity", "cost"}
        What the values are. Costs must be precomputed.
    threshold : float, "auto" or "otsu"
        The value at which attraction turns into repulsion. If you know which distance counts as near in your data, give
        it. ``"auto"`` tries 40 thresholds on at most 500 elements, and takes the one whose *partition* separates near
        pairs from far pairs best: the groups of joined pairs and of cut pairs explain the largest share of the variance
        of the logarithm of the distance (:func:`graphpart.estimators.path_threshold`). ``"otsu"`` compares the pairs
        below and above the threshold in the same way, whether or not they make a partition (Otsu 1979); it fails if
        there are many clusters, or clusters near each other. If only some pairs have a value, ``"auto"`` is ``"otsu"``.
    n_neighbors : int, optional
        Only pairs in which one element is among the nearest neighbours of the other get a cost; for distances that are
        not precomputed. Default: all pairs.
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
        The sum of the costs of pairs within subsets, and a lower bound on the cost of every partition.
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
        threshold: float | str = "auto",
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
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr")
        problem = self._sparse(X) if self.n_neighbors is not None else self._dense(X, precomputed)
        if self.kind == "cost":
            check_values(problem)
        result = run(
            problem, self.method, time_limit=self.time_limit, seed=seed(self.random_state), progress=self.progress
        )
        self.result_ = result
        self.labels_ = result.labels.astype(np.int64)
        self.cost_, self.lower_bound_ = result.cost, result.lower_bound
        return self

    def score(self, X: Any, y: ArrayLike) -> float:
        """The adjusted Rand index of a partition of X, by the threshold that was found in `fit`, against true classes.

        Parameters
        ----------
        X : array_like, shape (n, V), or (n, n) if precomputed
            Not necessarily the elements of `fit`.
        y : array_like, shape (n,)

        Notes
        -----
        So `GridSearchCV` compares options on elements that were not used to choose the threshold.
        """
        from sklearn.metrics import adjusted_rand_score

        return float(adjusted_rand_score(y, self._partition(X)))

    def _partition(self, X: Any) -> NDArray[np.int64]:
        """Labels of other elements by the threshold of `fit`; they are unrelated to the subsets of `fit`."""
        check_is_fitted(self)
        validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False)  # complains of other attributes
        other = clone(self)
        if self.kind != "cost":
            other.set_params(threshold=self.threshold_)
        labels: NDArray[np.int64] = other.fit(X).labels_
        return labels

    def _sparse(self, X: Any) -> SetPartition:
        candidates = pairs.nearest_neighbors(X, self.n_neighbors, self.metric)  # type: ignore[arg-type]
        distances = np.empty(len(candidates))
        ends = np.searchsorted(candidates[:, 0], np.arange(X.shape[0]), side="right")
        first = 0
        for a, last in enumerate(ends.tolist()):  # candidates are sorted by their first element
            if last > first:
                near = X[candidates[first:last, 1]]
                distances[first:last] = pairwise_distances(X[a : a + 1], near, metric=self.metric)[0]
            first = last
        return SetPartition.from_pairs(X.shape[0], candidates, self._costs(distances, candidates, X.shape[0]))

    def _dense(self, X: Any, precomputed: bool) -> SetPartition:
        if not precomputed:
            try:
                check_matrix_fits(X.shape[0], copies=2)
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
            ends = np.stack([stored.row[off], stored.col[off]], axis=1)
            costs = self._costs(stored.data[off], ends, X.shape[0])
            matrix = type(stored)((costs, (stored.row[off], stored.col[off])), shape=stored.shape)
            return SetPartition.from_matrix(matrix)
        else:
            values = X
        return SetPartition.from_matrix(self._costs(values))

    def _costs(self, values: NDArray[np.float64], listed: Any = None, n: int | None = None) -> NDArray[np.float64]:
        """Costs of all pairs, from a matrix, or of listed ones."""
        if self.kind == "cost":
            self.threshold_ = float("nan")
            return values
        if isinstance(self.threshold, str):
            if self.threshold == "otsu" or (self.threshold == "auto" and listed is not None):
                among = values if values.ndim == 1 else squareform(values, checks=False)  # without the diagonal
                self.threshold_ = otsu_threshold(among)
            elif self.threshold == "auto":
                self.threshold_ = path_threshold(values, similarity=self.kind == "similarity")
            else:
                raise InvalidOption(f"threshold is {self.threshold!r}: expected a number, 'auto' or 'otsu'")
        else:
            self.threshold_ = float(self.threshold)
        costs: NDArray[np.float64] = values - self.threshold_
        return costs if self.kind == "distance" else np.negative(costs, out=costs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = True
        return tags

"""`CorrelationClustering`: pairs that are nearer than a threshold attract, other pairs repel."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.metrics.pairwise import pairwise_distances, pairwise_kernels
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from graphpart.errors import InvalidOption
from graphpart.estimators.misreadings import check_distances, check_elements, check_points, check_threshold
from graphpart.estimators.solving import clustered
from graphpart.learn import pairs
from graphpart.machine import CHUNK
from graphpart.partition.inputs.embeddings import (
    ALL_PAIRS,
    METRICS,
    NEIGHBORS,
    chosen,
    drawn_pairs,
    points,
    sample_of_distances,
    scaled,
    uses_neighbors,
    with_others,
)
from graphpart.partition.inputs.matrices import symmetric
from graphpart.partition.inputs.neighbors import distances_of, neighbor_pairs
from graphpart.partition.inputs.thresholds import drawn, otsu_threshold, path_threshold
from graphpart.partition.problem import SetPartition, check_matrix_fits
from graphpart.partition.problem.background import background_of
from graphpart.partition.problem.misreadings import check_kind, check_values
from graphpart.partition.problem.requirements import RequirementOptions, with_options
from graphpart.partition.turned_signs import check_sign


class CorrelationClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Partition elements such that pairs nearer than a threshold are joined, and others cut, as far as possible.

    The cost of joining a pair is ``distance - threshold``, or ``threshold - similarity``, or is given. The partition of
    least total cost is sought.

    Parameters
    ----------
    metric : str or callable
        A metric of `sklearn.metrics.pairwise_distances`, a kernel of `sklearn.metrics.pairwise.pairwise_kernels` if
        `kind` is ``"similarity"``, or ``"precomputed"``: then X is the symmetric matrix of n times n values. In a
        sparse matrix, only the stored values are used; all other pairs cost 0. The default is that of scikit-learn's
        estimators; of vectors whose length means nothing, such as embeddings, the cosine distance is better, which
        :meth:`graphpart.SetPartition.from_embeddings` and :func:`graphpart.records.near_duplicates` take by default.
    kind : {"distance", "similarity", "cost"}
        What the values are. Costs must be precomputed.
    threshold : float, "auto", None or "otsu"
        The value at which attraction turns into repulsion. If you know which distance counts as near in your data, give
        it. ``"auto"``, or None, takes the threshold whose *partition* of at most 500 elements, by average linkage,
        separates near pairs from far pairs best: the groups of joined pairs and of cut pairs explain the largest share
        of the variance of the logarithm of the distance (:func:`graphpart.estimators.path_threshold`). ``"otsu"``
        compares the pairs below and above the threshold in the same way, whether or not they make a partition (Otsu
        1979); it fails if there are many clusters, or clusters near each other. Of a sparse matrix, ``"auto"`` is
        ``"otsu"``.
    n_neighbors : int, optional
        Only pairs in which one element is among this number of nearest neighbours of the other get a cost, and as many
        pairs that are drawn from all pairs; for distances that are not precomputed, see
        :meth:`graphpart.SetPartition.from_embeddings`. Default: all pairs count of up to 50,000 elements (Euclidean and
        cosine distances; 3000 for other metrics), 30 neighbours of more.
    max_size, n_clusters : int, optional
        Limits of the sizes and of the number of clusters, see :class:`graphpart.SetPartition`. Default: none.
    method, time_limit
        As for :func:`graphpart.solve`, but without a limit, ``"auto"`` searches for about a tenth of a second if that
        finds nothing better, and proves for no longer than it has searched.
    random_state : int, RandomState or None
        For methods that draw random numbers.
    progress : bool
        Show progress on a terminal or in a notebook, as :func:`graphpart.solve` does.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n,)
        0, 1, ... in order of first appearance.
    cost_, lower_bound_ : float
        The sum of the costs of pairs within clusters, and a lower bound on the cost of every partition.
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
        threshold: float | str | None = "auto",
        n_neighbors: int | None = None,
        max_size: int | None = None,
        n_clusters: Any = None,
        method: str = "auto",
        time_limit: float | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.metric = metric
        self.kind = kind
        self.threshold = threshold
        self.n_neighbors = n_neighbors
        self.max_size = max_size
        self.n_clusters = n_clusters
        self.method = method
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress

    _is_applied = False  # the threshold is that of another fit

    @with_options(RequirementOptions)
    def fit(self, X: Any, y: Any = None, **requirements: Unpack[RequirementOptions]) -> CorrelationClustering:
        """Partition the elements.

        Parameters
        ----------
        X : array_like, shape (n, V), or (n, n) if precomputed
        y : ignored
        **requirements
            What clusters must obey, as :meth:`graphpart.SetPartition.require` takes it, in place of `max_size` and
            `n_clusters` if they are among it. Elements are the rows of X, from 0. :meth:`fit_predict` takes it, too.

        Warns
        -----
        GraphPartWarning
            If the given threshold is such that no pair attracts, or every pair.
        """
        if self.kind not in ("distance", "similarity", "cost"):
            raise InvalidOption(f"kind is {self.kind!r}: expected distance, similarity or cost")
        precomputed = self.metric == "precomputed" if isinstance(self.metric, str) else False
        if self.kind == "cost" and not precomputed:
            raise InvalidOption("kind is 'cost' but metric is not 'precomputed': expected a matrix of costs")
        if self.n_neighbors is not None and (precomputed or self.kind != "distance"):
            raise InvalidOption("n_neighbors is given: expected distances that are not precomputed")
        if self.kind == "similarity" and isinstance(self.metric, str) and self.metric == "euclidean":
            raise InvalidOption(
                "kind is 'similarity' but metric is 'euclidean': expected metric='precomputed' for a matrix of "
                "similarities, or a kernel such as 'cosine' for points"
            )
        check_elements(X)
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr")
        if not precomputed and not hasattr(X, "tocoo"):
            check_points(X)
        self._neighbors = None
        if self.kind == "distance" and not precomputed:
            self._neighbors = uses_neighbors(X.shape[0], self.n_neighbors)
            if not (isinstance(self.metric, str) and self.metric in METRICS) and X.shape[0] > ALL_PAIRS:
                self._neighbors = self._neighbors or NEIGHBORS
        if self._neighbors is not None:
            problem = self._sparse(X, self._neighbors)
        elif self.kind == "distance" and not precomputed and X.shape[0] > ALL_PAIRS:
            problem = self._drawn(X)
        else:
            problem = self._dense(X, precomputed)
        self._points = None if precomputed else X
        if self.kind == "cost":
            check_values(problem)
            check_sign(problem)
        asked: Any = {"max_size": self.max_size, "n_clusters": self.n_clusters, **requirements}
        problem = problem.require(**asked)
        result = clustered(self, problem)
        self.result_ = result
        self.labels_ = result.labels.astype(np.int64)
        self.cost_, self.lower_bound_ = result.cost, result.lower_bound
        return self

    def score(self, X: Any, y: ArrayLike | None = None) -> float:
        """The adjusted Rand index of a partition of X, by the threshold that was found in `fit`, against true classes.

        Parameters
        ----------
        X : array_like, shape (m, V), or (m, m) or (m, n) if precomputed
            Not necessarily the elements of `fit`. If their values with each other are not given, but those with each of
            the n elements of `fit`, they join the clusters of `fit`, as in :meth:`predict`, or are alone.
        y : array_like, shape (m,)
            The true classes.

        Raises
        ------
        InvalidOption
            If `y` is None.

        Notes
        -----
        So `GridSearchCV` compares options on elements that were not used to choose the threshold.
        """
        from sklearn.metrics import adjusted_rand_score

        if y is None:
            raise InvalidOption(
                "score has no y: expected the true classes, as in GridSearchCV(...).fit(X, y); if they are not known, "
                "threshold='auto' chooses a threshold without them"
            )
        return float(adjusted_rand_score(y, self._partition(X)))

    def _partition(self, X: Any) -> NDArray[np.int64]:
        """Labels of other elements by the threshold of `fit`; they are unrelated to the clusters of `fit`."""
        check_is_fitted(self)
        checked = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False)  # no other attributes
        if self._points is None and not hasattr(checked, "tocoo") and not _is_symmetric(checked):
            labels = self.predict(checked)
            alone = labels < 0
            labels[alone] = len(self.labels_) + np.arange(np.count_nonzero(alone))
            return labels
        other = clone(self)
        other._is_applied = True
        if self.kind != "cost":
            other.set_params(threshold=self.threshold_)
        return np.asarray(other.fit(X).labels_, np.int64)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The cluster of `fit` that each new element joins, or -1 if it lowers the cost to join none.

        Parameters
        ----------
        X : array_like, shape (m, V), or (m, n) if precomputed
            New elements, or their values with each of the n elements of `fit`.

        Returns
        -------
        ndarray of int64, shape (m,)
            Each element is taken by itself: it joins the cluster to whose elements its costs have the smallest sum, if
            that is below 0. With neighbours, these are the costs of its nearest ones.
        """
        check_is_fitted(self)
        if self._points is None:
            values = check_array(X, dtype=np.float64)
            if values.shape[1] != len(self.labels_):
                raise ValueError(f"X has {values.shape[1]} columns: expected a value for each of {len(self.labels_)}")
            return self._joined(values)
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False)
        function = pairwise_distances if self.kind == "distance" else pairwise_kernels
        rows = max(1, CHUNK // len(self.labels_))
        parts = [X[k : k + rows] for k in range(0, X.shape[0], rows)]
        return np.concatenate([self._joined(function(part, self._points, metric=self.metric)) for part in parts])

    def _joined(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The best cluster of new elements, of their values with all elements."""
        costs = values if self.kind == "cost" else values - self.threshold_
        if self.kind == "similarity":
            costs = np.negative(costs)
        if self._neighbors is not None:
            near = np.argpartition(costs, self._neighbors - 1, axis=1)[:, : self._neighbors]
            listed = np.take_along_axis(costs, near, axis=1)
            costs = np.zeros_like(costs)
            np.put_along_axis(costs, near, listed, axis=1)
        order = np.argsort(self.labels_, kind="stable")
        starts = np.searchsorted(self.labels_[order], np.arange(self.labels_.max() + 1))
        sums = np.add.reduceat(costs[:, order], starts, axis=1)
        best: NDArray[np.int64] = sums.argmin(axis=1)
        return np.where(sums.min(axis=1) < 0, best, -1)

    def _sparse(self, X: Any, k: int) -> SetPartition:
        n = X.shape[0]
        if isinstance(self.metric, str) and self.metric in METRICS:
            P = points(X, self.metric)
            u, v = with_others(n, *neighbor_pairs(P, k))
            distances = scaled(distances_of(P, u, v), self.metric)
        else:
            u, v = with_others(n, *pairs.nearest_neighbors(X, k, self.metric).T)
            distances = self._distances(X, u, v)
        self._choose(pairwise_distances(X[drawn(n)], metric=self.metric) if self._is_auto else distances)
        return SetPartition._of_pairs(range(n), u, v, self._costs(distances), dense=False)

    def _drawn(self, X: Any) -> SetPartition:
        """Near pairs, and a constant cost of others, as `partition/inputs/embeddings.py` says."""
        P = points(X, self.metric)
        if self.threshold is None or self._is_auto:
            self.threshold_, _ = chosen(None, P, self.metric)
        elif isinstance(self.threshold, str):
            D = sample_of_distances(P, self.metric)[1]
            self._choose(D[np.isfinite(D)])
        else:
            self.threshold_ = float(self.threshold)
        u, v, costs, others = drawn_pairs(P, self.metric, self.threshold_)
        names = range(X.shape[0])
        return SetPartition._of_pairs(names, u, v, costs, background_of(names, **others), dense=False)

    def _distances(self, X: Any, u: NDArray[np.int64], v: NDArray[np.int64]) -> NDArray[np.float64]:
        """The distances of pairs, which are sorted by their first element."""
        distances = np.empty(len(u))
        ends = np.searchsorted(u, np.arange(X.shape[0]), side="right")
        first = 0
        for a, last in enumerate(ends.tolist()):
            if last > first:
                distances[first:last] = pairwise_distances(X[a : a + 1], X[v[first:last]], metric=self.metric)[0]
            first = last
        return distances

    def _dense(self, X: Any, precomputed: bool) -> SetPartition:
        if precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(f"precomputed {self.kind} matrix has shape {X.shape}: expected a square matrix")
        if precomputed and self.kind == "distance":
            check_distances(X)
        if precomputed and hasattr(X, "tocoo"):
            stored = X.tocoo()
            off = stored.row != stored.col
            self._choose(stored.data[off])
            costs = self._costs(stored.data[off])
            return SetPartition.from_matrix(
                type(stored)((costs, (stored.row[off], stored.col[off])), shape=stored.shape)
            )
        if precomputed:
            values = np.array(X)
            if self.kind != "cost":
                if not _is_symmetric(values):
                    symmetric(values, copy=True, of="similarities" if self.kind == "similarity" else "distances")
                check_kind(values, self.kind == "similarity")
        else:
            check_matrix_fits(X.shape[0])
            function = pairwise_distances if self.kind == "distance" else pairwise_kernels
            values = function(X, metric=self.metric)
        by_points = self.kind == "distance" and not precomputed and isinstance(self.metric, str)
        if by_points and self.metric in METRICS and self._is_auto:  # as `SetPartition.from_embeddings` does
            self.threshold_, _ = chosen(None, points(X, self.metric), self.metric)
        else:
            self._choose(values)
        if self.kind != "cost":
            np.fill_diagonal(values, 0.0)  # squares of lengths, of some kernels
        return SetPartition.from_matrix(self._costs(values), dense=True, copy=False)

    @property
    def _is_auto(self) -> bool:
        """Whether the threshold is chosen from the data."""
        return self.threshold is None or (isinstance(self.threshold, str) and self.threshold == "auto")

    def _choose(self, values: NDArray[np.float64]) -> None:
        """Set the threshold, from a matrix of values of all pairs of some elements, or from values of some pairs."""
        if self.kind == "cost":
            self.threshold_ = float("nan")
        elif self.threshold is not None and not isinstance(self.threshold, str):
            self.threshold_ = float(self.threshold)
            if not self._is_applied:
                check_threshold(values, self.threshold_, self.kind)
        elif self.threshold == "otsu" or (self._is_auto and values.ndim == 1):
            among = values if values.ndim == 1 else squareform(values, checks=False)  # without the diagonal
            self.threshold_ = otsu_threshold(among)
        elif self._is_auto:
            self.threshold_ = path_threshold(values, similarity=self.kind == "similarity")
        else:
            raise InvalidOption(f"threshold is {self.threshold!r}: expected a number, 'auto' or 'otsu'")

    def _costs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Costs from values, in place."""
        if self.kind == "cost":
            return values
        values -= self.threshold_
        return values if self.kind == "distance" else np.negative(values, out=values)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = True
        return tags


def _is_symmetric(X: NDArray[np.float64]) -> bool:
    """Whether it is a symmetric matrix but for rounding. Some rows at a time, without further matrices of its size."""
    n, m = X.shape
    return n == m and all(np.allclose(X[k : k + 100], X[:, k : k + 100].T) for k in range(0, n, 100))

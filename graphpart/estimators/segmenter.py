"""`Segmenter`: costs of boundaries between regions, learned from segmented pictures or volumes.

1. Each training picture becomes a region graph. The true segment of a region is the one that most of its labelled
   voxels are in. A pair of regions with true segments is a sample: joined, if they are equal.
2. Features of samples: those of the region graph, with logarithms of lengths and sizes.
3. A classifier gives each sample a probability, out of sample: the samples are divided into folds, and each fold is
   predicted by a classifier that has not seen it. Logistic regression of the decisions on the log-odds of these
   probabilities calibrates them (Platt 1999). A last classifier sees all samples.
4. Costs are the log-odds of the probabilities, times a power of the length of the boundary. The threshold is the
   probability with cost 0. Of several, the one is taken for which the training pictures, partitioned with the
   probabilities that are out of sample, are nearest to the truth, in variation of information.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.estimators.solving import seed
from graphpart.images import RegionGraph, region_graph
from graphpart.images.graph import CLIP
from graphpart.learn import MaxMarginPartition
from graphpart.metrics import information_of_counts
from graphpart.partition.problem import SetPartition, costs_from_probabilities
from graphpart.result import PartitionResult
from graphpart.solve import run

__all__ = ["Segmenter"]

Floats = NDArray[np.float64]

THRESHOLDS = np.array([0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8])
LOGARITHMS = {"length", "smaller", "larger"}
LEFT_OUT = {"area"}
FEWEST = 10  # samples


class Segmenter(BaseEstimator):  # type: ignore[misc]
    """Learn to segment pictures or volumes from segmented ones.

    Parameters
    ----------
    classifier : estimator of scikit-learn, optional
        With ``predict_proba``. Default: standardised features and logistic regression with C = 0.3.
    loss : {"log", "max-margin"}
        "log": the classifier, pair by pair. "max-margin": :class:`graphpart.learn.MaxMarginPartition`, which learns
        costs from whole partitions; each training picture is one problem. It takes no classifier.
    threshold : "auto" or float
        The probability that two regions are together from which on they attract; "auto" chooses it out of sample.
    length_weight : float
        The power of the length of a boundary that its cost is multiplied with: 0 counts all boundaries alike, 1 counts
        each voxel.
    spacing : sequence of float, optional
        The size of a voxel along each axis.
    method, time_limit : str, float
        Of the solver in `predict`.
    random_state : int, optional

    Attributes
    ----------
    classifier_ : the fitted classifier, or MaxMarginPartition
    feature_names_ : list of str
    threshold_ : float
        The probability, or with max-margin the cost, that decides.
    calibration_ : (float, float)
        Log-odds x of the classifier become ``slope * x + intercept``.
    n_samples_ : int
        Pairs of regions that were learned from.

    Notes
    -----
    A truth may have voxels without a label: 0 or negative. Region graphs with other features can be passed in place of
    tuples. Forests and boosting were measured to overfit if there are some hundred pairs.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> regions = np.arange(64).reshape(8, 8).repeat(4, 0).repeat(4, 1) + 1
    >>> truth = 1 + (np.indices((32, 32))[1] >= 16)
    >>> boundary = np.clip((np.diff(truth, axis=1, append=2) > 0) * 0.6 + 0.4 * rng.random((32, 32)), 0, 1)
    >>> segmenter = Segmenter().fit([(regions, boundary)], [truth])
    >>> labels = segmenter.predict((regions, boundary))
    >>> labels.shape, len(np.unique(labels))
    ((32, 32), 2)
    """

    def __init__(
        self,
        classifier: Any = None,
        *,
        loss: str = "log",
        threshold: str | float = "auto",
        length_weight: float = 0.5,
        spacing: Any = None,
        method: str = "auto",
        time_limit: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.classifier = classifier
        self.loss = loss
        self.threshold = threshold
        self.length_weight = length_weight
        self.spacing = spacing
        self.method = method
        self.time_limit = time_limit
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Segmenter:
        """Learn from pictures or volumes.

        Parameters
        ----------
        X : list of tuples (regions, boundary) or (regions, boundary, image), or of RegionGraph
        y : list of arrays of int
            The true segment of each voxel; 0 or negative: not known.

        Raises
        ------
        InvalidProblem
            If shapes differ, pictures have other features than others, or pairs of both kinds are missing.
        InvalidOption
            If a parameter has no meaning.
        """
        self._check()
        if isinstance(X, tuple | RegionGraph):
            raise InvalidProblem("X is one picture: expected a list of pictures, fit([(regions, boundary)], [truth])")
        if len(X) != len(y) or not len(X):
            raise InvalidProblem(f"{len(X)} pictures and {len(y)} truths: expected equally many, at least one")
        graphs = [self._graph(one) for one in X]
        counts = [_counts(graph, truth, k) for k, (graph, truth) in enumerate(zip(graphs, y, strict=True))]
        self.feature_names_ = [name for name in graphs[0].columns if name not in LEFT_OUT]
        rows = [self._rows(graph) for graph in graphs]
        known, same = zip(*(_samples(graph, count) for graph, count in zip(graphs, counts, strict=True)), strict=True)
        samples = np.concatenate([row[k] for row, k in zip(rows, known, strict=True)])
        decisions = np.concatenate([s[k] for s, k in zip(same, known, strict=True)])
        self.n_samples_ = len(decisions)
        joins = int(decisions.sum())
        if self.n_samples_ < FEWEST or min(joins, self.n_samples_ - joins) < 2:
            raise InvalidProblem(
                f"{self.n_samples_} pairs of regions have true segments, {joins} of them joined: expected at least "
                f"{FEWEST}, and 2 of each kind"
            )
        if self.loss == "max-margin":
            self._fit_margins(graphs, rows, known, same)
            return self
        self.classifier_ = clone(self.classifier) if self.classifier is not None else _default()
        out_of_sample, self.calibration_ = self._cross_fitted(rows, known, samples, decisions)
        self.classifier_.fit(samples, decisions)
        self.threshold_ = (
            float(self.threshold)
            if self.threshold != "auto"
            else _best(THRESHOLDS, lambda t: self._distance(graphs, counts, out_of_sample, t))
        )
        return self

    def _check(self) -> None:
        if self.loss not in ("log", "max-margin"):
            raise InvalidOption(f"loss is {self.loss!r}: expected log or max-margin")
        if self.loss == "max-margin" and self.classifier is not None:
            raise InvalidOption("a classifier is given with loss='max-margin': expected one of them")
        if self.classifier is not None and not hasattr(self.classifier, "predict_proba"):
            raise InvalidOption(
                f"{type(self.classifier).__name__} has no predict_proba: expected a classifier that has"
            )
        if self.threshold != "auto" and (isinstance(self.threshold, str) or not 0 < float(self.threshold) < 1):
            raise InvalidOption(f"threshold is {self.threshold!r}: expected auto or a probability between 0 and 1")
        if not 0 <= self.length_weight < np.inf:
            raise InvalidOption(f"length_weight is {self.length_weight!r}: expected a power, at least 0")

    def _graph(self, one: Any) -> RegionGraph:
        if isinstance(one, RegionGraph):
            return one
        if not isinstance(one, tuple | list) or len(one) not in (2, 3):
            raise InvalidProblem(
                f"a picture is given as {type(one).__name__}: expected a tuple (regions, boundary) or (regions, "
                "boundary, image)"
            )
        image = one[2] if len(one) == 3 else None
        return region_graph(one[0], one[1], image=image, spacing=self.spacing)

    def _rows(self, graph: RegionGraph) -> Floats:
        names = [name for name in graph.columns if name not in LEFT_OUT]
        if names != self.feature_names_:
            raise InvalidProblem(
                f"a picture has the features {', '.join(names)}: expected {', '.join(self.feature_names_)}; has one of "
                "them an image, and the other none?"
            )
        columns = [np.log(graph.columns[name]) if name in LOGARITHMS else graph.columns[name] for name in names]
        return np.column_stack(columns).astype(np.float64)

    def _cross_fitted(
        self, rows: list[Floats], known: Any, samples: Floats, decisions: NDArray[np.bool_]
    ) -> tuple[list[Floats], tuple[float, float]]:
        """Calibrated log-odds of all pairs out of sample, by picture; slope and intercept of the calibration."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import StratifiedKFold

        starts = np.cumsum([0, *(int(k.sum()) for k in known)])
        every = np.concatenate(rows)
        folds = min(5, int(decisions.sum()), int((~decisions).sum()))
        split = StratifiedKFold(folds, shuffle=True, random_state=seed(self.random_state) or 0)
        odds = np.zeros(len(decisions))
        unseen = np.zeros(len(every))
        for learn, held in split.split(samples, decisions):
            model = clone(self.classifier_).fit(samples[learn], decisions[learn])
            odds[held] = _odds(model, samples[held])
            unseen += _odds(model, every) / folds
        platt = LogisticRegression(C=1e6).fit(odds[:, None], decisions)
        slope, intercept = float(platt.coef_[0, 0]), float(platt.intercept_[0])
        if slope <= 0:  # nothing was learned
            slope, intercept = 1.0, 0.0
        found, first = [], 0
        for k, (row, has) in enumerate(zip(rows, known, strict=True)):
            values = unseen[first : first + len(row)].copy()  # pairs that are no samples: the mean of all folds
            values[has] = odds[starts[k] : starts[k + 1]]
            found.append(slope * values + intercept)
            first += len(row)
        return found, (slope, intercept)

    def _costs(self, graph: RegionGraph, odds: Floats, threshold: float) -> Floats:
        costs = costs_from_probabilities(1 / (1 + np.exp(-odds)), threshold=threshold, clip=CLIP)
        return costs * graph.weights**self.length_weight

    def _distance(self, graphs: list[RegionGraph], counts: list[Any], odds: list[Floats], threshold: float) -> float:
        """The mean variation of information between the training pictures and their truth."""
        total = 0.0
        for graph, (element, segment, number), values in zip(graphs, counts, odds, strict=True):
            result = run(graph.problem(self._costs(graph, values, threshold)), "kernighan-lin-pairs")
            assert isinstance(result, PartitionResult)
            total += sum(information_of_counts(segment, result.labels[element], number))
        return total / len(graphs)

    def _fit_margins(self, graphs: list[RegionGraph], rows: list[Floats], known: Any, same: Any) -> None:
        from sklearn.preprocessing import StandardScaler

        samples = np.concatenate([row[k] for row, k in zip(rows, known, strict=True)])
        self.scaler_ = StandardScaler().fit(samples)
        pairs = np.concatenate([graph.pairs[k] for graph, k in zip(graphs, known, strict=True)])
        number = np.repeat(np.arange(len(graphs)), [int(k.sum()) for k in known])
        weights = np.concatenate([graph.weights[k] for graph, k in zip(graphs, known, strict=True)])
        decisions = np.concatenate([s[k] for s, k in zip(same, known, strict=True)]).astype(np.int8)
        model = MaxMarginPartition(intercept=True, seed=seed(self.random_state) or 0)
        self.classifier_ = model.fit(
            self.scaler_.transform(samples), decisions, pairs, number, weights**self.length_weight
        )
        self.calibration_, self.threshold_ = (1.0, 0.0), 0.0

    def problem(self, X: Any) -> SetPartition:
        """The set partition problem over the regions of a picture, with learned costs."""
        return self._problem(self._graph(X))

    def _problem(self, graph: RegionGraph) -> SetPartition:
        check_is_fitted(self)
        rows = self._rows(graph)
        if not len(rows):
            return graph.problem(np.zeros(0))
        if self.loss == "max-margin":
            return graph.problem(self.classifier_.costs(self.scaler_.transform(rows)))
        slope, intercept = self.calibration_
        return graph.problem(self._costs(graph, slope * _odds(self.classifier_, rows) + intercept, self.threshold_))

    def partition(self, X: Any) -> PartitionResult:
        """The partition of the regions of a picture with its cost, its lower bound, and why the solver stopped."""
        result = run(self.problem(X), self.method, time_limit=self.time_limit, seed=seed(self.random_state))
        assert isinstance(result, PartitionResult)
        return result

    def predict(self, X: Any) -> Any:
        """Segment a picture or volume, or a list of them.

        Parameters
        ----------
        X : tuple (regions, boundary) or (regions, boundary, image), or RegionGraph; or a list of these

        Returns
        -------
        ndarray of int32, or a list of them
            The segment of each voxel, from 1 on; 0 where there is no region.
        """
        if isinstance(X, list):
            return [self.predict(one) for one in X]
        graph = self._graph(X)
        return graph.project(self.partition(graph))

    def score(self, X: Any, y: Any) -> float:
        """Minus the mean variation of information between the segments of pictures and their truth."""
        graphs = [self._graph(one) for one in X]
        found = []
        for k, (graph, truth) in enumerate(zip(graphs, y, strict=True)):
            element, segment, number = _counts(graph, truth, k)
            found.append(sum(information_of_counts(segment, self.partition(graph).labels[element], number)))
        return -float(np.mean(found))


def _default() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=0.3, max_iter=2000))


def _odds(model: Any, rows: Floats) -> Floats:
    p = np.clip(model.predict_proba(rows)[:, 1], 1e-6, 1 - 1e-6)
    odds: Floats = np.log(p / (1 - p))
    return odds


def _best(thresholds: Floats, distance: Any) -> float:
    """The middle of the thresholds that are next to each other and among the best."""
    distances = np.array([distance(float(t)) for t in thresholds])
    best = int(np.argmin(distances))
    near = distances <= distances[best] * 1.02 + 1e-9
    low = high = best
    while low > 0 and near[low - 1]:
        low -= 1
    while high + 1 < len(near) and near[high + 1]:
        high += 1
    return float((thresholds[low] + thresholds[high]) / 2)


def _counts(graph: RegionGraph, truth: Any, k: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Elements, true segments, and the number of voxels in both; voxels without a label are left out."""
    array = np.asarray(truth)
    if array.shape != graph.shape or array.dtype.kind not in "iu":
        raise InvalidProblem(
            f"truth {k} has shape {array.shape} and dtype {array.dtype}: expected integers of shape {graph.shape}"
        )
    elements = graph.elements()
    known = (array.ravel() > 0) & (elements.ravel() >= 0)
    segments, segment = np.unique(array.ravel()[known], return_inverse=True)
    keys, number = np.unique(elements.ravel()[known].astype(np.int64) * len(segments) + segment, return_counts=True)
    return keys // max(1, len(segments)), keys % max(1, len(segments)), number


def _samples(graph: RegionGraph, counts: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which pairs have a decision, and which of them are joined."""
    element, segment, number = counts
    order = np.lexsort((number, element))
    last = np.flatnonzero(np.diff(element[order], append=-1))
    most = order[last]
    total = np.bincount(element, number, graph.n)
    of = np.full(graph.n, -1, np.int64)
    pure = 2 * number[most] > total[element[most]]  # most of its labelled voxels are in one segment
    of[element[most[pure]]] = segment[most[pure]]
    u, v = of[graph.pairs].T
    return (u >= 0) & (v >= 0), u == v

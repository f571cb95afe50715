"""`Segmenter`: costs of boundaries between regions, learned from segmented pictures or volumes.

1. Each training picture becomes a region graph. The true segment of a region is the one that most of its labelled
   voxels are in. A pair of regions with true segments is a sample: joined, if they are equal.
2. Features of samples are such that contrast does not count; see `boundary_features`.
3. Pictures are divided into parts: each picture is one, or, of few pictures, halves of halves of its regions by place.
   Each part is left out once: a classifier learns from the pairs outside of it and predicts those within it. Logistic
   regression of the decisions on the log-odds of these probabilities calibrates them (Platt 1999). A last classifier
   sees all samples.
4. Costs are the log-odds of the probabilities, times a power of the length of the boundary. The threshold is the
   probability with cost 0. Each part, partitioned with the probabilities of the classifier that has not seen it, has a
   variation of information to the truth. Of the thresholds whose mean over the parts is within one standard error of
   the least mean (of the differences between both, part by part), the one nearest to 1/2 is taken: a choice that the
   parts do not agree on is not worth leaving 1/2 for (the one standard error rule: Breiman, Friedman, Olshen, Stone
   1984).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.estimators.boundary_features import boundary_features
from graphpart.estimators.solving import seed
from graphpart.images import RegionGraph, region_graph
from graphpart.images.graph import CLIP
from graphpart.metrics import information_of_counts
from graphpart.partition.problem import SetPartition, costs_from_probabilities
from graphpart.result import PartitionResult
from graphpart.solve import run

__all__ = ["Segmenter"]

Floats = NDArray[np.float64]

FEWEST = 10  # samples
PARTS = 6  # at least, that are left out in turns


class Segmenter(BaseEstimator):  # type: ignore[misc]
    """Learn to segment pictures or volumes from segmented ones.

    Parameters
    ----------
    classifier : estimator of scikit-learn, optional
        With ``predict_proba``. Default: the mean of logistic regression and of randomised trees.
    threshold : "auto" or float
        The probability that two regions are together from which on they attract; "auto" chooses it out of sample,
        and leaves 1/2 only as far as the choice is worth more than chance.
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
    classifier_ : the fitted classifier
    feature_names_ : list of str
    threshold_ : float
        The probability that decides.
    expected_, expected_error_ : float
        The variation of information to expect on new data, and its standard error: the mean over parts of the training
        pictures, each segmented by a classifier that has not seen it; NaN if there are too few pairs for parts. On
        pictures that differ from all of these it is too low.
    calibration_ : (float, float)
        Log-odds x of the classifier become ``slope * x + intercept``.
    n_samples_ : int
        Pairs of regions that were learned from.

    Notes
    -----
    A truth may have voxels without a label: 0 or negative. Region graphs with other features can be passed in place of
    tuples. Boundary values are scaled within each picture, so pictures may differ in brightness and contrast. Learning
    takes about seven times as long as the classifier needs.

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
        threshold: str | float = "auto",
        length_weight: float = 0.5,
        spacing: Any = None,
        method: str = "auto",
        time_limit: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.classifier = classifier
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
        self.feature_names_ = list(boundary_features(graphs[0]))
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
        self.classifier_ = clone(self.classifier) if self.classifier is not None else _default()
        self._leave_parts_out(graphs, counts, rows, known, same)
        self.classifier_.fit(samples, decisions)
        return self

    def _check(self) -> None:
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
        features = boundary_features(graph)
        if list(features) != self.feature_names_:
            raise InvalidProblem(
                f"a picture has the features {', '.join(features)}: expected {', '.join(self.feature_names_)}; has one "
                "of them an image, and the other none?"
            )
        return np.column_stack(list(features.values()))

    def _leave_parts_out(
        self, graphs: list[RegionGraph], counts: list[Any], rows: list[Floats], known: Any, same: Any
    ) -> None:
        """Calibration, threshold, and what to expect, from parts that the classifier has not seen."""
        from sklearn.linear_model import LogisticRegression

        parts = [_parts(graph, -(-PARTS // len(graphs))) for graph in graphs]
        found, odds, decisions = [], [], []
        for k, number in ((k, x) for k, part in enumerate(parts) for x in range(int(part.max(initial=-1)) + 1)):
            inside = parts[k] == number
            learn = [has.copy() for has in known]
            learn[k] &= ~inside[graphs[k].pairs].any(axis=1)
            of = np.concatenate([s[has] for s, has in zip(same, learn, strict=True)])
            within = inside[graphs[k].pairs].all(axis=1)
            if min(int(of.sum()), int((~of).sum())) < 2 or not within.any():
                continue
            model = clone(self.classifier_).fit(np.concatenate([r[x] for r, x in zip(rows, learn, strict=True)]), of)
            unseen = _odds(model, rows[k][within])
            found.append((graphs[k], counts[k], inside, within, unseen))
            odds.append(unseen[known[k][within]])
            decisions.append(same[k][within & known[k]])
        self.calibration_ = (1.0, 0.0)
        if found and 0 < np.concatenate(decisions).mean() < 1:
            platt = LogisticRegression(C=1e6).fit(np.concatenate(odds)[:, None], np.concatenate(decisions))
            if platt.coef_[0, 0] > 0:  # otherwise nothing was learned
                self.calibration_ = float(platt.coef_[0, 0]), float(platt.intercept_[0])
        thresholds = np.arange(4, 17) / 20 if self.threshold == "auto" else np.array([float(self.threshold)])
        distances = np.array([[self._distance(*part, float(t)) for t in thresholds] for part in found])
        if found:
            chosen = _chosen(thresholds, distances)
            self.threshold_, at = float(thresholds[chosen]), distances[:, chosen]
        else:
            self.threshold_, at = 0.5 if self.threshold == "auto" else float(self.threshold), np.array([np.nan])
        self.expected_ = float(at.mean())
        self.expected_error_ = _standard_error(at)

    def _costs(self, graph: RegionGraph, odds: Floats, threshold: float, rows: Any = slice(None)) -> Floats:
        slope, intercept = self.calibration_
        p = 1 / (1 + np.exp(-slope * odds - intercept))
        costs: Floats = costs_from_probabilities(p, threshold=threshold, clip=CLIP)
        costs *= graph.weights[rows] ** self.length_weight
        return costs

    def _distance(
        self, graph: RegionGraph, counts: Any, inside: Any, within: Any, odds: Floats, threshold: float
    ) -> float:
        """The variation of information between a part and its truth."""
        of = np.cumsum(inside) - 1
        u, v = np.ascontiguousarray(of[graph.pairs[within]].T)
        costs = self._costs(graph, odds, threshold, within)
        problem = SetPartition.from_pairs(int(inside.sum()), (u, v), costs, dense=False)
        result = run(problem, "kernighan-lin-pairs")
        assert isinstance(result, PartitionResult)
        element, segment, number = (x[inside[counts[0]]] for x in counts)
        return float(sum(information_of_counts(segment, result.labels[of[element]], number)))

    def problem(self, X: Any) -> SetPartition:
        """The set partition problem over the regions of a picture, with learned costs."""
        return self._problem(self._graph(X))

    def _problem(self, graph: RegionGraph) -> SetPartition:
        check_is_fitted(self)
        rows = self._rows(graph)
        if not len(rows):
            return graph.problem(np.zeros(0))
        return graph.problem(self._costs(graph, _odds(self.classifier_, rows), self.threshold_))

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
    from sklearn.ensemble import ExtraTreesClassifier, VotingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    linear = make_pipeline(StandardScaler(), LogisticRegression(C=0.3, max_iter=2000))
    trees = ExtraTreesClassifier(50, min_samples_leaf=5, random_state=0)
    return VotingClassifier([("linear", linear), ("trees", trees)], voting="soft")


def _odds(model: Any, rows: Floats) -> Floats:
    p = np.clip(model.predict_proba(rows)[:, 1], 1e-6, 1 - 1e-6)
    odds: Floats = np.log(p / (1 - p))
    return odds


def _chosen(thresholds: Floats, distances: Floats) -> int:
    """Which threshold: nearest to 1/2 of those within one standard error of the best; distances of shape (parts, k)."""
    best = int(np.argmin(distances.mean(axis=0)))
    worse = distances - distances[:, [best]]
    within = [column.mean() <= _standard_error(column) + 1e-9 for column in worse.T]
    return int(np.argmin(np.where(within, abs(thresholds - 0.5), np.inf)))


def _standard_error(values: Floats) -> float:
    """That of the mean; 0 of a single value."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _parts(graph: RegionGraph, number: int) -> NDArray[np.int64]:
    """The part of each region: halved by place along the axis in which a part is longest, until there are enough."""
    element = graph.elements().ravel()
    here = np.flatnonzero(element >= 0)
    axes = np.unravel_index(here, graph.shape)
    place = np.stack([np.bincount(element[here], axis, graph.n) for axis in axes], 1) / graph.sizes[:, None]
    part = np.zeros(graph.n, np.int64)
    while graph.n and (count := int(part.max()) + 1) < min(number, graph.n):
        for k in range(count):
            rows = np.flatnonzero(part == k)
            axis = int(np.argmax(np.ptp(place[rows], axis=0)))
            order = rows[np.argsort(place[rows, axis], kind="stable")]
            part[order[len(order) // 2 :]] += count
    return np.unique(part, return_inverse=True)[1]


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

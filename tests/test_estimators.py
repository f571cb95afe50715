"""The estimators: scikit-learn's own checks, pipelines, grid search, data frames, and what they compute."""

import itertools

import numpy as np
import pytest

import graphpart as gp
from graphpart import InvalidOption

pytest.importorskip("sklearn")

import scipy.sparse
from scikit_learn import with_checks
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import pairwise_distances, rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphpart.estimators import CorrelationClustering, LearnedPartition, otsu_threshold
from graphpart.learn import pairs

# A partition is of all elements together: the label of one depends on which others there are, and in which order.
WHOLE = "labels name subsets of the whole set given, in order of first appearance"
EXPECTED = {"check_methods_subset_invariance": WHOLE, "check_methods_sample_order_invariance": WHOLE}


def expected(estimator):
    return EXPECTED if isinstance(estimator, LearnedPartition) else {}


@with_checks(
    [
        CorrelationClustering(method="kernighan-lin"),
        CorrelationClustering(n_neighbors=5, method="kernighan-lin"),
        LearnedPartition(method="kernighan-lin"),
        LearnedPartition(["squared-difference", "cosine"], max_pairs=50, method="kernighan-lin"),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def blobs(seed, classes=6, each=12):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(classes, 4)) * 8
    y = np.repeat(np.arange(classes), each)
    return centers[y] + rng.normal(size=(len(y), 4)), y


# ------------------------------------------------------------------------------------------ CorrelationClustering


def test_costs_are_distances_minus_threshold():
    X, _ = blobs(0)
    model = CorrelationClustering(threshold=5.0).fit(X)
    problem = gp.SetPartition.from_matrix(pairwise_distances(X) - 5.0)
    assert model.cost_ == pytest.approx(problem.evaluate(model.labels_))
    assert model.lower_bound_ <= model.cost_
    assert model.cost_ == pytest.approx(gp.solve(problem).cost)
    assert model.threshold_ == 5.0 and model.n_features_in_ == 4


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "euclidean"])
def test_precomputed_distances_and_similarities_and_costs_are_the_same(metric):
    X, _ = blobs(1)
    D = pairwise_distances(X, metric=metric)
    threshold = float(np.median(D))
    direct = CorrelationClustering(metric, threshold=threshold).fit(X)
    for kind, values in (("distance", D), ("similarity", -D), ("cost", D - threshold)):
        given = CorrelationClustering(
            "precomputed", kind=kind, threshold=-threshold if kind == "similarity" else threshold
        )
        assert (given.fit_predict(values) == direct.labels_).all()
        assert given.cost_ == pytest.approx(direct.cost_)


def test_kernels_are_similarities():
    X, y = blobs(2)
    model = CorrelationClustering("rbf", kind="similarity", threshold=0.02).fit(X)
    problem = gp.SetPartition.from_matrix(0.02 - rbf_kernel(X))
    assert model.cost_ == pytest.approx(problem.evaluate(model.labels_))
    assert adjusted_rand_score(y, model.labels_) > 0.5


def test_otsu_separates_what_is_separate():
    X, y = make_blobs(90, centers=[[0, 0], [40, 0], [0, 40]], random_state=0)
    model = CorrelationClustering().fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert 6 < model.threshold_ < 35


def test_otsu_is_the_split_of_largest_variance_between_groups():
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.normal(0, 1, 300), rng.normal(6, 2, 200)])
    ordered = np.sort(values)

    def between(t):
        low, high = values[values <= t], values[values > t]
        return len(low) * len(high) * (low.mean() - high.mean()) ** 2

    best = max(between(t) for t in ordered[:-1])
    assert between(otsu_threshold(values)) >= 0.999 * best
    assert otsu_threshold(np.full(5, 2.5)) == 2.5 and otsu_threshold(np.zeros(0)) == 0.0


def test_neighbours_only():
    X, y = blobs(4)
    model = CorrelationClustering(n_neighbors=6, threshold=6.0).fit(X)
    candidates = pairs.nearest_neighbors(X, 6)
    costs = np.linalg.norm(X[candidates[:, 0]] - X[candidates[:, 1]], axis=1) - 6.0
    problem = gp.SetPartition.from_pairs(len(X), candidates, costs)
    assert model.cost_ == pytest.approx(problem.evaluate(model.labels_))
    assert adjusted_rand_score(y, model.labels_) > 0.8


def test_sparse_precomputed_values_are_candidates():
    D = np.array([[0, 1.0, 0, 9], [1, 0, 8, 0], [0, 8, 0, 2], [9, 0, 2, 0]])
    model = CorrelationClustering("precomputed", threshold=4.0).fit(scipy.sparse.csr_array(D))
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert model.cost_ == -5.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "nearness"}, "kind is 'nearness'"),
        ({"kind": "cost"}, "expected a matrix of costs"),
        ({"kind": "similarity", "n_neighbors": 3}, "n_neighbors is given"),
        ({"threshold": "mean"}, "threshold is 'mean'"),
        ({"method": "magic"}, "method is 'magic'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InvalidOption, match=message):
        CorrelationClustering(**options).fit([[0.0], [1.0]])


def test_bad_matrices():
    with pytest.raises(ValueError, match="square"):
        CorrelationClustering("precomputed").fit(np.ones((2, 3)))
    for matrix in (np.array([[0, 1.0], [2.0, 0]]), scipy.sparse.csr_array(np.array([[0, 1.0], [2.0, 0]]))):
        with pytest.raises(ValueError, match="symmetric"):
            CorrelationClustering("precomputed", threshold=0.0).fit(matrix)


# ----------------------------------------------------------------------------------------------- LearnedPartition


def test_unseen_classes_are_found():
    X, y = blobs(5, classes=20)
    model = LearnedPartition(sigma=5.0).fit(X[y < 14], y[y < 14])
    assert model.score(X[y >= 14], y[y >= 14]) > 0.9
    result = model.partition(X[y >= 14])
    problem = model.problem(X[y >= 14])
    assert result.cost == pytest.approx(problem.evaluate(result.labels))
    every = np.array(list(itertools.combinations(range(20), 2)))
    decisions = model.predict_pairs(X[:20], every)
    costs = pairs.pair_costs(X[:20], every, model.model_)
    assert (decisions == (costs < 0)).all() and set(decisions) == {0, 1}


def test_labels_may_be_strings():
    X, y = blobs(6)
    names = np.array(["ant", "bee", "cat", "dog", "eel", "fox"])[y]
    assert (LearnedPartition().fit(X, names).model_.theta_ == LearnedPartition().fit(X, y).model_.theta_).all()


def test_drawn_pairs_are_weighted_as_all():
    X, y = blobs(7, classes=10, each=15)
    X = X / 8 + np.random.default_rng(0).normal(size=X.shape) / 4
    every = LearnedPartition().fit(X, y).model_
    drawn = [LearnedPartition(max_pairs=3000, random_state=seed).fit(X, y).model_ for seed in range(6)]
    mean = np.mean([model.theta_ for model in drawn], axis=0)
    assert mean == pytest.approx(every.theta_, abs=0.15 * np.abs(every.theta_).max())
    assert not (drawn[0].theta_ == drawn[1].theta_).all()
    again = LearnedPartition(max_pairs=3000, random_state=0).fit(X, y).model_
    assert (again.theta_ == drawn[0].theta_).all()


def test_pipeline_and_grid_search():
    X, y = blobs(8, classes=9, each=8)
    pipeline = make_pipeline(StandardScaler(), LearnedPartition(method="kernighan-lin"))
    grid = {"learnedpartition__sigma": [0.001, 10.0], "learnedpartition__kind": ["absolute-difference", "product"]}
    search = GridSearchCV(pipeline, grid, cv=GroupKFold(3))
    search.fit(X, y, groups=y)  # the classes of each fold are not in the others
    assert search.best_params_["learnedpartition__sigma"] == 10.0
    assert search.best_score_ > 0.8
    assert clone(search.best_estimator_).get_params()["learnedpartition__sigma"] == 10.0


def test_clustering_in_a_pipeline_and_grid_search():
    X, y = blobs(9)
    pipeline = make_pipeline(StandardScaler(), CorrelationClustering(threshold=0.8))
    assert adjusted_rand_score(y, pipeline.fit_predict(X)) > 0.8


def test_data_frames():
    pandas = pytest.importorskip("pandas")
    X, y = blobs(10)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = LearnedPartition().fit(frame, pandas.Series(y))
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.model_.attributes_ == ("|a - a'|", "|b - b'|", "|c - c'|", "|d - d'|")
    assert (model.predict(frame) == LearnedPartition().fit(X, y).predict(X)).all()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])
    assert CorrelationClustering().fit(frame).feature_names_in_.tolist() == list("abcd")

"""The estimators: scikit-learn's own checks, pipelines, grid search, data frames, and what they compute."""

import importlib
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
from graphpart.learn import MaxMarginPartition, pairs

# A partition is of all elements together: the label of one depends on which others there are, and in which order.
WHOLE = "labels name subsets of the whole set given, in order of first appearance"
EXPECTED = {"check_methods_subset_invariance": WHOLE, "check_methods_sample_order_invariance": WHOLE}


def expected(estimator):
    return EXPECTED if isinstance(estimator, LearnedPartition) else {}


@with_checks(
    [
        CorrelationClustering(method="kernighan-lin"),
        CorrelationClustering(n_neighbors=5, method="kernighan-lin"),
        LearnedPartition(sigma=0.1, method="kernighan-lin"),  # which is learned soon
        LearnedPartition(
            ["squared-difference", "cosine"], loss="logistic", max_pairs=50, threshold=0.0, method="kernighan-lin"
        ),
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


@pytest.mark.parametrize("threshold", ["auto", "otsu"])
def test_thresholds_separate_what_is_separate(threshold):
    X, y = make_blobs(90, centers=[[0, 0], [40, 0], [0, 40]], random_state=0)
    model = CorrelationClustering(threshold=threshold).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert 3 < model.threshold_ < 35


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
    problem = model.result_.problem
    D = pairwise_distances(X) - 6.0
    u, v, costs = problem._listed()
    assert costs == pytest.approx(D[u, v]) and model.cost_ == pytest.approx(problem.evaluate(model.labels_))
    near = {(int(a), int(b)) for a, b in pairs.nearest_neighbors(X, 6)}
    assert near < set(zip(u.tolist(), v.tolist(), strict=True)) and len(near) < len(u) < 2 * len(near)
    assert adjusted_rand_score(y, model.labels_) == 1.0


@pytest.mark.parametrize("n_neighbors", [None, 5, 10, 30])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_neighbours_do_not_break_clusters(metric, n_neighbors):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.repeat(np.arange(8), 50)
        X = rng.normal(size=(8, 64))[y] + 0.6 * rng.normal(size=(400, 64))
        model = CorrelationClustering(metric, n_neighbors=n_neighbors, method="kernighan-lin").fit(X)
        assert adjusted_rand_score(y, model.labels_) > 0.95


def test_prediction_of_new_elements():
    X, _ = blobs(4)
    for options in ({}, {"n_neighbors": 6}, {"metric": "rbf", "kind": "similarity", "threshold": 0.02}):
        model = CorrelationClustering(**options).fit(X)
        new, _ = blobs(4)
        assert (model.predict(new + 0.01) == model.labels_).mean() > 0.95
        assert model.predict(np.full((1, 4), 1e3)).tolist() == [-1]
    D = pairwise_distances(X)
    given = CorrelationClustering("precomputed", threshold=6.0).fit(D)
    assert (given.predict(D) == CorrelationClustering(threshold=6.0).fit(X).predict(X)).all()
    with pytest.raises(ValueError, match="a value for each of 72"):
        given.predict(D[:, :5])


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


def test_similarities_and_costs_are_not_taken_for_distances():
    S = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    for given in (S, scipy.sparse.csr_array(S)):
        with pytest.raises(gp.InvalidProblem, match="say kind='similarity', or give distances such as 1 - S"):
            CorrelationClustering("precomputed").fit(given)
        with pytest.raises(gp.InvalidProblem, match=r"a precomputed distance is -0.4: .* kind='cost'"):
            CorrelationClustering("precomputed").fit(given - 0.5 * (given != 0))
    for kind, values in (("similarity", S), ("distance", 1 - S), ("distance", 1 - S - 1e-12)):
        labels = CorrelationClustering("precomputed", kind=kind, threshold=0.5).fit_predict(values)
        assert labels.tolist() == [0, 0, 1]


# ----------------------------------------------------------------------------------------------- LearnedPartition


def test_unseen_classes_are_found():
    X, y = blobs(5, classes=20)
    model = LearnedPartition("absolute-difference", loss="logistic", sigma=5.0, threshold=0.0)
    model.fit(X[y < 14], y[y < 14])
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
    options = {"kind": "absolute-difference", "loss": "logistic", "threshold": 0.0}
    every = LearnedPartition(**options).fit(X, y).model_
    drawn = [LearnedPartition(**options, max_pairs=3000, random_state=seed).fit(X, y).model_ for seed in range(6)]
    mean = np.mean([model.theta_ for model in drawn], axis=0)
    assert mean == pytest.approx(every.theta_, abs=0.15 * np.abs(every.theta_).max())
    assert not (drawn[0].theta_ == drawn[1].theta_).all()
    again = LearnedPartition(**options, max_pairs=3000, random_state=0).fit(X, y).model_
    assert (again.theta_ == drawn[0].theta_).all()


def test_pipeline_and_grid_search():
    X, y = blobs(8, classes=9, each=8)
    model = LearnedPartition(loss="logistic", threshold=0.0, method="kernighan-lin")
    pipeline = make_pipeline(StandardScaler(), model)
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
    options = {"kind": "absolute-difference", "loss": "logistic", "method": "kernighan-lin"}
    model = LearnedPartition(**options).fit(frame, pandas.Series(y))
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.model_.attributes_ == ("|a - a'|", "|b - b'|", "|c - c'|", "|d - d'|")
    assert (model.predict(frame) == LearnedPartition(**options).fit(X, y).predict(X)).all()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])
    assert CorrelationClustering().fit(frame).feature_names_in_.tolist() == list("abcd")


# ---------------------------------------------------------------------------------------------- defaults and manners


def test_default_threshold_survives_real_data():
    """Beside the better of HDBSCAN and agglomerative clustering with their defaults, at reduced size."""
    from sklearn.datasets import load_digits, load_wine

    wine, y = load_wine(return_X_y=True)
    scaled = StandardScaler().fit_transform(wine)
    found = CorrelationClustering(method="kernighan-lin").fit_predict(scaled)
    assert adjusted_rand_score(y, found) > 0.6  # 0.44 is theirs, 0.37 that of "otsu"
    images, y = load_digits(return_X_y=True)
    model = CorrelationClustering("cosine", kind="similarity", method="kernighan-lin").fit(images[:400])
    assert adjusted_rand_score(y[:400], model.labels_) > 0.4
    assert 0.6 < model.threshold_ < 0.95


def test_the_default_threshold_is_the_best_on_its_path():
    from graphpart.estimators import path_threshold

    X, _ = blobs(11, classes=4, each=10)
    D = pairwise_distances(X)
    t = path_threshold(D)
    u, v = np.triu_indices(len(D), 1)
    logs = np.log(D[u, v])

    def explained(threshold):
        labels = gp.partition.kernighan_lin(gp.SetPartition.from_matrix(D - threshold)).labels
        joined = labels[u] == labels[v]
        if joined.all() or not joined.any():
            return -1.0
        share = joined.mean()
        return share * (1 - share) * (logs[joined].mean() - logs[~joined].mean()) ** 2 / logs.var()

    best = max(explained(s) for s in np.quantile(D[u, v], np.linspace(0.01, 0.9, 40)))
    assert explained(t) >= best - 0.02
    assert path_threshold(5.0 - D, similarity=True) == pytest.approx(5.0 - t - D[u, v].min(), abs=2.0)
    assert path_threshold(np.zeros((1, 1))) == 0.0 and path_threshold(np.full((3, 3), 2.0)) == 2.0


@pytest.mark.filterwarnings("ignore:threshold is 0.001. no two elements attract")
def test_score_lets_grid_search_choose():
    X, y = blobs(12)
    search = GridSearchCV(CorrelationClustering(method="kernighan-lin"), {"threshold": ["auto", 1e-3]}, cv=2)
    search.fit(X, y)
    assert search.best_params_ == {"threshold": "auto"} and search.best_score_ > 0.8
    assert search.best_estimator_.score(X, y) > 0.8


@pytest.mark.filterwarnings("ignore:threshold is 0.001. no two elements attract")
@pytest.mark.parametrize("model", [CorrelationClustering(method="kernighan-lin"),
                                   LearnedPartition(threshold=0.0, method="kernighan-lin")])  # fmt: skip
def test_grid_search_with_a_scorer_of_metrics(model):
    X, y = blobs(13)
    name, values = (
        ("threshold", [1e-3, 5.0]) if isinstance(model, CorrelationClustering) else ("threshold", [-50.0, 0.0])
    )

    def scorer(estimator, X, y):
        predict = getattr(estimator, "predict", estimator.fit_predict if hasattr(estimator, "fit_predict") else None)
        return gp.metrics.compare(y, predict(X)).joins_f1

    search = GridSearchCV(model, {name: values}, cv=GroupKFold(2), scoring=scorer).fit(X, y, groups=y)
    assert search.best_params_[name] == values[1] and search.best_score_ > 0.5


@pytest.mark.parametrize("scoring", [None, "adjusted_rand_score"])
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_grid_search_finds_the_threshold_of_eight_clusters(metric, scoring):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(8), 50))
    X = 3.0 * rng.normal(size=(8, 16))[y] + rng.normal(size=(400, 16))
    given = X if metric == "euclidean" else pairwise_distances(X)
    model = CorrelationClustering(metric, method="kernighan-lin")
    for folds in (2, 5):  # of 2 folds, the distances to the other fold are a square matrix, too
        search = GridSearchCV(model, {"threshold": [5.0, 8.0]}, scoring=scoring, cv=folds).fit(given, y)
        assert search.best_params_ == {"threshold": 8.0} and search.best_score_ > 0.95


@pytest.mark.parametrize("scoring", [None, "adjusted_rand_score"])
def test_grid_search_says_why_all_thresholds_are_equal(scoring):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(8), 50)
    X = 3.0 * rng.normal(size=(8, 16))[y] + rng.normal(size=(400, 16))
    model = CorrelationClustering(method="kernighan-lin")
    message = r"threshold is 0.[28]: no two .* cluster of its own; distances are 2\.\d to \d+, half of them below 1\d$"
    with pytest.warns(gp.GraphPartWarning, match=message):
        search = GridSearchCV(model, {"threshold": [0.2, 0.8]}, scoring=scoring).fit(X, y)
    assert (search.cv_results_["mean_test_score"] == 0).all()


def test_thresholds_at_which_every_pair_attracts_or_none():
    X = blobs(12)[0]
    D = pairwise_distances(X)
    for given, options in ((X, {}), (D, {"metric": "precomputed"})):
        with pytest.warns(gp.GraphPartWarning, match="threshold is 1000: all elements attract each other and are one"):
            assert CorrelationClustering(threshold=1000, **options).fit(given).labels_.max() == 0
    S = np.exp(-D)
    for threshold, message in ((-1.0, "all elements attract"), (2.0, "no two elements .*; similarities are")):
        with pytest.warns(gp.GraphPartWarning, match=message):
            CorrelationClustering("precomputed", kind="similarity", threshold=threshold).fit(S)
    with pytest.warns(gp.GraphPartWarning, match="no two elements"):
        CorrelationClustering(threshold=1e-3, n_neighbors=5).fit(X)
    CorrelationClustering("manhattan", threshold=1000.0, n_neighbors=5).fit(X)  # of near pairs, it tells nothing
    CorrelationClustering(threshold=1.0).fit([[0.0], [2.0]])


def test_a_score_without_classes_says_what_to_give():
    model = CorrelationClustering(threshold=5.0, method="kernighan-lin").fit(blobs(12)[0])
    with pytest.raises(gp.InvalidOption, match=r"score has no y: .*GridSearchCV\(\.\.\.\)\.fit\(X, y\)"):
        model.score(blobs(12)[0])


def test_pickled_models_say_the_same():
    import pickle

    X, y = blobs(14)
    for model in (CorrelationClustering(method="kernighan-lin"), LearnedPartition(method="kernighan-lin")):
        model.fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        assert again.score(X, y) == model.score(X, y)
        if isinstance(model, LearnedPartition):
            assert (again.predict(X) == model.predict(X)).all()


def test_sparse_input_is_as_dense():
    X, y = blobs(15)
    X[np.abs(X) < 1] = 0.0
    sparse = scipy.sparse.csr_array(X)
    for options in ({}, {"n_neighbors": 5}, {"metric": "cosine"}):
        dense = CorrelationClustering(method="kernighan-lin", **options).fit(X)
        assert (CorrelationClustering(method="kernighan-lin", **options).fit_predict(sparse) == dense.labels_).all()
    model = LearnedPartition(method="kernighan-lin").fit(X, y)
    same = LearnedPartition(method="kernighan-lin").fit(sparse, y)
    assert (same.model_.theta_ == model.model_.theta_).all() and (same.predict(sparse) == model.predict(X)).all()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_and_set_output(library):
    module = pytest.importorskip(library)
    X, y = blobs(16)
    frame = module.DataFrame(dict(zip("abcd", X.T, strict=True)))
    model = make_pipeline(StandardScaler(), LearnedPartition(threshold=0.0, method="kernighan-lin"))
    model.set_output(transform=library).fit(frame, y)
    assert model[-1].feature_names_in_.tolist() == list("abcd")
    assert model[-1].model_.attributes_[0] == "distance"
    plain = make_pipeline(StandardScaler(), LearnedPartition(threshold=0.0, method="kernighan-lin")).fit(X, y)
    assert (model.predict(frame) == plain.predict(X)).all()
    assert CorrelationClustering().fit(frame).feature_names_in_.tolist() == list("abcd")


def test_sample_weights():
    X, y = blobs(17)
    for options in ({"threshold": 0.0}, {"loss": "logistic", "kind": "absolute-difference"}):
        plain = LearnedPartition(method="kernighan-lin", **options).fit(X[12:], y[12:])
        weights = np.where(np.arange(len(X)) < 12, 0.0, 1.0)  # the first class counts nothing
        same = LearnedPartition(method="kernighan-lin", **options).fit(X, y, weights)
        assert same.model_.theta_ == pytest.approx(plain.model_.theta_)
        other = LearnedPartition(method="kernighan-lin", **options).fit(X, y, 1.0 + (y == 1))
        assert not np.allclose(other.model_.theta_, plain.model_.theta_)
    with pytest.raises(ValueError, match="weight 3 is -1"):
        LearnedPartition().fit(X, y, np.where(np.arange(len(X)) == 3, -1.0, 1.0))


def test_defaults_partition_unseen_digits():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X, y = X[:700], y[:700]
    known = np.isin(y, (1, 4, 6, 8, 9))  # not a split of the study
    model = LearnedPartition(method="kernighan-lin").fit(X[known], y[known])
    assert model.score(X[~known], y[~known]) > 0.6
    every = np.stack(np.triu_indices(30, 1), axis=1)
    C = model.problem(X[:30]).matrix
    assert (model.predict_pairs(X[:30], every) == (C[every[:, 0], every[:, 1]] < 0)).all()


def test_defaults_are_no_worse_than_without_classes():
    """Few new elements of each of many classes; attributes that say nothing, on a large scale."""
    rng = np.random.default_rng(0)
    centers = 3.0 * rng.normal(size=(15, 12))
    y = rng.integers(15, size=600)
    X = centers[y] + rng.normal(size=(600, 12)) * rng.gamma(2, 0.4, size=(600, 1))
    new = np.arange(600) >= 480
    model = LearnedPartition().fit(X[~new], y[~new])
    without = adjusted_rand_score(y[new], CorrelationClustering().fit_predict(X[new]))
    assert model.score(X[new], y[new]) > max(0.9, without - 0.05)
    y = np.repeat(np.arange(8), 30)
    X = np.concatenate([10 * rng.normal(size=(8, 4))[y] + rng.normal(size=(240, 4)), 40 * rng.normal(size=(240, 4))], 1)
    known = np.arange(240) % 3 == 0
    assert LearnedPartition().fit(X[known], y[known]).score(X[~known], y[~known]) > 0.9


@pytest.mark.parametrize("options", [{"loss": "hinge"}, {"threshold": "best"}])
def test_bad_options_of_learning(options):
    with pytest.raises(InvalidOption, match=next(iter(options))):
        LearnedPartition(**options).fit([[0.0], [1.0]], [0, 1])


def test_to_repeat_an_element_is_to_weight_it():
    X, y = blobs(3, classes=5, each=8)
    often = np.random.default_rng(0).integers(0, 4, len(X))
    for options in ({}, {"loss": "logistic", "kind": "absolute-difference", "max_pairs": 200}):
        weighted = LearnedPartition(random_state=0, **options).fit(X, y, often)
        repeated = LearnedPartition(random_state=0, **options).fit(X.repeat(often, axis=0), y.repeat(often))
        assert (weighted.model_.theta_ == repeated.model_.theta_).all()
        plain = LearnedPartition(random_state=0, **options).fit(X, y)
        ones = LearnedPartition(random_state=0, **options).fit(X, y, np.ones(len(X)))
        assert (plain.model_.theta_ == ones.model_.theta_).all()
        assert (plain.model_.theta_ != weighted.model_.theta_).any()


def test_copies_are_kept_where_only_they_are_joins():
    X, _ = blobs(4, classes=3, each=4)
    model = LearnedPartition(threshold=0.0).fit(X.repeat(2, axis=0), np.arange(24) // 2)
    assert model.model_.n_samples_ and (model.predict_pairs(X.repeat(2, axis=0), [(0, 1), (4, 5)]) == 1).all()


@pytest.mark.parametrize(
    "option", [{"threshold": np.nan}, {"threshold": None}, {"threshold": "x"}, {"max_elements": 0}]
)
def test_options_without_meaning(option):
    with pytest.raises(InvalidOption, match=next(iter(option))):
        LearnedPartition(**option).fit(*blobs(0))


def test_the_time_limit_of_learning(monkeypatch):
    """Whatever learns gets a share of the time that is left; without time, the costs are told to be worth nothing."""
    limits = []
    fit = MaxMarginPartition.fit

    def told(self, *args, time_limit=None, **options):
        limits.append(time_limit)
        return fit(self, *args, time_limit=time_limit, **options)

    monkeypatch.setattr(MaxMarginPartition, "fit", told)
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 8)
    X = 5.0 * rng.normal(size=(6, 3))[y] + rng.normal(size=(48, 3))
    model = LearnedPartition(time_limit=1000.0).fit(X, y)
    assert len(limits) == 1 and 900 < limits[0] <= 1000
    unlimited = LearnedPartition().fit(X, y)
    assert limits[1:] == [None] and (unlimited.model_.theta_ == model.model_.theta_).all()


@pytest.mark.parametrize("options", [{}, {"loss": "logistic"}, {"loss": "logistic", "kind": "absolute-difference"}])
def test_costs_are_learned_however_soon_the_time_is_up(options):
    y = np.repeat(np.arange(12), 10)
    X = 8.0 * np.array([(i, j) for i in range(4) for j in range(3)])[y] + np.random.default_rng(0).normal(size=(120, 2))
    known = y < 6
    model = LearnedPartition(**options, time_limit=0).fit(X[known], y[known])
    assert model.model_.status_ is gp.Status.TIME_LIMIT
    assert model.set_params(time_limit=None).score(X[~known], y[~known]) > 0.9


def test_default_fits_do_not_search_long_where_local_search_has_found_the_best(monkeypatch):
    """Grids fit many times: of clear clusters, the search of a default fit works for a fraction of that of `solve`."""
    from graphpart.partition.anytime_search.searcher import Searcher

    made = []

    class Kept(Searcher):
        def run(self, stopping, until):
            super().run(stopping, until)
            made.append(self._portfolio.worked)

    monkeypatch.setattr(importlib.import_module("graphpart.partition.races"), "Searcher", Kept)
    rng = np.random.default_rng(22)
    centers = 4 * rng.normal(size=(10, 12))
    X = centers[rng.integers(0, 10, 300)] + 1.2 * rng.normal(size=(300, 12))
    e = CorrelationClustering(threshold=9.0).fit(X)
    mine = made.pop()
    made.clear()
    assert gp.solve(e.result_.problem).cost == pytest.approx(e.cost_, rel=1e-9)
    assert mine < 0.6 * made[0]

"""Unary costs against the probabilities and densities they stand for."""

import networkx as nx
import numpy as np
import pytest
import scipy.stats

from graphpart import FactorGraph, InvalidOption, InvalidProblem
from graphpart.learn import unary, unary_costs

pytest.importorskip("sklearn")

from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM


def observations(seed=0, n=150):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return np.array([[0, 0], [4, 0], [0, 4]])[y] + rng.normal(size=(n, 2)), y


def test_naive_bayes_costs_are_joint():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (80, 5)), rng.integers(0, 3, 80)
    k = 1.5
    model = BernoulliNB(alpha=k).fit(X, y)
    costs = unary_costs(model, X)
    for label in range(3):
        inside = X[y == label]
        on = (inside.sum(axis=0) + k) / (len(inside) + 2 * k)  # Laplace: each outcome seen k extra times
        likelihood = np.where(X == 1, on, 1 - on).prod(axis=1)
        assert costs[:, label] == pytest.approx(-np.log(len(inside) / len(X)) - np.log(likelihood))
    assert (costs.argmin(axis=1) == model.predict(X)).all()


@pytest.mark.parametrize("scaled", [False, True])
def test_classifiers(scaled):
    X, y = observations()
    model = LogisticRegression()
    model = (make_pipeline(StandardScaler(), model) if scaled else model).fit(X, y)
    costs = unary_costs(model, X)
    assert np.exp(-costs) == pytest.approx(model.predict_proba(X))
    assert np.isfinite(unary_costs(model, X * 1e6)).all()


def test_mini_batches():
    X, y = observations()
    model = unary.fit_in_batches(SGDClassifier(loss="log_loss", random_state=0), X, y, size=10, epochs=30, seed=1)
    assert np.exp(-unary_costs(model, X)).sum(axis=1) == pytest.approx(1)
    assert model.score(X, y) > 0.9
    again = unary.fit_in_batches(SGDClassifier(loss="log_loss", random_state=0), X, y, size=10, epochs=30, seed=1)
    assert (again.coef_ == model.coef_).all()
    with pytest.raises(InvalidOption, match="size is 0"):
        unary.fit_in_batches(model, X, y, size=0)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("scaled", [False, True])
def test_mixtures(kind, scaled):
    X, _ = observations()
    mixture = GaussianMixture(3, covariance_type=kind, random_state=0)
    model = (make_pipeline(StandardScaler(), mixture) if scaled else mixture).fit(X)
    Z = StandardScaler().fit_transform(X) if scaled else X
    covariances = {
        "full": lambda k: mixture.covariances_[k],
        "tied": lambda k: mixture.covariances_,
        "diag": lambda k: np.diag(mixture.covariances_[k]),
        "spherical": lambda k: mixture.covariances_[k] * np.eye(2),
    }[kind]
    costs = unary_costs(model, X)
    for k in range(3):
        density = scipy.stats.multivariate_normal(mixture.means_[k], covariances(k)).logpdf(Z)
        assert costs[:, k] == pytest.approx(-np.log(mixture.weights_[k]) - density)
    assert (costs.argmin(axis=1) == model.predict(X)).all()
    assert unary_costs(model, X + 1e6).max() < 709
    if not scaled:
        with pytest.raises(InvalidProblem, match="X has shape"):
            unary_costs(model, X[:, :1])


def test_kmeans_costs_are_squared_distances():
    X, _ = observations()
    model = KMeans(3, n_init=1, random_state=0).fit(X)
    assert unary_costs(model, X) == pytest.approx(np.square(X[:, None] - model.cluster_centers_).sum(axis=2))


def test_outliers():
    X, _ = observations()
    far = np.array([[50.0, 50.0]])
    model = OneClassSVM(gamma=0.2, nu=0.1).fit(X)
    costs = unary_costs(model, X)
    assert ((costs[:, 1] < costs[:, 0]) == (model.predict(X) == -1)).mean() > 0.99
    assert costs[:, 1] - costs[:, 0] == pytest.approx(model.decision_function(X))
    assert (costs >= 0).all() and (costs.min(axis=1) == 0).all()
    for density in (GaussianMixture(3, random_state=0).fit(X), KernelDensity().fit(X)):
        threshold = float(np.quantile(density.score_samples(X), 0.05))
        costs = unary.outlier_costs(density, np.vstack([X, far]), threshold, scale=2.0)
        s = density.score_samples(X)
        assert costs[:-1, 1] - costs[:-1, 0] == pytest.approx((s - threshold) / 2)
        assert costs[-1, 0] > costs[-1, 1] == 0
    with pytest.raises(InvalidOption, match="expected a threshold"):
        unary.outlier_costs(KernelDensity().fit(X), X)
    with pytest.raises(InvalidOption, match="scale is 0"):
        unary.outlier_costs(model, X, scale=0)


def test_the_strength_is_tuned_on_held_out_data():
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], 30)
    X = (rng.random((60, 40)) < np.where(y[:, None] == 1, 0.6, 0.4)).astype(int)
    model, accuracies = unary.tuned_naive_bayes(X, y, [10.0, 0.001, 1.0], seed=3)
    assert list(accuracies) == [0.001, 1.0, 10.0]
    assert accuracies[model.alpha] == max(accuracies.values())
    assert model.class_count_.sum() == 60  # fitted to all
    with pytest.raises(InvalidOption, match="no strengths"):
        unary.tuned_naive_bayes(X, y, [])


def test_other_models_are_refused():
    with pytest.raises(InvalidOption, match="StandardScaler"):
        unary_costs(StandardScaler().fit([[1.0]]), [[1.0]])


def test_costs_fit_factor_graphs():
    X, y = observations(n=30)
    costs = unary_costs(LogisticRegression().fit(X, y), X)
    G = nx.path_graph(30)
    f = FactorGraph.pairwise(G, unary=dict(enumerate(costs)), pairwise=0.0)
    assert f.evaluate(costs.argmin(axis=1)) == pytest.approx(costs.min(axis=1).sum())

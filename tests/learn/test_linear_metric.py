"""Linear metric learning: the objective and its gradient, what is learned, and scikit-learn's checks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphpart as gp
from graphpart import InvalidOption
from graphpart.learn import pairs

pytest.importorskip("sklearn")

from scikit_learn import with_checks

from graphpart.learn.linear_metric import LinearMetric, metric_objective


@with_checks([LinearMetric(), LinearMetric(1, max_pairs=40)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 4), st.floats(0, 0.5), st.floats(0.1, 3))
def test_objective_and_gradient_are_those_of_the_definition(seed, n, V, alpha, balance):
    rng = np.random.default_rng(seed)
    X, y, P = rng.normal(size=(n, V)), rng.integers(0, 3, n), rng.normal(size=(2, V)) / 2
    chosen, same = pairs.training_pairs(y)
    beta = 2.0

    def objective(P):
        squared = np.square((X[chosen[:, 0]] - X[chosen[:, 1]]) @ P.T).sum(axis=1)
        pull, push = np.maximum(0, squared - alpha)[same == 1], np.maximum(0, beta - squared)[same == 0]
        return sum(part.mean() * weight for part, weight in ((pull, 1), (push, balance)) if len(part))

    value, gradient = metric_objective(P, X, chosen, same, alpha, beta, balance)
    assert value == pytest.approx(objective(P))
    h = 1e-6
    for i in np.ndindex(*P.shape):
        step = np.zeros_like(P)
        step[i] = h
        slope = (objective(P + step) - objective(P - step)) / (2 * h)
        assert gradient[i] == pytest.approx(slope, abs=1e-4 * (1 + abs(slope)))


def classes(seed, noise):
    """Classes that differ in 2 of 6 attributes, among which the others are large noise."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(6), 12)
    informative = 4.0 * np.array([(k // 3, k % 3) for k in range(6)])[y] + rng.normal(size=(72, 2)) / 2
    mixed = np.hstack([informative, noise * rng.normal(size=(72, 4))]) @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
    return mixed, y


def test_the_learned_distance_separates_unseen_elements():
    X, y = classes(0, noise=10)
    train = np.arange(72) % 2 == 0
    metric = LinearMetric(2, max_iter=500).fit(X[train], y[train])
    chosen, same = pairs.training_pairs(y[~train])
    right = ((metric.pair_costs(X[~train], chosen) < 0) == (same == 1)).mean()
    plain = np.square(X[~train][chosen[:, 0]] - X[~train][chosen[:, 1]]).sum(axis=1)
    best_plain = max(((plain < t) == (same == 1)).mean() for t in np.quantile(plain, np.linspace(0, 1, 200)))
    assert right > 0.95 > best_plain
    result = gp.solve(metric.problem(X[~train]), "kernighan-lin")
    assert gp.metrics.adjusted_rand_index(y[~train], result) > 0.9
    assert metric.objective_ < 0.5 * 1.0  # beta: what P = 0 costs


def test_problem_and_pair_costs_agree():
    X, y = classes(1, noise=1)
    metric = LinearMetric(3, alpha=0.2, beta=2.0).fit(X, y)
    labels = y % 4
    chosen, _ = pairs.training_pairs(y)
    inside = labels[chosen[:, 0]] == labels[chosen[:, 1]]
    costs = metric.pair_costs(X, chosen)
    squared = np.square(metric.transform(X)[chosen[:, 0]] - metric.transform(X)[chosen[:, 1]]).sum(axis=1)
    assert costs == pytest.approx(squared - 1.1)
    assert metric.problem(X).evaluate(labels) == pytest.approx(costs[inside].sum())


def test_names_of_features_out():
    pandas = pytest.importorskip("pandas")
    X, y = classes(2, noise=1)
    metric = LinearMetric(2).set_output(transform="pandas").fit(pandas.DataFrame(X, columns=list("abcdef")), y)
    out = metric.transform(pandas.DataFrame(X, columns=list("abcdef")))
    assert list(out.columns) == ["linearmetric0", "linearmetric1"] == metric.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    "options", [{"alpha": 1.0}, {"alpha": -1.0}, {"balance": 0.0}, {"n_components": 0}, {"n_components": 9}]
)
def test_bad_options(options):
    with pytest.raises(InvalidOption):
        LinearMetric(**options).fit(*classes(3, noise=1))

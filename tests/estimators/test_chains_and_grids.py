"""`ChainCRF` and `GridCRF` in the hands of scikit-learn."""

import pickle

import numpy as np
import pytest

import graphpart as gp

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from graphpart.estimators import ChainCRF, GridCRF


def sequences(count, seed, labels=("sun", "rain")):
    rng = np.random.default_rng(seed)
    y = [np.repeat(np.array(labels)[rng.permutation(len(labels))], rng.integers(2, 6)) for _ in range(count)]
    return [(np.arange(len(labels)) == np.searchsorted(np.sort(labels), t)[:, None])
            + rng.normal(scale=0.8, size=(len(t), len(labels))) for t in y], y  # fmt: skip


def pictures(count, seed, noise=0.6):
    rng = np.random.default_rng(seed)
    y = [np.kron(rng.integers(2, size=(3, 4)), np.ones((6, 6), int)) for _ in range(count)]
    return [t + rng.normal(scale=noise, size=t.shape) for t in y], y


@pytest.mark.parametrize("labels", [("sun", "rain"), (3, 1, 2), (True, False), (0.5, 1.5)])
def test_sequences_of_any_labels(labels):
    X, y = sequences(60, 0, labels)
    crf = ChainCRF(sigma=3.0).fit(X[:40], y[:40])
    assert crf.classes_.tolist() == sorted(labels) and crf.n_features_in_ == len(labels)
    predicted = crf.predict(X[40:])
    assert all(p.dtype == t.dtype and p.shape == t.shape for p, t in zip(predicted, y[40:], strict=True))
    share = np.mean(np.concatenate(predicted) == np.concatenate(y[40:]))
    assert crf.score(X[40:], y[40:]) == pytest.approx(share) and share > 0.7
    for p in crf.predict_marginals(X[40:]):
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert crf.coef_.shape == (len(labels), len(labels)) and crf.transitions_.shape == (len(labels), len(labels))
    assert crf.intercept_.shape == (len(labels),)
    # lists in place of arrays, and one array for sequences of equal length
    as_lists = clone(crf).fit([x.tolist() for x in X[:40]], [t.tolist() for t in y[:40]])
    assert (as_lists.model_.theta_ == crf.model_.theta_).all()


def test_one_array_for_all():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 6, 3)), rng.integers(3, size=(20, 6))
    assert (ChainCRF().fit(X, y).model_.theta_ == ChainCRF().fit(list(X), list(y)).model_.theta_).all()


@pytest.mark.parametrize("estimator", [ChainCRF(), ChainCRF(training="max-margin", random_state=0, sigma=0.2, tol=0.2)])
def test_cloning_pickling_searching(estimator):
    X, y = sequences(24, 2)
    fitted = clone(estimator).set_params(intercept=False).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.get_params() == fitted.get_params() and again.score(X, y) == fitted.score(X, y)
    search = GridSearchCV(estimator, {"sigma": [0.05, 0.2]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.7 and len(search.predict(X[:3])) == 3
    assert cross_val_score(estimator, X, y, cv=2).shape == (2,)
    assert "ChainCRF" in repr(estimator)


@pytest.mark.parametrize("kind", ["constant", "directions", "differences", "callable"])
def test_pictures(kind):
    X, y = pictures(6, 3)
    features = (lambda x: np.ones((len(gp.learn.grid(x).pairs), 1))) if kind == "callable" else kind
    crf = GridCRF(pair_features=features).fit(X[:4], y[:4])
    assert crf.predict(X[4:])[1].shape == (18, 24)
    single = np.mean([((x > 0.5) == t).mean() for x, t in zip(X[4:], y[4:], strict=True)])
    assert crf.score(X[4:], y[4:]) > single + 0.05
    p = crf.predict_marginals(X[4:5])[0]
    assert p.shape == (18, 24, 2)
    np.testing.assert_allclose(p.sum(axis=2), 1.0)


def test_pictures_by_graph_cut_and_names():
    X, y = pictures(4, 4)
    y = [np.array(["sea", "land"])[t] for t in y]
    crf = GridCRF(solver="graph-cut").fit(X, y)
    assert crf.predict(X)[0].dtype == y[0].dtype
    assert crf.score(X, y) == clone(crf).set_params(solver="auto").fit(X, y).score(X, y)
    assert pickle.loads(pickle.dumps(crf)).score(X, y) == crf.score(X, y)
    assert GridSearchCV(GridCRF(), {"sigma": [0.1, 1.0]}, cv=2).fit(X, y).best_score_ > 0.6


def test_bad_input_is_one_line():
    X, y = sequences(4, 5)
    wrong = [
        (X, y[:-1], "3 arrays of labels for 4 sequences"),
        (X, [*y[:-1], y[-1][:1]], r"sequence 3: labels have shape \(1,\)"),
        ([*X[:-1], X[-1] * np.nan], y, "sequence 3: features: attribute 0 in row 0 is nan"),
        ([*X[:-1], X[-1][:, :1]], y, "sequence 3: features have 1 columns: expected 2"),
        ([], [], "X is empty"),
        (5, y, "X is int: expected a list of sequences"),
        (X, None, "y is NoneType: expected a list of labels"),
        (X, "sun", "y is str: expected a list of labels"),
        (X[0], y[0], "sequence 0: features have shape"),
    ]
    for a, b, message in wrong:
        with pytest.raises(gp.InvalidProblem, match=message) as error:
            ChainCRF().fit(a, b)
        assert "\n" not in str(error.value)
    fitted = ChainCRF().fit(X, y)
    with pytest.raises(gp.InvalidProblem, match="sequence 1: unknown label 'snow': expected one of 'rain', 'sun'"):
        fitted.score(X[:2], [y[0], ["snow"] * len(y[1])])
    with pytest.raises(gp.InvalidProblem, match="sequence 0: features have 3 columns: expected 2"):
        fitted.predict([np.zeros((2, 3))])
    with pytest.raises(NotFittedError):
        ChainCRF().predict(X)
    with pytest.raises(gp.InvalidProblem, match=r"picture 0: labels have shape \(2, 3\): expected \(2, 2\)"):
        GridCRF().fit([np.zeros((2, 2))], [np.zeros((2, 3))])
    with pytest.raises(gp.InvalidOption, match="pair_features is 'contrast'"):
        GridCRF(pair_features="contrast").fit([np.zeros((2, 2))], [np.zeros((2, 2))])


def test_the_optimum_is_that_of_crfsuite():
    CRF = pytest.importorskip("sklearn_crfsuite").CRF
    rng = np.random.default_rng(6)
    X = [rng.normal(size=(int(n), 4)) for n in rng.integers(1, 9, size=60)]
    y = [np.argmax(x[:, :3] + rng.normal(size=(len(x), 3)), axis=1) for x in X]
    ours = ChainCRF(sigma=0.8, intercept=False, tol=1e-8).fit(X, y)
    peer = CRF(c1=0.0, c2=0.5 / 0.8**2, min_freq=-1e12, all_possible_states=True, all_possible_transitions=True,
               epsilon=1e-7, delta=1e-12, max_iterations=1000)  # fmt: skip
    peer.fit(
        [[{str(v): a for v, a in enumerate(row)} for row in x.tolist()] for x in X], [[str(k) for k in t] for t in y]
    )
    states = np.array([[peer.state_features_[str(v), str(k)] for v in range(4)] for k in range(3)])
    np.testing.assert_allclose(ours.coef_, states, atol=1e-4)
    assert peer.training_log_.iterations[-1]["loss"] == pytest.approx(ours.model_.objective_, rel=1e-6)


@pytest.mark.parametrize("training", ["likelihood", "pseudolikelihood", "max-margin"])
def test_empty_sequences_one_class_and_unknown_labels(training):
    tol = 0.1 if training == "max-margin" else None
    X, y = sequences(6, 0)
    X, y = [np.zeros((0, 2)), *X], [y[0][:0], *y]
    model = ChainCRF(0.3, training=training, tol=tol).fit(X, y)
    assert [len(t) for t in model.predict(X)] == [len(t) for t in y] and model.predict([]) == []
    assert model.predict_marginals(X)[0].shape == (0, 2)
    with pytest.raises(gp.InvalidProblem, match="sequence 1: unknown label 'fog': expected one of 'rain', 'sun'"):
        model.score(X, [["fog"] * len(t) for t in y])
    with pytest.raises(gp.InvalidProblem, match="no labels"):
        ChainCRF(0.3, training=training, tol=tol).fit(X[:1], y[:1])
    one = ChainCRF(0.3, training=training, tol=tol).fit(X, [["sun"] * len(t) for t in y])
    assert one.score(X, [["sun"] * len(t) for t in y]) == 1.0 and (one.predict_marginals(X)[1] == 1.0).all()

"""`ChainCRF` on sequences of words, dictionaries and sparse matrices: the same models, predictions and k best."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import graphpart as gp
from graphpart.learn.random_fields.descent import minimise
from graphpart.stopping import Stopping

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer

from graphpart.estimators import ChainCRF

WORDS = ["a", "the", "dog", "cat", "barks", "sleeps"]
KINDS = {"a": "article", "the": "article", "dog": "noun", "cat": "noun", "barks": "verb", "sleeps": "verb"}


def sentences(count, seed=0):
    rng = np.random.default_rng(seed)
    X = [[WORDS[2 * k + int(rng.integers(2))] for k in range(3)][: rng.integers(1, 4)] for _ in range(count)]
    return X, [[KINDS[w] for w in x] for x in X]


def attributes(x):
    return [{"word": w, "length": len(w), "first": i == 0, "ends": {w[-1], w[-2:]}, "near": {"before": x[i - 1]}}
            if i else {"word": w, "length": 1.0 * len(w), "first": True, "ends": [w[-1]]}
            for i, w in enumerate(x)]  # fmt: skip


def test_a_tagger_of_words():
    X, y = sentences(30)
    crf = ChainCRF(sigma=3.0).fit(X, y)
    assert crf.classes_.tolist() == ["article", "noun", "verb"] and set(crf.feature_names_) == set(WORDS)
    assert crf.score(X, y) == 1.0
    assert crf.predict([["the", "cow", "sleeps"], []])[0].tolist() == ["article", "noun", "verb"]
    assert crf.predict([["the"], []])[1].shape == (0,)
    column = crf.feature_names_.index("dog")
    assert crf.classes_[crf.coef_[:, column].argmax()] == "noun"
    again = pickle.loads(pickle.dumps(crf))
    assert [p.tolist() for p in again.predict(X)] == [p.tolist() for p in crf.predict(X)]
    assert clone(crf).fit(X[::-1], y[::-1]).score(X, y) == 1.0


@pytest.mark.parametrize("training", ["likelihood", "pseudolikelihood", "max-margin"])
def test_names_rows_and_sparse_rows_give_the_same_model(training):
    X, y = sentences(12, 1)
    items = [attributes(x) for x in X]
    flat = []
    for item in (item for x in items for item in x):
        near = item.get("near", {})
        flat.append({k: v for k, v in item.items() if k != "near"} | {f"near:before={w}": 1 for w in near.values()})
    vectorizer = DictVectorizer(sparse=True)
    ends = np.cumsum([0, *map(len, X)])
    rows = vectorizer.fit_transform(flat)
    sparse = [rows[a:b] for a, b in itertools.pairwise(ends.tolist())]
    crf = ChainCRF(training=training, random_state=0, sigma=0.5, tol=0.1 if training == "max-margin" else None)
    named = clone(crf).fit(items, y)
    of_sparse = clone(crf).fit(sparse, y)
    dense = clone(crf).fit([s.toarray() for s in sparse], y)
    assert sorted(named.feature_names_) == vectorizer.get_feature_names_out().tolist()
    place = [vectorizer.vocabulary_[name] for name in named.feature_names_]
    if training != "max-margin":  # whose vertices depend on the order of sums
        np.testing.assert_allclose(named.coef_, dense.coef_[:, place], atol=1e-4)
        np.testing.assert_allclose(of_sparse.coef_, dense.coef_, atol=1e-4)
    for model, given in ((named, items), (of_sparse, sparse), (dense, [s.toarray() for s in sparse])):
        assert model.score(given, y) > 0.9
        for p in model.predict_marginals(given):
            np.testing.assert_allclose(p.sum(axis=1), 1.0)
    with pytest.raises(AttributeError, match="fit was given arrays"):
        _ = dense.feature_names_
    with pytest.raises(gp.InvalidProblem, match="X has attributes with names, but fit was given arrays"):
        dense.predict(items)
    assert dense.predict(sparse)[0].tolist() == dense.predict([s.toarray() for s in sparse])[0].tolist()


def test_k_best_against_enumeration():
    X, y = sentences(20, 2)
    crf = ChainCRF(sigma=1.5).fit(X, y)
    sequence = ["a", "cat", "sleeps"]
    rows = np.array([[float(w == name) for name in crf.feature_names_] for w in sequence])
    unary = rows @ crf.coef_.T + crf.intercept_
    scores = {}
    for labels in itertools.product(range(3), repeat=3):
        moves = sum(crf.transitions_[a, b] for a, b in itertools.pairwise(labels))
        scores[labels] = float(unary[range(3), labels].sum() + moves)
    order = sorted(scores, key=scores.get, reverse=True)
    z = sum(np.exp(list(scores.values())))
    best = crf.predict_k_best([sequence, ["a"], []], 5)
    assert best[0].labels.tolist() == [crf.classes_[list(labels)].tolist() for labels in order[:5]]
    np.testing.assert_allclose(best[0].scores, [scores[labels] for labels in order[:5]])
    np.testing.assert_allclose(best[0].probabilities, [np.exp(scores[labels]) / z for labels in order[:5]])
    assert best[1].labels.shape == (3, 1) and best[1].probabilities.sum() == pytest.approx(1.0)
    assert best[2].labels.shape == (1, 0) and best[2].probabilities.tolist() == [1.0]
    assert crf.predict([sequence])[0].tolist() == best[0].labels[0].tolist()
    with pytest.raises(gp.InvalidOption, match="k is -1"):
        crf.predict_k_best([sequence], -1)


def test_a_single_sequence_and_elements_of_another_kind_are_refused():
    X, y = [["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]]
    dictionaries = [[{"word": word, "length": len(word)} for word in words] for words in X]
    words, named = ChainCRF().fit(X, y), ChainCRF().fit(dictionaries, y)
    numbers = ChainCRF().fit([np.eye(2), np.eye(2)], y)
    single = r"; a single sequence is given as \[sequence\]$"
    for predict in ("predict", "predict_marginals", "predict_k_best"):
        for crf, given, message in (
            (words, X[0], f"sequence 0 is the text 'the'.*{single}"),
            (named, dictionaries[0], f"sequence 0 is dict: expected a list of words.*{single}"),
            (numbers, np.eye(2), f"sequence 0: features have shape .2,.*{single}"),
            (numbers, [[0.0, 1.0], [1.0, 0.0]], f"sequence 0: features have shape .2,.*{single}"),
            (named, X, "sequence 0, element 0 is a text: expected a dictionary of attributes, as fit was given"),
            (words, dictionaries, "element 0 is a dictionary of attributes: expected a text, as fit was given"),
            (words, [np.eye(2)], "element 0 is a row of numbers: expected a text, as fit was given"),
            (words, [X], "element 0 is several texts: expected a text, as fit was given"),
            (numbers, X, "X has attributes with names, but fit was given arrays: expected 2 numbers"),
        ):
            with pytest.raises(gp.InvalidProblem, match=message) as error:
                getattr(crf, predict)(given)
            assert "\n" not in str(error.value)
    both = ChainCRF().fit([X[0], dictionaries[1]], y)  # kinds that fit was given
    assert [len(labels) for labels in both.predict([X[1], dictionaries[0], []])] == [2, 2, 0]


def test_bad_input_is_one_line():
    X, y = sentences(4)
    wrong = [
        (["the dog barks"], [["a", "n", "v"]], r"sequence 0 is the text 'the dog barks': expected a list of words, su"),
        (X[0], y[0], "sequence 0 is the text '(a|the)': expected"),
        ([[{"w": None}]], [["n"]], "sequence 0, element 0: attribute 'w' is None: expected a number"),
        ([["a"], ["b", 3]], [["n"], ["n", "n"]], "sequence 1, element 1: 3: expected a dictionary of attributes"),
        ([["a"], 5], [["n"], ["n"]], "sequence 1 is int: expected a list of words"),
        ([[{"w": np.nan}]], [["n"]], "features: attribute 0 in row 0 is nan"),
        (X, y[:-1], "3 arrays of labels for 4 sequences"),
        (X, [*y[:-1], [*y[-1], "noun"]], r"sequence 3: labels have shape"),
        (sp.csr_matrix((3, 2)), y, "X is csr_matrix: expected a list of sequences"),
        ([sp.csr_matrix([[np.inf, 0.0]])], [["n"]], "sequence 0: features: attribute 0 in row 0 is inf"),
    ]  # fmt: skip
    for a, b, message in wrong:
        with pytest.raises(gp.InvalidProblem, match=message) as error:
            ChainCRF().fit(a, b)
        assert "\n" not in str(error.value)


def test_descent_finds_minima_of_hard_functions():
    rng = np.random.default_rng(0)
    for size in (1, 3, 40):
        curvatures = 10.0 ** rng.uniform(-1, 1, size)
        shift = rng.normal(size=size)

        def objective(theta, curvatures=curvatures, shift=shift):
            apart = theta - shift
            soft = np.sqrt(1 + apart**2)
            return float(curvatures @ (soft - 1)), curvatures * apart / soft

        trace = []
        theta, status = minimise(objective, size, 1e-6, Stopping(None, 5000), trace)
        assert status == gp.Status.OPTIMAL and trace[-1][1] <= 1e-6 * trace[0][1]
        assert all(b <= a + 1e-12 * abs(a) for (a, _), (b, _) in itertools.pairwise(trace))
        assert objective(theta)[0] < 1e-6


def test_a_fit_that_fails_keeps_what_was_learned():
    model = gp.estimators.ChainCRF().fit([["a", "b"], ["b", "a"]] * 5, [["D", "N"], ["N", "D"]] * 5)
    with pytest.raises(gp.InvalidProblem, match="the text 'a b'"):
        model.fit(["a b"] * 3, [["D", "N"]] * 3)
    assert [list(labels) for labels in model.predict([["a", "b"]])] == [["D", "N"]]

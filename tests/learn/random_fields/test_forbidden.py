"""Labels that may not follow each other: against enumeration of all labelings that are allowed."""

import itertools
import math
import warnings

import numpy as np
import pytest

import graphpart as gp
from graphpart.estimators import ChainCRF
from graphpart.learn.random_fields import ConditionalRandomField
from graphpart.learn.random_fields.forbidden import rules_of

TAGS = ["B-X", "B-Y", "I-X", "I-Y", "O"]


def allowed(labels, forbidden):
    return not set(zip([None, *labels], [*labels, None], strict=True)) & set(forbidden)


def sample(seed, forbidden, size=30):
    rng = np.random.default_rng(seed)
    y = []
    while len(y) < size:
        labels = rng.choice(TAGS, int(rng.integers(1, 6))).tolist()
        if allowed(labels, forbidden):
            y.append(labels)
    X = [
        rng.normal(size=(len(labels), 3)) + np.array([[TAGS.index(a) % 3 == k for k in range(3)] for a in labels])
        for labels in y
    ]
    return X, y


def bio():
    return rules_of("BIO", np.array(TAGS)).named(TAGS)


def enumerated(crf, x, forbidden):
    """(labels, score) of all allowed labelings, the best first."""
    tags = crf.classes_.tolist()
    unary = x @ crf.coef_.T + crf.intercept_
    out = []
    for labels in itertools.product(range(len(tags)), repeat=len(x)):
        names = [tags[a] for a in labels]
        if allowed(names, forbidden):
            score = sum(unary[i, a] for i, a in enumerate(labels))
            score += sum(crf.transitions_[a, b] for a, b in itertools.pairwise(labels))
            out.append((names, float(score)))
    return sorted(out, key=lambda one: -one[1])


FORBIDDEN = {
    "bio": bio(),
    "last": [("O", None), ("B-X", "B-X"), (None, "I-Y")],
    "few ways": [(a, b) for a in TAGS for b in TAGS if (TAGS.index(a) + 1) % 5 != TAGS.index(b)],
}


@pytest.mark.parametrize("training", ["likelihood", "pseudolikelihood", "max-margin"])
@pytest.mark.parametrize("which", FORBIDDEN)
def test_all_labelings(which, training):
    forbidden = FORBIDDEN[which]
    X, y = sample(1, forbidden)
    given = "BIO" if which == "bio" else forbidden
    crf = ChainCRF(
        forbidden=given, training=training, max_iterations=15 if training == "max-margin" else None, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few passes of max margin
        crf.fit(X, y)
    for x in X[:8]:
        every = enumerated(crf, x, forbidden)
        weights = np.exp([score - every[0][1] for _, score in every])
        weights /= weights.sum()
        assert crf.predict([x])[0].tolist() == every[0][0]
        best = crf.predict_k_best([x], 4)[0]
        assert len(best.labels) == min(4, len(every))
        assert best.scores == pytest.approx([score for _, score in every[:4]])
        assert best.probabilities == pytest.approx(weights[:4])
        expected = np.zeros((len(x), len(crf.classes_)))
        for (names, _), weight in zip(every, weights, strict=True):
            expected[np.arange(len(x)), np.searchsorted(crf.classes_, names)] += weight
        assert crf.predict_marginals([x])[0] == pytest.approx(expected, abs=1e-9)


def test_the_likelihood_and_its_gradient():
    forbidden = FORBIDDEN["bio"]
    X, y = sample(3, forbidden)
    crf = ChainCRF(forbidden="BIO", sigma=2.0).fit(X, y)
    total = 0.5 / 4.0 * float(crf.model_.theta_ @ crf.model_.theta_)
    for x, labels in zip(X, y, strict=True):
        every = enumerated(crf, x, forbidden)
        scores = np.array([score for _, score in every])
        high = scores.max()
        total += high + math.log(np.exp(scores - high).sum()) - {tuple(a): s for a, s in every}[tuple(labels)]
    assert crf.model_.objective_ == pytest.approx(total)
    assert str(crf.model_.status_) == "optimal"  # the gradient is that of this objective, or the search would stall


def test_rules_that_training_needs_not_still_hold(tmp_path):
    X, y = sample(2, FORBIDDEN["bio"])
    free, crf = ChainCRF().fit(X, y), ChainCRF(forbidden="BIO").fit(X, y)
    noise = [np.random.default_rng(5).normal(scale=30.0, size=(6, 3)) for _ in range(40)]
    assert not all(allowed(labels.tolist(), bio()) for labels in free.predict(noise))
    assert all(allowed(labels.tolist(), bio()) for labels in crf.predict(noise))
    assert np.isneginf(crf.transitions_).sum() == len([pair for pair in bio() if pair[0]])
    crf.model_.save(tmp_path / "m.json")
    again = ConditionalRandomField.load(tmp_path / "m.json")
    assert [a.tolist() for a in again.predict([gp.learn.chain(x) for x in noise])] == [
        a.tolist() for a in crf.predict(noise)
    ]
    assert crf.predict([np.zeros((0, 3))])[0].tolist() == []


def test_words_with_long_sequences():
    X, y = [["Ann", "Lee", "sings", "."] * 300], [["B-P", "I-P", "O", "O"] * 300]
    crf = ChainCRF(forbidden="BIO").fit(X, y)
    assert crf.score(X, y) == 1.0


def test_messages():
    X, y = sample(0, [], 10)
    with pytest.raises(gp.InvalidProblem, match=r"sequence \d+, element \d+: .*forbidden"):
        ChainCRF(forbidden=[(a, b) for a in TAGS for b in TAGS]).fit(X, y)
    with pytest.raises(gp.InvalidProblem, match=r"sequence \d+, element 0: '[^']*' begins, which is forbidden"):
        ChainCRF(forbidden=[(None, a) for a in TAGS]).fit(X, y)
    with pytest.raises(gp.InvalidOption, match=r"forbidden is 'bio': expected 'BIO'"):
        ChainCRF(forbidden="bio").fit(X, y)
    with pytest.raises(gp.InvalidOption, match=r"entry 0 is 'O': expected a pair"):
        ChainCRF(forbidden=["O", "I-X"]).fit(X, y)
    with pytest.raises(gp.InvalidOption, match="expected at least one label"):
        ChainCRF(forbidden=[(None, None)]).fit(X, y)
    with pytest.warns(gp.GraphPartWarning, match="names the label 'I-Z', which does not occur in y"):
        ChainCRF(forbidden=[("O", "I-Z")]).fit(X, y)

"""The estimator that learns to join regions: better than the costs that nobody learned, and wrong input."""

import os

import numpy as np
import pytest

import graphpart as gp

pytest.importorskip("sklearn")
pytest.importorskip("skimage")
pytest.importorskip("bioimage_cpp")

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphpart.estimators import Segmenter
from graphpart.estimators.boundary_features import boundary_features
from graphpart.estimators.segmenter import _chosen

LINEAR = make_pipeline(StandardScaler(), LogisticRegression(C=0.3))
INSTANCES = os.environ.get("GRAPHPART_INSTANCES")


def distance(truth, labels):
    return sum(gp.metrics.variation_of_information(truth, labels, missing=0))


@pytest.fixture(scope="module")
def pictures():
    """Two pictures whose boundaries are weak, and an image that tells cells apart."""
    found = []
    for seed in (0, 1):
        boundary, truth = gp.images.cells((90, 90), size=18, noise=0.1, seed=seed)
        rng = np.random.default_rng(seed)
        codes = np.unique(truth, return_inverse=True)[1].reshape(truth.shape)
        image = rng.random(codes.max() + 1)[codes] + rng.normal(0, 0.05, truth.shape)
        regions = gp.images.watershed(boundary, seed_width=1.0)
        unsure = np.clip(0.4 * boundary + 0.6 * rng.random(truth.shape), 0, 1)
        found.append(((regions, unsure, image), np.where(rng.random(truth.shape) < 0.3, 0, codes + 1)))
    return found


@pytest.mark.parametrize("options", [{}, {"classifier": LINEAR, "threshold": 0.5, "length_weight": 0.0}])
def test_learned_is_better(pictures, options):
    (X, y), (Z, truth) = pictures
    model = Segmenter(**options).fit([X], [y])
    labels = model.predict(Z)
    default = gp.images.segment(Z[1], regions=Z[0]).labels
    assert labels.shape == truth.shape and labels.min() >= 1
    assert distance(truth, labels) < 0.7 * distance(truth, default)
    assert model.score([Z], [truth]) == pytest.approx(-distance(truth, labels))
    assert np.array_equal(model.predict([Z])[0], labels)
    if "threshold" in options:
        again = Segmenter(**options).fit([X], [y])
        assert np.array_equal(again.predict(Z), labels)


def test_contrast_does_not_count_and_parts_say_what_to_expect(pictures):
    (X, y), (Z, truth) = pictures
    pale = gp.images.region_graph(Z[0], 0.2 + 0.5 * Z[1].astype(float))
    plain = gp.images.region_graph(Z[0], Z[1])
    for name, values in boundary_features(plain).items():
        assert np.abs(values - boundary_features(pale)[name]).max() < 0.05, name
    model = Segmenter(LINEAR).fit([X[:2]], [y])
    assert distance(truth, model.predict(pale)) == pytest.approx(distance(truth, model.predict(plain)), abs=0.3)
    assert 0 < model.expected_ < 2 and 0 < model.expected_error_ < 1


def test_the_threshold_leaves_one_half_only_for_what_is_worth_it():
    thresholds = np.array([0.3, 0.4, 0.5, 0.6])
    parts = np.array([[0.9, 1.0, 1.2, 2.0], [1.1, 1.0, 1.2, 2.0], [0.7, 1.0, 1.2, 2.0]])
    assert _chosen(thresholds, parts) == 1  # 0.4 is 0.1 worse than 0.3, with standard error 0.12; 0.5 always worse
    assert _chosen(thresholds, np.where(parts == 1.2, 0.5, parts)) == 2
    assert _chosen(thresholds, parts[:1]) == 0


def test_few_regions(pictures):
    (X, y), _ = pictures
    one = np.ones((20, 20), int)
    model = Segmenter(LINEAR).fit([X[:2], (one, np.zeros((20, 20)))], [y, one])
    assert model.predict((one, np.zeros((20, 20)))).max() == 1 and model.expected_ > 0
    rows, columns = np.indices((5, 5))
    few = (5 * rows + columns + 1, 0.1 + 0.8 * (columns == 1))
    model = Segmenter(LINEAR, threshold=0.3).fit([few], [1 + (columns >= 2)])
    assert model.threshold_ == 0.3


def test_a_classifier_of_the_users_choice(pictures):
    from sklearn.base import clone
    from sklearn.tree import DecisionTreeClassifier

    (X, y), (Z, truth) = pictures
    model = clone(Segmenter(DecisionTreeClassifier(max_depth=4, random_state=0)))
    assert distance(truth, model.fit([X, Z], [y, truth]).predict(Z)) < 1.0
    assert 0 < model.threshold_ < 1 and "difference" in model.feature_names_
    graph = gp.images.region_graph(Z[0], Z[1], image=Z[2])
    assert np.array_equal(model.predict(graph), model.predict(Z))


def test_mistakes(pictures):
    (X, y), (Z, _) = pictures
    with pytest.raises(gp.InvalidProblem, match=r"X is one picture: expected a list"):
        Segmenter().fit(X, y)
    with pytest.raises(gp.InvalidProblem, match=r"1 pictures and 2 truths"):
        Segmenter().fit([X], [y, y])
    with pytest.raises(gp.InvalidProblem, match=r"truth 0 has shape"):
        Segmenter().fit([X], [y[:5]])
    with pytest.raises(gp.InvalidProblem, match=r"0 pairs of regions have true segments"):
        Segmenter().fit([X], [np.zeros_like(y)])
    with pytest.raises(gp.InvalidProblem, match=r"has one of them an image"):
        Segmenter().fit([X, Z[:2]], [y, y])
    with pytest.raises(gp.InvalidOption, match=r"threshold is 2"):
        Segmenter(threshold=2).fit([X], [y])
    with pytest.raises(gp.InvalidOption, match=r"no predict_proba"):
        Segmenter(classifier=object()).fit([X], [y])


@pytest.mark.skipif(INSTANCES is None, reason="GRAPHPART_INSTANCES names no folder")
def test_halves_of_a_volume_of_electron_microscopy():
    with np.load(os.path.join(str(INSTANCES), "em", "train.npz")) as d:
        parts = [[d[k][h] for k in ("regions", "boundary", "image", "truth")] for h in (np.s_[:25], np.s_[25:])]
    learned = default = 0.0
    for (*X, y), (*Z, truth) in (parts, parts[::-1]):
        learned += distance(truth, Segmenter().fit([tuple(X)], [y]).predict(tuple(Z)))
        default += distance(truth, gp.images.segment(Z[1], regions=Z[0]).labels)
    assert learned <= 0.75 * default

"""Segments with classes: what the problem says, and what it finds beside one half after the other."""

import numpy as np
import pytest

import graphpart as gp


def picture(seed, size=48):
    """A boundary map of cells, their classes, and probabilities of these that err in patches."""
    boundary, truth = gp.images.cells((size, size), size=16, noise=0.4, seed=seed)
    rng = np.random.default_rng(seed)
    of_cells = rng.integers(0, 3, 1 + int(np.unique(truth, return_inverse=True)[1].max()))
    kind = of_cells[np.unique(truth, return_inverse=True)[1]].reshape(truth.shape)
    score = np.kron(rng.normal(size=(size // 6, size // 6, 3)), np.ones((6, 6, 1))) + np.eye(3)[kind]
    p = np.exp(score)
    return boundary, truth, kind, p / p.sum(axis=-1, keepdims=True)


def test_segments_have_the_class_that_costs_least():
    boundary, truth, _, p = picture(1)
    s = gp.images.segment(boundary, classes=p, method="kernighan-lin")
    assert s.classes.shape == s.labels.shape == truth.shape and repr(s).startswith("Segmentation(")
    element = s.graph.elements()
    costs = np.zeros((s.graph.n, 3))
    np.add.at(costs, element.ravel(), -0.1 * np.log2(np.maximum(p.reshape(-1, 3), 2.0**-10)))
    assert s.problem.evaluate(s.result) == pytest.approx(s.result.cost)
    together = s.result.labels[s.graph.pairs[:, 0]] == s.result.labels[s.graph.pairs[:, 1]]
    paid = costs[np.arange(s.graph.n), s.result.classes].sum() + s.graph.costs()[together].sum()
    assert s.result.cost == pytest.approx(paid)
    for label in np.unique(s.labels):
        assert len(np.unique(s.classes[s.labels == label])) == 1
    one = gp.images.segment(boundary, classes=np.ones((*truth.shape, 1)), method="kernighan-lin")
    plain = gp.images.segment(boundary, method="kernighan-lin").problem
    assert one.result.cost == pytest.approx(plain.evaluate(one.result.labels)) and (one.classes == 0).all()


def test_both_at_once_are_better_than_one_after_the_other():
    found = []
    for seed in (2, 3, 4):
        boundary, truth, kind, p = picture(seed, 96)
        s = gp.images.segment(boundary, classes=p, method="kernighan-lin")
        plain = gp.images.segment(boundary, regions=s.regions, method="kernighan-lin")
        sums = np.zeros((plain.n_segments + 1, 3))
        np.add.at(sums, plain.labels.ravel(), -np.log(p.reshape(-1, 3)))
        after = plain.labels, sums.argmin(axis=1)[plain.labels]
        found.append([gp.metrics.panoptic_quality((truth, kind), x)["quality"] for x in ((s.labels, s.classes), after)])
    joint, one_after_the_other = np.mean(found, axis=0)
    assert joint > one_after_the_other


def test_wrong_classes_are_named():
    boundary = picture(1)[0]
    for classes, message in (
        (np.ones((48, 48)), r"shape \(48, 48\) and dtype float64: expected \(48, 48, L\)"),
        (np.full((48, 48, 2), 2.0), "has the value 2: expected probabilities"),
        (np.full((48, 48, 2), np.nan), "has the value nan: expected probabilities"),
    ):
        with pytest.raises(gp.InvalidProblem, match=message):
            gp.images.segment(boundary, classes=classes)
    p = np.ones((48, 48, 1))
    with pytest.raises(gp.InvalidProblem, match="max_size is given: a labelled partition can only require"):
        gp.images.segment(boundary, classes=p, max_size=3)
    with pytest.raises(gp.InvalidOption, match="answers and classes are both given"):
        gp.images.segment(boundary, classes=p, answers={"left": [], "right": [], "answer": []})
    with pytest.raises(gp.InvalidOption, match="classes is given with blocks"):
        gp.images.segment(boundary, classes=p, blocks=(16, 16))

"""Generated tracks and labelled grids: what their docstrings say, on small ones."""

import numpy as np
import pytest

import graphpart as gp


def test_tracks_are_what_was_asked_for():
    frame, place, truth = gp.generate.tracks(objects=5, frames=30, missed=0.2, seed=3)
    again = gp.generate.tracks(objects=5, frames=30, missed=0.2, seed=3)
    assert all(np.array_equal(x, y) for x, y in zip((frame, place, truth), again, strict=True))
    assert frame.min() >= 0 and frame.max() < 30 and (np.diff(frame) >= 0).all() and set(truth) == {-1, 0, 1, 2, 3, 4}
    for k in range(5):
        mine = np.flatnonzero(truth == k)
        assert len(np.unique(frame[mine])) == len(mine)
        step = np.abs(np.diff(place[mine], axis=0)) / np.diff(frame[mine])[:, None]
        assert step.max() < 0.015 + 0.003 * 10
    every = gp.generate.tracks(objects=1, frames=9, missed=0, false_detections=0, sigma=0, seed=0)
    assert len(every.frame) == len(np.unique(every.frame)) and (every.truth == 0).all()
    counts = np.bincount(gp.generate.tracks(objects=1, frames=400, false_detections=2, seed=1).truth + 1)
    assert 700 < counts[0] < 900  # 2 in each frame, in the mean


def test_grids_are_what_was_asked_for():
    q, labels, classes = gp.generate.labeled_grid(5, 6, 3, 4, sigma=0.0, decimals=2, seed=2)
    assert q.n == 30 and labels.max() < 4 and classes.max() < 3
    assert all(len(set(classes[labels == k])) == 1 for k in range(labels.max() + 1))
    assert gp.solve(q).cost == q.evaluate(labels, classes) or gp.solve(q).cost < q.evaluate(labels, classes)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        ("tracks", {"missed": 1.5}, "missed is 1.5: expected a number from 0 to 1"),
        ("tracks", {"objects": 0}, "objects is 0"),
        ("tracks", {"seed": -1}, "seed is -1"),
        ("labeled_grid", {"height": 2, "width": 2, "regions": 5}, "regions is 5"),
        ("labeled_grid", {"height": 2, "width": 2, "regions": 1, "sigma": -1}, "sigma is -1"),
    ],
)
def test_wrong_parameters(function, options, message):
    with pytest.raises(gp.InvalidOption, match=message):
        getattr(gp.generate, function)(**options)

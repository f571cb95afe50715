"""Detections linked to tracks."""

import numpy as np
import pytest

import graphpart as gp
from graphpart.records.tracks import _pairs, _velocities, link_detections


def test_tracks_of_a_scene():
    frame, place, truth = gp.generate.tracks(objects=8, frames=40, seed=0)
    r = gp.records.link_detections(frame, place, 0.03)
    assert len(set(zip(r.labels.tolist(), frame.tolist(), strict=True))) == len(frame)
    size = np.bincount(r.labels)
    found = np.where(size[r.labels] >= 3, r.labels, -1)
    assert gp.metrics.identity_scores(truth, found)["idf1"] > 0.9
    order = np.random.default_rng(0).permutation(len(frame))
    mixed = gp.records.link_detections(frame[order], 640.0 * place[order], 640.0 * 0.03)
    assert gp.metrics.adjusted_rand_index(r.labels[order], mixed.labels) > 0.98


def test_pairs_and_velocities_against_their_definitions():
    rng = np.random.default_rng(0)
    frame, place = rng.integers(0, 14, 40), rng.random((40, 3))
    a, b = _pairs(frame, place, 0.1)
    expected = {
        (i, j)
        for i in range(40)
        for j in range(40)
        if 1 <= (gap := frame[j] - frame[i]) <= 10 and np.linalg.norm(place[i] - place[j]) < 4 / 3 * 0.1 * gap
    }
    assert set(zip(a.tolist(), b.tolist(), strict=True)) == expected and len(a) == len(expected)
    frame = rng.permutation(12)
    labels = np.repeat([0, 1, 2], [7, 3, 2])
    v = _velocities(frame, np.outer(frame, [2.0, -1.0]) + 5.0, labels)
    assert v[:7] == pytest.approx(np.tile([2.0, -1.0], (7, 1))) and np.isnan(v[7:]).all()


@pytest.mark.parametrize(("frame", "place"), [([], np.zeros((0, 2))), ([3], [[0.0, 0.0]]), ([3, 3], np.zeros((2, 1)))])
@pytest.mark.filterwarnings("ignore:step is")
def test_few_detections(frame, place):
    assert gp.records.link_detections(np.array(frame, int), place, 1.0).n_clusters == len(frame)


@pytest.mark.parametrize(
    ("frame", "place", "step", "message"),
    [
        ([0, 1], [[0.0]], 1.0, r"frame has shape \(2,\), place \(1, 1\)"),
        ([0, 1], [0.0, 1.0], 1.0, "frame has shape"),
        ([0.5, 1], [[0.0], [1.0]], 1.0, "frame is not of whole numbers"),
        ([0, np.inf], [[0.0], [1.0]], 1.0, "frame is not of whole numbers"),
        ([0, 1], [[0.0], [np.nan]], 1.0, "place 1 is not finite"),
        ([0, 1], [[0.0], [1.0]], 0.0, "step is 0.0: expected a positive number"),
    ],
)
def test_detections_that_do_not_fit(frame, place, step, message):
    with pytest.raises((gp.InvalidProblem, gp.InvalidOption), match=message):
        gp.records.link_detections(frame, place, step)


def test_short_tracks_are_kept():
    """Detections of which no velocity is known are linked by distance, without a word about the signs of costs."""
    frame, place = np.tile(np.arange(3), 20), np.column_stack([np.repeat(np.arange(20), 3) * 10.0, np.zeros(60)])
    r = gp.records.link_detections(frame, place + np.tile([[0.0], [0.05], [0.1]], (20, 1)), 0.1)
    assert r.labels.tolist() == np.repeat(np.arange(20), 3).tolist()


def test_frames_are_numbered_from_any_number():
    assert gp.records.link_detections([-5, -4, -3, -2], np.arange(4)[:, None] * 0.05, 0.1).n_clusters == 1


def test_a_step_that_is_too_small_is_warned_of():
    frame, place, _ = gp.generate.tracks(objects=3, frames=10, seed=0)
    with pytest.warns(gp.GraphPartWarning, match="step is 1e-09: no two detections are that near"):
        assert gp.records.link_detections(frame, place, 1e-9).n_clusters == len(frame)


def test_names_of_columns_are_told_how_to_be_written():
    pandas = pytest.importorskip("pandas")
    table = {"frame": [0, 1], "x": [0.0, 0.1]}
    for frame, place in (("frame", ["x"]), (table["frame"], "x"), (pandas.DataFrame(table), ["x"])):
        with pytest.raises(gp.InvalidProblem, match=r'link_detections\(t\["frame"\], t\[\["x", "y"\]\], step\)'):
            link_detections(frame, place, 0.1)

"""Paths of thresholds against single problems, and thresholds chosen on classes left out."""

import numpy as np
import pytest

import graphpart as gp
from graphpart import InvalidOption, InvalidProblem
from graphpart.learn import cross_validate_threshold, threshold_path
from graphpart.learn.thresholds import shifted


def costs(seed, n=30):
    C = np.random.default_rng(seed).normal(size=(n, n))
    C = C + C.T
    np.fill_diagonal(C, 0)
    return C


@pytest.mark.parametrize("seed", range(5))
def test_partitions_on_a_path_are_as_good_as_from_scratch(seed):
    C, grid = costs(seed), np.array([0.5, -3.0, -1.0, 0.0, 1.0, 4.0])
    path = threshold_path(C, grid)
    single, walked = [], []
    for t, labels in zip(grid, path, strict=True):
        p = shifted(gp.SetPartition.from_matrix(C), t)
        single.append(gp.partition.kernighan_lin(p).cost)
        walked.append(p.evaluate(labels))
        again = gp.partition.kernighan_lin(p, labels).cost
        assert again == pytest.approx(walked[-1])  # no sequence of moves lowers it
        # no partition of another threshold is better here
        assert walked[-1] <= min(p.evaluate(other) for other in path) + 1e-9
    assert sum(walked) <= sum(single) + 0.05 * abs(sum(single))
    assert path[1].max() > path[0].max() >= path[5].max() == 0


def test_of_listed_pairs_only_these_are_shifted():
    listed = [(0, 1), (1, 2), (3, 4)]
    p = gp.SetPartition.from_pairs(5, listed, [0.0, 2.0, -1.0], dense=False)
    path = threshold_path(p, [-2.0, 0.5, 3.0])
    assert [labels.tolist() for labels in path] == [[0, 1, 2, 3, 4], [0, 0, 1, 2, 2], [0, 0, 0, 1, 1]]
    # of a matrix, all pairs are
    path = threshold_path(gp.SetPartition.from_pairs(5, listed, [0.0, 2.0, -1.0], dense=True), [-2.0, 0.5, 3.0])
    assert path[0].tolist() == [0, 1, 2, 3, 4] and path[1][1] != path[1][2] and not path[2].any()


def test_degenerate_paths():
    assert threshold_path(np.zeros((3, 3)), []) == []
    assert threshold_path(np.zeros((1, 1)), [0.0, 1.0])[1].tolist() == [0]
    assert threshold_path(np.zeros((0, 0)), [1.0])[0].tolist() == []
    assert len(threshold_path(costs(0), np.linspace(-1, 1, 9), time_limit=0.0)) == 9
    with pytest.raises(InvalidOption, match="finite"):
        threshold_path(np.zeros((3, 3)), [np.nan])
    with pytest.raises(InvalidProblem, match="required joins"):
        threshold_path(gp.SetPartition.from_pairs(3, [(0, 1)], [-np.inf]), [0.0])
    p = gp.SetPartition.from_pairs(30, [(0, 1), (2, 3)], [-1.0, 1.0], missing=0.5, dense=False)  # has a background
    assert [labels.max() for labels in threshold_path(p, [-2.0, 0.0, 2.0])] == [29, 28, 0]


def test_the_threshold_undoes_a_shift_of_costs():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(8), 10)
    x = rng.normal(size=(80, 2)) + 9 * np.stack([y % 3, y // 3], axis=1)
    D = np.linalg.norm(x[:, None] - x, axis=2)
    seen = []

    def shifted_distances(learn, held):
        assert not set(y[learn]) & set(y[held]) and len(set(y[held])) == 4
        seen.append(tuple(held))
        return D[np.ix_(held, held)] - 40.0

    chosen = cross_validate_threshold(shifted_distances, y, np.arange(-60.0, 20.0, 1.0), splits=4)
    # pairs of one class are nearer than 4.3, others farther than 4.9: of the thresholds that divide the classes, the
    # nearest to 0
    assert -38 < chosen.threshold < -31 and len(set(seen)) == 4
    assert chosen.threshold == chosen.thresholds[chosen.mean == 1.0].max() and len(chosen.held_out) == 4
    by_f1 = cross_validate_threshold(shifted_distances, y, np.arange(-60.0, 20.0, 1.0), splits=4, score="joins-f1")
    assert -38 < by_f1.threshold < -31
    assert cross_validate_threshold(shifted_distances, y, splits=4).threshold < 0
    assert cross_validate_threshold(shifted_distances, y, splits=9, time_limit=0.0).scores.shape[0] == 1


def test_it_stays_at_zero_without_evidence():
    y = np.repeat(np.arange(5), 6)
    D = np.where(y[:, None] == y, -1.0, 1.0)
    chosen = cross_validate_threshold(lambda learn, held: D[np.ix_(held, held)], y)
    assert chosen.threshold == 0.0
    assert cross_validate_threshold(lambda learn, held: D, [0, 0, 1, 1]).threshold == 0.0  # no class to leave out


def test_problems_without_pairs_say_nothing():
    empty = gp.SetPartition.from_pairs(2, np.zeros((0, 2), np.int64), [])
    chosen = cross_validate_threshold(lambda learn, held: empty, [0, 1, 2, 3])
    assert chosen.threshold == 0.0 and chosen.thresholds.tolist() == [0.0] and len(chosen.scores) == 6
    zero = cross_validate_threshold(lambda learn, held: np.zeros((2, 2)), [0, 1, 2, 3])
    assert zero.threshold == 0.0 and zero.thresholds.tolist() == [0.0]


def test_bad_options():
    def none(learn, held):
        return np.zeros((1, 1))

    for options in ({"score": "x"}, {"splits": 0}, {"thresholds": []}):
        with pytest.raises(InvalidOption, match=next(iter(options))):
            cross_validate_threshold(none, [0, 1, 2], **options)
    with pytest.raises(InvalidProblem, match="costs are those of 1 elements"):
        cross_validate_threshold(none, [0, 1, 2, 3])

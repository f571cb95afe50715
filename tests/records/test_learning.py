"""Weights learned from answers: chosen answers about unsure pairs do not spoil those of sure ones; seeds 0 to 2."""

import numpy as np
import pytest

from graphpart.answers.given import Answers
from graphpart.records.learning import learned_weights


def candidates(seed, m=4000):
    """Pairs with three things that are known of them, true log-odds in bits that depend on these, and weights."""
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, 500, (2, m))
    u, v = u[u != v], v[u != v]
    known = rng.normal(size=(len(u), 3))
    true = -4 + known @ [4.0, 3.0, 0.0]
    weight = -2 + known @ [4.0, 0.0, 3.0] + 0.1 * rng.normal(size=len(u))  # wrong in two of them, and on the whole
    return u, v, known, true, weight, rng.random(len(u)) < 1 / (1 + np.exp2(-true))


def answers(u, v, same, at):
    pairs = np.sort(np.stack([u[at], v[at]], 1), axis=1).astype(np.int32)
    return Answers(pairs, same[at].astype(np.int8), np.arange(len(at)))


@pytest.mark.parametrize("seed", range(3))
def test_chosen_answers_teach_the_weights_of_all(seed):
    u, v, known, true, weight, same = candidates(seed)
    at = np.argsort(np.abs(weight))[:100]  # the least sure pairs only
    new = learned_weights(u, v, weight, known, answers(u, v, same, at), 0.0)
    wrong = [np.mean((x > 0) != (true > 0)) for x in (weight, new)]
    assert wrong[1] < 0.7 * wrong[0]
    sure = np.abs(true) > 8
    assert np.mean((new > 0)[sure] == (true > 0)[sure]) > 0.95
    bias = [np.mean(1 / (1 + np.exp2(-x))) - np.mean(same) for x in (weight, new)]
    assert abs(bias[1]) < 0.6 * abs(bias[0])  # the share of pairs of one entity


def test_few_answers_change_little_and_errors_count_less():
    u, v, known, true, weight, same = candidates(0)
    none = learned_weights(u, v, weight, known, answers(u, v, same, np.arange(0)), 0.0)
    assert np.corrcoef(none, weight)[0, 1] > 0.97
    at = np.argsort(np.abs(weight))[:60]
    sure, doubtful = (learned_weights(u, v, weight, known, answers(u, v, same, at), e) for e in (0.0, 0.3))
    assert np.abs(doubtful - none).mean() < np.abs(sure - none).mean()
    lie = answers(u, v, same ^ (np.arange(len(same)) % 10 == 0), at)  # one answer in ten is wrong
    told = [learned_weights(u, v, weight, known, lie, e) for e in (0.0, 0.1)]
    assert np.abs(told[1] - true).mean() < np.abs(told[0] - true).mean() < np.abs(weight - true).mean()
    unknown = Answers(np.array([[0, 499]], np.int32), np.array([-1], np.int8), np.arange(1))
    assert np.allclose(learned_weights(u, v, weight, known, unknown, 0.0), none)

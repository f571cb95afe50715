"""Costs from probabilities: log-odds in bits, threshold, prior, clipping."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart import costs_from_probabilities as costs_of


def test_against_exact_odds():
    rng = np.random.default_rng(0)
    for seed in range(trials(300)):
        p, threshold, prior = rng.uniform(0.001, 0.999, 3).tolist()
        odds = Fraction(1 - Fraction(p)) / Fraction(p) * Fraction(threshold) / (1 - Fraction(threshold))
        odds *= (1 - Fraction(prior)) / Fraction(prior)
        expected = math.log2(odds)
        assert costs_of(p, threshold=threshold, prior=prior) == pytest.approx(expected, abs=1e-12), seed


def test_they_are_the_costs_of_the_model_that_made_the_probabilities():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = (X @ [1.0, -2.0, 0.5] + rng.normal(size=200) > 0).astype(int)
    model = gp.learn.LogisticRegression(3.0).fit(X, y)
    assert costs_of(model.predict_proba(X)[:, 1]) == pytest.approx(model.costs(X), abs=1e-9)


def test_a_share_of_joins_as_prior_shifts_all_costs_alike():
    p = np.linspace(0.1, 0.9, 9)
    assert costs_of(p, prior=0.2) == pytest.approx(costs_of(p) + 2.0)
    assert costs_of(p, threshold=0.8) == pytest.approx(costs_of(p, prior=0.2))


def test_shapes_and_types():
    assert costs_of(np.full((2, 3), 0.5, np.float32)).tolist() == [[0.0] * 3] * 2
    assert costs_of([]).shape == (0,)
    assert not np.signbit(costs_of([0.5])).any()


def test_a_rounded_zero_or_one_is_no_requirement_unnoticed():
    with pytest.warns(gp.GraphPartWarning, match="exactly 1: 2, exactly 0: 1; taken as 0.999999 and 1e-06"):
        costs = costs_of([0.0, 1.0, 1.0, 0.3])
    assert np.isfinite(costs).all() and costs[0] == pytest.approx(math.log2(999999)) == pytest.approx(-costs[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        costs_of([1e-9, 1 - 1e-9, 0.5])  # not rounded: clipped without a word, as documented
        assert costs_of([0.0], clip=0.005) == pytest.approx(math.log2(199))  # asked for
        required = costs_of([0.0, 1.0, *[0.3] * 998], clip=0)  # 0.2% are no reason for a warning
        warnings.simplefilter("ignore", gp.GraphPartWarning)
        assert np.isfinite(costs_of([0.0, 1.0])).all()
    assert required[:2].tolist() == [math.inf, -math.inf]
    with pytest.warns(gp.GraphPartWarning, match="exactly 1: 1, exactly 0: 1, of 100 pairs; as clip=0"):
        costs_of([0.0, 1.0, *[0.3] * 98], clip=0)


def test_from_frame_clips_and_requires_only_if_told():
    rows = {"a": ["x", "y", "x"], "b": ["y", "z", "z"], "p": [1.0, 0.0, 0.4]}
    with pytest.warns(gp.GraphPartWarning, match="exactly 1: 1, exactly 0: 1"):
        p = gp.SetPartition.from_frame(rows, "a", "b", probability="p")
    assert not len(p.must_join) and not p._has_must_cut
    with pytest.warns(gp.GraphPartWarning, match="as clip=0"):
        p = gp.SetPartition.from_frame(rows, "a", "b", probability="p", clip=0)
    assert p.must_join.tolist() == [[0, 1]] and p._must_cut.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([0.5, 1.5], {}, "probability 1 is 1.5: expected a probability from 0 to 1"),
        ([0.5, -0.1], {}, "probability 1 is -0.1"),
        ([math.nan], {}, "probability 0 is nan"),
        ([[0.5, 0.5], [0.5, 7.0]], {}, r"probability \(1, 1\) is 7.0"),
        (["a"], {}, "probabilities has dtype"),
        ([0.5], {"threshold": 1.0}, "threshold is 1.0: expected a probability between 0 and 1"),
        ([0.5], {"prior": "x"}, "prior is 'x'"),
        ([0.5], {"clip": 0.5}, "clip is 0.5"),
    ],
)
def test_mistakes(values, options, message):
    with pytest.raises(ValueError, match=message):
        costs_of(values, **options)


def test_values_beyond_by_rounding_are_0_and_1():
    """A sigmoid in single precision, say."""
    with pytest.warns(gp.GraphPartWarning, match="exactly 1: 1, exactly 0: 1"):
        costs = gp.costs_from_probabilities([1 + 1e-7, -1e-9, 0.5])
    with pytest.warns(gp.GraphPartWarning, match="exactly 1: 1, exactly 0: 1"):
        assert (costs == gp.costs_from_probabilities([1.0, 0.0, 0.5])).all()
    for wrong in (1.00001, -1e-5, np.nan):
        with pytest.raises(gp.InvalidProblem, match="expected a probability from 0 to 1"):
            gp.costs_from_probabilities([wrong, 0.5])

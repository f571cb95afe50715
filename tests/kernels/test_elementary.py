"""Exponentials and logarithms: against decimal arithmetic, and to the last bit the same on every processor."""

import hashlib
import math
from decimal import Context, Decimal

import numpy as np
import pytest

from graphpart.kernels.elementary import exp, geometric, log

EXACT = Context(prec=50)


def numbers(count, low, high, seed):
    return low + (high - low) * np.random.default_rng(seed).random(count)


def worst_error(found, arguments, function):
    """The largest error in units in the last place."""
    worst = 0.0
    for x, y in zip(arguments.tolist(), found.tolist(), strict=True):
        exact = function(Decimal(x))
        worst = max(worst, float(abs(Decimal(y) - exact) / Decimal(math.ulp(float(exact)))))
    return worst


@pytest.mark.parametrize(("low", "high"), [(-0.4, 0.4), (-6, 6), (-708, 709.7), (-745, -708)])
def test_exponentials(low, high):
    x = numbers(3000, low, high, seed=1)
    assert worst_error(exp(x), x, EXACT.exp) < 0.8


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.6, 1.6), (0.999, 1.001), (1, 1e9), (1e-310, 1e-305), (1, 1e308)])
def test_logarithms(low, high):
    x = numbers(3000, low, high, seed=2)
    assert worst_error(log(x), x, EXACT.ln) < 0.8


def test_special_values():
    inf, tiny, huge = math.inf, 5e-324, np.finfo(float).max
    np.testing.assert_array_equal(
        exp([0.0, -0.0, inf, -inf, 1e308, -1e308, -745.1, -745.2, 709.79]), [1, 1, inf, 0, inf, 0, tiny, 0, inf]
    )
    np.testing.assert_array_equal(log([1.0, 0.0]), [0, -inf])
    np.testing.assert_array_equal(log([tiny, huge, 0.5]), [math.log(tiny), math.log(huge), -math.log(2)])
    assert math.copysign(1, log(1.0)) == 1


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (4096,), (4097,), (3, 4096)])
def test_any_shape(shape):
    x = np.random.default_rng(1).random(shape)
    for function, known in ((exp, np.exp), (log, np.log)):
        before = x.copy()
        y = function(x)
        np.testing.assert_array_equal(x, before)
        assert y.shape == shape and y.dtype == np.float64
        np.testing.assert_allclose(y, known(x), rtol=1e-15, atol=1e-16)
        np.testing.assert_array_equal(function(x.T).T, y)


@pytest.mark.parametrize(("first", "last"), [(1e-3, 1e3), (7.0, 0.1), (2.0, 2.0), (1e150, 1e-150)])
def test_geometric(first, last):
    np.testing.assert_allclose(geometric(first, last, 31), np.geomspace(first, last, 31), rtol=3e-13)
    assert geometric(first, last, 0).tolist() == []
    assert geometric(first, last, 1).tolist() == [first]


def test_the_same_bits_on_every_processor():
    """NumPy's own differ in one of ten of these between AVX-512 and AVX2."""
    x = numbers(100_000, -20, 20, seed=3)
    bits = [hashlib.sha256(y.astype("<f8").tobytes()).hexdigest()[:16] for y in (exp(x), log(np.abs(x)))]
    assert bits == ["465581722cbc59c4", "e192ab9267b34e41"]

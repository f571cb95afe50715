"""Exponentials and logarithms that are the same, to the last bit, on every processor.

Those of NumPy and of the C library are not: they choose among several versions by the instructions that the processor
has, and these differ in the last bit. The content of files is computed by the functions here instead.

They consist of additions, multiplications and divisions, which IEEE 754 rounds correctly, and of operations that are
exact, in a fixed order; kernels are compiled such that no two of them are contracted into one. Argument reduction
follows Tang (1989, 1990) and fdlibm (Sun Microsystems 1993); what remains is a Taylor polynomial. Errors are below 0.8
units in the last place. About 10 ns for a number.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.kernels import _elementary

__all__ = ["exp", "geometric", "log"]

Array = NDArray[np.float64]


def exp(x: ArrayLike) -> Array:
    """e to the power of each number; 0 where that is too small, inf where it is too large.

    Parameters
    ----------
    x : array_like
        Numbers, not NaN; infinite ones too.

    Examples
    --------
    >>> exp([0.0, 1.0, -np.inf]).tolist()
    [1.0, 2.718281828459045, 0.0]
    """
    return _each(_elementary.exponentials, x)


def log(x: ArrayLike) -> Array:
    """The natural logarithm of each number; -inf of 0.

    Parameters
    ----------
    x : array_like
        Finite numbers, at least 0.

    Examples
    --------
    >>> log([1.0, 10.0, 0.0]).tolist()
    [0.0, 2.302585092994046, -inf]
    """
    return _each(_elementary.logarithms, x)


def geometric(first: float, last: float, count: int) -> Array:
    """A geometric sequence of positive numbers from the first to the last.

    The last one divided by the first must neither overflow nor underflow.

    Examples
    --------
    >>> geometric(1.0, 9.0, 3).round(12).tolist()
    [1.0, 3.0, 9.0]
    """
    return first * exp((log(last) - log(first)) * (np.arange(count) / max(1, count - 1)))


def _each(kernel: Callable[[Array, Array], None], x: ArrayLike) -> Array:
    values = np.ascontiguousarray(x, np.float64)
    out = np.empty(values.size)
    kernel(values.reshape(-1), out)
    return out.reshape(np.shape(x))

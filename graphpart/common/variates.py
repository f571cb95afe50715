"""Tables of random numbers, the same on every processor, from which annealing takes its thresholds."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.kernels.elementary import log

__all__ = ["exponential_variates", "gumbel_variates"]


@cache
def exponential_variates(count: int, kind: type[np.floating[Any]] = np.float64) -> NDArray[Any]:
    """A fixed table of exponential variates; the positions from which they are read are random.

    The few beyond 7.69 come from logarithms of the C library; they are rounded, so as to be the same everywhere.

    Examples
    --------
    >>> float(exponential_variates(4096).mean().round(1))
    1.0
    """
    values = np.random.default_rng(0).standard_exponential(count)
    return np.where(values > 7.69, np.rint(values * 2.0**26) / 2.0**26, values).astype(kind)


@cache
def gumbel_variates(count: int) -> NDArray[np.float64]:
    """A fixed table of variates of the standard Gumbel distribution of minima.

    If such variates, times a temperature, are added to the costs of several choices, the choice of least sum follows
    the Boltzmann distribution of this temperature.

    Examples
    --------
    >>> float(gumbel_variates(4096).mean().round(1))
    -0.6
    """
    return log(exponential_variates(count))

"""Tables of random numbers, the same on every processor, from which annealing takes its thresholds."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["exponential_variates"]


@cache
def exponential_variates(count: int = 65536, kind: type[np.floating[Any]] = np.float64) -> NDArray[Any]:
    """A fixed table of exponential variates; the positions from which they are read are random.

    The few beyond 7.69 come from logarithms of the C library; they are rounded, so as to be the same everywhere.

    Examples
    --------
    >>> float(exponential_variates(4096).mean().round(1))
    1.0
    """
    values = np.random.default_rng(0).standard_exponential(count)
    return np.where(values > 7.69, np.rint(values * 2.0**26) / 2.0**26, values).astype(kind)

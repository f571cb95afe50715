"""The scale of costs: how much cost is one bit of evidence.

A cost of d bits that a pair is together says that together is 2**d times less probable than apart. Costs that are made
from probabilities are bits. Other costs have no scale of their own: the median absolute cost of the listed pairs is
then taken for `TYPICAL` bits.
"""

from __future__ import annotations

import numpy as np

from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.forms import source_of

__all__ = ["bit_of", "errs_together"]

TYPICAL = 5.0  # bits that the median pair is taken for: odds of 32 to 1


def bit_of(p: SetPartition) -> float:
    """The cost of one bit of evidence. O(m)

    Examples
    --------
    >>> bit_of(SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-8.0, 2.0]))
    1.0
    >>> bit_of(SetPartition.from_frame({"a": [0], "b": [1], "p": [0.9]}, "a", "b", probability="p"))
    1.0
    """
    if p._origin is not None and p._origin.kind == "probability":
        return 1.0
    size = np.abs(source_of(p)._listed()[2])
    size = size[np.isfinite(size) & (size > 0)]
    return float(np.median(size)) / TYPICAL if len(size) else 1.0


def errs_together(p: SetPartition) -> bool:
    """Whether the evidence of pairs that share elements is not independent, as that of records that are matched."""
    return p._origin is not None and p._origin.shared

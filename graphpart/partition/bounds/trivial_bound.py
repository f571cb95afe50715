"""The trivial lower bound: no partition costs less than the sum of all negative costs."""

from __future__ import annotations

import numpy as np

from graphpart.partition.certificates.certificate import common_step, proven_bound, tiles
from graphpart.partition.certificates.inequalities import Inequalities
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import SetPartition

__all__ = ["lowered", "trivial_bound"]


def trivial_bound(p: SetPartition) -> float:
    """The sum of all negative costs, and of the costs of required joins of any sign: a lower bound. O(m)

    It is rounded towards minus infinity. With a background, it is the sum of the negative costs of listed pairs and of
    the negative terms of all other pairs, which is 0 if the background repels.
    """
    if p.background is not None:
        return proven_bound(p, Inequalities.none(), np.zeros(0))
    if len(p.must_join):
        contraction = Contraction(p)
        return lowered(p, contraction.constant + trivial_bound(contraction.problem))
    return lowered(p, -_attraction(p))


def lowered(p: SetPartition, bound: float) -> float:
    """A bound that is a sum of costs, less the largest possible error of rounding; unchanged if sums are exact.

    For each cost, 2**-46 of it covers the errors of sums of NumPy, of some hundred roundings, and of contracted pairs.
    For a cost above all attraction, only the attraction counts, since no more is ever paid.
    """
    assert p.background is None, "expected a problem whose pairs are all listed"
    if not np.isfinite(bound) or common_step(p):
        return bound
    most = _attraction(p)
    total = 0.0
    for tile in tiles(p):
        total += float(np.minimum(np.abs(tile), most).sum())
    return bound - 2.0**-46 * total


def _attraction(p: SetPartition) -> float:
    """The sum of all attraction, as NumPy adds."""
    total = sum(float(np.minimum(tile, 0.0).sum()) for tile in tiles(p))
    return -total / 2 if p.matrix is not None else -total

"""The lower bound that needs no search: no partition costs less than the sum of all negative costs."""

from __future__ import annotations

import numpy as np

from graphpart.common.steps import sum_down
from graphpart.partition.certificates.certificate import common_step, proven_bound
from graphpart.partition.certificates.inequalities import Inequalities
from graphpart.partition.problem import SetPartition

__all__ = ["lowered", "trivial_bound"]

FEW = 2**17  # numbers that are added without any rounding; 10 ms


def trivial_bound(p: SetPartition) -> float:
    """The sum of all negative costs, where those of required joins count whatever their sign: a lower bound. O(m)

    Rounded towards minus infinity. With a background: the sum of negative costs of listed pairs, and of the negative
    terms of all others, which is 0 where it repels.
    """
    if p.background is not None:
        return proven_bound(p, Inequalities.none(), np.zeros(0))
    if len(p.must_join):
        blocks = p.blocks()
        return lowered(p, p.evaluate_labels(blocks) + trivial_bound(p.contract(blocks)))
    if p.m <= FEW:
        cost = p.pairs()[2]
        return sum_down(cost[cost < 0].tolist())
    return lowered(p, -_attraction(p))


def lowered(p: SetPartition, bound: float) -> float:
    """A bound that is a sum of sums of costs, less all that their roundings may have added; itself if they are exact.

    For each cost, 2**-46 of it covers sums of NumPy, of some hundred roundings, and those of
    contracted pairs; of a cost above all that attracts, no more than that is ever paid.
    """
    assert p.background is None, "expected a problem whose pairs are all listed"
    if not np.isfinite(bound) or common_step(p):
        return bound
    most = _attraction(p)
    blocks = (p.matrix[a : a + 256] for a in range(0, p.n, 256)) if p.matrix is not None else iter([p.cost])
    total = sum(float(np.minimum(np.abs(block), most).sum()) for block in blocks)
    return bound - 2.0**-46 * total


def _attraction(p: SetPartition) -> float:
    """The sum of what attracts, as NumPy adds."""
    if p.matrix is None:
        assert p.cost is not None
        return -float(np.minimum(p.cost, 0.0).sum())
    return -sum(float(np.minimum(p.matrix[a : a + 256], 0.0).sum()) for a in range(0, p.n, 256)) / 2

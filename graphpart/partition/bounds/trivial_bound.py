"""The lower bound that needs no search: no partition costs less than the sum of all negative costs."""

from __future__ import annotations

import numpy as np

from graphpart.partition.problem import SetPartition

__all__ = ["trivial_bound"]


def trivial_bound(p: SetPartition) -> float:
    """The sum of all negative costs, where those of required joins count whatever their sign: a lower bound. O(m)

    ``-inf`` with a background that attracts some pairs.
    """
    if len(p.must_join):
        blocks = p.blocks()
        return p.evaluate_labels(blocks) + trivial_bound(p.contract(blocks))
    if p.background is not None:
        if not p.background.repels:
            return -np.inf
        assert p.u is not None and p.v is not None and p.cost is not None
        lowest = np.minimum(p.cost + p.background.of_pairs(p.u, p.v), 0.0).sum()
        # What is listed, and the background, may each be rounded in the last place before they nearly cancel.
        slack = 2.0**-50 * (np.abs(p.cost[np.isfinite(p.cost)]).sum() - lowest)
        return float(lowest - slack)
    if p.matrix is None:
        assert p.cost is not None
        return float(np.minimum(p.cost, 0.0).sum())
    return sum(float(np.minimum(p.matrix[a : a + 256], 0.0).sum()) for a in range(0, p.n, 256)) / 2

"""The lower bound that needs no search: no partition costs less than the sum of all negative costs."""

from __future__ import annotations

import numpy as np

from graphpart.partition.certificates.certificate import proven_bound
from graphpart.partition.certificates.inequalities import Inequalities
from graphpart.partition.problem import SetPartition

__all__ = ["trivial_bound"]


def trivial_bound(p: SetPartition) -> float:
    """The sum of all negative costs, where those of required joins count whatever their sign: a lower bound. O(m)

    With a background: the sum of negative costs of listed pairs, and of the negative terms of all others, which is 0
    where it repels.
    """
    if p.background is not None:
        return proven_bound(p, Inequalities.none(), np.zeros(0))
    if len(p.must_join):
        blocks = p.blocks()
        return p.evaluate_labels(blocks) + trivial_bound(p.contract(blocks))
    if p.matrix is None:
        assert p.cost is not None
        return float(np.minimum(p.cost, 0.0).sum())
    return sum(float(np.minimum(p.matrix[a : a + 256], 0.0).sum()) for a in range(0, p.n, 256)) / 2

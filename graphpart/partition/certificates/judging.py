"""The judge of the proofs of one set partition problem: see `graphpart.common.judge`."""

from __future__ import annotations

import numpy as np

from graphpart.common.judge import TOLERANCE, Judge, judge_of
from graphpart.common.steps import decimal_step
from graphpart.partition.certificates.certificate import common_step, finite_costs, proven_bound
from graphpart.partition.certificates.inequalities import Inequalities
from graphpart.partition.problem import SetPartition

__all__ = ["judge_of_partition"]


def judge_of_partition(p: SetPartition) -> Judge:
    """The judge for partitions of a problem: by a common step, by a decimal step, or up to rounding. O(m)

    The tolerance is a share of the sum of all attraction, since no partition that is worth it pays more. An attraction
    above all other costs of one of its elements counts as these: it decides nothing, so it must not hide a gap.
    """
    step = common_step(p)
    if step:
        return Judge(step=step)
    if p.background is not None:
        return Judge(max(p.n * p._tolerance, TOLERANCE * abs(proven_bound(p, Inequalities.none(), np.zeros(0)))))
    u, v, cost = p.pairs()
    size = np.where(np.isfinite(cost), np.abs(cost), 0.0)
    sums = np.bincount(u, size, p.n) + np.bincount(v, size, p.n)
    attracts = cost < 0
    u, v, size = u[attracts], v[attracts], size[attracts]
    scale = float(np.maximum(np.minimum(size, np.minimum(sums[u], sums[v]) - size), 0.0).sum())
    costs = finite_costs(p)
    assert costs is not None  # without a background
    return judge_of(*decimal_step(costs), max(p.n * p._tolerance, TOLERANCE * scale))

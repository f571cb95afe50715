"""The judge of the proofs of one set partition problem: see `graphpart.common.judge`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.judge import TOLERANCE, Judge, judge_of
from graphpart.common.steps import decimal_step
from graphpart.partition.certificates.certificate import Floats, common_step, finite_costs, proven_bound, tiles
from graphpart.partition.certificates.inequalities import Inequalities
from graphpart.partition.problem import SetPartition

__all__ = ["judge_of_partition"]


def judge_of_partition(p: SetPartition) -> Judge:
    """The judge for partitions of a problem: by a common step, by a decimal step, or up to rounding. O(m)

    The tolerance is a share of the sum of all attraction, since no partition that is worth it pays more. An attraction
    above all other costs of one of its elements counts as these: it decides nothing, so it must not hide a gap. The
    tolerance is at least the error of rounding of a bound, unless there are costs that are nearly as small.
    """
    step = common_step(p)
    if step:
        return Judge(step=step)
    if p.background is not None:
        return Judge(max(p.n * p._tolerance, TOLERANCE * abs(proven_bound(p, Inequalities.none(), np.zeros(0)))))
    if p.matrix is None:
        u, v, cost = p.pairs()
        size = np.where(np.isfinite(cost), np.abs(cost), 0.0)
        sums: NDArray[Any] = np.bincount(u, size, p.n) + np.bincount(v, size, p.n)
        scale, least = _deciding(cost, sums[u], sums[v]), _least(size)
    else:  # without a list of its pairs, which takes several times as long
        parts: list[Floats] = []
        least = math.inf
        for rows in tiles(p):
            sizes = np.where(np.isfinite(rows), np.abs(rows), 0.0)
            parts.append(sizes.sum(axis=1))
            least = min(least, _least(sizes))
        sums = np.concatenate([np.zeros(0), *parts])
        scale = math.fsum(_deciding(rows, own[:, None], sums) for rows, own in zip(tiles(p), parts, strict=True)) / 2
    costs = finite_costs(p)
    assert costs is not None  # without a background
    rounding = min(2.0**-46 * float(sums.sum()), 2.0**-20 * least)
    return judge_of(*decimal_step(costs), max(p.n * p._tolerance, TOLERANCE * scale, rounding))


def _least(sizes: Floats) -> float:
    """The least of some absolute costs, other than 0."""
    return float(sizes.min(initial=math.inf, where=sizes > 0))


def _deciding(cost: Floats, of_u: NDArray[Any], of_v: NDArray[Any]) -> float:
    """The sum of the attraction of pairs; of each at most all other absolute costs of one of its elements."""
    return float(np.clip(np.minimum(of_u, of_v) + cost, 0.0, np.maximum(-cost, 0.0)).sum())

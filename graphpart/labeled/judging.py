"""The judge of the proofs of one labelled partition: see `graphpart.common.judge`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.common.judge import TOLERANCE, Judge, judge_of
from graphpart.common.steps import decimal_step, step_of
from graphpart.labeled.labeled_partition import LabeledPartition

__all__ = ["judge_of_solution", "step_of_costs"]


def judge_of_solution(q: LabeledPartition, labels: NDArray[np.int32], classes: NDArray[np.int32]) -> Judge:
    """The judge of a solution: by a common step of all costs, by a decimal step, or up to rounding. O(n L + m L^2)

    The tolerance is a share of the sum of the absolute costs that the solution pays.
    """
    if step := step_of_costs(q):
        return Judge(step=step)
    paid = np.concatenate([q.label_costs[np.arange(q.n), classes], q._pair_costs(labels, classes)])
    return judge_of(*decimal_step(_finite_costs(q)), TOLERANCE * float(np.abs(paid[np.isfinite(paid)]).sum()))


def step_of_costs(q: LabeledPartition) -> float:
    """A number of which the costs of all solutions are multiples; 0 if there is none."""
    costs = _finite_costs(q)
    return step_of(costs, float(np.abs(costs).sum()))


def _finite_costs(q: LabeledPartition) -> NDArray[np.float64]:
    return np.concatenate([x[np.isfinite(x)] for x in (q.label_costs, q.joined, q.parted)])

"""The skeleton of a local search: from labels, by a kernel, to labels that are not worse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

__all__ = ["improved"]

Labels = NDArray[np.int32]


def improved(
    labels: Labels, evaluate: Callable[[Labels], float], kernel: Callable[[Labels, float], Labels], stopping: Stopping
) -> tuple[Labels, float]:
    """The labels that a kernel reaches, and their cost; the given labels if rounding made the cost larger.

    Parameters
    ----------
    labels : ndarray of int32, shape (n,)
        Not changed. Their cost is recorded.
    evaluate : callable
        The cost of labels, computed from the problem.
    kernel : callable
        Gets a copy of the labels and their cost, and returns better ones, the same array or another.
        It polls `stopping`.
    stopping : Stopping
    """
    cost = evaluate(labels)
    if cost < np.inf:  # otherwise the kernel must first make it feasible
        stopping.record(cost)
    if stopping.check(cost):
        return labels, cost
    reached = kernel(labels.copy(), cost)
    reached_cost = evaluate(reached)
    return (reached, reached_cost) if reached_cost <= cost else (labels, cost)

"""Functions that writers of set partition problems share: the pairs of a problem, and checks of required joins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem
from graphpart.partition.problem import SetPartition

__all__ = ["joins_without_cost", "lifted_pairs", "stored_pairs", "sum_of_finite"]


def sum_of_finite(weights: NDArray[np.float64]) -> float:
    """The sum of all finite weights; InvalidProblem if it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(weights.sum(where=np.isfinite(weights)))
    if not np.isfinite(total):
        raise InvalidProblem("the sum of weights overflows: expected weights of a smaller magnitude")
    return total


def stored_pairs(problem: SetPartition) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """The pairs of a problem; a pair that must be joined also appears with the cost -inf.

    A matrix gives its non-zero entries.
    """
    u, v, cost = problem.pairs()
    if problem.is_dense:
        kept = np.flatnonzero(cost)
        u, v, cost = u[kept], v[kept], cost[kept]
    joins = problem.must_join
    if len(joins):
        u, v = np.concatenate([u, joins[:, 0]]), np.concatenate([v, joins[:, 1]])
        cost = np.concatenate([cost, np.full(len(joins), -np.inf)])
    return u, v, cost


def lifted_pairs(problem: SetPartition) -> NDArray[np.bool_]:
    """Which of the `stored_pairs` of a problem are lifted, if any; required joins with the cost -inf do not connect."""
    if problem.lifted is None:
        return np.zeros(len(stored_pairs(problem)[0]), bool)
    return np.concatenate([problem.lifted, np.ones(len(problem.must_join), bool)])


def joins_without_cost(problem: SetPartition, format: str) -> None:
    """Raise InvalidProblem if a pair that must be joined has a cost besides, for formats with one number per pair."""
    joins = problem.must_join
    if not len(joins):
        return
    for a, b in joins.tolist():
        cost = cost_of(problem, a, b)
        if cost:
            raise InvalidProblem(
                f"format {format} holds one number for each pair, but {problem.nodes[a]!r} and {problem.nodes[b]!r} "
                f"must be joined and cost {cost!r} besides: expected one of csv, json, multicut, npz"
            )


def cost_of(problem: SetPartition, a: int, b: int) -> float:
    """The cost of the pair a < b; 0 if it is not stored. O(log m)."""
    if problem.matrix is not None:
        return float(problem.matrix[a, b])
    assert problem.u is not None and problem.v is not None and problem.cost is not None
    low, high = np.searchsorted(problem.u, [a, a + 1])
    at = low + int(np.searchsorted(problem.v[low:high], b))
    return float(problem.cost[at]) if at < high and problem.v[at] == b else 0.0

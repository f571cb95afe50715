"""What the commands need to know about each kind of problem, in one place."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from graphpart.result import Result

__all__ = ["describe", "evaluate", "record", "size"]


def size(problem: Any) -> tuple[int, int]:
    """The numbers of elements and of stored pairs."""
    return problem.n, problem.m


def record(file: str, result: Result) -> dict[str, Any]:
    """What ``--json`` prints of a result."""
    return {
        "file": file,
        "n": len(result.labels),
        "method": result.method,
        "cost": result.cost,
        "objective": result.objective,
        "lower_bound": result.lower_bound,
        "gap": result.gap,
        "status": str(result.status),
        "subsets": getattr(result, "subsets", None),
        "seconds": result.seconds,
        "message": result.message,
    }


def evaluate(file: str, problem: Any, labels: Any) -> dict[str, Any]:
    """The same for given labels; InvalidPartition if they do not fit the problem or violate a requirement."""
    started = time.perf_counter()
    labels = problem.labels(labels)
    problem.check_feasible(labels)
    cost = problem.evaluate(labels)
    return {
        "file": file,
        "n": problem.n,
        "method": None,
        "cost": cost,
        "objective": problem.objective(cost),
        "lower_bound": None,
        "gap": None,
        "status": "feasible",
        "subsets": int(labels.max()) + 1 if len(labels) else 0,
        "seconds": time.perf_counter() - started,
        "message": "the labels satisfy all requirements",
    }


def describe(problem: Any) -> dict[str, Any]:
    """What `info` prints, by name. O(n^2) for a matrix, O(n + m) for pairs."""
    n, times = problem.n, 1
    if problem.is_dense:  # looked at as it is: twice each pair, and a diagonal of zeros, which counts nowhere
        costs, times = problem.matrix, 2
        finite = problem.matrix[~np.eye(n, dtype=bool) & np.isfinite(problem.matrix)]
    else:
        costs = problem.cost
        finite = costs[np.isfinite(costs)]
    possible = n * (n - 1) // 2
    sizes = np.bincount(problem.components()) if n else np.zeros(0, np.int64)
    return {
        "n": n,
        "pairs": problem.m,
        "density": np.count_nonzero(costs) / times / possible if possible else None,
        "storage": "matrix" if problem.is_dense else "pairs",
        "lowest_cost": float(finite.min()) if len(finite) else None,
        "highest_cost": float(finite.max()) if len(finite) else None,
        "attractive": int(np.count_nonzero(finite < 0)) // times,
        "repulsive": int(np.count_nonzero(finite > 0)) // times,
        "must_join": len(problem.must_join),
        "must_cut": int(np.count_nonzero(np.isinf(costs))) // times,
        "components": len(sizes),
        "largest_component": int(sizes.max(initial=0)),
    }

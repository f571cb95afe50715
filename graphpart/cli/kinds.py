"""The differences between the kinds of problems, for all commands."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphpart.errors import InvalidOption
from graphpart.solve import problem_kind

__all__ = ["CALLED", "columns", "describe", "evaluate", "is_factor_graph", "is_labeled", "rounding", "size"]

CALLED = {"elements": "variables", "pairs": "factors"}  # in factor graphs


def is_factor_graph(problem: Any) -> bool:
    """Whether a problem is a factor graph; if not, it is a set partition problem."""
    return problem_kind(problem) == "crf"


def is_labeled(problem: Any) -> bool:
    """Whether a problem is a labelled partition, with clusters and classes."""
    return problem_kind(problem) == "labeled"


def size(problem: Any) -> dict[str, int]:
    """The numbers of elements and of stored pairs, or of variables and of factors, by the names of columns."""
    names = CALLED.values() if is_factor_graph(problem) else CALLED
    return dict(zip(names, (problem.n, problem.m), strict=True))


def columns(problem: Any, names: Sequence[str]) -> list[str]:
    """The columns of a table, named as for set partition problems, for this kind of problem."""
    if not is_factor_graph(problem):
        return list(names)
    return [CALLED.get(name, name) for name in names if name != "clusters"]


def evaluate(file: str, problem: Any, labels: Any) -> dict[str, Any]:
    """The record of given labels; InvalidPartition if they do not fit, or a requirement or factor forbids them."""
    if is_labeled(problem):
        raise InvalidOption(
            f"{file} is a labelled partition: expected a set partition problem or a factor graph; in Python, "
            "q.evaluate(labels, classes) has the cost"
        )
    started = time.perf_counter()
    labels = problem.labels(labels)
    if is_factor_graph(problem):
        from graphpart.crf.problem.labeling import check_allowed

        check_allowed(problem, labels)
        clusters = None
    else:
        problem._check_feasible(labels)
        clusters = int(labels.max()) + 1 if len(labels) else 0
    cost = problem.evaluate(labels)
    return {
        "file": file,
        "n": problem.n,
        "method": None,
        "cost": cost,
        "objective": problem.objective(cost),
        "objective_bound": None,
        "lower_bound": None,
        "gap": None,
        "status": "feasible",
        "clusters": clusters,
        "subsets": clusters,  # the name in version 0.2
        "seconds": time.perf_counter() - started,
        "message": "the labels satisfy all requirements" if clusters is not None else "no factor forbids the labeling",
    }


def rounding(problem: Any) -> float:
    """The largest amount by which the recomputed cost of labels may be below the exact one."""
    if not is_factor_graph(problem):
        return float(problem.n * problem._tolerance)
    finite = problem.tables[np.isfinite(problem.tables)] if problem.has_forbidden else problem.tables
    return float(2.0**-50 * (abs(problem.constant) + np.abs(finite).sum()))


def describe(problem: Any) -> dict[str, Any]:
    """The facts that `info` prints, by name, in one pass over the costs."""
    if is_labeled(problem):
        return describe_labeled(problem)
    return describe_factor_graph(problem) if is_factor_graph(problem) else describe_partition(problem)


def describe_labeled(q: Any) -> dict[str, Any]:
    """Elements, classes, pairs, costs, components. O(n L + m L^2)"""
    from graphpart.kernels._pairs import connected_components

    costs = np.concatenate([q.label_costs.ravel(), q.joined.ravel(), q.parted.ravel()])
    finite = costs[np.isfinite(costs)]
    sizes = np.bincount(connected_components(q.n, q.u, q.v))
    return {
        "n": q.n,
        "classes": q.n_classes,
        "pairs": q.m,
        "forbidden": len(costs) - len(finite),
        "lowest_cost": float(finite.min()) if len(finite) else None,
        "highest_cost": float(finite.max()) if len(finite) else None,
        "components": len(sizes),
        "largest_component": int(sizes.max(initial=0)),
    }


def describe_factor_graph(f: Any) -> dict[str, Any]:
    """Variables, factors by arity, domains, tables, cycles, components."""
    finite = f.tables[np.isfinite(f.tables)] if f.has_forbidden else f.tables
    arities, counts = np.unique(np.diff(f.scope_start), return_counts=True)
    sizes = np.bincount(f.components()) if f.n else np.zeros(0, np.int64)
    return {
        "n": f.n,
        "factors": f.m,
        "arities": {str(k): count for k, count in zip(arities.tolist(), counts.tolist(), strict=True)},
        "largest_domain": int(f.domains.max(initial=0)),
        "table_entries": len(f.tables),
        "forbidden": len(f.tables) - len(finite),
        "lowest_cost": float(finite.min()) if len(finite) else None,
        "highest_cost": float(finite.max()) if len(finite) else None,
        "constant": f.constant,
        "acyclic": f.is_acyclic,
        "components": len(sizes),
        "largest_component": int(sizes.max(initial=0)),
    }


def describe_partition(problem: Any) -> dict[str, Any]:
    """Pairs, their costs, requirements, components. O(n^2) for a matrix, O(n + m) for pairs."""
    n, times = problem.n, 1
    if problem.is_dense:  # the matrix has each pair twice, and a diagonal of zeros, which counts nowhere
        costs, times = problem.matrix, 2
        finite = problem.matrix[~np.eye(n, dtype=bool) & np.isfinite(problem.matrix)]
    else:
        costs = problem.cost
        if problem.background is not None:  # of the pairs that are listed
            costs = problem._listed()[2]
        finite = costs[np.isfinite(costs)]
    possible = n * (n - 1) // 2
    sizes = np.bincount(problem._components()) if n else np.zeros(0, np.int64)
    return {
        "n": n,
        "pairs": problem.m,
        "density": np.count_nonzero(costs) / times / possible if possible else None,
        "storage": "matrix" if problem.is_dense else "pairs",
        **({} if problem.background is None else {"background": repr(problem.background)}),
        **({} if problem.groups is None or not problem.is_dense else {"groups": repr(problem.groups)}),
        **({} if problem._limits is None else {"limits": str(problem._limits)}),
        **({} if problem.lifted is None else {"lifted": int(problem.lifted.sum()), "connected": True}),
        "lowest_cost": float(finite.min()) if len(finite) else None,
        "highest_cost": float(finite.max()) if len(finite) else None,
        "attractive": int(np.count_nonzero(finite < 0)) // times,
        "repulsive": int(np.count_nonzero(finite > 0)) // times,
        "must_join": len(problem.must_join),
        "must_cut": int(np.count_nonzero(np.isinf(costs))) // times,
        "components": len(sizes),
        "largest_component": int(sizes.max(initial=0)),
    }

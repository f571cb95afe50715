"""The front door: `solve(problem)`, over the one table of methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphpart.errors import InvalidOption
from graphpart.methods import find_method
from graphpart.result import Result

__all__ = ["solve"]


def solve(
    problem: Any,
    method: str = "auto",
    *,
    time_limit: float | None = None,
    initial: Any = None,
    seed: int | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
    **options: Any,
) -> Result:
    """Solve a problem by the method of this name (see `graphpart.methods.METHODS`), or by what fits it best."""
    kind = problem_kind(problem)
    chosen = find_method(method, kind)
    given = {"initial": initial, "seed": seed, "max_iterations": max_iterations, "target": target}
    for name, value in given.items():
        if value is not None:
            if name not in chosen.options:
                raise InvalidOption(f"method {method} takes no {name}")
            options[name] = value
    result: Result = chosen.function(problem, time_limit=time_limit, callback=callback, **options)
    return result


def problem_kind(problem: Any) -> str:
    """ "partition" or "crf"."""
    return "partition"

"""Performance profiles (Dolan and Moré 2002): for each method, the share of instances that it solves within a factor.

The time of a method on an instance is the time until its cost is within a tolerance of the best cost. The best cost is
the best known value, or a better one that a method found. The ratio of a method is its time divided by that of the
fastest method; a method that does not reach the best cost has the ratio infinity. A profile starts at the share of
instances on which the method is the fastest, and ends at the share on which it reaches the best cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from graphpart.common.steps import ROUNDING

__all__ = ["best_costs", "gaps", "profile", "ratios", "times_to"]

Run = Mapping[str, Any]


def best_costs(runs: Sequence[Run]) -> dict[str, float]:
    """The best cost known of each instance, found by a run or before."""
    best: dict[str, float] = {}
    for run in runs:
        known = run.get("best known")
        costs = [run["cost"], math.inf if known is None else known, best.get(run["instance"], math.inf)]
        best[run["instance"]] = min(costs)
    return best


def times_to(runs: Sequence[Run], tolerance: float) -> dict[str, dict[str, float]]:
    """For each method and instance the seconds until its cost was within a relative tolerance of the best one.

    Parameters
    ----------
    runs : sequence of mappings
        ``instance``, ``method``, ``cost``, ``seconds``, and where known ``best known`` and ``history``.
    tolerance : float
        0 for the best cost itself.
    """
    best = best_costs(runs)
    times: dict[str, dict[str, float]] = {}
    for run in runs:
        least = best[run["instance"]]
        if math.isinf(least):
            times.setdefault(run["method"], {})[run["instance"]] = math.inf
            continue
        wanted = least + max(tolerance, ROUNDING) * abs(least)
        seconds = math.inf
        if run["cost"] <= wanted:
            seconds = next((float(s) for s, cost in run.get("history") or () if cost <= wanted), run["seconds"])
            seconds = max(min(seconds, run["seconds"]), 1e-3)  # shorter times are noise
        times.setdefault(run["method"], {})[run["instance"]] = seconds
    return times


def ratios(times: Mapping[str, Mapping[str, float]]) -> dict[str, list[float]]:
    """For each method its ratios to the fastest one, ascending; inf where it did not get there or did not run.

    Examples
    --------
    >>> ratios({"a": {"x": 1.0, "y": 6.0}, "b": {"x": 2.0, "y": 3.0}})
    {'a': [1.0, 2.0], 'b': [1.0, 2.0]}
    """
    instances = list(dict.fromkeys(name for of_method in times.values() for name in of_method))
    fastest = {name: min(of_method.get(name, math.inf) for of_method in times.values()) for name in instances}
    return {
        method: sorted(
            seconds / fastest[name] if (seconds := of_method.get(name, math.inf)) < math.inf else math.inf
            for name in instances
        )
        for method, of_method in times.items()
    }


def profile(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """The steps of the share of values that are at most x: (x, share), one step for each finite value.

    Examples
    --------
    >>> profile([1.0, 1.0, 2.0, math.inf])
    ([1.0, 2.0], [0.5, 0.75])
    """
    x: list[float] = []
    share: list[float] = []
    for count, value in enumerate(values, 1):
        if not math.isfinite(value):
            break
        if x and x[-1] == value:
            share[-1] = count / len(values)
        else:
            x.append(value)
            share.append(count / len(values))
    return x, share


def gaps(runs: Sequence[Run]) -> dict[str, list[float]]:
    """For each method the relative differences of its costs to the best ones, ascending; inf where it did not run."""
    best = best_costs(runs)
    found: dict[str, dict[str, float]] = {}
    for run in runs:
        least = best[run["instance"]]
        difference = run["cost"] - least if math.isfinite(least) else math.inf
        if difference <= ROUNDING * abs(least):
            difference = 0.0
        relative = difference / abs(least) if least and difference else math.inf if difference else 0.0
        found.setdefault(run["method"], {})[run["instance"]] = relative
    return {method: sorted(mine.get(name, math.inf) for name in best) for method, mine in found.items()}

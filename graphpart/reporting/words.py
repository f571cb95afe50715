"""Sentences about how good a result is, which claim no more than is proven.

"At most 0.4% above the best possible" compares the cost with the best possible cost, which is unknown, but lies between
the lower bound and the cost. The percentage is the largest ratio over this range, rounded upwards. The `gap` of a
result, in contrast, is relative to its own cost.
"""

from __future__ import annotations

import math

from graphpart.display import number, percent, plural
from graphpart.result import Result, Status

__all__ = ["above_best", "facts_of", "verdict"]

ENDED = {
    Status.OPTIMAL: "it was proven optimal",
    Status.LOCAL_OPTIMUM: "no change that the method knows lowers the cost",
    Status.FEASIBLE: "the method came to its end",
    Status.NOT_FOUND: "the method came to its end without an allowed solution",
    Status.TIME_LIMIT: "the time was over",
    Status.ITERATION_LIMIT: "the number of iterations was reached",
    Status.TARGET: "the cost asked for was reached",
    Status.INTERRUPTED: "it was interrupted",
}


def verdict(result: Result, solutions: str) -> tuple[str, str]:
    """A headline and a sentence or two.

    Parameters
    ----------
    result : Result
    solutions : str
        The word for a solution: "partition" or "labeling".
    """
    cost, bound = number(result.cost), number(result.lower_bound)
    if result.cost == math.inf:
        head = f"No allowed {solutions} was found"
        if result.lower_bound == math.inf:
            return f"There is no allowed {solutions}", "All of them are forbidden: this is proven."
        return head, f"What follows shows the {solutions} that the method ended with; a factor forbids it."
    if result.status is Status.OPTIMAL or result.cost <= result.lower_bound:
        return "Optimal", f"It costs {cost}. No {solutions} costs less: this is proven."
    if not math.isfinite(result.lower_bound):
        return (
            "How good this is has not been proven",
            f"It costs {cost}. Method {result.method} gave no lower bound; the method auto, or the option "
            "--certificate of graphpart solve, looks for one.",
        )
    sentence = f"It costs {cost}. No {solutions} costs less than {bound}: this is proven."
    return f"At most {above_best(result)} above the best possible", sentence


def above_best(result: Result) -> str:
    """The largest possible difference between a cost and the best one; relative to the latter if both have one sign.

    The best cost is between bound and cost, and ``(cost - best) / |best|`` is largest at the bound.
    """
    difference = result.cost - result.lower_bound
    if result.lower_bound <= 0 <= result.cost:  # the best possible may be 0
        return number(float(f"{_upwards(difference):.3g}"))
    return percent(_upwards(100 * difference / abs(result.lower_bound)) / 100)


def _upwards(value: float) -> float:
    """Two digits, rounded upwards.

    Examples
    --------
    >>> _upwards(0.3501), _upwards(12.0), _upwards(0.0)
    (0.36, 12.0, 0.0)
    """
    if value <= 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return max(math.ceil(value / unit * (1 - 1e-12)) * unit, value * (1 - 1e-12))


def facts_of(result: Result, counts: dict[str, int]) -> list[tuple[str, str]]:
    """(name, value) of what else there is to know, as text."""
    facts = [(name, number(count)) for name, count in counts.items()]
    facts.append(("cost", number(result.cost)))
    if result.objective != result.cost:
        facts.append(("in the convention of the file", number(result.objective)))
    if math.isfinite(result.lower_bound):
        facts.append(("lower bound", number(result.lower_bound)))
        facts.append(("gap, relative to the cost", percent(result.gap)))
    facts.append(("method", result.method))
    facts.append(("ended because", ENDED[result.status]))
    facts.append(("iterations", number(result.iterations)))
    facts.append(("time", plural_seconds(result.seconds)))
    if result.message:
        facts.append(("message", result.message))
    return facts


def plural_seconds(seconds: float) -> str:
    """A duration for people.

    Examples
    --------
    >>> plural_seconds(0.01234), plural_seconds(150.0)
    ('0.0123 seconds', '2 minutes 30 seconds')
    """
    if seconds < 100:
        return f"{seconds:.3g} seconds"
    minutes, rest = divmod(round(seconds), 60)
    return f"{plural(minutes, 'minute')} {plural(rest, 'second')}"

"""Sentences about how good a result is, which claim no more than is proven.

The headline, the facts and the message of a result have one number: the gap, relative to the cost, in three digits.
"""

from __future__ import annotations

import math

from graphpart.display import number, plural
from graphpart.result import Result, Status

__all__ = ["facts_of", "gap_of", "verdict"]

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
    return f"Not proven optimal: {gap_of(result)}", sentence


def gap_of(result: Result) -> str:
    """The gap in words; a difference of costs if the cost is 0."""
    if math.isfinite(result.gap):
        return f"the gap is {result._gap()}"
    return f"the bound is {number(float(f'{result.cost - result.lower_bound:.3g}'))} below"


def facts_of(result: Result, counts: dict[str, int]) -> list[tuple[str, str]]:
    """(name, value) of further facts, as text."""
    facts = [(name, number(count)) for name, count in counts.items()]
    facts.append(("cost", number(result.cost)))
    if result.objective != result.cost:
        facts.append(("in the convention of the file", number(result.objective)))
    if math.isfinite(result.lower_bound):
        facts.append(("lower bound", number(result.lower_bound)))
        if result.objective != result.cost:
            facts.append(("bound in the convention of the file", number(result.objective_bound)))
        facts.append(("gap, relative to the cost", result._gap()))
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

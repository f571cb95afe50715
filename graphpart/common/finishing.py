"""From labels to a Result: the message of each status, and the fields that all results have."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from graphpart.result import Result, Status
from graphpart.stopping import Stopping

__all__ = ["MESSAGES", "Ending", "result_of"]

MESSAGES = {
    Status.OPTIMAL: "proven optimal",
    Status.LOCAL_OPTIMUM: "no further transformation lowers the cost",
    Status.FEASIBLE: "ended",
    Status.NOT_FOUND: "ended",
    Status.TIME_LIMIT: "stopped at the time limit",
    Status.ITERATION_LIMIT: "stopped at the iteration limit",
    Status.TARGET: "stopped at the target cost",
    Status.INTERRUPTED: "interrupted",
}


class Problem(Protocol):
    """The attributes of a problem that a result uses."""

    @property
    def nodes(self) -> Sequence[Hashable]: ...

    def objective(self, cost: float) -> float: ...


Kind = TypeVar("Kind", bound=Result)


class Ending(TypedDict, total=False):
    """The report of a method about its run: the message, a bound, and further facts for `Result.info`."""

    message: str | None
    lower_bound: float
    info: dict[str, Any]


def result_of(
    kind: type[Kind],
    problem: Problem,
    labels: NDArray[np.int32],
    cost: float,
    stopping: Stopping,
    method: str,
    status: Status,
    **ending: Unpack[Ending],
) -> Kind:
    """A result of a kind, for labels whose cost was recomputed; the labels are frozen.

    A lower bound above the cost, which can only be due to rounding, is replaced by the cost. The history of the result
    ends with the cost, and its bounds end with the lower bound.
    """
    labels.flags.writeable = False
    lower_bound = min(ending.get("lower_bound", -np.inf), cost)
    stopping.record(cost)
    stopping.raise_bound(lower_bound)
    history, bounds = stopping.ended(cost, lower_bound)
    return kind(
        labels=labels,
        cost=cost,
        objective=problem.objective(cost),
        lower_bound=lower_bound,
        status=status,
        message=ending.get("message") or MESSAGES[status],
        iterations=stopping.iterations,
        seconds=stopping.seconds,
        method=method,
        nodes=problem.nodes,
        history=history,
        bounds=bounds,
        info=ending.get("info", {}),
        problem=problem,
        sense=getattr(problem, "sense", 1),
    )

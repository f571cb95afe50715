"""The method that solves the problem that is left to decide."""

from __future__ import annotations

import math
from typing import Any

from graphpart.methods import find_method
from graphpart.partition.local_search.greedy_joining import join
from graphpart.partition.local_search.greedy_moving import move
from graphpart.partition.local_search.improve import fixed_point
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.results.finish import finish
from graphpart.result import Result, Status
from graphpart.stopping import Stopping

__all__ = ["Solver"]

LARGEST_AUTO = 100_000  # with more pairs, only greedy joining and moving are used


class Solver:
    """Runs the method on the problems of an extension, within the time that is left."""

    def __init__(self, method: str, seed: int | None, options: dict[str, Any], stopping: Stopping) -> None:
        self.method, self.seed, self.options, self.stopping = find_method(method, "partition"), seed, options, stopping
        self.method.check(options)
        self.plain = self.method.name == "auto" and not options
        self.runs = 0

    def run(self, q: SetPartition, start: Labels | None) -> Result:
        """A result that is not worse than the start, if there is one."""
        if self.plain and q.m > LARGEST_AUTO and start is not None:
            return self._in_turn(q, start)
        self.runs += 1
        part = self.stopping.child(plus=math.inf)  # the cost of the rest is unknown until it is placed
        r = self.method.run(
            q,
            time_limit=part.remaining,
            initial=start if "initial" in self.method.options else None,
            seed=self.seed,
            callback=lambda _, cost: part.check(cost),
            **self.options,
        )
        if r.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
            self.stopping.stop(r.status)
        return r

    def _in_turn(self, q: SetPartition, start: Labels) -> Result:
        """Greedy joining and greedy moving in turn, until neither lowers the cost."""
        part, cost = self.stopping.child(plus=math.inf), math.inf
        while True:
            for kernel in (join, move):
                self.runs += 1
                start = fixed_point(q, start, kernel, part)
                before, cost = cost, q._evaluate_labels(start)
                if part.reason is not None or not cost < before:
                    return finish(q, start, part, "auto", Status.LOCAL_OPTIMUM)

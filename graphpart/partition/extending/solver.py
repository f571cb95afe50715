"""The method that solves the problem that is left to decide."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphpart.methods import find_method
from graphpart.partition.local_search.greedy_joining import greedy_joining
from graphpart.partition.local_search.greedy_moving import greedy_moving
from graphpart.partition.problem import Labels, SetPartition
from graphpart.result import Result, Status
from graphpart.stopping import Stopping

__all__ = ["Solver"]

LARGEST_AUTO = 100_000  # pairs up to which more than greedy joining and moving is worth its time


class Solver:
    """Runs the method on the problems of an extension, within the time that is left."""

    def __init__(self, method: str, seed: int | None, options: dict[str, Any], stopping: Stopping) -> None:
        self.method, self.seed, self.options, self.stopping = find_method(method, "partition"), seed, options, stopping
        self.plain = self.method.name == "auto" and not options
        self.runs = 0

    def run(self, q: SetPartition, start: Labels) -> Result:
        """A result that is not worse than the start."""
        if self.plain and q.m > LARGEST_AUTO:
            return self._in_turn(q, start)
        self.runs += 1
        callback = self.stopping.callback
        r = self.method.run(
            q,
            time_limit=self.stopping.remaining,
            initial=start if "initial" in self.method.options else None,
            seed=self.seed,
            callback=callback and (lambda _, cost: callback(self.stopping.seconds, cost)),
            **self.options,
        )
        if r.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
            self.stopping.stop(r.status)
        return r

    def _in_turn(self, q: SetPartition, start: Labels) -> Result:
        """Greedy joining and greedy moving in turn, until neither lowers the cost."""
        callback, cost = self.stopping.callback, np.inf
        tell = callback and (lambda _, cost: callback(self.stopping.seconds, cost))
        while True:
            self.runs += 1
            r = greedy_joining(q, start, time_limit=self.stopping.remaining, callback=tell)
            if r.status == Status.LOCAL_OPTIMUM and r.cost < cost:
                cost = r.cost
                r = greedy_moving(q, r.labels, time_limit=self.stopping.remaining, callback=tell)
                if r.status == Status.LOCAL_OPTIMUM and r.cost < cost:
                    start, cost = r.labels, r.cost
                    continue
            if r.status != Status.LOCAL_OPTIMUM:
                self.stopping.stop(r.status)
            return r

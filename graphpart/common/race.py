"""Search and proof in turns on one problem: the one scheduler, for partitions and for labelings.

A contestant searches for better solutions, or raises a lower bound, or both. All of them have the same face. The race
gives them turns, one at a time:

1. At first each contestant has one short turn, in the given order.
2. Then each contestant has a share of the time, and the next turn goes to the one that has had the least time for its
   share: the turns of each are added up, each divided by the share at that time. A prover (a contestant that raises
   the bound) is *near* if, at the pace of its latest turns, its bound would meet the cost within some times the time
   that is left. Near provers have about half of the time together. Provers that are far have a tenth; but if the
   searchers have found nothing lately either, they have half of the time as well. Searchers share the rest, in
   proportion to what each has gained in its latest turns.
3. Before its turn, a contestant is offered the best solution that is known. After it, its solution and its bound are
   taken over, if they are better.
4. The turns of a contestant become longer, up to a share of the time that is left.

The race ends when the bound meets the cost, when no contestant can do more, or when it is stopped. Without a time
limit, each contestant has one turn, in the given order, and ends it by itself; so the result depends on no clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphpart.stopping import Stopping

__all__ = ["Contestant", "Race", "RaceParameters"]

Labels = NDArray[np.int32]


class Contestant(Protocol):
    """Whoever takes part in a race.

    Attributes
    ----------
    name : str
        What it does, for messages: "search", "branch and cut", ...
    proves : bool
        Whether it raises the bound; all others are searchers.
    labels, cost : ndarray of int32, float
        The best solution that it knows.
    bound : float
        No solution costs less, as far as it knows; -inf if it knows nothing.
    done : bool
        Whether it can do no more.
    """

    name: str
    proves: bool

    @property
    def labels(self) -> Labels: ...
    @property
    def cost(self) -> float: ...
    @property
    def bound(self) -> float: ...
    @property
    def done(self) -> bool: ...

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a solution that is better than its own."""

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Go on until `stopping` says so, or until a place where little is lost once its seconds have passed `until`.

        Without `until`: go on for as long as its own patience lasts, which counts iterations and not seconds.
        """


@dataclass(frozen=True)
class RaceParameters:
    """How the time of a race is divided."""

    first: float = 0.1  #: seconds of the first turn of each contestant,
    soonest: float = 0.03  #: or this share of the time there is, if that is less
    longer: float = 1.5  #: times the one before: the next turn of the same contestant
    longest: float = 0.1  #: share of the time that is left, for one turn at most
    far: float = 0.1  #: share of the time for provers whose bound would not meet the cost in time,
    near: float = 0.5  #: and for provers whose bound would
    pace: float = 3.0  #: times the time that is left: so soon the bound has to meet the cost to count as near
    fade: float = 0.5  #: weight of what was gained before the latest turn, each time
    floor: float = 0.1  #: share of the time of searchers that is divided equally


@dataclass
class _Record:
    """What one contestant has had and gained."""

    contestant: Contestant
    turn: float
    seconds: float = 0.0  # in all turns
    due: float = 0.0  # seconds for its share: the least one has the next turn
    lately: float = 0.0  # seconds, those of earlier turns fading
    gained: float = 0.0  # cost in those,
    raised: float = 0.0  # and bound


class Race:
    """Contestants on one problem, and the best solution and bound of all of them.

    Parameters
    ----------
    contestants : sequence of Contestant
    labels, cost
        Where all of them start.
    bound : float
        What is known beforehand.
    tolerance : float
        The bound meets the cost if it is at most so much below.
    parameters : RaceParameters
    told : callable, optional
        ``told(cost, bound)``, after every turn that gained something.

    Attributes
    ----------
    labels, cost, bound
        The best of all contestants.
    prover : str or None
        The name of the contestant whose bound met the cost.

    Notes
    -----
    A front door makes one race for each component of a problem; what it spent on whom is in :meth:`spent`.
    """

    def __init__(
        self,
        contestants: Sequence[Contestant],
        labels: Labels,
        cost: float,
        bound: float = -math.inf,
        tolerance: float = 0.0,
        parameters: RaceParameters | None = None,
        told: Callable[[float, float], Any] | None = None,
    ) -> None:
        self.parameters = parameters or RaceParameters()
        self.labels, self.cost, self.bound, self.tolerance = labels, cost, bound, tolerance
        self.prover: str | None = None
        self.told = told
        self._records = [_Record(one, self.parameters.first) for one in contestants]

    @property
    def proven(self) -> bool:
        """Whether the bound meets the cost."""
        return self.bound >= self.cost - self.tolerance

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return self.proven or all(record.contestant.done for record in self._records)

    def spent(self) -> dict[str, float]:
        """Seconds for each contestant, by name."""
        return {record.contestant.name: record.seconds for record in self._records}

    def run(self, stopping: Stopping) -> None:
        """Give turns until the race is over or `stopping` says so; may be called again to go on."""
        remaining = stopping.remaining
        if remaining is None:
            for record in self._records:
                if not self.done and not record.contestant.done and not stopping.check(self.cost):
                    self._give(record, 1.0, stopping, None)
            return
        for record in self._records:
            record.turn = min(record.turn, max(self.parameters.soonest * remaining, 1e-3))
        while not self.done and not stopping.check(self.cost):
            record, share = self._next(stopping.remaining or 0.0)
            length = min(record.turn, max(self.parameters.longest * (stopping.remaining or 0.0), 1e-3))
            self._give(record, share, stopping, stopping.seconds + length)
            record.turn *= self.parameters.longer

    def _give(self, record: _Record, share: float, stopping: Stopping, until: float | None) -> None:
        """One turn of a contestant with this share of the time."""
        one, cost, bound, began = record.contestant, self.cost, self.bound, stopping.seconds
        if one.cost > cost:
            one.offer(self.labels, cost)
        one.run(stopping, until)
        if one.cost < self.cost:
            self.labels, self.cost = one.labels, one.cost
        self.bound = max(self.bound, min(one.bound, self.cost))
        if self.proven and self.prover is None:
            self.prover = one.name
        took, fade = max(stopping.seconds - began, 1e-9), self.parameters.fade
        record.seconds += took
        record.due += took / share
        record.lately = fade * record.lately + took
        record.gained = fade * record.gained + (cost - self.cost if math.isfinite(cost) else 0.0)
        record.raised = fade * record.raised + (self.bound - bound if math.isfinite(bound) else 0.0)
        if self.told is not None and (self.cost < cost or self.bound > bound):
            self.told(self.cost, self.bound)

    def _next(self, left: float) -> tuple[_Record, float]:
        """Who has the next turn, and its share of the time; those that had none come first."""
        able = [record for record in self._records if not record.contestant.done]
        fresh = [record for record in able if not record.seconds]
        if fresh:
            return fresh[0], 1.0 / len(able)
        shares = self._shares(able, left)
        return min(zip(able, shares, strict=True), key=lambda one: one[0].due)

    def _shares(self, able: list[_Record], left: float) -> list[float]:
        """The share of the time of each contestant that is not done."""
        parameters = self.parameters
        provers = [record for record in able if record.contestant.proves]
        searchers = [record for record in able if not record.contestant.proves]
        idle = not any(record.gained > 0 for record in searchers)
        near = any(self._is_near(record, left) for record in provers)
        proving = parameters.near if near or idle else parameters.far
        if not searchers or not provers:
            proving = 1.0 if provers else 0.0
        share = {}
        for group, part in ((provers, proving), (searchers, 1.0 - proving)):
            rates = [(record.gained + record.raised) / record.lately for record in group]
            total = sum(rates)
            for record, rate in zip(group, rates, strict=True):
                even = 1.0 / len(group)
                earned = rate / total if total > 0 else even
                share[id(record)] = part * (parameters.floor * even + (1.0 - parameters.floor) * earned)
        return [share[id(record)] for record in able]

    def _is_near(self, record: _Record, left: float) -> bool:
        """Whether the bound would meet the cost in time, at its latest pace."""
        return record.raised / record.lately * self.parameters.pace * left >= self.cost - self.bound

"""Search and proof in turns on one problem: the one scheduler, for partitions and for labelings.

A contestant searches for better solutions, or raises a lower bound, or both. All of them have the same face. The race
gives them turns, one at a time:

1. At first each contestant has one short turn, in the given order.
2. Then each contestant has a share of the time, and the next turn goes to the one that has had the least time for its
   share: the turns of each are added up, each divided by the share at that time. A prover (a contestant that raises
   the bound) is *near* if its bound would meet the cost within some times the time that is left: at the pace of its
   latest turns, or, where each turn was slower than the one before, at a pace that falls on exponentially. Its first
   turns say little, and it counts as near meanwhile. Near provers have about half of the time
   together, and provers that are far a tenth. If next to nothing was found lately, near provers have four fifths of
   the time, and those that are far mostly half of it. The rest is for better solutions. Whoever has found some in its
   latest turns has a part of it in proportion, provers too; a tenth is divided equally among searchers.
3. Before its turn, a contestant is offered the best solution that is known. After it, its solution and its bound are
   taken over, if they are better. One that is done is offered better solutions as well, and may go on then.
4. The turns of a contestant become longer, up to a share of the time that is left.
5. A contestant says how many seconds its next step takes at least. It waits until its share has grown to that, and has
   no turn if so many are not left. While it works in another thread, the turns of others count as its own, too.

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

from graphpart.common.judge import Judge
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
        Whether it can do no more, whatever time it has. A better solution that it is offered may change this.
    needs : float
        Seconds that its next step takes at least, as far as it knows. With less, it has no turn; inf: it waits for
        another contestant or another thread.
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
    @property
    def needs(self) -> float: ...

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
    near: float = 0.5  #: for provers whose bound would,
    sure: float = 0.8  #: and for these if next to nothing was found lately;
    stuck: float = 0.5  #: for provers that are far, if next to nothing was found lately
    pace: float = 3.0  #: times the time that is left: so soon the bound has to meet the cost to count as near
    fade: float = 0.5  #: weight of what was gained before the latest turn, each time
    floor: float = 0.1  #: share of the time of searchers, and of that of provers, that is divided equally
    early: int = 2  #: turns of a prover that say nothing about its pace: it counts as near meanwhile,
    unknown: float = 0.03  #: unless they have taken this share of the time
    barren: int = 2  #: turns in a row in which each searcher has found nothing: then nothing was found lately
    idle: float = 1e-3  #: next to nothing is found if what is left of the time would add this share of all gains so far


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
    turns: int = 0
    barren: int = 0  # turns in a row that gained no cost
    pace: float = math.inf  # of the bound, in the latest turn that counts
    fall: float = 0.0  # the rate at which this fell from the turn before: its logarithm, for each second


class Race:
    """Contestants on one problem, and the best solution and bound of all of them.

    Parameters
    ----------
    contestants : sequence of Contestant
    labels, cost
        Where all of them start.
    bound : float
        What is known beforehand.
    judge : callable, optional
        ``judge(labels)`` is the judge that decides whether the bound meets the cost of these labels.
    parameters : RaceParameters
    ready : callable, optional
        ``ready(contestant)`` says whether a contestant may have the next turn, or leaves it to others.
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
        judge: Callable[[Labels], Judge] | None = None,
        parameters: RaceParameters | None = None,
        ready: Callable[[Any], bool] = lambda _: True,
        told: Callable[[float, float], Any] | None = None,
    ) -> None:
        self.parameters = parameters or RaceParameters()
        self.labels, self.cost, self.bound = labels, cost, bound
        self.judge = judge or (lambda _: Judge())
        self.prover: str | None = None
        self.ready = ready
        self._first = cost  # or the first that is finite
        self.told = told
        self._records = [_Record(one, self.parameters.first) for one in contestants]

    @property
    def proven(self) -> bool:
        """Whether the bound meets the cost."""
        return self.judge(self.labels).meets(self.bound, self.cost)

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return self.proven or all(record.contestant.done for record in self._records)

    def join(self, contestant: Contestant) -> None:
        """Let one more contestant take part. The turns that the others have had until now count as its own, too."""
        due = min((record.due for record in self._records), default=0.0)
        self._records.append(_Record(contestant, self.parameters.first, due=due))

    def spent(self) -> dict[str, float]:
        """Seconds for each contestant, by name."""
        return {record.contestant.name: record.seconds for record in self._records}

    def run(self, stopping: Stopping, seconds: float | None = None) -> bool:
        """Give turns until the race is over, `stopping` says so, or seconds have passed; may be called again to go on.

        Without any limit, `once` is what happens.

        Returns
        -------
        bool
            Whether anybody had a turn.
        """
        limit = stopping.remaining
        if seconds is not None:
            limit = seconds if limit is None else min(limit, seconds)
        if limit is None:
            return self.once(stopping)
        end = stopping.seconds + limit
        for record in self._records:
            record.turn = min(record.turn, max(self.parameters.soonest * limit, 1e-3))
        turns = 0
        while not self.done and not stopping.check(self.cost):
            left = end - stopping.seconds
            chosen = self._next(left) if left > 0 else None
            if chosen is None:
                break
            record, share = chosen
            length = max(min(record.turn, max(self.parameters.longest * left, 1e-3)), record.contestant.needs)
            self._give(record, share, stopping, stopping.seconds + length)
            record.turn *= self.parameters.longer
            turns += 1
        return turns > 0

    def once(self, stopping: Stopping) -> bool:
        """One turn for each contestant, in the given order, which it ends by itself; return whether anybody had one.

        If time is limited all the same, each has at most its part of what is left.
        """
        turns = 0
        for k, record in enumerate(self._records):
            if not self.done and self._able(record, math.inf) and not stopping.check(self.cost):
                left = stopping.remaining
                mine = stopping if left is None else stopping.child(seconds=left / (len(self._records) - k))
                self._give(record, 1.0, mine, None)
                turns += 1
        return turns > 0

    def _able(self, record: _Record, left: float) -> bool:
        """Whether a contestant may have a turn with so many seconds left."""
        one = record.contestant
        return not one.done and one.needs <= left and self.ready(one)

    def take(self, contestant: Contestant) -> None:
        """Take over the solution of a contestant, if it is better: it may have found one outside its turns."""
        if contestant.cost < self.cost:
            self.labels, self.cost = contestant.labels, contestant.cost
            self._first = self._first if math.isfinite(self._first) else contestant.cost
            if self.proven and self.prover is None:
                self.prover = contestant.name
            if self.told is not None:
                self.told(self.cost, self.bound)

    def _give(self, record: _Record, share: float, stopping: Stopping, until: float | None) -> None:
        """One turn of a contestant with this share of the time."""
        one, cost, bound, began = record.contestant, self.cost, self.bound, stopping.seconds
        if one.cost > cost:
            one.offer(self.labels, cost)
        one.run(stopping, until)
        if one.cost < self.cost:
            self.labels, self.cost = one.labels, one.cost
            self._first = self._first if math.isfinite(self._first) else one.cost
        self.bound = max(self.bound, min(one.bound, self.cost))
        if self.proven and self.prover is None:
            self.prover = one.name
        took, fade = max(stopping.seconds - began, 1e-9), self.parameters.fade
        record.seconds += took
        record.due += took / share
        record.lately = fade * record.lately + took
        record.gained = fade * record.gained + (cost - self.cost if math.isfinite(cost) else 0.0)
        record.turns += 1
        record.barren = 0 if self.cost < cost else record.barren + 1
        # The first turns of a prover raise the bound by what says little about those that follow.
        counts = math.isfinite(bound) and record.turns > self.parameters.early
        record.raised = fade * record.raised + (self.bound - bound if counts else 0.0)
        if counts:
            pace, before = (self.bound - bound) / took, record.pace
            record.fall = math.log(before / pace) / took if 0.0 < pace < before < math.inf else 0.0
            record.pace = pace
        if self.told is not None and (self.cost < cost or self.bound > bound):
            self.told(self.cost, self.bound)

    def _next(self, left: float) -> tuple[_Record, float] | None:
        """Who has the next turn, and its share of the time; those that had none come first. None if nobody can."""
        for record in self._records:
            if record.contestant.done and record.contestant.cost > self.cost:
                record.contestant.offer(self.labels, self.cost)  # after which it may go on
        able = [record for record in self._records if self._able(record, left)]
        if not able:
            return None
        least = min(record.due for record in able)
        for record in self._records:
            if record.contestant.needs == math.inf:
                record.due = max(record.due, least)
        for record in able:
            if not record.seconds and record.contestant.needs <= record.turn:
                return record, 1.0 / len(able)
        shares = self._shares(able, left)
        return min(zip(able, shares, strict=True), key=lambda one: one[0].due + one[0].contestant.needs / one[1])

    def _shares(self, able: list[_Record], left: float) -> list[float]:
        """The share of the time of each contestant that is not done."""
        parameters = self.parameters
        provers = [record for record in able if record.contestant.proves]
        searchers = [record for record in able if not record.contestant.proves]
        gained = sum(record.gained / max(record.lately, 1e-9) for record in able) * left
        idle = gained <= parameters.idle * (self._first - self.cost) if self._first < math.inf else not gained
        idle |= min((record.barren for record in searchers), default=0) >= parameters.barren
        near = any(self._is_near(record, left) for record in provers)
        proving = parameters.stuck if idle else parameters.far
        if near:
            proving = parameters.sure if idle else parameters.near
        if not searchers or not provers:
            proving = 1.0 if provers else 0.0
        shares = dict.fromkeys(map(id, able), 0.0)
        for group, part, rates in (
            (provers, proving, {id(one): one.raised / max(one.lately, 1e-9) for one in provers}),
            (searchers, 1.0 - proving, {id(one): one.gained / max(one.lately, 1e-9) for one in able}),
        ):
            total = sum(rates.values())
            earned = part * (1.0 - parameters.floor) if total > 0 else 0.0
            for one in group:
                shares[id(one)] += (part - earned) / len(group)
            for key, rate in rates.items():
                shares[key] += earned * rate / total if total > 0 else 0.0
        return [shares[id(record)] for record in able]

    def _is_near(self, record: _Record, left: float) -> bool:
        """Whether the bound would meet the cost in time, at its latest pace; or may do so, as far as is known."""
        if record.turns <= self.parameters.early:
            whole = left + sum(one.seconds for one in self._records)
            return record.seconds <= self.parameters.unknown * whole
        pace, time = record.raised / max(record.lately, 1e-9), self.parameters.pace * left
        if record.fall * time > 1e-9:  # the integral of exp(-fall * t)
            time = -math.expm1(-record.fall * time) / record.fall
        return pace * time >= self.cost - self.bound

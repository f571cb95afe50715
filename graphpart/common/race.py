"""Search and proof in turns on one problem: the one scheduler, for partitions and for labelings.

A contestant searches for better solutions, or raises a lower bound, or both. Contestants that raise the bound are
called provers, all others searchers. All contestants have the same interface. The race gives them turns, one at a time:

1. At first each contestant has one short turn, in the given order.
2. Then each contestant has a share of the time. For each contestant, the durations of its turns are added, each divided
   by its share at that time. The contestant with the smallest sum has the next turn.
3. The shares depend on whether a prover is *near*. A prover is near if its bound would meet the cost within three times
   the remaining time. This is extrapolated from the pace of its latest turns. If the pace fell between the latest two
   turns, it is assumed to fall further, exponentially. The first turns of a prover say little about its pace, so the
   prover counts as near during these turns.
4. All provers together have half of the time if one of them is near, and a tenth otherwise. If hardly any better
   solution was found lately, or none in half of the time of each search, they have four fifths if one of them is near,
   and half if their bound has come nine tenths of the way from the first one, or hardly a tenth in their first turns,
   since some begin slowly. The rest of the time is for better solutions. A tenth of this rest is divided equally among
   searchers. Nine tenths are divided in proportion to what each contestant, prover or searcher, has gained per second
   in its latest turns.
5. Before its turn, a contestant is offered the best known solution. After its turn, its solution and its bound are
   taken over if they are better. A contestant that is done is offered better solutions, too, and may then continue.
6. The turns of a contestant become longer, up to a share of the remaining time.
7. A contestant states how many seconds its next step takes at least. It waits until its share allows for this step (a
   searcher that had no turn yet: until an equal share does), and has no turn if less time remains. While it works in
   another thread, the turns of others count as its own.

The race ends when the bound meets the cost, when no contestant can do more, or when it is stopped. Without a time
limit, each contestant has one turn, in the given order, and ends this turn by itself. So the result does not depend on
the clock. Or only searchers have that turn, and provers have turns afterwards, as long as one of them is near, little
of the gap is left, or one finds better solutions in half of its time (while searchers find better ones, too: at most as
much time as those).
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
    """The interface of the participants of a race.

    Attributes
    ----------
    name : str
        The name of the method in messages: "search", "branch and cut", ...
    proves : bool
        Whether the contestant raises the bound. All others are searchers.
    labels, cost : ndarray of int32, float
        The best solution that the contestant knows, and its cost.
    bound : float
        The best lower bound that the contestant knows; -inf if it knows none.
    done : bool
        Whether the contestant could do nothing with more time. A better solution that it is offered may change this.
    needs : float
        Estimated smallest number of seconds for the next step. With less time, the contestant has no turn; inf if it
        waits for another contestant or another thread.
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
        """Take over a solution that is better than the contestant's own."""

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Continue until `stopping` ends the turn, or until the first convenient point after the time `until`.

        `until` is in seconds of `stopping`. Without `until`, the contestant ends the turn after a number of iterations.
        """


@dataclass(frozen=True)
class RaceParameters:
    """How the time of a race is divided."""

    first: float = 0.1  #: seconds of the first turn of each contestant
    soonest: float = 0.03  #: largest share of the time limit for a first turn, and for the `few` first turns
    longer: float = 1.5  #: factor by which each turn of a contestant is longer than its turn before
    longest: float = 0.1  #: largest share of the remaining time for one turn
    far: float = 0.1  #: share of the time for provers if none is near
    near: float = 0.5  #: share of the time for provers if one of them is near
    sure: float = 0.8  #: least share of the time for provers if one is near and hardly any cost was gained lately
    stuck: float = 0.5  #: least share of the time for provers if none is near and hardly any cost was gained lately
    hope: float = 0.1  #: `stuck` counts only if the gap is at most this share of the distance to the first bound
    close: float = 0.02  #: share of the distance to the first bound up to which a gap counts as near without a limit
    pace: float = 3.0  #: a prover is near if its bound would meet the cost within this multiple of the remaining time
    fade: float = 0.5  #: factor by which the weight of earlier turns falls with each new turn
    floor: float = 0.1  #: share of the time of searchers, and of that of provers, that is divided equally
    few: int = 2  #: first turns of a prover that do not show its pace; turns of a search that show that it is stuck
    idle: float = 1e-3  #: share of all gains so far; if no more is expected, hardly any cost was gained lately


@dataclass
class _Record:
    """The time and the gain of one contestant."""

    contestant: Contestant
    turn: float
    seconds: float = 0.0  # total duration of all turns
    due: float = 0.0  # sum of seconds / share over all turns; the contestant with the least sum has the next turn
    lately: float = 0.0  # weighted seconds of all turns; the weights of earlier turns fade
    gained: float = 0.0  # decrease of the cost, with the same weights
    raised: float = 0.0  # rise of the bound, with the same weights
    turns: int = 0
    barren: int = 0  # number of latest turns in a row without a lower cost
    vain: float = 0.0  # seconds of these turns
    pace: float = math.inf  # rise of the bound per second in the latest turn that counts
    fall: float = 0.0  # logarithm of the ratio of the paces of the latest two turns, per second of the latest one


class Race:
    """Contestants on one problem, and the best solution and bound of all of them.

    Parameters
    ----------
    contestants : sequence of Contestant
    labels, cost
        The solution from which all contestants start, and its cost.
    bound : float
        The lower bound that is known beforehand.
    judge : callable, optional
        ``judge(labels)`` returns the judge that decides whether the bound meets the cost of these labels.
    parameters : RaceParameters
    ready : callable, optional
        ``ready(contestant)`` returns whether the contestant may have the next turn.
    told : callable, optional
        ``told(cost, bound)`` is called after every turn that improved the cost or the bound.

    Attributes
    ----------
    labels, cost, bound
        The best of all contestants.
    prover : str or None
        The name of the contestant whose bound met the cost.

    Notes
    -----
    The public functions make one race for each component of a problem. :meth:`spent` returns the time of each
    contestant.
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
        self._first, self._lowest = cost, bound  # the first cost that is finite, and the first bound
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
        """Add a contestant. It starts with the smallest `due` of the others."""
        due = min((record.due for record in self._records), default=0.0)
        self._records.append(_Record(contestant, self.parameters.first, due=due))

    def spent(self) -> dict[str, float]:
        """Seconds for each contestant, by name."""
        return {record.contestant.name: record.seconds for record in self._records}

    def run(self, stopping: Stopping, seconds: float | None = None, hopeful: bool = False) -> bool:
        """Give turns until the race is over, `stopping` ends it, or `seconds` have passed.

        If `hopeful`, only provers have turns, and only as long as one of them is near or little of the gap is left, or
        half of its time has found better solutions, or until they have had, in all calls, the share of the time of
        provers that are far. If the latest turn of a searcher found a better solution, they have at most as much time
        as searchers have had.

        A later call continues the race. Without any limit, this is the same as `once`.

        Returns
        -------
        bool
            Whether any contestant had a turn.
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
            provers = [record for record in self._records if record.contestant.proves]
            searchers = [record for record in self._records if not record.contestant.proves]
            spent, searched = (sum(one.seconds for one in some) for some in (provers, searchers))
            gains = any(2.0 * one.vain < one.seconds for one in provers)
            little = self.cost - self.bound <= self.parameters.close * (self.cost - self._lowest) < math.inf
            far = not gains and not little and not any(self._is_near(one, left) for one in provers)
            wait = any(one.turns and not one.barren for one in searchers) and spent > searched
            if hopeful and spent > self.parameters.far * limit and (far or wait):
                break
            chosen = self._next(left, provers if hopeful else self._records) if left > 0 else None
            if chosen is None:
                break
            record, share = chosen
            length = max(min(record.turn, max(self.parameters.longest * left, 1e-3)), record.contestant.needs)
            self._give(record, share, stopping, stopping.seconds + length)
            record.turn *= self.parameters.longer
            turns += 1
        return turns > 0

    def once(self, stopping: Stopping, searching: bool = False) -> bool:
        """Give each contestant one turn in the given order, and return whether any contestant had one.

        Each contestant ends its turn by itself. If the time is limited nevertheless, it is divided equally. If
        `searching`, only searchers have a turn, and time is left for provers that had none yet.
        """
        turns = 0
        for k, record in enumerate(self._records):
            if searching and record.contestant.proves:
                continue
            if not self.done and self._able(record, math.inf) and not stopping.check(self.cost):
                left = stopping.remaining
                later = sum(not (searching and one.turns and one.contestant.proves) for one in self._records[k + 1 :])
                mine = stopping if left is None else stopping.child(seconds=left / (1 + later))
                self._give(record, 1.0, mine, None)
                turns += 1
        return turns > 0

    def _able(self, record: _Record, left: float) -> bool:
        """Whether a contestant may have a turn if `left` seconds remain."""
        one = record.contestant
        return not one.done and one.needs <= left and self.ready(one)

    def take(self, contestant: Contestant) -> None:
        """Take over a better solution that a contestant has found outside its turns."""
        if contestant.cost < self.cost:
            self.labels, self.cost = contestant.labels, contestant.cost
            self._first = self._first if math.isfinite(self._first) else contestant.cost
            if self.proven and self.prover is None:
                self.prover = contestant.name
            if self.told is not None:
                self.told(self.cost, self.bound)

    def is_near(self, contestant: Contestant, stopping: Stopping) -> bool:
        """Whether the bound of a prover would meet the cost in time, or whether its pace is still unknown."""
        left = stopping.remaining
        records = [record for record in self._records if record.contestant is contestant]
        return left is None or any(self._is_near(record, left) for record in records)

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
        lower = self.cost < cost
        record.barren, record.vain = (0, 0.0) if lower else (record.barren + 1, record.vain + took)
        # The rise of the bound in the first turns of a prover says little about later turns.
        counts = math.isfinite(bound) and record.turns > self.parameters.few
        record.raised = fade * record.raised + (self.bound - bound if counts else 0.0)
        if counts:
            pace, before = (self.bound - bound) / took, record.pace
            record.fall = math.log(before / pace) / took if 0.0 < pace < before < math.inf else 0.0
            record.pace = pace
        if self.told is not None and (self.cost < cost or self.bound > bound):
            self.told(self.cost, self.bound)

    def _next(self, left: float, records: Sequence[_Record]) -> tuple[_Record, float] | None:
        """The one of these contestants that has the next turn and its share; None if no contestant can have a turn.

        Contestants that had no turn yet come first.
        """
        for record in records:
            if record.contestant.done and record.contestant.cost > self.cost:
                record.contestant.offer(self.labels, self.cost)  # after which it may go on
        able = [record for record in records if self._able(record, left)]
        if not able:
            return None
        least = min(record.due for record in able)
        for record in records:
            if record.contestant.needs == math.inf:
                record.due = max(record.due, least)
        for record in able:
            first = record.turn if record.contestant.proves else left / len(able)
            if not record.seconds and record.contestant.needs <= first:
                return record, 1.0 / len(able)
        shares = self._shares(able, left)
        return min(zip(able, shares, strict=True), key=lambda one: one[0].due + one[0].contestant.needs / one[1])

    def _shares(self, able: list[_Record], left: float) -> list[float]:
        """The share of the time of each of these contestants."""
        parameters = self.parameters
        provers = [record for record in able if record.contestant.proves]
        searchers = [record for record in able if not record.contestant.proves]
        gained = sum(record.gained / max(record.lately, 1e-9) for record in able) * left
        idle = gained <= parameters.idle * (self._first - self.cost) if self._first < math.inf else not gained
        idle |= all(one.barren >= parameters.few and 2 * one.vain >= one.seconds for one in searchers)
        near = any(self._is_near(record, left) for record in provers)
        proving, least = (parameters.near, parameters.sure) if near else (parameters.far, parameters.stuck)
        gap, way = self.cost - self.bound, self.cost - self._lowest
        begun = gap < (1.0 - parameters.hope) * way or all(record.turns > parameters.few for record in provers)
        if not near and begun and gap > parameters.hope * way:
            least = proving
        proving = max(proving, least) if idle else proving
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
        """Whether the bound would meet the cost in time at its latest pace, or whether its pace is still unknown."""
        if record.turns <= self.parameters.few:
            whole = left + sum(one.seconds for one in self._records)
            return record.seconds <= self.parameters.soonest * whole
        pace, time = record.raised / max(record.lately, 1e-9), self.parameters.pace * left
        if record.fall * time > 1e-9:  # the integral of exp(-fall * t)
            time = -math.expm1(-record.fall * time) / record.fall
        return pace * time >= self.cost - self.bound

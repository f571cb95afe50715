"""One component of a factor graph that nothing exact fits: the best labeling, and a bound, in the time that there is.

Iterated conditional modes give a first labeling. Then message passing, strips of a grid, a semidefinite relaxation
where pairs are dense, expansions, search, branch and bound and, as long as only forbidden labelings are known,
mini-buckets take turns: see `contestants` for what each does, and `common/race.py` for who has the next turn. Strips
take the place of the cycles that tighten message passing. They have the time almost alone at first, since their
labelings are better than those that search ends with. Without a time limit each has one turn, which counts iterations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.race import Race
from graphpart.crf.bounds.contestant import Contestant
from graphpart.crf.branch_and_bound.contestant import Branching
from graphpart.crf.certificates.judging import judge_of_labels
from graphpart.crf.contestant_parameters import ContestantParameters
from graphpart.crf.contestants import Expanding, Passing, Relaxing, Searching, Squaring
from graphpart.crf.local_search.icm import improve
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.labeling import trivial_bound
from graphpart.crf.strips.contestant import Stripping
from graphpart.stopping import Stopping

__all__ = ["HardComponent"]

Labels = NDArray[np.int32]


class HardComponent:
    """The state of one component.

    Parameters
    ----------
    f : FactorGraph
        Connected, and not acyclic.
    labels : ndarray of int32, shape (n,)
        Where to start.
    stopping : Stopping
        For the start; what is left of its time is that of the component.
    rng : numpy.random.Generator
    told : callable
        ``told(cost, bound)``, after every turn that gained something; the bound holds up to rounding.
    parameters : ContestantParameters, optional

    Attributes
    ----------
    race : Race
    """

    def __init__(
        self,
        f: FactorGraph,
        labels: Labels,
        stopping: Stopping,
        rng: np.random.Generator,
        told: Callable[[float, float], Any],
        parameters: ContestantParameters | None = None,
    ) -> None:
        self.f, self.told, self.limit, self._stopping = f, told, stopping.remaining, stopping
        self.parameters = parameters = parameters or ContestantParameters()
        self.least = trivial_bound(f)
        labels, cost = improve(f, labels, stopping.child(), "sweep")
        seed = int(rng.integers(2**31))
        nominal = parameters.nominal if self.limit is None else self.limit
        self.stripping = Stripping(
            f, labels, cost, nominal, lambda: self.passing.passes if self.passing.structured else None
        )
        self.passing = Passing(f, labels, cost, parameters, tightening=self.stripping.done)
        self.squaring = Squaring(f, labels, cost, parameters)
        self.searching = Searching(f, labels, cost, parameters, seed)
        self.branching = Branching(f, labels, cost, parameters.branching)
        self.relaxing = Relaxing(f, labels, cost, parameters)
        self.others = (
            self.stripping,
            self.squaring,
            self.relaxing,
            Expanding(f, labels, cost, parameters, rng),
            self.searching,
            self.branching,
        )
        self.contestants = (self.passing, *self.others)
        self.race = Race(
            [self.passing], labels, cost, self.least, lambda labels: judge_of_labels(f, labels),
            ready=self._ready, told=told,
        )  # fmt: skip
        self._seconds = nominal  # for the current run
        self._all = self._running = False

    def begin(self, stopping: Stopping) -> None:
        """Message passing alone where there is no time limit; else the race for all of the time of `stopping`."""
        if stopping.remaining is not None:
            self._prepare(stopping.remaining)
        self._run(stopping)
        if self.race.proven:  # up to rounding
            self.passing.certify()

    def run(self, stopping: Stopping) -> bool:
        """Go on, and see in the end what message passing and squares have proven; return whether anybody had a turn."""
        remaining, parameters = stopping.remaining, self.parameters
        self._prepare(parameters.nominal if remaining is None else remaining)
        passed = parameters.certifying * len(self.f.tables)
        if remaining is not None:
            needed = passed + (self.squaring.proving if self.squaring.begins(remaining) else 0.0)
            needed += 0.0 if self.stripping.grid is None else self.stripping.proving
            remaining -= min(needed, remaining / 4)
        turns = self._run(stopping.child(remaining))
        if not self.race.proven:  # however the race ended
            self.searching.collect()
            self.race.take(self.searching)
        if self._may_end(passed, stopping):
            self.passing.certify()
        for one in (self.stripping, self.squaring):
            if one.bound > self.passing.certified and self._may_end(one.proving, stopping):
                one.certify()
        if self.searching.portfolio is None and self.race.proven:
            self.close()
        return turns

    def _may_end(self, seconds: float, stopping: Stopping) -> bool:
        """Whether a proof that takes so many seconds ends in time, or a little late; else only labels are of use."""
        return stopping.remaining is None or seconds <= 2 * stopping.remaining + self.parameters.late

    def close(self) -> None:
        """End what runs in another thread, once nobody needs it."""
        self.searching.close()

    def _prepare(self, seconds: float) -> None:
        """Let all contestants take part, for so many seconds."""
        self._seconds, first = seconds, self.searching.first_round()
        if self._searches_late() and self.stripping.grid is None and first <= self.parameters.large_round * seconds:
            self.searching.begin(self._stopping)
        if not self._all:
            self._all = True
            for one in self.others:
                self.race.join(one)

    def _ready(self, one: Contestant) -> bool:
        """Whether a contestant may have the next turn, or leaves the time to others."""
        if one is self.passing:
            return not self.stripping.bound > self.passing.bound > -math.inf
        if one is self.stripping:
            return not self.passing.structured or self.passing.rests or not self._ready(self.passing)
        if one is self.searching and (self.searching.begun or self._searches_late()):
            return self.searching.begun or not self._no_search()
        return not self._strips_lead() and not (one is self.branching and self._too_large)

    @property
    def _too_large(self) -> bool:
        """Whether branch and bound could not begin in the time there is."""
        affordable = self.parameters.branching.branched * self._seconds
        return self.branching.tree is None and len(self.f.tables) > affordable

    def _searches_late(self) -> bool:
        """Whether the first round of search takes much of the time."""
        return self.limit is not None and self.searching.first_round() > self.parameters.first_round * self.limit

    def _no_search(self) -> bool:
        """Whether a search that takes much of the time is of no use: message passing gains more, or leaves little."""
        race = self.race
        if self._strips_lead():
            return True
        hard = race.cost == math.inf or race.cost - race.bound > self.parameters.hard * (race.cost - self.least)
        return not (self.passing.rests and hard)

    def _strips_lead(self) -> bool:
        """Whether the others leave the time to strips: not where expansions and messages take little time."""
        limit = self.limit
        lead = math.inf if limit is None else self.parameters.leading * limit
        if self.passing.structured:
            return False
        return (
            not self.stripping.done
            and not self.stripping.needs
            and self.race.spent().get(self.stripping.name, 0.0) < lead
        )

    def _run(self, stopping: Stopping) -> bool:
        """Let the race go on; return whether anybody had a turn."""
        self._running, turns = True, self.race.run(stopping)
        while not self.race.proven and self.searching.wait(stopping) and not stopping.check(self.cost):
            turns |= self.race.run(stopping)  # as nobody else could do more meanwhile
        self._running = False
        return turns

    @property
    def labels(self) -> Labels:
        """The best so far."""
        return self.race.labels

    @property
    def cost(self) -> float:
        """Their energy."""
        return self.race.cost

    @property
    def bound(self) -> float:
        """No labeling has less energy; while it runs, up to rounding."""
        if self._running:
            return self.race.bound
        return min(self.cost, max(self.least, *(one.certified for one in self.contestants)))

    @property
    def proven(self) -> bool:
        """Whether the labels are optimal, up to rounding."""
        if not self.race.proven:
            return False
        if self.branching.done or self.relaxing.bound >= self.cost:  # complete by themselves
            return True
        return judge_of_labels(self.f, self.labels).meets(max(one.certified for one in self.contestants), self.cost)

    @property
    def needs_more_time(self) -> bool:
        """Whether somebody could do more with more time."""
        return self._too_large or any(one.needs > 0 and not one.done for one in self.contestants)

    @property
    def how(self) -> str:
        """What gave the result, for a message."""
        return f"by {self.race.prover or 'least entries'}" if self.proven else "by bound and local search"

    @property
    def open_share(self) -> float:
        """The gap, up to rounding, as a share of what it was before anything was known."""
        return (self.cost - self.race.bound) / max(self.cost - self.least, 1e-300)

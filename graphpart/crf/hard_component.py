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
from graphpart.crf.branch_and_bound.contestant import Branching
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
        self.passing = Passing(f, labels, cost, parameters, tightening=self.stripping.ended)
        self.squaring = Squaring(f, labels, cost, parameters)
        self.searching = Searching(f, labels, cost, parameters, seed)
        self.branching = Branching(f, labels, cost, parameters.branching)
        self.relaxing = Relaxing(f, labels, cost, parameters)
        others = (
            self.squaring,
            self.relaxing,
            Expanding(f, labels, cost, parameters, rng),
            self.searching,
            self.branching,
        )
        self.contestants = (self.passing, self.stripping, *others)
        self.passing.waits = lambda: self.stripping.bound > self.passing.bound > -math.inf
        self.stripping.waits = lambda: self.passing.structured and not self.passing.rests
        for one in others:
            one.waits = self._strips_lead
        self.race = Race([self.passing], labels, cost, self.least, told=told)
        self._all = self._running = False

    def begin(self, stopping: Stopping) -> None:
        """Message passing alone where there is no time limit; else the race for all of the time of `stopping`."""
        if stopping.remaining is not None:
            self._prepare(stopping.remaining)
        self._run(stopping)
        if self.race.proven:  # up to rounding
            self.passing.certify()

    def run(self, stopping: Stopping) -> None:
        """Go on, and see in the end what message passing and squares have proven."""
        remaining, parameters = stopping.remaining, self.parameters
        self._prepare(parameters.nominal if remaining is None else remaining)
        passed = parameters.certifying * len(self.f.tables)
        if remaining is not None:
            needed = passed + (self.squaring.proving if self.squaring.begins(remaining) else 0.0)
            needed += 0.0 if self.stripping.grid is None else self.stripping.proving
            remaining -= min(needed, remaining / 4)
        self._run(stopping.child(remaining))
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

    def _may_end(self, seconds: float, stopping: Stopping) -> bool:
        """Whether a proof that takes so many seconds ends in time, or a little late; else only labels are of use."""
        return stopping.remaining is None or seconds <= 2 * stopping.remaining + self.parameters.late

    def close(self) -> None:
        """End what runs in another thread, once nobody needs it."""
        self.searching.close()

    def _prepare(self, seconds: float) -> None:
        """Say who takes part, and who waits, in so many seconds."""
        tables, parameters = len(self.f.tables), self.parameters
        for one in self.contestants:
            one.starved = False
        self.branching.starved = self.branching.tree is None and tables > parameters.branching.branched * seconds
        large = self.limit is not None and self.searching.first_round() > parameters.first_round * self.limit
        self.searching.waits = self._no_search if large else self._strips_lead
        if large and self.stripping.grid is None and self.searching.first_round() <= parameters.large_round * seconds:
            self.searching.begin(self._stopping)
        if not self._all:
            race = self.race
            self.race = Race(self.contestants, race.labels, race.cost, race.bound, told=self.told)
            self.race.prover, self._all = race.prover, True

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
        return not self.stripping.done and self.race.spent().get(self.stripping.name, 0.0) < lead

    def _run(self, stopping: Stopping) -> None:
        self._running = True
        self.race.run(stopping)
        while self.searching.busy and not self.race.proven and not stopping.check(self.cost):
            self.searching.wait(stopping)  # nobody else can do more
            self.race.run(stopping)
        self._running = False

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
        if self.branching.ended or self.relaxing.bound >= self.cost:  # complete by themselves
            return True
        ascent = self.passing.ascent
        certified = max(one.certified for one in self.contestants)
        return self.cost - certified <= (0.0 if ascent is None else ascent.tolerance)

    @property
    def starved(self) -> bool:
        """Whether somebody could do more with more time."""
        return any(one.starved for one in self.contestants)

    @property
    def how(self) -> str:
        """What gave the result, for a message."""
        return f"by {self.race.prover or 'least entries'}" if self.proven else "by bound and local search"

    @property
    def open_share(self) -> float:
        """The gap, up to rounding, as a share of what it was before anything was known."""
        return (self.cost - self.race.bound) / max(self.cost - self.least, 1e-300)

"""A component of a factor graph for which no method is exact: the best labeling and a bound within the time.

Iterated conditional modes give a first labeling. Then the contestants take turns: message passing, branch and cut where
labels are two, over odd cycles or, if pairs are dense, semidefinite relaxations, strips of a grid, expansions, search,
and branch and bound. Mini-buckets take part as long as only forbidden labelings are known. See
`contestants` for what each of them does, and `common/race.py` for the order of the turns.

Odd cycles are tried first, for a tenth of the time, since their bound is of use only near its end. They go on alone if
they leave little of the gap. On a grid, strips replace the cycles that tighten message passing. Strips have most of the
time at first, since their labelings are better than the final ones of search. Without a time limit, each contestant has
one turn, whose length is a number of iterations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.judge import Judge
from graphpart.common.race import Race
from graphpart.crf.anytime_search.refining import Refining
from graphpart.crf.bounds.contestant import Contestant, ContestantParameters
from graphpart.crf.bounds.cutting import Cutting
from graphpart.crf.branch_and_bound.contestant import Branching
from graphpart.crf.certificates.judging import is_far, judge_of_labels
from graphpart.crf.contestants import Expanding, Passing, Relaxing, Searching
from graphpart.crf.exact_solvers.linear_functions import NOMINAL
from graphpart.crf.local_search.icm import improve
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.labeling import trivial_bound
from graphpart.crf.strips.contestant import Stripping
from graphpart.stopping import Stopping

__all__ = ["HardComponent"]

Labels = NDArray[np.int32]
# Odd cycles have shares of the time for themselves, each only if they have left no more than this share of the gap.
TRIALS = ((0.1, 1.0), (0.2, 0.1), (0.3, 0.03))
SOON = 0.02  # largest share of the time for the first labeling
LATE = 0.1  # seconds of its preparation above which it waits if they are more than this share
REFINED = 0.02  # share of the first gap; as long as more is open, regions around the gap wait, then further expansions


class HardComponent:
    """The state of one component.

    Parameters
    ----------
    f : FactorGraph
        Connected, and not acyclic.
    labels : ndarray of int32, shape (n,)
        The labeling to start from.
    stopping : Stopping
        The limits of the start. Its remaining time is the time of the component.
    rng : numpy.random.Generator
    told : callable
        ``told(cost, bound)`` is called after every turn that improved one of these. The bound holds up to rounding.
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
        soon, cost = stopping.child(None if self.limit is None else SOON * self.limit), f.evaluate_labels(labels)
        if self.limit is None or parameters.prepared * f.n <= max(LATE, SOON * self.limit):
            labels, cost = improve(f, labels, soon, "sweep")
            self._first_ends = not soon.check(cost)  # whether no label of the first labeling alone can be improved
        else:
            self._first_ends = False
        seed = int(rng.integers(2**31))
        nominal = NOMINAL if self.limit is None else self.limit
        self.stripping = Stripping(
            f, labels, cost, nominal, lambda: self.passing.passes if self.passing.structured else None
        )
        self.cutting = Cutting(f, labels, cost)
        self.passing = Passing(f, labels, cost, parameters, self.stripping.done, lambda: self.cutting.bound)
        self.searching = Searching(f, labels, cost, parameters, seed)
        self.branching = Branching(f, labels, cost, parameters)
        self.relaxing = Relaxing(f, labels, cost, parameters)
        self.expanding = Expanding(f, labels, cost, parameters, rng)
        self.refining = Refining(f, labels, cost, parameters, lambda: self.passing.passes)
        self.others = (
            self.stripping,
            self.relaxing,
            self.expanding,
            self.refining,
            self.searching,
            self.branching,
        )
        self.contestants = (self.cutting, self.passing, *self.others)
        self.race = Race(
            [self.cutting, self.passing], labels, cost, self.least, self._judge, ready=self._ready, told=told,
        )  # fmt: skip
        self._seconds = nominal  # for the current run
        self._all = self._running = self._trying = False
        self._within = stopping  # of the current run, without the time for proofs

    def _judge(self, labels: Labels) -> Judge:
        """The judge of the best labels of the race."""
        return Judge() if is_far(self.f, self.race.bound, self.race.cost) else judge_of_labels(self.f, labels)

    def begin(self, stopping: Stopping) -> None:
        """Run odd cycles and message passing alone without a time limit; else the race for the time of `stopping`."""
        if stopping.remaining is not None:
            self._prepare(stopping)
        self._run(stopping)
        if self.race.proven:  # up to rounding
            self.passing.certify()

    def run(self, stopping: Stopping) -> bool:
        """Continue the race, then certify the bounds; return whether any contestant had a turn."""
        remaining = stopping.remaining
        self._prepare(stopping)
        if remaining is not None:
            needed = self.passing.proving + (0.0 if self.stripping.grid is None else self.stripping.proving)
            remaining -= min(needed, remaining / 4)
        self._within = stopping.child(remaining)
        turns = self._run(self._within)
        if not self.race.proven:  # however the race ended
            self.searching.collect()
            self.race.take(self.searching)
        if self._may_end(self.passing.proving, stopping):
            self.passing.certify()
        if self.stripping.bound > self.passing.certified and self._may_end(self.stripping.proving, stopping):
            self.stripping.certify()
        improved = self.passing.passes is not None and self.passing.cost <= self.race.cost  # by its rounding
        if not (self._first_ends or improved or self.race.proven):  # where little else had time
            self._first_ends = True
            self.searching.take(*improve(self.f, self.race.labels, self._within, "sweep"))
            self.race.take(self.searching)
        if self.searching.portfolio is None and self.race.proven:
            self.close()
        return turns

    def _may_end(self, seconds: float, stopping: Stopping) -> bool:
        """Whether a proof that takes this number of seconds ends in time or a little late."""
        late = self.parameters.late * max(1.0, self.limit or 0.0)
        return stopping.remaining is None or seconds <= 2 * stopping.remaining + late

    def close(self) -> None:
        """End the search in another thread."""
        self.searching.close()

    def _prepare(self, stopping: Stopping) -> None:
        """Let all contestants take part, for the remaining time."""
        remaining, first = stopping.remaining, self.searching.first_round()
        self._seconds = seconds = NOMINAL if remaining is None else remaining
        if self._searches_late() and self.stripping.grid is None and first <= seconds:
            self.searching.begin(self._stopping)
        if not self._all:
            self._all = True
            if remaining is not None and not self.cutting.done and not self.cutting.dense:
                self._try_cycles(stopping, remaining)
            for one in self.others:
                self.race.join(one)

    def _try_cycles(self, stopping: Stopping, seconds: float) -> None:
        """Give odd cycles the first part of the time, and more as long as little of the gap is left."""
        self._trying = True
        for share, most in TRIALS:
            if self.open_share <= most:
                self.race.run(stopping, share * seconds)
        self._trying = False

    def _ready(self, one: Contestant) -> bool:
        """Whether a contestant may have the next turn, or leaves the time to others or to the proof at the end."""
        left, passes = self._within.remaining, self.passing.passes
        if left is not None and passes is not None and left < passes.proving:
            return False
        if self._trying:
            return one is self.cutting
        if one is self.passing:
            return not self.stripping.bound > self.passing.bound > -math.inf
        if one is self.stripping:
            return not self.passing.structured or self.passing.rests or not self._ready(self.passing)
        if one is self.refining:
            long = self.limit is not None and one.preparing > self.parameters.first_round * self.limit
            return passes is not None and self.open_share <= REFINED and not long and not self._strips_lead()
        if one is self.expanding and one.again and self.open_share <= REFINED:
            return False
        if one is self.searching and (self.searching.begun or self._searches_late()):
            return self.searching.begun or not self._no_search()
        if one is self.cutting and not self.cutting.dense:
            return True
        return not self._strips_lead() and not (one is self.branching and self._too_large)

    @property
    def _too_large(self) -> bool:
        """Whether the component is too large for branch and bound to begin within the time."""
        small = self.f.entries <= self.parameters.affordable * self._seconds
        return self.branching.tree is None and not (
            small and (self.limit is not None or Branching.suits(self.f, self.parameters))
        )

    def _searches_late(self) -> bool:
        """Whether the first round of search takes much of the time, at the pace of message passing in this run."""
        seconds = self.searching.first_round() * self.passing.pace
        return self.limit is not None and seconds > self.parameters.first_round * self.limit

    def _no_search(self) -> bool:
        """Whether a long first round of search should wait, since a bound still rises or the gap is already small."""
        race = self.race
        if self._strips_lead():
            return True
        hard = race.cost == math.inf or race.cost - race.bound > self.parameters.hard * (race.cost - self.least)
        rests = self.passing.rests or not race.is_near(self.passing, self._within)
        return not (rests and hard)

    def _strips_lead(self) -> bool:
        """Whether others leave the time to strips. They do not if tables are structured, so that messages are fast."""
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
        """Continue the race; return whether any contestant had a turn."""
        self._running, turns = True, self.race.run(stopping)
        while not self.race.proven and self.searching.wait(stopping) and not stopping.check(self.cost):
            turns |= self.race.run(stopping)  # no other contestant could do more before the search ended
        self._running = False
        return turns

    @property
    def labels(self) -> Labels:
        """The best labels so far."""
        return self.race.labels

    @property
    def cost(self) -> float:
        """Their energy."""
        return self.race.cost

    @property
    def bound(self) -> float:
        """A lower bound on the energy. While the race runs, it holds up to rounding."""
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
        """Whether a contestant could do more with more time."""
        return self._too_large or any(one.needs > 0 and not one.done for one in self.contestants)

    @property
    def how(self) -> str:
        """The method that gave the result, for a message."""
        return f"by {self.race.prover or 'least entries'}" if self.proven else "by bound and local search"

    @property
    def open_share(self) -> float:
        """The gap, up to rounding, as a share of the gap to the trivial bound."""
        return (self.cost - self.race.bound) / max(self.cost - self.least, 1e-300)

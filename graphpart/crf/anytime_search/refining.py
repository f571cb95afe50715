"""Regions around the gap, as a contestant of a race (see `common/race.py`).

After message passing, the difference between the cost of a labeling and the bound is a sum of terms, one for each
variable and each factor, none of them negative: what their labels cost more than the least cost. Most are zero, and an
optimal labeling differs from the best one only near others. So branch and bound minimises over regions around the
largest terms, from the costs after message passing, whose bound is that of the messages from the start (as Savchynskyy,
Kappes, Swoboda & Schnoerr 2013 solve the whole of such a part). In each sweep over the terms, regions are larger.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.anytime_search import _kernels
from graphpart.crf.anytime_search.regions import Regions
from graphpart.crf.bounds.contestant import HEAVY, MOST, Contestant, ContestantParameters, numbers_in
from graphpart.crf.bounds.passes import Passes
from graphpart.crf.problem import FactorGraph
from graphpart.machine import give_back
from graphpart.stopping import Stopping

__all__ = ["Refining"]

Labels = NDArray[np.int32]
PREPARE = 5.0  # time of the preparation and of the terms, in steps that read all tables once
SMALLEST, LARGEST = 40, 640  # numbers of variables of regions in the first sweep and in the last ones
COVERED = 0.99  # share of the gap whose terms get a region
WORK = 5e9  # nanoseconds of regions without a time limit, about


class Refining(Contestant):
    """Sweeps over the terms of the gap, until regions of the largest size gain nothing.

    Parameters
    ----------
    passes : callable
        Returns the messages of message passing, or None.
    """

    name = "regions"

    def __init__(
        self,
        f: FactorGraph,
        labels: Labels,
        cost: float,
        parameters: ContestantParameters,
        passes: Callable[[], Passes | None],
    ) -> None:
        super().__init__(f, labels, cost)
        self.passes = passes
        self.preparing = PREPARE * parameters.entry * numbers_in(f)  # seconds
        self.done = bool(f.n == 0 or f.domains.min() < 2 or numbers_in(f) > MOST)
        self._regions: Regions | None = None
        self._bound = np.nan  # of the messages that regions begin with
        self._size, self._gained, self._spent = SMALLEST, False, 0.0
        self._places: list[int] = []
        self._covered = np.zeros(0, bool)

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a better labeling, whose gap has other terms."""
        super().offer(labels, cost)
        self._gained = True
        self.done = self.done and self._regions is None

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Perform a turn: some regions, one after the other."""
        if self._regions is None:
            if not self.affords(self.preparing, stopping):
                return
            if numbers_in(self.f) >= HEAVY:
                give_back()
            self._regions = Regions(self.f)
            self._seen = np.zeros(self.f.n, np.int8)
            self._sweep(self._regions)
        labels = self.labels
        while not stopping.check(self.cost):
            while self._places and self._covered[self._places[-1]]:
                self._places.pop()
            if not self._places:
                self.take(labels, self.f.evaluate_labels(labels))
                if self._size == LARGEST and not self._gained:
                    self.done = True
                    break
                self._size = min(LARGEST, 2 * self._size)
                self._sweep(self._regions)
                labels = self.labels
                if not self._places:
                    self.done = True
                    break
            inside = _kernels.around(self._regions, self._size, self._places.pop(), self._seen)
            self._covered[inside[: self._size // 2]] = True
            found, _, took = self._regions.improved(labels, inside, stopping)
            self._gained |= found is not labels
            labels = found
            self._spent += took
            if stopping.seconds >= until if until is not None else self._spent >= WORK:
                break
        self.done |= until is None
        self.take(labels, self.f.evaluate_labels(labels))

    def _sweep(self, regions: Regions) -> None:
        """List the places of the largest terms, the largest last; take over newer messages."""
        passes = self.passes()
        assert passes is not None  # otherwise it has no turn
        if passes.bound != self._bound:
            regions.sent = None  # gives back its memory
            messages, _ = passes.messages()
            regions.reparametrise(messages[: passes.size], passes.exponent)
            self._bound = passes.bound
        terms = _kernels.gap_terms(regions, self.labels).astype(np.float64)
        order = np.argsort(terms, kind="stable")
        most = np.cumsum(terms[order[::-1]])
        count = int(np.searchsorted(most, COVERED * most[-1])) + 1 if most[-1] > 0 else 0
        self._places = order[len(order) - count :].tolist()
        self._covered, self._gained = np.zeros(self.f.n, bool), False

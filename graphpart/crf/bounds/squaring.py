"""Branch and bound over semidefinite relaxations as a contestant of a race: see `common/race.py`."""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from graphpart.common.blas import one_thread
from graphpart.crf.bounds.contestant import Contestant
from graphpart.crf.bounds.semidefinite import LARGEST, WORK
from graphpart.crf.bounds.spin_division import SpinDivision
from graphpart.crf.certificates.squares import bound_of_squares
from graphpart.crf.local_search.icm import improve
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.quadratic_form import quadratic_form
from graphpart.stopping import Stopping

__all__ = ["Squaring"]

Labels = NDArray[np.int32]
DENSE = 3  # least pairs for each variable: in sparser problems odd cycles give a better bound


class Squaring(Contestant):
    """The semidefinite relaxation in whole rounds, divided where it is not enough; for two labels and many pairs.

    The first round is estimated to take `operation` seconds for each cube of the number of spins.

    Attributes
    ----------
    tree : SpinDivision or None
        None if the relaxation is not for this factor graph.
    proving : float
        Estimated seconds for the bound that squares prove.
    """

    name = "semidefinite relaxation"
    proves = True

    def __init__(self, f: FactorGraph, labels: Labels, cost: float, operation: float = 5e-9) -> None:
        super().__init__(f, labels, cost)
        dense = f.n <= LARGEST and np.count_nonzero(np.diff(f.scope_start) == 2) > DENSE * f.n
        q = quadratic_form(f) if dense else None
        self.tree = None if q is None else SpinDivision(q, lambda bound: self.judge.meets(bound, self.cost))
        self.done = self.tree is None
        self._each = 0.0 if q is None else operation * float(q.n) ** 3  # seconds for a round
        self.proving = self._each

    def begins(self, seconds: float) -> bool:
        """Whether the first round was done, or fits into this time together with the proof by squares."""
        return self.tree is not None and (self.tree.work > 0 or self._each + self.proving <= seconds)

    @property
    def proven(self) -> bool:
        """Whether its bound shows that its labels are optimal."""
        return self.judge.meets(self.certified, self.cost)

    def run(self, stopping: Stopping, until: float | None) -> None:
        """A turn; without `until`, some seconds of work, and no more after these."""
        self.go_on(stopping, until, WORK if until is None else None)
        self.done |= until is None

    def go_on(self, stopping: Stopping, until: float | None, work: float | None) -> None:
        """Go on until `stopping` says so, seconds `until` have passed, or after cubes of spins `work`."""
        tree = self.tree
        if tree is None:
            return
        last = math.inf if work is None else tree.work + work
        with one_thread():
            while not self.done and tree.work < last and self.affords(self._each + self.proving, stopping):
                if stopping.check(self.cost):
                    return
                began = stopping.seconds
                tree.round(self.cost)
                self._each = stopping.seconds - began
                self.proving = min(self.proving, self._each)
                if tree.labels is not None:
                    self.take(*improve(self.f, tree.labels, stopping.child(), "sweep"))
                    tree.labels = None
                if tree.divided or tree.done:
                    self.done = tree.done
                    self.certify()
                    self.bound = self.certified
                else:
                    self.know(tree.root.bound)
                if until is not None and stopping.seconds >= until:
                    return
        if until is None:
            self.certify()

    def certify(self) -> None:
        """The bound of all nodes; while there is one node only, that which squares prove. O(variables^3)"""
        if self.tree is None or not self.tree.work:
            return
        if self.tree.divided:
            proven = min(self.tree.bound, self.cost)
        else:
            began = time.perf_counter()
            with one_thread():
                proven = bound_of_squares(self.f, self.tree.root.proof())
            self.proving = time.perf_counter() - began
        self.certified = max(self.certified, self.judge.rounded(proven))

"""Branch and cut over odd cycles as a contestant of a race: see `common/race.py` and `graphpart.maximum_cut`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.binary_quadratic.form import SPARSE
from graphpart.binary_quadratic.two_sides import labels_of_sides, sides_of_labels, signed_graph
from graphpart.crf.bounds.contestant import Contestant
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.quadratic_form import quadratic_form
from graphpart.maximum_cut.branch_and_cut import WORK, BranchAndCut
from graphpart.stopping import Stopping

__all__ = ["Cutting"]

Labels = NDArray[np.int32]
LARGEST = 200_000  # largest number of pairs: beyond this number, a linear program takes too many seconds


class Cutting(Contestant):
    """Branch and cut over odd cycles; for two labels and few pairs for each variable.

    Attributes
    ----------
    solver : BranchAndCut or None
        None before its first turn.
    """

    name = "branch and cut over odd cycles"
    proves = True

    def __init__(self, f: FactorGraph, labels: Labels, cost: float) -> None:
        super().__init__(f, labels, cost)
        self.done = not self.fits(f)
        self.solver: BranchAndCut | None = None

    @staticmethod
    def fits(f: FactorGraph) -> bool:
        """Whether a factor graph has two labels and few pairs: with many, a semidefinite bound is better. O(n + m)"""
        arity = np.diff(f.scope_start)
        if (f.domains != 2).any() or arity.max(initial=0) > 2 or f.has_forbidden:
            return False
        return bool(np.count_nonzero(arity == 2) <= min(LARGEST, SPARSE * f.n))

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a labeling that is better than its own."""
        super().offer(labels, cost)
        if self.solver is not None:
            self.solver.offer(sides_of_labels(labels))

    def run(self, stopping: Stopping, until: float | None) -> None:
        """A turn; without `until` some iterations, and no more after these."""
        self.go_on(stopping, until, WORK if until is None else None)
        self.done |= until is None

    def go_on(self, stopping: Stopping, until: float | None, work: int | None) -> None:
        """Go on until `stopping` says so, seconds `until` have passed, or after iterations `work`."""
        if self.solver is None:
            q = quadratic_form(self.f)
            if q is None:
                self.done = True
                return
            self.solver = BranchAndCut(signed_graph(q), sides_of_labels(self.labels))
        solver = self.solver
        solver.resolution = self.judge.tolerance / 2
        solver.run(stopping, until, work)
        labels = labels_of_sides(solver.sides)
        self.take(labels, self.f.evaluate_labels(labels))
        self.done, self.bound = solver.done, solver.bound
        self.certify()

    @property
    def proven(self) -> bool:
        """Whether its bound shows that its labels are optimal."""
        return self.judge.meets(self.certified, self.cost)

    def certify(self) -> None:
        """Its bound, less the possible rounding error of the form."""
        if self.solver is not None:
            self.certified = max(self.certified, self.judge.rounded(self.solver.certified))

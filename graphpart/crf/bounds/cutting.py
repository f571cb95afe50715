"""Branch and cut as a contestant of a race: see `common/race.py` and `graphpart.maximum_cut`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.binary_quadratic.two_sides import labels_of_sides, sides_of_labels, signed_graph
from graphpart.common.judge import Judge
from graphpart.common.steps import least_step
from graphpart.crf.bounds.contestant import Contestant
from graphpart.crf.certificates.certificate import counted_costs
from graphpart.crf.certificates.judging import steps_of
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.quadratic_form import quadratic_form
from graphpart.crf.problem.shared_tables import absolute_costs
from graphpart.maximum_cut.branch_and_cut import WORK, BranchAndCut, is_dense, is_suitable
from graphpart.stopping import Stopping

__all__ = ["Cutting"]

Labels = NDArray[np.int32]


class Cutting(Contestant):
    """Branch and cut over odd cycles where pairs are few, over semidefinite relaxations where they are many.

    Attributes
    ----------
    solver : BranchAndCut or None
        None before its first turn.
    dense : bool
        Whether it is over semidefinite relaxations.
    """

    proves = True

    def __init__(self, f: FactorGraph, labels: Labels, cost: float) -> None:
        super().__init__(f, labels, cost)
        arity = np.diff(f.scope_start)
        pairs = int(np.count_nonzero(arity == 2))
        suits = (f.domains == 2).all() and arity.max(initial=0) <= 2 and not f.has_forbidden
        self.done = not (suits and is_suitable(f.n + 1, pairs))  # label 0 is a node, too
        self.dense = is_dense(f.n + 1, pairs)
        self.name = "branch and cut over " + ("semidefinite relaxations" if self.dense else "odd cycles")
        self.solver: BranchAndCut | None = None

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a labeling that is better than its own."""
        super().offer(labels, cost)
        if self.solver is not None:
            self.solver.offer(sides_of_labels(labels))

    def run(self, stopping: Stopping, until: float | None) -> None:
        """A turn; without `until` some iterations, and no more after these."""
        self.go_on(stopping, until, WORK if until is None else None)
        self.done |= until is None

    def go_on(self, stopping: Stopping, until: float | None, work: float | None) -> None:
        """Go on until `stopping` says so, seconds `until` have passed, or after iterations `work`."""
        if self.solver is None:
            q = quadratic_form(self.f)
            if q is None:
                self.done = True
                return
            g, f, (step, error) = signed_graph(q), self.f, steps_of(self.f)
            terms = 3 * int(np.bincount(f.scope).max(initial=0)) + 8  # of a sum of four entries of each table
            rounding = 2.0**-51 * terms * (abs(f.constant) + absolute_costs(f))
            self._unit, self._error = 1.0, 0.0 if step and not error else rounding
            if not step:
                step, error = least_step(*counted_costs(f))
            if error and Judge(step=step, error=error).has_step and 16 * rounding < step:
                g, self._unit, self._error = g.in_units(step), step, error
            self.solver = BranchAndCut(g, sides_of_labels(self.labels))
        solver = self.solver
        solver.resolution = 0.0 if solver.g.step else self.judge.tolerance / 2
        solver.run(stopping.child(plus=math.inf), until, work)
        labels = labels_of_sides(solver.sides)
        self.take(labels, self.f.evaluate_labels(labels))
        self.done, self.bound, self._needs = solver.done, self._unit * solver.bound, solver.needs
        self.certify()

    @property
    def proven(self) -> bool:
        """Whether its bound shows that its labels are optimal."""
        return self.judge.meets(self.certified, self.cost)

    def certify(self) -> None:
        """Its bound, less the possible error of rounding the entries of the tables or their sums."""
        if self.solver is not None:
            bound = self.judge.rounded(self._unit * self.solver.certified - self._error)
            self.certified = max(self.certified, bound)

"""What is done to a problem with groups before any search: matchings, joins of some optimum, and pairs that are listed.

1. Components in which two groups at price inf have all elements are solved as matchings (see `assignment`).
2. Elements that some optimum joins are contracted (see `persistency`), if there are too many pairs of one group to list
   them. Mostly, small components are left.
3. The pairs of one group within the components that are left are listed, unless they are too many.

All of it leaves problems without groups as they are.
"""

from __future__ import annotations

import numpy as np

from graphpart.partition.bounds.assignment import Assignment, assign
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.contraction import Contraction
from graphpart.partition.problem.explicit import explicit
from graphpart.partition.reduction.persistency import reduced
from graphpart.stopping import Stopping

__all__ = ["Beforehand", "has_groups"]

SHARE = 0.4  # of the time that is left, for joins of some optimum


def has_groups(p: SetPartition) -> bool:
    """Whether a problem has groups whose pairs are not listed."""
    return p.background is not None and p.background.groups is not None


class Beforehand:
    """A problem without required joins, with the same optimum up to a constant.

    Parameters
    ----------
    p : SetPartition
    stopping : Stopping

    Attributes
    ----------
    problem : SetPartition
    constant : float
        What a partition of `p` costs more than the partition of `problem` that it is lifted from.
    assigned : Assignment or None
        The optimum of some of the components of `problem`.
    """

    def __init__(self, p: SetPartition, stopping: Stopping) -> None:
        self._contraction = Contraction(p)
        self.problem, self.assigned = self._contraction.problem, None
        if has_groups(self.problem):
            self._look(p, stopping)
        self.constant = self._contraction.constant

    def _look(self, p: SetPartition, stopping: Stopping) -> None:
        self.assigned: Assignment | None = assign(self.problem, stopping)
        background = p.background
        if background is None or not background.repels or (self.assigned is not None and self.assigned.is_all):
            return
        left = stopping.remaining
        small = reduced(p, stopping.child(seconds=None if left is None else SHARE * left, plus=np.inf))
        self._contraction = Contraction(p, small.persistency.labels)
        self.problem = self._contraction.problem
        found = explicit(self.problem)
        if found is not None:
            self.problem, self.assigned = found, None
        elif self.assigned is not None:
            self.assigned = assign(self.problem, stopping)

    def project(self, labels: Labels) -> Labels:
        """Canonical labels of `problem` from labels of all elements; all alone if those cannot be."""
        found = self._contraction.project(labels)
        if np.isfinite(self.problem.evaluate_labels(found)):
            return found
        return np.arange(self.problem.n, dtype=np.int32)

    def lift(self, labels: Labels) -> Labels:
        """Labels of all elements from labels of `problem`."""
        return self._contraction.lift(labels)

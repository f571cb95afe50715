"""Steps before the search of a problem with groups: matchings, joins of some optimum, and listing of pairs.

1. Components in which two groups at price inf have all elements are solved as matchings (see `assignment`).
2. Elements that some optimum joins are contracted (see `persistency`), if there are too many pairs of one group to list
   them. In most cases, small components remain.
3. The pairs of one group within the components that are left are listed, unless they are too many.
4. A first bound is proven by a packing, or by group stars where pairs are not listed, before local search begins.

Problems without groups are not changed.
"""

from __future__ import annotations

import math

import numpy as np

from graphpart.partition.bounds.assignment import Assignment, assign, sides_of
from graphpart.partition.bounds.cycle_packing import pack
from graphpart.partition.bounds.group_stars import GroupStars
from graphpart.partition.bounds.trivial_bound import lowered
from graphpart.partition.certificates.certificate import proven_bound
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.forms import (
    explicit,
    is_form,
    with_groups_apart,
    with_two_groups,
    without_connectedness,
)
from graphpart.partition.problem.labels import agreement
from graphpart.partition.reduction.persistency import reduced
from graphpart.stopping import Stopping

__all__ = ["Beforehand", "fit_for_auto", "has_groups"]

SHARE = 0.5  # share of the remaining time for finding joins of an optimal partition
BOUND = 0.1  # share of the remaining time for a first bound


def has_groups(p: SetPartition) -> bool:
    """Whether a problem has groups whose pairs are not listed."""
    return p.background is not None and p.background.groups is not None


def fit_for_auto(p: SetPartition) -> SetPartition:
    """The form of a problem from which `auto` and `exact` start: groups stay if each component is a matching.

    Otherwise the pairs of groups are listed, unless they are too many. Connectedness is left out where it is for free.
    """
    p = without_connectedness(p)
    q = with_groups_apart(p)
    if not has_groups(q):
        return with_two_groups(p) or explicit(p) or p
    assert q.background is not None and q.background.groups is not None
    component = q._components()
    alone = np.bincount(component, minlength=1)[component] == 1
    if q.background.repels and not len(q.must_join) and (alone | (sides_of(q.background.groups, component) >= 0)).all():
        return q
    if 8 * q.m < p.n * p.n:
        p = q
    return explicit(p) or p


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
        The cost of a partition of `p` minus that of the partition of `problem` from which it is lifted.
    assigned : Assignment or None
        The optimum of some of the components of `problem`.
    bound : float
        No partition of `p` costs less; -inf without groups.
    """

    def __init__(self, p: SetPartition, stopping: Stopping) -> None:
        self._apart = is_form(p)  # so that pairs between components are not listed
        self._contraction = Contraction(p)
        self.problem, self.bound = self._contraction.problem, -math.inf
        self.assigned: Assignment | None = None
        grouped = has_groups(self.problem)
        if grouped:
            self._look(p, stopping)
        self.constant = self._contraction.constant
        if grouped:
            self.bound = self.constant + self._first_bound(stopping)
            stopping.raise_bound(self.bound)

    def _look(self, p: SetPartition, stopping: Stopping) -> None:
        self.assigned = assign(self.problem, stopping)
        background = p.background
        if background is None or not background.repels or (self.assigned is not None and self.assigned.is_all):
            return
        left = stopping.remaining
        small = reduced(p, stopping.child(seconds=None if left is None else SHARE * left, plus=math.inf))
        self._contraction = Contraction(p, small.persistency.labels)
        self.problem = self._contraction.problem
        found = explicit(self.problem)
        if found is not None:
            self.problem, self.assigned, self._apart = found, None, True
        elif self.assigned is not None:
            self.assigned = assign(self.problem, stopping)

    def _first_bound(self, stopping: Stopping) -> float:
        q, left = self.problem, stopping.remaining
        if self.assigned is not None and self.assigned.is_all:
            return self.assigned.bound
        inner = stopping.child(seconds=None if left is None else BOUND * left, plus=math.inf)
        if q.background is None:
            return lowered(q, proven_bound(q, *pack(q, inner)))
        assert q.background.groups is not None
        u, v, cost = q._listed()
        stars = GroupStars(u, v, cost, q.background.groups)
        stars.improve(np.maximum(-cost, 0.0), inner)
        return proven_bound(q, *stars.found())

    def project(self, labels: Labels) -> Labels:
        """Canonical labels of `problem` from labels of all elements; all elements alone if the labels do not fit.

        No subset has elements of two components, where pairs between components are not listed.
        """
        found = self._contraction.project(labels)
        if self._apart:
            found = agreement(found, self.problem._components())
        if np.isfinite(self.problem._evaluate_labels(found)):
            return found
        return np.arange(self.problem.n, dtype=np.int32)

    def lift(self, labels: Labels) -> Labels:
        """Labels of all elements from labels of `problem`."""
        return self._contraction.lift(labels)

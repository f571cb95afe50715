"""Partitions into at most two clusters as a contestant of a race: branch and cut.

A pair that is paid if its elements are together is an edge of opposite weight that is paid if they are on different
sides (see `graphpart.maximum_cut`). The bound of that problem is for two clusters. Bounds without the limit are weak.

But from the best sides known, they are not. Whether two elements stay as these have them, both on one side or on both,
is a partition into two clusters, too. Its costs are those of the problem, negated for the pairs between both sides, and
few of them are positive. A packing of its conflicted cycles takes little time (`switched_bound`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.judge import Judge
from graphpart.common.steps import least_step
from graphpart.maximum_cut.branch_and_cut import WORK, BranchAndCut, is_dense, is_suitable
from graphpart.maximum_cut.signed_graph import Sides, SignedGraph
from graphpart.partition.bounds.lower_bound import lower_bound
from graphpart.partition.certificates.judging import judge_of_partition
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.derived import pairs_with_cost
from graphpart.stopping import Stopping

__all__ = ["SidesContestant", "TwoClusters", "allows_all_sides", "signed_graph_of", "switched_bound"]


def allows_all_sides(p: SetPartition) -> bool:
    """Whether a problem has costs of listed pairs, and no requirement but that there are at most two clusters."""
    limits = p._limits
    return (
        limits is not None
        and limits.most == 2
        and limits.max_size is None
        and p.background is None
        and p.groups is None
        and p.lifted is None
        and not len(p.must_join)
        and not p._has_must_cut
    )


def signed_graph_of(p: SetPartition) -> SignedGraph:
    """The signed graph whose sides cost what two clusters cost. O(n + m)"""
    u, v, costs = p._listed()
    return SignedGraph.from_pairs(p.n, u, v, -costs, math.fsum(costs.tolist()))


def switched_bound(p: SetPartition, labels: Labels, stopping: Stopping) -> float:
    """No partition into at most two clusters costs less, of a problem that `allows_all_sides`; labels are 0 and 1.

    For labels x and y of two clusters, x XOR y are two clusters. A pair is together in x if it is together in both or
    in none of y and x XOR y. So x costs as much as the sum of the costs of the pairs that y cuts, and x XOR y with the
    costs of these pairs negated. Of the latter, cycle packing bounds all partitions.
    """
    u, v, costs = p._listed()
    cut = labels[u] != labels[v]
    q = SetPartition.from_pairs(p.n, (u, v), np.where(cut, -costs, costs))
    packed = lower_bound(q, "cycle-packing", callback=lambda _, bound: stopping.check(math.inf)).bound
    terms = [*costs[cut].tolist(), packed]
    total = math.fsum(terms)
    return total if math.fsum([*terms, -total]) >= 0 else math.nextafter(total, -math.inf)  # rounded down


class SidesContestant:
    """A contestant of a race that finds sides of all elements; see `common/race.py`.

    Parameters
    ----------
    p : SetPartition
        One that `allows_all_sides`.
    labels : ndarray of int32, shape (n,)
        Feasible labels.
    """

    def __init__(self, p: SetPartition, labels: Labels) -> None:
        self.p, self.labels, self.cost, self.done = p, labels, p._evaluate_labels(labels), False
        self.needs = 0.0

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a better partition."""
        self.labels, self.cost = labels, cost

    def take(self, sides: NDArray[Any]) -> None:
        """Take over sides, if they cost less and are as many clusters as are required."""
        labels = canonical(sides.astype(np.int32))
        cost = self.p._evaluate_labels(labels)
        assert self.p._limits is not None
        if cost < self.cost and self.p._limits.violation(labels) is None:
            self.labels, self.cost = labels, cost


class TwoClusters(SidesContestant):
    """Branch and cut for a problem that allows at most two clusters and has nothing but costs of listed pairs."""

    proves = True

    def __init__(self, p: SetPartition, labels: Labels) -> None:
        super().__init__(p, labels)
        g, self._judge = signed_graph_of(p), judge_of_partition(p)
        step, error = (self._judge.step, self._judge.error) if self._judge.step else least_step(g.weight)
        self._unit, self._error = 1.0, 0.0
        if error and Judge(step=step, error=error).has_step:  # whole numbers, up to the error
            g, self._unit, self._error = g.in_units(step), step, error
        dense = is_dense(g.n, g.m, g.step)
        self._sparse = not dense
        self._packed = -math.inf  # the largest `switched_bound`,
        self._packed_at: Labels | None = None  # and the labels of the last one
        self.name = "branch and cut over " + ("semidefinite relaxations" if dense else "odd cycles")
        self.solver = BranchAndCut(g, self._sides(labels))
        self.solver.resolution = 0.0 if g.step else self._judge.tolerance / 2

    @staticmethod
    def fits(p: SetPartition) -> bool:
        """Whether a problem has the form that is needed, and is small enough or sparse. O(m)"""
        return allows_all_sides(p) and is_suitable(p.n, pairs_with_cost(p))

    @property
    def bound(self) -> float:
        """No feasible partition costs less; where two clusters are required and one is better, its own cost is more."""
        return self._judge.rounded(max(self._packed, self._unit * self.solver.certified - self._error))

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a better partition."""
        super().offer(labels, cost)
        self.solver.offer(self._sides(labels))

    def run(self, stopping: Stopping, until: float | None) -> None:
        """A turn; without `until` some iterations."""
        if self._sparse and self._packed_at is not self.labels:
            self._packed_at = self.labels
            self._packed = max(self._packed, switched_bound(self.p, self.labels, stopping))
        self.solver.run(stopping.child(plus=math.inf), until, WORK if until is None else None)
        self.take(self.solver.sides)
        self.done, self.needs = self.solver.done, self.solver.needs

    @staticmethod
    def _sides(labels: Labels) -> Sides:
        sides: Sides = (labels != 0).astype(np.uint8)
        return sides

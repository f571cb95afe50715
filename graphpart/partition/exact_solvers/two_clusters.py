"""Partitions into at most two clusters as a contestant of a race: branch and cut over odd cycles.

A pair that is paid if its elements are together is an edge of opposite weight that is paid if they are on different
sides (see `graphpart.maximum_cut`). The bound of that problem is for two clusters. Bounds without the limit are weak.
"""

from __future__ import annotations

import math

import numpy as np

from graphpart.maximum_cut.branch_and_cut import WORK, BranchAndCut
from graphpart.maximum_cut.signed_graph import Sides, SignedGraph
from graphpart.partition.certificates.judging import judge_of_partition
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.derived import pairs_with_cost
from graphpart.stopping import Stopping

__all__ = ["TwoClusters", "allows_all_sides"]

SPARSE = 16  # most pairs per element for which odd cycles are worth it


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


class TwoClusters:
    """Branch and cut for a problem that allows at most two clusters and has nothing but costs of listed pairs.

    Parameters
    ----------
    p : SetPartition
        One that `fits`.
    labels : ndarray of int32, shape (n,)
        Feasible labels.
    """

    name, proves, needs = "branch and cut over odd cycles", True, 0.0

    def __init__(self, p: SetPartition, labels: Labels) -> None:
        self.p, self.labels, self.cost = p, labels, p._evaluate_labels(labels)
        u, v, costs = p._listed()
        graph = SignedGraph.from_pairs(p.n, u, v, -costs, float(costs.sum()))
        self.solver = BranchAndCut(graph, self._sides(labels))
        self._judge = judge_of_partition(p)
        self.solver.resolution = self._judge.tolerance / 2
        self.done = False

    @staticmethod
    def fits(p: SetPartition) -> bool:
        """Whether a problem has the form that is needed, and few enough pairs. O(m)"""
        return allows_all_sides(p) and pairs_with_cost(p) <= SPARSE * p.n

    @property
    def bound(self) -> float:
        """No feasible partition costs less; where two clusters are required and one is better, its own cost is more."""
        return self._judge.rounded(self.solver.certified)

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a better partition."""
        self.labels, self.cost = labels, cost
        self.solver.offer(self._sides(labels))

    def run(self, stopping: Stopping, until: float | None) -> None:
        """A turn; without `until` some iterations."""
        self.solver.run(stopping.child(plus=math.inf), until, WORK if until is None else None)
        labels = canonical(self.solver.sides.astype(np.int32))
        cost = self.p._evaluate_labels(labels)
        feasible = self.p._limits is not None and self.p._limits.violation(labels) is None
        if feasible and cost < self.cost:
            self.labels, self.cost = labels, cost
        self.done = self.solver.done

    @staticmethod
    def _sides(labels: Labels) -> Sides:
        sides: Sides = (labels != 0).astype(np.uint8)
        return sides

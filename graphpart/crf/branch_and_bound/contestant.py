"""Branch and bound as a contestant of a race: see `common/race.py`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds.contestant import Contestant, ContestantParameters
from graphpart.crf.branch_and_bound.solver import PREPARING, BranchAndBound
from graphpart.crf.problem import FactorGraph
from graphpart.stopping import Stopping

__all__ = ["Branching"]

Labels = NDArray[np.int32]
FEWEST = 64  # nodes of a turn without a time limit, below which there is none


class Branching(Contestant):
    """Branch and bound. Its preparation counts as a part of the first turn.

    Parameters
    ----------
    iterations : int, optional
        Of message passing before the first node, at most.

    Attributes
    ----------
    nodes : int
        Number of nodes of a turn without a time at which it ends.
    tree : BranchAndBound or None
        The search, once it was prepared.
    """

    name = "branch and bound"
    proves = True

    def __init__(
        self,
        f: FactorGraph,
        labels: Labels,
        cost: float,
        parameters: ContestantParameters,
        iterations: int | None = None,
    ) -> None:
        super().__init__(f, labels, cost)
        self.parameters, self.iterations = parameters, iterations
        self.nodes = max(1, int(parameters.visited / max(1, f.entries)))
        self.tree: BranchAndBound | None = None

    @staticmethod
    def suits(f: FactorGraph, parameters: ContestantParameters) -> bool:
        """Whether it is worth its preparation without a time limit: a first dive has a node for each variable."""
        return FEWEST * f.entries <= parameters.visited

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a labeling if it is better than the own one."""
        super().offer(labels, cost)
        if self.tree is not None:
            self.tree.offer(labels)

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Perform a turn. Without `until`, it has `nodes` nodes."""
        remaining = stopping.remaining
        if self.tree is None:
            if not self.affords(self.parameters.shrinking * self.f.entries, stopping):
                return
            share = None if remaining is None else PREPARING * remaining
            self.tree = BranchAndBound(self.f, self.labels, stopping.child(share, self.iterations))
            if until is not None and remaining is not None:
                until = max(until, stopping.seconds + PREPARING * remaining / 4)
        if until is None:
            self.done = self.tree.run(stopping, self.nodes)
        else:
            self.done = self.tree.run(stopping.child(until - stopping.seconds), -1, stopping)
        self.take(self.tree.labels, self.tree.cost)
        self.bound = self.certified = self.tree.bound
        if self.tree.proven:
            self.bound = self.cost

"""Branch and bound as a contestant of a race: see `common/race.py`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds.contestant import Contestant
from graphpart.crf.branch_and_bound.solver import BranchAndBound
from graphpart.crf.problem import FactorGraph
from graphpart.stopping import Stopping

__all__ = ["Branching", "BranchingParameters"]

Labels = NDArray[np.int32]


@dataclass(frozen=True)
class BranchingParameters:
    """Estimated durations and limits of branch and bound."""

    shrinking: float = 2e-7  #: seconds per table entry to prepare the search
    preparation: float = 0.1  #: share of the remaining time for message passing before the first node
    iterations: int | None = None  #: largest number of iterations of message passing before the first node
    nodes: int = 20_000  #: largest number of nodes of a turn if there is no time limit
    visited: float = 2.0**23  #: largest number of table entries times nodes if there is no time limit: some seconds
    branched: float = 2.0**18  #: largest number of table entries of all tables, per second left


class Branching(Contestant):
    """Branch and bound. Its preparation counts as a part of the first turn.

    Attributes
    ----------
    nodes : int
        Number of nodes of a turn without a time at which it ends.
    tree : BranchAndBound or None
        The search, once it was prepared.
    """

    name = "branch and bound"
    proves = True

    def __init__(self, f: FactorGraph, labels: Labels, cost: float, parameters: BranchingParameters) -> None:
        super().__init__(f, labels, cost)
        self.parameters = parameters
        self.nodes = max(1, min(parameters.nodes, int(parameters.visited / max(1, len(f.tables)))))
        self.tree: BranchAndBound | None = None

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a labeling if it is better than the own one."""
        super().offer(labels, cost)
        if self.tree is not None:
            self.tree.offer(labels)

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Perform a turn. Without `until`, it has `nodes` nodes."""
        parameters, remaining = self.parameters, stopping.remaining
        if self.tree is None:
            if not self.affords(parameters.shrinking * len(self.f.tables), stopping):
                return
            share = None if remaining is None else parameters.preparation * remaining
            self.tree = BranchAndBound(self.f, self.labels, stopping.child(share, parameters.iterations))
            if until is not None and remaining is not None:
                until = max(until, stopping.seconds + parameters.preparation * remaining / 4)
        if until is None:
            self.done = self.tree.run(stopping, self.nodes)
        else:
            self.done = self.tree.run(stopping.child(until - stopping.seconds), -1, stopping)
        self.take(self.tree.labels, self.tree.cost)
        self.bound = self.certified = self.tree.bound
        if self.tree.proven:
            self.bound = self.cost

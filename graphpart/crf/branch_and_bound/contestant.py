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
    """What branch and bound may take."""

    shrinking: float = 2e-7  #: seconds for each entry of all tables, to prepare the search
    preparation: float = 0.05  #: share of the time that is left for message passing before
    iterations: int | None = None  #: of message passing before, at most
    first_nodes: float = 0.02  #: share of the time that is left for the first nodes
    renewing: float = 0.4  #: share of the time that is left, in parts of which a better bound at the root is looked for
    nodes: int = 20_000  #: where there is no time limit, at most,
    branched_in_all: float = 2.0**23  #: and this many entries of all tables times nodes, which take some seconds
    branched: float = 2.0**18  #: entries of all tables for each second that is left, up to which it is tried


class Branching(Contestant):
    """Branch and bound. Its preparation counts as a part of the first turn.

    Attributes
    ----------
    nodes : int
        Of a turn without a time at which it ends.
    tree : BranchAndBound or None
    """

    name = "branch and bound"
    proves = True

    def __init__(self, f: FactorGraph, labels: Labels, cost: float, parameters: BranchingParameters) -> None:
        super().__init__(f, labels, cost)
        self.parameters = parameters
        self.nodes = max(1, min(parameters.nodes, int(parameters.branched_in_all / max(1, len(f.tables)))))
        self.tree: BranchAndBound | None = None

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a labeling that is better than its own."""
        super().offer(labels, cost)
        if self.tree is not None:
            self.tree.offer(labels)

    def run(self, stopping: Stopping, until: float | None) -> None:
        """A turn; without `until` so many nodes."""
        parameters, remaining = self.parameters, stopping.remaining
        if self.tree is None:
            if not self.affords(parameters.shrinking * len(self.f.tables), stopping):
                return
            share = None if remaining is None else parameters.preparation * remaining
            self.tree = BranchAndBound(self.f, self.labels, stopping.child(share, parameters.iterations))
            if until is not None and remaining is not None:
                until = max(until, stopping.seconds + parameters.first_nodes * remaining)
        if until is None:
            self.done = self.tree.run(stopping, self.nodes)
        else:
            renewing = stopping.child(parameters.renewing * (stopping.remaining or 0.0))
            self.done = self.tree.run(stopping.child(until - stopping.seconds), -1, renewing)
        self.take(self.tree.labels, self.tree.cost)
        self.bound = self.certified = self.tree.bound
        if self.tree.proven:
            self.bound = self.cost

"""Parameters, counts of work, and the interface, for the tree of one block and for the whole problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from graphpart.partition.problem import Labels, SetPartition
from graphpart.stopping import Stopping

__all__ = ["TreeParameters", "WhatIsLeft", "Whole", "Work"]


@dataclass(frozen=True)
class TreeParameters:
    """Parameters of the tree."""

    resolution: float = 1e-7  #: smaller differences of cost do not count, relative to the largest cost that may be paid
    idle: int = 4  #: after this number of rounds without progress, a vertex is computed or the node is divided
    progress: float = 0.01  #: least share of the gap of a node that a round has to close to count as progress
    converged: float = 5e-4  #: the same share at the root of a problem with regions
    window: int = 5  #: number of last rounds whose gain predicts how fast the bound rises
    most_rounds: float = 20.0  #: a node is divided if more rounds than this are predicted until it is closed
    remembered: int = 16  #: largest number of open nodes whose starting points are kept
    vertex_terms: int = 3_000  #: largest number of terms of a relaxation of which the simplex method computes a vertex
    semidefinite: int = 80  #: least number of elements for the semidefinite relaxation
    far: float = (
        0.01  #: the gap, as a share of the cost, above which the semidefinite relaxation gains more than division
    )
    columns: tuple[int, int] = (30, 400)  #: least and largest number of elements for column generation
    slow: float = 0.05  #: column generation begins after two rounds in turn that close at most this share of the gap
    shrunk: float = 0.3  #: share of the pairs with a cost that are fixed before the remaining problem is solved anew
    regions: int = 300  #: least number of elements of a sparse problem that is solved by regions at the root
    effort: int = 16  #: largest effort for regions; the effort starts at 1 and is doubled while there is a gap


@dataclass
class Work:
    """Counts of work."""

    nodes: int = 0
    rounds: int = 0
    cuts: int = 0
    lp_seconds: float = 0.0
    columns: int = 0  #: number of blocks that column generation took over


class Whole(Protocol):
    """The interface of the whole problem to the tree of one of its blocks."""

    cost: float
    work: Work
    stopping: Stopping
    threads: int
    parameters: TreeParameters

    def rest_of(self, tree: Any, p: SetPartition, labels: Labels, merged: Labels) -> WhatIsLeft:
        """The remaining problem of a tree, with elements merged."""

    def solve_region(self, p: SetPartition, labels: Labels, seconds: float) -> tuple[Labels, float, bool]:
        """Better labels of a small problem, a lower bound of its cost, and whether the labels are optimal."""

    def note(self, cost: float, bound: float) -> None:
        """Take note of a change of the cost and of the bound of the tree."""

    def ends(self) -> bool:
        """Whether the run has to end."""


class WhatIsLeft(Protocol):
    """The remaining problem of a tree. It tells the tree of better partitions and bounds, see `Tree.hear`."""

    @property
    def bound(self) -> float:
        """No partition of it costs less, in the tree's problem."""

    @property
    def proven(self) -> bool:
        """Whether its best partition is optimal."""

    def steps(self) -> Iterator[None]:
        """Solve it, with pauses."""

    def offer(self, labels: Labels) -> None:
        """Take over a partition of the tree's problem, if it is better."""

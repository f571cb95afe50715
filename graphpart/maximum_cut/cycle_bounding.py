"""Odd cycles at the nodes of a tree: where edges are few (see `odd_cycles`).

1. Rounds of inequalities follow one another while they raise the bound. When they no longer do, those at inner points
   follow, and costs are changed a little, which may make values whole (see `OddCycles.settle`).
2. An edge whose reduced cost exceeds the gap between the bound and the best known sides keeps its value in all better
   sides of the node, so it is fixed, for its halves, too.
3. Where rounds no longer raise the bound by much, the node is divided in two: an edge is satisfied, or frustrated.
   Sides of nodes that fixed edges connect determine each other, so further edges are fixed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.maximum_cut import _kernels
from graphpart.maximum_cut.bounding import Step
from graphpart.maximum_cut.odd_cycles import OddCycles, is_steady
from graphpart.maximum_cut.signed_graph import Sides, SignedGraph
from graphpart.stopping import Stopping

__all__ = ["CycleBounding"]

FREE = 2  # the value of an edge that is not fixed
INACCURATE = 100_000  # edges of all nodes that are divided although their values are whole
Values = NDArray[np.int8]


class CycleBounding:
    """See `Bounding`.

    Parameters
    ----------
    g : SignedGraph
    remaining : callable
        The seconds that a linear program may take.
    """

    needs, dives = 0.0, True

    def __init__(self, g: SignedGraph, remaining: Callable[[], float]) -> None:
        self.g, self.relaxation = g, OddCycles(g, remaining)
        self.bound = g.least
        self.fixed = np.full(g.m, FREE, np.int8)  # 1 if an edge is frustrated in all better sides of the node, or 0
        self._bounds: list[float] = []  # of the rounds of this node
        self._solved, self._inaccurate = False, 0

    @property
    def work(self) -> float:
        """Iterations of the simplex method; one of the interior point method counts as a hundred."""
        return self.relaxation.program.iterations

    def limit(self, work: float) -> None:
        """Interrupt a linear program when `work` exceeds this."""
        self.relaxation.program.most = work

    def enter(self, start: Values, decision: tuple[int, int]) -> bool:
        """Decide whether an edge is frustrated, and all that follows; False if that contradicts what is decided."""
        g, (edge, frustrated) = self.g, decision
        fixed = self.fixed = start.copy()
        self._bounds = []
        fixed[edge] = frustrated
        known = np.flatnonzero(fixed != FREE).astype(np.int32)
        apart = (fixed == 1) ^ (g.negative != 0)
        side, component = _kernels.spanning_sides(g.n, g.u, g.v, apart.astype(np.uint8), known)
        inside = component[g.u] == component[g.v]
        implied = (side[g.u] ^ side[g.v] ^ g.negative)[inside].astype(np.int8)
        if ((fixed[inside] != FREE) & (fixed[inside] != implied)).any():
            return False
        fixed[inside] = implied
        return True

    def solve(self) -> bool:
        """One linear program."""
        fixed = self.fixed
        self.relaxation.confine((fixed == 1).astype(np.float64), (fixed != 0).astype(np.float64))
        self._solved = self.relaxation.solve()
        self.bound = self.relaxation.bound
        return self._solved

    def sides(self) -> Sides:
        """Sides that agree with the most decided values."""
        return self.relaxation.sides()

    def advance(self, cost: float, stopping: Stopping) -> Step:
        """Fix edges, add inequalities, or change the costs a little."""
        relaxation, bounds = self.relaxation, self._bounds
        if not self._solved:
            return Step.DIVIDE if relaxation.program.failed else Step.GO_ON
        self._fix(cost)
        bounds.append(self.bound)
        fractional = relaxation.fractional
        steady = is_steady(bounds, cost - self.bound)
        if steady and relaxation.settle():
            bounds.clear()
        elif steady and fractional.any():
            return Step.DIVIDE
        elif not relaxation.separate(stopping) and not relaxation.program.inner and not stopping.check(cost):
            # Without fractional values, they are those of known sides, and the bound is their cost up to the accuracy
            # of the linear program. Where this is not enough, large weights are in the way: they are decided first.
            self._inaccurate += 0 if fractional.any() else self.g.m
            return Step.DIVIDE if fractional.any() or self._inaccurate <= INACCURATE else Step.CLOSE
        return Step.GO_ON

    def _fix(self, cost: float) -> None:
        """Fix edges that keep their values in all better sides of the node.

        The bound has to be the one that the reduced costs belong to. The reduced cost of an edge that is fixed already
        says nothing.
        """
        missing = cost - self.relaxation.bound + 2.0**-40 * float(np.abs(self.g.weight).sum())
        missing -= self.g.step  # better sides cost less by this much at least
        reduced, free = self.relaxation.reduced, self.fixed == FREE
        self.fixed[free & (reduced > missing)] = 0
        self.fixed[free & (-reduced > missing)] = 1

    def halves(self) -> tuple[Values, tuple[int, int], tuple[int, int]] | None:
        """The fixed values, and both values of a free edge."""
        relaxation = self.relaxation
        edge = relaxation.edge_to_divide()
        if edge is None:  # the only point that is left
            relaxation.values = relaxation.program.lower.copy()
            return None
        first = int(relaxation.values[edge] > 0.5)
        return self.fixed, (edge, first), (edge, 1 - first)

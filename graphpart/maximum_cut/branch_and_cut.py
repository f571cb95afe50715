"""Branch and cut: sides of least cost, with a proof that there are no better ones.

1. The graph is reduced (see `reduction`).
2. The root is the relaxation of `odd_cycles`. Rounds of inequalities follow one another while they raise the bound.
   When they no longer do, costs are changed a little, which may make values whole (see `OddCycles.tilt`).
3. An edge whose reduced cost exceeds the gap between the bound and the best known sides keeps its value in all better
   sides, so it is fixed. 4. Where rounds no longer raise the bound by much, the node is divided in two: an edge is
   satisfied, or frustrated. Sides of nodes that fixed edges connect determine each other, so further edges are fixed. A
   node is closed when its bound, rounded up to the next possible cost, reaches the best cost known, or when all of its
   edges are fixed. The node of the least bound is next, but after a division its likelier half.
5. After each linear program, sides that agree with its most decided values are improved by changes of single nodes.

See Barahona, Grötschel, Jünger & Reinelt 1988; Charfreitag, Jünger, Mallach & Mutzel 2022.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.common.steps import round_up
from graphpart.maximum_cut import _odd_walks
from graphpart.maximum_cut.odd_cycles import OddCycles, is_steady
from graphpart.maximum_cut.reduction import Reduction
from graphpart.maximum_cut.signed_graph import Sides, SignedGraph
from graphpart.stopping import Stopping

__all__ = ["WORK", "BranchAndCut"]

Floats = NDArray[np.float64]
WORK = 20_000  # iterations of the simplex method of a turn without a time limit: some seconds


@dataclass(order=True)
class _Node:
    """An open node: edges that are fixed, and a bound."""

    bound: float
    number: int
    decided: tuple[tuple[int, int], ...]  # edges, and whether each is frustrated


class BranchAndCut:
    """Sides of least cost and a bound; goes on where it was stopped.

    Parameters
    ----------
    g : SignedGraph
    sides : ndarray of uint8
        Sides to start from.

    Attributes
    ----------
    sides, cost : ndarray of uint8, float
        The best sides known.
    bound : float
        No sides cost less.
    done : bool
        Whether no node is open: then `bound` is at most `resolution` below `cost`, unless a linear program was not
        accurate enough.
    resolution : float
        A node is closed if its bound is at most this below the best cost. For weights without a common step.
    nodes, rounds : int
        Nodes that were divided, and linear programs solved.
    """

    def __init__(self, g: SignedGraph, sides: Sides) -> None:
        self.g, self.sides, self.cost = g, sides, g.cost(sides)
        self.bound, self.done, self.nodes = g.least, False, 0
        self.resolution = 2.0**-34 * float(np.abs(g.weight).sum())
        self._reduction: Reduction | None = None
        self._remaining: Callable[[], float] = lambda: math.inf

    @property
    def certified(self) -> float:
        """The bound, less the possible rounding error of sums of weights."""
        return self.bound - 2.0**-40 * (float(np.abs(self.g.weight).sum()) + abs(self.g.constant))

    @property
    def rounds(self) -> int:
        """Linear programs solved so far."""
        return 0 if self._reduction is None else self._relaxation.rounds

    def offer(self, sides: Sides) -> None:
        """Take over better sides."""
        cost = self.g.cost(sides)
        if cost < self.cost:
            self.sides, self.cost = sides.copy(), cost

    def run(self, stopping: Stopping, until: float | None = None, work: int | None = None) -> None:
        """Go on until `stopping` says so, seconds `until` have passed, or after `work` simplex iterations.

        A linear program is interrupted if it would make a turn twice as long; the next turn goes on with it.
        """
        latest = math.inf if until is None else 2 * until - stopping.seconds

        def remaining() -> float:
            if stopping.check(self.cost):
                return 0.0
            left = math.inf if stopping.remaining is None else stopping.remaining
            return max(0.0, min(left, latest - stopping.seconds))

        self._remaining = remaining
        if self._reduction is None:
            self._begin()
        program = self._relaxation.program
        last = math.inf if work is None else program.iterations + work
        program.most = math.inf if work is None else program.iterations + 2 * work
        while not self.done and program.iterations < last and not stopping.check(self.cost):
            self._round(stopping)
            if until is not None and stopping.seconds >= until:
                break

    def _begin(self) -> None:
        self._reduction = Reduction(self.g)
        small = self._small = self._reduction.graph
        self._relaxation = OddCycles(small, lambda: self._remaining())
        self._lower, self._upper = np.zeros(small.m), np.ones(small.m)  # for all nodes
        self._open: list[_Node] = []
        self._closed = math.inf  # least bound of the closed nodes
        self._numbers = 0
        self._node: _Node | None = _Node(small.least, 0, ())
        self._values: list[float] = []  # bounds of the rounds of this node
        if not small.m:  # all is decided
            self._improve()
            self._close(small.constant)
        self._tell()

    def _rounded(self, bound: float) -> float:
        """The least possible cost that is not below a bound."""
        slack = 2.0**-46 * (abs(bound) + float(np.abs(self.g.weight).sum()))
        return self.g.constant + round_up(bound - self.g.constant - slack, self.g.step) if self.g.step else bound

    def _closes(self, bound: float) -> bool:
        return self._rounded(bound) >= self.cost - self.resolution

    def _round(self, stopping: Stopping) -> None:
        """One linear program of the current node, and its consequences."""
        node, relaxation = self._node, self._relaxation
        if node is None:
            self._next()
            return
        fixed = self._fixed(node)
        if fixed is None:  # only worse sides obey this
            self._close(math.inf)
            return
        relaxation.confine(*fixed)
        solved = relaxation.solve()
        node.bound = max(node.bound, relaxation.bound)
        if solved:
            self._improve()
        if self._closes(node.bound):
            self._close(node.bound)
            return
        self._tell()
        if not solved:
            if relaxation.program.failed:
                self._divide(node)
            return
        if not node.decided:
            self._fix()
        values = self._values
        values.append(node.bound)
        missing = self.cost - node.bound
        fractional = relaxation.fractional
        steady = is_steady(values, missing)
        if steady and not relaxation.tilted:
            relaxation.tilt()
            values.clear()
        elif steady and fractional.any():
            self._divide(node)
        elif not relaxation.separate(stopping) and not stopping.check(self.cost):
            if fractional.any():
                self._divide(node)
            else:  # the values are those of known sides; the bound is their cost up to rounding
                self._close(node.bound)

    def _improve(self) -> None:
        assert self._reduction is not None
        sides = self._relaxation.sides()
        if self._small.cost(sides) < self.cost:
            self.offer(self._reduction.lift(sides))

    def _fix(self) -> None:
        """Fix edges that keep their values in all better sides.

        The bound has to be the one that the reduced costs belong to. The reduced cost of an edge that is fixed already
        says nothing.
        """
        missing = self.cost - self._relaxation.bound + 2.0**-40 * float(np.abs(self.g.weight).sum())
        missing -= self.g.step  # better sides cost less by this much at least
        reduced = self._relaxation.reduced
        self._upper[(self._lower < self._upper) & (reduced > missing)] = 0.0
        self._lower[(self._lower < self._upper) & (-reduced > missing)] = 1.0

    def _fixed(self, node: _Node) -> tuple[Floats, Floats] | None:
        """Bounds of the values in a node: decided edges, and consequences of these; None if they contradict."""
        lower, upper = self._lower.copy(), self._upper.copy()
        if not node.decided:
            return lower, upper
        for edge, frustrated in node.decided:
            if not lower[edge] <= frustrated <= upper[edge]:
                return None
            lower[edge] = upper[edge] = frustrated
        g = self._small
        known = np.flatnonzero(lower == upper).astype(np.int32)
        apart = ((lower > 0.5) ^ (g.negative != 0)).astype(np.uint8)
        side, component = _odd_walks.spanning_sides(g.n, g.u, g.v, apart, known)
        inside = component[g.u] == component[g.v]
        implied = (side[g.u] ^ side[g.v] ^ g.negative)[inside]
        if ((implied < lower[inside]) | (implied > upper[inside])).any():
            return None
        lower[inside] = upper[inside] = implied
        return lower, upper

    def _divide(self, node: _Node) -> None:
        """Divide a node by a free edge."""
        relaxation = self._relaxation
        edge = relaxation.edge_to_divide()
        if edge is None:  # one point is left
            relaxation.values = relaxation.program.lower.copy()
            self._improve()
            self._close(math.inf)
            return
        first = int(relaxation.values[edge] > 0.5)
        likelier, other = (
            _Node(node.bound, self._numbers + k, (*node.decided, (edge, frustrated)))
            for k, frustrated in enumerate((first, 1 - first))
        )
        self._numbers += 2
        self.nodes += 1
        heapq.heappush(self._open, other)
        self._node, self._values = likelier, []

    def _close(self, bound: float) -> None:
        """Close the node, whose sides all cost at least `bound`, or are known."""
        self._closed = min(self._closed, bound)
        self._node = None
        self._next()

    def _next(self) -> None:
        """The open node of the least bound."""
        self._values = []
        while self._open and self._node is None:
            node = heapq.heappop(self._open)
            if self._closes(node.bound):
                self._closed = min(self._closed, node.bound)
            else:
                self._node = node
        self.done = self._node is None
        self._tell()

    def _tell(self) -> None:
        """The bound of all nodes that were not divided."""
        open_ = [node.bound for node in (self._node, *self._open[:1]) if node is not None]
        self.bound = max(self.bound, min(self._rounded(min([self._closed, *open_])), self.cost))

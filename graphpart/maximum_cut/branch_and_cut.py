"""Branch and cut: sides of least cost, with a proof that there are no better ones.

1. The graph is reduced (see `reduction`).
2. The relaxation is that of odd cycles where edges are few (see `cycle_bounding`), and semidefinite where they are many
   (see `square_bounding`). It has rounds at each node, as long as they raise the bound, and then divides the node.
3. A node is closed when its bound, rounded up to the next possible cost, reaches the best cost known, or when its sides
   are known. The node of the least bound is next, but with odd cycles after a division its likelier half: linear
   programs go on from one to the next. Both lead to a proof in as many nodes, if the best sides are known, but to a
   bound sooner in the first way.
4. After each round, sides that agree with the values of the relaxation are improved by changes of single nodes.

See Barahona, Grötschel, Jünger & Reinelt 1988; Charfreitag, Jünger, Mallach & Mutzel 2022; Rendl, Rinaldi & Wiegele
2010.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphpart.common.steps import round_up
from graphpart.maximum_cut.bounding import Bounding, Step
from graphpart.maximum_cut.cycle_bounding import CycleBounding
from graphpart.maximum_cut.reduction import Reduction
from graphpart.maximum_cut.semidefinite import LARGEST
from graphpart.maximum_cut.signed_graph import Sides, SignedGraph
from graphpart.maximum_cut.square_bounding import SquareBounding
from graphpart.stopping import Stopping

__all__ = ["WORK", "BranchAndCut", "is_dense", "is_suitable"]

WORK = 20_000  # iterations of the simplex method of a turn without a time limit: some seconds
FAR = 0.25  # share of the first gap; if more is open, a linear program that would be interrupted is not begun
DENSE = 3  # edges for each node of a small graph, up to which odd cycles are better
STEPLESS = 600  # edges up to which odd cycles are better if bounds are not rounded up to a step of the weights
MANY = 2048  # open nodes, of some 100 kB each for 100 spins; with more, the latest is next


def is_dense(nodes: int, edges: int, step: float = 1.0) -> bool:
    """Whether the semidefinite relaxation is better than odd cycles, with this common step of weights; 0 for none."""
    return nodes <= LARGEST and edges > (DENSE + nodes / 100) * nodes and (step > 0 or edges > STEPLESS)


def is_suitable(nodes: int, edges: int) -> bool:
    """Whether a graph is small or sparse enough for either relaxation."""
    return is_dense(nodes, edges) or edges <= min(200_000, 16 * nodes)


@dataclass(order=True)
class _Node:
    """An open node: its bound, and what the relaxation has to know of it."""

    bound: float
    number: int
    start: Any = field(default=None, compare=False)
    decision: Any = field(default=None, compare=False)


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
    needs : float
        Seconds of the next round, if the last run ended since these are more than were left; else 0.
    nodes, rounds : int
        Nodes that were divided, and rounds of the relaxation.
    """

    def __init__(self, g: SignedGraph, sides: Sides) -> None:
        self.g, self.sides, self.cost = g, sides, g.cost(sides)
        self.bound, self.done = g.least, False
        self.nodes, self.rounds, self.needs = 0, 0, 0.0
        self.resolution = 2.0**-34 * float(np.abs(g.weight).sum())
        self._reduction: Reduction | None = None
        self._remaining: Callable[[], float] = lambda: math.inf

    @property
    def certified(self) -> float:
        """The bound, less what rounding may have changed; nothing if all sums are exact."""
        g, reduction = self.g, self._reduction
        if g.is_exact:
            return self.bound
        small = g if reduction is None else reduction.graph
        sizes = abs(self.bound) + abs(g.constant) + abs(g.least) + abs(small.constant) + abs(small.least)
        return self.bound - (0.0 if reduction is None else reduction.error) - 2.0**-50 * sizes

    def offer(self, sides: Sides) -> None:
        """Take over better sides."""
        cost = self.g.cost(sides)
        if cost < self.cost:
            self.sides, self.cost = sides.copy(), cost

    def run(self, stopping: Stopping, until: float | None = None, work: float | None = None) -> None:
        """Go on until `stopping` says so, seconds `until` have passed, or after simplex iterations `work`, about.

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
        bounding = self._bounding
        last = math.inf if work is None else bounding.work + work
        bounding.limit(math.inf if work is None else bounding.work + 1.25 * work)
        self.needs = 0.0
        while not self.done and bounding.work < last and not stopping.check(self.cost):
            if stopping.remaining is not None and bounding.needs > stopping.remaining:
                self.needs = bounding.needs
                break
            before = bounding.work
            self._round(stopping)
            if until is not None and stopping.seconds >= until:
                break
            # The next linear program takes as long as this one, or longer.
            if 2 * bounding.work - before > last and self.cost - self.bound > FAR * (self.cost - self.g.least):
                break

    def _begin(self) -> None:
        self._reduction = Reduction(self.g)
        small = self._small = self._reduction.graph
        self._open: list[_Node] = []
        self._closed = math.inf  # least bound of the closed nodes
        self._numbers = 0
        self._node: _Node | None = _Node(small.least, 0)
        dense = is_dense(small.n, small.m, small.step)
        self._bounding: Bounding = SquareBounding(small) if dense else CycleBounding(small, lambda: self._remaining())
        if not small.m:  # all is decided
            self._improve(np.zeros(small.n, np.uint8))
            self._close(small.constant)
        self._tell()

    def _rounded(self, bound: float) -> float:
        """The least possible cost that is not below a bound."""
        constant, step = self.g.constant, self.g.step
        if not step or bound == math.inf:
            return bound
        return constant + round_up(bound - constant - 2.0**-50 * (abs(bound) + abs(constant)), step)

    def _closes(self, bound: float) -> bool:
        return self._rounded(bound) >= self.cost - self.resolution

    def _round(self, stopping: Stopping) -> None:
        """One round of the current node, and its consequences."""
        node, bounding = self._node, self._bounding
        if node is None:
            self._next()
            return
        solved = bounding.solve()
        self.rounds += 1
        node.bound = max(node.bound, bounding.bound)
        if solved:
            self._improve(bounding.sides())
        if self._closes(node.bound):
            self._close(node.bound)
            return
        self._tell()
        step = bounding.advance(self.cost, stopping)
        if step is Step.DIVIDE:
            self._divide(node)
        elif step is Step.CLOSE:
            self._close(node.bound)

    def _improve(self, sides: Sides) -> None:
        assert self._reduction is not None
        if self._small.cost(sides) < self.cost:
            self.offer(self._reduction.lift(sides))

    def _divide(self, node: _Node) -> None:
        """Divide a node in two."""
        halves = self._bounding.halves()
        if halves is None:  # one point is left, whose sides are known
            self._improve(self._bounding.sides())
            self._close(math.inf)
            return
        start, *decisions = halves
        likelier, other = (
            _Node(node.bound, self._numbers + k, start, decision) for k, decision in enumerate(decisions)
        )
        self._numbers += 2
        self.nodes += 1
        heapq.heappush(self._open, other)
        self._node = None
        if not self._bounding.dives:
            heapq.heappush(self._open, likelier)
        elif self._bounding.enter(start, likelier.decision):
            self._node = likelier
        self._next()

    def _close(self, bound: float) -> None:
        """Close the node, whose sides all cost at least `bound`, or are known."""
        self._closed = min(self._closed, bound)
        self._node = None
        self._next()

    def _next(self) -> None:
        """Without a node, the open one of the least bound; the latest one if many are open."""
        while self._open and self._node is None:
            if len(self._open) > MANY:
                node = max(self._open, key=lambda one: one.number)
                self._open.remove(node)
                heapq.heapify(self._open)
            else:
                node = heapq.heappop(self._open)
            if self._closes(node.bound):
                self._closed = min(self._closed, node.bound)
            elif self._bounding.enter(node.start, node.decision):
                self._node = node
        self.done = self._node is None
        self._tell()

    def _tell(self) -> None:
        """The bound of all nodes that were not divided."""
        open_ = [node.bound for node in (self._node, *self._open[:1]) if node is not None]
        self.bound = max(self.bound, min(self._rounded(min([self._closed, *open_])), self.cost))

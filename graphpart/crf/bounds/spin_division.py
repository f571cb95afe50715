"""Branch and bound over semidefinite relaxations: labels 0 and 1 of least energy where pairs are dense, with a proof.

1. The relaxation of all labelings (see `semidefinite`) has rounds until they raise the bound by little.
2. A node is divided by two spins: they are equal, or opposite. These are two spins of large costs whose product the
   relaxation leaves open. Each half has one spin less. It starts from the multipliers of the node, so a few rounds are
   enough.
3. A node is closed when its bound meets the least energy known. Otherwise it is divided when its rounds have ended. The
   node of the least bound is next. If one spin is left, the labeling is known.
4. Labelings: each row of the products that the relaxation gives says which spins agree with one of them.

See Rendl, Rinaldi & Wiegele 2010 (Biq Mac), and Krislock, Malick & Roupin 2017 (BiqCrunch).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphpart.binary_quadratic.form import QuadraticForm
from graphpart.crf.bounds.semidefinite import Rows, Semidefinite, joined_costs, joined_spins, spin_costs

__all__ = ["SpinDivision"]

SLOW = 0.1  # share of the gap: with less rise of the bound, the first node is divided
ROUNDED = 20  # rounds of the first node between two labelings
MANY = 4096  # open nodes, of some 30 kB each for 100 spins; with more, the latest is next


@dataclass(order=True)
class _Node:
    """An open node.

    Attributes
    ----------
    to, turned : ndarray
        The spin of the node that each of all spins is equal to, or opposite to (-1).
    rows : Rows
        The multipliers of its bound.
    pair : (int, int)
        The spins to divide by.
    likelier : int
        1 if these are rather equal, else -1.
    """

    bound: float
    number: int
    to: NDArray[np.int64] = field(compare=False)
    turned: NDArray[np.int8] = field(compare=False)
    rows: Rows = field(compare=False)
    pair: tuple[int, int] = field(compare=False)
    likelier: int = field(compare=False)


class SpinDivision:
    """The tree between two rounds.

    Parameters
    ----------
    q : QuadraticForm
    closes : callable
        ``closes(bound)`` returns whether a lower bound meets the least energy known.

    Attributes
    ----------
    root : Semidefinite
        The relaxation of all labelings.
    bound : float
        No labeling costs less, but for labelings that are known.
    labels : ndarray of int32 or None
        The latest labeling that was found. The caller takes it, and sets it to None.
    divided, done : bool
        Whether the first node was divided, and whether no node is open.
    nodes : int
        Nodes that were divided, or are to be.
    work : float
        Cubes of the numbers of spins, added over all rounds.
    """

    def __init__(self, q: QuadraticForm, closes: Callable[[float], bool]) -> None:
        self._costs = spin_costs(q)
        n = q.n + 1
        self.closes = closes
        # The possible rounding errors of costs and constants, without those of a relaxation.
        self._error = 2.0**-44 * (abs(q.constant) + float(q.magnitudes.sum()))
        self.root = Semidefinite(*self._costs)
        self.labels: NDArray[np.int32] | None = None
        self.divided = self.done = False
        self.nodes, self.work = 0, 0.0
        self._relaxation: Semidefinite | None = self.root  # of the current node
        self._to, self._turned = np.arange(n), np.ones(n, np.int8)  # of the current node, as in _Node
        self._least = -math.inf  # the bound of the current node
        self._open: list[_Node] = []
        self._parent: _Node | None = None  # the node that is being divided, of which a half is left
        self._closed = math.inf  # least bound of closed nodes

    @property
    def bound(self) -> float:
        """No labeling costs less, but for labelings that are known."""
        others = [node.bound for node in (*self._open[:1], self._parent) if node is not None]
        return min([self._closed, *others, *([] if self._relaxation is None else [self._least])])

    def round(self, cost: float) -> None:
        """One round of one node, and what follows from it. Within `one_thread`. O(n^3) and the sweeps of the round"""
        relaxation = self._relaxation
        if relaxation is not None:
            going = relaxation.round(cost)
            if relaxation is self.root and self.root.rounds % ROUNDED == 0:
                self._round_labels(relaxation)
            self.work += float(relaxation.n) ** 3
            self._least = max(self._least, relaxation.bound - self._error)
            if self.closes(self._least):
                self._closed = min(self._closed, self._least)
            elif not going or self._slow(relaxation, cost):
                self._push(relaxation)
            else:
                return
            self._relaxation = None
        self._next()
        self.done = self._relaxation is None and self._parent is None and not self._open

    def _slow(self, relaxation: Semidefinite, cost: float) -> bool:
        """Whether more rounds of a node raise its bound by little."""
        if relaxation is self.root:
            return relaxation.done or relaxation.rise < SLOW * (cost - relaxation.bound)
        return relaxation.falls > 0

    def _push(self, relaxation: Semidefinite) -> None:
        """The current node is to be divided."""
        self.divided = True
        self._round_labels(relaxation)
        pair = _open_pair(relaxation)
        likelier = 1 if relaxation.products[pair] >= 0 else -1
        node = _Node(self._least, self.nodes, self._to, self._turned, relaxation.best, pair, likelier)
        heapq.heappush(self._open, node)
        self.nodes += 1

    def _next(self) -> None:
        """The next half of a node."""
        node, self._parent = self._parent, None
        if node is None and self._open:
            if len(self._open) > MANY:
                node = max(self._open, key=lambda one: one.number)
                self._open.remove(node)
                heapq.heapify(self._open)
            else:
                node = heapq.heappop(self._open)
            if self.closes(node.bound):
                self._closed = min(self._closed, node.bound)
                return
            self._parent = node
            self._half(node, node.likelier)
        elif node is not None and self.closes(node.bound):
            self._closed = min(self._closed, node.bound)
        elif node is not None:
            self._half(node, -node.likelier)

    def _half(self, node: _Node, sign: int) -> None:
        """Make the half of a node whose pair has the product `sign` the current node."""
        whole = Semidefinite(*joined_costs(*self._costs, node.to, node.turned), node.rows)
        self._to, self._turned = joined_spins(node.to, node.turned, *node.pair, sign)
        self._least = node.bound
        self._relaxation = whole.joined(*node.pair, sign)
        if self._relaxation.n == 1:  # the last of all spins is 1
            self._know(np.ones(1))
            self._relaxation = None

    def _know(self, spins: NDArray[np.float64]) -> None:
        """The labels for which the spins of the current node are these; the last of all spins is 1."""
        whole = self._turned * spins[self._to]
        self.labels = (whole[:-1] == whole[-1]).astype(np.int32)

    def _round_labels(self, relaxation: Semidefinite) -> None:
        """The best labels of those that agree in sign with a row of the products. O(n^3)"""
        spins = np.where(relaxation.products + np.eye(relaxation.n, dtype=np.float32) >= 0, 1.0, -1.0)
        self._know(spins[int(np.argmin(((spins @ relaxation.C) * spins).sum(axis=1)))])


def _open_pair(relaxation: Semidefinite) -> tuple[int, int]:
    """Two spins of large costs whose product is far from 1 and -1, the smaller first. O(n^2)"""
    size = np.abs(relaxation.C).sum(axis=1)
    size = size + 1e-9 * float(size.max()) + 1e-300
    score = np.triu((1.0 + 1e-6 - np.abs(relaxation.products)) * np.sqrt(np.outer(size, size)), 1)
    i, j = divmod(int(np.argmax(score)), len(score))
    return (i, j) if i < j else (0, 1)

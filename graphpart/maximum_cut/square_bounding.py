"""The semidefinite relaxation at the nodes of a tree: where edges are many (see `semidefinite`).

The relaxation of all sides has rounds until they raise the bound by little. A node is divided by two spins: they are
equal, or opposite. These are two spins of large costs whose product the relaxation leaves open. Each half has one spin
less and starts from the multipliers of the node, so a few rounds are enough. Each row of the products says which spins
agree with one of them, which gives sides. If few spins are left, all sides are enumerated.

After some rounds of all sides, or at the end of the rounds of a node, an interior point method may close the gap, where
the relaxation has the cost of the best sides for its value, as it has for many QUBO. If it leaves more than half of the
gap at one node, it is not tried at others.

See Rendl, Rinaldi & Wiegele 2010 (Biq Mac), and Krislock, Malick & Roupin 2017 (BiqCrunch).
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from graphpart.common.blas import one_thread
from graphpart.maximum_cut import _kernels
from graphpart.maximum_cut.bounding import Step
from graphpart.maximum_cut.semidefinite import OddRows, Semidefinite, half_of, joined_costs, joined_spins, spin_costs
from graphpart.maximum_cut.signed_graph import Sides, SignedGraph
from graphpart.stopping import Stopping

__all__ = ["SquareBounding"]

LONG = 2  # rounds for each spin after which the first node is divided, if not before
FALLS = 4  # falls of the barrier after which an interior point method is tried for all sides, if not before,
PATIENCE = 4  # when the rounds took as long as this many of its iterations
USUAL = 20  # of its iterations until the bound is better than that of sweeps after the same time, about
FEW_ROWS = 2000  # with which it is tried for others
FEW = 12  # spins up to which all sides are enumerated
OPERATION = 5e-9  # estimated seconds for each cube of the number of spins, before the first round
ITERATION = 1e-3  # estimated seconds of an iteration of the simplex method

Start = tuple[NDArray[np.int64], NDArray[np.int8], OddRows]


def _inner_work(rows: int) -> float:
    """An iteration of the interior point method, in iterations of the simplex method."""
    return rows**3 / 4e7


class SquareBounding:
    """See `Bounding`."""

    dives = False

    def __init__(self, g: SignedGraph) -> None:
        self.g = g
        self._costs = spin_costs(g)
        self._to, self._turned = np.arange(g.n), np.ones(g.n, np.int8)  # the spin of the node that each spin is, or not
        self.relaxation = self.root = Semidefinite(*self._costs)
        # Rounding errors of costs and constants, without those of a relaxation.
        self._error = 0.0 if g.is_exact else 2.0**-44 * (abs(g.constant) + float(np.abs(g.weight).sum()))
        self._cost = math.inf
        self._going, self._best = True, np.zeros(0)  # the best spins of the node, if they were enumerated
        self._inside, self._tried, self._pays = False, False, True  # the interior point method: now, before, in future
        self._missing = math.inf  # between the cost and the bound before it
        self.bound, self.work, self.needs = g.least, 0.0, OPERATION * float(g.n) ** 3

    def limit(self, work: float) -> None:
        """Rounds are short; none is interrupted."""

    def enter(self, start: Start, decision: tuple[int, int, int]) -> bool:
        """Two spins of a node become equal, or opposite."""
        to, turned, rows = start
        self.relaxation = half_of(*joined_costs(*self._costs, to, turned), rows, *decision)
        self._to, self._turned = joined_spins(to, turned, *decision)
        self._going, self._inside, self._tried = True, False, False
        return True

    def solve(self) -> bool:
        """Some sweeps."""
        relaxation = self.relaxation
        if relaxation.n <= FEW:
            spins = 1.0 - 2.0 * (np.arange(2 ** (relaxation.n - 1))[:, None] >> np.arange(relaxation.n) & 1)
            costs = ((spins @ relaxation.C) * spins).sum(axis=1)
            self._best = spins[int(np.argmin(costs))]
            self.bound = relaxation.constant + float(costs.min()) - self._error
            return True
        began = time.perf_counter()
        with one_thread():
            self._going = (relaxation.round_inside if self._inside else relaxation.round)(self._cost)
        self.needs = time.perf_counter() - began
        # An iteration of the simplex method takes as long as this many cubes.
        self.work += relaxation.n**3 / 150_000 + self._inside * _inner_work(len(relaxation.rows.multipliers))
        self.bound = relaxation.bound - self._error
        return True

    def sides(self) -> Sides:
        """The best sides of those that agree in sign with a row of the products, improved. O(n^3)"""
        relaxation, g, best = self.relaxation, self.g, self._best
        if relaxation.n > FEW:
            spins = np.where(relaxation.products + np.eye(relaxation.n, dtype=np.float32) >= 0, 1.0, -1.0)
            with one_thread():
                best = spins[int(np.argmin(((spins @ relaxation.C) * spins).sum(axis=1)))]
        sides: Sides = (self._turned * best[self._to] > 0).astype(np.uint8)
        starts, neighbours, edges = g.rows
        _kernels.descend(starts, neighbours, g.weight[edges], sides, 2.0**-50 * float(np.abs(g.weight).sum()))
        return sides

    def advance(self, cost: float, stopping: Stopping) -> Step:
        """Whether more rounds of the node raise its bound by little."""
        relaxation, self._cost = self.relaxation, cost
        if relaxation.n <= FEW:
            return Step.CLOSE
        if self._inside:
            if self._going:
                return Step.GO_ON
            self._going, self._inside, self._pays = True, False, cost - relaxation.bound < self._missing / 2
            relaxation.leave_inside(cost)
        if relaxation is self.root:
            # A division raises the bound by about the energy of a spin, at the price of twice as many nodes.
            little = min(0.1 * (cost - relaxation.bound), 0.5 * (relaxation.constant - relaxation.bound) / relaxation.n)
            slow = relaxation.done or relaxation.rounds >= LONG * relaxation.n or relaxation.rise < little
        else:
            slow = relaxation.falls > 0
        rows = len(relaxation.rows.multipliers)
        if relaxation is self.root:
            begin = slow or (
                relaxation.fell and relaxation.falls >= FALLS and self.work >= PATIENCE * _inner_work(rows)
            )
        else:
            begin = slow and rows <= FEW_ROWS
        seconds, left = ITERATION * _inner_work(rows), stopping.remaining
        enough = left is None or USUAL * seconds < left
        if begin and enough and self._going and self._pays and not self._tried and relaxation.fits_inside:
            self._inside = self._tried = True
            self._missing, self.needs = cost - relaxation.bound, seconds
            return Step.GO_ON
        return Step.DIVIDE if slow or not self._going else Step.GO_ON

    def halves(self) -> tuple[Start, tuple[int, int, int], tuple[int, int, int]]:
        """Two spins of large costs whose product is far from 1 and -1, the smaller first. O(n^2)"""
        relaxation = self.relaxation
        size = np.abs(relaxation.C).sum(axis=1)
        root = np.sqrt(size + 1e-9 * float(size.max()) + 1e-300)  # of each: products of sizes may overflow
        score = np.triu((1.0 + 1e-6 - np.abs(relaxation.products)) * np.outer(root, root), 1)
        i, j = divmod(int(np.argmax(score)), len(score))
        i, j = (i, j) if i < j else (0, 1)
        likelier = 1 if relaxation.products[i, j] >= 0 else -1
        return (self._to, self._turned, relaxation.best), (i, j, likelier), (i, j, -likelier)

"""Balls: variables near each other get the labels that are best together, given the labels around them.

A ball is grown from a random variable, or from one at a factor that forbids the labels. What it adds to the energy is a
small factor graph, which elimination minimises if its tables stay small. Balls grow as long as that is so, and shrink
if not.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bucket_elimination.elimination import elimination
from graphpart.crf.bucket_elimination.order import find_order
from graphpart.crf.problem import FactorGraph, _structure
from graphpart.crf.problem.derive import condition_on, rows_of
from graphpart.errors import InfeasibleProblem
from graphpart.stopping import Stopping

__all__ = ["Balls"]

Labels = NDArray[np.int32]
ENTRIES, MEMORY = 2**18, 2**22  # of the tables of a ball; bytes
FIRST, LARGEST = 16.0, 1000.0  # variables
GROW, SHRINK = 1.05, 0.8
BUSY = 64  # factors for each variable of a ball that are followed


class Balls:
    """The balls of one factor graph.

    Parameters
    ----------
    f : FactorGraph
    rng : numpy.random.Generator
    """

    def __init__(self, f: FactorGraph, rng: np.random.Generator) -> None:
        self.f, self.rng = f, rng
        self.size = FIRST
        self.place = np.zeros(f.n, np.int32)
        self.inside = np.zeros(f.n, bool)

    def change(self, labels: Labels, forbidden: bool, stopping: Stopping) -> float:
        """Improve labels in place in a random ball; by how much, at most 0, and ``-inf`` out of what is forbidden.

        O(sizes of the tables at the ball), unless the labels are forbidden: then O(number of factors) more.
        """
        f = self.f
        size = min(self.size, f.n)
        members = np.sort(self.around(self._centre(labels, forbidden), int(self.rng.uniform(size / 2, size)) + 1))
        ball = self._ball(labels, members)
        before = ball.evaluate_labels(labels[members])
        order = find_order(ball, None, Stopping(0))
        if order.entries > ENTRIES or order.memory > MEMORY:
            self.size = max(1.0, SHRINK * self.size)
            return 0.0
        self.size = min(LARGEST, GROW * self.size)
        try:
            r = elimination(ball, order=order, memory_limit=MEMORY, time_limit=stopping.remaining)
        except InfeasibleProblem:  # what is around the ball has to change first
            return 0.0
        if not r.cost <= before or r.cost == math.inf:
            return 0.0
        labels[members] = r.labels
        return r.cost - before

    def around(self, centre: int, size: int) -> NDArray[np.int64]:
        """At most so many variables, the nearest to the centre first, equally near ones in random order."""
        f, inside = self.f, self.inside
        start, factors, _ = f.incidence()
        rings = [np.array([centre])]
        inside[centre] = True
        count = 1
        while count < size and len(rings[-1]):
            _, near = rows_of(start, factors, rings[-1])
            if len(near) > BUSY * size:
                near = self.rng.choice(near, BUSY * size)
            _, ring = rows_of(f.scope_start, f.scope, np.unique(near))
            ring = np.unique(ring)
            ring = self.rng.permutation(ring[~inside[ring]])[: size - count].astype(np.int64)
            inside[ring] = True
            rings.append(ring)
            count += len(ring)
        found = np.concatenate(rings)
        inside[found] = False
        return found

    def _centre(self, labels: Labels, forbidden: bool) -> int:
        f = self.f
        if forbidden and (bad := _structure.first_forbidding(*f._flat(), labels)) >= 0:
            return int(self.rng.choice(f.scope[f.scope_start[bad] : f.scope_start[bad + 1]]))
        return int(self.rng.integers(f.n))

    def _ball(self, labels: Labels, members: NDArray[np.int64]) -> FactorGraph:
        """What these variables, ascending, add to the energy, given the labels of the others."""
        f = self.f
        start, factors, _ = f.incidence()
        near = np.unique(rows_of(start, factors, members)[1])
        scope_start, scope = rows_of(f.scope_start, f.scope, near)
        _, tables = rows_of(f.table_start, f.tables, near)
        every = np.unique(scope)
        self.place[every] = np.arange(len(every))
        given = labels[every]
        given[self.place[members]] = -1
        return condition_on(FactorGraph.from_csr(f.domains[every], scope_start, self.place[scope], tables), given)

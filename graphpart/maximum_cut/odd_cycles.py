"""The linear relaxation of sides over the edges of a graph, with odd cycle inequalities.

Let ``f[e] = 1`` if edge e is frustrated. Each closed walk has an even number of edges whose ends differ. So for every
closed walk C and every set D of its edges, such that ``|D|`` and the number of negative edges of C add up to an odd
number, it cannot be that just the edges of D are frustrated:

    sum of (1 - f[e]) over D  +  sum of f[e] over C without D  >=  1.

Minimise the weight of frustrated edges over the points of [0, 1]^m that satisfy all of these (Barahona & Mahjoub 1986).
The value is a lower bound, and the optimum if the graph has no K5 minor, as all planar graphs. Inequalities are added
in rounds: the linear program is solved, and for each node the shortest odd closed walk through it is found, which takes
O(m log n) (see `_odd_walks`). After the first round, one end of each edge is enough whose value is neither 0 nor 1.
Most violated walks have few edges, so each search ends after a few steps at first. Only if hardly any walk is found,
searches take more steps, and at last as many as they need. Rows that were slack for some rounds are dropped.

If all weights are multiples of a number, as with weights of 1 and -1, many points have the least cost, most of them
between 0 and 1. Then inequalities that cut off one vertex of these points leave the next one. Where rounds at vertices
no longer raise the bound of a large graph, those at inner points do: the inequalities that these violate cut off most
of the vertices (Mitchell 2000). At the end, `tilt` makes one vertex stand out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from graphpart.maximum_cut import _kernels
from graphpart.maximum_cut.linear_program import Rows, linear_program
from graphpart.maximum_cut.signed_graph import Sides, SignedGraph
from graphpart.stopping import Stopping

__all__ = ["OddCycles", "is_steady"]

Floats = NDArray[np.float64]
VIOLATION = 1e-3  # an inequality is added if it is violated by more
SPREAD = 0.02  # added to the length of an edge for each inequality of this round that has it
# Added to the length of each edge, and most steps of the search from each node: short walks first, then all.
SEARCHES = ((1e-2, 150), (1e-2, 2500), (1e-6, 2**40))
INNER = ((1e-3, 500), (1e-4, 5000))  # the same at inner points, each of which takes longer than its searches
PATIENT = 3  # rounds for which a row may be slack before it is dropped
INTEGRAL = 1e-6  # a value is 0 or 1 if it is no farther away
ENOUGH = 0.005  # inequalities of a round for each node, with which a search has found enough
LARGE = 4000  # edges from which on rounds at inner points pay
STEADY = 5  # rounds whose gain tells whether to go on,
GAIN = 0.02  # if it is at least this share of what is missing


def is_steady(bounds: Sequence[float], missing: float) -> bool:
    """Whether the last rounds have raised the bound by little, compared with what is missing."""
    return len(bounds) > STEADY and bounds[-1] - bounds[-1 - STEADY] < GAIN * missing


class OddCycles:
    """The relaxation, and its last solution.

    Attributes
    ----------
    values : ndarray of float64, shape (m,)
        Of each edge, how far it is from being satisfied.
    bound : float
        No sides that obey the confinement cost less.
    reduced : ndarray of float64, shape (m,)
        Reduced costs: the rise of the bound if a value changes from 0 to 1; negative: the fall.
    rounds, added : int
        Linear programs solved, and inequalities added, so far.
    tilted : bool
        Whether `tilt` was called, or has nothing to do.
    inner : bool
        Whether the next rounds are at inner points.
    """

    def __init__(self, g: SignedGraph, remaining: Callable[[], float]) -> None:
        self.g = g
        size = np.abs(g.weight)
        self._scale = math.ldexp(1.0, math.frexp(float(size.mean()) if g.m else 1.0)[1])
        self._generator = np.random.default_rng(0)
        self._cost = size / self._scale
        self.program = linear_program(self._cost, remaining)
        self.tilted, self.inner, self._approached = g.step == 0, False, g.m < LARGE
        self._slack = np.zeros(0, np.int64)  # rounds in a row for which each row has been slack
        self.values, self.reduced = np.zeros(g.m), size
        self.bound = g.least
        self.rounds = self.added = 0

    def tilt(self) -> None:
        """Raise the costs at random by so little that sides of least cost for the new costs are so for the old ones.

        Costs of different sides differ by a multiple of the step; the costs of all edges together rise by at most half
        of it. `bound` is about the old costs, which the multipliers of the new ones prove, too.
        """
        g = self.g
        raised = self._generator.random(g.m) * (0.5 * g.step / g.m)
        self.program.change(self._cost + raised / self._scale)
        self.tilted = True

    def settle(self) -> bool:
        """Go on to rounds of another kind, since these no longer raise the bound; False if there is none."""
        if self.inner:
            self.inner = False
        elif not self._approached:
            self.inner = self._approached = True
        elif not self.tilted:
            self.tilt()
        else:
            return False
        return True

    @property
    def fractional(self) -> NDArray[np.bool_]:
        """Whether the value of each edge is neither 0 nor 1."""
        return np.abs(self.values - np.rint(self.values)) > INTEGRAL

    def confine(self, lower: Floats, upper: Floats) -> None:
        """Bounds of the values, from now on."""
        self.program.confine(lower, upper)

    def solve(self) -> bool:
        """Solve the linear program; False if it was interrupted or failed. `bound` is valid in any case."""
        self.rounds += 1
        solved = self.program.approach() if self.inner else self.program.solve()
        bound, reduced = self.program.bound(self._cost, self.program.multipliers)
        self.bound, self.reduced = self.g.least + self._scale * bound, self._scale * reduced
        if solved:
            self.values = self.program.x
            self._slack = np.where(self.program.slack, self._slack + 1, 0)
            kept = self._slack <= PATIENT
            if np.count_nonzero(~kept) > len(kept) // 10:
                self.program.keep(kept)
                self._slack = self._slack[kept]
        return solved

    def closes(self, goal: float, stopping: Stopping) -> bool | None:
        """Whether rounds raise the bound to a goal; None if the time is over."""
        bounds = list[float]()
        while True:
            solved = self.solve()
            if self.bound >= goal:
                return True
            if stopping.check(math.inf):
                return None
            if not solved:
                return False
            bounds.append(self.bound)
            if is_steady(bounds, goal - self.bound):
                if not self.settle():
                    return False
                bounds.clear()
            elif not self.separate(stopping) and not self.program.inner:
                return False

    @property
    def multipliers(self) -> Floats:
        """Multipliers of the inequalities, for the weights of the graph."""
        return self._scale * self.program.multipliers

    def proves(self, multipliers: Floats) -> float:
        """The bound that multipliers of the inequalities prove, at least 0."""
        return self.g.least + self._scale * self.program.bound(self._cost, multipliers / self._scale)[0]

    def separate(self, stopping: Stopping) -> int:
        """Add violated inequalities; return their number."""
        g = self.g
        nodes = np.arange(g.n, dtype=np.int32) if self.rounds == 1 else self._sources()
        nodes = self._generator.permutation(nodes)
        for hop, most in INNER if self.program.inner else SEARCHES:
            ends, edges, broken = _kernels.find_odd_walks(
                *g.rows, g.negative, self.values, nodes, VIOLATION, hop, SPREAD, most, stopping
            )
            if len(ends) > ENOUGH * g.n:
                break
        self.inner &= len(ends) > ENOUGH * g.n
        many = np.diff(np.concatenate([[0], np.cumsum(broken)[ends - 1]])) if len(ends) else np.zeros(0)
        found = Rows(ends, edges, np.where(broken != 0, -1.0, 1.0), 1.0 - many)
        found = self._distinct(found)
        self.program.add(found)
        self._slack = np.concatenate([self._slack, np.zeros(len(found), np.int64)])
        self.added += len(found)
        return len(found)

    def edge_to_divide(self) -> int | None:
        """A free edge of large weight whose value is far from 0 and 1; None if no edge is free."""
        free = self.program.lower < self.program.upper
        if not free.any():
            return None
        score = (np.minimum(self.values, 1.0 - self.values) + INTEGRAL) * np.abs(self.g.weight)
        return int(np.argmax(np.where(free, score, -1.0)))

    def _sources(self) -> NDArray[np.int32]:
        """Nodes through which all violated walks go. O(m log m)

        An odd closed walk shorter than 1 has an edge whose value is neither 0 nor 1, or all of its edges have length 0.
        In the second case, it has an edge that disagrees with the sides that a spanning forest of such edges gives. So
        one end of each edge of these two kinds is enough: the end that has more of them.
        """
        g, fractional = self.g, self.fractional
        apart = (self.values > 0.5) ^ (g.negative != 0)
        order = np.flatnonzero(~fractional).astype(np.int32)
        side, root = _kernels.spanning_sides(g.n, g.u, g.v, apart.astype(np.uint8), order)
        wrong = ~fractional & (root[g.u] == root[g.v]) & ((side[g.u] != side[g.v]) != apart)
        walked = np.flatnonzero(fractional | wrong)
        u, v = g.u[walked], g.v[walked]
        count = np.bincount(u, minlength=g.n) + np.bincount(v, minlength=g.n)
        return np.unique(np.where(count[u] >= count[v], u, v))

    def sides(self) -> Sides:
        """Sides that agree with the most decided values, improved by changes of single nodes. O(m log m)"""
        g = self.g
        apart = (self.values > 0.5) ^ (g.negative != 0)
        order = np.argsort(np.minimum(self.values, 1.0 - self.values), kind="stable").astype(np.int32)
        sides: Sides = _kernels.spanning_sides(g.n, g.u, g.v, apart.astype(np.uint8), order)[0]
        starts, neighbours, edges = g.rows
        least = 2.0**-50 * float(np.abs(g.weight).sum())
        _kernels.descend(starts, neighbours, g.weight[edges], sides, least)
        return sides

    @staticmethod
    def _distinct(rows: Rows) -> Rows:
        """Each row once: walks through several nodes may be the same."""
        starts = rows.starts.tolist()
        seen, kept = set(), np.zeros(len(rows), bool)
        signed = np.where(rows.entries > 0, rows.columns, ~rows.columns)
        for k in range(len(rows)):
            key = np.sort(signed[starts[k] : starts[k + 1]]).tobytes()
            kept[k] = key not in seen
            seen.add(key)
        return rows.part(kept)

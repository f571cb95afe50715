"""One component of a factor graph: whole costs, first amounts, and a search that goes on in slices."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds.message_passing import Ascent
from graphpart.crf.branch_and_bound._search import Search
from graphpart.crf.certificates.certificate import common_step
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.derive import merge, rows_of
from graphpart.crf.problem.labeling import places
from graphpart.errors import InfeasibleProblem
from graphpart.stopping import Stopping

__all__ = ["BranchAndBound"]

BITS = 44  # of the sum of the largest entries of all tables
FINEST = 16  # at most so many of these for parts of a common step of all costs
FORBIDDEN = 1 << 60
ROOM = 2**26  # bytes for open nodes, or twice the tables

Labels = NDArray[np.int32]
Wholes = NDArray[np.int64]


class Units:
    """Costs as whole numbers: exactly, where all of them are multiples of one number, else rounded down.

    Attributes
    ----------
    step : float
        The common step, or 0.
    parts : int
        Units for each step: amounts that factors send may be parts of one.
    exponent : int
        Without a step, the unit is ``2**-exponent``.
    """

    def __init__(self, f: FactorGraph) -> None:
        tables = f.tables[np.isfinite(f.tables)] if f.has_forbidden else f.tables
        size = float(np.abs(tables).max(initial=0.0))
        top = math.frexp(size)[1] if size else 0
        largest = np.zeros(f.m)
        if f.m:
            entries = np.where(np.isfinite(f.tables), np.abs(f.tables), 0.0)
            largest = np.ldexp(np.maximum.reduceat(entries, f.table_start[:-1]), -top)
        total = math.fsum(largest.tolist())  # in units of 2^top
        self.exponent = BITS - top - math.frexp(total)[1] if total else 0
        self.step = common_step(f)
        self.parts = 1
        if self.step:
            steps = math.ldexp(total, top) / self.step
            if steps < 2.0**BITS:
                self.parts = 1 << min(FINEST, BITS - max(0, math.frexp(steps)[1]))
            else:
                self.step = 0.0

    def whole(self, costs: NDArray[np.float64]) -> Wholes:
        """Costs in units, rounded down; what is infinite becomes FORBIDDEN."""
        finite = np.isfinite(costs)
        given = np.where(finite, costs, 0.0)
        scaled = np.rint(given / self.step) * self.parts if self.step else np.floor(np.ldexp(given, self.exponent))
        return np.where(finite, scaled, float(FORBIDDEN)).astype(np.int64)

    def amounts(self, messages: NDArray[np.float64]) -> Wholes:
        """Messages in units, rounded in some way."""
        scaled = messages * (self.parts / self.step) if self.step else np.ldexp(messages, self.exponent)
        return np.rint(np.clip(np.nan_to_num(scaled), -(2.0**BITS), 2.0**BITS)).astype(np.int64)

    def bound(self, units: int) -> float:
        """A lower bound on all energies, if all are at least so many units."""
        if self.step:
            exact = Fraction(self.step) * -(-units // self.parts)
        else:
            exact = Fraction(units) / Fraction(2) ** self.exponent
        rounded = float(exact)
        return rounded if Fraction(rounded) <= exact else math.nextafter(rounded, -math.inf)


class BranchAndBound:
    """The search of one factor graph.

    Parameters
    ----------
    f : FactorGraph
        Best a connected one: components are not told apart.
    labels : ndarray of int32, shape (n,)
        A labeling to start from.
    stopping : Stopping
        For the preparation, by message passing.
    others : float
        The energy of all that is not in `f`, for history and callback.

    Attributes
    ----------
    labels, cost : ndarray of int32, float
        The best so far.
    bound : float
        No labeling has less energy.
    proven : bool
        Whether all is searched: then no labeling has less energy than `cost`, up to rounding, see `exact`.
    """

    def __init__(self, f: FactorGraph, labels: Labels, stopping: Stopping, others: float = 0.0) -> None:
        self.f, self.others = f, others
        self.labels, self.cost = labels.copy(), f.evaluate_labels(labels)
        self.bound, self.proven = -math.inf, False
        self._stopping = stopping
        self._merged = g = merge(f)
        self.units = Units(g)
        ascent = Ascent(g, stopping, self.labels.copy(), tightening=False)
        ascent.run()
        self._take(ascent.labels)
        messages, _ = ascent.passes.messages()
        self._prepare(g, np.ldexp(messages, ascent.passes.exponent), ascent.passes.several)

    def _prepare(self, g: FactorGraph, messages: NDArray[np.float64], several: NDArray[np.int64]) -> None:
        units = self.units
        whole = units.whole(g.tables)
        first = places(g)
        alone = np.flatnonzero(np.diff(g.scope_start) == 1)
        unary = np.zeros(int(first[-1]), np.int64)
        starts, entries = rows_of(g.table_start, whole, alone)
        variables = g.scope[g.scope_start[alone]]
        inside = np.arange(len(entries)) + np.repeat(first[variables] - starts[:-1], g.domains[variables])
        np.add.at(unary, inside, np.minimum(entries, FORBIDDEN >> 12))
        forbidden = np.zeros(len(unary), bool)
        forbidden[inside[entries >= FORBIDDEN]] = True
        scope_start, scope = rows_of(g.scope_start, g.scope, several)
        table_start, tables = rows_of(g.table_start, whole, several)
        self._unary, self._forbidden = unary.copy(), forbidden
        self._tables, self._table_start, self._scope, self._scope_start = tables, table_start, scope, scope_start
        self._first = first
        finite = np.where(tables < FORBIDDEN, tables, -FORBIDDEN)
        most = int(np.maximum.reduceat(finite, table_start[:-1]).sum()) if len(several) else 0
        allowed = np.where(forbidden, -FORBIDDEN, unary)
        self._top = most + (int(np.maximum.reduceat(allowed, first[:-1]).sum()) if g.n else 0) + units.parts
        amounts = units.amounts(messages)
        sizes = g.domains[scope].astype(np.int64)
        begins = np.cumsum(sizes) - sizes
        np.add.at(unary, np.arange(len(amounts)) + np.repeat(first[scope] - begins, sizes), amounts)
        unary[forbidden] = FORBIDDEN
        top = self._top
        if self.cost < math.inf:
            top = min(top, self._value(self.labels) - units.parts + 1)
        self.search = Search(
            g.domains, scope_start, scope, table_start, tables, unary, amounts, np.arange(g.n, dtype=np.int32),
            top, units.parts, max(ROOM, 2 * tables.nbytes), self._found, self.cost + self.others,
        )  # fmt: skip
        if self.cost < math.inf:
            self.search.offer(self.labels, self._value(self.labels), self.cost + self.others)

    def _value(self, labels: Labels) -> int:
        """What an allowed labeling costs in units."""
        return int(self._unary[self._first[:-1] + labels].sum()) + int(self._tables[self._selected(labels)].sum())

    def _selected(self, labels: Labels) -> Wholes:
        arity = np.diff(self._scope_start)
        within = np.zeros(len(arity), np.int64)
        for j in range(int(arity.max(initial=0))):
            some = np.flatnonzero(arity > j)
            v = self._scope[self._scope_start[some] + j]
            within[some] = within[some] * self.f.domains[v] + labels[v]
        return self._table_start[:-1] + within

    def _found(self, labels: Labels, value: int) -> float:
        if value != self._value(labels):
            raise AssertionError(f"search gave {value} for a labeling of {self._value(labels)} units")
        self._take(labels)
        return self.cost + self.others

    def _take(self, labels: Labels) -> None:
        cost = self.f.evaluate_labels(labels)
        if cost < self.cost or self.cost == math.inf:
            self.labels, self.cost = labels.copy(), cost
            self._stopping.record(cost + self.others)

    @property
    def nodes(self) -> int:
        """Nodes of the search so far."""
        return self.search.nodes

    def offer(self, labels: Labels) -> None:
        """Take a labeling that something else found, if it is the best."""
        cost = self.f.evaluate_labels(labels)
        if cost < self.cost:
            self.labels, self.cost = labels.copy(), cost
            self.search.offer(labels, self._value(labels), cost + self.others)

    def run(self, stopping: Stopping, nodes: int = -1) -> bool:
        """Search on until all is searched, or `stopping` says so, or for so many nodes; True if all is searched."""
        self._stopping = stopping
        done = self.search.run(stopping, nodes)
        if done and self.cost == math.inf:
            raise InfeasibleProblem("every labeling is forbidden: branch and bound finds none that is not")
        self.proven = done
        least = self.search.bound + (self.units.parts - 1 if done else 0)
        self.bound = max(self.bound, min(self.cost, self.f.constant + self.units.bound(least)))
        return done

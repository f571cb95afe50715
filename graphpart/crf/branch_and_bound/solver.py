"""One component of a factor graph: whole costs, first amounts, and a search that goes on in slices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds.message_passing import Ascent
from graphpart.crf.branch_and_bound._search import Search
from graphpart.crf.branch_and_bound.cliques import with_cliques
from graphpart.crf.branch_and_bound.shrinking import FORBIDDEN, shrunk
from graphpart.crf.certificates.certificate import common_step
from graphpart.crf.exact_solvers.ilp import relaxation
from graphpart.crf.local_search.icm import improve
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.derive import merge, rows_of
from graphpart.crf.problem.labeling import places
from graphpart.errors import InfeasibleProblem
from graphpart.stopping import Stopping

__all__ = ["BranchAndBound"]

BITS = 44  # of the sum of the largest entries of all tables
FINEST = 16  # at most so many of these for parts of a common step of all costs
LATER = 5000  # nodes after which the linear relaxation is solved,
RELAXED = 100_000  # if so many entries at most are finite,
RELAXING = 0.4  # in this share of the time that is left
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
        g = merge(f)
        self.units = Units(g)
        self._small = small = shrunk(g, self.units.whole(g.tables))
        self._cliques = with_cliques(small.problem)
        self._problem = p = small.problem if self._cliques is None else self._cliques.problem
        if small.constant >= FORBIDDEN:
            raise InfeasibleProblem("every labeling is forbidden: elimination of variables leaves none")
        self._flat = _flat(p)
        ascent = Ascent(p, stopping, self._inside(self.labels), tightening=False)
        ascent.run()
        self._take(self._outside(ascent.labels))
        messages, _ = ascent.passes.messages()
        self._nodes = self._dives = 0
        self._relaxed, self._root = False, 0
        self.search = self._search(np.ldexp(messages, ascent.passes.exponent))

    def _inside(self, labels: Labels) -> Labels:
        """Labels of the problem that is searched."""
        inner = labels[self._small.variables]
        return inner if self._cliques is None else self._cliques.extend(inner)

    def _outside(self, labels: Labels) -> Labels:
        return self._small.lift(labels[: self._small.problem.n])

    def _search(self, messages: NDArray[np.float64]) -> Search:
        """A search that sets out from a reparametrisation."""
        p, units, flat = self._problem, self.units, self._flat
        amounts = np.rint(np.clip(np.nan_to_num(messages), -(2.0**BITS), 2.0**BITS)).astype(np.int64)
        unary = flat.unary.copy()
        sizes = p.domains[flat.scope].astype(np.int64)
        begins = np.cumsum(sizes) - sizes
        np.add.at(unary, np.arange(len(amounts)) + np.repeat(flat.first[flat.scope] - begins, sizes), amounts)
        unary[flat.forbidden] = FORBIDDEN
        search = Search(
            p.domains, flat.scope_start, flat.scope, flat.table_start, flat.tables.copy(), unary, amounts,
            np.arange(p.n, dtype=np.int32), flat.highest + units.parts, units.parts,
            max(ROOM, 2 * flat.tables.nbytes), self._found, self.cost + self.others,
        )  # fmt: skip
        if self.cost < math.inf:
            self._tell(search)
        return search

    def _tell(self, search: Search) -> None:
        self._take(self._outside(self._inside(self.labels)))  # where those that were eliminated may be better
        labels = self._inside(self.labels)
        value = self._flat.value(labels)
        if value < FORBIDDEN:
            search.offer(labels, value, self.cost + self.others)

    def _found(self, labels: Labels, value: int) -> float:
        if value != self._flat.value(labels):
            raise AssertionError(f"search gave {value} for a labeling of {self._flat.value(labels)} units")
        self._take(self._outside(labels))
        return self.cost + self.others

    def _take(self, labels: Labels) -> None:
        cost = self.f.evaluate_labels(labels)
        if cost < self.cost or self.cost == math.inf:
            self.labels, self.cost = labels.copy(), cost
            if cost < math.inf:
                self._stopping.record(cost + self.others)

    @property
    def nodes(self) -> int:
        """Nodes of the search so far."""
        return self._nodes + self.search.nodes

    @property
    def dives(self) -> int:
        """Turns of the search from an open node on."""
        return self._dives + self.search.dives

    @property
    def open_nodes(self) -> int:
        """Nodes that are left."""
        return self.search.open_nodes

    def offer(self, labels: Labels) -> None:
        """Take a labeling that something else found, if it is the best."""
        cost = self.f.evaluate_labels(labels)
        if cost < self.cost:
            self.labels, self.cost = labels.copy(), cost
            self._tell(self.search)

    def run(self, stopping: Stopping, nodes: int = -1) -> bool:
        """Search on until all is searched, or `stopping` says so, or for so many nodes; True if all is searched."""
        self._stopping = stopping
        if not self.nodes:
            self.search.run(stopping, 0)
            self._root = self.search.bound
        until = self.nodes + nodes if nodes >= 0 else -1
        if not self._relaxed:
            before = LATER if until < 0 else min(LATER, until)
            if not self.search.run(stopping, max(0, before - self.nodes)) and self.nodes >= LATER:
                self._relax(stopping)
        done = self.search.run(stopping, max(0, until - self.nodes) if until >= 0 else -1)
        if done and self.cost == math.inf:
            raise InfeasibleProblem("every labeling is forbidden: branch and bound finds none that is not")
        self.proven = done
        least = self.search.bound + (self.units.parts - 1 if done else 0) + self._small.constant
        self.bound = max(self.bound, min(self.cost, self.f.constant + self.units.bound(least)))
        return done

    def _relax(self, stopping: Stopping) -> None:
        """Set out anew from the prices of the linear relaxation, if that raises the bound at the root."""
        self._relaxed = True
        p = self._problem
        if int(np.isfinite(p.tables).sum()) > RELAXED or stopping.check(self.cost + self.others):
            return
        from graphpart import milp

        seconds = None if stopping.remaining is None else RELAXING * stopping.remaining
        inner = Stopping(seconds, callback=lambda seconds, cost: stopping.check(self.cost + self.others))
        found = relaxation(p, milp.pick_solver(), inner, self.cost + self.others)
        if found is None:
            return
        labels, messages = found
        self.offer(improve(self.f, self._outside(labels), inner, "sweep")[0])
        other = self._search(messages)
        done = other.run(stopping, 0)
        if done or other.bound > self._root:
            self._nodes, self._dives = self.nodes, self.dives
            self.search = other


@dataclass
class _Flat:
    """Whole costs: sums of unary ones, and the tables of larger factors."""

    domains: Labels
    first: Wholes
    unary: Wholes
    forbidden: NDArray[np.bool_]
    scope_start: Wholes
    scope: Labels
    table_start: Wholes
    tables: Wholes
    highest: int  # no allowed labeling costs more

    def value(self, labels: Labels) -> int:
        """What a labeling costs."""
        at = self.first[:-1] + labels
        if self.forbidden[at].any():
            return FORBIDDEN
        arity = np.diff(self.scope_start)
        within = np.zeros(len(arity), np.int64)
        for j in range(int(arity.max(initial=0))):
            some = np.flatnonzero(arity > j)
            v = self.scope[self.scope_start[some] + j]
            within[some] = within[some] * self.domains[v] + labels[v]
        entries = self.tables[self.table_start[:-1] + within]
        return FORBIDDEN if (entries >= FORBIDDEN).any() else int(self.unary[at].sum()) + int(entries.sum())


def _flat(p: FactorGraph) -> _Flat:
    whole = np.where(np.isfinite(p.tables), p.tables, float(FORBIDDEN)).astype(np.int64)
    first = places(p)
    arity = np.diff(p.scope_start)
    alone, several = np.flatnonzero(arity == 1), np.flatnonzero(arity > 1)
    unary = np.zeros(int(first[-1]), np.int64)
    forbidden = np.zeros(len(unary), bool)
    starts, entries = rows_of(p.table_start, whole, alone)
    variables = p.scope[p.scope_start[alone]]
    inside = np.arange(len(entries)) + np.repeat(first[variables] - starts[:-1], p.domains[variables])
    forbidden[inside[entries >= FORBIDDEN]] = True
    np.add.at(unary, inside, np.where(entries < FORBIDDEN, entries, 0))
    scope_start, scope = rows_of(p.scope_start, p.scope, several)
    table_start, tables = rows_of(p.table_start, whole, several)
    highest = 0
    if len(several):
        highest += int(np.maximum.reduceat(np.where(tables < FORBIDDEN, tables, -(2**BITS)), table_start[:-1]).sum())
    if p.n:
        highest += int(np.maximum.reduceat(np.where(forbidden, -(2**BITS), unary), first[:-1]).sum())
    return _Flat(p.domains, first, unary, forbidden, scope_start, scope, table_start, tables, highest)

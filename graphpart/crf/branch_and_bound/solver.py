"""Branch and bound for one component: integer costs, a first reparametrisation, and a search in slices."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from graphpart.common.steps import sum_down
from graphpart.crf.bounds.message_passing import Ascent
from graphpart.crf.branch_and_bound._kernels import Search
from graphpart.crf.branch_and_bound.cliques import with_cliques
from graphpart.crf.branch_and_bound.flat import BITS, Flat, flat_of
from graphpart.crf.branch_and_bound.shrinking import FORBIDDEN, shrunk
from graphpart.crf.certificates.certificate import common_step
from graphpart.crf.exact_solvers.ilp import relaxation
from graphpart.crf.local_search.icm import improve
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.derive import merge
from graphpart.crf.problem.shared_tables import largest_of
from graphpart.errors import InfeasibleProblem
from graphpart.stopping import Stopping

__all__ = ["PREPARING", "ROOM", "BranchAndBound", "Units"]

LATER = 5000  # number of nodes after which better bounds at the root are tried
RELAXED = 100_000  # largest number of finite entries for which the linear relaxation is solved
ROUNDS = 300  # largest number of iterations of each attempt at a better bound
TRIPLETS = 2**22  # largest number of table entries of all triplets
WORTH = 0.2  # share of the gap that triplets must close, because they take time at each node
HEAVY, WORTH_HEAVY = 32, 0.9  # growth of the table entries above which triplets must close a larger share, that share
PREPARING = 0.1  # share of the remaining time for message passing, without and with triplets, and for the relaxation
ROOM = 2**26  # bytes for open nodes, unless twice the size of the tables is more

Labels = NDArray[np.int32]
Wholes = NDArray[np.int64]


class Units:
    """Costs as integers: exact if all of them are multiples of one number, else rounded down.

    Attributes
    ----------
    step : float
        The common step, or 0.
    parts : int
        Units in each step: the amounts that factors send may be fractions of a step.
    gap : int
        The least number of units by which a better labeling must be better: a step, or the possible error of rounding.
    exponent : int
        Without a step, the unit is ``2**-exponent``.
    """

    def __init__(self, f: FactorGraph) -> None:
        largest = largest_of(f)
        size = float(largest.max(initial=0.0))
        top = math.frexp(size)[1] if size else 0
        largest = np.ldexp(largest, -top)
        total = math.fsum(largest.tolist())  # in units of 2^top
        self.exponent = BITS - top - math.frexp(total)[1] if total else BITS
        self.step = common_step(f)
        self.parts, self.gap = 1, 64
        if self.step:
            steps = math.ldexp(total, top) / self.step
            if steps < 2.0**BITS:
                self.parts = 1 << BITS - max(0, math.frexp(steps)[1])
            else:
                self.step = 0.0
        if self.step:
            self.gap = self.parts

    def whole(self, costs: NDArray[np.float64]) -> Wholes:
        """Costs in units, rounded down; infinite costs become FORBIDDEN."""
        finite = np.isfinite(costs)
        given = costs if finite.all() else np.where(finite, costs, 0.0)
        if self.step:
            scaled = np.rint(given / self.step)
            scaled *= self.parts
        else:
            scaled = np.ldexp(given, self.exponent)
            np.floor(scaled, out=scaled)
        whole = scaled.astype(np.int64)
        whole[~finite] = FORBIDDEN
        return whole

    def amounts(self, messages: NDArray[np.float64]) -> Wholes:
        """What factors send, in units, rounded."""
        scaled = messages / self.step * self.parts if self.step else np.ldexp(messages, self.exponent)
        return _amounts(scaled)

    def bound(self, units: int) -> float:
        """The lower bound on all energies that follows if every labeling costs at least `units` units."""
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
        It should be connected: components are not treated separately.
    labels : ndarray of int32, shape (n,)
        A labeling to start from.
    stopping : Stopping
        Ends the preparation by message passing.

    Attributes
    ----------
    labels, cost : ndarray of int32, float
        The best so far.
    bound : float
        No labeling has less energy.
    proven : bool
        Whether the search is complete: then no labeling has less energy than `cost`, up to rounding, see `exact`.
    """

    def __init__(self, f: FactorGraph, labels: Labels, stopping: Stopping) -> None:
        self.f = f
        self.labels, self.cost = labels.copy(), f.evaluate_labels(labels)
        self.bound, self.proven = -math.inf, False
        self._stopping = stopping
        g = merge(f)
        self.units = Units(g)
        self._small = small = shrunk(g, self.units.whole(g.tables), stopping.child(plus=math.inf))
        self._cliques = with_cliques(small.problem, stopping.child(plus=math.inf))
        self._problem = p = small.problem if self._cliques is None else self._cliques.problem
        if small.constant >= FORBIDDEN:
            raise InfeasibleProblem("every labeling is forbidden: elimination of variables leaves none")
        self._flat = flat_of(p)
        inner = stopping.child(iterations=stopping.max_iterations, plus=math.inf)  # in units, and of fewer variables
        ascent = Ascent(p, inner, self._inside(self.labels), tightening=False)
        ascent.run()
        self._take(self._outside(ascent.labels))
        messages, _ = ascent.passes.messages()
        self._nodes = self._dives = 0
        self._relaxed = False
        self.search = self._search(self._flat, np.ldexp(messages, ascent.passes.exponent))

    def _inside(self, labels: Labels) -> Labels:
        """Labels of the problem that is searched."""
        inner = labels[self._small.variables]
        return inner if self._cliques is None else self._cliques.extend(inner)

    def _outside(self, labels: Labels) -> Labels:
        return self._small.lift(labels[: self._small.problem.n])

    def _search(self, flat: Flat, messages: NDArray[np.float64]) -> Search:
        """A search that starts from a reparametrisation."""
        p, units = self._problem, self.units
        amounts = _amounts(messages)
        unary = flat.unary.copy()
        sizes = p.domains[flat.scope].astype(np.int64)
        begins = np.cumsum(sizes) - sizes
        np.add.at(unary, np.arange(len(amounts)) + np.repeat(flat.first[flat.scope] - begins, sizes), amounts)
        unary[flat.forbidden] = FORBIDDEN
        search = Search(
            replace(flat, tables=flat.tables.copy(), unary=unary), amounts, flat.highest + units.gap, units.gap,
            max(ROOM, 2 * flat.tables.nbytes), self._found, self.cost,
        )  # fmt: skip
        if self.cost < math.inf:
            self._tell(search)
        return search

    def _tell(self, search: Search) -> None:
        self._take(self._outside(self._inside(self.labels)))  # where those that were eliminated may be better
        labels = self._inside(self.labels)
        value = self._flat.value(labels)
        if value < FORBIDDEN:
            search.offer(labels, value, self.cost)

    def _found(self, labels: Labels, value: int) -> float:
        if value != self._flat.value(labels):
            raise AssertionError(f"search gave {value} for a labeling of {self._flat.value(labels)} units")
        self._take(self._outside(labels))
        return self.cost

    def _take(self, labels: Labels) -> None:
        cost = self.f.evaluate_labels(labels)
        if cost < self.cost or self.cost == math.inf:
            self.labels, self.cost = labels.copy(), cost
            if cost < math.inf:
                self._stopping.record(cost)

    @property
    def nodes(self) -> int:
        """Nodes of the search so far."""
        return self._nodes + self.search.nodes

    @property
    def dives(self) -> int:
        """The number of dives: depth-first searches that started from an open node."""
        return self._dives + self.search.dives

    @property
    def open_nodes(self) -> int:
        """Nodes that are left."""
        return self.search.open_nodes

    def offer(self, labels: Labels) -> None:
        """Take a labeling that another method found, if it is the best."""
        cost = self.f.evaluate_labels(labels)
        if cost < self.cost:
            self.labels, self.cost = labels.copy(), cost
            self._tell(self.search)

    def run(self, stopping: Stopping, nodes: int = -1, renewing: Stopping | None = None) -> bool:
        """Continue until the search is complete, `stopping` ends it, or `nodes` nodes are done; True if complete.

        `renewing` limits the time for the one attempt to find a better bound at the root; default: `stopping`.
        """
        self._stopping = stopping
        until = self.nodes + nodes if nodes >= 0 else -1
        if not self._relaxed:
            before = LATER if until < 0 else min(LATER, until)
            if not self.search.run(stopping, max(0, before - self.nodes)) and self.nodes >= LATER:
                self._relax(stopping if renewing is None else renewing)
        done = self.search.run(stopping, max(0, until - self.nodes) if until >= 0 else -1)
        if done and self.cost == math.inf:
            raise InfeasibleProblem("every labeling is forbidden: branch and bound finds none that is not")
        self.proven = done
        least = self.search.bound + (self.units.parts - 1 if done else 0) + self._small.constant
        self.bound = max(self.bound, min(self.cost, sum_down([self.f.constant, self.units.bound(least)])))
        return done

    def _relax(self, stopping: Stopping) -> None:
        """Start anew from a better bound at the root, if one is found."""
        self._relaxed = True
        ways = [self._tightened, self._linear]
        for way in ways if self._cliques is None else ways[::-1]:
            if self.search.done or stopping.check(self.cost):
                return
            seconds = None if stopping.remaining is None else PREPARING * stopping.remaining
            inner = stopping.child(seconds, ROUNDS, math.inf)
            found = way(inner)
            if found is None:
                continue
            other, share = found
            done = other.run(stopping, 0)
            now = self.search.bound
            if done or other.bound > now + share * (self._reach() - now):
                self._nodes, self._dives = self.nodes, self.dives
                self.search = other

    def _reach(self) -> int:
        """The cost of the best labeling in units, or else an upper bound on the cost of any allowed labeling."""
        return self._flat.highest if self.cost == math.inf else self._flat.value(self._inside(self.labels))

    def _tightened(self, inner: Stopping) -> tuple[Search, float] | None:
        """A search with the triplets that message passing adds, and the share of the gap that they have to close."""
        p = self._problem
        if np.diff(p.scope_start).max(initial=0) < 2:
            return None
        ascent = Ascent(p, inner, self._inside(self.labels))
        ascent.run()
        self.offer(self._outside(ascent.labels))
        messages, links = ascent.passes.messages()
        structure, unit = ascent.passes.structure, ascent.passes.exponent
        scopes = structure.scopes
        if not len(scopes) or p.domains[scopes].prod(axis=1, dtype=np.float64).sum() > TRIPLETS:
            return None
        flat = self._flat.with_triplets(structure, np.ldexp(links, unit))
        more = np.zeros(int(p.domains[scopes].sum(dtype=np.int64)))  # triplets send nothing to labels
        share = WORTH if len(flat.tables) <= HEAVY * len(self._flat.tables) else WORTH_HEAVY
        return self._search(flat, np.concatenate([np.ldexp(messages, unit), more])), share

    def _linear(self, inner: Stopping) -> tuple[Search, float] | None:
        """A search from the dual multipliers of the linear relaxation, which take no additional time at nodes."""
        cliques = self._cliques
        p = self._problem if cliques is None else cliques.base
        if int(np.isfinite(p.tables).sum()) > RELAXED:
            return None
        from graphpart.milp.solvers import pick_solver

        sets = [] if cliques is None else cliques.members
        found = relaxation(p, pick_solver(), inner, self.cost, sets)
        if found is None:
            return None
        labels, messages, multipliers = found
        if cliques is not None:
            messages = cliques.amounts(messages, multipliers)
        self.offer(improve(self.f, self._outside(labels), inner, "sweep")[0])
        return self._search(self._flat, messages), 0.0


def _amounts(messages: NDArray[np.float64]) -> Wholes:
    return np.rint(np.clip(np.nan_to_num(messages), -(2.0**BITS), 2.0**BITS)).astype(np.int64)

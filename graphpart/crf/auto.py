"""What `solve` does with a factor graph: what is exact where its structure allows it, else bound, moves and search.

Factors over the same variables are merged first. Then leaves are eliminated by min-sum: that solves acyclic components,
and strips the trees off the others without loss, their messages becoming unary costs. Each connected component of the
rest is minimised by what fits it, tried in this order:

1. enumeration, if it has few labelings;
2. a minimum cut, where pairs are submodular;
3. elimination, where the sums of tables along a quick order are small;
4. quick reduction: labels that some optimum has are fixed, others left out, and what remains is solved in this manner;
5. message passing, which may prove its labeling;
6. reduction by what message passing knows, and what remains is solved in this manner;
7. else branch and bound, and search (see `hard_component`).

First every component is tried by 1 to 4; those that remain open share the time that is left. The eliminated variables
then follow by tracking back.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.finishing import MESSAGES
from graphpart.common.steps import round_up
from graphpart.crf.bucket_elimination.elimination import elimination, lowered
from graphpart.crf.bucket_elimination.order import find_order
from graphpart.crf.certificates.certificate import common_step
from graphpart.crf.exact_solvers import _min_sum
from graphpart.crf.exact_solvers.brute_force import brute_force, labelings
from graphpart.crf.exact_solvers.min_sum import by_min_sum
from graphpart.crf.graph_cuts.graph_cut import graph_cut
from graphpart.crf.hard_component import HardComponent
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.derive import merge, rows_of, split
from graphpart.crf.problem.labeling import finish, places, trivial_bound
from graphpart.crf.problem.labels import start_of
from graphpart.crf.reduction.persistency import QUICK_STEPS, STEPS, LabelingReduction, reduced
from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.machine import memory
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["auto"]

ENUMERATE = 2**12  # labelings of a component that is enumerated
ENTRIES = 2**26  # of all tables of a component that is eliminated, about a nanosecond each
SPEED = 2**27  # or so many for each second that is left
MEMORY = 2**32  # bytes for them, or a quarter of what the machine has
ORDER = 0.5  # seconds for an order of elimination,
ORDER_SHARE = 0.05  # or this share of what is left
REDUCED = 2**20  # entries of all tables that are reduced, for each second that is left,
QUICK = 0.1  # in this share of the time,
MAPPED = 0.2  # and by improving mappings in this share of the time that is left for a component,
MAPPED_GAP = 0.05  # if message passing has left at most this share of its gap,
WORTH = 0.9  # which is of use if at most this share of the entries of all tables is left
PATIENCE = 20.0  # seconds in all, if there is no time limit,
LAST = 2.0  # but at least so many for what is open after that

Labels = NDArray[np.int32]
Outcome = tuple[Labels, float]  # labels, lower bound


@interruptible
def auto(
    problem: Any,
    *,
    initial: Any = None,
    seed: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabelingResult:
    """Minimise the energy by what fits the factor graph; `message` says what was done.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    initial : Result, labels or mapping from names to labels, optional
        A labeling from which local search starts on cyclic components; the result is not worse.
        Variables that it leaves out get the label of least cost given the others.
    seed : int, optional
        For restarts of local search; default 0.
    time_limit : float, optional
        Seconds, all of which are used unless optimality is proven. Without it, about 20 seconds at most.
    callback : callable, optional
        ``callback(seconds, cost)``; a true return value ends the run.

    Returns
    -------
    LabelingResult
        With status ``optimal`` if every component was solved to proven optimality; else with a valid lower bound.

    Raises
    ------
    InfeasibleProblem
        If every labeling is forbidden, as far as this was noticed.
    InvalidPartition
        If the initial labeling does not fit the problem.

    Examples
    --------
    >>> import graphpart as gp
    >>> differ = [[0.0, 1.0], [1.0, 0.0]]
    >>> f = gp.FactorGraph.from_arrays([2] * 3, [([[0]], [[1.0, 0.0]]), ([[0, 1], [1, 2], [0, 2]], [differ] * 3)])
    >>> r = auto(f)
    >>> r.cost, str(r.status), r.message
    (0.0, 'optimal', 'proven optimal: 1 cyclic component by enumeration')
    """
    f = as_factor_graph(problem)
    start = None if initial is None else start_of(f, initial)
    stopping = Stopping(time_limit, callback=callback)
    if f.is_acyclic:
        r = by_min_sum(f, stopping, "auto", start)
        how = "acyclic, by min-sum"
        return replace(r, message=f"{r.message}: {how}" if r.status == Status.OPTIMAL else r.message)
    solver = _Solver(stopping, np.random.default_rng(0 if seed is None else seed), time_limit is not None)
    bound = trivial_bound(f)
    outcome = solver.whole(f, start)
    if solver.open:
        solver.share(f.evaluate_labels(outcome()[0]))
    labels, proven = outcome()
    if start is not None and f.evaluate_labels(labels) > f.evaluate_labels(start):
        labels = start
    status = Status.OPTIMAL
    if not solver.proven:
        status = Status.FEASIBLE
        stopping.check(math.inf)
        bound = max(bound, lowered(f, proven, solver.operations) if solver.operations else proven)
        bound = round_up(bound, common_step(f))
    info = {"components": dict(solver.done)}
    return finish(f, labels, stopping, "auto", status, solver.message(), bound, info)


@dataclass
class _Open:
    """A component that nothing exact fits, with the best that is known of it."""

    part: FactorGraph
    labels: Labels
    bound: float
    hard: HardComponent | None = None
    rest: Callable[[], Outcome] | None = None  # what was found for all of it, if it was reduced

    def outcome(self) -> Outcome:
        return (self.labels, self.bound) if self.rest is None else self.rest()


class _Solver:
    """Solves factor graphs part by part, and remembers how.

    `whole` and `component` solve what they can, put the rest on the list `open`, and return a function that gives the
    outcome; it is called once `share` has done what it can for the list.

    Attributes
    ----------
    done : Counter of str
        How many components were solved in which way.
    proven : bool
        Whether all of them were solved to optimality.
    operations : int
        Roundings that may add up in bounds, apart from those that were rounded down already.
    """

    def __init__(self, stopping: Stopping, rng: np.random.Generator, limited: bool) -> None:
        self.stopping, self.rng, self.limited = stopping, rng, limited
        self.done: Counter[str] = Counter()
        self.open: list[_Open] = []
        self.proven = True
        self.operations = 0

    def whole(self, f: FactorGraph, start: Labels | None, smaller: bool = False) -> Callable[[], Outcome]:
        """What minimises any factor graph."""
        simple = merge(f)
        scheme, layout, flat = simple._scheme(), simple._layout(), simple._flat()
        order, parent, scattered = scheme.order, scheme.parent, scheme.scattered
        merged = int(np.diff(f.incidence()[0]).max(initial=0)) if simple.m < f.m else 0
        self.operations += merged * layout.largest_arity
        if f.n and not len(order) and not len(scheme.roots) and not simple.components().any():
            return self.component(simple, start, smaller)  # nothing hangs on it: as it is
        graph = (flat[0], layout.width, layout.first, *flat[1:], layout.runs)
        belief, choice, taken, steps, factor = _min_sum.collect(
            *graph, order, parent, scattered, layout.largest_table, False, self.stopping
        )
        if factor >= 0:
            raise InfeasibleProblem("every labeling is forbidden: min-sum over its acyclic part leaves none")
        labels = np.zeros(f.n, np.int32) if start is None else start.copy()
        if steps < len(order):
            self.proven = False
            return lambda: (labels, trivial_bound(f))
        self.operations += int(np.diff(flat[1])[order].sum()) + 3 * len(order)
        members, core = _core(simple, order, belief, layout)
        parts = [
            (variables, self.component(part, None if start is None else start[members[variables]], smaller))
            for variables, part in _connected(core)
        ]

        def outcome() -> Outcome:
            bounds = [simple.constant, taken]
            for variables, part in parts:
                labels[members[variables]], least = part()
                bounds.append(least)
            roots, variable = _min_sum.assign(
                *graph, order, parent, scheme.roots, scattered, layout.largest_arity, False, belief, choice, labels
            )
            if variable >= 0:
                name = f.variables[variable]
                raise InfeasibleProblem(f"every labeling is forbidden: no label of variable {name!r} is possible")
            self.operations += 1
            return labels, math.fsum([*bounds, roots])

        return outcome

    def component(self, part: FactorGraph, start: Labels | None, smaller: bool) -> Callable[[], Outcome]:
        """What minimises one cyclic component."""
        first, bound = _best_unary(part) if start is None else start, -math.inf
        if not self.stopping.check(math.inf):
            for way in (self._by_enumeration, self._by_graph_cut, self._by_elimination):
                r = way(part)
                if r is not None and r.status == Status.OPTIMAL:
                    self.done[way.__name__[1:].replace("_", " ").replace("graph", "a graph")] += 1
                    self.operations = max(self.operations, 3 * (part.m + part.n))
                    return lambda: (r.labels, r.cost)
                if r is not None:
                    bound = max(bound, r.lower_bound)
                    first = r.labels if r.cost < part.evaluate_labels(first) else first
        if not smaller and self._affordable(part) and not self.stopping.check(math.inf):
            small = self._smaller(part, QUICK_STEPS, QUICK * self._seconds)
            if small is not None:
                return self._of_reduced(small, start, bound)
        one = _Open(part, first, max(bound, trivial_bound(part)))
        self.open.append(one)
        return one.outcome

    def share(self, cost: float) -> None:
        """Do what time allows for what is open, the smallest first; what they leave goes round again.

        `cost` is the energy of the whole factor graph with the labels that are known.
        """
        waiting = sorted(self.open, key=_entries)
        while waiting:
            seconds = self._seconds * _entries(waiting[0]) / sum(map(_entries, waiting))
            one = waiting.pop(0)
            if seconds <= 0 or self.stopping.check(math.inf):
                continue
            before = one.part.evaluate_labels(one.labels)
            others = cost - before if cost < math.inf else math.inf
            one.hard = HardComponent(one.part, one.labels, self.stopping, self.rng, seconds, self.limited, others)
            one.hard.begin()
            if not one.hard.proven and one.hard.open_share <= MAPPED_GAP and self._affordable(one.part):
                small = self._smaller(one.part, STEPS, MAPPED * one.hard.left)
                if small is not None and len(small.problem.tables) <= WORTH * len(one.part.tables):
                    known = len(self.open)
                    one.rest = self._of_reduced(small, one.hard.labels, max(one.bound, one.hard.bound))
                    waiting = sorted(self.open[known:], key=_entries) + waiting
                    cost = others + one.part.evaluate_labels(one.rest()[0])
                    continue
            one.hard.run()
            cost = others + one.hard.cost
        self._again()
        for one in self.open:
            if one.rest is not None:
                continue
            if one.hard is not None:
                one.labels, one.bound = one.hard.labels, max(one.bound, one.hard.bound)
                self.proven &= one.hard.proven
            else:
                self.proven = False
            self.done["without time" if one.hard is None else one.hard.how] += 1

    def _again(self) -> None:
        """Use the time that is left."""
        again = [one.hard for one in self.open if one.hard is not None and one.rest is None and not one.hard.proven]
        while again and self.limited and self._seconds > 0 and not self.stopping.check(math.inf):
            for k, hard in enumerate(again):
                hard.go_on(self._seconds / (len(again) - k))
            again = [hard for hard in again if not hard.proven]

    def _affordable(self, part: FactorGraph) -> bool:
        return len(part.tables) < REDUCED * self._seconds

    def _smaller(self, part: FactorGraph, steps: Any, seconds: float) -> LabelingReduction | None:
        """The reduced factor graph, if it is smaller."""
        small = reduced(part, steps, Stopping(seconds, callback=self._callback))
        return small if small.problem.n < part.n or len(small.problem.tables) < len(part.tables) else None

    def _of_reduced(self, small: LabelingReduction, start: Labels | None, bound: float) -> Callable[[], Outcome]:
        if small.problem.n == 0:
            self.done["by reduction"] += 1
        self.operations += 1
        inner = self.whole(small.problem, None if start is None else small.project(start), True)

        def outcome() -> Outcome:
            labels, least = inner()
            return small.lift(labels), max(bound, least + small.constant)

        return outcome

    def _by_enumeration(self, part: FactorGraph) -> LabelingResult | None:
        return brute_force(part, callback=self._callback) if labelings(part) <= ENUMERATE else None

    def _by_elimination(self, part: FactorGraph) -> LabelingResult | None:
        """Where the sums of tables along a quick order are small enough."""
        seconds = self._seconds
        order = find_order(part, None, Stopping(min(ORDER, ORDER_SHARE * seconds), callback=self._callback))
        limit = min(MEMORY, memory() // 4)
        if order.memory > limit or order.entries > max(ENTRIES, SPEED * seconds):
            return None
        remaining = self.stopping.remaining
        return elimination(part, order=order, memory_limit=limit, time_limit=remaining, callback=self._callback)

    def _by_graph_cut(self, part: FactorGraph) -> LabelingResult | None:
        try:
            return graph_cut(part, time_limit=self.stopping.remaining, callback=self._callback)
        except InvalidProblem:
            return None

    def _callback(self, seconds: float, cost: float) -> bool:
        """For what runs inside: whether the whole run has to end."""
        return self.stopping.check(math.inf)

    @property
    def _seconds(self) -> float:
        """What is left of the time."""
        remaining = self.stopping.remaining
        return max(LAST, PATIENCE - self.stopping.seconds) if remaining is None else remaining

    def message(self) -> str:
        """What was done."""
        ways = ", ".join(f"{count} cyclic component{'s' * (count > 1)} {how}" for how, count in self.done.items())
        if self.proven:
            return f"proven optimal: {ways or 'acyclic, by min-sum'}"
        text = MESSAGES[self.stopping.reason or Status.FEASIBLE]
        return f"{text}: {ways}" if ways else text


def _entries(one: _Open) -> int:
    return len(one.part.tables)


def _core(
    f: FactorGraph, order: NDArray[np.int32], belief: NDArray[np.float64], layout: Any
) -> tuple[NDArray[np.int64], FactorGraph]:
    """The variables and the factor graph that elimination leaves, messages as unary factors."""
    domains, scope_start, scope, table_start, tables = f._flat()
    stays = np.diff(scope_start) > 1
    stays[order] = False
    factors = np.flatnonzero(stays)
    start, inner = rows_of(scope_start, scope, factors)
    _, kept = rows_of(table_start, tables, factors)
    place = np.full(f.n, -1, np.int64)
    place[inner] = 0
    members = np.flatnonzero(place == 0)
    place[members] = np.arange(len(members))
    first = np.arange(f.n + 1) * layout.width if layout.width else layout.first
    _, unary = rows_of(first, belief, members)
    all_start = np.concatenate([np.arange(len(members)), len(members) + start])
    all_scope = np.concatenate([np.arange(len(members)), place[inner]])
    plain = isinstance(f.variables, range) and len(members) == f.n
    names = None if plain else [f.variables[i] for i in members.tolist()]
    return members, FactorGraph.from_csr(domains[members], all_start, all_scope, np.concatenate([unary, kept]), names)


def _connected(core: FactorGraph) -> list[tuple[NDArray[np.int64], FactorGraph]]:
    """The connected components as (variables, factor graph), the smallest first."""
    labels = core.components()
    if core.n and not labels.any():
        return [(np.arange(core.n), core)]
    return sorted(split(core, labels), key=lambda one: len(one[1].tables))


def _best_unary(f: FactorGraph) -> Labels:
    """For each variable the label of the least sum of its own factors; the first of several."""
    domains, scope_start, scope, table_start, tables = f._flat()
    first = places(f)
    alone = np.flatnonzero(np.diff(scope_start) == 1)
    variables = scope[scope_start[alone]]
    starts, entries = rows_of(table_start, tables, alone)
    inner = np.arange(len(entries)) + np.repeat(first[variables] - starts[:-1], domains[variables])
    total = np.bincount(inner, entries, first[-1])
    least = np.repeat(np.minimum.reduceat(total, first[:-1]), domains) if f.n else total
    at = np.flatnonzero(total == least)[::-1]
    labels = np.zeros(f.n, np.int32)
    labels[np.repeat(np.arange(f.n), domains)[at]] = (at - np.repeat(first[:-1], domains)[at]).astype(np.int32)
    return labels

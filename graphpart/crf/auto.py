"""What `solve` does with a factor graph: what is exact where its structure allows it, else bound, moves and search.

Factors over the same variables are merged first. Then leaves are eliminated by min-sum: that solves acyclic components,
and strips the trees off the others without loss, their messages becoming unary costs. Each connected component of the
rest is minimised by what fits it, tried in this order:

1. enumeration, if it has few labelings;
2. elimination, where the sums of tables along a quick order are small;
3. a minimum cut, where pairs are submodular;
4. reduction: labels that some optimum has are fixed, others left out, and what remains is solved in the same manner;
5. else message passing, expansions, an integer program if it is small, and local search (see `hard_component`).

The eliminated variables then follow by tracking back.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.finishing import MESSAGES
from graphpart.crf.bucket_elimination.elimination import elimination
from graphpart.crf.bucket_elimination.order import elimination_order
from graphpart.crf.exact_solvers import _min_sum
from graphpart.crf.exact_solvers.brute_force import brute_force
from graphpart.crf.exact_solvers.min_sum import by_min_sum
from graphpart.crf.graph_cuts.graph_cut import graph_cut
from graphpart.crf.hard_component import HardComponent
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.derive import rows_of, split
from graphpart.crf.problem.labeling import finish, least_entries, trivial_bound
from graphpart.crf.reduction.persistency import reduce
from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.machine import memory
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["auto"]

ENUMERATE = 2**12  # labelings of a component that is enumerated
ENTRIES = 2**28  # of all tables of a component that is eliminated, about a nanosecond each
SPEED = 2**27  # or so many for each second that is left
MEMORY = 2**32  # bytes for them, or a quarter of what the machine has
ORDER = 0.5  # seconds for an order of elimination
PATIENCE = 20.0  # seconds for components that nothing exact fits, if there is no time limit


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
    start = None if initial is None else f.labels(initial)
    stopping = Stopping(time_limit, callback=callback)
    if f.is_acyclic:
        r = by_min_sum(f, stopping, "auto", start)
        return replace(r, message=f"{r.message}: acyclic, by min-sum")
    least_entries(f)
    solver = _Solver(stopping, np.random.default_rng(0 if seed is None else seed), time_limit is not None)
    labels, bound = solver.whole(f, start, 1.0)
    if start is not None and f.evaluate_labels(labels) > f.evaluate_labels(start):
        labels = start
    status = Status.OPTIMAL if solver.proven else Status.FEASIBLE
    info = {"components": dict(solver.done)}
    return finish(f, labels, stopping, "auto", status, solver.message(), max(bound, trivial_bound(f)), info)


class _Solver:
    """Solves factor graphs part by part, and remembers how.

    Attributes
    ----------
    done : Counter of str
        How many components were solved in which way.
    proven : bool
        Whether all of them were solved to optimality.
    """

    def __init__(self, stopping: Stopping, rng: np.random.Generator, limited: bool) -> None:
        self.stopping, self.rng, self.limited = stopping, rng, limited
        self.patience = PATIENCE
        self.done: Counter[str] = Counter()
        self.proven = True

    def whole(
        self, f: FactorGraph, start: NDArray[np.int32] | None, share: float, reduced: bool = False
    ) -> tuple[NDArray[np.int32], float]:
        """(labels, lower bound) of any factor graph, in a share of the time that is left."""
        simple = f.simplify()
        scheme, layout, flat = simple._scheme(), simple._layout(), simple._flat()
        order, parent, scattered = scheme.order, scheme.parent, scheme.scattered
        graph = (flat[0], layout.width, layout.first, *flat[1:], layout.runs)
        belief, choice, taken, steps, factor = _min_sum.collect(
            *graph, order, parent, scattered, layout.largest_table, False, self.stopping
        )
        if factor >= 0:
            raise InfeasibleProblem("every labeling is forbidden: min-sum over its acyclic part leaves none")
        labels = np.zeros(f.n, np.int32) if start is None else start.copy()
        if steps < len(order):
            self.proven = False
            return labels, trivial_bound(f)
        members, core = _core(simple, order, belief, layout)
        inside, bound = self.components(core, None if start is None else start[members], share, reduced)
        labels[members] = inside
        roots, variable = _min_sum.assign(
            *graph, order, parent, scheme.roots, scattered, layout.largest_arity, False, belief, choice, labels
        )
        if variable >= 0:
            name = f.variables[variable]
            raise InfeasibleProblem(f"every labeling is forbidden: no label of variable {name!r} is possible")
        bound = bound + simple.constant + taken + roots
        return labels, bound - 2.0**-46 * (abs(bound) + abs(taken) + abs(roots))

    def components(
        self, core: FactorGraph, start: NDArray[np.int32] | None, share: float, reduced: bool
    ) -> tuple[NDArray[np.int32], float]:
        """(labels, lower bound) of cyclic components, one after the other, the smallest first."""
        labels = np.zeros(core.n, np.int32)
        bounds = []
        parts = sorted(split(core, core.components()), key=lambda one: len(one[1].tables))
        entries = [len(part.tables) for _, part in parts]
        for k, (variables, part) in enumerate(parts):
            mine = share * entries[k] / sum(entries[k:])
            first = None if start is None else start[variables]
            labels[variables], least = self.component(part, first, mine, reduced)
            bounds.append(least)
        return labels, math.fsum(bounds)

    def component(
        self, part: FactorGraph, start: NDArray[np.int32] | None, share: float, reduced: bool
    ) -> tuple[NDArray[np.int32], float]:
        """(labels, lower bound) of one cyclic component."""
        for way in (self._by_enumeration, self._by_elimination, self._by_graph_cut):
            found = way(part)
            if found is not None:
                self.done[way.__name__[1:].replace("_", " ").replace("graph", "a graph")] += 1
                return found, part.evaluate_labels(found)
        if not reduced:
            small = reduce(part, time_limit=share * self._seconds)
            if small.problem.n < part.n or len(small.problem.tables) < len(part.tables):
                if small.problem.n == 0:
                    self.done["by reduction"] += 1
                inner, bound = self.whole(small.problem, None, share, reduced=True)
                labels = small.lift(inner)
                if start is not None and part.evaluate_labels(start) < part.evaluate_labels(labels):
                    labels = start
                return labels, bound + small.constant
        return self._hard(part, start, share)

    def _by_enumeration(self, part: FactorGraph) -> NDArray[np.int32] | None:
        return brute_force(part).labels if math.prod(part.domains.tolist()) <= ENUMERATE else None

    def _by_elimination(self, part: FactorGraph) -> NDArray[np.int32] | None:
        """Where the sums of tables along a quick order are small enough."""
        seconds = self._seconds
        order = elimination_order(part, time_limit=min(ORDER, seconds))
        limit = min(MEMORY, memory() // 4)
        if order.memory > limit or order.entries > max(ENTRIES, SPEED * seconds):
            return None
        r = elimination(part, order=order, memory_limit=limit, time_limit=self.stopping.remaining)
        return r.labels if r.status == Status.OPTIMAL else None

    def _by_graph_cut(self, part: FactorGraph) -> NDArray[np.int32] | None:
        try:
            r = graph_cut(part, time_limit=self.stopping.remaining)
        except InvalidProblem:
            return None
        return r.labels if r.status == Status.OPTIMAL else None

    def _hard(
        self, part: FactorGraph, start: NDArray[np.int32] | None, share: float
    ) -> tuple[NDArray[np.int32], float]:
        first = _best_unary(part) if start is None else start
        began = self.stopping.seconds
        hard = HardComponent(part, first, self.stopping, self.rng, share * self._seconds, self.limited)
        hard.run()
        self.patience -= self.stopping.seconds - began
        self.proven &= hard.proven
        self.done[hard.how] += 1
        return hard.labels, hard.bound

    @property
    def _seconds(self) -> float:
        """What is left of the time."""
        remaining = self.stopping.remaining
        return max(0.0, self.patience) if remaining is None else remaining

    def message(self) -> str:
        """What was done."""
        ways = ", ".join(f"{count} cyclic component{'s' * (count > 1)} {how}" for how, count in self.done.items())
        ways = ways or "acyclic, by min-sum"
        if self.proven:
            return f"proven optimal: {ways}"
        return f"{MESSAGES[self.stopping.reason or Status.FEASIBLE]}: {ways}"


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
    members = np.unique(inner).astype(np.int64)
    place = np.full(f.n, -1, np.int64)
    place[members] = np.arange(len(members))
    first = np.arange(f.n + 1) * layout.width if layout.width else layout.first
    _, unary = rows_of(first, belief, members)
    all_start = np.concatenate([np.arange(len(members)), len(members) + start])
    all_scope = np.concatenate([np.arange(len(members)), place[inner]])
    names = [f.variables[i] for i in members.tolist()]
    return members, FactorGraph.from_csr(domains[members], all_start, all_scope, np.concatenate([unary, kept]), names)


def _best_unary(f: FactorGraph) -> NDArray[np.int32]:
    """The best label of each variable by its own factor; the unary factors of a core come first, in order."""
    if not f.n:
        return np.zeros(0, np.int32)
    unary = f.tables[: f.table_start[f.n]]
    least = np.minimum.reduceat(unary, f.table_start[: f.n])
    rows = np.repeat(np.arange(f.n), f.domains)
    at = np.flatnonzero(unary == least[rows])
    first = at[np.r_[True, rows[at][1:] != rows[at][:-1]]]
    return (first - f.table_start[: f.n]).astype(np.int32)

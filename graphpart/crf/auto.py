"""What `solve` does with a factor graph: min-sum where it is acyclic, proofs where cycles are small, local search else.

Factors over the same variables are merged first. Then leaves are eliminated by min-sum: that solves acyclic components,
and strips the trees off the others without loss, their messages becoming unary costs. Each connected component of the
rest is minimised by enumeration if it has few labelings, by the integer program if it is small and while time allows,
else by iterated conditional modes with restarts. The eliminated variables then follow by tracking back.
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
from graphpart.crf.exact_solvers import _min_sum
from graphpart.crf.exact_solvers.brute_force import brute_force
from graphpart.crf.exact_solvers.min_sum import by_min_sum
from graphpart.crf.local_search.icm import improve, random_labels
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.derive import rows_of, split
from graphpart.crf.problem.labeling import finish, least_entries, trivial_bound
from graphpart.errors import InfeasibleProblem
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["auto"]

ENUMERATE = 2**12  # labelings of a component that is enumerated
SMALL = 50_000  # entries of all tables of a component that the integer program gets
PATIENCE = 20.0  # seconds for all integer programs, if there is no time limit
RESTARTS = 20  # of local search, for components of up to RESTART_SIZE variables; fewer for larger ones
RESTART_SIZE = 10**5


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
        Seconds. Without it, integer programs get at most 20 seconds in all.
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
    simple = f.simplify()
    scheme, layout, flat = simple._scheme(), simple._layout(), simple._flat()
    order, parent, scattered = scheme.order, scheme.parent, scheme.scattered
    graph = (flat[0], layout.width, layout.first, *flat[1:], layout.runs)
    belief, choice, taken, steps, factor = _min_sum.collect(
        *graph, order, parent, scattered, layout.largest_table, False, stopping
    )
    if factor >= 0:
        raise InfeasibleProblem("every labeling is forbidden: min-sum over its acyclic part leaves none")
    labels = np.zeros(f.n, np.int32) if start is None else start.copy()
    if steps < len(order):
        return finish(f, labels, stopping, "auto", Status.FEASIBLE, lower_bound=trivial_bound(f))
    members, core = _core(simple, order, belief, layout)
    solver = _Cores(core, stopping, np.random.default_rng(0 if seed is None else seed), time_limit)
    inside, bound = solver.run(None if start is None else start[members])
    labels[members] = inside
    roots, variable = _min_sum.assign(
        *graph, order, parent, scheme.roots, scattered, layout.largest_arity, False, belief, choice, labels
    )
    if variable >= 0:
        name = f.variables[variable]
        raise InfeasibleProblem(f"every labeling is forbidden: no label of variable {name!r} is possible")
    if start is not None and f.evaluate_labels(labels) > f.evaluate_labels(start):
        labels = start
    status = Status.OPTIMAL if solver.proven else Status.LOCAL_OPTIMUM
    bound = bound + simple.constant + taken + roots
    bound -= 2.0**-46 * (abs(bound) + abs(taken) + abs(roots))
    return finish(f, labels, stopping, "auto", status, solver.message(stopping), bound, solver.info)


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


class _Cores:
    """The cyclic components, one after the other, the smallest first."""

    def __init__(
        self, core: FactorGraph, stopping: Stopping, rng: np.random.Generator, time_limit: float | None
    ) -> None:
        self.core, self.stopping, self.rng = core, stopping, rng
        self.patience = math.inf if time_limit is not None else PATIENCE
        self.done: Counter[str] = Counter()
        self.proven = True
        self.info: dict[str, Any] = {}

    def run(self, start: NDArray[np.int32] | None) -> tuple[NDArray[np.int32], float]:
        """(labels, lower bound)"""
        labels = np.zeros(self.core.n, np.int32)
        bound = 0.0
        parts = split(self.core, self.core.components())
        for variables, part in sorted(parts, key=lambda one: len(one[1].tables)):
            labels[variables], least, how = self._component(part, None if start is None else start[variables])
            bound += least
            self.done[how] += 1
        self.info = {"components": dict(self.done)}
        return labels, bound

    def _component(self, part: FactorGraph, start: NDArray[np.int32] | None) -> tuple[NDArray[np.int32], float, str]:
        if math.prod(part.domains.tolist()) <= ENUMERATE:
            r = brute_force(part)
            return r.labels, r.cost, "by enumeration"
        labels, cost = self._local_search(part, start)
        bound = trivial_bound(part)
        if cost <= bound:
            return labels, bound, "where local search met the bound"
        if len(part.tables) <= SMALL and not self.stopping.check(cost) and self.patience > 0:
            from graphpart import milp
            from graphpart.crf.exact_solvers.ilp import solve_component

            began = self.stopping.seconds
            limit = None if self.patience == math.inf else self.patience
            inner = Stopping(self.stopping.remaining if limit is None else limit, callback=self._tell)
            labels, bound, optimal = solve_component(part, labels, milp.pick_solver(), inner, cost)
            self.patience -= self.stopping.seconds - began
            inner.reraise()
            if optimal:
                return labels, bound, "by integer programming"
        self.proven = False
        return labels, bound, "by local search with restarts"

    def _tell(self, seconds: float, cost: float) -> bool:
        return self.stopping.check(cost)

    def _local_search(self, part: FactorGraph, start: NDArray[np.int32] | None) -> tuple[NDArray[np.int32], float]:
        first = _best_unary(part) if start is None else start.copy()
        best, cost = improve(part, first, self.stopping)
        restarts = max(1, RESTARTS * RESTART_SIZE // max(part.n, RESTART_SIZE))
        for _ in range(restarts):
            if self.stopping.check(cost):
                break
            labels, reached = improve(part, random_labels(part, self.rng), self.stopping)
            if reached < cost:
                best, cost = labels, reached
        return best, cost

    def message(self, stopping: Stopping) -> str:
        ways = ", ".join(f"{count} cyclic component{'s' * (count > 1)} {how}" for how, count in self.done.items())
        ways = ways or "acyclic, by min-sum"
        if self.proven:
            return f"proven optimal: {ways}"
        return f"{MESSAGES[stopping.reason or Status.LOCAL_OPTIMUM]}: {ways}"


def _best_unary(f: FactorGraph) -> NDArray[np.int32]:
    """The best label of each variable by its own factor; the unary factors of a core come first, in order."""
    labels = np.empty(f.n, np.int32)
    for i in range(f.n):
        labels[i] = int(np.argmin(f.tables[f.table_start[i] : f.table_start[i + 1]]))
    return labels

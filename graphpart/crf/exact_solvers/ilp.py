"""The integer program of a factor graph: the local polytope with integer indicators, by a solver behind PuLP.

    minimise    sum over v, y of h_v(y) x[v, y]  +  sum over f, z of h_f(z) m[f, z]
    subject to  sum over y of x[v, y] = 1                                    for every variable v
                sum over z with z_v = y of m[f, z] = x[v, y]                 for every factor f, v in S(f), label y
                x in {0, 1},  m in [0, 1]

A forbidden entry z has no variable m[f, z]. First, factors over the same variables are merged and unary factors
absorbed. Connected components are solved separately, each starting from the labeling that local search finds. The
relaxation 0 <= x <= 1 is solved first: its dual multipliers prove a lower bound, and its solution is often integer
already.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.exact_solvers.integer_programs import to_milp
from graphpart.crf.exact_solvers.local_polytope import chosen_labels, program_of, values_of
from graphpart.crf.local_search.icm import improve
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.derive import split
from graphpart.crf.problem.given_labels import start_of
from graphpart.crf.problem.labeling import finish, least_entries, trivial_bound
from graphpart.crf.problem.shared_tables import rows_of
from graphpart.errors import InfeasibleProblem
from graphpart.milp.search import EXACT, UNPROVEN, Search
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["ilp", "relaxation", "solve_component", "solve_rows"]

Floats = NDArray[np.float64]


@interruptible
def ilp(
    problem: Any,
    *,
    solver: Any = "cbc",
    solver_options: dict[str, Any] | None = None,
    initial: Any = None,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabelingResult:
    """Minimise the energy to proven optimality by integer programming.

    Also known as ``integer-program`` or ``mip``.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    solver : str or pulp.LpSolver
        "cbc" (default), "highs", another solver that PuLP knows by name, or a PuLP solver.
    solver_options : dict, optional
        Keyword arguments for the PuLP solver of that name, such as ``{"threads": 2}``.
    initial : Result, labels or mapping from names to labels, optional
        A labeling from which local search starts; the result is not worse.
        Variables that it leaves out get the label of least cost given the others.
    time_limit : float, optional
        Seconds in total.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    LabelingResult
        With status ``optimal`` if, in each component, no labeling costs less by more than 1e-7 times the absolute cost
        (exactly optimal if all entries are multiples of one number at least 1e-6 times the largest), else the best
        labeling found and a valid lower bound. `iterations` counts programs solved.

    Raises
    ------
    InfeasibleProblem
        If every labeling is forbidden.
    InvalidOption, InvalidPartition
        If there is no such solver or option of it, or the initial labeling does not fit.
    SolverError, MissingDependency
        If the solver is not installed, or failed.

    Notes
    -----
    Meant as a reference: exponential time at worst. The program has a variable for each label and each finite entry,
    and rows for functions of many variables that are inequalities; see :func:`to_milp`. Solvers do not tell costs apart
    that differ by less than 1e-8 times the largest. Where that matters, what has a large cost is fixed as in the
    labeling found, the rest is solved for, and another program looks for other choices of the former.

    Examples
    --------
    >>> import graphpart as gp
    >>> differ = [[0.0, 1.0], [1.0, 0.0]]
    >>> unary = ([[0], [1], [2]], [[0.0, 3.0], [1.0, 0.5], [2.0, 0.0]])
    >>> f = gp.FactorGraph.from_arrays([2] * 3, [unary, ([[0, 1], [1, 2], [0, 2]], [differ] * 3)])
    >>> r = ilp(f)
    >>> r.labels.tolist(), r.cost, str(r.status)
    ([0, 1, 1], 2.5, 'optimal')
    """
    from graphpart.milp.solvers import pick_solver

    stopping = Stopping(time_limit, callback=callback)
    f = as_factor_graph(problem)
    chosen = pick_solver(solver, solver_options)
    trivial_bound(f)
    labels = np.zeros(f.n, np.int32) if initial is None else start_of(f, initial)
    labels, _ = improve(f, labels, stopping.child())
    if any(one.rows for one in f.owner.functions):
        labels, bound, proven = solve_rows(f, labels, chosen, stopping)
        return _result(f, labels, stopping, proven, bound, {"components": 1})
    simple = f.simplify()
    parts = sorted(split(simple, simple.components()), key=lambda one: one[1].entries)
    bounds, proven = [trivial_bound(part) for _, part in parts], True
    costs = [part.evaluate_labels(labels[variables]) for variables, part in parts]
    for k, (variables, part) in enumerate(parts):
        inner = stopping.child(plus=f.constant + sum(costs[:k]) + sum(costs[k + 1 :]))
        labels[variables], least, optimal = solve_component(part, labels[variables], chosen, inner)
        stopping.iterations += inner.iterations
        if inner.reason is not None:
            stopping.stop(inner.reason)
        costs[k] = part.evaluate_labels(labels[variables])
        bounds[k] = max(bounds[k], least)
        stopping.raise_bound(f.constant + sum(bounds))
        proven &= optimal
    bound = f.constant + sum(bounds)
    return _result(f, labels, stopping, proven, bound, {"components": len(parts)})


def _result(
    f: FactorGraph, labels: NDArray[np.int32], stopping: Stopping, proven: bool, bound: float, info: dict[str, Any]
) -> LabelingResult:
    status = Status.OPTIMAL if proven else Status.FEASIBLE
    message = None if proven or stopping.reason else UNPROVEN
    return finish(f, labels, stopping, "ilp", status, message=message, lower_bound=bound, info=info)


def solve_component(
    f: FactorGraph, labels: NDArray[np.int32], solver: Any, stopping: Stopping
) -> tuple[NDArray[np.int32], float, bool]:
    """Solve one component, from some labels: (labels, lower bound, True if the labels are optimal)."""
    return _Energies(f, labels, stopping).solved(lambda search: search.state_tables(solver))


def solve_rows(
    f: FactorGraph, labels: NDArray[np.int32], solver: Any, stopping: Stopping
) -> tuple[NDArray[np.int32], float, bool]:
    """The same for a decomposed factor graph, with functions that are inequalities as rows."""
    return _Energies(f, labels, stopping).solved(lambda search: search.state_rows(solver))


class _Energies(Search):
    """The integer program of a factor graph, and the best labels known."""

    read: Callable[[Floats], NDArray[np.int32]]  # labels from a solution
    start: Callable[[], Floats] | None = None  # the solution that corresponds to the labels

    def __init__(self, f: FactorGraph, labels: NDArray[np.int32], stopping: Stopping) -> None:
        self.f, self.labels, self.stopping = f, labels, stopping
        self.energy, self.others = f.evaluate_labels(labels), stopping.plus

    def solved(self, state: Callable[[_Energies], None]) -> tuple[NDArray[np.int32], float, bool]:
        """Labels, a lower bound, and whether the labels are optimal; the program is stated only if there is time."""
        easy = trivial_bound(self.f)
        if self.stopping.check(self.energy):
            return self.labels, easy, False
        state(self)
        self.cost, self.bound = self.energy - self.base, easy - self.base
        self.settle()
        if self.energy == self.bound == math.inf:
            raise InfeasibleProblem("every labeling is forbidden: the integer program has no solution")
        least, _ = least_entries(self.f)
        rounding = EXACT * (abs(self.f.constant) + float(np.abs(least).sum())) if easy != self.base else 0.0
        return self.labels, min(max(easy, self.bound + self.base - rounding), self.energy), self.proven

    def state_tables(self, solver: Any) -> None:
        """State the program of tables."""
        from graphpart.milp.program import Program

        costs, matrix, rhs, self.base, entries = program_of(self.f)
        self.program = Program(costs, solver, np.arange(len(costs)) < len(costs) - len(entries))
        self.program.add_rows(matrix, rhs, equal=True)
        self.read = lambda values: chosen_labels(self.f, values)
        self.start = lambda: values_of(self.f, self.labels, entries)

    def state_rows(self, solver: Any) -> None:
        """State the program with functions as rows."""
        from graphpart.milp.program import Program

        made = to_milp(self.f.owner)
        program = self.program = Program(made.c, solver, made.integrality == 1)
        program.upper[:], program.binary = made.bounds, made.integrality == 1
        same = made.lower == made.upper
        program.add_rows(made.A[same], made.upper[same], equal=True)
        for side, sign in ((made.upper, 1.0), (made.lower, -1.0)):
            some = ~same & np.isfinite(side)
            if some.any():
                program.add_rows(sign * made.A[some], sign * side[some])
        self.base = made.constant
        self.read = lambda values: self.f.labels(chosen_labels(self.f.owner, values))

    def solve_rounds(self) -> Floats | None:
        """Solve the relaxation, and then the integer program if the relaxation does not prove optimality."""
        for relaxed in (True, False):
            if self.proven or self.stopping.check(self.energy):
                return None
            start = self.start() if self.start and not relaxed and self.energy < math.inf else None
            answer = self.program.solve(self.stopping, self.energy, relaxed, start)
            self.stopping.iterations += 1
            bound = answer.bound
            if relaxed and answer.status == "optimal":
                bound = self.program.proven()
            self.bound = max(self.bound, self.program.lift(bound))
            if answer.values is not None:
                found = self.read(answer.values)
                if (reached := self.f.evaluate_labels(found)) < self.energy:
                    self.labels, self.energy, self.cost = found, reached, reached - self.base
                    self.stopping.record(reached)
            if relaxed and answer.status == "optimal":
                self.fix()
        return answer.values if answer.status == "optimal" else None


def relaxation(
    f: FactorGraph, solver: Any, stopping: Stopping, cost: float, sets: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int32], Floats, Floats] | None:
    """Labels by rounding the relaxation, and its dual multipliers; None if it was not solved to the end.

    The first multipliers are amounts that factors of at least two variables send to labels, in the order of
    `Certificate`. They prove the best bound that such amounts can prove (Cooper, de Givry & Schiex 2007). They are
    followed by the multipliers, not positive, of sets of labels of which at most one may be chosen; a set lists the
    places of its labels among the labels of all variables.
    """
    from graphpart.milp.program import Program

    costs, matrix, rhs, _, entries = program_of(f)
    program = Program(costs, solver, np.arange(len(costs)) < len(costs) - len(entries))
    program.add_rows(matrix, rhs, equal=True)
    if sets:
        from scipy.sparse import csr_array

        members = np.concatenate(sets)
        start = np.concatenate([[0], np.cumsum([len(one) for one in sets])])
        program.add_rows(
            csr_array((np.ones(len(members)), members, start), shape=(len(sets), len(costs))), np.ones(len(sets))
        )
    answer = program.solve(stopping, cost, relaxed=True)
    if answer.status != "optimal" or answer.values is None:
        return None
    several = np.flatnonzero(np.diff(f.scope_start) > 1)
    _, scope = rows_of(f.scope_start, f.scope, several)
    count = f.n + int(f.domains[scope].sum())
    multipliers = program.multipliers
    return chosen_labels(f, answer.values), multipliers[f.n : count], multipliers[len(multipliers) - len(sets) :]

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
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import first_of
from graphpart.crf.local_search.icm import improve
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.derive import rows_of, split
from graphpart.crf.problem.labeling import finish, trivial_bound
from graphpart.crf.problem.labels import start_of
from graphpart.errors import InfeasibleProblem
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["ilp", "relaxation", "solve_component"]

RESOLUTION = 1e-7  # relative to the largest cost: differences that solvers do not resolve

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
        With status ``optimal`` if no labeling costs less by more than 1e-7 times the largest absolute entry of a table,
        else the best labeling found and a valid lower bound. `iterations` counts programs solved.

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
    Meant as a reference: exponential time at worst. The program has a variable for each label and each finite entry.

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
    from graphpart import milp

    stopping = Stopping(time_limit, callback=callback)
    f = as_factor_graph(problem)
    chosen = milp.pick_solver(solver, solver_options)
    trivial_bound(f)
    labels = np.zeros(f.n, np.int32) if initial is None else start_of(f, initial)
    labels, _ = improve(f, labels, stopping.child())
    simple = f.simplify()
    parts = sorted(split(simple, simple.components()), key=lambda one: len(one[1].tables))
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
    status = Status.OPTIMAL if proven else Status.FEASIBLE
    return finish(f, labels, stopping, "ilp", status, lower_bound=bound, info={"components": len(parts)})


def solve_component(
    f: FactorGraph, labels: NDArray[np.int32], solver: Any, stopping: Stopping
) -> tuple[NDArray[np.int32], float, bool]:
    """Solve one component, from some labels: (labels, lower bound, True if the labels are optimal)."""
    from graphpart import milp

    best = f.evaluate_labels(labels)
    bound = trivial_bound(f)
    if stopping.check(best):
        return labels, bound, False
    costs, matrix, rhs, base, entries = program_of(f)
    integer = np.arange(len(costs)) < len(costs) - len(entries)
    program = milp.Program(costs, solver, integer)
    program.add_rows(matrix, rhs, equal=True)
    resolution = RESOLUTION * float(np.abs(costs).max(initial=0.0))
    for relaxed in (True, False):
        if stopping.check(best):
            break
        start = _values(f, labels, entries) if best < math.inf and not relaxed else None
        answer = program.solve(stopping, best, relaxed=relaxed, start=start)
        stopping.iterations += 1
        if answer.status == "infeasible":
            raise InfeasibleProblem("every labeling is forbidden: the integer program has no solution")
        if relaxed and answer.status == "optimal":
            bound = max(bound, base + program.lift(program.proven()))
        elif not relaxed:
            bound = max(bound, base + program.lift(answer.bound))
        if answer.values is not None:
            found = _labels(f, answer.values)
            if (reached := f.evaluate_labels(found)) < best:
                labels, best = found, reached
                stopping.record(best)
        if best <= bound + resolution:
            return labels, min(bound, best), True
    return labels, min(bound, best), False


def relaxation(
    f: FactorGraph, solver: Any, stopping: Stopping, cost: float, sets: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int32], Floats, Floats] | None:
    """Labels by rounding the relaxation, and its dual multipliers; None if it was not solved to the end.

    The first multipliers are amounts that factors of at least two variables send to labels, in the order of
    `Certificate`. They prove the best bound that such amounts can prove (Cooper, de Givry & Schiex 2007). They are
    followed by the multipliers, not positive, of sets of labels of which at most one may be chosen; a set lists the
    places of its labels among the labels of all variables.
    """
    from graphpart import milp

    costs, matrix, rhs, _, entries = program_of(f)
    program = milp.Program(costs, solver, np.arange(len(costs)) < len(costs) - len(entries))
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
    return _labels(f, answer.values), multipliers[f.n : count], multipliers[len(multipliers) - len(sets) :]


def program_of(f: FactorGraph) -> tuple[Floats, csr_array, Floats, float, NDArray[np.int64]]:
    """(costs, rows, right-hand sides, constant, finite entries of factors with several variables).

    The columns are the labels of all variables, then these entries. The smallest entry of each table is part of the
    constant.
    """
    from scipy.sparse import csr_array

    domains, scope_start, scope, table_start, tables = f._flat()
    n_labels = int(domains.sum())
    first = np.zeros(f.n + 1, np.int64)
    np.cumsum(domains, out=first[1:])
    arity = np.diff(scope_start)
    sizes = np.diff(table_start)
    factor = np.repeat(np.arange(f.m), sizes)
    inside = np.arange(len(tables)) - table_start[factor]
    least = np.minimum.reduceat(tables, table_start[:-1]) if f.m else np.zeros(0)
    value = tables - least[factor]
    unary = arity[factor] == 1
    x_costs = np.bincount(
        first[scope[scope_start[factor[unary]]]] + inside[unary],
        weights=np.where(np.isfinite(value[unary]), value[unary], 0.0),
        minlength=n_labels,
    )
    entries = np.flatnonzero(~unary & np.isfinite(value))
    column = n_labels + np.arange(len(entries))
    # Rows: one for each variable, one for each label at each place of a scope, one for each forbidden unary label.
    proper = np.flatnonzero(np.repeat(arity > 1, arity))
    row_of_place = np.full(len(scope), -1, np.int64)
    row_of_place[proper] = f.n + np.cumsum(domains[scope[proper]]) - domains[scope[proper]]
    m_rows = f.n + int(domains[scope[proper]].sum())
    rows = [np.repeat(np.arange(f.n), domains)]
    columns = [np.arange(n_labels)]
    data = [np.ones(n_labels)]
    stride = np.ones(len(entries), np.int64)
    of = factor[entries]
    for back in range(1, int(arity.max(initial=0)) + 1):  # places of the scopes, from the last to the first
        there = arity[of] >= back
        at = scope_start[of[there] + 1] - back
        d = domains[scope[at]].astype(np.int64)
        label = (inside[entries[there]] // stride[there]) % d
        stride[there] *= d
        rows.append(row_of_place[at] + label)
        columns.append(column[there])
        data.append(np.ones(len(at)))
    for_label = np.repeat(row_of_place[proper], domains[scope[proper]]) + _counting(domains[scope[proper]])
    rows.append(for_label)
    columns.append(np.repeat(first[scope[proper]], domains[scope[proper]]) + _counting(domains[scope[proper]]))
    data.append(-np.ones(len(for_label)))
    forbidden = np.flatnonzero(unary & np.isinf(value))
    rows.append(m_rows + np.arange(len(forbidden)))
    columns.append(first[scope[scope_start[factor[forbidden]]]] + inside[forbidden])
    data.append(np.ones(len(forbidden)))
    shape = (m_rows + len(forbidden), n_labels + len(entries))
    matrix = csr_array((np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), shape=shape)
    rhs = np.zeros(shape[0])
    rhs[: f.n] = 1.0
    return np.concatenate([x_costs, value[entries]]), matrix, rhs, f.constant + float(least.sum()), entries


def _counting(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """0, 1, ..., length - 1 for each of the lengths, one after the other."""
    starts = np.cumsum(lengths) - lengths
    counting: NDArray[np.int64] = np.arange(int(lengths.sum())) - np.repeat(starts, lengths)
    return counting


def _labels(f: FactorGraph, values: Floats) -> NDArray[np.int32]:
    """The label of each variable with the largest indicator."""
    first = np.cumsum(f.domains) - f.domains
    largest = np.maximum.reduceat(values[: int(f.domains.sum())], first)
    hit = np.flatnonzero(values[: int(f.domains.sum())] == np.repeat(largest, f.domains))
    variable = np.repeat(np.arange(f.n), f.domains)[hit]
    at = first_of(variable)
    labels: NDArray[np.int32] = (hit[at] - first).astype(np.int32)
    return labels


def _values(f: FactorGraph, labels: NDArray[np.int32], entries: NDArray[np.int64]) -> Floats:
    """The solution of the program that corresponds to labels."""
    x = np.zeros(int(f.domains.sum()))
    x[np.cumsum(f.domains) - f.domains + labels] = 1.0
    selected = np.zeros(len(f.tables))
    index = np.zeros(f.m, np.int64)
    arity = np.diff(f.scope_start)
    for place in range(int(arity.max(initial=0))):
        there = np.flatnonzero(arity > place)
        variable = f.scope[f.scope_start[there] + place]
        index[there] = index[there] * f.domains[variable] + labels[variable]
    selected[f.table_start[:-1] + index] = 1.0
    return np.concatenate([x, selected[entries]])

"""Factor graphs as integer programs for other solvers, and integer programs as factor graphs.

A factor graph becomes a program with a 0/1 variable for each label (Shlezinger 1976; Wainwright & Jordan 2008): of the
labels of a variable one is chosen, and tables of several variables choose an entry that agrees with it. Functions of
many variables that are inequalities become rows; others are decomposed into tables before.

A program whose variables are all integer and bounded becomes a factor graph: a variable with the bounds l and u has the
labels 0, ..., u - l, which stand for the values l, ..., u. The objective becomes unary costs, a row a linear function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.exact_solvers.local_polytope import program_of
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.derive import condition_on
from graphpart.crf.problem.functions import Row
from graphpart.errors import InvalidPartition, InvalidProblem

if TYPE_CHECKING:
    import pulp
    from scipy.sparse import csr_array

__all__ = ["IntegerProgram", "from_milp", "from_pulp", "to_milp", "to_pulp"]


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class IntegerProgram:
    """Minimise ``c @ x + constant`` subject to ``lower <= A @ x <= upper`` and ``0 <= x <= bounds``.

    Attributes
    ----------
    c : ndarray of float64, shape (columns,)
    A : scipy.sparse.csr_array, shape (rows, columns)
    lower, upper : ndarray of float64, shape (rows,)
    bounds : ndarray of float64, shape (columns,)
        1 for indicators of labels. For the slack of a soft inequality, its largest possible value.
    integrality : ndarray of int, shape (columns,)
        1 for variables that are integer, as scipy.optimize.milp takes it. The first columns are the labels of all
        variables, in order. The others are integer in some optimum.
    constant : float
    problem : FactorGraph
        The factor graph from which the program was made.
    """

    c: Floats = field(repr=False)
    A: csr_array = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    bounds: Floats = field(repr=False)
    integrality: NDArray[np.int64] = field(repr=False)
    constant: float
    problem: FactorGraph

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments of `scipy.optimize.milp`."""
        from scipy.optimize import Bounds, LinearConstraint

        return {
            "c": self.c,
            "constraints": LinearConstraint(self.A, self.lower, self.upper),
            "integrality": self.integrality,
            "bounds": Bounds(0, self.bounds),
        }

    def labels(self, x: Any) -> NDArray[np.int32]:
        """The labels of the variables, from a solution.

        Raises
        ------
        InvalidPartition
            If x has not one value for each column, or no label of a variable is chosen.
        """
        domains = self.problem.domains
        values = np.asarray(x, np.float64)
        if values.shape != self.c.shape:
            raise InvalidPartition(f"the solution has shape {values.shape}: expected {self.c.shape}")
        start = np.cumsum(domains) - domains
        labels = [int(np.argmax(values[a : a + d])) for a, d in zip(start.tolist(), domains.tolist(), strict=True)]
        chosen = values[start + labels] if len(labels) else np.ones(0)
        if (chosen < 0.5).any():
            v = int(np.argmax(chosen < 0.5))
            name = self.problem.variables[v]
            raise InvalidPartition(f"no label of variable {name!r} is chosen: expected one of value 1")
        return np.array(labels, np.int32)


def to_milp(problem: FactorGraph) -> IntegerProgram:
    """The integer program whose solutions are the labelings.

    Parameters
    ----------
    problem : FactorGraph

    Returns
    -------
    IntegerProgram

    Examples
    --------
    >>> import graphpart as gp
    >>> from scipy.optimize import milp
    >>> unary = ([[0], [1], [2], [3]], [[0.0, 3.0], [0.0, 1.0], [0.0, 2.0], [0.0, 5.0]])
    >>> f = gp.FactorGraph.from_arrays([2] * 4, [unary])
    >>> f.add_count(range(4), least=2)
    >>> program = to_milp(f)
    >>> r = milp(**program.arguments())
    >>> program.labels(r.x).tolist(), r.fun + program.constant
    ([0, 1, 1, 0], 3.0)
    """
    from scipy.sparse import csr_array, vstack

    own = problem.owner
    rest = condition_on(own, np.full(own.n, -1, np.int32))  # a copy
    rest._functions = [one for one in own.functions if not one.rows]
    tables = rest.decomposed()
    costs, matrix, rhs, base, entries = program_of(tables)
    rows: list[tuple[list[int], list[float]]] = []
    lower: list[float] = []
    upper: list[float] = []
    prices: list[float] = []
    slacks: list[float] = []
    start = np.cumsum(own.domains) - own.domains
    for one in own.functions:
        for row in one.rows:
            columns = [int(start[v]) + x for v, w in zip(one.scope, row.weights, strict=True) for x in range(len(w))]
            values = np.concatenate(row.weights).tolist() if row.weights else []
            kept = [(c, w) for c, w in zip(columns, values, strict=True) if w]
            smallest, largest = (math.fsum(pick(w).tolist() for w in row.weights) for pick in (np.min, np.max))
            for low, high, sign in _sides(row):
                terms = list(kept)
                if row.cost < math.inf:
                    terms.append((len(costs) + len(prices), sign))
                    prices.append(row.cost)
                    slacks.append(max(0.0, low - smallest if sign > 0 else largest - high))
                rows.append(([c for c, _ in terms], [w for _, w in terms]))
                lower.append(low)
                upper.append(high)
    width = len(costs) + len(prices)
    at = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    flat = np.array([c for columns, _ in rows for c in columns], np.int64)
    more = csr_array((np.array([w for _, values in rows for w in values]), flat, at), shape=(len(rows), width))
    first = csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], width))
    integrality = np.zeros(width, np.int64)
    integrality[: len(costs) - len(entries)] = 1
    return IntegerProgram(
        np.concatenate([costs, prices]),
        vstack([first, more], format="csr"),
        np.concatenate([rhs, lower]),
        np.concatenate([rhs, upper]),
        np.concatenate([np.ones(len(costs)), slacks]),
        integrality,
        base,
        own,
    )


def _sides(row: Row) -> list[tuple[float, float, float]]:
    """Bounds of rows, and the sign of their slack: one row if it is hard, else one for each finite bound."""
    if row.cost == math.inf:
        return [(row.least, row.most, 0.0)]
    below = [(row.least, math.inf, 1.0)] if row.least > -math.inf else []
    return below + ([(-math.inf, row.most, -1.0)] if row.most < math.inf else [])


def from_milp(
    c: Any, *, integrality: Any = None, bounds: Any = None, constraints: Any = None, variables: Any = None
) -> FactorGraph:
    """The factor graph of an integer program, given as for `scipy.optimize.milp`.

    Parameters
    ----------
    c : array_like of float, shape (n,)
        Costs, to be minimised.
    integrality : array_like of int, optional
        All 1: variables are integer. Default: they are.
    bounds : scipy.optimize.Bounds or pair of arrays, optional
        Finite; default 0 and 1. The label of a variable is its value less its lower bound.
    constraints : scipy.optimize.LinearConstraint, tuple of its arguments, or list of these, optional
        ``lower <= A @ x <= upper``; A may be sparse.
    variables : sequence of names, optional
        Default 0, ..., n - 1.

    Raises
    ------
    InvalidProblem
        If a variable is not integer, or not bounded, or the sums of a row take too many values.

    Examples
    --------
    >>> import graphpart as gp
    >>> f = from_milp([-4.0, -3.0, -3.0], constraints=([[5, 3, 3]], -float("inf"), 7))
    >>> r = gp.solve(f)
    >>> r.labels.tolist(), r.cost
    ([0, 1, 1], -6.0)
    """
    from scipy.sparse import csr_array, issparse

    costs = np.asarray(c, np.float64)
    if costs.ndim != 1 or not np.isfinite(costs).all():
        raise InvalidProblem(f"c has shape {costs.shape}: expected a vector of finite numbers")
    n = len(costs)
    whole = np.broadcast_to(np.asarray(1 if integrality is None else integrality), (n,))
    if (whole != 1).any():
        v = int(np.argmax(whole != 1))
        raise InvalidProblem(f"variable {v} has the integrality {whole[v]}: expected 1, integer variables only")
    low, high = (0, 1) if bounds is None else (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    lower = np.broadcast_to(np.asarray(low, np.float64), (n,))
    upper = np.broadcast_to(np.asarray(high, np.float64), (n,))
    listed = [] if constraints is None else constraints if isinstance(constraints, list) else [constraints]
    rows = []
    for one in listed:
        A, least, most = (one.A, one.lb, one.ub) if hasattr(one, "lb") else one
        matrix = csr_array(A if issparse(A) else np.atleast_2d(np.asarray(A, np.float64)))
        if matrix.shape[1] != n:
            raise InvalidProblem(f"the matrix of a constraint has {matrix.shape[1]} columns: expected {n}")
        count = matrix.shape[0]
        limits = (np.broadcast_to(np.asarray(x, np.float64), (count,)).tolist() for x in (least, most))
        for i, (a, b) in enumerate(zip(*limits, strict=True)):
            part = slice(matrix.indptr[i], matrix.indptr[i + 1])
            rows.append((f"row {i}", matrix.indices[part].tolist(), matrix.data[part].tolist(), a, b))
    names = list(range(n)) if variables is None else list(variables)
    return _built(names, costs, lower, upper, rows)


def _built(
    names: list[Any], costs: Floats, lower: Floats, upper: Floats,
    rows: list[tuple[str, list[int], list[float], float, float]], constant: float = 0.0, sense: int = 1,
) -> FactorGraph:  # fmt: skip
    """A variable for each column, a linear function for each row."""
    low, high = np.ceil(lower - 1e-9), np.floor(upper + 1e-9)
    bad = np.flatnonzero(~(np.isfinite(low) & np.isfinite(high) & (low <= high)))
    if len(bad):
        v = int(bad[0])
        raise InvalidProblem(f"variable {names[v]!r} has the bounds {lower[v]} and {upper[v]}: expected finite ones")
    sizes = (high - low + 1).astype(np.int64)
    constant += math.fsum((costs * low).tolist())
    groups = [([[v]], [costs[v] * np.arange(sizes[v])]) for v in range(len(names)) if costs[v]]
    f = FactorGraph.from_arrays(sizes, groups, names, constant=constant, sense=sense)
    for what, columns, values, least, most in rows:
        if least == -math.inf and most == math.inf:
            continue
        shift = math.fsum(w * low[v] for v, w in zip(columns, values, strict=True))
        try:
            f.add_linear([names[v] for v in columns], values, least - shift, most - shift)
        except InvalidProblem as error:
            raise InvalidProblem(f"{what}: {error}") from None
    return f


def to_pulp(problem: FactorGraph) -> pulp.LpProblem:
    """The integer program as a problem of PuLP, which minimises.

    The first variables are the labels of all variables, in order: `IntegerProgram.labels` of :func:`to_milp` takes the
    values of all variables of the problem.

    Examples
    --------
    >>> import graphpart as gp
    >>> f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[1.0, 0.0], [-1.0, 2.0]]])])
    >>> to_pulp(f).numVariables()
    8
    """
    import pulp

    program = to_milp(problem)
    lp = pulp.LpProblem("graphpart", pulp.LpMinimize)
    bounds = program.bounds.tolist()
    kinds = ["Integer" if whole else "Continuous" for whole in program.integrality.tolist()]
    x = [lp.add_variable(f"x{i:09d}", 0, b, kind) for i, (b, kind) in enumerate(zip(bounds, kinds, strict=True))]
    objective = dict(zip(x, program.c.tolist(), strict=True))
    lp.setObjective(pulp.LpAffineExpression(objective, program.constant))
    starts, columns, values = program.A.indptr.tolist(), program.A.indices.tolist(), program.A.data.tolist()
    for i, (low, high) in enumerate(zip(program.lower.tolist(), program.upper.tolist(), strict=True)):
        terms = pulp.LpAffineExpression({x[columns[k]]: values[k] for k in range(starts[i], starts[i + 1])})
        if low == high:
            lp.addConstraint(pulp.LpConstraint(terms, pulp.LpConstraintEQ, None, low))
            continue
        if low > -math.inf:
            lp.addConstraint(pulp.LpConstraint(terms, pulp.LpConstraintGE, None, low))
        if high < math.inf:
            lp.addConstraint(pulp.LpConstraint(terms, pulp.LpConstraintLE, None, high))
    return lp


def from_pulp(problem: pulp.LpProblem) -> FactorGraph:
    """The factor graph of a problem of PuLP in bounded integer variables; its variables have the same names.

    Parameters
    ----------
    problem : pulp.LpProblem
        If it maximises, `objective` gives its values.

    Raises
    ------
    InvalidProblem
        If a variable is not integer or not bounded, or the sums of a constraint take too many values; the message names
        it.

    Examples
    --------
    >>> import pulp
    >>> import graphpart as gp
    >>> lp = pulp.LpProblem("packing", pulp.LpMaximize)
    >>> a, b, c = (lp.add_variable(name, cat="Binary") for name in "abc")
    >>> lp += 4 * a + 3 * b + 3 * c
    >>> lp += 5 * a + 3 * b + 3 * c <= 7, "weight"
    >>> r = gp.solve(from_pulp(lp))
    >>> r.labeling, r.objective
    ({'a': 0, 'b': 1, 'c': 1}, 6.0)
    """
    import pulp

    x = problem.variables()
    place = {variable.name: v for v, variable in enumerate(x)}
    for variable in x:
        if variable.cat != pulp.LpInteger:
            raise InvalidProblem(f"variable {variable.name!r} is {variable.cat.lower()}: expected integer variables")
    lower = np.array([-math.inf if one.lowBound is None else one.lowBound for one in x], np.float64)
    upper = np.array([math.inf if one.upBound is None else one.upBound for one in x], np.float64)
    sense = -1 if problem.sense == pulp.LpMaximize else 1
    costs = np.zeros(len(x))
    goal = problem.objective
    for variable, value in () if goal is None else goal.items():
        costs[place[variable.name]] += sense * value
    rows = []
    for name, row in _constraints(problem):
        terms = list(row.items())
        right = -float(row.constant)
        least = -math.inf if row.sense == pulp.LpConstraintLE else right
        most = math.inf if row.sense == pulp.LpConstraintGE else right
        where = [place[variable.name] for variable, _ in terms]
        rows.append((f"constraint {name!r}", where, [float(w) for _, w in terms], least, most))
    constant = 0.0 if goal is None else sense * float(goal.constant)
    return _built([one.name for one in x], costs, lower, upper, rows, constant, sense)


def _constraints(problem: pulp.LpProblem) -> list[tuple[str, Any]]:
    """Names and constraints."""
    found = problem.constraints
    return [(one.name, one) for one in (found() if callable(found) else found.values())]

"""A program over 0/1 variables, with rows that are added between solves, or dropped.

Costs are scaled before they are passed to a solver. If they are multiples of one number, they become integers: solvers
then know that a better solution is better by at least 1. Otherwise they are scaled to a magnitude that fits the
absolute tolerances of solvers. Lower bounds from relaxations do not rely on the solver: `Program.proven` computes a
valid bound from any multipliers of the rows. Lower bounds from integer programs do, up to the resolution of solvers.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pulp
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from graphpart.errors import SolverError
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["Answer", "Program", "common_step"]

Vector = NDArray[np.float64]

RESOLUTION = 1e-6  # relative to the largest cost of a variable that is not fixed: differences that solvers cannot see


@dataclass(frozen=True)
class Answer:
    """The answer of a solver.

    Attributes
    ----------
    status : str
        "optimal" (of the program as it is, up to the gap of the solver), "infeasible", or "stopped".
    values : ndarray of float64 or None
        A solution, not rounded; None if the solver found none.
    bound : float
        A lower bound on the cost of all solutions, ``-inf`` if none is known.
    """

    status: str
    values: Vector | None
    bound: float


class Program:
    """Minimise ``costs @ x`` over x in {0, 1}^m with rows ``a @ x <= b`` or ``a @ x == b``.

    Parameters
    ----------
    costs : ndarray of float64, shape (m,)
        Finite.
    solver : pulp.LpSolver
        From `pick_solver`.
    integer : ndarray of bool, shape (m,), optional
        The variables that have to be integer; default all. The others are integer in some solution of least cost.

    Attributes
    ----------
    step : float
        All costs are multiples of it; 0 if no such number is known.
    lower, upper : ndarray of float64, shape (m,)
        Bounds of the variables; may be changed between solves.
    binary : ndarray of bool, shape (m,)
        The variables that are 0 or 1 in some solution of least cost among those in which these have any given values.
    """

    def __init__(self, costs: Vector, solver: Any, integer: NDArray[np.bool_] | None = None) -> None:
        self.costs = costs
        self.solver = solver
        self.step = common_step(costs)
        self._relative = getattr(solver, "resolution", RESOLUTION)
        self.lower, self.upper = np.zeros(len(costs)), np.ones(len(costs))
        self.binary = np.ones(len(costs), bool)
        self._make = pulp.LpProblem("graphpart")
        kinds = ["Integer"] * len(costs) if integer is None else np.where(integer, "Integer", "Continuous").tolist()
        self._variables = [self._make.add_variable(f"x{i:09d}", 0, 1, kind) for i, kind in enumerate(kinds)]
        self._rows: list[Any] = []
        self._matrix = csr_array((0, len(costs)))
        self._rhs = np.zeros(0)
        self._equal, self._always = np.zeros(0, bool), np.zeros(0, bool)
        self._multipliers = np.zeros(0)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self._rows)

    @property
    def largest(self) -> float:
        """The largest absolute cost of a variable that is not fixed."""
        return float(np.abs(self.costs).max(where=self.lower < self.upper, initial=0.0))

    @property
    def resolution(self) -> float:
        """The possible error of solvers; 0 if all costs are multiples of a number that solvers can tell apart."""
        return 0.0 if self.step else self._relative * self.largest

    def drowning(self, tolerance: float) -> NDArray[np.bool_]:
        """The variables, not fixed, with a cost so large that solvers cannot tell apart solutions that differ by a
        tolerance."""
        open_ = self.binary & (self.lower < self.upper)
        large: NDArray[np.bool_] = open_ & (self._relative * np.abs(self.costs) > tolerance)
        return large

    def add_rows(self, matrix: csr_array, rhs: Vector, equal: bool = False, always: bool = False) -> None:
        """Add the rows ``matrix @ x <= rhs``, or ``==``; some are never dropped."""
        sense = pulp.LpConstraintEQ if equal else pulp.LpConstraintLE
        starts, indices, data = matrix.indptr.tolist(), matrix.indices.tolist(), matrix.data.tolist()
        variables = self._variables
        for i, b in enumerate(rhs.tolist()):
            at = range(starts[i], starts[i + 1])
            terms = pulp.LpAffineExpression({variables[indices[k]]: data[k] for k in at})
            self._rows.append(pulp.LpConstraint(terms, sense, None, b))
        self._matrix = vstack([self._matrix, matrix], format="csr")
        self._rhs = np.concatenate([self._rhs, rhs])
        self._equal = np.concatenate([self._equal, np.full(len(rhs), equal)])
        self._always = np.concatenate([self._always, np.full(len(rhs), always)])
        self._multipliers = np.concatenate([self._multipliers, np.zeros(len(rhs))])

    def exclude(self, values: Vector, where: NDArray[np.bool_]) -> None:
        """Add the row that some of these variables differ from these values, which are 0 or 1."""
        at = np.flatnonzero(where)
        row = csr_array((2 * values[at] - 1, (np.zeros(len(at), np.int64), at)), shape=(1, len(values)))
        self.add_rows(row, np.array([values[at].sum() - 1]), always=True)

    def keep_rows(self, kept: NDArray[np.bool_]) -> None:
        """Drop all other rows that may be dropped."""
        kept = kept | self._always
        self._rows = [row for row, keep in zip(self._rows, kept.tolist(), strict=True) if keep]
        self._matrix, self._rhs, self._equal = self._matrix[kept], self._rhs[kept], self._equal[kept]
        self._always, self._multipliers = self._always[kept], self._multipliers[kept]

    def slack(self, values: Vector) -> Vector:
        """The slack of each row at `values`."""
        room: Vector = self._rhs - self._matrix @ values
        return room

    def solve(self, stopping: Stopping, cost: float, relaxed: bool = False, start: Vector | None = None) -> Answer:
        """Solve the program, or its relaxation to 0 <= x <= 1.

        Parameters
        ----------
        stopping : Stopping
            The remaining time limits the solver.
        cost : float
            Of the best solution known, for the callback.
        relaxed : bool
        start : ndarray of float64, shape (m,), optional
            A solution to start from, for solvers that take one. It is left out if variables are fixed otherwise or a
            row is violated.

        Raises
        ------
        SolverError
            If the solver crashed.
        """
        if start is not None and not self.allows(start):
            start = None
        unit = self.step or (math.ldexp(1.0, math.frexp(self.largest)[1]) / 2.0**10 if self.largest else 1.0)
        lp = self._problem(start, unit)
        if stopping.check(cost):
            return Answer("stopped", None, -math.inf)
        solver = copy.copy(self.solver)
        if "warmStart" in solver.optionsDict:
            solver.optionsDict = dict(solver.optionsDict, warmStart=start is not None)
        solver.mip = not relaxed
        solver.stopping, solver.best_cost, solver.start = stopping, cost, start
        left = math.inf if stopping.remaining is None else stopping.remaining
        limit = max(left - 1, 0.9 * left)  # the rest is for handing over the solution
        if limit < (solver.timeLimit or math.inf):
            solver.timeLimit = limit
        try:
            lp.solve(solver)
        except KeyboardInterrupt:
            stopping.stop(Status.INTERRUPTED)
            return Answer("stopped", None, -math.inf)
        except pulp.PulpError as error:
            raise SolverError(f"{solver.name} failed: {' '.join(str(error).split())}") from None
        answer = self._answer(lp, solver, relaxed, unit)
        if answer.status == "stopped" and solver.timeLimit == limit:
            stopping.stop(Status.TIME_LIMIT)
        return answer

    def allows(self, values: Vector) -> bool:
        """Whether whole numbers are a solution."""
        slack = self.slack(values)
        inside = (values >= self.lower).all() and (values <= self.upper).all()
        return bool(inside and (np.where(self._equal, -np.abs(slack), slack) > -10 * RESOLUTION).all())

    def _problem(self, start: Vector | None, unit: float) -> pulp.LpProblem:
        lp = pulp.LpProblem("graphpart")
        scaled = np.where(self.lower < self.upper, self.costs / unit, 0.0)
        lp.setObjective(pulp.LpAffineExpression(dict(zip(self._variables, scaled.tolist(), strict=True))))
        for variable, low, high in zip(self._variables, self.lower.tolist(), self.upper.tolist(), strict=True):
            variable.bounds(low, high)
        if start is not None:
            for variable, value in zip(self._variables, start.tolist(), strict=True):
                variable.setInitialValue(value, check=False)
        for i, row in enumerate(self._rows):
            lp.addConstraint(row, f"r{i}")
        return lp

    def _answer(self, lp: pulp.LpProblem, solver: Any, relaxed: bool, unit: float) -> Answer:
        if lp.sol_status in (pulp.LpSolutionInfeasible, pulp.LpSolutionUnbounded):
            return Answer("infeasible", None, math.inf)
        bound = -math.inf if relaxed else self._known(getattr(solver, "bound", -math.inf) * unit)
        if lp.sol_status == pulp.LpSolutionNoSolutionFound:
            return Answer("stopped", None, bound)
        values = np.array([variable.varValue for variable in self._variables], np.float64)
        if relaxed:
            self._multipliers = np.array([row.pi or 0.0 for row in self._rows], np.float64) * unit
        if lp.sol_status != pulp.LpSolutionOptimal:
            return Answer("stopped", values, bound)
        if not relaxed:
            open_ = self.lower < self.upper
            claimed = min(float(self.costs[open_] @ one[open_]) for one in (values, np.round(values)))
            bound = max(bound, self._known(_within_gap(claimed, solver, unit)))
        return Answer("optimal", values, bound)

    def _known(self, claimed: float) -> float:
        """The bound if a solver claims one for the costs of variables that are not fixed."""
        fixed = self.lower == self.upper
        return claimed - self.resolution + float(self.costs[fixed] @ self.lower[fixed])

    def proven(self) -> float:
        """The lower bound that the multipliers of the last relaxation prove, without relying on the solver.

        For any multipliers p, not positive for rows with <=, every solution costs at least
        ``p @ rhs + (costs - A' p) @ x``, hence at least the minimum of this over x within its bounds. All roundings are
        downwards.
        """
        reduced, error = self.reduced_costs()
        low = reduced - error
        terms = np.concatenate([self.multipliers * self._rhs, np.where(low > 0, low * self.lower, low * self.upper)])
        return math.nextafter(math.fsum(terms.tolist()) - np.finfo(float).eps * float(np.abs(terms).sum()), -math.inf)

    @property
    def multipliers(self) -> Vector:
        """The dual multipliers of the rows in the last relaxation, not positive for rows with <=; 0 before."""
        found: Vector = np.where(self._equal, self._multipliers, np.minimum(self._multipliers, 0.0))
        return found

    def reduced_costs(self) -> tuple[Vector, Vector]:
        """``costs - A' multipliers``, by the multipliers of the rows in the last relaxation, and their errors."""
        transposed, multipliers = self._matrix.T, self.multipliers
        sizes = abs(transposed) @ np.abs(multipliers) + np.abs(self.costs)
        terms = np.bincount(self._matrix.indices, minlength=len(self.costs)) + 2
        return self.costs - transposed @ multipliers, np.finfo(float).eps * terms * sizes

    def fix(self, most: float) -> None:
        """Fix binary variables that no solution of at most this cost has otherwise, by the last relaxation."""
        reduced, error = self.reduced_costs()
        hopeless = self.binary & (self.proven() + np.abs(reduced) - 2 * error > most)
        self.upper[hopeless & (reduced > 0)] = self.lower[hopeless & (reduced > 0)]
        self.lower[hopeless & (reduced < 0)] = self.upper[hopeless & (reduced < 0)]

    def lift(self, bound: float) -> float:
        """The least multiple of `step` that is not below a bound, up to the tolerance of solvers."""
        if not self.step or not math.isfinite(bound):
            return bound
        return math.ceil(bound / self.step - 10 * RESOLUTION) * self.step


def _within_gap(value: float, solver: Any, unit: float) -> float:
    """The bound that a solver claims with a solution of this value that it calls optimal."""
    gaps = [getattr(solver, name, None) or solver.optionsDict.get(name) or 0.0 for name in ("gapAbs", "gapRel")]
    absolute, relative = gaps[0] * unit, min(gaps[1], 1.0)
    return value - absolute - (relative / (1 - relative) * abs(value) if relative < 1 else math.inf)


def common_step(costs: Vector) -> float:
    """The largest number of which all costs are multiples, if they are small multiples; else 0.

    Examples
    --------
    >>> common_step(np.array([0.5, -0.75])), common_step(np.array([-6.0, 4.0])), common_step(np.array([0.1, 0.7]))
    (0.25, 2.0, 0.0)
    """
    nonzero = np.abs(costs[costs != 0])
    if not len(nonzero):
        return 0.0
    power = math.ldexp(1.0, math.frexp(float(nonzero.max()))[1]) / 2.0**20  # larger ones solvers take for fractions
    whole = nonzero / power if power else nonzero
    if not power or (whole != np.floor(whole)).any():
        return 0.0
    return float(np.gcd.reduce(whole.astype(np.int64)) * power)

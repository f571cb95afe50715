"""Integer programs over 0/1 variables, through PuLP: the only place that knows PuLP and its solvers.

A :class:`Program` minimises ``costs @ x`` subject to rows that may be added between solves, or dropped. Costs are
scaled before they are passed to a solver. If they are multiples of one number, they become integers: solvers then know
that a better solution is better by at least 1. Otherwise they are scaled to a magnitude that fits the absolute
tolerances of solvers. Lower bounds from relaxations do not rely on the solver: `Program.proven` computes a valid bound
from any multipliers of the rows.

Imported only by functions that solve integer programs, so that ``import graphpart`` does not load PuLP.
"""

from __future__ import annotations

import copy
import math
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pulp
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from graphpart.errors import InvalidOption, SolverError
from graphpart.highs import fault
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["Answer", "Program", "pick_solver"]

Vector = NDArray[np.float64]

MARGIN = 0.1  # share of the time left, but at most a second, that a solver has to leave for handing over its solution
WHOLE = 2.0**20  # costs that are multiples of one number are scaled to whole numbers if these are at most so large
MAGNITUDE = 2.0**10  # else the largest cost is scaled to about this
INTEGRAL = 1e-5  # a bound this close below a whole number counts as that number


# ------------------------------------------------------------------------------------------------------------ solvers


class Cbc(pulp.COIN_CMD):  # type: ignore[misc,unused-ignore]
    """CBC as a process that ends at Ctrl-C and at the time limit; the bound is read from its log."""

    name = "CBC"
    stopping: Stopping
    best_cost = math.inf
    bound = -math.inf

    def actualSolve(self, lp: pulp.LpProblem, **_: Any) -> int:
        with tempfile.TemporaryDirectory(prefix="graphpart-") as folder:
            model, start, solution, log = (
                str(Path(folder, name)) for name in ("model.mps", "start", "solution", "log")
            )
            variables, names, rows, _objective = lp.writeMPS(model, rename=True)
            command = [self.path, model]
            if self.optionsDict.get("warmStart") and self.mip:
                self.writesol(start, lp, variables, names, rows)
                command += ["-mips", start]
            if self.timeLimit is not None:
                command += ["-sec", str(self.timeLimit)]
            for option in self.options + self.getOptions():
                command += f"-{option}".split()
            command += ["-solve" if self.mip else "-initialSolve", "-printingOptions", "all", "-solution", solution]
            killed = self._run(command, log)
            self.bound = _bound_in_log(Path(log).read_text(errors="replace"))
            if killed or not Path(solution).exists():
                if not killed:
                    raise SolverError(f"CBC ended without a solution: {_last_line(log)}")
                lp.assignStatus(pulp.LpStatusNotSolved, pulp.LpSolutionNoSolutionFound)
                return int(pulp.LpStatusNotSolved)
            status, values, _, multipliers, _, found = self.readsol_MPS(solution, lp, variables, names, rows)
            lp.assignVarsVals(values)
            lp.assignConsPi(multipliers)
            lp.assignStatus(status, found)
            return int(status)

    def _run(self, command: list[str], log: str) -> bool:
        """Run to the end; True if the process had to be killed."""
        with open(log, "wb") as out, _start(command, out) as process:
            try:
                while process.poll() is None:
                    with suppress(subprocess.TimeoutExpired), interruptible(self.stopping):
                        process.wait(0.05)
                    if self.stopping.check(self.best_cost):  # Ctrl-C may have ended the process as well
                        return True
                return False
            finally:
                process.kill()


def _start(command: list[str], out: Any) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
    except OSError as error:
        raise SolverError(f"cannot run CBC at {command[0]}: {error.strerror}") from None


@contextmanager
def interruptible(stopping: Stopping) -> Iterator[None]:
    """Let Ctrl-C end the run in good order."""
    try:
        yield
    except KeyboardInterrupt:
        stopping.stop(Status.INTERRUPTED)


def _bound_in_log(text: str) -> float:
    """The best lower bound in a log of CBC, less its rounding when printed; -inf if there is none."""
    found = re.findall(r"(?:best possible|Lower bound:|Continuous objective value is) *(-?\d[-+.\de]*)", text)
    bound = max((x for x in map(float, found) if abs(x) < 1e30), default=-math.inf)  # 1e+50 stands for none
    return bound - 1e-3 - 1e-5 * abs(bound)


def _last_line(log: str) -> str:
    lines = Path(log).read_text(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it wrote nothing")


class Highs(pulp.HiGHS):  # type: ignore[misc,unused-ignore]
    """HiGHS in a thread, so that Ctrl-C and the time limit end it."""

    stopping: Stopping
    best_cost = math.inf
    bound = -math.inf
    start: Vector | None = None

    def callSolver(self, lp: pulp.LpProblem) -> None:
        model = lp.solverModel
        if self.start is not None and self.mip:
            model.setSolution(len(self.start), np.arange(len(self.start), dtype=np.int32), self.start)
        model.HandleUserInterrupt = True
        done = threading.Event()  # Thread.join takes a running thread for ended after Ctrl-C

        def run() -> None:
            try:
                model.run()
            finally:
                done.set()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        while not done.is_set():  # also after Ctrl-C: the model must not vanish while the thread uses it
            with interruptible(self.stopping):
                done.wait(0.02)
            if self.stopping.check(self.best_cost):
                model.cancelSolve()
        thread.join()
        status = model.modelStatusToString(model.getModelStatus()).lower()
        if self.mip and any(word in status for word in ("optimal", "limit", "interrupt")):
            self.bound = model.getInfo().mip_dual_bound


def pick_solver(solver: Any = "cbc", options: dict[str, Any] | None = None) -> Any:
    """A solver for :class:`Program`.

    Parameters
    ----------
    solver : str or pulp.LpSolver
        "cbc", "highs", a name that ``pulp.listSolvers()`` knows, or a PuLP solver, which is copied.
    options : dict, optional
        Keyword arguments for the PuLP solver of that name, such as ``{"threads": 2}``.

    Returns
    -------
    pulp.LpSolver
        Silent, and with a gap of 0 unless the options ask for another one.

    Raises
    ------
    InvalidOption
        If there is no such solver, or it has no such option.
    MissingDependency
        If highspy is not installed.
    SolverError
        If highspy is too old or damaged, or another solver is not installed.
    """
    if isinstance(solver, pulp.LpSolver):
        if options:
            raise InvalidOption("solver_options with a pulp solver: expected the name of a solver, or options in it")
        chosen = copy.copy(solver)
        chosen.optionsDict = dict(solver.optionsDict)
        if not hasattr(chosen, "gapRel"):
            chosen.optionsDict.setdefault("gapRel", 0.0)
        elif chosen.gapRel is None:
            chosen.gapRel = 0.0
        name = chosen.name
    elif isinstance(solver, str):
        chosen, name = _named_solver(solver, dict(options or {})), solver
    else:
        raise InvalidOption(f"solver is {solver!r}: expected cbc, highs, or a pulp solver")
    if not chosen.available():
        raise SolverError(f"solver {name} is not installed, or not found by PuLP")
    return chosen


def _named_solver(solver: str, options: dict[str, Any]) -> Any:
    name = solver.lower()
    options = {"msg": False, "gapRel": 0.0, **options}
    try:
        if name == "cbc":
            path = options.pop("path", pulp.PULP_CBC_CMD.pulp_cbc_path)
            options["options"] = ["increment 1e-9", *options.get("options", [])]
            return Cbc(path=path, **options)
        if name == "highs":
            if (error := fault()) is not None:
                raise error
            return Highs(**{"gapAbs": 0.0, **options})
        known = {known.lower(): known for known in pulp.listSolvers()}
        if name not in known:
            raise InvalidOption(f"solver is {solver!r}: expected cbc, highs, or one of {', '.join(sorted(known))}")
        return pulp.getSolver(known[name], **options)
    except TypeError as error:
        raise InvalidOption(f"solver_options for {solver}: {error}") from None


# ----------------------------------------------------------------------------------------------------------- programs


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
    """

    def __init__(self, costs: Vector, solver: Any, integer: NDArray[np.bool_] | None = None) -> None:
        self.costs = costs
        self.solver = solver
        self.step = common_step(costs)
        largest = float(np.abs(costs).max(initial=0.0))
        self.unit = self.step or (math.ldexp(1.0, math.frexp(largest)[1]) / MAGNITUDE if largest else 1.0)
        self.lower, self.upper = np.zeros(len(costs)), np.ones(len(costs))
        self._scaled = costs / self.unit
        self._make = pulp.LpProblem("graphpart")
        kinds = ["Integer"] * len(costs) if integer is None else np.where(integer, "Integer", "Continuous").tolist()
        self._variables = [self._make.add_variable(f"x{i:09d}", 0, 1, kind) for i, kind in enumerate(kinds)]
        self._rows: list[Any] = []
        self._matrix = csr_array((0, len(costs)))
        self._rhs = np.zeros(0)
        self._equal = np.zeros(0, bool)
        self._multipliers = np.zeros(0)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self._rows)

    def add_rows(self, matrix: csr_array, rhs: Vector, equal: bool = False) -> None:
        """Add the rows ``matrix @ x <= rhs``, or ``==``."""
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
        self._multipliers = np.concatenate([self._multipliers, np.zeros(len(rhs))])

    def keep_rows(self, kept: NDArray[np.bool_]) -> None:
        """Drop all other rows."""
        self._rows = [row for row, keep in zip(self._rows, kept.tolist(), strict=True) if keep]
        self._matrix, self._rhs, self._equal = self._matrix[kept], self._rhs[kept], self._equal[kept]
        self._multipliers = self._multipliers[kept]

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
            A solution to start from, for solvers that take one.

        Raises
        ------
        SolverError
            If the solver crashed.
        """
        lp = self._problem(start)
        if stopping.check(cost):
            return Answer("stopped", None, -math.inf)
        solver = copy.copy(self.solver)
        if "warmStart" in solver.optionsDict:
            solver.optionsDict = dict(solver.optionsDict, warmStart=start is not None)
        solver.mip = not relaxed
        solver.stopping, solver.best_cost, solver.start = stopping, cost, start
        left = math.inf if stopping.remaining is None else stopping.remaining
        limit = max(left - 1, (1 - MARGIN) * left)
        if limit < (solver.timeLimit or math.inf):
            solver.timeLimit = limit
        try:
            lp.solve(solver)
        except KeyboardInterrupt:
            stopping.stop(Status.INTERRUPTED)
            return Answer("stopped", None, -math.inf)
        except pulp.PulpError as error:
            raise SolverError(f"{solver.name} failed: {' '.join(str(error).split())}") from None
        answer = self._answer(lp, solver, relaxed)
        if answer.status == "stopped" and solver.timeLimit == limit:
            stopping.stop(Status.TIME_LIMIT)
        return answer

    def _problem(self, start: Vector | None) -> pulp.LpProblem:
        lp = pulp.LpProblem("graphpart")
        lp.setObjective(pulp.LpAffineExpression(dict(zip(self._variables, self._scaled.tolist(), strict=True))))
        for variable, low, high in zip(self._variables, self.lower.tolist(), self.upper.tolist(), strict=True):
            variable.bounds(low, high)
        if start is not None:
            for variable, value in zip(self._variables, start.tolist(), strict=True):
                variable.setInitialValue(value, check=False)
        for i, row in enumerate(self._rows):
            lp.addConstraint(row, f"r{i}")
        return lp

    def _answer(self, lp: pulp.LpProblem, solver: Any, relaxed: bool) -> Answer:
        if lp.sol_status in (pulp.LpSolutionInfeasible, pulp.LpSolutionUnbounded):
            return Answer("infeasible", None, math.inf)
        bound = getattr(solver, "bound", -math.inf) * self.unit if not relaxed else -math.inf
        if lp.sol_status == pulp.LpSolutionNoSolutionFound:
            return Answer("stopped", None, bound)
        values = np.array([variable.varValue for variable in self._variables], np.float64)
        if relaxed:
            multipliers = [row.pi or 0.0 for row in self._rows]
            self._multipliers = np.array(multipliers, np.float64)
        if lp.sol_status != pulp.LpSolutionOptimal:
            return Answer("stopped", values, bound)
        if not relaxed:
            bound = max(bound, self._within_gap(float(self.costs @ np.round(values)), solver))
        return Answer("optimal", values, bound)

    def _within_gap(self, value: float, solver: Any) -> float:
        """The bound that a solver claims with a solution of this value that it calls optimal."""
        gaps = [getattr(solver, name, None) or solver.optionsDict.get(name) or 0.0 for name in ("gapAbs", "gapRel")]
        absolute, relative = gaps[0] * self.unit, min(gaps[1], 1.0)
        return value - absolute - (relative / (1 - relative) * abs(value) if relative < 1 else math.inf)

    @property
    def multipliers(self) -> Vector:
        """The dual multipliers of the rows in the last relaxation, in the unit of the costs; 0 before."""
        return self._multipliers * self.unit

    def reduced_costs(self) -> Vector:
        """``costs - A' multipliers``, by the multipliers of the rows in the last relaxation."""
        multipliers = np.where(self._equal, self._multipliers, np.minimum(self._multipliers, 0.0)) * self.unit
        reduced: Vector = self.costs - self._matrix.T @ multipliers
        return reduced

    def proven(self) -> float:
        """The lower bound that the multipliers of the last relaxation prove, without relying on the solver.

        For any multipliers p, not positive for rows with <=, every solution costs at least
        ``p @ rhs + (costs - A' p) @ x``, hence at least the minimum of this over x within its bounds.
        """
        multipliers = np.where(self._equal, self._multipliers, np.minimum(self._multipliers, 0.0)) * self.unit
        reduced = self.costs - self._matrix.T @ multipliers
        return float(multipliers @ self._rhs + np.where(reduced > 0, reduced * self.lower, reduced * self.upper).sum())

    def lift(self, bound: float) -> float:
        """The least multiple of `step` that is not below a bound, up to the tolerance of solvers."""
        if not self.step or not math.isfinite(bound):
            return bound
        return math.ceil(bound / self.step - INTEGRAL) * self.step


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
    power = math.ldexp(1.0, math.frexp(float(nonzero.max()))[1]) / WHOLE
    whole = nonzero / power if power else nonzero
    if not power or (whole != np.floor(whole)).any():
        return 0.0
    return float(np.gcd.reduce(whole.astype(np.int64)) * power)

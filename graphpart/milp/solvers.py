"""The solvers behind PuLP: CBC as a process and HiGHS in a thread, both of which a time limit and Ctrl-C end."""

from __future__ import annotations

import copy
import math
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pulp
from numpy.typing import NDArray

from graphpart.errors import InvalidOption, SolverError
from graphpart.highs import fault, silent
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["pick_solver"]

Vector = NDArray[np.float64]

TIGHT = 1e-9  # tolerance of the two solvers, absolute; the default is 1e-6 or 1e-7
CBC_TOLERANCES = ("increment", "integerTolerance", "primalTolerance", "dualTolerance")
HIGHS_TOLERANCES = ("mip_feasibility_tolerance", "primal_feasibility_tolerance", "dual_feasibility_tolerance")


class Cbc(pulp.COIN_CMD):  # type: ignore[misc,unused-ignore]
    """CBC as a process that ends at Ctrl-C and at the time limit; the bound is read from its log."""

    name = "CBC"
    resolution = 10 * TIGHT
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
            infeasible = status == pulp.LpStatusInfeasible  # for PuLP, "Integer infeasible" only is no solution found
            lp.assignStatus(status, pulp.LpSolutionInfeasible if infeasible else found)
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


class SilentHighs(pulp.HiGHS):  # type: ignore[misc,unused-ignore]
    """HiGHS as PuLP runs it, without its output before it is told to print nothing."""

    def createAndConfigureSolver(self, lp: pulp.LpProblem) -> None:
        lp.solverModel = model = silent()
        if self.callbackTuple:
            model.setCallback(*self.callbackTuple)
        for kind in self.callbacksToActivate or ():
            model.startCallback(kind)
        options = {"output_flag": bool(self.msg), "mip_rel_gap": self.gapRel, "mip_abs_gap": self.gapAbs}
        options |= {"threads": self.threads, "time_limit": self.timeLimit, **self.optionsDict}
        for option, value in options.items():
            if value is not None:
                model.setOptionValue(option, float(value) if option == "time_limit" else value)


class Highs(SilentHighs):
    """HiGHS in a thread, so that Ctrl-C and the time limit end it."""

    resolution = 10 * TIGHT  # relative to the largest cost: differences that it cannot see
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
        if type(chosen) is pulp.HiGHS:
            chosen.__class__ = SilentHighs
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
            options["options"] = [*(f"{one} {TIGHT}" for one in CBC_TOLERANCES), *options.get("options", [])]
            return Cbc(path=path, **options)
        if name == "highs":
            if (error := fault()) is not None:
                raise error
            return Highs(**{"gapAbs": 0.0, **dict.fromkeys(HIGHS_TOLERANCES, TIGHT), **options})
        known = {known.lower(): known for known in pulp.listSolvers()}
        if name not in known:
            raise InvalidOption(f"solver is {solver!r}: expected cbc, highs, or one of {', '.join(sorted(known))}")
        return pulp.getSolver(known[name], **options)
    except TypeError as error:
        raise InvalidOption(f"solver_options for {solver}: {error}") from None

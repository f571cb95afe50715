"""A linear program with changing rows: least cost of variables between bounds, subject to rows with lower bounds.

HiGHS through highspy keeps the last basis, so that it goes on from there when rows are added or bounds change. Where
many points have the least cost, the simplex method takes long, even from the last basis. Interior point methods do not,
and end at a point inside of the optimal face. Without highspy, SciPy's HiGHS solves each program from the beginning.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.highs import fault, simplex

__all__ = ["LinearProgram", "Rows", "linear_program"]

Floats = NDArray[np.float64]
INTERIOR = 100  # iterations of the simplex method that take as long as one of the interior point method, about


class Rows:
    """Rows of a sparse matrix with a lower bound each.

    Attributes
    ----------
    ends : ndarray of int64, shape (k,)
        Row i has the entries ``ends[i - 1]`` to ``ends[i]``.
    columns : ndarray of int32
    entries : ndarray of float64
    least : ndarray of float64, shape (k,)
    """

    def __init__(self, ends: NDArray[np.int64], columns: NDArray[np.int32], entries: Floats, least: Floats) -> None:
        self.ends, self.columns, self.entries, self.least = ends, columns, entries, least

    @classmethod
    def none(cls) -> Rows:
        """No rows."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0), np.zeros(0))

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each row begins, and the end of the last one."""
        return np.concatenate([[0], self.ends])

    @property
    def row(self) -> NDArray[np.int64]:
        """The row of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def joined(self, other: Rows) -> Rows:
        """These rows, then the others."""
        return Rows(
            np.concatenate([self.ends, other.ends + len(self.columns)]),
            np.concatenate([self.columns, other.columns]),
            np.concatenate([self.entries, other.entries]),
            np.concatenate([self.least, other.least]),
        )

    def part(self, kept: NDArray[np.bool_]) -> Rows:
        """Some of the rows."""
        entries = kept[self.row]
        ends = np.cumsum(np.diff(self.starts)[kept])
        return Rows(ends, self.columns[entries], self.entries[entries], self.least[kept])

    def sums(self, multipliers: Floats, columns: int) -> Floats:
        """The sum of the rows, each times its multiplier."""
        if not len(self):
            return np.zeros(columns)
        return np.bincount(self.columns, self.entries * multipliers[self.row], columns).astype(np.float64, copy=False)


class LinearProgram:
    """Minimise ``cost x`` for ``lower <= x <= upper`` and rows.

    Attributes
    ----------
    rows : Rows
    x : ndarray of float64
        The optimum, after `solve`.
    multipliers : ndarray of float64
        Of the rows, at least 0. `bound` is valid for any of them.
    slack : ndarray of bool
        Rows that could be left out without changing the optimum.
    iterations, most : int, float
        Iterations of the simplex method so far, or what takes about as long; no run of it goes on beyond `most`.
    failed : bool
        Whether the last run ended without an optimum, although it was not interrupted.
    inner : bool
        Whether `x` is no vertex, but an inner point of about the least cost, after `approach`.
    """

    def __init__(self, cost: Floats, remaining: Callable[[], float]) -> None:
        self.cost, self._remaining = cost, remaining
        self.iterations, self.most, self.failed, self.inner = 0, math.inf, False, False
        self.lower, self.upper = np.zeros(len(cost)), np.ones(len(cost))
        self.rows = Rows.none()
        self.x, self.multipliers, self.slack = np.zeros(len(cost)), np.zeros(0), np.zeros(0, bool)

    def add(self, rows: Rows) -> None:
        """Add rows."""
        self.rows = self.rows.joined(rows)
        self.multipliers = np.concatenate([self.multipliers, np.zeros(len(rows))])
        self.slack = np.concatenate([self.slack, np.zeros(len(rows), bool)])

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop all other rows."""
        self.rows, self.multipliers, self.slack = self.rows.part(kept), self.multipliers[kept], self.slack[kept]

    def confine(self, lower: Floats, upper: Floats) -> None:
        """Other bounds of the variables."""
        self.lower, self.upper = lower.copy(), upper.copy()

    def change(self, cost: Floats) -> None:
        """Other costs."""
        self.cost = cost

    @property
    def _allowed(self) -> int:
        """Iterations of the next run."""
        return int(max(1, min(self.most - self.iterations, 2**31 - 1)))

    def solve(self) -> bool:
        """Solve it; False if there is no optimum yet. The multipliers are those of the last optimum."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, hstack

        rows = self.rows
        matrix = csr_array((-rows.entries, rows.columns, rows.starts), shape=(len(rows), len(self.cost)))
        bounds = np.stack([self.lower, self.upper], 1)
        options: dict[str, float] = {"maxiter": self._allowed}
        if math.isfinite(seconds := self._remaining()):
            options["time_limit"] = seconds
        given = (matrix, -rows.least) if len(rows) else (None, None)
        found = linprog(self.cost, *given, bounds=bounds, options=options)
        self.iterations += found.nit
        self.failed = found.status > 1
        if found.status == 2:  # no x obeys all rows; the multipliers of the least violation prove that
            bounds = np.append(bounds, [[0.0, math.inf]], 0)
            wide = csr_array(hstack([matrix, -np.ones((len(rows), 1))]))
            found = linprog(np.append(np.zeros(len(self.cost)), 1.0), wide, -rows.least, bounds=bounds, options=options)
            ray = -found.ineqlin.marginals if found.status == 0 else np.zeros(len(rows))
            self.multipliers = self._contradiction(ray)
            return False
        if found.status != 0:
            return False
        self.x = np.clip(found.x, self.lower, self.upper)
        self.multipliers = np.maximum(-found.ineqlin.marginals, 0.0) if len(rows) else np.zeros(0)
        self.slack = found.ineqlin.residual > 1e-9 if len(rows) else np.zeros(0, bool)
        return True

    def approach(self) -> bool:
        """Solve it about, by interior points where that is possible; else as `solve`."""
        return self.solve()

    def bound(self, cost: Floats, multipliers: Floats) -> tuple[float, Floats]:
        """A lower bound that multipliers prove for any costs, rounded down, and the reduced costs. O(entries)

        Entries of the rows are 1 and -1; the cost of a variable that is not at a bound is the sum of its multipliers,
        so that their difference has to be more accurate than both. Each multiplier is a multiple of a number such that
        sums of multiples are exact, and a small rest.
        """
        rows, most = self.rows, float(multipliers.sum())
        unit = math.ldexp(1.0, math.frexp(most)[1] - 52) if most else 0.0
        main = np.rint(multipliers / unit) * unit if unit else multipliers
        near = cost - rows.sums(main, len(cost))
        reduced = near - rows.sums(multipliers - main, len(cost))
        counts = np.bincount(rows.columns, minlength=len(cost)).astype(np.float64)
        # Two differences, and a sum of at most this many numbers up to half of the unit.
        least = reduced - 2.0**-51 * (np.abs(near) + counts * (counts + 1.0) * unit)
        parts, sides = np.minimum(least * self.lower, least * self.upper), multipliers * rows.least
        value = math.fsum([*parts.tolist(), *sides.tolist()])
        return value - 2.0**-52 * (abs(value) + math.fsum(np.abs(sides).tolist())), reduced

    def _contradiction(self, ray: Floats) -> Floats:
        """Multipliers whose bound exceeds all costs, from a ray that proves that no x obeys all rows; else zeros."""
        ray = np.maximum(ray, 0.0)
        excess = self.bound(np.zeros(len(self.cost)), ray)[0]  # how far the sum of the rows is out of reach
        return 4.0 * float(np.abs(self.cost).sum()) / excess * ray if excess > 1e-9 * ray.sum() else np.zeros(len(ray))


class _WarmStarted(LinearProgram):
    """The same by highspy, which goes on from the last basis."""

    def __init__(self, cost: Floats, remaining: Callable[[], float]) -> None:
        import highspy

        super().__init__(cost, remaining)
        self._module = highspy
        self._highs: Any = simplex(1, lambda: remaining() <= 0)
        for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self._highs.setOptionValue(option, 1e-10)  # so that proofs do not fail for want of digits
        n = len(cost)
        self._highs.addVars(n, self.lower, self.upper)
        self._highs.changeColsCost(n, np.arange(n, dtype=np.int32), cost)

    def add(self, rows: Rows) -> None:
        """Add rows."""
        super().add(rows)
        infinite = np.full(len(rows), self._module.kHighsInf)
        starts = rows.starts[:-1].astype(np.int32)
        self._highs.addRows(len(rows), rows.least, infinite, len(rows.columns), starts, rows.columns, rows.entries)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop all other rows."""
        super().keep(kept)
        dropped = np.flatnonzero(~kept).astype(np.int32)
        self._highs.deleteRows(len(dropped), dropped)

    def change(self, cost: Floats) -> None:
        """Other costs."""
        super().change(cost)
        self._highs.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)

    def confine(self, lower: Floats, upper: Floats) -> None:
        """Other bounds of the variables."""
        changed = np.flatnonzero((lower != self.lower) | (upper != self.upper)).astype(np.int32)
        super().confine(lower, upper)
        if len(changed):
            self._highs.changeColsBounds(len(changed), changed, lower[changed], upper[changed])

    def solve(self) -> bool:
        """Solve it; False if there is no optimum yet. The multipliers are those of the last basis."""
        highs, module = self._highs, self._module
        if self.inner:  # the way to a vertex near this point is shorter than the one from the last basis
            self.inner = self._interior("on", 1e-8) == module.HighsModelStatus.kInterrupt
        highs.setOptionValue("simplex_iteration_limit", self._allowed)
        highs.run()
        self.iterations += highs.getInfo().simplex_iteration_count
        status, known = highs.getModelStatus(), module.HighsModelStatus
        self.failed = status not in (known.kOptimal, known.kInterrupt, known.kTimeLimit, known.kIterationLimit)
        solution = highs.getSolution()
        if status == known.kInfeasible:
            _, exists, ray = highs.getDualRay()
            self.multipliers = self._contradiction(np.array(ray) if exists else np.zeros(len(self.rows)))
            return False
        if not solution.dual_valid:
            self.multipliers = np.zeros(len(self.rows))
            return False
        self.multipliers = np.maximum(np.array(solution.row_dual), 0.0)
        if status != known.kOptimal:
            return False
        self.x = np.clip(np.array(solution.col_value), self.lower, self.upper)
        basic = module.HighsBasisStatus.kBasic
        self.slack = np.array([status == basic for status in highs.getBasis().row_status], bool)
        return True

    def approach(self) -> bool:
        """Find an inner point of about the least cost."""
        highs, known = self._highs, self._module.HighsModelStatus
        status = self._interior("off", 1e-2)
        self.failed, self.multipliers = False, np.zeros(len(self.rows))
        if status in (known.kInterrupt, known.kTimeLimit):
            return False
        solution = highs.getSolution()
        # The status is unknown where the accuracy is not that of vertices.
        if status not in (known.kOptimal, known.kUnknown) or not (solution.value_valid and solution.dual_valid):
            return self.solve()
        self.inner = True
        self.x = np.clip(np.array(solution.col_value), self.lower, self.upper)
        self.multipliers = np.maximum(np.array(solution.row_dual), 0.0)
        self.slack = (np.array(solution.row_value) > self.rows.least + 0.3) & (self.multipliers < 1e-3)
        return True

    def _interior(self, crossover: str, tolerance: float) -> Any:
        """Run the interior point method; the status of the program."""
        highs, usual = self._highs, {"solver": "simplex", "presolve": "off"}
        options = {"solver": "ipm", "presolve": "on", "run_crossover": crossover, "ipm_optimality_tolerance": tolerance}
        for option, value in options.items():
            highs.setOptionValue(option, value)
        highs.run()
        for option, value in usual.items():
            highs.setOptionValue(option, value)
        self.iterations += INTERIOR * highs.getInfo().ipm_iteration_count
        return highs.getModelStatus()


def linear_program(cost: Floats, remaining: Callable[[], float]) -> LinearProgram:
    """A linear program with variables in [0, 1] and no rows; `remaining` says how many seconds a run may take."""
    return (LinearProgram if fault() is not None else _WarmStarted)(cost, remaining)

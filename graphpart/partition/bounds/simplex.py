"""The relaxation solved to a vertex by the dual simplex method of HiGHS, warm-started from the last basis.

The primal-dual method approaches the optimum fast; a vertex and its exact multipliers close the gap that is left.
Bounds are always computed from the multipliers, never read from the solver.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from graphpart.highs import fault, silent

if TYPE_CHECKING:
    from graphpart.partition.bounds.relaxation import Relaxation

__all__ = ["Simplex", "is_available", "quiet"]

SERVICE = 0.05  # seconds between two looks at limits and signals


def is_available() -> bool:
    """Whether highspy is installed, and fit for use."""
    return fault() is None


def quiet(threads: int, ends: Callable[[], bool]) -> Any:
    """HiGHS with the simplex method, without output; `ends` is asked from time to time whether a run has to end."""
    import highspy

    # Threads are shared by all of a process, and whoever used HiGHS before may have asked for another number.
    highspy.Highs.resetGlobalScheduler(True)
    highs = silent()
    for option, value in (
        ("threads", threads),
        ("parallel", "off" if threads == 1 else "on"),
        ("presolve", "off"),
        ("solver", "simplex"),
    ):
        highs.setOptionValue(option, value)
    looked = -math.inf

    def look(kind: Any, message: str, out: Any, into: Any, data: Any) -> None:
        """Called at every step of the simplex method, so that Ctrl-C, callbacks and limits end it at once."""
        nonlocal looked
        now = time.perf_counter()
        if now > looked + SERVICE:
            looked = now
            into.user_interrupt = ends()

    highs.setCallback(look, None)
    highs.startCallback(highspy.cb.HighsCallbackType.kCallbackSimplexInterrupt)
    return highs


class Simplex:
    """HiGHS, kept between solves."""

    def __init__(self, threads: int = 1) -> None:
        import highspy

        self._module = highspy
        self._highs = quiet(threads, lambda: self._stopping.check(np.inf))
        self._columns: list[Any] = []
        self._stopping: Any = None

    def solve(self, relaxation: Relaxation) -> bool:
        """Replace the point of a relaxation by an optimal vertex; True if one was found in time."""
        hs, r, rows = self._module, relaxation, relaxation.rows
        lp = hs.HighsLp()
        lp.num_col_, lp.num_row_ = len(r.cost), len(rows)
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = r.cost / r.scale, r.lower, r.upper
        lp.row_lower_, lp.row_upper_ = np.full(len(rows), -hs.kHighsInf), rows.rhs
        lp.a_matrix_.format_ = hs.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = rows.starts.astype(np.int32)
        lp.a_matrix_.index_ = rows.pairs
        lp.a_matrix_.value_ = rows.signs()
        highs = self._highs
        highs.passModel(lp)
        if len(self._columns) == len(r.cost):
            basis = hs.HighsBasis()
            basis.col_status = self._columns
            basis.row_status = [hs.HighsBasisStatus(status) for status in rows.status.tolist()]
            basis.valid = True
            highs.setBasis(basis)
        self._stopping = r.stopping
        highs.run()
        solution = highs.getSolution()
        if not solution.dual_valid:
            return False
        multipliers = np.maximum(-np.array(solution.row_dual), 0.0) * r.scale
        r.offer(multipliers)
        basis = highs.getBasis()
        self._columns = basis.col_status
        rows.status = np.array([int(status) for status in basis.row_status], np.int8)
        if highs.getModelStatus() == hs.HighsModelStatus.kOptimal:
            rows.multipliers = multipliers
            r.y = np.clip(np.array(solution.col_value), r.lower, r.upper)
            return True
        return False

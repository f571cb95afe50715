"""The relaxation solved to a vertex by the dual simplex method of HiGHS, warm-started from the last basis.

The primal-dual method approaches the optimum fast. A vertex and its exact multipliers close the remaining gap.
Bounds are always computed from the multipliers, never read from the solver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphpart.highs import fault, simplex

if TYPE_CHECKING:
    from graphpart.partition.bounds.relaxation import Relaxation

__all__ = ["Simplex", "is_available"]


def is_available() -> bool:
    """Whether highspy is installed, and fit for use."""
    return fault() is None


class Simplex:
    """HiGHS, kept between solves."""

    def __init__(self, threads: int = 1) -> None:
        import highspy

        self._module = highspy
        self._highs = simplex(threads, lambda: self._stopping.check(np.inf))
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

"""An interior point method for the semidefinite relaxation: where coordinate ascent no longer raises the bound by much.

For rows v_r with ``(v_r s)^2 >= b_r`` (see `semidefinite`), the primal relaxation asks for a positive semidefinite X of
least ``<C, X>`` with ``v_r' X v_r - y_r = b_r`` and slacks y_r of at least 0, which are 0 for rows of one number. On
the central path, ``X Z = mu I`` and ``y_r m_r = mu``. Each iteration is a step of Newton's method for these equations
with a smaller mu, in the form in which the changes of all multipliers solve a linear system with the positive definite
matrix ``(v_r' X v_q) (v_q' inv(Z) v_r)``, plus ``y_r / m_r`` on the diagonal. X and Z stay positive definite, and
multipliers and slacks above 0, but X meets the equations only after some full steps. So rows can be added at any time.

See Helmberg, Rendl, Vanderbei & Wolkowicz 1996; predictor and corrector: Mehrotra 1992.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigvalsh, solve_triangular

__all__ = ["InteriorPoint"]

Floats = NDArray[np.float64]
STEP = 0.95  # share of the way to where a matrix were singular, or a number 0
NEW = 0.2  # slack of a new row
RAISED = 5.0  # times mu: what is added to the diagonal of Z when there are new rows


class InteriorPoint:
    """The method between two iterations. All methods raise LinAlgError where rounding errors leave no way on.

    Parameters
    ----------
    C : ndarray of float64, shape (n, n)
    V : csr_array, shape (k, n)
        The rows; the first n are those of one number 1.
    sides, multipliers : ndarray of float64, shape (k,)
        The least square of each row, and multipliers for which Z is positive definite, or nearly.
    shift : float
        What is added to the diagonal of Z, to begin far enough from singular matrices.

    Attributes
    ----------
    multipliers, slack : ndarray of float64, shape (k,)
    X : ndarray of float64, shape (n, n)
    mu : float
        The mean of the products of corresponding numbers of the primal and of the dual solution.
    length : float
        The longer one of the last steps of the primal and of the dual solution, at most 1.
    """

    def __init__(self, C: Floats, V: Any, sides: Floats, multipliers: Floats, shift: float) -> None:
        n = self.n = len(C)
        self.C, self.V, self.sides, self.length = C, V, sides, 1.0
        self.multipliers = multipliers.copy()
        W = self._inverse(shift)
        self.mu = float(n / np.trace(W))
        self.X = self.mu * W
        self.multipliers[n:] = np.maximum(self.multipliers[n:], self.mu)
        self.slack = np.concatenate([np.zeros(n), self.mu / self.multipliers[n:]])
        self.multipliers[:n] -= shift
        self._inverse(shift)
        self.mu = self._mean(self.X, self.Z, self.slack, self.multipliers)

    def change(self, V: Any, sides: Floats, kept: NDArray[np.bool_]) -> None:
        """Other rows: those of the old ones that are kept, then new ones. O(k + n^3)"""
        added = V.shape[0] - int(kept.sum())
        self.V, self.sides = V, sides
        self.multipliers = np.append(self.multipliers[kept], np.full(added, self.mu / NEW))
        self.slack = np.append(self.slack[kept], np.full(added, NEW))
        self.multipliers[: self.n] -= RAISED * self.mu
        for _ in range(60):
            self.Z = self.C - self._sum(self.multipliers)
            if _is_definite(self.Z):
                return
            self.multipliers[len(self.multipliers) - added :] /= 2
        raise np.linalg.LinAlgError

    def _inverse(self, shift: float) -> Floats:
        """The inverse of Z, after the first multipliers were lowered until Z is positive definite."""
        self.Z = self.C - self._sum(self.multipliers)
        for _ in range(60):
            if _is_definite(self.Z):
                return np.asarray(np.linalg.inv(self.Z))
            self.multipliers[: self.n] -= shift
            self.Z[np.diag_indices(self.n)] += shift
            shift *= 2
        raise np.linalg.LinAlgError

    def _sum(self, multipliers: Floats) -> Floats:
        """``sum_r m_r v_r v_r'``"""
        V = self.V.copy()
        V.data *= np.repeat(multipliers, np.diff(V.indptr))
        return np.asarray((self.V.T @ V).toarray())

    def _squares(self, X: Floats) -> Floats:
        """``v_r' X v_r`` of all rows."""
        return np.asarray(self.V.multiply(self.V @ X).sum(axis=1)).ravel()

    def _mean(self, X: Floats, Z: Floats, slack: Floats, multipliers: Floats) -> float:
        return float((X * Z).sum() + slack @ multipliers) / len(slack)

    def iterate(self) -> None:
        """A step towards a mu that depends on how far a step towards 0 would go. O(k^3 + k n^2)"""
        n, V, X, Z, y, m = self.n, self.V, self.X, self.Z, self.slack, self.multipliers
        mu, W = self.mu, np.linalg.inv(Z)
        W = (W + W.T) / 2
        VX, VW = V @ X, V @ W
        inverse = np.concatenate([np.zeros(n), 1 / m[n:]])
        M = V @ VX.T
        M *= V @ VW.T
        M[np.diag_indices(len(m))] += y * inverse
        factor = cho_factor(M.T, lower=True, overwrite_a=True, check_finite=False)
        squares = np.asarray(V.multiply(VW).sum(axis=1)).ravel()
        root_x = np.asarray(np.linalg.cholesky(X), np.float64)
        root_z = np.asarray(np.linalg.cholesky(Z), np.float64)
        curved, curve = np.zeros((n, n)), np.zeros(len(m))  # of the equations along the first direction
        share = 0.0  # of mu, that remains
        for corrected in (False, True):
            right = self.sides - share * mu * (squares - inverse) + self._squares(curved) - curve
            dm = cho_solve(factor, right, check_finite=False)
            dZ = -self._sum(dm)
            dX = share * mu * W - X - X @ dZ @ W
            dX = (dX + dX.T) / 2 - curved
            dy = share * mu * inverse - y - y * inverse * dm - curve
            dy[:n] = 0
            primal = _length(root_x, dX, y[n:], dy[n:])
            dual = _length(root_z, dZ, m[n:], dm[n:])
            X1, y1, Z1, m1 = X + primal * dX, y + primal * dy, Z + dual * dZ, m + dual * dm
            after = self._mean(X1, Z1, y1, m1)
            if not corrected:
                share = min(1.0, max(1e-3, after / mu)) ** 2
                curved = dX @ dZ @ W
                curved, curve = (curved + curved.T) / 2, dy * dm * inverse
        self.X, self.slack, self.Z, self.multipliers, self.mu = X1, y1, Z1, m1, after
        self.length = max(primal, dual)


def _is_definite(Z: Floats) -> bool:
    try:
        np.linalg.cholesky(Z)
    except np.linalg.LinAlgError:
        return False
    return True


def _length(root: Floats, change: Floats, values: Floats, changes: Floats) -> float:
    """The longest step, at most 1, after which a matrix with this root stays positive definite, and values above 0."""
    half = solve_triangular(root, change, lower=True, check_finite=False)
    least = eigvalsh(
        solve_triangular(root, half.T, lower=True, check_finite=False), subset_by_index=[0, 0], check_finite=False
    )
    most = max(float(-least[0]), float((-changes / values).max(initial=0.0)))
    return STEP / most if most > STEP else 1.0

"""A semidefinite relaxation with triangle inequalities, for labels 0 and 1: if pairs are dense, other bounds are weak.

With spins s in {-1, 1}, one of them always 1, the energy is a constant plus ``s' C s``. For each row v of numbers 1 and
-1 of odd count, ``(v s)^2 >= 1``; a row of one number holds with equality, those of three are the triangle inequalities
of max cut. So with multipliers m, at least 0 but for rows of one number, every labeling costs at least

    constant + sum_r m_r    if    Z = C - sum_r m_r v_r v_r'    is positive semidefinite

(the dual of the relaxation of Goemans & Williamson 1995 with the triangles of Helmberg & Rendl 1998). With a barrier,
``sum_r m_r + mu log det Z`` is maximised over one multiplier at a time, by a formula, and the inverse of Z changes by a
matrix of rank one (see `_odd_squares`; coordinate ascent with this barrier: Buchheim, Montenegro & Wiegele 2019).
All Z on the way are positive definite, so there is a bound at any time. mu falls slowly. Its product with the inverse
is near the optimum of the primal relaxation, and those triangles that it violates most are added after every few
sweeps. Once mu is small, it is raised again, and falls more slowly.

The columns of a Cholesky factor of Z, rounded to whole numbers, and the rows with multipliers are squares that prove
the bound (see `squares` in `certificates`).

If two spins are equal, or opposite, one of them replaces the other: Z becomes ``P' Z P`` and stays positive definite.
So the relaxation of these labelings starts from the multipliers of all labelings (see `spin_division`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.binary_quadratic.form import QuadraticForm
from graphpart.common.blas import one_thread
from graphpart.crf.bounds import _odd_squares
from graphpart.crf.certificates.squares import Squares
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.quadratic_form import quadratic_form
from graphpart.errors import InvalidProblem
from graphpart.stopping import Stopping

__all__ = ["LARGEST", "Rows", "Semidefinite", "by_squares", "joined_costs", "joined_spins", "spin_costs"]

Floats = NDArray[np.float64]
LARGEST = 600  # largest number of variables, which is the order of the matrices
FALL = 0.95  # factor for mu after each sweep; its square root is taken each time mu was raised
RAISED, LOW = 0.3, 1e-3  # mu times the number of spins, as a share of the gap: after it was raised, and when it is
UNCHANGED = 0.02  # relative change of a multiplier below which it is not updated
VIOLATED, MORE = 0.02, 2  # added triangles: least violation, and most for each spin
SLOWEST, IDLE = 0.9985, 1e-5  # the slowest fall; a rise from one fall of mu to the next that is too little for more
ROUNDS, WORK = 400, 3e9  # without a time limit: rounds at most, and cubes of the number of spins
SHORT, END = 0.85, 0.03  # for spins that were joined: the fall of mu, and its product with their number at the end


@dataclass(frozen=True)
class Rows:
    """Rows of numbers 1 and -1, the members of each ascending, and their multipliers; single ones first."""

    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    signs: NDArray[np.int8]
    multipliers: Floats

    def copy(self) -> Rows:
        return Rows(self.starts, self.members, self.signs, self.multipliers.copy())


def spin_costs(q: QuadraticForm) -> tuple[Floats, float]:
    """The matrix C with a diagonal of zeros, for the spins of all variables and the one that is always 1; the constant.

    O(n^2)
    """
    n = q.n + 1
    u, v, J = q.pairs()
    C = np.zeros((n, n))
    C[u, v] = J / 8
    C[: q.n, q.n] = q.linear / 4 + np.bincount(q.rows, q.couplings, q.n) / 8
    return C + C.T, q.constant + float(q.linear.sum()) / 2 + float(J.sum()) / 4


class Semidefinite:
    """The relaxation between two rounds.

    Parameters
    ----------
    C : ndarray of float64, shape (n, n)
        Symmetric, with a diagonal of zeros.
    constant : float
    rows : Rows, optional
        Rows and multipliers to start from.

    Attributes
    ----------
    bound : float
        The best so far, up to rounding in `spin_costs`.
    products : ndarray of float32, shape (n, n)
        The latest solution of the primal relaxation: the products of two spins, from -1 to 1.
    """

    def __init__(self, C: Floats, constant: float, rows: Rows | None = None) -> None:
        n = self.n = len(C)
        self.C, self.constant = C, constant
        self.fall, self._low = (FALL, LOW) if rows is None else (SHORT, END)
        if rows is None:
            size = np.abs(C).sum(axis=1)
            free = -1.01 * size - 1e-6 * float(size.mean()) - 1e-300
            rows = Rows(np.arange(n + 1), np.arange(n, dtype=np.int32), np.ones(n, np.int8), free)
        self.rows, self.best = rows, rows.copy()
        self.bound = self._value() if self._is_definite() else -math.inf
        self.products = np.zeros((n, n), np.float32)
        self.mu, self.rounds, self.falls = 0.0, 0, 0
        self._before, self._idle = -math.inf, False  # the bound when mu was raised; whether it hardly rose since
        self.rise = math.inf  # of the bound while mu fell the last time

    @property
    def done(self) -> bool:
        """Whether no more is to be expected."""
        return self.fall > SLOWEST or self._idle

    @property
    def enough(self) -> bool:
        """Whether there were as many rounds as there are without a time limit."""
        return self.done or self.rounds >= min(ROUNDS, WORK / self.n**3)

    def _value(self) -> float:
        return math.fsum([self.constant, *self.rows.multipliers.tolist()])

    def _gap(self, cost: float) -> float:
        return max(cost - self.bound, 1e-9 * abs(self.bound)) if cost < math.inf else abs(self.bound)

    def _rest(self, rows: Rows) -> Floats:
        """Z"""
        Z = np.zeros((self.n, self.n))
        _odd_squares.add_squares(rows.starts, rows.members, rows.signs, rows.multipliers, Z)
        return np.asarray(self.C - Z)

    def round(self, cost: float) -> bool:
        """Some sweeps, then other triangles; False if rounding errors leave no way on. Within `one_thread`.

        O(n^3 + changed multipliers * n^2)
        """
        rows, n = self.rows, self.n
        if self.bound == -math.inf:
            return False
        try:
            Z = self._rest(rows)
            np.linalg.cholesky(Z)
            W = np.ascontiguousarray(np.linalg.inv(Z))
        except np.linalg.LinAlgError:
            return False
        if self.rounds == 0:
            self.mu = 1.0 / float(np.mean(np.diag(W))) if self.fall == FALL else RAISED * self._gap(cost) / n
        for _ in range(2):  # sweeps between two separations
            _odd_squares.ascend(W, rows.starts, rows.members, rows.signs, rows.multipliers, n, self.mu, UNCHANGED)
            self.mu *= self.fall
        self.rounds += 1
        value = self._value()
        if value > self.bound and self._is_definite():
            self.bound, self.best = value, rows.copy()
        gap = self._gap(cost)
        if n * self.mu < self._low * gap:
            self.mu, self.fall, self.falls = RAISED * gap / n, math.sqrt(self.fall), self.falls + 1
            self.rise, self._before = self.bound - self._before, self.bound
            self._idle = self.rise <= IDLE * gap
        diagonal = np.diag(W)
        if not (np.isfinite(W).all() and (diagonal > 0).all()):
            self.rows = self.best.copy()
            return bool(np.isfinite(self.mu))
        scale = 1.0 / np.sqrt(diagonal)
        X = np.triu(W, 1) * np.outer(scale, scale)
        self.products = np.ascontiguousarray(X + X.T, np.float32)
        self._separate(self.products)
        return True

    def _is_definite(self) -> bool:
        """Whether Z is positive semidefinite, also with all rounding errors.

        The largest possible errors of its entries, and of a factorisation that ends (Rump 2006), are subtracted first.
        """
        rows, n = self.rows, self.n
        sizes = np.repeat(np.abs(rows.multipliers), np.diff(rows.starts))
        largest = float((np.abs(self.C).sum(axis=1) + np.bincount(rows.members, sizes, n)).max())
        Z = self._rest(rows)
        Z[np.diag_indices(n)] -= 2.0**-52 * n * (n + len(rows.multipliers)) * largest
        try:
            np.linalg.cholesky(Z)
        except np.linalg.LinAlgError:
            return False
        return True

    def joined(self, i: int, j: int, sign: int) -> Semidefinite:
        """The relaxation of the labelings whose spin j is `sign` times spin i, for ``i < j``; later spins move up.

        Z becomes ``P' Z P``. A triangle over both spins becomes the row of its third spin, or an inequality that says
        nothing. The latter is left out, so that Z grows. O(n^2 + rows log rows)
        """
        n, rows = self.n - 1, self.best
        to, turned = joined_spins(np.arange(self.n), np.ones(self.n, np.int8), i, j, sign)
        C, constant = joined_costs(self.C, self.constant, to, turned)
        single = np.bincount(to, rows.multipliers[: n + 1], n)
        single[i] -= 2 * sign * self.C[i, j]  # now in the constant
        multipliers, members = rows.multipliers[n + 1 :], rows.members[n + 1 :].reshape(-1, 3)
        signs = rows.signs[n + 1 :].reshape(-1, 3) * turned[members]
        triples = to[members].astype(np.int32)
        order = np.argsort(triples, axis=1, kind="stable")
        triples, signs = np.take_along_axis(triples, order, 1), np.take_along_axis(signs, order, 1)
        for a, b, other in ((0, 1, 2), (1, 2, 0)):
            lost = (triples[:, a] == triples[:, b]) & (signs[:, a] != signs[:, b])
            single += np.bincount(triples[lost, other], multipliers[lost], n)
        whole = (triples[:, 0] != triples[:, 1]) & (triples[:, 1] != triples[:, 2])
        triples, signs = triples[whole], signs[whole] * signs[whole][:, :1]
        _, first, which = np.unique(_key(triples, signs, n), return_index=True, return_inverse=True)
        sums = np.bincount(which, multipliers[whole], len(first))
        joined = Rows(
            np.concatenate([np.arange(n), n + 3 * np.arange(len(first) + 1)]),
            np.concatenate([np.arange(n), triples[first].ravel()]).astype(np.int32),
            np.concatenate([np.ones(n), signs[first].ravel()]).astype(np.int8),
            np.concatenate([single, sums]),
        )
        return Semidefinite(C, constant, joined)

    def _separate(self, X: NDArray[np.float32]) -> None:
        """Leave out triangles without a multiplier, and add those that X violates most."""
        n, rows = self.n, self.rows
        members, signs, sums = _odd_squares.triangles(X, -1.0 - VIOLATED)
        order = np.argsort(sums, kind="stable")[: MORE * n]
        members, signs = members[order], signs[order]
        kept = rows.multipliers[n:] > 0
        old, their = rows.members[n:].reshape(-1, 3)[kept], rows.signs[n:].reshape(-1, 3)[kept]
        new = ~np.isin(_key(members, signs, n), _key(old, their, n))
        triples, signs = np.concatenate([old, members[new]]), np.concatenate([their, signs[new]])
        self.rows = Rows(
            np.concatenate([np.arange(n), n + 3 * np.arange(len(triples) + 1)]),
            np.concatenate([rows.members[:n], triples.ravel()]),
            np.concatenate([rows.signs[:n], signs.ravel()]),
            np.concatenate([rows.multipliers[:n], rows.multipliers[n:][kept], np.zeros(np.count_nonzero(new))]),
        )

    def proof(self) -> Squares:
        """The squares that prove the best bound."""
        rows, n = self.best, self.n
        L = np.linalg.cholesky(self._rest(rows))
        largest = np.abs(L).max(axis=0)
        unit = largest / 2.0**30  # so the whole numbers are at most 2^30, as `Squares` requires
        used = np.flatnonzero(unit > 0)
        numbers = np.rint(L[:, used] / unit[used]).astype(np.int64).T
        row, member = np.nonzero(numbers)
        counts = np.bincount(row, minlength=len(used))
        sizes = np.concatenate([counts[counts > 0], np.full(len(rows.multipliers) - n, 3)])
        return Squares(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([member.astype(np.int32), rows.members[n:]]),
            np.concatenate([numbers[row, member], rows.signs[n:].astype(np.int64)]),
            np.concatenate([(unit[used] ** 2)[counts > 0], rows.multipliers[n:]]),
        )


def joined_costs(C: Floats, constant: float, to: NDArray[np.int64], turned: NDArray[np.int8]) -> tuple[Floats, float]:
    """Matrix and constant for fewer spins, of which each of all spins is one, or its opposite. O(n^2)"""
    n = int(to.max()) + 1
    at = to[:, None] * n + to
    products = (C * np.outer(turned, turned)).ravel()
    D: Floats = np.bincount(at.ravel(), products, n * n).astype(np.float64).reshape(n, n)
    fixed = np.diag(D).copy()
    np.fill_diagonal(D, 0.0)
    return D, math.fsum([constant, *fixed.tolist()])


def joined_spins(
    to: NDArray[np.int64], turned: NDArray[np.int8], i: int, j: int, sign: int
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """The spins that represent others, and whether with the same sign, after spin j became `sign` times spin i < j."""
    turned = np.where(to == j, sign * turned, turned).astype(np.int8)
    to = np.where(to == j, i, to - (to > j))
    return to, turned


def _key(members: NDArray[np.int32], signs: NDArray[np.int8], n: int) -> NDArray[np.int64]:
    i, j, k = members.T.astype(np.int64)
    return np.asarray(((i * n + j) * n + k) * 4 + 2 * (signs[:, 1] > 0) + (signs[:, 2] > 0))


def by_squares(f: FactorGraph, stopping: Stopping) -> Squares:
    """Squares that prove the bound of the relaxation.

    Raises
    ------
    InvalidProblem
        If the relaxation is not for this factor graph.
    """
    q = quadratic_form(f)
    if q is None or q.n > LARGEST:
        raise InvalidProblem(
            "the semidefinite bound is for variables with two labels, factors of at most two variables, finite costs, "
            f'and at most {LARGEST} variables: use method="message-passing"'
        )
    relaxation = Semidefinite(*spin_costs(q))
    with one_thread():
        while not stopping.check(math.inf) and relaxation.round(math.inf):
            stopping.raise_bound(relaxation.bound)
            if stopping.step(math.inf) or (relaxation.enough if stopping.remaining is None else relaxation.done):
                break
        return relaxation.proof()

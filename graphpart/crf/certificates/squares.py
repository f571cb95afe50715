"""A proof of a lower bound by squares: for labels 0 and 1, and factors of at most two variables.

With spins ``s = 2 x - 1``, and ``s[n] = 1``, the energy is ``c + sum_{i < j} J_ij s_i s_j``. Let each square r have a
whole number v_ri for each spin, and a weight w_r >= 0. The sum of v_ri s_i is odd if the sum of v_ri is, and its square
is then at least p_r = 1; else p_r = 0. So every labeling costs at least

    c + sum_r w_r (p_r - sum_i v_ri^2) - sum_{i < j} |J_ij - 2 sum_r w_r v_ri v_rj|,

for any squares. Squares of three numbers 1 or -1 are triangle inequalities; squares of many numbers make a
positive semidefinite matrix, so that no computed eigenvalue has to be trusted (Barahona & Mahjoub 1986; Poljak & Rendl
1995; Deza & Laurent 1997).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem import FactorGraph
from graphpart.errors import InvalidCertificate

__all__ = ["Squares", "bound_of_squares"]

Floats = NDArray[np.float64]
LARGEST = 2**31  # numbers of squares are smaller, so products in float64 have small errors
FEW = 4  # largest number of entries of a square that is added by itself


@dataclass(frozen=True)
class Squares:
    """Squares of sums of spins.

    Attributes
    ----------
    start : ndarray of int64, shape (k + 1,)
    members : ndarray of int32
        Square r has the spins ``members[start[r]:start[r + 1]]``, ascending; n is the spin that is always 1.
    numbers : ndarray of int64
        For each member its whole number.
    weights : ndarray of float64, shape (k,)
    """

    start: NDArray[np.int64]
    members: NDArray[np.int32]
    numbers: NDArray[np.int64]
    weights: Floats

    @staticmethod
    def none() -> Squares:
        """No square."""
        return Squares(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0))

    def __len__(self) -> int:
        return len(self.weights)

    def check(self, n: int) -> None:
        """Raise InvalidCertificate, with the reason, if the arrays do not fit n variables or each other."""
        start, members, numbers, weights = self.start, self.members, self.numbers, self.weights
        sizes = np.diff(start)
        fits = len(start) == len(weights) + 1 and start[0] == 0 and start[-1] == len(members) == len(numbers)
        if not fits or (sizes < 1).any():
            raise InvalidCertificate("the squares are damaged: expected starts of at least one spin each")
        if len(members) and not (members.min() >= 0 and members.max() <= n):
            raise InvalidCertificate(f"a square has spin {members.min()} or {members.max()}: expected 0 to {n}")
        inner = np.ones(len(members), bool)
        inner[start[:-1]] = False
        if (np.diff(members)[inner[1:]] <= 0).any():
            raise InvalidCertificate("the spins of a square do not ascend")
        if numbers.dtype.kind != "i":
            raise InvalidCertificate(f"the numbers of squares are of type {numbers.dtype}: expected whole numbers")
        if ((numbers >= LARGEST) | (numbers <= -LARGEST)).any():
            raise InvalidCertificate(f"a square has a number that is too large: expected less than {LARGEST}")
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise InvalidCertificate("a square has a negative or infinite weight: expected finite ones of at least 0")


def bound_of_squares(f: FactorGraph, squares: Squares) -> float:
    """The bound that squares prove, less the largest possible error of all roundings; -inf if something overflows.

    A sum of k products has an error of at most ``(k + 1) * 2**-53`` times the sum of their absolute values, but for
    terms of higher order, in whatever order it is formed (Higham 2002). O(k n^2)

    Raises
    ------
    InvalidCertificate
        If the squares are damaged, or the factor graph is none that squares are for.
    """
    squares.check(f.n)
    arity = np.diff(f.scope_start)
    if f.n > 5000:
        raise InvalidCertificate("squares are for at most 5000 variables")
    if f.has_forbidden or (f.domains != 2).any() or arity.max(initial=0) > 2:
        raise InvalidCertificate("squares are for two labels, factors of at most two variables, and finite costs")
    n = f.n
    with np.errstate(over="ignore", invalid="ignore"):
        one, two = np.flatnonzero(arity == 1), np.flatnonzero(arity == 2)
        single = f.tables[f.table_start[one][:, None] + np.arange(2)]
        table = f.tables[f.table_start[two][:, None] + np.arange(4)]
        u, v = f.scope[f.scope_start[two]].astype(np.int64), f.scope[f.scope_start[two] + 1].astype(np.int64)
        at = np.concatenate([f.scope[f.scope_start[one]].astype(np.int64) * (n + 1) + n, u * (n + 1) + n,
                             v * (n + 1) + n, np.minimum(u, v) * (n + 1) + np.maximum(u, v)])  # fmt: skip
        a, b, c, d = table.T
        amounts = np.concatenate([
            (single[:, 1] - single[:, 0]) / 2, ((c + d) - (a + b)) / 4, ((b + d) - (a + c)) / 4,
            ((a + d) - (b + c)) / 4,
        ])  # fmt: skip
        J = np.bincount(at, amounts, (n + 1) * (n + 1)).reshape(n + 1, n + 1)
        parts = [float(f.constant), *(single.sum(axis=1) / 2).tolist(), *(table.sum(axis=1) / 4).tolist()]
        # Each entry is a term of sums for one to four coefficients, divided by their number.
        size = abs(f.constant) + float(np.abs(single).sum()) + float(np.abs(table).sum())
        error = (f.m + 16) * size
        odd = np.add.reduceat(squares.numbers & 1, squares.start[:-1]) & 1
        G, absolute = _sums_of_products(squares, n + 1)
        error += (len(squares) + n + 16) * absolute  # G, and its trace
        rest = np.triu(np.abs(J - (G + G.T)), 1)
        error += 16 * (float(np.abs(J).sum()) + float(squares.weights.sum()))
        parts += [-float(np.trace(G)), *squares.weights[odd == 1].tolist(), *(-rest.sum(axis=1)).tolist()]
        error += 2 * (n + 16) * float(rest.sum())
        total = math.fsum(parts) if all(map(math.isfinite, parts)) else -math.inf
        total -= 1.01 * 2.0**-53 * error
    return math.nextafter(total, -math.inf) if math.isfinite(total) else -math.inf


def _sums_of_products(squares: Squares, n: int) -> tuple[Floats, float]:
    """The matrix ``sum_r w_r v_r v_r'``, and the sum of the absolute values of all products."""
    sizes, G, absolute = np.diff(squares.start), np.zeros(n * n), 0.0
    for size in range(1, FEW + 1):
        rows = np.flatnonzero(sizes == size)
        at = squares.start[rows][:, None] + np.arange(size)
        members, numbers = squares.members[at].astype(np.int64), squares.numbers[at].astype(np.float64)
        for i in range(size):
            for j in range(size):
                products = squares.weights[rows] * numbers[:, i] * numbers[:, j]
                G += np.bincount(members[:, i] * n + members[:, j], products, n * n)
                absolute += float(np.abs(products).sum())
    large = np.flatnonzero(sizes > FEW)
    row = np.repeat(np.cumsum(sizes > FEW) - 1, sizes)
    inner = np.repeat(sizes > FEW, sizes)
    V = np.zeros((len(large), n))
    V[row[inner], squares.members[inner]] = squares.numbers[inner]
    weighted = V * squares.weights[large][:, None]
    absolute += float((np.abs(V).T @ np.abs(weighted)).sum())
    return G.reshape(n, n) + V.T @ weighted, absolute

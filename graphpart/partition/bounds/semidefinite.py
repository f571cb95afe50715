"""A semidefinite relaxation with cutting planes: stronger than the linear one where costs are dense and noisy.

The matrix Y with ``Y[a, b] = 1`` iff a and b are in the same subset, and 1 on its diagonal, is a sum of squares x x' of
the indicators of subsets, hence positive semidefinite. That is added to the linear relaxation (see `relaxation`):

    minimise c y   subject to   inequalities a_k y <= b_k,   0 <= y <= 1,   Y positive semidefinite

(Charikar, Guruswami & Wirth 2005 and Swamy 2004 round it to partitions, for y >= 0 alone).
Prices are those l_k of the inequalities, and a positive semidefinite matrix S: every partition costs at least

    sum over pairs of min(0, c + sum_k l_k a_k - 2 S)  -  sum_k l_k b_k  -  trace(S).

The iteration is that of the linear relaxation with one more step: S moves against Y at the extrapolated point, and is
projected onto the positive semidefinite matrices by its eigenvectors (Chambolle & Pock 2011; for the dual of
semidefinite relaxations in general, Povh, Rendl & Wiegele 2006).

Nothing has to be believed about eigenvalues. With S = F F', columns of F rounded to whole numbers b times a power of
two are **general 2-partition** inequalities (see `inequalities`), each of which holds for every partition and is
checked by adding it up. So a certificate consists of inequalities and their multipliers as for all other bounds.

The linear relaxation comes first: its points show where 2-partitions are violated sooner, and cost less.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.bounds import _primal_dual
from graphpart.partition.bounds.message_passing import pass_messages
from graphpart.partition.bounds.relaxation import FINEST, LITTLE, PATIENCE, VIOLATED, Relaxation
from graphpart.partition.certificates.inequalities import Inequalities
from graphpart.partition.problem import SetPartition
from graphpart.stopping import Stopping

__all__ = ["Semidefinite", "solve_semidefinite"]

Floats = NDArray[np.float64]
ITERATIONS = 40  # between two restarts
STEP = 1.0  # of S to that of prices
NUMBERS = 1 << 23  # general 2-partitions have whole numbers up to that
FIRST = 200  # rounds of the linear relaxation before, at most;
SLOW, GAIN = 3, 2e-4  # so many in turn that raise the bound by a smaller share are its last
IDLE = 25  # rounds in turn that raise the bound by a share of LITTLE are the last


class Semidefinite:
    """The semidefinite relaxation between two rounds, on top of a linear one with all pairs as variables.

    It changes the cost and the constant of the linear relaxation: with S as it is, all that holds for that, fixing by
    reduced costs among it, holds for the problem.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        self.relaxation = relaxation
        self.S = np.zeros((relaxation.n, relaxation.n))

    def round(self, iterations: int = ITERATIONS) -> None:
        """Iterate and restart from the average or the last point, whichever proves more."""
        r, rows, n = self.relaxation, self.relaxation.rows, self.relaxation.n
        order, starts, middles, pairs = rows.by_length()
        y, prices, S = np.clip(r.y, r.lower, r.upper), rows.prices[order], self.S
        step = STEP * r.scale
        pair_steps = 1.0 / (r.scale * (rows.counts + 2.0 * STEP))
        row_steps, rhs = r.scale / rows.lengths[order], rows.rhs[order]
        reduced = rows.reduced(r.given, rows.prices) - 2.0 * S[r.u, r.v]
        y_sum, prices_sum, S_sum = np.zeros(len(y)), np.zeros(len(prices)), np.zeros((n, n))
        Y = np.eye(n)
        done = 0
        for _ in range(iterations):
            before = y.copy()
            if not _primal_dual.iterate(
                starts, middles, pairs, rhs, r.lower, r.upper, pair_steps, row_steps,
                y, prices, reduced, y_sum, prices_sum, 1, r.stopping,
            ):  # fmt: skip
                break
            Y[r.u, r.v] = Y[r.v, r.u] = 2.0 * y - before
            F = factor(S - step * Y)
            S_next = F @ F.T
            reduced -= 2.0 * (S_next - S)[r.u, r.v]
            S = S_next
            S_sum += S
            done += 1
        r.rounds += 1
        if not done:
            return
        last_prices, mean_prices = np.empty(len(order)), np.empty(len(order))
        last_prices[order], mean_prices[order] = prices, prices_sum / done
        last = self._offer(factor(S), last_prices)
        average = self._offer(factor(S_sum / done), mean_prices)
        if average[0] >= last[0]:
            y, last_prices, S = y_sum / done, mean_prices, S_sum / done
            last = average
        r.y, rows.prices, self.S = y, last_prices, S
        r.set_squares(*last[1])

    def _offer(self, F: Floats, prices: Floats) -> tuple[float, tuple[NDArray[np.int32], float]]:
        squares = whole_numbers(F)
        self.relaxation.set_squares(*squares)
        return self.relaxation.offer(prices), squares


def factor(S: Floats) -> Floats:
    """F with F F' the positive semidefinite matrix next to S."""
    from scipy.linalg import eigh  # here, since `auto` imports this file, and mostly does without SciPy

    values, vectors = eigh(S, driver="evd", check_finite=False, overwrite_a=True)
    first = int(np.searchsorted(values, 0.0, side="right"))
    factor: Floats = vectors[:, first:] * np.sqrt(values[first:])
    return factor


def whole_numbers(F: Floats) -> tuple[NDArray[np.int32], float]:
    """Whole numbers B, a row for each column of F, and a multiplier so that B' B times half of it is nearly F F'."""
    largest = float(np.abs(F).max(initial=0.0))
    if not largest > 0.0:
        return np.zeros((0, len(F)), np.int32), 0.0
    exponent = int(np.frexp(largest)[1])  # largest < 2 ** exponent
    unit = float(np.ldexp(1.0, exponent)) / NUMBERS
    return np.rint(F.T / unit).astype(np.int32), 2.0 * unit * unit


def solve_semidefinite(p: SetPartition, stopping: Stopping) -> tuple[Inequalities, Floats]:
    """Inequalities and prices that prove the bound of the relaxation, for a problem without required joins."""
    relaxation = Relaxation(p, stopping, complete=True)
    relaxation.start(*pass_messages(p, stopping, 2))
    idle = 0
    while idle < SLOW and relaxation.rounds < FIRST and not stopping.check(np.inf):
        before = relaxation.bound
        relaxation.round()
        relaxation.separate()
        idle = idle + 1 if relaxation.bound - before <= GAIN * abs(relaxation.bound) else 0
    semidefinite = Semidefinite(relaxation)
    idle = 0
    while not stopping.check(np.inf):
        before = relaxation.bound
        semidefinite.round()
        relaxation.separate()
        idle = idle + 1 if relaxation.bound - before <= LITTLE * abs(relaxation.bound) else 0
        if float(relaxation.given @ relaxation.y) - relaxation.bound <= LITTLE * abs(relaxation.bound):
            if relaxation.tolerance <= FINEST and relaxation.violation <= FINEST:
                break
            relaxation.tolerance = FINEST
        settled = relaxation.tolerance <= FINEST and relaxation.violation <= VIOLATED
        if idle >= (IDLE if settled else PATIENCE):
            break
    return relaxation.best

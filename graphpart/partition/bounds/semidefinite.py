"""A semidefinite relaxation with cutting planes: stronger than the linear one where costs are dense and noisy.

The matrix Y with ``Y[a, b] = 1`` iff a and b are in the same subset, and 1 on its diagonal, is a sum of squares x x' of
the indicators of subsets, hence positive semidefinite. That is added to the linear relaxation (see `relaxation`):

    minimise c y   subject to   inequalities a_k y <= b_k,   0 <= y <= 1,   Y positive semidefinite

(Charikar, Guruswami & Wirth 2005 and Swamy 2004 round it to partitions, for y >= 0 alone).
Multipliers are those l_k of the inequalities, and a positive semidefinite matrix S: every partition costs at least

    sum over pairs of min(0, c + sum_k l_k a_k - 2 S)  -  sum_k l_k b_k  -  trace(S).

Two sets meet in the optimum, and each is easy: positive semidefinite matrices, and the box that inequalities cut. The
alternating direction method of multipliers with penalty R has a matrix M, and in each iteration

1. projects M onto the first set, Y = P(M), by its eigenvectors; S is R times what that adds, Y - M;
2. comes nearer to the projection of ``2 Y - M``, less the costs divided by 2 R, onto the second set: by one pass over
   the inequalities, each of which takes the multiplier that is best while the others stay (Hildreth 1957). That is Z;
3. moves M by a multiple of Z - Y.

R rises where Z - Y is large, and falls where Z moves much. (For semidefinite relaxations in general: Povh, Rendl &
Wiegele 2006; Wen, Goldfarb & Yin 2010; with cutting planes: de Meijer, Sotirov, Wiegele & Zhao 2023.) The eigenvectors
of 100 elements take 1 ms, and without inequalities 500 iterations give six digits of the optimum.

What takes time is to find inequalities. On 100 elements with costs drawn from -100 to 100, whose triangles prove
-33130 and whose best partition known costs -28800, positive semidefiniteness proves -35628; with triangles -34821;
with odd wheels -32930; with 2-partitions of up to 6, 9 and 12 elements -32280, -32030 and -31880 (in up to a minute).
Nearly all 2-partitions with a multiplier have two elements more on one side than on the other: those with equal sides
follow from positive semidefiniteness. With planted subsets and heavy noise, they have four to six more. So
2-partitions are searched deeper than for the linear relaxation, small ones first, then larger ones as a size gains
less, and longer when all sizes have had their turn. Numbers b other than -1, 0 and 1 (large ones are violated by every
point, along eigenvectors with small values) raised the bound of a less deep search from -32050 to -32020 only, and are
not looked for.

Nothing has to be believed about eigenvalues. With S = F F', columns of F rounded to whole numbers b times a power of
two are **general 2-partition** inequalities (see `inequalities`), each of which holds for every partition and is
checked by adding it up. So a certificate consists of inequalities and their multipliers as for all other bounds.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray

from graphpart.common.blas import one_thread
from graphpart.partition.bounds import _projection
from graphpart.partition.bounds.message_passing import pass_messages
from graphpart.partition.bounds.relaxation import FINEST, LITTLE, PATIENCE, VIOLATED, Relaxation
from graphpart.partition.certificates.inequalities import Inequalities
from graphpart.partition.problem import SetPartition
from graphpart.stopping import Stopping

__all__ = ["Semidefinite", "solve_semidefinite"]

Floats = NDArray[np.float64]
ITERATIONS = 50  # between two separations
MOVE = 1.6  # of M, in multiples of Z - Y
BALANCE, UNEQUAL, CHANGE = 20, 2.0, 1.3  # iterations between two looks at the penalty; a ratio that changes it; by that
WIDEST = 1e4  # the penalty is at most so many times the mean cost, and at least its part
SMALLEST_TWO_PARTITION, LARGEST_TWO_PARTITION = 8, 16  # elements of those looked for, at first and at last,
GROWTH = 2  # and by how much that grows
STEPS, MOST_STEPS = 100, 10_000  # of the search for each 2-partition; twice as many whenever all sizes had their turn
AT_LEAST, SLOWER = 5, 0.25  # rounds with each size; the share of their mean gain that is too little
NUMBERS = 1 << 23  # general 2-partitions have whole numbers up to that
ALONE = 400  # elements, up to which the BLAS has one thread
IDLE, GAIN = 25, 1e-5  # so many rounds in turn that raise the bound by a smaller share are the last


class Semidefinite:
    """The semidefinite relaxation between two rounds, on top of a linear one with all pairs as variables.

    It makes the linear one search deeper for 2-partitions, and changes its cost and its constant: with S as it is, all
    that holds for that, fixing by reduced costs among it, holds for the problem.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        r = self.relaxation = relaxation
        largest = float(-r.given.min(initial=0.0))  # what repels more acts like what must be cut
        costs = np.minimum(np.abs(r.given), largest) if largest else np.abs(r.given)
        self.unit = max(float(costs.mean()) if costs.any() else 1.0, 1e-250)
        self.penalty = self.unit
        self.M = np.eye(r.n)
        self.M[r.u, r.v] = self.M[r.v, r.u] = r.y
        self.iterations = 0
        r.largest, r.patience = SMALLEST_TWO_PARTITION, STEPS
        self._since, self._begun = r.bound, r.rounds  # the bound and the number of rounds when `largest` last changed

    def round(self, iterations: int = ITERATIONS) -> None:
        """Iterate, and offer the bound that the multipliers and S then prove."""
        with one_thread() if self.relaxation.n <= ALONE else nullcontext():
            self._round(iterations)

    def _round(self, iterations: int) -> None:
        r, rows = self.relaxation, self.relaxation.rows
        order, starts, middles, pairs = rows.by_length()
        multipliers, rhs, row_steps = rows.prices[order], rows.rhs[order], 1.0 / rows.lengths[order]
        rest = np.zeros(len(order), np.uint8)
        pull = rows.reduced(np.zeros(len(r.given)), rows.prices)
        M, z, diagonal = self.M, np.clip(r.y, r.lower, r.upper), np.arange(r.n)
        for _ in range(iterations):
            penalty = self.penalty
            step = 0.5 / penalty
            Y, added = project(M)
            y = Y[r.u, r.v]
            start = y + added[r.u, r.v] - step * (r.given + pull)
            point = start.copy()
            _projection.sweep(starts, middles, pairs, rhs, row_steps, r.lower, r.upper, step, point, multipliers, rest)
            pull += (start - point) / step
            before, z = z, np.clip(point, r.lower, r.upper)
            M[r.u, r.v] += MOVE * (z - y)
            M[r.v, r.u] = M[r.u, r.v]
            M[diagonal, diagonal] += MOVE * (1.0 - Y[diagonal, diagonal])
            self.iterations += 1
            if self.iterations % BALANCE == 0:
                apart, moved = float(np.linalg.norm(z - y)), float(np.linalg.norm(z - before)) * penalty / self.unit
                if apart > UNEQUAL * moved:
                    self.penalty = min(penalty * CHANGE, self.unit * WIDEST)
                elif moved > UNEQUAL * apart:
                    self.penalty = max(penalty / CHANGE, self.unit / WIDEST)
                M += (1.0 - penalty / self.penalty) * added  # so that S stays as it is
            if r.stopping.check(np.inf):
                break
        r.rounds += 1
        r.y = z
        rows.prices[order] = multipliers
        r.set_squares(*whole_numbers(factor(penalty * added)))
        known = r.bound
        r.offer(rows.prices)
        self._grow(r.bound - known)

    def _grow(self, gained: float) -> None:
        """Look for larger 2-partitions once a round gains much less than others with those of this size."""
        r = self.relaxation
        rounds = r.rounds - self._begun
        if rounds >= AT_LEAST and gained * rounds < SLOWER * (r.bound - self._since):
            r.largest += GROWTH
            if r.largest > LARGEST_TWO_PARTITION:
                r.largest, r.patience = SMALLEST_TWO_PARTITION, min(2 * r.patience, MOST_STEPS)
            self._since, self._begun = r.bound, r.rounds
        elif rounds == 1:
            self._since = r.bound


def project(M: Floats) -> tuple[Floats, Floats]:
    """The positive semidefinite matrix next to a symmetric one, and the positive semidefinite one that it adds."""
    values, vectors = np.linalg.eigh(M)
    first = int(np.searchsorted(values, 0.0, side="right"))
    few = slice(first) if 2 * first < len(M) else slice(first, None)
    F = vectors[:, few] * np.sqrt(np.abs(values[few]))
    part = F @ F.T
    return (M + part, part) if few.start is None else (part, part - M)


def factor(S: Floats) -> Floats:
    """F with F F' the positive semidefinite matrix next to S."""
    values, vectors = np.linalg.eigh(S)
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
    """Inequalities and multipliers that prove the bound of the relaxation, for a problem without required joins."""
    relaxation = Relaxation(p, stopping, complete=True)
    relaxation.start(*pass_messages(p, stopping, 2))
    semidefinite = Semidefinite(relaxation)
    idle = 0
    while not stopping.check(np.inf):
        before = relaxation.bound
        semidefinite.round()
        relaxation.separate()
        idle = idle + 1 if relaxation.bound - before <= GAIN * abs(relaxation.bound) else 0
        if float(relaxation.given @ relaxation.y) - relaxation.bound <= LITTLE * abs(relaxation.bound):
            if relaxation.tolerance <= FINEST and relaxation.violation <= FINEST:
                break
            relaxation.tolerance = FINEST
        settled = relaxation.tolerance <= FINEST and relaxation.violation <= VIOLATED
        if idle >= (IDLE if settled else PATIENCE):
            break
    return relaxation.best

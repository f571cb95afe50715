"""A semidefinite relaxation with cutting planes: stronger than the linear one where costs are dense and noisy.

The matrix Y with ``Y[a, b] = 1`` iff a and b are in the same subset, and 1 on its diagonal, is the sum of x x' over the
indicator vectors x of all subsets, hence positive semidefinite. This condition is added to the linear relaxation (see
`relaxation`):

    minimise c y   subject to   inequalities a_k y <= b_k,   0 <= y <= 1,   Y positive semidefinite

(Charikar, Guruswami & Wirth 2005 and Swamy 2004 round it to partitions, for y >= 0 alone).
The multipliers are l_k for the inequalities, and a positive semidefinite matrix S. Every partition costs at least

    sum over pairs of min(0, c + sum_k l_k a_k - 2 S)  -  sum_k l_k b_k  -  trace(S).

The feasible set is the intersection of two sets: the positive semidefinite matrices, and the box with all inequalities.
The alternating direction method of multipliers with penalty R has a matrix M, and in each iteration it

1. projects M onto the first set, Y = P(M), by its eigenvectors; S is R times what that adds, Y - M;
2. approximates the projection Z of ``2 Y - M``, less the costs divided by 2 R, onto the second set, by one pass over
   the inequalities, in which each multiplier is optimised while the others stay (Hildreth 1957);
3. moves M by a multiple of Z - Y.

R rises where Z - Y is large, and falls where Z moves much. (For semidefinite relaxations in general: Povh, Rendl &
Wiegele 2006; Wen, Goldfarb & Yin 2010; with cutting planes: de Meijer, Sotirov, Wiegele & Zhao 2023.) The eigenvectors
of 100 elements take 1 ms, and without inequalities 500 iterations give six digits of the optimum.

Most of the time is spent on finding inequalities. Nearly all 2-partitions with a positive multiplier have two elements
more on one side than on the other, since those with equal sides follow from positive semidefiniteness; with planted
subsets and heavy noise, they have four to six more. Therefore 2-partitions are searched more thoroughly than for the
linear relaxation: small ones first, larger ones when a size gains less, and with more steps when all sizes have been
searched.

No computed eigenvalue has to be trusted. If S = F F', the columns of F, rounded to integers b times a power of two, are
**general 2-partition** inequalities (see `inequalities`), which every partition satisfies. So a certificate consists of
inequalities and their multipliers, as for all other bounds.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray

from graphpart.common.blas import one_thread
from graphpart.partition.bounds._kernels import Program
from graphpart.partition.bounds.cycle_packing import DENSE_UP_TO
from graphpart.partition.bounds.message_passing import pass_messages
from graphpart.partition.bounds.relaxation import PARAMETERS, Relaxation
from graphpart.partition.certificates.inequalities import LARGEST_COEFFICIENT, Inequalities
from graphpart.partition.problem import SetPartition
from graphpart.stopping import Stopping

__all__ = ["Semidefinite", "solve_semidefinite"]

Floats = NDArray[np.float64]
MOVE = 1.6  # step length of M, in multiples of Z - Y
BALANCE, UNEQUAL, CHANGE = 20, 2.0, 1.3  # iterations between changes of the penalty; ratio needed for one; its factor
WIDEST = 1e4  # largest factor between the penalty and the mean cost, in both directions
SMALLEST_TWO_PARTITION, LARGEST_TWO_PARTITION = 8, 16  # most elements of a 2-partition at first, and at last
STEPS, MOST_STEPS = 100, 10_000  # steps of the search for a 2-partition: doubled when all sizes had their turn
AT_LEAST, SLOWER = 5, 0.25  # least rounds with each size; a size ends with a gain below this share of its mean
IDLE, GAIN = 25, 1e-5  # the run ends after IDLE rounds in turn that raise the bound by less than this share


class Semidefinite:
    """The semidefinite relaxation between two rounds, on top of a linear one with all pairs as variables.

    It makes the linear relaxation search more thoroughly for 2-partitions, and changes its cost and its constant by S.
    For a fixed S, all consequences of the changed linear relaxation, such as fixing by reduced costs, are valid for the
    problem.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        r = self.relaxation = relaxation
        largest = float(-r.given.min(initial=0.0))  # pairs that repel more act like required cuts
        costs = np.minimum(np.abs(r.given), largest) if largest else np.abs(r.given)
        self.unit = max(float(costs.mean()) if costs.any() else 1.0, 1e-250)
        self.penalty = self.unit
        self.M = np.eye(r.n)
        self.M[r.u, r.v] = self.M[r.v, r.u] = r.y
        self.iterations = 0
        r.largest, r.patience, r.small = SMALLEST_TWO_PARTITION, STEPS, False
        self._since, self._begun = r.bound, r.rounds  # the bound and the number of rounds when `largest` last changed

    def round(self, iterations: int = PARAMETERS.iterations) -> None:
        """Iterate, and offer the bound that the multipliers and S prove."""
        with one_thread() if self.relaxation.n <= DENSE_UP_TO else nullcontext():
            self._round(iterations)

    def _round(self, iterations: int) -> None:
        r, rows = self.relaxation, self.relaxation.rows
        order, starts, middles, pairs = rows.by_length()
        multipliers = rows.multipliers[order]
        program = Program(starts, middles, pairs, rows.rhs[order], r.lower, r.upper)
        rest = np.zeros(len(order), np.uint8)
        pull = rows.reduced(np.zeros(len(r.given)), rows.multipliers)
        M, z, diagonal = self.M, np.clip(r.y, r.lower, r.upper), np.arange(r.n)
        for _ in range(iterations):
            penalty = self.penalty
            step = 0.5 / penalty
            Y, added = project(M)
            y = Y[r.u, r.v]
            start = y + added[r.u, r.v] - step * (r.given + pull)
            point = start.copy()
            program.project(step, point, multipliers, rest)
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
        rows.multipliers[order] = multipliers
        r.set_squares(*whole_numbers(factor(penalty * added)))
        known = r.bound
        r.offer(rows.multipliers)
        self._grow(r.bound - known)

    def _grow(self, gained: float) -> None:
        """Search for larger 2-partitions once a round gains much less than earlier rounds with the present size."""
        r = self.relaxation
        rounds = r.rounds - self._begun
        if rounds >= AT_LEAST and gained * rounds < SLOWER * (r.bound - self._since):
            r.largest += 2  # one on each side
            if r.largest > LARGEST_TWO_PARTITION:
                r.largest, r.patience = SMALLEST_TWO_PARTITION, min(2 * r.patience, MOST_STEPS)
            self._since, self._begun = r.bound, r.rounds
        elif rounds == 1:
            self._since = r.bound


def project(M: Floats) -> tuple[Floats, Floats]:
    """The nearest positive semidefinite matrix to a symmetric one, and the difference, which is semidefinite, too."""
    values, vectors = np.linalg.eigh(M)
    first = int(np.searchsorted(values, 0.0, side="right"))
    few = slice(first) if 2 * first < len(M) else slice(first, None)
    F = vectors[:, few] * np.sqrt(np.abs(values[few]))
    part = F @ F.T
    return (M + part, part) if few.start is None else (part, part - M)


def factor(S: Floats) -> Floats:
    """F such that F F' is the nearest positive semidefinite matrix to S."""
    values, vectors = np.linalg.eigh(S)
    first = int(np.searchsorted(values, 0.0, side="right"))
    factor: Floats = vectors[:, first:] * np.sqrt(values[first:])
    return factor


def whole_numbers(F: Floats) -> tuple[NDArray[np.int32], float]:
    """Integers B, a row for each column of F, and a multiplier such that B' B times half of it is nearly F F'."""
    largest = float(np.abs(F).max(initial=0.0))
    if not largest > 0.0:
        return np.zeros((0, len(F)), np.int32), 0.0
    exponent = int(np.frexp(largest)[1])  # largest < 2 ** exponent
    unit = float(np.ldexp(1.0, exponent)) / (LARGEST_COEFFICIENT // 2)
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
        if relaxation.value - relaxation.bound <= PARAMETERS.little * abs(relaxation.bound):
            if relaxation.tolerance <= PARAMETERS.finest and relaxation.violation <= PARAMETERS.finest:
                break
            relaxation.tolerance = PARAMETERS.finest
        settled = relaxation.tolerance <= PARAMETERS.finest and relaxation.violation <= PARAMETERS.violated
        if idle >= (IDLE if settled else 5 * PARAMETERS.idle):
            break
    return relaxation.best

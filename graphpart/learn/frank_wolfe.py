"""Block-coordinate Frank-Wolfe for structured support vector machines (Lacoste-Julien et al. 2013).

With blocks i (training problems), differences psi_i(y) of the attributes of the true answer and of the answer y, and
losses l_i(y), the objective is

    ||w||^2 / (2 sigma^2)  +  sum over i of max over y of (l_i(y) - <w, psi_i(y)>).

An *oracle* computes each maximum and the answer that attains it. A dual point is a convex combination of answers for
each block; w is the sum of all w_i, where w_i is sigma^2 times the combination of psi_i. A step asks the oracle of one
block for its answer s at w, and moves w_i and the loss l_i of the block towards those of s as far as the dual rises,
which has a closed form:

    gamma = clip((<w, w_i - w_s> / sigma^2 - l_i + l_s) / (||w_i - w_s||^2 / sigma^2), 0, 1)

The duality gap, from one pass over all oracles at the same w, proves how far the objective is from the optimum,
provided that the oracles are exact.

This solver takes one inference for each step and stores a single combination for each block, which suits cheap oracles
such as those of conditional random fields. `max_margin.frank_wolfe` is for partitions, where inference takes far longer
than arithmetic on attributes. It stores the answers themselves, moves weight between them without asking the oracle
again, starts from a mean of the prior that is not 0, and uses bounds of oracles that are not exact. Storing answers
here would take memory O(answers * size) for each of thousands of sequences.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["Solution", "block_frank_wolfe", "step_length"]

Array = NDArray[np.float64]
Oracle = Callable[[int, Array], tuple[Array, float]]  #: (psi_i(y), l_i(y)) of the answer for block i at w


@dataclass
class Solution:
    """Parameters, with a bound on how far their objective is above the least one.

    Attributes
    ----------
    w : ndarray of float64
    primal, dual : float
        The objective at `w` and a lower bound on it, if the oracles are exact.
    history : list of (float, float)
        (primal, dual) after each pass that measured them.
    passes : int
        Passes over the blocks.
    status : Status
    """

    w: Array
    primal: float = math.inf
    dual: float = -math.inf
    history: list[tuple[float, float]] = field(default_factory=list)
    passes: int = 0
    status: Status = Status.FEASIBLE

    @property
    def gap(self) -> float:
        """``(primal - dual) / primal``; 0 at the optimum."""
        return max(0.0, self.primal - self.dual) / self.primal if self.primal else 0.0


def step_length(slope: float, curvature: float, most: float = 1.0) -> float:
    """The maximiser of a concave parabola between 0 and `most`.

    Examples
    --------
    >>> step_length(1.0, 4.0), step_length(1.0, 0.5), step_length(-1.0, 1.0)
    (0.25, 1.0, 0.0)
    """
    if slope <= 0.0:
        return 0.0
    return most if curvature * most <= slope else slope / curvature


def block_frank_wolfe(
    blocks: int,
    start: Array,
    oracle: Oracle,
    sigma: float,
    tolerance: float,
    stopping: Stopping,
    seed: int | None = 0,
) -> Solution:
    """Minimise the objective until the relative duality gap is at most `tolerance`.

    Parameters
    ----------
    blocks : int
        Number of training problems.
    start : ndarray of float64
        The parameters to return if there is no time for better ones.
    oracle : callable
        ``oracle(i, w)`` returns psi and loss of the best answer to block i.
    sigma : float
        Standard deviation of the prior of each parameter.
    tolerance : float
    stopping : Stopping
        Counts passes; the best parameters so far are returned in any case.
    seed : int, optional
        For the order of the blocks in each pass.

    Notes
    -----
    Memory O(blocks * size). Each pass asks every oracle once. The gap is measured after passes 1, 2, 4, 8, and then
    after every eighth pass, at the last w and at the average of all w, where later ones have larger weights.
    """
    rng = np.random.default_rng(0 if seed is None else seed)
    variance, size = sigma * sigma, len(start)
    w, average = np.zeros(size), np.zeros(size)
    parts, losses = np.zeros((blocks, size)), np.zeros(blocks)
    total, mean_loss, steps, dual = 0.0, 0.0, 0, -math.inf
    best = Solution(start.copy())

    def measure(at: Array, bound: float) -> bool:
        """Keep parameters if they are the best; return False if there is no time for a whole pass."""
        primal = 0.5 * float(at @ at) / variance
        for i in range(blocks):
            psi, loss = oracle(i, at)
            primal += max(0.0, loss - float(psi @ at))
            if stopping.check(best.primal):
                return False
        best.dual = max(best.dual, bound)
        if primal < best.primal:
            best.w, best.primal = at.copy(), primal
        return True

    ended = stopping.check(math.inf)
    while not ended:
        for i in rng.permutation(blocks).tolist():
            psi, loss = oracle(i, w)
            answer = variance * psi
            away = parts[i] - answer
            length = float(away @ away) / variance
            rise = float(w @ away) / variance - losses[i] + loss
            gamma = step_length(rise, length)
            w -= gamma * away
            parts[i] -= gamma * away
            total += gamma * (loss - losses[i])
            losses[i] += gamma * (loss - losses[i])
            steps += 1
            rate = 2.0 / (steps + 1.0)
            average += rate * (w - average)
            mean_loss += rate * (total - mean_loss)
            if stopping.check(best.primal):
                ended = True
                break
        best.passes += 1
        w = parts.sum(axis=0)  # without accumulated rounding errors
        total = float(losses.sum())
        if not ended and not (best.passes & (best.passes - 1) and best.passes % 8):
            dual = max(total - 0.5 * float(w @ w) / variance, mean_loss - 0.5 * float(average @ average) / variance)
            ended = not measure(w, dual) or not measure(average, dual)
            if not ended:
                best.history.append((best.primal, best.dual))
                stopping.record(best.primal)
                if best.gap <= tolerance or best.primal == 0.0:
                    best.status = Status.OPTIMAL
                    return best
        ended = stopping.step(best.primal) or ended
    if best.primal == math.inf and steps:
        best.w = average.copy()
    best.status = stopping.reason or Status.FEASIBLE
    return best

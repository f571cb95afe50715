"""Simulated annealing on a set partition problem: which kernel, in which numbers, at which temperatures.

A dense problem is annealed in 32-bit integers. A pair that costs more than all that attracts one of its elements is
worth no join, whatever else is in the subset; so its cost is lowered to the smaller of the two sums, and one unit
more. The same stands for a required cut: while one is violated, there is an element that gains by being alone.
Integer costs stay exact; other costs are rounded at about 2**-28 of the largest sum.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.partition import _dense_annealing, _sparse_annealing
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.stopping import Stopping

__all__ = ["Annealer"]

ROWS = 256  # of a matrix, that are converted at a time
SHIFTS = 1024  # places in the table of variates where a row may start
VARIATES = 65536  # in the table for sparse problems, a power of 2
COLD = 0.01  # moves to a worse partition that are accepted per element in the last sweep


class Annealer:
    """Simulated annealing on one problem without required joins; safe to use from several threads.

    Parameters
    ----------
    p : SetPartition
    """

    def __init__(self, p: SetPartition) -> None:
        self.p = p
        self.scale = 1.0
        if p.matrix is not None:
            self.matrix, self.scale = _in_integers(p.matrix)

    def work(self, labels: Labels) -> float:
        """About how many nanoseconds a sweep takes."""
        n = self.p.n
        if self.p.matrix is not None:
            return 0.3 * n * (int(labels.max()) + 1) + 0.1 * n * n
        return 4.0 * (n + 2 * self.p.m)

    def run(self, labels: Labels, sweeps: int, heat: float, seed: int, stopping: Stopping) -> Labels:
        """Canonical labels after annealing from any labels.

        `heat` is how many moves to a worse partition are accepted per element in the first sweep.
        """
        p = self.p
        if p.n < 2 or sweeps == 0:
            return labels
        labels = canonical(labels)  # the kernels take each label below the largest for a subset in use
        rng = np.random.default_rng(seed)
        cost = p.evaluate_labels(labels)
        cold = min(COLD, heat)
        if p.matrix is not None:
            variates = rng.standard_exponential(p.n + SHIFTS)
            dense = _dense_annealing.Annealing(self.matrix)
            out, _ = dense.run(labels, sweeps, heat, cold, variates, seed, cost, self.scale, stopping)
        else:
            variates = rng.standard_exponential(VARIATES)
            sparse = _sparse_annealing.Annealing(*p.rows(), p.tolerance)
            out, _ = sparse.run(labels, sweeps, heat, cold, variates, seed, cost, stopping)
        return canonical(out)


def _in_integers(matrix: NDArray[np.float64]) -> tuple[NDArray[np.int32], float]:
    """The matrix in 32-bit integers as described above, and how many units a cost of 1 has."""
    n = len(matrix)
    attraction = np.empty(n)
    for top in range(0, n, ROWS):
        attraction[top : top + ROWS] = -np.minimum(matrix[top : top + ROWS], 0.0).sum(axis=1)
    largest = 0.0
    for top in range(0, n, ROWS):
        largest = max(largest, float(np.abs(_limited(matrix, attraction, top)).sum(axis=1).max(initial=0.0)))
    # Every cost may be rounded up by a half, and gets one unit more if it is limited.
    room = _dense_annealing.LARGEST - 2 * n
    exponent = math.frexp(room)[1] - math.frexp(largest)[1] - 1 if largest > 0 else 0
    scale = math.ldexp(1.0, max(-1000, min(1000, exponent)))
    integers = np.empty((n, n), np.int32)
    for top in range(0, n, ROWS):
        rows = _limited(matrix, attraction, top)
        rows *= scale
        integers[top : top + ROWS] = np.rint(rows, out=rows)
        integers[top : top + ROWS] += matrix[top : top + ROWS] > _limited(matrix, attraction, top)
    return integers, scale


def _limited(matrix: NDArray[np.float64], attraction: NDArray[np.float64], top: int) -> NDArray[np.float64]:
    """Some rows of a matrix, with costs lowered to what attracts one of the two elements."""
    limit = np.minimum(attraction[top : top + ROWS, None], attraction[None, :])
    return np.minimum(matrix[top : top + ROWS], limit, out=limit)

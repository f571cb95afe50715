"""Clustering variables by their correlation: rounded correlations of the columns of a random matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.generate.instance import Instance, check_integer, random_generator, standard_normal
from graphpart.partition.problem import SetPartition, check_matrix_fits

__all__ = ["correlations"]


def correlations(n: int, rows: int = 10, seed: int | None = 0) -> Instance:
    """Correlations of the columns of a random matrix: weight ``w = round(100 * correlation)``, maximise the sum within.

    Costs are ``-w``; ``problem.objective(cost)`` is the sum of weights within clusters.

    Parameters
    ----------
    n : int
        Number of columns: the elements.
    rows : int
        Number of rows: independent standard normal samples of each column. Few rows give strong correlations.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    Instance
        The problem (dense); nothing is planted.

    Notes
    -----
    O(n^2 rows). The matrix is drawn row by row.

    Examples
    --------
    >>> p, _ = correlations(3, rows=4, seed=1)
    >>> w = -p.matrix
    >>> bool((w == w.round()).all() and (abs(w) <= 100).all()), p.objective(-7.0)
    (True, 7.0)
    """
    n = check_integer("n", n, 0)
    rows = check_integer("rows", rows, 2)
    check_matrix_fits(n)
    samples = standard_normal(random_generator(seed), (rows, n))
    samples -= _sum(samples) / rows
    samples /= np.sqrt(_sum(samples * samples))
    costs = np.empty((n, n))
    step = 32  # rows of the cost matrix that are summed at a time
    for top in range(0, n, step):
        part, product = costs[top : top + step], np.empty((min(step, n - top), n))
        part.fill(0.0)
        for row in samples:  # not by BLAS, which adds in an order that depends on the processor
            part += np.multiply(row[top : top + step, None], row, out=product)
    costs *= -100.0
    np.round(costs, out=costs)
    costs += 0.0  # no negative zeros
    return Instance(SetPartition.from_matrix(costs, dense=True, sense=-1), None)


def _sum(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of the rows, from the first to the last."""
    total = np.zeros(samples.shape[1])
    for row in samples:
        total += row
    return total

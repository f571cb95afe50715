"""Clustering variables by their correlation: rounded correlations of the columns of a random matrix."""

from __future__ import annotations

import numpy as np

from graphpart.generate.instance import Instance, check_integer, random_generator
from graphpart.partition.problem import SetPartition, check_matrix_fits

__all__ = ["correlations"]


def correlations(n: int, rows: int = 10, seed: int | None = 0) -> Instance:
    """Correlations of the columns of a random matrix: weight ``w = round(100 * correlation)``, maximise the sum within.

    Costs are ``-w``; ``problem.objective(cost)`` is the sum of weights within subsets.

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
    samples = random_generator(seed).standard_normal((rows, n))
    samples -= samples.mean(axis=0)
    samples /= np.sqrt((samples * samples).sum(axis=0))
    costs = samples.T @ samples
    costs *= -100.0
    np.round(costs, out=costs)
    costs += 0.0  # no negative zeros
    return Instance(SetPartition.from_matrix(costs, dense=True, sense=-1), None)

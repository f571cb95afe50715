"""Random costs, and pairs that are kept apart by a penalty: costs with a heavy tail."""

from __future__ import annotations

import numpy as np

from graphpart.common.matrices import mirror_upper
from graphpart.errors import InvalidOption
from graphpart.generate.instance import (
    Instance,
    check_integer,
    check_number,
    random_generator,
)
from graphpart.partition.problem import SetPartition, check_matrix_fits

__all__ = ["soft_requirements"]


def soft_requirements(
    n: int, largest: int = 100, attracting: float = 0.75, apart: float = 0.2, penalty: int = 9999, seed: int | None = 0
) -> Instance:
    """A complete graph in which most pairs attract, and some are to be kept apart, by a penalty as cost.

    Parameters
    ----------
    n : int
        Number of elements.
    largest : int
        Costs of pairs that attract are uniform integers from ``-largest`` to 0, of pairs that repel from 0 to
        ``largest``.
    attracting : float
        Probability that a pair attracts.
    apart : float
        Probability that a pair costs the penalty; all other pairs repel.
    penalty : int
        The cost of a pair that is to be kept apart.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    Instance
        The problem (dense); nothing is planted.

    Notes
    -----
    O(n^2). Row by row, the numbers that decide on the kind of each pair are drawn, then the costs. Requirements are
    often written in this form for solvers that do not know constraints. Means and maxima of such costs give no
    information about the other costs.

    Examples
    --------
    >>> p, _ = soft_requirements(45, seed=1)
    >>> float(p.matrix.min()), float(p.matrix.max())
    (-100.0, 9999.0)
    """
    n = check_integer("n", n, 0)
    largest = check_integer("largest", largest, 0, 2**31)
    penalty = check_integer("penalty", penalty, 0, 2**53)
    attracting = check_number("attracting", attracting, 0, 1)
    apart = check_number("apart", apart, 0, 1)
    if attracting + apart > 1 + 1e-12:
        raise InvalidOption(f"attracting and apart are {attracting} and {apart}: expected a sum of at most 1")
    rng = random_generator(seed)
    check_matrix_fits(n)
    costs = np.zeros((n, n))
    for a in range(n - 1):
        kind, cost = rng.random(n - 1 - a), rng.integers(0, largest + 1, n - 1 - a).astype(float)
        costs[a, a + 1 :] = np.where(kind < attracting, -cost, np.where(kind < attracting + apart, penalty, cost))
    mirror_upper(costs)
    return Instance(SetPartition.from_matrix(costs + 0.0, dense=True), None)

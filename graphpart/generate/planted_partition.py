"""A planted partition on a complete graph, hidden under Gaussian noise."""

from __future__ import annotations

import numpy as np

from graphpart.generate.instance import (
    Instance,
    check_integer,
    check_number,
    cluster_labels,
    random_generator,
    rounded,
    standard_normal,
    symmetric_matrix,
)
from graphpart.partition.problem import SetPartition

__all__ = ["planted_partition"]


def planted_partition(
    n: int, subsets: int, sigma: float = 1.0, decimals: int | None = None, seed: int | None = 0
) -> Instance:
    """A complete graph with a planted partition: costs -1 within, +1 across its clusters, plus Gaussian noise.

    Parameters
    ----------
    n : int
        Number of elements.
    subsets : int
        Number of planted clusters; their sizes differ by at most one.
    sigma : float
        Standard deviation of the noise. Without noise the planted partition is the optimum.
    decimals : int, optional
        Round costs to this many decimals; default: not at all.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    Instance
        The problem (dense) and the planted labels.

    Notes
    -----
    O(n^2). Drawn in this order: the labels, then the noise of the pairs in lexicographic order.

    Examples
    --------
    >>> p, truth = planted_partition(6, 2, sigma=0)
    >>> p.evaluate(truth)
    -6.0
    """
    n = check_integer("n", n, 0)
    subsets = check_integer("subsets", subsets, 1)
    sigma = check_number("sigma", sigma, 0)
    rng = random_generator(seed)
    truth = cluster_labels(n, subsets, rng)
    costs = symmetric_matrix(n, lambda k: standard_normal(rng, k))
    costs *= sigma
    costs += 1.0
    for a in range(n):
        costs[a, truth == truth[a]] -= 2.0
    np.fill_diagonal(costs, 0.0)
    return Instance(SetPartition.from_matrix(rounded(costs, decimals), dense=True), truth)

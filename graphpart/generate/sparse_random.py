"""A sparse random graph with signed costs."""

from __future__ import annotations

import numpy as np

from graphpart.generate.instance import (
    Instance,
    check_integer,
    check_number,
    distinct_integers,
    random_generator,
    rounded,
    standard_normal,
    unrank_pairs,
)
from graphpart.kernels import LARGEST_INDEX
from graphpart.partition.problem import SetPartition

__all__ = ["sparse_random"]


def sparse_random(
    n: int, m: int, negative: float = 0.5, signs: bool = False, decimals: int | None = None, seed: int | None = 0
) -> Instance:
    """A random graph with n nodes and m edges, all graphs alike probable, with signed random costs.

    Parameters
    ----------
    n : int
        Number of elements.
    m : int
        Number of pairs, all different.
    negative : float
        Probability that a pair attracts: that its cost is negative.
    signs : bool
        Costs are -1 and +1, as in a signed social network; otherwise their magnitudes are those of standard normal
        variates, so that with ``negative=0.5`` the costs are standard normal.
    decimals : int, optional
        Round costs to this many decimals; default: not at all.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    Instance
        The problem (sparse, unless a quarter of all pairs has a cost); nothing is planted.

    Notes
    -----
    O(m log m). Drawn in this order: ranks of the pairs until m are different, signs, magnitudes.

    Examples
    --------
    >>> p, _ = sparse_random(1000, 3000, signs=True)
    >>> p.m, p.is_dense, sorted(set(p.cost.tolist()))
    (3000, False, [-1.0, 1.0])
    """
    n = check_integer("n", n, 0, LARGEST_INDEX)
    total = n * (n - 1) // 2
    m = check_integer("m", m, 0, total)
    negative = check_number("negative", negative, 0, 1)
    rng = random_generator(seed)
    u, v = unrank_pairs(n, distinct_integers(total, m, rng))
    attractive = rng.random(m) < negative
    costs = np.ones(m) if signs else np.abs(standard_normal(rng, m))
    np.negative(costs, out=costs, where=attractive)
    return Instance(SetPartition.from_pairs(n, (u, v), rounded(costs, decimals)), None)

"""Random acyclic factor graphs with factors of any arity, without a planted labeling."""

from __future__ import annotations

import numpy as np

from graphpart.crf.problem import FactorGraph
from graphpart.errors import InvalidOption
from graphpart.generate.instance import (
    FactorInstance,
    check_integer,
    check_number,
    random_generator,
    rounded,
    standard_normal,
)

__all__ = ["factor_tree"]


def factor_tree(
    n: int,
    labels: int = 2,
    arity: int = 2,
    sigma: float = 1.0,
    decimals: int | None = None,
    seed: int | None = 0,
) -> FactorInstance:
    """A random tree of n variables, joined by factors of one arity, with Gaussian costs.

    Each factor joins a random earlier variable to the next ``arity - 1`` new ones; the last factor joins the remaining
    ones, and may have a smaller arity. All entries of all tables are independent.

    Parameters
    ----------
    n : int
        Number of variables.
    labels : int
        Number of labels of each variable.
    arity : int
        Number of variables of a factor: 2 for a pairwise tree, 3 for a third-order one.
    sigma : float
        Standard deviation of costs.
    decimals : int, optional
        Round costs to this many decimals; default: not at all.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    FactorInstance
        The problem, and None: nothing is planted.

    Notes
    -----
    O(size of all tables). Drawn in this order: earlier variables of the factors, tables.

    Examples
    --------
    >>> f, _ = factor_tree(1000, arity=3, seed=1)
    >>> f.n, f.m, f.is_acyclic
    (1000, 500, True)
    """
    n, labels = check_integer("n", n, 0), check_integer("labels", labels, 1)
    arity = check_integer("arity", arity, 2, 20)
    if labels**arity > 2**24:
        raise InvalidOption(f"a table has {labels}^{arity} entries: expected at most {2**24}")
    sigma = check_number("sigma", sigma, 0)
    rng = random_generator(seed)
    step = arity - 1
    whole, left = divmod(max(n - 1, 0), step)
    first = 1 + step * np.arange(whole + (left > 0))  # the first new variable of each factor
    earlier = (rng.random(len(first)) * first).astype(np.int64)
    scopes = np.column_stack([earlier, first[:, None] + np.arange(step)])
    groups = []
    for rows, k in ((scopes[:whole], arity), (scopes[whole:, : left + 1], left + 1)):
        if len(rows):
            tables = sigma * standard_normal(rng, (len(rows), *[labels] * k))
            groups.append((rows, rounded(tables, decimals)))
    return FactorInstance(FactorGraph.from_arrays(np.full(n, labels), groups), None)

"""Chains of variables with random costs, as in sequence labelling, without a planted labeling."""

from __future__ import annotations

import numpy as np

from graphpart.crf.problem import FactorGraph
from graphpart.generate.instance import (
    FactorInstance,
    check_integer,
    check_number,
    random_generator,
    rounded,
    standard_normal,
)

__all__ = ["factor_chain"]


def factor_chain(
    n: int, labels: int = 2, sigma: float = 1.0, decimals: int | None = None, seed: int | None = 0
) -> FactorInstance:
    """A chain of n variables with unary factors and factors between neighbours, with Gaussian costs.

    Parameters
    ----------
    n : int
        Number of variables.
    labels : int
        Number of labels of each variable.
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
    O(n labels^2). Drawn in this order: unary tables, tables between neighbours.

    Examples
    --------
    >>> f, _ = factor_chain(100, labels=5)
    >>> f.n, f.m, f.is_acyclic
    (100, 199, True)
    """
    n, labels = check_integer("n", n, 0), check_integer("labels", labels, 1, 4096)
    sigma = check_number("sigma", sigma, 0)
    rng = random_generator(seed)
    unary = sigma * standard_normal(rng, (n, labels))
    between = sigma * standard_normal(rng, (max(n - 1, 0), labels, labels))
    at = np.arange(n)
    groups = [
        (at[:, None], rounded(unary, decimals)),
        (np.column_stack([at[:-1], at[1:]]), rounded(between, decimals)),
    ]
    return FactorInstance(FactorGraph.from_arrays(np.full(n, labels), groups), None)

"""Random quadratic programs in binary variables, of the kind of Beasley and of Glover, Kochenberger & Alidaee."""

from __future__ import annotations

import numpy as np

from graphpart.crf.problem import FactorGraph
from graphpart.generate.instance import (
    FactorInstance,
    check_integer,
    check_number,
    distinct_integers,
    random_generator,
    unrank_pairs,
)

__all__ = ["qubo"]


def qubo(n: int, density: float = 1.0, largest: int = 100, seed: int | None = 0) -> FactorInstance:
    """A binary quadratic program: minimise x'Qx over x in {0, 1}^n, with random whole entries.

    The entries on the diagonal and a share of those above are uniform from ``-largest`` to `largest`; Q is symmetric,
    so those above the diagonal count twice. Instances of this kind with n from 50 to 2500, 10 % to 100 % of the pairs
    and entries up to 100 are common benchmarks (Beasley 1998; Glover, Kochenberger & Alidaee 1998; Palubeckis 2006).

    Parameters
    ----------
    n : int
        Number of variables.
    density : float
        Share of the pairs that have an entry, from 0 to 1; their number is exact, but for rounding.
    largest : int
        Largest absolute entry.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    FactorInstance
        The problem, and None: nothing is planted.

    Notes
    -----
    O(n^2 density). Drawn in this order: diagonal, which pairs, their entries. Entries that are 0 are left out.

    Examples
    --------
    >>> f, _ = qubo(50, density=0.1)
    >>> f.n, f.evaluate([0] * 50)
    (50, 0.0)
    """
    n, largest = check_integer("n", n, 0), check_integer("largest", largest, 0, 2**30)
    density = check_number("density", density, 0, 1)
    rng = random_generator(seed)
    linear = rng.integers(-largest, largest, n, endpoint=True).astype(np.float64)
    total = n * (n - 1) // 2
    u, v = unrank_pairs(n, distinct_integers(total, round(density * total), rng))
    entries = 2.0 * rng.integers(-largest, largest, len(u), endpoint=True)
    some, kept = np.flatnonzero(linear), np.flatnonzero(entries)
    unary, pairwise = np.zeros((len(some), 2)), np.zeros((len(kept), 2, 2))
    unary[:, 1], pairwise[:, 1, 1] = linear[some], entries[kept]
    groups = [(some[:, None], unary), (np.stack([u[kept], v[kept]], 1), pairwise)]
    return FactorInstance(FactorGraph.from_arrays(np.full(n, 2), groups), None)

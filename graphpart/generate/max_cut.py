"""Maximum cut in random graphs, of the kind of the G-set."""

from __future__ import annotations

import numpy as np

from graphpart.crf.problem import FactorGraph
from graphpart.errors import InvalidOption
from graphpart.generate.instance import (
    FactorInstance,
    check_integer,
    check_number,
    distinct_integers,
    random_generator,
    unrank_pairs,
)
from graphpart.generate.spin_glass import lattice_pairs

__all__ = ["max_cut"]

GRAPHS = ("random", "torus")
WEIGHTS = ("ones", "signs")


def max_cut(
    n: int, graph: str = "random", density: float = 0.06, weights: str = "ones", seed: int | None = 0
) -> FactorInstance:
    """Label the nodes of a graph by 0 and 1 such that edges between different labels weigh most.

    The objective is that weight, the cost its negative. Graphs like these, made by a program of G. Rinaldi, are the
    common benchmarks of Helmberg & Rendl (2000).

    Parameters
    ----------
    n : int
        Number of nodes; in a torus, a multiple of its height, the largest divisor of n up to its root.
    graph : str
        One of random (uniform among all graphs with this number of edges), torus (a grid whose borders are joined).
    density : float
        Share of the pairs that are edges of a random graph, from 0 to 1.
    weights : str
        One of ones (all edges weigh 1), signs (1 or -1, each with probability 1/2).
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    FactorInstance
        The problem, and None: nothing is planted.

    Notes
    -----
    O(n + m) for m edges. Drawn in this order: edges, weights.

    Examples
    --------
    >>> f, _ = max_cut(100, "torus", weights="signs")
    >>> f.n, f.m, f.sense
    (100, 200, -1)
    """
    for name, value, known in [("graph", graph, GRAPHS), ("weights", weights, WEIGHTS)]:
        if value not in known:
            raise InvalidOption(f"{name} is {value!r}: expected one of {', '.join(known)}")
    n, density = check_integer("n", n, 0), check_number("density", density, 0, 1)
    rng = random_generator(seed)
    if graph == "torus":
        height = max((k for k in range(1, int(n**0.5) + 1) if n % k == 0), default=0)
        pairs = lattice_pairs((height, n // max(height, 1)), True)
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    else:
        total = n * (n - 1) // 2
        pairs = np.stack(unrank_pairs(n, distinct_integers(total, round(density * total), rng)), 1)
    weight = np.ones(len(pairs)) if weights == "ones" else np.where(rng.random(len(pairs)) < 0.5, -1.0, 1.0)
    tables = -weight[:, None, None] * np.array([[0.0, 1.0], [1.0, 0.0]]) + 0.0
    return FactorInstance(FactorGraph.from_arrays(np.full(n, 2), [(pairs, tables)], sense=-1), None)

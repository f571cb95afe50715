"""Cluster editing of a random graph: the fewest edges to insert and delete until every component is a clique."""

from __future__ import annotations

import numpy as np

from graphpart.generate.instance import Instance, check_integer, check_number, random_generator, symmetric_matrix
from graphpart.partition.problem import SetPartition

__all__ = ["cluster_editing"]


def cluster_editing(n: int, p: float = 0.5, seed: int | None = 0) -> Instance:
    """Cluster editing of a random graph G(n, p): cost -1 for an edge, +1 for a pair without one.

    The offset is the number of edges: ``problem.objective(cost)`` is the number of edits (Bansal, Blum & Chawla 2004).

    Parameters
    ----------
    n : int
        Number of nodes.
    p : float
        Probability of an edge.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    Instance
        The problem (dense); nothing is planted.

    Notes
    -----
    O(n^2). Pairs are drawn in lexicographic order.

    Examples
    --------
    >>> problem, _ = cluster_editing(5, p=1)
    >>> problem.objective(problem.evaluate([0, 0, 0, 0, 0])), problem.objective(problem.evaluate([0, 1, 2, 3, 4]))
    (0.0, 10.0)
    """
    n = check_integer("n", n, 0)
    p = check_number("p", p, 0, 1)
    rng = random_generator(seed)
    costs = symmetric_matrix(n, lambda k: np.where(rng.random(k) < p, -1.0, 1.0))
    edges = np.count_nonzero(costs < 0) // 2
    return Instance(SetPartition.from_matrix(costs, dense=True, offset=float(edges)), None)

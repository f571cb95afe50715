"""Modularity of a graph as a set partition problem (Newman & Girvan 2004; Brandes et al. 2008)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.generate.instance import Instance, check_number
from graphpart.partition.problem import SetPartition, check_matrix_fits

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["modularity"]

NAMED = {
    "davis-southern-women": "davis_southern_women_graph",
    "florentine-families": "florentine_families_graph",
    "karate-club": "karate_club_graph",
    "les-miserables": "les_miserables_graph",
}


def modularity(graph: nx.Graph | str, weight: str | None = "weight", resolution: float = 1.0) -> Instance:
    """Modularity of a graph: ``problem.objective(cost)`` is the modularity of a partition, to be maximised.

    It is the number that :func:`networkx.community.modularity` returns, with the same defaults.

    Parameters
    ----------
    graph : networkx graph or str
        Any graph, also directed, with parallel edges or self-loops; or the name of a graph of networkx:
        davis-southern-women, florentine-families, karate-club, les-miserables.
    weight : str, optional
        The edge attribute that holds the weight, 1 where it is missing; none: every edge has the weight 1.
    resolution : float
        Above 1, smaller clusters are better; below 1, larger ones.

    Returns
    -------
    Instance
        The problem (dense: the null model gives a cost to every pair of nodes with edges); nothing is planted.

    Raises
    ------
    InvalidProblem
        If a weight is no number, or the sum of weights is not positive.

    Notes
    -----
    O(n^2). With ``A`` the adjacency matrix (self-loops counting twice if undirected), ``t`` the sum of its entries,
    ``d`` and ``e`` its row and column sums, the cost of a pair is
    ``-(A[a, b] + A[b, a]) / t + resolution * (d[a] e[b] + d[b] e[a]) / t^2``; the terms of single nodes are the offset.

    Examples
    --------
    >>> import networkx as nx
    >>> G = nx.karate_club_graph()
    >>> p, _ = modularity(G)
    >>> factions = nx.community.greedy_modularity_communities(G, weight="weight")
    >>> round(p.objective(p.evaluate(factions)) - nx.community.modularity(G, factions), 12)
    0.0
    """
    import networkx as nx

    if isinstance(graph, str):
        if graph not in NAMED:
            raise InvalidOption(f"graph is {graph!r}: expected a networkx graph or one of {', '.join(sorted(NAMED))}")
        make: Callable[[], Any] = getattr(nx, NAMED[graph])
        graph = make()
    elif not hasattr(graph, "is_directed"):
        raise InvalidOption(f"graph is a {type(graph).__name__}: expected a networkx graph or the name of one")
    resolution = check_number("resolution", resolution, 0)
    n = len(graph)
    if n == 0:
        raise InvalidProblem("the graph has no nodes: modularity needs an edge")
    check_matrix_fits(n)
    try:
        weights = nx.to_numpy_array(graph, weight=weight)
    except (TypeError, ValueError):
        raise InvalidProblem(f"attribute {weight!r} of an edge is not a number") from None
    if not graph.is_directed():
        weights[np.diag_indices(n)] *= 2.0
    try:
        out, into = (np.array([math.fsum(row[row != 0.0].tolist()) for row in each]) for each in (weights, weights.T))
        total = math.fsum(out)
    except (OverflowError, ValueError):  # the latter for inf - inf
        total = math.inf
    if not (math.isfinite(total) and total > 0):
        raise InvalidProblem(f"the sum of weights is {total}: expected a positive number")
    out /= total
    into /= total
    null = np.outer(out, into)
    costs = resolution * (null + null.T) - (weights + weights.T) / total
    offset = math.fsum(np.diagonal(weights)) / total - resolution * math.fsum(out * into)
    np.fill_diagonal(costs, 0.0)  # which is in the offset
    return Instance(SetPartition.from_matrix(costs, list(graph), offset=offset, sense=-1), None)

"""Lifted pairs with their costs, as users give them: a graph, triples, a table, or a tuple of pairs and costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.display import plural
from graphpart.errors import InvalidProblem, warn
from graphpart.partition.inputs.arrays import Places, arrays_of_graph, check_pairs, pairs_and_costs
from graphpart.partition.problem.requirements import indices_of

__all__ = ["lifted_pairs"]

Triples = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]


def lifted_pairs(lifted: Any, n: int, place: Places | None, attribute: str = "cost") -> Triples:
    """Lifted pairs of n elements as indices, with their costs.

    Parameters
    ----------
    lifted : graph, sequence of triples, data frame, mapping from pairs to costs, or tuple (pairs, costs)
        A frame has three columns: both elements, and the cost.
    n : int
    place : Places or None
        Finds elements by their names; without it, pairs are indices.
    attribute : str
        The edge attribute that has the cost.

    Raises
    ------
    InvalidProblem
        If it is none of these, an edge has no cost, or a pair is no pair of elements.

    Warns
    -----
    GraphPartWarning
        If a pair of named elements is listed twice.
    """
    from graphpart.partition.inputs.duplicates import repeated
    from graphpart.partition.inputs.frames import is_frame, table_of  # which few problems need

    if hasattr(lifted, "is_directed") and place is not None:
        return _of_graph(lifted, place, attribute)
    if is_frame(lifted):
        table = table_of(lifted)
        if len(table.columns) != 3:
            raise InvalidProblem(
                f"lifted is a table of {plural(len(table.columns), 'column')}: expected three, two elements and a cost"
            )
        a, b, costs = (table.objects(name) for name in table.columns)
        pairs: Any = list(zip(a, b, strict=True))
    elif isinstance(lifted, dict):
        pairs, costs = list(lifted), list(lifted.values())
    elif isinstance(lifted, tuple | list) and len(lifted) and all(map(_is_triple, lifted)):
        pairs, costs = [one[:2] for one in lifted], [one[2] for one in lifted]
    elif isinstance(lifted, tuple | list) and len(lifted) == 2:
        pairs, costs = lifted
    else:
        raise InvalidProblem(
            f"lifted is of type {type(lifted).__name__}: expected a graph, triples such as [(0, 2, -1.0)], a table of "
            "three columns, or a tuple (pairs, costs); if no pairs are lifted, say connected=True"
        )
    if place is not None:
        pairs = indices_of(place, pairs, "lifted")
    u, v, numbers = pairs_and_costs(pairs, costs, "lifted ")
    u, v = (np.ascontiguousarray(index, np.int64) for index in (u, v))
    check_pairs(n, u, v, numbers, "lifted pair")
    if place is not None and (told := repeated(place.nodes, u, v, numbers)):
        warn(f"in lifted, {told}; their costs are added up")
    return u, v, numbers


def _is_triple(one: Any) -> bool:
    return isinstance(one, tuple | list) and len(one) == 3 and np.ndim(one[2]) == 0  # elements may be tuples


def _of_graph(graph: Any, place: Places, attribute: str) -> Triples:
    """The edges of a graph of networkx or igraph."""
    try:
        names, u, v, costs = arrays_of_graph(graph, attribute, float, advised=False)
    except InvalidProblem as error:
        raise InvalidProblem(f"in lifted, {error}") from None
    for name in names:
        if not place.has(name):
            raise InvalidProblem(
                f"node {name!r} of lifted is not a node of the graph: expected lifted pairs of its nodes"
            )
    to = np.array([place(name) for name in names], np.int64)
    return to[u], to[v], costs

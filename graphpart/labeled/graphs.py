"""Labelled partitions from networkx graphs with attributes, and back."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem

if TYPE_CHECKING:
    import networkx as nx

    from graphpart.labeled.joint_costs import JointCosts

__all__ = ["arrays_of_graph", "graph_of"]

Floats = NDArray[np.float64]


def arrays_of_graph(
    graph: nx.Graph, label_costs: str, joined: str, parted: str
) -> tuple[Sequence[Hashable], Floats, NDArray[np.int64], Floats, Floats]:
    """(names, label costs, pairs, tables of joined pairs, tables of parted pairs) of a graph, not yet checked.

    A value of an edge is a number for all classes or a table, its rows for the node that comes first in the graph.
    """
    if not hasattr(graph, "is_directed"):
        raise InvalidProblem(
            f"got {type(graph).__name__}: expected a networkx graph; for arrays see LabeledPartition.from_arrays"
        )
    if graph.is_directed() or graph.is_multigraph():
        kind = "directed" if graph.is_directed() else "a multigraph"
        raise InvalidProblem(f"the graph is {kind}: expected an undirected one with each edge once")
    nodes = list(graph)
    rows = [_value(f"attribute {label_costs!r} of node {a!r}", graph.nodes[a].get(label_costs), 1) for a in nodes]
    classes = len(rows[0]) if rows else 0
    for a, row in zip(nodes, rows, strict=True):
        if row.shape != (classes,) or not classes:
            raise InvalidProblem(
                f"attribute {label_costs!r} of node {a!r} has shape {row.shape}: expected ({max(classes, 1)},), "
                "a cost for each class, as many for each node"
            )
    index = {a: i for i, a in enumerate(nodes)}
    pairs = np.array([[index[a], index[b]] for a, b in graph.edges()], np.int64).reshape(-1, 2)
    tables = []
    for name, default in ((joined, None), (parted, 0.0)):
        found = np.zeros((len(pairs), classes, classes))
        for k, (a, b, value) in enumerate(graph.edges(data=name, default=default)):
            table = _value(f"attribute {name!r} of edge ({a!r}, {b!r})", value, 2)
            if table.shape not in {(), (classes, classes)}:
                raise InvalidProblem(
                    f"attribute {name!r} of edge ({a!r}, {b!r}) has shape {table.shape}: expected a number or a table "
                    f"({classes}, {classes})"
                )
            found[k] = table.T if index[a] > index[b] else table
        tables.append(found)
    own = np.array(rows).reshape(len(nodes), classes)
    return nodes, own, np.sort(pairs, axis=1), tables[0], tables[1]


def _value(place: str, value: Any, dimensions: int) -> Floats:
    expected = "a cost for each class" if dimensions == 1 else "a number or a table"
    if value is None:
        raise InvalidProblem(f"{place} is missing: expected {expected}")
    try:
        if isinstance(value, str | bytes):  # NumPy would read it
            raise TypeError
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise InvalidProblem(f"{place} is {value!r}: expected {expected}") from None


def graph_of(q: JointCosts) -> nx.Graph:
    """The problem as a new networkx graph with the attributes ``label_costs``, ``joined`` and ``parted``."""
    import networkx as nx

    G = nx.Graph()
    for a, row in zip(q.nodes, q.label_costs, strict=True):
        G.add_node(a, label_costs=row.copy())
    for a, b, joined, parted in zip(q.u.tolist(), q.v.tolist(), q.joined, q.parted, strict=True):
        G.add_edge(q.nodes[a], q.nodes[b], joined=joined.copy(), parted=parted.copy())
    return G

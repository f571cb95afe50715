"""Labels as a clustering of the vertices of a graph of igraph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidPartition, MissingDependency

__all__ = ["clustering_of", "graph_of"]


def graph_of(names: Sequence[Hashable], u: NDArray[Any], v: NDArray[Any], cost: NDArray[np.float64]) -> Any:
    """A graph whose vertices have the attribute `name`, and whose edges have the attribute `cost`.

    Raises
    ------
    MissingDependency
        If igraph is not installed.
    """
    igraph = _igraph()
    graph = igraph.Graph(n=len(names), edges=np.stack([u, v], axis=1).tolist())
    graph.vs["name"] = list(names)
    graph.es["cost"] = cost.tolist()
    return graph


def clustering_of(graph: Any, names: Sequence[Hashable], labels: NDArray[np.int32]) -> Any:
    """An ``igraph.VertexClustering``: its clusters are 0, 1, ... in the order of labels.

    Raises
    ------
    MissingDependency
        If igraph is not installed.
    InvalidPartition
        If the vertices of the graph are not the elements.
    """
    igraph = _igraph()
    place = np.unique(labels, return_inverse=True)[1].ravel()
    if "name" in graph.vs.attributes():
        mine = dict(zip(names, place.tolist(), strict=True))
        vertices: Sequence[Hashable] = graph.vs["name"]
        other = next((name for name in vertices if name not in mine), None)
        if other is not None:
            raise InvalidPartition(f"the vertex {other!r} of the graph is no element of the result")
        membership = [mine[name] for name in vertices]
    else:
        membership = place.tolist()
    if len(membership) != graph.vcount() or len(labels) != graph.vcount():
        raise InvalidPartition(f"the graph has {graph.vcount()} vertices, the result {len(labels)} elements")
    return igraph.VertexClustering(graph, membership)


def _igraph() -> Any:
    try:
        import igraph
    except ImportError:
        raise MissingDependency("igraph", "adapters", "a clustering of igraph") from None
    return igraph

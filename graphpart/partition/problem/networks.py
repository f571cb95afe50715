"""Networks as set partition problems: modularity, the constant Potts model, cluster editing.

The objective of each problem is a sum over edges plus a background over all pairs, so that a problem takes memory for
edges only. The problems are: modularity (Newman & Girvan 2004), also of directed graphs (Leicht & Newman 2008) and of
graphs with weights of both signs (Gómez, Jensen & Arenas 2009); the constant Potts model (Traag, Van Dooren & Nesterov
2011); and cluster editing (Bansal, Blum & Chawla 2004).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import distinct
from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.partition.inputs.arrays import Triples, advice, names_of, node_attribute, size_of
from graphpart.partition.problem.misreadings import check_unread_signs
from graphpart.partition.problem.pair_costs import PairCosts
from graphpart.partition.problem.requirements import ProblemOptions, with_options

__all__ = ["FromNetworks"]


class FromNetworks(PairCosts):
    """Constructors of :class:`SetPartition` from networks."""

    __slots__ = ()

    @classmethod
    @with_options(ProblemOptions, "missing", "background", "connected", "lifted")
    def from_modularity(
        cls, graph: Any, resolution: float = 1.0, weight: str | None = "weight", **options: Unpack[ProblemOptions]
    ) -> Self:
        """Modularity of a network as a problem: ``objective(cost)`` is the modularity of a partition, to be maximised.

        Parameters
        ----------
        graph : networkx graph, igraph.Graph, or scipy.sparse matrix of weights
            Also directed, with parallel edges or self-loops, and with weights of both signs. A matrix that is not
            symmetric is a directed graph; one entry on its diagonal is a self-loop.
        resolution : float
            Above 1, smaller communities are better; below 1, larger ones.
        weight : str, optional
            The edge attribute that holds the weight, 1 where it is missing; None: every edge has the weight 1.
        dense : bool, optional
            Store the costs of all pairs as a matrix. Default: True up to 1000 nodes, so that all bounds and exact
            methods can be used.
        together, apart, groups, group_cost, max_size, n_clusters
            As in the constructor; a text names a node attribute.

        Returns
        -------
        SetPartition
            A problem with the edges as stored pairs and the null model as background. The modularity is the same as
            that of :func:`networkx.community.modularity` and igraph, where these are defined.

        Raises
        ------
        InvalidProblem
            If a weight is not a finite number, or all are 0.

        Warns
        -----
        GraphPartWarning
            If edges have an attribute ``sign`` of both signs that is not read.

        Notes
        -----
        O(n + m). With ``A`` the adjacency matrix (self-loops counting twice if undirected), ``t`` the sum
        of its entries, ``d`` and ``e`` its row and column sums, the cost of a pair is ``-(A[a, b] + A[b, a]) / t +
        resolution * (d[a] e[b] + d[b] e[a]) / t**2``; the terms of single nodes are the offset. With weights of both
        signs, ``t`` is the sum of absolute weights, and the null model is that of the positive ones less that of the
        negative ones: ``resolution * (d[a] e[b] + d[b] e[a]) / (t * t+)``, where d, e and ``t+`` are of positive
        weights, and the same of negative ones (Gómez, Jensen & Arenas 2009).

        Examples
        --------
        >>> import networkx as nx
        >>> import graphpart as gp
        >>> p = gp.SetPartition.from_modularity(nx.karate_club_graph(), weight=None)
        >>> r = gp.solve(p)
        >>> r.n_clusters, round(r.objective, 6), str(r.status)
        (4, 0.41979, 'optimal')
        """
        resolution = _resolution(resolution)
        check_unread_signs(graph, weight)
        g = _network(graph, weight)
        loops = g.u == g.v
        parts, total = [], math.fsum(np.abs(g.weight).tolist()) * (1 if g.directed else 2)
        if not (math.isfinite(total) and total > 0):
            raise InvalidProblem(f"the sum of absolute weights is {total}: expected a positive number")
        single = math.fsum(g.weight[loops].tolist()) * (1 if g.directed else 2) / total
        for sign in (1, -1):
            chosen = np.flatnonzero(g.weight * sign > 0)
            if not len(chosen):
                continue
            u, v, w = g.u[chosen], g.v[chosen], np.abs(g.weight[chosen])
            out, into = np.bincount(u, w, g.n), np.bincount(v, w, g.n)
            if not g.directed:
                out = into = out + into
            beta = sign * resolution / total / math.fsum(out.tolist())
            parts.append((beta, out, into) if g.directed else (2.0 * beta, out))
            single -= beta * math.fsum((out * into).tolist())
        times = 1 if g.directed else 2
        u, v = g.u[~loops], g.v[~loops]
        costs = -g.weight[~loops] * (times / total)
        options["background"] = [part for part in parts if part[0]] or None
        return cls._of_network(graph, g, (u, v, costs), options)._in_units(single, -1)

    @classmethod
    @with_options(ProblemOptions, "missing", "background", "connected", "lifted")
    def from_cpm(
        cls, graph: Any, resolution: float, weight: str | None = None, **options: Unpack[ProblemOptions]
    ) -> Self:
        """The constant Potts model of a network as a problem: communities with a density above `resolution`.

        Parameters
        ----------
        graph : networkx graph, igraph.Graph, or scipy.sparse matrix of weights
            As for :meth:`from_modularity`.
        resolution : float
            The cost of a pair of nodes that is not an edge. In an optimum, the density of edges is at least this within
            communities, and at most this between two communities. In a directed graph, where two edges may join a pair,
            the cost is twice as large.
        weight : str, optional
            The edge attribute that holds the weight, 1 where it is missing; by default every edge has the weight 1.
        dense, together, apart, groups, group_cost, max_size, n_clusters
            As for :meth:`from_modularity`.

        Returns
        -------
        SetPartition
            ``objective(cost)`` is the quality, to be maximised: the sum over communities of the weight of edges within,
            less `resolution` for each pair of nodes within (Traag, Van Dooren & Nesterov 2011).

        Examples
        --------
        >>> import networkx as nx
        >>> import graphpart as gp
        >>> r = gp.solve(gp.SetPartition.from_cpm(nx.caveman_graph(4, 5), resolution=0.5))
        >>> r.n_clusters, r.objective
        (4, 20.0)
        """
        resolution = _resolution(resolution)
        check_unread_signs(graph, weight)
        g = _network(graph, weight)
        loops = g.u == g.v
        beta = resolution * (2 if g.directed else 1)
        options["background"] = (beta, np.ones(g.n)) if beta else None
        pairs = g.u[~loops], g.v[~loops], -g.weight[~loops]
        return cls._of_network(graph, g, pairs, options)._in_units(math.fsum(g.weight[loops].tolist()), -1)

    @classmethod
    @with_options(ProblemOptions, "missing", "background", "connected", "lifted")
    def from_editing(cls, graph: Any, **options: Unpack[ProblemOptions]) -> Self:
        """Cluster editing: insert and delete as few edges as possible, such that each component is a clique.

        Parameters
        ----------
        graph : networkx graph, igraph.Graph, or scipy.sparse matrix
            Undirected, without weights and self-loops; parallel edges count once.
        dense, together, apart, groups, group_cost, max_size, n_clusters
            As for :meth:`from_modularity`.

        Returns
        -------
        SetPartition
            An edge costs -1 within a cluster, any other pair +1; ``objective(cost)`` is the number of edits (Bansal,
            Blum & Chawla 2004).

        Raises
        ------
        InvalidProblem
            If the graph is directed, or has a self-loop.

        Examples
        --------
        >>> import networkx as nx
        >>> import graphpart as gp
        >>> r = gp.solve(gp.SetPartition.from_editing(nx.path_graph(4)))
        >>> r.objective, r.clusters
        (1.0, [{0, 1}, {2, 3}])
        """
        g = _network(graph, None)
        if g.directed:
            raise InvalidProblem("the graph is directed: expected an undirected one")
        if (g.u == g.v).any():
            a = g.nodes[int(g.u[np.argmax(g.u == g.v)])]
            raise InvalidProblem(f"node {a!r} has a self-loop: expected edges between different nodes")
        keys = distinct(np.minimum(g.u, g.v) * np.int64(g.n) + np.maximum(g.u, g.v))
        u, v = np.divmod(keys, max(1, g.n))
        options["missing"] = 1.0
        return cls._of_network(graph, g, (u, v, np.full(len(u), -1.0)), options)._in_units(float(len(u)))

    @classmethod
    def _of_network(cls, graph: Any, g: _Network, pairs: Triples, options: ProblemOptions) -> Self:
        """The problem of a network; a text in `groups` names a node attribute, which a matrix has not."""
        attribute = None if hasattr(graph, "tocoo") else partial(node_attribute, graph)
        return cls.__new__(cls)._build(g.nodes, pairs, options, None, attribute)


@dataclass(frozen=True)
class _Network:
    """Edges in arrays, self-loops included; of an undirected graph each once, in either order."""

    nodes: Sequence[Hashable]
    u: NDArray[np.int64]
    v: NDArray[np.int64]
    weight: NDArray[np.float64]
    directed: bool

    @property
    def n(self) -> int:
        return len(self.nodes)


def _network(graph: Any, weight: str | None) -> _Network:
    if hasattr(graph, "tocoo"):
        g = _of_matrix(graph)
        if weight is None:
            g = _Network(g.nodes, g.u, g.v, np.ones(len(g.u)), g.directed)
    elif not hasattr(graph, "is_directed"):
        raise InvalidProblem(
            f"got {type(graph).__name__}: expected a graph, as a scipy.sparse matrix or of networkx{advice(graph)}"
        )
    elif type(graph).__module__.startswith("igraph"):
        g = _of_igraph(graph, weight)
    else:
        g = _of_networkx(graph, weight)
    if not np.isfinite(g.weight).all():
        k = int(np.argmin(np.isfinite(g.weight)))
        a, b = g.nodes[int(g.u[k])], g.nodes[int(g.v[k])]
        raise InvalidProblem(f"the weight of edge ({a!r}, {b!r}) is {g.weight[k]}: expected a finite number")
    return g


def _of_networkx(graph: Any, weight: str | None) -> _Network:
    nodes = list(graph)
    index = {node: i for i, node in enumerate(nodes)}
    m = graph.number_of_edges()
    plain = nodes == list(range(len(nodes)))
    u, v, w = np.empty(m, np.int64), np.empty(m, np.int64), np.ones(m)
    if weight is None:
        for k, (a, b) in enumerate(graph.edges()):
            u[k], v[k] = index[a], index[b]
    else:
        for k, (a, b, value) in enumerate(graph.edges(data=weight, default=1.0)):
            if isinstance(value, str | bytes | bool) or not isinstance(value, Real):
                raise InvalidProblem(f"attribute {weight!r} of edge ({a!r}, {b!r}) is {value!r}: expected a number")
            u[k], v[k], w[k] = index[a], index[b], value
    return _Network(range(len(nodes)) if plain else nodes, u, v, w, graph.is_directed())


def _of_igraph(graph: Any, weight: str | None) -> _Network:
    names = names_of(graph.vs["name"] if "name" in graph.vs.attributes() else None, graph.vcount())
    edges = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    values = np.ones(len(edges))
    if weight is not None and weight in graph.es.attributes():
        try:
            values = np.array(graph.es[weight], np.float64)
        except (TypeError, ValueError):
            raise InvalidProblem(f"attribute {weight!r} of an edge is not a number") from None
    return _Network(
        names, np.ascontiguousarray(edges[:, 0]), np.ascontiguousarray(edges[:, 1]), values, graph.is_directed()
    )


def _of_matrix(matrix: Any) -> _Network:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidProblem(f"matrix has shape {matrix.shape}: expected (n, n)")
    n = size_of(int(matrix.shape[0]))
    if matrix.dtype.kind not in "fiub":
        raise InvalidProblem(f"matrix has dtype {matrix.dtype}: expected real numbers")
    coo = matrix.tocoo()
    directed = (matrix != matrix.T).nnz > 0
    u, v, w = coo.row.astype(np.int64), coo.col.astype(np.int64), coo.data.astype(np.float64)
    kept = (w != 0) if directed else (w != 0) & (u <= v)
    return _Network(range(n), u[kept], v[kept], w[kept], directed)


def _resolution(resolution: Any) -> float:
    if (
        isinstance(resolution, bool)
        or not isinstance(resolution, Real)
        or not math.isfinite(resolution)
        or resolution < 0
    ):
        raise InvalidOption(f"resolution is {resolution!r}: expected a number of at least 0")
    return float(resolution)

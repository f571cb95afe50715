"""Problems as graphs of networkx, and the attributes of such a graph."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphpart.partition.problem.forms import with_groups_apart
from graphpart.partition.problem.groups import NamedGroups
from graphpart.partition.problem.limits import Limits
from graphpart.partition.problem.pair_costs import PairCosts
from graphpart.partition.problem.requirements import ProblemOptions, rows_of

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["to_graph", "with_graph_attributes"]


def to_graph(problem: PairCosts) -> nx.Graph:
    """See `SetPartition.graph`."""
    import networkx as nx

    G = nx.Graph()
    G.add_nodes_from(problem.nodes)
    p = with_groups_apart(problem)
    u, v, cost = p.pairs()
    if p.is_dense:
        stored = np.flatnonzero(cost)
        u, v, cost = u[stored], v[stored], cost[stored]
    names = problem.nodes
    if p.background is not None:
        if p.background.terms:
            G.graph["background"] = [
                (beta, *(dict(zip(names, x.tolist(), strict=True)) for x in vectors))
                for beta, *vectors in p.background.terms
            ]
        if p.background.groups is not None:
            G.graph["groups"] = p.background.groups.named(names)
    if problem._limits is not None:
        G.graph["limits"] = replace(problem._limits, sizes=None)
    far = np.zeros(len(u), bool) if p.lifted is None else p.lifted
    graphs = [(G, ~far)]
    if p.lifted is not None:
        G.graph["lifted"] = nx.Graph()
        graphs.append((G.graph["lifted"], far))
    for H, chosen in graphs:
        pairs = zip(u[chosen].tolist(), v[chosen].tolist(), cost[chosen].tolist(), strict=True)
        H.add_weighted_edges_from(((names[a], names[b], c) for a, b, c in pairs), "cost")
    for a, b in problem.must_join.tolist():
        H = G if p.lifted is None or G.has_edge(names[a], names[b]) else G.graph["lifted"]
        if H.has_edge(names[a], names[b]) and H.edges[names[a], names[b]]["cost"]:
            G.graph.setdefault("together", []).append((names[a], names[b]))
        else:
            H.add_edge(names[a], names[b], cost=-math.inf)
    return G


def with_graph_attributes(graph: Any, nodes: Sequence[Hashable], options: ProblemOptions) -> ProblemOptions:
    """Options, completed by the attributes that :attr:`graph` writes to a graph."""
    data = getattr(graph, "graph", None)
    if not isinstance(data, dict):
        return options
    found: dict[str, Any] = {}
    given = options.get("must_join", ())
    if isinstance(joins := data.get("together"), list) and isinstance(given, Iterable):
        kept = set(nodes)  # of a subgraph
        joins = [(a, b) for a, b in joins if a in kept and b in kept]
        found["must_join"] = [*joins, *rows_of(given, "must_join")]
    if options.get("background") is None and "background" in data:
        found["background"] = data["background"]
    if options.get("groups") is None and isinstance(groups := data.get("groups"), NamedGroups):
        found["groups"] = groups.of(nodes)
    limited = options.get("max_size") is not None or options.get("n_clusters") is not None
    if not limited and isinstance(limits := data.get("limits"), Limits):
        found |= {"max_size": limits.max_size, "n_clusters": (limits.least, limits.most)}
    if options.get("lifted") is None and hasattr(data.get("lifted"), "subgraph"):
        found["lifted"] = data["lifted"].subgraph(nodes)  # only lifted pairs within a subgraph
    return {**options, **found}  # type: ignore[typeddict-item]

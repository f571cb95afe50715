"""networkx node-link data: a graph whose edges have the attribute ``cost``.

A file whose nodes have tables or domains is a factor graph instead, see :mod:`graphpart.io.json_factors`, and one whose
nodes have ``label_costs`` is a labelled partition, see :mod:`graphpart.io.json_labeled`.

The object that ``json.dump(networkx.node_link_data(G), file)`` writes: ``nodes`` is a list of objects with ``id``,
``edges`` (before networkx 3.6 ``links``) one of objects with ``source``, ``target`` and ``cost``. An edge with cost
``-Infinity`` (a number as Python writes it, or this text, or "-inf") must be joined, an edge with cost ``Infinity``
must be cut. In a multigraph the costs of parallel edges add up. `offset` and `sense` of ``objective`` are attributes of
the graph, and so is `background`, a list of terms that are added to the costs of all pairs: ``[beta]``, a constant;
``[beta, w]``, with a weight for each node, for ``beta w[a] w[b]``; or ``[beta, x, y]`` for ``beta (x[a] y[b] + y[a]
x[b])``. Groups are the attribute `groups`, a list of objects with the `price` of two members in one subset, the
`members` (places in the list of nodes, from 0) and the `name`. Limits are the attributes `max_size` and `n_clusters`,
a list of the least and the most, which may be null. If subsets have to be connected, the graph has the attribute
``"connected": true``; edges with ``"lifted": true`` then do not connect. One lifted edge is enough for that. Nodes may
be text, numbers, null, and lists of those (tuples in networkx).
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from graphpart.errors import InvalidOption
from graphpart.files.json_values import NONE, encoded, encoded_names, hashable, kind_of, load, number, shown
from graphpart.files.text import ROWS, numbers
from graphpart.io.json_factors import has_factors, read_factors, write_factors
from graphpart.io.json_labeled import has_classes, read_labeled, write_labeled
from graphpart.io.pairs import lifted_pairs, stored_pairs
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.background import background_of
from graphpart.partition.problem.forms import with_groups_apart
from graphpart.partition.problem.groups import Groups
from graphpart.partition.problem.limits import Limits, limits_of
from graphpart.partition.problem.rules import Rules

if TYPE_CHECKING:
    from graphpart.crf.problem import FactorGraph
    from graphpart.files.source import Source
    from graphpart.labeled.labeled_partition import LabeledPartition

SHAPE = 'an object {"nodes": [{"id": ...}, ...], "edges": [{"source": ..., "target": ..., "cost": ...}, ...]}'


def sniff(head: bytes) -> bool:
    """Whether the file starts with an object."""
    return head.lstrip()[:1] == b"{"


def read(source: Source) -> SetPartition | FactorGraph | LabeledPartition:
    """Read a problem: a factor graph if a node has a `table` or a `domain`, a labelled partition if one has
    `label_costs`, else a set partition problem."""
    data = load(source, SHAPE)
    if has_classes(data):
        return read_labeled(source, data)
    if has_factors(data):
        return read_factors(source, data)
    if data.get("directed"):
        raise source.error(None, "the graph is directed: expected an undirected one")
    edges = data.get("edges", data.get("links"))
    for name, value in (("nodes", data.get("nodes")), ("edges", edges)):
        if not isinstance(value, list):
            raise source.error(None, f"{name} is {kind_of(value)}: expected {SHAPE}")
    assert edges is not None
    index: dict[Hashable, int] = {}
    for i, node in enumerate(data["nodes"]):
        if not isinstance(node, dict) or "id" not in node:
            raise source.error(None, f"nodes[{i}] is {shown(node)}: expected an object with id")
        name = hashable(node["id"])
        if name is NONE:
            raise source.error(None, f"the id of nodes[{i}] is {shown(node['id'])}: expected text or a number")
        if name in index:
            raise source.error(None, f"nodes[{i}] has the id {shown(node['id'])} of an earlier node: expected another")
        index[name] = i
    multigraph, seen = bool(data.get("multigraph")), set()
    m = len(edges)
    u, v, cost, lifted = np.empty(m, np.int32), np.empty(m, np.int32), np.empty(m), np.zeros(m, bool)
    for k, edge in enumerate(edges):
        if not isinstance(edge, dict):
            raise source.error(None, f"edges[{k}] is {kind_of(edge)}: expected an object with source, target, cost")
        ends = []
        for key in ("source", "target"):
            end = index.get(hashable(edge.get(key, NONE)))
            if end is None:
                found = shown(edge[key]) if key in edge else "missing"
                raise source.error(None, f"the {key} of edges[{k}] is {found}: expected the id of a node")
            ends.append(end)
        a, b = ends
        if a == b:
            raise source.error(None, f"edges[{k}] joins {shown(edge['source'])} with itself: expected different nodes")
        if not multigraph:
            pair = (a, b) if a < b else (b, a)
            if pair in seen:
                raise source.error(
                    None, f'edges[{k}] is there twice: expected each pair once, or "multigraph": true to add them up'
                )
            seen.add(pair)
        u[k], v[k], cost[k] = a, b, number(source, edge.get("cost"), f"the cost of edges[{k}]")
        if "lifted" in edge:
            lifted[k] = _flag(source, edge["lifted"], f"lifted of edges[{k}]")
    offset, sense = 0.0, 1
    attributes = data.get("graph")
    if isinstance(attributes, dict):
        offset = number(source, attributes.get("offset", 0.0), "the offset of the graph")
        sense = attributes.get("sense", 1)
        if isinstance(sense, bool) or not isinstance(sense, int):
            raise source.error(None, f"the sense of the graph is {shown(sense)}: expected 1 or -1")
    n = len(index)
    background = None
    if isinstance(attributes, dict) and "background" in attributes:
        background = _background(source, attributes["background"], n)
    nodes = range(n) if list(index) == list(range(n)) and all(type(x) is int for x in index) else list(index)
    attributes = attributes if isinstance(attributes, dict) else {}
    groups, limits = _groups(source, attributes.get("groups"), n), _limits(source, attributes)
    connects = lifted.any() or _flag(source, attributes.get("connected", False), "connected of the graph")
    terms = background_of(nodes, background=background, groups=groups)
    rules = Rules(limits=limits, lifted=lifted if connects else None)
    dense = None if background is None and groups is None else False
    return SetPartition._of_pairs(nodes, u, v, cost, terms, rules, dense=dense)._in_units(offset, sense)


def _flag(source: Source, value: object, what: str) -> bool:
    if not isinstance(value, bool):
        raise source.error(None, f"{what} is {shown(value)}: expected true or false")
    return value


def _background(source: Source, terms: object, n: int) -> list[tuple[object, ...]] | None:
    """The terms of a background, checked."""
    what = "the background of the graph"
    if not isinstance(terms, list) or not all(isinstance(term, list) and 1 <= len(term) <= 3 for term in terms):
        raise source.error(
            None, f"{what} is {shown(terms)}: expected a list of lists [beta], [beta, w] or [beta, x, y]"
        )
    found: list[tuple[object, ...]] = []
    for beta, *vectors in terms:
        for vector in vectors:
            if not isinstance(vector, list) or len(vector) != n:
                raise source.error(None, f"{what} has weights {shown(vector)}: expected a list of {n} numbers")
        arrays = [np.array([number(source, w, f"a weight in {what}") for w in vector]) for vector in vectors]
        found.append((number(source, beta, f"a factor in {what}"), *(arrays or [np.ones(n)])))
    return found or None


def _groups(source: Source, given: object, n: int) -> Groups | None:
    """Groups, checked."""
    if given is None:
        return None
    if not isinstance(given, list) or not all(isinstance(one, dict) and "price" in one for one in given):
        raise source.error(
            None, f"the groups of the graph are {shown(given)}: expected a list of objects with price, members"
        )
    element: list[int] = []
    group: list[int] = []
    prices, names = [], []
    for g, one in enumerate(given):
        price, members = number(source, one["price"], f"the price of groups[{g}]"), one.get("members")
        if not price > 0:
            raise source.error(None, f"the price of groups[{g}] is {price:g}: expected a positive number or Infinity")
        if not isinstance(members, list) or not all(type(a) is int and 0 <= a < n for a in members):
            raise source.error(
                None, f"the members of groups[{g}] are {shown(members)}: expected places of nodes, 0 to {n - 1}"
            )
        if len(set(members)) < len(members):
            raise source.error(None, f"groups[{g}] has a member twice: expected each once")
        element += members
        group += [g] * len(members)
        prices.append(price)
        name = hashable(one.get("name"))
        names.append(g if name is NONE or name is None else name)
    return Groups(n, element, group, np.ones(len(group), np.int64), prices, names)


def _limits(source: Source, attributes: dict[str, Any]) -> Limits | None:
    try:
        return limits_of(attributes.get("max_size"), attributes.get("n_clusters"))
    except InvalidOption as error:
        raise source.error(None, f"of the graph, {error}") from None


def write(problem: SetPartition | FactorGraph | LabeledPartition, stream: BinaryIO) -> None:
    """Write a problem."""
    if hasattr(problem, "label_costs"):
        write_labeled(cast("LabeledPartition", problem), stream)
        return
    if not isinstance(problem, SetPartition):
        write_factors(problem, stream)
        return
    problem = with_groups_apart(problem)
    names = encoded_names(problem.nodes)
    u, v, cost = stored_pairs(problem)
    lifted = lifted_pairs(problem)
    multigraph = len(problem.must_join) > 0
    attributes: dict[str, object] = {}
    if problem.offset or problem.sense != 1:
        attributes = {"offset": problem.offset, "sense": problem.sense}
    if problem.background is not None:
        attributes["background"] = [
            [beta] if len(vectors) == 1 and (vectors[0] == 1.0).all() else [beta, *(x.tolist() for x in vectors)]
            for beta, *vectors in problem.background.terms
        ]
    if problem.background is not None and not problem.background.terms:
        del attributes["background"]
    if (groups := problem.groups) is not None:
        first, member, _ = groups.by_group
        attributes["groups"] = [
            {
                "price": price if price < math.inf else "Infinity",
                **({} if groups.names is None else {"name": json.loads(encoded(groups.names[g]))}),
                "members": member[first[g] : first[g + 1]].tolist(),
            }
            for g, price in enumerate(groups.price.tolist())
        ]
    if problem.lifted is not None:
        attributes["connected"] = True
    if problem._limits is not None:
        if problem._limits.max_size is not None:
            attributes["max_size"] = problem._limits.max_size
        if problem._limits.number:
            attributes["n_clusters"] = [problem._limits.least, problem._limits.most]
    head = f'{{"directed": false, "multigraph": {json.dumps(multigraph)}, "graph": {json.dumps(attributes)},\n'
    stream.write(head.encode() + b'"nodes": [')
    separator = "\n"
    for start in range(0, len(names), ROWS):
        rows = ",\n".join([f'{{"id": {name}}}' for name in names[start : start + ROWS]])
        stream.write((separator + rows).encode())
        separator = ",\n"
    stream.write(b'],\n"edges": [')
    separator = "\n"
    for start in range(0, len(u), ROWS):
        part = slice(start, start + ROWS)
        words = []
        rows_of = u[part].tolist(), v[part].tolist(), numbers(cost[part]), lifted[part].tolist()
        for a, b, c, far in zip(*rows_of, strict=True):
            key = ', "lifted": true' if far else ""
            if multigraph:
                key += ', "key": 1' if c == -math.inf else ', "key": 0'
            value = c if -math.inf < c < math.inf else ("Infinity" if c > 0 else "-Infinity")
            words.append(f'{{"source": {names[a]}, "target": {names[b]}, "cost": {value}{key}}}')
        stream.write((separator + ",\n".join(words)).encode())
        separator = ",\n"
    stream.write(b"]}\n")

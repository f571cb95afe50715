"""networkx node-link data: a graph whose edges have the attribute ``cost``.

The object that ``json.dump(networkx.node_link_data(G), file)`` writes: ``nodes`` is a list of objects with ``id``,
``edges`` (before networkx 3.6 ``links``) one of objects with ``source``, ``target`` and ``cost``. A cost
``-Infinity`` (a number as Python writes it, or this text, or "-inf") is a pair that must be joined, ``Infinity`` one
that must be cut; in a multigraph parallel edges add up. `offset` and `sense` of ``objective`` are attributes of the
graph. Nodes may be text, numbers, null, and lists of those (tuples in networkx).
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from graphpart.errors import InvalidProblem
from graphpart.io.lines import ROWS, numbers, stored_pairs
from graphpart.partition.problem import SetPartition

if TYPE_CHECKING:
    from graphpart.io.files import Source

INFINITE = {"inf": math.inf, "infinity": math.inf, "-inf": -math.inf, "-infinity": -math.inf}
SHAPE = 'an object {"nodes": [{"id": ...}, ...], "edges": [{"source": ..., "target": ..., "cost": ...}, ...]}'


def sniff(head: bytes) -> bool:
    """Whether the file starts with an object."""
    return head.lstrip()[:1] == b"{"


def load(source: Source) -> dict[str, Any]:
    """The object in a JSON file."""
    content = source.read()
    try:
        data = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        raise source.error(line, f"found {content[error.start : error.end]!r}: expected UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise source.error(error.lineno, f"{error.msg} at column {error.colno}: expected JSON") from None
    except (RecursionError, ValueError) as error:
        raise source.error(None, f"{error}: expected JSON of a plausible depth and size") from None
    if not isinstance(data, dict):
        raise source.error(None, f"found {_kind(data)}: expected {SHAPE}")
    return data


def read(source: Source) -> SetPartition:
    """Read a problem."""
    data = load(source)
    if data.get("directed"):
        raise source.error(None, "the graph is directed: expected an undirected one")
    edges = data.get("edges", data.get("links"))
    for name, value in (("nodes", data.get("nodes")), ("edges", edges)):
        if not isinstance(value, list):
            raise source.error(None, f"{name} is {_kind(value)}: expected {SHAPE}")
    assert edges is not None
    index: dict[Hashable, int] = {}
    for i, node in enumerate(data["nodes"]):
        if not isinstance(node, dict) or "id" not in node:
            raise source.error(None, f"nodes[{i}] is {_shown(node)}: expected an object with id")
        name = _hashable(node["id"])
        if name is _NONE:
            raise source.error(None, f"the id of nodes[{i}] is {_shown(node['id'])}: expected text or a number")
        if name in index:
            raise source.error(None, f"nodes[{i}] has the id {_shown(node['id'])} of an earlier node: expected another")
        index[name] = i
    multigraph, seen = bool(data.get("multigraph")), set()
    m = len(edges)
    u, v, cost = np.empty(m, np.int32), np.empty(m, np.int32), np.empty(m)
    for k, edge in enumerate(edges):
        if not isinstance(edge, dict):
            raise source.error(None, f"edges[{k}] is {_kind(edge)}: expected an object with source, target, cost")
        ends = []
        for key in ("source", "target"):
            end = index.get(_hashable(edge.get(key, _NONE)))
            if end is None:
                found = _shown(edge[key]) if key in edge else "missing"
                raise source.error(None, f"the {key} of edges[{k}] is {found}: expected the id of a node")
            ends.append(end)
        a, b = ends
        if a == b:
            raise source.error(None, f"edges[{k}] joins {_shown(edge['source'])} with itself: expected different nodes")
        if not multigraph:
            pair = (a, b) if a < b else (b, a)
            if pair in seen:
                raise source.error(
                    None, f'edges[{k}] is there twice: expected each pair once, or "multigraph": true to add them up'
                )
            seen.add(pair)
        u[k], v[k], cost[k] = a, b, _number(source, edge.get("cost"), f"the cost of edges[{k}]")
    offset, sense = 0.0, 1
    attributes = data.get("graph")
    if isinstance(attributes, dict):
        offset = _number(source, attributes.get("offset", 0.0), "the offset of the graph")
        sense = attributes.get("sense", 1)
        if isinstance(sense, bool) or not isinstance(sense, int):
            raise source.error(None, f"the sense of the graph is {_shown(sense)}: expected 1 or -1")
    n = len(index)
    nodes = None if list(index) == list(range(n)) and all(type(x) is int for x in index) else list(index)
    return SetPartition.from_pairs(n, (u, v), cost, nodes, offset=offset, sense=sense)


class _None:
    """What no node can be."""


_NONE = _None()


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        items = tuple(_hashable(item) for item in value)
        return _NONE if _NONE in items else items
    return _NONE if isinstance(value, dict) or (isinstance(value, float) and math.isnan(value)) else value


def _number(source: Source, value: Any, what: str) -> float:
    if isinstance(value, str):
        value = INFINITE.get(value.lower(), value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise source.error(None, f"{what} is {_shown(value) if value is not None else 'missing'}: expected a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.nan
    if math.isnan(number):
        raise source.error(None, f"{what} is {_shown(value)}: expected a number of a magnitude below 1.8e308")
    return number


def _shown(value: Any) -> str:
    try:
        text = ascii(value)
    except (ValueError, RecursionError):
        text = _kind(value)
    return text if len(text) <= 40 else text[:40] + "..."


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", type(None): "missing", bool: "true or false"}
    return names.get(type(value), "a number")


def write(problem: SetPartition, stream: BinaryIO) -> None:
    """Write a problem."""
    names = [_encoded(node) for node in problem.nodes]
    if len(set(names)) != len(names):
        raise InvalidProblem("format json writes two nodes the same: expected nodes that differ as JSON")
    u, v, cost = stored_pairs(problem)
    multigraph = len(problem.must_join) > 0
    attributes = {"offset": problem.offset, "sense": problem.sense} if problem.offset or problem.sense != 1 else {}
    head = f'{{"directed": false, "multigraph": {json.dumps(multigraph)}, "graph": {json.dumps(attributes)},\n'
    stream.write(head.encode() + b'"nodes": [')
    separator = "\n"
    for start in range(0, len(names), ROWS):
        rows = ",\n".join([f'{{"id": {name}}}' for name in names[start : start + ROWS]])
        stream.write((separator + rows).encode())
        separator = ",\n"
    stream.write(b'],\n"edges": [')
    separator = "\n"
    key = ""
    for start in range(0, len(u), ROWS):
        part = slice(start, start + ROWS)
        words = []
        for a, b, c in zip(u[part].tolist(), v[part].tolist(), numbers(cost[part]), strict=True):
            if multigraph:
                key = ', "key": 1' if c == -math.inf else ', "key": 0'
            value = c if -math.inf < c < math.inf else ("Infinity" if c > 0 else "-Infinity")
            words.append(f'{{"source": {names[a]}, "target": {names[b]}, "cost": {value}{key}}}')
        stream.write((separator + ",\n".join(words)).encode())
        separator = ",\n"
    stream.write(b"]}\n")


def _encoded(node: Hashable) -> str:
    if _holds(node):
        return json.dumps(node)
    raise InvalidProblem(f"format json cannot hold the node {node!r}: expected text, numbers, or tuples of them")


def _holds(node: Any) -> bool:
    if isinstance(node, tuple):
        return all(_holds(item) for item in node)
    return node is None or type(node) in (bool, int, str) or (type(node) is float and math.isfinite(node))

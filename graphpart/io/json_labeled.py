"""Labelled partitions as networkx node-link data, see :mod:`graphpart.io.json`.

A node has the attribute ``label_costs``, a list with a cost for each class. An edge has ``joined`` and may have
``parted``, each a number or a table, its rows for the classes of the node that comes first in the list of nodes.
Forbidden entries are ``Infinity``, as Python writes it, or this text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem
from graphpart.files.json_values import NONE, encoded_names, hashable, number, shown

if TYPE_CHECKING:
    from graphpart.files.source import Source
    from graphpart.labeled.labeled_partition import LabeledPartition

__all__ = ["has_classes", "read_labeled", "write_labeled"]

Floats = NDArray[np.float64]


def has_classes(data: dict[str, Any]) -> bool:
    """Whether node-link data describe a labelled partition."""
    nodes = data.get("nodes")
    return isinstance(nodes, list) and any(isinstance(x, dict) and "label_costs" in x for x in nodes)


def read_labeled(source: Source, data: dict[str, Any]) -> LabeledPartition:
    """Read a problem from node-link data."""
    from graphpart.labeled.labeled_partition import LabeledPartition

    if data.get("directed") or data.get("multigraph"):
        raise source.error(None, "the graph is directed or a multigraph: expected an undirected one, each edge once")
    index: dict[Hashable, int] = {}
    rows: list[list[float]] = []
    for i, node in enumerate(data["nodes"]):
        if not isinstance(node, dict) or "id" not in node:
            raise source.error(None, f"nodes[{i}] is {shown(node)}: expected an object with id and label_costs")
        name = hashable(node["id"])
        if name is NONE or name in index:
            problem = "that of an earlier node: expected another" if name in index else "expected text or a number"
            raise source.error(None, f"the id of nodes[{i}] is {shown(node['id'])}, {problem}")
        index[name] = i
        costs = node.get("label_costs")
        if not isinstance(costs, list) or not costs or len(costs) != len(rows[0] if rows else costs):
            wanted = f"a list of {len(rows[0])} numbers" if rows else "a list of numbers"
            raise source.error(None, f"label_costs of nodes[{i}] is {shown(costs)}: expected {wanted}")
        rows.append([number(source, x, f"a cost in label_costs of nodes[{i}]") for x in costs])
    edges = data.get("edges", data.get("links", []))
    if not isinstance(edges, list):
        raise source.error(None, f"edges is {shown(edges)}: expected a list of objects")
    classes = len(rows[0])
    pairs = np.zeros((len(edges), 2), np.int64)
    tables = np.zeros((2, len(edges), classes, classes))
    for k, edge in enumerate(edges):
        if not isinstance(edge, dict):
            raise source.error(None, f"edges[{k}] is {shown(edge)}: expected an object with source, target, joined")
        for side, key in enumerate(("source", "target")):
            end = index.get(hashable(edge.get(key, NONE)))
            if end is None:
                found = shown(edge[key]) if key in edge else "missing"
                raise source.error(None, f"the {key} of edges[{k}] is {found}: expected the id of a node")
            pairs[k, side] = end
        for i, key in enumerate(("joined", "parted")):
            if key in edge or key == "joined":
                tables[i, k] = _table(source, edge.get(key), classes, f"{key} of edges[{k}]")
    names = list(index)
    nodes = None if names == list(range(len(names))) and all(type(x) is int for x in names) else names
    return LabeledPartition.from_arrays(np.array(rows), np.sort(pairs, axis=1), tables[0], tables[1], nodes)


def _table(source: Source, value: Any, classes: int, what: str) -> Floats | float:
    if not isinstance(value, list):
        return float(number(source, value, what))
    if len(value) != classes or not all(isinstance(row, list) and len(row) == classes for row in value):
        raise source.error(None, f"{what} is {shown(value)}: expected a number or {classes} rows of {classes} numbers")
    return np.array([[number(source, x, f"an entry in {what}") for x in row] for row in value])


def write_labeled(q: LabeledPartition, stream: BinaryIO) -> None:
    """Write a problem as node-link data."""
    names = encoded_names(q.nodes)
    if not names:
        raise InvalidProblem("format json does not tell the classes of a problem without elements: expected format npz")
    nodes = [
        f'{{"id": {name}, "label_costs": {_text(row.tolist())}}}'
        for name, row in zip(names, q.label_costs, strict=True)
    ]
    edges = []
    for a, b, joined, parted in zip(q.u.tolist(), q.v.tolist(), q.joined, q.parted, strict=True):
        apart = f', "parted": {_text(_plain(parted))}' if parted.any() else ""
        edges.append(f'{{"source": {names[a]}, "target": {names[b]}, "joined": {_text(_plain(joined))}{apart}}}')
    head = '{"directed": false, "multigraph": false, "graph": {},\n"nodes": [\n'
    stream.write((head + ",\n".join(nodes) + '],\n"edges": [\n' + ",\n".join(edges) + "]}\n").encode())


def _plain(table: Floats) -> Any:
    return table.tolist() if (table != table[0, 0]).any() else float(table[0, 0])


def _text(value: Any) -> str:
    def finite(x: Any) -> Any:
        if isinstance(x, list):
            return [finite(y) for y in x]
        return x if math.isfinite(x) else "Infinity"

    return json.dumps(finite(value))

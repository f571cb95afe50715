"""Factor graphs as networkx node-link data: a bipartite graph of variables and factors.

A node with the attribute ``table`` is a factor, a list nested as deep as its scope is long; every other node is a
variable with the attribute ``domain`` (default 2). The scope of a factor is its attribute ``scope``, a list of ids, or
else its neighbours in the order of the edges. Entries are numbers, ``Infinity`` (or this text) where a labeling is
forbidden. `constant`, `offset` and `sense` are attributes of the graph, and so are `functions` of many variables, with
the tables of their auxiliary variables.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from graphpart.errors import FormatError, InvalidProblem
from graphpart.files.json_values import NONE, encoded, hashable, kind_of, number, shown

if TYPE_CHECKING:
    from graphpart.crf.problem import FactorGraph
    from graphpart.crf.problem.functions import Function
    from graphpart.files.source import Source


def has_factors(data: dict[str, Any]) -> bool:
    """Whether node-link data describe a factor graph."""
    nodes, attributes = data.get("nodes"), data.get("graph")
    if nodes == [] and isinstance(attributes, dict) and "constant" in attributes:
        return True
    return isinstance(nodes, list) and any(isinstance(x, dict) and ("table" in x or "domain" in x) for x in nodes)


def read_factors(source: Source, data: dict[str, Any]) -> FactorGraph:
    """Read a problem."""
    from graphpart.crf.problem import FactorGraph

    attributes = data.get("graph") if isinstance(data.get("graph"), dict) else {}
    assert isinstance(attributes, dict)
    f = FactorGraph()
    factors: dict[Hashable, dict[str, Any]] = {}
    for i, node in enumerate(data["nodes"]):
        if not isinstance(node, dict) or "id" not in node:
            raise source.error(None, f"nodes[{i}] is {shown(node)}: expected an object with id")
        name = hashable(node["id"])
        if name is NONE:
            raise source.error(None, f"the id of nodes[{i}] is {shown(node['id'])}: expected text or a number")
        if "table" in node:
            factors[name] = node
            continue
        domain = node.get("domain", 2)
        if isinstance(domain, bool) or not isinstance(domain, int):
            raise source.error(None, f"the domain of nodes[{i}] is {shown(domain)}: expected a whole number")
        f.add_variable(name, domain)
    neighbours = _neighbours(source, data.get("edges", data.get("links", [])), factors)
    for name, node in factors.items():
        scope = node.get("scope")
        if scope is not None and not isinstance(scope, list):
            raise source.error(None, f"the scope of factor {shown(name)} is {shown(scope)}: expected a list of ids")
        variables = neighbours[name] if scope is None else [hashable(x) for x in scope]
        if scope is not None and neighbours[name] and set(neighbours[name]) != set(variables):
            raise source.error(None, f"factor {shown(name)} has another scope than neighbours: expected the same")
        f.add_factor(tuple(variables), _table(source, node["table"], f"table of factor {shown(name)}"))
    functions = attributes.get("functions", [])
    for k, one in enumerate(functions if isinstance(functions, list) else [functions]):
        _read_function(source, f, one, k)
    f.add_constant(number(source, attributes.get("constant", 0.0), "the constant of the graph"))
    f.offset = number(source, attributes.get("offset", 0.0), "the offset of the graph")
    f.sense = attributes.get("sense", 1)
    if f.sense not in (1, -1) or isinstance(f.sense, bool):
        raise source.error(None, f"the sense of the graph is {shown(f.sense)}: expected 1 or -1")
    return f


def _neighbours(source: Source, edges: Any, factors: dict[Hashable, Any]) -> dict[Hashable, list[Hashable]]:
    if not isinstance(edges, list):
        raise source.error(None, f"edges is {kind_of(edges)}: expected a list")
    found: dict[Hashable, list[Hashable]] = {name: [] for name in factors}
    for k, edge in enumerate(edges):
        ends = [hashable(edge.get(key, NONE)) for key in ("source", "target")] if isinstance(edge, dict) else []
        if len(ends) != 2 or sum(end in factors for end in ends) != 1:
            raise source.error(None, f"edges[{k}] is {shown(edge)}: expected an edge of a variable and a factor")
        factor, variable = ends if ends[0] in factors else ends[::-1]
        found[factor].append(variable)
    return found


def _table(source: Source, value: Any, what: str) -> Any:
    if isinstance(value, list):
        return [_table(source, part, what) for part in value]
    return number(source, value, f"an entry of the {what}")


def write_factors(problem: FactorGraph, stream: BinaryIO) -> None:
    """Write a problem."""
    f = problem
    names = [encoded(name) for name in f.variables]
    if len(set(names)) != len(names):
        raise InvalidProblem("format json writes two variables the same: expected names that differ as JSON")
    nodes, edges = [], []
    for name, domain in zip(names, f.domains.tolist(), strict=True):
        nodes.append(f'{{"id": {name}, "domain": {domain}}}')
    known = set(names)
    for i in range(f.m):
        scope, table = f.factor(i)
        own = json.dumps(f"factor {i}")
        while own in known:
            own = json.dumps(json.loads(own) + "'")
        known.add(own)
        listed = ", ".join(names[a] for a in scope)
        nodes.append(f'{{"id": {own}, "scope": [{listed}], "table": {json.dumps(_plain(table))}}}')
        edges += [f'{{"source": {names[a]}, "target": {own}}}' for a in scope]
    attributes: dict[str, Any] = {"constant": f.constant, "offset": f.offset, "sense": f.sense}
    if f.functions:
        attributes["functions"] = [_function(one, names) for one in f.functions]
    stream.write(f'{{"directed": false, "multigraph": false, "graph": {json.dumps(attributes)},\n'.encode())
    stream.write(('"nodes": [\n' + ",\n".join(nodes) + '],\n"edges": [\n' + ",\n".join(edges) + "]}\n").encode())


def _function(one: Function, names: list[str]) -> dict[str, Any]:
    """A function of many variables, unchanged: the variables of its scope, then the auxiliary ones, by number."""
    return {
        "name": one.name,
        "scope": [json.loads(names[v]) for v in one.scope],
        "auxiliaries": [
            {"parents": list(a.parents), "labels": a.size, "values": a.values.tolist(), "costs": _plain(a.costs)}
            for a in one.auxiliaries
        ],
        "tables": [{"scope": list(members), "table": _plain(table)} for members, table in one.tables],
        "rows": [
            {"weights": [w.tolist() for w in row.weights]}
            | {name: _plain(np.float64(getattr(row, name))) for name in ("least", "most", "cost")}
            for row in one.rows
        ],
        "constant": one.constant,
    }


def _read_function(source: Source, f: FactorGraph, data: Any, k: int) -> None:
    """Add a function of many variables."""
    from graphpart.crf.problem.functions import Circuit, Row

    what = f"functions[{k}] of the graph"

    def table(value: Any, members: list[int], domains: list[int]) -> Any:
        found = np.asarray(_table(source, value, f"table of {what}"), np.float64)
        if found.shape != tuple(domains[v] for v in members) or np.isnan(found).any():
            raise source.error(None, f"{what} has a table of shape {found.shape}: expected that of its variables")
        return found

    try:
        where = [f.index(hashable(name)) for name in data["scope"]]
        circuit = Circuit(str(data["name"]), f.domains[where].tolist())
        for one in data["auxiliaries"]:
            parents = [int(v) for v in one["parents"]]
            costs = table(one["costs"], parents, circuit.domains)
            values = np.asarray(one["values"], np.int32)
            if values.shape != costs.shape or not ((values >= 0) & (values < one["labels"])).all() or min(parents) < 0:
                raise ValueError
            circuit.auxiliary(parents, values, int(one["labels"]), costs)
        for one in data["tables"]:
            members = [int(v) for v in one["scope"]]
            circuit.cost(members, table(one["table"], members, circuit.domains))
        for row in data.get("rows", []):
            weights = tuple(np.asarray(w, np.float64) for w in row["weights"])
            if [len(w) for w in weights] != circuit.domains[: len(where)]:
                raise ValueError
            low, high, cost = (_number(row[name]) for name in ("least", "most", "cost"))
            circuit.rows.append(Row(weights, low, high, cost))
        circuit.constant = number(source, data.get("constant", 0.0), f"the constant of {what}")
        f.add_function(circuit.function(where))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, FormatError | InvalidProblem):
            raise
        fields = "name, scope, auxiliaries with parents, labels, values and costs, and tables with scope and table"
        raise source.error(None, f"{what} does not fit together: expected {fields}") from None


def _number(value: Any) -> float:
    return float(value.replace("Infinity", "inf")) if isinstance(value, str) else float(value)


def _plain(table: Any) -> Any:
    if isinstance(table, np.ndarray) and table.ndim:
        return [_plain(part) for part in table]
    return float(table) if math.isfinite(table) else "Infinity" if table > 0 else "-Infinity"

"""Factor graphs from networkx graphs and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem.checks import one_domain, one_for_all, real_array
from graphpart.crf.problem.factor_tables import FactorTables
from graphpart.crf.problem.grids import from_arrays_of_pairs, numbers_of_pairs, pairs_of, rows_of_unary, unless_named
from graphpart.display import plural
from graphpart.errors import InvalidProblem, warn

if TYPE_CHECKING:
    import networkx as nx


__all__ = ["fill_from_bipartite", "from_ising", "from_pairwise", "from_potts", "to_bipartite"]

Graph = TypeVar("Graph", bound=FactorTables)

DIFFER = np.array([[0.0, 1.0], [1.0, 0.0]])


def fill_from_bipartite(f: FactorTables, graph: nx.Graph) -> None:
    """Add the variables and factors of a bipartite graph to an empty factor graph."""
    _check_undirected(graph)
    factors = {node for node, data in graph.nodes(data=True) if "table" in data}
    for node, data in graph.nodes(data=True):
        if node not in factors:
            f.add_variable(node, data.get("domain", 2))
    for a, b in graph.edges():
        if (a in factors) == (b in factors):
            kind = "factors" if a in factors else "variables"
            raise InvalidProblem(
                f"edge ({a!r}, {b!r}) joins two {kind}: expected a bipartite graph whose factors have the attribute "
                "'table'; for a graph of variables see FactorGraph.pairwise"
            )
    for node, data in graph.nodes(data=True):
        if node in factors:
            neighbours = list(graph[node])
            scope = tuple(data.get("scope", neighbours))
            if set(scope) != set(neighbours) or graph.degree(node) != len(neighbours):
                raise InvalidProblem(f"factor {node!r} has the scope {scope!r} but the neighbours {neighbours!r}")
            f.add_factor(scope, data["table"])
    f.add_constant(graph.graph.get("constant", 0.0))


def to_bipartite(f: FactorTables) -> nx.Graph:
    """The bipartite networkx graph of a factor graph."""
    import networkx as nx

    G = nx.Graph(constant=f.constant)
    for name, domain in zip(f.variables, f.domains.tolist(), strict=True):
        G.add_node(name, bipartite=0, domain=domain)
    for i, (scope, table) in enumerate(f.factors()):
        node: Hashable = ("factor", i)
        while node in G:  # a variable of that name
            node = (node,)
        G.add_node(node, bipartite=1, scope=scope, table=table)
        G.add_edges_from((name, node) for name in scope)
    return G


def from_pairwise(cls: type[Graph], graph: Any, unary: Any, pairwise: Any, domain: int) -> Graph:
    """See `FactorGraph.pairwise`."""
    if not hasattr(graph, "is_directed"):
        return _from_arrays(cls, graph, unary, domain, pairwise, None)
    costs = _unary_costs(graph, unary)
    index = {node: i for i, node in enumerate(graph)}
    domains = _domains(graph, costs, domain)

    def tables() -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        for a, b, value in _edge_values(graph, pairwise, None):
            table = real_array(f"table of edge ({a!r}, {b!r})", value)
            i, j = index[a], index[b]
            shape = (domains[i], domains[j])
            if table.ndim == 0:
                table = table * (1.0 - np.eye(*shape)) if table else np.zeros(shape)
            if table.shape != shape:
                raise InvalidProblem(
                    f"table of edge ({a!r}, {b!r}) has shape {table.shape}: expected {shape}, rows for {a!r}"
                )
            yield i, j, table

    return _assemble(cls, graph, domains, costs, tables())


def from_potts(cls: type[Graph], graph: Any, unary: Any, weight: Any, labels: int) -> Graph:
    """See `FactorGraph.potts`."""
    if not hasattr(graph, "is_directed"):
        _check_image(graph, unary)
        return _from_arrays(cls, graph, unary, labels, None, weight)
    costs = _unary_costs(graph, unary)
    index = {node: i for i, node in enumerate(graph)}
    domains = _domains(graph, costs, labels)
    differ: dict[tuple[int, int, float], NDArray[np.float64]] = {}

    def tables() -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        for a, b, value in _edge_values(graph, weight, 1.0):
            i, j = index[a], index[b]
            key = (domains[i], domains[j], _number(f"weight of edge ({a!r}, {b!r})", value))
            if key not in differ:
                differ[key] = key[2] * (1.0 - np.eye(*key[:2]))
            yield i, j, differ[key]

    return _assemble(cls, graph, domains, costs, tables())


def _check_image(graph: Any, unary: Any) -> None:
    """Warn if unary costs are probably a picture (8 bits, or a chain of zeros and ones), or have labels first.

    Costs that compare a label with all others, as ``x[:, None] != np.arange(labels)``, differ at one label per row.
    """
    a: NDArray[Any] = unary if isinstance(unary, np.ndarray) else np.zeros(0)
    if graph is None and a.ndim > 2 and a.shape[0] <= 20 < a.shape[-1] and a.shape[0] < min(a.shape[1:]):
        warn(
            f"unary has shape {a.shape}: it is read as costs of {a.shape[-1]} labels on a grid of "
            f"{' x '.join(map(str, a.shape[:-1]))}; if the first axis has the labels, pass "
            f"numpy.moveaxis(unary, 0, -1), else graph={a.shape[:-1]}, too"
        )
        return
    if a.ndim == 2 and a.dtype.kind == "f" and graph is None and (a == np.rint(np.clip(a, -1, 255))).all():
        a = a.astype(np.int64)
    long = a.ndim != 2 or a.shape[0] > 4 * a.shape[1] or min(a.shape) <= 20  # few pictures are like this
    if graph is None and not long and _are_grey(a):
        warn(
            f"unary has shape {a.shape}: it is read as costs of {a.shape[1]} labels along a chain of {a.shape[0]} "
            "variables; if it is a picture, pass costs of the shape (..., labels), such as (image[..., None] - "
            f"means)**2 with a mean value of each label, else graph={a.shape[:1]}, too"
        )
        return
    if a.ndim < 2 or a.dtype.kind not in "iub":
        return
    most = int(a.max(initial=0)) + 1
    count = most if 1 < most <= 20 else "labels"
    wanted = (
        f"costs of the shape (..., labels): for an image of labels, say unary=image[..., None] != np.arange({count})"
    )
    if a.dtype == np.uint8 and a.max(initial=0) > 1:
        read = "costs of label 1" if graph is not None and a.shape == tuple(np.ravel(graph)) else ""
        read = read or f"costs of {a.shape[-1]} labels at each of {plural(math.prod(a.shape[:-1]), 'variable')}"
        warn(
            f"unary has shape {a.shape} and integers of 8 bits, as pictures have: it is read as {read}; expected "
            f"{wanted}, for one of grey values (image[..., None] - means)**2 with a mean value of each label, a float"
        )
        return
    if isinstance(graph, tuple) and a.shape == graph and most > 1 and a.min(initial=0) >= 0:
        warn(
            f"unary has shape {a.shape} and integers from 0 to {most - 1}: it is read as costs of label 1, and none is "
            f"negative, so label 0 costs least everywhere; expected {wanted}"
        )
        return
    if graph is not None or a.ndim != 2 or a.shape[1] < 10:
        return
    if ((a != 0) & (a != 1)).any():
        values = np.unique(a)
        if a.shape[0] > 20 and len(values) <= 20 and values[0] >= -1 and values[-1] < 256 and not _one_valley(a):
            warn(
                f"unary has shape {a.shape} and only {plural(len(values), 'different integer')}: it is read as a chain "
                f"of {a.shape[0]} variables of {a.shape[1]} labels; expected {wanted}"
            )
        return
    if a.shape[1] <= 20:  # few chains have more labels and costs of only 0 and 1
        return
    ones = np.count_nonzero(a, axis=1)
    if np.isin(ones, (1, a.shape[1] - 1)).all():
        return
    warn(
        f"unary has shape {a.shape} and only the values 0 and 1: it is read as a chain of {a.shape[0]} variables of "
        f"{a.shape[1]} labels; expected {wanted}"
    )


def _are_grey(values: NDArray[Any]) -> bool:
    """Whether numbers are grey values, not costs of distances: any, or many integers from 0 to 255 of over 8 bits."""
    if values.dtype.kind != "f":
        whole = values.dtype.kind in "iu" and values.dtype != np.uint8 and values.min() >= 0 and values.max() < 256
        if not whole or len(np.unique(values)) <= 20:
            return False
    return not _one_valley(values)


def _one_valley(costs: NDArray[Any]) -> bool:
    """Whether no row falls again after it has risen, as costs of the distance to a label, cut off or not."""
    steps = np.diff(costs.astype(np.float64), axis=1)
    return not (np.logical_or.accumulate(steps > 0, axis=1) & (steps < 0)).any()


def from_ising(cls: type[Graph], graph: Any, field: Any, coupling: Any) -> Graph:
    """See `FactorGraph.ising`."""
    if not hasattr(graph, "is_directed"):
        pairs, n, shape = pairs_of(graph, None)
        given = real_array("field", unless_named("field", field, 0.0) if isinstance(field, str) else field)
        if given.shape not in {(), (n,), shape}:
            raise InvalidProblem(f"field has shape {given.shape}: expected {shape or (n,)}, or one number")
        fields = np.broadcast_to(given.ravel() if given.ndim else given, (n,))
        costs_of = rows_of_unary(np.column_stack([fields, -fields]), n, None)
        numbers = numbers_of_pairs("coupling", coupling, pairs, shape)
        return from_arrays_of_pairs(cls, costs_of, 2, n, pairs, numbers, 2.0 * DIFFER - 1.0, shape)
    index = {node: i for i, node in enumerate(graph)}
    costs = {}
    for node, value in _node_values(graph, field):
        strength = _number(f"field of node {node!r}", value)
        costs[node] = np.array([strength, -strength])
    domains = _domains(graph, costs, 2)

    def tables() -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        for a, b, value in _edge_values(graph, coupling, 1.0):
            yield index[a], index[b], _number(f"coupling of edge ({a!r}, {b!r})", value) * (2.0 * DIFFER - 1.0)

    return _assemble(cls, graph, domains, costs, tables())


def _from_arrays(cls: type[Graph], graph: Any, unary: Any, labels: int, table: Any, weight: Any) -> Graph:
    """A grid or listed pairs, with weights of different labels, or with one table, or a table for each pair."""
    unary = unless_named("unary", unary, None) if isinstance(unary, str) else unary
    pairs, n, shape = pairs_of(graph, unary)
    costs = None if unary is None else rows_of_unary(unary, n, shape)
    if weight is not None:
        numbers = numbers_of_pairs("weight", weight, pairs, shape)
        return from_arrays_of_pairs(cls, costs, labels, n, pairs, numbers, None, shape)
    size, count = labels if costs is None else costs.shape[1], sum(map(len, pairs))
    if isinstance(table, str):
        raise InvalidProblem(f"pairwise is {table!r}: expected a table ({size}, {size}), or one for each pair")
    if one_for_all(table) and table.shape == (count, size, size):
        table = table[0]
    tables = real_array("pairwise", table)
    if tables.ndim == 0:
        tables = tables * (1.0 - np.eye(size))
    if tables.shape not in {(size, size), (count, size, size)}:
        expected = f"({size}, {size}), or ({count}, {size}, {size}) with a table for each pair"
        raise InvalidProblem(f"pairwise has shape {tables.shape}: expected {expected}")
    return from_arrays_of_pairs(cls, costs, labels, n, pairs, None, tables, shape)


def _assemble(
    cls: type[Graph],
    graph: nx.Graph,
    domains: list[int],
    costs: Mapping[Hashable, NDArray[np.float64]],
    tables: Iterator[tuple[int, int, NDArray[np.float64]]],
) -> Graph:
    """Unary factors in the order of the nodes, then pairwise ones as they first appear; equal scopes add up."""
    nodes = list(graph)
    scope: list[int] = []
    start = [0]
    own = []
    for i, node in enumerate(nodes):
        if node in costs:
            scope.append(i)
            start.append(len(scope))
            own.append(costs[node])
    merged: dict[tuple[int, int], NDArray[np.float64]] = {}
    for i, j, table in tables:
        if (j, i) in merged:
            merged[j, i] = merged[j, i] + table.T
        else:
            merged[i, j] = merged[i, j] + table if (i, j) in merged else table
    numbers, flat = [*range(len(own))], [*own]
    kept: dict[int, int] = {}
    for (i, j), table in merged.items():
        scope += (i, j)
        start.append(len(scope))
        numbers.append(kept.setdefault(id(table), len(flat)))  # an array that several edges have is kept once
        if numbers[-1] == len(flat):
            flat.append(table)
    begins = np.cumsum([0, *(table.size for table in flat)])
    values = np.concatenate([table.ravel() for table in flat]) if flat else np.zeros(0)
    return cls.of_csr(
        range(len(nodes)) if nodes == list(range(len(nodes))) else nodes,
        np.array(domains, np.int32),
        np.array(start, np.int64),
        np.array(scope, np.int32),
        values,
        np.append(begins[np.array(numbers, np.int64)], begins[-1]),
    )


def _check_undirected(graph: nx.Graph) -> None:
    if not hasattr(graph, "is_directed"):
        more = "; of arrays, gp.crf.potts or FactorGraph.from_arrays" if isinstance(graph, np.ndarray) else ""
        raise InvalidProblem(f"got {type(graph).__name__}: expected a networkx graph{more}")
    if graph.is_directed():
        raise InvalidProblem("the graph is directed: expected an undirected one")


def _unary_costs(graph: nx.Graph, unary: Any) -> dict[Hashable, NDArray[np.float64]]:
    costs = {}
    for node, value in _node_values(graph, unary):
        array = real_array(f"unary costs of node {node!r}", value)
        if array.ndim == 0:
            array = np.array([0.0, float(array)])
        if array.ndim != 1 or not len(array):
            raise InvalidProblem(f"unary costs of node {node!r} have shape {array.shape}: expected one for each label")
        costs[node] = array
    return costs


def _domains(graph: nx.Graph, costs: Mapping[Hashable, NDArray[np.float64]], default: int) -> list[int]:
    domains = []
    for node, data in graph.nodes(data=True):
        size = one_domain(node, data.get("domain", len(costs[node]) if node in costs else default))
        if node in costs and len(costs[node]) != size:
            raise InvalidProblem(f"node {node!r} has {len(costs[node])} unary costs but a domain of {size} labels")
        domains.append(size)
    return domains


def _node_values(graph: nx.Graph, given: Any) -> Iterator[tuple[Hashable, Any]]:
    """(node, value) from a node attribute, a mapping, or one number for all; nodes without a value are left out."""
    _check_undirected(graph)
    if isinstance(given, Mapping):
        for node, value in given.items():
            if node not in graph:
                raise InvalidProblem(f"{node!r} has a value but is not a node of the graph")
            yield node, value
    elif isinstance(given, str):
        for node, value in graph.nodes(data=given):
            if value is not None:
                yield node, value
    elif np.ndim(given) > 1:
        n = len(graph)
        rows = real_array("the array of values", given)
        if rows[..., 0].size != n:
            raise InvalidProblem(f"unary has shape {rows.shape}: expected ({n}, labels), a row for each node in order")
        yield from zip(graph, rows.reshape(n, -1), strict=True)
    else:
        for node in graph:
            yield node, given


def _edge_values(graph: nx.Graph, given: Any, default: float | None) -> Iterator[tuple[Hashable, Hashable, Any]]:
    """(u, v, value) from an edge attribute, a mapping, or one value for all edges."""
    place: Callable[[Hashable], int] = {node: i for i, node in enumerate(graph)}.__getitem__
    for a, b in graph.edges():
        if a == b:
            raise InvalidProblem(f"node {a!r} has a self-loop: expected edges between different nodes")
    if isinstance(given, Mapping):
        for edge, value in given.items():
            if not (isinstance(edge, tuple) and len(edge) == 2 and graph.has_edge(*edge)):
                raise InvalidProblem(f"{edge!r} has a value but is not an edge of the graph")
            yield *edge, value
        return
    for a, b, data in graph.edges(data=True):
        value = data.get(given, default) if isinstance(given, str) else given
        if value is None:
            raise InvalidProblem(f"edge ({a!r}, {b!r}) has no attribute {given!r}")
        yield (a, b, value) if place(a) < place(b) else (b, a, value)


def _number(what: str, value: Any) -> float:
    array = real_array(what, value)
    if array.ndim or not np.isfinite(array):
        raise InvalidProblem(f"{what} is {value!r}: expected a finite number")
    return float(array)

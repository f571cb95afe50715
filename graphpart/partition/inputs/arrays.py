"""From the input of users to contiguous arrays: checks of names, sizes, matrices, pairs and networkx graphs."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpart import machine
from graphpart.display import plural
from graphpart.errors import NO_PROBLEM, InvalidProblem, warn
from graphpart.kernels import LARGEST_INDEX, _pairs

if TYPE_CHECKING:
    import networkx as nx

Triples = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]


def tidy_pairs(
    n: int,
    u: NDArray[Any],
    v: NDArray[Any],
    costs: NDArray[np.float64],
    joins: NDArray[np.int32],
    cuts: NDArray[np.int32],
    lifted: NDArray[np.bool_] | None = None,
    copy: bool = True,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], NDArray[np.bool_] | None]:
    """Sorted pairs ``(u, v, cost)`` with ``u < v``, equal ones added up, the required joins, and which are lifted.

    Costs of ``-inf`` move to the joins; required cuts get the cost ``inf``. InvalidProblem names the first bad pair.
    Of equal pairs, one that is not lifted makes them a base pair; a base pair with the cost ``-inf`` remains, with the
    cost 0, since it connects. A pair that is only required to be cut is lifted. With ``copy=False``, sorted pairs may
    be the given arrays themselves.
    """
    if u.dtype != np.int32 or v.dtype != np.int32:
        u, v = u.astype(np.int64), v.astype(np.int64)
    u, v = np.ascontiguousarray(u), np.ascontiguousarray(v)
    is_sorted = check_pairs(n, u, v, costs)
    if costs.min(initial=0.0) == -np.inf:
        required = np.isneginf(costs)
        more = np.stack([np.minimum(u, v)[required], np.maximum(u, v)[required]], 1)
        joins = np.concatenate([joins, more.astype(np.int32)])
        kept = ~required if lifted is None else ~(required & lifted)
        u, v, costs = u[kept], v[kept], np.where(required, 0.0, costs)[kept]
        lifted = None if lifted is None else lifted[kept]
    if len(cuts):
        u, v = np.concatenate([u, cuts[:, 0]]), np.concatenate([v, cuts[:, 1]])
        costs = np.concatenate([costs, np.full(len(cuts), np.inf)])
        lifted = None if lifted is None else np.concatenate([lifted, np.ones(len(cuts), bool)])
        is_sorted = False
    if is_sorted:
        low, high = u.astype(np.int32, copy=copy), v.astype(np.int32, copy=copy)
        costs = costs.copy() if copy else np.ascontiguousarray(costs)
        lifted = None if lifted is None else lifted.copy()
    else:
        flags = None if lifted is None else np.ascontiguousarray(lifted).view(np.uint8)
        low, high, costs, overflow, flags, _ = _pairs.sort_pairs(n, u, v, costs, flags)
        lifted = None if flags is None else flags.view(np.bool_)
        if overflow:
            raise InvalidProblem("the sum of costs of equal pairs overflows: expected costs of a smaller magnitude")
    return low, high, costs, joins, lifted


def keys_of_pairs(a: NDArray[np.integer[Any]], b: NDArray[np.integer[Any]], n: int) -> NDArray[np.int64]:
    """One number for each pair of indices below n, in either order: smaller index times n plus larger index."""
    keys: NDArray[np.int64] = np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b)
    return keys


def check_pairs(n: int, u: NDArray[Any], v: NDArray[Any], costs: NDArray[np.float64], what: str = "pair") -> bool:
    """Whether pairs are sorted and unique; InvalidProblem names the first one that is wrong."""
    at, wrong, is_sorted = _pairs.first_bad_pair(n, u, v, costs)
    if at >= 0:
        pair = f"{what} {at} is ({u[at]}, {v[at]})"
        raise InvalidProblem(
            (
                f"{pair}: expected indices from 0 to {n - 1}",
                f"{pair}: expected two different elements",
                f"{pair} with cost nan: expected a number, inf (cut) or -inf (join)",
            )[wrong]
        )
    return is_sorted


def check_cancelled(u: NDArray[Any], v: NDArray[Any], costs: NDArray[np.float64], n: int) -> None:
    """Warn if most pairs are listed with opposite costs, as those of a directed table are, and name the first rows."""
    keys, which = np.unique(keys_of_pairs(u, v, n), return_inverse=True)
    if 2 * len(costs) < 3 * len(keys) or not np.isfinite(costs).all():
        return
    zero = (np.bincount(which, costs) == 0) & (np.bincount(which, costs != 0) > 0)
    if 2 * np.count_nonzero(zero) > len(keys):
        rows = np.flatnonzero(zero[which] & (costs != 0))
        one = int(rows[0])
        other = int(rows[which[rows] == which[one]][1])
        order = "" if u[one] == u[other] else ", the other way round,"
        many = plural(int(np.count_nonzero(zero)), "pair")
        warn(
            f"pair {other} is ({u[other]}, {v[other]}), as pair {one} is{order} with costs {costs[one]:g} and "
            f"{costs[other]:g}: costs of equal pairs add up, and those of {many} "
            "add up to 0, so that they decide nothing; list each pair once"
        )


def rows_of_pairs(pairs: Any, what: str = "") -> NDArray[Any]:
    """Pairs as an array of shape (m, 2), of any type of numbers; InvalidProblem if they have another shape."""
    try:
        array = np.asarray(pairs)
    except ValueError:
        raise InvalidProblem(f"{what}pairs has rows of different lengths: expected (m, 2)") from None
    if array.size == 0:
        array = np.zeros((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        hint = "; numpy.transpose(pairs) has it" if array.ndim == 2 and len(array) == 2 else ""
        raise InvalidProblem(f"{what}pairs has shape {array.shape}: expected (m, 2){hint}")
    return array


def pairs_and_costs(pairs: Any, costs: Any, what: str = "") -> Triples:
    """Two arrays of indices and an array of costs from the arguments of `from_pairs`; `what` begins their names.

    Raises
    ------
    InvalidProblem
        If they are not pairs of integers and one number for each.
    """
    if isinstance(pairs, tuple) and len(pairs) == 2 and all(isinstance(p, np.ndarray) for p in pairs):
        u, v = pairs
    else:
        u, v = rows_of_pairs(pairs, what).T
    for index in (u, v):
        if index.dtype.kind not in "iu":
            raise InvalidProblem(
                f"{what}pairs has dtype {index.dtype}: expected integers, indices from 0; for other identifiers see "
                "SetPartition.from_frame"
            )
    weights = float_array(f"{what}costs", costs, copy=False)
    if u.ndim != 1 or u.shape != v.shape or weights.shape != u.shape:
        raise InvalidProblem(
            f"{len(u)} {what}pairs but {what}costs of shape {weights.shape}: expected one cost per pair"
        )
    return u, v, weights


def check_matrix_fits(n: int, copies: int = 1) -> bool:
    """True if a matrix of n * n float64 can be held in memory; else InvalidProblem, before anything is allocated.

    `copies` is the number of copies that are needed at the same time.
    """
    memory = machine.memory()
    if copies * 8 * n * n > memory:
        raise InvalidProblem(
            f"a dense problem with {n} elements needs a matrix of {8 * n * n / 1e9:.3g} GB, this machine has "
            f"{memory / 1e9:.3g} GB: expected fewer elements, or sparse pairs"
        )
    return True


def arrays_of_graph(
    graph: nx.Graph, attribute: str, convert: Callable[[Any], float], advised: bool = True
) -> tuple[Sequence[Hashable], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """(names, u, v, costs) of a graph of networkx or igraph, with one cost for each edge.

    Advised: a message about edges without the attribute names constructors for another attribute.
    """
    if not hasattr(graph, "is_directed"):
        others = advice(graph) or "; see also from_matrix, from_pairs"
        raise InvalidProblem(f"got {type(graph).__name__}: expected a networkx graph{others}")
    if graph.is_directed():
        raise InvalidProblem(
            "the graph is directed: expected an undirected one; G.to_undirected() keeps one cost for each pair, "
            "nx.MultiGraph(G) adds up the costs of both directions"
        )
    nodes, m, edges = (_igraph if type(graph).__module__.startswith("igraph") else _networkx)(graph, attribute)
    index = {node: i for i, node in enumerate(nodes)}
    u, v, costs = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m)
    for k, (a, b, value) in enumerate(edges):
        if a == b:
            raise InvalidProblem(f"node {a!r} has a self-loop: expected edges between different nodes")
        try:
            if isinstance(value, str | bytes):  # float() would read it
                raise TypeError
            cost = convert(value)
        except (TypeError, ValueError, OverflowError):
            place = f"attribute {attribute!r} of edge ({a!r}, {b!r})"
            if value is None:
                present = _present(graph, attribute, advised)
                raise InvalidProblem(f"{place} is missing: expected a number{present}") from None
            raise InvalidProblem(f"{place} is {value!r}: expected a number") from None
        if math.isnan(cost):
            raise InvalidProblem(f"attribute {attribute!r} of edge ({a!r}, {b!r}) is nan: expected a number")
        u[k], v[k], costs[k] = index[a], index[b], cost
    return nodes, u, v, costs


Edges = Iterable[tuple[Hashable, Hashable, Any]]


def _networkx(graph: nx.Graph, attribute: str) -> tuple[Sequence[Hashable], int, Edges]:
    return list(graph), graph.number_of_edges(), graph.edges(data=attribute)


def _igraph(graph: Any, attribute: str) -> tuple[Sequence[Hashable], int, Edges]:
    names = names_of(graph.vs["name"] if "name" in graph.vs.attributes() else None, graph.vcount())
    values = graph.es[attribute] if attribute in graph.es.attributes() else repeat(None)
    edges = ((names[a], names[b], value) for (a, b), value in zip(graph.get_edgelist(), values, strict=False))
    return names, graph.ecount(), edges


def node_attribute(graph: Any, name: str) -> list[Any]:
    """The attribute of each node of a graph of networkx or igraph, None where a node has none.

    Raises
    ------
    InvalidProblem
        If no node has such an attribute; the message lists those that nodes have.
    """
    if type(graph).__module__.startswith("igraph"):
        known = list(graph.vs.attributes())
        values = list(graph.vs[name]) if name in known else []
    else:
        values = [value for _, value in graph.nodes(data=name)]
        known = list(dict.fromkeys(key for _, data in islice(graph.nodes(data=True), 1000) for key in data))
    if not values or all(value is None for value in values):
        found = f"nodes have {', '.join(map(repr, known[:20]))}" if known else "nodes have no attributes"
        raise InvalidProblem(f"no node has the attribute {name!r} that groups names; {found}")
    return values


def _present(graph: Any, attribute: str, advised: bool) -> str:
    """The end of the message if edges lack an attribute: the attributes that they have, and the function to call."""
    if type(graph).__module__.startswith("igraph"):
        names = list(graph.es.attributes())
    else:
        names = list(dict.fromkeys(name for *_, data in islice(graph.edges(data=True), 1000) for name in data))
    if not names:
        if not advised or attribute != "cost":
            return "; edges have no attributes"
        return (
            "; edges have no attributes: SetPartition.from_modularity(G) and from_editing(G) need none; beside "
            "lifted pairs, pairs that only link have the cost 0, as by nx.set_edge_attributes(G, 0.0, 'cost')"
        )
    if attribute in names:
        return "; other edges have it"
    text = f"; edges have {', '.join(map(repr, names[:20]))}"
    if advised and attribute == "cost" and len(names) == 1 and names[0] != attribute and isinstance(names[0], str):
        text += (
            f": SetPartition.from_similarity(G, {names[0]!r}, threshold=...) if large values join, "
            f"SetPartition(G, cost={names[0]!r}) if they keep apart"
        )
    return text


def advice(thing: Any) -> str:
    """The function for an object that is no graph, as the end of a message; empty if there is none."""
    if thing is None:
        return f"; {NO_PROBLEM}, as in gp.partition.doubts(problem, result)"
    if isinstance(thing, str | os.PathLike):
        path = os.fspath(thing)
        call = "gp.solve_files(folder)" if os.path.isdir(path) or path.endswith(("/", os.sep)) else ""
        return f"; {call} solves the files of a folder" if call else "; gp.read(path) reads one from a file"
    if hasattr(thing, "problem") and hasattr(thing, "clusters"):
        return "; a result has it: pass result.problem, result"
    if hasattr(thing, "with_classes"):
        return "; of a labelled partition q with a result r, q.with_classes(r) is one"
    if isinstance(thing, dict):
        return (
            "; of a QUBO as a dict, FactorGraph.from_qubo(Q), and of fields and couplings, FactorGraph.from_ising(h, J)"
        )
    if hasattr(thing, "tocoo"):
        return ", or SetPartition.from_scipy(matrix)"
    if hasattr(thing, "weighted_edge_list"):
        call = "G.add_weighted_edges_from(graph.weighted_edge_list(), 'cost')"
        return f", or one of igraph; of rustworkx: G = nx.Graph(); {call}"
    if type(thing).__module__.partition(".")[0] in ("pandas", "polars", "pyarrow") or hasattr(
        thing, "__arrow_c_stream__"
    ):
        return ", or SetPartition.from_frame(frame, left, right, probability=...), or similarity=, weight= or cost="
    if isinstance(thing, np.ndarray):
        if thing.ndim == 2 and thing.shape[0] != thing.shape[1]:
            return ", or SetPartition.from_embeddings(X) of vectors as rows; of a picture, graphpart.images.segment"
        if thing.ndim == 3:
            return "; a picture or a volume is segmented by graphpart.images.segment"
        return ", or SetPartition.from_similarity(S) if large values join, from_matrix(costs) if they keep apart"
    return ""


def check_square(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InvalidProblem(f"matrix has shape {shape}: expected (n, n)")


def check_mirrored(
    upper: tuple[NDArray[Any], ...], lower: tuple[NDArray[Any], ...], tolerance: float, rounding: float = 0.0
) -> None:
    """InvalidProblem unless two triangles ``(u, v, costs)`` of a sparse matrix are equal.

    They may differ by `tolerance` times the smaller absolute value, or by `rounding`.

    An entry that is stored in one triangle only is compared with 0.
    """
    n = 1 + max(int(t[1].max(initial=0)) for t in (upper, lower))
    keys, place = np.unique(np.concatenate([t[0] * np.int64(n) + t[1] for t in (upper, lower)]), return_inverse=True)
    x, y = np.zeros(len(keys)), np.zeros(len(keys))
    x[place[: len(upper[2])]] = upper[2]
    y[place[len(upper[2]) :]] = lower[2]
    with np.errstate(invalid="ignore", over="ignore"):
        equal = (x == y) | (np.abs(x - y) <= np.maximum(tolerance * np.minimum(np.abs(x), np.abs(y)), rounding))
    if not equal.all():
        k = int(np.argmin(equal))
        a, b = divmod(int(keys[k]), n)
        raise InvalidProblem(
            f"matrix[{a}, {b}] is {x[k]} but matrix[{b}, {a}] is {y[k]}: expected a symmetric matrix of numbers"
        )


def float_array(name: str, values: Any, copy: bool) -> NDArray[np.float64]:
    if np.ma.is_masked(values):
        raise InvalidProblem(f"{name} has masked entries: expected a number in each, see filled()")
    try:
        array = np.asarray(values)
    except ValueError:
        raise InvalidProblem(f"{name} has rows of different lengths: expected an array of numbers") from None
    if array.dtype.kind not in "fiub":
        raise InvalidProblem(f"{name} has dtype {array.dtype}: expected real numbers")
    return np.array(array, np.float64, order="C", copy=True) if copy else np.ascontiguousarray(array, np.float64)


def is_own(matrix: Any) -> bool:
    return isinstance(matrix, np.ndarray) and matrix.flags.writeable and matrix.dtype == np.float64


def names_of(nodes: Iterable[Hashable] | None, n: int) -> Sequence[Hashable]:
    if nodes is None:
        return range(n)
    try:
        names = list(nodes)
    except TypeError:
        raise InvalidProblem(f"nodes is {nodes!r}: expected one name for each element") from None
    if len(names) != n:
        raise InvalidProblem(f"{plural(len(names), 'node')} for {plural(n, 'element')}: expected one name for each")
    if len(set(names)) != n:
        seen: set[Hashable] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InvalidProblem(f"node {twice!r} is named twice: expected different names")
    return names


class Places:
    """The index of each element by its name; built when the first one is asked for."""

    __slots__ = ("_index", "nodes")

    def __init__(self, nodes: Sequence[Hashable]) -> None:
        self.nodes = nodes
        self._index: dict[Hashable, int] | None = None

    def __call__(self, node: Hashable) -> int:
        """The index of an element; InvalidProblem if there is no such element."""
        try:
            if isinstance(self.nodes, range):
                return self.nodes.index(operator.index(node))  # type: ignore[arg-type]
            if self._index is None:
                self._index = {name: i for i, name in enumerate(self.nodes)}
            return self._index[node]
        except (KeyError, ValueError, TypeError):
            first = f", whose first node is {self.nodes[0]!r}" if len(self.nodes) else ""
            raise InvalidProblem(f"{node!r} is not a node of the problem{first}") from None

    def has(self, node: Any) -> bool:
        """Whether it is the name of an element."""
        try:
            self(node)
        except InvalidProblem:
            return False
        return True


def size_of(n: Any) -> int:
    try:
        size = n.__index__()
    except AttributeError:
        raise InvalidProblem(f"n is {n!r}: expected an integer") from None
    if not 0 <= size <= LARGEST_INDEX:
        raise InvalidProblem(f"n is {size}: expected 0 to {LARGEST_INDEX} elements")
    return int(size)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array

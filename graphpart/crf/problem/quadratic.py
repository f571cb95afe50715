"""Factor graphs from binary quadratic forms: matrices, dense or sparse, mappings from pairs, graphs.

All entries of one pair add up, whichever of its variables comes first. Entries are processed as arrays; there is a
Python loop only if names of variables have to be looked up.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem.checks import real_array
from graphpart.crf.problem.factor_tables import FactorTables
from graphpart.errors import InvalidProblem
from graphpart.kernels import LARGEST_INDEX, _pairs

__all__ = ["assemble", "field_comes_first", "from_ising_model", "from_qubo"]

Graph = TypeVar("Graph", bound=FactorTables)


class _Entries(NamedTuple):
    """The entries of a matrix, a mapping or a graph."""

    names: Sequence[Hashable]
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    value: NDArray[np.float64]


def from_qubo(cls: type[Graph], Q: Any, weight: str, constant: float, offset: float, sense: int) -> Graph:
    """See `FactorGraph.from_qubo`."""
    entries = _entries("Q", Q, weight)
    diagonal = entries.row == entries.column
    linear = np.bincount(entries.row[diagonal], entries.value[diagonal], len(entries.names))
    pairs = _pairs_of(entries, ~diagonal)
    place = np.flatnonzero(linear)
    unary = np.zeros((len(place), 2))
    unary[:, 1] = linear[place]
    tables = np.zeros((len(pairs[0]), 4))
    tables[:, 3] = pairs[2]
    return assemble(cls, entries.names, place, unary, pairs, tables, constant)._in_units(offset, sense)


def from_ising_model(
    cls: type[Graph], coupling: Any, field: Any, weight: str, constant: float, offset: float, sense: int
) -> Graph:
    """See `FactorGraph.from_ising`."""
    entries = _entries("coupling", coupling, weight)
    loops = np.flatnonzero((entries.row == entries.column) & (entries.value != 0))
    if len(loops):
        name = entries.names[entries.row[loops[0]]]
        raise InvalidProblem(f"coupling ({name!r}, {name!r}) is {entries.value[loops[0]]}: expected two variables")
    names, b = _fields(entries.names, field)
    pairs = _pairs_of(entries, entries.row != entries.column, len(names))
    place = np.flatnonzero(b)
    unary = np.stack([b[place], -b[place]], 1)
    tables = pairs[2][:, None] * np.array([-1.0, 1.0, 1.0, -1.0])
    return assemble(cls, names, place, unary, pairs, tables, constant)._in_units(offset, sense)


def field_comes_first(first: Any, second: Any) -> bool:
    """Whether the arguments are a field and couplings, and not couplings and a field."""
    if not _is_coupling(second):
        return False
    if not (isinstance(first, Mapping) and isinstance(second, Mapping)):
        return not _is_coupling(first)
    names = set(itertools.chain.from_iterable(second))  # of a field by names, which may be pairs themselves
    return not _is_coupling(first) or any(name in names for name in first)


def _is_coupling(given: Any) -> bool:
    if isinstance(given, Mapping):
        return bool(given) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in given)
    return hasattr(given, "is_directed") or hasattr(given, "tocoo") or np.ndim(given) == 2


def _fields(names: Sequence[Hashable], field: Any) -> tuple[Sequence[Hashable], NDArray[np.float64]]:
    """Fields of all variables, and the names with those that only have a field."""
    if isinstance(field, Mapping):
        known = dict.fromkeys(names)
        more = [name for name in field if name not in known]
        names = [*names, *more] if more else names
        index = {name: i for i, name in enumerate(names)}
        b = np.zeros(len(names))
        for name, value in field.items():
            b[index[name]] = float(real_array(f"field of variable {name!r}", value))
    else:
        given = real_array("field", field)
        if given.ndim > 1 or (given.ndim == 1 and len(given) != len(names)):
            raise InvalidProblem(f"field has shape {given.shape}: expected ({len(names)},) or a number")
        b = np.broadcast_to(given, len(names)).astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(b))
    if len(bad):
        raise InvalidProblem(f"field of variable {names[bad[0]]!r} is {b[bad[0]]}: expected a finite number")
    return names, b


def _pairs_of(
    entries: _Entries, kept: NDArray[np.bool_], n: int | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Pairs in lexicographic order, entries added up, without zeros."""
    row, column, value = (array[kept] for array in entries[1:])
    u, v, total, overflow, *_ = _pairs.sort_pairs(len(entries.names) if n is None else n, row, column, value)
    if overflow or not np.isfinite(total).all():
        raise InvalidProblem("the sum of entries of a pair overflows: expected entries of a smaller magnitude")
    some = total != 0
    return (u, v, total) if some.all() else (u[some], v[some], total[some])


def assemble(
    cls: type[Graph],
    names: Sequence[Hashable],
    place: NDArray[np.int64],
    unary: NDArray[np.float64],
    pairs: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]],
    tables: NDArray[np.float64],
    constant: float,
) -> Graph:
    """Unary factors in the order of the variables, then pairwise ones in lexicographic order."""
    k, m = len(place), len(tables)
    start = np.concatenate([np.arange(k), np.arange(k, k + 2 * m + 1, 2)])
    scope = np.concatenate([place.astype(np.int32), np.stack(pairs[:2], 1).reshape(-1)])
    flat = np.concatenate([unary.reshape(-1), tables.reshape(-1)])
    domains = np.full(len(names), 2, np.int32)
    return cls.of_csr(names, domains, start.astype(np.int64), scope, flat, None, constant)


def _entries(what: str, given: Any, weight: str) -> _Entries:
    if hasattr(given, "is_directed"):
        entries = _of_graph(what, given, weight)
    elif isinstance(given, Mapping):
        entries = _of_mapping(what, given)
    elif hasattr(given, "tocoo"):
        matrix = given.tocoo()
        _check_square(what, matrix.shape)
        row, column = (np.asarray(places, np.int64) for places in matrix.coords) if hasattr(matrix, "coords") else (
            matrix.row.astype(np.int64), matrix.col.astype(np.int64)
        )  # fmt: skip
        entries = _Entries(range(matrix.shape[0]), row, column, real_array(what, matrix.data))
    else:
        dense = real_array(what, given)
        _check_square(what, dense.shape)
        row, column = np.nonzero(dense)
        entries = _Entries(range(len(dense)), row, column, dense[row, column])
    if len(entries.names) > LARGEST_INDEX:
        raise InvalidProblem(f"{what} has {len(entries.names)} variables: expected at most {LARGEST_INDEX}")
    bad = np.flatnonzero(~np.isfinite(entries.value))
    if len(bad):
        i, j = entries.names[entries.row[bad[0]]], entries.names[entries.column[bad[0]]]
        raise InvalidProblem(f"entry ({i!r}, {j!r}) of {what} is {entries.value[bad[0]]}: expected a finite number")
    return entries


def _check_square(what: str, shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InvalidProblem(f"{what} has shape {shape}: expected a square matrix")


def _of_mapping(what: str, given: Mapping[Any, Any]) -> _Entries:
    for pair in given:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InvalidProblem(f"{pair!r} is a key of {what}: expected pairs of variables")
    flat = list(itertools.chain.from_iterable(given))
    values = _numbers(what, given)
    names: Sequence[Hashable]
    integers = np.array(flat) if flat and type(flat[0]) is int else np.zeros(0)
    if integers.ndim == 1 and integers.dtype.kind == "i":  # without looking up each
        ascending, places = np.unique(integers, return_inverse=True)
        names = ascending.tolist()
    else:
        names = list(dict.fromkeys(flat))
        index = {name: i for i, name in enumerate(names)}
        places = np.fromiter(map(index.__getitem__, flat), np.int64, len(flat))
    return _Entries(_plain(names), places[::2], places[1::2], values)


def _numbers(what: str, given: Mapping[Any, Any]) -> NDArray[np.float64]:
    try:
        return np.fromiter(map(float, given.values()), np.float64, len(given))
    except (TypeError, ValueError):
        for pair, value in given.items():
            if not hasattr(value, "__float__"):
                raise InvalidProblem(f"entry {pair!r} of {what} is {value!r}: expected a number") from None
        raise


def _of_graph(what: str, graph: Any, weight: str) -> _Entries:
    names: Sequence[Hashable] = list(graph)
    index = {name: i for i, name in enumerate(names)}
    m = graph.number_of_edges()
    places, values = np.empty((m, 2), np.int64), np.empty(m)
    for k, (a, b, value) in enumerate(graph.edges(data=weight, default=1.0)):
        places[k] = index[a], index[b]
        try:
            values[k] = value
        except (TypeError, ValueError):
            raise InvalidProblem(f"entry ({a!r}, {b!r}) of {what} is {value!r}: expected a number") from None
    return _Entries(_plain(names), places[:, 0], places[:, 1], values)


def _plain(names: Sequence[Hashable]) -> Sequence[Hashable]:
    return range(len(names)) if list(names) == list(range(len(names))) else names

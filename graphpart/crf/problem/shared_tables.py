"""Tables that several factors share: each is kept once, and `table_start` says where the table of each factor begins.

The tables that a factor graph keeps do not overlap and leave no gap. If no two factors share a table, they stand in the
order of the factors. `FactorGraph.table_start` and `FactorGraph.tables` show a table for each factor in any case; with
shared tables they are made anew at each access. Algorithms that may meet large factor graphs use `FactorTables._flat`,
the arrays as they are kept, and the functions of this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem import _structure
from graphpart.crf.problem.factor_tables import FactorTables

__all__ = [
    "absolute_costs",
    "blocks",
    "by_table",
    "entries_of",
    "kept_once",
    "largest_of",
    "places_in_tables",
    "rows_of",
    "selected",
    "starts_of",
    "times",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]
Starts = NDArray[np.int64]
BLOCK = 2**18  # entries that `blocks` returns at a time, unless a table is larger


def by_table(f: FactorTables, operation: np.ufunc, values: Floats | None = None) -> Floats:
    """The reduction of the table of each factor by an operation such as ``np.minimum``, shape (m,).

    `values` replaces the entries of the tables that are kept.
    """
    _, _, _, start, tables = f._flat()
    values = tables if values is None else values
    if not f.m:
        return np.zeros(0)
    if f.entries == len(tables):
        return np.asarray(operation.reduceat(values, start[:-1]))
    distinct, which = np.unique(start[:-1], return_inverse=True)
    return np.asarray(operation.reduceat(values, distinct)[which])


def largest_of(f: FactorTables) -> Floats:
    """The largest absolute finite entry of the table of each factor, shape (m,); 0 of a table without finite ones."""
    values = f._flat()[4]
    if f.has_forbidden:
        values = np.where(np.isinf(values), 0.0, values)
    largest: Floats = np.maximum(by_table(f, np.maximum, values), -by_table(f, np.minimum, values))
    return largest


def absolute_costs(f: FactorTables, values: Floats | None = None) -> float:
    """The sum of the absolute finite entries of all factors; for `values` see `by_table`."""
    tables = f._flat()[4]
    if values is None and f.entries == len(tables) and "absolute" in f._cache:
        return float(f._cache["absolute"])
    values = tables if values is None else values
    runs = f._layout().runs
    first_factor, size, begin, distance = runs[:, [0, 2, 4, 5]].T
    if len(runs) and ((distance == 0) | (distance == size))[:-1].all():
        count, once = np.diff(first_factor), distance[:-1] == 0  # all factors of the run have one table
        ends = begin[:-1] + np.where(once, 1, count) * size[:-1]
        total = 0.0
        for a, end, many in zip(begin[:-1].tolist(), ends.tolist(), np.where(once, count, 1).tolist(), strict=True):
            for at in range(a, end, BLOCK):
                some = np.abs(values[at : min(at + BLOCK, end)])
                total += many * float(some.sum(where=np.isfinite(some)) if f.has_forbidden else some.sum())
        return total
    first, count = np.unique(f._flat()[3][:-1], return_counts=True)
    each = np.zeros(len(first))
    ends = np.searchsorted(first, np.arange(0, len(values), BLOCK) + BLOCK)
    for a, b in pairwise([0, *np.unique(ends).tolist()]):  # no copy of all entries
        some = np.abs(values[first[a] : first[b] if b < len(first) else len(values)])
        some = np.where(np.isinf(some), 0.0, some) if f.has_forbidden else some
        each[a:b] = np.add.reduceat(some, first[a:b] - first[a])
    return float((each * count).sum())


def times(f: FactorTables) -> Floats | float:
    """The number of factors that have each entry of the tables that are kept; 1 if none is shared."""
    _, _, _, start, tables = f._flat()
    if f.entries == len(tables):
        return 1.0
    distinct, count = np.unique(start[:-1], return_counts=True)
    return np.repeat(count.astype(np.float64), np.diff(np.append(distinct, len(tables))))


def entries_of(f: FactorTables, factors: NDArray[np.integer[Any]]) -> tuple[Starts, Floats]:
    """The tables of some factors, one after the other, each once for each factor: (starts, entries)."""
    begins, starts = f._flat()[3], f.table_start
    new = starts_of(starts[factors + 1] - starts[factors])
    return new, _structure.gather(f._flat()[4], begins[factors], new)


def blocks(f: FactorTables, factors: NDArray[np.integer[Any]]) -> Iterator[Floats]:
    """The entries of the tables of some factors, one after the other, some at a time."""
    begins, tables, all_starts = f._flat()[3][factors], f._flat()[4], f.table_start
    start = starts_of(all_starts[factors + 1] - all_starts[factors])
    ends = np.searchsorted(start, np.arange(0, start[-1], BLOCK) + BLOCK)
    for a, b in pairwise([0, *np.unique(np.minimum(ends, len(factors))).tolist()]):
        yield _structure.gather(tables, begins[a:b], start[a : b + 1] - start[a])


def selected(
    f: FactorTables, factors: NDArray[np.integer[Any]]
) -> tuple[Starts, NDArray[np.int32], Floats, Starts | None]:
    """Some factors, in the order given: (scope_start, scope, tables, table_start), as `FactorTables.of_csr` takes them.

    Tables that these factors share stay shared.
    """
    _, scope_start, scope, begins, tables = f._flat()
    starts = f.table_start
    sizes = starts[factors + 1] - starts[factors]
    kept, table_start = kept_once(tables, begins[factors], sizes, f.entries > len(tables))
    return *rows_of(scope_start, scope, factors), kept, table_start


def kept_once(tables: Floats, begins: Starts, sizes: Starts, shared: bool = True) -> tuple[Floats, Starts | None]:
    """The tables that begin at `begins`, each once: (tables, the new `table_start`, or None if no two are the same).

    Without `shared`, it is known that no two of them are the same.
    """
    distinct, first, which = np.unique(begins, True, True) if shared else (begins, begins, begins)
    if len(distinct) == len(begins):
        return _structure.gather(tables, begins, starts_of(sizes)), None
    new = starts_of(sizes[first])
    return _structure.gather(tables, distinct, new), np.append(new[:-1][which], new[-1])


def places_in_tables(domains: Labels, start: Starts, scope: Labels, labels: NDArray[np.integer[Any]]) -> Starts:
    """The place in its table of the entry that labels select, for each scope; `start` tells where scopes begin."""
    arity = np.diff(start)
    places = np.zeros(len(arity), np.int64)
    for j in range(int(arity.max(initial=0))):
        some = np.flatnonzero(arity > j)
        v = scope[start[some] + j]
        places[some] = places[some] * domains[v] + labels[v]
    return places


def rows_of(start: Starts, values: NDArray[Any], rows: NDArray[np.integer[Any]]) -> tuple[Starts, NDArray[Any]]:
    """Some rows of a compressed-row array, in the order given: (starts, values)."""
    length = start[rows + 1] - start[rows]
    new_start = starts_of(length)
    at = np.repeat(start[rows] - new_start[:-1], length) + np.arange(new_start[-1])
    return new_start, values[at]


def starts_of(sizes: Starts) -> Starts:
    """Where rows of these sizes begin, one after the other, and where the last one ends."""
    out = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=out[1:])
    return out

"""Factor graphs from factor graphs: conditioned on evidence, simplified, split. Also a search for a cycle."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import group, places_within
from graphpart.crf.problem import _structure
from graphpart.crf.problem.factor_tables import FactorTables
from graphpart.errors import InfeasibleProblem, InvalidProblem

__all__ = ["condition", "find_cycle", "merge", "rows_of", "simplify", "split"]

Graph = TypeVar("Graph", bound=FactorTables)


def condition(f: Graph, evidence: Mapping[Hashable, int]) -> Graph:
    """See `FactorGraph.condition`."""
    given = np.full(f.n, -1, np.int32)
    for name, label in evidence.items():
        i = f.index(name)
        size = int(f.domains[i])
        if not isinstance(label, int | np.integer) or not 0 <= label < size:
            raise InvalidProblem(f"evidence gives variable {name!r} the label {label!r}: expected 0 to {size - 1}")
        given[i] = label
    return condition_on(f, given)


def condition_on(f: Graph, given: NDArray[np.int32]) -> Graph:
    """Condition on an array of n labels, with -1 for variables that remain."""
    free = given < 0
    start, scope, tables, constant, bad = _structure.condition(
        f.domains, f.scope_start, f.scope, f.table_start, f.tables, given
    )
    if bad >= 0:
        names = tuple(f.variables[i] for i in f.factor(bad)[0])
        raise InfeasibleProblem(f"the evidence is forbidden: factor {bad} over {names!r} is inf")
    place = np.cumsum(free, dtype=np.int32) - 1
    names_left = [f.variables[i] for i in np.flatnonzero(free).tolist()]
    rest = type(f).from_csr(
        f.domains[free],
        start,
        place[scope],
        tables,
        names_left,
        constant=f.constant + constant,
        offset=f.offset,
        sense=f.sense,
    )
    for k, one in enumerate(f._functions):
        left = one.given(given[list(one.scope)].tolist())
        if left.scope:
            rest._functions.append(replace(left, scope=tuple(place[list(left.scope)].tolist())))
        elif left.constant == math.inf:
            raise InfeasibleProblem(f"the evidence is forbidden by function {k}, {one.name}")
        else:
            rest.constant += left.constant
    return rest


def simplify(f: Graph) -> Graph:
    """See `FactorGraph.simplify`."""
    start, scope, table_start, tables = _merged(f, 1) or f._flat()[1:]
    return _like(f, *_structure.absorb_unary(f.domains, start, scope, table_start, tables))


def merge(f: Graph) -> Graph:
    """An equal factor graph in which factors over the same two or more variables are merged; `f` if there are none."""
    found = _merged(f, 2)
    return f if found is None else _like(f, found[0], found[1], found[3])


def _like(f: Graph, start: NDArray[np.int64], scope: NDArray[np.int32], tables: NDArray[np.float64]) -> Graph:
    names = None if isinstance(f.variables, range) else f.variables
    g = type(f).from_csr(f.domains, start, scope, tables, names, constant=f.constant, offset=f.offset, sense=f.sense)
    g._functions = list(f._functions)
    return g


def _merged(
    f: FactorTables, least: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]] | None:
    """(scope_start, scope, table_start, tables) after merging factors of at least `least` variables with equal scopes.

    None if there are no such factors to merge.
    """
    start, scope, table_start, tables = f.scope_start, f.scope, f.table_start, f.tables
    arity = np.diff(start)
    kept = [np.flatnonzero(arity < least)]
    merged_scopes: list[tuple[int, ...]] = []
    merged_tables: list[NDArray[np.float64]] = []
    merged_first: list[int] = []
    for k in np.unique(arity[arity >= least]).tolist():
        at = np.flatnonzero(arity == k)
        rows = np.sort(scope[start[at][:, None] + np.arange(k)], axis=1)
        order = np.lexsort((at, *rows.T[::-1]))
        rows, at = rows[order], at[order]
        begin = np.flatnonzero(np.r_[True, (rows[1:] != rows[:-1]).any(axis=1)])
        length = np.diff(np.r_[begin, len(at)])
        kept.append(at[begin[length == 1]])
        for b, c in zip(begin[length > 1].tolist(), length[length > 1].tolist(), strict=True):
            members, total = f.factor(int(at[b]))
            total = total.copy()
            for other in at[b + 1 : b + c].tolist():
                its, table = f.factor(other)
                total += table.transpose([its.index(v) for v in members])
            merged_scopes.append(members)
            merged_tables.append(total.ravel())
            merged_first.append(int(at[b]))
    if not merged_scopes:
        return None
    single = np.concatenate(kept)
    pieces_start, pieces_scope = rows_of(start, scope, single)
    _, pieces_tables = rows_of(table_start, tables, single)
    extra = np.cumsum([len(members) for members in merged_scopes])
    all_start = np.concatenate([pieces_start, pieces_start[-1] + extra])
    all_scope = np.concatenate([pieces_scope, np.array([i for s in merged_scopes for i in s], np.int32)])
    sizes = np.concatenate([np.diff(table_start)[single], [len(t) for t in merged_tables]])
    all_tables = np.concatenate([pieces_tables, *merged_tables])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    order = np.argsort(np.concatenate([single, merged_first]), kind="stable")
    start, scope = rows_of(all_start, all_scope, order)
    table_start, tables = rows_of(starts, all_tables, order)
    return start, scope, table_start, tables


def split(f: Graph, labels: NDArray[np.int32]) -> list[tuple[NDArray[np.int64], Graph]]:
    """The connected components that `labels` name, each as (variables, factor graph); the constant is left out.

    O(size of all tables + number of components).
    """
    count = int(labels.max()) + 1 if f.n else 0
    if count == 1 and not f.constant:
        return [(np.arange(f.n), f)]
    variables, first_variable = group(labels, count)
    factors, first_factor = group(labels[f.scope[f.scope_start[:-1]]], count)
    place = places_within(variables, first_variable)
    parts = []
    for k in range(count):
        mine = variables[first_variable[k] : first_variable[k + 1]]
        own = factors[first_factor[k] : first_factor[k + 1]]
        start, scope = rows_of(f.scope_start, f.scope, own)
        _, tables = rows_of(f.table_start, f.tables, own)
        names = [f.variables[i] for i in mine.tolist()]
        parts.append((mine, type(f).from_csr(f.domains[mine], start, place[scope], tables, names)))
    return parts


def rows_of(
    start: NDArray[np.int64], values: NDArray[Any], rows: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Some rows of a compressed-row array, in the order given: (starts, values)."""
    length = start[rows + 1] - start[rows]
    new_start = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(length, out=new_start[1:])
    at = np.repeat(start[rows] - new_start[:-1], length) + np.arange(new_start[-1])
    return new_start, values[at]


def find_cycle(f: FactorTables) -> str:
    """The variables on one cycle of a cyclic factor graph, for a message."""
    scheme = f._scheme()
    remains = np.zeros(f.n, bool)
    remains[scheme.cyclic] = True
    rows, factors, _ = f.incidence()
    gone = np.zeros(f.m, bool)
    gone[scheme.order] = True
    gone |= np.diff(f.scope_start) < 2
    # All remaining variables and factors have at least two neighbours: walk until a variable repeats.
    v, came = int(scheme.cyclic[0]), -1
    seen: dict[int, int] = {}
    path: list[int] = []
    while v not in seen:
        seen[v] = len(path)
        path.append(v)
        came = next(g for g in factors[rows[v] : rows[v + 1]].tolist() if not gone[g] and g != came)
        members = f.scope[f.scope_start[came] : f.scope_start[came + 1]].tolist()
        v = next(u for u in members if u != v and remains[u])
    cycle = path[seen[v] :]
    shown = [repr(f.variables[u]) for u in cycle[:8]]
    if len(cycle) > 8:
        shown.append(f"... ({len(cycle)} in all)")
    return " - ".join([*shown, repr(f.variables[cycle[0]])])

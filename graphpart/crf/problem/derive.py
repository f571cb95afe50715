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
from graphpart.crf.problem.shared_tables import kept_once, rows_of, selected
from graphpart.errors import InfeasibleProblem, InvalidProblem

__all__ = ["condition", "find_cycle", "merge", "simplify", "split"]

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
    domains, scope_start, scope, table_start, tables = f._flat()
    shared = f.entries > len(tables)
    start, scope, begins, new, constant, bad = _structure.condition(
        domains, scope_start, scope, table_start, tables, given, shared
    )
    if bad >= 0:
        names = tuple(f.variables[i] for i in f.factor(bad)[0])
        raise InfeasibleProblem(f"the evidence is forbidden: factor {bad} over {names!r} is inf")
    place = np.cumsum(free, dtype=np.int32) - 1
    names_left = [f.variables[i] for i in np.flatnonzero(free).tolist()]
    if shared:
        sizes = np.diff(_structure.table_starts(domains, start, scope)[0])
        new, kept_start = kept_once(np.concatenate([tables, new]), begins, sizes)
    rest = type(f).of_csr(
        names_left, domains[free], start, place[scope], new, kept_start if shared else None, f.constant + constant
    )
    rest._in_units(f.offset, f.sense)
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
    merged = _merged(f, 1)
    return _like(
        f, *_structure.absorb_unary(f.domains, merged.scope_start, merged.scope, merged.table_start, merged.tables)
    )


def merge(f: Graph) -> Graph:
    """An equal factor graph in which factors over the same two or more variables are merged; `f` if there are none."""
    return _merged(f, 2)


def _like(
    f: Graph,
    start: NDArray[np.int64],
    scope: NDArray[np.int32],
    tables: NDArray[np.float64],
    table_start: NDArray[np.int64] | None = None,
) -> Graph:
    """A factor graph with the variables, functions and units of `f`."""
    names = f.variables if isinstance(f.variables, range) else list(f.variables)
    g = type(f).of_csr(names, f.domains, start, scope, tables, table_start, f.constant)
    g._in_units(f.offset, f.sense)._functions = list(f._functions)
    return g


def _merged(f: Graph, least: int) -> Graph:
    """`f` with factors of at least `least` variables and equal scopes merged; `f` itself if there are none."""
    start, scope = f.scope_start, f.scope
    arity = np.diff(start)
    kept = [np.flatnonzero(arity < least)]
    merged_scopes: list[tuple[int, ...]] = []
    merged_tables: list[NDArray[np.float64]] = []
    merged_first: list[int] = []
    for k in range(least, int(arity.max(initial=0)) + 1):
        at = np.flatnonzero(arity == k)
        if not len(at):
            continue
        columns = _ascending([scope[start[at] + j] for j in range(k)])
        if f.n**k < 2**63 and _differ(_numbers(columns, f.n)):
            kept.append(at)
            continue
        keys: list[NDArray[Any]] = [at, *columns[::-1]]
        order = np.lexsort(keys)
        rows, at = np.stack(columns, 1)[order], at[order]
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
        return f
    single = np.concatenate(kept)
    pieces_start, pieces_scope = rows_of(start, scope, single)
    extra = np.cumsum([len(members) for members in merged_scopes])
    all_start = np.concatenate([pieces_start, pieces_start[-1] + extra])
    all_scope = np.concatenate([pieces_scope, np.array([i for s in merged_scopes for i in s], np.int32)])
    order = np.argsort(np.concatenate([single, merged_first]), kind="stable")
    tables = f._flat()[4]
    new = np.array([len(t) for t in merged_tables])
    sizes = np.concatenate([np.diff(f.table_start)[single], new])
    begins = np.concatenate([f._flat()[3][single], len(tables) + np.cumsum(new) - new])
    kept_tables = kept_once(
        np.concatenate([tables, *merged_tables]), begins[order], sizes[order], f.entries > len(tables)
    )
    return _like(f, *rows_of(all_start, all_scope, order), *kept_tables)


def _ascending(columns: list[NDArray[np.int32]]) -> list[NDArray[np.int32]]:
    """The columns of rows whose entries are sorted, in place of the given ones, which may be overwritten."""
    for last in range(len(columns) - 1, 0, -1):  # by exchanges of two columns: few columns, many rows
        for j in range(last):
            lower = np.minimum(columns[j], columns[j + 1])
            np.maximum(columns[j], columns[j + 1], out=columns[j + 1])
            columns[j] = lower
    return columns


def _numbers(columns: list[NDArray[np.int32]], n: int) -> NDArray[np.int64]:
    """A number for each row of entries below n, with the last column as the most significant digit."""
    numbers = columns[-1].astype(np.int64)
    for column in columns[-2::-1]:
        numbers *= n
        numbers += column
    return numbers


def _differ(numbers: NDArray[np.int64]) -> bool:
    """Whether no two numbers are equal; the numbers are sorted in place."""
    few_runs = np.count_nonzero(numbers[1:] < numbers[:-1]) < 8  # as those of grids: to merge them takes a pass
    numbers.sort(kind="stable" if few_runs else None)
    return bool((numbers[1:] != numbers[:-1]).all())


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
        start, scope, tables, table_start = selected(f, own)
        names = [f.variables[i] for i in mine.tolist()]
        inner = place[scope].astype(np.int32)
        parts.append((mine, type(f).of_csr(names, f.domains[mine], start, inner, tables, table_start)))
    return parts


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

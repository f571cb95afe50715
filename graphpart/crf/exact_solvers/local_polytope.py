"""The integer program of a factor graph of tables: a 0/1 variable for each label and each finite entry.

Its relaxation is over the local polytope (Shlezinger 1976; Wainwright & Jordan 2008).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import first_of
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.labeling import places
from graphpart.crf.problem.shared_tables import places_in_tables

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["chosen_labels", "program_of", "values_of"]

Floats = NDArray[np.float64]


def program_of(f: FactorGraph) -> tuple[Floats, csr_array, Floats, float, NDArray[np.int64]]:
    """(costs, rows, right-hand sides, constant, finite entries of factors with several variables).

    The columns are the labels of all variables, then these entries. The smallest entry of each table is part of the
    constant.
    """
    from scipy.sparse import csr_array

    domains, scope_start, scope, _, _ = f._flat()
    table_start, tables = f.table_start, f.tables
    n_labels = int(domains.sum())
    first = places(f)
    arity = np.diff(scope_start)
    sizes = np.diff(table_start)
    factor = np.repeat(np.arange(f.m), sizes)
    inside = np.arange(len(tables)) - table_start[factor]
    least = np.minimum.reduceat(tables, table_start[:-1]) if f.m else np.zeros(0)
    value = tables - least[factor]
    unary = arity[factor] == 1
    x_costs = np.bincount(
        first[scope[scope_start[factor[unary]]]] + inside[unary],
        weights=np.where(np.isfinite(value[unary]), value[unary], 0.0),
        minlength=n_labels,
    )
    entries = np.flatnonzero(~unary & np.isfinite(value))
    column = n_labels + np.arange(len(entries))
    # Rows: one for each variable, one for each label at each place of a scope, one for each forbidden unary label.
    proper = np.flatnonzero(np.repeat(arity > 1, arity))
    row_of_place = np.full(len(scope), -1, np.int64)
    row_of_place[proper] = f.n + np.cumsum(domains[scope[proper]]) - domains[scope[proper]]
    m_rows = f.n + int(domains[scope[proper]].sum())
    rows = [np.repeat(np.arange(f.n), domains)]
    columns = [np.arange(n_labels)]
    data = [np.ones(n_labels)]
    stride = np.ones(len(entries), np.int64)
    of = factor[entries]
    for back in range(1, int(arity.max(initial=0)) + 1):  # places of the scopes, from the last to the first
        there = arity[of] >= back
        at = scope_start[of[there] + 1] - back
        d = domains[scope[at]].astype(np.int64)
        label = (inside[entries[there]] // stride[there]) % d
        stride[there] *= d
        rows.append(row_of_place[at] + label)
        columns.append(column[there])
        data.append(np.ones(len(at)))
    for_label = np.repeat(row_of_place[proper], domains[scope[proper]]) + _counting(domains[scope[proper]])
    rows.append(for_label)
    columns.append(np.repeat(first[scope[proper]], domains[scope[proper]]) + _counting(domains[scope[proper]]))
    data.append(-np.ones(len(for_label)))
    forbidden = np.flatnonzero(unary & np.isinf(value))
    rows.append(m_rows + np.arange(len(forbidden)))
    columns.append(first[scope[scope_start[factor[forbidden]]]] + inside[forbidden])
    data.append(np.ones(len(forbidden)))
    shape = (m_rows + len(forbidden), n_labels + len(entries))
    matrix = csr_array((np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), shape=shape)
    rhs = np.zeros(shape[0])
    rhs[: f.n] = 1.0
    return np.concatenate([x_costs, value[entries]]), matrix, rhs, f.constant + float(least.sum()), entries


def _counting(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """0, 1, ..., length - 1 for each of the lengths, one after the other."""
    starts = np.cumsum(lengths) - lengths
    counting: NDArray[np.int64] = np.arange(int(lengths.sum())) - np.repeat(starts, lengths)
    return counting


def chosen_labels(f: FactorGraph, values: Floats) -> NDArray[np.int32]:
    """The label of each variable with the largest indicator."""
    first = np.cumsum(f.domains) - f.domains
    largest = np.maximum.reduceat(values[: int(f.domains.sum())], first)
    hit = np.flatnonzero(values[: int(f.domains.sum())] == np.repeat(largest, f.domains))
    variable = np.repeat(np.arange(f.n), f.domains)[hit]
    at = first_of(variable)
    labels: NDArray[np.int32] = (hit[at] - first).astype(np.int32)
    return labels


def values_of(f: FactorGraph, labels: NDArray[np.int32], entries: NDArray[np.int64]) -> Floats:
    """The solution of the program that corresponds to labels."""
    x = np.zeros(int(f.domains.sum()))
    x[np.cumsum(f.domains) - f.domains + labels] = 1.0
    selected = np.zeros(f.entries)
    selected[f.table_start[:-1] + places_in_tables(f.domains, f.scope_start, f.scope, labels)] = 1.0
    return np.concatenate([x, selected[entries]])

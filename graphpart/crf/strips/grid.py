"""Which factor graphs are grids: cells in rows and columns, with factors of single cells and of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds.passes import Passes
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem._view import unary_sums
from graphpart.crf.problem.labeling import places

__all__ = ["Costs", "Grid", "costs_left", "costs_of", "grid_of"]


Labels = NDArray[np.int32]
Floats = NDArray[np.float64]
Arrays = tuple[Labels, NDArray[np.int64], Floats, Floats, NDArray[np.int64], NDArray[np.uint8]]


@dataclass(frozen=True)
class Costs:
    """The costs of a factor graph whose factors have at most two variables.

    Attributes
    ----------
    first : ndarray of int64, shape (n,)
        Where the costs of each variable begin in `unary`.
    unary : ndarray of float64
    start : ndarray of int64, shape (m,)
        Where the table of each pair begins in `tables`.
    tables : ndarray of float64
    later : ndarray of bool, shape (m,)
        Whether its rows are for the variable of the larger index.
    sent : ndarray of int64, shape (m,)
        Where in `tables` the costs begin that a table sends to its two variables, the first one of its scope first.
        They are part of `unary`, and to be subtracted from the table. -1 if there are none.
    """

    first: NDArray[np.int64]
    unary: NDArray[np.float64]
    start: NDArray[np.int64]
    tables: NDArray[np.float64]
    later: NDArray[np.bool_]
    sent: NDArray[np.int64]


@dataclass(frozen=True)
class Grid:
    """The cells of a grid, row by row; a cell without a variable has one label.

    Attributes
    ----------
    shape : (int, int)
        Rows and columns.
    variable : ndarray of int64, shape (cells,)
        -1 where there is none.
    domains : ndarray of int32, shape (cells,)
    factor : ndarray of int64, shape (2, cells)
        The factor of a cell and its right, and its lower, neighbour; -1 where there is none.
    """

    shape: tuple[int, int]
    variable: NDArray[np.int64]
    domains: NDArray[np.int32]
    factor: NDArray[np.int64]

    def transposed(self) -> Grid:
        """The same grid with columns for rows."""
        order = np.arange(len(self.variable)).reshape(self.shape).T.ravel()
        return Grid(self.shape[::-1], self.variable[order], self.domains[order], self.factor[::-1, order])

    def arrays(self, costs: Costs) -> Arrays:
        """(domains, first, unary, tables, start, turned) of the cells, as `Strips` takes them. O(n + m)"""
        cells = np.arange(len(self.variable))
        first = np.full(len(cells), len(costs.unary), np.int64)  # a zero behind the end
        inside = self.variable >= 0
        first[inside] = costs.first[self.variable[inside]]
        start, turned = np.full((4, len(cells)), -1, np.int64), np.zeros((2, len(cells)), np.uint8)
        for which, step in enumerate((1, self.shape[1])):
            there = np.flatnonzero(self.factor[which] >= 0)
            factor = self.factor[which, there]
            start[which, there], start[2 + which, there] = costs.start[factor], costs.sent[factor]
            turned[which, there] = (self.variable[there + step] > self.variable[there]) == costs.later[factor]
        return self.domains, first, np.append(costs.unary, 0.0), costs.tables, start, turned

    def to_cells(self, labels: Labels) -> Labels:
        """Labels of variables as labels of cells."""
        cells = np.zeros(len(self.variable), np.int32)
        inside = self.variable >= 0
        cells[inside] = labels[self.variable[inside]]
        return cells

    def of_cells(self, cells: Labels) -> Labels:
        """Labels of cells as labels of variables."""
        inside = self.variable >= 0
        labels = np.zeros(np.count_nonzero(inside), np.int32)
        labels[self.variable[inside]] = cells[inside]
        return labels


def grid_of(f: FactorGraph) -> Grid | None:
    """The factor graph as a grid, with at most as many rows as columns; None if it is none, or has a single row.

    Cells are found by the names of variables, if these are pairs of whole numbers (row and column) or whole numbers
    (row by row, from any first one, as those of :meth:`FactorGraph.potts`), else by the order of the variables, row by
    row. Cells and neighbours may be missing. O(n + m log m)
    """
    domains, scope_start, scope, _, _ = f._flat()
    arity = np.diff(scope_start)
    if not f.n or arity.max(initial=0) != 2 or arity.min() == 0:
        return None
    pairs = np.flatnonzero(arity == 2)
    u, v = (scope[scope_start[pairs] + k].astype(np.int64) for k in (0, 1))
    found = _rows_and_columns(f, u, v)
    if found is None:
        return None
    row, column = (one - one.min() for one in found)
    height, width = int(row.max()) + 1, int(column.max()) + 1
    if min(height, width) < 2 or height * width > 4 * f.n:
        return None
    cell = row * width + column
    low, high = np.minimum(cell[u], cell[v]), np.maximum(cell[u], cell[v])
    right, down = (high - low == 1) & (high % width > 0), high - low == width
    variable, sizes = np.full(height * width, -1, np.int64), np.ones(height * width, np.int32)
    variable[cell], sizes[cell] = np.arange(f.n), domains
    factor = np.full((2, height * width), -1, np.int64)
    factor[down.astype(np.int64), low] = pairs
    if np.count_nonzero(variable >= 0) < f.n or np.count_nonzero(factor >= 0) < len(pairs) or not (right | down).all():
        return None
    grid = Grid((height, width), variable, sizes, factor)
    return grid if height <= width else grid.transposed()


def _rows_and_columns(
    f: FactorGraph, u: NDArray[np.int64], v: NDArray[np.int64]
) -> tuple[NDArray[np.int64], ...] | None:
    """Row and column of each variable, if neighbours may be neighbours in a grid."""
    names = f.variables
    number = np.arange(f.n)
    if not isinstance(names, range):
        pairs = [one for one in names if isinstance(one, tuple) and len(one) == 2]
        if len(pairs) == f.n:
            cells = _whole([k for one in pairs for k in one])
            if cells is not None:
                return tuple(cells.reshape(-1, 2).T)
        found = _whole(names)
        number = number if found is None else found
    apart = np.abs(number[u] - number[v])
    far = np.unique(apart)
    if len(far) > 2 or far[0] < 1 or (len(far) == 2 and far[0] > 1):
        return None
    row = int(far[-1])
    left = np.unique(np.minimum(number[u], number[v])[apart == 1] % row)[::-1]
    # Numbers that begin anywhere: the last column is one without neighbours to the right.
    shift = int(np.cumprod(left == row - 1 - np.arange(len(left))).sum())
    return None if shift == row else np.divmod(number + shift, row)


def _whole(names: Sequence[object]) -> NDArray[np.int64] | None:
    """Names that are whole numbers, of Python or numpy, as an array; None if differences of them may overflow."""
    if not all(isinstance(one, (int, np.integer)) for one in names):
        return None
    try:
        numbers = np.array(names, np.int64)
    except (OverflowError, TypeError):
        return None
    return numbers if numbers.min() > -(2**62) and numbers.max() < 2**62 else None


def costs_of(f: FactorGraph) -> Costs:
    """The costs of a factor graph, those of each variable added up. O(size of all unary tables)"""
    _, scope_start, scope, table_start, tables = f._flat()
    later = np.zeros(f.m, bool)
    pairs = np.flatnonzero(np.diff(scope_start) == 2)
    later[pairs] = scope[scope_start[pairs]] > scope[scope_start[pairs] + 1]
    unary: Floats = unary_sums(f._view(), tables)
    return Costs(places(f)[:-1], unary, table_start[:-1], tables, later, np.full(f.m, -1, np.int64))


def costs_left(passes: Passes) -> tuple[Costs, float]:
    """The costs after message passing, with the same energies up to rounding; and the sum of absolute messages."""
    f, unit = passes.f, passes.exponent
    messages, _ = passes.messages()
    costs, sent = costs_of(f), passes.own()[: f.m]
    sent[passes.several] += len(costs.tables)
    unary = np.ldexp(passes.remaining(messages), unit)
    tables = np.concatenate([costs.tables, np.ldexp(messages, unit) if unit else messages])
    return replace(costs, unary=unary, tables=tables, sent=sent), float(np.ldexp(np.abs(messages).sum(), unit))

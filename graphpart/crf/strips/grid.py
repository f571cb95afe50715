"""Which factor graphs are grids: cells in rows and columns, with factors of single cells and of neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.derive import rows_of

__all__ = ["Grid", "grid_of"]

SPARSE = 4  # cells for each variable, at most


@dataclass(frozen=True)
class Grid:
    """The cells of a grid, row by row, and where their costs stand; a cell without a variable has one label.

    Attributes
    ----------
    shape : (int, int)
        Rows and columns.
    variable : ndarray of int64, shape (cells,)
        -1 where there is none.
    domains : ndarray of int32, shape (cells,)
    first : ndarray of int64, shape (cells,)
        Where the costs of a cell begin in `unary`.
    unary : ndarray of float64
    start, turned : ndarray of int64 and of uint8, shape (2, cells)
        Where the table of a cell and its right, or its lower, neighbour begins among all tables, or -1; and whether
        its rows are for that neighbour.
    """

    shape: tuple[int, int]
    variable: NDArray[np.int64]
    domains: NDArray[np.int32]
    first: NDArray[np.int64]
    unary: NDArray[np.float64]
    start: NDArray[np.int64]
    turned: NDArray[np.uint8]

    def transposed(self) -> Grid:
        """The same grid with columns for rows."""
        order = np.arange(len(self.variable)).reshape(self.shape).T.ravel()
        return Grid(
            self.shape[::-1], self.variable[order], self.domains[order], self.first[order], self.unary,
            np.ascontiguousarray(self.start[::-1, order]), np.ascontiguousarray(self.turned[::-1, order]),
        )  # fmt: skip


def grid_of(f: FactorGraph) -> Grid | None:
    """The factor graph as a grid, with at most as many rows as columns; None if it is none, or has a single row.

    Cells are found by the names of variables, if these are pairs of whole numbers (row and column) or whole numbers
    (row by row, as those of :meth:`FactorGraph.potts`), else by the order of the variables, row by row. Cells and
    neighbours may be missing. O(n + m log m)
    """
    domains, scope_start, scope, table_start, tables = f._flat()
    arity = np.diff(scope_start)
    if not f.n or arity.max(initial=0) != 2 or arity.min() == 0:
        return None
    pairs = np.flatnonzero(arity == 2)
    u, v = (scope[scope_start[pairs] + k].astype(np.int64) for k in (0, 1))
    places = _places(f, u, v)
    if places is None:
        return None
    row, column = places
    row, column = row - row.min(), column - column.min()
    height, width = int(row.max()) + 1, int(column.max()) + 1
    if min(height, width) < 2 or height * width > SPARSE * f.n:
        return None
    cell = row * width + column
    variable = np.full(height * width, -1, np.int64)
    variable[cell] = np.arange(f.n)
    low, high = np.minimum(cell[u], cell[v]), np.maximum(cell[u], cell[v])
    down = (high - low == width).astype(np.int64)
    to_right = (high - low == 1) & (high % width > 0)
    start, turned = np.full((2, height * width), -1, np.int64), np.zeros((2, height * width), np.uint8)
    start[down, low], turned[down, low] = table_start[pairs], cell[u] > low
    twice = np.count_nonzero(start >= 0) < len(pairs)
    if len(np.unique(cell)) < f.n or twice or not (to_right | (down > 0)).all():
        return None
    sizes = np.ones(height * width, np.int32)
    sizes[cell] = domains
    first = np.cumsum(sizes, dtype=np.int64) - sizes
    alone = np.flatnonzero(arity == 1)
    begins, entries = rows_of(table_start, tables, alone)
    owner = cell[scope[scope_start[alone]]]
    unary = np.zeros(int(sizes.sum()))
    np.add.at(unary, np.arange(len(entries)) + np.repeat(first[owner] - begins[:-1], sizes[owner]), entries)
    grid = Grid((height, width), variable, sizes, first, unary, start, turned)
    return grid if height <= width else grid.transposed()


def _places(f: FactorGraph, u: NDArray[np.int64], v: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...] | None:
    """Row and column of each variable, if neighbours may be neighbours in a grid."""
    names = f.variables
    number = np.arange(f.n)
    if not isinstance(names, range):
        if all(isinstance(one, tuple) and len(one) == 2 and all(isinstance(k, int) for k in one) for one in names):
            return tuple(np.array(names, np.int64).T)
        if all(isinstance(one, int) for one in names):
            number = np.array(names, np.int64)
    far = np.unique(np.abs(number[u] - number[v]))
    if len(far) > 2 or far[0] < 1 or (len(far) == 2 and far[0] > 1) or number.min() < 0:
        return None
    return np.divmod(number, far[-1])

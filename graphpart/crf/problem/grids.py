"""Factor graphs with tables of one shape, from arrays: grids of any number of axes, and listed pairs of variables.

The variables of a grid are its cells in row-major order. The pairs of a grid are those of neighbours along the first
axis, then those along the second one, and so on, each in row-major order of their first cells.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem.checks import integer_array, numbers_as_given, one_domain, real_array
from graphpart.crf.problem.factor_tables import FactorTables
from graphpart.errors import InvalidProblem
from graphpart.kernels import LARGEST_INDEX

__all__ = ["from_arrays_of_pairs", "grid_pairs", "numbers_of_pairs", "pairs_of", "rows_of_unary", "unless_named"]

Graph = TypeVar("Graph", bound=FactorTables)
Shape = tuple[int, ...]
Array = NDArray[np.float64]
ROWS = "expected costs of the shape (..., labels)"


def grid_pairs(shape: Shape) -> list[NDArray[np.int32]]:
    """The pairs of neighbours along each axis of a grid, each of shape (m, 2)."""
    at = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
    out = []
    for axis in range(len(shape)):
        moved = np.moveaxis(at, axis, 0)
        ends = [np.moveaxis(part, 0, axis).ravel() for part in (moved[:-1], moved[1:])]
        out.append(np.column_stack(ends))
    return out


def pairs_of(graph: Any, unary: Any) -> tuple[list[NDArray[np.int32]], int, Shape | None]:
    """(pairs along each axis, or all in one array; number of variables; shape of the grid, if it is one)."""
    costs = None if unary is None else numbers_as_given("unary", unary)
    if graph is None:
        if costs is None or costs.ndim < 2:
            found = "nothing" if costs is None else f"shape {costs.shape}"
            raise InvalidProblem(f"unary is {found}: without a graph, {ROWS}, one axis for each axis of the grid")
        graph = costs.shape[:-1]
    try:
        given = np.asarray(graph)
    except ValueError:
        given = np.zeros((), object)
    if given.ndim == 1 and given.size and given.dtype.kind in "iu":
        shape = tuple(given.tolist())
        if min(shape) < 0 or math.prod(shape) > LARGEST_INDEX:
            raise InvalidProblem(f"the grid has the shape {shape}: expected 0 to {LARGEST_INDEX} cells")
        return grid_pairs(shape), math.prod(shape), shape
    if given.ndim == 2 and (given.shape[1] == 2 or not given.size) and (given.dtype.kind in "iu" or not given.size):
        pairs = integer_array("pairs", given.reshape(-1, 2), np.int32)
        n = int(pairs.max(initial=-1)) + 1 if costs is None or costs.ndim < 2 else len(costs)
        bad = (pairs < 0) | (pairs >= n) | (pairs[:, :1] == pairs[:, 1:])
        if bad.any():
            k = int(np.flatnonzero(bad.any(axis=1))[0])
            raise InvalidProblem(f"pair {k} is {tuple(pairs[k].tolist())}: expected two variables from 0 to {n - 1}")
        return [pairs], n, None
    hint = ""
    if given.ndim >= 2 and given.dtype.kind in "iub":
        hint = "; for an image of labels: potts(unary=image[..., None] != np.arange(labels), weight=1.0)"
    elif given.ndim >= 2 and given.dtype.kind == "f":
        hint = "; for costs of labels: potts(unary=costs, weight=1.0), for intensities: (image[..., None] - means)**2"
    found = f"has shape {given.shape}" if given.dtype != object else f"is {type(graph).__name__}"
    raise InvalidProblem(
        f"graph {found}: expected the shape of a grid, pairs of variables (m, 2), or a networkx graph{hint}"
    )


def rows_of_unary(unary: Any, n: int, shape: Shape | None) -> NDArray[Any]:
    """Unary costs as an array (n, labels) of numbers of any type, since converted ones may take much memory.

    One number for each cell is the cost of label 1 of a binary variable.
    """
    costs = numbers_as_given("unary", unary)
    cells = (n,) if shape is None else shape
    if costs.shape == cells and (n > 1 or costs.ndim > 1):
        costs = np.stack([np.zeros(cells), costs], axis=-1)
    if costs.ndim < 1 or not costs.shape[-1] or costs.shape[:-1] not in {cells, (n,), ()}:
        expected = f"({', '.join(map(str, cells))}, labels)"
        hint = "; numpy.moveaxis(unary, 0, -1) has it" if costs.shape[1:] in {cells, (n,)} else ""
        raise InvalidProblem(
            f"unary has shape {costs.shape}: expected {expected}, costs of all labels along the last axis{hint}"
        )
    rows = np.broadcast_to(costs, (n, costs.shape[-1])) if costs.ndim == 1 else costs.reshape(n, costs.shape[-1])
    if rows.size and not rows.min() > -np.inf:  # true for NaN as well
        at, label = np.argwhere(~(rows > -np.inf))[0].tolist()
        where = at if shape is None else tuple(int(i) for i in np.unravel_index(at, shape))
        raise InvalidProblem(f"unary cost of label {label} at {where} is {rows[at, label]}: expected a number or inf")
    return rows


def unless_named(name: str, given: str, otherwise: Any) -> Any:
    """What is meant if nothing is given; the name of an attribute, which arrays do not have, is an error."""
    if given != name:  # the default
        raise InvalidProblem(
            f"{name} is {given!r}, the name of an attribute of networkx graphs: expected numbers for a grid or pairs"
        )
    return otherwise


def numbers_of_pairs(name: str, given: Any, pairs: list[NDArray[np.int32]], shape: Shape | None) -> Array:
    """A number for each pair: from one for all, one for each axis, an array for each axis, or one for each pair."""
    total = sum(map(len, pairs))
    if isinstance(given, str):
        given = unless_named(name, given, 1.0)
    if shape is not None and isinstance(given, list | tuple):  # else a pair of numbers might be for two pairs
        if len(given) != len(pairs):
            found = f"{len(given)} entries for a grid of {len(pairs)} axes"
            raise InvalidProblem(f"{name} has {found}: expected one for each axis, or an array with one for each pair")
        parts = [_along(f"{name} along axis {k}", one, shape, k) for k, one in enumerate(given)]
        return np.concatenate(parts)
    values = real_array(name, given)
    if shape is not None and values.shape == (len(shape),) != (total,):
        return np.repeat(_finite(name, values), list(map(len, pairs)))
    if values.ndim and values.shape != (total,):
        kind = f"one number, one for each axis, or arrays of the shapes {_shapes(shape)}" if shape else "one number"
        raise InvalidProblem(f"{name} has shape {values.shape}: expected {kind}, or ({total},), one for each pair")
    return _finite(name, np.broadcast_to(values, (total,)))


def _shapes(shape: Shape) -> str:
    return " and ".join(str(tuple(size - (k == axis) for k, size in enumerate(shape))) for axis in range(len(shape)))


def _along(name: str, given: Any, shape: Shape | None, axis: int) -> Array:
    values = real_array(name, given)
    cells = tuple(size - (k == axis) for k, size in enumerate(shape or ()))
    if values.ndim and values.shape != cells:
        raise InvalidProblem(f"{name} has shape {values.shape}: expected {cells}, or one number")
    return _finite(name, np.broadcast_to(values, cells).ravel())


def _finite(name: str, values: Array) -> Array:
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InvalidProblem(f"{name} of pair {bad[0]} is {values[bad[0]]}: expected a finite number")
    return values


def from_arrays_of_pairs(
    cls: type[Graph],
    unary: NDArray[Any] | None,
    labels: int,
    n: int,
    pairs: list[NDArray[np.int32]],
    numbers: Array | None,
    table: Array | None,
    shape: Shape | None,
) -> Graph:
    """Unary factors of all variables, then a table for each pair: `table`, times its number if there are numbers."""
    size = one_domain("of all", labels) if unary is None else unary.shape[1]
    m, k = sum(map(len, pairs)), 0 if unary is None else n
    tables = (1.0 - np.eye(size) if table is None else table).reshape(-1, size, size)
    which = np.arange(m) if len(tables) == m else np.zeros(m, np.int64)
    if numbers is not None:  # one table for each different number
        values, which = np.unique(numbers, return_inverse=True)
        if len(values) == len(numbers):
            values, which = numbers, np.arange(len(numbers))
        tables = values[:, None, None] * tables
    start, begins = np.empty(k + m + 1, np.int64), np.empty(k + m + 1, np.int64)
    start[:k], start[k:] = np.arange(k), np.arange(k, k + 2 * m + 1, 2)
    begins[:k], begins[k:-1] = np.arange(0, k * size, size), k * size + size * size * which
    scope = np.concatenate([np.arange(k, dtype=np.int32), *(part.ravel() for part in pairs)])
    own = np.zeros(0) if unary is None else unary.ravel()
    flat = np.concatenate([own, tables[:m].ravel()], dtype=np.float64)
    begins[-1] = len(flat)
    del which, own
    f = cls.of_csr(range(n), np.full(n, size, np.int32), start, scope, flat, begins)
    f.shape = shape
    return f

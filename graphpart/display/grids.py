"""Whether elements or variables lie on a grid: by its shape, where it is known, or by which of them are neighbours.

Names are never enough: those of records often have two numbers, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["grid_of", "grid_of_problem"]

Integers = NDArray[np.integer[Any]]
TWO = re.compile(r"\D*(\d{1,6})\D+(\d{1,6})\D*")


def grid_of(
    names: Sequence[Any], u: Integers, v: Integers, shape: tuple[int, ...] | None = None
) -> tuple[Integers, Integers] | None:
    """Rows and columns of all elements; None if they lie on no grid.

    Parameters
    ----------
    names : sequence of hashables
        ``(row, column)``, or text with two whole numbers in it, such as ``x_3_5``; else they count from 0, row by row.
    u, v : ndarray of int
        Pairs of elements, as indices: on a grid most of them are neighbours. Names alone make no grid.
    shape : tuple of int, optional
        Of the grid that the problem was made from; the planes of a volume are placed side by side.

    Examples
    --------
    >>> u, v = np.array([0, 1, 3, 4, 6, 7, 0, 1, 2, 3, 4, 5]), np.array([1, 2, 4, 5, 7, 8, 3, 4, 5, 6, 7, 8])
    >>> grid_of([(i, j) for i in range(3) for j in range(3)], u, v)[1].tolist()
    [0, 1, 2, 0, 1, 2, 0, 1, 2]
    >>> grid_of([f"record-{i}-{j}" for i in range(3) for j in range(3)], u[:2], v[:2])
    """
    if shape is not None and len(shape) in (2, 3) and math.prod(shape) == len(names):
        return _by_shape(shape)
    if len(names) < 9:  # fewer elements make no grid
        return None
    return _by_name(names, u, v) or _by_neighbours(len(names), u, v)


def grid_of_problem(problem: Any) -> tuple[Integers, Integers] | None:
    """Rows and columns of the elements of a SetPartition; of pairs, only those that are not lifted are looked at."""
    shape = None if problem._origin is None else problem._origin.shape
    if not problem.n or (shape is None and problem.is_dense):  # of a matrix no neighbours can be told
        return None
    none = np.zeros(0, np.int64)
    u, v = (none, none) if problem.is_dense else problem.pairs()[:2]
    if problem.lifted is not None:
        u, v = u[~problem.lifted], v[~problem.lifted]
    return grid_of(problem.nodes, u, v, shape)


def _by_shape(shape: tuple[int, ...]) -> tuple[Integers, Integers]:
    depth, height, width = (1, *shape)[-3:]
    across = max(1, min(depth, round(math.sqrt(depth * height / width))))  # planes beside each other, about a square
    plane, rest = np.divmod(np.arange(depth * height * width), height * width)
    return plane // across * height + rest // width, plane % across * width + rest % width


def _by_name(names: Sequence[Any], u: Integers, v: Integers) -> tuple[Integers, Integers] | None:
    """Names that say places which the pairs confirm."""
    if isinstance(names, range):
        return None
    places = []
    for name in names:
        if isinstance(name, tuple) and len(name) == 2 and all(isinstance(x, int | np.integer) for x in name):
            places.append((int(name[0]), int(name[1])))
        elif isinstance(name, str) and (found := TWO.fullmatch(name)):
            places.append((int(found[1]), int(found[2])))
        else:
            return None
    try:
        grid = np.array(places, np.int64)
    except OverflowError:
        return None
    row, column = grid[:, 0] - grid[:, 0].min(), grid[:, 1] - grid[:, 1].min()
    height, width = int(row.max()) + 1, int(column.max()) + 1
    if min(height, width) < 2 or 2 * len(names) < height * width:
        return None
    index = np.full(height * width, -1, np.int64)
    index[row * width + column] = np.arange(len(names))
    if np.count_nonzero(index >= 0) < len(names):
        return None
    at = index.reshape(height, width)
    expected = sum(int(np.count_nonzero((x >= 0) & (y >= 0))) for x, y in ((at[1:], at[:-1]), (at[:, 1:], at[:, :-1])))
    near = int(np.count_nonzero(np.abs(row[u] - row[v]) + np.abs(column[u] - column[v]) == 1))
    return (row, column) if _is_grid(near, len(u) - near, expected) else None


def _is_grid(near: int, far: int, expected: int) -> bool:
    """Whether nine tenths of the pairs of neighbours are there, and at most half as many others."""
    return near >= 0.9 * expected and 2 * far <= expected


def _by_neighbours(n: int, u: Integers, v: Integers) -> tuple[Integers, Integers] | None:
    """A grid of width w: most pairs are (i, i + 1) within a row, or (i, i + w)."""
    distance = np.abs(v.astype(np.int64) - u)
    values, counts = np.unique(distance, return_counts=True)
    if not len(values) or values[0] != 1:
        return None
    steps = values > 1
    if not steps.any():
        return None
    width = int(values[steps][np.argmax(counts[steps])])
    if n % width or n // width < 2 or width < 3:
        return None
    low = np.minimum(u, v).astype(np.int64)
    right = int(np.count_nonzero((distance == 1) & (low % width < width - 1)))
    wrong = int(np.count_nonzero((distance == 1) & (low % width == width - 1)))
    down = int(np.count_nonzero(distance == width))
    height = n // width
    expected = height * (width - 1) + (height - 1) * width
    if wrong or not _is_grid(right + down, len(distance) - right - down, expected):
        return None
    index = np.arange(n)
    return index // width, index % width

"""Whether elements or variables lie on a grid: by their names, or by which of them are neighbours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["grid_of"]

Integers = NDArray[np.integer[Any]]
TWO = re.compile(r"\D*(\d{1,6})\D+(\d{1,6})\D*")
LEAST = 9  # elements that make a grid
FILLED = 0.5  # share of the cells of a grid that have an element, at least
FEW_LONG = 0.5  # pairs that are not neighbours, as a share of those that are


def grid_of(names: Sequence[Any], u: Integers, v: Integers) -> tuple[Integers, Integers] | None:
    """Rows and columns of all elements; None if they lie on no grid.

    Parameters
    ----------
    names : sequence of hashables
        ``(row, column)``, or text with two whole numbers in it, such as ``x_3_5``; else they count from 0, row by row.
    u, v : ndarray of int
        Pairs of elements, as indices: on a grid counted from 0 most of them are neighbours.

    Examples
    --------
    >>> none = np.zeros(0, int)
    >>> grid_of([(i, j) for i in range(3) for j in range(3)], none, none)[1].tolist()
    [0, 1, 2, 0, 1, 2, 0, 1, 2]
    """
    if len(names) < LEAST:
        return None
    return _by_name(names) or _by_neighbours(len(names), u, v)


def _by_name(names: Sequence[Any]) -> tuple[Integers, Integers] | None:
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
    if min(height, width) < 2 or len(names) < FILLED * height * width:
        return None
    if len(np.unique(row * width + column)) < len(names):
        return None
    return row, column


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
    if wrong or right + down < 0.9 * expected or len(distance) - right - down > FEW_LONG * expected:
        return None
    index = np.arange(n)
    return index // width, index % width

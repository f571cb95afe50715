"""Symmetric matrices from their upper halves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["mirror_upper", "symmetric_matrix"]


def symmetric_matrix(n: int, draw: Callable[[int], NDArray[Any]]) -> NDArray[np.float64]:
    """A symmetric matrix with zero diagonal; ``draw(k)`` makes the k entries of a row right of the diagonal."""
    matrix = np.zeros((n, n))
    for a in range(n - 1):
        matrix[a, a + 1 :] = draw(n - 1 - a)
    mirror_upper(matrix)
    return matrix


def mirror_upper(matrix: NDArray[np.float64]) -> None:
    """Copy the triangle above the diagonal to the one below, in place, and set the diagonal to 0."""
    n, step = len(matrix), 512  # rows and columns at a time: two blocks fit in a cache
    for top in range(0, n, step):
        rows = slice(top, min(top + step, n))
        corner = matrix[rows, rows]
        corner[:] = np.triu(corner, 1) + np.triu(corner, 1).T
        for left in range(top + step, n, step):
            columns = slice(left, min(left + step, n))
            matrix[columns, rows] = matrix[rows, columns].T

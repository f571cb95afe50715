"""Matrices of any kind as arrays: plain, sparse, or data frames, whose labels become names of elements."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.steps import ROUNDING
from graphpart.display import plural
from graphpart.errors import InvalidProblem, warn
from graphpart.kernels import _pairs
from graphpart.partition.inputs.arrays import check_mirrored, check_square, float_array, is_own
from graphpart.partition.inputs.frames import is_frame, library

__all__ = ["check_diagonal", "matrix_and_names", "sparse_pairs", "symmetric"]

SINGLE = 1e-5  # relative difference between C[a, b] and C[b, a] that counts as rounding, if they have 24 bits or fewer
UNITS = 64  # rounding errors of the largest entry, too, that an entry may differ by: small ones may be differences

Triples = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]


def matrix_and_names(matrix: Any, nodes: Iterable[Hashable] | None) -> tuple[Any, Iterable[Hashable] | None]:
    """A matrix without labels, and the names of its elements: `nodes`, else the labels of a data frame, else None.

    Raises
    ------
    InvalidProblem
        If rows and columns of a data frame have different labels.
    """
    if not is_frame(matrix):
        return matrix, nodes
    if library(matrix) == "pandas":
        names, rows = list(matrix.columns), list(matrix.index)
        if len(rows) == len(names) and rows != names and rows != list(range(len(rows))):
            if sorted(map(repr, rows)) != sorted(map(repr, names)):
                at = next(i for i, (a, b) in enumerate(zip(rows, names, strict=True)) if a != b)
                raise InvalidProblem(
                    f"row {at} of the matrix is named {rows[at]!r} but column {at} {names[at]!r}: expected the same "
                    "names; for a table with a row for each pair see from_frame"
                )
            matrix = matrix.loc[names]
    elif library(matrix) == "pyarrow":
        names = list(matrix.column_names)
        matrix = np.column_stack([column.to_numpy() for column in matrix.columns]) if names else np.zeros((0, 0))
    else:
        names = list(matrix.columns)
    if len(names) != len(matrix):
        raise InvalidProblem(
            f"a table with {plural(len(matrix), 'row')} and {plural(len(names), 'column')} is no matrix: "
            "expected as many of both; for a table with a row for each pair see from_frame"
        )
    return (matrix.to_numpy() if hasattr(matrix, "to_numpy") else matrix), names if nodes is None else nodes


def tolerances(dtype: Any, largest: float) -> tuple[float, float]:
    """The relative and the absolute difference that count as rounding, for entries up to the largest one."""
    if dtype.kind != "f" or not math.isfinite(largest):
        return ROUNDING, 0.0
    precision = float(np.finfo(dtype).eps)
    return max(ROUNDING, SINGLE if precision > 1e-12 else 0.0, 8 * precision), UNITS * precision * largest


def check_diagonal(matrix: Any) -> None:
    """Warn if the diagonal says that entries may not be costs of pairs.

    If its entries differ and half of them are larger than all others, they may be meant as costs. If all are 1
    and hardly any other entry is as large, the matrix may be one of similarities, where large entries mean
    alike. A diagonal of the same size as other entries comes from a formula.
    """
    diagonal = np.asarray(matrix.diagonal(), np.float64)
    if not len(diagonal) or np.isnan(diagonal).any():
        return
    low, high = float(diagonal.min()), float(diagonal.max())
    if not high - low > SINGLE * max(abs(low), abs(high)):
        most, n = 1 + SINGLE, len(diagonal)
        others = matrix if isinstance(matrix, np.ndarray) else matrix.tocoo().data
        signs = (
            abs(high - 1) <= SINGLE and -most <= others.min() < 0 and others.max() <= most and (others > 0).sum() > n
        )
        if signs and (np.abs(others) >= 1 - SINGLE).sum() <= 2 * n:  # not those of a graph, all of one size
            warn(
                "each entry of the diagonal of the matrix is 1 and none is larger, as in a matrix of "
                "similarities or correlations, but a positive cost keeps a pair apart: if large entries shall join, "
                "read them by SetPartition.from_similarity, with a threshold"
            )
        return
    largest = 0.0
    if isinstance(matrix, np.ndarray):
        for a, row in enumerate(matrix):  # row by row: no copy of all
            sizes = np.abs(row)
            sizes[a] = 0.0
            largest = max(largest, float(sizes.max(where=np.isfinite(sizes), initial=0.0)))
    else:
        coo = matrix.tocoo()
        sizes = np.abs(coo.data[coo.row != coo.col])
        largest = float(sizes.max(where=np.isfinite(sizes), initial=0.0))
    if np.median(np.abs(diagonal)) > largest:
        warn(
            f"the diagonal of the matrix is ignored, since it pairs elements with themselves, but has entries from "
            f"{low:.4g} to {high:.4g}, larger than all others: if they are costs of elements, they do not count; else "
            "set them to 0"
        )


def symmetric(matrix: Any, copy: bool, of: str = "costs") -> tuple[NDArray[np.float64], int]:
    """A dense matrix, made exactly symmetric with zero diagonal, and its number of non-zero entries above it.

    `of`: costs, similarities (large entries join) or distances, for messages.

    Raises
    ------
    InvalidProblem
        If it is not square, not symmetric up to rounding, or contains NaN.
    """
    dtype = getattr(matrix, "dtype", np.dtype(np.float64))
    copied = float_array("matrix", matrix, copy=copy or not is_own(matrix))
    check_square(copied.shape)
    undefined = np.isnan(np.diagonal(copied))
    if undefined.any() and not undefined.all():  # all of it is NaN on purpose
        a = int(np.argmax(undefined))
        warn(
            f"matrix[{a}, {a}] is nan, other entries of the diagonal are numbers: the diagonal is ignored, but what "
            f"computed the matrix may have failed for element {a}"
        )
    if of == "costs":
        check_diagonal(copied)
    rounding = 0.0
    a, b, nonzeros = _pairs.symmetrise(copied, ROUNDING)
    if a >= 0 and isinstance(dtype, np.dtype):  # only now is the largest entry looked for
        relative, rounding = tolerances(dtype, float(np.abs(copied).max(where=np.isfinite(copied), initial=0.0)))
        a, b, nonzeros = _pairs.symmetrise(copied, relative, rounding)
    if a >= 0:
        if math.isnan(copied[a, b]):
            infinite = "inf (join) or -inf (cut)" if of == "similarities" else "inf (cut) or -inf (join)"
            raise InvalidProblem(f"matrix[{a}, {b}] is nan: expected a number, {infinite}")
        mean = {"similarities": "(S + S.T) / 2", "distances": "(D + D.T) / 2"}.get(
            of, "C + C.T, or (C + C.T) / 2 where they are two measurements of the same"
        )
        raise InvalidProblem(
            f"matrix[{a}, {b}] is {copied[a, b]} but matrix[{b}, {a}] is {copied[b, a]}: expected a symmetric "
            f"matrix; if both directions carry evidence, pass {mean}"
        )
    return copied, nonzeros


def sparse_pairs(matrix: Any, triangle: bool = False) -> tuple[int, Triples]:
    """The size of a scipy.sparse matrix, and its pairs (u, v, value) with u < v.

    Raises
    ------
    InvalidProblem
        If it is not square, or not symmetric up to rounding. With `triangle`, entries of one triangle are enough.
    """
    coo = matrix.tocoo(copy=True)
    coo.sum_duplicates()
    check_square(coo.shape)
    data = float_array("matrix", coo.data, copy=False)
    up, down = coo.row < coo.col, coo.row > coo.col
    upper: Triples = coo.row[up], coo.col[up], data[up]
    lower: Triples = coo.col[down], coo.row[down], data[down]
    if triangle and not (len(upper[2]) and len(lower[2])):
        return coo.shape[0], upper if len(upper[2]) else lower
    largest = float(np.abs(data).max(where=np.isfinite(data), initial=0.0))
    check_mirrored(upper, lower, *tolerances(coo.data.dtype, largest))
    return coo.shape[0], upper

"""Pairs of pixels or voxels: an array of affinities for each offset becomes pairs of flat indices and values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidProblem
from graphpart.kernels import LARGEST_INDEX
from graphpart.partition.inputs.arrays import float_array

__all__ = ["joined_offsets", "pairs_at", "pairs_of_grid"]


def joined_offsets(offsets: ArrayLike, lifted: ArrayLike) -> NDArray[Any]:
    """All offsets, those of lifted pairs last.

    Raises
    ------
    InvalidProblem
        If they differ in the number of dimensions.
    """
    a, b = np.asarray(offsets), np.asarray(lifted)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise InvalidProblem(
            f"offsets has shape {a.shape}, lifted_offsets has shape {b.shape}: expected rows of one length in both"
        )
    return np.concatenate([a, b])


def pairs_at(shape: tuple[int, ...], offsets: ArrayLike) -> int:
    """The number of pairs of a grid that lie one of these offsets apart."""
    return sum(
        math.prod(max(0, size - abs(x)) for size, x in zip(shape, step, strict=True))
        for step in np.asarray(offsets).tolist()
    )


def pairs_of_grid(
    affinities: ArrayLike, offsets: ArrayLike
) -> tuple[tuple[int, ...], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """(shape of the grid, u, v, values) of all pairs of a grid that lie an offset apart.

    Raises
    ------
    InvalidProblem
        If the arrays do not fit each other, an offset is zero or repeated, or a value within the grid is NaN.
    """
    values = float_array("affinities", affinities, copy=False)
    steps = np.asarray(offsets)
    if steps.ndim != 2 or steps.dtype.kind not in "iu" or not steps.size:
        raise InvalidProblem(
            f"offsets has shape {steps.shape} and dtype {steps.dtype}: expected (k, dimensions) integers"
        )
    k, d = steps.shape
    if values.ndim != d + 1 or len(values) != k:
        raise InvalidProblem(
            f"affinities has shape {values.shape} for {k} offsets in {d} dimensions: expected one array of {d} "
            "dimensions for each offset"
        )
    shape = values.shape[1:]
    n = math.prod(shape)
    if n > LARGEST_INDEX:
        raise InvalidProblem(f"a grid of shape {shape} has {n} elements: expected at most {LARGEST_INDEX}")
    seen: set[tuple[int, ...]] = set()
    index = np.arange(n, dtype=np.int32).reshape(shape)
    parts: list[tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]] = []
    for i, step in enumerate(steps.tolist()):
        forward = max(tuple(step), tuple(-x for x in step))  # the same pairs as the opposite offset
        if not any(step) or forward in seen:
            what = "is given twice, perhaps with the other sign" if any(step) else "pairs each element with itself"
            raise InvalidProblem(f"offset {i}, {tuple(step)}, {what}: expected different ones")
        seen.add(forward)
        here = tuple(slice(max(0, -x), max(0, size - max(0, x))) for x, size in zip(step, shape, strict=True))
        there = tuple(slice(max(0, x), max(0, size + min(0, x))) for x, size in zip(step, shape, strict=True))
        found = values[i][here].ravel()
        if np.isnan(found).any():
            at = np.unravel_index(int(index[here].ravel()[np.argmax(np.isnan(found))]), shape)
            place = tuple(int(x) for x in at)
            raise InvalidProblem(f"affinities[{i}] is nan at {place}: expected a number for each pair within the grid")
        a, b = index[here].ravel(), index[there].ravel()
        parts.append((np.minimum(a, b), np.maximum(a, b), found))
    u, v, found = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return shape, u, v, found

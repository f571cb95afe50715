"""Arguments of users, checked and as arrays for the kernels: regions, probabilities, affinities, images and spacing.

Messages name the argument, the first wrong voxel, the expected value, and the call that helps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption, InvalidProblem

__all__ = [
    "affinities_of",
    "check_shape",
    "check_threshold",
    "mask_of",
    "probabilities_of",
    "regions_of",
    "spacing_of",
    "three",
]

Floats = NDArray[np.float32]
Regions = NDArray[np.int32]


def regions_of(regions: Any) -> tuple[Regions, NDArray[Any]]:
    """(array of region numbers, the label of each number): as they are, unless they are too large for a table."""
    array = np.asarray(regions)
    if array.ndim not in (2, 3) or not array.size:
        raise InvalidProblem(f"regions has shape {array.shape}: expected a picture or a volume, of 2 or 3 axes")
    if array.dtype.kind not in "iu":
        raise InvalidProblem(
            f"regions has dtype {array.dtype}: expected integers, one for each region, and 0 where there is none"
        )
    if array.dtype.kind == "i" and int(array.min()) < 0:
        at = np.unravel_index(int(np.argmax(array < 0)), array.shape)
        raise InvalidProblem(f"regions is {array[at]} at {place(at)}: expected numbers from 1, and 0 for no region")
    largest = int(array.max())
    if largest <= min(2**31 - 2, 4 * array.size + 1000):  # not much larger than the array
        if array.dtype == np.uint32:
            array = array.view(np.int32)  # no copy
        return np.ascontiguousarray(array, np.int32), np.arange(largest + 1, dtype=np.int64)
    labels, inverse = np.unique(array, return_inverse=True)
    if labels[0] != 0:
        labels, inverse = np.concatenate([labels[:1] * 0, labels]), inverse + 1
    return np.ascontiguousarray(inverse.reshape(array.shape), np.int32), labels


def probabilities_of(values: Any, name: str = "boundary", shape: tuple[int, ...] | None = None) -> Floats:
    """Probabilities as a contiguous array of float32.

    Raises
    ------
    InvalidProblem
        If they are no numbers from 0 to 1, or of another shape than expected.
    """
    array = np.asarray(values)
    if shape is None:
        if array.ndim not in (2, 3) or not array.size:
            raise InvalidProblem(f"{name} has shape {array.shape}: expected a picture or a volume, of 2 or 3 axes")
    else:
        check_shape(array, name, shape)
    if array.dtype.kind not in "fiub":
        raise InvalidProblem(f"{name} has dtype {array.dtype}: expected probabilities from 0 to 1")
    if array.size == 0:
        return np.ascontiguousarray(array, np.float32)
    low, high = array.min(), array.max()
    if array.dtype.kind in "iu" and high > 1:
        bits = 8 * array.dtype.itemsize
        whole = next((most for most in (255, 65535) if high <= most), int(high))
        raise InvalidProblem(
            f"{name} has integers of {bits} bits, from {low} to {high}: expected probabilities from 0 to 1; divide by "
            f"{whole} if {whole} is a certain boundary; pass a photograph as image="
        )
    if not (low >= 0 and high <= 1):  # also if one is NaN
        at = np.unravel_index(int(np.argmin((array >= 0) & (array <= 1))), array.shape)
        hint = "; divide by 255 if 255 is certain" if 1 < high <= 255 and low >= 0 else ""
        raise InvalidProblem(f"{name} is {array[at]:g} at {place(at)}: expected probabilities from 0 to 1{hint}")
    return np.ascontiguousarray(array, np.float32)


def affinities_of(
    affinities: Any, offsets: Any, shape: tuple[int, ...] | None = None
) -> tuple[Floats, list[tuple[int, ...]]]:
    """Affinities, one array for each offset, and the offsets.

    Raises
    ------
    InvalidProblem
        If they do not fit each other, an offset reaches beyond the shape, or an affinity is no probability.
    """
    if affinities is None or offsets is None:
        given, other = ("offsets", "affinities") if affinities is None else ("affinities", "offsets")
        raise InvalidOption(f"{given} without {other}: expected both")
    array, steps = np.asarray(affinities), np.asarray(offsets)
    if steps.ndim != 2 or steps.dtype.kind not in "iu" or steps.shape[1] not in (2, 3):
        raise InvalidProblem(
            f"offsets has shape {steps.shape} and dtype {steps.dtype}: expected (k, 2) or (k, 3) integers"
        )
    if array.ndim != steps.shape[1] + 1 or len(array) != len(steps):
        raise InvalidProblem(
            f"affinities has shape {array.shape} for {len(steps)} offsets of {steps.shape[1]} axes: expected one "
            "picture or volume for each offset, along the first axis"
        )
    if shape is not None and array.shape[1:] != shape:
        raise InvalidProblem(
            f"affinities has shape {array.shape}: expected {(len(steps), *shape)}, as the regions have"
        )
    listed = [tuple(int(x) for x in step) for step in steps]
    for k, step in enumerate(listed):
        if not any(step):
            raise InvalidProblem(f"offset {k} is {step}: expected one that leads to another voxel")
        if any(abs(x) >= size for x, size in zip(step, array.shape[1:], strict=True)):
            raise InvalidProblem(
                f"offset {k}, {step}, reaches beyond the shape {array.shape[1:]}: expected shorter ones"
            )
    checked = np.ones(array.shape, np.float32)
    for k, step in enumerate(listed):  # values of voxels whose partner is outside do not count
        inner = tuple(slice(max(0, -x), size - max(0, x)) for x, size in zip(step, array.shape[1:], strict=True))
        one = array[k][inner]
        checked[k][inner] = probabilities_of(one, f"affinities[{k}]", one.shape)
    return checked, listed


def mask_of(mask: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """A mask as booleans: True where there is something to segment."""
    array = np.asarray(mask)
    check_shape(array, "mask", shape)
    if array.dtype.kind not in "biu":
        raise InvalidProblem(
            f"mask has dtype {array.dtype}: expected booleans, True where there is something to segment"
        )
    return array.astype(bool)


def spacing_of(spacing: Any, axes: int) -> tuple[float, ...]:
    """The size of a voxel along each axis; ones by default."""
    if spacing is None:
        return (1.0,) * axes
    try:
        sizes = tuple(float(x) for x in spacing)
    except (TypeError, ValueError):
        raise InvalidOption(f"spacing is {spacing!r}: expected the size of a voxel along each axis") from None
    if len(sizes) != axes or not all(0 < x < math.inf for x in sizes):
        raise InvalidOption(
            f"spacing is {spacing!r}: expected {axes} positive numbers, the size of a voxel along each axis"
        )
    return sizes


def check_threshold(threshold: Any) -> None:
    """Raise InvalidOption if a threshold is no probability between 0 and 1."""
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 < float(threshold) < 1:
        raise InvalidOption(f"threshold is {threshold!r}: expected a probability between 0 and 1")


def check_shape(array: NDArray[Any], name: str, shape: tuple[int, ...]) -> None:
    """Raise InvalidProblem if an array has another shape."""
    if array.shape != shape:
        raise InvalidProblem(f"{name} has shape {array.shape}: expected {shape}, as the regions or the boundary have")


def three(array: NDArray[Any]) -> NDArray[Any]:
    """Convert a picture to a volume of one slice; return a volume unchanged."""
    return array if array.ndim == 3 else array[None]


def place(at: Sequence[Any]) -> tuple[int, ...]:
    """An index as plain numbers."""
    return tuple(int(x) for x in at)

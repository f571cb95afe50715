"""Labels of any type as indices of sorted classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem

__all__ = ["class_of", "encode", "find_classes"]


def find_classes(labels: Sequence[Any], sizes: NDArray[np.int64], noun: str = "structure") -> NDArray[Any]:
    """The sorted labels that occur; raises InvalidProblem unless each structure has one for each of its variables."""
    if len(labels) != len(sizes):
        raise InvalidProblem(f"{len(labels)} arrays of labels for {len(sizes)} {noun}s: expected one for each")
    for k, (given, size) in enumerate(zip(labels, sizes.tolist(), strict=True)):
        array = vector(given)
        if array.shape != (size,):
            raise InvalidProblem(f"{noun} {k}: labels have shape {array.shape}: expected ({size},), one each")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            at = int(np.argmin(np.isfinite(array)))
            raise InvalidProblem(f"{noun} {k}: label {at} is {array[at]}: expected a label")
    every = joined(labels)
    if not len(every):
        raise InvalidProblem("there are no labels: expected at least one labelled variable")
    try:
        return np.unique(every)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in every.tolist()})
        raise InvalidProblem(f"labels of the types {', '.join(kinds)} cannot be sorted: expected one type") from None


def encode(
    labels: Sequence[Any], classes: NDArray[Any], unknown: int | None = None, noun: str = "structure"
) -> NDArray[np.int32]:
    """All labels, one after the other, as indices of classes; other labels become `unknown` or raise an error."""
    every = joined(labels)
    if not len(every):
        return np.zeros(0, np.int32)
    try:
        at = np.minimum(np.searchsorted(classes, every), len(classes) - 1)
        bad = classes[at] != every
    except TypeError:
        at, bad = np.zeros(len(every), np.int64), np.ones(len(every), bool)
    bad = np.broadcast_to(np.asarray(bad, bool), at.shape)
    if bad.any() and unknown is None:
        first = int(np.argmax(bad))
        k = int(np.searchsorted(np.cumsum([len(vector(y)) for y in labels]), first, side="right"))
        value = every[first]
        value = value.item() if hasattr(value, "item") else value
        shown = ", ".join(repr(c) for c in classes[:10].tolist()) + (", ..." if len(classes) > 10 else "")
        raise InvalidProblem(f"{noun} {k}: unknown label {value!r}: expected one of {shown}")
    return np.where(bad, -1 if unknown is None else unknown, at).astype(np.int32)


def joined(labels: Sequence[Any]) -> NDArray[Any]:
    """All labels in one vector; numbers and texts are not mixed, which NumPy would turn into texts."""
    arrays = [vector(y) for y in labels]
    arrays = [a for a in arrays if len(a)]
    if len({"number" if a.dtype.kind in "biuf" else a.dtype.kind for a in arrays}) > 1:
        arrays = [a.astype(object) for a in arrays]
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)


def vector(given: Any) -> NDArray[Any]:
    """Labels as a vector; mixed texts and numbers keep their types."""
    array = np.asarray(given)
    if array.dtype.kind in "US" and not hasattr(given, "dtype"):
        values = list(given)
        if not all(isinstance(value, str | bytes) for value in values):
            array = np.empty(len(values), object)
            array[:] = values
    return array


def class_of(values: list[Any]) -> NDArray[Any]:
    """Sorted classes with the types that they had before they were written to JSON."""
    classes = np.array(values)
    if not len(classes) or classes.ndim != 1 or len(np.unique(classes)) != len(classes):
        raise ValueError("labels: expected a list of different numbers or texts")
    return classes

"""Elements or variables sorted by their components, as the first step of splitting a problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["distinct", "first_of", "group", "places_within"]


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The values in ascending order, each once. Many integers take less time to be sorted than `numpy.unique` takes.

    Examples
    --------
    >>> distinct(np.array([5, 2, 5])).tolist()
    [2, 5]
    """
    ordered = np.sort(values)
    return np.asarray(ordered[np.diff(ordered, prepend=ordered[:1] - 1) != 0])


def first_of(labels: NDArray[np.signedinteger[Any]]) -> NDArray[np.int64]:
    """The place where each label first occurs, for labels from 0 on, in ascending order of the labels that there are.

    O(n) if the labels are 0, 1, ... in order of first appearance, as canonical labels are, else O(n log n).

    Examples
    --------
    >>> first_of(np.array([0, 0, 1, 0, 2])).tolist(), first_of(np.array([5, 2, 5])).tolist()
    ([0, 2, 4], [1, 0])
    """
    highest = np.maximum.accumulate(labels)
    first = np.flatnonzero(np.diff(highest, prepend=-1))
    if len(first) and highest[-1] + 1 != len(first):  # the labels that exceed all those before are not all labels
        first = np.unique(labels, return_index=True)[1]
    return first.astype(np.int64, copy=False)


def group(labels: NDArray[np.integer[Any]], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Indices sorted by label, ascending within each, and the start of each of the labels 0, ..., count - 1.

    Examples
    --------
    >>> order, start = group(np.array([1, 0, 1]), 2)
    >>> order.tolist(), start.tolist()
    ([1, 0, 2], [0, 1, 3])
    """
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(labels, minlength=count), out=start[1:])
    return np.argsort(labels, kind="stable"), start


def places_within(order: NDArray[np.int64], start: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each index within its group.

    Examples
    --------
    >>> places_within(np.array([1, 0, 2]), np.array([0, 1, 3])).tolist()
    [0, 0, 1]
    """
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - np.repeat(start[:-1], np.diff(start))
    return place

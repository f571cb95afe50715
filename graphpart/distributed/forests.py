"""Components of attractive rows, from spanning forests of chunks of rows.

The task that reads a chunk saves a spanning forest of its attractive rows. All forests together have the same
components as all rows, and at most one edge for each element and chunk. So one worker unites them in little time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.distributed._streaming import numbered, unite_below
from graphpart.distributed.folder import Folder, Work

__all__ = ["MOST", "save", "united"]

MOST = int(np.iinfo(np.int32).max)  # larger than any element
SPARSE = 8  # largest range of the elements of a chunk, divided by its rows; above, its rows are the forest


def save(work: Work, u: Any, v: Any, cost: Any) -> None:
    """Save edges ``child``, ``parent`` of a chunk, and the number of rows at some elements of each tree."""
    first = int(u.min(initial=MOST))
    span = int(v.max(initial=first)) + 1 - first  # each u is less than its v
    if span <= SPARSE * len(u):
        tree = np.arange(span, dtype=np.int32)
        a = u - np.int32(first)
        unite_below(tree, a, v - np.int32(first), cost, 0.0)
        below = tree != np.arange(span, dtype=np.int32)
        child, root = np.flatnonzero(below).astype(np.int32), np.flatnonzero(~below).astype(np.int32)
        parent = tree[child] + np.int32(first)
        child += np.int32(first)
        numbered(tree)
        rows = np.bincount(tree, np.bincount(a, minlength=span), len(root)).astype(np.int64)
        root, rows = root[rows > 0] + np.int32(first), rows[rows > 0]
    else:
        attractive = np.flatnonzero(cost < 0)
        child, parent, root, rows = v[attractive], u[attractive], u, np.ones(len(u), np.int64)
    for name, array in (("child", child), ("parent", parent), ("root", root), ("rows", rows)):
        work.save(f"{work.number}.{name}", array)


def united(folder: Folder, rows: str, chunks: int, n: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The component of each element, and the number of rows of each component."""
    component = np.arange(n, dtype=np.int32)
    for k in range(chunks):
        child, parent = folder.load(rows, f"{k}.child"), folder.load(rows, f"{k}.parent")
        unite_below(component, child, parent, np.full(len(child), -1.0), 0.0)
    count = numbered(component)
    weights = np.zeros(count)
    for k in range(chunks):
        weights += np.bincount(component[folder.load(rows, f"{k}.root")], folder.load(rows, f"{k}.rows"), count)
    return component, weights

"""The connected components of the non-zero pairs of a problem, as problems of their own.

A pair between two components costs nothing, so solving each apart loses nothing, and lower bounds add up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.problem import Labels, SetPartition, canonical

__all__ = ["join_labels", "split"]


def split(p: SetPartition) -> list[tuple[NDArray[np.int64], SetPartition]]:
    """The components with at least two elements: (ascending elements, the problem over them), in order of appearance.

    For a problem without required joins. O(n + m log m), plus the copies of matrices.
    """
    component = p.components()
    sizes = np.bincount(component, minlength=1)
    if p.n and len(sizes) == 1:
        return [(np.arange(p.n), p)] if p.n > 1 else []
    elements = np.split(np.argsort(component, kind="stable"), np.cumsum(sizes)[:-1])
    large = [k for k in range(len(sizes)) if sizes[k] > 1]
    if p.matrix is not None:
        return [(elements[k], p.restrict(elements[k])) for k in large]
    place = np.empty(p.n, np.int64)
    for k in large:
        place[elements[k]] = np.arange(sizes[k])
    u, v, cost = p.pairs()
    of_pair = component[u]
    order = np.argsort(of_pair, kind="stable")
    ends = np.cumsum(np.bincount(of_pair, minlength=len(sizes)))
    parts = []
    for k in large:
        pairs = order[ends[k - 1] if k else 0 : ends[k]]
        pairs = pairs[cost[pairs] != 0]
        small = SetPartition.from_pairs(int(sizes[k]), (place[u[pairs]], place[v[pairs]]), cost[pairs])
        parts.append((elements[k], small))
    return parts


def join_labels(n: int, parts: Sequence[tuple[NDArray[np.int64], Labels]]) -> Labels:
    """Labels of all n elements from canonical labels of some components; all other elements are alone."""
    labels = np.arange(n, dtype=np.int64)
    for elements, part in parts:
        first = np.unique(part, return_index=True)[1]
        labels[elements] = elements[first][part]
    return canonical(labels)

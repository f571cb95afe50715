"""The components of a labelled partition, as problems of their own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphpart.kernels._pairs import connected_components
from graphpart.labeled.arrays import Arrays
from graphpart.labeled.labeled_partition import LabeledPartition

__all__ = ["components"]


def components(q: LabeledPartition) -> Iterator[tuple[NDArray[np.int64], LabeledPartition]]:
    """(elements, problem) of each connected component of the listed pairs, the smallest first.

    O(n + m) and the sizes of the components; one component is the problem itself.
    """
    component = connected_components(q.n, q.u, q.v)
    count = int(component.max(initial=-1)) + 1
    if count <= 1:
        yield np.arange(q.n), q
        return
    order = np.argsort(component, kind="stable")
    ends = np.cumsum(np.bincount(component, minlength=count))
    pairs = np.argsort(component[q.u], kind="stable")
    pair_ends = np.cumsum(np.bincount(component[q.u], minlength=count))
    place = np.empty(q.n, np.int32)
    for k in np.argsort(np.diff(ends, prepend=0), kind="stable").tolist():
        elements = order[ends[k - 1] if k else 0 : ends[k]]
        mine = pairs[pair_ends[k - 1] if k else 0 : pair_ends[k]]
        place[elements] = np.arange(len(elements))
        arrays = Arrays(q.label_costs[elements], place[q.u[mine]], place[q.v[mine]], q.joined[mine], q.parted[mine])
        yield elements, LabeledPartition._of([q.nodes[a] for a in elements.tolist()], arrays)

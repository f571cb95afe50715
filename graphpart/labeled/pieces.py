"""The components of a labelled partition, as problems of their own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import group, places_within
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
    order, start = group(component, count)
    pairs, first = group(component[q.u], count)
    place = places_within(order, start).astype(np.int32)
    for k in np.argsort(np.diff(start), kind="stable").tolist():
        elements, mine = order[start[k] : start[k + 1]], pairs[first[k] : first[k + 1]]
        arrays = Arrays(q.label_costs[elements], place[q.u[mine]], place[q.v[mine]], q.joined[mine], q.parted[mine])
        yield elements, LabeledPartition._of([q.nodes[a] for a in elements.tolist()], arrays)

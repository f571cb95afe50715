"""From one level to the next: the subsets found become elements, and the costs of pairs between them are summed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.distributed import pairs
from graphpart.distributed.folder import Work
from graphpart.kernels import _pairs

__all__ = ["compact", "contract", "numbered", "renumbered"]


def compact(labels: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Labels below n as 0, 1, ... in their order."""
    seen = np.zeros(n, bool)
    seen[labels] = True
    return np.asarray((np.cumsum(seen) - 1)[labels])


def numbered(work: Work, n: int, solutions: str, sizes: list[int | None], kept: str = "") -> int:
    """A task: for each element the number of its subset, in order of first appearance; saves ``labels``.

    `sizes` has the number of subsets that each task of the stage `solutions` has found, None for
    tasks that are not done. All other elements keep their subsets of the stage `kept`, or are alone.
    """
    labels = np.full(n, -1, np.int64)
    offset = 0
    for k, size in enumerate(sizes):
        if size is None:
            continue
        labels[work.folder.load(solutions, f"{k}.elements")] = offset + work.folder.load(solutions, f"{k}.labels")
        offset += size
    others = np.flatnonzero(labels < 0)
    labels[others] = offset + (compact(work.folder.load(kept, "labels")[others], n) if kept else np.arange(len(others)))
    canonical, count = _pairs.canonical_labels(labels)
    work.save("labels", canonical)
    return count


def renumbered(work: Work, below: str, above: str) -> int:
    """A task: labels of elements of the first level, from those of a level in between and of its subsets."""
    labels = work.folder.load(above, "labels", mapped=False)[work.folder.load(below, "labels")]
    canonical, count = _pairs.canonical_labels(labels.astype(np.int64))
    work.save("labels", canonical)
    return count


def contract(work: Work, level: str, division: str, labels: str, negative: bool) -> dict[str, Any]:
    """A task: the pairs of a range between different subsets, as pairs of these.

    If `division` names a stage, only pairs within its large components are used; if it is "", all pairs. With
    `negative`, only pairs of negative cost are used, and lifted ones are as others.
    """
    label = work.folder.load(labels, "labels")
    u, v, cost = pairs.load(work.folder, level, work.number)
    a, b = label[u], label[v]
    kept = a != b
    if division:
        component, large = work.folder.load(division, "component"), work.folder.load(division, "large")
        kept &= (component[u] == component[v]) & large[component[u]]
    if negative:
        kept &= cost < 0
    ends = pairs.oriented(a[kept], b[kept], (u > v)[kept] & (not negative))
    return pairs.save_sorted(work, *ends, cost[kept])

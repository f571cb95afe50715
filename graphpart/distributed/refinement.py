"""Refinement: groups of neighbouring subsets, across former borders of blocks, are solved again together.

Subsets that attractive pairs connect are united to groups of limited weight, from the strongest attraction to the
weakest. Subsets that were in no common group before come first. A group consists of whole subsets. A change within a
group therefore does not affect other groups, the gains of all groups add up, and no round increases the cost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphpart.distributed import pairs
from graphpart.distributed._streaming import numbered, unite_within
from graphpart.distributed.blocks import NOBODY, packed
from graphpart.distributed.folder import Folder

__all__ = ["group"]


def group(
    folder: Folder,
    stage: str,
    number: int,
    n: int,
    level: str,
    ranges: int,
    borders: str,
    parts: int,
    labels: str,
    before: str,
    most: int,
) -> dict[str, Any]:
    """A task: for each element its group, as ``block``, and its ``task``, as `divide` saves them.

    `borders` has the attraction between subsets, `before` the division whose blocks were solved last.
    """
    label = folder.load(labels, "labels", mapped=False)
    k = int(label.max(initial=-1)) + 1
    weights = np.zeros(k, np.int64)
    for r in range(ranges):
        u, v, _ = pairs.load(folder, level, r)
        weights += np.bincount(label[u], minlength=k) + np.bincount(label[v], minlength=k)
    last = np.empty(k, np.int32)
    last[label] = folder.load(before, "block")  # of any of its elements
    alone = weights.copy()
    parent = np.arange(k, dtype=np.int32)
    for fresh in (True, False):
        for r in range(parts):
            u, v, cost = pairs.load(folder, borders, r)
            mine = np.flatnonzero((last[u] != last[v]) == fresh)
            mine = mine[np.argsort(cost[mine], kind="stable")]
            unite_within(parent, u, v, cost, mine, weights, 2 * most)
    count = numbered(parent)
    block = parent[label]
    subsets = np.bincount(parent, minlength=count)
    pairs_of = np.bincount(parent, alone, count) / 2
    idle = subsets == 1
    pairs_of[idle] = 0
    task = packed(pairs_of, most).astype(np.int32)
    task[idle] = NOBODY
    used, renamed = np.unique(task[~idle], return_inverse=True)
    task[~idle] = renamed
    folder.save(stage, "block", block)
    folder.save(stage, "task", task[block])
    return {"blocks": count, "tasks": len(used)}

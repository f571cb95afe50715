"""Labels of elements as Parquet files, and their cost."""

from __future__ import annotations

import os

import numpy as np

from graphpart.distributed import pairs
from graphpart.distributed._streaming import compensated_sum
from graphpart.distributed.folder import Work
from graphpart.distributed.identifiers import names_of

__all__ = ["evaluated", "seen", "written"]


def evaluated(work: Work, level: str, labels: str) -> float:
    """A task: the cost of the pairs of a range that are joined."""
    label = work.folder.load(labels, "labels")
    u, v, cost = pairs.load(work.folder, level, work.number)
    return compensated_sum(np.ascontiguousarray(cost[label[u] == label[v]]))


def seen(work: Work, n: int, parts: str, firsts: list[int]) -> int:
    """A task: which integers of a range occur in a row; saves ``seen``. `firsts` are the first ones in the parts."""
    found = np.zeros(n, bool)
    for k, first in enumerate(firsts):
        some = np.unpackbits(work.folder.load(parts, f"{k}.seen")).view(bool)[: n - first]
        found[first : first + len(some)] |= some
    work.save("seen", found)
    return int(found.sum())


def written(work: Work, output: str, labels: str, first: int, last: int, low: int | None) -> int:
    """A task: the file with the labels of elements from the first to the one before the last."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    label = np.asarray(work.folder.load(labels, "labels")[first:last])
    if low is None:
        names = names_of(work.folder, work.number)
    else:
        found = np.flatnonzero(work.folder.load("seen", "seen")[first:last])
        label, names = label[found], pa.array(found + (low + first))
    file = os.path.join(output, f"part.{work.number}.parquet")
    pq.write_table(pa.table({"id": names, "label": pa.array(label)}), file + ".part")
    os.replace(file + ".part", file)
    return len(label)

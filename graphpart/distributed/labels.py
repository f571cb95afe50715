"""Labels of elements as Parquet files, and their cost."""

from __future__ import annotations

import os

import numpy as np

from graphpart.distributed import pairs
from graphpart.distributed._streaming import compensated_sum
from graphpart.distributed.folder import Folder
from graphpart.distributed.identifiers import names_of

__all__ = ["evaluated", "seen", "written"]


def evaluated(folder: Folder, stage: str, number: int, level: str, labels: str) -> float:
    """A task: the cost of the pairs of a range that are joined."""
    label = folder.load(labels, "labels")
    u, v, cost = pairs.load(folder, level, number)
    return compensated_sum(np.ascontiguousarray(cost[label[u] == label[v]]))


def seen(folder: Folder, stage: str, number: int, n: int, parts: str, firsts: list[int]) -> int:
    """A task: which integers of a range occur in a row; saves ``seen``. `firsts` are the first ones in the parts."""
    found = np.zeros(n, bool)
    for k, first in enumerate(firsts):
        some = np.unpackbits(folder.load(parts, f"{k}.seen")).view(bool)[: n - first]
        found[first : first + len(some)] |= some
    folder.save(stage, "seen", found)
    return int(found.sum())


def written(
    folder: Folder,
    stage: str,
    number: int,
    output: str,
    labels: str,
    identifiers: str,
    first: int,
    last: int,
    low: int | None,
) -> int:
    """A task: the file with the labels of elements from the first to the one before the last."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    label = np.asarray(folder.load(labels, "labels")[first:last])
    if low is None:
        names = names_of(folder, identifiers, number)
    else:
        found = np.flatnonzero(folder.load(identifiers, "seen")[first:last])
        label, names = label[found], pa.array(found + (low + first))
    file = os.path.join(output, f"part.{number}.parquet")
    pq.write_table(pa.table({"id": names, "label": pa.array(label)}), file + ".part")
    os.replace(file + ".part", file)
    return len(label)

"""A table of segments: their sizes, the boxes around them, and their neighbours, from those of their regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.columns import Columns

__all__ = ["measured", "table_of"]

Numbers = NDArray[np.int64]


def measured(regions: NDArray[Any], first: Sequence[int]) -> Numbers:
    """For each region 1, 2, ... of a block: its size, the first voxel of its box, and the one after the last.

    O(voxels)

    Examples
    --------
    >>> measured(np.array([[1, 1, 2], [0, 1, 2]]), (10, 0)).tolist()
    [[3, 10, 0, 12, 2], [2, 10, 2, 12, 3]]
    """
    from scipy.ndimage import find_objects

    boxes = [
        [[side.start for side in box], [side.stop for side in box]]
        for box in find_objects(np.asarray(regions, np.int32))
    ]
    ends = np.array(boxes, np.int64).reshape(len(boxes), 2, regions.ndim) + np.asarray(first)
    return np.column_stack([np.bincount(regions.ravel(), minlength=1)[1:], ends.reshape(len(boxes), 2 * regions.ndim)])


def table_of(labels: NDArray[Any], found: Numbers, pairs: NDArray[Any]) -> Columns:
    """The table of segments from the labels of regions, from 0 on, what is `measured` of them, and pairs that touch.

    O(R + m log m) for R regions and m pairs.

    Examples
    --------
    >>> found = np.array([[3, 0, 0, 2, 2], [2, 0, 2, 2, 3], [1, 1, 0, 2, 1]])
    >>> table = table_of(np.array([0, 1, 0]), found, np.array([[0, 1], [0, 2]]))
    >>> {name: column.tolist() for name, column in table.items() if name in ("segment", "size", "end_0", "neighbours")}
    {'segment': [1, 2], 'size': [4, 2], 'end_0': [2, 2], 'neighbours': ['2', '1']}
    """
    number = int(labels.max(initial=-1)) + 1
    axes = (found.shape[1] - 1) // 2
    low = np.full((number, axes), np.iinfo(np.int64).max)
    high = np.zeros((number, axes), np.int64)
    np.minimum.at(low, labels, found[:, 1 : 1 + axes])
    np.maximum.at(high, labels, found[:, 1 + axes :])
    size = np.zeros(number, np.int64)
    np.add.at(size, labels, found[:, 0])
    ends = labels[pairs].reshape(-1, 2).astype(np.int64)
    ends = ends[ends[:, 0] != ends[:, 1]]
    one, other = np.divmod(np.unique(np.append(ends @ [number, 1], ends @ [1, number])), max(1, number))
    beside = np.split(other + 1, np.searchsorted(one, np.arange(1, number)))
    columns: dict[str, NDArray[Any]] = {"segment": np.arange(1, number + 1), "size": size}
    columns |= {f"first_{k}": low[:, k].copy() for k in range(axes)}
    columns |= {f"end_{k}": high[:, k].copy() for k in range(axes)}
    columns["neighbours"] = np.array([" ".join(map(str, x.tolist())) for x in beside[:number]], object)
    return Columns(columns)

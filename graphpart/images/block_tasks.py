"""The tasks of a segmentation by blocks: pure functions of a work folder and some small arguments.

Each writes arrays into the work folder, or a block of the output, and returns a small answer; see
:mod:`graphpart.distributed.engine`.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.distributed.folder import Work
from graphpart.errors import SolverError
from graphpart.images._contacts import Contacts
from graphpart.images.checks import three
from graphpart.images.files import Volume
from graphpart.images.flooding import HALO, flooded
from graphpart.images.graph import boundary_costs
from graphpart.images.label_arrays import write_block
from graphpart.images.segment_table import measured
from graphpart.images.statistics import Statistics

__all__ = ["connect", "flood", "label"]

Box = list[list[int]]  # the first voxel along each axis, and the one after the last


def flood(work: Work, volume: Volume, mask: Any, box: Box, spacing: list[float]) -> int:
    """The watershed of a block with a halo. Saves the regions of the block without the halo; returns their number."""
    low = [max(0, a - HALO) for a in box[0]]
    high = [min(n, b + HALO) for b, n in zip(box[1], volume.shape, strict=True)]
    wide = tuple(slice(a, b) for a, b in zip(low, high, strict=True))
    within = None if mask is None else np.asarray(mask[wide]).astype(bool)
    shape = tuple(b - a for a, b in zip(low, high, strict=True))
    if within is not None and not within.any():
        regions = np.zeros(shape, np.int32)
    else:
        regions = flooded(volume.read(wide), spacing, within)
    core = regions[tuple(slice(a - c, b - c) for a, b, c in zip(*box, low, strict=True))]
    pieces, count = _pieces(core)
    work.save(str(work.number), pieces.astype(np.uint16 if count < 65536 else np.int32))
    return count


def _pieces(regions: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
    """Regions 1, 2, ... of a block: each connected piece of a region is one."""
    measure = import_module("skimage.measure")
    pieces: NDArray[np.int32] = measure.label(regions, background=0, connectivity=1).astype(np.int32)
    return pieces, int(pieces.max(initial=0))


def connect(
    work: Work,
    volume: Volume,
    box: Box,
    firsts: list[int],
    beyond: list[int | None],
    spacing: list[float],
    threshold: float,
) -> int:
    """Pairs of regions that touch, with costs: those within a block, and those with the next block along each axis.

    Regions of two blocks touch only where the blocks touch, and these contacts belong to the first block. So
    the statistics of each pair are complete.

    Parameters
    ----------
    firsts : list of int
        The number before that of the first region, of this block and of the next one along each axis.
    beyond : list of int or None
        The number of the next block along each axis.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    own = work.folder.load("flood", str(work.number))
    core = own.shape
    grown = [n + (other is not None) for n, other in zip(core, beyond, strict=True)]
    regions = np.zeros(grown, np.int32)
    regions[tuple(slice(0, n) for n in core)] = np.where(own > 0, own.astype(np.int32) + np.int32(firsts[0]), 0)
    for axis, other in enumerate(beyond):
        if other is None:
            continue
        face = work.folder.load("flood", str(other)).take(0, axis).astype(np.int32)
        place = [slice(0, n) for n in core]
        place[axis] = slice(core[axis], core[axis] + 1)
        regions[tuple(place)] = np.expand_dims(np.where(face > 0, face + np.int32(firsts[1 + axis]), 0), axis)
    wide = tuple(slice(a, a + n) for a, n in zip(box[0], grown, strict=True))
    table = Contacts()
    table.add(
        np.ascontiguousarray(three(regions)),
        np.ascontiguousarray(three(volume.read(wide))),
        core if len(core) == 3 else (1, *core),
    )
    found = Statistics.of(table)
    costs = boundary_costs(found, spacing, threshold)
    target = os.path.join(work.folder.path, "pairs")
    file = os.path.join(target, f"{work.number:06d}.parquet")
    os.makedirs(target, exist_ok=True)
    rows = {"u": found.pairs[:, 0].astype(np.int64), "v": found.pairs[:, 1].astype(np.int64), "cost": costs}
    try:
        pq.write_table(pa.table(rows), file + ".part")
        os.replace(file + ".part", file)
    except OSError as error:
        raise SolverError(_full(file, error)) from None
    return len(found)


def label(work: Work, output: str, box: Box, first: int) -> int:
    """Write the labels of a block. Saves the sizes and boxes of its regions."""
    own = work.folder.load("flood", str(work.number))
    work.save(str(work.number), measured(own, box[0]))
    table = work.folder.load("labels", "labels")
    labels = table[first + 1 : first + 1 + int(own.max(initial=0))]
    found = np.concatenate([np.zeros(1, np.int32), labels])[own]
    try:
        write_block(output, box[0], found)
    except OSError as error:
        raise SolverError(_full(output, error)) from None
    return int(found.size)


def _full(file: str, error: OSError) -> str:
    return (
        f"{file} cannot be written ({error.strerror or error}): the work folder keeps what is done; make room and run "
        "again with the same work folder"
    )

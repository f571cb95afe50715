"""Labels on disk, written block by block: npy, or OME-Zarr with coarser scales for viewers.

1. The labels are the array ``0`` of a group of OME-Zarr. Each next scale has every second voxel of the one before,
   since labels have no mean, along the axes whose voxels are less than twice as long as the shortest ones. The
   longest side of the last scale is at most `LONGEST`.
2. Processes write blocks side by side, so no file may belong to two blocks. With zarr 3 (OME-Zarr 0.5), each block is
   one file, a shard, of chunks with sides of at most 64 voxels, which viewers read one by one. With zarr 2 (OME-Zarr
   0.4) it is one chunk. There is no further scale if a block cannot be halved.
3. All is written under a name that ends in .part first, so that a file is never incomplete.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import MissingDependency, SolverError

__all__ = ["new_labels", "publish", "write_block", "zarr_package"]

LONGEST = 256  # side of the coarsest scale, in voxels


def new_labels(path: Any, shape: Sequence[int], blocks: Sequence[int], spacing: Sequence[float] | None = None) -> None:
    """Make arrays for labels, of blocks that begin at multiples of `blocks`; voxels have the size `spacing`."""
    part = os.fspath(path) + ".part"
    if Path(path).suffix.lower() == ".npy":
        np.lib.format.open_memmap(part, "w+", np.int32, tuple(shape))
        return
    made = part + ".new"  # a group without all of its arrays never has the name that a later run would go on with
    shutil.rmtree(part, ignore_errors=True)
    try:
        _make_group(made, Path(path).stem, shape, blocks, [1.0] * len(shape) if spacing is None else spacing)
        os.rename(made, part)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _make_group(path: str, name: str, shape: Sequence[int], blocks: Sequence[int], sizes: Sequence[float]) -> None:
    """A group with an array for each scale, and the metadata of OME-Zarr, in place of an older one."""
    group = zarr_package().open_group(path, mode="w")
    names, scales = "zyx"[-len(shape) :], []
    for k, steps in enumerate(_steps(shape, blocks, sizes)):
        sides = [-(-n // s) for n, s in zip(shape, steps, strict=True)]
        pieces = [
            _pieces(side, None if b >= n else b // s) for side, n, b, s in zip(sides, shape, blocks, steps, strict=True)
        ]
        shards, chunks = zip(*pieces, strict=True)
        options: dict[str, Any] = {"shape": tuple(sides), "dtype": "i4", "fill_value": 0}
        if hasattr(group, "create_array"):
            array = group.create_array(str(k), chunks=chunks, shards=shards, dimension_names=list(names), **options)
        else:
            array = group.create_dataset(str(k), chunks=shards, dimension_separator="/", **options)
        array.attrs["steps"] = steps
        scale = [float(a * s) for a, s in zip(sizes, steps, strict=True)]
        scales.append({"path": str(k), "coordinateTransformations": [{"type": "scale", "scale": scale}]})
    axes = [{"name": name, "type": "space"} for name in names]
    found: dict[str, Any] = {"name": name, "axes": axes, "datasets": scales, "type": "every second voxel"}
    if hasattr(group, "create_array"):
        group.attrs["ome"] = {"version": "0.5", "multiscales": [found], "image-label": {}}
    else:
        group.attrs.update({"multiscales": [{"version": "0.4", **found}], "image-label": {"version": "0.4"}})


def _steps(shape: Sequence[int], blocks: Sequence[int], sizes: Sequence[float]) -> list[tuple[int, ...]]:
    """Of each scale, how many voxels of the finest one are one voxel along each axis."""
    found = [(1,) * len(shape)]
    while max(-(-n // s) for n, s in zip(shape, found[-1], strict=True)) > LONGEST:
        long = [size * s for size, s in zip(sizes, found[-1], strict=True)]
        steps = tuple(s * (1 + (a < 2 * min(long))) for a, s in zip(long, found[-1], strict=True))
        if any(b < n and b % s for b, n, s in zip(blocks, shape, steps, strict=True)):
            break
        found.append(steps)
    return found


def _pieces(side: int, block: int | None) -> tuple[int, int]:
    """The sides of a shard and of a chunk, which divides it; one shard may reach beyond the array."""
    if block is None:
        chunk = max(1, min(64, side))
        return max(chunk, -(-side // chunk) * chunk), chunk
    chunk = max(k for k in range(1, min(64, block) + 1) if block % k == 0)
    return block, chunk if chunk >= 16 else block


def write_block(path: Any, first: Sequence[int], labels: NDArray[np.int32]) -> None:
    """Write the labels of a block, whose first voxel is given, to all scales."""
    part = os.fspath(path) + ".part"
    if Path(path).suffix.lower() == ".npy":
        whole = np.lib.format.open_memmap(part, "r+")
        whole[tuple(slice(a, a + n) for a, n in zip(first, labels.shape, strict=True))] = labels
        whole.flush()
        return
    for _, array in zarr_package().open_group(part, mode="r+").arrays():
        steps = array.attrs["steps"]
        piece = labels[tuple(slice(None, None, s) for s in steps)]
        low = [a // s for a, s in zip(first, steps, strict=True)]
        array[tuple(slice(a, a + n) for a, n in zip(low, piece.shape, strict=True))] = piece


def publish(path: Any) -> None:
    """Give complete labels their name, in place of older ones."""
    text = os.fspath(path)
    try:
        if os.path.isdir(text):
            shutil.rmtree(text)
        os.replace(text + ".part", text)
    except OSError as error:
        raise SolverError(f"{text} cannot be written ({error.strerror or error})") from None


def zarr_package() -> Any:
    """The module zarr."""
    try:
        return import_module("zarr")
    except ImportError:
        raise MissingDependency("zarr", "volumes", "zarr arrays") from None

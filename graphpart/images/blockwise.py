"""Volumes larger than memory, segmented block by block by workers of Dask.

1. Watershed: each block is read with a halo, flooded, and its own voxels are kept. Regions end at the faces of blocks.
2. Region graph: for each block, pairs of regions that touch, within it and with the next block along each axis, and
   their costs. A pair belongs to one block, so its statistics are those of the whole volume.
3. One partition of all regions, by :func:`graphpart.distributed.solve`. Regions that a face of a block divides are
   joined again like any others.
4. Labels are written block by block.

Tasks are those of :mod:`graphpart.distributed.engine`: labels do not depend on the number of workers, a task whose
worker is lost is performed again, and a run with the work folder of an earlier one continues it.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.columns import Columns
from graphpart.display import html_of, plural
from graphpart.display.progress import Progress
from graphpart.errors import InvalidOption, InvalidProblem, MissingDependency, TimeLimitReached, known_arguments
from graphpart.images.checks import check_threshold, spacing_of
from graphpart.images.files import Volume, check_output, is_zarr, open_array, read_array
from graphpart.images.label_arrays import new_labels, publish
from graphpart.images.segment_table import table_of
from graphpart.stopping import Stopping

__all__ = ["BlockSegmentation", "segment_blocks"]


class BlockSegmentation:
    """Segments of a volume whose labels are on disk.

    Attributes
    ----------
    labels : array of zarr, or mapped into memory
        The segment of each voxel, from 1 on; 0 outside of the mask. Slices of it are arrays of int32.
    path : str
        Where they are. A file that was not named is removed with this object.
    n_regions, n_segments : int
    cost, lower_bound : float
        Of the partition of regions.
    blocks : tuple of int
        The shape of the blocks.
    stages : dict
        For each stage: ``tasks``, ``seconds``, ``processor`` seconds, and ``memory``, the largest memory of a process.
    seconds : float
    """

    def __init__(self, path: str, labels: Any, facts: dict[str, Any]) -> None:
        self.path, self.labels = path, labels
        self.n_regions: int = facts["n_regions"]
        self.n_segments: int = facts["n_segments"]
        self.cost: float = facts["cost"]
        self.lower_bound: float = facts["lower_bound"]
        self.blocks: tuple[int, ...] = facts["blocks"]
        self.stages: dict[str, dict[str, Any]] = facts["stages"]
        self.seconds: float = facts["seconds"]
        self._table: Columns = facts["table"]

    @property
    def table(self) -> Any:
        """Sizes, boxes and neighbours of the segments, as :attr:`Segmentation.table`."""
        return self._table.to_frame()

    def __repr__(self) -> str:
        return (
            f"BlockSegmentation({plural(self.n_segments, 'segment')} of {plural(self.n_regions, 'region')}, shape "
            f"{tuple(self.labels.shape)}, {self.path})"
        )

    def _repr_html_(self) -> str:
        """For notebooks: sizes, bound and place of the labels."""
        title = f"BlockSegmentation: {plural(self.n_segments, 'segment')} of {plural(self.n_regions, 'region')}"
        facts = {"shape": " x ".join(map(str, self.labels.shape)), "cost": self.cost, "lower bound": self.lower_bound}
        return html_of(title, facts | {"seconds": float(f"{self.seconds:.3g}")}, note=f"labels: {self.path}")


@known_arguments
def segment_blocks(
    boundary: Any,
    *,
    threshold: float = 0.5,
    spacing: Sequence[float] | None = None,
    mask: Any = None,
    blocks: Sequence[int] | None = None,
    client: Any = None,
    workers: int = 2,
    memory_limit: str | float = "3GB",
    output: str | os.PathLike[str] | None = None,
    work_folder: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> BlockSegmentation:
    """Segment a volume that is larger than memory.

    Parameters
    ----------
    boundary : path of a zarr array or npy file, or any array with a shape that can be sliced
        Boundary probabilities from 0 to 1. Of a group of OME-Zarr, the finest scale is taken. An array in memory is
        handed to each worker: with workers, a path is better.
    threshold, spacing
        As for :func:`segment`.
    mask : path or array, optional
        True where there is something to segment.
    blocks : sequence of int, optional
        The shape of a block. Default: as large as the memory of a worker allows. Labels depend on it a little: regions
        end at the faces of blocks.
    client : distributed.Client, optional
        A cluster whose workers are used. Default: processes on this machine.
    workers : int
        The number of processes on this machine; 0: this process does all work, without Dask.
    memory_limit : str or float
        The memory of each worker, as text like ``"3GB"`` or in bytes.
    output : path, optional
        Where the labels are written: ``.npy``, or ``.zarr``, which is OME-Zarr with coarser scales; the array ``0`` has
        the labels of all voxels. Default: a npy file in the work folder, or a temporary one.
    work_folder : path, optional
        A folder that all workers can reach: empty, or that of an earlier run with the same input and options, which is
        then continued. It holds the regions and the pairs. Default: a temporary folder, removed in the end.
    time_limit : float, optional
        Seconds in all.
    callback : callable, optional
        ``callback(seconds, cost)`` from time to time; a true return value stops the run.

    Returns
    -------
    BlockSegmentation

    Raises
    ------
    InvalidProblem
        If the input is no boundary map.
    FormatError
        If it cannot be read.
    SolverError
        If workers are lost again and again, or the disk is full.
    TimeLimitReached
        If the time was over, or the run was interrupted, before labels were written. The work folder keeps the finished
        tasks.
    MissingDependency
        If bioimage-cpp, Dask, pyarrow or zarr is needed and not installed: ``pip install 'graphpart[volumes]'``.

    Notes
    -----
    A worker has one block with a halo of 16 voxels in memory, some 50 bytes for each voxel. This process has some
    numbers for each region.

    Examples
    --------
    >>> import numpy as np
    >>> boundary = np.zeros((40, 60))
    >>> boundary[:, 20] = 0.9
    >>> s = segment_blocks(boundary, blocks=(32, 32), workers=0)
    >>> s.n_regions > s.n_segments, s.n_segments, np.unique(s.labels[:, :19]).tolist()
    (True, 2, [1])
    """
    try:
        from graphpart.distributed.engine import Ended, Engine, check_workers, memory_of
        from graphpart.distributed.folder import Folder
    except ImportError:
        raise MissingDependency("pyarrow", "volumes", "segmenting block by block") from None
    if isinstance(boundary, str | os.PathLike) and not is_zarr(boundary) and not os.fspath(boundary).endswith(".npy"):
        boundary = read_array(boundary)
    volume = Volume(boundary)
    check_threshold(threshold)
    sizes = list(spacing_of(spacing, len(volume.shape)))
    memory = memory_of(memory_limit)
    check_workers(workers)
    shape = shape_of_blocks(volume, blocks, memory)
    within = None if mask is None else open_array(mask) if isinstance(mask, str | os.PathLike) else np.asarray(mask)
    if within is not None and tuple(within.shape) != volume.shape:
        raise InvalidProblem(f"mask has shape {tuple(within.shape)}: expected {volume.shape}, as the boundary has")
    suffix = None if output is None else check_output(output)
    if suffix not in (None, ".zarr", ".npy"):
        raise InvalidOption(
            f"{output}: blocks are written to an array that ends in .zarr or .npy: expected one of them"
        )
    stopping = Stopping(time_limit, None, None, callback)
    temporary = work_folder is None
    at = tempfile.mkdtemp(prefix="graphpart-work-") if work_folder is None else os.path.abspath(os.fspath(work_folder))
    fleeting: str | None = None
    done = False
    target = ""
    try:
        folder = Folder(at)
        if output is None and temporary:
            fleeting = tempfile.mkdtemp(prefix="graphpart-labels-")
        target = os.path.join(fleeting or at, "labels.npy") if output is None else os.path.abspath(os.fspath(output))
        folder.claim(
            {
                "input": volume.source if isinstance(volume.source, str) else "array",
                "shape": list(volume.shape),
                "blocks": list(shape),
                "spacing": sizes,
                "threshold": threshold,
                "mask": mask is not None,
            }
        )
        with Progress(1) as shown, contextlib.ExitStack() as stack:

            def report(stage: str, number: int, count: int) -> None:
                shown.start(f"{stage}: {number} of {count} blocks")

            engine = stack.enter_context(Engine(folder, client, workers, memory, stopping, report))
            try:
                facts = _run(engine, volume, within, shape, sizes, threshold, target)
            except Ended:
                kept = "" if temporary else f"; run again with work_folder={at!r} to continue"
                raise TimeLimitReached(f"the run ended before there were labels{kept}") from None
            facts |= {"stages": engine.stages, "seconds": stopping.seconds, "blocks": shape}
        done = True
    finally:
        if temporary:
            shutil.rmtree(at, ignore_errors=True)
        if not done:
            if temporary and target and output is not None:
                _remove(target + ".part")
            if fleeting is not None:
                shutil.rmtree(fleeting, ignore_errors=True)
    result = BlockSegmentation(target, open_array(target), facts)
    if fleeting is not None:
        weakref.finalize(result, shutil.rmtree, fleeting, ignore_errors=True)
    return result


def _run(
    engine: Any,
    volume: Volume,
    mask: Any,
    shape: tuple[int, ...],
    spacing: list[float],
    threshold: float,
    target: str,
) -> dict[str, Any]:
    """All stages."""
    from graphpart.images.block_tasks import connect, flood, label

    boxes, grid = boxes_of(volume.shape, shape)
    counts = engine.map("flood", flood, [(volume, mask, box, spacing) for box in boxes])
    firsts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    total = int(firsts[-1])
    if total >= 2**31 - 1:
        raise InvalidProblem(f"there are {total} regions: expected fewer than 2**31")
    arguments = []
    for k, box in enumerate(boxes):
        nexts = _nexts(k, grid)
        starts = [int(firsts[k])] + [0 if other is None else int(firsts[other]) for other in nexts]
        arguments.append((volume, box, starts, nexts, spacing, float(threshold)))
    pairs = sum(engine.map("connect", connect, arguments))
    labels, cost, bound = _partition(engine, total, pairs)
    engine.folder.save("labels", "labels", labels)
    part = target + ".part"
    if not os.path.exists(part):  # output of an earlier run is gone, or complete
        shutil.rmtree(os.path.join(engine.folder.path, "write"), ignore_errors=True)
        new_labels(target, volume.shape, shape, spacing)
    engine.map("write", label, [(target, box, int(firsts[k])) for k, box in enumerate(boxes)])
    measured = np.concatenate([engine.folder.load("write", str(k)) for k in range(len(boxes))])
    table = table_of(labels[1:] - 1, measured, _touching(engine, pairs))
    publish(target)
    facts = {"n_regions": total, "n_segments": int(labels.max(initial=0)), "cost": cost, "lower_bound": bound}
    return facts | {"table": table}


def _partition(engine: Any, regions: int, pairs: int) -> tuple[NDArray[np.int32], float, float]:
    """The segment of each region, by its number, from 1 on; cost and lower bound."""
    from graphpart.distributed import solve

    labels = np.full(regions + 1, -1, np.int64)
    cost = bound = 0.0
    if pairs:
        solved = solve(
            os.path.join(engine.folder.path, "pairs", "*.parquet"),
            client=engine.client,
            workers=engine.workers,
            memory_limit=engine.memory,
            work_folder=os.path.join(engine.folder.path, "partition"),
            time_limit=engine.stopping.remaining,
        )
        cost, bound = solved.cost, solved.lower_bound
        import pyarrow.parquet as pq

        table = pq.read_table(solved.labels)
        labels[table["id"].to_numpy()] = table["label"].to_numpy()
    alone = np.flatnonzero(labels < 0)  # regions that touch no other one
    labels[alone] = labels.max(initial=-1) + 1 + np.arange(len(alone))
    _, first, inverse = np.unique(labels[1:], return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(1, len(first) + 1, dtype=np.int32)
    return np.concatenate([np.zeros(1, np.int32), rank[inverse]]), cost, bound


def _touching(engine: Any, pairs: int) -> NDArray[np.int64]:
    """Pairs of regions that touch, numbered from 0."""
    if not pairs:
        return np.zeros((0, 2), np.int64)
    import pyarrow.dataset as ds

    table = ds.dataset(os.path.join(engine.folder.path, "pairs")).to_table(["u", "v"])
    return np.stack([table["u"].to_numpy(), table["v"].to_numpy()], axis=1) - 1


def shape_of_blocks(volume: Volume, blocks: Any, memory: int) -> tuple[int, ...]:
    """The shape of blocks: as given, or such that a block with its halo fits the memory of a worker."""
    from graphpart.images.flooding import HALO

    axes = len(volume.shape)
    if blocks is not None:
        try:
            given = tuple(int(x) for x in blocks)
        except (TypeError, ValueError):
            given = ()
        if len(given) != axes or not all(x >= 8 for x in given):
            raise InvalidOption(f"blocks is {blocks!r}: expected {axes} whole numbers of voxels, at least 8 each")
        return tuple(min(x, n) for x, n in zip(given, volume.shape, strict=True))
    most = min(2**25, int(0.7 * memory) // 60)  # some 50 bytes of a worker for each voxel, and a margin
    sides = [32] * axes
    while True:
        grown = [min(n, 2 * side) for side, n in zip(sides, volume.shape, strict=True)]
        axis = min(range(axes), key=lambda k: (grown[k] == sides[k] or sides[k] >= volume.shape[k], sides[k]))
        tried = [grown[k] if k == axis else side for k, side in enumerate(sides)]
        wide = math.prod(min(n, side + 2 * HALO) for side, n in zip(tried, volume.shape, strict=True))
        if tried == sides or wide > most:
            break
        sides = tried
    chunks = volume.chunks or (1,) * axes
    aligned = [max(1, side // c) * c if c <= 2 * side else side for side, c in zip(sides, chunks, strict=True)]
    return tuple(min(side, n) for side, n in zip(aligned, volume.shape, strict=True))


def boxes_of(shape: Sequence[int], block: Sequence[int]) -> tuple[list[list[list[int]]], list[int]]:
    """All blocks, the last axis fastest, as first voxel and the one after the last; the number of blocks along each
    axis."""
    grid = [-(-n // b) for n, b in zip(shape, block, strict=True)]
    boxes = []
    for at in itertools.product(*(range(k) for k in grid)):
        low = [i * b for i, b in zip(at, block, strict=True)]
        boxes.append([low, [min(n, a + b) for n, a, b in zip(shape, low, block, strict=True)]])
    return boxes, grid


def _nexts(k: int, grid: Sequence[int]) -> list[int | None]:
    """The next block along each axis."""
    at = np.unravel_index(k, grid)
    found: list[int | None] = []
    for axis in range(len(grid)):
        after = [int(i) + (a == axis) for a, i in enumerate(at)]
        found.append(int(np.ravel_multi_index(after, grid)) if after[axis] < grid[axis] else None)
    return found


def _remove(path: str) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.exists(path):
        os.unlink(path)

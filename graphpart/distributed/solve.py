"""Set partition problems larger than one machine, or than its memory: solved in parts, by workers of Dask.

Pairs of elements with costs stand in Parquet files; negative costs attract. What is written between stages stands in a
work folder that all workers reach.

1. Identifiers become elements 0, 1, ..., n - 1, and rows pairs of these, sorted and summed up, in ranges of elements.
2. Two elements that no path of attractive pairs connects need never be joined. So components of attractive pairs are
   solved one by one; small ones are packed into tasks. Components that are too large are divided into blocks, by their
   strongest attractions (see blocks.py) or at first as they are given, as if pairs between blocks cost nothing.
3. Where there were such blocks, the subsets found become elements, pairs between them are summed up, and 2. is repeated
   until nothing has to be divided (hierarchical decomposition, Pape et al. 2017).
4. Refinement: groups of neighbouring subsets, such that former borders of blocks lie inside, are solved again, starting
   from what is known (see refinement.py).
5. Lower bound: for a division of the elements of the first level into blocks or groups, the sum of lower bounds of its
   parts, and of the negative costs between them. Parts of the next division, which overlap them, have what these bounds
   have left of the costs of pairs (see parts.py), so that it only rises.

A task is pure: its answer follows from its arguments and the work folder. So neither the number of workers nor their
order, nor the loss of some, changes a label; and a run goes on where it ended, if its work folder is named again.
Nothing that grows with the number of pairs is ever held by one process; some numbers for each element are.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from graphpart.common.rounds import check_seed_and_threads
from graphpart.display.progress import Progress
from graphpart.distributed.dask_partition import DaskPartition, columns_of
from graphpart.distributed.engine import Engine, memory_of
from graphpart.distributed.folder import Folder
from graphpart.distributed.inputs import Columns, files_of, signature_of
from graphpart.distributed.result import DistributedResult
from graphpart.distributed.run import Run
from graphpart.errors import InvalidOption
from graphpart.methods import find_method, find_name
from graphpart.partition.bounds.lower_bound import ALSO, BOUNDS
from graphpart.stopping import Stopping

__all__ = ["solve"]


def solve(
    source: Any,
    *,
    columns: Sequence[str] | Columns = ("u", "v", "cost"),
    method: str = "kernighan-lin",
    options: dict[str, Any] | None = None,
    bound: str | None = "cycle-packing",
    blocks: Any = None,
    refine: int = 2,
    client: Any = None,
    workers: int = 2,
    memory_limit: str | float = "4GB",
    output: str | os.PathLike[str] | None = None,
    work_folder: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> DistributedResult:
    """Solve a set partition problem given by rows ``u, v, cost``, however many.

    Parameters
    ----------
    source : path, list of paths, table, or DaskPartition
        Parquet files: one, a folder, a pattern like ``"pairs/*.parquet"``, or several of these; or a table of Dask,
        pandas, polars or Arrow. Identifiers are integers or strings. Costs of rows with the same pair add up.
    columns : sequence of three str
        The names of the columns: both elements and the cost.
    method : str
        The method for each part, see :func:`graphpart.solve`. Methods that are ended by the clock, `auto` among them,
        may give other labels in another run.
    options : dict, optional
        Further options of the method.
    bound : str or None
        The lower bound for each part, see :func:`graphpart.partition.lower_bound`; None: only that of the method.
    blocks : path, list of paths, table, or callable, optional
        Blocks into which components that are too large are divided at first, like the tiles of an image: rows ``id,
        block`` in the ways that `source` may have, or a function that takes an array of identifiers and returns an
        array of as many blocks; integers or strings. Blocks that are too large are divided further. Default: by the
        strongest attractions.
    refine : int
        Rounds of refinement at most.
    client : distributed.Client, optional
        Workers that are there already. Default: processes on this machine.
    workers : int
        How many of these; 0: this process does all of it, without Dask.
    memory_limit : str or float
        Of each worker: ``"4GB"``, or bytes. How pairs are divided follows from it.
    output : path, optional
        Folder for the labels, as Parquet files; default: ``labels`` in the work folder. Without a work folder either,
        the labels stand in a temporary folder, which is removed with the result, or when Python ends.
    work_folder : path, optional
        A folder that all workers reach, empty or of an earlier run with the same input and options, which is then gone
        on with. Default: a temporary folder, removed in the end.
    time_limit : float, optional
        Seconds, after which the best labels so far are evaluated and written; the input is read in any case.
    callback : callable, optional
        ``callback(seconds, cost)`` from time to time; a true return value stops the run.

    Returns
    -------
    DistributedResult

    Raises
    ------
    FormatError
        If a file cannot be read, or lacks a column.
    InvalidProblem, InvalidOption
        If an argument is not as described.
    SolverError
        If workers are lost again and again, or the disk is full; in refinement that is a warning, and the labels
        before it are the result.
    MissingDependency
        If Dask or pyarrow is not installed: ``pip install 'graphpart[distributed]'``.

    Notes
    -----
    Workers of Dask end a task that needs more than `memory_limit`. One worker at a time holds some numbers for each
    element. The work folder holds three copies of the pairs at most, of 16 bytes for each pair, beside labels.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"u": ["ann", "ann", "bob"], "v": ["bob", "cid", "cid"], "cost": [-2.0, 3.0, -1.0]})
    >>> r = solve(rows, workers=0)
    >>> r.cost, r.lower_bound, r.subsets
    (-2.0, -2.0, 2)
    >>> r.to_frame()["label"].tolist()
    [0, 0, 1]
    """
    stopping = Stopping(time_limit, None, None, callback)
    if isinstance(source, DaskPartition):
        columns, blocks = source.columns, source.blocks if blocks is None else blocks
        source = source.source
    named = columns_of(columns)
    memory = memory_of(memory_limit)
    check_seed_and_threads(None, workers or None)
    if not hasattr(refine, "__index__") or refine < 0:
        raise InvalidOption(f"refine is {refine!r}: expected a whole number of rounds, at least 0")
    method = find_method(method, "partition").name
    if bound is not None:
        bound = find_name(bound, BOUNDS, ALSO, "bound")
    temporary = work_folder is None
    at = tempfile.mkdtemp(prefix="graphpart-work-") if work_folder is None else os.path.abspath(os.fspath(work_folder))
    folder = Folder(at)
    fleeting: str | None = None  # the folder of labels, if it lasts no longer than the result
    result: DistributedResult | None = None
    try:
        if output is None and temporary:
            output = fleeting = tempfile.mkdtemp(prefix="graphpart-labels-")
        target = os.path.abspath(os.path.join(at, "labels") if output is None else os.fspath(output))
        chosen: list[Any] = [method, {name: repr(value) for name, value in (options or {}).items()}]
        signature = {
            "columns": [named.u, named.v, named.cost],
            "method": chosen,
            "bound": bound,
            "memory_limit": memory,
        }
        folder.claim(signature)
        files = files_of(source, folder)
        signature["input"] = signature_of(files)
        if callable(blocks):
            signature["blocks"] = getattr(blocks, "__qualname__", type(blocks).__qualname__)
        else:
            blocks = None if blocks is None else files_of(blocks, folder, "input-blocks")
            signature["blocks"] = blocks and signature_of(blocks)
        folder.claim(signature)
        with Progress(1) as shown, contextlib.ExitStack() as stack:

            def report(stage: str, done: int, count: int) -> None:
                shown.start(f"{stage}: {done} of {count} tasks")

            engine = stack.enter_context(Engine(folder, client, workers, memory, stopping, report))
            run = Run(engine, folder, named, method, dict(options or {}), bound, blocks, memory, stopping)
            result = run.run(files, int(refine), target)
            if fleeting is not None:
                weakref.finalize(result, shutil.rmtree, fleeting, ignore_errors=True)
            return result
    finally:
        if temporary:
            folder.delete()
        if fleeting is not None and result is None:
            shutil.rmtree(fleeting, ignore_errors=True)

"""Set partition problems larger than one machine, or than its memory: solved in parts, by workers of Dask.

Pairs of elements with costs are in Parquet files; negative costs attract. Intermediate results are in a work folder
that all workers can reach.

1. Identifiers become elements 0, 1, ..., n - 1, and rows become pairs of elements.
2. Two elements that no path of attractive pairs connects need never be joined. So components of attractive pairs are
   solved one by one; small ones are packed into tasks. If a component is too large, pairs are sorted, costs of equal
   pairs are added, and pairs are stored in ranges of elements. Large components are divided into blocks, which are
   solved as if pairs between blocks cost nothing. The blocks follow the strongest attractions (see blocks.py), within
   given blocks if there are any.
3. If there were such blocks, the subsets found become elements, the costs of pairs between them are added, and 2. is
   repeated until nothing has to be divided (hierarchical decomposition, Pape et al. 2017).
4. Refinement: groups of neighbouring subsets, chosen such that former borders of blocks lie inside groups, are solved
   again, starting from the present result; elements may also move to subsets outside. Where few pairs lie within such
   groups, larger groups follow, between which no element moves (see refinement.py).
5. Lower bound: for a division of the elements of the first level into blocks or groups, the sum of the lower bounds of
   its parts and of the negative costs between them. These bounds leave reduced costs, which are the costs for the next
   division, whose parts overlap those of the first (see parts.py). So the bound never falls.

If a part does not fit into the memory of a worker, 2. or 4. is repeated with parts half as large.

Groups of elements (see grouped.py) are part of each task's problem; at later levels, of the subsets that have become
elements. Pairs between parts are apart, so groups with members in several parts cost nothing there.

If clusters must be connected, base pairs of any cost are in place of attractive pairs in 2., a block or group of whole
subsets is solved with this requirement, and the bound is that of the parts of 2. without it.

A task is pure: its answer depends only on its arguments and the work folder. So labels do not depend on the number of
workers, on their order, or on the loss of workers, and a run with the work folder of an earlier one continues it. No
process needs memory in proportion to the number of pairs; one process needs some numbers for each element.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphpart.display.progress import Progress
from graphpart.distributed.dask_partition import DaskPartition, columns_of
from graphpart.distributed.engine import Engine, check_workers, memory_of
from graphpart.distributed.folder import Folder
from graphpart.distributed.inputs import Columns, files_of, signature_of
from graphpart.distributed.result import DistributedResult
from graphpart.distributed.run import Run, Settings
from graphpart.errors import InvalidOption, deprecated, unknown_argument
from graphpart.methods import find_method, find_name
from graphpart.partition.bounds.lower_bound import ALSO, BOUNDS
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.connectedness import asked_for
from graphpart.partition.problem.requirements import OLDER
from graphpart.stopping import Stopping

__all__ = ["solve"]


def solve(
    problem: Any,
    method: str = "auto",
    *,
    time_limit: float | None = None,
    seed: int | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
    progress: bool = False,
    columns: Sequence[str] | Columns = ("u", "v", "cost"),
    bound: str | None = "cycle-packing",
    blocks: Any = None,
    groups: Any = None,
    group_cost: float = math.inf,
    lifted: Any = None,
    connected: bool = False,
    refine: int = 3,
    client: Any = None,
    workers: int = 2,
    memory_limit: str | float = "4GB",
    output: str | os.PathLike[str] | None = None,
    work_folder: str | os.PathLike[str] | None = None,
    **options: Any,
) -> DistributedResult:
    """Solve a set partition problem given by any number of rows ``u, v, cost``.

    Parameters
    ----------
    problem : path, list of paths, table, or DaskPartition
        Parquet files: one, a folder, a pattern like ``"pairs/*.parquet"``, or several of these; or a table of Dask,
        pandas, polars or Arrow. Identifiers are integers or strings. Costs of rows with the same pair add up.
    method : str
        The method for each part, see :func:`graphpart.solve`. ``auto``, the default, is ``kernighan-lin`` for each part
        and ``kernighan-lin-pairs`` in the refinement, which give the same labels in every run. A method that a time
        limit ends, like ``search``, may give other labels in another run.
    time_limit : float, optional
        Seconds, after which the best labels so far are evaluated and written. The input is always read to its end.
    seed : int, optional
        For methods that draw random numbers.
    max_iterations : int, optional
        Iterations for each part, as the method counts them.
    target : float, optional
        No round of refinement follows once the cost is at most this.
    callback : callable, optional
        ``callback(seconds, cost)`` from time to time; a true return value stops the run.
    progress : bool
        Show the present stage and how many of its tasks are done, on a terminal or in a notebook.
    columns : sequence of three str
        The names of the columns: both elements and the cost.
    bound : str or None
        The lower bound for each part, see :func:`graphpart.partition.lower_bound`; None: only that of the method.
    blocks : path, list of paths, table, or callable, optional
        Blocks into which components that are too large are divided, for example the tiles of an image: rows ``id,
        block`` in any form that `source` may have, or a function that takes an array of identifiers and returns an
        array with the block of each. Blocks are integers or strings. Blocks that are too large are divided further.
        Default: components are divided by their strongest attractions only.
    groups : path, list of paths, table, or callable, optional
        The group of each element, such as the source of a record: rows ``id, group`` in any form that `source` may
        have, or a function that takes an array of identifiers and returns an array with the group of each. Groups are
        integers or strings. An element without a row, or whose group is missing, is in no group.
    group_cost : float
        What each pair of members of one group in one cluster costs in addition; ``inf``, the default: a cluster has at
        most one member of each group.
    lifted : path, list of paths, or table, optional
        Further pairs, with the same columns, that have a cost but do not connect: every cluster has to be connected by
        the pairs of `problem`, at any cost below ``inf``.
    connected : bool
        The same without further pairs.
    refine : int
        Rounds of refinement at most; a round that gains little is the last one.
    client : distributed.Client, optional
        A cluster whose workers are used. Default: processes on this machine.
    workers : int
        The number of processes on this machine; 0: this process does all work, without Dask. Up to 2,097,152 rows that
        fit into one task need no workers either if the method is ``greedy-joining``, ``greedy-moving``,
        ``kernighan-lin`` or ``kernighan-lin-pairs``: none are started then.
    memory_limit : str or float
        The memory of each worker, as text like ``"4GB"`` or in bytes. It determines how the problem is divided.
    output : path, optional
        Folder for the labels, as Parquet files; default: ``labels`` in the work folder. Without a work folder either,
        the labels stand in a temporary folder, which is removed with the result, or when Python ends.
    work_folder : path, optional
        A folder that all workers can reach. It is empty, or that of an earlier run with the same input and options,
        which is then continued. Default: a temporary folder, removed in the end.
    **options
        Further options of the method.

    Returns
    -------
    DistributedResult

    Raises
    ------
    FormatError
        If a file cannot be read, or lacks a column.
    InvalidProblem, InvalidOption
        If an argument is not as described, or only problems in memory take it.
    SolverError
        If workers are lost again and again in a step that cannot be divided, or the disk is full. If this happens in
        the refinement, there is a warning, and the labels before the refinement are the result.
    MissingDependency
        If Dask or pyarrow is not installed: ``pip install 'graphpart[distributed]'``.

    Notes
    -----
    A task may use `memory_limit` bytes: on Linux, the processes that this function starts cannot allocate more;
    elsewhere, and on a cluster of the user, Dask ends workers that use more. Without workers, the limit only determines
    how the problem is divided. Workers of less than about 150 MB are too small to read rows. Mapped files do not count
    on Linux, since the system drops their pages when it needs the memory. If a task that solves a part needs more,
    parts are made half as large from then on, with a warning. One worker at a time keeps some numbers for each element
    in memory. The work folder contains at most three copies of the pairs, of 16 bytes for each pair, and the labels.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"u": ["ann", "ann", "bob"], "v": ["bob", "cid", "cid"], "cost": [-2.0, 3.0, -1.0]})
    >>> r = solve(rows, workers=0)
    >>> r.cost, r.lower_bound, r.n_clusters
    (-2.0, -2.0, 2)
    >>> r.to_frame()["label"].tolist()
    [0, 0, 1]
    """
    stopping = Stopping(time_limit, None, None, callback)
    if isinstance(options.get("options"), dict):
        deprecated("options={...}", "the options themselves, as gp.solve takes them")
        options |= options.pop("options")
    options = {"seed": seed, "max_iterations": max_iterations} | options
    method, options = _method(method, {name: value for name, value in options.items() if value is not None})
    if isinstance(problem, DaskPartition):
        columns, blocks = problem.columns, problem.blocks if blocks is None else blocks
        problem = problem.source
    named = columns_of(columns)
    memory = memory_of(memory_limit)
    check_workers(workers)
    if not hasattr(refine, "__index__") or refine < 0:
        raise InvalidOption(f"refine is {refine!r}: expected a whole number of rounds, at least 0")
    if isinstance(group_cost, bool | str) or not isinstance(group_cost, int | float | np.number) or not group_cost >= 0:
        raise InvalidOption(
            f"group_cost is {group_cost!r}: expected a price of at least 0, or inf for at most one member in a cluster"
        )
    if not group_cost:
        groups = None
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
        labels = os.path.abspath(os.path.join(at, "labels") if output is None else os.fspath(output))
        chosen: list[Any] = [method, {name: repr(value) for name, value in options.items()}]
        signature = {
            "columns": [named.u, named.v, named.cost],
            "method": chosen,
            "bound": bound,
            "memory_limit": memory,
        }
        folder.claim(signature)
        files = files_of(problem, folder)
        signature["input"] = signature_of(files)
        links = asked_for(lifted, connected)
        far = ([] if lifted is None else files_of(lifted, folder, "input-lifted")) if links else None
        signature["lifted"] = far and signature_of(far) if links else None
        if callable(blocks):
            signature["blocks"] = getattr(blocks, "__qualname__", type(blocks).__qualname__)
        else:
            blocks = None if blocks is None else files_of(blocks, folder, "input-blocks")
            signature["blocks"] = blocks and signature_of(blocks)
        if groups is not None:
            if not callable(groups):
                groups = files_of(groups, folder, "input-groups")
            name = getattr(groups, "__qualname__", type(groups).__qualname__)
            signature["groups"] = [name if callable(groups) else signature_of(groups), repr(float(group_cost))]
        else:
            signature["groups"] = None
        folder.claim(signature)
        settings = Settings(
            columns=named, method=method, options=options, bound=bound, blocks=blocks, groups=groups, lifted=far,
            group_cost=float(group_cost), memory=memory, refine=int(refine), target=target,
        )  # fmt: skip
        with contextlib.ExitStack() as stack:
            shown = stack.enter_context(Progress(1)) if progress else None

            def report(stage: str, done: int, count: int) -> None:
                if shown is not None:
                    shown.start(f"{stage}: {done} of {count} tasks")

            engine = stack.enter_context(Engine(folder, client, workers, memory, stopping, report))
            result = Run(engine, folder, settings, stopping).run(files, labels)
            if fleeting is not None:
                weakref.finalize(result, shutil.rmtree, fleeting, ignore_errors=True)
            return result
    finally:
        if temporary:
            folder.delete()
        if fleeting is not None and result is None:
            shutil.rmtree(fleeting, ignore_errors=True)


def _method(name: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The method for each part, and the options that it takes.

    Raises
    ------
    InvalidOption
        If the method does not take an option.
    """
    method = find_method("kernighan-lin" if str(name).lower() == "auto" else name, "partition")
    if "seed" in options and "seed" not in method.options:
        del options["seed"]
    takes = {*inspect.signature(method.function).parameters} - {
        "initial",
        "checkpoint",
    }  # those are of the whole problem
    for option in options:
        if option in takes:
            continue
        known = [*inspect.signature(solve).parameters][1:-1]
        if option in {"initial", "checkpoint", *OLDER, *inspect.signature(SetPartition.from_frame).parameters}:
            raise InvalidOption(
                f"{option} is for problems in memory, since parts are solved one by one: expected it of "
                "gp.solve(gp.SetPartition.from_frame(...))"
            )
        raise unknown_argument("distributed.solve", option, [*known, *takes])
    return method.name, options

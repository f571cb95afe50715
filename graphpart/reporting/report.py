"""`report(problem, result, path)` writes one HTML file about a result."""

from __future__ import annotations

import math
import os
from typing import Any, BinaryIO

from graphpart.common.steps import ROUNDING
from graphpart.display import number
from graphpart.errors import InvalidOption, InvalidPartition, known_arguments
from graphpart.files.source import check_writable
from graphpart.partition.inputs.frames import table_of
from graphpart.partition.inputs.unlisted import about_unlisted
from graphpart.partition.problem import as_problem
from graphpart.reporting.charts import check_report
from graphpart.reporting.document import title_of
from graphpart.reporting.doubtful import PairRows
from graphpart.reporting.page import Picture
from graphpart.result import Result
from graphpart.solve import problem_kind

__all__ = ["report"]

LARGEST_MATRIX = 3000  # elements of a problem stored as a matrix, up to which doubts are looked for


@known_arguments
def report(
    problem: Any,
    result: Result,
    path: str | os.PathLike[str] | BinaryIO,
    *,
    title: str | None = None,
    doubts: bool = True,
    time_limit: float | None = None,
    pairs: Any = None,
) -> None:
    """Write a report on a result: one self-contained HTML file for any browser, which needs no network.

    The report shows the result, doubtful decisions, and the quality of the result. For a set partition
    problem, it shows a map of clusters, the elements and pairs of those that are pressed, and the clusters by size. It
    lists the least certain decisions, in words, with the cost of the opposite decision, and its probability if the
    problem was made from probabilities. It shows cost and lower bound over time, and proofs. Elements of a grid
    are shown as an image, if the problem was made by ``from_affinities`` or its pairs are those of a grid. For a factor
    graph, it shows the energies of factors, the number of variables with each label and, on a grid, the labels as an
    image. Elements can be searched by name. The page has a dark mode, which follows the setting of the system, and
    works on narrow screens and by keyboard.

    Parameters
    ----------
    problem : SetPartition, FactorGraph, networkx.Graph, or generated Instance
        As for :func:`graphpart.solve`. For a :class:`graphpart.images.Segmentation`, the report on its problem also
        shows the outlines of the segments.
    result : Result
        The result of a solver for this problem.
    path : str, path-like or binary file
        Where to write; a file appears under its name only when it is complete.
    title : str, optional
        The title of the page; default: the name of the file, or "Report".
    doubts : bool
        Whether to compute doubts, see :func:`graphpart.partition.doubts` and :func:`graphpart.crf.doubts`. They take
        most of the time of a report on a large problem.
    time_limit : float, optional
        Seconds for the search for doubts. Default: no limit for partitions.
    pairs : data frame, optional
        The frame whose other columns are shown beside each decision; default: that of
        :meth:`SetPartition.from_frame`, if the problem was made by it. Columns whose names begin with ``bf_`` (Bayes
        factors, as Splink writes) or ``mw_`` or ``bits_`` (weights in bits) are drawn as a waterfall: what each
        comparison adds to the evidence.

    Raises
    ------
    MissingDependency
        If Bokeh, which draws the charts, is not installed: ``pip install 'graphpart[report]'``.
    InvalidOption
        If `result` is not a result, or `pairs` has no columns of the elements.
    MissingFile
        If there is no such folder; nothing is computed then.
    InvalidPartition
        If the result belongs to another problem.

    Notes
    -----
    O(m log^2 m) time for m pairs with doubts, else O(n log n + m). The same result gives the same bytes. If a problem
    is large, the pictures show a part of it, and the page says which.

    Examples
    --------
    >>> import io
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.0, 1.0], nodes=["ann", "bob", "cid"])
    >>> stream = io.BytesIO()
    >>> gp.report(p, gp.solve(p), stream, title="Three people")
    >>> "<h1>Optimal</h1>" in stream.getvalue().decode()
    True
    """
    check_writable(path)
    check_report()
    outlines = getattr(problem, "outlines", None)  # of a Segmentation
    if outlines is not None:
        problem = problem.problem
    if isinstance(problem, tuple) and hasattr(problem, "problem"):  # an Instance
        problem = problem.problem
    if not isinstance(result, Result):
        raise InvalidOption(f"result is of type {type(result).__name__}: expected what a solver returned, a Result")
    is_partition = problem_kind(problem) == "partition"
    if problem_kind(problem) == "labeled":
        raise InvalidOption(
            "reports are of set partition problems and factor graphs: expected p = q.with_classes(result) of this "
            "LabeledPartition q, and a report of p and gp.solve(p, initial=result.labels)"
        )
    origin = rows = None
    if is_partition:
        problem = as_problem(problem)
        origin = problem._origin
    if pairs is not None and (origin is None or origin.left is None):
        raise InvalidOption(
            "pairs is given, but the problem is not made from a frame: expected one from SetPartition.from_frame"
        )
    if origin is not None and (pairs is not None or origin.table is not None):
        rows = PairRows(origin.table if pairs is None else table_of(pairs), origin)
    _check_costs(problem, result)
    if title is None:
        title = title_of(path, "Report")
    remarks: list[str] = []
    if is_partition and (told := about_unlisted(problem)) is not None:
        remarks.append(f"{told[0].upper()}{told[1:]}.")
    found = _doubts(problem, result, is_partition, time_limit, remarks) if doubts else None
    if is_partition:
        from graphpart.reporting.partitions import partition_page

        page = partition_page(problem, result, found, title, remarks, rows)
    else:
        from graphpart.reporting.labelings import labeling_page

        page = labeling_page(problem, result, found, title, remarks)
    if outlines is not None:
        page.parts.insert(0, ("Segments", [Picture("segments", "Outlines of the segments", *outlines())]))
    page.write(path)


def _check_costs(problem: Any, result: Result) -> None:
    """Raise InvalidPartition if the result is that of another problem."""
    cost = problem.evaluate(result)
    if cost == result.cost or abs(cost - result.cost) <= ROUNDING * max(abs(cost), abs(result.cost)):
        return
    size = problem.n * problem._tolerance if hasattr(problem, "_tolerance") else 0.0
    if not abs(cost - result.cost) <= size:
        raise InvalidPartition(
            f"the result costs {number(result.cost)}, its labels {number(cost)}: expected the problem that it solves"
        )


def _doubts(problem: Any, result: Result, is_partition: bool, time_limit: float | None, remarks: list[str]) -> Any:
    from graphpart import crf, partition

    if result.cost == math.inf:
        remarks.append("What is least sure is not shown: the solution is forbidden.")
        return None
    if not is_partition:
        return crf.doubts(problem, result, time_limit=time_limit)
    if problem.is_dense and problem.n > LARGEST_MATRIX:
        remarks.append(
            f"What is least sure is not shown: there are more than {number(LARGEST_MATRIX)} elements in a matrix."
        )
        return None
    return partition.doubts(problem, result, time_limit=time_limit)

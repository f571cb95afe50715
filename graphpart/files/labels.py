"""Files of labels, with the names of the elements or without.

Files with names are CSV with the header ``element,cluster,size`` or ``variable,label``, as data frames of results have
it (``node,label`` in earlier versions), JSON, and NumPy archives of nodes and labels (see
`named_labels`). Files without names have one integer on each line, or are results of UAI: ``MPE``, then a line of
labels.

In a result of UAI (2014 and later) the first line is the task, ``MPE`` or ``MAP``; several results are separated by
lines ``-BEGIN-``, and the last one counts. In the format of 2008, a line with the number of samples follows the task.
"""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Hashable, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import GraphPartError, InvalidOption, InvalidPartition, InvalidProblem, warn
from graphpart.files.named_labels import ARCHIVE, json_of, npz_of, read_json, read_npz
from graphpart.files.source import PathOrStream, Source, bare_name, opened, replacing
from graphpart.files.stream import NumberStream
from graphpart.files.text import INTEGER, check_text, identifier, write_rows
from graphpart.kernels import LARGEST_INDEX
from graphpart.result import LabelingResult, Result, sizes_of

__all__ = ["check_layout", "read_labels", "write_labels"]

TASKS = (b"MPE", b"MAP", b"MMAP", b"PR", b"MAR")  # of UAI; the first two have a label for each variable
OTHERS = (".xlsx", ".xls", ".ods", ".parquet", ".feather", ".arrow", ".npy", ".html")  # of tables that are not written
MANY = 2**16  # rows
NAMES, LABELS = ("element", "variable", "node"), ("cluster", "label")  # columns of tables that are read


def read_labels(
    path: PathOrStream, problem: Any = None, *, partial: bool = False
) -> NDArray[Any] | dict[Hashable, Any]:
    """Read the labels of a partition or labeling.

    Parameters
    ----------
    path : str, path-like or binary stream
        One integer a line, in the order of the elements; or a CSV table with a line for each element, in any order,
        with a column ``element``, ``variable`` or ``node`` and a column ``cluster`` or ``label``; or JSON ``{"nodes":
        [...], "labels": [...]}``; or an ``.npz`` archive with the arrays `nodes` and `labels`; or a line ``MPE`` or
        ``MAP``, then ``n l1 ... ln`` as in the UAI competitions (with a line ``1``, a number of samples, between them,
        or without it; after the last line ``-BEGIN-``, if there is any). ``"-"`` is standard input; data compressed by
        gzip or xz are recognised.
    problem : SetPartition or FactorGraph, optional
        The problem that the labels are for. Names are found by their text.
    partial : bool
        Also take a file for other elements, by their names: elements that the problem does not have are skipped, and
        elements that the file does not have get the label -1. Methods that start from labels treat -1 as "no label".

    Returns
    -------
    ndarray of int, shape (n,), or dict
        With `problem`, an array of labels in the order of its nodes; labels of a partition are 0, 1, ... in order of
        first appearance. Without `problem`, the integers in the file, or a mapping from nodes to labels if it has
        names.

    Raises
    ------
    FormatError
        If the file has another form, or does not fit the problem.

    Examples
    --------
    >>> import io
    >>> read_labels(io.BytesIO(b"3\\n3\\n7\\n")).tolist()
    [3, 3, 7]
    """
    with opened(path) as source:
        first = source.head(1 << 16).split(b"\n", 1)[0].strip().replace(b'"', b"")
        labels: Any
        if first.startswith(ARCHIVE):
            labels = read_npz(source)
        elif first.startswith(b"{"):
            labels = read_json(source)
        else:
            labels = _result(source) if first in TASKS else _table(source) if b"," in first else _column(source)
        if problem is None:
            return labels  # type: ignore[no-any-return]
        if isinstance(labels, dict):  # nodes are written as their text
            labels = _named(source, labels, problem, partial)
        try:
            return problem.labels(labels, partial=partial)  # type: ignore[no-any-return]
        except GraphPartError as error:
            raise source.error(None, str(error)) from error


def _named(source: Source, labels: dict[Hashable, Any], problem: Any, partial: bool) -> dict[Hashable, Any]:
    by_text = {str(node): node for node in problem.nodes}
    if not partial:
        return {by_text.get(str(node), node): label for node, label in labels.items()}
    known = {by_text[str(node)]: label for node, label in labels.items() if str(node) in by_text}
    if labels and by_text and not known:
        node = ascii(next(iter(labels)))
        raise source.error(None, f"none of the {len(labels)} nodes, {node} the first, is one of the problem")
    return known


def _column(source: Source) -> NDArray[np.int64]:
    labels: list[int] = []
    blank: int | None = None
    while (line := source.readline()) is not None:
        text = line.strip()
        if not text:
            blank = blank or source.line - 1
            continue
        if blank is not None:
            raise source.error(blank, "found an empty line: expected a label, an integer")
        try:
            digits = text.decode("ascii")
            if not INTEGER.fullmatch(digits):
                raise ValueError
            label = int(digits)
            if abs(label) >= 2**63:
                raise ValueError
        except ValueError:
            shown = ascii(text[:40].decode("utf-8", "backslashreplace"))
            raise source.error(source.line - 1, f"found {shown}: expected a label, an integer of 64 bits") from None
        labels.append(label)
    return np.array(labels, np.int64)


def _result(source: Source) -> NDArray[np.int32]:
    task = (source.readline() or b"").strip().decode()
    if task.encode() not in TASKS[:2]:
        raise source.error(1, f"found a result of the task {task}: expected MPE or MAP, which label all variables")
    before, separator, last = source.read().rpartition(b"-BEGIN-")
    lines = b"\n" * before.count(b"\n") + last if separator else last
    stream = NumberStream(source, "n, the number of variables, then n labels", blocks=[lines])
    n = stream.count("the number of variables")
    rows = stream.rows()
    if len(rows) > 2 and n == len(rows) - 1 and rows[0] == (0, 1) and rows[1][1] - 1 > 1:  # a line for each sample
        raise stream.error(0, "one sample, 1 in this line")
    if n == 1 and len(stream.values) > 2 and stream.line_of(0) < stream.line_of(1):
        n = stream.count("the number of variables")  # what came first was the number of samples
    labels = stream.wholes(n, f"the labels of {n} variables", 0, LARGEST_INDEX)
    stream.end(f"the end of the file, as {n} labels are read")
    return labels


def _table(source: Source) -> dict[Hashable, Any]:
    reader = csv.reader(source.text(), strict=True, skipinitialspace=True)
    labels: dict[Hashable, Any] = {}
    expected, places = "element,cluster", (0, 0)
    header: list[str] = []
    line, guessed = "", False

    def without_header() -> Exception:
        return source.error(1, f"found {line!a}: expected the header element,cluster or variable,label")

    try:
        for row in reader:
            if reader.line_num == 1:
                line = ",".join(row)[:40]
                header = [field.strip().lower() for field in row]
                found = [[k for k, field in enumerate(header) if field in names] for names in (NAMES, LABELS)]
                named = len(header) == 2 and all(header) and not any(map(INTEGER.fullmatch, header))
                if guessed := named and not any(found):
                    found = [[0], [1]]
                if [len(columns) for columns in found] != [1, 1]:
                    raise without_header()
                places = found[0][0], found[1][0]
                expected = ",".join(header)
                continue
            if not row:
                continue
            for field in row:
                check_text(source, reader.line_num, field)
            if len(row) != len(header) or not all(row[k] for k in places):
                raise source.error(reader.line_num, f"found {','.join(row)[:40]!a}: expected {expected}")
            node, label = (identifier(row[k]) for k in places)
            if node in labels:
                name = header[places[0]]
                raise source.error(reader.line_num, f"found {name} {node!r} again: expected each {name} once")
            labels[node] = label
    except csv.Error as error:
        raise source.error(reader.line_num, f"{error}: expected {expected}") from None
    if guessed and header[1] in {str(label).lower() for label in labels.values()}:
        raise without_header()
    if guessed:
        warn(f"{source.name}: {header[0]!r} is read as the column of elements, {header[1]!r} of clusters")
    return labels


def _numbered(nodes: Sequence[Hashable]) -> bool:
    """Whether the names are 0, 1, ... in order, so that they need not be written."""
    return isinstance(nodes, range) or all(a == b for a, b in enumerate(nodes))


def _table_of(nodes: Sequence[Hashable], labels: NDArray[Any], variables: bool) -> dict[str, Any]:
    """The columns of the data frame of a result."""
    if "" in nodes:
        raise InvalidProblem("a node without a name cannot be written: expected format with one label a line")
    if variables:
        return {"variable": nodes, "label": labels}
    return {"element": nodes, "cluster": labels, "size": sizes_of(labels)}


def _write_table(columns: dict[str, Any], stream: BinaryIO) -> None:
    """Write columns as CSV. Many integers are written by pyarrow, if it was imported, in a third of the time."""
    names, *others = columns.values()
    arrow = sys.modules.get("pyarrow")
    whole = len(names) >= MANY and all(column.dtype.kind in "iu" for column in others)
    if whole and arrow is not None and set(map(type, names)) == {int}:
        from pyarrow import csv as arrow_csv

        try:
            arrays = [np.ascontiguousarray(column, np.int64) for column in columns.values()]
        except OverflowError:  # integers of more than 64 bits
            pass
        else:  # pyarrow.array would import pandas
            long = arrow.int64()
            made = [arrow.Array.from_buffers(long, len(names), [None, arrow.py_buffer(array)]) for array in arrays]
            stream.write(f"{','.join(columns)}\n".encode())
            arrow_csv.write_csv(arrow.table(made, list(columns)), stream, arrow_csv.WriteOptions(include_header=False))
            return
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(map(str, names), *(column.tolist() for column in others), strict=True))
    stream.write(text.getvalue().encode())


def check_layout(path: PathOrStream) -> None:
    """Raise InvalidOption if the suffix is that of a table or array which labels are not written as."""
    suffix = os.path.splitext(bare_name(path))[1]
    if suffix in OTHERS:
        raise InvalidOption(
            f"{path}: labels are not written as {suffix}: expected .csv, .labels, .json, .npz, .mpe or .map; a data "
            "frame has result.to_frame()"
        )


def write_labels(labels: Any, path: PathOrStream, problem: Any = None) -> None:
    """Write the labels of a partition or labeling.

    Parameters
    ----------
    labels : Result, or anything that ``problem.labels`` takes, or array_like of int
    path : str, path-like or binary stream
        The suffix determines the layout. ``.csv``: the data frame of a result, with the columns ``element``,
        ``cluster`` and ``size``, or ``variable`` and ``label``. ``.labels``: the same, or one label on each line if the
        nodes are 0, 1, ... in order. ``.json`` and ``.npz``: the nodes and the labels. ``.mpe`` and ``.map``: a line
        ``MPE`` or ``MAP``, then ``n l1 ... ln``. Any other suffix: one label on each line. With ``.gz`` or ``.xz``
        added, files other than ``.npz`` are compressed. Files with names can also be used as a start for problems with
        other elements. Of a result with classes, tables have the column ``class``, JSON and archives have ``classes``,
        and all other files are tables. ``"-"`` is standard output.
    problem : SetPartition or FactorGraph, optional
        The problem that gives names to the elements. Not needed for a Result, which contains the names.

    Examples
    --------
    >>> import io
    >>> stream = io.BytesIO()
    >>> write_labels([0, 0, 1], stream)
    >>> stream.getvalue()
    b'0\\n0\\n1\\n'
    """
    nodes: Sequence[Hashable]
    if isinstance(labels, str | os.PathLike):
        raise InvalidOption(f"labels is the path {os.fspath(labels)!r}: expected write_labels(result, path)")
    if isinstance(labels, Result):
        array, nodes = labels.labels, labels.nodes
    elif problem is not None:
        array, nodes = problem.labels(labels), problem.nodes
    else:
        array = np.asarray(labels)
        if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
            raise InvalidPartition(f"labels have shape {array.shape} and dtype {array.dtype}: expected n integers")
        array, nodes = array.astype(np.int64), range(len(array))
    check_layout(path)
    name, classes = bare_name(path), getattr(labels, "classes", None)
    is_table = name.endswith(".csv") or (name.endswith(".labels") and not _numbered(nodes))
    if is_table or (classes is not None and not name.endswith((".json", ".npz"))):
        columns = _table_of(nodes, array, isinstance(labels, LabelingResult) or hasattr(problem, "condition"))
        if classes is not None:
            columns["class"] = classes
        with replacing(path) as stream:
            _write_table(columns, stream)
        return
    named = {".json": json_of, ".npz": npz_of}.get(os.path.splitext(name)[1])
    content = b"" if named is None else named(nodes, array, classes)
    with replacing(path) as stream:
        if named is not None:
            stream.write(content)
        elif name.endswith((".mpe", ".map")):
            stream.write(f"{name[-3:].upper()}\n{' '.join(map(str, [len(array), *array.tolist()]))}\n".encode())
        else:
            write_rows(stream, "", array)
            if os.path.splitext(name)[1] not in ("", ".txt") and not _numbered(nodes):
                warn("labels are written one on each line, in the order of the elements, without names: .csv has both")

"""Tables with columns of any names: two of identifiers, one with a cost, weight, similarity or probability.

The table is CSV or Parquet, which is recognised by its first bytes. A plain CSV table is read by pyarrow, if it is
installed; any other, and one with an error, by `TableReader`.
"""

from __future__ import annotations

import inspect
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption, InvalidProblem, unknown_argument
from graphpart.files.source import PathOrStream, Source, opened
from graphpart.files.text import identifier
from graphpart.io.arrow_csv import plain_columns, wrong_parts
from graphpart.io.parquet import MAGIC, ParquetColumns
from graphpart.io.table import TableReader
from graphpart.partition.inputs.duplicates import lines_of_rows
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.requirements import NAMES, OLDER

__all__ = ["divided", "read_pairs"]

KINDS = ("cost", "weight", "similarity", "probability")


def read_pairs(path: PathOrStream, left: str | None = None, right: str | None = None, **options: Any) -> SetPartition:
    """Read a problem from a CSV table with a header, or from a Parquet file, with a row for each pair.

    Parameters
    ----------
    path : str, path-like or binary stream
        ``"-"`` is standard input. Data compressed by gzip are recognised.
    left, right : str, optional
        The columns with the identifiers of the two elements; default: the first two columns other than that of the
        values. In CSV, an identifier that is written like an integer is an integer; the columns of a Parquet file have
        types.
    **options
        One of `cost`, `weight`, `similarity` and `probability`, the name of the column with the values; further
        `threshold`, `prior`, `clip`, `duplicates` and `missing`. See :meth:`graphpart.SetPartition.from_frame`.

    Raises
    ------
    FormatError
        If the table has no such column, an identifier is empty, a value is no number, or a row pairs an element with
        itself; the message names the line, or the row of a Parquet file, counted from 0.
    MissingDependency
        If the file is Parquet and pyarrow is not installed: ``pip install 'graphpart[frames]'``.
    InvalidOption
        As for :meth:`graphpart.SetPartition.from_frame`.

    Examples
    --------
    >>> import io
    >>> table = io.BytesIO(b"id1,id2,score\\nann,anne,0.9\\nann,bob,0.25\\n")
    >>> read_pairs(table, similarity="score", threshold=0.5).evaluate([{"ann", "anne"}, {"bob"}])
    -0.4
    """
    known = [name for name in inspect.signature(SetPartition.from_frame).parameters if name != "frame"]
    for option in options:
        if option not in known:
            raise unknown_argument("a table of pairs", option, known)
    named = [options[kind] for kind in KINDS if options.get(kind) is not None]
    if len(named) != 1:
        raise InvalidOption(f"{len(named)} columns of values named: expected one of {', '.join(KINDS)}")
    value = named[0]
    with opened(path) as source:
        data = b""
        if source.head(len(MAGIC)) == MAGIC:
            table: ParquetColumns | TableReader = ParquetColumns(source)
        else:
            data = source.read()
            table = TableReader(Source(io.BytesIO(data), source.name))
        others = [name for name in table.columns if name not in (left, right, value)]
        table.place(value)
        ends = []
        for end in (left, right):
            if end is None and not others:
                line = None if isinstance(table, ParquetColumns) else 1
                raise source.error(line, f"no column is left beside {value!r}: expected two of identifiers")
            ends.append(others.pop(0) if end is None else end)
            table.place(ends[-1])
        frame: Any
        lines: list[int] | range | None = None
        if isinstance(table, ParquetColumns):
            frame = table.as_needed([*ends, value])
            if not frame.rows:
                raise source.error(None, "the table has no rows: expected pairs")
        elif (
            plain := plain_columns(data, table.columns, ends, value, options.get("probability") is not None)
        ) is not None:
            frame = plain
            lines = None if b"\n\n" in data or b"\n\r\n" in data else range(2, len(plain[value]) + 2)
        else:
            probability = options.get("probability") is not None
            for part, last in wrong_parts(data, table.columns, ends, value, probability):
                within = TableReader(Source(io.BytesIO(part), source.name), whole=last)
                _columns(source, within, ends, value, probability)  # its error is the first one of the table
                break
            values, names, lines = _columns(source, table, ends, value, probability)
            if not len(values):
                raise source.error(2, "no row follows the header: expected pairs")
            frame = {ends[0]: names[0], ends[1]: names[1], value: values}
        told = lines_of_rows.set(None if lines is None else lines.__getitem__)
        try:
            return SetPartition.from_frame(frame, ends[0], ends[1], **options)
        except InvalidProblem as error:
            raise source.error(None, str(error)) from error
        finally:
            lines_of_rows.reset(told)


def divided(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Options for reading a file, requirements, and options of a method; a table is read with requirements."""
    table = any(options.get(kind) is not None for kind in KINDS)
    words = [*inspect.signature(SetPartition.from_frame).parameters][1:]
    parts: tuple[dict[str, Any], dict[str, Any], dict[str, Any]] = {}, {}, {}
    for name, value in options.items():
        required = name in NAMES or name in OLDER
        parts[0 if name in words and (table or not required) else 1 if required else 2][name] = value
    return parts


def _columns(
    source: Source, table: TableReader, ends: Sequence[str], value: str, probability: bool
) -> tuple[NDArray[np.float64], list[NDArray[Any]], list[int]]:
    """(values, identifiers of both sides, lines) of all rows, checked as far as a message has to name the line."""
    blocks: list[NDArray[np.float64]] = []
    texts: tuple[list[str], list[str]] = [], []
    lines: list[int] = []
    for block_lines, numbers, fields in table.blocks([value], ends, finite=False):
        block = numbers[:, 0]
        wrong = np.isnan(block) | ((block < 0) | (block > 1) if probability else False)
        if wrong.any():
            k = int(np.argmax(wrong))
            expected = "a probability from 0 to 1" if probability else "a number"
            raise source.error(block_lines[k], f"column {value!r} has {block[k]:g}: expected {expected}")
        for line, (a, b) in zip(block_lines, fields, strict=True):
            if a == b:
                raise source.error(line, f"{a!r} is paired with itself: expected two different elements")
            texts[0].append(a)
            texts[1].append(b)
        blocks.append(block)
        lines += block_lines
    known = {text: identifier(text) for text in {*texts[0], *texts[1]}}
    small = all(isinstance(name, int) and abs(name) < 2**63 for name in known.values())
    names = []
    for side in texts:
        array = np.empty(len(side), np.int64 if small else object)
        array[:] = list(map(known.__getitem__, side))
        names.append(array)
    return np.concatenate(blocks) if blocks else np.zeros(0), names, lines

"""Tables about the elements of a problem: their groups, and pairs of elements that belong together or apart.

A table is CSV or Parquet. In CSV, an identifier that is written like an integer is an integer, as in tables of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from graphpart.errors import InvalidProblem
from graphpart.files.source import PathOrStream, opened
from graphpart.files.text import ANSWERS, answer_in, identifier
from graphpart.io.parquet import MAGIC, ParquetColumns
from graphpart.io.table import TableReader
from graphpart.partition.inputs.frames import elements_of, table_of

__all__ = ["read_answers", "read_elements", "read_named_pairs"]

COLUMNS = ("left", "right", "answer")  # of a table of answers
ASKED = ("decision", "chance", "about")  # columns that it has if its questions come from graphpart


def read_elements(path: PathOrStream, id: str | None, columns: Sequence[str]) -> tuple[list[Hashable], list[Any]]:
    """The identifiers of elements, and the values of some columns, which may be empty in CSV.

    Parameters
    ----------
    path : str, path-like or binary stream
    id : str, optional
        The column of identifiers; default: the first.
    columns : sequence of str

    Raises
    ------
    FormatError
        If there is no such column, or an identifier is missing or occurs twice.
    """
    with opened(path) as source:
        if source.head(len(MAGIC)) == MAGIC:
            table = ParquetColumns(source)
            id = table.columns[0] if id is None else id
            for name in (id, *columns):
                table.place(name)
            frame = table.table([id, *columns])
        else:
            reader = TableReader(source)
            id = reader.columns[0] if id is None else id
            for name in columns:
                reader.place(name)
            frame = _texts(reader, [id], list(columns))
            frame[id] = [identifier(text) for text in frame[id]]
        try:
            names, values_of = elements_of(frame, id)
            return names, [values_of(name) for name in columns]
        except InvalidProblem as error:
            raise source.error(None, str(error)) from error


def read_named_pairs(path: PathOrStream, costs: bool = False) -> Any:
    """A list of pairs of elements from the first two columns of a table, such as one of doubtful pairs.

    With `costs`, a tuple of it and a list of the numbers in the third column.

    Raises
    ------
    FormatError
        If there are too few columns, an identifier is missing, or a cost is no number.
    """
    wanted, what = (3, "and one of costs") if costs else (2, "")
    with opened(path) as source:
        table: Any = ParquetColumns(source) if source.head(len(MAGIC)) == MAGIC else TableReader(source)
        if len(table.columns) < wanted:
            noun = "columns" if len(table.columns) > 1 else "column"
            found = f"found the {noun} {', '.join(table.columns)}: expected two columns of identifiers {what}"
            raise source.error(1, found.rstrip())
        names = table.columns[:wanted]
        if isinstance(table, ParquetColumns):
            read = table_of(table.table(names))
            columns = {name: list(read.values(name)) for name in names}
        else:
            columns = _texts(table, names[:2], names[2:])
            columns |= {name: list(map(identifier, columns[name])) for name in names[:2]}
        pairs = list(zip(columns[names[0]], columns[names[1]], strict=True))
        if not costs:
            return pairs
        numbers = [number_of(value) for value in columns[names[2]]]
        if any(map(math.isnan, numbers)):
            row = next(k for k, value in enumerate(numbers) if math.isnan(value))
            raise source.error(
                None, f"the pair {pairs[row]} has the cost {columns[names[2]][row]!r}: expected a number"
            )
        return pairs, numbers


def read_answers(path: PathOrStream) -> dict[str, list[Any]]:
    """The answers of people in a table, CSV or Parquet: its columns left, right and answer; answers may be empty.

    Also the columns `decision`, `chance` and `about` of the questions, where they are there.

    Raises
    ------
    FormatError
        If the file is empty, lacks a column, an identifier is missing, or an answer is no known word.
    """
    with opened(path) as source:
        if source.head(len(MAGIC)) == MAGIC:
            columns = ParquetColumns(source)
            for name in COLUMNS:
                columns.place(name)
            kept = [*COLUMNS, *(name for name in ASKED if name in columns.columns)]
            table = table_of(columns.table(kept))
            values_of = {name: list(table.values(name)) for name in kept}
            return values_of | {name: list(map(number_of, values_of[name])) for name in kept if name == "chance"}
        reader = TableReader(source)
        more = [name for name in ASKED if name in reader.columns]
        found: dict[str, list[Any]] = {name: [] for name in (*COLUMNS, *more)}
        for lines, _, fields in reader.blocks([], [*COLUMNS, *more], blank=[COLUMNS[2], *more]):
            for line, (left, right, answer, *rest) in zip(lines, fields, strict=True):
                if (said := answer_in(answer)) is None:
                    raise source.error(line, f"found the answer {answer!r}: expected {ANSWERS}")
                values: list[Any] = [identifier(left), identifier(right), said, *rest]
                for name, value in zip(found, values, strict=True):
                    found[name].append(number_of(value) if name == "chance" else value)
        return found


def number_of(text: Any) -> float:
    """A number, or NaN."""
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan


def _texts(table: TableReader, ids: list[str], blank: list[str]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: [] for name in (*ids, *blank)}
    for _, _, fields in table.blocks([], [*ids, *blank], blank=blank):
        for name, values in zip((*ids, *blank), zip(*fields, strict=True), strict=True):
            found[name] += values
    return found

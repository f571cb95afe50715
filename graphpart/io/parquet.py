"""Parquet files with columns of any names, for `read_pairs`: three columns of one file, in memory.

Several files that make one table, and files larger than memory, are for graphpart.distributed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import MissingDependency, no_column
from graphpart.machine import give_back, side_by_side
from graphpart.partition.inputs.frames import Codes, Table, numbered, numbers_of, table_of

if TYPE_CHECKING:
    from graphpart.files.source import Source

__all__ = ["COLUMNS", "MAGIC", "NAME_COLUMNS", "SHELL", "ParquetColumns"]

MAGIC = b"PAR1"
NAME_COLUMNS = "name its columns: gp.read(path, left=..., right=..., probability=...), or similarity, weight or cost"
COLUMNS = f"a Parquet file: {NAME_COLUMNS}; gp.distributed.solve(path) solves it in parts"
ROWS = 2**12  # rows of a row group, on average, from which on it is read by itself
NUMBERS = {"int32": np.int32, "int64": np.int64, "double": np.float64}  # as which columns of Arrow are read
TEXTS = ("string", "large_string")
SHELL = {  # the option of the command line instead
    NAME_COLUMNS: "name its columns: --left, --right, and --probability, --similarity, --weight or --cost",
    "gp.distributed.solve(path) solves it in parts": "--workers solves it in parts",
}


class ParquetColumns:
    """The columns of a Parquet file.

    Parameters
    ----------
    source : Source
        At the start of the file, all of which is read.

    Attributes
    ----------
    columns : list of str

    Raises
    ------
    MissingDependency
        If pyarrow is not installed.
    FormatError
        If the file is damaged.
    """

    def __init__(self, source: Source) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise MissingDependency("pyarrow", "frames", "reading Parquet files") from None
        self._source = source
        self._pyarrow = pyarrow
        self._errors = (pyarrow.ArrowException, OSError)
        whole = source.whole()
        self._where: Any = _path_of(whole) or whole
        self._stamp = self._stamped()
        self._file = self._opened(whole)
        self.columns = [str(name) for name in self._file.schema_arrow.names]

    def place(self, name: str) -> int:
        """The number of a column; FormatError if there is none of this name."""
        if name not in self.columns:
            raise self._source.error(None, no_column(name, self.columns))
        return self.columns.index(name)

    def table(self, names: list[str]) -> Any:
        """These columns, as an Arrow table."""
        return self._read(self._file, names)

    def as_needed(self, names: list[str]) -> Table:
        """These columns, each read whenever it is asked for: less is in memory than all of them take."""

        def asked(what: str, *some: Hashable) -> Any:
            if self._stamped() != self._stamp:
                changed = "the file is gone, or has changed since it was read: expected the same rows again"
                raise self._source.error(None, changed)
            file = self._opened(self._where)
            columns = [str(name) for name in dict.fromkeys(some)]
            found: Any = self._codes(file, columns) if what == "encode" else None
            if found is None:
                plain = self._numbers(file, columns, what == "encode")
                table = table_of(self._read(file, columns) if plain is None else plain)
                del plain
                found = getattr(table, what)(*some)
                del table
            del file
            give_back()
            return found

        encode, numbers, values = (partial(asked, what) for what in ("encode", "numbers", "values"))
        return Table(list(names), self._file.metadata.num_rows, encode, numbers, values, own=True)

    def _numbers(self, file: Any, names: list[str], short: bool) -> dict[Hashable, Any] | None:
        """Columns as arrays, if they hold numbers and no nulls.

        `short`: with 32 bits where the file says that this is enough.
        """
        schema, about = file.schema_arrow, file.metadata
        if not _is_plain(file, names, NUMBERS):
            return None
        kinds = [NUMBERS[str(schema.field(name).type)] for name in names]
        kinds = [
            np.int32 if short and kind == np.int64 and _fits(about, schema.names.index(name)) else kind
            for kind, name in zip(kinds, names, strict=True)
        ]
        columns = [np.empty(about.num_rows, kind) for kind in kinds]

        def take(column: Any, k: int, begin: int) -> bool:
            values, place = numbers_of(column), columns[k][begin : begin + len(column)]
            place[:] = values
            return kinds[k] != np.int32 or bool((place == values).all())  # else what the file says is wrong

        return dict(zip(names, columns, strict=True)) if self._by_groups(file, names, take) else None

    def _codes(self, file: Any, names: list[str]) -> Codes | None:
        """Codes of two columns of texts without nulls, and the texts, of which Arrow lists those of each row group."""
        kinds = {str(file.schema_arrow.field(name).type) for name in names if name in self.columns}
        if len(names) != 2 or len(kinds) != 1 or not _is_plain(file, names, TEXTS):
            return None
        rows = np.empty(2 * file.metadata.num_rows, np.int32)  # both codes of the first row, of the second, ...
        parts: list[tuple[NDArray[np.int32], Any]] = []

        def take(column: Any, k: int, begin: int) -> bool:
            for chunk in column.chunks:
                place = rows[2 * begin + k : 2 * (begin + len(chunk)) + k : 2]
                place[:] = numbers_of(self._pyarrow.chunked_array([chunk.indices]))
                parts.append((place, chunk.dictionary))
                begin += len(chunk)
            return True

        if not self._by_groups(file, names, take, read_dictionary=names):
            return None
        whole = self._united([texts for _, texts in parts])
        for (place, _), chunk in zip(parts, whole.chunks, strict=True):
            place[:] = numbers_of(self._pyarrow.chunked_array([chunk.indices]))[place]
        texts = whole.chunk(0).dictionary.to_pylist() if parts else []
        return numbered(rows, lambda at: [texts[k] for k in rows[at].tolist()])

    def _united(self, lists: list[Any]) -> Any:
        """The texts of several lists, in order, as codes with one list of different texts."""
        arrow = self._pyarrow
        parts = []
        for texts in lists:
            place = arrow.py_buffer(np.arange(len(texts), dtype=np.int32))  # pyarrow.array would import pandas
            codes = arrow.Array.from_buffers(arrow.int32(), len(texts), [None, place])
            parts.append(arrow.DictionaryArray.from_arrays(codes, texts))
        return arrow.chunked_array(parts, None if parts else arrow.null()).unify_dictionaries()

    def _by_groups(self, file: Any, names: list[str], take: Callable[[Any, int, int], bool], **how: Any) -> bool:
        """Read columns in row groups, in two threads: ``take(column, k, row)`` gets part of the column of number k.

        False as soon as a part has nulls, or `take` returns False. `how`: further arguments of ``ParquetFile``.
        """
        groups = file.metadata.num_row_groups
        starts = np.cumsum([0, *(file.metadata.row_group(k).num_rows for k in range(groups))]).tolist()

        def read(first: int) -> bool:
            mine = file if first == 0 and not how else self._opened(self._where, **how)
            for task in range(first, groups * len(names), step):
                group, k = divmod(task, len(names))
                column = self._read(mine, [names[k]], group).column(names[k])
                if column.null_count or not take(column, k, starts[group]):
                    return False
            return True

        step = 2 if isinstance(self._where, str) else 1  # a stream has one place
        return all(side_by_side(*(partial(read, k) for k in range(step)), worth=file.metadata.num_rows >= 2**18))

    def _stamped(self) -> tuple[int, int] | None:
        """Size and time of a plain file; None if it is gone, and of a stream."""
        try:
            found = os.stat(self._where) if isinstance(self._where, str) else None
        except OSError:
            found = None
        return None if found is None else (found.st_size, found.st_mtime_ns)

    def _opened(self, where: Any, **how: Any) -> Any:
        try:
            return self._pyarrow.parquet.ParquetFile(where, **how)
        except self._errors as error:
            raise self._damaged(error) from None

    def _read(self, file: Any, names: list[str], group: int | None = None) -> Any:
        """Columns of one group of rows, by this thread alone, or of all."""
        try:
            if group is not None:
                return file.read_row_group(group, columns=names, use_threads=False)
            return file.read(columns=names)
        except self._errors as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> Exception:
        found = str(error).split("\n")[0].rstrip(".")
        return self._source.error(None, f"the Parquet file is damaged ({found}): expected all of it")


def _is_plain(file: Any, names: list[str], kinds: Collection[str]) -> bool:
    """Whether columns are of these kinds of Arrow, and row groups are worth being read by themselves."""
    schema, about = file.schema_arrow, file.metadata
    if about.num_columns != len(schema.names) or about.num_row_groups * ROWS > about.num_rows + ROWS:
        return False  # structures; or many small row groups, each of which takes time
    return all(schema.names.count(name) == 1 and str(schema.field(name).type) in kinds for name in names)


def _fits(about: Any, place: int) -> bool:
    """Whether all numbers of a column fit into 32 bits, by what a Parquet file says about itself."""
    for k in range(about.num_row_groups):
        found = about.row_group(k).column(place).statistics
        if not found or not found.has_min_max or not -(2**31) <= found.min <= found.max < 2**31:
            return False
    return True


def _path_of(stream: Any) -> str | None:
    """The path by which an open file can be opened again; None if it has none, or leads to another file by now."""
    name = getattr(stream, "name", None)
    if not isinstance(name, str):
        return None
    try:
        path = os.path.abspath(name)
        return path if os.path.samestat(os.fstat(stream.fileno()), os.stat(path)) else None
    except (OSError, ValueError, AttributeError):
        return None

"""Parquet files with columns of any names, for `read_pairs`: three columns of one file, in memory.

Several files that make one table, and files larger than memory, are for graphpart.distributed.
"""

from __future__ import annotations

import os
from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from graphpart.errors import MissingDependency, no_column
from graphpart.machine import give_back, side_by_side
from graphpart.partition.inputs.frames import Table, numbers_of, table_of

if TYPE_CHECKING:
    from graphpart.files.source import Source

__all__ = ["COLUMNS", "MAGIC", "NAME_COLUMNS", "SHELL", "ParquetColumns"]

MAGIC = b"PAR1"
NAME_COLUMNS = "name its columns: gp.read(path, left=..., right=..., probability=...), or similarity, weight or cost"
COLUMNS = f"a Parquet file: {NAME_COLUMNS}; gp.distributed.solve(path) solves it in parts"
ROWS = 2**12  # rows of a row group, on average, from which on it is read by itself
NUMBERS = {"int32": np.int32, "int64": np.int64, "double": np.float64}  # as which columns of Arrow are read
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
            plain = self._numbers(file, columns, what == "encode")
            table = table_of(self._read(file, columns) if plain is None else plain)
            del plain
            found = getattr(table, what)(*some)
            del table, file
            give_back()
            return found

        encode, numbers, values = (partial(asked, what) for what in ("encode", "numbers", "values"))
        return Table(list(names), self._file.metadata.num_rows, encode, numbers, values, own=True)

    def _numbers(self, file: Any, names: list[str], short: bool) -> dict[Hashable, Any] | None:
        """Columns as arrays, if they hold numbers and no nulls: all row groups, which two threads read.

        `short`: with 32 bits where the file says that this is enough.
        """
        schema, about = file.schema_arrow, file.metadata
        if about.num_columns != len(schema.names) or about.num_row_groups * ROWS > about.num_rows + ROWS:
            return None  # structures; or many small row groups, each of which takes time
        if any(schema.names.count(name) != 1 or str(schema.field(name).type) not in NUMBERS for name in names):
            return None
        starts = np.cumsum([0, *(about.row_group(k).num_rows for k in range(about.num_row_groups))]).tolist()
        kinds = [NUMBERS[str(schema.field(name).type)] for name in names]
        kinds = [
            np.int32 if short and kind == np.int64 and _fits(about, schema.names.index(name)) else kind
            for kind, name in zip(kinds, names, strict=True)
        ]
        columns = [np.empty(about.num_rows, kind) for kind in kinds]

        def read(first: int) -> bool:
            mine = file if first == 0 else self._opened(self._where)
            for task in range(first, about.num_row_groups * len(names), step):
                group, k = divmod(task, len(names))
                chunk = self._read(mine, [names[k]], group).column(names[k])
                if chunk.null_count:
                    return False
                values, place = numbers_of(chunk), columns[k][starts[group] : starts[group + 1]]
                place[:] = values
                if kinds[k] == np.int32 and not (place == values).all():  # what the file says is wrong
                    return False
            return True

        step = 2 if isinstance(self._where, str) else 1  # a stream has one place
        if not all(side_by_side(*(partial(read, k) for k in range(step)), worth=about.num_rows >= 2**18)):
            return None
        return dict(zip(names, columns, strict=True))

    def _stamped(self) -> tuple[int, int] | None:
        """Size and time of a plain file; None if it is gone, and of a stream."""
        try:
            found = os.stat(self._where) if isinstance(self._where, str) else None
        except OSError:
            found = None
        return None if found is None else (found.st_size, found.st_mtime_ns)

    def _opened(self, where: Any) -> Any:
        try:
            return self._pyarrow.parquet.ParquetFile(where)
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

"""Parquet files with columns of any names, for `read_pairs`: three columns of one file, in memory.

Several files that make one table, and files larger than memory, are for graphpart.distributed.
"""

from __future__ import annotations

import os
from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, Any

from graphpart.errors import MissingDependency, no_column
from graphpart.machine import give_back
from graphpart.partition.inputs.frames import Table, table_of

if TYPE_CHECKING:
    from graphpart.files.source import Source

__all__ = ["COLUMNS", "MAGIC", "NAME_COLUMNS", "SHELL", "ParquetColumns"]

MAGIC = b"PAR1"
NAME_COLUMNS = "name its columns: gp.read(path, left=..., right=..., probability=...), or similarity, weight or cost"
COLUMNS = f"a Parquet file: {NAME_COLUMNS}; gp.distributed.solve(path) solves it in parts"
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
        try:
            self._file = pyarrow.parquet.ParquetFile(whole)
        except self._errors as error:
            raise self._damaged(error) from None
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
            try:
                file = self._pyarrow.parquet.ParquetFile(self._where)
            except self._errors as error:
                raise self._damaged(error) from None
            table = table_of(self._read(file, [str(name) for name in dict.fromkeys(some)]))
            found = getattr(table, what)(*some)
            del table, file
            give_back()
            return found

        ways = (partial(asked, what) for what in ("encode", "numbers", "values"))
        return Table(list(names), self._file.metadata.num_rows, *ways)

    def _stamped(self) -> tuple[int, int] | None:
        """Size and time of a plain file; None if it is gone, and of a stream."""
        try:
            found = os.stat(self._where) if isinstance(self._where, str) else None
        except OSError:
            found = None
        return None if found is None else (found.st_size, found.st_mtime_ns)

    def _read(self, file: Any, names: list[str]) -> Any:
        try:
            return file.read(columns=names)
        except self._errors as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> Exception:
        found = str(error).split("\n")[0].rstrip(".")
        return self._source.error(None, f"the Parquet file is damaged ({found}): expected all of it")


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

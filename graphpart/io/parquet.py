"""Parquet files with columns of any names, for `read_pairs`: three columns of one file, in memory.

Several files that make one table, and files larger than memory, are for graphpart.distributed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphpart.errors import MissingDependency, no_column

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
        self._errors = (pyarrow.ArrowException, OSError)
        try:
            self._file = pyarrow.parquet.ParquetFile(source.whole())
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
        try:
            return self._file.read(columns=names)
        except self._errors as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> Exception:
        found = str(error).split("\n")[0].rstrip(".")
        return self._source.error(None, f"the Parquet file is damaged ({found}): expected all of it")

"""Parquet files with columns of any names, for `read_pairs`: three columns of one file, in memory.

Several files that make one table, and files larger than memory, are for graphpart.distributed.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from graphpart.errors import MissingDependency

if TYPE_CHECKING:
    from graphpart.files.source import Source

__all__ = ["COLUMNS", "MAGIC", "ParquetColumns"]

MAGIC = b"PAR1"
COLUMNS = (
    "a Parquet file: expected the names of its columns by --left, --right and --cost, --weight, --similarity or "
    "--probability (io.read_pairs), or --workers, which solves it in parts"
)


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
            self._file = pyarrow.parquet.ParquetFile(io.BytesIO(source.read()))
        except self._errors as error:
            raise self._damaged(error) from None
        self.columns = [str(name) for name in self._file.schema_arrow.names]

    def place(self, name: str) -> int:
        """The number of a column; FormatError if there is none of this name."""
        if name not in self.columns:
            known = ", ".join(self.columns[:20]) + (", ..." if len(self.columns) > 20 else "")
            raise self._source.error(None, f"no column {name!r}: expected it among {known}")
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

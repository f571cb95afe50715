"""A problem that is not in memory: the place of its pairs, checked before anything is computed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from graphpart.display import Shown, plural
from graphpart.distributed.inputs import Columns, chunks_of, is_files, paths_of
from graphpart.errors import FormatError, InvalidOption, InvalidProblem

__all__ = ["DaskPartition", "columns_of"]


class DaskPartition(Shown):
    """Pairs with costs in Parquet files or a table, as :func:`solve` takes them, with the names of their columns.

    Parameters
    ----------
    source : path, list of paths, or table
        Parquet files: one, a folder, a pattern like ``"pairs/*.parquet"``, or several of these; or a table of Dask,
        pandas, polars or Arrow. Identifiers are integers or strings. Costs of rows with the same pair add up.
    columns : sequence of three str
        The names of the columns: both elements and the cost.
    blocks : optional
        Blocks of elements, as for :func:`solve`.

    Attributes
    ----------
    rows : int or None
        The number of rows; None for a table of Dask, because counting would compute it.
    bytes : int or None
        The size of the files; None for a table.

    Raises
    ------
    FormatError
        If a file is no Parquet file, or lacks a column.
    InvalidProblem, InvalidOption
        If an argument is not as described.

    Notes
    -----
    Only the metadata at the end of each file is read. Single rows are checked when the problem is solved.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"a": ["ann", "ann", "bob"], "b": ["bob", "cid", "cid"], "cost": [-2.0, 3.0, -1.0]})
    >>> p = DaskPartition(rows, columns=("a", "b", "cost"))
    >>> p
    <DaskPartition: 3 rows of a, b, cost>
    >>> from graphpart.distributed import solve
    >>> solve(p, workers=0).cost
    -2.0
    """

    def __init__(
        self, source: Any, *, columns: Sequence[str] | Columns = ("u", "v", "cost"), blocks: Any = None
    ) -> None:
        self.columns, self.blocks = columns_of(columns), blocks
        self.rows: int | None = None
        self.bytes: int | None = None
        names = [self.columns.u, self.columns.v, self.columns.cost]
        if is_files(source):
            self.source: Any = paths_of(source)
            self.rows = sum(chunk.rows for chunk in chunks_of(self.source, names, 1))
            self.bytes = sum(os.path.getsize(file) for file in self.source)
            return
        self.source = source
        held = list(source) if isinstance(source, dict) else getattr(source, "column_names", None)
        held = list(getattr(source, "columns", ())) if held is None else held
        if not held:
            raise InvalidProblem(
                f"pairs are a {type(source).__name__}: "
                "expected Parquet files, or a table of Dask, pandas, polars or Arrow"
            )
        for name in names:
            if name not in held:
                has = ", ".join(map(repr, held))
                raise FormatError(type(source).__name__, None, f"has no column {name!r}: it has {has}")
        if not hasattr(source, "npartitions"):
            self.rows = len(next(iter(source.values()))) if isinstance(source, dict) else len(source)

    def _title(self) -> str:
        rows = "rows" if self.rows is None else plural(self.rows, "row")
        files = f" in {plural(len(self.source), 'file')}" if self.bytes is not None else ""
        return f"{type(self).__name__}: {rows}{files} of {self.columns.u}, {self.columns.v}, {self.columns.cost}"


def columns_of(names: Sequence[str] | Columns) -> Columns:
    """The names of columns, if there are three."""
    if isinstance(names, Columns):
        return names
    if isinstance(names, str) or len(names) != 3 or len(set(names)) != 3:
        raise InvalidOption(f"columns are {names!r}: expected three names, of both elements and the cost")
    return Columns(*names)

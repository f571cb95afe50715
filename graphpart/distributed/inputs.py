"""The input of pairs: Parquet files, or tables in memory, read in chunks of rows.

A chunk is a file and some of its row groups. Tables in memory are first written into the work folder as Parquet, a file
for each part. Invalid rows are counted, and the first of them are named in warnings.
"""

from __future__ import annotations

import filecmp
import glob
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.distributed.folder import Folder
from graphpart.errors import FormatError, InvalidProblem, MissingDependency

__all__ = [
    "Chunk",
    "Columns",
    "Wrong",
    "chunks_of",
    "files_of",
    "is_files",
    "paths_of",
    "read",
    "read_columns",
    "stated",
]

EXACT = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"}  # types whose range a file can state
NAMED = 5  # largest number of wrong rows that are named
NAMES_OF = {
    "input-blocks": "blocks",
    "input-groups": "groups",
    "input-lifted": "lifted pairs",
}  # kind of folders of tables; pairs otherwise


@dataclass(frozen=True)
class Columns:
    """Names of the columns of the two elements and of the cost."""

    u: str = "u"
    v: str = "v"
    cost: str = "cost"


@dataclass(frozen=True)
class Chunk:
    """Consecutive row groups of a file, or some rows of one, from its row `skip` on. `row` is the first row, from 0.

    `lifted` says whether its pairs do not connect clusters.
    """

    path: str
    groups: tuple[int, ...]
    row: int
    rows: int
    skip: int = 0
    lifted: bool = False


@dataclass
class Wrong:
    """Rows that are left out: their number, and the errors in the first ones."""

    count: int
    named: list[str]


def parquet() -> Any:
    """The module of pyarrow that reads Parquet."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependency("pyarrow", "distributed", "graphpart.distributed") from None
    return pq


def is_files(source: Any) -> bool:
    """Whether this is a path, or a list of some."""
    many = source if isinstance(source, list | tuple) else [source]
    return bool(many) and all(isinstance(one, str | os.PathLike) for one in many)


def files_of(source: Any, folder: Folder, name: str = "input") -> list[str]:
    """The Parquet files of a path, folder, glob, list of these, or table; tables are written into the work folder.

    Raises
    ------
    InvalidProblem
        If there is no such file, or the source is of another kind.
    """
    return paths_of(source) if is_files(source) else _written(source, os.path.join(folder.path, name))


def paths_of(source: Any) -> list[str]:
    """The Parquet files of a path, folder, glob, or list of these."""
    if isinstance(source, str | os.PathLike):
        path = os.path.abspath(os.fspath(source))
        if os.path.isdir(path):
            found = glob.glob(os.path.join(glob.escape(path), "**", "*.parquet"), recursive=True)
        elif os.path.exists(path):
            found = [path]
        else:
            found = glob.glob(path, recursive=True)
        if not found:
            raise InvalidProblem(
                f"{path}: no Parquet file there: expected a file, a folder or a pattern like 'pairs/*.parquet'"
            )
        return sorted(found)
    return [file for one in source for file in paths_of(one)]


def _written(source: Any, at: str) -> list[str]:
    """Write a table of pandas, polars, Arrow or Dask as Parquet, a file for each of its parts."""
    import pyarrow as pa

    os.makedirs(at, exist_ok=True)
    if hasattr(source, "to_delayed") and hasattr(source, "npartitions"):  # a Dask data frame
        source.to_parquet(at, write_index=False, overwrite=True)
        return sorted(os.path.join(at, name) for name in os.listdir(at) if name.endswith(".parquet"))
    if isinstance(source, pa.Table):
        table = source
    elif hasattr(source, "to_arrow"):  # polars
        table = source.to_arrow()
    elif hasattr(source, "iloc"):  # pandas
        table = pa.Table.from_pandas(source, preserve_index=False)
    elif isinstance(source, dict):
        table = pa.table(source)
    else:
        raise InvalidProblem(
            f"{NAMES_OF.get(os.path.basename(at), 'pairs')} are a {type(source).__name__}: "
            "expected Parquet files, or a table of Dask, pandas, polars or Arrow"
        )
    file = os.path.join(at, "part.0.parquet")
    parquet().write_table(table, file + ".part", row_group_size=2**20)
    if os.path.exists(file) and filecmp.cmp(file, file + ".part", shallow=False):
        os.unlink(file + ".part")  # an earlier run has begun with it
    else:
        os.replace(file + ".part", file)
    return [file]


def signature_of(files: list[str]) -> list[list[Any]]:
    """The names, sizes and times of change of files, by which changed files are detected."""
    return [[file, os.path.getsize(file), os.stat(file).st_mtime_ns] for file in files]


def chunks_of(files: list[str], columns: Sequence[str], rows: int) -> list[Chunk]:
    """Row groups of all files; small ones are put together until a chunk would have more rows, large ones are divided.

    Raises
    ------
    FormatError
        If a file is no Parquet file, or lacks a column.
    """
    pq = parquet()
    chunks = []
    for file in files:
        try:
            with pq.ParquetFile(file) as opened:
                sizes = [opened.metadata.row_group(k).num_rows for k in range(opened.metadata.num_row_groups)]
                names = opened.schema_arrow.names
        except Exception as error:  # pyarrow has no base of its exceptions
            raise FormatError(file, None, f"is no Parquet file that can be read ({error})") from None
        for column in columns:
            if column not in names:
                raise FormatError(file, None, f"has no column {column!r}: it has {', '.join(map(repr, names))}")
        begun, first, held = 0, 0, 0
        for k, size in enumerate([*sizes, rows]):
            if held and held + size > rows:
                parts = -(-held // rows) if k == begun + 1 else 1
                ends = [held * part // parts for part in range(parts + 1)]
                groups = tuple(range(begun, k))
                chunks += [Chunk(file, groups, first + a, b - a, a) for a, b in pairwise(ends)]
                first, held = first + held, 0
            if not held:
                begun = k
            held += size
    return chunks


def read(chunk: Chunk, columns: Columns) -> tuple[Any, Any, NDArray[np.float64], Wrong]:
    """Identifiers as Arrow arrays, costs, and errors; invalid rows are left out.

    A row is invalid if an identifier or the cost is missing, if both identifiers are the same, or if its cost is NaN or
    minus infinity. Plus infinity forbids to join the pair.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        table = _table(chunk, (columns.u, columns.v, columns.cost))
        u, v = (_identifiers(table[name].combine_chunks(), chunk.path, name) for name in (columns.u, columns.v))
        if u.type != v.type:
            raise FormatError(
                chunk.path, None, f"column {columns.u!r} holds {u.type}, {columns.v!r} {v.type}: expected one type"
            )
        cost = table[columns.cost].combine_chunks().cast(pa.float64())
    except (FormatError, MemoryError):
        raise
    except Exception as error:
        raise FormatError(chunk.path, None, f"cannot be read as Parquet ({' '.join(str(error).split())})") from None
    costs = (cost.fill_null(math.nan) if cost.null_count else cost).to_numpy(zero_copy_only=False)
    missing = np.zeros(len(costs), bool)
    if u.null_count or v.null_count:
        missing = pc.or_(pc.is_null(u), pc.is_null(v)).to_numpy(zero_copy_only=False)
    same = pc.equal(u, v)
    same = (pc.fill_null(same, False) if same.null_count else same).to_numpy(zero_copy_only=False)
    unknown = np.isnan(costs) | (costs == -np.inf)
    wrong = missing | same | unknown
    named = []
    for k in np.flatnonzero(wrong)[:NAMED].tolist():
        what = "an identifier is missing" if missing[k] else f"both elements are {u[k].as_py()!r}"
        if unknown[k] and not missing[k] and not same[k]:
            what = f"the cost is {costs[k]}: expected a number, or inf for a pair that must not be joined"
        named.append(f"{chunk.path}, row {chunk.row + k + 1}: {what}")
    if wrong.any():
        right = pa.array(~wrong)
        u, v, costs = u.filter(right), v.filter(right), costs[~wrong]
    return u, v, np.ascontiguousarray(costs, np.float64), Wrong(int(wrong.sum()), named)


def stated(chunk: Chunk, names: Sequence[str]) -> tuple[int, int] | None:
    """The least and largest integer in columns of a chunk, rows that are wrong included, if the file states them."""
    try:
        with parquet().ParquetFile(chunk.path) as opened:
            at = [opened.schema_arrow.names.index(name) for name in names]
            whole = [opened.metadata.row_group(k).column(c).statistics for k in chunk.groups for c in at]
            exact = all(s is not None and s.has_min_max and s.physical_type in ("INT32", "INT64") for s in whole)
            exact = exact and all(str(opened.schema_arrow.types[c]) in EXACT for c in at)
            ends = [(s.min, s.max) for s in whole] if exact else []
    except Exception as error:
        raise FormatError(chunk.path, None, f"cannot be read as Parquet ({' '.join(str(error).split())})") from None
    return (min(e[0] for e in ends), max(e[1] for e in ends)) if ends else None


def read_columns(chunk: Chunk, names: Sequence[str]) -> list[Any]:
    """Columns of identifiers as Arrow arrays."""
    try:
        table = _table(chunk, names)
        return [_identifiers(table[name].combine_chunks(), chunk.path, name) for name in names]
    except (FormatError, MemoryError):
        raise
    except Exception as error:
        raise FormatError(chunk.path, None, f"cannot be read as Parquet ({' '.join(str(error).split())})") from None


def _table(chunk: Chunk, names: Sequence[str]) -> Any:
    import pyarrow as pa

    with parquet().ParquetFile(chunk.path, page_checksum_verification=True) as opened:
        if chunk.rows == sum(opened.metadata.row_group(k).num_rows for k in chunk.groups):
            return opened.read_row_groups(list(chunk.groups), columns=list(names))
        found, at, end = [], 0, chunk.skip + chunk.rows
        for batch in opened.iter_batches(row_groups=list(chunk.groups), columns=list(names)):
            first, last = max(chunk.skip - at, 0), min(end - at, len(batch))
            if first < last:
                found.append(batch.slice(first, last - first))
            at += len(batch)
            if at >= end:
                break
        return pa.Table.from_batches(found)


def _identifiers(values: Any, path: str, name: str) -> Any:
    """Convert to 64-bit integers or large strings from any width, also from a dictionary."""
    import pyarrow as pa
    import pyarrow.types as types

    kind = values.type.value_type if types.is_dictionary(values.type) else values.type
    if types.is_integer(kind):
        if types.is_uint64(kind):
            raise FormatError(
                path, None, f"column {name!r} holds {kind}: expected integers of at most 64 bits with sign"
            )
        return values.cast(pa.int64())
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return values.cast(pa.large_string())
    raise FormatError(path, None, f"column {name!r} holds {kind}: expected integers or strings")

"""CSV tables through pyarrow where it is installed: three columns of a plain table, some times as fast.

A plain table has no quotes below its header, the same number of fields in each line, and no spaces before identifiers.
Any other table, or one with an error, is left to :class:`~graphpart.io.table.TableReader`, whose messages name the
line. Of a table with an error, it reads the part in which pyarrow finds one, so that errors are found as fast.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphpart.files.text import INTEGER, identifier

__all__ = ["plain_columns", "wrong_parts"]

LEAST = 1 << 16  # bytes of a table for which pyarrow is imported
PART = 1 << 22  # bytes of a table that are looked at together to find an error
AFTER_ZERO = np.frombuffer(b".,\r\n", np.uint8)


def plain_columns(data: bytes, columns: list[str], ends: list[str], value: str, probability: bool) -> Any | None:
    """A frame with the two columns of identifiers and that of values; None if the table has to be read otherwise.

    Parameters
    ----------
    data : bytes
        All of the table, decompressed.
    columns : list of str
        The names in its header.
    ends : list of two str
        The columns of identifiers. Those written like integers are integers.
    value : str
    probability : bool
        Values have to be from 0 to 1.
    """
    if len(data) < LEAST or not _is_plain(data):
        return None
    try:
        import pyarrow
        from pyarrow import compute, csv
    except ImportError:
        return None

    def read(kind: Any) -> Any | None:
        options = csv.ConvertOptions(
            column_types={**dict.fromkeys(ends, kind), value: pyarrow.float64()},
            include_columns=[*ends, value],
            null_values=[],
        )
        lines = csv.ReadOptions(column_names=columns, skip_rows=1, block_size=1 << 24)
        try:
            return csv.read_csv(io.BytesIO(data), lines, convert_options=options)
        except pyarrow.ArrowException:
            return None

    integers = read(pyarrow.int64()) if _plain_integers(data) else None
    if integers is not None:
        u, v, values = (integers.column(name).to_numpy() for name in (*ends, value))
        if not len(values) or not _fit(values, probability).all() or (u == v).any():
            return None
        return {ends[0]: u, ends[1]: v, value: values}
    table = read(pyarrow.dictionary(pyarrow.int32(), pyarrow.string()))
    if table is None:
        return None
    sides = [table.column(name).unify_dictionaries().combine_chunks() for name in ends]
    values = table.column(value).to_numpy()
    codes = [side.indices.to_numpy() for side in sides]
    texts = [side.dictionary for side in sides]
    bad = [
        compute.any(compute.match_substring_regex(x, "^( |$)")).as_py() for x in texts
    ]  # Python's reader skips spaces
    if not len(values) or not _fit(values, probability).all() or any(bad):
        return None
    same = compute.index_in(texts[1], texts[0]).fill_null(-1).to_numpy()
    if (codes[0] == same[codes[1]]).any():  # an element with itself
        return None
    whole = [compute.match_substring_regex(x, f"^({INTEGER.pattern})$") for x in texts]
    if not any(compute.any(x).as_py() for x in whole):
        return table
    try:
        if not all(compute.all(x).as_py() for x in whole):
            raise pyarrow.ArrowInvalid
        names = [x.cast(pyarrow.int64()).to_numpy() for x in texts]
    except pyarrow.ArrowInvalid:  # texts beside integers, or integers of more than 64 bits
        names = [np.empty(len(x), object) for x in texts]
        for array, x in zip(names, texts, strict=True):
            array[:] = list(map(identifier, x.to_pylist()))
    return {ends[0]: names[0][codes[0]], ends[1]: names[1][codes[1]], value: values}


def wrong_parts(
    data: bytes, columns: list[str], ends: list[str], value: str, probability: bool
) -> Iterator[tuple[bytes, bool]]:
    """(part, whether it is the last) for the parts of a table in which something is not plain or wrong.

    Each is below the header and as many empty lines as precede it in the table. None if the table is small, or only for
    Python's reader.
    """
    start = data.find(b"\n") + 1
    if len(data) < 2 * PART or not start or not _is_plain(data):
        return
    header, lines = data[:start], 0
    while start < len(data):
        end = data.find(b"\n", min(start + PART, len(data))) + 1 or len(data)
        part = data[start:end]
        if plain_columns(header + part, columns, ends, value, probability) is None:
            yield header + b"\n" * lines + part, end == len(data)
        lines += part.count(b"\n")
        start = end


def _is_plain(data: bytes) -> bool:
    """Whether a table has no quotes below its header, and line ends of one kind."""
    return data.find(b'"', data.find(b"\n")) < 0 and data.count(b"\r") == data.count(b"\r\n")


def _fit(values: Any, probability: bool) -> Any:
    """Which values are as expected."""
    return (values >= 0) & (values <= 1) if probability else ~np.isnan(values)


def _plain_integers(data: bytes) -> bool:
    """Whether no field below the header begins or ends with a space, or is a number with a sign + or zeros in front.

    Then pyarrow reads the same texts as integers as `INTEGER` matches.
    """
    text = np.frombuffer(data, np.uint8)[max(data.find(b"\n"), 0) :]
    ends = np.flatnonzero((text == ord(",")) | (text == ord("\n")) | (text == ord("\r")))
    if not len(ends) or ((text == ord(" ")) | (text == ord("+")) | (text == ord("\t"))).any():
        return False
    first, second, third = (text[np.minimum(ends + k, len(text) - 1)] for k in (1, 2, 3))
    zeros = (first == ord("0")) & ~np.isin(second, AFTER_ZERO)
    return not (zeros | ((first == ord("-")) & (second == ord("0")) & (third != ord(".")))).any()

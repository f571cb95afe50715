"""Tables as CSV: the columns of a mapping, with their names in the first line."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from graphpart.files.source import PathOrStream, replacing
from graphpart.files.text import ROWS

__all__ = ["write_table"]


def write_table(columns: Mapping[str, NDArray[Any]], path: PathOrStream) -> None:
    """Write columns of one length as CSV; numbers as the shortest text that gives them back.

    Parameters
    ----------
    columns : mapping from names to ndarray, each of shape (k,)
    path : str, path-like or binary stream
        ``"-"`` is standard output.

    Examples
    --------
    >>> import io, numpy as np
    >>> stream = io.BytesIO()
    >>> write_table({"left": np.array(["a", "b"]), "doubt": np.array([0.5, np.inf])}, stream)
    >>> stream.getvalue()
    b'left,doubt\\na,0.5\\nb,inf\\n'
    """
    with replacing(path) as stream:
        rows = len(next(iter(columns.values()))) if columns else 0
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        for start in range(0, rows, ROWS):
            writer.writerows(zip(*(array[start : start + ROWS].tolist() for array in columns.values()), strict=True))
            stream.write(text.getvalue().encode())
            text.seek(0)
            text.truncate()
        stream.write(text.getvalue().encode())

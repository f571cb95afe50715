"""Texts as sparse vectors of the pieces of characters in them, in which typing errors change little.

A piece is two or three characters in a row, of the text in lower case between blanks. A piece that f of n texts have
adds ``ln(n / f) + 1`` to the product of two texts, times ``1 + ln(times in the text)`` for each of them. Rows have
length 1. So the cosine of two texts is large if they share pieces, and rare ones count more. Pieces of one text alone,
most of which typing errors make, are left out, unless the text has no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphpart.errors import InvalidProblem
from graphpart.kernels import elementary

__all__ = ["are_texts", "vectors_of_texts"]

LENGTHS = (2, 3)  # of pieces, in characters
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd number, such that different pieces have different products


def are_texts(X: Any) -> bool:
    """Whether it is a sequence of texts, such as a list, an array or a column of a data frame."""
    if isinstance(X, str | bytes) or hasattr(X, "columns") or getattr(X, "ndim", 1) != 1 or not hasattr(X, "__len__"):
        return False
    return any(isinstance(x, str) for x in X)


def vectors_of_texts(texts: Sequence[Any]) -> Any:
    """A row of a ``scipy.sparse.csr_array`` for each text.

    Raises
    ------
    InvalidProblem
        If an element is no text.
    """
    from scipy.sparse import csr_array

    values = list(texts)
    wrong = next((k for k, x in enumerate(values) if not isinstance(x, str)), None)
    if wrong is not None:
        raise InvalidProblem(f"X has {values[wrong]!r} in row {wrong}: expected a text, as in the other rows")
    padded = [f" {' '.join(x.lower().split())} " for x in values]
    size = np.array([len(x) for x in padded], np.int64)
    characters = np.frombuffer("".join(padded).encode("utf-32-le"), np.uint32).astype(np.uint64) + np.uint64(1)
    row = np.repeat(np.arange(len(values)), size)
    rows, keys = [], []
    for length in LENGTHS:
        count = max(len(characters) - length + 1, 0)
        inside = row[:count] == row[length - 1 :]
        key = np.full(count, length, np.uint64)
        for k in range(length):
            key = (key ^ characters[k : k + count]) * SPREAD
            key ^= key >> np.uint64(29)
        rows.append(row[:count][inside])
        keys.append(key[inside])
    piece = np.unique(np.concatenate(keys), return_inverse=True)[1].ravel()
    pieces = int(piece.max(initial=-1)) + 1
    found, times = np.unique(np.concatenate(rows) * max(pieces, 1) + piece, return_counts=True)
    row, piece = found // max(pieces, 1), found % max(pieces, 1)
    have = np.bincount(piece, minlength=pieces)
    shared = np.bincount(row, have[piece] > 1, len(values)) > 0
    kept = (have[piece] > 1) | ~shared[row]
    row, piece, times = row[kept], piece[kept], times[kept]
    rare = np.sqrt(1.0 - elementary.log(have / max(len(values), 1)))
    weight = rare[piece] * (1.0 + elementary.log(times.astype(np.float64)))
    norm = np.sqrt(np.bincount(row, np.square(weight), len(values)))
    starts = np.searchsorted(row, np.arange(len(values) + 1))
    return csr_array((weight / norm[row], piece.astype(np.int32), starts), shape=(len(values), pieces))

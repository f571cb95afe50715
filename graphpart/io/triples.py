"""Files of ``n m``, then m lines ``i j value``, indices from 1: the common part of the formats `qubo` and `maxcut`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphpart.files.stream import NumberStream

if TYPE_CHECKING:
    from graphpart.files.source import Source

__all__ = ["read_triples"]

GAPS = 1000  # more indices than 1000 for each line, and a million besides, are no plausible file


def read_triples(
    source: Source, letter: str, index: str, lines: str, loops: bool
) -> tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Read such a file; the values of lines of equal indices add up.

    Parameters
    ----------
    source : Source
    letter, index, lines : str
        The words for the value, for what is indexed, and for the lines in messages, for example ``"w"``, ``"node"``,
        ``"edges"``.
    loops : bool
        Whether the two indices of a line may be equal.

    Returns
    -------
    n : int
    low, high : ndarray of int64
        From 0, sorted, ``low <= high``.
    sums : ndarray of float64
    """
    stream = NumberStream(source, f"n m, then lines i j {letter}", comment="#")
    n = stream.count(f"n, the number of {index}s")
    m = stream.count(f"m, the number of {lines}")
    if n > GAPS * (m + GAPS):
        raise source.error(None, f"{n} {index}s but {m} {lines}: expected at most {GAPS * (m + GAPS)} {index}s")
    first = stream.at
    rows = stream.take(3 * m, f"{m} lines i j {letter}").reshape(-1, 3)
    stream.end(f"the end of the file, as all {m} {lines} are read")
    for column in (0, 1):
        stream.check_wholes(rows[:, column], first + column + 3 * np.arange(m), f"a {index}", 1, n)
    bad = np.flatnonzero(~np.isfinite(rows[:, 2]))
    if len(bad):
        raise stream.error(first + 2 + 3 * int(bad[0]), "a finite number")
    bad = np.flatnonzero(rows[:, 0] == rows[:, 1])
    if len(bad) and not loops:
        raise stream.error(first + 1 + 3 * int(bad[0]), f"a {index} other than the first one of the line")
    i, j = (rows[:, k].astype(np.int64) - 1 for k in (0, 1))
    keys, place = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_inverse=True)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.asarray(np.bincount(place, rows[:, 2], len(keys)), np.float64)
    if not np.isfinite(sums).all():
        raise source.error(None, f"the sum of equal {lines} overflows: expected {lines} of a smaller magnitude")
    return n, keys // max(n, 1), keys % max(n, 1), sums

"""A file as one array of numbers, taken piece by piece; errors name the line of the number in question."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import FormatError
from graphpart.files._text import Numbers
from graphpart.files.text import numbers
from graphpart.kernels import LARGEST_INDEX

if TYPE_CHECKING:
    from graphpart.files.source import Source

__all__ = ["NumberStream", "table_sizes"]


class NumberStream:
    """All the rest of a source as numbers.

    Parameters
    ----------
    source : Source
    form : str
        What the file should look like, for messages.
    comment : str
        Lines that start with this character are skipped.
    blocks : iterable of bytes, optional
        What to parse in place of the rest of the source.

    Attributes
    ----------
    values : ndarray of float64
    at : int
        Position of the next number.
    """

    def __init__(self, source: Source, form: str, comment: str = "", blocks: Iterable[bytes] | None = None) -> None:
        self.source = source
        parser = Numbers(source.name, form, source.line, comment=comment, rows=True)
        for block in source.blocks() if blocks is None else blocks:
            parser.feed(block)
        parser.finish()
        self.values: NDArray[np.float64] = parser.array()
        self._starts, self._lines = parser.row_starts()
        self._last = parser.line
        self.at = 0

    def line_of(self, position: int) -> int:
        """The line of a number; for a position behind the last number, the line after it."""
        if position >= len(self.values):
            return int(self._last)
        return int(self._lines[np.searchsorted(self._starts, position, "right") - 1])

    def rows(self) -> list[tuple[int, int]]:
        """The positions (first, end) of the numbers of each line that has any."""
        starts = [*self._starts.tolist(), len(self.values)]
        return [(first, end) for first, end in itertools.pairwise(starts) if first < end]

    def error(self, position: int, expected: str) -> FormatError:
        """An exception about the number at a position, or about the end of the file."""
        if position >= len(self.values):
            return self.source.error(self.line_of(position), f"the file ends: expected {expected}")
        found = numbers(self.values[position : position + 1])[0]
        return self.source.error(self.line_of(position), f"found {found}: expected {expected}")

    def take(self, count: int, expected: str) -> NDArray[np.float64]:
        """The next numbers."""
        if count > len(self.values) - self.at:
            raise self.error(len(self.values), expected)
        self.at += count
        return self.values[self.at - count : self.at]

    def count(self, expected: str, low: int = 0, high: int = LARGEST_INDEX) -> int:
        """The next number, whole and in a range."""
        (value,) = self.take(1, expected)
        if not (low <= value <= high and value == int(value)):
            raise self.error(self.at - 1, f"{expected}, a whole number from {low} to {high}")
        return int(value)

    def wholes(self, count: int, expected: str, low: int, high: int) -> NDArray[np.int32]:
        """The next numbers, all whole and in a range."""
        values = self.take(count, expected)
        self.check_wholes(values, np.arange(self.at - count, self.at), expected, low, high)
        return values.astype(np.int32)

    def check_wholes(
        self, values: NDArray[np.float64], positions: NDArray[np.int64], expected: str, low: int, high: int
    ) -> None:
        """Raise FormatError about the first of some numbers that is not whole or not in a range."""
        bad = np.flatnonzero(~((values >= low) & (values <= high) & (values == np.trunc(values))))
        if len(bad):
            raise self.error(int(positions[bad[0]]), f"{expected}, a whole number from {low} to {high}")

    def end(self, expected: str = "the end of the file") -> None:
        """Raise FormatError if there are more numbers."""
        if self.at < len(self.values):
            raise self.error(self.at, expected)


def table_sizes(domains: NDArray[np.int32], start: NDArray[np.int64], scope: NDArray[np.int32]) -> NDArray[np.float64]:
    """The number of entries of each table, as floats, which do not overflow."""
    logs = np.concatenate([[0.0], np.cumsum(np.log2(domains[scope]))])
    rough = logs[start[1:]] - logs[start[:-1]]
    sizes = np.full(len(start) - 1, np.inf)
    small = rough < 60
    product = np.ones(len(sizes))
    arity = np.diff(start)
    for k in range(int(arity[small].max(initial=0))):
        has = small & (arity > k)
        product[has] *= domains[scope[start[:-1][has] + k]]
    sizes[small] = product[small]
    return sizes

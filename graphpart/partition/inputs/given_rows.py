"""The rows of the data frame that a problem was made from, found by the two elements of a pair, in either order.

Pairs and rows are compared by keys of pairs of indices, which are sorted once. O((rows + pairs) log rows)
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption
from graphpart.partition.inputs.arrays import keys_of_pairs
from graphpart.partition.inputs.frames import Table

__all__ = ["GivenRows"]

Places = NDArray[np.int64]


class GivenRows:
    """The columns of a frame of pairs, in the rows of some pairs.

    Parameters
    ----------
    table : Table
    left, right : hashable
        The columns of the two elements.
    pairs : list of pairs of names
        A pair has the first row that lists it.

    Attributes
    ----------
    rows : ndarray of int64
        The row of each pair; -1 where there is none.
    turned : ndarray of bool
        Whether the row has the pair the other way round.
    """

    def __init__(self, table: Table, left: Hashable, right: Hashable, pairs: list[tuple[Hashable, Hashable]]) -> None:
        for name in (left, right):
            if name not in table.columns:
                raise InvalidOption(f"pairs has no column {name!r}: expected the frame that the problem is made from")
        self._table = table
        u, v, names = table.encode(left, right)
        index = {name: k for k, name in enumerate(names)}
        a = np.fromiter((index.get(one, -1) for one, _ in pairs), np.int64, len(pairs))
        b = np.fromiter((index.get(other, -1) for _, other in pairs), np.int64, len(pairs))
        keys, first = np.unique(keys_of_pairs(u, v, len(names)), return_index=True)
        wanted = keys_of_pairs(a, b, len(names))
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        found = (a >= 0) & (b >= 0)
        if len(keys):
            found &= keys[at] == wanted
            self.rows: Places = np.where(found, first[at], -1)
        else:
            self.rows = np.full(len(pairs), -1)
        self.turned = found & (u[self.rows] != a) if len(keys) else found

    def values(self, column: Hashable) -> NDArray[Any]:
        """The values of a column: numbers, with NaN where there is no row, or objects, with None there."""
        some = self.rows >= 0
        numbers = self._table.numbers(column)
        if numbers is not None:
            values = np.asarray(numbers)
            if some.all():
                return values[self.rows]
            out = np.full(len(some), np.nan)
            out[some] = values[self.rows[some]]
            return out
        listed = self._table.values(column)
        objects = np.empty(len(some), object)
        for k in np.flatnonzero(some).tolist():
            objects[k] = listed[self.rows[k]]
        return objects

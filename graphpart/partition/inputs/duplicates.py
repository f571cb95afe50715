"""Pairs that a table lists more than once, in either order: an error, a warning, or one value in place of several."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.display import plural
from graphpart.errors import InvalidProblem, unknown, warn
from graphpart.kernels import _pairs
from graphpart.partition.inputs.arrays import keys_of_pairs

__all__ = ["check_choice", "once", "repeated"]

#: The line of the file of a row, counted from 1, while a file is read that has lines.
lines_of_rows: ContextVar[Callable[[int], int] | None] = ContextVar("lines_of_rows", default=None)
HOW = ("error", "sum", "mean", "max")

Rows = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]


def check_choice(how: str | None) -> None:
    """Raise InvalidOption if it is no choice for `once`."""
    if how is not None and how not in HOW:
        raise unknown("duplicates", how, HOW)


def once(
    names: Sequence[Hashable],
    u: NDArray[Any],
    v: NDArray[Any],
    values: Any,
    how: str | None,
    costs_of: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Rows:
    """The rows ``(u, v, cost)``, with one value for each pair if `how` is "mean" or "max".

    With "error" and with None, the first row that lists a pair again is named: in an error, or in a warning that the
    costs are added up. The pairs are sorted to find out whether there is such a row, and are returned in this order, so
    that they are not sorted again. O(rows) if no pair is listed twice, else O(rows log rows).
    """
    if how == "sum" or not len(u):
        return u, v, costs_of(values)
    if how in ("mean", "max"):
        u, v = np.ascontiguousarray(u), np.ascontiguousarray(v)
        low, high, count, *_ = _pairs.sort_pairs(len(names), u, v, np.ones(len(u)))
        if len(low) == len(u):
            return u, v, costs_of(values)
        keys = np.minimum(u, v).astype(np.int64) * len(names) + np.maximum(u, v)
        _, place = np.unique(keys, return_inverse=True)  # in the same order as the sorted pairs
        if how == "mean":
            with np.errstate(invalid="ignore"):
                found = np.bincount(place, weights=values) / count
                if (over := np.isinf(found)).any():  # a sum, but no mean of finite values, may overflow
                    found[over] = np.bincount(place, weights=np.asarray(values) / count[place])[over]
        else:
            found = np.full(len(low), -np.inf)
            np.maximum.at(found, place, values)
        return low, high, costs_of(found)
    costs = costs_of(values)
    u, v = np.ascontiguousarray(u), np.ascontiguousarray(v)
    if _pairs.first_bad_pair(len(names), u, v, values)[2]:  # sorted, each once
        return u, v, costs
    low, high, sums, overflow, _, again = _pairs.sort_pairs(len(names), u, v, costs)
    if len(low) < len(u):
        what = repeated(names, u, v, values, again)
        choices = 'duplicates="mean" or "max" takes one value for each pair, "sum" adds up the costs'
        if how == "error":
            raise InvalidProblem(f"{what}: expected each pair once; {choices}")
        warn(f"{what}; their costs are added up, so that a pair counts as often as it is listed: {choices}")
        if overflow or np.isneginf(costs).any():  # an error to be told, or joins, which are required beside their costs
            return u, v, costs
    return low, high, sums


def repeated(
    names: Sequence[Hashable], u: NDArray[Any], v: NDArray[Any], values: Any, again: NDArray[np.uint8] | None = None
) -> str:
    """How many rows list a pair again, and the first of them; empty if none does.

    `again`: 1 for the smaller element of each pair that is listed again, as `sort_pairs` finds it.
    """
    if again is None:
        u, v = np.ascontiguousarray(u), np.ascontiguousarray(v)
        if _pairs.first_bad_pair(len(names), u, v, values)[2]:  # sorted, each once
            return ""
        again = _pairs.sort_pairs(len(names), u, v, values)[5]
    rows = np.flatnonzero(again[np.minimum(u, v)])
    if not len(rows):
        return ""
    _, first, which = np.unique(keys_of_pairs(u[rows], v[rows], len(names)), return_index=True, return_inverse=True)
    first = first[which]  # for each of these rows, the first with its pair
    at = int(np.argmax(first < np.arange(len(rows))))
    row, before = int(rows[at]), int(rows[first[at]])
    a, b = names[int(u[row])], names[int(v[row])]
    order = "" if u[row] == u[before] else ", the other way round,"
    more = int(np.count_nonzero(first < np.arange(len(rows))))
    what = f"{plural(more, 'row')} {'repeats' if more == 1 else 'repeat'} a pair: "
    line, base = lines_of_rows.get(), ""
    if line is None:
        what += f"row {row} lists {a!r} and {b!r} as row {before} does{order}"
        base = ", rows counted from 0"
    else:
        what += f"line {line(row)} lists {a!r} and {b!r} as line {line(before)} does{order}"
    return f"{what} with {values[row]:g} and {values[before]:g}{base}"

"""Pairs that a table lists more than once, in either order: an error, a warning, or one value in place of several."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.display import plural
from graphpart.errors import InvalidProblem, unknown, warn
from graphpart.kernels import _pairs

__all__ = ["check_choice", "once", "repeated"]

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
    low, high, sums, overflow, _ = _pairs.sort_pairs(len(names), u, v, costs)
    if len(low) < len(u):
        what = repeated(names, u, v, values)
        choices = 'duplicates="mean" or "max" takes one value for each pair, "sum" adds up the costs'
        if how == "error":
            raise InvalidProblem(f"{what}: expected each pair once; {choices}")
        warn(f"{what}; their costs are added up, so that a pair counts as often as it is listed: {choices}")
        if overflow or np.isneginf(costs).any():  # an error to be told, or joins, which are required beside their costs
            return u, v, costs
    return low, high, sums


def repeated(names: Sequence[Hashable], u: NDArray[Any], v: NDArray[Any], values: Any) -> str:
    """How many rows list a pair again, and the first of them; empty if none does."""
    u, v = np.ascontiguousarray(u), np.ascontiguousarray(v)
    if _pairs.first_bad_pair(len(names), u, v, values)[2]:  # sorted, each once
        return ""
    low, high, count, *_ = _pairs.sort_pairs(len(names), u, v, np.ones(len(u)))
    if len(low) == len(u):
        return ""
    keys = np.minimum(u, v).astype(np.int64) * len(names) + np.maximum(u, v)
    listed = np.asarray(low, np.int64) * len(names) + high  # ascending, as the sorted pairs are
    repeated = listed[np.asarray(count) > 1]
    at = np.minimum(np.searchsorted(repeated, keys), len(repeated) - 1)
    rows = np.flatnonzero(repeated[at] == keys)
    again = np.ones(len(rows), bool)
    again[np.unique(keys[rows], return_index=True)[1]] = False
    row = int(rows[np.argmax(again)])
    before = int(np.flatnonzero(keys == keys[row])[0])
    a, b = names[int(u[row])], names[int(v[row])]
    order = "" if u[row] == u[before] else ", the other way round,"
    more = len(u) - len(low)
    what = f"{plural(more, 'row')} {'repeats' if more == 1 else 'repeat'} a pair: "
    what += f"row {row} lists {a!r} and {b!r} as row {before} does{order}"
    return f"{what} with {values[row]:g} and {values[before]:g}"

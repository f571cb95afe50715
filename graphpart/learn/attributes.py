"""Attributes of pairs of elements, made from attributes of the elements.

============================  ==========  =============================================================
kind                          number      for elements a and b with attributes x and z
============================  ==========  =============================================================
``"absolute-difference"``     V           ``|x_v - z_v|``
``"squared-difference"``      V           ``(x_v - z_v)^2``
``"product"``                 V           ``x_v z_v``
``"concatenated"``            2 V         ``min(x_v, z_v)`` for all v, then ``max(x_v, z_v)`` for all v
``"cosine"``                  1           ``<x, z> / (||x|| ||z||)``, 0 if a norm is 0
a callable                    its own     ``kind(X, Z)``, of shape (m, W) for m pairs of rows, symmetric in X and Z
a sequence of these           their sum   one after the other
============================  ==========  =============================================================

All kinds are symmetric, because pairs have no order. Concatenation therefore sorts the two values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.learn.objective import BLOCK, float_rows

__all__ = ["Kind", "attribute_names", "element_rows", "flat", "pair_attributes", "pair_indices", "total_width"]

Array = NDArray[np.float64]
Kind = str | Callable[[Array, Array], ArrayLike] | Sequence[Any]


def _absolute_difference(x: Array, z: Array) -> Array:
    d: Array = x - z
    np.abs(d, out=d)
    return d


def _squared_difference(x: Array, z: Array) -> Array:
    d: Array = x - z
    np.square(d, out=d)
    return d


def _concatenated(x: Array, z: Array) -> Array:
    both: Array = np.hstack([np.minimum(x, z), np.maximum(x, z)])
    return both


def _cosine(x: Array, z: Array) -> Array:
    cosines: Array = np.einsum("pv,pv->p", unit_rows(x), unit_rows(z))
    return cosines[:, None]


@dataclass(frozen=True)
class Attributes:
    """The computation and the names of the attributes of one kind."""

    rows: Callable[[Array, Array], Array]
    names: Callable[[Sequence[str]], list[str]]


KINDS = {
    "absolute-difference": Attributes(_absolute_difference, lambda names: [f"|{v} - {v}'|" for v in names]),
    "squared-difference": Attributes(_squared_difference, lambda names: [f"({v} - {v}')^2" for v in names]),
    "product": Attributes(np.multiply, lambda names: [f"{v} * {v}'" for v in names]),
    "concatenated": Attributes(_concatenated, lambda names: [f"{f}({v}, {v}')" for f in ("min", "max") for v in names]),
    "cosine": Attributes(_cosine, lambda names: ["cosine"]),
}


def pair_attributes(X: ArrayLike, pairs: ArrayLike, kind: Kind = "absolute-difference") -> Array:
    """Attributes of pairs.

    Parameters
    ----------
    X : array_like, shape (n, V)
        Attributes of elements.
    pairs : array_like of int, shape (m, 2)
    kind : str, callable, or sequence of these
        See the table above.

    Returns
    -------
    ndarray of float64, shape (m, W)

    Raises
    ------
    InvalidProblem
        If an attribute is not finite, or an index is not that of an element.
    InvalidOption
        If the kind is unknown.

    Notes
    -----
    O(m W), in blocks: no temporary has the size of the result.

    Examples
    --------
    >>> pair_attributes([[0.0, 1.0], [2.0, 5.0]], [(0, 1)])
    array([[2., 4.]])
    >>> pair_attributes([[0.0, 1.0], [2.0, 5.0]], [(0, 1)], ["product", "cosine"]).round(3)
    array([[0.   , 5.   , 0.928]])
    """
    X, pairs = element_rows(X), pair_indices(pairs, len(np.asarray(X)))
    out = np.empty((len(pairs), total_width(kind, X)))
    for first, rows in attribute_blocks(X, pairs, kind):
        out[first : first + len(rows)] = rows
    return out


def attribute_blocks(X: Array, pairs: NDArray[np.integer[Any]], kind: Kind) -> Any:
    """Blocks ``(first, attributes)`` of the attributes of checked pairs."""
    kinds = flat(kind)
    step = max(1, BLOCK // max(1, X.shape[1]))
    for first in range(0, len(pairs), step):
        u, v = pairs[first : first + step].T
        yield first, rows_of(X[u], X[v], kinds)


def rows_of(x: Array, z: Array, kinds: Sequence[Any]) -> Array:
    """The attributes of pairs of rows."""
    parts = [_called(kind, x, z) if callable(kind) else KINDS[kind].rows(x, z) for kind in kinds]
    return parts[0] if len(parts) == 1 else np.hstack(parts)


def attribute_names(kind: Kind, names: Sequence[str]) -> list[str] | None:
    """The names of pair attributes from those of element attributes; None if a callable makes some attributes."""
    kinds = flat(kind)
    if any(callable(part) for part in kinds):
        return None
    return [name for part in kinds for name in KINDS[part].names(names)]


def flat(kind: Kind) -> list[Any]:
    """The kinds in a sequence, or the one kind as a list, checked."""
    kinds = [kind] if isinstance(kind, str) or callable(kind) else list(kind)
    for part in kinds:
        if not callable(part) and not (isinstance(part, str) and part in KINDS):
            raise InvalidOption(f"kind of attributes is {part!r}: expected a callable or one of {', '.join(KINDS)}")
    if not kinds:
        raise InvalidOption("kind of attributes is empty: expected at least one")
    return kinds


def width(kind: Any, X: Array) -> int:
    """The number of attributes that one kind makes; a callable is asked with one pair."""
    if not callable(kind):
        return len(KINDS[kind].names([""] * X.shape[1]))
    return int(_called(kind, X[:1], X[:1]).shape[1])


def total_width(kind: Kind, X: Array) -> int:
    """The number of attributes that all kinds make."""
    return sum(width(part, X) for part in flat(kind))


def unit_rows(X: Array) -> Array:
    """Rows scaled to norm 1, or 0. The norm neither overflows nor underflows."""
    if not X.size:
        return X.copy()
    largest = np.abs(X).max(axis=1, keepdims=True)
    scaled = X / np.where(largest > 0, largest, 1.0)
    norms = np.sqrt(np.einsum("nv,nv->n", scaled, scaled))[:, None]
    scaled /= np.where(norms > 0, norms, 1.0)
    return scaled


def element_rows(X: Any) -> Array:
    """Attributes of elements as a matrix of finite float64 with contiguous rows."""
    array = np.asarray(X)
    if array.ndim != 2:
        raise InvalidProblem(f"X has shape {array.shape}: expected (elements, attributes)")
    return float_rows(array, 0)


def pair_indices(pairs: ArrayLike, n: int) -> NDArray[np.integer[Any]]:
    """Pairs as an array of shape (m, 2) of indices of n elements."""
    array = np.asarray(pairs)
    if array.size == 0:
        return np.zeros((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InvalidProblem(f"pairs have shape {array.shape} and dtype {array.dtype}: expected (m, 2) integers")
    if array.min() < 0 or array.max() >= n:
        at = int(np.flatnonzero(((array < 0) | (array >= n)).any(axis=1))[0])
        u, v = array[at].tolist()
        raise InvalidProblem(f"pair {at} is ({u}, {v}): expected indices from 0 to {n - 1}")
    return array


def _called(kind: Callable[[Array, Array], ArrayLike], x: Array, z: Array) -> Array:
    rows = np.asarray(kind(x, z))
    if rows.ndim != 2 or len(rows) != len(x):
        raise InvalidProblem(f"the callable returned shape {rows.shape} for {len(x)} pairs: expected ({len(x)}, W)")
    return float_rows(rows, 0)

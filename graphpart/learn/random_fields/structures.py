"""The input of conditional random fields: attributes of variables, pairs of variables, attributes of pairs.

Many structures are packed into one, with consecutive numbers for all variables, so that the kernels process long
arrays, also for many short sequences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.crf.problem import _structure
from graphpart.errors import InvalidProblem
from graphpart.learn.random_fields import _losses

__all__ = ["Packed", "Structure", "chain", "chains", "grid", "pack"]

Array = NDArray[np.float64]
Pairs = NDArray[np.int32]


@dataclass(frozen=True)
class Structure:
    """Variables with attributes, and which pairs of them depend on each other given the attributes.

    Parameters
    ----------
    features : array_like or scipy.sparse matrix, shape (n, V)
        Attributes of variables.
    pairs : array_like of int, shape (m, 2)
        Indices of variables. The first one of a pair is the row of its table.
    pair_features : array_like, shape (m, P), optional
        Attributes of pairs; default: the constant 1, so that all pairs have the same table.

    Raises
    ------
    InvalidProblem
        If shapes do not fit, an attribute is not a finite number, or a pair does not name two different variables.

    See Also
    --------
    chain, grid

    Examples
    --------
    >>> Structure([[0.0], [1.0], [2.0]], [[0, 1], [1, 2]]).n
    3
    """

    features: Any
    pairs: Any
    pair_features: Any = None

    def __post_init__(self) -> None:
        features = table("features", self.features)
        count = int(features.shape[0])
        try:
            pairs = np.asarray(self.pairs)
            pairs = pairs.reshape(0, 2) if pairs.size == 0 else pairs
        except ValueError:
            raise InvalidProblem("pairs have rows of different lengths: expected two variables in each") from None
        if pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs.size and pairs.dtype.kind not in "iu"):
            raise InvalidProblem(f"pairs have shape {pairs.shape} and dtype {pairs.dtype}: expected (m, 2) of integers")
        bad = (pairs < 0) | (pairs >= count) | (pairs[:, :1] == pairs[:, 1:])
        if bad.any():
            k = int(np.flatnonzero(bad.any(axis=1))[0])
            raise InvalidProblem(
                f"pair {k} is {tuple(pairs[k].tolist())}: expected two different variables from 0 to {count - 1}"
            )
        given = None if self.pair_features is None else table("pair_features", self.pair_features)
        if given is not None and len(given) != len(pairs):
            raise InvalidProblem(f"pair_features have {len(given)} rows for {len(pairs)} pairs: expected one for each")
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "pairs", np.ascontiguousarray(pairs, np.int32))
        object.__setattr__(self, "pair_features", given)

    @property
    def n(self) -> int:
        """The number of variables."""
        return int(self.features.shape[0])


def chain(features: ArrayLike, pair_features: ArrayLike | None = None) -> Structure:
    """A sequence: each variable depends on the one before and the one after.

    Parameters
    ----------
    features : array_like or scipy.sparse matrix, shape (length, V)
    pair_features : array_like, shape (length - 1, P), optional

    Examples
    --------
    >>> chain([[0.5], [0.1], [0.2]]).pairs.tolist()
    [[0, 1], [1, 2]]
    """
    rows = table("features", features)
    return Structure(rows, chain_pairs(int(rows.shape[0])), pair_features)


def chains(features: Any, sizes: NDArray[np.int64]) -> Packed:
    """Sequences side by side, from the attributes of all elements, one sequence after the other."""
    rows = table("features", features)
    start = np.concatenate([[0], np.cumsum(sizes)])
    first = np.ones(rows.shape[0], bool)
    first[start[:-1][sizes > 0]] = False
    second = np.flatnonzero(first).astype(np.int32)
    pair_start = np.concatenate([[0], np.cumsum(np.maximum(sizes - 1, 0))])
    return Packed(rows, np.column_stack([second - 1, second]), None, start, pair_start)


def grid(features: ArrayLike, pair_features: ArrayLike | None = None) -> Structure:
    """A picture: each variable depends on its four neighbours.

    Parameters
    ----------
    features : array_like, shape (height, width, V) or (height, width)
    pair_features : array_like, shape (m, P), or "directions", optional
        A row for each pair: first those of horizontal neighbours row by row, then those of vertical ones. With
        "directions", the two kinds of pairs have parameters of their own.

    Examples
    --------
    >>> import numpy as np
    >>> grid(np.zeros((2, 2, 3))).pairs.tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    values = np.asarray(features)
    if values.ndim == 2:
        values = values[:, :, None]
    if values.ndim != 3:
        raise InvalidProblem(
            f"features have shape {values.shape}: expected (height, width, attributes), or (height, width)"
        )
    height, width, count = values.shape
    at = np.arange(height * width, dtype=np.int32).reshape(height, width)
    across = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], axis=1)
    down = np.stack([at[:-1].ravel(), at[1:].ravel()], axis=1)
    if isinstance(pair_features, str):
        if pair_features != "directions":
            raise InvalidProblem(f"pair_features is {pair_features!r}: expected an array or 'directions'")
        pair_features = np.repeat(np.eye(2), [len(across), len(down)], axis=0)
    return Structure(values.reshape(-1, count), np.concatenate([across, down]), pair_features)


def chain_pairs(length: int) -> Pairs:
    """The pairs of neighbours in a sequence."""
    at = np.arange(max(0, length - 1), dtype=np.int32)
    return np.stack([at, at + 1], axis=1)


def table(name: str, given: Any) -> Any:
    """Rows of finite numbers as float64, contiguous or in compressed sparse rows; an error names the place."""
    if hasattr(given, "tocsr"):
        return sparse_table(name, given)
    try:
        rows = np.asarray(given)
        if rows.dtype.kind not in "fiubO":
            raise TypeError(f"dtype {rows.dtype}")
        rows = np.ascontiguousarray(rows, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidProblem(f"{name}: {error}: expected rows of real numbers, equally many in each") from None
    if rows.ndim == 1 and rows.size == 0:
        rows = rows.reshape(0, 0)
    if rows.ndim != 2:
        raise InvalidProblem(f"{name} have shape {rows.shape}: expected rows of attributes")
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(np.add.reduce(rows, axis=None)) or np.isfinite(rows).all()
    if not finite:
        i, v = np.argwhere(~np.isfinite(rows))[0].tolist()
        raise InvalidProblem(f"{name}: attribute {v} in row {i} is {rows[i, v]}: expected a finite number")
    return rows


def sparse_table(name: str, given: Any) -> Any:
    """The same for a matrix of scipy.sparse."""
    from scipy.sparse import csr_matrix

    if given.ndim != 2 or given.dtype.kind not in "fiub":
        raise InvalidProblem(f"{name} have shape {given.shape} and dtype {given.dtype}: expected rows of real numbers")
    rows = csr_matrix(given, dtype=np.float64)
    if not np.isfinite(np.add.reduce(rows.data)) and not np.isfinite(rows.data).all():
        at = int(np.argmin(np.isfinite(rows.data)))
        i = int(np.searchsorted(rows.indptr, at, "right")) - 1
        raise InvalidProblem(
            f"{name}: attribute {rows.indices[at]} in row {i} is {rows.data[at]}: expected a finite number"
        )
    return rows


@dataclass(frozen=True, eq=False)
class Packed:
    """Structures side by side: variables of structure k are ``start[k]`` to ``start[k + 1] - 1``, pairs likewise."""

    features: Any  # an array, or a matrix in compressed sparse rows
    pairs: Pairs
    pair_features: Array | None
    start: NDArray[np.int64]
    pair_start: NDArray[np.int64]

    @property
    def n(self) -> int:
        """The number of all variables."""
        return int(self.features.shape[0])

    def __len__(self) -> int:
        return len(self.start) - 1

    def __iter__(self) -> Iterator[Structure]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, k: int) -> Structure:
        """Structure k."""
        a, b = self.start[k : k + 2].tolist()
        first, last = self.pair_start[k : k + 2].tolist()
        rows = None if self.pair_features is None else self.pair_features[first:last]
        return Structure(self.features[a:b], self.pairs[first:last] - a, rows)

    @cached_property
    def forest(self) -> tuple[Pairs, Pairs, Pairs, Pairs] | None:
        """The order in which messages go to the roots, and the roots; None if there are cycles."""
        return _losses.schedule(self.n, self.pairs)

    @cached_property
    def incidence(self) -> tuple[NDArray[np.int64], Pairs]:
        """Compressed rows: starts, and the pairs of each variable; ``~e`` where it is the second one of pair e."""
        starts, pairs, slots = _structure.incidence(self.n, 2 * np.arange(len(self.pairs) + 1), self.pairs.ravel())
        return starts, np.where(slots == 0, pairs, ~pairs)

    def split(self, rows: NDArray[Any]) -> list[NDArray[Any]]:
        """Rows of all variables as one array for each structure."""
        return [rows[a:b] for a, b in zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True)]


def pack(
    structures: Iterable[Any] | Packed,
    columns: int | None = None,
    pair_columns: int | None = None,
    noun: str = "structure",
) -> Packed:
    """Put structures side by side; the error names the first one that does not fit the others or the expectation.

    Parameters
    ----------
    structures : Packed, or iterable of Structure or of tuples (features, pairs) or (features, pairs, pair_features)
    columns, pair_columns : int, optional
        Attributes expected of variables and of pairs, 0 for pairs without attributes.
    noun : str
        The name of a structure in messages.
    """
    if isinstance(structures, Packed):
        if columns is not None and structures.features.shape[1] != columns:
            raise InvalidProblem(f"{noun}s: features have {structures.features.shape[1]} columns: expected {columns}")
        return structures
    given: Sequence[Structure] = [structure_of(k, s, noun) for k, s in enumerate(structures)]
    for k, s in enumerate(given):
        if s.n == 0 and s.features.shape[1] == 0:
            continue  # an empty sequence may have any number of attributes
        found = s.features.shape[1]
        columns = found if columns is None else columns
        if found != columns:
            raise InvalidProblem(f"{noun} {k}: features have {found} columns: expected {columns}")
        if len(s.pairs):
            found = 0 if s.pair_features is None else s.pair_features.shape[1]
            pair_columns = found if pair_columns is None else pair_columns
            if found != pair_columns:
                raise InvalidProblem(f"{noun} {k}: {found} attributes of pairs: expected {pair_columns}")
    columns, pair_columns = columns or 0, pair_columns or 0
    start = np.zeros(len(given) + 1, np.int64)
    np.cumsum([s.n for s in given], out=start[1:])
    pair_start = np.zeros(len(given) + 1, np.int64)
    np.cumsum([len(s.pairs) for s in given], out=pair_start[1:])
    if start[-1] >= 2**31 or pair_start[-1] >= 2**31:
        raise InvalidProblem(f"{start[-1]} variables and {pair_start[-1]} pairs: expected fewer than 2^31 of each")
    features = stacked([s.features for s in given if s.n], columns)
    pairs = np.concatenate([np.zeros((0, 2), np.int32), *(s.pairs for s in given)])
    pairs += np.repeat(start[:-1], np.diff(pair_start)).astype(np.int32)[:, None]
    pair_features = None
    if pair_columns:
        rows = [s.pair_features for s in given if len(s.pairs)]
        pair_features = np.concatenate([np.zeros((0, pair_columns)), *rows])
    return Packed(features, pairs, pair_features, start, pair_start)


def stacked(tables: list[Any], columns: int) -> Any:
    """All rows: sparse if those of any structure are."""
    if not any(hasattr(rows, "tocsr") for rows in tables):
        return np.concatenate([np.zeros((0, columns)), *tables])
    from scipy.sparse import csr_matrix, vstack

    return vstack([rows if hasattr(rows, "tocsr") else csr_matrix(rows) for rows in tables], format="csr")


def structure_of(k: int, given: Any, noun: str) -> Structure:
    """A structure as it is, or made from a tuple; `k` is its number, for the message."""
    if isinstance(given, Structure):
        return given
    if isinstance(given, tuple) and len(given) in (2, 3):
        try:
            return Structure(*given)
        except InvalidProblem as error:
            raise InvalidProblem(f"{noun} {k}: {error}") from None
    raise InvalidProblem(
        f"{noun} {k} is {type(given).__name__}: expected a Structure or a tuple (features, pairs, pair_features)"
    )

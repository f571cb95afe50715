"""Checks of the input of factor graphs: sizes of domains, names, scopes, tables."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidProblem
from graphpart.kernels import LARGEST_INDEX

__all__ = [
    "group_arrays",
    "integer_array",
    "numbers_as_given",
    "one_domain",
    "one_for_all",
    "real_array",
    "sizes_of",
    "unique_names",
]


def real_array(what: str, values: ArrayLike) -> NDArray[np.float64]:
    """An array of float64, C-contiguous; InvalidProblem if it holds anything else than real numbers."""
    return numbers_as_given(what, values).astype(np.float64, order="C", copy=False)


def numbers_as_given(what: str, values: ArrayLike) -> NDArray[Any]:
    """An array of real numbers of any type; InvalidProblem if it holds anything else."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InvalidProblem(f"{what}: expected an array of numbers, its rows have different lengths") from None
    if array.dtype.kind not in "fiub":
        raise InvalidProblem(f"{what} has dtype {array.dtype}: expected real numbers")
    return array


def one_for_all(tables: Any) -> bool:
    """Whether an array of tables is one table that `numpy.broadcast_to` repeats."""
    return isinstance(tables, np.ndarray) and tables.ndim > 1 and len(tables) > 1 and tables.strides[0] == 0


def group_arrays(
    g: int, scopes: ArrayLike, tables: Any, sizes: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Scopes and tables of a group, numbers of any type; a single table if one is for all scopes, see `one_for_all`."""
    rows = integer_array(f"scopes of group {g}", scopes, np.int32)
    values = numbers_as_given(f"tables of group {g}", tables[:1] if one_for_all(tables) else tables)
    if rows.ndim != 2:
        raise InvalidProblem(f"scopes of group {g} have shape {rows.shape}: expected (m, k)")
    m, k = rows.shape
    given = np.shape(tables)
    if len(given) != k + 1 or given[0] != m:
        shape = ", ".join([str(m)] + [f"d{j + 1}" for j in range(k)])
        raise InvalidProblem(f"tables of group {g} have shape {given}: expected ({shape})")
    n = len(sizes)
    if rows.size and (rows.min() < 0 or rows.max() >= n):
        i = int(np.flatnonzero(((rows < 0) | (rows >= n)).any(axis=1))[0])
        raise InvalidProblem(f"group {g}, row {i} has the scope {tuple(rows[i].tolist())}: expected 0 to {n - 1}")
    for j in range(k):
        wrong = np.flatnonzero(sizes[rows[:, j]] != values.shape[j + 1])
        if len(wrong):
            i = int(wrong[0])
            raise InvalidProblem(
                f"group {g}, row {i}: the table has {values.shape[j + 1]} entries along axis {j}, but variable "
                f"{rows[i, j]} has {sizes[rows[i, j]]} labels"
            )
        for other in range(j):
            if (rows[:, j] == rows[:, other]).any():
                i = int(np.flatnonzero(rows[:, j] == rows[:, other])[0])
                raise InvalidProblem(f"group {g}, row {i} has the scope {tuple(rows[i].tolist())}: a variable repeated")
    return rows, values


def one_domain(name: Hashable, domain: Any) -> int:
    try:
        size = int(domain.__index__())
    except (AttributeError, TypeError):
        raise InvalidProblem(f"variable {name!r} has the domain {domain!r}: expected an integer") from None
    if not 1 <= size <= LARGEST_INDEX:
        raise InvalidProblem(f"variable {name!r} has a domain of {size} labels: expected 1 to {LARGEST_INDEX}")
    return size


def sizes_of(domains: ArrayLike) -> NDArray[np.int32]:
    given = np.asarray(domains)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise InvalidProblem(f"domains have shape {given.shape} and dtype {given.dtype}: expected n integers")
    bad = np.flatnonzero((given < 1) | (given > LARGEST_INDEX))
    if len(bad):
        raise InvalidProblem(f"variable {bad[0]} has a domain of {given[bad[0]]} labels: expected 1 to {LARGEST_INDEX}")
    return np.array(given, np.int32)


def integer_array(what: str, values: ArrayLike, dtype: type[np.integer[Any]]) -> NDArray[Any]:
    """A new contiguous array of integers of this type; InvalidProblem for anything else, and for overflow."""
    try:
        given = np.asarray(values)
    except ValueError:
        raise InvalidProblem(f"{what}: expected an array of integers, its rows have different lengths") from None
    if given.size and given.dtype.kind not in "iu":
        raise InvalidProblem(f"{what} have dtype {given.dtype}: expected integers")
    limits = np.iinfo(dtype)
    if given.size and (given.min() < limits.min or given.max() > limits.max):
        worst = given.min() if given.min() < limits.min else given.max()
        raise InvalidProblem(f"{what}: {worst} is out of range")
    return np.array(given, dtype, order="C")


def unique_names(variables: Iterable[Hashable] | None, n: int) -> Sequence[Hashable]:
    if variables is None:
        return range(n)
    names = list(variables)
    if len(names) != n:
        raise InvalidProblem(f"{len(names)} names for {n} variables: expected one for each")
    seen: set[Hashable] = set()
    for name in names:
        if name in seen:
            raise InvalidProblem(f"variable {name!r} is named twice")
        seen.add(name)
    return names

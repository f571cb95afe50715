"""Attributes by name, in dictionaries or as texts, as rows of a sparse matrix.

An element is a text, several texts, or a dictionary. A text is an attribute of value 1. In a dictionary, a number is
the value of the attribute ``name``, a text stands for the attribute ``name=text`` of value 1, several texts stand for
one such attribute each, and a dictionary for attributes ``name:other``. Attributes get columns in the order in which
they first appear, so that frequent ones are near each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem

__all__ = ["Vocabulary", "by_name"]

SEVERAL = (list, tuple, set, frozenset)
NUMBERS = (float, int, bool, np.float64, np.float32, np.int64, np.bool_)


def by_name(sample: Any) -> bool:
    """Whether the elements of a sample have attributes by name: they are texts, dictionaries, or several texts."""
    if isinstance(sample, str | bytes):
        return True  # so that its message names the expected type
    if isinstance(sample, np.ndarray):
        return sample.dtype.kind == "U" or (sample.dtype.kind == "O" and sample.ndim == 1)
    if hasattr(sample, "tocsr") or not isinstance(sample, Iterable):
        return False
    first = next(iter(sample), None)
    if isinstance(first, SEVERAL):
        return isinstance(next(iter(first), None), str)
    return isinstance(first, str | Mapping)


class Vocabulary:
    """The columns of attributes.

    Attributes
    ----------
    column : dict
        The column of each attribute.
    """

    def __init__(self) -> None:
        self.column: dict[Any, int] = {}
        self._kinds: set[str] = set()  # of elements that were learned from

    def rows(self, samples: Sequence[Any], noun: str, learn: bool) -> tuple[Any, NDArray[np.int64]]:
        """The elements of all samples as rows of a sparse matrix, and the number of elements of each sample.

        New attributes get columns with `learn`, else they are ignored. O(attributes of all elements)
        """
        from scipy.sparse import csr_matrix

        column = self.column
        columns: list[int] = []
        values: list[Any] = []
        ends, sizes = [0], np.zeros(len(samples), np.int64)
        for k, sample in enumerate(samples):
            if isinstance(sample, str | bytes | Mapping) or not isinstance(sample, Iterable):
                found = f"the text {sample[:20]!r}" if isinstance(sample, str | bytes) else type(sample).__name__
                raise InvalidProblem(
                    f"{noun} {k} is {found}: expected a list of words, such as text.split(), or of dictionaries; a "
                    f"single {noun} is given as [{noun}]"
                )
            begin = len(ends)
            for item in sample:
                if len(ends) == begin or learn:
                    self._check_kind(f"{noun} {k}, element {len(ends) - begin}", item, learn)
                try:
                    for name, value in item.items() if type(item) is dict else texts(item):
                        if type(value) is str:
                            name, value = f"{name}={value}", 1.0
                        elif type(value) not in NUMBERS:
                            for inner, number in entries(name, value):
                                at = column.setdefault(inner, len(column)) if learn else column.get(inner, -1)
                                if at >= 0:
                                    columns.append(at)
                                    values.append(number)
                            continue
                        at = column.setdefault(name, len(column)) if learn else column.get(name, -1)
                        if at >= 0:
                            columns.append(at)
                            values.append(value)
                except TypeError as error:
                    raise InvalidProblem(f"{noun} {k}, element {len(ends) - begin}: {error}") from None
                ends.append(len(columns))
            sizes[k] = len(ends) - begin
        indices = np.array(columns, np.int32 if len(columns) < 2**31 else np.int64)
        parts = np.array(values, np.float64), indices, np.array(ends, indices.dtype)
        return csr_matrix(parts, shape=(len(ends) - 1, len(column))), sizes

    def _check_kind(self, place: str, item: Any, learn: bool) -> None:
        """Raise InvalidProblem if an element is of another kind than all that were learned from."""
        kind = kind_of(item)
        if learn:
            self._kinds.add(kind)
        elif kind not in self._kinds:
            raise InvalidProblem(f"{place} is {kind}: expected {' or '.join(sorted(self._kinds))}, as fit was given")


def kind_of(item: Any) -> str:
    """A description of an element, for messages."""
    if isinstance(item, str):
        return "a text"
    if isinstance(item, Mapping):
        return "a dictionary of attributes"
    if isinstance(item, SEVERAL):
        return "several texts" if all(isinstance(one, str) for one in item) else "a row of numbers"
    return "a row of numbers" if isinstance(item, np.ndarray) else f"of type {type(item).__name__}"


def texts(item: Any) -> Iterable[tuple[Any, Any]]:
    """The attributes of an element that is no plain dictionary."""
    if isinstance(item, str):
        return [(str(item), 1.0)]
    if isinstance(item, Mapping):
        return item.items()
    if isinstance(item, SEVERAL) and all(isinstance(one, str) for one in item):
        return [(one, 1.0) for one in (sorted(item) if isinstance(item, set | frozenset) else item)]
    raise TypeError(f"{item!r}: expected a dictionary of attributes, a text, or several texts")


def entries(name: Any, value: Any) -> Iterator[tuple[Any, float]]:
    """The attributes that an entry of a dictionary stands for."""
    if isinstance(value, str):
        yield f"{name}={value}", 1.0
    elif isinstance(value, Mapping):
        for inner, deeper in value.items():
            yield from entries(f"{name}:{inner}", deeper)
    elif isinstance(value, SEVERAL) and all(isinstance(one, str) for one in value):
        for one in sorted(value) if isinstance(value, set | frozenset) else value:
            yield f"{name}={one}", 1.0
    elif isinstance(value, Real | np.bool_):
        yield name, float(value)
    else:
        raise TypeError(f"attribute {name!r} is {value!r}: expected a number, a text, several texts or a dictionary")

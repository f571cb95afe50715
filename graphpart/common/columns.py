"""A small table: columns of one length by name, which can be converted to a data frame."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from graphpart.display import html_of, plural, shortened
from graphpart.errors import InvalidOption, InvalidPartition

__all__ = ["Columns", "is_named", "labels_in", "named", "of_both", "placed"]

LIBRARIES = ("pandas", "polars")
LINE, WIDEST = 80, 24  # most characters of a line, and of a cell, as text


class Columns(Mapping[str, NDArray[Any]]):
    """Arrays of one length by name, in a fixed order.

    Parameters
    ----------
    columns : mapping from names to ndarray, each of shape (k,)

    Examples
    --------
    >>> table = Columns({"element": np.array(["a", "b"]), "doubt": np.array([0.5, 2.0])})
    >>> table["doubt"].tolist(), table.rows
    ([0.5, 2.0], 2)
    >>> table
    Columns(element, doubt; 2 rows)
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self._columns = dict(columns)
        for array in self._columns.values():
            array.flags.writeable = False

    @overload
    def __getitem__(self, name: str) -> NDArray[Any]: ...

    @overload
    def __getitem__(self, name: slice) -> Columns: ...

    def __getitem__(self, name: str | slice) -> NDArray[Any] | Columns:
        """A column by its name, or a table of the rows in a slice."""
        if isinstance(name, slice):
            return Columns({key: array[name] for key, array in self._columns.items()})
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"Columns({', '.join(self)}; {self.rows} rows)"

    def __str__(self) -> str:
        """The first rows as aligned text, as many columns as fit into a line."""
        if not self.rows:
            return repr(self)
        rows = self._first()
        lines = [""] * (len(rows) + 1)
        for k, name in enumerate(self):
            texts = [shortened(" ".join(str(x).split()), WIDEST) for x in (name, *(row[k] for row in rows))]
            width = max(map(len, texts)) + 2
            if k and len(lines[0]) + width > LINE:
                rest = f"{plural(len(self) - k, 'column')} more: {', '.join(map(str, list(self)[k:]))}"
                return "\n".join([*lines, shortened(rest, LINE)])
            texts = [text.rjust(width if k else width - 2) for text in texts]
            lines = [line + text for line, text in zip(lines, texts, strict=True)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks: the first rows."""
        return html_of(f"{plural(self.rows, 'row')}", {}, tuple(self), self._first())

    def _first(self, rows: int = 10) -> list[tuple[Any, ...]]:
        """The first rows, as tuples; numbers with six digits."""
        lists = [[float(f"{x:.6g}") if isinstance(x, float) else x for x in a[:rows].tolist()] for a in self.values()]
        more = [("...",) * len(self)] if self.rows > rows else []
        return [*zip(*lists, strict=True), *more]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def head(self, rows: int = 10) -> Columns:
        """The first rows."""
        return self[:rows]

    def to_frame(self, library: str | None = None) -> Any:
        """The table as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "dict"}, optional
            Default: pandas or polars, whichever is imported already, else the first of them that is installed; a dict
            of arrays if neither is. For polars, a column of names of several types becomes text.

        Raises
        ------
        InvalidOption
            If the library is another one, or is not installed.
        """
        if library is not None and library not in (*LIBRARIES, "dict"):
            raise InvalidOption(f"library is {library!r}: expected pandas, polars or dict")
        wanted = [library] if library else sorted(LIBRARIES, key=lambda name: name not in sys.modules)
        for name in wanted:
            if name == "dict":
                break
            try:
                frame = import_module(name).DataFrame
            except ImportError:
                if library:
                    raise InvalidOption(f"library is {library!r}, which is not installed") from None
                continue
            return frame({k: _typed(a) if name == "polars" else a for k, a in self._columns.items()})
        return dict(self._columns)


def _typed(array: NDArray[Any]) -> Any:
    """The input for a column of polars: names of one type as a list, names of several types as their text."""
    if array.dtype != object:
        return array
    values = array.tolist()
    return values if len({type(value) for value in values}) <= 1 else [str(value) for value in values]


def named(nodes: Sequence[Hashable], places: NDArray[np.integer[Any]]) -> NDArray[Any]:
    """The names of elements at some places, as an array: of integers if they count from 0, else of objects."""
    if isinstance(nodes, range):
        return places.astype(np.int64)
    out: NDArray[Any] = np.fromiter(nodes, object, len(nodes))[places]
    return out


def placed(columns: Columns, shape: Sequence[int] | None) -> Columns:
    """Columns with the places of pixels, such as (row, column), in place of their numbers, if there is a grid.

    Examples
    --------
    >>> placed(Columns({"variable": np.array([5]), "label": np.array([1])}), (2, 4))["variable"].tolist()
    [(1, 1)]
    """
    if shape is None:
        return columns
    out = dict(columns)
    for name in ("left", "right", "element", "variable"):
        if name in out and out[name].dtype.kind == "i":
            places = np.unravel_index(out[name], tuple(shape))
            out[name] = np.empty(len(out[name]), object)
            out[name][:] = list(zip(*(axis.tolist() for axis in places), strict=True))
    return Columns(out)


def of_both(columns: Mapping[str, Sequence[Any]], pairs: NDArray[np.integer[Any]]) -> dict[str, NDArray[Any]]:
    """For each column, the values of the left and of the right elements of pairs.

    Examples
    --------
    >>> of_both({"town": ["Rome", "Oslo"]}, np.array([[1, 0]]))
    {'town_left': array(['Oslo'], dtype=object), 'town_right': array(['Rome'], dtype=object)}
    """
    return {
        f"{name}_{side}": np.fromiter((values[k] for k in ends), object, len(ends))
        for name, values in columns.items()
        for side, ends in zip(("left", "right"), pairs.T.tolist(), strict=True)
    }


def labels_in(partition: Any) -> Any:
    """The clusters by element in a data frame with these two columns, as `to_frame` makes it; anything else as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> labels_in(pd.DataFrame({"element": ["ann", "bob"], "cluster": [0, 0]}))
    {'ann': 0, 'bob': 0}
    """
    names = getattr(partition, "column_names", getattr(partition, "columns", None))
    if names is None or isinstance(partition, Mapping):
        return partition
    if not {"element", "cluster"} <= set(names):
        raise InvalidPartition(
            f"got {type(partition).__name__}: expected the columns element and cluster, as r.to_frame() has them, or "
            "labels, sets of nodes, a mapping or a Result, for instance dict(zip(df['name'], df['label']))"
        )
    elements, clusters = (_objects(partition[name]) for name in ("element", "cluster"))
    found: dict[Any, Any] = {}
    for element, cluster in zip(elements, clusters, strict=True):
        if element in found:
            raise InvalidPartition(f"{element!r} is twice in the column element: expected each element once")
        found[element] = cluster
    return found


def _objects(column: Any) -> list[Any]:
    """The entries of a column of pandas, polars or Arrow; dates stay dates."""
    take = next((getattr(column, name) for name in ("tolist", "to_list", "to_pylist") if hasattr(column, name)), None)
    return list(column) if take is None else list(take())


def is_named(labels: Any) -> bool:
    """Whether it is a Series of pandas whose index is not just 0, 1, ..."""
    if type(labels).__module__.partition(".")[0] != "pandas" or not hasattr(labels, "index"):
        return False
    index = labels.index
    return not (type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1)

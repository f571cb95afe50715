"""Results as data frames: columns of names, labels and numbers, in the library of choice."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from importlib import import_module
from typing import Any

from graphpart.errors import InvalidOption, MissingDependency

__all__ = ["frame_of", "series_of"]

LIBRARIES = ("pandas", "polars", "pyarrow")


def frame_of(columns: Mapping[str, Any], library: str = "pandas") -> Any:
    """A data frame with these columns.

    Parameters
    ----------
    columns : mapping from names to arrays or lists
    library : {"pandas", "polars", "pyarrow"}

    Raises
    ------
    MissingDependency
        If the library is not installed.
    """
    if library not in LIBRARIES:
        raise InvalidOption(f"library is {library!r}: expected one of {', '.join(LIBRARIES)}")
    module = _module(library)
    if library == "pyarrow":
        return module.table(
            {name: list(values) if isinstance(values, range) else values for name, values in columns.items()}
        )
    return module.DataFrame(dict(columns))


def series_of(values: Any, index: Sequence[Hashable], name: str, index_name: str) -> Any:
    """A pandas Series, named and with a named index.

    Raises
    ------
    MissingDependency
        If pandas is not installed.
    """
    pandas = _module("pandas")
    tuples = any(isinstance(x, tuple) for x in index[:1])  # which would make an index of several levels
    labels = pandas.Index(list(index), name=index_name, tupleize_cols=False) if tuples else pandas.Index(index)
    return pandas.Series(values, index=labels.rename(index_name), name=name)


def _module(library: str) -> Any:
    try:
        return import_module(library)
    except ImportError:
        raise MissingDependency(library, "frames", "a data frame") from None

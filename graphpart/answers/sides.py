"""What is known of the two elements of a pair: the columns of their records, or their places in a grid."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.answers.given import listed
from graphpart.errors import InvalidProblem
from graphpart.partition.inputs.frames import elements_of, table_of
from graphpart.partition.problem import SetPartition

__all__ = ["record_columns", "sides_of"]

HIDDEN = "__"  # columns whose names begin so are those of programs


def record_columns(p: SetPartition, records: Any, id: str | None = None) -> dict[str, list[Any]]:
    """The columns of a table of records, with a value for each element of the problem, in their order.

    Raises
    ------
    InvalidProblem
        If there is not a row for each element.
    """
    if records is None:
        return {}
    table = table_of(records)
    names = [name for name in table.columns if not str(name).startswith(HIDDEN)]
    if id is None:
        if table.rows != p.n:
            raise InvalidProblem(f"records has {table.rows} rows for {p.n} elements: expected a row for each, or id=")
        return {str(name): listed(table, name) for name in names}
    known, _ = elements_of(records, id)
    place = {name: k for k, name in enumerate(known)}
    texts = {str(name): k for k, name in enumerate(known)}
    rows = [place.get(node, texts.get(str(node), -1)) for node in p.nodes]
    if -1 in rows:
        raise InvalidProblem(f"records has no row for {p.nodes[rows.index(-1)]!r} in {id!r}: expected all elements")
    columns = {str(name): listed(table, name) for name in names}
    return {name: [values[k] for k in rows] for name, values in columns.items() if name != id}


def sides_of(p: SetPartition, pairs: NDArray[np.int64], records: Any, id: str | None) -> dict[str, NDArray[Any]]:
    """Columns for the left and the right elements of pairs: `name_left` and `name_right` of each column of records."""
    out: dict[str, NDArray[Any]] = {}
    sides = {"left": pairs[:, 0].tolist(), "right": pairs[:, 1].tolist()}
    shape = None if p._origin is None else p._origin.shape
    if shape is not None:
        for side, ends in sides.items():
            out[f"{side}_place"] = _objects(
                list(zip(*(x.tolist() for x in np.unravel_index(ends, shape)), strict=True))
            )
    for name, values in record_columns(p, records, id).items():
        for side, ends in sides.items():
            out[f"{name}_{side}"] = _objects([values[k] for k in ends])
    return out


def _objects(values: list[Any]) -> NDArray[Any]:
    out = np.empty(len(values), object)
    for k, value in enumerate(values):
        out[k] = value
    return out

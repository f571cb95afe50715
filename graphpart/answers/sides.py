"""What is known of the two elements of a pair: names, the columns of their records, or their places in a grid."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.columns import named, of_both
from graphpart.errors import InvalidProblem
from graphpart.partition.inputs.frames import elements_of, table_of
from graphpart.partition.problem import SetPartition

__all__ = ["record_columns", "sides_of"]

HIDDEN = "__"  # columns whose names begin so are those of programs


def record_columns(p: SetPartition, problem: Any, result: Any, records: Any, id: str | None) -> dict[str, list[Any]]:
    """The columns of a table of records, with a value for each element of the problem p, in their order.

    Default: the records that a result of `match`, or a segmentation, brings with it.

    Raises
    ------
    InvalidProblem
        If there is not a row for each element.
    """
    if records is None:
        records = getattr(result, "records", getattr(problem, "records", None))
    if records is None:
        return {}
    table = table_of(records)
    columns = {str(name): table.objects(name) for name in table.columns if not str(name).startswith(HIDDEN)}
    if id is None:
        if table.rows != p.n:
            raise InvalidProblem(f"records has {table.rows} rows for {p.n} elements: expected a row for each, or id=")
        return {name: values for name, values in columns.items() if values != list(p.nodes)}  # which are there already
    known, _ = elements_of(records, id)
    place = {name: k for k, name in enumerate(known)}
    texts = {str(name): k for k, name in enumerate(known)}
    rows = [place.get(node, texts.get(str(node), -1)) for node in p.nodes]
    if -1 in rows:
        raise InvalidProblem(f"records has no row for {p.nodes[rows.index(-1)]!r} in {id!r}: expected all elements")
    return {name: [values[k] for k in rows] for name, values in columns.items() if name != id}


def sides_of(p: SetPartition, pairs: NDArray[np.int64], columns: dict[str, list[Any]]) -> dict[str, NDArray[Any]]:
    """The names `left` and `right` of pairs, and `name_left` and `name_right` for each column of `record_columns`."""
    sides = {"left": pairs[:, 0], "right": pairs[:, 1]}
    out = {side: named(p.nodes, ends) for side, ends in sides.items()}
    shape = None if p._origin is None else p._origin.shape
    if shape is not None:
        for side, ends in sides.items():
            places = zip(*(x.tolist() for x in np.unravel_index(ends, shape)), strict=True)
            out[f"{side}_place"] = np.fromiter(places, object, len(ends))
    return out | of_both(columns, pairs)

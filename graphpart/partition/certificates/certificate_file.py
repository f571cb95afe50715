"""Files of certificates of set partition problems, in the layout of `graphpart.files.certificates`.

A row of JSON is one inequality: ``kind`` (one of `KINDS` in `inequalities`), ``elements`` (indices from 0, in the order
of the nodes of the problem), ``split``, and its ``multiplier``; a general 2-partition has ``numbers``, one for each
element, in place of ``split``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import FormatError
from graphpart.files import certificates
from graphpart.files.certificates import Form
from graphpart.partition.certificates.inequalities import GENERAL, KINDS, Inequalities

__all__ = ["read", "write"]

FORM = Form(
    "graphpart-certificate",
    {"kinds": np.uint8, "starts": np.int64, "elements": np.int32, "splits": np.int32, "multipliers": np.float64},
    "inequalities",
    "kind, split, multiplier and elements",
)
PARTS = ("kinds", "starts", "elements", "splits")


def write(path: str | os.PathLike[str], certificate: Any, rows: Inequalities, multipliers: NDArray[np.float64]) -> None:
    """Write a certificate; npz if the name ends so, else JSON."""

    def listed() -> Iterator[dict[str, Any]]:
        starts, elements = rows.starts.tolist(), rows.elements.tolist()
        each = zip(rows.kinds.tolist(), rows.splits.tolist(), multipliers.tolist(), strict=True)
        for k, (kind, split, value) in enumerate(each):
            inside = elements[starts[k] : starts[k + 1]]
            if kind == GENERAL:
                numbers = inside[split:]
                yield {"kind": KINDS[kind], "multiplier": value, "elements": inside[:split], "numbers": numbers}
                continue
            yield {"kind": KINDS[kind], "split": split, "multiplier": value, "elements": inside}

    arrays = {name: getattr(rows, name) for name in PARTS} | {"multipliers": multipliers}
    certificates.write_certificate(path, FORM, certificate, arrays, listed)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Inequalities, NDArray[np.float64]]:
    """(header, inequalities, multipliers); FormatError if the file holds no certificate."""
    header, arrays = certificates.read_certificate(path, FORM, _arrays_of)
    starts, elements = arrays["starts"], arrays["elements"]
    count = len(arrays["kinds"])
    lengths = np.diff(starts) if len(starts) == count + 1 else np.array([-1])
    if (
        len(arrays["splits"]) != count
        or len(arrays["multipliers"]) != count
        or (lengths < 0).any()
        or starts[0] != 0
        or starts[-1] != len(elements)
    ):
        message = "the arrays of inequalities do not fit together: expected a certificate"
        raise FormatError(os.fspath(path), None, message)
    return header, Inequalities(*(arrays[name] for name in PARTS)), arrays["multipliers"]


def _arrays_of(rows: list[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    parts = Inequalities.of([_row(row) for row in rows])
    multipliers = np.array([float(row["multiplier"]) for row in rows], np.float64)
    return {name: getattr(parts, name) for name in PARTS} | {"multipliers": multipliers}


def _row(row: dict[str, Any]) -> tuple[int, int, list[int]]:
    kind, elements = KINDS.index(row["kind"]), row["elements"]
    return (kind, len(elements), elements + row["numbers"]) if kind == GENERAL else (kind, row["split"], elements)

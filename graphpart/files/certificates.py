"""Certificates in files, of any kind of problem: JSON for people and other programs, npz for size and speed.

JSON holds one object: ``format``, ``version`` (1), the fields of a header, and a list of rows. npz holds the text of
the same object without the list as ``header``, and the list as arrays. Nothing is unpickled. A `Form` says which
fields, rows and arrays a kind of certificate has.
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import FormatError
from graphpart.files.arrays import DAMAGED, read_data, read_header
from graphpart.files.json_values import load
from graphpart.files.source import Source, opened, replacing

__all__ = ["Form", "read_certificate", "write_certificate"]

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Form:
    """What the file of one kind of certificate holds.

    Attributes
    ----------
    name : str
        The value of ``format``.
    header : dict from names to types
        Fields that are there once.
    arrays : dict from names to dtypes
        Vectors, whose contents JSON has as rows.
    rows : str
        The name of the list of rows in JSON.
    row : str
        What a row holds, for messages.
    """

    name: str
    header: dict[str, tuple[type, ...]]
    arrays: dict[str, type[np.generic]]
    rows: str
    row: str


def write_certificate(
    path: str | os.PathLike[str], form: Form, header: dict[str, Any], arrays: Arrays, rows: Callable[[], Iterable[Any]]
) -> None:
    """Write a certificate; npz if the name ends so, else JSON, for which `rows` is called."""
    fields = {"format": form.name, "version": 1} | {name: header[name] for name in form.header}
    with replacing(path) as stream:
        if os.fspath(path).endswith(".npz"):
            named: dict[str, Any] = {name: arrays[name] for name in form.arrays}
            np.savez_compressed(stream, allow_pickle=False, header=np.array(json.dumps(fields)), **named)
            return
        body = ",\n".join(json.dumps(row) for row in rows())
        stream.write(f'{json.dumps(fields)[:-1]}, "{form.rows}": [\n{body}\n]}}\n'.encode())


def read_certificate(
    path: str | os.PathLike[str], form: Form, arrays_of: Callable[[list[dict[str, Any]]], Arrays]
) -> tuple[dict[str, Any], Arrays]:
    """Read the header and the frozen arrays of a certificate, which `arrays_of` makes from rows of JSON.

    Raises
    ------
    FormatError
        If the file holds no certificate of this form. Whether the arrays fit each other is for the caller to check.
    """
    with opened(path) as source:
        header, arrays = _archive(source, form) if source.head(2) == b"PK" else _object(source, form, arrays_of)
        if header.get("format") != form.name or header.get("version") != 1:
            raise source.error(None, f'expected "format": "{form.name}" and "version": 1')
        return _checked_header(source, form, header), _frozen(form, arrays)


def _object(
    source: Source, form: Form, arrays_of: Callable[[list[dict[str, Any]]], Arrays]
) -> tuple[dict[str, Any], Arrays]:
    header = load(source, "a certificate")
    rows = header.pop(form.rows, None)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise source.error(None, f"expected an object with a list of objects as {form.rows}")
    try:
        return header, arrays_of(rows)
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise source.error(None, f"one of the {form.rows} is damaged ({error}): expected {form.row}") from None


def _archive(source: Source, form: Form) -> tuple[dict[str, Any], Arrays]:
    arrays: Arrays = {}
    try:
        with zipfile.ZipFile(io.BytesIO(source.read())) as archive:
            for name in ("header", *form.arrays):
                with archive.open(f"{name}.npy") as stream:
                    shape, dtype, fortran = read_header(stream, source.name, name)
                    fits = (
                        shape == () and dtype.kind == "U"
                        if name == "header"
                        else len(shape) == 1 and dtype == form.arrays[name]
                    )
                    if not fits:
                        raise source.error(None, f"{name} has shape {shape} and dtype {dtype}: expected a certificate")
                    arrays[name] = read_data(stream, source.name, name, shape, dtype, fortran)
        header = json.loads(str(arrays.pop("header")))
    except FormatError:
        raise
    except DAMAGED as error:
        raise source.error(None, f"the archive is damaged: {error}") from None
    if not isinstance(header, dict):
        raise source.error(None, "the header is no object: expected a certificate")
    return header, arrays


def _checked_header(source: Source, form: Form, header: dict[str, Any]) -> dict[str, Any]:
    checked: dict[str, Any] = {}
    for name, kinds in form.header.items():
        if name not in header:
            raise source.error(None, f"there is no {name}: expected a certificate")
        value: Any = header[name]
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise source.error(None, f"{name} is {str(value)[:40]!a}: expected {kinds[0].__name__}")
        if isinstance(value, float) and math.isnan(value):
            raise source.error(None, f"{name} is nan: expected a number")
        try:
            checked[name] = float(value) if float in kinds and isinstance(value, int) else value
        except OverflowError:
            raise source.error(None, f"{name} is too large: expected a number of 64 bits") from None
    return checked


def _frozen(form: Form, arrays: Arrays) -> Arrays:
    own = {name: np.ascontiguousarray(arrays[name], kind) for name, kind in form.arrays.items()}
    for array in own.values():
        array.flags.writeable = False
    return own

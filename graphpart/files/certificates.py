"""Certificates in files, of any kind of problem: JSON for people and other programs, npz for size and speed.

JSON holds one object: ``format``, ``version`` (1), the fields of a header, and arrays, as lists by their names or as
one list of rows that people can read. npz holds the text of the same object without lists as ``header``, and the
arrays. Nothing is unpickled. A `Form` says which fields, arrays and rows a kind of certificate has.
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

from graphpart.errors import FormatError, InvalidOption
from graphpart.files.arrays import DAMAGED, read_data, read_header
from graphpart.files.json_values import load
from graphpart.files.source import Source, bare_name, opened, replacing

__all__ = ["HEADER", "Form", "check_name", "read_certificate", "write_certificate"]

Arrays = dict[str, NDArray[Any]]


# The fields that every certificate has once, by name.
HEADER: dict[str, tuple[type, ...]] = {
    "n": (int,),
    "method": (str,),
    "bound": (float, int),
    "step": (float, int),
    "cost": (float, int, type(None)),
    "problem": (str,),
    "seal": (str,),
}


@dataclass(frozen=True)
class Form:
    """The layout of the files of one kind of certificate.

    Attributes
    ----------
    name : str
        The value of ``format``.
    arrays : dict from names to dtypes
        Vectors, whose contents JSON has as rows.
    rows : str, optional
        The name of the list of rows in JSON; default: arrays are lists.
    row : str
        A description of a row, for messages.
    optional : str, optional
        The names of arrays that a file need not have begin so; they are empty then.
    """

    name: str
    arrays: dict[str, type[np.generic]]
    rows: str | None = None
    row: str = "numbers"
    optional: str | None = None

    def needs(self, name: str) -> bool:
        """Whether a file has to have this array."""
        return self.optional is None or not name.startswith(self.optional)


def check_name(path: str | os.PathLike[str]) -> None:
    """Raise InvalidOption unless the name is that of a certificate: it ends in .json, maybe compressed, or .npz.

    ``-``, standard output, gets JSON.
    """
    name = os.fspath(path)
    if name != "-" and not name.endswith(".npz") and not bare_name(name).endswith(".json"):
        raise InvalidOption(f"{name!r} is no name of a certificate: expected one that ends in .json or .npz")


def write_certificate(
    path: str | os.PathLike[str],
    form: Form,
    certificate: Any,
    arrays: Arrays,
    rows: Callable[[], Iterable[Any]] | None = None,
) -> None:
    """Write a certificate, whose attributes are the header: npz if the name ends so, else JSON, by `rows` if given."""
    check_name(path)
    fields = {"format": form.name, "version": 1} | {name: getattr(certificate, name) for name in HEADER}
    with replacing(path) as stream:
        if os.fspath(path).endswith(".npz"):
            named: dict[str, Any] = {name: arrays[name] for name in form.arrays if name in arrays}
            np.savez_compressed(stream, allow_pickle=False, header=np.array(json.dumps(fields)), **named)
            return
        if rows is None:
            body = ",\n".join(
                f'"{name}": {json.dumps(arrays[name].tolist())}' for name in form.arrays if name in arrays
            )
        else:
            body = f'"{form.rows}": [\n' + ",\n".join(json.dumps(row) for row in rows()) + "\n]"
        stream.write(f"{json.dumps(fields)[:-1]}, {body}}}\n".encode())


def read_certificate(
    path: str | os.PathLike[str], form: Form, arrays_of: Callable[[list[dict[str, Any]]], Arrays] | None = None
) -> tuple[dict[str, Any], Arrays]:
    """Read the header and the frozen arrays of a certificate; `arrays_of` makes them from rows of JSON.

    Raises
    ------
    FormatError
        If the file holds no certificate of this form. Whether the arrays fit each other is for the caller to check.
    """
    with opened(path) as source:
        header, arrays = _archive(source, form) if source.head(2) == b"PK" else _object(source, form, arrays_of)
        if header.get("format") != form.name or header.get("version") != 1:
            raise source.error(None, f'expected "format": "{form.name}" and "version": 1')
        return _checked_header(source, header), _frozen(form, arrays)


def _object(
    source: Source, form: Form, arrays_of: Callable[[list[dict[str, Any]]], Arrays] | None
) -> tuple[dict[str, Any], Arrays]:
    header = load(source, "a certificate")
    if form.rows is None or arrays_of is None:
        lists = {name: header.pop(name, None if form.needs(name) else []) for name in form.arrays}
        return header, {name: _vector(source, name, lists[name], kind) for name, kind in form.arrays.items()}
    rows = header.pop(form.rows, None)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise source.error(None, f"expected an object with a list of objects as {form.rows}")
    try:
        return header, arrays_of(rows)
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise source.error(None, f"one of the {form.rows} is damaged ({error}): expected {form.row}") from None


def _vector(source: Source, name: str, values: Any, kind: type[np.generic]) -> NDArray[Any]:
    """A list of JSON as a vector of this type; FormatError if this would change a number."""
    words = (int, float) if issubclass(kind, np.floating) else (int,)
    if not isinstance(values, list) or not all(type(value) in words for value in values):
        raise source.error(None, f"{name} is no list of numbers: expected a certificate")
    try:
        return np.array(values, kind)
    except OverflowError:
        raise source.error(None, f"{name} has a number that is out of range: expected a certificate") from None


def _archive(source: Source, form: Form) -> tuple[dict[str, Any], Arrays]:
    arrays: Arrays = {}
    try:
        with zipfile.ZipFile(io.BytesIO(source.read())) as archive:
            there = archive.namelist()
            for name in ("header", *form.arrays):
                if name != "header" and not form.needs(name) and f"{name}.npy" not in there:
                    arrays[name] = np.zeros(0, form.arrays[name])
                    continue
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


def _checked_header(source: Source, header: dict[str, Any]) -> dict[str, Any]:
    checked: dict[str, Any] = {}
    for name, kinds in HEADER.items():
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

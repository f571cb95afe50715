"""Certificates of factor graphs in files: a header and arrays, as JSON for people or as npz for size and speed.

JSON holds one object with ``format`` ("graphpart-factor-graph-certificate"), ``version`` (1), ``n``, ``method``,
``bound``, ``step``, ``cost`` (or null), ``problem``, ``seal``, and the lists ``messages``, ``extra_start``,
``extra_scope``, ``links`` and ``link_messages`` as the attributes of `Certificate` and `Extra` describe them. npz holds
the text of the same object without the lists as ``header``, and the lists as arrays. Nothing is unpickled. What is read
is a header and arrays of the right kinds; whether they prove anything is for others to say.
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import FormatError

__all__ = ["ARRAYS", "FORMAT", "HEADER", "read_parts", "write_parts"]

FORMAT = "graphpart-factor-graph-certificate"
ARRAYS = {"messages": "<f8", "extra_start": "<i8", "extra_scope": "<i4", "links": "<i4", "link_messages": "<f8"}
HEADER: dict[str, tuple[type, ...]] = {
    "n": (int,),
    "method": (str,),
    "bound": (float, int),
    "step": (float, int),
    "cost": (float, int, type(None)),
    "problem": (str,),
    "seal": (str,),
}


def write_parts(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write the header and the arrays of a certificate; npz if the name ends so, else JSON."""
    from graphpart.files.source import replacing

    text = json.dumps({"format": FORMAT, "version": 1} | header)
    with replacing(path) as stream:
        if os.fspath(path).endswith(".npz"):
            np.savez_compressed(stream, allow_pickle=False, header=np.array(text), **arrays)  # type: ignore[arg-type]
            return
        lists = ",\n".join(f'"{name}": {json.dumps(array.tolist())}' for name, array in arrays.items())
        stream.write(f"{text[:-1]},\n{lists}}}\n".encode())


def read_parts(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """(header, arrays) of a certificate; FormatError if the file holds none."""
    from graphpart.files.source import opened
    from graphpart.io.npz import sniff

    with opened(path) as source:
        header, arrays = _archive(source) if sniff(source.head(8)) else _object(source)
        if header.pop("format", None) != FORMAT or header.pop("version", None) != 1:
            raise source.error(None, f'expected "format": "{FORMAT}" and "version": 1')
        for name, kinds in HEADER.items():
            if name not in header:
                raise source.error(None, f"there is no {name}: expected a certificate")
            value = header[name]
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise source.error(None, f"{name} is {str(value)[:40]!a}: expected {kinds[0].__name__}")
            if isinstance(value, float) and math.isnan(value):
                raise source.error(None, f"{name} is nan: expected a number")
        try:
            for name in ("bound", "step", "cost"):
                header[name] = None if header[name] is None else float(header[name])
        except OverflowError:
            raise source.error(None, f"{name} is out of range: expected a number") from None
        return {name: header[name] for name in HEADER}, arrays


def _object(source: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    from graphpart.io import json as json_format

    header = json_format.load(source)
    arrays = {}
    for name, kind in ARRAYS.items():
        given = header.pop(name, None)
        try:
            if not isinstance(given, list):
                raise ValueError
            whole = kind != "<f8"
            array = np.array(given) if given else np.zeros(0, kind)
            if array.dtype.kind not in ("i" if whole else "fi"):
                raise ValueError
            if whole and array.size and not np.iinfo(kind).min <= array.min() <= array.max() <= np.iinfo(kind).max:
                raise ValueError
        except (ValueError, OverflowError):
            raise source.error(None, f"{name} is damaged or missing: expected a list of numbers") from None
        arrays[name] = _shaped(source, name, array.reshape(-1, 2) if name == "links" and not given else array)
    return header, arrays


def _archive(source: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    from graphpart.files.arrays import DAMAGED, read_data, read_header

    arrays: dict[str, Any] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(source.read())) as archive:
            for name in ("header", *ARRAYS):
                with archive.open(f"{name}.npy") as stream:
                    shape, dtype, fortran = read_header(stream, source.name, name)
                    fits = shape == () and dtype.kind == "U" if name == "header" else dtype == np.dtype(ARRAYS[name])
                    if not fits:
                        raise source.error(None, f"{name} has shape {shape} and dtype {dtype}: expected a certificate")
                    array = read_data(stream, source.name, name, shape, dtype, fortran)
                    arrays[name] = array if name == "header" else _shaped(source, name, array)
        header = json.loads(str(arrays.pop("header")))
    except FormatError:
        raise
    except DAMAGED as error:
        raise source.error(None, f"the archive is damaged: {error}") from None
    if not isinstance(header, dict):
        raise source.error(None, "the header is no object: expected a certificate")
    return header, arrays


def _shaped(source: Any, name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim != (2 if name == "links" else 1) or (name == "links" and array.shape[1] != 2):
        raise source.error(None, f"{name} has shape {array.shape}: expected {'(k, 2)' if name == 'links' else '(k,)'}")
    return np.array(array, ARRAYS[name], order="C")

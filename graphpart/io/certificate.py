"""Certificates in files: JSON for people and other programs, npz for size and speed.

JSON holds one object with ``format`` ("graphpart-certificate"), ``version`` (1), ``n``, ``method``, ``bound``,
``step``, ``cost`` (or null), ``problem``, ``seal``, and ``inequalities``: objects with ``kind`` ("cycle", "odd-wheel",
"2-partition"), ``elements`` (indices from 0, in the order of the nodes of the problem), ``split`` and ``multiplier``.
npz holds the text of the same object without the list as ``header``, and the arrays of the list. Nothing is unpickled.
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from typing import Any

import numpy as np

from graphpart.errors import FormatError
from graphpart.io import json as json_format
from graphpart.io.files import Source, opened, replacing
from graphpart.io.npy import read_data, read_header
from graphpart.io.npz import DAMAGED, sniff
from graphpart.partition.certificate import Certificate, seal_of
from graphpart.partition.inequalities import KINDS, Inequalities

__all__ = ["read_certificate", "write_certificate"]

FORMAT = "graphpart-certificate"
ARRAYS = {"kinds": np.uint8, "starts": np.int64, "elements": np.int32, "splits": np.int32, "multipliers": np.float64}
HEADER: dict[str, tuple[type, ...]] = {
    "n": (int,),
    "method": (str,),
    "bound": (float, int),
    "step": (float, int),
    "cost": (float, int, type(None)),
    "problem": (str,),
    "seal": (str,),
}


def write_certificate(certificate: Certificate, path: str | os.PathLike[str]) -> None:
    """Write a certificate; npz if the name ends so, else JSON."""
    header: dict[str, Any] = {"format": FORMAT, "version": 1}
    header |= {name: getattr(certificate, name) for name in HEADER}
    rows = certificate.inequalities
    with replacing(path) as stream:
        if os.fspath(path).endswith(".npz"):
            arrays: dict[str, Any] = {name: getattr(rows, name) for name in ARRAYS if name != "multipliers"}
            text = np.array(json.dumps(header))
            np.savez_compressed(stream, allow_pickle=False, header=text, multipliers=certificate.multipliers, **arrays)
            return
        starts = rows.starts.tolist()
        elements = rows.elements.tolist()
        listed = [
            {"kind": KINDS[kind], "split": split, "multiplier": value, "elements": elements[starts[k] : starts[k + 1]]}
            for k, (kind, split, value) in enumerate(
                zip(rows.kinds.tolist(), rows.splits.tolist(), certificate.multipliers.tolist(), strict=True)
            )
        ]
        body = ",\n".join(json.dumps(row) for row in listed)
        stream.write(f'{json.dumps(header)[:-1]}, "inequalities": [\n{body}\n]}}\n'.encode())


def read_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Read a certificate; FormatError if the file holds none, or was altered."""
    with opened(path) as source:
        header, arrays = _archive(source) if sniff(source.head(8)) else _object(source)
        certificate = _certificate(source, header, arrays)
        if certificate.seal != seal_of(certificate):
            raise source.error(None, "the seal does not fit: the certificate was altered after it was made")
    return certificate


def _object(source: Source) -> tuple[dict[str, Any], dict[str, Any]]:
    header = json_format.load(source)
    rows = header.pop("inequalities", None)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise source.error(None, "expected an object with a list of objects as inequalities")
    try:
        parts = Inequalities.of([(KINDS.index(row["kind"]), row["split"], row["elements"]) for row in rows])
        multipliers = np.array([float(row["multiplier"]) for row in rows], np.float64)
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise source.error(
            None, f"an inequality is damaged ({error}): expected kind, split, multiplier and elements"
        ) from None
    arrays = {name: getattr(parts, name) for name in ARRAYS if name != "multipliers"}
    return header, arrays | {"multipliers": multipliers}


def _archive(source: Source) -> tuple[dict[str, Any], dict[str, Any]]:
    arrays: dict[str, Any] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(source.read())) as archive:
            for name in ("header", *ARRAYS):
                with archive.open(f"{name}.npy") as stream:
                    shape, dtype, fortran = read_header(stream, source.name, name)
                    if name == "header":
                        fits = shape == () and dtype.kind == "U"
                    else:
                        fits = len(shape) == 1 and dtype == ARRAYS[name]
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


def _certificate(source: Source, header: dict[str, Any], arrays: dict[str, Any]) -> Certificate:
    if header.get("format") != FORMAT or header.get("version") != 1:
        raise source.error(None, f'expected "format": "{FORMAT}" and "version": 1')
    for name, kinds in HEADER.items():
        if name not in header:
            raise source.error(None, f"there is no {name}: expected a certificate")
        value = header[name]
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise source.error(None, f"{name} is {str(value)[:40]!a}: expected {kinds[0].__name__}")
        if isinstance(value, float) and math.isnan(value):
            raise source.error(None, f"{name} is nan: expected a number")
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
        raise source.error(None, "the arrays of inequalities do not fit together: expected a certificate")
    own = {name: np.ascontiguousarray(array, ARRAYS[name]) for name, array in arrays.items()}
    multipliers = own.pop("multipliers")
    for array in (*own.values(), multipliers):
        array.flags.writeable = False
    numbers: dict[str, Any] = {
        name: None if header[name] is None else float(header[name]) for name in ("bound", "step", "cost")
    }
    texts: dict[str, Any] = {name: header[name] for name in ("n", "method", "problem", "seal")}
    return Certificate(inequalities=Inequalities(**own), multipliers=multipliers, **numbers, **texts)

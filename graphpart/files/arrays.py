"""Arrays in NumPy's own format, from streams that may hold anything.

Nothing is unpickled, and memory is not allocated by the size that a header states.
"""

from __future__ import annotations

import math
import re
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import FormatError
from graphpart.machine import memory

__all__ = ["DAMAGED", "MAGIC", "read_data", "read_header"]

MAGIC = b"\x93NUMPY"
SIZES = {(1, 0): 2, (2, 0): 4, (3, 0): 4}  # bytes of the length of the header, by version
SHAPE = re.compile(r"""['"]shape['"]\s*:\s*\(([0-9,\s]*)\)""", re.ASCII)
ORDER = re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)\b""")
DTYPE = re.compile(r"""['"]descr['"]\s*:\s*(?:['"]([^'"]{1,20})['"]|\[.*?\])""")
TYPE = re.compile(r"[<>=|]?([biuf][0-9]{1,2}|U[0-9]{1,9}|\?)")
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError, KeyError)


def read_header(stream: Any, path: str, what: str) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    """(shape, dtype, Fortran order) of an array in a stream; FormatError if it is no array, or contains Python objects.

    The header is the text of a Python dict. Its three entries are looked up, never evaluated.
    """

    def error(problem: str) -> FormatError:
        return FormatError(path, None, f"{what} {problem}: expected a NumPy array of numbers")

    start = stream.read(8)
    if len(start) < 8 or not start.startswith(MAGIC):
        raise error("has no header of a NumPy array")
    version = (start[6], start[7])
    if version not in SIZES:
        raise error(f"has version {version} of the format")
    size = int.from_bytes(stream.read(SIZES[version]), "little")
    if size > 10000:
        raise error(f"has a header of {size} bytes")
    header = stream.read(size).decode("latin-1")
    shape, order, kind = (pattern.search(header) for pattern in (SHAPE, ORDER, DTYPE))
    if len(header) < size or shape is None or order is None or kind is None:
        raise error("has no header of a NumPy array")
    if "O" in kind[0]:
        raise error("holds Python objects, which are not read")
    try:
        if kind[1] is None or not TYPE.fullmatch(kind[1]):
            raise TypeError
        dtype = np.dtype(kind[1])
    except TypeError:
        raise error(f"has the dtype {kind[1] or 'of a structure'}") from None
    sizes = [word.strip() for word in shape[1].rstrip().removesuffix(",").split(",")] if shape[1].strip() else []
    if not all(word.isdigit() and len(word) <= 18 for word in sizes):
        raise error(f"has the shape ({shape[1][:40]})")
    return tuple(int(word) for word in sizes), dtype, order[1] == "True"


def read_data(
    stream: Any, path: str, what: str, shape: tuple[int, ...], dtype: np.dtype[Any], fortran: bool
) -> NDArray[Any]:
    """The array that follows a header. Memory grows with the bytes that are read, not with the size in the header."""
    promised = math.prod(shape) * dtype.itemsize
    if promised > memory():
        raise FormatError(path, None, f"{what} promises an array of {promised / 1e9:.3g} GB: expected one that fits")
    data = bytearray()
    while len(data) < promised:
        block = stream.read(min(1 << 24, promised - len(data)))
        if not block:
            raise FormatError(path, None, f"{what} ends after {len(data)} bytes of the array: expected {promised}")
        data += block
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")

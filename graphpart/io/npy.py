"""A symmetric matrix of costs in NumPy's own format; the diagonal is ignored.

A cost ``-inf`` is a pair that must be joined, ``inf`` one that must be cut. Files that hold Python objects are
refused: nothing is ever unpickled.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import FormatError
from graphpart.io.lines import joins_without_cost
from graphpart.partition.problem import SetPartition, check_matrix_fits

if TYPE_CHECKING:
    from graphpart.io.files import Source

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 10000
BLOCK = 1 << 24
# The header is a Python literal: whatever parsing it may raise.
NOT_A_HEADER = (ValueError, TypeError, SyntaxError, EOFError, RecursionError, MemoryError, OverflowError, KeyError)


def sniff(head: bytes) -> bool:
    """Whether the file starts with the signature of the format."""
    return head.startswith(MAGIC)


def read(source: Source) -> SetPartition:
    """Read a problem."""
    shape, dtype, fortran = read_header(source, source.name, "the file")
    if len(shape) != 2 or shape[0] != shape[1]:
        raise source.error(None, f"the array has shape {shape}: expected a square matrix")
    if dtype.kind not in "fiub":
        raise source.error(None, f"the array has dtype {dtype}: expected real numbers")
    check_matrix_fits(shape[0])
    data = read_data(source, source.name, "the file", shape, dtype, fortran)
    if source.read(1):
        raise source.error(None, "found bytes after the array: expected the end of the file")
    return SetPartition.from_matrix(np.ascontiguousarray(data, np.float64), copy=False)


def read_header(stream: Any, path: str, what: str) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    """(shape, dtype, Fortran order) of an array in a stream; FormatError if that is none, or holds Python objects."""
    try:
        version = np.lib.format.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version} of the format is not known")
        reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = reader(stream, max_header_size=LONGEST_HEADER)
    except FormatError:
        raise
    except NOT_A_HEADER as error:
        raise FormatError(path, None, f"{what} has no header of a NumPy array: {_first_line(error)}") from None
    if dtype.hasobject:
        raise FormatError(path, None, f"{what} holds Python objects, which are not read: expected numbers")
    if any(size < 0 for size in shape):
        raise FormatError(path, None, f"{what} has shape {shape}: expected no negative size")
    return tuple(int(size) for size in shape), dtype, fortran


def read_data(
    stream: Any, path: str, what: str, shape: tuple[int, ...], dtype: np.dtype[Any], fortran: bool
) -> NDArray[Any]:
    """The array that follows a header. Memory grows with the bytes found, not with those that the header promises."""
    promised = math.prod(shape) * dtype.itemsize
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if promised > memory:
        raise FormatError(path, None, f"{what} promises an array of {promised / 1e9:.3g} GB: expected one that fits")
    data = bytearray()
    while len(data) < promised:
        block = stream.read(min(BLOCK, promised - len(data)))
        if not block:
            raise FormatError(path, None, f"{what} ends after {len(data)} bytes of the array: expected {promised}")
        data += block
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:100]


def write(problem: SetPartition, stream: BinaryIO) -> None:
    """Write a problem; names of elements and the offset are not kept."""
    joins_without_cost(problem, "npy")
    np.lib.format.write_array(stream, matrix_of(problem), version=(1, 0), allow_pickle=False)


def matrix_of(problem: SetPartition) -> NDArray[np.float64]:
    """The matrix of costs, -inf where a pair must be joined."""
    n = problem.n
    if problem.matrix is not None:
        matrix = problem.matrix.copy() if len(problem.must_join) else problem.matrix
    else:
        check_matrix_fits(n)
        matrix = np.zeros((n, n))
        matrix[problem.u, problem.v] = problem.cost
        matrix[problem.v, problem.u] = problem.cost
    for a, b in (problem.must_join.T, problem.must_join.T[::-1]):
        if len(a):
            matrix[a, b] = -np.inf
    return matrix

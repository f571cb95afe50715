"""A symmetric matrix of costs in NumPy's own format; the diagonal is ignored.

A cost ``-inf`` is a pair that must be joined, ``inf`` one that must be cut. Files that hold Python objects are
refused: nothing is ever unpickled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from graphpart.files.arrays import MAGIC, read_data, read_header
from graphpart.io.pairs import joins_without_cost
from graphpart.partition.problem import SetPartition, check_matrix_fits

if TYPE_CHECKING:
    from graphpart.files.source import Source


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

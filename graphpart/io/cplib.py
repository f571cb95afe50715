"""Clique partitioning text: n, then the n (n - 1) / 2 weights of the upper triangle, row by row, without the diagonal.

Numbers are separated by white space; line breaks have no meaning. The weight within clusters is to be maximised
(Grötschel & Wakabayashi 1989; Sørensen & Letchford 2024). Hence ``cost = -w`` and ``objective = -cost``. A pair of
weight ``inf`` must be joined, a pair of weight ``-inf`` must be cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from graphpart.common.matrices import symmetric_matrix
from graphpart.files._text import Numbers
from graphpart.files.text import numbers
from graphpart.io.pairs import joins_without_cost
from graphpart.kernels import LARGEST_INDEX
from graphpart.partition.problem import SetPartition, check_matrix_fits

if TYPE_CHECKING:
    from graphpart.files.source import Source


def sniff(head: bytes) -> bool:
    """Whether the first line is one whole number, and numbers follow."""
    lines = head.split(b"\n", 1)
    if not lines[0].strip().isdigit():
        return False
    # The last word may be cut off.
    words = lines[1].split()[:20] if len(lines) > 1 else []
    try:
        return all(float(word) == float(word) for word in words[:-1])
    except ValueError:
        return False


def read(source: Source) -> SetPartition:
    """Read a problem."""
    word, rest = b"", b""
    while not word and (line := source.readline()) is not None:
        word, _, rest = line.strip().partition(b" ")
    if not word:
        raise source.error(None, "the file is empty: expected the number of elements n")
    at = source.line - 1
    if not (word.isdigit() and len(word) <= 18 and int(word) <= LARGEST_INDEX):
        text = ascii(word[:40].decode("utf-8", "backslashreplace"))
        raise source.error(at, f"found {text}: expected the number of elements n, from 0 to {LARGEST_INDEX}")
    n = int(word)
    pairs = n * (n - 1) // 2
    weights = Numbers(source.name, f"{pairs} weights for {n} elements", at, limit=pairs)
    weights.feed(rest + b"\n")
    for block in source.blocks():
        weights.feed(block)
    weights.finish()
    if weights.size < pairs:
        raise source.error(weights.last_line, f"the file ends after {weights.size} weights: expected {pairs}")
    check_matrix_fits(n)
    costs = iter(np.split(np.subtract(0.0, weights.array()), np.cumsum(np.arange(n - 1, 1, -1))))
    matrix = symmetric_matrix(n, lambda _: next(costs))
    return SetPartition.from_matrix(matrix, copy=False, sense=-1)


def write(problem: SetPartition, stream: BinaryIO) -> None:
    """Write a problem; pairs that are not stored get the weight 0."""
    n = problem.n
    if problem.matrix is None:
        check_matrix_fits(n)
    joins_without_cost(problem, "cplib")
    stream.write(b"%d\n" % n)
    starts = None if problem.u is None else np.searchsorted(problem.u, np.arange(n + 1))
    joins = problem.must_join
    for a in range(n - 1):
        if problem.matrix is not None:
            row = problem.matrix[a].copy()
        else:
            assert problem.v is not None and problem.cost is not None and starts is not None
            row = np.zeros(n)
            part = slice(starts[a], starts[a + 1])
            row[problem.v[part]] = problem.cost[part]
        row[joins[joins[:, 0] == a, 1]] = -np.inf
        stream.write(" ".join(map(str, numbers(0.0 - row[a + 1 :]))).encode() + b"\n")

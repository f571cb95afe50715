"""MULTICUT text: the line ``MULTICUT``, then one line ``i j w`` for each pair, elements from 0.

The format of the solvers RAMA and LPMP (Abbas & Swoboda 2022). The weight of the cut pairs is to be minimised. Hence
``cost = -w`` and ``objective = cost + sum of all w``. A pair of weight ``inf`` must be joined, a pair of weight
``-inf`` must be cut; neither counts in the objective. Weights of equal pairs add up. The number of elements is the
largest element plus 1: if the last element has no pair, a pair of weight 0 is written for it. A problem with a single
element cannot be written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from graphpart.errors import InvalidProblem
from graphpart.files._text import Pairs
from graphpart.files.text import write_rows
from graphpart.io.pairs import stored_pairs, sum_of_finite
from graphpart.partition.problem import SetPartition

if TYPE_CHECKING:
    from graphpart.files.source import Source

GAPS = 1000  # more elements than 1000 for each pair, and a million besides, are no plausible file


def sniff(head: bytes) -> bool:
    """Whether the first line is MULTICUT."""
    return head.split(maxsplit=1)[:1] == [b"MULTICUT"]


def read(source: Source) -> SetPartition:
    """Read a problem."""
    header = source.readline()
    while header is not None and not header.strip():
        header = source.readline()
    if header is None or header.strip() != b"MULTICUT":
        found = "the end of the file" if header is None else ascii(header[:40].decode("utf-8", "backslashreplace"))
        raise source.error(max(1, source.line - (header is not None)), f"found {found}: expected the line MULTICUT")
    lines = Pairs(source.name, "i j w", source.line)
    for block in source.blocks():
        lines.feed(block)
    lines.finish()
    n = lines.largest + 1
    if n > GAPS * (lines.size + GAPS):
        raise source.error(None, f"{lines.size} pairs of elements up to {n - 1}: expected elements without large gaps")
    u, v, weight = lines.arrays()
    offset = sum_of_finite(weight)
    cost = np.subtract(0.0, weight, out=weight)
    return SetPartition.of_pairs(range(n), u, v, cost, offset=offset)


def write(problem: SetPartition, stream: BinaryIO) -> None:
    """Write a problem."""
    if problem.n == 1:
        raise InvalidProblem("format multicut cannot hold a problem with one element: expected none, or at least two")
    u, v, cost = stored_pairs(problem)
    stream.write(b"MULTICUT\n")
    write_rows(stream, " ", u, v, 0.0 - cost)
    if problem.n and max(u.max(initial=-1), v.max(initial=-1)) < problem.n - 1:
        stream.write(b"0 %d 0\n" % (problem.n - 1))

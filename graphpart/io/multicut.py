"""MULTICUT text: the line ``MULTICUT``, then one line ``i j w`` for each pair, elements from 0; perhaps lifted pairs.

The format of the solvers RAMA and LPMP (Abbas & Swoboda 2022). The weight of the cut pairs is to be minimised. Hence
``cost = -w`` and ``objective = cost + sum of all w``. A pair of weight ``inf`` must be joined, a pair of weight
``-inf`` must be cut; neither counts in the objective. Weights of equal pairs add up. The number of elements is the
largest element plus 1: if the last element has no pair, a pair of weight 0 is written for it. A problem with a single
element cannot be written.

After a line ``LIFTED``, there may be a second section of such lines, also an empty one (Keuper et al. 2015; LPMP). Then
clusters have to be connected by the pairs of the first section, and those of the second are lifted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from graphpart.errors import InvalidProblem
from graphpart.files._text import Pairs
from graphpart.files.text import write_rows
from graphpart.io.pairs import lifted_pairs, stored_pairs, sum_of_finite
from graphpart.io.triples import GAPS
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.rules import Rules

if TYPE_CHECKING:
    from graphpart.files.source import Source

LIFTED = re.compile(rb"^[ \t]*LIFTED[ \t\r]*(?:\n|\Z)", re.MULTILINE)


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
    sections = [Pairs(source.name, "i j w", source.line)]
    for block in _split(source.blocks()):
        if block is not None:
            sections[-1].feed(block)
            continue
        sections[-1].finish()
        line = sections[-1].line
        if len(sections) > 1:
            raise source.error(line, "found a second line LIFTED: expected one")
        sections.append(Pairs(source.name, "i j w", line + 1))
    sections[-1].finish()
    n = max(lines.largest for lines in sections) + 1
    m = sum(lines.size for lines in sections)
    if n > GAPS * (m + GAPS):
        raise source.error(None, f"{m} pairs of elements up to {n - 1}: expected elements without large gaps")
    base = sections[0].size
    if len(sections) == 1:
        u, v, weight = sections[0].arrays()
        lifted = None
    else:
        u, v, weight = (np.concatenate(both) for both in zip(*(lines.arrays() for lines in sections), strict=True))
        lifted = np.arange(m) >= base
    offset = sum_of_finite(weight)
    cost = np.subtract(0.0, weight, out=weight)
    return SetPartition._of_pairs(range(n), u, v, cost, rules=Rules(lifted=lifted))._in_units(offset)


def _split(blocks: Iterator[bytes]) -> Iterator[bytes | None]:
    """The same bytes, with None in place of each line that consists of the word LIFTED."""
    kept = b""
    for block in blocks:
        data = kept + block
        end = data.rfind(b"\n") + 1
        if len(data) - end > 100:  # no such line
            end = len(data)
        kept = data[end:]
        yield from _split_lines(data[:end])
    yield from _split_lines(kept)


def _split_lines(data: bytes) -> Iterator[bytes | None]:
    begin = 0
    for found in LIFTED.finditer(data) if b"LIFTED" in data else ():
        yield data[begin : found.start()]
        yield None
        begin = found.end()
    yield data[begin:]


def write(problem: SetPartition, stream: BinaryIO) -> None:
    """Write a problem."""
    if problem.n == 1:
        raise InvalidProblem("format multicut cannot hold a problem with one element: expected none, or at least two")
    u, v, cost = stored_pairs(problem)
    stream.write(b"MULTICUT\n")
    lifted = lifted_pairs(problem)
    write_rows(stream, " ", u[~lifted], v[~lifted], 0.0 - cost[~lifted])
    if problem._connected:
        stream.write(b"LIFTED\n")
        write_rows(stream, " ", u[lifted], v[lifted], 0.0 - cost[lifted])
    if problem.n and max(u.max(initial=-1), v.max(initial=-1)) < problem.n - 1:
        stream.write(b"0 %d 0\n" % (problem.n - 1))

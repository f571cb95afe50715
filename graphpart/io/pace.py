"""Cluster editing graphs of the PACE 2021 challenge: ``p cep n m``, then m lines ``u v``, elements from 1.

Lines that start with ``c`` are comments. As few edges as possible are to be inserted and deleted such that each
component is a clique. Hence the cost is -1 for an edge and +1 for any other pair, and ``objective = cost + m`` (Bansal,
Blum & Chawla 2004; Kellerhals et al. 2021). If the graph is too large for a matrix, the +1 is read as a background,
which takes memory for edges only.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from graphpart import machine
from graphpart.errors import InvalidProblem
from graphpart.files._text import Pairs
from graphpart.files.text import write_rows
from graphpart.partition.problem import SetPartition, check_matrix_fits
from graphpart.partition.problem.background import background_of
from graphpart.partition.problem.pair_costs import DENSE_FROM

if TYPE_CHECKING:
    from graphpart.files.source import Source

HEADER = "p cep n m"


def sniff(head: bytes) -> bool:
    """Whether the first line that is no comment starts with p cep."""
    for line in head.splitlines():
        words = line.split()
        if words and words[0] != b"c":
            return words[:2] == [b"p", b"cep"]
    return False


def read(source: Source) -> SetPartition:
    """Read a problem."""
    n, m = _header(source)
    at = source.line - 1
    if 100 * n > machine.memory():  # bytes, in the course of reading; a header costs nothing
        raise source.error(at, f"{n} elements announced: expected a problem that fits into memory")
    dense = n <= 5000 or (m >= DENSE_FROM * (n * (n - 1) // 2) and check_matrix_fits(n))
    lines = Pairs(source.name, "u v", source.line, low=1, high=n, comment="c")
    for block in source.blocks():
        lines.feed(block)
        if lines.size > m:
            raise source.error(lines.line_of(m), f"found an edge after the last of {m}: expected the end of the file")
    lines.finish()
    if lines.size != m:
        raise source.error(at, f"{m} edges announced, {lines.size} found: expected equal numbers")
    u, v = lines.arrays()
    if not dense:
        p = SetPartition._of_pairs(range(n), u, v, np.full(m, -1.0), background_of(range(n), 1.0), dense=False)
        p._in_units(float(m))
        if p.m != m:
            k = _second(u, v)
            raise source.error(lines.line_of(k), f"edge {u[k] + 1} {v[k] + 1} is there twice: expected each edge once")
        return p
    matrix = np.ones((n, n))
    for a, b in ((u, v), (v, u)):
        matrix[a, b] = -1.0
    if np.count_nonzero(matrix < 0) != 2 * m:
        k = _second(u, v)
        raise source.error(lines.line_of(k), f"edge {u[k] + 1} {v[k] + 1} is there twice: expected each edge once")
    return SetPartition.from_matrix(matrix, copy=False, dense=True, offset=float(m))


def _header(source: Source) -> tuple[int, int]:
    while (line := source.readline()) is not None:
        words = line.split()
        if words and not words[0].startswith(b"c"):
            break
    else:
        raise source.error(None, f"the file ends without a header: expected {HEADER}")
    if len(words) != 4 or words[:2] != [b"p", b"cep"] or not all(w.isdigit() and len(w) <= 18 for w in words[2:]):
        text = ascii(line[:40].decode("utf-8", "backslashreplace"))
        raise source.error(source.line - 1, f"found {text}: expected the header {HEADER}")
    n, m = int(words[2]), int(words[3])
    if m > n * (n - 1) // 2:
        raise source.error(source.line - 1, f"{m} edges between {n} elements: expected at most {n * (n - 1) // 2}")
    return n, m


def _second(u: np.ndarray, v: np.ndarray) -> int:
    """The position of the first pair that occurs a second time."""
    key = np.minimum(u, v) * np.int64(2**31) + np.maximum(u, v)
    order = np.argsort(key, kind="stable")
    return int(order[1:][key[order[1:]] == key[order[:-1]]].min())


def write(problem: SetPartition, stream: BinaryIO) -> None:
    """Write a problem all of whose pairs cost -1 or +1."""
    n = problem.n
    u, v, cost = problem.pairs()
    background = 0.0
    if problem.background is not None:
        cost = cost + problem.background.of_pairs(u, v)
        background = problem.background.constant or math.nan
    wrong = np.flatnonzero(np.abs(cost) != 1.0)
    what = ""
    if len(problem.must_join):
        what = "a pair must be joined"
    elif len(wrong):
        a, b = (problem.nodes[i] for i in (int(u[wrong[0]]), int(v[wrong[0]])))
        what = f"the cost of {a!r} and {b!r} is {float(cost[wrong[0]])!r}"
    elif problem.background is not None and background != 1.0:
        what = f"the background is {problem.background!r}"
    elif problem.background is None and problem.m < n * (n - 1) // 2:
        what = f"only {problem.m} of {n * (n - 1) // 2} pairs have a cost"
    if what:
        raise InvalidProblem(f"format pace cannot hold this problem: {what}; expected the cost -1 or +1 for every pair")
    edges = cost < 0
    stream.write(b"p cep %d %d\n" % (n, np.count_nonzero(edges)))
    write_rows(stream, " ", u[edges] + 1, v[edges] + 1)

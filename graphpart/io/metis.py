"""METIS graphs with signed edge weights: ``n m 1``, then for each element a line ``v w v w ...`` of neighbours, from 1.

Lines that start with ``%`` are comments; an empty line is an element without neighbours. Each pair is in the lines of
both of its elements, with the same weight (Karypis & Kumar 1998). Positive weights attract, and the weight of the cut
pairs is to be minimised. Hence ``cost = -w`` and ``objective = cost + sum of all w``. A pair of weight ``inf`` must be
joined, a pair of weight ``-inf`` must be cut; neither counts in the objective.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import FormatError
from graphpart.files._text import Numbers
from graphpart.files.text import ROWS, numbers
from graphpart.io.pairs import joins_without_cost, stored_pairs, sum_of_finite
from graphpart.kernels import LARGEST_INDEX
from graphpart.partition.problem import SetPartition

if TYPE_CHECKING:
    from graphpart.files.source import Source

Elements = NDArray[np.int32]
Triangle = tuple[Elements, Elements, NDArray[np.float64]]
HEADER = "n m 1 (1: edges have weights)"


def sniff(head: bytes) -> bool:
    """Whether the first line that is no comment is n m 1."""
    for line in head.splitlines():
        if line.strip() and not line.startswith(b"%"):
            words = line.split()
            return len(words) == 3 and words[0].isdigit() and words[1].isdigit() and words[2] in (b"1", b"001")
    return False


def read(source: Source) -> SetPartition:
    """Read a problem."""
    n, m = _header(source)
    at = source.line - 1
    rows, neighbours, weight, line_of = _entries(source, n, m)
    loops = np.flatnonzero(rows == neighbours)
    if len(loops):
        a = int(rows[loops[0]])
        raise source.error(int(line_of[a]), f"element {a + 1} is its own neighbour: expected another element")
    upper = rows < neighbours
    one = _sorted(source, line_of, 1, rows[upper], neighbours[upper], weight[upper])
    other = _sorted(source, line_of, -1, neighbours[~upper], rows[~upper], weight[~upper])
    del rows, neighbours, weight, upper
    size = min(len(one[0]), len(other[0]))
    (u, v, w), (p, q, x) = one, other
    equal = (u[:size] == p[:size]) & (v[:size] == q[:size]) & (w[:size] == x[:size])
    if not equal.all() or len(one[0]) != len(other[0]):
        raise _asymmetry(source, line_of, size if equal.all() else int(np.argmin(equal)), one, other)
    if len(u) != m:
        raise source.error(at, f"{m} edges announced, {len(u)} found: expected equal numbers")
    offset = sum_of_finite(w)
    return SetPartition._of_pairs(range(n), u, v, np.subtract(0.0, w))._in_units(offset)


def _entries(source: Source, n: int, m: int) -> tuple[Elements, Elements, NDArray[np.float64], NDArray[np.int64]]:
    """The entries (row, neighbour, weight) in the order of the file, and the line of each row."""
    limit = min(4 * m, 2**62)
    stream = Numbers(source.name, f"{m} edges, each twice", source.line, limit=limit, comment="%", rows=True)
    for block in source.blocks():
        stream.feed(block)
    stream.finish()
    values = stream.array()
    starts, line_of = stream.row_starts()
    count = np.diff(starts, append=len(values))
    filled = np.flatnonzero(count)
    if len(filled) and filled[-1] >= n:
        raise source.error(int(line_of[n]), f"found a line after those of {n} elements: expected the end of the file")
    if len(count) < n:
        raise source.error(source.line - 1, f"{n} elements announced, {len(count)} lines found: expected one for each")
    count = count[:n]
    odd = np.flatnonzero(count % 2)
    if len(odd):
        raise source.error(int(line_of[odd[0]]), "a neighbour without a weight: expected v w v w ...")
    rows = np.repeat(np.arange(n, dtype=np.int32), count // 2)
    neighbours = values[::2]
    wrong = np.flatnonzero(~((neighbours >= 1) & (neighbours <= n) & (neighbours == np.trunc(neighbours))))
    if len(wrong):
        k = int(wrong[0])
        found = numbers(neighbours[k : k + 1])[0]
        raise source.error(int(line_of[rows[k]]), f"found {found}: expected a neighbour from 1 to {n}")
    return rows, neighbours.astype(np.int32) - np.int32(1), values[1::2].copy(), line_of


def _sorted(source: Source, line_of: NDArray[np.int64], order: int, u: Elements, v: Elements, w: Any) -> Triangle:
    """A triangle in lexicographic order; `order` is 1 if a line belongs to its element u, and -1 if to v."""
    by = np.lexsort((v, u))
    u, v, w = u[by], v[by], w[by]
    twice = np.flatnonzero((u[1:] == u[:-1]) & (v[1:] == v[:-1]))
    if len(twice):
        i, j = (int(u[twice[0]]), int(v[twice[0]]))[::order]
        raise source.error(int(line_of[i]), f"element {i + 1} names {j + 1} twice: expected each neighbour once")
    return u, v, w


def _asymmetry(source: Source, line_of: NDArray[np.int64], k: int, one: Triangle, other: Triangle) -> FormatError:
    """Name the first pair that the two triangles do not share."""
    beyond = (2**62, 0)
    here, there = ((int(t[0][k]), int(t[1][k])) if k < len(t[0]) else beyond for t in (one, other))
    if here == there:
        (i, j), (w, x) = here, (numbers(t[2][k : k + 1])[0] for t in (one, other))
        found = f"element {j + 1} has neighbour {i + 1} with weight {x}, but {i + 1} has {j + 1} with weight {w}"
        return source.error(int(line_of[j]), f"{found}: expected equal weights")
    i, j = here if here < there else there[::-1]
    found = f"element {i + 1} has neighbour {j + 1}, but {j + 1} does not have {i + 1}"
    return source.error(int(line_of[i]), f"{found}: expected each edge in both lines")


def _header(source: Source) -> tuple[int, int]:
    while (line := source.readline()) is not None:
        if line.strip() and not line.startswith(b"%"):
            break
    else:
        raise source.error(None, f"the file ends without a header: expected {HEADER}")
    words = line.split()
    text = ascii(line[:40].decode("utf-8", "backslashreplace"))
    if len(words) not in (2, 3) or not all(word.isdigit() and len(word) <= 18 for word in words):
        raise source.error(source.line - 1, f"found {text}: expected the header {HEADER}")
    if words[2:] not in ([b"1"], [b"001"]):
        raise source.error(source.line - 1, f"found {text}: expected weights of edges and none of elements: {HEADER}")
    n, m = int(words[0]), int(words[1])
    if n > LARGEST_INDEX or m > n * (n - 1) // 2:
        raise source.error(
            source.line - 1, f"{n} elements with {m} edges: expected at most {LARGEST_INDEX} and n(n-1)/2"
        )
    return n, m


def write(problem: SetPartition, stream: BinaryIO) -> None:
    """Write a problem."""
    joins_without_cost(problem, "metis")
    n = problem.n
    u, v, cost = stored_pairs(problem)
    kept = np.ones(len(u), bool)
    if len(problem.must_join):  # a required join stands in for the stored cost 0 of its pair
        joined = problem.must_join[:, 0] * np.int64(n) + problem.must_join[:, 1]
        kept = np.isneginf(cost) | ~np.isin(u * np.int64(n) + v, joined)
    u, v, cost = u[kept], v[kept], cost[kept]
    stream.write(b"%d %d 1\n" % (n, len(u)))
    ends, others = np.concatenate([u, v]), np.concatenate([v, u]) + 1
    weights = np.tile(0.0 - cost, 2)
    order = np.lexsort((others, ends))
    others, weights = others[order], weights[order]
    starts = np.searchsorted(ends[order], np.arange(n + 1)).tolist()
    for first in range(0, n, ROWS):
        last = min(n, first + ROWS)
        part = slice(starts[first], starts[last])
        words = [f"{b} {w}" for b, w in zip(others[part].tolist(), numbers(weights[part]), strict=True)]
        places = [at - starts[first] for at in starts[first : last + 1]]
        lines = [" ".join(words[i:j]) for i, j in pairwise(places)]
        stream.write(("\n".join(lines) + "\n").encode())

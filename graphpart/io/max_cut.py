"""Maximum cut: ``n m``, then m lines ``i j w``, nodes from 1.

The format of the G-set (Helmberg & Rendl 2000) and of the graphs of the Biq Mac library. Label the nodes by 0 and 1
such that edges between different labels weigh most: the objective is that weight, the cost its negative. Lines of equal
edges add up. Lines that start with ``#`` are comments. A binary quadratic program looks the same, so only the suffix or
the name of the format tells it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from graphpart.errors import InvalidProblem
from graphpart.files.stream import NumberStream
from graphpart.files.text import write_rows

if TYPE_CHECKING:
    from graphpart.crf.problem import FactorGraph
    from graphpart.files.source import Source

GAPS = 1000  # more nodes than 1000 for each edge, and a million besides, are no plausible file
DIFFER = np.array([[0.0, 1.0], [1.0, 0.0]])


def sniff(head: bytes) -> bool:
    """Never: it looks like a binary quadratic program."""
    return False


def read(source: Source) -> FactorGraph:
    """Read a problem."""
    from graphpart.crf.problem import FactorGraph

    stream = NumberStream(source, "n m, then lines i j w", comment="#")
    n = stream.count("n, the number of nodes")
    m = stream.count("m, the number of edges")
    if n > GAPS * (m + GAPS):
        raise source.error(None, f"{n} nodes but {m} edges: expected at most {GAPS * (m + GAPS)} nodes")
    first = stream.at
    rows = stream.take(3 * m, f"{m} lines i j w").reshape(-1, 3)
    stream.end(f"the end of the file, as all {m} edges are read")
    for column in (0, 1):
        stream.check_wholes(rows[:, column], first + column + 3 * np.arange(m), "a node", 1, n)
    bad = np.flatnonzero(~np.isfinite(rows[:, 2]))
    if len(bad):
        raise stream.error(first + 2 + 3 * int(bad[0]), "a finite number")
    bad = np.flatnonzero(rows[:, 0] == rows[:, 1])
    if len(bad):
        raise stream.error(first + 1 + 3 * int(bad[0]), "a node other than the first one of the line")
    i, j = (rows[:, k].astype(np.int64) - 1 for k in (0, 1))
    keys, place = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_inverse=True)
    with np.errstate(over="ignore", invalid="ignore"):
        weight = np.bincount(place, rows[:, 2], len(keys))
    if not np.isfinite(weight).all():
        raise source.error(None, "the sum of equal edges overflows: expected weights of a smaller magnitude")
    scopes = np.stack([keys // max(n, 1), keys % max(n, 1)], 1)
    tables = -weight[:, None, None] * DIFFER + 0.0
    return FactorGraph.from_arrays(np.full(n, 2), [(scopes, tables)], sense=-1)


def write(problem: FactorGraph, stream: BinaryIO) -> None:
    """Write a problem of binary variables and pairwise factors that cost something only for different labels."""
    f = problem
    arity = np.diff(f.scope_start)
    fits = (f.domains == 2).all() and (arity == 2).all() and not f.has_forbidden and f.constant == 0
    if fits:
        tables = f.tables.reshape(-1, 2, 2)
        fits = bool((tables == tables[:, :1, 1:] * DIFFER).all())
    if not fits:
        raise InvalidProblem(
            "format maxcut holds binary variables and pairwise factors, each with one finite cost of different labels: "
            "expected these"
        )
    u, v = f.scope[::2], f.scope[1::2]
    stream.write(b"%d %d\n" % (f.n, len(u)))
    write_rows(stream, " ", np.minimum(u, v) + 1, np.maximum(u, v) + 1, -tables[:, 0, 1] + 0.0)

"""Maximum cut: ``n m``, then m lines ``i j w``, nodes from 1.

The format of the G-set (Helmberg & Rendl 2000) and of the graphs of the Biq Mac library. Label the nodes by 0 and 1
such that edges between different labels weigh most: the objective is that weight, the cost its negative. Lines of equal
edges add up. Lines that start with ``#`` are comments. A file of a binary quadratic program looks the same, so the
format is recognised only by its suffix or its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from graphpart.errors import InvalidProblem
from graphpart.files.text import write_rows
from graphpart.io.triples import read_triples

if TYPE_CHECKING:
    from graphpart.crf.problem import FactorGraph
    from graphpart.files.source import Source

DIFFER = np.array([[0.0, 1.0], [1.0, 0.0]])


def sniff(head: bytes) -> bool:
    """Never: it looks like a binary quadratic program."""
    return False


def read(source: Source) -> FactorGraph:
    """Read a problem."""
    from graphpart.crf.problem import FactorGraph

    n, low, high, weight = read_triples(source, "w", "node", "edges", loops=False)
    scopes = np.stack([low, high], 1)
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

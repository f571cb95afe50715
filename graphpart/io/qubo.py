"""Sparse binary quadratic programs: ``n m``, then m lines ``i j q``, variables from 1.

The format of the Biq Mac library (Wiegele 2007). x'Qx is to be minimised over x in {0, 1}^n. Each line with i != j
stands for two entries of the symmetric matrix Q and therefore counts twice. Entries on the diagonal become unary costs,
other entries pairwise costs. Lines of equal entries add up. Lines that start with ``#`` are comments.
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


def sniff(head: bytes) -> bool:
    """Whether the first line has two whole numbers and the second one three numbers."""
    lines = [line.split() for line in head.split(b"\n") if line.strip() and not line.startswith(b"#")][:2]
    return len(lines) == 2 and len(lines[0]) == 2 and all(w.isdigit() for w in lines[0]) and len(lines[1]) == 3


def read(source: Source) -> FactorGraph:
    """Read a problem."""
    from graphpart.crf.problem import FactorGraph

    n, low, high, q = read_triples(source, "q", "variable", "entries", loops=True)
    diagonal = low == high
    unary = np.zeros((int(diagonal.sum()), 2))
    unary[:, 1] = q[diagonal]
    pairwise = np.zeros((int((~diagonal).sum()), 2, 2))
    pairwise[:, 1, 1] = 2 * q[~diagonal]
    if not np.isfinite(pairwise).all() or not np.isfinite(unary).all():
        raise source.error(None, "the sum of equal entries overflows: expected entries of a smaller magnitude")
    scopes = np.stack([low, high], 1)
    return FactorGraph.from_arrays(np.full(n, 2), [(scopes[diagonal, :1], unary), (scopes[~diagonal], pairwise)])


def write(problem: FactorGraph, stream: BinaryIO) -> None:
    """Write a problem of binary variables, unary and pairwise factors, that costs nothing where all labels are 0."""
    f = problem
    if (f.domains != 2).any() or (np.diff(f.scope_start) > 2).any() or f.has_forbidden:
        raise InvalidProblem("format qubo holds binary variables and finite unary and pairwise costs: expected these")
    arity = np.diff(f.scope_start)
    linear, shift = np.zeros(f.n), f.constant
    one = np.flatnonzero(arity == 1)
    tables = f.tables[f.table_start[one][:, None] + np.arange(2)]
    np.add.at(linear, f.scope[f.scope_start[one]], tables[:, 1] - tables[:, 0])
    shift += float(tables[:, 0].sum())
    two = np.flatnonzero(arity == 2)
    tables = f.tables[f.table_start[two][:, None] + np.arange(4)]
    u, v = f.scope[f.scope_start[two]], f.scope[f.scope_start[two] + 1]
    np.add.at(linear, u, tables[:, 2] - tables[:, 0])
    np.add.at(linear, v, tables[:, 1] - tables[:, 0])
    shift += float(tables[:, 0].sum())
    if shift != 0:
        raise InvalidProblem(f"format qubo holds no constant, but all labels 0 cost {shift}: expected 0")
    pairwise = (tables[:, 3] - tables[:, 2] - tables[:, 1] + tables[:, 0]) / 2
    used = np.flatnonzero(linear)
    rows = np.concatenate([used, np.minimum(u, v)]) + 1, np.concatenate([used, np.maximum(u, v)]) + 1
    stream.write(b"%d %d\n" % (f.n, len(rows[0])))
    write_rows(stream, " ", *rows, np.concatenate([linear[used], pairwise]))

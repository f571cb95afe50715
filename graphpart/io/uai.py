"""UAI factor graphs: ``MARKOV`` or ``BAYES``, then numbers separated by white space.

    number of variables; their domains; number of tables; for each its scope ``k v1 ... vk``, variables from 0;
    for each its entries ``s t1 ... ts``, the last variable of the scope running fastest.

The format of the UAI inference competitions. The product of the tables is to be maximised. Hence each entry t becomes
the cost ``-ln t``, and 0 becomes ``inf``; ``objective`` is the natural logarithm of the product, without normalisation.
In a ``BAYES`` file the last variable of each scope is the child; its tables are read like those of ``MARKOV``. The
constant of a problem is written as a table with an empty scope. Exponentials and logarithms are those of
:mod:`graphpart.kernels.elementary`, so a problem makes the same file, and a file the same problem, on every processor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import FormatError, InvalidProblem
from graphpart.files.stream import NumberStream, table_sizes
from graphpart.files.text import ROWS, numbers
from graphpart.io._kernels import counted_records
from graphpart.kernels.elementary import exp, log

if TYPE_CHECKING:
    from graphpart.crf.problem import FactorGraph
    from graphpart.files.source import Source

Positions = NDArray[np.int64]
Domains = NDArray[np.int32]
Entries = NDArray[np.float64]

KINDS = (b"MARKOV", b"BAYES")


def sniff(head: bytes) -> bool:
    """Whether the first word is MARKOV or BAYES."""
    return head.split(maxsplit=1)[:1] in ([b"MARKOV"], [b"BAYES"])


def read(source: Source) -> FactorGraph:
    """Read a problem."""
    from graphpart.crf.problem import FactorGraph

    domains, start, scope, entries, wrong = read_network(source)
    if len(entries) and not entries.min() >= 0:
        raise wrong(int(np.flatnonzero(~(entries >= 0))[0]), "a factor of a product, at least 0")
    if len(entries) and entries.max() == np.inf:
        raise wrong(int(entries.argmax()), "a finite number")
    return FactorGraph.from_csr(domains, start, scope, 0.0 - log(entries), sense=-1)


def read_network(source: Source) -> tuple[Domains, Positions, Domains, Entries, Callable[[int, str], FormatError]]:
    """Domains, starts of scopes, scopes, table entries, and a function that makes the error about an entry."""
    _header(source)
    stream = NumberStream(source, "counts, domains, scopes and tables")
    n = stream.count("the number of variables")
    domains = stream.wholes(n, f"the domains of {n} variables", 1, 2**31 - 2)
    m = stream.count("the number of tables")
    scope_at = _records(stream, m, "a scope, its size first")
    arity = stream.values[scope_at[:-1]].astype(np.int64)
    where = _inside(scope_at)
    stream.check_wholes(stream.values[where], where, "a variable", 0, n - 1)
    scope = stream.values[where].astype(np.int32)
    start = np.zeros(m + 1, np.int64)
    np.cumsum(arity, out=start[1:])
    table_at = _records(stream, m, "a table, its number of entries first")
    stream.end()
    sizes = table_sizes(domains, start, scope)
    wrong = np.flatnonzero(stream.values[table_at[:-1]] != sizes)
    if len(wrong):
        f = int(wrong[0])
        raise stream.error(int(table_at[f]), f"{sizes[f]:.0f} entries for the scope of table {f}")
    inside = _inside(table_at)
    return domains, start, scope, stream.values[inside], lambda i, expected: stream.error(int(inside[i]), expected)


def _header(source: Source) -> None:
    line = source.readline()
    while line is not None and not line.strip():
        line = source.readline()
    if line is None or line.strip() not in KINDS:
        found = "the end of the file" if line is None else ascii(line[:40].decode("utf-8", "backslashreplace"))
        raise source.error(max(1, source.line - (line is not None)), f"found {found}: expected MARKOV or BAYES")


def _records(stream: NumberStream, m: int, expected: str) -> Positions:
    starts, bad = counted_records(stream.values, stream.at, m)
    if bad >= 0:
        raise stream.error(bad, expected)
    stream.at = int(starts[-1])
    return starts


def _inside(starts: Positions) -> Positions:
    """The positions of all numbers of some records but the leading counts."""
    if len(starts) == 1:
        return np.zeros(0, np.int64)
    inside = np.ones(starts[-1] - starts[0], bool)
    inside[starts[:-1] - starts[0]] = False
    positions: Positions = np.flatnonzero(inside) + starts[0]
    return positions


def write(problem: FactorGraph, stream: BinaryIO) -> None:
    """Write a problem."""
    entries, constant = exp(-problem.tables), float(exp(-problem.constant))
    lost = np.flatnonzero((entries == 0) & np.isfinite(problem.tables) | np.isinf(entries))
    if len(lost) or constant == 0 or np.isinf(constant):
        cost = problem.tables[lost[0]] if len(lost) else problem.constant
        raise InvalidProblem(f"format uai holds exp(-cost): the cost {cost} has no such number between 0 and inf")
    write_network(problem, entries, constant, stream)


def write_network(problem: FactorGraph, entries: Entries, constant: float, stream: BinaryIO) -> None:
    """Write the tables of a problem with the given entries, and its constant, unless it is 0, as the given one."""
    m, start = problem.m, problem.scope_start.tolist()
    extra = problem.constant != 0
    stream.write(f"MARKOV\n{problem.n}\n{' '.join(map(str, problem.domains.tolist()))}\n{m + extra}\n".encode())
    scope = problem.scope.tolist()
    for f in range(m):
        variables = scope[start[f] : start[f + 1]]
        stream.write((" ".join(map(str, [len(variables), *variables])) + "\n").encode())
    if extra:
        stream.write(b"0\n")
    table_start = problem.table_start.tolist()
    for f in range(m):
        stream.write(f"\n{table_start[f + 1] - table_start[f]}\n".encode())
        for at in range(table_start[f], table_start[f + 1], ROWS):
            part = entries[at : min(at + ROWS, table_start[f + 1])]
            stream.write((" ".join(map(str, numbers(part))) + "\n").encode())
    if extra:
        stream.write(f"\n1\n{constant!r}\n".encode())

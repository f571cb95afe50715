"""WCSP cost function networks, as toulbar2 reads them; functions listed by their tuples.

    name n largest-domain m top; the domains of n variables; then for each function its arity and variables, from 0, a
    default cost, a number of tuples, and for each tuple its labels and cost.

The sum of the costs is to be minimised, and a cost of at least `top` forbids (de Givry et al.). Hence costs are those
in the file, and forbidden entries become ``inf``. If a tuple occurs twice, the later one counts.

Global cost functions have a keyword instead of tuples. One of them is read: ``k v1 ... vk -1 clique 1``, then for each
variable a number of labels and these labels, in a line of its own. At most one of the variables may have one of its
listed labels. This is read as a factor for each pair of variables, which forbids that both have one of their listed
labels. Shared functions are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import FormatError, InvalidProblem
from graphpart.files.stream import NumberStream, table_sizes
from graphpart.files.text import numbers
from graphpart.io._records import fill_tables, listed_functions

if TYPE_CHECKING:
    from graphpart.crf.problem import FactorGraph
    from graphpart.files.source import Source

HEADER = "name n largest-domain m top"
LARGEST_COST = 2**53  # whole costs below are exact


def sniff(head: bytes) -> bool:
    """Whether the first line is a name and four numbers."""
    words = head.split(b"\n", 1)[0].split()
    return len(words) == 5 and not words[0].isdigit() and all(word.isdigit() for word in words[1:])


def read(source: Source) -> FactorGraph:
    """Read a problem."""
    from graphpart.crf.problem import FactorGraph

    n, largest, m, top = _header(source)
    blocks, cliques = _set_cliques_apart(source)
    if len(cliques) > m:
        raise source.error(cliques[m][0], f"found more than {m} functions: expected the end of the file")
    m -= len(cliques)
    try:
        stream = NumberStream(source, "domains, then functions: arity, variables, default cost, tuples", blocks=blocks)
    except FormatError as error:
        keyword = re.match(r"found '([a-z]\w*)'", error.problem)
        if keyword is None:
            raise
        raise source.error(
            error.line, f"found the global cost function {keyword[1]!r}: expected functions listed by their tuples"
        ) from None
    domains = stream.wholes(n, f"the domains of {n} variables", 1, largest)
    starts, bad = listed_functions(stream.values, stream.at, m, n)
    if bad >= 0:
        value = stream.values[bad] if bad < len(stream.values) else 0.0
        what = "arity, variables, default cost, number of tuples, and the tuples of a function"
        raise stream.error(bad, f"a function of its own, listed by tuples: {what}" if value < 0 else what)
    stream.at = int(starts[-1])
    stream.end("the end of the file, as all functions are read")
    arity = stream.values[starts[:-1]].astype(np.int64)
    start = np.zeros(m + 1, np.int64)
    np.cumsum(arity, out=start[1:])
    where = np.repeat(starts[:-1] + 1 - start[:-1], arity) + np.arange(start[-1])
    stream.check_wholes(stream.values[where], where, "a variable", 0, n - 1)
    scope = stream.values[where].astype(np.int32)
    sizes = table_sizes(domains, start, scope)
    if sizes.sum() > 2**31:
        f = int(sizes.argmax())
        raise stream.error(int(starts[f]), f"tables that fit into memory; function {f} has {sizes[f]:.3g} entries")
    table_start = np.zeros(m + 1, np.int64)
    np.cumsum(sizes, out=table_start[1:])
    tables = np.empty(int(table_start[-1]))
    bad = fill_tables(stream.values, starts, domains, table_start, tables, top)
    if bad >= 0:
        raise stream.error(bad, "a label of its variable's domain, or a finite cost of at least 0")
    pairs, forbidding = [], []
    for line, text in cliques:
        for a, b, table in _pairs_of_clique(source, line, text, domains):
            pairs.append((a, b))
            forbidding.append(table.ravel())
    scope = np.concatenate([scope, np.array(pairs, np.int32).ravel()])
    start = np.concatenate([start, start[-1] + 2 * np.arange(1, len(pairs) + 1)])
    return FactorGraph.from_csr(domains, start, scope, np.concatenate([tables, *forbidding]))


def _set_cliques_apart(source: Source) -> tuple[Iterable[bytes], list[tuple[int, bytes]]]:
    """The file without the lines of cliques, empty in their place, and these lines with their numbers."""
    before = source.line
    content = source.read()
    if b"clique" not in content:
        return [content], []
    lines = content.split(b"\n")
    cliques = [(before + i, line) for i, line in enumerate(lines) if b"clique" in line]
    for number, _ in cliques:
        lines[number - before] = b""
    return [b"\n".join(lines)], cliques


def _pairs_of_clique(
    source: Source, line: int, text: bytes, domains: NDArray[np.int32]
) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
    """A clique as pairwise factors."""
    form = "k v1 ... vk -1 clique 1, then for each variable a number of labels and these labels"
    head, _, tail = text.partition(b"clique")
    try:
        k, *scope = (int(word) for word in head.split())
        bound, *rest = (int(word) for word in tail.split())
        if len(scope) != k + 1 or scope.pop() != -1 or len(set(scope)) != k or min(scope, default=0) < 0:
            raise ValueError
        listed = []
        for v in scope:
            count, *rest = rest
            labels, rest = rest[:count], rest[count:]
            if len(labels) != count or not all(0 <= label < domains[v] for label in labels):
                raise ValueError
            listed.append(labels)
        if rest:
            raise ValueError
    except (ValueError, IndexError):
        shown = ascii(text[:40].decode("utf-8", "backslashreplace"))
        raise source.error(line, f"found {shown}: expected {form}") from None
    if bound != 1:
        raise source.error(line, f"found a clique with at most {bound} of its labels: expected at most 1")
    for i in range(k):
        for j in range(i):
            table = np.zeros((domains[scope[j]], domains[scope[i]]))
            table[np.ix_(listed[j], listed[i])] = np.inf
            yield scope[j], scope[i], table


def _header(source: Source) -> tuple[int, int, int, float]:
    line = source.readline()
    while line is not None and not line.strip():
        line = source.readline()
    if line is None:
        raise source.error(None, f"the file ends without a header: expected {HEADER}")
    words = line.split()
    if len(words) != 5 or not all(word.isdigit() and len(word) <= 20 for word in words[1:]):
        found = ascii(line[:40].decode("utf-8", "backslashreplace"))
        raise source.error(source.line - 1, f"found {found}: expected {HEADER}")
    n, largest, m = (int(word) for word in words[1:4])
    for what, count in (("variables", n), ("labels", largest), ("functions", m)):
        if count > 2**31 - 2:
            raise source.error(source.line - 1, f"{count} {what}: expected at most {2**31 - 2}")
    return n, largest, m, float(words[4])


def write(problem: FactorGraph, stream: BinaryIO) -> None:
    """Write a problem whose costs are integers of at least 0, up to a constant for each factor."""
    tables, table_start = problem.tables, problem.table_start.tolist()
    finite = tables[np.isfinite(tables)]
    constant = problem.constant
    if len(finite) and (finite.min() < 0 or (finite != np.trunc(finite)).any()):
        raise InvalidProblem("format wcsp holds whole costs of at least 0: expected such tables")
    if constant < 0 or constant != int(constant):
        raise InvalidProblem(f"format wcsp holds whole costs of at least 0, but the constant is {constant}")
    highest = [float(t[np.isfinite(t)].max(initial=0.0)) for t in (tables[a:b] for a, b in pairwise(table_start))]
    top = int(constant + sum(highest)) + 1
    if top > LARGEST_COST:
        raise InvalidProblem(f"format wcsp: costs add up to {top}: expected less than 2**53")
    domains = problem.domains.tolist()
    extra = constant != 0
    stream.write(f"graphpart {problem.n} {max(domains, default=1)} {problem.m + extra} {top}\n".encode())
    stream.write((" ".join(map(str, domains)) + "\n").encode())
    for f in range(problem.m):
        scope, table = problem.factor(f)
        values = np.where(np.isfinite(table), table, top)
        default = values.ravel()[0] if values.size else 0.0
        tuples = np.argwhere(values != default)
        head = [len(scope), *scope, int(default), len(tuples)]
        rows = np.column_stack([tuples, values[tuple(tuples.T)]]).astype(np.int64).tolist()
        lines = [" ".join(map(str, numbers(np.array(row)))) for row in (head, *rows)]
        stream.write(("\n".join(lines) + "\n").encode())
    if extra:
        stream.write(f"0 {int(constant)} 0\n".encode())

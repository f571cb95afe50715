"""WCSP cost function networks, as toulbar2 reads them; functions listed by their tuples.

    name n largest-domain m top; the domains of n variables; then for each function its arity and variables, from 0, a
    default cost, a number of tuples, and for each tuple its labels and cost.

A negative arity says that other functions use the table, too: these have the number of the shared table, from 1,
negated, in place of the number of tuples.

The sum of the costs is to be minimised, and a cost of at least `top` forbids (de Givry et al.). Hence costs are those
in the file, and forbidden entries become ``inf``. If a tuple occurs twice, the later one counts.

Global cost functions have -1 as default cost, then a keyword and parameters (`global_functions`): ``4 0 1 2 3 -1 wsum
hard 100 <= 5``. They become functions of many variables.
"""

from __future__ import annotations

import io
import re
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import FormatError, InvalidProblem
from graphpart.files.source import Source
from graphpart.files.stream import NumberStream, table_sizes
from graphpart.files.text import numbers
from graphpart.io._kernels import fill_tables, listed_functions
from graphpart.io.automata import for_format, with_automata
from graphpart.io.global_functions import Call, add_global
from graphpart.io.global_parameters import FORMS, Listed, unknown

if TYPE_CHECKING:
    from graphpart.crf.problem import FactorGraph

HEADER = "name n largest-domain m top"
SPECIAL = re.compile(rb"[A-Za-z<>=]|-\d")  # only global and shared functions have these
WORD = re.compile(rb"\S+")


def sniff(head: bytes) -> bool:
    """Whether the first line is a name and four numbers."""
    words = head.split(b"\n", 1)[0].split()
    return len(words) == 5 and not words[0].isdigit() and all(word.isdigit() for word in words[1:])


def read(source: Source) -> FactorGraph:
    """Read a problem."""
    from graphpart.crf.problem import FactorGraph

    n, largest, m, top = _header(source)
    apart = _Apart(source, n, m, top)
    m = apart.count
    form = "domains, then functions: arity, variables, default cost, tuples"
    stream = NumberStream(source, form, blocks=[apart.content])
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
    start, scope, tables = _with_shared(source, apart.shares, domains, start, scope, table_start, tables)
    problem = FactorGraph.from_csr(domains, start, scope, tables)
    for call in apart.calls:
        try:
            add_global(problem, call)
        except InvalidProblem as error:
            raise source.error(call.line, f"{call.keyword}: {error}") from None
    return problem


def _with_shared(
    source: Source,
    shares: list[tuple[list[int], int, int]],
    domains: NDArray[np.int32],
    start: NDArray[np.int64],
    scope: NDArray[np.int32],
    table_start: NDArray[np.int64],
    tables: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Starts of scopes, scopes and tables, with the functions that have the tables of others."""
    if not shares:
        return start, scope, tables
    parts = [tables]
    for members, owner, line in shares:
        shape = domains[scope[start[owner] : start[owner + 1]]].tolist()
        if not all(0 <= v < len(domains) for v in members) or domains[members].tolist() != shape:
            problem = f"found the scope {members} for a shared table of shape {tuple(shape)}: expected such variables"
            raise source.error(line, problem)
        parts.append(tables[table_start[owner] : table_start[owner + 1]])
    lengths = np.cumsum([len(members) for members, _, _ in shares])
    more = np.array([v for members, _, _ in shares for v in members], np.int32)
    return np.concatenate([start, start[-1] + lengths]), np.concatenate([scope, more]), np.concatenate(parts)


class _Apart:
    """The file without global and shared cost functions: only functions of their own, listed by tuples.

    Spaces take the place of the former, so that lines keep their numbers.

    Attributes
    ----------
    content : bytes
    calls : list of Call
    shares : list of (scope, index of the function that has the table, line)
    count : int
        Functions that are left.
    """

    def __init__(self, source: Source, n: int, m: int, top: float) -> None:
        self._source, self._line = source, source.line
        self.content = source.read()
        self.calls: list[Call] = []
        self.shares: list[tuple[list[int], int, int]] = []
        self.count = m
        if SPECIAL.search(self.content):
            self._spans = [match.span() for match in WORD.finditer(self.content)]
            self._changed = bytearray(self.content)
            self._limit = Fraction(int(top))
            self._walk(n)
            self.content = bytes(self._changed)

    def _word(self, i: int) -> str:
        if i >= len(self._spans):
            raise self._source.error(None, "the file ends: expected the parameters of a function")
        a, b = self._spans[i]
        return self.content[a:b].decode("utf-8", "backslashreplace")

    def _at(self, i: int) -> int:
        """The line of a word."""
        return self._line + self.content.count(b"\n", 0, self._spans[i][0])

    def _walk(self, n: int) -> None:
        """Function by function; the parser of numbers reports words that are no numbers."""
        shared: list[int] = []
        listed, i = 0, n
        try:
            sizes = [int(self._word(v)) for v in range(n)]
            while i < len(self._spans):
                arity = int(self._word(i))
                if len(self._spans) <= i + abs(arity) + 2:
                    return
                scope = [int(self._word(i + 1 + j)) for j in range(abs(arity))]
                after = i + 1 + len(scope)
                keyword = self._word(after + 1)
                if self._word(after) == "-1" and not keyword.removeprefix("-").isdigit():
                    end = self._call(keyword, scope, sizes, i, after + 2)
                elif (tuples := int(keyword)) < 0:
                    end = after + 2
                    if not 1 <= -tuples <= len(shared):
                        what = f"found the table of shared function {-tuples}: expected 1 to {len(shared)}"
                        raise self._source.error(self._at(after + 1), what)
                    self.shares.append((scope, shared[-tuples - 1], self._at(i)))
                else:
                    if arity < 0:
                        shared.append(listed)
                        self._blank(self._spans[i][0], self._spans[i][0] + 1)
                    i = after + 2 + tuples * (len(scope) + 1)
                    listed += 1
                    continue
                self._blank(self._spans[i][0], self._spans[end - 1][1])
                if self.count <= listed:
                    what = f"found more than {len(self.calls) + len(self.shares) + listed - 1} functions"
                    raise self._source.error(self._at(i), f"{what}: expected the end of the file")
                self.count -= 1
                i = end
        except FormatError:
            raise
        except ValueError:
            return

    def _blank(self, a: int, b: int) -> None:
        for i in range(a, b):
            if self._changed[i] != 10:
                self._changed[i] = 32

    def _inner(self, text: str) -> FactorGraph:
        """A problem within a function."""
        return read(Source(io.BytesIO(text.encode()), f"{self._source.name}, the problem in a function"))

    def _call(self, keyword: str, scope: list[int], sizes: list[int], first: int, at: int) -> int:
        """Read a global cost function; returns the place after it."""
        line = self._at(at - 1)
        if len(set(scope)) != len(scope) or not all(0 <= v < len(sizes) for v in scope):
            shown = str(scope[:8])
            raise self._source.error(self._at(first), f"found the scope {shown}: expected each variable once")
        if keyword not in FORMS:
            raise self._source.error(line, unknown(keyword))
        parameters = Listed(self._word, at, keyword, scope, [sizes[v] for v in scope], self._inner)
        try:
            values = parameters.read()
        except InvalidProblem as error:
            raise self._source.error(line, f"{keyword}: {error}") from None
        self.calls.append(Call(keyword, scope, values, line, self._limit))
        return parameters.at


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
    problem, automata = with_automata(problem) or (for_format(problem, "wcsp"), [])
    if any(cost != int(cost) for automaton in automata for *_, cost in automaton.transitions):
        raise InvalidProblem("format wcsp holds whole costs of at least 0: expected such costs of functions")
    tables, table_start = problem.tables, problem.table_start.tolist()
    finite = tables[np.isfinite(tables)]
    constant = problem.constant
    if len(finite) and (finite.min() < 0 or (finite != np.trunc(finite)).any()):
        raise InvalidProblem("format wcsp holds whole costs of at least 0: expected such tables")
    if constant < 0 or constant != int(constant):
        raise InvalidProblem(f"format wcsp holds whole costs of at least 0, but the constant is {constant}")
    highest = [float(t[np.isfinite(t)].max(initial=0.0)) for t in (tables[a:b] for a, b in pairwise(table_start))]
    top = int(constant + sum(highest) + sum(automaton.highest for automaton in automata)) + 1
    if top > 2**53:
        raise InvalidProblem(f"format wcsp: costs add up to {top}: expected less than 2**53")
    domains = problem.domains.tolist()
    extra = constant != 0
    count = problem.m + len(automata) + extra
    stream.write(f"graphpart {problem.n} {max(domains, default=1)} {count} {top}\n".encode())
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
    for one in automata:
        rows = [f"{s} {x} {t} {int(cost)}" for s, x, t, cost in one.transitions]
        listed, ends = " ".join(map(str, one.scope)), f"1 0 0 1 {one.states - 1} 0"
        line = f"{len(one.scope)} {listed} -1 wregular {one.states} {ends} {len(rows)} {' '.join(rows)}"
        stream.write(f"{line}\n".encode())
    if extra:
        stream.write(f"0 {int(constant)} 0\n".encode())

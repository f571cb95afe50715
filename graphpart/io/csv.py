"""Edge lists: the header ``u,v,cost``, ``u,v,weight`` or ``u,v,sign``, then one line for each pair.

* ``cost`` is as in memory: negative costs attract, ``objective = cost``.
* ``weight`` is a similarity: ``cost = -weight``, ``objective = cost``.
* ``sign`` is +1 (friends) or -1 (foes): ``cost = -sign``, and the offset is the number of positive lines, such that the
  objective is the number of disagreements: friends apart and foes together (Bansal, Blum & Chawla 2004). A file
  without header whose third column is 1 or -1 is read the same way.

Costs of equal pairs add up. A cost ``-inf`` (weight ``inf``) is a pair that must be joined, the opposite one that
must be cut. Elements are named by the text of their fields; a text that is written like an integer is an integer. A
line ``u,,`` names an element without giving a pair. In a file of costs, a line ``,,beta`` begins a term of the
background, which is added to the cost of every pair, listed or not. The term is beta x[a] x[b]. The weights x are 1
unless lines ``u,,weight`` after it give others. If there are also lines ``,u,weight``, they give a second vector y, and
the term is beta (x[a] y[b] + y[a] x[b]). Lines of four fields give groups and limits: ``u,,price,group`` makes u a
member of a group, of which each pair of members in one cluster costs the price, or ``inf``; ``,,max_size,30`` and
``,,n_clusters,5:12`` limit the size and the number of clusters. If all names are integers, the elements are in
ascending order, otherwise in the order of their first appearance. Fields may be quoted as usual (RFC 4180); line ends
may be LF or CRLF.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Hashable
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.files._text import Pairs
from graphpart.files.text import ROWS, check_text, identifier, no_header, numbers, write_rows
from graphpart.io.pairs import stored_pairs
from graphpart.io.parquet import NAME_COLUMNS
from graphpart.partition.inputs.frames import ranked
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.background import background_of
from graphpart.partition.problem.forms import with_groups_apart
from graphpart.partition.problem.groups import Groups
from graphpart.partition.problem.limits import Limits, limits_of
from graphpart.partition.problem.rules import Rules

if TYPE_CHECKING:
    from graphpart.files.source import Source

HEADER = "u,v,cost or u,v,weight or u,v,sign"
NUMBER = re.compile(r"[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|inf(inity)?)", re.ASCII | re.IGNORECASE)
LIMIT = re.compile(r"\d{1,10}|\d{0,10}:\d{0,10}", re.ASCII)
PLAIN = re.compile(r'[^\s",](?:[^",\r\n]*[^\s",])?')


def sniff(head: bytes) -> bool:
    """Whether the first line is a header, or three fields the last of which is a sign."""
    return _kind(head.split(b"\n", 1)[0]) is not None


def _kind(line: bytes) -> str | None:
    """The third column of a header, "" for a first line u,v,1 without header, None for anything else."""
    fields = [field.strip().strip(b'"').lower() for field in line.split(b",")]
    if len(fields) == 3 and fields[:2] == [b"u", b"v"] and fields[2] in (b"cost", b"weight", b"sign"):
        return fields[2].decode()
    return "" if len(fields) == 3 and fields[2] in (b"1", b"+1", b"-1") else None


def read(source: Source) -> SetPartition:
    """Read a problem."""
    first = source.head(1 << 16).split(b"\n", 1)[0]
    kind = _kind(first)
    if kind is None:
        if not source.head(1 << 16).strip():
            raise source.error(None, f"the file is empty: expected the header {HEADER}")
        found = ascii(first[:40].decode("utf-8", "backslashreplace")) if first.strip() else "an empty line"
        more = no_header(first.decode("utf-8", "replace")) or (f"; or {NAME_COLUMNS}" if first.count(b",") > 1 else "")
        raise source.error(1, f"found {found}: expected the header {HEADER}{more}")
    if kind:
        source.readline()
    lines = Pairs(source.name, "u,v,cost", source.line)
    ids: list[Hashable] | None = None
    for block in source.blocks():
        lines.feed(block)
        if lines.rest is not None:
            break
    else:
        lines.finish()
    line_of = lines.line_of
    tail = None
    if lines.rest is not None:
        line, rest = lines.line, lines.take_rest()
        head = lines.arrays()
        tail = _Rows(source, line)
        ids = tail.read(head, rest)
        u, v, value = tail.arrays()
        line_of = tail.line_of(line_of, len(head[0]))
    else:
        u, v, value = lines.arrays()
    alone = np.isnan(value)
    signs = kind in ("", "sign")
    if signs and len(wrong := np.flatnonzero(~(alone | (np.abs(value) == 1.0)))):
        k = int(wrong[0])
        raise source.error(line_of(k), f"found {numbers(value[k : k + 1])[0]}: expected the sign 1 or -1")
    nodes: Any
    if ids is None:
        nodes, u, v = ranked(u, v)
    else:
        nodes = ids
    if alone.any():
        u, v, value = u[~alone], v[~alone], value[~alone]
    offset = float(np.count_nonzero(value > 0)) if signs else 0.0
    if kind != "cost":
        value = np.subtract(0.0, value)
    terms = tail.terms if tail is not None else []
    if terms and kind != "cost":
        raise source.error(
            terms[0].line, f"found a background in a file of {kind or 'sign'}: expected the header u,v,cost"
        )
    groups = None if tail is None else tail.groups(nodes)
    if groups is not None and kind != "cost":
        raise source.error(None, f"found groups in a file of {kind or 'sign'}: expected the header u,v,cost")
    background = background_of(nodes, background=[term.of(nodes) for term in terms] or None, groups=groups)
    rules = Rules(limits=None if tail is None else tail.limits())
    dense = None if background is None else False
    return SetPartition._of_pairs(nodes, u, v, value, background, rules, dense=dense)._in_units(offset)


class _Term:
    """A term of the background, as the lines of a file give it."""

    def __init__(self, line: int, beta: float) -> None:
        self.line = line
        self.beta = beta
        self.weights: tuple[dict[Hashable, float], dict[Hashable, float]] = ({}, {})

    def of(self, nodes: Any) -> tuple[Any, ...]:
        x, y = (np.array([weights.get(node, 1.0) for node in nodes], np.float64) for weights in self.weights)
        return (self.beta, x, y) if self.weights[1] else (self.beta, x)


class _Rows:
    """The lines from the first one on that is not ``integer,integer,number``, through Python's reader."""

    def __init__(self, source: Source, line: int) -> None:
        self.source = source
        self.first = line
        self.line = line  # of the row at hand
        self.index: dict[Hashable, int] = {}
        self.u: list[int] = []
        self.v: list[int] = []
        self.value: list[float] = []
        self.lines: list[int] = []
        self.terms: list[_Term] = []
        self.members: dict[str, tuple[float, list[Hashable]]] = {}  # of each group, and its price
        self.limited: dict[str, Any] = {}

    def read(self, head: tuple[NDArray[Any], ...], rest: bytes) -> list[Hashable] | None:
        """Read all rows; `head` holds those before, with integers as names. Returns the nodes in order."""
        first = np.stack(head[:2], axis=1).ravel()
        _, at = np.unique(first, return_index=True)
        for name in first[np.sort(at)].tolist():
            self.index[name] = len(self.index)
        names, rank = np.array(list(self.index), np.int64), np.arange(len(self.index))
        by_name = np.argsort(names)
        self.head = [rank[by_name][np.searchsorted(names[by_name], x)] for x in head[:2]] + [head[2]]
        text = io.TextIOWrapper(io.BufferedReader(_Chained(rest, self.source)), "utf-8", "surrogateescape", newline="")
        reader = csv.reader(text, strict=True, skipinitialspace=True)
        try:
            for row in reader:
                self.line = self.first + reader.line_num - 1
                if row:
                    self._row(row)
        except csv.Error as error:
            raise self.source.error(self.first + reader.line_num - 1, f"{error}: expected u,v,number") from None
        order = list(self.index)
        if all(isinstance(name, int) for name in order):
            place = {name: i for i, name in enumerate(sorted(order))}  # type: ignore[type-var]
            self.rename = np.array([place[name] for name in order], np.int64)
            order = list(place)
            if order == list(range(len(order))):
                return range(len(order))  # type: ignore[return-value]
        else:
            self.rename = np.arange(len(order))
        return order

    def _row(self, row: list[str]) -> None:
        if len(row) == 4 and row[1].strip() == "":
            self._demand(row)
            return
        if len(row) != 3:
            raise self.source.error(self.line, f"found {len(row)} fields: expected u,v,number")
        names = [self._name(field) for field in row[:2]]
        if row[1].strip() == "" and row[2].strip() == "" and names[0] is not None:
            self._add(names[0], names[0], np.nan)
            return
        if names[0] is None and names[1] is None and row[2].strip() != "":
            self.terms.append(_Term(self.line, self._number(row[2], finite=True)))
            return
        if self.terms and (names[0] is None) != (names[1] is None):
            name, weights = (names[0], self.terms[-1].weights[0])
            if name is None:
                name, weights = (names[1], self.terms[-1].weights[1])
            if name in weights:
                raise self.source.error(self.line, f"found a second weight of {name!r}: expected one in each term")
            weights[name] = self._number(row[2], finite=True)
            self._add(name, name, np.nan)
            return
        for name in names:
            if name is None:
                raise self.source.error(self.line, "found an empty name: expected u,v,number")
        if names[0] == names[1]:
            raise self.source.error(self.line, f"{names[0]!r} is paired with itself: expected two different elements")
        self._add(names[0], names[1], self._number(row[2]))

    def _demand(self, row: list[str]) -> None:
        """A line ``u,,price,group`` or ``,,max_size,30`` or ``,,n_clusters,5:12``."""
        name, value = self._name(row[0]), row[3].strip()
        if name is None:
            if row[2].strip() not in ("max_size", "n_clusters") or not LIMIT.fullmatch(value):
                raise self.source.error(
                    self.line, f"found {','.join(row)[:40]!a}: expected ,,max_size,30 or ,,n_clusters,5:12"
                )
            numbers = [int(part) if part else None for part in value.split(":")]
            self.limited[row[2].strip()] = numbers[0] if len(numbers) == 1 else tuple(numbers)
            return
        price = self._number(row[2])
        if not price > 0:
            raise self.source.error(
                self.line, f"the price of the group {value!r} is {price:g}: expected a positive number or inf"
            )
        check_text(self.source, self.line, value)
        known, members = self.members.setdefault(value, (price, []))
        if known != price:
            raise self.source.error(
                self.line, f"the price of the group {value!r} is {price:g}: expected {known:g}, as before"
            )
        members.append(name)
        self._add(name, name, np.nan)

    def groups(self, nodes: Any) -> Groups | None:
        """The groups, by the places of their members among the nodes."""
        if not self.members:
            return None
        place = {node: i for i, node in enumerate(nodes)}
        element = [place[name] for _, members in self.members.values() for name in members]
        group = np.repeat(np.arange(len(self.members)), [len(members) for _, members in self.members.values()])
        if len(set(zip(element, group.tolist(), strict=True))) < len(element):
            raise self.source.error(None, "an element is named twice as a member of a group: expected it once")
        prices = [price for price, _ in self.members.values()]
        return Groups(len(nodes), element, group, np.ones(len(group), np.int64), prices, list(self.members))

    def limits(self) -> Limits | None:
        """The limits that the file gives."""
        try:
            return limits_of(self.limited.get("max_size"), self.limited.get("n_clusters"))
        except InvalidOption as error:
            raise self.source.error(None, str(error)) from None

    def _number(self, field: str, finite: bool = False) -> float:
        text = field.strip()
        if not NUMBER.fullmatch(text) or (finite and "inf" in text.lower()):
            raise self.source.error(self.line, f"found {text[:40]!a}: expected a {'finite ' * finite}number")
        value = float(text)
        if np.isinf(value) and "inf" not in text.lower():
            raise self.source.error(self.line, f"found {text[:40]!a}: expected a number of a magnitude below 1.8e308")
        return value

    def _name(self, field: str) -> Hashable:
        if field == "":
            return None
        check_text(self.source, self.line, field)
        return identifier(field)

    def _add(self, a: Hashable, b: Hashable, value: float) -> None:
        self.u.append(self.index.setdefault(a, len(self.index)))
        self.v.append(self.index.setdefault(b, len(self.index)))
        self.value.append(value)
        self.lines.append(self.line)

    def arrays(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """All pairs, as indices into the nodes."""
        u, v = (
            self.rename[np.concatenate([x, np.array(y, np.int64)]).astype(np.int64)] if len(self.rename) else x
            for x, y in zip(self.head[:2], (self.u, self.v), strict=True)
        )
        return u, v, np.concatenate([self.head[2], np.array(self.value, np.float64)])

    def line_of(self, before: Any, size: int) -> Any:
        """The function from pairs to lines, given the one for the pairs before."""
        return lambda k: before(k) if k < size else self.lines[k - size]


class _Chained(io.RawIOBase):
    """Some bytes, then the rest of a source."""

    def __init__(self, first: bytes, source: Source) -> None:
        self._parts = chain([first] if first else [], source.blocks())
        self._part = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not len(self._part):
            part = next(self._parts, None)
            if part is None:
                return 0
            self._part = memoryview(part)
        size = min(len(buffer), len(self._part))
        buffer[:size] = self._part[:size]
        self._part = self._part[size:]
        return size


def write(problem: SetPartition, stream: BinaryIO) -> None:
    """Write a problem, with the header u,v,cost.

    Elements that would be missing, or (if their names are not integers) come in another order, are named first.
    """
    problem = with_groups_apart(problem)
    u, v, cost = stored_pairs(problem)
    n = problem.n
    names = None if isinstance(problem.nodes, range) else _texts(problem)
    seen = np.zeros(n, bool)
    seen[u] = True
    seen[v] = True
    missing = np.flatnonzero(~seen)
    if names is not None and not all(isinstance(node, int) for node in problem.nodes):
        ends = np.stack([u, v], 1).ravel()
        _, at = np.unique(ends, return_index=True)
        if len(missing) or (ends[np.sort(at)] != np.arange(n)).any():
            missing = np.arange(n)
    stream.write(b"u,v,cost\n")
    alone = missing.tolist() if names is None else [names[i] for i in missing.tolist()]
    for start in range(0, len(alone), ROWS):
        stream.write("".join([f"{name},,\n" for name in alone[start : start + ROWS]]).encode())
    if names is None:
        write_rows(stream, ",", u, v, cost)
        named = problem.background is not None or problem.groups is not None
        _write_background(problem, [str(a) for a in range(n)] if named else [], stream)
        return
    for start in range(0, len(u), ROWS):
        part = slice(start, start + ROWS)
        rows = zip(u[part].tolist(), v[part].tolist(), numbers(cost[part]), strict=True)
        stream.write("".join([f"{names[a]},{names[b]},{c}\n" for a, b, c in rows]).encode())
    _write_background(problem, names, stream)


def _write_background(problem: SetPartition, names: list[str], stream: BinaryIO) -> None:
    for beta, *vectors in problem.background.terms if problem.background is not None else ():
        stream.write(f",,{numbers(np.array([beta]))[0]}\n".encode())
        for k, vector in enumerate(vectors):
            if (vector == 1.0).all() and len(vectors) == 1:
                continue
            form = ("{},,{}\n", ",{},{}\n")[k].format
            stream.write("".join(map(form, names, numbers(vector))).encode())
    if (groups := problem.groups) is not None:
        texts = [] if groups.names is None else [str(name) for name in groups.names]
        if len(set(texts)) < len(groups) or "" in texts:  # two groupings, or no names
            texts = [str(g) for g in range(len(groups))]
        ends = [f",,{price},{quoted(text)}\n" for price, text in zip(numbers(groups.price), texts, strict=True)]
        rows = zip(groups.element.tolist(), groups.group.tolist(), strict=True)
        stream.write("".join([names[a] + ends[g] for a, g in rows]).encode())
    if problem._limits is not None:
        limits = problem._limits
        if limits.max_size is not None:
            stream.write(f",,max_size,{limits.max_size}\n".encode())
        if limits.number:
            stream.write(f",,n_clusters,{limits.least}:{limits.most or ''}\n".encode())


def quoted(text: str) -> str:
    """A field, in quotes if it needs them."""
    return text if PLAIN.fullmatch(text) else '"' + text.replace('"', '""') + '"'


def _texts(problem: SetPartition) -> list[str]:
    texts = []
    for node in problem.nodes:
        if isinstance(node, bool) or not isinstance(node, int | str | np.integer) or node == "":
            raise InvalidProblem(f"format csv cannot hold the name {node!r}: expected integers or non-empty text")
        text = str(node)
        texts.append(quoted(text))
    if len(set(texts)) != len(texts):
        raise InvalidProblem("format csv cannot hold an integer and a text that is written the same as two names")
    return texts

"""Check that a solution is optimal, by its certificate: ``python check.py INSTANCE LABELS CERTIFICATE``.

This file needs Python 3.11 and its standard library only, and shares no code with the programs that solve problems and
make certificates. All arithmetic is in whole numbers and fractions, so nothing is rounded.

A certificate is a tree, written as the list of its nodes, each before its children. The value of a node is a number
that no solution costs less than, among those that agree with the decisions on the way from the root to the node:

* ``["branch", a, b]``: the elements a and b are together in the first child, and apart in the second one. For a factor
  graph, variable a has the label b in the first child, and another one in the second. Value: the smaller of both.
* ``["parts", [[...], [...]]]``: between these sets of elements, nothing is gained by being together; no factor has
  variables of two of them. One child for each. Value: the sum.
* ``["inequalities", e, [[kind, split, multiplier, elements...], ...]]``, a leaf of a set partition problem:
  inequalities that every partition satisfies, and their multipliers in units of ``2**-e``.
* ``["contradiction", elements]``, a leaf: no partition agrees with all decisions, as these elements show.
* ``["messages", e, amounts, scopes, links]`` and ``["eliminate", variables]``, leaves of a factor graph: a
  reparametrisation in units of ``2**-e``, and the elimination of one variable after another.

docs/explanation/certificates.md proves each of these rules. If all costs are multiples of a step, so is the cost of
every solution, and values of leaves are rounded up to multiples of it.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import itertools
import json
import math
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from fractions import Fraction
from typing import Any, NamedTuple

__all__ = ["Energy", "Partition", "Refused", "Report", "check", "main", "read_instance", "read_labels", "seal_of"]

FORMAT = "graphpart-proof"
HEADER = ("format", "version", "kind", "n", "method", "bound", "tolerance", "decimals", "cost", "problem")
INF = math.inf
SHARE = Fraction(1, 10**7)  # of all absolute costs: a larger tolerance is refused
LARGEST_TABLE = 1 << 23  # entries of a table of elimination; more than that takes minutes
LARGEST_EXPONENT = 2200  # of the unit of multipliers: doubles have exponents from -1074 to 1023
Value = Fraction | float  # a fraction, or inf: there is no such solution
Pair = tuple[int, int]
Factor = tuple[tuple[int, ...], list[Any]]  # scope and entries, whole numbers or inf


class Refused(Exception):
    """A certificate, labels or an instance that fail a check; the text says why, in one line."""


def _require(is_right: object, otherwise: str) -> None:
    if not is_right:
        raise Refused(otherwise)


class Report(NamedTuple):
    """What a check has found; `missing` is the cost of the labels less the bound, unless rounding explains it."""

    bound: Value
    leaves: int
    inequalities: int
    cost: Fraction | None
    optimal: bool
    missing: Value

    def text(self, sense: int = 1, offset: float = 0.0) -> str:
        """The report in one sentence; a cost c is shown as ``sense * c + offset``."""
        bound, cost = (f"{sense * float(x or 0) + offset:.12g}" for x in (self.bound, self.cost))
        rows = f"{self.inequalities:,} inequalities, " if self.inequalities else ""
        said = f"{self.leaves:,} {'leaf' if self.leaves == 1 else 'leaves'}, {rows}the bound is {bound}"
        proven = f"optimal up to {float(self.missing):.2g}" if self.missing else "optimal"
        end = proven if self.optimal else "the bound is valid, but the labels are not proven optimal"
        return f"{said}, the labels cost {cost}: {end}"


def check(problem: Partition | Energy, certificate: dict[str, Any], labels: Sequence[int] | None = None) -> Report:
    """Check a certificate (the fields of `HEADER`, `nodes` and `seal`), and labels if given.

    The problem has to be made with the `decimals` of the certificate. Raises `Refused` if the certificate does not
    prove its bound for this problem, or the labels are not feasible.
    """
    kind = "partition" if isinstance(problem, Partition) else "factor graph"
    costs, counts = problem.costs, Counter[str]()
    try:
        _require((certificate["kind"], certificate["n"]) == (kind, problem.n), "the certificate is for another problem")
        _require(certificate["seal"] == seal_of(certificate), "the seal does not fit: the certificate was altered")
        tolerance, stated = Fraction(certificate["tolerance"]), Fraction(certificate["bound"])
        _require(0 <= tolerance <= SHARE * costs.size, "the tolerance is more than 1e-7 of all absolute costs")
        nodes = iter(certificate["nodes"])
        value = _value(nodes, problem, problem.root(), counts)
        _require(next(nodes, None) is None, "a node follows after the tree is complete")
        bound = value - costs.error if value != INF else INF
        if not stated - tolerance <= bound <= stated + tolerance + 2 * costs.error + costs.size / 2**44:
            raise Refused(f"the certificate proves {float(bound)!r}: expected {certificate['bound']!r}, as it states")
    except RecursionError:
        raise Refused("the tree is too deep: expected less than about 400 decisions on a path") from None
    except (TypeError, IndexError, KeyError, ValueError, OverflowError, AttributeError) as error:
        raise Refused(f"the certificate is damaged ({str(error)[:80]})") from None
    cost = None if labels is None else problem.cost(labels)
    _require(cost is None or bound <= cost + costs.error, f"the labels cost less than the bound {float(bound)!r}")
    optimal = cost is not None and cost <= bound + costs.error + tolerance
    missing = 0.0 if cost is None or cost - bound <= 2 * costs.error else cost - bound
    return Report(bound, counts["leaves"], counts["rows"], cost, optimal, missing)


def seal_of(certificate: dict[str, Any]) -> str:
    """SHA-256 of the header and of all nodes."""
    sealed = [certificate[name] for name in (*HEADER, "nodes")]
    return hashlib.sha256(json.dumps(sealed).encode()).hexdigest()


def _value(nodes: Iterator[Any], problem: Partition | Energy, state: Any, counts: Counter[str]) -> Value:
    """The value of the next node, in a state that follows from the decisions above it."""
    node: Any = next(nodes, None)
    _require(node is not None, "the tree ends early: a leaf is missing")
    if node[0] not in ("branch", "parts"):
        counts += Counter(leaves=1, rows=len(node[2]) if node[0] == "inequalities" else 0)
        return problem.leaf(node, state)
    values = [_value(nodes, problem, child, counts) for child in problem.children(node, state)]
    return min(values) if node[0] == "branch" else INF if INF in values else sum(values)


def _whole(values: Iterable[Any]) -> list[int]:
    found = list(values)
    _require(all(type(x) is int for x in found), "a number is not whole: the certificate is damaged")
    return found


class _Costs:
    """Costs in whole units of 1 / `scale`, all multiples of `step`; the sums of all changes, and of absolute costs."""

    def __init__(self, times: Counter[Any], decimals: int | None) -> None:
        _require(decimals is None or 0 <= decimals <= 20, f"the number of decimals is {decimals}: expected 0 to 20")
        exact = {x: Fraction(x) if decimals is None else round(Fraction(x), decimals) for x in times}
        self.scale = math.lcm(*(x.denominator for x in exact.values()))
        self.whole = {x: int(rounded * self.scale) for x, rounded in exact.items()}
        self.step = math.gcd(*self.whole.values()) or 1
        self.error = sum((k * abs(exact[x] - Fraction(x)) for x, k in times.items()), Fraction(0))
        self.size = sum((k * abs(Fraction(x)) for x, k in times.items()), Fraction(0))

    def unit(self, exponent: Any) -> tuple[int, int]:
        """``2**-exponent`` as (numerator, binary digits of the denominator), the former in units of costs."""
        _require(abs(*_whole([exponent])) <= LARGEST_EXPONENT, f"the exponent {str(exponent)[:40]} is too large")
        return self.scale << max(0, -exponent), max(0, exponent)

    def value(self, total: int, digits: int) -> Fraction:
        """``total / 2**digits`` units as a fraction, rounded up to a multiple of the step."""
        return Fraction(-(-total // (self.step << digits)) * self.step, self.scale)


class State(NamedTuple):
    """The elements of a part, and pairs of these: with their costs, together, and apart, required or decided."""

    elements: frozenset[int]
    pairs: Sequence[tuple[int, int, int]]
    joins: Sequence[Pair]
    cuts: Sequence[Pair]
    connected: bool  # whether clusters of the part have to be connected
    least: int  # clusters


class Partition:
    """A set partition problem: `pairs` with their costs; all others cost `missing`.

    The cost of a listed pair is in addition to `missing`, and costs of equal pairs add up. Pairs of cost inf must be
    apart, and those of cost -inf together. Pairs of `base` have to connect every cluster, if they are given, and
    `limits` are the largest size, and the least and the largest number of clusters.
    """

    def __init__(
        self, n: int, pairs: Iterable[tuple[int, int, Any]], decimals: int | None = None, *, missing: float = 0.0,
        base: Iterable[Pair] | None = None, limits: tuple[int | None, int, int | None] = (None, 1, None),
    ) -> None:  # fmt: skip
        self.n, self.max_size, self.least, self.most = n, *limits
        listed = list(pairs)
        _require(all(0 <= min(a, b) < max(a, b) < n for a, b, _ in listed), f"a pair is not of two of {n} elements")
        times = Counter(cost for *_, cost in listed if abs(cost) != INF)
        self.costs = _Costs(times + Counter({missing: n * (n - 1) // 2}), decimals)
        self.missing = self.costs.whole.get(missing, 0)
        self.never = {_pair(a, b) for a, b, cost in listed if cost == INF}
        total: dict[Pair, int] = defaultdict(int)
        for a, b, cost in listed:
            total[_pair(a, b)] += self.costs.whole.get(cost, 0)
        self.pairs = [(a, b, cost) for (a, b), cost in total.items() if cost]
        self.joins = [(a, b) for a, b, cost in listed if cost == -INF]
        self.base = None if base is None else {_pair(a, b) for a, b in base} - self.never
        self.class_of = _classes(range(n), self.joins)

    def root(self) -> State:
        """All elements, and no decision."""
        least = self.least if self.n else 0  # without elements, there are no clusters
        return State(frozenset(range(self.n)), self.pairs, self.joins, [*self.never], self.base is not None, least)

    def children(self, node: list[Any], state: State) -> list[State]:
        """The states of the children of a node."""
        if node[0] == "branch":
            a, b = _whole(node[1:])
            pair, inside = _pair(a, b), a != b and {a, b} <= state.elements
            _require(inside, f"a branch is not on two elements of its part: {str(node)[:40]}")
            return [state._replace(joins=[*state.joins, pair]), state._replace(cuts=[*state.cuts, pair])]
        part_of = _part_of(node[1], state.elements)
        classes = _classes(state.elements, state.joins)
        divided = any(part_of[a] != part_of[k] for a, k in classes.items())
        _require(not divided, "elements that are together are in two parts")
        base = ((a, b) for a, b in self.base or () if a in part_of and b in part_of)
        connected = state.connected and all(part_of[a] == part_of[b] for a, b in base)
        if not connected:  # else no cluster has elements of two parts
            apart = _between_classes(classes, state.cuts)
            across = [pair for pair in state.pairs if part_of[pair[0]] != part_of[pair[1]]]
            attracting = {pair for pair, cost in self._between(classes, across, 0).items() if cost < 0} - apart
            _require(all(part_of[a] == part_of[b] for a, b in attracting), "elements of two parts attract each other")
        parts: list[Any] = [State(frozenset(part), [], [], [], connected, 1) for part in node[1]]
        for k, pairs in enumerate((state.pairs, state.joins, state.cuts), 1):
            for item in pairs:
                if part_of[item[0]] == part_of[item[1]]:
                    parts[part_of[item[0]]][k].append(item)
        return parts

    def leaf(self, node: list[Any], state: State) -> Value:
        """The value of a leaf."""
        classes = self._together(state)
        if node[0] == "contradiction":
            _require(self._contradicts(_whole(node[1]), state, classes), "a contradiction does not hold")
            return INF
        _require(node[0] == "inequalities", f"no kind of node: {str(node[0])[:40]!r}")
        return self._bound(state, classes, node[1], node[2])

    def _together(self, state: State) -> dict[int, int]:
        """The class of each element. If there are two clusters, an even number of cuts connects elements of one."""
        if self.most != 2:
            return _classes(state.elements, state.joins)
        n = self.n  # a + n: the side where a is not
        links = [(a + s, b + s) for a, b in state.joins for s in (0, n)]
        links += [(a + s, b + n - s) for a, b in state.cuts for s in (0, n)]
        both = _classes((a + s for a in state.elements for s in (0, n)), links)
        return {a: both[a] for a in state.elements}

    def _contradicts(self, some: list[int], state: State, classes: dict[int, int]) -> bool:
        """Whether no partition agrees with the decisions: too many are together or apart, or not linked."""
        apart, sizes = _between_classes(classes, state.cuts), Counter(classes.values())
        largest = max(sizes.values(), default=0)
        if any(a == b for a, b in apart) or largest > (self.max_size or self.n) or len(sizes) < state.least:
            return True  # elements are together that must be apart, or too many are
        of = {classes[a] for a in some}
        if len(of) > 1 or not state.connected:  # more classes than clusters allowed, all of them pairwise apart
            return self.most is not None and len(of) > self.most and apart >= {*itertools.combinations(sorted(of), 2)}
        # No base pairs connect these elements, which are together, through elements that may be with them.
        allowed = {a for a, k in classes.items() if {_pair(k, c) for c in of}.isdisjoint(apart)}
        linked = _classes(allowed, self.base or ())
        return len({linked[a] for a in some}) > 1

    def _between(self, classes: dict[int, int], costs: Iterable[tuple[int, int, int]], digits: int) -> dict[Pair, int]:
        """The costs within each class, and between two classes, with unlisted costs, times ``2**digits``."""
        between: dict[Pair, int] = defaultdict(int)
        for a, b, cost in costs:
            between[_pair(classes[a], classes[b])] += cost
        if self.missing:
            sizes = Counter(classes.values())
            every = itertools.combinations_with_replacement(sorted(sizes), 2)
            for pair in every if self.missing < 0 else zip(sizes, sizes, strict=True):  # others repel, which costs 0
                between[pair] += 0
            for a, b in between:
                pairs = sizes[a] * sizes[b] if a != b else sizes[a] * (sizes[a] - 1) // 2
                between[a, b] += (self.missing << digits) * pairs
        return between

    def _bound(self, state: State, classes: dict[int, int], exponent: int, rows: list[list[int]]) -> Value:
        """Costs within classes, and negative ones between them, with multiples of inequalities, less right sides."""
        unit, digits = self.costs.unit(exponent)
        reduced: dict[Pair, int] = defaultdict(int)
        for a, b, cost in state.pairs:
            reduced[a, b] = cost << digits
        total = 0
        for kind, split, multiplier, *some in map(_whole, rows):
            if multiplier < 0 or not classes.keys() >= {*some} or (kind < 5 and len({*some}) < len(some)):
                raise Refused(f"an inequality is over {str(some)[:40]}, or its multiplier is negative")
            amount = multiplier * unit
            right, left = self._inequality(kind, split, some)
            total -= amount * right
            for sign, a, b in left:
                reduced[(a, b) if a < b else (b, a)] += sign * amount
        between = self._between(classes, ((a, b, cost) for (a, b), cost in reduced.items()), digits)
        apart = _between_classes(classes, state.cuts)
        total += sum(cost for (a, b), cost in between.items() if a == b or (cost < 0 and (a, b) not in apart))
        return self.costs.value(total, digits)

    def _inequality(self, kind: int, split: int, some: list[int]) -> tuple[int, list[tuple[int, int, int]]]:
        """The right-hand side and the terms (sign, a, b) of the left-hand side; refused if a partition violates it."""
        size, pairs = len(some), list(zip(some[::2], some[1::2], strict=False)) if kind > 4 else []
        is_even = size % 2 == 0
        if kind == 0 and size >= 3 and split == 0:  # a cycle: the pairs along a path, less the pair of its ends
            return size - 2, [*((1, a, b) for a, b in itertools.pairwise(some)), (-1, some[0], some[-1])]
        if kind == 1 and size >= 4 and is_even and split == 1:  # an odd wheel: the pairs of the centre, less its rim
            rim = zip(some[1:], some[2:] + some[1:2], strict=True)
            return size // 2 - 1, [term for a, b in rim for term in ((1, some[0], a), (-1, a, b))]
        if kind == 2 and 0 < split < size:  # a 2-partition: the pairs between S and T, less those within
            both = itertools.combinations(enumerate(some), 2)
            return min(split, size - split), [(1 if i < split <= j else -1, a, b) for (i, a), (j, b) in both]
        is_cut = kind == 5 and split == 2 and size >= 2 and is_even and self.base is not None
        if is_cut and not self._is_linked(pairs):  # a cut: the pair that it separates, less its pairs
            return 0, [(-1 if i else 1, a, b) for i, (a, b) in enumerate(pairs)]
        is_odd_set = kind == 6 and self.most == 2 and is_even and split % 2 == 1 and 2 * split <= size
        if is_odd_set and all(a != b for a, b in pairs) and not any(x % 2 for x in Counter(some).values()):
            # pairs with each element an even number of times: others, less an odd number of them
            return size // 2 - split - 1, [(-1 if i < split else 1, a, b) for i, (a, b) in enumerate(pairs)]
        raise Refused(f"an inequality over {str(some)[:40]} does not hold for every partition")

    def _is_linked(self, cut: list[Pair]) -> bool:
        """Whether base pairs lead from the first element to the second, without those of a cut."""
        ends, *pairs = [(self.class_of[a], self.class_of[b]) for a, b in cut]
        # A pair of one of these two with another element stands for all base pairs of the latter.
        out = {c for pair in pairs if not {*ends}.isdisjoint(pair) for c in pair} - {*ends}
        barred = _between_classes(self.class_of, self.never) | {_pair(*pair) for pair in pairs}
        base = _between_classes(self.class_of, self.base or ()) - barred
        linked = _classes({*self.class_of.values()} - out, base)
        return linked[ends[0]] == linked[ends[1]]

    def cost(self, labels: Sequence[int]) -> Fraction:
        """The cost of a partition; refused if it violates a requirement."""
        _require(len(labels) == self.n, f"there are {len(labels)} labels: expected {self.n}, one for each element")
        sizes, n = Counter(labels), self.n
        inside = [(a, b) for a, b in self.base or () if labels[a] == labels[b]]
        connected = self.base is None or len({*_classes(range(n), inside).values()}) == len(sizes)
        _require(all(labels[a] == labels[b] for a, b in self.joins), "elements that must be together are apart")
        _require(all(labels[a] != labels[b] for a, b in self.never), "elements that must be apart are together")
        _require(max(sizes.values(), default=0) <= (self.max_size or n), "a cluster is too large")
        _require(not n or self.least <= len(sizes) <= (self.most or n), f"{len(sizes)} clusters are not allowed")
        _require(connected, "a cluster is not connected")
        within = sum(cost for (a, b), cost in self._between(dict(enumerate(labels)), self.pairs, 0).items() if a == b)
        return Fraction(within, self.costs.scale)


def _pair(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)


def _between_classes(classes: dict[int, int], pairs: Iterable[Pair]) -> set[Pair]:
    """The pairs of classes that pairs of elements are between."""
    return {_pair(classes[a], classes[b]) for a, b in pairs}


def _part_of(parts: list[list[int]], elements: Set[int]) -> dict[int, int]:
    """The number of the part of each element or variable."""
    part_of = {a: k for k, part in enumerate(parts) for a in part}
    _require(parts and part_of.keys() == elements and sum(map(len, parts)) == len(part_of), "the parts do not fit")
    return part_of


def _classes(elements: Iterable[int], joins: Iterable[Pair]) -> dict[int, int]:
    """For each element, the representative of its class: elements that joins of these connect."""
    parent = {a: a for a in elements}

    def find(a: int) -> int:
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        return a

    for a, b in joins:
        if a in parent and b in parent:
            parent[find(a)] = find(b)
    return {a: find(a) for a in parent}


class Conditioned(NamedTuple):
    """A factor graph after decisions: variables that still have several labels, and the factors over these."""

    labels: dict[int, tuple[int, ...]]  # of each such variable
    factors: list[Factor]
    constant: Any  # a whole number, or inf


class Energy:
    """A factor graph in plain Python: minimise the constant plus the sum of one entry of each table."""

    def __init__(
        self, domains: Sequence[int], factors: Iterable[tuple[Sequence[int], Sequence[float]]], constant: float = 0.0,
        decimals: int | None = None,
    ) -> None:  # fmt: skip
        self.n, self.domains = len(domains), list(domains)
        given = [(tuple(scope), entries) for scope, entries in factors]
        times = Counter(x for _, entries in given for x in entries if x != INF)
        self.costs = _Costs(times + Counter([constant]), decimals)
        self.factors = [(scope, [self.costs.whole.get(x, INF) for x in entries]) for scope, entries in given]
        self.start = self.costs.whole[constant]

    def root(self) -> Conditioned:
        """All variables; those with a single label are decided."""
        labels = {v: tuple(range(d)) for v, d in enumerate(self.domains)}
        single = {v: labels[v] for v, d in enumerate(self.domains) if d == 1}
        return _kept(Conditioned(labels, self.factors, self.start), single)

    def children(self, node: list[Any], state: Conditioned) -> list[Conditioned]:
        """The states of the children of a node; the first of some parts has the constant."""
        if node[0] == "branch":
            _, v, label = node
            _require(label in state.labels.get(v, ()), f"a branch is not on a label that is left: {str(node)[:40]}")
            others = tuple(y for y in state.labels[v] if y != label)
            return [_kept(state, {v: (label,)}), _kept(state, {v: others})]
        part_of = _part_of(node[1], state.labels.keys())
        labels = ({v: state.labels[v] for v in part} for part in node[1])
        parts = [Conditioned(own, [], 0 if k else state.constant) for k, own in enumerate(labels)]
        for scope, entries in state.factors:
            _require(len({part_of[v] for v in scope}) == 1, f"a factor is over {str(scope)[:40]}, in different parts")
            parts[part_of[scope[0]]].factors.append((scope, entries))
        return parts

    def leaf(self, node: list[Any], state: Conditioned) -> Value:
        """The value of a leaf."""
        if state.constant == INF:
            return INF
        _require(node[0] in ("messages", "eliminate"), f"no kind of node: {str(node[0])[:40]!r}")
        total, digits = (self._messages if node[0] == "messages" else self._eliminate)(state, *node[1:])
        return INF if total == INF else self.costs.value(total + (state.constant << digits), digits)

    def _messages(self, state: Conditioned, exponent: int, amounts: Any, scopes: Any = (), links: Any = ()) -> Any:
        """The sum of the least entries of all tables, after each has sent amounts to its variables and to others."""
        unit, digits = self.costs.unit(exponent)
        unary = {v: [0] * len(labels) for v, labels in state.labels.items()}
        tables: list[Factor] = []
        for scope, given in state.factors:
            entries = [x if x == INF else x << digits for x in given]
            if len(scope) > 1:
                tables.append((scope, entries))
            else:
                unary[scope[0]] = [x + y for x, y in zip(unary[scope[0]], entries, strict=True)]
        for scope in map(tuple, scopes):
            _require(1 < len(scope) == len(set(scope)), f"an added factor is over {str(scope)[:40]}")
            tables.append((scope, [0] * _entries(scope, state)))
        place = {v: len(tables) + i for i, v in enumerate(unary)}  # of the table of each variable
        numbers = iter(_whole(amounts))
        moves = [(place[v], k) for k, (scope, _) in enumerate(tables) for v in scope]
        tables += (((v,), entries) for v, entries in unary.items())
        for small, large in (*moves, *links):
            (scope, entries), (whole, others) = tables[small], tables[large]
            _require(min(small, large) >= 0 and {*scope} < {*whole}, f"a link joins {str((scope, whole))[:60]}")
            moved = [x * unit for x in itertools.islice(numbers, len(entries))]
            tables[large] = whole, [x - y for x, y in zip(others, _spread(scope, moved, whole, state), strict=True)]
            tables[small] = scope, [x + y for x, y in zip(entries, moved, strict=True)]
        _require(next(numbers, None) is None, "there are more messages than labels")
        return sum(min(entries) for _, entries in tables), digits

    def _eliminate(self, state: Conditioned, order: list[int]) -> tuple[Any, int]:
        """The minimum, by elimination of one variable after another."""
        _require(sorted(order) == sorted(state.labels), "the order of elimination does not have each variable once")
        place = {v: k for k, v in enumerate(order)}
        # by their first variable; at last, without any
        tables: list[list[Factor]] = [[] for _ in range(len(order) + 1)]
        for scope, entries in state.factors:
            tables[min(place[v] for v in scope)].append((scope, entries))
        for v, mine in zip(order, tables, strict=False):
            rest = tuple(sorted({w for scope, _ in mine for w in scope} - {v}))
            _entries((*rest, v), state)
            tables[min((place[w] for w in rest), default=-1)].append((rest, self._least(mine, (*rest, v), state)))
        return sum(entries[0] for _, entries in tables[-1]), 0

    def _least(self, tables: list[Factor], whole: Sequence[int], state: Conditioned) -> list[Any]:
        """The least sum of some tables over the labels of the last variable, for all labels of the others."""
        spread, d = [_spread(scope, entries, whole, state) for scope, entries in tables], len(state.labels[whole[-1]])
        summed = [sum(column) for column in zip(*spread, strict=True)] or [0] * d
        return [min(summed[i : i + d]) for i in range(0, len(summed), d)]

    def cost(self, labels: Sequence[int], state: Conditioned | None = None) -> Fraction:
        """The energy of a labeling, or that of a state which agrees with it; refused if a factor forbids it."""
        fits = len(labels) == self.n and all(0 <= y < d for y, d in zip(labels, self.domains, strict=True))
        _require(fits, f"the labels do not fit: expected one for each of {self.n} variables, in its domain")
        state = state or self.root()
        energy = _kept(state, {v: (labels[v],) for v in state.labels}).constant
        _require(energy != INF, "the labels are forbidden by a factor")
        return Fraction(energy, self.costs.scale)


def _entries(scope: Sequence[int], state: Conditioned) -> int:
    """The number of entries of a table over some variables; refused if there are too many."""
    entries = math.prod(len(state.labels[v]) for v in scope)
    _require(entries <= LARGEST_TABLE, "a table is too large")
    return entries


def _spread(scope: Sequence[int], entries: Any, whole: Sequence[int], state: Conditioned, kept: Any = None) -> Any:
    """A table over some variables as one over more of them, the last of which runs fastest, with labels in `kept`."""
    stride, at = {}, 1
    for v in reversed(scope):
        stride[v], at = at, at * len(state.labels[v])
    _require(at == len(entries), "there are fewer messages than labels")
    places = [0]
    for v in whole:
        steps = [stride.get(v, 0) * j for j in (kept or {}).get(v, range(len(state.labels[v])))]
        places = [place + step for place in places for step in steps]
    return [entries[place] for place in places]


def _kept(state: Conditioned, chosen: dict[int, tuple[int, ...]]) -> Conditioned:
    """The state with these labels of some variables left; a variable with one label is in no factor any more."""
    labels = state.labels | chosen
    kept = {v: [j for j, y in enumerate(state.labels[v]) if y in some] for v, some in chosen.items()}
    factors, constant = [], state.constant
    for scope, entries in state.factors:
        if not kept.keys().isdisjoint(scope):
            entries = _spread(scope, entries, scope, state, kept)
            scope = tuple(v for v in scope if len(labels[v]) > 1)
        if scope:
            factors.append((scope, entries))
        else:
            constant += entries[0]
    return Conditioned({v: some for v, some in labels.items() if len(some) > 1}, factors, constant)


def read_instance(path: str, decimals: int | None) -> tuple[Partition | Energy, int, float, list[str]]:
    """(problem, sense, offset, names): the objective of the file is ``sense * cost + offset``.

    Formats: csv (``u,v,cost`` or ``u,v,weight``, pairs only), MULTICUT, PACE, clique partitioning text, and UAI.
    """
    text = _text(path)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("c ", "%"))]
    words = lines[0].split() if lines else []
    names, base, missing, sense, offset = None, None, 0.0, 1, 0.0
    if words[:1] in (["MARKOV"], ["BAYES"]):
        numbers = map(float, text.split()[1:])

        def some() -> Iterator[float]:  # as many numbers as the next one says
            return itertools.islice(numbers, int(next(numbers)))

        domains = [int(x) for x in some()]
        scopes = [[int(x) for x in some()] for _ in range(int(next(numbers)))]
        tables = [[INF if x == 0 else 0.0 - math.log(x) for x in some()] for _ in scopes]
        return Energy(domains, zip(scopes, tables, strict=True), 0.0, decimals), -1, 0.0, []
    if words == ["MULTICUT"]:
        rows = [(int(a), int(b), float(w)) for a, b, w in (line.split() for line in lines[1:] if line != "LIFTED")]
        base = [(a, b) for a, b, _ in rows[: lines.index("LIFTED") - 1]] if "LIFTED" in lines else None
        n = 1 + max(max(a, b) for a, b, _ in rows)
        pairs, offset = [(a, b, -w) for a, b, w in rows], math.fsum(w for *_, w in rows if abs(w) < INF)
    elif words[:2] == ["p", "cep"]:
        n, missing, offset = int(words[2]), 1.0, float(len(lines) - 1)
        pairs = [(int(a) - 1, int(b) - 1, -2.0) for a, b in map(str.split, lines[1:])]
    elif len(words) == 1 and words[0].isdigit():
        n, sense = int(words[0]), -1
        pairs = [(*ab, -float(w)) for ab, w in zip(itertools.combinations(range(n), 2), text.split()[1:], strict=True)]
    else:
        header, *table = list(csv.reader(lines, skipinitialspace=True)) or [[]]
        is_plain = all(len(row) == 3 and row[0] and (row[1] or not row[2]) for row in table)
        if not is_plain or [word.lower() for word in header] not in (["u", "v", "cost"], ["u", "v", "weight"]):
            raise Refused(f"{path} is in no format that check.py reads: expected graphpart verify --exact")
        names = list(dict.fromkeys(name for row in table for name in row[:2] if name))
        if all(name.removeprefix("-").isdigit() for name in names):
            names.sort(key=int)
        place, sign = {name: i for i, name in enumerate(names)}, 1 if header[2].lower() == "cost" else -1
        n, pairs = len(names), [(place[a], place[b], sign * float(cost)) for a, b, cost in table if b]
    problem = Partition(n, pairs, decimals, missing=missing, base=base)
    return problem, sense, offset, names or [str(a) for a in range(n)]


def _text(path: str) -> str:
    with open(path, "rb") as stream:
        content = stream.read()
    content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    _require(0 not in content[:1000], f"{path} is no text: expected csv, MULTICUT, PACE or UAI, and JSON")
    return content.decode()


def read_labels(path: str, names: list[str]) -> list[Any]:
    """Labels: an integer a line, a CSV table with the names of elements and their clusters, or a result of UAI."""
    lines = _text(path).split("\n")
    if lines[0].strip() in ("MPE", "MAP"):
        return [int(word) for word in lines[1].split()[1:]]
    if "," not in lines[0]:
        return [int(line) for line in lines if line.strip()]
    rows = list(csv.DictReader(lines))
    name, label = list(rows[0])[:2]
    if label == "label" or not names:
        return [int(row[label]) for row in rows]
    found = {row[name]: row[label] for row in rows}
    return [found[element] for element in names]


def main(arguments: Sequence[str]) -> int:
    """Check the files that the arguments name; 0 if the labels are optimal, 1 if not, 2 without three arguments."""
    if len(arguments) != 3:
        print("usage: python check.py INSTANCE LABELS CERTIFICATE", file=sys.stderr)
        return 2
    try:
        certificate = json.loads(_text(arguments[2]))
        is_ours = isinstance(certificate, dict) and certificate.get("format") == FORMAT
        _require(is_ours, f"{arguments[2]} is no certificate of an optimal solution")
        problem, sense, offset, names = read_instance(arguments[0], certificate.get("decimals"))
        report = check(problem, certificate, read_labels(arguments[1], names))
    except (Refused, OSError, EOFError, zlib.error, ValueError, TypeError, LookupError, StopIteration) as error:
        print(f"check.py: {str(error) or 'a file ends early'}".splitlines()[0][:300], file=sys.stderr)
        return 1
    print(report.text(sense, offset))
    return 0 if report.optimal else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

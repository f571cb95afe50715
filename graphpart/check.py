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
* ``["contradiction", reason, ...]``, a leaf: no partition agrees with all decisions.
* ``["messages", e, amounts, scopes, links, amounts]`` and ``["eliminate", variables]``, leaves of a factor graph: a
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


class Report(NamedTuple):
    """What a check has found: `cost` is that of the labels, `rounding` the largest change of any cost by decimals."""

    bound: Value
    leaves: int
    inequalities: int
    cost: Fraction | None
    optimal: bool
    rounding: Fraction

    def text(self, sense: int = 1, offset: float = 0.0) -> str:
        """The report in one sentence; a cost c is shown as ``sense * c + offset``."""
        bound, cost = (f"{sense * float(x or 0) + offset:.12g}" for x in (self.bound, self.cost))
        rows = f"{self.inequalities:,} inequalities, " if self.inequalities else ""
        said = f"{self.leaves:,} {'leaf' if self.leaves == 1 else 'leaves'}, {rows}the bound is {bound}"
        if self.cost is None:
            return said
        end = "optimal" if self.optimal else "the bound is valid, but the labels are not proven optimal"
        if self.optimal and self.cost - self.bound > self.rounding:
            end += f" up to {float(self.cost - self.bound):.2g}"
        return f"{said}, the labels cost {cost}: {end}"


# ------------------------------------------------------------------------------------------------------------- the tree


def check(problem: Partition | Energy, certificate: dict[str, Any], labels: Sequence[int] | None = None) -> Report:
    """Check a certificate (the fields of `HEADER`, `nodes` and `seal`), and labels if given.

    The problem has to be made with the `decimals` of the certificate. Raises `Refused` if the certificate does not
    prove its bound for this problem, or the labels are not feasible.
    """
    kind = "partition" if isinstance(problem, Partition) else "factor graph"
    counts: Counter[str] = Counter()
    try:
        if certificate["kind"] != kind or certificate["n"] != problem.n:
            found = f"{certificate['kind']} of {certificate['n']}"
            raise Refused(f"the certificate is for a {found}: expected a {kind} of {problem.n} elements or variables")
        if certificate["seal"] != seal_of(certificate):
            raise Refused("the seal does not fit: the certificate was altered after it was made")
        tolerance, stated = Fraction(certificate["tolerance"]), Fraction(certificate["bound"])
        if not 0 <= tolerance <= SHARE * problem.size:
            raise Refused(f"the tolerance is {float(tolerance)}: expected at most 1e-7 of the sum of absolute costs")
        nodes = iter(certificate["nodes"])
        value = _value(nodes, problem, problem.root(), counts)
        if next(nodes, None) is not None:
            raise Refused("a node follows after the tree is complete")
    except RecursionError:
        raise Refused("the tree is too deep: expected less than about 400 decisions on a path") from None
    except (TypeError, IndexError, KeyError, ValueError, OverflowError, AttributeError) as error:
        raise Refused(f"the certificate is damaged ({str(error)[:80]})") from None
    bound = value - problem.error if value != INF else INF
    if bound < stated - tolerance:
        raise Refused(f"the certificate proves {float(bound)!r} only: expected {certificate['bound']!r}, as it states")
    if bound > stated + tolerance + 2 * problem.error + problem.size / 2**44:
        raise Refused(f"the certificate proves more than the {certificate['bound']!r} that it states: another instance")
    cost = None if labels is None else problem.cost(labels)
    if cost is not None and bound > cost + problem.error:
        raise Refused(f"the labels cost {float(cost)!r}, less than the bound {float(bound)!r}")
    optimal = cost is not None and cost <= bound + problem.error + tolerance
    return Report(bound, counts["leaves"], counts["rows"], cost, optimal, 2 * problem.error)


def seal_of(certificate: dict[str, Any]) -> str:
    """SHA-256 of the header and of all nodes."""
    digest = hashlib.sha256(json.dumps([certificate[name] for name in HEADER]).encode())
    for node in certificate["nodes"]:
        digest.update(json.dumps(node, separators=(",", ":")).encode())
    return digest.hexdigest()


def _value(nodes: Iterator[Any], problem: Partition | Energy, state: Any, counts: Counter[str]) -> Value:
    """The value of the next node, in a state that follows from the decisions above it."""
    node = next(nodes, None)
    if node is None:
        raise Refused("the tree ends early: a leaf is missing")
    if node[0] not in ("branch", "parts"):
        counts["leaves"] += 1
        return problem.leaf(node, state, counts)
    values = [_value(nodes, problem, child, counts) for child in problem.children(node, state)]
    return min(values) if node[0] == "branch" else INF if INF in values else sum(values)


def _unit(exponent: Any) -> tuple[int, int]:
    """``2**-exponent`` as (numerator, binary digits of the denominator)."""
    if abs(*_whole([exponent])) > LARGEST_EXPONENT:
        raise Refused(f"the exponent of a unit is {str(exponent)[:40]}: expected at most {LARGEST_EXPONENT}")
    return 1 << max(0, -exponent), max(0, exponent)


def _whole(values: Iterable[Any]) -> list[int]:
    found = list(values)
    if not all(type(x) is int for x in found):
        raise Refused("a number is not whole: the certificate is damaged")
    return found


class _Costs:
    """Costs as whole numbers of one unit, 1 / `scale`, rounded to decimals first if a number of these is given.

    `step` divides all of them; `error` and `size` are the sums of all changes, and of all absolute costs.
    """

    def __init__(self, times: Counter[Any], decimals: int | None) -> None:
        if decimals is not None and not 0 <= decimals <= 20:
            raise Refused(f"the number of decimals is {decimals}: expected 0 to 20")
        exact = {x: Fraction(x) if decimals is None else round(Fraction(x), decimals) for x in times}
        self.scale = math.lcm(*(x.denominator for x in exact.values()))
        self.whole = {x: int(rounded * self.scale) for x, rounded in exact.items()}
        self.step = math.gcd(*self.whole.values())
        self.error = sum((k * abs(exact[x] - Fraction(x)) for x, k in times.items()), Fraction(0))
        self.size = sum((k * abs(Fraction(x)) for x, k in times.items()), Fraction(0))

    def value(self, total: int, digits: int) -> Fraction:
        """``total / 2**digits`` units as a fraction, rounded up to a multiple of the step."""
        if not self.step:
            return Fraction(0)  # all costs are 0
        return Fraction(-(-total // (self.step << digits)) * self.step, self.scale)


# -------------------------------------------------------------------------------------------------------- set partition


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
        if not all(0 <= a < n and 0 <= b < n and a != b for a, b, _ in listed):
            raise Refused(f"a pair is not of two different elements from 0 to {n - 1}")
        times = Counter(cost for *_, cost in listed if abs(cost) != INF)
        self.costs = _Costs(times + Counter({missing: n * (n - 1) // 2}), decimals)
        self.error, self.size = self.costs.error, self.costs.size
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
        everything = frozenset(range(self.n))
        return State(everything, self.pairs, self.joins, [*self.never], self.base is not None, self.least)

    def children(self, node: list[Any], state: State) -> list[State]:
        """The states of the children of a node."""
        if node[0] == "branch":
            a, b = _whole(node[1:])
            if a == b or not {a, b} <= state.elements:
                raise Refused(f"a branch is on {a} and {b}: expected two elements of its part")
            pair = _pair(a, b)
            return [state._replace(joins=[*state.joins, pair]), state._replace(cuts=[*state.cuts, pair])]
        part_of = _part_of(node[1], state.elements)
        classes = _classes(state.elements, state.joins)
        if any(part_of[a] != part_of[k] for a, k in classes.items()):
            raise Refused("two elements that are together are in different parts")
        base = ((a, b) for a, b in self.base or () if a in part_of and b in part_of)
        connected = state.connected and all(part_of[a] == part_of[b] for a, b in base)
        if not connected:  # else no cluster has elements of two parts
            apart = _between_classes(classes, state.cuts)
            across = [pair for pair in state.pairs if part_of[pair[0]] != part_of[pair[1]]]
            for (a, b), cost in self._between(classes, across, 0)[1].items():
                if cost < 0 and (a, b) not in apart and part_of[a] != part_of[b]:
                    raise Refused(f"the elements {a} and {b} attract each other: expected them in one part")

        def within(pairs: Sequence[Any]) -> list[list[Any]]:
            found: list[list[Any]] = [[] for _ in node[1]]
            for pair in pairs:
                if part_of[pair[0]] == part_of[pair[1]]:
                    found[part_of[pair[0]]].append(pair)
            return found

        inside = zip(node[1], within(state.pairs), within(state.joins), within(state.cuts), strict=True)
        return [State(frozenset(part), pairs, joins, cuts, connected, 1) for part, pairs, joins, cuts in inside]

    def leaf(self, node: list[Any], state: State, counts: Counter[str]) -> Value:
        """The value of a leaf."""
        classes = _classes(state.elements, [*state.joins, *self._same_side(state)])
        if node[0] == "contradiction":
            if not self._contradicts(node[1], node[2:], state, classes):
                raise Refused(f"the contradiction {str(node[1:])[:60]} does not hold")
            return INF
        if node[0] != "inequalities":
            raise Refused(f"a node of the kind {str(node[0])[:40]!r}: expected one that check.py describes")
        counts["rows"] += len(node[2])
        return self._bound(state, classes, node[1], node[2])

    def _same_side(self, state: State) -> list[Pair]:
        """What follows if there are two clusters: elements that an even number of cuts connects are together."""
        if self.most != 2:
            return []
        n = self.n  # a + n: the side where a is not
        links = [(a + s, b + s) for a, b in state.joins for s in (0, n)]
        links += [(a + s, b + n - s) for a, b in state.cuts for s in (0, n)]
        both = _classes((a + s for a in state.elements for s in (0, n)), links)
        first: dict[int, int] = {}
        return [(a, first.setdefault(both[a], a)) for a in state.elements]

    def _contradicts(self, kind: str, what: list[Any], state: State, classes: dict[int, int]) -> bool:
        """Whether a reason shows that no partition agrees with the decisions."""
        apart = _between_classes(classes, state.cuts)
        if kind == "cut":  # two elements that must be apart are together
            a, b = what
            return classes[a] == classes[b] and _pair(a, b) in state.cuts
        if kind == "size":  # too many elements are together with this one
            members = sum(of == classes[what[0]] for of in classes.values())
            return self.max_size is not None and members > self.max_size
        if kind == "fewer":  # so many elements are together that too few clusters are left
            return len(set(classes.values())) < state.least
        if kind == "more":  # so many elements are apart that there are too many clusters
            pairs = [_pair(classes[a], classes[b]) for a, b in itertools.combinations(what[0], 2)]
            return self.most is not None and len(what[0]) > self.most and all(pair in apart for pair in pairs)
        if kind != "unlinked" or not state.connected:
            return False
        a, b = what  # no base pairs connect these two, which are together, through elements that may be with them
        allowed = {c for c in classes if _pair(classes[a], classes[c]) not in apart} | {a, b}
        linked = _classes(allowed, self.base or ())
        return classes[a] == classes[b] and linked[a] != linked[b]

    def _between(self, classes: dict[int, int], costs: Iterable[tuple[int, int, int]], digits: int) -> tuple[int, Any]:
        """The sum of costs within classes, and those between two classes, with unlisted costs, times ``2**digits``."""
        between: dict[Pair, int] = defaultdict(int)
        within = 0
        for a, b, cost in costs:
            first, second = classes[a], classes[b]
            if first == second:
                within += cost
            else:
                between[(first, second) if first < second else (second, first)] += cost
        if self.missing:
            each = self.missing << digits
            sizes = Counter(classes.values())
            within += each * sum(size * (size - 1) // 2 for size in sizes.values())
            if self.missing < 0:  # else pairs that are in no inequality contribute 0
                for pair in itertools.combinations(sorted(sizes), 2):
                    between[pair] += 0
            for a, b in between:
                between[a, b] += each * sizes[a] * sizes[b]
        return within, between

    def _bound(self, state: State, classes: dict[int, int], exponent: int, rows: list[list[int]]) -> Value:
        """Costs within classes, and negative ones between them, with multiples of inequalities, less right sides."""
        numerator, digits = _unit(exponent)
        unit = numerator * self.costs.scale  # the unit of multipliers, in that of the reduced costs
        reduced: dict[Pair, int] = defaultdict(int)
        for a, b, cost in state.pairs:
            reduced[a, b] = cost << digits
        total = 0
        for kind, split, multiplier, *some in map(_whole, rows):
            if multiplier < 0:
                raise Refused(f"a multiplier is {multiplier}: expected at least 0")
            if not classes.keys() >= {*some} or (kind < 5 and len({*some}) < len(some)):
                raise Refused(f"an inequality is over {some[:12]}: expected different elements of its part")
            amount = multiplier * unit
            right, left = self._inequality(kind, split, some)
            total -= amount * right
            for sign, a, b in left:
                reduced[(a, b) if a < b else (b, a)] += sign * amount
        within, between = self._between(classes, ((a, b, cost) for (a, b), cost in reduced.items()), digits)
        apart = _between_classes(classes, state.cuts)
        total += within + sum(cost for pair, cost in between.items() if cost < 0 and pair not in apart)
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
        raise Refused(f"an inequality of kind {kind} over {some[:12]} does not hold for every partition")

    def _is_linked(self, cut: list[Pair]) -> bool:
        """Whether base pairs lead from the first element to the second, without those of a cut.

        A pair of one of these two with another element stands for all base pairs of the latter.
        """
        ends, *pairs = [(self.class_of[a], self.class_of[b]) for a, b in cut]
        out = {c for pair in pairs if not {*ends}.isdisjoint(pair) for c in pair} - {*ends}
        barred = _between_classes(self.class_of, self.never) | {_pair(*pair) for pair in pairs}
        base = _between_classes(self.class_of, self.base or ()) - barred
        linked = _classes({*self.class_of.values()} - out, base)
        return linked[ends[0]] == linked[ends[1]]

    def cost(self, labels: Sequence[int]) -> Fraction:
        """The cost of a partition; refused if it violates a requirement."""
        if len(labels) != self.n:
            raise Refused(f"there are {len(labels)} labels: expected {self.n}, one for each element")
        sizes, most = Counter(labels), self.n if self.most is None else self.most
        inside = [(a, b) for a, b in self.base or () if labels[a] == labels[b]]
        violations = {
            "two elements that must be together are apart": any(labels[a] != labels[b] for a, b in self.joins),
            "two elements that must be apart are together": any(labels[a] == labels[b] for a, b in self.never),
            "a cluster is too large": max(sizes.values(), default=0) > (self.max_size or self.n),
            f"{len(sizes)} is not a number of clusters that is allowed": self.n
            and not self.least <= len(sizes) <= most,
            "a cluster is not connected": self.base is not None
            and len({*_classes(range(self.n), inside).values()}) > len(sizes),
        }
        for text, is_true in violations.items():
            if is_true:
                raise Refused(text)
        return Fraction(self._between(dict(enumerate(labels)), self.pairs, 0)[0], self.costs.scale)


def _pair(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)


def _between_classes(classes: dict[int, int], pairs: Iterable[Pair]) -> set[Pair]:
    """The pairs of classes that pairs of elements are between."""
    return {_pair(classes[a], classes[b]) for a, b in pairs}


def _part_of(parts: list[list[int]], elements: Set[int]) -> dict[int, int]:
    """The number of the part of each element or variable."""
    part_of = {a: k for k, part in enumerate(parts) for a in part}
    if not parts or part_of.keys() != elements or sum(map(len, parts)) != len(part_of):
        raise Refused("the parts of a node are not a partition of its elements or variables")
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


# ---------------------------------------------------------------------------------------------------- factor graphs


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
        self.error, self.size = self.costs.error, self.costs.size
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
            if label not in state.labels.get(v, ()):
                raise Refused(f"a branch is on variable {v} and label {label}: expected a label that is left")
            others = tuple(y for y in state.labels[v] if y != label)
            return [_kept(state, {v: (label,)}), _kept(state, {v: others})]
        part_of = _part_of(node[1], state.labels.keys())
        factors: list[list[Factor]] = [[] for _ in node[1]]
        for scope, entries in state.factors:
            if len({part_of[v] for v in scope}) > 1:
                raise Refused(f"a factor is over {scope[:8]}, which are in different parts")
            factors[part_of[scope[0]]].append((scope, entries))
        labels = ({v: state.labels[v] for v in part} for part in node[1])
        return [Conditioned(own, factors[k], 0 if k else state.constant) for k, own in enumerate(labels)]

    def leaf(self, node: list[Any], state: Conditioned, counts: Counter[str]) -> Value:
        """The value of a leaf."""
        if state.constant == INF:
            return INF
        if node[0] not in ("messages", "eliminate"):
            raise Refused(f"a node of the kind {str(node[0])[:40]!r}: expected one that check.py describes")
        total, digits = (self._messages if node[0] == "messages" else self._eliminate)(state, *node[1:])
        return INF if total == INF else self.costs.value(total + (state.constant << digits), digits)

    def _messages(
        self, state: Conditioned, exponent: int, sent: list[int], scopes: Any = (), links: Any = (), between: Any = ()
    ) -> tuple[Any, int]:
        """The sum of the least entries of all tables, after each has sent amounts to its variables and to others."""
        numerator, digits = _unit(exponent)
        unit = numerator * self.costs.scale
        unary = {v: [0] * len(labels) for v, labels in state.labels.items()}
        tables: list[Factor] = []
        for scope, entries in state.factors:
            shifted = [x if x == INF else x << digits for x in entries]
            if len(scope) == 1:
                unary[scope[0]] = [x + y for x, y in zip(unary[scope[0]], shifted, strict=True)]
            else:
                tables.append((scope, shifted))
        for scope in map(tuple, scopes):
            if len(set(scope)) < len(scope) or len(scope) < 2:
                raise Refused(f"an added factor is over {scope[:8]}: expected different variables")
            if _entries(scope, state) > LARGEST_TABLE:
                raise Refused(f"an added factor needs a table of more than {LARGEST_TABLE} entries")
            tables.append((scope, [0] * _entries(scope, state)))
        place = {v: len(tables) + i for i, v in enumerate(unary)}  # of the table of each variable
        amounts, more = iter(_whole(sent)), iter(_whole(between))
        moves = [(place[v], k, amounts) for k, (scope, _) in enumerate(tables) for v in scope]
        moves += [(small, large, more) for small, large in links]
        tables += (((v,), entries) for v, entries in unary.items())
        for small, large, given in moves:
            (scope, entries), (whole, others) = tables[small], tables[large]
            if min(small, large) < 0 or not set(scope) < set(whole):
                raise Refused(f"a link joins {scope[:8]} and {whole[:8]}: expected one within the other")
            moved = [x * unit for x in itertools.islice(given, len(entries))]
            tables[large] = whole, [x - y for x, y in zip(others, _spread(scope, moved, whole, state), strict=True)]
            tables[small] = scope, [x + y for x, y in zip(entries, moved, strict=True)]
        if next(amounts, None) is not None or next(more, None) is not None:
            raise Refused("there are more messages than labels that they go to")
        return sum(min(entries) for _, entries in tables), digits

    def _eliminate(self, state: Conditioned, order: list[int]) -> tuple[Any, int]:
        """The minimum, by elimination of one variable after another."""
        if sorted(order) != sorted(state.labels):
            raise Refused("the order of elimination does not have each variable once")
        place, total = {v: k for k, v in enumerate(order)}, 0
        tables: list[list[Factor]] = [[] for _ in order]  # by their first variable
        for scope, entries in state.factors:
            tables[min(place[v] for v in scope)].append((scope, entries))
        for v, mine in zip(order, tables, strict=True):
            rest = tuple(sorted({w for scope, _ in mine for w in scope} - {v}))
            if _entries((*rest, v), state) > LARGEST_TABLE:
                raise Refused(f"elimination needs a table of more than {LARGEST_TABLE} entries")
            spread = [_spread(scope, entries, (*rest, v), state) for scope, entries in mine]
            d = len(state.labels[v])
            summed = [sum(column) for column in zip(*spread, strict=True)] or [0] * d
            least = [min(summed[i : i + d]) for i in range(0, len(summed), d)]
            if rest:
                tables[min(place[w] for w in rest)].append((rest, least))
            else:
                total += least[0]
        return total, 0

    def cost(self, labels: Sequence[int]) -> Fraction:
        """The energy of a labeling; refused if a factor forbids it."""
        if len(labels) != self.n or not all(0 <= y < d for y, d in zip(labels, self.domains, strict=True)):
            raise Refused(f"the labels do not fit: expected one for each of {self.n} variables, in its domain")
        energy = self.of_labels(self.root(), labels)
        if energy == INF:
            raise Refused("the labels are forbidden by a factor")
        return Fraction(energy)

    def of_labels(self, state: Conditioned, labels: Sequence[int]) -> Value:
        """The energy of a labeling in a state that agrees with it."""
        chosen: dict[int, tuple[int, ...]] = {v: (labels[v],) for v in state.labels}
        constant = _kept(state, chosen).constant
        return INF if constant == INF else Fraction(constant, self.costs.scale)


def _entries(scope: Sequence[int], state: Conditioned) -> int:
    return math.prod(len(state.labels[v]) for v in scope)


def _spread(
    scope: Sequence[int], entries: Sequence[Any], whole: Sequence[int], state: Conditioned,
    kept: dict[int, list[int]] | None = None,
) -> list[Any]:  # fmt: skip
    """A table over some variables as one over more of them, the last of which runs fastest.

    Of the labels of a variable in `kept`, only those with these numbers are left.
    """
    stride, at = {}, 1
    for v in reversed(scope):
        stride[v], at = at, at * len(state.labels[v])
    if at != len(entries):
        raise Refused("there are fewer messages than labels that they go to")
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


# ---------------------------------------------------------------------------------------------------------------- files


def read_instance(path: str, decimals: int | None) -> tuple[Partition | Energy, int, float, list[str]]:
    """(problem, sense, offset, names): the objective of the file is ``sense * cost + offset``.

    Formats: csv (``u,v,cost`` or ``u,v,weight``, without further kinds of lines), MULTICUT, PACE cluster editing,
    clique partitioning text, and UAI factor graphs.
    """
    text = _text(path)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("c ", "%"))]
    words = lines[0].split() if lines else []
    pairs: list[tuple[int, int, float]]
    names, base, missing, sense, offset = None, None, 0.0, 1, 0.0
    if words[:1] in (["MARKOV"], ["BAYES"]):
        return _uai(text.split()[1:], decimals), -1, 0.0, []
    if words == ["MULTICUT"]:
        end = lines.index("LIFTED") if "LIFTED" in lines else len(lines)
        rows = [(int(a), int(b), float(w)) for a, b, w in (line.split() for line in lines[1:] if line != "LIFTED")]
        base = [(a, b) for a, b, w in rows[: end - 1]] if end < len(lines) else None
        n = 1 + max(max(a, b) for a, b, _ in rows)
        pairs, offset = [(a, b, -w) for a, b, w in rows], math.fsum(w for *_, w in rows if abs(w) < INF)
    elif words[:2] == ["p", "cep"]:
        n, missing, offset = int(words[2]), 1.0, float(len(lines) - 1)
        pairs = [(int(a) - 1, int(b) - 1, -2.0) for a, b in map(str.split, lines[1:])]
    elif lines and lines[0].replace('"', "").lower() in ("u,v,cost", "u,v,weight"):
        table = list(csv.reader(lines[1:], skipinitialspace=True))
        if any(len(row) != 3 or not (row[0] and (row[1] or not row[2])) for row in table):
            raise Refused(f"{path} has lines other than pairs: check the certificate by graphpart verify --exact")
        names = list(dict.fromkeys(name for row in table for name in row[:2] if name))
        if all(name.removeprefix("-").isdigit() for name in names):
            names.sort(key=int)
        place, sign = {name: i for i, name in enumerate(names)}, -1 if "weight" in lines[0].lower() else 1
        n, pairs = len(names), [(place[first], place[second], sign * float(c)) for first, second, c in table if second]
    elif len(words) == 1 and words[0].isdigit():
        n, sense = int(words[0]), -1
        both = itertools.combinations(range(n), 2)
        pairs = [(a, b, -float(w)) for (a, b), w in zip(both, text.split()[1:], strict=True)]
    else:
        raise Refused(f"{path} is in no format that check.py reads: check the certificate by graphpart verify --exact")
    problem = Partition(n, pairs, decimals, missing=missing, base=base)
    return problem, sense, offset, names or [str(a) for a in range(n)]


def _text(path: str) -> str:
    with open(path, "rb") as stream:
        content = stream.read()
    return (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode()


def _uai(words: list[str], decimals: int | None) -> Energy:
    numbers = iter(words)

    def whole(count: int) -> list[int]:
        return [int(next(numbers)) for _ in range(count)]

    domains = whole(*whole(1))
    scopes = [whole(*whole(1)) for _ in range(*whole(1))]
    tables = [[float(next(numbers)) for _ in range(*whole(1))] for _ in scopes]
    costs = [[INF if x == 0 else 0.0 - math.log(x) for x in table] for table in tables]
    constant = math.fsum(costs[k][0] for k, scope in enumerate(scopes) if not scope)
    return Energy(domains, [(s, t) for s, t in zip(scopes, costs, strict=True) if s], constant, decimals)


def read_labels(path: str, names: list[str]) -> list[int]:
    """Labels: an integer a line, a CSV table with the names of elements and their clusters, or a result of UAI."""
    lines = _text(path).split("\n")
    if lines[0].strip() in ("MPE", "MAP"):
        return [int(word) for word in lines[1].split()[1:]]
    if "," not in lines[0]:
        return [int(line) for line in lines if line.strip()]
    rows = list(csv.DictReader(lines))
    name, label = list(rows[0])[:2]
    found = {row[name]: row[label] for row in rows}
    number = {cluster: k for k, cluster in enumerate(dict.fromkeys(found.values()))}
    if label == "label" or not names:
        return [int(row[label]) for row in rows]
    return [number[found[element]] for element in names]


def main(arguments: Sequence[str]) -> int:
    """Check the files that the arguments name; 0 if the labels are optimal, 1 if not, 2 without three arguments."""
    if len(arguments) != 3:
        print("usage: python check.py INSTANCE LABELS CERTIFICATE", file=sys.stderr)
        return 2
    try:
        certificate = json.loads(_text(arguments[2]))
        if not isinstance(certificate, dict) or certificate.get("format") != FORMAT:
            raise Refused(f"{arguments[2]} is no certificate of an optimal solution")
        problem, sense, offset, names = read_instance(arguments[0], certificate.get("decimals"))
        report = check(problem, certificate, read_labels(arguments[1], names))
    except (Refused, OSError, EOFError, zlib.error, ValueError, TypeError, LookupError, StopIteration) as error:
        print(f"check.py: {str(error) or 'a file ends early'}".splitlines()[0][:300], file=sys.stderr)
        return 1
    print(report.text(sense, offset))
    return 0 if report.optimal else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

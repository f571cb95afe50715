"""Naive references of the local searches: the definitions, word by word, in exact arithmetic.

Each takes a problem and canonical labels, and yields the labels after each step: a join, a move, an outer iteration.
They are cubic or worse, and share nothing with the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import graphpart as gp

Labels = list[int]
FORBIDDEN = math.inf


class Base:
    """The base pairs that have to connect subsets; if a problem has none, nothing is asked of them."""

    def __init__(self, p: gp.SetPartition, of: Labels) -> None:
        self.any = p.lifted is not None
        self.near: dict[int, set[int]] = {}
        for a, b, lifted in zip(p.u, p.v, p.lifted, strict=True) if self.any else ():
            if not lifted:
                self.near.setdefault(of[a], set()).add(of[b])
                self.near.setdefault(of[b], set()).add(of[a])

    def link(self, some: list[int], others: list[int]) -> bool:
        """Whether a base pair links two sets."""
        return not self.any or any(not self.near.get(a, set()).isdisjoint(others) for a in some)

    def connect(self, some: list[int]) -> bool:
        """Whether base pairs connect a set."""
        reached, left = set(some[:1]), set(some)
        while more := {b for a in reached for b in self.near.get(a, set()) & left} - reached:
            reached |= more
        return not self.any or reached == left

    def may_leave(self, a: int, labels: Labels) -> bool:
        return self.connect([b for b in range(len(labels)) if labels[b] == labels[a] and b != a])


class Units:
    """What moves and joins: the sets of elements that required joins tie together, with exact costs between them."""

    def __init__(self, p: gp.SetPartition) -> None:
        self.of = canonical(_blocks(p))
        self.n = max(self.of, default=-1) + 1
        self.tolerance = Fraction(p._tolerance)
        self.base = Base(p, self.of)
        self.cost: dict[tuple[int, int], Fraction | float] = {}  # of stored pairs only
        for a, b, c in zip(*(x.tolist() for x in p.pairs()), strict=True):
            i, j = sorted((self.of[a], self.of[b]))
            if i != j:
                old = self.cost.get((i, j), Fraction(0))
                self.cost[i, j] = FORBIDDEN if FORBIDDEN in (c, old) else old + Fraction(c)

    def start(self, labels: Labels) -> Labels:
        first: dict[int, int] = {}
        for element, unit in enumerate(self.of):
            first.setdefault(unit, labels[element])
        return canonical([first[unit] for unit in range(self.n)])

    def labels(self, of_units: Labels) -> Labels:
        return canonical([of_units[unit] for unit in self.of])

    def between(self, i: int, j: int) -> Fraction | float:
        return self.cost.get((min(i, j), max(i, j)), Fraction(0))

    def stored(self, i: int, j: int) -> bool:
        return (min(i, j), max(i, j)) in self.cost


def canonical(labels: Labels) -> Labels:
    names: dict[int, int] = {}
    return [names.setdefault(label, len(names)) for label in labels]


def _blocks(p: gp.SetPartition) -> Labels:
    block = list(range(p.n))
    for a, b in p.must_join.tolist():
        old, new = block[b], block[a]
        block = [new if x == old else x for x in block]
    return block


def _sum(costs: list[Fraction | float]) -> Fraction | float:
    return FORBIDDEN if FORBIDDEN in costs else sum(costs, Fraction(0))


def scramble(a: int, b: int) -> int:
    """The order of what ties: SplitMix64 of a 64-bit number, the smaller index in its upper half."""
    z = ((min(a, b) << 32 | max(a, b)) + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def greedy_joining(p: gp.SetPartition, labels: Labels) -> Iterator[Labels]:
    units = Units(p)
    initial = units.start(labels)
    current = list(initial)
    while True:
        joins: dict[tuple[int, int], list] = {}
        linked = {frozenset((current[i], current[j])) for i, j in units.cost if units.base.link([i], [j])}
        for (i, j), c in units.cost.items():
            if frozenset((current[i], current[j])) in linked and current[i] != current[j]:
                joins.setdefault(tuple(sorted((current[i], current[j]))), []).append(c)
        members: dict[int, set[int]] = {}  # initial subsets within each subset
        for first, now in zip(initial, current, strict=True):
            members.setdefault(now, set()).add(first)
        best = min(
            (
                (_sum(c), sorted(len(members[U]) for U in pair), scramble(*(min(members[U]) for U in pair)), pair)
                for pair, c in joins.items()
            ),
            default=None,
        )
        if best is None or not best[0] < -units.tolerance:
            return
        into, away = best[3]
        current = [into if x == away else x for x in current]
        yield units.labels(current)


def _best_move(units: Units, current: Labels, elements: list[int]) -> tuple | None:
    """The smallest (delta, element, kind, subset); kind: linked subset, empty set, other subset."""
    moves = []
    subsets = sorted(set(current))
    free = next(U for U in range(units.n + 1) if U not in subsets)
    for a in elements:
        inside = [b for b in range(units.n) if current[b] == current[a] and b != a]
        if not units.base.connect(inside):
            continue
        own = _sum([units.between(a, b) for b in inside])
        for U in subsets:
            members = [b for b in range(units.n) if current[b] == U]
            cost = _sum([units.between(a, b) for b in members])
            if current[a] != U and cost != FORBIDDEN and units.base.link([a], members):
                linked = any(units.stored(a, b) for b in members)
                moves.append((cost - own, a, 0 if linked else 2, U))
        if inside:
            moves.append((-own, a, 1, free))
    return min(moves, default=None)


def greedy_moving(p: gp.SetPartition, labels: Labels) -> Iterator[Labels]:
    units = Units(p)
    current = units.start(labels)
    while True:
        best = _best_move(units, current, list(range(units.n)))
        if best is None or not best[0] < -units.tolerance:
            return
        current[best[1]] = best[3]
        yield units.labels(current)


def kernighan_lin(p: gp.SetPartition, labels: Labels) -> Iterator[Labels]:
    units = Units(p)
    current = units.start(labels)
    while True:
        sequence = canonical(current)
        elements = list(range(units.n))
        cumulative, smallest, kept = Fraction(0), Fraction(0), None
        while elements and (best := _best_move(units, sequence, elements)) is not None:
            sequence[best[1]] = best[3]
            elements.remove(best[1])
            cumulative += best[0]
            if cumulative < smallest - units.tolerance:
                smallest, kept = cumulative, list(sequence)
        if kept is None:
            return
        current = kept
        yield units.labels(current)


def all_partitions(n):
    """All restricted growth strings of length n, in lexicographic order."""
    if n == 0:
        yield ()
        return

    def extend(prefix, k):
        if len(prefix) == n:
            yield tuple(prefix)
            return
        for label in range(k + 1):
            yield from extend([*prefix, label], max(k, label + 1))

    yield from extend([0], 1)

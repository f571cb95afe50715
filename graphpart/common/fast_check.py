"""The check of certificates with NumPy, in place of the plain one of `graphpart.check` where time counts.

The leaves take most of the time of a check. Here, inequalities of one kind and size are added up together, and so are
the messages of tables of one shape. Numbers have 64 bits if the sum of the absolute values of all of a leaf fits; if
not, they are Python's whole numbers, in arrays of objects. So nothing is rounded, and both checks accept the same
certificates. The tree, decisions, contradictions, and inequalities that depend on the problem are left to the plain
check. O(terms of inequalities), O(entries of tables) for each leaf, and the same memory.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.check import INF, LARGEST_TABLE, Conditioned, Energy, Factor, Partition, Refused, State, Value

__all__ = ["FastEnergy", "FastPartition"]

FITS = 1 << 58  # sums below this are added up in 64 bits, with room for a number that stands for infinity
FORBIDDEN = 1 << 60  # stands for an infinite entry of a table
DENSE = 1 << 22  # most entries of a matrix of pairs of classes
TERMS = 1 << 20  # of inequalities that are added up at once
SMALL = 256  # most entries of a table that is eliminated without NumPy
Numbers = NDArray[Any]


def _dtype(largest: int) -> Any:
    return np.int64 if largest < FITS else object


def _require_whole(values: Iterator[Any]) -> None:
    if not set(map(type, values)) <= {int}:
        raise Refused("a number is not whole: the certificate is damaged")


class _Sums:
    """Sums by keys below `space`: a vector, or lists of keys and values if most of it were empty."""

    def __init__(self, space: int, terms: int, dtype: Any) -> None:
        self.total = np.zeros(space, dtype) if space <= min(DENSE, 16 * terms) else None
        self.parts: list[tuple[Numbers, Numbers]] = []

    def add(self, keys: Numbers, values: Numbers) -> None:
        """Add values."""
        if self.total is None:
            self.parts.append((keys, values))
        else:
            np.add.at(self.total, keys, values)

    def all(self) -> tuple[Numbers, Numbers]:
        """All keys that may have a sum other than 0, and the sums."""
        if self.total is not None:
            return np.arange(len(self.total)), self.total
        given, values = (np.concatenate(list(both)) for both in zip(*self.parts, strict=True))
        keys, at = np.unique(given, return_inverse=True)
        total = np.zeros(len(keys), values.dtype)
        np.add.at(total, at, values)
        return keys, total


class FastPartition(Partition):
    """A set partition problem whose inequalities are added up by NumPy."""

    def _bound(self, state: State, classes: dict[int, int], exponent: int, rows: list[list[int]]) -> Value:
        """Costs within classes, and negative ones between them, with multiples of inequalities, less right sides."""
        unit, digits = self.costs.unit(exponent)
        _require_whole(chain.from_iterable(rows))
        multipliers = [row[2] for row in rows]
        number = {k: i for i, k in enumerate(dict.fromkeys(classes.values()))}
        count, of = len(number), np.full(self.n, -1)
        of[list(classes)] = [number[k] for k in classes.values()]
        if self.missing < 0 and count * count > DENSE:
            return super()._bound(state, classes, exponent, rows)
        largest = sum(abs(cost) for *_, cost in state.pairs) + abs(self.missing) * self.n**2 << digits
        largest += unit * sum(abs(x) * len(row) ** 2 for x, row in zip(multipliers, rows, strict=True))
        dtype = _dtype(largest)
        terms = DENSE if self.missing < 0 else len(state.pairs) + sum(map(len, rows))
        sums = _Sums(count * count, terms, dtype)

        def add(a: Numbers, b: Numbers, values: Numbers) -> None:
            sums.add(np.minimum(a, b).ravel() * count + np.maximum(a, b).ravel(), values.ravel())

        u, v, costs = zip(*state.pairs, strict=True) if state.pairs else ((), (), ())
        add(of[list(u)], of[list(v)], np.array([cost << digits for cost in costs], dtype))
        amounts, total = np.array([x * unit for x in multipliers], dtype), 0
        for members, right, (sign, i, j), elements in self._families(rows, of):
            mine = amounts[members]
            total -= sum((mine * right).tolist())
            step = max(1, TERMS // len(sign))
            for begin in range(0, len(mine), step):
                some = of[elements[begin : begin + step]]
                add(some[:, i], some[:, j], mine[begin : begin + step, None] * sign)
        if self.missing:  # so that all classes have a key
            add(np.arange(count), np.arange(count), np.zeros(count, dtype))
        keys, between = sums.all()
        a, b = keys // count, keys % count
        if self.missing:
            size = np.bincount(of[of >= 0], minlength=count)
            pairs = np.where(a == b, size[a] * (size[a] - 1) // 2, size[a] * size[b])
            between = np.where(a <= b, between + pairs.astype(dtype) * (self.missing << digits), between)
        ends = np.sort(of[np.array(state.cuts, np.int64).reshape(-1, 2)], axis=1)
        apart = np.isin(keys, ends[:, 0] * count + ends[:, 1])
        counted = np.where(a == b, between, np.where(apart, 0, np.minimum(between, 0)))
        return self.costs.value(total + int(counted.sum()), digits)

    def _families(self, rows: list[list[int]], of: Numbers) -> Iterator[tuple[Any, int, Any, Numbers]]:
        """Inequalities with the same terms: positions, right-hand side, (sign, i, j) of each term, and elements."""
        groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for k, (kind, split, multiplier, *some) in enumerate(rows):
            is_general = 0 <= kind <= 2  # what the others are depends on their elements
            groups[(kind, split, len(some)) if is_general else (kind, split, len(some), k)].append(k)
            if multiplier < 0:
                raise Refused(f"a multiplier is negative: {str(multiplier)[:40]}")
        for (kind, split, size, *only), members in groups.items():
            elements = np.array([rows[k][3:] for k in members], np.int64).reshape(-1, size)
            inside = (elements >= 0) & (elements < self.n)
            ordered = np.sort(elements, axis=1)
            if not inside.all() or (of[elements] < 0).any() or (kind < 5 and (ordered[:, 1:] == ordered[:, :-1]).any()):
                raise Refused("an inequality is not over different elements of its part")
            right, left = self._inequality(kind, split, rows[only[0]][3:] if only else list(range(size)))
            sign, *ends = (np.array(x, np.int64) for x in zip(*left, strict=True))
            if only:
                place = {a: i for i, a in enumerate(rows[only[0]][3:])}
                ends = [np.array([place[a] for a in end.tolist()]) for end in ends]
            yield members, right, (sign, *ends), elements


class FastEnergy(Energy):
    """A factor graph whose tables are worked on by NumPy."""

    def _messages(self, state: Conditioned, exponent: int, amounts: Any, scopes: Any = (), links: Any = ()) -> Any:
        """The sum of the least entries of all tables, after each has sent amounts to its variables and to others."""
        unit, digits = self.costs.unit(exponent)
        _require_whole(iter(amounts))
        tables = [factor for factor in state.factors if len(factor[0]) > 1]
        for scope in map(tuple, scopes):
            size = math.prod(len(state.labels[v]) for v in scope)
            if not 1 < len(scope) == len(set(scope)) or size > LARGEST_TABLE:
                raise Refused(f"an added factor is over {str(scope)[:40]}")
            tables.append((scope, [0] * size))
        place = {v: len(tables) + i for i, v in enumerate(state.labels)}
        moves = [(place[v], k) for k, (scope, _) in enumerate(tables) for v in scope]
        unary: dict[int, list[Any]] = {v: [0] * len(labels) for v, labels in state.labels.items()}
        for (v, *more), given in state.factors:
            if not more:
                unary[v] = [INF if INF in (x, y) else x + y for x, y in zip(unary[v], given, strict=True)]
        tables += (((v,), entries) for v, entries in unary.items())
        finite = sum(abs(x) for _, entries in tables for x in entries if x != INF)
        largest = (finite << digits) + 2 * unit * sum(map(abs, amounts))
        huge, dtype = 4 * largest + 1, _dtype(8 * largest)
        start = np.cumsum([0, *(len(entries) for _, entries in tables)])
        flat = np.array([huge if x == INF else x << digits for _, entries in tables for x in entries], dtype)
        _send(flat, start, tables, [*moves, *links], state, np.array([x * unit for x in amounts], dtype))
        least = np.minimum.reduceat(flat, start[:-1]) if tables else flat
        return (INF if (least > 2 * largest).any() else int(least.sum())), digits

    def _least(self, tables: list[Factor], whole: Sequence[int], state: Conditioned) -> Any:
        """The least sum of some tables over the labels of the last variable, for all labels of the others.

        Large tables are arrays from one elimination to the next, with `FORBIDDEN` in place of inf.
        """
        shape, arrays, largest = [len(state.labels[v]) for v in whole], [], 0
        if math.prod(shape) > SMALL:
            for _, entries in tables:
                finite = [x for x in entries if x != INF] if isinstance(entries, list) else entries
                largest += max(map(abs, finite), default=0) if isinstance(finite, list) else _largest(finite)
                if largest * 4 * (len(tables) + 1) >= FITS:
                    break
                given = [FORBIDDEN if x == INF else x for x in entries] if isinstance(entries, list) else entries
                arrays.append(np.asarray(given, np.int64))
        if len(arrays) < len(tables) or math.prod(shape) <= SMALL:
            return super()._least([(scope, _listed(entries)) for scope, entries in tables], whole, state)
        huge, total = 2 * largest + 1, np.zeros(shape, np.int64)
        for (scope, _), table in zip(tables, arrays, strict=True):
            total += _spread(np.where(table == FORBIDDEN, huge, table), [whole.index(v) for v in scope], shape)
        least = total.min(axis=-1).ravel()
        least[least > largest] = FORBIDDEN
        return least if len(least) > SMALL else _listed(least)


def _largest(table: Numbers) -> int:
    """The largest absolute value of the entries that are allowed."""
    return int(np.abs(np.where(table == FORBIDDEN, 0, table)).max(initial=0))


def _listed(entries: Any) -> list[Any]:
    """The entries of a table as the plain check has them."""
    return entries if isinstance(entries, list) else [INF if x == FORBIDDEN else x for x in entries.tolist()]


def _spread(table: Numbers, axes: list[int], shape: Sequence[int]) -> Numbers:
    """A table over some axes of a shape, in an array that broadcasts to this shape."""
    ordered = table.reshape([shape[k] for k in axes]).transpose(np.argsort(axes))
    return ordered.reshape([size if k in axes else 1 for k, size in enumerate(shape)])


def _send(
    flat: Numbers, start: Numbers, tables: list[Factor], moves: list[Any], state: Conditioned, amounts: Numbers
) -> None:
    """Subtract amounts from the entries of the larger table of each move, and add them to those of the smaller one."""
    groups: dict[Any, list[tuple[int, int, int]]] = defaultdict(list)
    used = 0
    for small, large in moves:
        (scope, entries), (whole, _) = tables[small], tables[large]
        if min(small, large) < 0 or not {*scope} < {*whole}:
            raise Refused(f"a link joins {str(scope)[:40]} and {str(whole)[:40]}: expected one within the other")
        key = tuple(len(state.labels[v]) for v in whole), tuple(whole.index(v) for v in scope)
        groups[key].append((start[small], start[large], used))
        used += len(entries)
    if used != len(amounts):
        raise Refused(f"there are {len(amounts)} messages: expected {used}")
    for (shape, axes), members in groups.items():
        small, large, first = (np.array(x)[:, None] for x in zip(*members, strict=True))
        own = np.arange(math.prod(shape[k] for k in axes))
        of = np.broadcast_to(_spread(own, list(axes), shape), shape).ravel()
        np.subtract.at(flat, large + np.arange(len(of)), amounts[first + of])
        np.add.at(flat, small + own, amounts[first + own])

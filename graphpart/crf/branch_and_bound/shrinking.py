"""A smaller problem with the same optimum: some variables are eliminated, and some tables are added to larger ones.

All costs are integers, so nothing is rounded. A variable is eliminated if the table over its neighbours has at
most as many entries as the tables that it replaces (Bertele & Brioschi 1972). If the variables of a table are
among those of another table, the first is added to the second: message passing and local consistency then take both
into account at once.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem import FactorGraph
from graphpart.stopping import Stopping

__all__ = ["FORBIDDEN", "Shrunk", "shrunk"]

FORBIDDEN = 1 << 60  # smallest value of an entry that forbids its labels
LARGEST = 80_000  # largest number of variables and factors for which shrinking is tried
OPERATIONS = 2**16  # for the elimination of a variable
ARITY = 8  # of a table over neighbours; pairs remain pairs

Wholes = NDArray[np.int64]
Labels = NDArray[np.int32]
Table = tuple[tuple[int, ...], Wholes]


@dataclass
class Shrunk:
    """The smaller problem, and how the labels of the eliminated variables follow from a labeling of it.

    Attributes
    ----------
    problem : FactorGraph
        Its entries are whole numbers, or inf.
    constant : int
    variables : ndarray of int64
        The variables of the original that are left.
    """

    problem: FactorGraph
    constant: int
    variables: NDArray[np.int64]
    _eliminated: list[tuple[int, list[Table]]] = field(repr=False)
    _n: int = 0

    def lift(self, labels: Labels) -> Labels:
        """Labels of all variables from labels of the variables that are left."""
        out = np.zeros(self._n, np.int32)
        out[self.variables] = labels
        for x, tables in reversed(self._eliminated):
            total = np.zeros(1, np.int64)
            for scope, table in tables:
                at = tuple(slice(None) if v == x else int(out[v]) for v in scope)
                total = _capped(total + table[at])
            out[x] = int(np.argmin(total))
        return out


def shrunk(f: FactorGraph, whole: Wholes, stopping: Stopping) -> Shrunk:
    """The factor graph with integer entries, made smaller where possible."""
    small = f.n + f.m <= LARGEST
    if not small and f._layout().largest_arity <= 60:  # else variables with one label are left out
        tables = np.where(whole >= FORBIDDEN, np.inf, whole.astype(np.float64))
        return Shrunk(FactorGraph.from_csr(f.domains, f.scope_start, f.scope, tables, None), 0, np.arange(f.n), [], f.n)
    run = _Shrinking(f, whole)
    if small:
        run.eliminate(stopping)
        run.absorb()
    return run.result()


def _capped(sums: Wholes) -> Wholes:
    """Sums in which a forbidden entry stays forbidden after adding any negative costs."""
    return np.where(sums >= FORBIDDEN // 2, FORBIDDEN, sums)


class _Shrinking:
    def __init__(self, f: FactorGraph, whole: Wholes) -> None:
        self.domains = f.domains.tolist()
        self.n = f.n
        self.constant = 0
        self.tables: dict[int, Table] = {}
        self.near: list[set[int]] = [set() for _ in range(f.n)]
        self.same: dict[tuple[int, ...], int] = {}
        self.gone = [False] * f.n
        self.eliminated: list[tuple[int, list[Table]]] = []
        self._next = 0
        self.arity = 2
        scopes, starts = f.scope.tolist(), f.scope_start.tolist()
        begins = f.table_start.tolist()
        for k in range(f.m):
            scope = tuple(v for v in scopes[starts[k] : starts[k + 1]] if self.domains[v] > 1)
            self.add(scope, whole[begins[k] : begins[k + 1]].reshape([self.domains[v] for v in scope]))

    def add(self, scope: tuple[int, ...], table: Wholes) -> None:
        """Add a table; if there is a table over the same variables already, add to that one."""
        if not scope:
            self.constant = int(_capped(self.constant + table))
            return
        key = tuple(sorted(scope))
        if key in self.same:
            k = self.same[key]
            old, there = self.tables[k]
            self.tables[k] = old, _capped(there + table.transpose([scope.index(v) for v in old]))
            return
        k = self._next
        self._next += 1
        self.tables[k] = scope, table
        self.same[key] = k
        for v in scope:
            self.near[v].add(k)

    def drop(self, k: int) -> Table:
        scope, table = self.tables.pop(k)
        del self.same[tuple(sorted(scope))]
        for v in scope:
            self.near[v].discard(k)
        return scope, table

    def neighbours(self, x: int) -> list[int]:
        return sorted({v for k in self.near[x] for v in self.tables[k][0]} - {x})

    def eliminate(self, stopping: Stopping) -> None:
        self.arity = ARITY if any(len(scope) > 2 for scope, _ in self.tables.values()) else 2
        waiting = [(self._size(x), x) for x in range(self.n)]
        heapq.heapify(waiting)
        while waiting:
            size, x = heapq.heappop(waiting)
            if self.gone[x]:
                continue
            if stopping.check(math.inf):
                break
            now = self._size(x)
            if now > size:
                heapq.heappush(waiting, (now, x))
                continue
            around = self.neighbours(x)
            replaced = sum(self.tables[k][1].size for k in self.near[x])
            if len(around) > self.arity or not self._worth(size, replaced, x):
                continue
            self._eliminate(x, around)
            for v in around:
                heapq.heappush(waiting, (self._size(v), v))

    def _worth(self, size: float, replaced: int, x: int) -> bool:
        return size <= replaced and size * self.domains[x] <= OPERATIONS

    def _size(self, x: int) -> float:
        """Entries of the table over the neighbours of a variable."""
        return math.prod(self.domains[v] for v in self.neighbours(x)) if len(self.near[x]) <= 64 else math.inf

    def _eliminate(self, x: int, around: list[int]) -> None:
        tables = [self.drop(k) for k in sorted(self.near[x])]
        order = [*around, x]
        total = np.zeros([self.domains[v] for v in order], np.int64)
        for scope, table in tables:
            axes = sorted(range(len(scope)), key=lambda j: order.index(scope[j]))
            shape = [self.domains[v] if v in scope else 1 for v in order]
            total = _capped(total + table.transpose(axes).reshape(shape))
        self.gone[x] = True
        self.eliminated.append((x, tables))
        self.add(tuple(around), total.min(axis=-1))

    def absorb(self) -> None:
        """Add tables of at least two variables to the smallest one over these and others."""
        for k in sorted(self.tables, key=lambda k: (len(self.tables[k][0]), k)):
            scope, table = self.tables[k]
            if len(scope) < 2:
                continue
            larger = set.intersection(*(self.near[v] for v in scope)) - {k}
            if larger:
                target = min(larger, key=lambda j: (self.tables[j][1].size, j))
                self.drop(k)
                wide, there = self.tables[target]
                axes = sorted(range(len(scope)), key=lambda j: wide.index(scope[j]))
                shape = [self.domains[v] if v in scope else 1 for v in wide]
                self.tables[target] = wide, _capped(there + table.transpose(axes).reshape(shape))

    def result(self) -> Shrunk:
        left = np.flatnonzero(~np.array(self.gone, bool)) if self.n else np.zeros(0, np.int64)
        place = np.zeros(self.n, np.int64)
        place[left] = np.arange(len(left))
        keys = sorted(self.tables)
        scopes = [self.tables[k][0] for k in keys]
        start = np.zeros(len(keys) + 1, np.int64)
        np.cumsum([len(scope) for scope in scopes], out=start[1:])
        scope = place[np.array([v for scope in scopes for v in scope], np.int64)]
        flat = np.concatenate([self.tables[k][1].ravel() for k in keys]) if keys else np.zeros(0, np.int64)
        tables = np.where(flat >= FORBIDDEN, np.inf, flat.astype(np.float64))
        domains = np.array(self.domains, np.int32)[left]
        problem = FactorGraph.from_csr(domains, start, scope.astype(np.int32), tables, None)
        return Shrunk(problem, self.constant, left, self.eliminated, self.n)

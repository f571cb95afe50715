"""Functions of many variables as small tables over these variables and auxiliary ones.

An auxiliary variable has exactly one label for each labeling of the user's variables: it is a table of its parents,
which are variables of the scope or auxiliary variables before it. Tables over all of these variables then add up to the
function (Allouche et al. 2012). So each labeling is counted once: energies, marginals and k best labelings of the
decomposed factor graph are those of the function.

Variables are numbered within a function: first its scope, then its auxiliary variables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem

__all__ = ["ENTRIES", "Auxiliary", "Circuit", "Function", "Row"]

ENTRIES = 2**26  # largest number of entries of all tables of a function: 512 MB

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]


class Auxiliary(NamedTuple):
    """An auxiliary variable."""

    parents: tuple[int, ...]
    size: int  #: number of labels
    values: Labels  #: label for each labeling of the parents
    costs: Floats  #: cost of each labeling of the parents


class Row(NamedTuple):
    """A function that is a linear inequality: ``least <= sum of weights of the labels <= most``, for integer programs.

    A sum outside costs `cost` for each unit, or is forbidden if `cost` is ``inf``.
    """

    weights: tuple[Floats, ...]  #: for each variable of the scope, the weights of its labels
    least: float
    most: float
    cost: float


@dataclass(frozen=True)
class Function:
    """A function of many variables.

    Attributes
    ----------
    name : str
        Its words in messages, such as "all different".
    scope : tuple of int
        Its variables.
    auxiliaries : tuple of Auxiliary
    tables : tuple of (variables, ndarray)
    constant : float
    rows : tuple of Row
        If not empty, these inequalities over the same scope are the function, too.
    """

    name: str
    scope: tuple[int, ...]
    auxiliaries: tuple[Auxiliary, ...] = field(repr=False)
    tables: tuple[tuple[tuple[int, ...], Floats], ...] = field(repr=False)
    constant: float = 0.0
    rows: tuple[Row, ...] = field(default=(), repr=False)

    def complete(self, labels: Sequence[int]) -> tuple[list[int], float]:
        """The labels of the auxiliary variables for labels of the scope, and the value of the function."""
        known, costs = list(labels), [self.constant]
        for one in self.auxiliaries:
            at = tuple(known[p] for p in one.parents)
            known.append(int(one.values[at]))
            costs.append(float(one.costs[at]))
        costs += [float(table[tuple(known[v] for v in members)]) for members, table in self.tables]
        return known[len(labels) :], math.fsum(costs) if math.inf not in costs else math.inf

    def given(self, labels: Sequence[int]) -> Function:
        """The function of the variables that remain, in order, if `labels` has -1 for these and labels for others."""
        known = [int(label) for label in labels]
        place = np.cumsum([label < 0 for label in known]).tolist()  # of a variable that remains, from 1
        free = [i for i, label in enumerate(known) if label < 0]
        circuit_size, constant = len(free), self.constant
        auxiliaries, tables = [], []
        for one in self.auxiliaries:
            at = tuple(slice(None) if known[p] < 0 else known[p] for p in one.parents)
            values, costs = one.values[at], one.costs[at]
            if values.ndim == 0:
                known.append(int(values))
                constant += float(costs)
                place.append(0)
                continue
            parents = tuple(place[p] - 1 for p in one.parents if known[p] < 0)
            auxiliaries.append(Auxiliary(parents, one.size, values, costs))
            circuit_size += 1
            known.append(-1)
            place.append(circuit_size)
        for members, table in self.tables:
            part = np.asarray(table[tuple(slice(None) if known[v] < 0 else known[v] for v in members)])
            if part.ndim == 0:
                constant += float(part)
            else:
                tables.append((tuple(place[v] - 1 for v in members if known[v] < 0), part))
        rows = []
        for row in self.rows:
            taken = math.fsum(float(w[x]) for w, x in zip(row.weights, labels, strict=True) if x >= 0)
            rows.append(Row(tuple(row.weights[i] for i in free), row.least - taken, row.most - taken, row.cost))
        return replace(
            self, scope=tuple(self.scope[i] for i in free), auxiliaries=tuple(auxiliaries), tables=tuple(tables),
            constant=constant, rows=tuple(rows),
        )  # fmt: skip

    def factors(self, first: int) -> list[tuple[list[int], Floats]]:
        """Scopes and tables in a factor graph in which the auxiliary variables are numbered from `first`."""
        number = [*self.scope, *range(first, first + len(self.auxiliaries))]
        found = []
        for k, one in enumerate(self.auxiliaries):
            table = np.full((*one.values.shape, one.size), np.inf)
            np.put_along_axis(table, one.values[..., None].astype(np.int64), one.costs[..., None], axis=-1)
            found.append(([number[p] for p in one.parents] + [first + k], table.ravel()))
        found += [([number[v] for v in members], table.ravel()) for members, table in self.tables]
        return found


class Circuit:
    """A function under construction.

    Parameters
    ----------
    name : str
    domains : sequence of int
        Numbers of labels of the variables of its scope.
    """

    def __init__(self, name: str, domains: Sequence[int]) -> None:
        self.name, self.domains, self.arity = name, list(domains), len(domains)
        self.auxiliaries: list[Auxiliary] = []
        self.tables: list[tuple[tuple[int, ...], Floats]] = []
        self.rows: list[Row] = []
        self.constant, self.entries = 0.0, 0

    def auxiliary(self, parents: Sequence[int], values: NDArray[np.integer], size: int, costs: Floats | None) -> int:
        """Add an auxiliary variable; returns its number."""
        whole: Labels = np.ascontiguousarray(values, np.int32)
        if costs is None:
            costs = np.zeros(whole.shape)
        self._take(whole.size * size)
        self.auxiliaries.append(Auxiliary(tuple(parents), size, whole, costs))
        self.domains.append(size)
        return len(self.domains) - 1

    def cost(self, members: Sequence[int], table: Floats) -> None:
        """Add a table, unless it is zero."""
        if table.any():
            self._take(table.size)
            self.tables.append((tuple(members), table))

    def _take(self, entries: int) -> None:
        self.entries += entries
        if self.entries > ENTRIES:
            raise too_large(self.name, f"tables of more than {ENTRIES} entries")

    def function(self, scope: Sequence[int]) -> Function:
        """The function, over these variables of a factor graph."""
        every = (tuple(self.auxiliaries), tuple(self.tables), self.constant, tuple(self.rows))
        return Function(self.name, tuple(scope), *every)


def too_large(name: str, what: str) -> InvalidProblem:
    """The error for a function that is too large."""
    return InvalidProblem(f"{name} needs {what}: expected fewer variables, fewer labels, or smaller weights")

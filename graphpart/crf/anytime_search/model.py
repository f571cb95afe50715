"""The arrays of a factor graph that searches use: separate costs of single labels, merged factors.

Variables with a single label are left out. A forbidden entry costs `penalty`, which is more than the energies of two
allowed labelings can differ.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import distinct
from graphpart.crf.anytime_search._kernels import Annealing, Arrays
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem._view import least_labels, unary_sums
from graphpart.crf.problem.derive import condition_on, merge
from graphpart.crf.problem.labeling import places
from graphpart.crf.problem.shared_tables import absolute_costs, by_table, rows_of

__all__ = ["Model"]

Labels = NDArray[np.int32]
OUTLIER = 1000.0  # each table counts in this sum at most this multiple of the range of the median table
LARGEST_TOTAL = 2.0**200  # costs are scaled if their sum is larger, or less than one divided by this


class Model:
    """The arrays of a factor graph for searching; nothing changes them.

    Parameters
    ----------
    f : FactorGraph

    Attributes
    ----------
    f : FactorGraph
        Without variables of a single label, factors over the same variables merged.
    open : ndarray of int64
        The indices of these variables in the given factor graph.
    unary : ndarray of float64
        The cost of each label of each variable; those of variable v begin at ``first[v]``.
    rows, factors : ndarray of int64, ndarray of int32
        The factors of at least two variables of each variable, in compressed rows.
    near_start, near : ndarray of int64, ndarray of int32
        For each variable, the variables that share a factor with it, in compressed rows.
    range : float
        An upper bound on the difference between the energies of two allowed labelings.
    penalty : float
        The cost of a forbidden entry. It exceeds `range`, whichever allowed entry of the table it is compared with.
    arrays : Arrays
        All of these, for kernels.
    tolerance : float
        Differences between energies up to this value count as rounding.
    """

    def __init__(self, f: FactorGraph) -> None:
        self.open = np.flatnonzero(f.domains > 1)
        if len(self.open) < f.n:
            f = condition_on(f, np.where(f.domains > 1, -1, 0).astype(np.int32))
        f = _scaled(merge(f))
        self.f = f
        domains, scope_start, scope, _, _ = f._flat()
        self.domains, self.first = domains, places(f)
        arity = np.diff(scope_start)
        self.pairs = bool(len(arity) == 0 or arity.max() <= 2)
        self.binary = self.pairs and bool((domains == 2).all())
        unary = unary_sums(f._view(), f._flat()[4])
        least, most = _ranges(f)
        ranges = (most - least)[np.isfinite(least)]
        self.range = float(math.fsum(ranges))
        usual = OUTLIER * float(np.median(ranges[ranges > 0])) if (ranges > 0).any() else 0.0
        self.tolerance = 2.0**-44 * float(np.minimum(ranges, usual).sum())
        finite = unary[np.isfinite(unary)] if f.has_forbidden else unary
        highest = max(float(most[np.isfinite(most)].max(initial=0.0)), float(finite.max(initial=0.0)))
        self.penalty = 2.0 * self.range + highest + max(self.range, 2.0**-10)
        self.unary = np.where(np.isinf(unary), self.penalty, unary) if f.has_forbidden else unary
        start, factors, _ = f.incidence()
        large = arity[factors] > 1
        counts = np.zeros(len(factors) + 1, np.int64)
        np.cumsum(large, out=counts[1:])
        self.rows, self.factors = counts[start], factors[large]
        self.near_start, self.near = _neighbours(f.n, self.rows, self.factors, scope_start, scope)
        self.arrays = Arrays(self)

    def least(self) -> Labels:
        """The label of least unary cost of each variable, the first of several."""
        labels: Labels = least_labels(self.f._view(), self.unary)
        return labels

    def energy(self, labels: Labels) -> float:
        """The penalised energy of labels, without the constant."""
        return self.arrays.energy(labels)[0]

    def measured(self, labels: Labels) -> tuple[float, int]:
        """The penalised energy of labels, and the number of forbidden entries that they select."""
        return self.arrays.energy(labels)

    def better_parts(self, one: Labels, other: Labels) -> Labels:
        """The labels of `one`; in each part where the two differ and `other` costs less, the labels of `other`."""
        return self.arrays.better_parts(one, other)

    def around(self, size: int, seed: int) -> Labels:
        """`size` variables around a random one, the nearest first; fewer if its component has fewer."""
        return np.asarray(self.arrays.around(size, seed))

    def annealing(self, variates: NDArray[np.float64]) -> Annealing:
        """The kernel of annealing, for one thread, with a table of exponential variates."""
        return Annealing(self.arrays, variates, self.binary, self.f.has_forbidden)


def _ranges(f: FactorGraph) -> tuple[NDArray[np.float64], ...]:
    """The least and the largest finite entry of each table; the least is inf if there is none."""
    tables = f._flat()[4]
    finite = np.where(np.isinf(tables), -np.inf, tables) if f.has_forbidden else tables
    return by_table(f, np.minimum), by_table(f, np.maximum, finite)


def _neighbours(
    n: int,
    rows: NDArray[np.int64],
    factors: NDArray[np.int32],
    scope_start: NDArray[np.int64],
    scope: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    owner = np.repeat(np.arange(n), np.diff(rows))
    if not len(factors):
        return rows, factors
    sizes = np.diff(scope_start)[factors]
    if sizes.max() == 2:
        begin = scope_start[factors]
        return rows, (scope[begin] + scope[begin + 1] - owner).astype(np.int32)
    _, members = rows_of(scope_start, scope, factors)
    key = distinct(np.repeat(owner, sizes) * np.int64(n) + members)
    key = key[key // n != key % n]
    start = np.searchsorted(key, np.arange(n + 1) * np.int64(n))
    return start, (key % n).astype(np.int32)


def _scaled(f: FactorGraph) -> FactorGraph:
    """The factor graph with costs times a power of 2, if they are too large or small for sums or random numbers."""
    domains, scope_start, scope, table_start, tables = f._flat()
    if not f.has_forbidden and f.m:
        largest = max(-float(tables.min()), float(tables.max()))
        if largest > 1 / LARGEST_TOTAL and largest * f.entries < LARGEST_TOTAL:
            return f
    total = absolute_costs(f)
    if not total or 1 / LARGEST_TOTAL < total < LARGEST_TOTAL:
        return f
    _, exponent = math.frexp(total)
    return FactorGraph.of_csr(range(f.n), domains, scope_start, scope, np.ldexp(tables, -exponent), table_start)

"""Regions that branch and bound minimises over exactly, given the labels of all other variables.

That is large neighbourhood search (Shaw 1998) with soft local consistency as its bound (Ouali, Allouche, de Givry,
Loudni, Lebbah, Loukil & Boizumault 2020): since the best labels of the region are known, most labels cost too much from
the start, and few nodes are left. It needs no small width, and so suits dense factor graphs, many labels, and
costs of several magnitudes.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.anytime_search import _kernels
from graphpart.crf.branch_and_bound._kernels import Search
from graphpart.crf.branch_and_bound.flat import BITS, BLOCK, Costs, Flat, flat_of
from graphpart.crf.branch_and_bound.shrinking import FORBIDDEN
from graphpart.crf.branch_and_bound.solver import ROOM, Units
from graphpart.crf.problem import FactorGraph, _structure
from graphpart.stopping import Stopping

__all__ = ["Regions"]

NODES = 100  # largest number of nodes of branch and bound for one region
ENTRIES = 2**21  # largest number of table entries of a region
EACH = 1e6  # approximate time for a region, in nanoseconds, in addition to its nodes
VARIABLE, ENTRY = 130.0, 0.7  # nanoseconds at a node, for each variable and for each table entry

Labels = NDArray[np.int32]


class _Whole:
    """The whole costs of a factor graph, kept for all of its `Regions` for as long as there are any."""

    def __init__(self, costs: tuple[Any, ...]) -> None:
        self.costs = costs


class Regions:
    """Regions of one factor graph, with whole costs; several threads may use it.

    Parameters
    ----------
    f : FactorGraph
        All variables have several labels, and factors over the same variables are merged.
    """

    def __init__(self, f: FactorGraph) -> None:
        kept = f._cache.get("regions", lambda: None)()
        if kept is None:
            kept = _Whole(_whole_costs(f))
            f._cache["regions"] = weakref.ref(kept)
        self._kept = kept
        self.units, self.flat, self.unary, self.rows, self.factors = kept.costs
        self.sent: NDArray[np.int64] | None = None
        self.begin = np.zeros(0, np.int64)  # where the amounts for each entry of the scopes begin in `sent`

    def reparametrise(self, messages: NDArray[np.float64], exponent: int) -> None:
        """Begin regions from what factors of several variables send, as in a `Certificate`: fewer nodes are left.

        The unit of the messages is ``2**exponent``. Their array is taken over: amounts are written in their place.
        """
        sizes = self.flat.domains[self.flat.scope].astype(np.int64)
        self.begin = np.cumsum(sizes) - sizes
        sent = messages.view(np.int64)
        for i in range(0, len(sent), BLOCK):
            sent[i : i + BLOCK] = self.units.amounts(np.ldexp(messages[i : i + BLOCK], exponent))
        self.sent = sent

    def improved(self, labels: Labels, inside: Labels, stopping: Stopping) -> tuple[Labels, bool, float]:
        """Better labels within a region, or None; whether they are proven best; the approximate nanoseconds."""
        flat = self.flat
        place = np.full(len(labels), -1, np.int32)
        found = _kernels.part(self, labels, inside, place, ENTRIES)
        if found is None:
            return labels, False, EACH
        start, scope, table_start, tables, unary, value, members = found
        domains, cost = flat.domains[inside], float(value)
        best: list[Labels] = []

        def report(better: Labels, value: int) -> float:
            best.append(better)
            return float(value)

        top = 1 << (BITS + 1)
        sizes = domains[scope].astype(np.int64)
        sent = np.zeros(int(sizes.sum()), np.int64)
        if self.sent is not None:
            ends = np.cumsum(sizes)
            of_label = np.arange(len(sent)) - np.repeat(ends - sizes, sizes)
            sent = self.sent[of_label + np.repeat(self.begin[members], sizes)]
            forbidden = unary >= FORBIDDEN // 2
            np.add.at(unary, of_label + np.repeat((np.cumsum(domains) - domains)[scope], sizes), sent)
            unary[forbidden] = FORBIDDEN
        costs = Costs(domains, unary, start, scope, table_start, tables)
        search = Search(costs, sent, top, self.units.gap, ROOM, report, cost)
        if value < FORBIDDEN:
            search.offer(labels[inside], value, cost)
        proven = search.run(stopping, NODES)
        if best:
            labels = labels.copy()
            labels[inside] = best[-1]
        looked = search.nodes + search.conflicts + 1
        return labels, proven, EACH + looked * (VARIABLE * len(inside) + ENTRY * len(tables))


def _whole_costs(f: FactorGraph) -> tuple[Units, Flat, NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """(units, costs, those of single labels, factors of each variable): what all regions of a factor graph read."""
    units = Units(f)
    domains, scope_start, scope, table_start, tables = f._flat()
    tables = tables.copy()
    for i in range(0, len(tables), BLOCK):
        whole = units.whole(tables[i : i + BLOCK])
        tables[i : i + BLOCK] = np.where(whole >= FORBIDDEN, np.inf, whole)
    flat = flat_of(FactorGraph.of_csr(range(f.n), domains, scope_start, scope, tables, table_start))
    unary = np.where(flat.forbidden, FORBIDDEN, flat.unary) if f.has_forbidden else flat.unary
    rows, factors, _ = _structure.incidence(f.n, flat.scope_start, flat.scope)
    return units, flat, unary, rows, factors

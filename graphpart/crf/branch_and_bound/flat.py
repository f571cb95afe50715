"""Integer costs in flat arrays, as the kernels take them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds.passes import Structure
from graphpart.crf.branch_and_bound.shrinking import FORBIDDEN
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem._view import unary_sums
from graphpart.crf.problem.labeling import places
from graphpart.crf.problem.shared_tables import by_table, places_in_tables, selected, starts_of

__all__ = ["BITS", "BLOCK", "Costs", "Flat", "flat_of"]

BLOCK = 2**16  # costs or amounts that are converted at a time
BITS = 44  # number of bits of the sum of the largest entries of all tables

Labels = NDArray[np.int32]
Wholes = NDArray[np.int64]


@dataclass(frozen=True)
class Costs:
    """Integer costs as the search takes them: of labels, and in the tables of factors of at least two variables."""

    domains: Labels
    unary: Wholes
    scope_start: Wholes
    scope: Labels
    table_start: Wholes
    tables: Wholes


@dataclass(frozen=True)
class Flat(Costs):
    """The integer costs of a whole factor graph, with the forbidden labels.

    The labels of variable v stand at ``first[v]``. No allowed labeling costs more than `highest`.
    """

    first: Wholes
    forbidden: NDArray[np.bool_]
    highest: int

    def value(self, labels: Labels) -> int:
        """The cost of a labeling."""
        at = self.first[:-1] + labels
        if self.forbidden[at].any():
            return FORBIDDEN
        within = places_in_tables(self.domains, self.scope_start, self.scope, labels)
        entries = self.tables[self.table_start[:-1] + within]
        return FORBIDDEN if (entries >= FORBIDDEN).any() else int(self.unary[at].sum()) + int(entries.sum())

    def with_triplets(self, structure: Structure, links: NDArray[np.float64]) -> Flat:
        """The same costs with additional pairs and triplets, and with the amounts that triplets sent to pairs.

        `links` are the amounts that triplets send to the entries of their pairs, in units, see `Extra`. An entry of a
        triplet is forbidden where a pair forbids it.
        """
        domains = self.domains.astype(np.int64)
        scope = np.concatenate([self.scope, structure.pairs.ravel(), structure.scopes.ravel()]).astype(np.int32)
        added, triplets = len(structure.pairs), len(structure.triplets)
        start = starts_of(np.concatenate([np.diff(self.scope_start), np.full(added, 2), np.full(triplets, 3)]))
        more = [domains[structure.pairs].prod(axis=1), domains[structure.scopes].prod(axis=1)]
        table_start = starts_of(np.concatenate([np.diff(self.table_start), *more]))
        tables = np.zeros(int(table_start[-1]), np.int64)
        tables[: len(self.tables)] = self.tables
        given = np.rint(np.clip(np.nan_to_num(links), -(2.0**BITS), 2.0**BITS)).astype(np.int64)
        free = tables < FORBIDDEN
        count = len(self.scope_start) - 1 + added
        at = 0
        for k, (three, triplet) in enumerate(zip(structure.scopes.tolist(), structure.triplets.tolist(), strict=True)):
            total = np.zeros([self.domains[v] for v in three], np.int64)
            for missing, pair in zip((2, 1, 0), triplet, strict=True):
                own = slice(int(table_start[pair]), int(table_start[pair + 1]))
                amounts = given[at : at + own.stop - own.start]
                at += len(amounts)
                tables[own] += np.where(free[own], amounts, 0)
                first, second = scope[start[pair] : start[pair] + 2].tolist()
                taken = np.where(free[own], amounts, -FORBIDDEN).reshape(self.domains[first], self.domains[second])
                total -= np.expand_dims(taken.T if first > second else taken, missing)
            begin = table_start[count + k]
            tables[begin : begin + total.size] = np.where(total >= FORBIDDEN // 2, FORBIDDEN, total).ravel()
        return replace(self, scope_start=start, scope=scope, table_start=table_start, tables=tables)


def flat_of(p: FactorGraph) -> Flat:
    """The integer costs of a factor graph whose costs are whole numbers. Tables that factors share stay shared."""
    first = places(p)
    arity = np.diff(p.scope_start)
    several = np.flatnonzero(arity > 1)
    sums = unary_sums(p._view(), p._flat()[4])
    forbidden = np.isinf(sums)
    sums[forbidden] = 0.0
    unary = sums.view(np.int64)
    for i in range(0, len(sums), BLOCK):  # in the same place
        unary[i : i + BLOCK] = sums[i : i + BLOCK].astype(np.int64)
    scope_start, scope, tables, table_start = selected(p, several)
    if table_start is None:
        table_start = starts_of(np.diff(p.table_start)[several])
    costs = p._flat()[4]
    costs = by_table(p, np.maximum, np.where(np.isfinite(costs), costs, -(2.0**BITS)) if p.has_forbidden else costs)
    highest = int(costs[several].astype(np.int64).sum())
    if p.n:
        allowed = np.where(forbidden, -(2**BITS), unary) if p.has_forbidden else unary
        highest += int(np.maximum.reduceat(allowed, first[:-1]).sum())
    return Flat(p.domains, unary, scope_start, scope, table_start, _whole(tables), first, forbidden, highest)


def _whole(costs: NDArray[np.float64]) -> Wholes:
    return np.where(np.isfinite(costs), costs, float(FORBIDDEN)).astype(np.int64)

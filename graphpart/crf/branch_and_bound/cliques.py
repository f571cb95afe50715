"""Clique constraints: for sets of labels of which at most one can be chosen, a new variable says which one is chosen.

Suppose that tables forbid every pair of labels in a set of labels of different variables. Message passing and local
consistency look at single pairs only: in their relaxation, each label of the set can be chosen by half. The new
variable has a label for each label of the set, and one for "none". A table between the new variable and each old
variable makes both agree. Message passing then takes into account that the sum over the set is at most one, as the
clique inequality does in integer programs (Padberg 1973). Energies do not change.

The sets are found greedily. A set starts with a forbidden pair that no set contains yet. Labels that form forbidden
pairs with all labels of the set are added, those with the most forbidden pairs first. Tables that only forbid pairs
within sets are then left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.labeling import places
from graphpart.crf.problem.shared_tables import rows_of
from graphpart.stopping import Stopping

__all__ = ["Cliques", "with_cliques"]

LABELS = 6000  # largest total number of labels for which sets are sought: a matrix has a row for each label
MOST = 4  # largest number of sets, as a multiple of the number of variables


@dataclass(frozen=True)
class Cliques:
    """A factor graph with an additional variable for each set.

    Attributes
    ----------
    problem : FactorGraph
        The first variables are those of the original, in order.
    base : FactorGraph
        The same without those variables: the first factors of `problem`.
    members : list of ndarray of int64
        The labels of each set, by their place among the labels of all variables.
    variable, label : ndarray
        The variable of each place, and the label that it is.
    """

    problem: FactorGraph
    base: FactorGraph
    members: list[NDArray[np.int64]]
    variable: NDArray[np.int64]
    label: NDArray[np.int64]

    def amounts(self, messages: NDArray[np.float64], multipliers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Messages of `problem` from those of `base` and multipliers of the sets, which members pay to their set."""
        parts = [messages]
        for multiplier, row in zip(multipliers.tolist(), self.members, strict=True):
            for position, place in enumerate(row.tolist()):
                one = np.zeros(int(self.base.domains[self.variable[place]]))
                one[self.label[place]] = -multiplier
                other = np.zeros(len(row) + 1)
                other[position + 1] = multiplier
                parts += [one, other]
        return np.concatenate(parts)

    def extend(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Labels of all variables from those of the first ones, if they are allowed."""
        chosen = labels[self.variable] == self.label
        more = [int(np.argmax(hit)) + 1 if (hit := chosen[m]).any() else 0 for m in self.members]
        return np.concatenate([labels, np.array(more, np.int32)]).astype(np.int32)


def with_cliques(f: FactorGraph, stopping: Stopping) -> Cliques | None:
    """The factor graph with merged factors and a variable for each set; None if there is no set."""
    first = places(f)
    size = int(first[-1])
    if not f.has_forbidden or size > LABELS:
        return None
    pairs = np.flatnonzero(np.diff(f.scope_start) == 2)
    i, j = f.scope[f.scope_start[pairs]], f.scope[f.scope_start[pairs] + 1]
    starts, entries = rows_of(f.table_start, f.tables, pairs)
    number = np.repeat(np.arange(len(pairs)), np.diff(starts))
    inside = np.arange(len(entries)) - starts[number]
    bad = np.flatnonzero(np.isposinf(entries))
    wide = f.domains[j].astype(np.int64)
    of = number[bad]
    u = first[i[of]] + inside[bad] // wide[of]
    v = first[j[of]] + inside[bad] % wide[of]
    conflict = np.zeros((size, size), bool)
    conflict[u, v] = conflict[v, u] = True
    members, covered = _sets(conflict, u, v, MOST * f.n, stopping)
    if not members:
        return None
    # A pair is dropped if it only forbids what sets forbid.
    zero = np.ones(len(pairs), bool)
    zero[number[(entries != 0) & ~np.isposinf(entries)]] = False
    zero[of[~covered[u, v]]] = False
    zero[np.setdiff1d(np.arange(len(pairs)), of)] = False
    stays = np.ones(f.m, bool)
    stays[pairs[zero]] = False
    variable = np.repeat(np.arange(f.n), f.domains)
    label = np.arange(size) - first[variable]
    start, scope = rows_of(f.scope_start, f.scope, np.flatnonzero(stays))
    _, tables = rows_of(f.table_start, f.tables, np.flatnonzero(stays))
    base = FactorGraph.from_csr(f.domains, start, scope, tables, None, constant=f.constant)
    return Cliques(_built(base, members, variable, label), base, members, variable, label)


def _sets(
    conflict: NDArray[np.bool_], u: NDArray[np.int64], v: NDArray[np.int64], most: int, stopping: Stopping
) -> tuple[list[NDArray[np.int64]], NDArray[np.bool_]]:
    """Sets of labels that cover forbidden pairs, and a flag for each pair that is covered."""
    covered = np.zeros_like(conflict)
    degree = conflict.sum(axis=1)
    found: list[NDArray[np.int64]] = []
    order = np.argsort(-(degree[u] + degree[v]), kind="stable")
    for k in order.tolist():
        a, b = int(u[k]), int(v[k])
        if covered[a, b]:
            continue
        if len(found) >= most or stopping.check(math.inf):
            break
        members = [a, b]
        open_ = conflict[a] & conflict[b]
        fresh = (~covered[a] & conflict[a]).astype(np.int64) + (~covered[b] & conflict[b])
        while open_.any():
            at = np.flatnonzero(open_)
            c = int(at[np.argmax(fresh[at] * len(degree) + degree[at])])
            members.append(c)
            open_ &= conflict[c]
            fresh += ~covered[c] & conflict[c]
        if len(members) >= 3:  # two are a forbidden pair
            row = np.sort(np.array(members, np.int64))
            covered[np.ix_(row, row)] = True
            found.append(row)
    return found, covered


def _built(
    f: FactorGraph, members: list[NDArray[np.int64]], variable: NDArray[np.int64], label: NDArray[np.int64]
) -> FactorGraph:  # fmt: skip
    scopes, more, domains = [f.scope], [f.tables], [f.domains]
    count = 0
    for k, row in enumerate(members):
        domains.append(np.array([len(row) + 1], np.int32))
        for position, place in enumerate(row.tolist()):
            table = np.zeros((int(f.domains[variable[place]]), len(row) + 1))
            table[:, position + 1] = np.inf
            table[label[place], :] = np.inf
            table[label[place], position + 1] = 0.0
            scopes.append(np.array([variable[place], f.n + k], np.int32))
            more.append(table.ravel())
            count += 1
    start = np.concatenate([f.scope_start, f.scope_start[-1] + 2 * np.arange(1, count + 1)])
    return FactorGraph.from_csr(
        np.concatenate(domains), start, np.concatenate(scopes), np.concatenate(more), None, constant=f.constant
    )

"""Pairs of variables that are one: where each label of one allows a single label of the other, and the reverse.

A table over two variables that has at most one finite entry in each row and in each column makes the label of one
variable follow from that of the other. Both then become one variable, whose labels are the allowed pairs: nothing is
lost, no table grows, and tables that both had with a third variable become one. Variables that several such tables
connect become one variable. A label without a partner is left out. In frequency assignment, for example, the two
directions of a radio link have frequencies at a fixed distance (Cabon, de Givry, Lobjois, Schiex & Warners 1999).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.derive import merge
from graphpart.crf.problem.labeling import named
from graphpart.crf.problem.shared_tables import by_table, rows_of
from graphpart.errors import InfeasibleProblem

__all__ = ["Contraction", "contraction"]

Wholes = NDArray[np.int64]


@dataclass(frozen=True)
class Contraction:
    """A factor graph with fewer variables, of the same energies.

    Attributes
    ----------
    problem : FactorGraph
        Factors over the same two or more variables are merged.
    leader : ndarray of int64, shape (n,)
        The variable of `problem` that each variable has become a part of.
    start, options : ndarray of int64
        ``options[start[v] + a]`` is the label of variable v where its leader has label a.
    """

    problem: FactorGraph
    leader: Wholes
    start: Wholes
    options: Wholes


def contraction(f: FactorGraph) -> Contraction | None:
    """The factor graph with variables contracted; None if there are none. O(size of all tables)

    Raises
    ------
    InfeasibleProblem
        If all labels of a variable are without a partner, or a table of the result forbids all labels.
    """
    links = _one_to_one(f)
    if not links:
        return None
    leader, options = _joined(f, links)
    alive = [np.ones(d, bool) for d in f.domains.tolist()]
    for v, own in options.items():
        alive[leader[v]] &= own >= 0
    roots = np.flatnonzero(leader == np.arange(f.n))
    for r in roots.tolist():
        if not alive[r].any():
            raise InfeasibleProblem(f"every labeling is forbidden: no label of variable {f.variables[r]!r} is possible")
    place = np.zeros(f.n, np.int64)
    place[roots] = np.arange(len(roots))
    labels = [options[v][alive[r]] if v in options else np.flatnonzero(alive[r]) for v, r in enumerate(leader.tolist())]
    start = np.zeros(f.n + 1, np.int64)
    np.cumsum([len(own) for own in labels], out=start[1:])
    domains = np.array([len(labels[r]) for r in roots.tolist()], np.int32)
    names = [f.variables[r] for r in roots.tolist()]
    whole = np.concatenate(labels)
    scope_start, scope, tables = _rewritten(f, leader, start, whole)
    places = place[scope].astype(np.int32)
    g = FactorGraph.of_csr(names, domains, scope_start, places, tables, None, f.constant)._in_units(f.offset, f.sense)
    g = merge(g)
    if g.m:
        bad = np.flatnonzero(np.isposinf(by_table(g, np.minimum)))
        if len(bad):
            raise InfeasibleProblem(f"every labeling is forbidden: what is left of {named(g, int(bad[0]))} forbids it")
    return Contraction(g, place[leader], start[:-1], whole)


def _one_to_one(f: FactorGraph) -> list[tuple[int, int, Wholes, Wholes]]:
    """Pairs of variables x, y with the labels of x, and those of y that go with them."""
    if not f.has_forbidden:
        return []
    pairs = np.flatnonzero(np.diff(f.scope_start) == 2)
    first, second = f.scope[f.scope_start[pairs]], f.scope[f.scope_start[pairs] + 1]
    finite = np.concatenate([[0], np.cumsum(np.isfinite(f.tables))])
    count = finite[f.table_start[pairs + 1]] - finite[f.table_start[pairs]]
    some = (count <= np.minimum(f.domains[first], f.domains[second])) & (first != second)
    pairs, first, second = pairs[some], first[some], second[some]
    start, entries = rows_of(f.table_start, f.tables, pairs)
    number = np.repeat(np.arange(len(pairs)), np.diff(start))
    at = np.flatnonzero(np.isfinite(entries))
    number, inside = number[at], at - start[number[at]]
    wide = f.domains[second].astype(np.int64)[number]
    a, b = inside // wide, inside % wide
    good = np.ones(len(pairs), bool)
    for label in (a, b):
        order = np.lexsort((label, number))
        twice = (np.diff(number[order]) == 0) & (np.diff(label[order]) == 0)
        good[number[order[1:][twice]]] = False
    ends = np.searchsorted(number, np.arange(len(pairs) + 1))
    return [
        (int(first[k]), int(second[k]), a[ends[k] : ends[k + 1]], b[ends[k] : ends[k + 1]])
        for k in np.flatnonzero(good).tolist()
    ]


def _joined(f: FactorGraph, links: list[tuple[int, int, Wholes, Wholes]]) -> tuple[Wholes, dict[int, Wholes]]:
    """For each variable its leader; and for those that are joined the label for each label of it, -1 for none."""
    leader = np.arange(f.n)
    members: dict[int, list[int]] = {}
    options: dict[int, Wholes] = {}
    for x, y, a, b in links:
        for v in (x, y):
            if v not in options:
                options[v], members[v] = np.arange(f.domains[v]), [v]
        if leader[x] == leader[y]:
            continue
        if len(members[leader[x]]) < len(members[leader[y]]):
            x, y, a, b = y, x, b, a
        old, new = int(leader[y]), int(leader[x])
        partner = np.full(f.domains[x] + 1, -1)  # the label of y for a label of x; the last entry is for -1
        partner[a] = b
        back = np.full(f.domains[y] + 1, -1)  # the label of the old leader
        back[options[y]] = np.arange(len(options[y]))
        back[-1] = -1
        through = back[partner[options[x]]]
        for v in members.pop(old):
            options[v] = np.append(options[v], -1)[through]
            leader[v] = new
            members[new].append(v)
    return leader, options


def _rewritten(
    f: FactorGraph, leader: Wholes, first: Wholes, options: Wholes
) -> tuple[Wholes, Wholes, NDArray[np.float64]]:
    """Scopes and tables over leaders."""
    counts = np.diff(first)
    changed = (leader != np.arange(f.n)) | (counts < f.domains)
    arity = np.diff(f.scope_start)
    touched = np.zeros(f.m, bool)
    touched[np.repeat(np.arange(f.m), arity)[changed[f.scope]]] = True
    kept = np.flatnonzero(~touched)
    start, scope = rows_of(f.scope_start, f.scope, kept)
    _, entries = rows_of(f.table_start, f.tables, kept)
    sizes, scopes, tables = [np.diff(start)], [scope], [entries]
    small = np.flatnonzero(touched & (arity == 1))
    v = f.scope[f.scope_start[small]]
    groups = [(leader[v][:, None], counts[v], *rows_of(first, options, v), small)]
    small = np.flatnonzero(touched & (arity == 2))
    v, w = f.scope[f.scope_start[small]], f.scope[f.scope_start[small] + 1]
    for same in (True, False):
        some = (leader[v] == leader[w]) == same
        x, y = v[some], w[some]
        wide = counts[x] if same else counts[x] * counts[y]
        start = np.concatenate([[0], np.cumsum(wide)])
        number = np.repeat(np.arange(len(x)), wide)
        inside = np.arange(start[-1]) - start[number]
        a, b = (inside, inside) if same else (inside // counts[y][number], inside % counts[y][number])
        at = options[first[x][number] + a] * f.domains[y][number] + options[first[y][number] + b]
        groups.append((leader[np.column_stack([x] if same else [x, y])], wide, start, at, small[some]))
    for members, wide, start, at, factors in groups:
        table = f.tables[np.repeat(f.table_start[factors], wide) + at]
        some = np.add.reduceat(table != 0, start[:-1]) > 0 if len(factors) else np.zeros(0, bool)
        sizes.append(np.full(np.count_nonzero(some), members.shape[1]))
        scopes.append(members[some].ravel())
        tables.append(table[np.repeat(some, wide)])
    for k in np.flatnonzero(touched & (arity > 2)).tolist():
        those, table = f.factor(k)
        leaders = leader[list(those)].tolist()
        axes = list(dict.fromkeys(leaders))
        index = (
            options[first[u] : first[u + 1]].reshape([-1 if r == axis else 1 for axis in axes])
            for u, r in zip(those, leaders, strict=True)
        )
        table = table[tuple(index)]
        if table.any():
            sizes.append(np.array([len(axes)]))
            scopes.append(np.array(axes))
            tables.append(table.ravel())
    length = np.concatenate(sizes)
    return np.concatenate([[0], np.cumsum(length)]), np.concatenate(scopes).astype(np.int64), np.concatenate(tables)

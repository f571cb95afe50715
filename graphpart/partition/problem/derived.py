"""Problems made from a problem: its parts, its contraction by a partition, further requirements, further elements."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.kernels import _pairs
from graphpart.partition.inputs.arrays import frozen, keys_of_pairs
from graphpart.partition.inputs.unlisted import derived_cost, told_free
from graphpart.partition.problem.background import Background, background_of
from graphpart.partition.problem.connectedness import linked_parts, with_lifted
from graphpart.partition.problem.labels import canonical
from graphpart.partition.problem.lifted import lifted_pairs
from graphpart.partition.problem.pair_costs import Labels, PairCosts
from graphpart.partition.problem.requirements import Requirements
from graphpart.partition.problem.rules import Rules, prevent_chains

if TYPE_CHECKING:
    from graphpart.partition.problem.groups import Groups

__all__ = [
    "components",
    "connected",
    "connected_subsets",
    "contract",
    "pairs_with_cost",
    "requiring",
    "restrict",
    "with_costs",
    "with_elements",
    "with_rules",
]

Problem = TypeVar("Problem", bound=PairCosts)


def connected(n: int, u: NDArray[np.int32], v: NDArray[np.int32]) -> Labels:
    """Canonical labels of the connected components of n elements and some pairs."""
    return _pairs.connected_components(n, np.ascontiguousarray(u), np.ascontiguousarray(v))


def components(p: PairCosts) -> Labels:
    """See SetPartition.components.

    With a background that repels, only attracting pairs connect elements: no optimum joins elements that no attracting
    pairs connect. If the number of clusters is limited, all elements are one component. Else, if subsets have to be
    connected, base pairs of any cost but ``inf`` connect elements, and lifted pairs do not.
    """
    whole = np.zeros(p.n, np.int32)
    if p._limits is not None and p._limits.number:
        return whole
    if p.lifted is not None:
        return linked_parts(p, whole)
    if p.background is None or not p.background.repels:
        return connected_subsets(p, whole)
    assert p.u is not None and p.v is not None and p.cost is not None
    wanted = p.cost + p.background.of_pairs(p.u, p.v) < 0
    return _pairs.connected_subsets_of_pairs(whole, p.must_join, p.u, p.v, wanted.astype(np.float64))


def connected_subsets(p: PairCosts, labels: Labels) -> Labels:
    """Canonical labels of the parts of subsets that non-zero pairs within them, and required joins, connect.

    A background connects all elements that have a weight in it; groups, whose prices repel, connect none. If there is a
    largest number of clusters, subsets remain whole. If subsets have to be connected, it is base pairs of any cost that
    connect.

    O(n + m); for a matrix O(n) if there are few zeros.
    """
    if p.lifted is not None:
        return linked_parts(p, labels)
    if p._limits is not None and p._limits.most is not None:
        return canonical(labels)
    if p.background is not None:
        return _connected_by_background(p, labels)
    if p.matrix is not None:
        return _pairs.connected_subsets_of_dense(labels, p.must_join, p.matrix)
    return _pairs.connected_subsets_of_pairs(labels, p.must_join, *p.pairs())


def _connected_by_background(p: PairCosts, labels: Labels) -> Labels:
    assert p.background is not None and p.u is not None and p.v is not None and p.cost is not None
    weighted = np.zeros(p.n, bool)
    for x, y in p.background.vectors:
        weighted |= (x != 0) | (y != 0)
    if weighted.all():
        return canonical(labels)
    elements = np.flatnonzero(weighted).astype(np.int32)
    first = np.full(p.n, -1, np.int32)  # of each subset, the last element with a weight
    first[labels[elements]] = elements
    u, v = np.concatenate([p.u, elements]), np.concatenate([p.v, first[labels[elements]]])
    return _pairs.connected_subsets_of_pairs(
        labels, p.must_join, u, v, np.concatenate([p.cost, np.ones(len(elements))])
    )


def pairs_with_cost(p: PairCosts) -> int:
    """The number of pairs whose cost is not 0; of the listed pairs, if there is a background. O(pairs)"""
    if p.matrix is not None:
        return int(np.count_nonzero(p.matrix)) // 2
    assert p.cost is not None
    return int(np.count_nonzero(p.cost))


def contract(p: Problem, labels: Labels) -> Problem:
    """See SetPartition.contract."""
    k = int(labels.max()) + 1 if p.n else 0
    joins = labels[p.must_join]
    joins = np.sort(joins[joins[:, 0] != joins[:, 1]], axis=1)
    rules = Rules(joins, limits=None if p._limits is None else p._limits.contract(labels, k))
    if p.matrix is not None:
        return p._of_matrix(range(k), _pairs.sum_between(p.matrix, labels, k), rules)
    assert p.u is not None and p.v is not None and p.cost is not None
    a, b = labels[p.u], labels[p.v]
    across = a != b
    background = None if p.background is None else p.background.contract(labels, k)
    if p.lifted is not None:
        rules = replace(rules, lifted=p.lifted[across])
    return p._of_pairs(range(k), a[across], b[across], p.cost[across], background, rules, dense=False)


def restrict(p: Problem, elements: NDArray[np.integer[Any]]) -> Problem:
    """See SetPartition.restrict."""
    names = [p.nodes[i] for i in elements.tolist()]
    place = np.full(p.n, -1, np.int32)
    place[elements] = np.arange(len(elements), dtype=np.int32)
    joins = place[p.must_join]
    joins = joins[(joins >= 0).all(axis=1)]
    rules = Rules(joins, limits=None if p._limits is None else p._limits.restrict(elements))
    if p.matrix is not None:
        return p._of_matrix(names, p.matrix[np.ix_(elements, elements)], rules)
    assert p.u is not None and p.v is not None and p.cost is not None
    a, b = place[p.u], place[p.v]
    kept = (a >= 0) & (b >= 0)
    background = None if p.background is None else p.background.restrict(elements)
    if p.lifted is not None:
        rules = replace(rules, lifted=p.lifted[kept])
    return p._of_pairs(names, a[kept], b[kept], p.cost[kept], background, rules, dense=False)


def requiring(p: Problem, asked: Requirements) -> Problem:
    """The same problem with further requirements; limits are in place of those that it has.

    Arrays are shared with the problem, except for costs if pairs are required apart. O(requirements), but O(n^2) for a
    matrix to which cuts or groups are added, and O(m log m) if pairs are added.

    Raises
    ------
    InvalidProblem, InfeasibleProblem
        If a pair is no pair of elements, or no partition satisfies what is required.
    """
    groups, rules = asked.groups_of(p.nodes), asked.rules(p._places)
    rules = replace(rules, limits=asked.beside(p._limits))
    if derived_cost(p) is not None:
        cuts = np.concatenate([p._must_cut, rules.cuts])
        if prevent_chains(p.n, groups is not None, asked.connects, rules.limits, cuts):
            p = _without_derived(p)
            p._told = told_free(rules.limits)
    if asked.connects or (p.lifted is not None and groups is not None):
        p, groups = _connecting(p, asked, groups), None
    return with_rules(p, rules, groups)


def with_rules(p: Problem, rules: Rules, groups: Groups | None = None) -> Problem:
    """The problem with more joins, cuts and groups, and with these limits; `requiring` by indices."""
    joins, cuts, limits = np.concatenate([p.must_join, rules.joins]), rules.cuts, rules.limits
    if groups is not None and p.matrix is not None and p.groups is None:
        source = p._source if p._source is not None and p._source.background is not None else None
        background = Background([] if source is None or source.background is None else source.background.terms, groups)
        triples = p._listed() if source is None else source.pairs()
        return p._of_pairs(p.nodes, *triples, background, Rules(joins, cuts, limits), dense=True)._as(p)
    q = type(p).__new__(type(p))
    q._start(p.nodes, limits)
    q._as(p)
    q._places, q._zeros = p._places, p._zeros
    if p.matrix is not None:
        q.matrix = p.matrix
        if len(cuts) or groups is not None:
            matrix = p.matrix.copy()
            matrix[cuts[:, 0], cuts[:, 1]] = matrix[cuts[:, 1], cuts[:, 0]] = np.inf
            if groups is not None:
                groups.add_to(matrix)
                matrix[np.diag_indices(p.n)] = 0.0
            q.matrix = frozen(matrix)
        if p._source is not None:
            q._source = with_rules(p._source, rules, groups)
    else:
        q.background = p.background
        if groups is not None:
            from graphpart.partition.problem.groups import joined

            terms, known = (p.background.terms, p.background.groups) if p.background is not None else ([], None)
            q.background = Background(terms, joined([known, groups] if known is not None else [groups]))
        _store_with(q, p, cuts, np.full(len(cuts), np.inf))
    q._require(joins)
    return q


def with_costs(p: Problem, pairs: NDArray[np.integer[Any]], costs: NDArray[np.float64]) -> Problem:
    """The problem with costs added to those of some pairs, which need not be listed, and may occur several times.

    A pair that is not listed does not connect, if clusters must be connected. O(m + k log m) for k pairs, O(n^2) for a
    matrix.
    """
    q = type(p).__new__(type(p))
    q._start(p.nodes, p._limits)
    q._as(p)
    q._places, q._zeros = p._places, p._zeros
    if p.matrix is not None:
        matrix = p.matrix.copy()
        for a, b in (pairs.T, pairs[:, ::-1].T):
            np.add.at(matrix, (a, b), costs)
        q.matrix = frozen(matrix)
        q._source = None if p._source is None else with_costs(p._source, pairs, costs)  # type: ignore[type-var]
    else:
        q.background = p.background
        _store_with(q, p, pairs, costs)
    q._require(p.must_join)
    return q


def _store_with(q: PairCosts, p: PairCosts, pairs: NDArray[np.integer[Any]], costs: NDArray[np.float64]) -> None:
    """Store the pairs of p in q, with costs added to some of them; new ones are lifted, if clusters are connected."""
    assert p.u is not None and p.v is not None and p.cost is not None
    q.u, q.v, q.cost, q.lifted = p.u, p.v, p.cost, p.lifted
    if not len(pairs):
        return
    if np.array_equal(p.u, pairs[:, 0]) and np.array_equal(p.v, pairs[:, 1]):
        q.cost = frozen(p.cost + costs)
        return
    stored = keys_of_pairs(p.u, p.v, p.n)
    wanted, place = np.unique(keys_of_pairs(pairs[:, 0], pairs[:, 1], p.n), return_inverse=True)
    added = np.bincount(place.ravel(), costs, len(wanted))
    at = np.searchsorted(stored, wanted)
    listed = stored[np.minimum(at, len(stored) - 1)] == wanted if len(stored) else np.zeros(len(wanted), bool)
    cost = p.cost.copy()
    cost[at[listed]] += added[listed]
    new, at = wanted[~listed], at[~listed]
    if len(new):
        q.u = frozen(np.insert(p.u, at, (new // p.n).astype(np.int32)))
        q.v = frozen(np.insert(p.v, at, (new % p.n).astype(np.int32)))
        cost = np.insert(cost, at, added[~listed])
        q.lifted = None if p.lifted is None else frozen(np.insert(p.lifted, at, True))
    q.cost = frozen(cost)


def _connecting(p: Problem, asked: Requirements, groups: Groups | None) -> Problem:
    """The problem whose listed pairs connect clusters, with more pairs that do not: lifted ones, a background."""
    from graphpart.partition.problem.groups import joined

    source = p if p._source is None else p._source  # which tells a background from listed pairs
    u, v, cost = source._listed() if source.background is None else source.pairs()
    flags = np.zeros(len(u), bool) if source.lifted is None else source.lifted
    if source.matrix is None and source._zeros is not None:
        a, b = source._zeros.T
        u, v, cost = np.concatenate([u, a]), np.concatenate([v, b]), np.concatenate([cost, np.zeros(len(a))])
        flags = np.concatenate([flags, np.zeros(len(a), bool)])
    if asked.lifted is not None:
        u, v, cost, flags = with_lifted((u, v, cost), flags, lifted_pairs(asked.lifted, p.n, p._places))
    known = source.background or Background()
    groups = joined([one for one in (known.groups, groups) if one is not None])
    rules = Rules(p.must_join, limits=p._limits, lifted=flags)
    return p._of_pairs(p.nodes, u, v, cost, Background(known.terms, groups), rules)._as(p)


def _without_derived(p: Problem) -> Problem:
    """The problem without the derived cost of unlisted pairs, as if `missing` were 0."""
    source = p if p._source is None else p._source  # which tells listed pairs from others
    u, v, cost = source._listed()
    q = p._of_pairs(p.nodes, u, v, cost, None, source._rules, dense=p.is_dense or None)._as(p)
    if q._zeros is not None and source._zeros is not None:
        q._zeros = frozen(np.concatenate([q._zeros, source._zeros]))
    return q


def with_elements(p: Problem, names: Sequence[Hashable]) -> Problem:
    """The same problem over all these elements in this order, some of which may be new.

    Raises
    ------
    InvalidProblem
        If an element of the problem is not among them.
    """
    place = {name: i for i, name in enumerate(names)}
    for node in p.nodes:
        if node not in place:
            raise InvalidProblem(f"{node!r} is in a pair but not among the elements")
    constant = 0.0 if p.background is None else p.background.constant
    if constant is None or p.groups is not None or p._limits is not None:
        raise InvalidOption("elements cannot be added to a problem with a background, groups or limits")
    to = np.fromiter((place[node] for node in p.nodes), np.int64, p.n)
    u, v, cost = p._listed()
    rules, background = Rules(to[p.must_join].astype(np.int32), lifted=p.lifted), background_of(names, constant)
    return p._of_pairs(names, to[u], to[v], cost, background, rules, dense=False if constant else None)._as(p)

"""Problems made from a problem: its components, its contraction by a partition, its restriction to some elements."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem
from graphpart.kernels import _pairs
from graphpart.partition.inputs.arrays import check_matrix_fits
from graphpart.partition.problem.background import Background
from graphpart.partition.problem.connectedness import check_alone, linked_parts
from graphpart.partition.problem.labels import canonical
from graphpart.partition.problem.pair_costs import Labels, PairCosts

Problem = TypeVar("Problem", bound=PairCosts)
SAMPLES = 10_000  # pairs of a matrix that are looked at to find the cost that most have


def connected(n: int, u: NDArray[np.int32], v: NDArray[np.int32]) -> Labels:
    """Canonical labels of the connected components of n elements and some pairs."""
    return _pairs.connected_components(n, np.ascontiguousarray(u), np.ascontiguousarray(v))


def components(p: PairCosts) -> Labels:
    """See SetPartition.components.

    With a background that repels, only attracting pairs connect elements: no optimum joins elements that no attracting
    pairs connect. If the number of clusters is limited, all elements are one component. If subsets have to be
    connected, base pairs of any cost but ``inf`` connect elements, and lifted pairs do not.
    """
    whole = np.zeros(p.n, np.int32)
    if p.lifted is not None:
        return linked_parts(p, whole)
    if p.limits is not None and p.limits.number:
        return whole
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
    if p.limits is not None and p.limits.most is not None:
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
    elements = np.flatnonzero(weighted).astype(np.int32)
    first = np.full(p.n, -1, np.int32)  # of each subset, the last element with a weight
    first[labels[elements]] = elements
    u, v = np.concatenate([p.u, elements]), np.concatenate([p.v, first[labels[elements]]])
    return _pairs.connected_subsets_of_pairs(
        labels, p.must_join, u, v, np.concatenate([p.cost, np.ones(len(elements))])
    )


def to_dense(p: Problem) -> Problem:
    """See SetPartition.to_dense."""
    if p.matrix is not None:
        return p
    if p.lifted is not None:
        raise InvalidProblem("subsets have to be connected, and a matrix does not tell base pairs from lifted ones")
    check_matrix_fits(p.n)
    joins = [(p.nodes[a], p.nodes[b]) for a, b in p.must_join.tolist()]
    q = p.of_matrix(p.nodes, matrix_of(p), joins, offset=p.offset, sense=p.sense, limits=p.limits, sizes=p.sizes)
    q._implicit, q.origin = p, p.origin
    return q


def without_usual(p: Problem, share: float) -> Problem:
    """The same problem with a background, where all but a `share` of the pairs of a matrix cost the same, but not 0.

    Only where all costs are integers, and so small that their sums are exact in both forms; else the problem itself.
    O(n^2), but O(1) where many costs differ.
    """
    if p.matrix is None or p.n < 2 or p.limits is not None or len(p.must_join):
        return p
    if p._implicit is not None and p._implicit.background is not None and p._implicit.background.groups is not None:
        return p
    rng = np.random.default_rng(p.n)
    a, b = rng.integers(0, p.n, (2, SAMPLES))
    sample = p.matrix[a[a != b], b[a != b]]
    usual = float(np.median(sample))
    if usual == 0 or not np.isfinite(usual) or np.mean(sample != usual) > 2 * share:
        return p
    u, v = np.nonzero(np.triu(p.matrix != usual, 1))
    costs = p.matrix[u, v]
    whole = np.isfinite(costs).all() and (costs == np.rint(costs)).all() and usual == np.rint(usual)
    pairs = p.n * (p.n - 1) / 2
    if not whole or len(u) > share * pairs or np.abs(costs).sum() + abs(usual) * (pairs + len(u)) > 2**53:
        return p
    return p.of_pairs(p.nodes, u, v, costs, dense=False, offset=p.offset, sense=p.sense, missing=usual)


def contract(p: Problem, labels: Labels) -> Problem:
    """See SetPartition.contract."""
    k = int(labels.max()) + 1 if p.n else 0
    joins = labels[p.must_join]
    joins = joins[joins[:, 0] != joins[:, 1]].tolist()
    sizes = None
    if p.limits is not None:
        sizes = np.bincount(labels, p.sizes, k).astype(np.int64)
    if p.matrix is not None:
        return p.of_matrix(range(k), _pairs.sum_between(p.matrix, labels, k), joins, limits=p.limits, sizes=sizes)
    assert p.u is not None and p.v is not None and p.cost is not None
    a, b = labels[p.u], labels[p.v]
    across = a != b
    background = None if p.background is None else p.background.contract(labels, k)
    return p.of_pairs(
        range(k), a[across], b[across], p.cost[across], joins, dense=False, background=background,
        limits=p.limits, sizes=sizes, lifted=None if p.lifted is None else p.lifted[across],
    )  # fmt: skip


def restrict(p: Problem, elements: NDArray[np.integer[Any]]) -> Problem:
    """See SetPartition.restrict."""
    names = [p.nodes[i] for i in elements.tolist()]
    place = np.full(p.n, -1, np.int32)
    place[elements] = np.arange(len(elements), dtype=np.int32)
    inside = place[p.must_join]
    joins = [(names[a], names[b]) for a, b in inside[(inside >= 0).all(axis=1)].tolist()]
    limits = None if p.limits is None else p.limits.without_number()
    sizes = None if p.sizes is None else p.sizes[elements]
    if p.matrix is not None:
        return p.of_matrix(names, p.matrix[np.ix_(elements, elements)], joins, limits=limits, sizes=sizes)
    assert p.u is not None and p.v is not None and p.cost is not None
    a, b = place[p.u], place[p.v]
    kept = (a >= 0) & (b >= 0)
    background = None if p.background is None else p.background.restrict(elements)
    return p.of_pairs(
        names, a[kept], b[kept], p.cost[kept], joins, dense=False, background=background, limits=limits, sizes=sizes,
        lifted=None if p.lifted is None else p.lifted[kept],
    )  # fmt: skip


def with_missing(p: Problem, missing: float) -> Problem:
    """The same listed pairs and requirements, with a cost for each pair that is not listed.

    Raises
    ------
    InvalidProblem
        If the problem has a background other than groups, or all pairs are listed.
    """
    groups = p.groups
    p = p.unfolded  # type: ignore[assignment]
    if p.background is not None and len(p.background.beta):
        raise InvalidProblem(f"the problem has a background already: {p.background!r}")
    if p.lifted is not None:
        check_alone(False, missing, None, None, None)
    u, v, cost = p.listed() if groups is None else p.pairs()
    if len(u) == p.n * (p.n - 1) // 2 > 0:
        raise InvalidProblem("all pairs are listed: expected a problem that lists some")
    joins = [(p.nodes[a], p.nodes[b]) for a, b in p.must_join.tolist()]
    return p.of_pairs(
        p.nodes, u, v, cost, joins, offset=p.offset, sense=p.sense, missing=missing, groups=groups, limits=p.limits
    )


HUGE = 2.0**20  # a cost that is so many times all that attracts an element would drown every tolerance


def cut_huge(p: Problem) -> Problem:
    """The same problem, with pairs of a huge cost required to be cut instead; for problems without required joins.

    If a pair costs more than the sum of all attraction of one of its elements, it is cut in every optimum, so optima
    stay the same. Tolerances, which grow with the largest costs, are then not affected by a cost that is never paid.
    """
    limit = HUGE * p.attraction
    if limit == 0.0 or p.magnitude <= limit or (p.limits is not None and p.limits.most is not None):
        return p  # if there is a largest number of subsets, elements cannot always leave theirs
    if p.lifted is not None and p.n > HUGE:
        return p  # an element cannot always leave its subset alone, but all of its elements can
    if p.background is not None:
        return _cut_huge_groups(p, limit)
    u, v, cost = p.pairs()
    huge = (cost > limit) & (cost < np.inf)
    if not huge.any():
        return p
    cost = np.where(huge, np.inf, cost)
    return p.of_pairs(range(p.n), u, v, cost, dense=p.is_dense, limits=p.limits, sizes=p.sizes, lifted=p.lifted)


def _cut_huge_groups(p: Problem, limit: float) -> Problem:
    """The same problem with the price inf in place of prices above a limit."""
    assert p.background is not None and p.u is not None and p.v is not None and p.cost is not None
    groups = p.background.groups
    if groups is None or not ((groups.price > limit) & ~groups.hard).any():
        return p
    from graphpart.partition.problem.groups import Groups

    price = np.where(groups.price > limit, np.inf, groups.price)
    harder = Groups(p.n, groups.element, groups.group, groups.count, price, groups.names)
    background = Background(p.background.terms, harder)
    return p.of_pairs(range(p.n), p.u, p.v, p.cost, dense=False, background=background, limits=p.limits, sizes=p.sizes)


EXTREME = 300  # binary digits before or after the point, from which on products of costs come near the ends of float64


def pairs_with_cost(p: PairCosts) -> int:
    """The number of pairs whose cost is not 0; of the listed pairs, if there is a background. O(pairs)"""
    if p.matrix is not None:
        return int(np.count_nonzero(p.matrix)) // 2
    assert p.cost is not None
    return int(np.count_nonzero(p.cost))


def in_fitting_unit(p: Problem) -> tuple[Problem, int]:
    """The same problem with costs divided by ``2**exponent``, and the exponent; itself and 0 unless costs are extreme.

    For problems without required joins.
    """
    assert p.background is None
    exponent = min(math.frexp(p.magnitude)[1], 1000)
    if abs(exponent) < EXTREME:
        return p, 0
    u, v, cost = p.pairs()
    with np.errstate(under="ignore"):
        scaled = np.ldexp(cost, -exponent)
    q = p.of_pairs(range(p.n), u, v, scaled, dense=p.is_dense, limits=p.limits, sizes=p.sizes, lifted=p.lifted)
    return q, exponent


def matrix_of(p: PairCosts) -> NDArray[np.float64]:
    """The costs as a symmetric matrix, also where the problem stores pairs. O(n^2)"""
    if p.matrix is not None:
        return p.matrix
    u, v, cost = p.pairs()
    matrix = np.zeros((p.n, p.n))
    matrix[u, v] = cost
    matrix[v, u] = cost
    if p.background is not None:
        p.background.add_to(matrix)
    return matrix

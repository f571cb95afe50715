"""Partial optimality: pairs that are joined, or cut, in some optimal partition, found without solving the problem.

Each criterion compares what a pair {a, b} costs with the most that a change of a partition could lose elsewhere, so
where it holds, changing any partition to agree does not make it worse.

* **edge** (join): ``-c[a, b] >= sum over x of |c[a, x]|``. If a and b are apart, a may move to b: each x is with a,
  with b, or elsewhere, so the move loses at most the sum (Alush & Goldberger 2012; Lange, Karrenbauer & Andres 2018).
* **neighbourhood** (join): ``-c[a, b] >= sum over x of |c[a, x] - c[b, x]| / 2``. Of the two moves, a to b and b to a,
  one is at least as good as their mean, which loses at most this. For unit costs: elements whose neighbourhoods differ
  in at most one element, critical cliques among them (Böcker, Briesemeister & Klau 2011).
* **component** (cut): no path of attractive pairs connects a and b.
* **node** (cut): ``c[a, b] >= sum over x of max(0, -c[a, x])``. If a and b are together, a may leave (Lange et al.).

Joined elements are contracted, and the criteria applied to the smaller problem, until none holds. A criterion that
holds with equality is used for one pair at a time, and only where sums are exact (all costs multiples of one number);
with inequality it holds in every optimal partition, so for all pairs at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.partition import _persistency
from graphpart.partition.certificate import common_step
from graphpart.partition.derived import connected
from graphpart.partition.problem import Labels, SetPartition, as_problem, canonical
from graphpart.stopping import Stopping

__all__ = ["Persistency", "Reduction", "persistency", "reduce"]

JOIN_CRITERIA = ("edge", "edge", "neighbourhood")
SAFE = 8  # multiples of the tolerance of a problem by which an inequality has to hold


@dataclass(frozen=True)
class Persistency:
    """What is proven about some optimal partition; all of it holds in one and the same.

    Attributes
    ----------
    joined, cut : ndarray of int32, shape (k, 2)
        Pairs of indices. Joins that follow from others are left out; cuts are pairs with a cost.
    join_criteria, cut_criteria : tuple of str
        For each of them the criterion that proves it.
    labels : ndarray of int32, shape (n,)
        Canonical labels of the sets that joins and required joins connect.
    """

    joined: NDArray[np.int32] = field(repr=False)
    join_criteria: tuple[str, ...] = field(repr=False)
    cut: NDArray[np.int32] = field(repr=False)
    cut_criteria: tuple[str, ...] = field(repr=False)
    labels: Labels = field(repr=False)


@dataclass(frozen=True)
class Reduction:
    """A smaller problem that has the same optimum up to a constant.

    Attributes
    ----------
    problem : SetPartition
        Its elements are the sets of elements that are joined; pairs proven cut must be cut.
    constant : float
        Cost of a lifted partition minus its cost in the smaller problem.
    persistency : Persistency
    """

    problem: SetPartition
    constant: float
    persistency: Persistency = field(repr=False)

    def lift(self, partition: Any) -> Labels:
        """Labels of all elements from a partition of the smaller problem."""
        return canonical(self.problem.labels(partition)[self.persistency.labels])


def persistency(problem: Any, *, time_limit: float | None = None) -> Persistency:
    """Pairs proven joined or cut in some optimal partition, each with the criterion that proves it.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    time_limit : float, optional
        Seconds, after which what was found so far is returned.

    Notes
    -----
    One round takes O(sum over pairs of the degrees of their elements).

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (0, 2), (2, 3)], [-5.0, 1.0, -1.0, 2.0])
    >>> found = persistency(p)
    >>> found.joined.tolist(), found.join_criteria, found.cut.tolist(), found.cut_criteria
    ([[0, 1]], ('edge',), [[0, 2], [1, 2], [2, 3]], ('component', 'component', 'component'))
    """
    return reduce(problem, time_limit=time_limit).persistency


def reduce(problem: Any, *, time_limit: float | None = None) -> Reduction:
    """A smaller problem with the same optimum, and how to lift its partitions.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    time_limit : float, optional
        Seconds, after which what was found so far is used.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (0, 2), (2, 3)], [-5.0, 1.0, -1.0, 2.0])
    >>> r = reduce(p)
    >>> r.problem.n, r.constant, r.lift([0, 1, 2]).tolist()
    (3, -5.0, [0, 0, 1, 2])
    """
    p = as_problem(problem)
    stopping = Stopping(time_limit, None, None, None)
    labels = p.blocks()
    exact = common_step(p) > 0
    joined: list[NDArray[np.int32]] = []
    join_criteria: list[str] = []
    q = p.contract(labels) if len(p.must_join) else p
    while True:
        pairs, criteria = _joins(q, exact, stopping)
        if not len(pairs):
            break
        first = np.unique(labels, return_index=True)[1]
        joined.append(first[pairs].astype(np.int32))
        join_criteria += criteria
        merged = connected(q.n, pairs[:, 0].copy(), pairs[:, 1].copy())
        labels = merged[labels]
        q = q.contract(merged)
    small, is_cut, component = _cuts(q, exact, stopping)
    u, v, cost = p.pairs()
    a, b = labels[u], labels[v]
    keys = np.minimum(a, b).astype(np.int64) * q.n + np.maximum(a, b)
    apart = component[a] != component[b]
    proven = (cost != 0) & (a != b) & (apart | np.isin(keys, is_cut))
    proof = Persistency(
        np.concatenate([np.zeros((0, 2), np.int32), *joined]),
        tuple(join_criteria),
        np.stack([u[proven], v[proven]], 1),
        tuple("component" if one else "node" for one in apart[proven].tolist()),
        labels,
    )
    return Reduction(small, p.evaluate_labels(labels), proof)


def _joins(q: SetPartition, exact: bool, stopping: Stopping) -> tuple[NDArray[np.int32], list[str]]:
    """Pairs to join, a forest, and why: all that hold with inequality, else one that holds with equality."""
    u, v, cost = q.pairs()
    at = np.flatnonzero(cost < 0)
    if not len(at):
        return np.zeros((0, 2), np.int32), []
    u, v, cost = u[at], v[at], cost[at]
    room = -cost[:, None] - _persistency.against(*q.rows(), u, v, cost, stopping)
    best = np.argmax(room, axis=1)
    most = room[np.arange(len(at)), best]
    chosen = np.flatnonzero(most > (0 if exact else SAFE * q.tolerance))
    if exact and not len(chosen):
        chosen = np.flatnonzero(most == 0)[:1]
    kept = _forest(q.n, u, v, chosen)
    return np.stack([u[kept], v[kept]], 1), [JOIN_CRITERIA[best[e]] for e in kept]


def _forest(n: int, u: NDArray[np.int32], v: NDArray[np.int32], chosen: NDArray[np.int64]) -> list[int]:
    """The chosen pairs without those that close a cycle of earlier ones."""
    parent = np.arange(n)
    kept = []
    for e in chosen.tolist():
        a, b = int(u[e]), int(v[e])
        while parent[a] != a:
            parent[a] = a = parent[parent[a]]
        while parent[b] != b:
            parent[b] = b = parent[parent[b]]
        if a != b:
            parent[b] = a
            kept.append(e)
    return kept


def _cuts(
    q: SetPartition, exact: bool, stopping: Stopping
) -> tuple[SetPartition, NDArray[np.int64], NDArray[np.int32]]:
    """The problem with what must be cut, the keys of pairs cut by the criterion "node", attractive components."""
    u, v, cost = q.pairs()
    negative = cost < 0
    component = connected(q.n, u[negative], v[negative])
    apart = component[u] != component[v]
    at = np.flatnonzero((cost > 0) & (cost < np.inf) & ~apart)
    if not len(at) and not apart.any():
        return q, np.zeros(0, np.int64), component
    room = cost[at] - _persistency.against(*q.rows(), u[at], v[at], cost[at], stopping)[:, :2].min(axis=1)
    node = at[room >= 0] if exact else at[room > SAFE * q.tolerance]
    changed = cost.copy()
    changed[node] = np.inf
    changed[apart] = np.inf
    small = SetPartition.from_pairs(q.n, (u, v), changed, dense=q.is_dense)
    return small, u[node].astype(np.int64) * q.n + v[node], component

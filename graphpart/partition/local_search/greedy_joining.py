"""Greedy joining: repeatedly join the two subsets with the most negative cost between them.

From an initial partition (default: singletons), repeatedly apply the join of two subsets B, C with the smallest

    delta = sum over b in B, c in C of c[b, c],

while delta < 0. Where subsets have to be connected, only those count that a base pair links. On sparse graphs this is
greedy additive edge contraction (Keuper et al. 2015).

If several joins have the same delta, the join whose smaller subset has the fewest elements is applied; if several are
left, the one whose larger subset has the fewest elements; if several are left, the one with the smallest hash:
SplitMix64 (Steele, Lea & Flood 2014) of i * 2^32 + j, where i < j are the smallest elements of the two subsets. In
these rules, the initial subsets, numbered in the order of their smallest elements, count as elements. The order of ties
does not follow the numbering of the elements, and is the same on every machine, for matrices and for pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphpart.machine import give_back
from graphpart.partition.local_search import _kernels, _sparse_joining
from graphpart.partition.local_search.attracting import any_subset_attracts, is_native, join_any
from graphpart.partition.local_search.improve import improve
from graphpart.partition.local_search.join_in_rounds import join_in_rounds
from graphpart.partition.local_search.limited import few_enough
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.forms import as_pairs, cut_huge
from graphpart.result import PartitionResult
from graphpart.stopping import Stopping, interruptible

__all__ = ["greedy_joining"]

MANY = 2**20  # pairs from which on to give back memory takes no part of the time


@interruptible
def greedy_joining(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Join clusters greedily, as long as this lowers the cost.

    Also known as greedy additive edge contraction, ``gaec``.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    initial : Result, labels, mapping or list of sets, optional
        The partition to start from; default: every element alone (required joins joined).
        Elements that it leaves out start alone.
    time_limit : float, optional
        Seconds.
    max_iterations : int, optional
        Number of joins.
    target : float, optional
        Stop as soon as the cost is at most this.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    PartitionResult
        With status ``local_optimum``: no join of two clusters lowers the cost; `iterations` counts joins.

    Raises
    ------
    InvalidProblem, InvalidPartition, InvalidOption
        If an argument is not as described.

    Notes
    -----
    Groups and limits are obeyed. If clusters have to be connected, two join only if a base pair links them, by the
    sum of all their costs (Keuper et al. 2015). If the problem limits the number of clusters, no join leaves fewer; if
    there are too many at the end, the joins that cost least follow.

    Dense problems take O(n^2) expected time, and at most about as much memory as the matrix, usually far less. Sparse
    problems take O(m log^2 m) time and O(n + m) memory, also with a background that repels, since then only joins of
    clusters that a stored pair links can lower the cost. If a background attracts some pairs, any join can lower the
    cost, and the problem is converted to a matrix. Above 20,000 elements, each cluster in turn joins the cluster
    for which the cost is least, until no join lowers the cost.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-2.0, -1.0, 4.0])
    >>> r = greedy_joining(p)
    >>> r.partition, r.cost
    ([{0, 1}, {2}], -2.0)
    """
    stopping = Stopping(time_limit, max_iterations, target, callback)
    # The kernel joins from any partition. Required joins are never undone, because joining separates no elements.
    return improve(problem, initial, lambda p, _: p._must_join_classes(), join, "greedy-joining", stopping, is_native)


def joined(p: SetPartition, stopping: Stopping) -> Labels:
    """Joining from singletons, where other methods start: in rounds if that pays. Joins are not iterations."""
    return join(p, p._must_join_classes(), stopping.child(), True)


def join(p: SetPartition, labels: Labels, stopping: Stopping, in_rounds: bool = False) -> Labels:
    """The fixed point of greedy joining from canonical labels, or of joining in rounds where that pays."""
    subsets = int(labels.max()) + 1 if p.n else 0
    q = p if subsets == p.n else p._contract(labels)
    cost = p._evaluate_labels(labels)
    r = as_pairs(cut_huge(q))
    tolerance = p._tolerance if r is q else r._tolerance
    if r.matrix is not None:
        joined = _kernels.join_dense(r.matrix, tolerance, cost, stopping)
    elif any_subset_attracts(r):
        joined = join_any(r, r._must_join_classes(), cost, stopping)
    else:
        plain = r.background is None and r._limits is None and r.lifted is None
        joined = join_in_rounds(r, tolerance, stopping) if in_rounds and plain else None
        if joined is None:
            joined = _sparse_joining.join_sparse(r.n, r.u, r.v, r.cost, terms_of(r), tolerance, cost, stopping)
    if r.m >= MANY:  # what comes next needs other pieces of memory than joining did
        give_back()
    found = joined if q is p else joined[labels]
    return few_enough(p, found, stopping) if stopping.reason is None else found

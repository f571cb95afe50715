"""Greedy moving: repeatedly apply the best move of one element to another subset or to a new one.

From an initial partition (default: the fixed point of greedy joining), repeatedly apply the move (a, U), U a subset or
the empty set, with the smallest

    delta = sum over b in U of c[a, b]  -  sum over b in a's own subset, b != a, of c[a, b],

while delta < 0. If several moves have the same delta, a move of the smallest element is applied. Of its moves, the one
to the subset of smallest index to which it has a stored pair comes first, then the one to the empty set, then the one
to the subset of smallest index. Subsets of the initial partition are numbered in order of their smallest elements; a
new subset takes the smallest free number. Where subsets have to be connected, only those moves count that keep them so:
to the empty set, or to a subset that a base pair links to the element, from a subset that stays connected without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphpart.partition.local_search import _kernels, _sparse_moves
from graphpart.partition.local_search.attracting import any_subset_attracts, is_native, move_to_any
from graphpart.partition.local_search.greedy_joining import joined
from graphpart.partition.local_search.improve import improve
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.forms import as_pairs
from graphpart.result import PartitionResult
from graphpart.stopping import Stopping, interruptible

__all__ = ["greedy_moving"]


@interruptible
def greedy_moving(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Move single elements greedily, as long as this lowers the cost.

    Also known as best one element moves, ``boem``.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``. Elements that must be joined move together.
    initial : Result, labels, mapping or list of sets, optional
        The partition to start from; default: the fixed point of greedy joining.
        Elements that it leaves out start alone.
    time_limit, target, callback
        As for :func:`~graphpart.partition.greedy_joining`.
    max_iterations : int, optional
        Number of moves.

    Returns
    -------
    PartitionResult
        With status ``local_optimum``: no move of one element lowers the cost; `iterations` counts moves.

    Raises
    ------
    InvalidProblem, InvalidPartition, InvalidOption
        If an argument is not as described.

    Notes
    -----
    Groups and limits are obeyed, and clusters stay connected if they have to be. If there are as many clusters as
    allowed, an element only moves to a cluster that a stored pair links to it; :func:`~graphpart.partition.search` also
    tries the others.

    Dense problems take O(n^2) to start and O(n) for each move, plus O(clusters) for each element whose best move has to
    be found again. The memory is n times the number of clusters. Sparse problems take O(degrees of the neighbours of
    the moved element) for each move; with a background that repels, also the sum of the degrees in the two clusters. If
    a background attracts some pairs, the problem is converted to a matrix. Above 20,000 elements, instead, each element
    in turn makes its best move, until no move lowers the cost.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [1.0, -2.0, 4.0])
    >>> greedy_moving(p, initial=[0, 0, 1]).partition
    [{0}, {1, 2}]
    """
    stopping = Stopping(time_limit, max_iterations, target, callback)
    return improve(problem, initial, joined, move, "greedy-moving", stopping, is_native)


def move(p: SetPartition, labels: Labels, stopping: Stopping) -> Labels:
    """The fixed point of greedy moving from canonical labels."""
    p = as_pairs(p)
    cost = p._evaluate_labels(labels)
    if p.matrix is not None:
        return _kernels.greedy_moving(p.matrix, labels, p._magnitude, p._tolerance, p._has_must_cut, cost, stopping)
    if any_subset_attracts(p):
        return move_to_any(p, labels, cost, stopping)
    return _sparse_moves.greedy_moving(
        *p._rows().arrays, labels, terms_of(p), p._magnitude, p._tolerance, cost, stopping
    )

"""Greedy moving with the technique of Kernighan and Lin (1970): sequences of moves, cut back to their best prefix.

One outer iteration builds a sequence of n moves. At first, A_1 is the set of all elements. At step t, the best move
(a_t, U_t) over A_t x (subsets + empty set) is applied, also if it raises the cost, and a_t is removed from A_t. To stay
in the same subset is not a move. Let t_hat be the smallest length of a prefix with the least cumulative delta. If this
delta is < 0, the first t_hat moves are kept and a new outer iteration starts; otherwise the partition before this
iteration is the result. Ties are resolved as in greedy moving; subsets are numbered anew at the start of each outer
iteration. A sequence is shorter than n when required cuts, groups or limits leave no move. With groups or limits, an
element that is alone only goes to subsets that a stored pair links to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphpart.partition.local_search import _kernels, _sparse_moves
from graphpart.partition.local_search.attracting import any_subset_attracts, is_native
from graphpart.partition.local_search.improve import improve
from graphpart.partition.local_search.kernighan_lin_pairs import improve_by_pairs
from graphpart.partition.local_search.multilevel import start_of_sequences
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.forms import as_pairs
from graphpart.result import PartitionResult
from graphpart.stopping import Stopping, interruptible

__all__ = ["kernighan_lin"]


@interruptible
def kernighan_lin(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Improve a partition by sequences of moves.

    Also known as ``kl``.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``. Elements that must be joined move together.
    initial : Result, labels, mapping or list of sets, optional
        The partition to start from; default: the fixed point of greedy joining, or, for more than 1000 elements whose
        unlisted pairs cost something, what one iteration of :func:`~graphpart.partition.multilevel` reaches. Elements
        that it leaves out start alone.
    time_limit, target, callback
        As for :func:`~graphpart.partition.greedy_joining`.
    max_iterations : int, optional
        Number of outer iterations.

    Returns
    -------
    PartitionResult
        With status ``local_optimum``: no such sequence lowers the cost, hence no single move; `iterations` counts outer
        iterations, including the last one, which finds no improvement.

    Raises
    ------
    InvalidProblem, InvalidPartition, InvalidOption
        If an argument is not as described.

    Notes
    -----
    Groups and limits are obeyed, and clusters stay connected if they have to be. If there are as many clusters as
    allowed, an element only moves to a cluster that a stored pair links to it; :func:`~graphpart.partition.search` also
    tries the others.

    One outer iteration takes O(n^2) expected time on dense problems, O(m log n) on sparse ones. With a background that
    repels, each move also takes the sum of the degrees in the two clusters. This is little in cluster editing and
    entity resolution, but much if communities are large: use :func:`~graphpart.partition.multilevel` for these. If a
    background attracts some pairs, the problem is converted to a matrix; above 20,000 elements,
    :func:`~graphpart.partition.kernighan_lin_pairs` is called instead.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [-2.0, 1.0, -2.0, 0.5])
    >>> kernighan_lin(p, initial=[0, 1, 0, 1]).partition
    [{0, 1}, {2, 3}]
    """
    stopping = Stopping(time_limit, max_iterations, target, callback)
    return improve(problem, initial, start_of_sequences, improve_by_sequences, "kernighan-lin", stopping, is_native)


def improve_by_sequences(p: SetPartition, labels: Labels, stopping: Stopping) -> Labels:
    """The fixed point of the Kernighan-Lin iteration from canonical labels."""
    p = as_pairs(p)
    cost = p._evaluate_labels(labels)
    if p.matrix is not None:
        return _kernels.kernighan_lin(p.matrix, labels, p._magnitude, p._tolerance, p._has_must_cut, cost, stopping)
    if any_subset_attracts(p):
        return improve_by_pairs(p, labels, stopping)
    return _by_listed_pairs(p, labels, cost, stopping)


def _by_listed_pairs(p: SetPartition, labels: Labels, cost: float, stopping: Stopping) -> Labels:
    """Sequences of moves. The cost is recomputed before each, so that no rounding error is taken for a gain."""
    rows, terms = p._rows().arrays, terms_of(p)
    while True:
        found = canonical(
            _sparse_moves.kernighan_lin_sequence(*rows, labels, terms, p._magnitude, p._tolerance, cost, stopping)
        )
        before, after = cost, p._evaluate_labels(found)
        if after < before:
            labels, cost = found, after
        if stopping.step(cost) or not after < before - p._tolerance:
            return labels
        stopping.record(cost)

"""The mutex watershed (Wolf et al. 2018): pairs in the order of falling abs(cost) join subsets or keep them apart.

1. Required joins are made, and every other element is alone.
2. Pairs are visited in the order of falling abs(cost); those with equal ones in the order of their elements.
3. A pair that attracts joins the two subsets of its elements, unless an earlier pair has excluded that.
4. A pair that repels excludes that the two subsets of its elements are joined, ever.

This takes the costs as an order only: a subset is not divided by the sum of many weak costs, and no cost is promised. A
local search can start from the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphpart.methods import find_method
from graphpart.partition.local_search import _kernels
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import SetPartition, as_problem, canonical
from graphpart.partition.problem.forms import with_matrix
from graphpart.partition.results.finish import finish
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["mutex_watershed"]


@interruptible
def mutex_watershed(
    problem: Any,
    *,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Join and keep apart by the strongest pairs first.

    Also known as ``mws``.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    time_limit : float, optional
        Seconds; the weakest pairs are then left out. If a background cannot become a matrix in this time, only required
        joins are made.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run. The cost is 0 until the end.

    Returns
    -------
    PartitionResult
        With status ``feasible``. Its cost is that of the set partition problem, which this method does not minimise.

    Raises
    ------
    InvalidProblem, InvalidOption
        If an argument is not as described.

    Notes
    -----
    O(m log m) for m pairs, in O(n + m) memory: 10^7 pairs take some seconds. A background is converted to a matrix. The
    order of pairs is all that counts, so any increasing function of the sizes of the costs gives the same result.

    References
    ----------
    S. Wolf, C. Pape, A. Bailoni, N. Rahaman, A. Kreshuk, U. Köthe, F. A. Hamprecht (2018). The mutex watershed:
    efficient, parameter-free image partitioning. ECCV.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [-5.0, -2.0, -4.0, 3.0])
    >>> r = mutex_watershed(p)
    >>> r.partition, r.cost
    ([{0, 1}, {2, 3}], -9.0)
    """
    stopping = Stopping(time_limit, None, None, callback)
    p = as_problem(problem)
    find_method("mutex-watershed", "partition").check_problem(p)
    left = stopping.remaining
    if left is not None and p.background is not None and 1e-7 * p.n**2 > left:  # seconds for a matrix and its pairs
        stopping.stop(Status.TIME_LIMIT)
        return finish(p, p._must_join_classes(), stopping, "mutex-watershed", Status.FEASIBLE)
    p = with_matrix(p)
    contraction = Contraction(p)
    q: SetPartition = contraction.problem
    u, v, cost = q.pairs()
    found, looked = _kernels.mutex_watershed(q.n, u, v, cost, stopping)
    stopping.iterations += looked
    labels = canonical(contraction.lift(canonical(found)))
    return finish(p, labels, stopping, "mutex-watershed", Status.FEASIBLE, message="every pair has been looked at")

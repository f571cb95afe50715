"""An old partition is adapted to a problem that has changed: the problem is solved again near the changes.

**Frozen.** Old clusters stay as they are, and only new elements are placed. Each old cluster is contracted to one
element, with the sums of its costs. Old clusters are never joined with each other. So the connected components of the
pairs between new elements can be decided independently: each component has its own copies of the old clusters that
attract its elements. If a component is a single new element, it joins the best cluster or stays alone, which is
optimal. All other components make one problem, which the method solves; in this problem, the copies in one component
must be cut from each other. If this would be too many required cuts, cuts are added only where the method has joined
copies, a few times; copies that are still joined are then separated.

**Not frozen.** The frozen result is the start, so the result never costs more. The changed elements are new elements
and both ends of changed pairs. They are free to move, and so are all elements that a pair links to them. The remaining
elements of each of their clusters are contracted to one element, and so is each other cluster that attracts a free
element. The method solves this problem from the start. A cluster keeps the label of the old cluster with which it has
most elements in common; these pairs of clusters are chosen greedily by the number of common elements.

Problems that limit clusters, or whose clusters must be connected, are extended by way of whole.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphpart.common.finishing import result_of
from graphpart.errors import InvalidOption
from graphpart.partition.extending.frozen import place_new
from graphpart.partition.extending.near import changed_since, explicit_near, improved_near, prepared
from graphpart.partition.extending.old import (
    check_cuts,
    conflicts,
    in_cut_clusters,
    labels_of_classes,
    message_of,
    old_labels,
    stable,
)
from graphpart.partition.extending.solver import Solver
from graphpart.partition.extending.whole import improved_within, is_whole, placed_start, placed_within
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition, as_problem, canonical
from graphpart.partition.problem.requirements import NAMES, OLDER
from graphpart.result import PartitionResult, Result, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["ExtendedResult", "extend"]


@dataclass(frozen=True, repr=False)
class ExtendedResult(PartitionResult):
    """A :class:`PartitionResult` whose clusters keep their old labels; new clusters have labels above all old ones.

    The labels need not be 0, 1, ... in order of first appearance. If the old labels were not integers of at least 0,
    ``info["old_labels"]`` has the old label for each number below its length.
    """

    _keeps_numbers: ClassVar[bool] = True


@interruptible
def extend(
    problem: Any,
    old: Any,
    *,
    freeze: bool = True,
    before: Any = None,
    method: str = "auto",
    time_limit: float | None = None,
    seed: int | None = None,
    callback: Callable[[float, float], object] | None = None,
    **options: Any,
) -> ExtendedResult:
    """Extend an old partition to a problem with new elements or changed pairs, by solving the problem near the changes.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    old : Result, mapping from nodes to labels, labels, or list of sets
        The old partition. Elements without a label (a mapping does not name them, or the label is -1) are new. Elements
        of an old result that the problem does not have any more are ignored.
    freeze : bool
        With True, old clusters and their labels stay exactly as they are, and new elements join one of them or form new
        clusters. With False, old clusters near the changes may change, too; the result costs no more than the frozen
        one, and each cluster gets the label of the old cluster with the largest overlap.
    before : SetPartition or networkx.Graph, optional
        The problem that `old` is a partition of. The ends of pairs whose cost is different, or that only this problem
        has, count as changed, in addition to new elements. It is used only if not frozen. Default: the problem of an
        old result.
    method : str
        A method for set partition problems that solves the problem that is left; see :func:`graphpart.solve`. If this
        has more than 100,000 pairs, ``auto`` is greedy joining and greedy moving in turn, until neither lowers the
        cost.
    time_limit : float, optional
        Seconds.
    seed : int, optional
        For methods that draw random numbers.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms, with the cost inf until all elements are placed; a true return
        value stops the run.
    **options
        What is required in addition, such as `together` and `apart`, as :meth:`SetPartition.require` takes it. Also
        further options of the method.

    Returns
    -------
    ExtendedResult
        With status ``feasible``, or the reason why the run was stopped; if all elements were free to move, with the
        status of the method. `iterations` counts runs of the method.

    Raises
    ------
    InvalidPartition
        If the old partition does not fit the problem; frozen, also if it violates a requirement.
    InfeasibleProblem
        Frozen, if new elements cannot be placed within limits of sizes and numbers.
    InvalidProblem, InvalidOption
        If an argument is not as described.

    Notes
    -----
    O(n + m) in addition to the method, whose problem has only the new elements, or if not frozen, the changed elements
    and those linked to them. If the problem limits sizes or numbers, or its clusters must be connected, the method's
    problem also has an element for each other cluster.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(2, [(0, 1)], [-1.0], ["a", "b"])
    >>> old = gp.solve(p)
    >>> q = gp.SetPartition.from_pairs(4, [(0, 3), (1, 3), (0, 2), (2, 1)], [-1.0, 3.0, -2.0, 1.5], list("dacb"))
    >>> r = extend(q, old)
    >>> [sorted(cluster) for cluster in r.partition], r.labels.tolist()
    ([['a', 'b'], ['c', 'd']], [1, 0, 1, 0])
    """
    asked = {name: options.pop(name) for name in (*NAMES, *OLDER) if name in options}
    p = prepared(as_problem(problem).require(**asked) if asked else problem)
    if not isinstance(freeze, bool | np.bool_):
        raise InvalidOption(f"freeze is {freeze!r}: expected True or False")
    labels, shown, named = old_labels(p, old)
    stopping = Stopping(time_limit, None, None, callback)
    contraction = Contraction(p)
    q, classes, inner = contraction.problem, contraction.sets, labels
    if q is not p:
        inner = labels_of_classes(p, labels, classes, bool(freeze))
    solver = Solver(method, seed, options, stopping)
    free = inner < 0
    if before is None and isinstance(old, Result):
        before = old.problem
    if freeze:
        check_cuts(p, inner[classes])
    else:
        if before is not None:
            free[classes[changed_since(p, before)]] = True
        free[classes[conflicts(p, labels)]] = True
        inner = np.where(in_cut_clusters(q, inner), -1, inner).astype(np.int32)
    implicit, improved = q.background is not None, improved_near if q.background is not None else _near
    if is_whole(q):
        found, improved = (placed_within if freeze else placed_start)(q, inner, solver), improved_within
    else:
        found = place_new(explicit_near(q, inner, inner < 0) if implicit else q, inner, solver)
    status, bound = Status.FEASIBLE, -np.inf
    if not freeze and free.any() and not stopping.check(np.inf):
        found, status, bound = improved(q, found, free, solver)
    final = contraction.lift(found)
    numbers = stable(final, labels, shown)
    cost = p._evaluate_labels(numbers)
    bound = bound + contraction.constant
    stopping.iterations = solver.runs
    stopping.record(cost)
    reason = stopping.reason or status
    info = {"old_labels": named} if named is not None else {}
    message = message_of(labels, numbers, shown, reason)
    return result_of(
        ExtendedResult, p, numbers, cost, stopping, method, reason, message=message, lower_bound=bound, info=info
    )


# ----------------------------------------------------------------------------------------------------------- not frozen


def _near(q: SetPartition, labels: Labels, changed: NDArray[np.bool_], solver: Solver) -> tuple[Labels, Status, float]:
    """Improve labels by moving changed elements and those linked to them; status and bound if these are all."""
    u, v, cost = q.pairs()
    listed = cost != 0
    free = changed.copy()
    free[v[listed & changed[u]]] = True
    free[u[listed & changed[v]]] = True
    touched = np.zeros(int(labels.max()) + 1, bool)
    touched[labels[free]] = True
    attracts = cost < 0
    touched[labels[v[attracts & free[u]]]] = True
    touched[labels[u[attracts & free[v]]]] = True
    near = touched[labels]
    rest = near & ~free
    # One element for each free element, and one for the rest of each cluster.
    groups = np.where(free, np.arange(q.n), q.n + labels)
    members = np.flatnonzero(near)
    _, place_of_member = np.unique(groups[members], return_inverse=True)
    place = np.full(q.n, -1, np.int64)
    place[members] = place_of_member
    n = int(place_of_member.max()) + 1
    inside = near[u] & near[v]
    a, b, costs = place[u[inside]], place[v[inside]], cost[inside]
    apart = a != b
    small = SetPartition._of_pairs(range(n), a[apart], b[apart], costs[apart], dense=None if n < 2000 else False)
    given = np.zeros(n, np.int64)
    given[place_of_member] = labels[members]
    start = canonical(given)
    r = solver.run(small, start)
    everything = bool(near.all()) and not rest.any()
    if r.cost > small._evaluate_labels(start):  # methods without a start
        return labels, Status.FEASIBLE, -np.inf
    out = labels.astype(np.int64)
    out[members] = q.n + r.labels[place_of_member]
    return canonical(out), r.status if everything else Status.FEASIBLE, r.lower_bound if everything else -np.inf

"""Extensions of problems that limit sizes or the number of clusters, or whose clusters must be connected.

Each old cluster is contracted to one element, and a group at price ``inf`` keeps them apart. The method solves this
problem, with all that is required. If old clusters may change, the elements near the changes become free afterwards,
and only clusters that are farther away stay contracted.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InfeasibleProblem, InvalidPartition
from graphpart.partition.extending.near import near_changes
from graphpart.partition.extending.old import INSTEAD
from graphpart.partition.extending.solver import Solver
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.connectedness import linked_parts
from graphpart.partition.problem.derived import requiring
from graphpart.partition.problem.groups import Groups
from graphpart.partition.problem.requirements import Requirements
from graphpart.partition.results.starts import start_of
from graphpart.result import Status

__all__ = ["improved_within", "is_whole", "placed_start", "placed_within"]


def is_whole(p: SetPartition) -> bool:
    """Whether a problem has requirements of whole clusters, which pairs near a change do not tell."""
    return p._limits is not None or p.lifted is not None


def placed_within(q: SetPartition, labels: Labels, solver: Solver) -> Labels:
    """Canonical labels of all elements: given labels stay, elements with the label -1 join these clusters or new ones.

    Raises
    ------
    InvalidPartition
        If given clusters violate what is required.
    InfeasibleProblem
        If no partition within the limits is found that has these clusters.
    """
    k = int(labels.max(initial=-1)) + 1
    cells = canonical(np.where(labels >= 0, labels, k + np.arange(q.n)))
    if q.lifted is not None and linked_parts(q, cells).max(initial=-1) > cells.max(initial=-1):
        raise InvalidPartition(f"a frozen cluster is not connected by base pairs{INSTEAD}")
    r = q._contract(cells)
    limits, old = r._limits, np.unique(cells[labels >= 0])
    if limits is not None and limits.sizes is not None:
        if limits.max_size is not None and limits.sizes[old].max(initial=0) > limits.max_size:
            raise InvalidPartition(f"a frozen cluster has more than {limits.max_size} elements{INSTEAD}")
        if limits.most is not None and len(old) > limits.most:
            raise InvalidPartition(f"{len(old)} clusters are frozen, but at most {limits.most} allowed{INSTEAD}")
        if limits.least > max(1, r.n):
            raise InvalidPartition(
                f"frozen clusters leave at most {r.n}, but at least {limits.least} required{INSTEAD}"
            )
    if len(old) > 1:
        ones = np.ones(len(old), np.int64)
        apart = Groups(r.n, old, np.zeros(len(old), np.int64), ones, np.array([np.inf]))
        r = requiring(r, Requirements(groups=apart))
    start: Labels | None = None
    with suppress(InvalidPartition):  # the method then finds one
        start = start_of(r, np.arange(r.n))
    try:
        return canonical(solver.run(r, start).labels[cells])
    except InfeasibleProblem as none:
        raise InfeasibleProblem(f"{none}, with the frozen clusters{INSTEAD}") from None


def improved_within(
    q: SetPartition, labels: Labels, free: NDArray[np.bool_], solver: Solver
) -> tuple[Labels, Status, float]:
    """Improve labels by moving changed elements and those near them; status and bound if these are all."""
    near = np.zeros(q.n, bool)
    near[near_changes(q, labels, free, 2)] = True
    cells = canonical(np.where(near, int(labels.max(initial=-1)) + 1 + np.arange(q.n), labels))
    r = q._contract(cells)
    found = solver.run(r, canonical(labels[np.unique(cells, return_index=True)[1]]))
    better = canonical(found.labels[cells])
    if not q._evaluate_labels(better) <= q._evaluate_labels(labels):  # methods without a start
        return labels, Status.FEASIBLE, -np.inf
    return better, found.status if near.all() else Status.FEASIBLE, found.lower_bound if near.all() else -np.inf


def placed_start(q: SetPartition, labels: Labels, solver: Solver) -> Labels:
    """The labels of `placed_within`; if given clusters violate what is required, they are repaired, or else left."""
    with suppress(InvalidPartition, InfeasibleProblem):
        return placed_within(q, labels, solver)
    with suppress(InvalidPartition):
        return start_of(q, labels)
    return canonical(solver.run(q, None).labels)

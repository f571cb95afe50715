"""The linear relaxation with a background: pairs that are not listed become variables when an inequality needs them.

The algorithm is that of `relaxation`, but only some pairs are variables. All other pairs repel, and their value is 0 as
long as this satisfies all inequalities. If a point violates an inequality in which such a pair has the sign minus, the
pair becomes a variable (column generation). The inequalities are those of stars, which include conflicted triangles,
and those of cycles that listed pairs close. The relaxation starts from the result of message passing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import group
from graphpart.partition.bounds.assignment import assign
from graphpart.partition.bounds.background_packing import LARGEST_STAR, ImplicitPacking
from graphpart.partition.bounds.relaxation import Relaxation, most, solve_relaxation, tightened
from graphpart.partition.certificates.inequalities import TWO_PARTITION, Inequalities
from graphpart.partition.problem import SetPartition
from graphpart.stopping import Stopping

__all__ = ["solve_implicit_relaxation"]

Floats = NDArray[np.float64]


class ImplicitRelaxation(Relaxation):
    """The relaxation of a problem with a background, without required joins; listed pairs are the first variables."""

    def __init__(self, packing: ImplicitPacking, stopping: Stopping) -> None:
        self.packing = packing
        self.n, self.stopping, self.complete = packing.n, stopping, False
        self.u, self.v = packing.u, packing.v
        self.listed = len(packing.cost)
        self._begin(packing.cost)

    def _positions(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The variables of pairs, which are added if they do not exist."""
        numbers = self.packing.pairs.numbers(keys)
        keys = self.packing.pairs.made()[len(self.cost) - self.listed :]
        if len(keys):
            costs = self.packing.pairs.costs()[len(self.cost) - self.listed :]
            cut = np.isinf(costs)
            costs[cut] = 0.0
            self.u = np.concatenate([self.u, (keys // self.n).astype(np.int32)])
            self.v = np.concatenate([self.v, (keys % self.n).astype(np.int32)])
            self.given = self.cost = np.concatenate([self.cost, costs])
            for name, values in (("lower", np.zeros(len(keys))), ("upper", 1.0 - cut), ("y", np.zeros(len(keys)))):
                setattr(self, name, np.concatenate([getattr(self, name), values]))
            self.rows.grow(len(self.cost))
        return numbers

    def _find(self, tolerance: float) -> Inequalities:
        starts, elements, amounts = self.packing.pairs.violated_stars(self.y, tolerance, LARGEST_STAR, self.stopping)
        stars = np.diff(starts) > 3
        found = Inequalities(
            np.where(stars, TWO_PARTITION, 0).astype(np.uint8), starts, elements, stars.astype(np.int32)
        )
        cycles = self._cycles(tolerance)
        if self.packing.group_stars is not None:
            by_group, more = self.packing.group_stars.violated(self.y, tolerance)
            chosen = most(more, self.listed)
            cycles = cycles + by_group.take(chosen)
            self.violation = max(self.violation, float(more.max(initial=0.0)))
        self.violation = max(self.violation, float(amounts.max(initial=0.0)))
        chosen = most(amounts, self.listed)
        room = self.packing.most + self.listed - len(self.cost)  # pairs that may be made
        chosen = chosen[np.argsort(-amounts[chosen], kind="stable")]
        sizes = np.diff(starts)[chosen]
        return found.take(chosen[np.cumsum((sizes - 1) * (sizes - 2) // 2) <= room]) + cycles

    def _closing(self, cuts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        cuts = cuts[cuts < self.listed]
        order, starts = group(self.u[cuts], self.n)
        return cuts[order], starts


def solve_implicit_relaxation(p: SetPartition, stopping: Stopping) -> tuple[Inequalities, Floats]:
    """The form of `relaxation.solve_relaxation` for problems with a background.

    Components in which two groups have all elements are matchings, whose bound is found by itself (see `assignment`).
    """
    assigned = assign(p, stopping)
    if assigned is not None:
        if assigned.is_all:
            return assigned.rows, assigned.multipliers
        others = np.ones(p.n, bool)
        others[assigned.elements] = False
        rest = np.flatnonzero(others)
        q = p._restrict(rest)  # of which no group may be left
        rows, multipliers = (solve_relaxation if q.background is None else solve_implicit_relaxation)(q, stopping)
        return assigned.rows + rows.renamed(rest), np.concatenate([assigned.multipliers, multipliers])
    packing = ImplicitPacking(p, stopping)
    packing.pack()
    for _ in packing.improve():
        pass
    relaxation = ImplicitRelaxation(packing, stopping)
    relaxation.start(*packing.proof)
    return tightened(relaxation, stopping)

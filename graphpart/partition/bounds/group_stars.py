"""Multipliers of group stars: of the elements that one element attracts, at most one of each group joins it.

For each element a and each group g at price inf, the star of a and the members of g that a attracts has a multiplier
(see `graphpart.partition.certificates.inequalities`). The bound is the sum over all pairs of their attraction less the
multipliers, where this is positive, plus all multipliers. Coordinate ascent sets each multiplier to its best value
while the others stay, in sweeps that alternate between forwards and backwards. With two groups, the problem of the best
multipliers is the dual of the assignment problem, which `assignment` solves exactly.

No pairs are added, so m attracting pairs need O(m) memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.bounds import _kernels
from graphpart.partition.bounds.message_passing import LITTLE, SWEEPS
from graphpart.partition.certificates.inequalities import GROUP_STAR, Inequalities
from graphpart.partition.problem.groups import Groups
from graphpart.stopping import Stopping

__all__ = ["GroupStars"]

Floats = NDArray[np.float64]


class GroupStars:
    """The stars of a problem that may have a multiplier, and their multipliers.

    Parameters
    ----------
    u, v : ndarray of int32, shape (m,)
        Pairs.
    cost : ndarray of float64, shape (m,)
        Their whole costs. Only negative ones matter.
    groups : Groups
    """

    def __init__(self, u: NDArray[np.int32], v: NDArray[np.int32], cost: Floats, groups: Groups) -> None:
        self.m = len(cost)
        hard = groups.hard[groups.group]
        group = groups.group[hard]  # of each element, groups at price inf only
        starts = np.searchsorted(np.flatnonzero(hard), groups.starts)
        used = np.flatnonzero(cost < 0).astype(np.int32)
        keys, leaves, pairs = [], [], []
        for centre, leaf in ((u, v), (v, u)):
            memberships = np.diff(starts)[leaf[used]]
            pair = np.repeat(used, memberships)
            at = np.repeat(starts[leaf[used]] - np.cumsum(memberships) + memberships, memberships)
            at += np.arange(len(pair))
            keys.append(centre[pair].astype(np.int64) * len(groups) + group[at])
            leaves.append(leaf[pair])
            pairs.append(pair)
        key, leaf, pair = np.concatenate(keys), np.concatenate(leaves), np.concatenate(pairs)
        order = np.argsort(key, kind="stable")
        key = key[order]
        begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else np.zeros(0, np.int64)
        sizes = np.diff(np.append(begins, len(key)))
        kept = np.repeat(sizes > 1, sizes)
        self.centre = (key[begins[sizes > 1]] // max(1, len(groups))).astype(np.int32)
        self.leaf, self.pair = leaf[order][kept], pair[order][kept].astype(np.int64)
        self.starts = np.concatenate([[0], np.cumsum(sizes[sizes > 1])]).astype(np.int64)
        self.multipliers = np.zeros(len(self.centre))
        self.load: Floats = np.zeros(self.m)

    def __len__(self) -> int:
        return len(self.centre)

    def improve(self, attraction: Floats, stopping: Stopping, sweeps: int = SWEEPS) -> None:
        """Raise the bound, with the given part of the attraction of each pair for group stars."""
        whole = float(attraction.sum())
        for k in range(sweeps):
            gained = _kernels.sweep_group_stars(
                self.starts, self.pair, attraction, self.multipliers, self.load, k % 2 == 0, stopping
            )
            if gained <= LITTLE * whole or stopping.check(np.inf):
                break
        # Sums of changes err by their roundings.
        whole_load = np.bincount(self.pair, np.repeat(self.multipliers, np.diff(self.starts)), self.m)
        self.load = whole_load.astype(np.float64)

    def value(self, attraction: Floats) -> float:
        """The rise of the bound by the multipliers."""
        return float(np.minimum(self.load, attraction).sum() - self.multipliers.sum())

    def inequalities(self, which: NDArray[np.bool_] | None = None) -> Inequalities:
        """Some of the group stars; default: all."""
        which = np.ones(len(self), bool) if which is None else which
        sizes = np.diff(self.starts)
        kept = np.flatnonzero(which)
        starts = np.concatenate([[0], np.cumsum(sizes[kept] + 1)])
        elements = np.empty(starts[-1], np.int32)
        elements[starts[:-1]] = self.centre[kept]
        leaves = np.ones(len(elements), bool)
        leaves[starts[:-1]] = False
        elements[leaves] = self.leaf[np.repeat(which, sizes)]
        count = len(kept)
        return Inequalities(np.full(count, GROUP_STAR, np.uint8), starts, elements, np.ones(count, np.int32))

    def found(self) -> tuple[Inequalities, Floats]:
        """The group stars with a multiplier, and the multipliers."""
        used = self.multipliers > 0
        return self.inequalities(used), self.multipliers[used]

    def violated(self, y: Floats, tolerance: float) -> tuple[Inequalities, Floats]:
        """The group stars that a point violates by more than a tolerance, and the violations."""
        if not len(self):
            return Inequalities.none(), np.zeros(0)
        amounts = np.add.reduceat(y[self.pair], self.starts[:-1]) - 1.0
        which = amounts > tolerance
        return self.inequalities(which), amounts[which]

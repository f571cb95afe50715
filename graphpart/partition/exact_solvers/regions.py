"""A bound raised region by region, where the gap between a relaxation and a partition arises in few places.

Let r be the reduced costs of a relaxation's multipliers l of inequalities a y <= b (see `certificate`). For the best
partition y known, its cost is above the bound by

    sum over pairs of (r y - min(0, r))  +  sum over inequalities of l (b - a y),

where each term is at least 0. So the positive terms show where the gap arises. In large problems these places are few.
Branching on one pair after the other would have to combine them all, but each place can be examined separately:

1. The elements of pairs and inequalities with a positive term form regions. Pairs and inequalities that share an
   element belong to one region. A region also contains all elements of each inequality with a positive multiplier that
   shares an element with the region.
2. For a region S, the inequalities within S are removed from the reduced costs. Each partition of all elements induces
   a partition of S. So the bound outside S, plus the least cost of a partition of S in these reduced costs, is a lower
   bound, too. Branch and cut computes this least cost. Regions are disjoint, so their gains add up.
3. If the known partition is optimal in S for these costs, the gap in S is closed. Otherwise the known partition is
   improved near S: the elements of S, and the adjacent subsets without S, form a problem of their own.
4. Regions that still have a gap grow, and merge with regions that they meet. Then steps 2 and 3 are repeated.

So the work is proportional to the number of places, not exponential in it.

If subsets have to be connected, the part of a subset within a region may be disconnected. So the problems of regions in
step 2 do not require connected subsets. The contributions of cuts to the reduced costs stay (see `inequalities`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import first_of, group
from graphpart.partition.bounds.relaxation import Relaxation
from graphpart.partition.certificates.inequalities import CUT
from graphpart.partition.pieces.components import split
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.derived import connected, connected_subsets
from graphpart.partition.problem.rules import Rules
from graphpart.stopping import Stopping

__all__ = ["Regions"]

Floats = NDArray[np.float64]
Solve = Callable[[SetPartition, Labels, float], tuple[Labels, float, bool]]
WORTH, SHARE, LEAST = 1e-3, 1e-4, 1e-5  # least terms of regions: share of the scale; of the gap; lower limit
DIFFERENT = 0.1  # two values of a variable differ if their distance exceeds this
LARGEST, SECONDS = 400, 1.0  # most elements of a region, and seconds for it, at effort 1
PROGRESS, IDLE = 0.05, 1  # share of the gap below which a pass is idle; most idle passes


@dataclass
class Region:
    """A region: its elements, the gain of its bound, the remaining gap, and its best partition.

    A region that is made of others gains at least as much as these together.
    """

    elements: NDArray[np.int64]
    gain: float = 0.0
    gap: float = np.inf
    other: Labels | None = None
    is_solved: bool = False


class Regions:
    """Regions of a relaxation of a problem with few pairs, for its multipliers and bounds of variables as they are now.

    Parameters
    ----------
    p : SetPartition
    relaxation : Relaxation
    labels : ndarray of int32, shape (n,)
        The best partition known.
    solve : callable
        ``solve(problem, labels, seconds)`` returns better labels, a lower bound, and whether the labels are optimal.
    stopping : Stopping

    Attributes
    ----------
    labels : ndarray of int32, shape (n,)
        The best partition.
    cost : float
    gain : float
        The gain that may be added to the bound of the multipliers.
    """

    def __init__(self, p: SetPartition, relaxation: Relaxation, labels: Labels, solve: Solve, stopping: Stopping):
        self.p, self.r, self.labels, self.solve, self.stopping = p, relaxation, labels, solve, stopping
        self.cost = p._evaluate_labels(labels)
        self.multipliers = relaxation.rows.multipliers
        self.reduced = relaxation.reduced(self.multipliers)
        self._least = relaxation.proves(self.multipliers)
        worth = min(WORTH * relaxation.scale, SHARE * (self.cost - self._least))
        self.worth = max(worth, LEAST * relaxation.scale)
        self.largest, self.seconds = LARGEST, SECONDS
        self.regions: list[Region] = []
        rows = relaxation.rows.inequalities
        self._lengths = np.diff(rows.starts)  # elements of each inequality, and of which one each element and term is
        self._row_of_element = np.repeat(np.arange(len(rows)), self._lengths)
        self._row_of_term = np.repeat(np.arange(len(rows)), relaxation.rows.lengths)

    @property
    def gain(self) -> float:
        return float(sum(region.gain for region in self.regions))

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Variables outside of all regions with a gain: their reduced costs are still valid."""
        place = self._places([region for region in self.regions if region.gain > 0])
        a, b = place[self.r.u], place[self.r.v]
        outside: NDArray[np.bool_] = (a < 0) | (a != b)
        return outside

    def steps(self, effort: int = 1) -> Iterator[None]:
        """Make regions, solve them, and let regions with a gap grow, while the gap shrinks.

        Pauses after each region that was solved. With twice the effort, regions may grow twice as large, and take twice
        as long. May be called again with more.
        """
        self.largest, self.seconds = min(effort * LARGEST, self.p.n // 2), effort * SECONDS
        if not self.regions:
            self._begin()
        elif not self._grow() and all(region.is_solved for region in self.regions):
            return
        for region in self.regions:
            if not region.is_solved and region.gap > self.worth:
                region.gap = np.inf
        idle = 0
        while self.regions and len(self.multipliers) and not self._is_over:
            before = self.cost - self.gain
            yield from self._solve_all()
            left = self.cost - self.gain
            idle = 0 if before - left > PROGRESS * (left - self._least) else idle + 1
            if idle > IDLE or self._is_over or not self._grow():
                break

    @property
    def _is_over(self) -> bool:
        return self.stopping.check(self.cost)

    def _places(self, regions: list[Region]) -> NDArray[np.int64]:
        """Of each element, the number of the region that holds it, or -1."""
        place = np.full(self.p.n, -1)
        for k, region in enumerate(regions):
            place[region.elements] = k
        return place

    def _hubs(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Pairs of elements that connect those of each of the chosen inequalities."""
        rows = self.r.rows.inequalities
        mask = chosen[self._row_of_element]
        return rows.elements[mask], rows.elements[rows.starts[:-1]][self._row_of_element[mask]]

    def _begin(self) -> None:
        """Make regions where the gap is."""
        r = self.r
        y = (self.labels[r.u] == self.labels[r.v]).astype(np.float64)
        pairs = self.reduced * y - np.minimum(self.reduced * r.lower, self.reduced * r.upper) > self.worth
        rows = self.multipliers * (r.rows.rhs - r.rows.left(y)) > self.worth
        a, b = self._hubs(rows)
        labels = connected(self.p.n, np.concatenate([r.u[pairs], a]), np.concatenate([r.v[pairs], b]))
        order, starts = group(labels, int(labels.max(initial=-1)) + 1)
        sizes = np.diff(starts)
        for k in np.flatnonzero((sizes > 1) & (sizes <= self.p.n // 2)).tolist():
            self.regions.append(Region(order[starts[k] : starts[k + 1]]))
        self._grow()

    def _grow(self) -> bool:
        """Enlarge regions with a gap by the elements that decide about it, or else by adjacent elements; whether any
        grew."""
        place = self._places(self.regions)
        regions = dict(enumerate(self.regions))
        grown = False
        for k in sorted(regions, key=lambda k: -self.regions[k].gap):
            region = regions.get(k)
            if region is None or region.gap <= self.worth or not (region.is_solved or region.other is None):
                continue
            for around in (self._differing, self._touched):
                taken = around(region)
                taken[region.elements] = True
                met = np.unique(place[taken & (place >= 0)]).tolist()
                for one in met:
                    taken[regions[one].elements] = True
                elements = np.flatnonzero(taken)
                if len(elements) > len(region.elements):
                    break
            if not len(region.elements) < len(elements) <= self.largest:
                continue
            gain = region.gain + sum(regions[one].gain for one in met if one != k)
            for one in met:
                del regions[one]
            regions[k] = Region(elements, gain)
            place[elements] = k
            grown = True
        self.regions = [regions[k] for k in sorted(regions)]
        return grown

    def _differing(self, region: Region) -> NDArray[np.bool_]:
        """Elements that decide about pairs on which the best partition of the region and the known one differ.

        Before the region has a best partition, the point of the relaxation takes its place. The elements are those of
        inequalities with a multiplier over such pairs, and those that share a subset with an element of such a pair.
        """
        r = self.r
        together = self.labels[r.u] == self.labels[r.v]
        mark = np.full(self.p.n, -1)
        mark[region.elements] = 0 if region.other is None else region.other
        a, b = mark[r.u], mark[r.v]
        y = r.y if region.other is None else (a == b).astype(np.float64)
        differs = (a >= 0) & (b >= 0) & (np.abs(y - together) > DIFFERENT)
        taken = self._of_priced(self._row_of_term[differs[r.rows.pairs]])
        hot = np.zeros(self.p.n, bool)
        hot[r.u[differs]] = hot[r.v[differs]] = True
        taken[r.v[hot[r.u] & together]] = taken[r.u[hot[r.v] & together]] = True
        return taken

    def _touched(self, region: Region) -> NDArray[np.bool_]:
        """Which elements are in an inequality with a multiplier that the region touches."""
        inside = np.zeros(self.p.n, bool)
        inside[region.elements] = True
        return self._of_priced(self._row_of_element[inside[self.r.rows.inequalities.elements]])

    def _of_priced(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which elements are in some of the given inequalities that have a multiplier."""
        chosen = np.zeros(len(self.multipliers), bool)
        chosen[rows] = True
        taken = np.zeros(self.p.n, bool)
        worth = (chosen & (self.multipliers > self.worth))[self._row_of_element]
        taken[self.r.rows.inequalities.elements[worth]] = True
        return taken

    def _solve_all(self) -> Iterator[None]:
        """Solve regions: bounds, and better labels where a region has a gap."""
        r, rows = self.r, self.r.rows.inequalities
        place = self._places(self.regions)
        ends = place[rows.elements]
        least, most = (sides.reduceat(ends, rows.starts[:-1]) for sides in (np.minimum, np.maximum))
        inside = (least >= 0) & (least == most) & (rows.kinds != CUT)
        cost = r.rows.reduced(r.cost, np.where(inside, 0.0, self.multipliers))
        a, b = place[r.u], place[r.v]
        within = np.flatnonzero((a >= 0) & (a == b))
        number, count = a[within], len(self.regions)
        reduced = self.reduced[within]
        parts = np.minimum(reduced * r.lower[within], reduced * r.upper[within])
        paid = self.multipliers[inside] * r.rows.rhs[inside]
        linear = np.zeros(count) + np.bincount(number, parts, count) - np.bincount(least[inside], paid, count)
        lengths = r.rows.lengths.astype(np.float64)
        weight = np.zeros(count) + np.bincount(
            number, np.abs(r.cost[within]) + np.abs(cost[within]) + np.abs(reduced), count
        )
        weight = weight + np.bincount(least[inside], self.multipliers[inside] * lengths[inside] + paid, count)
        linear += 2.0**-50 * (int(r.rows.counts.max(initial=0)) + 64) * weight  # what rounding may have hidden
        # The best partition known need not agree with what holds for all better ones.
        apart = (r.upper[within] < 0.5) & (self.labels[r.u[within]] != self.labels[r.v[within]])
        finite = np.where(apart, np.inf, cost[within])
        whole = SetPartition._of_pairs(range(self.p.n), r.u[within], r.v[within], finite, dense=False)
        name = np.where(place >= 0, place, count)
        wanted = np.zeros(count + 1, bool)
        wanted[[k for k, region in enumerate(self.regions) if region.gap == np.inf]] = True
        found = split(whole, name.astype(np.int32), wanted[: int(name.max()) + 1])
        for elements, part in sorted(found, key=lambda one: one[1].n):
            if self._is_over:
                break
            k = int(place[elements[0]])
            region = self.regions[k]
            mine = canonical(self.labels[elements])
            best, bound, region.is_solved = self.solve(part, mine, self.seconds)
            region.gain = max(region.gain, bound - linear[k])
            region.gap = part._evaluate_labels(mine) - linear[k] - region.gain
            region.other = best
            if region.gap > self.worth and self._improve(elements):
                region.gap = part._evaluate_labels(canonical(self.labels[elements])) - linear[k] - region.gain
            yield

    def _improve(self, elements: NDArray[np.int64]) -> bool:
        """Look for better labels of some elements, while the rest of each subset around them stays together."""
        p = self.p
        u, v, _ = p.pairs()
        free = np.zeros(p.n, bool)
        free[elements] = True
        touched = np.unique(np.concatenate([self.labels[u[free[v]]], self.labels[v[free[u]]], self.labels[elements]]))
        around = np.zeros(int(self.labels.max()) + 1, bool)
        around[touched] = True
        members = np.flatnonzero(around[self.labels])
        name = self.labels.copy()
        name[elements] = len(around) + np.arange(len(elements))
        classes, whole = canonical(name[members]), p._restrict(members)
        if p.lifted is not None:
            classes = connected_subsets(whole, classes)
        start = canonical(self.labels[members][first_of(classes)])
        smaller = whole._contract(classes)
        if smaller.n >= p.n:  # which would be solved by the same regions, without end
            return False
        # a matrix, if most have a cost
        q = SetPartition._of_pairs(range(smaller.n), *smaller.pairs(), rules=Rules(lifted=smaller.lifted))
        best = self.solve(q, start, self.seconds)[0]
        labels = self.labels.astype(np.int64)
        labels[members] = p.n + best[classes]
        found = canonical(labels)
        better = p._evaluate_labels(found)
        if better >= self.cost:
            return False
        self.labels, self.cost = found, better
        return True

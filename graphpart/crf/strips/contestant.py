"""Strips of a grid as a contestant of a race (see `common/race.py`): a bound, and labelings by moves of whole strips.

A grid is covered by strips of some successive rows; the last row of each is the first row of the next one. A strip is
minimised over exactly, column by column. The energy is divided among the strips, so the sum of their minima is a lower
bound. It is raised by messages: for each pair of neighbours in a common row and each pair of their labels, a cost is
moved from one strip to the next. Passes go from the first and the last strip to the middle one, and from there back, so
that two threads can work on the two halves. A strip sends half of the min-marginals of each pair of labels, so that no
minimum falls. This is sequential reweighted message passing (Kolmogorov 2015) with strips for factors. In the end all
cycles within a strip are consistent, so the bound is at least that of message passing tightened by cycles of four.
Strips that send all instead of half end at much lower bounds.

After a pass away from the middle, labels are chosen strip by strip towards the middle, given the rows that have labels;
messages represent the others. Then moves give each strip of rows, and of columns, the best labels given all others,
until none improves.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds.contestant import Contestant
from graphpart.crf.bounds.passes import Passes
from graphpart.crf.bucket_elimination.plan import magnitude
from graphpart.crf.certificates.certificate import finite_costs
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.labeling import trivial_bound
from graphpart.crf.problem.shared_tables import absolute_costs
from graphpart.crf.strips._strips import Strips
from graphpart.crf.strips.grid import Grid, costs_left, costs_of, grid_of
from graphpart.stopping import Stopping

__all__ = ["Stripping"]

Labels = NDArray[np.int32]
STATES, MOVED = 64, 512  # labelings of a column of a strip, at most: of those of the bound, and of moves
ROOM = 2**24  # largest number of values that a move of a strip may keep
COLUMN = 1000  # additions that take as long as the work that is done once for each cell of a column
SUM = 2.5e-10  # seconds for an addition, on a slow machine
SUMS = 2.0**34  # additions of all passes and moves together, if there is no time limit
AFFORDABLE = 0.15  # largest share of the time that a pass may take
LITTLE = 0.002  # share of the gap; the bound counts as settled after a pass that raises it by less


class Stripping(Contestant):
    """Passes over the strips of a grid, and moves of strips. If the factor graph is no grid, it is done at once.

    Parameters
    ----------
    seconds : float
        The time for the component.
    passes : callable
        Returns the messages of message passing from which the strips start, or None; called once.
    """

    name = "strips"
    proves = True

    def __init__(
        self, f: FactorGraph, labels: Labels, cost: float, seconds: float, passes: Callable[[], Passes | None]
    ) -> None:
        super().__init__(f, labels, cost)
        self.passes = passes
        labels_of = int(f.domains.max(initial=1))
        self.width, self._reach = _width(labels_of, STATES), _width(labels_of, MOVED)
        work = f.n / (self.width - 1) * _sums(labels_of, self.width)
        self.grid = grid_of(f) if SUM * work <= AFFORDABLE * seconds else None
        self._size = magnitude(f) if self.grid is not None else 0.0
        if not math.isfinite(8.0 * self._size):
            self.grid = None
        self.done = self.grid is None
        self.proving = self._each = SUM * work  # seconds for the certified bound, and for a pass
        self._work = work, f.n / max(1, self._reach - 1) * _sums(labels_of, self._reach) / 2
        self._strips: tuple[tuple[Grid, Strips], ...] = ()
        self._inwards, self.iterations = True, 0
        self._spent = [0.0, 0.0]  # sums in passes and in moves
        self._settled = False
        self._before = self._found = -math.inf  # bounds up to rounding: after the latest pass back, and the best
        self._moving: tuple[Labels, float] | None = None  # labels that moves improve, and their cost
        self._turns = self._idle = 0  # moves of all strips of rows, or of columns; number in a row without improvement

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a labeling, which moves may improve."""
        super().offer(labels, cost)
        if self.grid is not None and self._moving is None and cost < math.inf:
            self._moving, self._idle, self.done = (labels.copy(), cost), 0, False

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Perform a turn. Without `until`, it ends when nothing is left to do, or after SUMS additions."""
        if not self._strips:
            if not self.affords(2 * self._each + self.proving, stopping):
                return
            self._prepare()
        while not self.done and not stopping.check(self.cost) and self.affords(self._each, stopping):
            passed, moved = self._spent
            if self._moving is not None and (self._settled or moved < passed):
                self._move(self._moving, stopping)
            elif not self._settled:
                self._pass(stopping)
            self.done = self.done or (self._settled and self._moving is None)
            if (until is None and sum(self._spent) >= SUMS) or (until is not None and stopping.seconds >= until):
                break
        if until is None:  # the only turn: give the memory back
            self.certify()
            self.done, self._strips = True, ()

    def _prepare(self) -> None:
        f, rows, passes = self.f, self.grid, self.passes()
        assert rows is not None  # otherwise the contestant is done from the start
        cap, moved = math.inf, 0.0
        if f.has_forbidden:  # a large finite cost replaces inf; a bound with the smaller cost is a bound for inf, too
            spread = self.cost - trivial_bound(f) if self.cost < math.inf else 2.0 * absolute_costs(f)
            cap = 2.0 * spread + float(finite_costs(f).max(initial=0.0)) + self.judge.tolerance
        if f.has_forbidden or passes is None:
            costs = costs_of(f)
        else:
            costs, moved = costs_left(passes)
        degree = int(np.diff(f.incidence()[0]).max())
        self._error = (degree + 8) * 2.0**-52 * (self._size + moved)
        columns = rows.transposed()
        self._strips = tuple(
            (grid, Strips(grid.shape[0], grid.shape[1], *grid.arrays(costs), cap, width))
            for grid, width in ((rows, self.width), (columns, columns.shape[0]))
        )

    def _pass(self, stopping: Stopping) -> None:
        """A pass to the middle, or a pass back, followed by rounding to labels."""
        grid, strips = self._strips[0]
        began = stopping.seconds
        if not strips.half(self._inwards, 0.5, self.cost, stopping):
            return
        self._each = stopping.seconds - began
        self.proving = min(self.proving, self._each)
        self._spent[0] += self._work[0]
        self._inwards = not self._inwards
        bound = strips.bound + self.f.constant
        if not self._inwards:
            self._found = max(self._found, bound)
            self.know(self._found)
            return
        self.iterations += 1
        cells = np.zeros(len(grid.variable), np.int32)
        strips.round(cells)
        labels = grid.of_cells(cells)
        cost = self.f.evaluate_labels(labels)
        self.take(labels, cost)
        if cost < math.inf and (self._moving is None or cost < self._moving[1]):
            self._moving, self._idle = (labels, cost), 0
        gap = self.cost - bound if self.cost < math.inf else abs(bound)
        self._settled = bound - self._before < LITTLE * gap
        self._before, self._found = bound, max(self._found, bound)
        self.know(self._found)

    def _move(self, moving: tuple[Labels, float], stopping: Stopping) -> None:
        """Give all strips of rows, or of columns, one after the other the best labels given all other labels."""
        grid, strips = self._strips[self._turns % 2]
        labels_of = int(self.f.domains.max(initial=1))  # the longer the rows, the fewer rows a strip has
        reach = min(self._reach, grid.shape[0], _width(labels_of, ROOM // grid.shape[1]))
        step = max(1, reach - 1)
        cells = grid.to_cells(moving[0])
        strips.move(cells, reach, self._turns // 2 % step, step, self.cost, stopping)
        labels = grid.of_cells(cells)
        cost = self.f.evaluate_labels(labels)
        self._spent[1] += self._work[1]
        self._turns += 1
        self._idle = 0 if cost < moving[1] - self.judge.tolerance else self._idle + 1
        self._moving = (labels, cost) if self._idle < 2 * step else None
        if cost < self.cost:
            self.take(labels, cost)
            self.know(self._found)

    def certify(self) -> None:
        """Compute the bound that the messages prove: the sum of the minima of strips, less the rounding error."""
        if self._found > -math.inf and self._strips:
            least, error = self._strips[0][1].proven()
            total = math.fsum([self.f.constant, *least.tolist()])
            total -= error + self._error + 2.0**-50 * abs(total)
            self.certified = max(self.certified, self.judge.rounded(total))


def _width(labels: int, states: int) -> int:
    """The largest number of rows, at least 2, for which a column has at most `states` labelings."""
    return max(2, int(math.log(states + 0.5) / math.log(max(2, labels))))


def _sums(labels: int, width: int) -> float:
    """Number of additions for a column of a strip in a pass."""
    return (2.0 * width + 1.0) * (float(labels) ** (width + 1) + COLUMN)

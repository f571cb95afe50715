"""Rounds of annealing over exchanges, for problems with a largest size of clusters or with pairs that must be cut.

Where clusters are full, or have a member that must be apart from an element, the element cannot move there unless that
member, or one of the cluster, takes its place. So it is with the parts of people, the detections of one frame, and the
records of a source without duplicates. Each task anneals from the best partition over moves and exchanges of two
elements (see `_exchanges`), from one of several temperatures, which are multiples of the median rise of the cost by a
random change. All tasks of a round take the same number of steps. A round takes a fixed share of all work so far, since
longer runs end lower.

A problem of more than REGION elements without limits is annealed in parts: each task draws an element, and takes its
cluster and those that attracting pairs lead to, until there are so many elements or no more, then draws another one.
Other clusters stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from graphpart.common.variates import exponential_variates
from graphpart.partition.anytime_search._kernels import Exchanges
from graphpart.partition.anytime_search.recombination import CONTRACTION
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.forms import listed_within, without_zeros
from graphpart.stopping import Stopping

__all__ = ["ExchangeRounds", "ExchangeTask"]

REGION = 500  # elements of a part
STEP, ENTRY = 80.0, 2.0  # nanoseconds of a step, and of an entry of the table that changes


@dataclass(frozen=True)
class ExchangeTask(Task):
    """One run; temperatures are in medians of the rise by a random change."""

    steps: int
    heats: tuple[float, float]  # first and last


class ExchangeRounds:
    """The strategy; see above.

    Parameters
    ----------
    p : SetPartition
        Without required joins; see `listed`.
    share : float
    """

    name = "exchanges"

    def __init__(self, p: SetPartition, share: float) -> None:
        self.p, self.share = p, share

    @staticmethod
    def listed(p: SetPartition, labels: Labels) -> SetPartition | None:
        """The problem that the strategy can work on from such labels; None if it has neither sizes nor required cuts,
        its clusters must be connected, or the table would be too large.

        Problems that are annealed in parts are not listed as a whole.
        """
        if p.lifted is not None or not (_is_sized(p) or p._has_must_cut):
            return None
        if _in_parts(p):
            return p if p.background is not None else without_zeros(p)
        found = _without_other_costs(p)
        return found if found is not None and found.n * _columns(found, labels) <= 1e6 + 4 * found.m else None

    def ready(self, turn: Turn) -> bool:
        return True

    def first_work(self, turn: Turn) -> float:
        return len(turn.seeds) * turn.first_work

    def plan(self, turn: Turn) -> list[ExchangeTask]:
        steps = int(max(turn.first_work, turn.worked / (2 * len(turn.seeds))) / STEP)
        heats = zip(turn.seeds, cycle(((0.1, 0.01), (0.3, 0.01), (0.1, 0.03), (0.03, 0.003))), strict=False)
        return [ExchangeTask(turn.pool.labels, seed, steps, heat) for seed, heat in heats]

    def perform(self, task: ExchangeTask, stopping: Stopping) -> Found:
        if not _in_parts(self.p):
            return self._annealed(self.p, task, stopping)
        p, found = self.p, canonical(task.start)
        elements = self._region(found, np.random.default_rng(task.seed))
        part = _without_other_costs(p._restrict(elements))
        if part is None:
            return Found(task.start, CONTRACTION * (p.n + p.m))
        better = self._annealed(part, replace(task, start=canonical(found[elements])), stopping)
        found[elements] = p.n + better.labels
        return Found(canonical(found), better.work + CONTRACTION * (p.n + p.m))

    def _region(self, labels: Labels, rng: np.random.Generator) -> NDArray[np.int64]:
        """The elements of clusters near random ones, ascending."""
        starts, neighbours, costs = self.p._rows().arrays
        order = np.argsort(labels, kind="stable")
        first = np.searchsorted(labels[order], np.arange(int(labels.max()) + 2))
        queue, seen, parts, size = list[int](), set[int](), list[NDArray[np.int64]](), 0
        for drawn in labels[rng.integers(len(labels), size=REGION)].tolist():
            if drawn not in seen:
                seen.add(drawn)
                queue.append(drawn)
            while queue and size < REGION:
                U = queue.pop(0)
                members = order[first[U] : first[U + 1]]
                parts.append(members)
                size += len(members)
                at = np.concatenate([np.arange(starts[a], starts[a + 1]) for a in members.tolist()])
                near = set(labels[neighbours[at[costs[at] < 0]]].tolist()) - seen
                queue += sorted(near)
                seen |= near
        return np.sort(np.concatenate(parts))

    @staticmethod
    def _annealed(p: SetPartition, task: ExchangeTask, stopping: Stopping) -> Found:
        labels = canonical(task.start)
        sizes = np.ones(p.n, np.int64) if p._sizes is None else p._sizes
        least, largest = 1, int(sizes.sum())
        if (limits := p._limits) is not None:
            least, largest = limits.least, largest if limits.max_size is None else limits.max_size
        usual = 0.0 if p.background is None else p.background.constant
        assert usual is not None
        columns = _columns(p, labels)
        kernel = Exchanges(*p._rows().arrays, sizes, largest, usual, least, columns, p._tolerance)
        rises = kernel.sample(labels, 5000, task.seed)
        rises = np.sort(rises[(rises > 0) & (rises < np.inf)])
        if not len(rises):
            return Found(labels, STEP * 5000)
        (hot, cold), median = task.heats, float(rises[len(rises) // 2])
        found, entries = kernel.run(
            labels, task.steps, hot * median, cold * median, exponential_variates(), task.seed,
            p._evaluate_labels(labels), stopping,
        )  # fmt: skip
        return Found(canonical(found), STEP * task.steps + ENTRY * entries)

    def learn(self, found: Found, gain: float) -> None:
        pass


def _is_sized(p: SetPartition) -> bool:
    return p._limits is not None and p._limits.max_size is not None


def _in_parts(p: SetPartition) -> bool:
    return p._limits is None and p.n > REGION


def _without_other_costs(p: SetPartition) -> SetPartition | None:
    """The problem in which pairs that are not listed all cost the same; None if that lists too many."""
    usual = p.background is not None and p.background.constant is not None and p._sizes is None
    plain = p.background is None or usual
    return without_zeros(p) if plain else listed_within(p, np.zeros(p.n, np.int32))


def _columns(p: SetPartition, labels: Labels) -> int:
    """The number of subsets that a run from such labels may use."""
    used = int(labels.max(initial=0)) + 1
    return min(p.n, (p._limits and p._limits.most) or used + max(8, used // 4))

"""Localised evolution (Bläsius et al. 2022), for problems with a background whose subsets are small.

A trial mutates some elements near each other: each becomes alone, or moves to the best or a random other subset. Then
these elements and their neighbours move to their best subsets, in some sweeps. If the cost is above that of before, the
trial is undone. A trial takes microseconds, whatever the size of the problem. In cluster editing, trials lower the cost
more than annealing and fusion in the same time; without a background (grids, random pairs), they lower it less.

Trials that change the partition but not its cost are kept: without them, the cost stays higher. Therefore rounds go on
from the partition that the round before has ended with, not from the best one of the pool, as long as it costs no more.

The tasks of a round mutate different elements: each has a part of an order in which neighbours are near each other. The
results are combined region by region (see recombination.py), so that most gains of the tasks add up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.anytime_search.parameters import EvolutionParameters
from graphpart.partition.anytime_search.recombination import best_of_regions
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.partition.problem import Labels, SetPartition
from graphpart.stopping import Stopping

__all__ = ["Drifting", "EvolutionRounds", "EvolutionTask"]


class Drifting:
    """What strategies have in common that keep changes of no gain.

    Parameters
    ----------
    turn : Turn
        For the annealer.
    share : float
    """

    due = False

    def __init__(self, turn: Turn, share: float) -> None:
        self.annealer, self.share = turn.annealer, share
        self.labels: Labels | None = None  # the end of the last round

    def start(self, turn: Turn) -> Labels:
        """Where a round begins: the end of the last one, with all regions that have become better since."""
        best, last = turn.pool.labels, self.labels
        self.labels = None
        return best if last is None else best_of_regions(self.annealer.p, last, best)

    def learn(self, found: Found, gain: float) -> None:
        before = self.labels
        self.labels = found.labels if before is None else best_of_regions(self.annealer.p, before, found.labels)


@dataclass(frozen=True)
class EvolutionTask(Task):
    """Trials that begin with some elements."""

    elements: NDArray[np.int32]
    work: float  # nanoseconds


class EvolutionRounds(Drifting):
    """The strategy; see above."""

    name = "evolution"

    def __init__(self, turn: Turn, parameters: EvolutionParameters, share: float) -> None:
        super().__init__(turn, share)
        self.parameters = parameters
        self.order = by_neighbourhood(turn.annealer.p)

    def ready(self, turn: Turn) -> bool:
        return len(self.order) > 0

    def first_work(self, turn: Turn) -> float:
        return len(turn.seeds) * self._work(turn)

    def _work(self, turn: Turn) -> float:
        """The nanoseconds of a task."""
        a = self.parameters
        return float(max(a.work, a.each * len(self.order) / len(turn.seeds)) * 2.0 ** (turn.level / 2))

    def plan(self, turn: Turn) -> list[EvolutionTask]:
        work, start = self._work(turn), self.start(turn)
        order = np.roll(self.order, int(turn.rng.integers(len(self.order))))
        parts = np.array_split(order, len(turn.seeds))
        return [
            EvolutionTask(start, seed, part, work) for seed, part in zip(turn.seeds, parts, strict=True) if len(part)
        ]

    def perform(self, task: EvolutionTask, stopping: Stopping) -> Found:
        annealer = self.annealer.copy()
        labels = annealer.evolve(task.start, task.elements, task.work, task.seed, stopping)
        return Found(labels, annealer.spent)


def by_neighbourhood(p: SetPartition) -> NDArray[np.int32]:
    """The elements of listed pairs, ordered such that neighbours are near each other. O(n log n + m)

    Component by component, in the order of breadth-first search from an element of few neighbours. (The order of
    Cuthill and McKee, which sorts the neighbours of each element, takes quadratic time on stars in scipy.)
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    starts, neighbours, _ = p.rows().arrays
    rows = csr_matrix((np.ones(len(neighbours), np.int8), neighbours, starts), (p.n, p.n))
    component = connected_components(rows, directed=False)[1]
    ends = np.lexsort((np.diff(starts), component))
    first = ends[
        np.unique(component[ends], return_index=True)[1]
    ]  # to which one more element leads: one search for all
    starts = np.append(starts, starts[-1] + len(first))
    rows = csr_matrix((np.ones(starts[-1], np.int8), np.append(neighbours, first), starts), (p.n + 1, p.n + 1))
    order = breadth_first_order(rows, p.n, return_predecessors=False)[1:]
    order = order[np.argsort(component[order], kind="stable")]
    elements: NDArray[np.int32] = order[np.diff(starts)[order] > 0].astype(np.int32)
    return elements

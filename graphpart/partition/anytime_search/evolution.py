"""Localised evolution (Bläsius et al. 2022), for problems with a background whose subsets are small.

A trial mutates some elements near each other: each becomes alone, or moves to the best or a random other subset. Then
these elements and their neighbours move to their best subsets, in some sweeps. If the cost has risen, the trial is
undone. A trial takes microseconds for any size of the problem. In cluster editing, trials lower the cost
more than annealing and fusion in the same time; without a background (grids, random pairs), they lower it less.

Trials that change the partition but not its cost are kept (see drifting.py): without them, the cost stays higher.

The tasks of a round mutate different elements: each has a part of an order in which neighbours are near each other. The
results are combined region by region (see recombination.py), so that most gains of the tasks add up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from graphpart.kernels import _pairs
from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.drifting import Drifting, DriftTask
from graphpart.partition.anytime_search.parameters import DriftingParameters
from graphpart.partition.anytime_search.strategy import Turn
from graphpart.partition.problem import Labels, SetPartition
from graphpart.stopping import Stopping

__all__ = ["EvolutionRounds", "by_neighbourhood"]


class EvolutionRounds(Drifting):
    """The strategy; see above."""

    name = "evolution"

    def __init__(self, turn: Turn, parameters: DriftingParameters, share: float) -> None:
        super().__init__(turn, parameters, share)
        self.elements = by_neighbourhood(turn.annealer.p)

    def step_work(self, labels: Labels) -> float:
        return 10 * self.annealer.work(labels)  # far more than it takes to combine the results

    def plan(self, turn: Turn) -> list[DriftTask]:
        order = np.roll(self.elements, int(turn.rng.integers(len(self.elements))))
        parts = np.array_split(order, len(turn.seeds))
        work = max(turn.work, self.step_work(turn.pool.labels) * turn.longer)
        return [
            replace(task, elements=part, work=work)
            for task, part in zip(super().plan(turn), parts, strict=True)
            if len(part)
        ]

    def step(
        self, annealer: Annealer, labels: Labels, task: DriftTask, rng: np.random.Generator, stopping: Stopping
    ) -> Labels:
        return annealer.evolve(labels, task.elements, task.work, task.seed, stopping)


def by_neighbourhood(p: SetPartition) -> NDArray[np.int32]:
    """The elements of listed pairs, ordered such that neighbours are near each other. O(n log n + m)

    Component by component, in the order of breadth-first search from an element of few neighbours.
    """
    rows = p._rows()
    degree = np.diff(rows.starts)
    u, v, _ = p._listed()
    order = np.lexsort((degree, _pairs.connected_components(p.n, u, v))).astype(np.int32)
    order = _pairs.spread(rows, 2**62, False, order)
    elements: NDArray[np.int32] = order[degree[order] > 0]
    return elements

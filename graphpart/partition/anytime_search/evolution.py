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

    Component by component, in the order of breadth-first search from an element of few neighbours. (The order of
    Cuthill and McKee, which sorts the neighbours of each element, takes quadratic time on stars in scipy.)
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    starts, neighbours, _ = p._rows().arrays
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

"""Rounds of tabu search (Glover 1989), for problems with few elements.

Each task makes so many steps in the table of all moves of one element (see the kernel), from the best partition, from
another one of the pool, or from all elements apart. It walks on plateaus, where many moves cost nothing, and leaves
narrow valleys, where annealing has to be lucky. What it ends with is no worse than where it began.

A pair that costs more than all that attracts one of its elements is taken for a little more than that (see
annealing.py), so that costs fit 32-bit integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphpart.partition.anytime_search import _tabu
from graphpart.partition.anytime_search.annealing import RUN, as_integers
from graphpart.partition.anytime_search.parameters import TabuParameters
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.partition.problem import canonical
from graphpart.partition.problem.derived import matrix_of
from graphpart.stopping import Stopping

__all__ = ["TabuRounds", "TabuTask"]

ENTRY = 0.3  # nanoseconds for an entry of the table


@dataclass(frozen=True)
class TabuTask(Task):
    """So many steps from the start."""

    steps: int
    independent: bool


class TabuRounds:
    """The strategy; see above.

    Parameters
    ----------
    turn : Turn
        For the problem.
    parameters : TabuParameters
    share : float
    """

    name = "tabu"

    def __init__(self, turn: Turn, parameters: TabuParameters, share: float) -> None:
        self.p, self.parameters, self.share = turn.annealer.p, parameters, share
        self.matrix, self.scale = as_integers(matrix_of(self.p))

    def ready(self, turn: Turn) -> bool:
        return True

    def plan(self, turn: Turn) -> list[TabuTask]:
        a, n, pool = self.parameters, self.p.n, turn.pool
        step = RUN / 100 + ENTRY * n * (int(pool.labels.max()) + 4)
        steps = max(10 * n, int(a.work * 2 ** (turn.level / 2) / step))
        tasks = []
        for k, seed in enumerate(turn.seeds):
            start = pool.members[k % len(pool)][1] if k < 3 else np.arange(n, dtype=np.int32)
            tasks.append(TabuTask(start, seed, steps, k % len(pool) > 0 or k >= 3))
        return tasks

    def perform(self, task: TabuTask, stopping: Stopping) -> Found:
        a, p = self.parameters, self.p
        tenure, patience = a.least + int(a.tenure * p.n), a.patience * p.n
        cost = p.evaluate_labels(task.start)
        labels, _, work = _tabu.tabu_search(
            self.matrix, task.start, task.steps, tenure, patience, task.seed, cost, self.scale, stopping
        )
        labels = canonical(labels)
        if not p.evaluate_labels(labels) < cost:  # integers are rounded, and too coarse for what attracts less
            labels = task.start
        return Found(labels, RUN + ENTRY * work + 50.0 * task.steps, independent=task.independent)

    def learn(self, found: Found, gain: float) -> None:
        pass

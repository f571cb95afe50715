"""Rounds of annealing: three tasks anneal, the fourth recombines two of the best partitions.

A task anneals once, or several times with fewer sweeps, with one of several heats. A run starts from the best
partition, from all elements apart, or from all together. The runs of a task are combined region by region (see
recombination.py), so that their improvements in different regions add up.

No single heat is best for all problems: cluster editing on sparse graphs needs a hotter start than random complete
graphs. So tasks alternate between heats. One slow run is not always best, either: on random complete graphs and in
cluster editing, slow runs end in the same local optimum again and again, and many short runs find better ones sooner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graphpart.partition.anytime_search.annealing import RUN
from graphpart.partition.anytime_search.parameters import AnnealingParameters
from graphpart.partition.anytime_search.recombination import best_of_regions, recombined
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.partition.problem import Labels, SetPartition
from graphpart.stopping import Stopping

__all__ = ["POLISH", "AnnealingRounds", "AnnealingTask", "other_start"]

POLISH = 1200.0  # nanoseconds of pairwise Kernighan-Lin, per element and pair


@dataclass(frozen=True)
class AnnealingTask(Task):
    """Runs of annealing, one after the other; or a recombination, if there is another partition."""

    other: Labels | None
    runs: int
    sweeps: int  # of each
    heat: float


class AnnealingRounds:
    """The strategy; see above.

    Parameters
    ----------
    turn : Turn
        The turn whose annealer is used.
    parameters : AnnealingParameters
    share : float
    polish : callable or None
        A function that improves the result of a task.
    until : float
        Nanoseconds of work of all strategies. After this work, annealing has a round at most after every second round
        in which no strategy has found anything.
    """

    name = "annealing"

    def __init__(
        self,
        turn: Turn,
        parameters: AnnealingParameters,
        share: float,
        polish: Callable[[Labels, Stopping], Labels] | None,
        until: float = np.inf,
    ) -> None:
        self.annealer, self.parameters, self.share, self.polish = turn.annealer, parameters, share, polish
        self.until = until

    def ready(self, turn: Turn) -> bool:
        return turn.worked < self.until or turn.idle % 2 == 1

    def first_work(self, turn: Turn) -> float:
        p = self.annealer.p
        work = self.annealer.work(turn.pool.labels)
        polish = 0.0 if self.polish is None else POLISH * (p.n + p.m)
        return len(turn.seeds) * (RUN + (1 if p.is_dense else 2) * self._sweeps(turn) * work + polish)

    def _sweeps(self, turn: Turn) -> int:
        """The number of sweeps of a task."""
        fewest, most = self.parameters.sweeps
        at_first = max(fewest, min(most, turn.first_work / self.annealer.work(turn.pool.labels)))
        return int(at_first * turn.longer)

    def plan(self, turn: Turn) -> list[AnnealingTask]:
        a, rng, pool = self.parameters, turn.rng, turn.pool
        sweeps = self._sweeps(turn)
        tasks = []
        for k, seed in enumerate(turn.seeds):
            heat = a.heats[(k + 3 * turn.number) % len(a.heats)]
            if k < len(turn.seeds) - 1 or len(pool) < 3:
                runs = 2 ** int(rng.integers((sweeps // a.sweeps[0]).bit_length()))
                tasks.append(AnnealingTask(pool.labels, seed, None, runs, sweeps // runs, heat))
            else:
                i, j = sorted(rng.choice(len(pool), 2, replace=False).tolist())
                first, second = pool.members[i][1], pool.members[j][1]
                tasks.append(AnnealingTask(first, seed, second, 1, sweeps, heat))
        return tasks

    def perform(self, task: AnnealingTask, stopping: Stopping) -> Found:
        annealer, labels = self.annealer.copy(), task.start
        if task.other is not None:
            cool, sweeps = annealer.temperatures(labels, self.parameters.cool), (task.sweeps, task.sweeps)
            labels = recombined(annealer, labels, task.other, task.heat, cool, sweeps, task.seed, stopping)
        else:
            temperatures = annealer.temperatures(labels, task.heat)
            for k in range(task.runs):
                kind = (task.seed + k) % 4
                start = other_start(annealer.p, task.start, kind) if kind > 1 else task.start
                found = annealer.run(start, task.sweeps, temperatures, task.seed + k, stopping)
                labels = found if k == 0 else best_of_regions(annealer.p, labels, found)
                if stopping.check(np.inf):
                    break
        if self.polish is not None and not stopping.check(np.inf):
            labels = self.polish(labels, stopping)
            annealer.spent += POLISH * (annealer.p.n + annealer.p.m)
        return Found(labels, annealer.spent)

    def learn(self, found: Found, gain: float) -> None:
        pass


def other_start(p: SetPartition, labels: Labels, kind: int) -> Labels:
    """One subset of all elements if `number` is odd and there are no required cuts; else all elements apart.

    If the number of clusters is limited, these are the given labels, which a high temperature makes random.
    """
    if p._limits is not None and p._limits.number:
        return labels
    if kind % 2 == 0 or p._has_must_cut or p._limits is not None:
        return np.arange(p.n, dtype=np.int32)
    return np.zeros(p.n, np.int32) if p.lifted is None else p._components()

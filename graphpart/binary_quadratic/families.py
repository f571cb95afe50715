"""The search where variables have many neighbours: annealing, and larger and larger families of labelings.

Annealing makes labelings from random ones (see _sparse.pyx). FAMILY of these labelings are then combined into one. To
combine labelings (see crossover.py), variables whose labels agree are fixed, and the form that is left is annealed from
scratch. FAMILY combined labelings are combined in turn, then FAMILY of the results, and so on. A labeling is only
combined with labelings of as much work that were found independently of it. So the longer the search, the larger the
families.

The tasks of a round are first the combinations for which enough labelings are there, those of the largest families
first, then annealing. Annealing becomes slower from round to round.
"""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass

import numpy as np

from graphpart.binary_quadratic.crossover import Contraction
from graphpart.binary_quadratic.walks import Spins, Walker
from graphpart.stopping import Stopping

__all__ = ["Families"]

FAMILY = 4  # number of labelings that are combined into one
WORK = 5e6  # initial time of annealing one labeling, in nanoseconds
SWEEPS = (30, 1000)  # smallest and largest initial number of sweeps
HOT, COLD = 0.25, 0.02  # first and last temperature, in the units of walks.py
SLOWER = 2.0  # rounds after which annealing takes twice as long
# Annealing of a contracted form: its time as a share of the time for the whole form, and the largest ratio of sweeps.
INNER = (0.3, 10.0)
LONGEST = 2e9  # longest time of annealing one labeling, in nanoseconds


@dataclass(frozen=True)
class _Task:
    family: tuple[Spins, ...]  # labelings to combine; if there are none, annealing starts from random spins
    sweeps: int
    seed: int
    level: int


class Families:
    """The plan of a search on a form whose variables have many neighbours.

    Parameters
    ----------
    walker : Walker
    tasks : int
        Of a round.
    strategies : container of str
    """

    def __init__(self, walker: Walker, tasks: int, strategies: Container[str]) -> None:
        self.strategies = strategies
        self.walker, self.tasks = walker, tasks
        self.rounds = 0
        self.waiting: list[list[Spins]] = []  # to be combined, by the number of generations
        self.first = max(SWEEPS[0], min(SWEEPS[1], WORK / max(walker.sweep_work, 1.0)))

    def wait(self, spins: Spins, level: int = 0) -> None:
        """Combine a labeling with others of its generation when there are enough of them."""
        while len(self.waiting) <= level:
            self.waiting.append([])
        self.waiting[level].append(spins)

    def plan(self, best: Spins, affordable: float, rng: np.random.Generator) -> list[_Task]:
        """The tasks of the next round, if there is time for `affordable` sweeps in a round."""
        longest = max(self.first, LONGEST / max(self.walker.sweep_work, 1.0))
        sweeps = min(self.first * 2.0 ** min(self.rounds / SLOWER, 40.0), longest)
        sweeps = max(SWEEPS[0], min(sweeps, affordable))
        tasks = []
        for seed in rng.integers(2**62, size=self.tasks).tolist():
            due = [level for level, ready in enumerate(self.waiting) if len(ready) >= FAMILY]
            if due and "families" in self.strategies:
                ready = self.waiting[due[-1]]
                tasks.append(_Task(tuple(ready[:FAMILY]), int(sweeps), seed, due[-1] + 1))
                del ready[:FAMILY]
            else:
                tasks.append(_Task((), int(sweeps), seed, 0))
        self.rounds += 1
        return tasks

    def perform(self, task: _Task, stopping: Stopping) -> Spins:
        """Runs in a thread of its own: reads the form, changes nothing."""
        rng = np.random.default_rng(task.seed)
        walker = self.walker
        if task.family:
            elite = sorted(task.family, key=walker.energy)
            if stopping.check(math.inf):
                return elite[0]
            open_ = Contraction(walker, elite)
            inner = open_.walker
            share, most = INNER
            times = max(1.0, min(most, share * walker.sweep_work / max(inner.sweep_work, 1.0)))
            start = np.full(inner.n, -1, np.int8)
            sweeps = int(task.sweeps * times) if inner.n else 0
            return open_.lift(inner.anneal(start, sweeps, HOT, COLD, _seed(rng), stopping))
        start = np.where(rng.random(walker.n) < 0.5, 1, -1).astype(np.int8)
        return walker.anneal(start, task.sweeps, HOT, COLD, _seed(rng), stopping)

    def finish(self, tasks: list[_Task], found: list[Spins]) -> None:
        """Take the results of all tasks of a round."""
        for task, spins in zip(tasks, found, strict=True):
            self.wait(spins, task.level)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**62))

"""The search where variables have few neighbours: anneal copies, then heat the best ones a little, again and again.

Copies of random spins are annealed side by side (see _sparse.pyx). The best of them is combined with a few others: it
takes over the regions in which another one is better. Their common parts are contracted, variables with few neighbours
are eliminated, and copies of the remaining form are annealed from scratch (see crossover.py). The result is the start
of a *line*.

A line is then refined: copies of it are annealed from a low temperature, and combined with it in the same way. They
differ from it in many separate regions, so each region takes the best of all copies. Thermal cycling (Möbius et al.
1997) has one copy and no regions.

The tasks of a round refine a line each, the last one refines the best labeling. After LONGEST rounds, or PATIENCE
rounds without a better line, a new generation of lines begins. It is annealed SLOWER times as long, or as long as there
is time for. If that would be much shorter than the last generation, all tasks refine the best labeling instead.
"""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass

import numpy as np

from graphpart.binary_quadratic.crossover import Contraction, better_parts
from graphpart.binary_quadratic.low_degree import Kernel
from graphpart.binary_quadratic.walks import Spins, Walker
from graphpart.stopping import Stopping

__all__ = ["Refining"]

WORK = 2e7  # initial time of annealing one generation, in nanoseconds
FEWEST, MOST_EACH = 30, 50  # sweeps at first, the latter for each pair of a variable
HOT, COLD = 0.2, 0.02  # first and last temperature, in the units of walks.py
HEATS = (0.05, 0.07, 0.1, 0.14, 0.2)  # first temperatures of refining, in the units of walks.py
REFINE = 5  # ratio of the sweeps of a generation to the sweeps of refining
PATIENCE, LONGEST = 3, 6  # largest number of rounds of a generation: without improvement, and in all
COMBINED = 4  # copies of random spins, or of contracted forms, that are combined
INNER = (0.5, 5.0)  # annealing of a contracted form: share of the time for the whole form, largest ratio of sweeps
SLOWER = 3  # ratio of the sweeps of successive generations; each has time for at least this many rounds


@dataclass(frozen=True)
class _Task:
    start: Spins | None  # of all copies; random spins if None
    sweeps: int
    heat: float
    seed: int


class Refining:
    """The plan of a search on a form whose variables have few neighbours.

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
        self.lines: list[Spins] = []
        self.rounds = self.idle = 0  # of this generation, in all and since a line became better
        most = min(MOST_EACH * walker.m / max(walker.n, 1), WORK / max(walker.sweep_work, 1.0))
        self.sweeps = max(FEWEST, most) / SLOWER

    def wait(self, spins: Spins) -> None:
        """Nothing is kept of a labeling that another method found: it counts if it is the best one."""

    def plan(self, best: Spins, affordable: float, rng: np.random.Generator) -> list[_Task]:
        """The tasks of the next round, if there is time for `affordable` sweeps in a round."""
        seeds = rng.integers(2**62, size=self.tasks).tolist()
        heats = rng.choice(HEATS, size=self.tasks).tolist()
        starts = [*self.lines, best]
        if not self.lines or "lines" not in self.strategies or self.idle >= PATIENCE or self.rounds >= LONGEST:
            self.rounds = self.idle = 0
            sweeps = min(SLOWER * self.sweeps, affordable / SLOWER)
            if not self.lines or sweeps > self.sweeps / 2:
                self.sweeps, self.lines = max(sweeps, 1.0), []
                return [_Task(None, int(self.sweeps), HOT, seed) for seed in seeds]
            starts = self.lines = [best] * self.tasks
        sweeps = max(1.0, min(self.sweeps / REFINE, affordable))
        return [_Task(*one) for one in zip(starts, [int(sweeps)] * self.tasks, heats, seeds, strict=True)]

    def perform(self, task: _Task, stopping: Stopping) -> Spins:
        """Runs in a thread of its own: reads the form, changes nothing."""
        walker = self.walker
        copies = walker.copies(task.start, task.sweeps, task.heat, COLD, task.seed, stopping)
        spins = self._merge(copies[0] if task.start is None else task.start, copies, stopping)
        if stopping.check(math.inf) or "contraction" not in self.strategies:
            return spins
        open_ = Contraction(walker, [spins, *(copies[:COMBINED] if task.start is None else copies)])
        assert open_.walker.q is not None
        kernel = Kernel(open_.walker.q)
        inner = Walker(kernel.q, dense=False)
        share, most = INNER
        times = min(most, share * walker.sweep_work / max(inner.sweep_work, 1.0))
        sweeps = int(times * task.sweeps) if inner.n else 0
        flips = inner.copies(None, sweeps, HOT, COLD, task.seed, stopping)[: COMBINED if inner.n else 1]
        return self._merge(spins, [open_.lift(kernel.lift(one)) for one in flips], stopping)

    def _merge(self, spins: Spins, others: list[Spins], stopping: Stopping) -> Spins:
        for other in others:
            if stopping.check(math.inf):
                break
            if "parts" in self.strategies:
                spins = better_parts(self.walker, spins, other)
            else:
                spins = min(spins, other, key=self.walker.energy)
        return spins

    def finish(self, tasks: list[_Task], found: list[Spins]) -> None:
        """Take the results of all tasks of a round."""
        lines = found[: self.tasks - 1]
        energy = self.walker.energy
        pairs = zip(self.lines, lines, strict=False)
        better = not self.lines or any(energy(line) < energy(before) for before, line in pairs)
        self.lines, self.idle = lines, 0 if better else self.idle + 1
        self.rounds += 1

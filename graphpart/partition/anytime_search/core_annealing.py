"""Rounds of annealing over cores, for problems with few pairs for each element and without other demands.

A core is a set of elements that are together in the best partition and in several results of greedy joining, each of
which had other normal noise on the costs. Cores are contracted, the smaller problem is annealed from the best
partition, and the result is improved by pairwise Kernighan-Lin where elements have few neighbours. A strong pair seldom
parts while one of its elements moves at a time, and a core moves as one. Where few elements have stayed together, as on
random graphs with many neighbours and costs of few values, cores are small.

Every task either has cores, or anneals all elements, with a probability that grows with the gains per nanosecond of
work. A round has few tasks, since each begins with the best partition: many rounds, one after the other, gain more than
many tasks beside each other. Their work grows with the work of all rounds so far: at any time, the latest runs were
about as slow as time allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graphpart.common.credit import Credit
from graphpart.partition.anytime_search.annealing import RUN, Annealer
from graphpart.partition.anytime_search.annealing_rounds import POLISH
from graphpart.partition.anytime_search.fusion import JOINING, noisy_joining
from graphpart.partition.anytime_search.parameters import CoreParameters
from graphpart.partition.anytime_search.recombination import CONTRACTION
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, canonical
from graphpart.partition.problem.forms import fitting
from graphpart.partition.problem.labels import agreement
from graphpart.stopping import Stopping

__all__ = ["CoreAnnealing", "CoreTask"]


@dataclass(frozen=True)
class CoreTask(Task):
    """One run of annealing over cores."""

    arm: int
    work: float  # nanoseconds of annealing
    temperatures: tuple[float, float]


class CoreAnnealing:
    """The strategy; see above.

    Parameters
    ----------
    turn : Turn
        The turn whose annealer is used.
    parameters : CoreParameters
    share : float
    polish : callable or None
        A function that improves the result of a task.
    """

    name = "core annealing"

    def __init__(
        self,
        turn: Turn,
        parameters: CoreParameters,
        share: float,
        polish: Callable[[Labels, Stopping], Labels] | None,
    ) -> None:
        self.annealer, self.parameters, self.share, self.polish = turn.annealer, parameters, share, polish
        self.credit = Credit(len(parameters.arms), kept=0.7, floor=0.1)
        self.rounds = 0

    def ready(self, turn: Turn) -> bool:
        return True

    def _around(self, arm: int) -> float:
        """The estimated nanoseconds of a task beside annealing."""
        p, (joinings, _) = self.annealer.p, self.parameters.arms[arm]
        polish = 0.0 if self.polish is None else POLISH
        return RUN + (joinings * JOINING + polish + 8 * CONTRACTION) * (p.n + p.m)

    def _annealing(self, turn: Turn) -> float:
        """The nanoseconds of annealing of each task of the next round."""
        a = self.parameters
        least = max(turn.first_work, a.sweeps * self.annealer.work(turn.pool.labels), self._around(0))
        return max(least * turn.longer, a.part * turn.worked / a.tasks)

    def first_work(self, turn: Turn) -> float:
        return self.parameters.tasks * (self._around(0) + self._annealing(turn))

    def plan(self, turn: Turn) -> list[CoreTask]:
        a, labels, tasks = self.parameters, turn.pool.labels, []
        temperatures = [self.annealer.temperatures(labels, heat)[0] for heat in a.heats]
        hot = temperatures[0] if self.rounds % 2 == 0 else temperatures[1]
        work = self._annealing(turn)
        for k, seed in enumerate(turn.seeds[: a.tasks]):
            arm = k % len(a.arms) if self.rounds == 0 else self.credit.choose(turn.rng)
            tasks.append(CoreTask(labels, seed, arm, work, (hot, temperatures[-1])))
        self.rounds += 1
        return tasks

    def perform(self, task: CoreTask, stopping: Stopping) -> Found:
        p, rng, sets = self.annealer.p, np.random.default_rng(task.seed), task.start
        joinings, strength = self.parameters.arms[task.arm]
        for _ in range(joinings):
            if stopping.check(np.inf):
                return Found(task.start, RUN, arm=(task.arm, 0.0))
            sets = agreement(sets, noisy_joining(p, strength, rng, stopping))
        if not joinings:
            sets = np.arange(p.n, dtype=np.int32)
        contraction = Contraction(p, sets)
        small = Annealer(fitting(contraction.problem))
        labels = contraction.project(task.start)
        sweeps = max(2, int(task.work / (2.0 * small.work(labels))))
        apart = stopping.child(plus=np.inf)  # the small problem does not have the costs of required joins
        labels = canonical(contraction.lift(small.run(labels, sweeps, task.temperatures, task.seed, apart)))
        if self.polish is not None and not stopping.check(np.inf):
            labels = self.polish(labels, stopping)
        gained = max(0.0, p._evaluate_labels(task.start) - p._evaluate_labels(labels))
        work = self._around(task.arm) + small.spent
        return Found(labels, work, independent=True, arm=(task.arm, gained))

    def learn(self, found: Found, gain: float) -> None:
        arm, gained = found.arm  # over the partition that both tasks began with, not over the result of the other
        self.credit.learn(arm, gained, found.work)

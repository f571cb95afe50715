"""A population of partitions that recombine until their children are no better than they are.

A population begins with `size` partitions that are made independently of each other. Then two members, drawn at random,
are recombined (see recombination.py): what both have in common is contracted and annealed from a high temperature; then
all elements are annealed, from a low temperature and for a short time. The child replaces the worst member if it costs
less than this and not the same as another member, since partitions of equal cost are often the same. The population
ends when twice `size` children in a row have replaced no member. By then the members are similar, and another
population is a better use of time than more children.

On random complete graphs, populations find the best partitions far sooner than annealing of any length: what good
partitions have in common is mostly right, and the problem that is left when it is contracted is small.

In a round of populations, three of four populations begin with partitions that are annealed from all elements apart, or
together, independently of earlier results. The fourth begins with the best partitions found so far, most of which come
from such populations. Where restarts make independent partitions (see restarts.py), all populations of a round begin
with some of the best partitions, chosen at random, whenever restarts have made enough new ones.

Other populations begin when annealing has found nothing better for two rounds, or after a number of
rounds, if the problem is small enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graphpart.partition.anytime_search.annealing import RUN, Annealer
from graphpart.partition.anytime_search.annealing_rounds import POLISH, other_start
from graphpart.partition.anytime_search.parameters import PopulationParameters
from graphpart.partition.anytime_search.recombination import RECOMBINATION, recombined
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.partition.problem import Labels
from graphpart.stopping import Stopping

__all__ = ["PopulationRounds", "PopulationTask", "best_of_population"]

HOT, COOL = 3.0, 0.1  # heats of annealing: of the contracted problem of two members; of all elements
SWEEPS = (300, 100)  # sweeps for a child: of the contracted problem of two members, and of all elements


def best_of_population(
    annealer: Annealer,
    first: Callable[[int], Labels],
    size: int,
    seed: int,
    stopping: Stopping,
    most: float = np.inf,
) -> Labels:
    """The best member at the end, after `most` children at most; `first(k)` makes the k-th of the first members."""
    p, rng = annealer.p, np.random.default_rng(seed)
    members: list[tuple[float, Labels]] = []  # ascending
    while len(members) < size and not (members and stopping.check(members[0][0])):
        labels = first(len(members))
        members.append((p.evaluate_labels(labels), labels))
        members.sort(key=lambda member: member[0])
    failures, children, cool = 0, 0, annealer.temperatures(members[0][1], COOL)
    while len(members) > 1 and failures < 2 * size and children < most and not stopping.check(members[0][0]):
        i, j = rng.choice(len(members), 2, replace=False).tolist()
        x, y, draw = members[i][1], members[j][1], int(rng.integers(2**62))
        labels = recombined(annealer, x, y, HOT, cool, SWEEPS, draw, stopping)
        cost = p.evaluate_labels(labels)
        children += 1
        if cost < members[-1][0] and all(abs(cost - other) > p.tolerance for other, _ in members):
            members[-1] = (cost, labels)
            members.sort(key=lambda member: member[0])
            failures = 0
        else:
            failures += 1
    return members[0][1]


@dataclass(frozen=True)
class PopulationTask(Task):
    """One population."""

    size: int
    sweeps: int  # of its first members
    elite: list[Labels] | None  # or these are its first members


class PopulationRounds:
    """The strategy; see above.

    Parameters
    ----------
    turn : Turn
        The turn whose annealer is used.
    parameters : PopulationParameters
    share : float
    polish : callable or None
        A function that improves the result of a task.
    restarts : bool
        Whether all members come from the pool, since restarts make independent ones.
    """

    name = "population"
    due = False

    def __init__(
        self,
        turn: Turn,
        parameters: PopulationParameters,
        share: float,
        polish: Callable[[Labels, Stopping], Labels] | None,
        restarts: bool = False,
    ) -> None:
        self.annealer, self.parameters, self.share, self.polish = turn.annealer, parameters, share, polish
        self.restarts, self.seen = restarts, 0

    def young(self) -> int:
        """The number of sweeps of annealing for each of the first members."""
        each, most = self.parameters.young
        return min(most, each * self.annealer.p.n)

    def ready(self, turn: Turn) -> bool:
        if self.restarts:
            return turn.pool.independent - self.seen >= self.parameters.elite
        first = self.parameters.members * self.young() * self.annealer.work(turn.pool.labels)
        return turn.mature and first <= self.parameters.largest

    def size(self) -> int:
        """The number of members of a population at the beginning: fewer for few elements."""
        return min(self.parameters.members, max(2, math.isqrt(self.annealer.p.n)))

    def first_work(self, turn: Turn) -> float:
        sweep = self.annealer.work(turn.pool.labels)
        child = RECOMBINATION + 2 * RUN + 2 * SWEEPS[1] * sweep  # the hot sweeps are on a small problem
        members, young = (self.parameters.elite, 0.0) if self.restarts else (self.size(), self.young() * sweep + RUN)
        return len(turn.seeds) * members * (young + self.parameters.children * child)

    def plan(self, turn: Turn) -> list[PopulationTask]:
        pool = turn.pool
        size = int(self.size() * turn.longer)
        tasks = [PopulationTask(pool.labels, seed, size, self.young(), None) for seed in turn.seeds]
        if self.restarts:
            self.seen = pool.independent
            for k, seed in enumerate(turn.seeds):
                chosen = np.sort(turn.rng.choice(len(pool), min(self.parameters.elite, len(pool)), replace=False))
                tasks[k] = PopulationTask(
                    pool.labels, seed, len(chosen), 0, [pool.members[i][1] for i in chosen.tolist()]
                )
            return tasks
        if len(pool) > 2:
            elite = [labels for _, labels in pool.members]
            tasks[-1] = PopulationTask(pool.labels, turn.seeds[-1], len(elite), 0, elite)
        return tasks

    def perform(self, task: PopulationTask, stopping: Stopping) -> Found:
        annealer = self.annealer.copy()
        temperatures = annealer.temperatures(task.start, self.parameters.heat)

        def first(k: int) -> Labels:
            if task.elite is not None:
                return task.elite[k]
            start = other_start(annealer.p, task.start, task.seed + k)
            return annealer.run(start, task.sweeps, temperatures, task.seed + k, stopping)

        # A population from the pool finds soon, or not at all: what children of similar members replace is endless.
        most = self.parameters.children * task.size if self.restarts else np.inf
        labels = best_of_population(annealer, first, task.size, task.seed, stopping, most)
        if self.polish is not None and not stopping.check(np.inf):
            labels = self.polish(labels, stopping)
            annealer.spent += POLISH * (annealer.p.n + annealer.p.m)
        return Found(labels, annealer.spent, independent=True)

    def learn(self, found: Found, gain: float) -> None:
        pass

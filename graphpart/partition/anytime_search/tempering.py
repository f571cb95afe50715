"""Rounds of replica exchange, for small dense problems (Geyer 1991; Hukushima & Nemoto 1996).

On complete graphs with random costs, annealing and populations end in the same few local optima again and again, since
what is decided at middle temperatures is never undone at low ones. Replicas at fixed temperatures that change places
(see the kernel) go through hot and cold any number of times, and do not converge.

Each task of a round goes on with a chain of its own: the replicas of one ladder of temperatures, which begin from all
elements apart, or together. Chains know nothing of each other or of the best partition. So they are in different local
optima, and their results join the pool as they are, where populations recombine them. A chain that has found nothing
better than its own best partition for some times the work of its beginning begins anew, and more slowly. On problems
that are not small, short annealings and their children find the same sooner (see restarts.py).

A chain has to be hot enough to forget, but hot replicas take most of the time, and on some complete graphs colder
chains end lower, on others hotter ones. So chains differ in the hottest temperature. Temperatures are estimated from
the best partition so far: from one that is far from the best, they would be less than half, and too cold.

The first task of a chain anneals through LEVELS temperatures, and keeps the partition and the mean cost of each. The
ladder is chosen from these, from the hottest to the coldest, such that neighbours change places often enough: between
two of them, the difference of the mean costs times that of the inverse temperatures is about GAP (Kofke 2002), or more
if that would be too many replicas.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphpart.kernels.elementary import geometric
from graphpart.partition.anytime_search import _tempering
from graphpart.partition.anytime_search.annealing import RUN
from graphpart.partition.anytime_search.annealing_rounds import other_start
from graphpart.partition.anytime_search.parameters import TemperingParameters
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.partition.problem import Labels, canonical
from graphpart.stopping import Stopping

__all__ = ["Chain", "TemperingRounds", "TemperingTask", "ladder"]

LEVELS = 64  # temperatures that a ladder is chosen from
GAP = 2.0  # at which three in ten exchanges of neighbours are accepted


@dataclass(frozen=True)
class Chain:
    """The replicas of a chain between two rounds."""

    temperatures: NDArray[np.float64]  # falling
    labels: NDArray[np.int32]  # (temperatures, n)
    slower: float  # how many times as many sweeps as a first chain it began with
    cooling: float  # nanoseconds of work for these
    cost: float = np.inf  # of its best partition
    idle: float = 0.0  # nanoseconds of work since it was found


@dataclass(frozen=True)
class TemperingTask(Task):
    """So much more work on a chain, or on a new one."""

    number: int
    chain: Chain | None
    work: float


class TemperingRounds:
    """The strategy; see above.

    Parameters
    ----------
    turn : Turn
        For the annealer.
    parameters : TemperingParameters
    share : float
    """

    name = "tempering"
    due = False

    def __init__(self, turn: Turn, parameters: TemperingParameters, share: float) -> None:
        self.annealer, self.parameters, self.share = turn.annealer, parameters, share
        self.chains: list[Chain | None] = [None] * len(turn.seeds)

    def ready(self, turn: Turn) -> bool:
        return True

    def cooling(self, labels: Labels, slower: float) -> tuple[int, float]:
        """The number of sweeps at each level before the first exchange, and the nanoseconds of work of all of them."""
        a, sweep = self.parameters, self.annealer.work(labels)
        sweeps = max(2, int(slower * min(a.cooling * self.annealer.p.n, a.longest / sweep) / LEVELS))
        return sweeps, LEVELS * sweeps * sweep

    def first_work(self, turn: Turn) -> float:
        return len(turn.seeds) * (RUN + self.cooling(turn.pool.labels, 1.0)[1] + self.parameters.work)

    def plan(self, turn: Turn) -> list[TemperingTask]:
        work = self.parameters.work * 2 ** (turn.level / 2)
        return [TemperingTask(turn.pool.labels, seed, k, self.chains[k], work) for k, seed in enumerate(turn.seeds)]

    def perform(self, task: TemperingTask, stopping: Stopping) -> Found:
        annealer, chain, work = self.annealer, task.chain, RUN
        if chain is None or chain.idle >= self.parameters.patience * chain.cooling:
            chain = self._begun(task, 1.0 if chain is None else chain.slower * self.parameters.slower, stopping)
            work += chain.cooling
        step = sum(annealer.work(labels) for labels in chain.labels)
        steps = max(1, int(task.work / step))
        matrix, scale = annealer.integers(chain.temperatures[0])
        kernel = _tempering.Tempering(matrix, annealer.variates, len(chain.temperatures))
        best, labels = kernel.run(chain.labels, chain.temperatures * scale, steps, task.seed, stopping)
        best, cost = canonical(best), annealer.p.evaluate_labels(best)
        chain = replace(
            chain,
            labels=np.stack([canonical(each) for each in labels]),
            cost=min(cost, chain.cost),
            idle=0.0 if cost < chain.cost else chain.idle + steps * step,
        )
        if cost == np.inf:  # integers too coarse for what attracts less
            best = task.start
        return Found(best, work + steps * step, independent=True, arm=(task.number, chain))

    def _begun(self, task: TemperingTask, slower: float, stopping: Stopping) -> Chain:
        annealer, a = self.annealer, self.parameters
        heats = a.hot[task.number % len(a.hot)], a.cold
        hot, cold = (annealer.temperatures(task.start, heat, a.share)[0] for heat in heats)
        temperatures = geometric(hot, cold, LEVELS)
        start = other_start(annealer.p, task.start, task.number)
        sweeps, work = self.cooling(task.start, slower)
        matrix, scale = annealer.integers(hot)
        kernel = _tempering.Tempering(matrix, annealer.variates, 1)
        labels, costs = kernel.cool(start, temperatures * scale, sweeps, task.seed, stopping)
        chosen = ladder(temperatures, costs / scale, a.most)
        return Chain(temperatures[chosen], np.stack([canonical(labels[k]) for k in chosen]), slower, work)

    def learn(self, found: Found, gain: float) -> None:
        number, chain = found.arm
        self.chains[number] = chain


def ladder(temperatures: NDArray[np.float64], costs: NDArray[np.float64], most: int) -> list[int]:
    """Which of falling temperatures, at which partitions have these mean costs, are at most so many replicas'."""
    gap = GAP
    while True:
        chosen = [0]
        for k in range(1, len(temperatures)):
            at = chosen[-1]
            # What follows k is too far from the last one that was chosen.
            after = min(k + 1, len(temperatures) - 1)
            apart = (costs[at] - costs[after]) * (1 / temperatures[after] - 1 / temperatures[at])
            if k == len(temperatures) - 1 or apart > gap:
                chosen.append(k)
        if len(chosen) <= most:
            return chosen
        gap *= 1.25

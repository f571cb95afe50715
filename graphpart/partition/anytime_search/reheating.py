"""Reheating, for problems with a background in which many moves change nothing (see `has_plateaus` in annealing.py).

A step anneals from a low temperature down to one at which hardly any move to a worse partition is accepted. Moves of no
gain, which are frequent where all edges cost the same, go on all the time: the few worse ones take the partition from
one set of equally good partitions to another. Annealing from a high temperature, or down to one at which one of a
hundred elements still moves to a worse subset in each sweep, ends clearly higher in cluster editing.

The better regions of the partitions before and after a step make the next one (see recombination.py), the new one on
ties, so that one place gains from a step, whatever the step costs in others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphpart.kernels.elementary import exp, log
from graphpart.partition.anytime_search.annealing import RUN
from graphpart.partition.anytime_search.evolution import Drifting
from graphpart.partition.anytime_search.parameters import ReheatingParameters
from graphpart.partition.anytime_search.recombination import CONTRACTION, best_of_regions
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.stopping import Stopping

__all__ = ["ReheatingRounds", "ReheatingTask"]


@dataclass(frozen=True)
class ReheatingTask(Task):
    """Steps of so much work, at least one."""

    work: float  # nanoseconds
    longest: float  # sweeps of a step, at most


class ReheatingRounds(Drifting):
    """The strategy; see above."""

    name = "reheating"

    def __init__(self, turn: Turn, parameters: ReheatingParameters, share: float) -> None:
        super().__init__(turn, share)
        self.parameters = parameters

    def ready(self, turn: Turn) -> bool:
        return self.annealer.p.m > 0

    def first_work(self, turn: Turn) -> float:
        least = RUN + self.parameters.sweeps[0] * self.annealer.work(turn.pool.labels)
        return len(turn.seeds) * max(self.parameters.work, least)

    def plan(self, turn: Turn) -> list[ReheatingTask]:
        a, start, longer = self.parameters, self.start(turn), 2.0 ** (turn.level / 2)
        return [ReheatingTask(start, seed, a.work * longer, a.sweeps[1] * longer) for seed in turn.seeds]

    def perform(self, task: ReheatingTask, stopping: Stopping) -> Found:
        annealer, rng, labels, a = self.annealer.copy(), np.random.default_rng(task.seed), task.start, self.parameters
        p = annealer.p
        temperatures = [annealer.temperatures(labels, heat) for heat in a.heats]
        sweep = annealer.work(labels)
        longest = max(a.sweeps[0], min(task.longest, task.work / sweep))
        while annealer.spent < task.work and not stopping.check(np.inf):
            low, high = log(np.array([float(a.sweeps[0]), longest]))
            sweeps = int(float(exp(np.array([rng.uniform(low, high)]))[0]))
            spent = annealer.spent
            heat, seed = temperatures[int(rng.integers(len(temperatures)))], int(rng.integers(2**62))
            found = annealer.run(labels, sweeps, heat, seed, stopping)
            labels = best_of_regions(p, found, labels)
            annealer.spent = spent + RUN + sweeps * sweep + CONTRACTION * (p.n + p.m)
        return Found(labels, annealer.spent)

"""Iterated label propagation, for problems with a background whose subsets are small.

A step mutates a share of all elements: each becomes alone, or moves to a random other subset. Then labels propagate
(Raghavan, Albert & Kumara 2007): in some sweeps, each element moves to the best subset for it, a random one of those
that are equally good. The better regions of both partitions make the next one (see recombination.py), so that one place
gains from a step, whatever the step costs in others. Moves of no gain, which are frequent where all edges cost the
same, take the partition to places from which others gain: sweeps over all elements gain more by this than sweeps over
parts of them in the same time. In between, single trials of evolution (evolution.py) find what is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphpart.kernels.elementary import exp, log
from graphpart.partition.anytime_search.evolution import Drifting
from graphpart.partition.anytime_search.parameters import PropagationParameters
from graphpart.partition.anytime_search.recombination import CONTRACTION, best_of_regions
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.stopping import Stopping

__all__ = ["PropagationRounds", "PropagationTask"]


@dataclass(frozen=True)
class PropagationTask(Task):
    """Steps of so much work, at least one."""

    work: float  # nanoseconds


class PropagationRounds(Drifting):
    """The strategy; see above."""

    name = "propagation"

    def __init__(self, turn: Turn, parameters: PropagationParameters, share: float) -> None:
        super().__init__(turn, share)
        self.parameters = parameters
        self.elements = np.flatnonzero(np.diff(turn.annealer.p.rows().starts)).astype(np.int32)

    def ready(self, turn: Turn) -> bool:
        return len(self.elements) > 0

    def first_work(self, turn: Turn) -> float:
        p = self.annealer.p
        return len(turn.seeds) * max(self.parameters.work, CONTRACTION * self.parameters.sweeps * (p.n + p.m))

    def plan(self, turn: Turn) -> list[PropagationTask]:
        work, start = self.parameters.work * 2.0 ** (turn.level / 2), self.start(turn)
        return [PropagationTask(start, seed, work) for seed in turn.seeds]

    def perform(self, task: PropagationTask, stopping: Stopping) -> Found:
        annealer, rng, labels, a = self.annealer.copy(), np.random.default_rng(task.seed), task.start, self.parameters
        p, (low, high) = annealer.p, log(np.array(a.shares))
        while annealer.spent < task.work and not stopping.check(np.inf):
            share = float(exp(np.array([rng.uniform(low, high)]))[0])
            found = annealer.propagate(labels, self.elements, share, a.sweeps, int(rng.integers(2**62)), stopping)
            labels = best_of_regions(p, found, labels)
            annealer.spent += CONTRACTION * (p.n + p.m)
        return Found(labels, annealer.spent)

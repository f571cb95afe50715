"""Strategies that drift: they keep changes of no gain. The loop that they share, label propagation, and reheating.

A step makes another partition of the whole problem. The better regions of both partitions make the next one (see
recombination.py), with the new one on ties. So a region gains from a step even if other regions lose. Moves without
gain are frequent if all edges have the same cost. They lead to partitions from which other moves gain. Therefore a
round continues from the last partition of the round before, instead of the best one of the pool, as long as its cost is
no higher. The kinds of steps are

- localised evolution, see evolution.py;
- label propagation: a share of all elements becomes alone, or moves to a random other subset. Then labels propagate
  (Raghavan, Albert & Kumara 2007): in some sweeps, each element moves to the best subset for it, a random one of those
  that are equally good. Sweeps over all elements gain more in the same time than sweeps over parts of them; single
  trials of evolution find the remaining improvements.
- reheating, where many moves change nothing (see `has_plateaus` in annealing.py): annealing from a low temperature down
  to one at which hardly any move to a worse partition is accepted. The few worse moves take the partition from one set
  of equally good partitions to another. Annealing from a high temperature, or down to one at which one of a hundred
  elements still moves to a worse subset in each sweep, ends clearly higher in cluster editing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.kernels.elementary import exp, log
from graphpart.partition.anytime_search.annealing import RUN, Annealer
from graphpart.partition.anytime_search.parameters import DriftingParameters
from graphpart.partition.anytime_search.recombination import CONTRACTION, best_of_regions
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.partition.problem import Labels
from graphpart.stopping import Stopping

__all__ = ["DriftTask", "Drifting", "PropagationRounds", "ReheatingRounds"]


@dataclass(frozen=True)
class DriftTask(Task):
    """Steps that take some time together, at least one."""

    work: float  #: nanoseconds of work
    longer: float  #: largest length of a step, as a multiple of its length at first
    elements: NDArray[np.int32]  #: elements that steps change, or start from


class Drifting(ABC):
    """The loop of steps; a subclass has the step.

    Parameters
    ----------
    turn : Turn
        The turn whose annealer is used.
    parameters : DriftingParameters
    share : float
    """

    name = ""

    def __init__(self, turn: Turn, parameters: DriftingParameters, share: float) -> None:
        self.annealer, self.parameters, self.share = turn.annealer, parameters, share
        self.labels: Labels | None = None  # the end of the last round
        self.elements: NDArray[np.int32] = np.flatnonzero(np.diff(turn.annealer.p._rows().starts)).astype(np.int32)

    def ready(self, turn: Turn) -> bool:
        return len(self.elements) > 0

    def first_work(self, turn: Turn) -> float:
        return len(turn.seeds) * max(turn.first_work, self.step_work(turn.pool.labels))

    @abstractmethod
    def step_work(self, labels: Labels) -> float:
        """The least nanoseconds of a step."""

    def start(self, turn: Turn) -> Labels:
        """The start of a round: the end of the last round, with all regions that have been improved since."""
        best, last = turn.pool.labels, self.labels
        self.labels = None
        return best if last is None else best_of_regions(self.annealer.p, last, best)

    def plan(self, turn: Turn) -> list[DriftTask]:
        start = self.start(turn)
        return [DriftTask(start, seed, turn.work, turn.longer, self.elements) for seed in turn.seeds]

    def perform(self, task: DriftTask, stopping: Stopping) -> Found:
        annealer, rng, labels = self.annealer.copy(), np.random.default_rng(task.seed), task.start
        while annealer.spent < task.work and not stopping.check(np.inf):
            found = self.step(annealer, labels, task, rng, stopping)
            labels = best_of_regions(annealer.p, found, labels)
            annealer.spent += CONTRACTION * (annealer.p.n + annealer.p.m)
        return Found(labels, annealer.spent)

    @abstractmethod
    def step(
        self, annealer: Annealer, labels: Labels, task: DriftTask, rng: np.random.Generator, stopping: Stopping
    ) -> Labels:
        """Another partition; the annealer notes the work."""

    def learn(self, found: Found, gain: float) -> None:
        before = self.labels
        self.labels = found.labels if before is None else best_of_regions(self.annealer.p, before, found.labels)


class PropagationRounds(Drifting):
    """Label propagation; see above."""

    name = "propagation"

    def step_work(self, labels: Labels) -> float:
        return CONTRACTION * self.parameters.sweeps * (self.annealer.p.n + self.annealer.p.m)

    def step(
        self, annealer: Annealer, labels: Labels, task: DriftTask, rng: np.random.Generator, stopping: Stopping
    ) -> Labels:
        share = between(self.parameters.shares, rng)
        return annealer.propagate(
            labels, task.elements, share, self.parameters.sweeps, int(rng.integers(2**62)), stopping
        )


class ReheatingRounds(Drifting):
    """Reheating; see above."""

    name = "reheating"

    def step_work(self, labels: Labels) -> float:
        return RUN + self.parameters.reheated[0] * self.annealer.work(labels)

    def step(
        self, annealer: Annealer, labels: Labels, task: DriftTask, rng: np.random.Generator, stopping: Stopping
    ) -> Labels:
        fewest, most = self.parameters.reheated
        sweep = annealer.work(labels)
        longest = max(fewest, min(most * task.longer, task.work / sweep))
        sweeps = int(between((fewest, longest), rng))
        heat = self.parameters.heats[int(rng.integers(len(self.parameters.heats)))]
        spent, temperatures = annealer.spent, annealer.temperatures(labels, heat)
        found = annealer.run(labels, sweeps, temperatures, int(rng.integers(2**62)), stopping)
        annealer.spent = spent + RUN + sweeps * sweep  # sweeps at low temperatures take half the time
        return found


def between(limits: tuple[float, float], rng: np.random.Generator) -> float:
    """A random number between two positive ones, whose logarithm is uniform."""
    low, high = log(np.array(limits, float))
    return float(exp(np.array([rng.uniform(low, high)]))[0])

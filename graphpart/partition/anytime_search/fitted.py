"""Rounds of annealing without the largest size of clusters, whose results are made to fit.

Where clusters are nearly full, a single element seldom finds room in another one, so annealing moves hardly anything.
Without the largest size it is free. So each task anneals once without it, from all elements apart or together, or, if
the number of clusters is limited, from the best partition. From clusters that are too large then, elements move to
others until all fit. Exchanges of two elements (exchanges.py) follow, from a low temperature and for as much work.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphpart.errors import InvalidPartition
from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.annealing_rounds import other_start
from graphpart.partition.anytime_search.exchanges import STEP, ExchangeRounds, ExchangeTask
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.partition.problem.forms import without_largest_size
from graphpart.partition.results.starts import repaired
from graphpart.stopping import Stopping

__all__ = ["FittedRounds", "FittedTask"]

HEATS = (0.17, 0.006)  # of annealing without the largest size, first and last
COOL = (0.03, 0.003)  # first and last temperature of exchanges, in medians of the rise by a random change


@dataclass(frozen=True)
class FittedTask(Task):
    """One annealing without the largest size, and exchanges."""

    sweeps: int
    steps: int


class FittedRounds:
    """The strategy; see above.

    Parameters
    ----------
    turn : Turn
    exchanges : ExchangeRounds
        Of the same problem.
    share : float
    """

    name = "fitted"

    def __init__(self, turn: Turn, exchanges: ExchangeRounds, share: float) -> None:
        self.annealer = Annealer(without_largest_size(turn.annealer.p))
        self.p, self.exchanges, self.share = turn.annealer.p, exchanges, share

    def ready(self, turn: Turn) -> bool:
        return True

    def first_work(self, turn: Turn) -> float:
        return 2 * len(turn.seeds) * turn.first_work

    def plan(self, turn: Turn) -> list[FittedTask]:
        work = max(turn.work, turn.worked / (2 * len(turn.seeds)))
        sweeps = max(2, int(work / self.annealer.work(turn.pool.labels)))
        steps = max(1, int(work / STEP))
        return [FittedTask(turn.pool.labels, seed, sweeps, steps) for seed in turn.seeds]

    def perform(self, task: FittedTask, stopping: Stopping) -> Found:
        annealer = self.annealer.copy()
        first, last = (annealer.temperatures(task.start, heat)[0] for heat in HEATS)
        start = other_start(annealer.p, task.start, task.seed)
        free = annealer.run(start, task.sweeps, (first, last), task.seed, stopping)
        try:
            labels = repaired(self.p, free, "")[0]
        except InvalidPartition:  # a repair does not always find room
            return Found(task.start, annealer.spent)
        found = self.exchanges.perform(ExchangeTask(labels, task.seed, task.steps, COOL), stopping)
        return Found(found.labels, annealer.spent + found.work, independent=True)

    def learn(self, found: Found, gain: float) -> None:
        pass

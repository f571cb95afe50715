"""Rounds of slow annealing, for problems with few pairs for each element.

All tasks of a round anneal once, from all elements apart, and improve the result by pairwise Kernighan-Lin. Each round
takes twice as many sweeps as the one before. It begins when its work is not more than a fixed share of the work so far.
On random graphs with costs of few values, the cost keeps falling with the logarithm of the number of sweeps, below the
costs that short runs and fusion find. On grids and region graphs, it stays far above them. Therefore the costs of the
last two rounds are extrapolated: there is another round only if the cost would reach that of the best partition within
few rounds. Where many moves change nothing, there is always another round: it ends at temperatures so low that its cost
is near that of the best partition, and does not depend on that partition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle

import numpy as np

from graphpart.partition.anytime_search.annealing_rounds import POLISH
from graphpart.partition.anytime_search.parameters import AnnealingParameters
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.partition.problem import Labels
from graphpart.stopping import Stopping

__all__ = ["SlowAnnealing", "SlowTask"]


@dataclass(frozen=True)
class SlowTask(Task):
    """One run from all elements apart."""

    sweeps: int
    temperatures: tuple[float, float]
    polished: bool
    number: int  # within the round


class SlowAnnealing:
    """The strategy; see above.

    Parameters
    ----------
    turn : Turn
        The turn whose annealer is used.
    parameters : AnnealingParameters
    share : float
    polish : callable or None
        A function that improves the result of a task.
    """

    name = "slow annealing"
    due = True

    def __init__(
        self,
        turn: Turn,
        parameters: AnnealingParameters,
        share: float,
        polish: Callable[[Labels, Stopping], Labels] | None,
    ) -> None:
        self.annealer, self.parameters, self.share, self.polish = turn.annealer, parameters, share, polish
        self.sweeps = parameters.sweeps[0] // 2
        self.costs: list[float] = []  # the least of each round
        self._latest: list[tuple[float, float]] = []  # cost and heat of each task of the latest round

    def first_work(self, turn: Turn) -> float:
        return 2.0 * len(turn.seeds) * self.sweeps * self.annealer.work(turn.pool.labels)

    def ready(self, turn: Turn) -> bool:
        a, first = self.parameters, self.first_work(turn)
        if len(self.costs) < 2 or self.annealer.plateaus:
            return first <= a.part * turn.worked
        *_, before, last = self.costs
        soon, late = (min(last, last - rounds * (before - last)) <= turn.pool.cost for rounds in (1.0, a.ahead))
        return first <= turn.worked * (1.0 if soon else a.part if late else 0.0)

    def _heats(self) -> list[float]:
        """All heats at first; then the best of the latest round, the next hotter one, and the second best."""
        if len(self.costs) < 3 or self.annealer.plateaus:
            return list(self.parameters.slow_heats)
        ranked = [heat for _, heat in sorted(self._latest)]
        best = ranked[0]
        hotter = min((heat for heat in self.parameters.slow_heats if heat > best), default=best)
        return [best, hotter, best, next((heat for heat in ranked if heat != best), best)]

    def plan(self, turn: Turn) -> list[SlowTask]:
        alone, labels = np.arange(self.annealer.p.n, dtype=np.int32), turn.pool.labels
        heats = [heat for _, heat in zip(turn.seeds, cycle(self._heats()), strict=False)]
        temperatures = [self.annealer.temperatures(labels, heat) for heat in heats]
        self.costs.append(np.inf)
        self._latest = [(np.inf, heat) for heat in heats]
        polished = len(self.costs) > 2  # until then, runs only show how costs fall
        pairs = zip(turn.seeds, temperatures, strict=True)
        tasks = [SlowTask(alone, seed, self.sweeps, t, polished, k) for k, (seed, t) in enumerate(pairs)]
        self.sweeps *= 2
        return tasks

    def perform(self, task: SlowTask, stopping: Stopping) -> Found:
        annealer = self.annealer.copy()
        p = annealer.p
        labels = annealer.run(task.start, task.sweeps, task.temperatures, task.seed, stopping)
        cost = p._evaluate_labels(labels)
        if task.polished and self.polish is not None and not stopping.check(np.inf):
            labels = self.polish(labels, stopping)
            annealer.spent += POLISH * (p.n + p.m)
        return Found(labels, annealer.spent, independent=True, arm=(task.number, cost))

    def learn(self, found: Found, gain: float) -> None:
        number, cost = found.arm
        self.costs[-1] = min(self.costs[-1], cost)
        self._latest[number] = (cost, self._latest[number][1])

"""Rounds of annealing over exchanges, for problems in which clusters have a largest size.

Where clusters are full, no element can move to another one unless one of that cluster takes its place. Each task
anneals from the best partition over moves and exchanges of two elements (see `_exchanges`), from one of several
temperatures, which are multiples of the median rise of the cost by a random change. All tasks of a round take the same
number of steps. A round takes a fixed share of all work so far, since longer runs end lower.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle

import numpy as np

from graphpart.common.variates import exponential_variates
from graphpart.partition.anytime_search._exchanges import Exchanges
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.partition.problem import SetPartition, canonical
from graphpart.partition.problem.forms import as_pairs, listed_within
from graphpart.stopping import Stopping

__all__ = ["ExchangeRounds", "ExchangeTask"]

STEP, ENTRY = 80.0, 2.0  # nanoseconds of a step, and of an entry of the table that changes


@dataclass(frozen=True)
class ExchangeTask(Task):
    """One run; temperatures are in medians of the rise by a random change."""

    steps: int
    heats: tuple[float, float]  # first and last


class ExchangeRounds:
    """The strategy; see above.

    Parameters
    ----------
    p : SetPartition
        With a largest size of clusters and without required joins; see `listed`.
    share : float
    """

    name = "exchanges"
    due = False

    def __init__(self, p: SetPartition, share: float) -> None:
        self.p, self.share = p, share

    @staticmethod
    def listed(p: SetPartition) -> SetPartition | None:
        """The problem that the strategy can work on; None if it has no sizes, its clusters must be connected, or the
        table would be too large."""
        limits = p._limits
        if limits is None or limits.max_size is None or p.lifted is not None:
            return None
        usual = p.background is not None and p.background.constant is not None and p._sizes is None
        found = as_pairs(p) if p.background is None or usual else listed_within(p, np.zeros(p.n, np.int32))
        if found is None:
            return None
        fewest = found.n / limits.max_size if found._sizes is None else 1.0
        return found if found.n * (limits.most or fewest) <= 1e6 + 4 * found.m else None

    def ready(self, turn: Turn) -> bool:
        return True

    def first_work(self, turn: Turn) -> float:
        return len(turn.seeds) * turn.first_work

    def plan(self, turn: Turn) -> list[ExchangeTask]:
        steps = int(max(turn.first_work, turn.worked / (2 * len(turn.seeds))) / STEP)
        heats = zip(turn.seeds, cycle(((0.1, 0.01), (0.3, 0.01), (0.1, 0.03), (0.03, 0.003))), strict=False)
        return [ExchangeTask(turn.pool.labels, seed, steps, heat) for seed, heat in heats]

    def perform(self, task: ExchangeTask, stopping: Stopping) -> Found:
        p, labels = self.p, canonical(task.start)
        limits = p._limits
        assert limits is not None and limits.max_size is not None
        used = int(labels.max(initial=0)) + 1
        most = min(p.n, limits.most or used + max(8, used // 4))
        sizes = np.ones(p.n, np.int64) if p._sizes is None else p._sizes
        usual = 0.0 if p.background is None else p.background.constant
        assert usual is not None
        kernel = Exchanges(*p._rows().arrays, sizes, limits.max_size, usual, limits.least, most, p._tolerance)
        rises = kernel.sample(labels, 5000, task.seed)
        rises = np.sort(rises[(rises > 0) & (rises < np.inf)])
        if not len(rises):
            return Found(labels, STEP * 5000)
        (hot, cold), median = task.heats, float(rises[len(rises) // 2])
        found, entries = kernel.run(
            labels, task.steps, hot * median, cold * median, exponential_variates(), task.seed,
            p._evaluate_labels(labels), stopping,
        )  # fmt: skip
        return Found(canonical(found), STEP * task.steps + ENTRY * entries)

    def learn(self, found: Found, gain: float) -> None:
        pass

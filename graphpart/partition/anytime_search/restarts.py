"""Rounds of short annealings and their children, for dense problems, and for sparse ones of few elements.

On complete graphs with random costs, middle temperatures decide the result of an annealing, and a slightly lower cost
takes many times as many sweeps. Of many short annealings, a few end far lower than most. So each task makes up to 24
short ones that are independent of each other, from all elements apart or together, and keeps the best partitions, which
are the first members of a population. Its children, which take a fraction of the time of an annealing, soon find better
partitions than the members.

For a child, two members, drawn at random, are recombined (see recombination.py): what both have in common is contracted
and annealed from a high temperature; then all elements are annealed, from a low temperature and for a short time. The
child replaces the worst member if it costs less than this and not the same as another member, since partitions of equal
cost are often the same. The population ends when twice as many children in a row as it has members have replaced none.
Pairs that are together in good partitions are mostly together in the best one. Contracting them leaves a small problem.

Then the best member is annealed again and again, from each of some low temperatures in turn (an iterated local search;
Lourenço, Martin & Stützle 2003), and goes on from results that cost no more, until each temperature has found nothing
better twice. Short runs at low temperatures find the local optima around a good one.

Tasks know nothing of each other or of the best partition. So their results, from different parts of the space, are
added to the pool unchanged, and rounds of annealing recombine them. The first round is short, and each one that follows
takes twice as long, up to a limit: with slower annealings, then with more of them. When rounds find nothing better,
annealings are slower still.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphpart.partition.anytime_search.annealing import RUN, Annealer
from graphpart.partition.anytime_search.annealing_rounds import other_start
from graphpart.partition.anytime_search.parameters import RestartParameters
from graphpart.partition.anytime_search.recombination import recombined
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.partition.problem import Labels
from graphpart.stopping import Stopping

__all__ = ["RestartRounds", "RestartTask", "best_of_population"]

HOT, COOL = 3.0, 0.1  # heats of annealing: of the contracted problem of two members; of all elements
SWEEPS = (300, 100)  # sweeps for a child: of the contracted problem of two members, and of all elements


@dataclass(frozen=True)
class RestartTask(Task):
    """Annealings, children of the best of them, and runs at low temperatures."""

    runs: int
    sweeps: int  # of each annealing


class RestartRounds:
    """The strategy; see above.

    Parameters
    ----------
    turn : Turn
        The turn whose annealer is used.
    parameters : RestartParameters
    share : float
    """

    name = "restarts"

    def __init__(self, turn: Turn, parameters: RestartParameters, share: float) -> None:
        self.annealer, self.parameters, self.share = turn.annealer, parameters, share
        self.work = parameters.work[0]  # of a task in the next round

    def ready(self, turn: Turn) -> bool:
        return True

    def lengths(self, turn: Turn) -> tuple[int, int]:
        """The number of annealings of a task, and of their sweeps."""
        a, sweep = self.parameters, self.annealer.work(turn.pool.labels)
        fewest, most = a.runs
        sweeps = max(2, int(min(a.sweeps * self.annealer.p.n, self.work / (fewest * sweep))))
        return max(fewest, min(most, int(self.work / (sweeps * sweep)))), int(sweeps * turn.longer)

    def first_work(self, turn: Turn) -> float:
        runs, sweeps = self.lengths(turn)
        return len(turn.seeds) * runs * (RUN + sweeps * self.annealer.work(turn.pool.labels))

    def plan(self, turn: Turn) -> list[RestartTask]:
        lengths = self.lengths(turn)
        self.work = min(self.parameters.work[1], 2.0 * self.work)
        return [RestartTask(turn.pool.labels, seed, *lengths) for seed in turn.seeds]

    def perform(self, task: RestartTask, stopping: Stopping) -> Found:
        annealer, a = self.annealer.copy(), self.parameters
        p, rng = annealer.p, np.random.default_rng(task.seed)
        if stopping.check(np.inf):  # before the first sweep of many elements apart, which takes long
            return Found(task.start, RUN)
        hots = [annealer.temperatures(task.start, heat)[0] for heat in a.hot]
        cold = annealer.temperatures(task.start, a.low[0])[0]
        found: dict[float, Labels] = {}  # of different costs
        for k in range(task.runs):
            if found and stopping.check(min(found)):
                break
            start, temperatures = other_start(p, task.start, k), (hots[k % len(hots)], cold)
            labels = annealer.run(start, task.sweeps, temperatures, int(rng.integers(2**62)), stopping)
            found.setdefault(p._evaluate_labels(labels), labels)
        chosen = sorted(found.items())[: max(2, task.runs // a.runs[0])]
        labels = best_of_population(annealer, chosen, int(rng.integers(2**62)), stopping)
        return Found(self._again(annealer, labels, task, rng, stopping), annealer.spent, independent=True)

    def _again(
        self, annealer: Annealer, labels: Labels, task: RestartTask, rng: np.random.Generator, stopping: Stopping
    ) -> Labels:
        """The labels after runs at low temperatures."""
        a, p = self.parameters, annealer.p
        low = [annealer.temperatures(labels, heat)[0] for heat in a.low]
        cost, sweeps = p._evaluate_labels(labels), max(2, int(a.again * task.sweeps))
        failures = k = 0
        while failures < 2 * len(low) and not stopping.check(cost):
            temperatures = low[k % len(low)], low[0]
            other = annealer.run(labels, sweeps, temperatures, int(rng.integers(2**62)), stopping)
            k, now = k + 1, p._evaluate_labels(other)
            failures = 0 if now < cost else failures + 1
            if now <= cost:
                labels, cost = other, now
        return labels

    def learn(self, found: Found, gain: float) -> None:
        pass


def best_of_population(
    annealer: Annealer, members: list[tuple[float, Labels]], seed: int, stopping: Stopping
) -> Labels:
    """The best member at the end, of members in the order of their costs."""
    p, rng = annealer.p, np.random.default_rng(seed)
    members = members.copy()
    failures, cool = 0, annealer.temperatures(members[0][1], COOL)
    while len(members) > 1 and failures < 2 * len(members) and not stopping.check(members[0][0]):
        i, j = rng.choice(len(members), 2, replace=False).tolist()
        x, y, draw = members[i][1], members[j][1], int(rng.integers(2**62))
        labels = recombined(annealer, x, y, HOT, cool, SWEEPS, draw, stopping)
        cost = p._evaluate_labels(labels)
        if cost < members[-1][0] and all(abs(cost - other) > p._tolerance for other, _ in members):
            members[-1] = (cost, labels)
            members.sort(key=lambda member: member[0])
            failures = 0
        else:
            failures += 1
    return members[0][1]

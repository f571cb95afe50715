"""The state of a search on one factor graph, which runs in slices and can take labelings of other methods."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.common.rounds import RoundSearch
from graphpart.crf.anytime_search.model import Model
from graphpart.crf.anytime_search.tasks import LONG, MOST, Found, Operators, Task
from graphpart.crf.problem import FactorGraph
from graphpart.kernels.elementary import geometric
from graphpart.machine import processors
from graphpart.stopping import Stopping

__all__ = ["LabelingSearch"]

Labels = NDArray[np.int32]
TASKS = 4  # of a round; not the number of threads, on which the result must not depend
POOL = 12  # labelings kept
WORK = 1.2e5  # nanoseconds of a task at first, for each variable,
LEAST, LONGEST = 2e7, 5e9  # at least, and at last
KINDS = ("labels", "blocks", "descent", "cross", "expansion", "regions")
FLOOR = {
    "labels": 0.5,
    "blocks": 0.5,
    "descent": 0.15,
    "cross": 0.3,
    "expansion": 0.1,
    "regions": 0.25,
}  # credit that every kind has
FLOOR_HEAT = 0.1  # and every temperature
SOLVED, WHOLE = 12.0, 2**25  # variables of the first region that is solved; entries of all tables, at most
FADE = 0.9  # of credit, each time that a kind is tried
FRESH = 0.3  # share of tasks that begin with random labels
LIMITS = (4, 6, 8, 10, 12, 14, 16, 18)  # binary logarithms of entries of the tables of blocks
FIRST = 0.4  # share of the time for the first annealing of a large factor graph,
SHORT = 20  # and its sweeps at least
REGIONS = 2e8  # nanoseconds of the first regions that are solved
LIMIT = 2.0**9  # entries of tables of blocks after the first annealing of a large factor graph
BLOCKS = 8  # blocks that there is time for, at least, with the largest of these
HEATS = 6  # first temperatures of annealing,
RANGE = {"labels": (1.5, 0.01), "blocks": (1.0, 0.03)}  # from and to, in what changes of one label cost
JOINED = 0.5  # credit for what joins the pool, or could
FUSE = 5  # labelings of the pool that an outcome is fused with
START_WEIGHT, COOLEST = 2.0, 0.01  # of a forbidden entry, in the same
HARDER, SOFTER = 2.0, 1.5


class LabelingSearch(RoundSearch[Task, Found]):
    """A search on one factor graph.

    Parameters
    ----------
    f : FactorGraph
    labels : ndarray of int32, shape (n,), optional
        The labels to start from, which may be forbidden; default: the label of least unary cost of each variable.
    seed : int
    threads : int, optional
        Default: as many as there are processors for this process.
    prepared : bool
        Leave out message passing and expansions at the beginning, because the given labels are their result.
    annealed : bool
        Leave out the first annealing of a large factor graph, too.
    evaluate : callable, optional
        The energy of labels, in place of that in `f`, from which it may differ by rounding.

    Attributes
    ----------
    labels, cost : ndarray of int32, float
        The best so far, and its energy; ``inf`` as long as no allowed labeling was found.
    rounds : int
        Complete rounds so far.
    work : float
        Estimated nanoseconds of work of each thread so far.
    idle : int
        Rounds in a row without improvement.
    """

    def __init__(
        self,
        f: FactorGraph,
        labels: Labels | None = None,
        seed: int = 0,
        threads: int | None = None,
        prepared: bool = False,
        annealed: bool = False,
        evaluate: Callable[[Labels], float] | None = None,
    ) -> None:
        super().__init__(processors() if threads is None else threads)
        self.f, self.seed = f, seed
        self.evaluate = evaluate or f.evaluate_labels
        self.model = model = Model(f)
        self.operators = Operators(model)
        first = model.least() if labels is None else labels[model.open]
        self.pool = [(model.energy(first), first)]  # ascending, by penalised energy
        self.labels = self._whole(first)
        self.cost = self.evaluate(self.labels)
        self.work = 0.0
        self.credit = dict.fromkeys(KINDS, 1.0)
        self.heat_credit = {kind: np.full(HEATS, FLOOR_HEAT) for kind in RANGE}
        self.weight = model.penalty
        self.solved = SOLVED  # variables of regions that are just solved
        self.solves = len(self.model.f.tables) <= WHOLE and int(self.model.domains.max(initial=0)) > 2
        self.heats = {kind: np.ones(HEATS) for kind in RANGE}
        self.least_weight = 0.0
        self.begun, self.prepared, self.annealed = False, prepared, annealed

    def offer(self, labels: Labels, cost: float | None = None) -> bool:
        """Take a labeling that another method found; return whether it is better than the best so far.

        The energy of the labeling is recomputed. A caller that knows the energy can give it as `cost`: a labeling that
        is not better is then ignored at once.
        """
        before = self.cost
        if cost is None or cost < before:
            self._join(labels[self.model.open])
        return self.cost < before

    def run(self, stopping: Stopping, patience: int | None = None, serve: Callable[[], object] | None = None) -> None:
        """Go on until stopped, or after so many rounds in a row without improvement.

        Parameters
        ----------
        stopping : Stopping
            Its iterations are rounds.
        patience : int, optional
        serve : callable, optional
            Called about every 50 ms.
        """
        self.stopping, self.serve = stopping, serve
        if not self.model.f.n or stopping.check(self.cost):
            return
        if not self.begun:
            self._begin()
            self.begun = True
            tasks = self._first()
            self.extra_round(tasks, stopping)
            if any(task.kind == "first annealing" for task in tasks):  # which takes as long as a round, or longer
                stopping.step(self.cost)
        self.rounds_until(stopping, patience)

    # ------------------------------------------------------------------------------------------------------- rounds

    def _begin(self) -> None:
        """Improve the start by changes of single labels, and estimate what such a change costs."""
        self._join(self.operators.descend(self.pool[0][1], self.stopping.child(plus=math.inf)))
        unit = self.operators.unit(self.pool[0][1])
        self.heats = {kind: geometric(hot * unit, cold * unit, HEATS) for kind, (hot, cold) in RANGE.items()}
        self.least_weight = COOLEST * unit
        if self.model.f.has_forbidden:
            self.weight = min(self.model.penalty, START_WEIGHT * unit)

    def _first(self) -> list[Task]:
        """Run message passing, expansions and regions, or, in a large factor graph, one annealing of all variables."""
        n, best = self.model.f.n, self.pool[0][1]
        work = LONG * self.operators.sweep
        tasks = []
        if work <= MOST and self.solves:
            tasks.append(
                Task("regions", self.seed, best, False, n, [], 0, 0.0, LIMIT, REGIONS, self.weight, self.solved)
            )
        if not self.prepared:
            kinds = ["message passing"] + ["expansion"] * (self.model.pairs and work <= MOST)
            tasks = [Task(kind, self.seed, best, False, n, [], 0, 0.0, 0.0, 0.0, 0.0) for kind in kinds]
        if work > MOST and not self.annealed:
            if self.stopping.remaining is not None:
                work = max(SHORT * self.operators.sweep, min(work, FIRST * 1e9 * self.stopping.remaining))
            level = HEATS // 3
            heat = float(self.heats["labels"][level])
            tasks.append(Task("first annealing", self.seed, best, False, n, [], level, heat, LIMIT, work, self.weight))
        return tasks

    @property
    def shown_cost(self) -> float:
        """The cost of the best labeling."""
        return self.cost

    def perform(self, task: Task, stopping: Stopping) -> Found:
        """Do one task."""
        return self.operators.perform(task, stopping)

    def plan(self) -> list[Task]:
        """The tasks of a round: kinds at random, by their credit."""
        rng = np.random.default_rng([self.seed, self.rounds])
        work = min(LONGEST, max(LEAST, min(MOST, WORK * self.model.f.n)) * 2 ** (self.level / 2))
        self.work += work
        best = self.pool[0][1]
        tasks = []
        for seed in rng.integers(2**62, size=TASKS).tolist():
            credit = np.array([self.credit[kind] + FLOOR[kind] for kind in KINDS])
            if len(self.pool) < 3:
                credit[KINDS.index("cross")] = 0.0
            if not self.model.pairs:
                credit[KINDS.index("expansion")] = 0.0
            if not self.solves:
                credit[KINDS.index("regions")] = 0.0
            kind = KINDS[int(np.searchsorted(np.cumsum(credit), rng.random() * credit.sum()))]
            level, heat = 0, 0.0
            if kind in RANGE:
                shares = np.cumsum(self.heat_credit[kind])
                level = int(np.searchsorted(shares, rng.random() * shares[-1]))
                heat = float(self.heats[kind][level])
            largest = int(self.model.domains.max()) ** 2
            limits = [2.0**k for k in LIMITS if 2**k >= largest and self.operators.block(2.0**k)[1] * BLOCKS <= work]
            limit = float(rng.choice(limits)) if limits else float(largest)
            order = rng.permutation(len(self.pool))
            start = best if rng.random() < 0.5 or kind in ("descent", "expansion") else self.pool[int(order[0])][1]
            fresh = kind in ("labels", "blocks") and bool(rng.random() < FRESH)
            others = [self.pool[int(k)][1] for k in order[1 : 1 + FUSE]]
            if best is not start:
                others.append(best)
            size = self.model.f.n if kind == "regions" else self.operators.affordable(kind, limit, work)
            exactly, blocks = credit[KINDS.index("regions")], credit[KINDS.index("descent")]
            solving = bool(rng.random() * (exactly + blocks) < exactly)
            settings = (limit, work, self.weight, self.solved, solving)
            tasks.append(Task(kind, seed, start, fresh, size, others, level, heat, *settings))
        return tasks

    # --------------------------------------------------------------------------------------------------------- pool

    def take(self, task: Task, found: Found) -> bool:
        """Add the labeling that a task found to the pool; return whether it is the best."""
        if task.kind == "labels" and self.model.f.has_forbidden:
            factor = 1.0 / SOFTER if found.allowed else HARDER
            self.weight = min(self.model.penalty, max(self.weight * factor, self.least_weight))
        if found.solved:
            self.solved = found.solved
        better = self._join(self.model.best_of_regions(self.pool[0][1], found.labels))
        if task.size >= self.model.f.n:
            joined = self._join(found.own)
        else:
            joined = not better and self.pool[0][0] < self.model.energy(found.own) < self.pool[-1][0]
        if task.kind in self.credit:
            credit = max(float(better), JOINED * joined)
            self.credit[task.kind] = FADE * self.credit[task.kind] + credit
            if task.kind in RANGE:
                heats = self.heat_credit[task.kind]
                heats[task.level] = max(FLOOR_HEAT, FADE * heats[task.level] + credit)
        return better

    def _join(self, labels: Labels) -> bool:
        """Add labels to the pool unless a member has the same energy; return whether they were added."""
        best, energy = self.pool[0][0], self.model.energy(labels)
        if any(abs(energy - other) <= self.model.tolerance for other, _ in self.pool):
            return False
        self.pool.append((energy, labels))
        self.pool.sort(key=lambda member: member[0])
        del self.pool[POOL:]
        if not energy < best:
            return energy <= self.pool[-1][0]
        whole = self._whole(labels)
        cost = self.evaluate(whole)
        if not (cost < self.cost or self.cost == math.inf):
            return False
        self.labels, self.cost = whole, cost
        self.stopping.record(cost)
        return True

    def _whole(self, labels: Labels) -> Labels:
        whole = np.zeros(self.f.n, np.int32)
        whole[self.model.open] = labels
        return whole

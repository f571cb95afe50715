"""The state of a search on one factor graph, which runs in slices and can take labelings of other methods."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.binary_quadratic.quadratic_search import TASKS
from graphpart.common.rounds import RoundSearch
from graphpart.crf.anytime_search.model import Model
from graphpart.crf.anytime_search.parameters import LabelingParameters
from graphpart.crf.anytime_search.tasks import BEGIN, LONG, MOST, Found, Operators, Task
from graphpart.crf.problem import FactorGraph
from graphpart.kernels.elementary import geometric
from graphpart.machine import processors
from graphpart.stopping import Stopping

__all__ = ["LabelingSearch"]

Labels = NDArray[np.int32]
POOL = 12  # largest number of labelings in the pool
WORK = 1.2e5  # initial length of a task, in nanoseconds for each variable
LEAST, LONGEST = 2e7, 5e9  # smallest initial length and largest length of a task, in nanoseconds
KINDS = ("annealing", "expansion", "regions")
FLOOR = 0.25  # least credit of a kind of task and of a temperature
FADE = 0.9  # factor by which the credit of a kind is multiplied after each of its tasks
WHOLE = 2**25  # largest number of table entries of a factor graph for which regions are solved
FRESH = 0.3  # share of annealing tasks that start from random labels
HEATS = 6  # number of initial temperatures to choose from
HOT, COOL = 1.5, 0.01  # highest and lowest initial temperature, in typical costs of changing one label


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
    evaluate : callable, optional
        The energy of labels, in place of that in `f`, from which it may differ by rounding.
    parameters : LabelingParameters, optional

    Attributes
    ----------
    labels, cost : ndarray of int32, float
        The best so far, and its energy; ``inf`` as long as no allowed labeling was found.
    rounds : int
        Complete rounds so far.
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
        evaluate: Callable[[Labels], float] | None = None,
        parameters: LabelingParameters | None = None,
    ) -> None:
        super().__init__(processors() if threads is None else threads)
        self.f, self.seed = f, seed
        self.parameters = parameters = parameters or LabelingParameters()
        self.evaluate = evaluate or f.evaluate_labels
        self.model = model = Model(f)
        self.operators = Operators(model, parameters)
        first = model.least() if labels is None else labels[model.open]
        self.pool = [(model.energy(first), first)]  # ascending, by penalised energy
        self.labels = self._whole(first)
        self.cost = self.evaluate(self.labels)
        self.solved = 0.0  # variables of regions that are just solved, once known
        self.kinds = self._kinds()
        self.credit = {kind: float(kind == "annealing") for kind in self.kinds}
        self.heats, self.heat_credit = np.ones(HEATS), np.full(HEATS, FLOOR)
        self.weight = model.penalty  # of a forbidden entry
        self.begun, self.prepared = False, prepared

    def _kinds(self) -> list[str]:
        """The kinds of tasks that this factor graph has a use for."""
        # Where all labels are two and allowed, annealing finds the same sooner than regions.
        several = int(self.model.domains.max(initial=0)) > 2 or self.model.f.has_forbidden
        fits = {
            "annealing": True,
            "expansion": self.model.pairs,
            "regions": self.model.f.entries <= WHOLE and several,
        }
        return [kind for kind in KINDS if fits[kind] and kind in self.parameters] or ["annealing"]

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
        """Search until stopped, or for `patience` rounds in a row without improvement.

        Parameters
        ----------
        stopping : Stopping
            Its iterations are rounds.
        patience : int, optional
        serve : callable, optional
            Called about every 50 ms.
        """
        self.serve = serve
        if self.model.f.n:
            self.begin(stopping)
            self.rounds_until(stopping, patience)

    def begin(self, stopping: Stopping, annealing: bool = True) -> None:
        """Prepare the first round, once; `annealing` says whether a large factor graph is annealed."""
        self.stopping = stopping
        if self.begun or not self.model.f.n or stopping.check(self.cost):
            return
        self.begun = True
        self._join(self.operators.descend(self.pool[0][1], stopping.child(plus=math.inf)))
        unit = self.operators.unit(self.pool[0][1])
        self.heats = geometric(HOT * unit, COOL * unit, HEATS)
        if self.model.f.has_forbidden:
            self.weight = min(self.model.penalty, unit)
        tasks = self._first(annealing)
        self.extra_round(tasks, stopping)
        if any(task.kind == "first annealing" for task in tasks):  # which takes as long as a round, or longer
            stopping.step(self.cost)

    # ------------------------------------------------------------------------------------------------------- rounds

    def _first(self, annealing: bool) -> list[Task]:
        """Message passing, expansions and regions; or, in a large factor graph, one annealing of all variables."""
        n, best = self.model.f.n, self.pool[0][1]
        work = LONG * self.operators.sweep
        large = work > MOST
        kinds = [] if large or "regions" not in self.kinds else ["regions"]
        if not self.prepared:
            kinds += ["message passing"] + ["expansion"] * (self.model.pairs and not large)
        if large and annealing:
            kinds.append("first annealing")
            if self.stopping.remaining is not None:
                work = min(work, BEGIN * 1e9 * self.stopping.remaining)
        else:
            work = self._work()
        heat = float(self.heats[HEATS // 3])
        return [
            Task(kind, self.seed, best, n, work, heat=heat, weight=self.weight, solved=self.solved)
            for kind in kinds
            if kind in self.parameters
        ]

    @property
    def shown_cost(self) -> float:
        """The cost of the best labeling."""
        return self.cost

    def perform(self, task: Task, stopping: Stopping) -> Found:
        """Do one task."""
        return self.operators.perform(task, stopping)

    def _work(self) -> float:
        """Nanoseconds of a task."""
        return min(LONGEST, max(LEAST, min(MOST, WORK * self.model.f.n)) * 2 ** (self.level / 2))

    def plan(self) -> list[Task]:
        """The tasks of a round: kinds at random, by their credit."""
        rng = np.random.default_rng([self.seed, self.rounds])
        work, n, best = self._work(), self.model.f.n, self.pool[0][1]
        credit = np.cumsum([self.credit[kind] + FLOOR for kind in self.kinds])
        shares = np.cumsum(self.heat_credit)
        earned = self.credit.get("regions", 0.0) + FLOOR
        solving = earned / (earned + FLOOR)  # the chance that regions follow annealing
        tasks = []
        for seed in rng.integers(2**62, size=TASKS).tolist():
            kind = self.kinds[int(np.searchsorted(credit, rng.random() * credit[-1]))]
            level = int(np.searchsorted(shares, rng.random() * shares[-1]))
            from_best = rng.random() < 0.5 or kind == "expansion"
            other = self.pool[int(rng.integers(len(self.pool)))][1]
            fresh = kind == "annealing" and bool(rng.random() < FRESH) and "fresh starts" in self.parameters
            exactly = "regions" in self.kinds and bool(rng.random() < solving)
            tasks.append(
                Task(
                    kind,
                    seed,
                    best if from_best else other,
                    self.operators.affordable(work) if kind == "annealing" else n,
                    work,
                    fresh=fresh,
                    level=level,
                    heat=float(self.heats[level]),
                    weight=self.weight,
                    solved=self.solved,
                    solving=exactly,
                )
            )
        return tasks

    # --------------------------------------------------------------------------------------------------------- pool

    def take(self, task: Task, found: Found) -> bool:
        """Add the labeling that a task found to the pool; return whether it is the best."""
        if task.kind == "annealing" and self.model.f.has_forbidden:
            factor = 0.5 if found.allowed else 2.0
            self.weight = min(self.model.penalty, max(self.weight * factor, float(self.heats[-1])))
        if found.solved:
            self.solved = found.solved
        best, labels = self.pool[0], found.labels
        parts = "parts" in self.parameters or task.size < self.model.f.n
        better = self._join(self.model.better_parts(best[1], labels) if parts else labels)
        if task.size >= self.model.f.n:
            joined = self._join(labels)
        else:
            joined = not better and best[0] < self.model.energy(labels) < self.pool[-1][0]
        if task.kind in self.credit:
            credit = float(better) if better else joined / 2
            self.credit[task.kind] = FADE * self.credit[task.kind] + credit
            if task.kind == "annealing":
                self.heat_credit[task.level] = max(FLOOR, FADE * self.heat_credit[task.level] + credit)
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

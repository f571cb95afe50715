"""The tasks of a round: annealing, and improvements of its results.

All costs of time are estimates that do not look at the clock, so that a task ends with the same labels each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from queue import Empty, SimpleQueue

import numpy as np
from numpy.typing import NDArray

from graphpart.common.variates import exponential_variates
from graphpart.crf.anytime_search._kernels import Annealing
from graphpart.crf.anytime_search.model import Model
from graphpart.crf.anytime_search.parameters import LabelingParameters
from graphpart.crf.anytime_search.regions import Regions
from graphpart.crf.bounds.message_passing import Ascent
from graphpart.crf.graph_cuts._moves import Moves
from graphpart.crf.graph_cuts.expansion import expanded
from graphpart.errors import InfeasibleProblem
from graphpart.kernels.elementary import geometric
from graphpart.stopping import Stopping

__all__ = ["Found", "Operators", "Task"]

Labels = NDArray[np.int32]
COLD = 0.05  # final temperature of annealing, as a share of the initial temperature
VISIT, LINK, UPDATE = 6.0, 1.5, 2.0  # nanoseconds of annealing: a variable, a label of a neighbour, an updated sum
MOST = 3e8  # nanoseconds of a task at first, at most
LONG = 100  # sweeps of the first annealing of a large factor graph, unless the time is too short
SWEEPS = 300  # least number of sweeps of a run of annealing, unless the time is too short
ITERATIONS = 200  # largest number of iterations of message passing
BEGIN = 0.4  # share of the remaining time for message passing, for expansions, and for the first annealing
FEWEST = 8.0  # initial and smallest number of variables of a region
GROW, SHRINK = 1.03, 0.85  # factors for the size of regions after a solved and after an unsolved region
NONE = np.zeros(0, np.int32)


@dataclass(frozen=True)
class Task:
    """One task of a round.

    Attributes
    ----------
    kind : {"annealing", "expansion", "regions", "message passing", "first annealing"}
    seed : int
    start : ndarray of int32
    size : int
        The number of variables in the region that may change; all variables, if there are no more than that.
    work : float
        The estimated number of nanoseconds that the task takes.
    fresh : bool
        Begin with random labels.
    level, heat : int, float
        The index of the first temperature, and the temperature itself.
    weight : float
        The cost of a forbidden entry in annealing.
    solved : float
        The number of variables of the first region that branch and bound solves; 0 if nothing is known.
    solving : bool
        Whether regions are solved after annealing.
    """

    kind: str
    seed: int
    start: Labels
    size: int
    work: float
    fresh: bool = False
    level: int = 0
    heat: float = 0.0
    weight: float = 0.0
    solved: float = 0.0
    solving: bool = False


@dataclass(frozen=True)
class Found:
    """The result of a task: labels, and whether annealing ended with allowed ones.

    `solved` is the number of variables of regions that branch and bound just solves; 0 if there were none.
    """

    labels: Labels
    allowed: bool = True
    solved: float = 0.0


class Operators:
    """The tasks of one model; safe to use from several threads.

    Parameters
    ----------
    model : Model
    parameters : LabelingParameters
    """

    def __init__(self, model: Model, parameters: LabelingParameters) -> None:
        self.model, self.parameters = model, parameters
        self.n = model.f.n
        self.idle: SimpleQueue[Annealing] = SimpleQueue()
        self.moves: SimpleQueue[Moves] = SimpleQueue()
        self._regions: Regions | None = None
        links = len(model.near)
        self.sweep = VISIT * self.n + LINK * links * (1.0 if model.binary else float(model.domains.mean()))

    def _annealing(self) -> Annealing:
        """A kernel that no other thread uses."""
        try:
            return self.idle.get_nowait()
        except Empty:
            return self.model.annealing(exponential_variates())

    def rest(self) -> None:
        """Give back the memory of kernels that no task uses; they are made anew when they are needed."""
        self.idle, self.moves = SimpleQueue(), SimpleQueue()

    def unit(self, labels: Labels) -> float:
        """A typical cost of changing one label, as unit of temperature: the median, costs weighted by themselves."""
        annealing = self._annealing()
        costs = annealing.changes(labels, self.model.penalty)
        self.idle.put(annealing)
        costs = np.sort(costs[(costs > self.model.tolerance) & (costs < self.model.penalty / 2)])
        if not len(costs):
            return max(self.model.range, 1.0)
        sums = np.cumsum(costs / costs[-1])
        return float(costs[np.searchsorted(sums, sums[-1] / 2)])

    def descend(self, labels: Labels, stopping: Stopping) -> Labels:
        """Change single labels until no change lowers the energy."""
        annealing = self._annealing()
        found = self._anneal(annealing, labels, NONE, np.zeros(0), self.model.penalty, 0, stopping)
        self.idle.put(annealing)
        return found

    def affordable(self, work: float) -> int:
        """The number of variables that can be annealed in the available time."""
        return int(min(self.n, max(1, work * self.n / (SWEEPS * self.sweep))))

    def perform(self, task: Task, stopping: Stopping) -> Found:
        """Do a task and return its result."""
        if stopping.check(np.inf):
            return Found(task.start)
        rng = np.random.default_rng(task.seed)
        if task.kind == "message passing":
            return Found(self._pass(task.start, rng, stopping))
        if task.kind == "expansion":
            return Found(self._expand(task.start, rng, stopping, int(self.model.domains.max())))
        annealing = self._annealing()
        labels, allowed, solved = task.start, True, 0.0
        inside = NONE if task.size >= self.n else self.model.around(task.size, _draw(rng))
        if task.kind == "annealing":
            labels, allowed = self._best_run(annealing, labels, inside, task, rng, stopping)
        elif task.kind == "first annealing":
            temperatures = geometric(task.heat, COLD * task.heat, max(1, round(task.work / self.sweep)))
            labels = self._anneal(annealing, labels, inside, temperatures, task.weight, _draw(rng), stopping)
        self.idle.put(annealing)
        if task.kind == "regions" or (task.solving and not len(inside)):
            share = task.work if task.kind == "regions" else task.work / 2
            labels, solved = self._solve_regions(labels, max(FEWEST, task.solved), share, rng, stopping)
        return Found(labels, allowed, solved)

    def _pass(self, labels: Labels, rng: np.random.Generator, stopping: Stopping) -> Labels:
        """The best rounding of message passing."""
        try:
            ascent = Ascent(self.model.f, self._part(stopping, ITERATIONS), labels.copy(), tightening=False)
            ascent.run()
        except InfeasibleProblem:  # up to rounding; not a proof
            return labels
        return self._expand(ascent.labels, rng, stopping, None)

    def _expand(self, labels: Labels, rng: np.random.Generator, stopping: Stopping, iterations: int | None) -> Labels:
        """Improve labels by a number of expansions, or until none helps; if factors are larger than pairs, do
        nothing."""
        try:
            moves = self.moves.get_nowait()
        except Empty:
            if not self.model.pairs:
                return labels
            moves = Moves(self.model.f._view())
            if moves.measure()[1] >= 0:
                return labels
            moves.prepare()
        found = expanded(self.model.f, moves, labels, self._part(stopping, iterations), rng)
        self.moves.put(moves)
        return found

    def _part(self, stopping: Stopping, iterations: int | None) -> Stopping:
        """A share of the time, for the beginning of the search."""
        left = None if stopping.remaining is None else BEGIN * stopping.remaining
        return stopping.child(left, iterations, np.inf)

    def _best_run(
        self, annealing: Annealing, labels: Labels, inside: Labels, task: Task, rng: np.random.Generator,
        stopping: Stopping,
    ) -> tuple[Labels, bool]:  # fmt: skip
        """The best of several runs of annealing, and whether it is allowed."""
        most = max(1.0, task.work / (self.sweep * (len(inside) or self.n) / self.n))
        runs = int(rng.integers(1 + max(0, int(most / SWEEPS).bit_length() - 1)))
        temperatures = geometric(task.heat, COLD * task.heat, int(most / 2**runs))
        began, best, best_energy, allowed = annealing.work, labels, np.inf, True
        while True:
            if task.fresh:
                drawn = rng.integers(0, self.model.domains, dtype=np.int32)
                labels = task.start.copy()
                labels[inside if len(inside) else slice(None)] = drawn[inside] if len(inside) else drawn
            found = self._anneal(annealing, labels, inside, temperatures, task.weight, _draw(rng), stopping)
            energy, forbidden = self.model.measured(found)
            if energy < best_energy:
                best, best_energy, allowed = found, energy, not forbidden
            if UPDATE * (annealing.work - began) > 0.7 * task.work or stopping.check(np.inf):
                return best, allowed

    def _anneal(
        self, annealing: Annealing, labels: Labels, inside: Labels, temperatures: NDArray[np.float64], weight: float,
        seed: int, stopping: Stopping,
    ) -> Labels:  # fmt: skip
        tolerance = self.model.tolerance
        return annealing.run(labels, inside, temperatures, weight, tolerance, seed, stopping)[0]

    def _solve_regions(
        self, labels: Labels, size: float, work: float, rng: np.random.Generator, stopping: Stopping
    ) -> tuple[Labels, float]:
        """Improve labels in one region after another. The size of regions adapts to what branch and bound solves."""
        if self._regions is None:
            self._regions = Regions(self.model.f)
        spent = 0.0
        while spent < work and not stopping.check(np.inf):
            inside = self.model.around(int(size), _draw(rng))
            labels, proven, took = self._regions.improved(labels, inside, stopping)
            if proven and len(inside) == self.n:
                break
            size = min(float(self.n), GROW * size) if proven else max(FEWEST, SHRINK * size)
            spent += took
        return labels, size


def _draw(rng: np.random.Generator) -> int:
    return int(rng.integers(2**62))

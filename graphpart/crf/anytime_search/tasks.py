"""The tasks of a round: annealing of single labels or blocks, and blocks of variables in which labelings differ.

All costs of time are estimates that do not look at the clock, so that a task ends with the same labels each time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

import numpy as np
from numpy.typing import NDArray

from graphpart.common.variates import exponential_variates, gumbel_variates
from graphpart.crf.anytime_search._annealing import Annealing
from graphpart.crf.anytime_search._blocks import Blocks
from graphpart.crf.anytime_search.model import Model
from graphpart.crf.anytime_search.regions import Regions
from graphpart.crf.bounds.message_passing import Ascent
from graphpart.crf.graph_cuts._moves import Moves
from graphpart.crf.graph_cuts.expansion import expanded
from graphpart.errors import InfeasibleProblem
from graphpart.kernels.elementary import geometric
from graphpart.stopping import Stopping

__all__ = ["Found", "Operators", "Task"]

Labels = NDArray[np.int32]
VARIATES = 65536  # random numbers in a table, a power of 2
STEPS = 64  # temperatures of annealing of blocks
COLD = 0.05  # the last temperature of annealing, as a share of the first
EACH, ENTRY = 1200.0, 0.8  # nanoseconds for a variable of a block, and for an entry of its tables
FILL = 1 / 16  # entries of a table, as a share of those allowed, about
ROOM = 2**20, 2**22  # entries of all messages of a block, in small and in large problems
# Nanoseconds for a variable, for a label of a neighbour, and for an update of a sum, in annealing of single labels.
VISIT, LINK, UPDATE = 6.0, 1.5, 2.0
FEWEST = 30  # sweeps
MOST = 3e8  # nanoseconds of a task at first
LONG = 100  # sweeps of the first annealing of a large factor graph, if there is time
SWEEPS = 300  # of a run, at least, if there is time
LEAST = 50  # variables of a region
STALE = 3  # blocks without improvement, after which a descent ends
ITERATIONS = 200  # of message passing
ROUNDS = 2  # of expansions of all labels, in a task
BEGIN = 0.4  # share of the time that message passing and expansions get
FUSIONS = 3  # blocks for each labeling to fuse with
GROW, SHRINK = 1.03, 0.85  # the size of regions after one that is solved, and one that is not
FEWEST_INSIDE = 4.0  # variables of these
DEEP, WIDE = 2.0**9, 2.0**12  # entries of tables after annealing, and where labelings differ, at least
NONE = np.zeros(0, np.int32)


@dataclass(frozen=True)
class Task:
    """One task of a round.

    Attributes
    ----------
    kind : {"labels", "blocks", "descent", "cross", "regions", "message passing", "expansion", "first annealing"}
    start : ndarray of int32
    fresh : bool
        Begin with random labels.
    size : int
        The number of variables in the region that may change; all variables, if there are no more than that.
    others : list of ndarray
        Labelings to fuse the outcome with.
    level, heat : int, float
        The index of the first temperature, and the temperature itself.
    limit : float
        Entries of the tables of blocks.
    work : float
        The estimated number of nanoseconds that the task takes.
    weight : float
        The cost of a forbidden entry in annealing of single labels.
    solved : float
        The number of variables of the first region that branch and bound solves.
    solving : bool
        Whether regions are solved after annealing, in place of descent by blocks.
    """

    kind: str
    seed: int
    start: Labels
    fresh: bool
    size: int
    others: list[Labels] = field(repr=False)
    level: int
    heat: float
    limit: float
    work: float
    weight: float
    solved: float = 0.0
    solving: bool = False


@dataclass(frozen=True)
class Found:
    """The result of a task: the best labels, those before fusion with others, and whether the latter are allowed.

    `solved` is the number of variables of regions that branch and bound just solves; 0 if there were none.
    """

    labels: Labels
    own: Labels
    allowed: bool
    solved: float = 0.0


@dataclass
class _Worker:
    """The kernels of one thread."""

    blocks: Blocks
    annealing: Annealing


class Operators:
    """The tasks of one model; safe to use from several threads.

    Parameters
    ----------
    model : Model
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.n = model.f.n
        self.room = ROOM[1] if len(model.f.tables) > ROOM[1] else ROOM[0]
        self.idle: SimpleQueue[_Worker] = SimpleQueue()
        self.moves: SimpleQueue[Moves] = SimpleQueue()
        self._regions: Regions | None = None
        links = len(model.near)
        self.sweep = VISIT * self.n + LINK * links * (1.0 if model.binary else float(model.domains.mean()))
        self.noise = gumbel_variates(VARIATES)

    def _worker(self) -> _Worker:
        try:
            return self.idle.get_nowait()
        except Empty:
            return _Worker(self.model.blocks(self.room), self.model.annealing())

    def unit(self, labels: Labels) -> float:
        """A typical cost of changing one label, as unit of temperature: the median, costs weighted by themselves."""
        worker = self._worker()
        costs = worker.annealing.changes(labels, self.model.penalty)
        self.idle.put(worker)
        costs = np.sort(costs[(costs > self.model.tolerance) & (costs < self.model.penalty / 2)])
        if not len(costs):
            return max(self.model.range, 1.0)
        sums = np.cumsum(costs / costs[-1])
        return float(costs[np.searchsorted(sums, sums[-1] / 2)])

    def descend(self, labels: Labels, stopping: Stopping) -> Labels:
        """Change single labels until no change lowers the energy."""
        worker = self._worker()
        found = self._anneal_labels(worker, labels, NONE, np.zeros(0), self.model.penalty, 0, stopping)
        self.idle.put(worker)
        return found

    def block(self, limit: float) -> tuple[int, float]:
        """The number of variables in a block whose tables have so many entries, and the nanoseconds that it takes."""
        size = int(min(self.n, max(16.0, self.room / (limit * FILL))))
        return size, size * (EACH + ENTRY * FILL * limit)

    def affordable(self, kind: str, limit: float, work: float) -> int:
        """The number of variables that can be annealed, or improved by descent, in the available time."""
        if kind == "labels":
            each = SWEEPS * self.sweep / self.n
        else:
            each = (STEPS if kind == "blocks" else STALE) * (EACH + ENTRY * FILL * limit)
        return int(min(self.n, max(LEAST, work / each)))

    def perform(self, task: Task, stopping: Stopping) -> Found:
        """Do a task and return its result."""
        if stopping.check(np.inf):
            return Found(task.start, task.start, True)
        rng = np.random.default_rng(task.seed)
        if task.kind in ("message passing", "expansion"):
            labels = task.start
            if task.kind == "expansion":
                labels = self._expand(labels, rng, stopping, ROUNDS * int(self.model.domains.max()))
            else:
                labels = self._pass(labels, rng, stopping)
            return Found(labels, labels, True)
        worker = self._worker()
        labels, allowed, solved = task.start, True, 0.0
        inside = NONE if task.size >= self.n else worker.blocks.around(task.size, _draw(rng))
        size = len(inside) if len(inside) else self.n
        if task.fresh:
            labels = rng.integers(0, self.model.domains, dtype=np.int32)
            labels = labels if size == self.n else _mixed(labels, task.start, inside)
        if task.kind == "labels":
            labels, allowed = self._best_run(worker, labels, inside, task, rng, stopping)
        elif task.kind == "first annealing":
            temperatures = geometric(task.heat, COLD * task.heat, round(task.work / self.sweep))
            labels = self._anneal_labels(worker, labels, inside, temperatures, task.weight, _draw(rng), stopping)
        elif task.kind == "blocks":
            labels = self._anneal_blocks(worker, labels, inside, task, rng, stopping)
        if task.kind == "regions" or (task.solving and not len(inside)):
            share = task.work if task.kind == "regions" else task.work / 2
            labels, solved = self._solve_regions(worker, labels, task.solved, share, rng, stopping)
        elif task.kind != "cross":
            labels = self._descend_blocks(worker, labels, inside, max(DEEP, task.limit), task.work / 2, rng, stopping)
        own = labels
        for other in task.others:
            if stopping.check(np.inf):
                break
            labels = self._fused(worker, labels, other, max(WIDE, task.limit), rng, stopping)
        self.idle.put(worker)
        return Found(labels, own, allowed, solved)

    def _pass(self, labels: Labels, rng: np.random.Generator, stopping: Stopping) -> Labels:
        """The best rounding of message passing."""
        try:
            ascent = Ascent(self.model.f, self._part(stopping, ITERATIONS), labels.copy(), tightening=False)
            ascent.run()
        except InfeasibleProblem:  # as far as rounding can tell; whoever wants to know has to ask for a proof
            return labels
        return self._expand(ascent.labels, rng, stopping, None)

    def _expand(self, labels: Labels, rng: np.random.Generator, stopping: Stopping, iterations: int | None) -> Labels:
        """Improve labels by so many expansions, or until none helps; if factors are larger than pairs, do nothing."""
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
        self, worker: _Worker, labels: Labels, inside: Labels, task: Task, rng: np.random.Generator,
        stopping: Stopping,
    ) -> tuple[Labels, bool]:  # fmt: skip
        """The best of several runs of annealing of single labels, and whether it is allowed."""
        most = max(FEWEST, task.work / (self.sweep * (len(inside) or self.n) / self.n))
        runs = int(rng.integers(1 + max(0, int(most / SWEEPS).bit_length() - 1)))
        sweeps = int(most / 2**runs)
        began, best, best_energy, allowed = worker.annealing.work, labels, np.inf, True
        while True:
            temperatures = geometric(task.heat, COLD * task.heat, sweeps)
            found = self._anneal_labels(worker, labels, inside, temperatures, task.weight, _draw(rng), stopping)
            energy, forbidden = self.model.measured(found)
            if energy < best_energy:
                best, best_energy, allowed = found, energy, not forbidden
            if UPDATE * (worker.annealing.work - began) > 0.7 * task.work or stopping.check(np.inf):
                break
            if task.fresh and not len(inside):
                labels = rng.integers(0, self.model.domains, dtype=np.int32)
        return best, allowed

    def _anneal_labels(
        self, worker: _Worker, labels: Labels, inside: Labels, temperatures: NDArray[np.float64], weight: float,
        seed: int, stopping: Stopping,
    ) -> Labels:  # fmt: skip
        variates, tolerance = exponential_variates(VARIATES), self.model.tolerance
        found: Labels = worker.annealing.run(
            labels, inside, temperatures, variates, weight, seed, tolerance, np.inf, stopping
        )[0]
        return found

    def _anneal_blocks(
        self, worker: _Worker, labels: Labels, inside: Labels, task: Task, rng: np.random.Generator,
        stopping: Stopping,
    ) -> Labels:  # fmt: skip
        temperatures = geometric(task.heat, COLD * task.heat, STEPS)
        blocks, spent = worker.blocks, 0.0
        size = len(inside) or self.block(task.limit)[0]
        while spent < task.work and not stopping.check(np.inf):
            heat = float(temperatures[int(STEPS * spent / task.work)])
            before = blocks.work
            labels, _ = blocks.run(labels, inside, size, task.limit, 1, self.noise, heat, _draw(rng), np.inf, stopping)
            spent += size * EACH + (blocks.work - before) * ENTRY
        return labels

    def _descend_blocks(
        self, worker: _Worker, labels: Labels, inside: Labels, limit: float, work: float, rng: np.random.Generator,
        stopping: Stopping,
    ) -> Labels:  # fmt: skip
        blocks, spent, stale = worker.blocks, 0.0, 0
        size = len(inside) or self.block(limit)[0]
        most = STALE if len(inside) else STALE * max(1, self.n // size)
        while spent < work and stale < most and not stopping.check(np.inf):
            before = blocks.work
            labels, gain = blocks.run(labels, inside, size, limit, 1, self.noise, 0.0, _draw(rng), np.inf, stopping)
            spent += size * EACH + (blocks.work - before) * ENTRY
            stale = 0 if gain < 0 else stale + 1
        return labels

    def _solve_regions(
        self, worker: _Worker, labels: Labels, size: float, work: float, rng: np.random.Generator, stopping: Stopping
    ) -> tuple[Labels, float]:
        """Improve labels within one region after the other, which are as large as branch and bound solves quickly."""
        if self._regions is None:
            self._regions = Regions(self.model.f)
        spent = 0.0
        while spent < work and not stopping.check(np.inf):
            inside = worker.blocks.around(int(size), _draw(rng))
            labels, proven, took = self._regions.improved(labels, inside, stopping)
            if proven and len(inside) == self.n:
                break
            size = min(float(self.n), GROW * size) if proven else max(FEWEST_INSIDE, SHRINK * size)
            spent += took
        return labels, size

    def _fused(
        self, worker: _Worker, labels: Labels, other: Labels, limit: float, rng: np.random.Generator,
        stopping: Stopping,
    ) -> Labels:  # fmt: skip
        """Combine two labelings: the better one in each region where they differ, then blocks of these variables."""
        inside = np.flatnonzero(labels != other).astype(np.int32)
        if not len(inside):
            return labels
        labels = self.model.best_of_regions(labels, other)
        found: Labels = worker.blocks.run(
            labels, inside, 0, limit, FUSIONS, self.noise, 0.0, _draw(rng), np.inf, stopping
        )[0]
        return found


def _mixed(labels: Labels, other: Labels, inside: Labels) -> Labels:
    """The labels of `other`, but inside the region those of `labels`."""
    mixed = other.copy()
    mixed[inside] = labels[inside]
    return mixed


def _draw(rng: np.random.Generator) -> int:
    return int(rng.integers(2**62))

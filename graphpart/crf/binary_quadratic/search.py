"""Search on a binary quadratic form: annealing, and combination of labelings into larger and larger families.

Variables with at most three neighbours are eliminated first, unless variables have many neighbours (see low_degree.py).
Annealing makes labelings from random ones (see _sparse.pyx). FAMILY of these labelings are then combined into one. To
combine labelings (see crossover.py), what they have in common is contracted, variables with few neighbours are again
eliminated, and the form that is left is annealed from scratch. The result is annealed once more, from a temperature at
which it changes only a little, and takes over all regions in which one of the labelings is better. If variables have
many neighbours, annealing and combination both end with tabu search. FAMILY combined labelings are combined in turn,
then FAMILY of the results, and so on. A labeling is only combined with labelings of as much work that were found
independently of it. So the longer the search, the larger the families.

A round consists of TASKS tasks, which run in parallel and independently of each other: first the combinations for which
enough labelings are there, those of the largest families first, then annealing. The best labeling takes over all
regions in which the result of a task is better. Annealing becomes slower from round to round: soon, if combined
labelings are hardly ever better than the best of those that were combined, later otherwise, because then more labelings
are worth more than better ones. As long as nothing better is found, one task of every second round starts from the best
labeling: annealing from a low temperature, or tabu search.

The random numbers of a task follow from the seed, the number of the round and of the task; so the result after a number
of rounds is the same on any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.rounds import attend, check_seed_and_threads
from graphpart.crf.binary_quadratic.crossover import Contraction, best_of_regions
from graphpart.crf.binary_quadratic.form import QuadraticForm, quadratic_form
from graphpart.crf.binary_quadratic.low_degree import Kernel
from graphpart.crf.binary_quadratic.walks import Spins, Walker
from graphpart.crf.problem import FactorGraph
from graphpart.errors import InvalidProblem
from graphpart.machine import processors
from graphpart.stopping import Stopping

__all__ = ["BinarySearch"]

Labels = NDArray[np.int32]

TASKS = 4  # of a round; not the number of threads, on which the result must not depend
FAMILY = 4  # labelings that are combined
WORK = 5e6  # nanoseconds of annealing one labeling at first
SWEEPS = (30, 1000)  # fewest and most sweeps at first
HOT, COLD = 0.25, 0.02  # temperatures, see walks.py
WARM = 0.1  # where annealing starts after labelings were combined
AGAIN = 0.25  # times as many sweeps then
SLOWER = 2.0  # rounds after which annealing takes twice as long
SLOWER_LARGE, SLOWER_FRUITFUL = 1.0, 16.0  # the same with few neighbours: in large forms, if combinations are fruitful
# Of the time of annealing one labeling, for a contracted form; but at most so many times the sweeps.
INNER = (0.3, 10.0)
FADE = 0.8  # of the share of combined labelings that are better, each time that labelings are combined
LONGEST = 2e9  # nanoseconds of annealing one labeling at most,
MOST = 2**20  # and sweeps, since each takes the memory of its temperature
FITS = 0.9  # of the time that is left, what a round may take
MOVES = 10  # of tabu search, for each variable, at first
SMALL = 100_000  # couplings, up to which evaluation takes no time
FRESH = 2  # every so many rounds, one task begins with the best labeling
GENERATIONS = 8  # of families at most


@dataclass(frozen=True)
class _Task:
    kind: str  # "fresh", "family" or "best"
    elite: tuple[Spins, ...]
    sweeps: int
    moves: int
    seed: int
    level: int


class BinarySearch:
    """A search for the labeling of least energy that can be run in slices.

    Parameters
    ----------
    problem : FactorGraph or QuadraticForm
        With two labels for each variable; see :func:`quadratic_form` for what else.
    labels : ndarray of int, shape (n,), optional
        Where to start; default: all 0.
    seed : int
        Of the random numbers.
    threads : int, optional
        Of which at most 4 are used; default: as many as there are processors for this process.
    form : QuadraticForm, optional
        Of the factor graph, if known.
    evaluate : callable, optional
        The energy of labels, in place of that in `problem`, from which it may differ by rounding.

    Attributes
    ----------
    symmetric : bool
        Whether the energy stays the same if all labels flip, up to rounding.
    rounds : int
        Rounds done so far.
    work : float
        Nanoseconds of each thread so far, as estimated beforehand; infinite if elimination left nothing to search.

    Raises
    ------
    InvalidProblem
        If the problem is a factor graph that has no quadratic form.
    InvalidOption
        If `seed` or `threads` is not a valid number.

    Examples
    --------
    >>> from graphpart.stopping import Stopping
    >>> f = FactorGraph.from_arrays([2] * 3, [([[0, 1], [1, 2], [0, 2]], [[[1.0, 0.0], [0.0, 1.0]]] * 3)])
    >>> search = BinarySearch(f, seed=1)
    >>> search.run(Stopping(max_iterations=1))
    >>> search.cost, len(search.labels)
    (1.0, 3)
    """

    def __init__(
        self,
        problem: FactorGraph | QuadraticForm,
        labels: Any = None,
        seed: int = 0,
        threads: int | None = None,
        form: QuadraticForm | None = None,
        evaluate: Callable[[Labels], float] | None = None,
    ) -> None:
        check_seed_and_threads(seed, threads)
        q = form
        if q is None:
            q = problem if isinstance(problem, QuadraticForm) else quadratic_form(problem)
        if q is None:
            raise InvalidProblem(
                "the problem has no quadratic form: expected two labels for each variable, factors of at most two "
                "variables, and no forbidden entries"
            )
        self.evaluate = evaluate or (problem.energy if isinstance(problem, QuadraticForm) else problem.evaluate_labels)
        self.seed, self.threads = int(seed), threads or processors()
        self.walker = Walker(q)
        self.symmetric = self.walker.symmetric
        self.kernel: Kernel | None = None
        if self.walker.few_neighbours and (kernel := Kernel(q)).q.n < q.n:
            self.kernel, q = kernel, kernel.q
            self.walker = Walker(q)
        self.q = q
        # Seconds that a round takes for each sweep of its annealing.
        self.pace = 1e-9 * self.walker.sweep_work * TASKS / min(TASKS, self.threads)
        self.rounds = self.idle = 0
        self.work = self.doublings = 0.0
        self.fruitful = float(
            self.walker.few_neighbours
        )  # share of combined labelings that are better than all that were combined
        self.waiting: list[list[Spins]] = []  # to be combined, by the number of generations
        self._evaluated: tuple[Spins | None, float] = (None, math.inf)
        self.start(np.zeros(problem.n, np.int32) if labels is None else labels)

    def start(self, labels: Any) -> None:
        """Take labels as the best ones, whatever they cost."""
        self.best = self._inner(labels)
        self.energy = self.walker.energy(self.best)

    @property
    def labels(self) -> Labels:
        """The best labels found."""
        spins = self.best if self.kernel is None else self.kernel.lift(self.best)
        return (spins > 0).astype(np.int32)

    def _inner(self, labels: Any) -> Spins:
        """Spins of the variables that are not eliminated."""
        spins = np.where(np.asarray(labels) > 0, 1, -1).astype(np.int8)
        return spins if self.kernel is None else self.kernel.project(spins)

    @property
    def cost(self) -> float:
        """The energy of the best labels, evaluated in the problem. O(n + m) if they are new"""
        if self._evaluated[0] is not self.best:
            self._evaluated = self.best, self.evaluate(self.labels)
        return self._evaluated[1]

    def _about(self, stopping: Stopping) -> float:
        """The cost to report during a run: the one computed from integers, unless it is compared with a target."""
        if stopping.target > -math.inf or (self.walker.exact and self.q.m < SMALL):
            return self.cost
        return self.q.constant + self.energy / self.walker.scale

    def offer(self, labels: Any, cost: float | None = None) -> bool:
        """Take labels that another method found; return whether they lead to a new best labeling.

        The labels join the youngest generation and are combined with others of it. `cost` is part of the common
        interface of searches; here the energy is recomputed.
        """
        spins = self._inner(labels)
        self._wait(0, spins)
        return self._take(spins)

    def run(self, stopping: Stopping) -> None:
        """Search until stopped. Rounds count as iterations; may be called again."""
        before = self.best, self.energy, self.cost
        stopping.record(self.cost)
        if self.q.n == 0:  # elimination has left nothing to do
            self.work = math.inf
            return
        if stopping.check(self.cost):
            return
        try:
            if self.rounds == 0:
                self._take(self.walker.descend(self.best, stopping.child(plus=math.inf)))
            with ThreadPoolExecutor(min(TASKS, self.threads)) as executor:
                while not stopping.check(self._about(stopping)):
                    self._round(executor, stopping)
        finally:
            if self.cost > before[2]:  # by rounding
                self.best, self.energy = before[:2]

    def _round(self, executor: ThreadPoolExecutor, stopping: Stopping) -> None:
        begun, tasks = stopping.seconds, self._plan(stopping.remaining)
        children = [stopping.child(plus=math.inf) for _ in tasks]
        found: dict[int, int] = {}
        futures = [executor.submit(self._perform, *pair) for pair in zip(tasks, children, strict=True)]

        def take(k: int, spins: Spins) -> bool:
            better = self._take(spins)
            if better:
                stopping.record(self._about(stopping))
            if tasks[k].kind != "best":
                self._wait(tasks[k].level, spins)
            found[k] = self.walker.energy(spins)
            return better

        improved = attend(futures, children, stopping, take, lambda: stopping.check(self._about(stopping)))
        for k, task in enumerate(tasks):
            if task.kind == "family" and k in found and self.walker.few_neighbours:
                better = found[k] < min(self.walker.energy(one) for one in task.elite)
                self.fruitful = FADE * self.fruitful + (1 - FADE) * better
        slower = SLOWER
        if self.walker.few_neighbours:
            large = self.walker.sweep_work * SWEEPS[1] > WORK
            slower = SLOWER_FRUITFUL if self.fruitful > 0.5 else SLOWER_LARGE if large else SLOWER
        self.doublings += 1 / slower
        self.rounds += 1
        self.idle = 0 if improved else self.idle + 1
        stopping.step(self._about(stopping))
        self.pace = max(0.5 * self.pace, (stopping.seconds - begun) / tasks[0].sweeps)

    def _take(self, spins: Spins) -> bool:
        """Let the best labeling take over the regions in which another one is better; return whether there were any."""
        if self.walker.few_neighbours:
            spins = best_of_regions(self.walker, self.best, spins)
        energy = self.walker.energy(spins)
        if energy >= self.energy:
            return False
        self.best, self.energy = spins, energy
        return True

    def _wait(self, level: int, spins: Spins) -> None:
        level = min(level, GENERATIONS)
        while len(self.waiting) <= level:
            self.waiting.append([])
        self.waiting[level].append(spins)

    def _plan(self, remaining: float | None) -> list[_Task]:
        rng = np.random.default_rng([self.seed, self.rounds])
        seeds = rng.integers(2**62, size=TASKS).tolist()
        walker = self.walker
        first = max(SWEEPS[0], min(SWEEPS[1], WORK / walker.sweep_work))
        longest = max(first, min(MOST, LONGEST / walker.sweep_work))
        sweeps = min(first * 2.0 ** min(self.doublings, 40.0), longest)
        if remaining is not None:  # a round that ends too late is worth nothing
            sweeps = max(SWEEPS[0], min(sweeps, remaining * FITS / self.pace))
        moves = int(min(1e9, MOVES * self.q.n * sweeps / first)) if not walker.few_neighbours else 0
        self.work += sweeps * walker.sweep_work + moves * walker.move_work
        tasks = []
        for k, seed in enumerate(seeds):
            due = [level for level, ready in enumerate(self.waiting) if len(ready) >= FAMILY]
            if k == TASKS - 1 and self.rounds % FRESH and self.idle:
                tasks.append(_Task("best", (self.best,), int(sweeps), moves, seed, 0))
            elif due:
                ready = self.waiting[due[-1]]
                tasks.append(_Task("family", tuple(ready[:FAMILY]), int(sweeps), moves, seed, due[-1] + 1))
                del ready[:FAMILY]
            else:
                tasks.append(_Task("fresh", (), int(sweeps), moves, seed, 0))
        return tasks

    def _perform(self, task: _Task, stopping: Stopping) -> Spins:
        """Runs in a thread of its own: reads the form, changes nothing."""
        rng = np.random.default_rng(task.seed)
        walker = self.walker
        if task.kind == "best":
            spins = task.elite[0]
            if walker.few_neighbours or int(rng.integers(2)):
                heat = WARM * 2.0 ** -float(rng.integers(-1, 2))
                forget = walker.few_neighbours  # since the best labeling takes over better regions of any other
                spins = walker.anneal(spins, task.sweeps, heat, COLD, _seed(rng), stopping, forget)
            return self._tabu(spins, task, rng, stopping)
        if task.kind == "fresh":
            start = np.where(rng.random(walker.n) < 0.5, 1, -1).astype(np.int8)
            spins = walker.anneal(start, task.sweeps, HOT, COLD, _seed(rng), stopping)
            return self._tabu(spins, task, rng, stopping)
        elite = sorted(task.elite, key=walker.energy)
        spins = elite[0]
        if not stopping.check(math.inf):
            open_ = Contraction(walker, elite)
            form = open_.walker.q
            kernel = Kernel(form) if walker.few_neighbours and form is not None else None
            inner = open_.walker if kernel is None else Walker(kernel.q)
            share, most = INNER
            times = max(1.0, min(most, share * walker.sweep_work / max(inner.sweep_work, 1.0)))
            start = np.full(inner.n, -1, np.int8)
            inner_sweeps = min(MOST, int(task.sweeps * times)) if inner.n else 0
            flips = inner.anneal(start, inner_sweeps, HOT, COLD, _seed(rng), stopping)
            spins = open_.lift(flips if kernel is None else kernel.lift(flips))
            spins = walker.anneal(spins, int(task.sweeps * AGAIN), WARM, COLD, _seed(rng), stopping)
            if walker.few_neighbours:
                for other in elite:
                    spins = best_of_regions(walker, spins, other)
        return self._tabu(spins, task, rng, stopping)

    def _tabu(self, spins: Spins, task: _Task, rng: np.random.Generator, stopping: Stopping) -> Spins:
        if not task.moves or stopping.check(math.inf):
            return spins
        return self.walker.tabu(spins, task.moves, task.moves, _seed(rng), stopping)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**62))

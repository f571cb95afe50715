"""Search on a binary quadratic form, in rounds of tasks that run in parallel and independently of each other.

Variables with at most three neighbours, or one strong coupling, are eliminated first (see low_degree.py), unless the
form is dense.
A plan decides about the tasks of a round: `Refining` where variables have few neighbours, `Families` where
they have many. With few neighbours, the best labeling takes over all regions in which the result of a task is better.

The random numbers of a task follow from the seed, the number of the round and of the task; so the result after a number
of rounds is the same on any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.binary_quadratic.crossover import better_parts
from graphpart.binary_quadratic.families import Families
from graphpart.binary_quadratic.form import QuadraticForm
from graphpart.binary_quadratic.low_degree import Kernel
from graphpart.binary_quadratic.refining import Refining
from graphpart.binary_quadratic.walks import Spins, Walker
from graphpart.common.rounds import RoundSearch, check_seed_and_threads
from graphpart.machine import processors
from graphpart.stopping import Stopping

__all__ = ["TASKS", "BinarySearch"]

Labels = NDArray[np.int32]

TASKS = 4  # tasks of a round, a constant because the result must not depend on the number of threads
STRATEGIES = frozenset({"low degree", "contraction", "lines", "parts", "families"})


class BinarySearch(RoundSearch[Any, Spins]):
    """A search for the labeling of least energy that can be run in slices.

    Parameters
    ----------
    form : QuadraticForm
    labels : ndarray of int, shape (n,), optional
        Where to start; default: all 0.
    seed : int
        Of the random numbers.
    threads : int, optional
        Of which at most 4 are used; default: as many as there are processors for this process.
    evaluate : callable, optional
        The energy of labels, in place of that of the form, from which it may differ by rounding.
    strategies : container of str
        Those of `STRATEGIES` that are used.

    Attributes
    ----------
    symmetric : bool
        Whether the energy stays the same if all labels flip, up to rounding.
    rounds : int
        Rounds done so far.

    Raises
    ------
    InvalidOption
        If `seed` or `threads` is not a valid number.

    Examples
    --------
    >>> from graphpart.stopping import Stopping
    >>> u, v = np.array([0, 1, 0]), np.array([1, 2, 2])
    >>> q = QuadraticForm.from_pairs(np.full(3, -2.0), u, v, np.full(3, 2.0), 3.0)  # a pair costs 1 if labels agree
    >>> search = BinarySearch(q, seed=1)
    >>> search.run(Stopping(max_iterations=1))
    >>> search.cost, len(search.labels)
    (1.0, 3)
    """

    def __init__(
        self,
        form: QuadraticForm,
        labels: Any = None,
        seed: int = 0,
        threads: int | None = None,
        evaluate: Callable[[Labels], float] | None = None,
        strategies: Container[str] = STRATEGIES,
    ) -> None:
        check_seed_and_threads(seed, threads)
        self.evaluate = evaluate or form.energy
        super().__init__(threads or processors())
        self.seed = int(seed)
        self.walker, q = Walker(form), form
        self.symmetric = self.walker.symmetric
        self.kernel: Kernel | None = None
        if "low degree" in strategies and not self.walker.dense and (kernel := Kernel(q)).q.n < q.n:
            self.kernel, q = kernel, kernel.q
            self.walker = Walker(q)
        self.q = q
        # Seconds that a round takes for each sweep of its annealing.
        self.pace = 1e-9 * self.walker.sweep_work * TASKS / min(TASKS, self.threads)
        self.parts = self.walker.few_neighbours and "parts" in strategies
        self._begun = 0.0  # seconds, when the round began
        self.planner: Any = (Refining if self.walker.few_neighbours else Families)(self.walker, TASKS, strategies)
        self._evaluated: tuple[Spins | None, float] = (None, math.inf)
        self.start(np.zeros(form.n, np.int32) if labels is None else labels)

    def start(self, labels: Any) -> None:
        """Take labels as the best ones, at any cost."""
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

    @property
    def shown_cost(self) -> float:
        """The energy of the best labels."""
        return self.cost

    def offer(self, labels: Any, cost: float | None = None) -> bool:
        """Take labels that another method found; return whether they lead to a new best labeling.

        `cost` is part of the common interface of searches; here the energy is recomputed.
        """
        spins = self._inner(labels)
        self.planner.wait(spins)
        return self._take(spins)

    def run(self, stopping: Stopping, patience: int | None = None, serve: Callable[[], object] | None = None) -> None:
        """Search until stopped, or for `patience` rounds in a row without improvement; may be called again.

        Rounds count as iterations. `serve` is called about every 50 ms. If elimination has left no variable, there is
        nothing to do.
        """
        self.stopping, self.serve = stopping, serve
        before = self.best, self.energy, self.cost
        stopping.record(self.cost)
        if self.q.n == 0 or stopping.check(self.cost):
            return
        try:
            if self.rounds == 0:
                self._take(self.walker.descend(self.best, stopping.child(plus=math.inf)))
            self.rounds_until(stopping, patience)
        finally:
            if self.cost > before[2]:  # by rounding
                self.best, self.energy = before[:2]

    def plan(self) -> list[Any]:
        """The tasks of a round."""
        self._begun, remaining = self.stopping.seconds, self.stopping.remaining
        # A round that ends too late is worth nothing.
        affordable = math.inf if remaining is None else remaining / self.pace
        rng = np.random.default_rng([self.seed, self.rounds])
        tasks: list[Any] = self.planner.plan(self.best, affordable, rng)
        return tasks

    def perform(self, task: Any, stopping: Stopping) -> Spins:
        """Do one task."""
        spins: Spins = self.planner.perform(task, stopping)
        return spins

    def take(self, task: Any, found: Spins) -> bool:
        """Let the best labeling take over regions of another one."""
        better = self._take(found)
        if better:
            self.stopping.record(self.shown_cost)
        return better

    def learn(self, tasks: Sequence[Any], found: Sequence[Spins]) -> None:
        """Measure the time of sweeps, and give the results of all tasks to the planner."""
        self.planner.finish(tasks, found)
        self.pace = max(0.5 * self.pace, (self.stopping.seconds - self._begun) / tasks[0].sweeps)

    def _take(self, spins: Spins) -> bool:
        """Let the best labeling take over the regions in which another one is better; return whether there were any."""
        if self.parts:
            spins = better_parts(self.walker, self.best, spins)
        energy = self.walker.energy(spins)
        if energy >= self.energy:
            return False
        self.best, self.energy = spins, energy
        return True

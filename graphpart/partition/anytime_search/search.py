"""Search: simulated annealing, recombination and populations, for as long as there is time.

The start is the fixed point of greedy joining and Kernighan-Lin; where elements have few neighbours, of its form for
pairs of subsets, which is faster there and ends lower. A round is TASKS tasks, which run side by side and know nothing
of each other. There are two kinds of rounds.

In a round of annealing, three tasks anneal: one run of simulated annealing (see annealing.py), or several shorter ones,
with one of several heats, from the best partition or, where there is time to forget it, from all elements apart or all
together. What the runs of a task are better at in different regions (see recombination.py) adds up. The fourth task
recombines two of the best partitions.

Once annealing finds nothing better, or after some rounds, every second round is one of populations (see population.py),
if the problem is small enough for them. Three begin with partitions annealed from all elements apart, or together, so
that they know nothing of what was found before; the fourth with the best partitions found, most of which such
populations have left.

Then, task by task, the regions in which the best partition is better are taken over from it, and the result joins the
pool of the best partitions, all of different costs. When some rounds find nothing better, annealing becomes slower, and
populations larger.

The random numbers of a task follow from the seed, the number of the round and of the task; so the result after a number
of rounds is the same on any number of threads.

No single heat is best: cluster editing on sparse graphs needs a hotter start than random complete graphs, so tasks take
turns. Nor is slow annealing: on random complete graphs and in cluster editing it ends again and again in the broadest
valley, not the deepest. Many short runs find the latter sooner, and many populations much sooner.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphpart.common.rounds import Saver, attend, check_seed_and_threads
from graphpart.machine import processors
from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.checkpoint import saved
from graphpart.partition.anytime_search.population import best_of_population
from graphpart.partition.anytime_search.recombination import best_of_regions, recombined
from graphpart.partition.bounds.trivial_bound import trivial_bound
from graphpart.partition.exact_solvers.brute_force import brute_force
from graphpart.partition.local_search.greedy_joining import joined
from graphpart.partition.local_search.kernighan_lin import improve_by_sequences
from graphpart.partition.local_search.kernighan_lin_pairs import improve_by_pairs
from graphpart.partition.problem import Labels, SetPartition, as_problem, canonical
from graphpart.partition.problem.finish import finish
from graphpart.partition.problem.labels import start_of
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["search"]

TASKS = 4  # of a round; not the number of threads, on which the result must not depend
POOL = 12  # partitions kept, and no more than there are pairs for each element: they take less memory than those
PATIENCE = 12  # rounds without improvement, after which a run without any limit ends
SMALL = 10  # elements up to which brute force takes no time
WORK = 2e7  # nanoseconds of annealing in a task at first
SWEEPS = (100, 1000)  # fewest and most sweeps of annealing at first
FEWEST, LONGEST = 30, 5e9  # sweeps, where more would take so many nanoseconds
SHORTEST = 60  # sweeps of each run where a task is many
HEATS = (0.3, 1.0, 0.1, 5.0)  # in turn; which is best depends on the costs, see annealing.py
FEW, FEW_HEATS = 300, (0.1, 0.3, 0.03, 0.01)  # with so few sweeps, more heat, or another start, cannot be got rid of
GRID_HEATS = (0.01, 0.03, 0.01, 0.1)  # where elements have few neighbours, still less of it
BY_PAIRS = 8  # neighbours on average, below which Kernighan-Lin on pairs of subsets is faster and ends lower
COOL = 0.05  # heat after recombination
YOUNG, MOST_YOUNG, YOUNG_HEAT = 3, 3000, 0.3  # sweeps for each element, of each of the first members of a population
LARGEST = 1e10  # nanoseconds of these, with which there are populations
MEMBERS, FEWEST_MEMBERS, SHARE = 16, 4, 1 / 16  # of a population: a share of all elements, within limits
SLOWER, SLOWER_LATER = 4, 16  # rounds in a row without improvement, after which all takes longer
ALONE = 16  # rounds before populations begin, unless two in a row find nothing better before


@interruptible
def search(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Search for the best partition that time allows.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    initial : Result, labels, mapping or list of sets, optional
        The partition to start from, which Kernighan-Lin improves first; default: the fixed point of greedy joining.
        Elements that it leaves out start alone.
    time_limit : float, optional
        Seconds. Without it, and without `max_iterations`, the search ends after 12 rounds without improvement.
    max_iterations : int, optional
        Number of rounds.
    target : float, optional
        Stop as soon as the cost is at most this. Which partition reaches it first may depend on the number of threads.
    seed : int, optional
        Of the random numbers; default 0. The same seed and number of rounds give the same result.
    threads : int, optional
        Number of threads, of which at most 4 are used; default: as many as there are processors for this process.
    checkpoint : str or path-like, optional
        A file of labels. If it exists, the search starts from it, unless `initial` is better. The best labels
        are written to it about once a second while the search runs, and at its end; the best lower bound of all runs
        goes into ``checkpoint.bound`` beside it.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms and after every improvement; a true return value stops the run.

    Returns
    -------
    PartitionResult
        With status ``optimal`` if no pair that repels is joined and none that attracts is cut, or if there are at most
        10 elements; else ``feasible`` or why the search was stopped. `iterations` counts rounds; `history` has the best
        cost over time.

    Raises
    ------
    InvalidProblem, InvalidPartition, InvalidOption
        If an argument is not as described.
    FormatError
        If the checkpoint cannot be read, or is of another problem.

    Notes
    -----
    Memory: for dense problems the matrix in 32-bit integers, and for each thread an integer for each element and
    subset; for sparse ones the pairs as compressed rows, and O(n) for each thread. A thread that recombines has the
    problem of what two partitions agree on, too: at most as large as the whole.

    Examples
    --------
    >>> import graphpart as gp
    >>> p, truth = gp.generate.planted_partition(60, 6, sigma=1.0, seed=1)
    >>> r = search(p, max_iterations=2, seed=3)
    >>> r.cost <= p.evaluate(truth), r.iterations
    (True, 2)
    """
    stopping = Stopping(time_limit, max_iterations, target, callback)
    check_seed_and_threads(seed, threads)
    p = as_problem(problem)
    given = better_start(p, initial, checkpoint)
    start = joined(p, stopping) if given is None else given
    blocks = p.blocks()
    q = p.contract(blocks) if len(p.must_join) else p
    labels = canonical(start[np.unique(blocks, return_index=True)[1]]) if q is not p else start
    within = p.evaluate_labels(blocks) if q is not p else 0.0
    patience = PATIENCE if time_limit is None and max_iterations is None else None
    state = _Search(q, labels, within, seed or 0, threads or processors(), stopping)
    if checkpoint is not None:
        state.saver = Saver(checkpoint, lambda labels, path: _write(p, labels[blocks], path))
    status = state.run(patience)
    cost = p.evaluate_labels(start)
    bound = state.cost if status == Status.OPTIMAL else -np.inf
    result = finish(p, state.labels[blocks], stopping, "search", status, lower_bound=bound, start=(start, cost))
    return saved(p, result, checkpoint, labels=False)


def _write(p: SetPartition, labels: Labels, path: str) -> None:
    from graphpart.files.labels import write_labels

    write_labels(labels, path, p)


def better_start(p: SetPartition, initial: Any, checkpoint: str | os.PathLike[str] | None) -> Labels | None:
    """The better one of the initial partition and the checkpoint, of those that there are."""
    given = []
    if initial is not None:
        given.append(start_of(p, initial))
    if checkpoint is not None and os.path.exists(checkpoint):
        from graphpart.files.labels import read_labels

        given.append(start_of(p, read_labels(os.fspath(checkpoint), p)))
    return min(given, key=p.evaluate_labels, default=None)


@dataclass(frozen=True)
class _Task:
    start: Labels
    other: Labels | None  # to recombine with
    runs: int  # of annealing, one after the other
    sweeps: int  # of each
    heat: float
    seed: int
    restart: bool = False  # some runs from all elements apart, or together
    population: bool = False  # runs are the first members of one
    elite: list[Labels] | None = None  # or these are


class _Search:
    """The state of a search on a problem without required joins."""

    def __init__(
        self, p: SetPartition, labels: Labels, within: float, seed: int, threads: int, stopping: Stopping
    ) -> None:
        self.p = p
        self.within = within  # cost of the required joins, which p does not know
        self.seed = seed
        self.threads = threads
        self.stopping = stopping
        self.pool = [(p.evaluate_labels(labels), labels)]  # ascending
        self.most = max(3, min(POOL, p.m // max(1, p.n)))
        self.by_pairs = not p.is_dense and 2 * p.m < BY_PAIRS * p.n
        self.level = 0
        self.mature = False  # time for populations
        self.idle = 0
        self.saver: Saver | None = None

    @property
    def cost(self) -> float:
        """The cost of the best partition, required joins included."""
        return self.pool[0][0] + self.within

    @property
    def labels(self) -> Labels:
        """The best partition."""
        return self.pool[0][1]

    def run(self, patience: int | None) -> Status:
        """Search until stopped, or for as long as patience lasts; the status if not stopped."""
        stopping, p = self.stopping, self.p
        stopping.record(self.cost)
        try:
            if p.n < 2:
                return Status.OPTIMAL
            if not stopping.check(self.cost):
                child = Stopping(stopping.remaining, None, stopping.target - self.within, self._report)
                self._take(self._improve(self.labels, child))
                if child.reason == Status.INTERRUPTED:
                    stopping.stop(Status.INTERRUPTED)
            if not stopping.check(self.cost):
                if p.n <= SMALL:
                    found = brute_force(p, time_limit=stopping.remaining)
                    self._take(found.labels)
                    if found.status == Status.OPTIMAL:
                        return Status.OPTIMAL
                elif self.pool[0][0] <= trivial_bound(p):
                    return Status.OPTIMAL
                self._rounds(patience)
        finally:
            if self.saver:
                self.saver.save(self.labels, now=True)
        return Status.FEASIBLE

    def _rounds(self, patience: int | None) -> None:
        stopping = self.stopping
        self.annealer = Annealer(self.p)
        with ThreadPoolExecutor(min(TASKS, self.threads)) as executor:
            while not stopping.check(self.cost) and (patience is None or self.idle < patience):
                improved = self._round(executor, self._plan(stopping.iterations))
                self.idle = 0 if improved else self.idle + 1
                if self.idle and self.idle % (SLOWER_LATER if self.mature else SLOWER) == 0:
                    self.level += 1
                stopping.step(self.cost)

    def _round(self, executor: ThreadPoolExecutor, tasks: list[_Task]) -> bool:
        children = [self._child() for _ in tasks]
        futures = [executor.submit(self._perform, *pair) for pair in zip(tasks, children, strict=True)]

        def take(k: int, found: Labels) -> bool:
            return self._take(found, tasks[k].population)

        return attend(futures, children, self.stopping, take, self._check)

    def _report(self, _: float, cost: float) -> bool:
        """Serve the callback while a part of the run has this cost."""
        return self.stopping.check(cost + self.within)

    def _child(self) -> Stopping:
        """For a part of the run: it does not know the cost of required joins, and calls nobody back."""
        return Stopping(self.stopping.remaining, None, self.stopping.target - self.within)

    def _check(self) -> bool:
        if self.saver:
            self.saver.save(self.labels)
        return self.stopping.check(self.cost)

    def _plan(self, number: int) -> list[_Task]:
        rng = np.random.default_rng([self.seed, number])
        seeds = rng.integers(2**62, size=TASKS).tolist()
        work = self.annealer.work(self.labels)
        fewest, most = max(FEWEST, min(SWEEPS[0], LONGEST / work)), SWEEPS[1]
        sweeps = int(max(fewest, min(most, WORK / work)) * 2 ** (self.level / 2))
        restart = sweeps > FEW
        heats = HEATS if sweeps > FEW else GRID_HEATS if self.by_pairs else FEW_HEATS
        self.mature = self.mature or self.idle >= 2 or number >= ALONE
        young = min(MOST_YOUNG, YOUNG * self.p.n)
        if self.mature and number % 2 and MEMBERS * young * work <= LARGEST:
            size = int(max(FEWEST_MEMBERS, min(MEMBERS, SHARE * self.p.n)) * 2 ** (self.level / 2))
            tasks = [_Task(self.labels, None, size, young, YOUNG_HEAT, seed, True, True) for seed in seeds]
            if len(self.pool) > 2:
                tasks[-1] = replace(tasks[-1], elite=[labels for _, labels in self.pool])
            return tasks
        tasks = []
        for k, seed in enumerate(seeds):
            heat = heats[(k + 3 * number) % len(heats)]
            if k < 3 or len(self.pool) < 3:
                runs = 2 ** int(rng.integers(1 + max(0, (sweeps // SHORTEST).bit_length() - 1)))
                tasks.append(_Task(self.labels, None, runs, sweeps // runs, heat, seed, restart))
            else:
                i, j = sorted(rng.choice(len(self.pool), 2, replace=False).tolist())
                tasks.append(_Task(self.pool[i][1], self.pool[j][1], 1, sweeps, heat, seed))
        return tasks

    def _perform(self, task: _Task, stopping: Stopping) -> Labels:
        """Runs in a thread of its own: reads the problem, changes nothing."""
        annealer, labels = self.annealer, task.start
        if stopping.check(np.inf):
            return labels
        if task.other is not None:
            cool, sweeps = annealer.temperatures(labels, COOL), (task.sweeps, task.sweeps)
            labels = recombined(annealer, labels, task.other, task.heat, cool, sweeps, task.seed, stopping)
        else:
            temperatures = annealer.temperatures(labels, task.heat)

            def anneal(k: int) -> Labels:
                start, kind = task.start, (task.seed + k) % 4
                if task.restart and (kind > 1 or task.population):
                    together = kind % 2 == 1 and not self.p.has_must_cut
                    start = np.zeros_like(start) if together else np.arange(self.p.n, dtype=np.int32)
                return annealer.run(start, task.sweeps, temperatures, task.seed + k, stopping)

            if task.elite:
                labels = best_of_population(annealer, task.elite.__getitem__, len(task.elite), task.seed, stopping)
            elif task.population:
                labels = best_of_population(annealer, anneal, task.runs, task.seed, stopping)
            else:
                labels = anneal(0)
                for k in range(1, task.runs):
                    if stopping.check(np.inf):
                        break
                    labels = best_of_regions(self.p, labels, anneal(k))
        return self._improve(labels, stopping) if self.by_pairs and not stopping.check(np.inf) else labels

    def _improve(self, labels: Labels, stopping: Stopping) -> Labels:
        return canonical((improve_by_pairs if self.by_pairs else improve_by_sequences)(self.p, labels, stopping))

    def _take(self, labels: Labels, independent: bool = False) -> bool:
        """Let labels join the pool, better with the best regions of the best partition; whether they are the best.

        What does not come from the best partition may join as it is.
        """
        best, labels = self.pool[0][0], canonical(labels)
        for each in [best_of_regions(self.p, self.labels, labels)] + [labels] * independent:
            cost = self.p.evaluate_labels(each)
            if cost < np.inf and all(abs(cost - other) > self.p.tolerance for other, _ in self.pool):
                self.pool.append((cost, each))
        self.pool.sort(key=lambda member: member[0])
        del self.pool[self.most :]
        if self.pool[0][0] < best:
            self.stopping.record(self.cost)
        return self.pool[0][0] < best

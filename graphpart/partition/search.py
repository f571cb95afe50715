"""Search: simulated annealing and recombination of the best partitions found, for as long as there is time."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption
from graphpart.partition.annealing import Annealer
from graphpart.partition.greedy_joining import join
from graphpart.partition.kernighan_lin import improve_by_sequences
from graphpart.partition.local_search import finish
from graphpart.partition.problem import Labels, SetPartition, as_problem, canonical
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["search"]

TASKS = 4
POOL = 8
PATIENCE = 24
BASE = 2e7
PARAMS = dict(explore=0.3, again=0.1, cross=0.3, polish=0.03)


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
    stopping = Stopping(time_limit, max_iterations, target, callback)
    p = as_problem(problem)
    blocks = p.blocks()
    q = p if not len(p.must_join) else p.contract(blocks)
    if initial is None:
        labels = join(q, np.arange(q.n, dtype=np.int32), Stopping(stopping.remaining))
    else:
        given = p.labels(initial)
        p.check_feasible(given)
        labels = canonical(given[np.unique(blocks, return_index=True)[1]])
    labels = improve_by_sequences(q, labels, Stopping(stopping.remaining)) if q.n else labels
    if q.n > 1:
        _Search(q, canonical(labels), seed or 0, threads or len(os.sched_getaffinity(0)), stopping,
                p.evaluate_labels(labels[blocks]) - q.evaluate_labels(labels)).run()
        labels = _Search.last.pool[0].labels
    return finish(p, labels[blocks], stopping, "search", Status.FEASIBLE)


@dataclass(order=True)
class Member:
    cost: float
    labels: Labels = field(compare=False)


@dataclass
class Task:
    kind: str
    start: Labels
    other: Labels | None
    sweeps: int
    heat: float
    seed: int


class _Search:
    def __init__(self, p, labels, seed, threads, stopping, constant):
        _Search.last = self
        self.p = p
        self.annealer = Annealer(p)
        self.pool = [Member(p.evaluate_labels(labels), labels)]
        self.seed = seed
        self.threads = threads
        self.stopping = stopping
        self.constant = constant
        self.level = 0
        self.idle = 0
        self.log = {}

    def run(self):
        st = self.stopping
        st.record(self.pool[0].cost + self.constant)
        with ThreadPoolExecutor(self.threads) as executor:
            while not st.check(self.pool[0].cost + self.constant):
                tasks = self.plan(st.iterations)
                children = [Stopping(st.remaining, None, st.target - self.constant) for _ in tasks]
                futures = [executor.submit(self.perform, t, c) for t, c in zip(tasks, children)]
                self.attend(futures, children)
                improved = False
                for task, f in zip(tasks, futures):
                    improved |= self.take(task, f.result())
                self.idle = 0 if improved else self.idle + 1
                if self.idle and self.idle % 2 == 0:
                    self.level += 1
                if improved:
                    st.record(self.pool[0].cost + self.constant)
                st.step(self.pool[0].cost + self.constant)

    def attend(self, futures, children):
        st = self.stopping
        while True:
            try:
                if not wait(futures, timeout=0.05).not_done:
                    return
                ended = st.check(self.pool[0].cost + self.constant)
            except KeyboardInterrupt:
                st.stop(Status.INTERRUPTED)
                ended = True
            if ended:
                for c in children:
                    c.stop(st.reason)

    def plan(self, round):
        rng = np.random.default_rng([self.seed, round])
        best = self.pool[0].labels
        sweeps = max(30, int(BASE * 2 ** (self.level / 2) / self.annealer.work(best)))
        seeds = rng.integers(2**62, size=TASKS).tolist()
        P = PARAMS
        tasks = [Task("explore", best, None, sweeps, P["explore"], seeds[0]),
                 Task("again", best, None, sweeps, P["again"], seeds[1])]
        for s in seeds[2:]:
            if len(self.pool) < 3:
                tasks.append(Task("explore", best, None, sweeps, P["explore"], s))
            else:
                i, j = sorted(rng.choice(len(self.pool), 2, replace=False).tolist())
                tasks.append(Task("cross", self.pool[i].labels, self.pool[j].labels, sweeps, P["cross"], s))
        return tasks

    def perform(self, task, stopping):
        if stopping.check(np.inf):
            return task.start
        if task.kind == "cross":
            both = canonical(np.unique(task.start * np.int64(self.p.n) + task.other, return_inverse=True)[1])
            small = self.p.contract(both)
            first = np.unique(both, return_index=True)[1]
            labels = Annealer(small).run(canonical(task.start[first]), task.sweeps, task.heat, task.seed, stopping)
            labels = canonical(labels[both])
            labels = self.annealer.run(labels, task.sweeps, PARAMS["polish"], task.seed, stopping)
        else:
            labels = self.annealer.run(task.start, task.sweeps, task.heat, task.seed, stopping)
        if self.p.matrix is not None:
            labels = canonical(improve_by_sequences(self.p, labels, stopping))
        return labels

    def take(self, task, labels):
        cost = self.p.evaluate_labels(labels)
        best = self.pool[0].cost
        if self.p.matrix is None:
            labels = best_of_regions(self.p, self.pool[0].labels, labels)
            cost = self.p.evaluate_labels(labels)
        r = self.log.setdefault(task.kind, [0, 0, 0.0])
        r[0] += 1
        improved = cost < best - self.p.tolerance
        if improved:
            r[1] += 1
            r[2] += best - cost
        if not any(abs(cost - m.cost) <= self.p.tolerance for m in self.pool) and cost < np.inf:
            self.pool.append(Member(cost, labels))
            self.pool.sort()
            del self.pool[POOL:]
        return improved


def best_of_regions(p, x, y):
    """Where no subset of either leaves a region, the better of two partitions there."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    k = int(x.max()) + 1
    total = k + int(y.max()) + 1
    graph = coo_array((np.ones(p.n, np.int8), (x, k + y)), shape=(total, total))
    region = connected_components(graph, directed=False)[1][x]
    u, v, cost = p.pairs()
    xs, ys = x[u] == x[v], y[u] == y[v]
    size = int(region.max()) + 1
    gain = np.bincount(region[u[ys]], cost[ys], size) - np.bincount(region[u[xs]], cost[xs], size)
    better = gain < 0
    return canonical(np.where(better[region], k + y, x).astype(np.int64) if total <= p.n else
                     np.unique(np.where(better[region], k + y, x), return_inverse=True)[1])

"""Fusion moves (Beier, Hamprecht & Kappes 2015), for problems with few pairs for each element.

A step makes another partition, the proposal. Elements that are together in both the proposal and the best partition are
contracted, and the small problem that is left is annealed. In each region, the best of the three partitions is taken.
The result is improved where it has changed, by pairwise Kernighan-Lin or, with a background, by multilevel moves
(levels.py). A proposal comes from

- greedy joining of costs with normal noise, of one of several strengths;
- few sweeps of annealing from all elements apart, with one of several heats; or
- an iteration of multilevel moves from all elements apart, in random order (this is a separate strategy).

The first is better on grids and region graphs; the second is far better on random graphs. Proposals are chosen at
random, with a probability that grows with their gains per nanosecond of work.

Large problems are divided: each task works on a region of its own, a union of subsets of the best partition that grows
breadth first from a random subset. The gains of the tasks in different regions add up, and the arrays of a region stay
in the caches.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from graphpart.common.credit import Credit
from graphpart.partition.anytime_search.annealing import RUN, Annealer
from graphpart.partition.anytime_search.annealing_rounds import POLISH
from graphpart.partition.anytime_search.levels import polished, proposal_by_levels
from graphpart.partition.anytime_search.parameters import FusionParameters
from graphpart.partition.anytime_search.recombination import CONTRACTION, best_of_regions, common_sets
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.partition.local_search import _sparse_joining
from graphpart.partition.local_search.improve import repels
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.forms import fitting
from graphpart.stopping import Stopping

__all__ = ["FusionRounds", "FusionTask", "LevelRounds", "fused", "regions"]

JOINING, LEVELS = 150.0, 500.0  # nanoseconds per element and pair: of joining; of multilevel moves


@dataclass(frozen=True)
class FusionTask(Task):
    """Some steps of fusion, with one kind of proposal."""

    arm: int
    elements: NDArray[np.int64] | None  # of a region; all if None
    steps: int
    small_heat: float
    others: list[Labels] = field(default_factory=list)  # of the pool, to be fused with first


class FusionRounds:
    """The strategy; see above.

    Parameters
    ----------
    turn : Turn
        The turn whose annealer is used.
    parameters : FusionParameters
    share : float
    """

    name = "fusion"

    def __init__(self, turn: Turn, parameters: FusionParameters, share: float) -> None:
        self.annealer, self.parameters, self.share = turn.annealer, parameters, share
        self.arms = self._arms()
        self.credit = Credit(len(self.arms), kept=0.7, floor=0.1)

    def _arms(self) -> list[tuple[str, float, int]]:
        """The kinds of proposals, with strength and number of sweeps."""
        a = self.parameters
        arms: list[tuple[str, float, int]] = [("annealing", heat, a.sweeps) for heat in a.heats]
        if repels(self.annealer.p):
            arms = [*(("noise", sigma, 0) for sigma in a.noises), *arms]
        return arms

    def ready(self, turn: Turn) -> bool:
        return True

    def first_work(self, turn: Turn) -> float:
        part = min(1.0, self.parameters.region / max(1, self.annealer.p.n))
        return len(turn.seeds) * max(turn.first_work, part * max(map(self._work, range(len(self.arms)))))

    def plan(self, turn: Turn) -> list[FusionTask]:
        a, p, rng, count = self.parameters, self.annealer.p, turn.rng, len(turn.seeds)
        size = min(a.region, -(-p.n // count))
        others = [labels for _, labels in turn.pool.members[1:]]
        parts: list[NDArray[np.int64] | None] = [None] * count
        if p.n > a.region:
            parts = [*regions(p, turn.pool.labels, count, size, rng)]
        tasks = []
        for seed, part in zip(turn.seeds, parts, strict=True):
            arm = self.credit.choose(rng)
            n = p.n if part is None else max(1, len(part))  # no region is left if subsets are huge
            steps = int(5 * turn.work / (self._work(arm) * n / max(1, p.n)))
            heat = a.small_heats[int(rng.integers(len(a.small_heats)))]
            some = rng.permutation(len(others))[:2].tolist() if part is None else []
            task = FusionTask(turn.pool.labels, seed, arm, part, max(1, min(steps, a.steps)), heat)
            tasks.append(replace(task, others=[others[k] for k in some]))
        return tasks

    def _work(self, arm: int) -> float:
        """The estimated nanoseconds of a step on all elements."""
        p, (kind, _, sweeps) = self.annealer.p, self.arms[arm]
        anneal = 8.0 * sweeps * (p.n + 2 * p.m) + 8.0 * self.parameters.sweeps * (p.n + p.m)
        return ((LEVELS if kind == "levels" else JOINING) + POLISH + 8 * CONTRACTION) * (p.n + p.m) + anneal

    def perform(self, task: FusionTask, stopping: Stopping) -> Found:
        p, labels = self.annealer.p, task.start
        if task.elements is not None:
            if len(task.elements) < 2:
                return Found(labels, RUN, arm=task.arm)
            p, labels = p._restrict(task.elements), canonical(labels[task.elements])
            stopping = stopping.child(plus=np.inf)
        annealer = Annealer(p) if p is not self.annealer.p else self.annealer.copy()
        rng = np.random.default_rng(task.seed)
        for other in task.others:
            labels = self._step(annealer, labels, other, task.small_heat, rng, stopping)
        for step in range(task.steps):
            if stopping.check(np.inf):
                break
            proposal = self._proposal(annealer, labels, self.arms[task.arm], rng, stopping)
            if stopping.check(np.inf):
                break
            before, labels = labels, self._step(annealer, labels, proposal, task.small_heat, rng, stopping)
            if stopping.check(np.inf):
                break
            labels = polished_changes(annealer, before, labels, stopping, step == task.steps - 1)
        if task.elements is not None:
            whole = task.start.astype(np.int64)
            whole[task.elements] = len(whole) + labels
            labels = canonical(whole)
        return Found(labels, annealer.spent, independent=task.elements is None, arm=task.arm)

    def _proposal(
        self, annealer: Annealer, labels: Labels, arm: tuple[str, float, int], rng: np.random.Generator,
        stopping: Stopping,
    ) -> Labels:  # fmt: skip
        p, (kind, strength, sweeps) = annealer.p, arm
        if kind == "noise":
            annealer.spent += JOINING * (p.n + p.m)
            return noisy_joining(p, strength, rng, stopping)
        if kind == "levels":
            annealer.spent += LEVELS * (p.n + p.m)
            return proposal_by_levels(p, stopping, rng)
        alone = np.arange(p.n, dtype=np.int32)
        temperatures = annealer.temperatures(labels, strength)
        return annealer.run(alone, sweeps, temperatures, int(rng.integers(2**62)), stopping)

    def _step(
        self, annealer: Annealer, labels: Labels, proposal: Labels, heat: float, rng: np.random.Generator,
        stopping: Stopping,
    ) -> Labels:  # fmt: skip
        if stopping.check(np.inf):
            return labels
        return fused(annealer, labels, proposal, heat, 2 * self.parameters.sweeps, int(rng.integers(2**62)), stopping)

    def learn(self, found: Found, gain: float) -> None:
        self.credit.learn(found.arm, gain, found.work)


class LevelRounds(FusionRounds):
    """The same strategy with proposals by multilevel moves."""

    name = "multilevel"

    def _arms(self) -> list[tuple[str, float, int]]:
        return [("levels", 0.0, 0)]


def noisy_joining(p: SetPartition, strength: float, rng: np.random.Generator, stopping: Stopping) -> Labels:
    """Greedy joining of costs with normal noise of standard deviation `strength`, in mean absolute costs."""
    u, v, cost = p.pairs()
    finite = np.isfinite(cost)
    mean = float(np.abs(cost[finite]).mean()) if finite.any() else 0.0
    noisy = cost + rng.standard_normal(p.m) * (strength * mean)
    apart = stopping.child(plus=np.inf)  # other costs
    return canonical(_sparse_joining.join_sparse(p.n, u, v, noisy, terms_of(p), p._tolerance, 0.0, apart))


def fused(
    annealer: Annealer, labels: Labels, proposal: Labels, heat: float, sweeps: int, seed: int, stopping: Stopping
) -> Labels:
    """The best partition that recombination makes of two partitions; it is not worse than the first."""
    p = annealer.p
    contraction = Contraction(p, common_sets(p, labels, proposal))
    small = fitting(contraction.problem)
    annealer.spent += 8 * CONTRACTION * (p.n + p.m)
    mine, theirs = contraction.project(labels), contraction.project(proposal)
    if small.n < 2:
        return labels
    other = Annealer(small)
    apart = stopping.child(plus=np.inf)  # pairs on which the two agree cost something, too
    found = other.run(mine, sweeps, other.temperatures(mine, heat), seed, apart)
    annealer.spent += other.spent
    return canonical(contraction.lift(best_of_regions(small, best_of_regions(small, mine, theirs), found)))


def polished_changes(annealer: Annealer, before: Labels, labels: Labels, stopping: Stopping, thorough: bool) -> Labels:
    """Labels improved as :func:`~.levels.polished` does, in changed subsets and all that are linked to them.

    If these are more than half of all elements, all elements are improved. The former labels were improved already.
    """
    p = annealer.p
    elements = around_changes(p, before, labels)
    if not len(elements):
        return labels
    if 2 * len(elements) > p.n:
        annealer.spent += POLISH * (p.n + p.m)
        return best_of_regions(p, labels, polished(p, labels, stopping, thorough))
    q = p._restrict(elements)
    annealer.spent += POLISH * (q.n + q.m) + 2 * CONTRACTION * (p.n + p.m)
    mine = canonical(labels[elements])
    whole = labels.astype(np.int64)
    whole[elements] = p.n + best_of_regions(q, mine, polished(q, mine, stopping.child(plus=np.inf), thorough))
    return canonical(whole)


def around_changes(p: SetPartition, before: Labels, labels: Labels) -> NDArray[np.int64]:
    """The elements of all new subsets, and of all subsets linked to these, ascending."""
    _, place, sizes = np.unique(before * np.int64(p.n) + labels, return_inverse=True, return_counts=True)
    sizes = sizes[place]
    changed = (np.bincount(labels)[labels] != sizes) | (np.bincount(before)[before] != sizes)
    u, v, _ = p.pairs()
    near = np.zeros(int(labels.max()) + 1, bool)
    near[labels[changed]] = near[labels[u[changed[v]]]] = near[labels[v[changed[u]]]] = True
    return np.flatnonzero(near[labels])


def regions(
    p: SetPartition, labels: Labels, count: int, size: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Disjoint unions of subsets, of about `size` elements each, that grow breadth first from random elements.

    O(n + m) for each region at most, in NumPy; each is ascending.
    """
    starts, neighbours, _ = p._rows().arrays
    order = np.argsort(labels, kind="stable")
    begin = np.zeros(int(labels.max()) + 2, np.int64)
    np.cumsum(np.bincount(labels), out=begin[1:])
    taken = np.zeros(len(begin) - 1, bool)
    found = []
    for _ in range(count):
        mine: list[NDArray[np.int64]] = []
        total, tries = 0, 0
        while total < size and tries < 20 and not taken.all():
            tries += 1
            free = np.flatnonzero(~taken)
            new = free[rng.integers(len(free), size=1)]
            while len(new) and total < size:
                total_of = np.cumsum(begin[new + 1] - begin[new])
                new = new[: int(np.searchsorted(total_of, size - total)) + 1]
                taken[new] = True
                elements = _slices(order, begin[new], begin[new + 1])
                mine.append(elements)
                total += len(elements)
                around = np.unique(labels[_slices(neighbours, starts[elements], starts[elements + 1])])
                new = around[~taken[around]].astype(np.int64)
        found.append(np.sort(np.concatenate(mine)) if mine else np.zeros(0, np.int64))
    return found


def _slices(values: NDArray[np.generic], begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """Some slices of an array, one after the other."""
    lengths = end - begin
    at = np.arange(int(lengths.sum())) + np.repeat(begin - np.cumsum(lengths) + lengths, lengths)
    found: NDArray[np.int64] = values[at].astype(np.int64)
    return found

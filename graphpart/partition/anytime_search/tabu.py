"""Rounds of tabu search (Glover 1989), for problems with few elements.

Each task makes a number of steps in the table of all moves of one element (see the kernel). It starts from the best
partition, from a child of two of the best partitions, or from all elements apart. Tabu search moves across plateaus,
where many moves do not change the cost, and leaves narrow local optima, which annealing leaves only by chance. The
result of a task is not worse than its start.

If some pairs repel far more than an element gains by being in its subset, hardly any sequence of moves that keeps these
pairs apart leads from one good partition to another. Moves are then chosen by a guide: the same costs, limited to a
multiple of the average gain of elements. The partitions on the way need not keep all such pairs apart, but the best
partition is chosen by the true costs. This is strategic oscillation (Glover 1989) with the penalties of constrained
colouring. No multiple is best on all problems, so tasks alternate between several.

If a pair costs more than the sum of all attraction of one of its elements, its cost is lowered to slightly more than
this sum (see annealing.py), so that costs fit into 32-bit integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.anytime_search import _tabu
from graphpart.partition.anytime_search.annealing import RUN, as_integers
from graphpart.partition.anytime_search.parameters import TabuParameters
from graphpart.partition.anytime_search.strategy import Found, Task, Turn
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.forms import matrix_of
from graphpart.stopping import Stopping

__all__ = ["TabuRounds", "TabuTask", "crossed"]

ENTRY = 0.3  # nanoseconds for an entry of the table


@dataclass(frozen=True)
class TabuTask(Task):
    """So many steps from the start."""

    steps: int
    tenure: int
    patience: int
    independent: bool


class TabuRounds:
    """The strategy; see above.

    Parameters
    ----------
    turn : Turn
        For the problem.
    parameters : TabuParameters
    share : float
    """

    name = "tabu"
    due = False

    def __init__(self, turn: Turn, parameters: TabuParameters, share: float) -> None:
        self.p, self.parameters, self.share = turn.annealer.p, parameters, share
        self.matrix, self.scale = as_integers(matrix_of(self.p))
        self.guides = self._guides(-2.0 * turn.pool.cost / max(1, self.p.n))

    def _guides(self, gained: float) -> NDArray[np.int32]:
        """Matrices with limited costs, if some costs are larger than the limit, which depends on the average gain."""
        limits = [round(level * gained * self.scale) for level in self.parameters.levels if gained > 0]
        guides = [np.minimum(self.matrix, limit) for limit in limits if 0 < limit < self.matrix.max(initial=0)]
        return np.stack(guides if len(guides) == len(self.parameters.levels) else [self.matrix])

    def ready(self, turn: Turn) -> bool:
        return True

    def first_work(self, turn: Turn) -> float:
        return 0.0  # problems are small: it need not wait

    def plan(self, turn: Turn) -> list[TabuTask]:
        a, n, pool = self.parameters, self.p.n, turn.pool
        step = RUN / 100 + ENTRY * n * (int(pool.labels.max()) + 4)
        steps = max(10 * n, int(a.work * 2 ** (turn.level / 2) / step))
        tasks = []
        for k, seed in enumerate(turn.seeds):
            start = self._start(k, turn)
            tenure = a.least + int(n * turn.rng.uniform(*a.tenures))
            patience = int(n * turn.rng.uniform(*a.patience))
            tasks.append(TabuTask(start, seed, steps, tenure, patience, k > 0))
        return tasks

    def _start(self, k: int, turn: Turn) -> Labels:
        """The start of the k-th task: the best partition, a child of two of the best, or all elements apart."""
        pool, rng = turn.pool.members, turn.rng
        if k == 0:
            return pool[0][1]
        if len(pool) < 3 or rng.random() < self.parameters.apart:
            return np.arange(self.p.n, dtype=np.int32)
        i, j = rng.choice(len(pool), 2, replace=False).tolist()
        return crossed(self.p, pool[i][1], pool[j][1])

    def perform(self, task: TabuTask, stopping: Stopping) -> Found:
        p = self.p
        cost = p.evaluate_labels(task.start)
        labels, _, work = _tabu.tabu_search(
            self.matrix, self.guides, task.start, task.steps, task.tenure, task.patience, task.seed, cost, self.scale,
            stopping,
        )  # fmt: skip
        labels = canonical(labels)
        if not p.evaluate_labels(labels) < cost:  # integers are rounded, and too coarse for what attracts less
            labels = task.start
        return Found(labels, RUN + ENTRY * work + 50.0 * task.steps, independent=task.independent)

    def learn(self, found: Found, gain: float) -> None:
        pass


def crossed(p: SetPartition, x: Labels, y: Labels) -> Labels:
    """A child of two partitions (Galinier & Hao 1999): the cheapest remaining subset of each of them in turn.

    Elements that a chosen subset contains are removed from both partitions. Elements that are left in the end, since
    nothing attracts them in their subsets, are alone. O(n^2) for each subset.
    """
    n, none = p.n, len(x)
    u, v, cost = p.pairs()
    parents = [x.astype(np.int64), y.astype(np.int64)]
    child = np.arange(n, 2 * n)
    for step in range(n):
        parent = parents[step % 2]
        within = (parent[u] == parent[v]) & (parent[u] != none)
        costs = np.bincount(parent[u[within]], cost[within], n + 1)
        chosen = int(costs.argmin())
        if not costs[chosen] < 0:
            break
        members = parent == chosen
        child[members] = step
        for each in parents:
            each[members] = none
    return canonical(child)

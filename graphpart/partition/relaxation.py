"""The linear relaxation of set partition, by a primal-dual first-order method with cutting planes.

    minimise    c y
    subject to  a_k y <= b_k   for inequalities that every partition satisfies (see `inequalities`)
                0 <= y <= 1    for each pair

Prices l_k >= 0 of any inequalities prove the bound of a `certificate`, whatever y is: no solver has to be believed, and
every iterate has a bound. The iteration is that of Chambolle & Pock 2011 with the diagonal steps of Pock & Chambolle
2011, restarted from its average or its last point, whichever proves more, as in Applegate et al. 2021; each iteration
is a pass over the terms of the inequalities. At each restart, violated inequalities are added, and those with price 0
that are far from tight dropped.

Inequalities: triangles, and 2-partitions with one element on one side (Grötschel & Wakabayashi 1989, 1990), where all
pairs are variables; cycles found along shortest paths (Chopra & Rao 1993) where only those with a cost are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.partition import _cuts, _primal_dual
from graphpart.partition.inequalities import TWO_PARTITION, Inequalities
from graphpart.partition.message_passing import pass_messages
from graphpart.partition.problem import SetPartition
from graphpart.stopping import Stopping

__all__ = ["Relaxation", "solve_relaxation"]

Floats = NDArray[np.float64]
COMPLETE_UP_TO = 40  # elements, up to which all pairs are variables
COMPLETE_FROM = 0.2  # share of pairs with a cost, from which on they are anyway
ITERATIONS = 50  # between two restarts
VIOLATED = 0.02  # by so much a point has to violate an inequality that is added
SLACK = 0.2  # an inequality with price 0 and more room than this is dropped
TRIANGLES, STARS = 4, 0.2  # inequalities added in a round, per variable
LITTLE = 1e-6  # a round that raises the bound by a smaller share of it is idle
IDLE = 12
BASIC = 1  # how HiGHS calls an inequality that is not tight


class Relaxation:
    """The relaxation of a problem without required joins, between two rounds.

    Attributes
    ----------
    u, v, cost : ndarray, shape (m,)
        The variables and their costs; 0 for pairs that must be cut, whose upper bound is 0.
    lower, upper : ndarray of float64, shape (m,)
        Bounds of the variables; may be changed between rounds.
    rows : Inequalities
    prices, y : ndarray of float64
        The current point.
    bound : float
        The best bound that any prices proved so far, for the bounds of the variables as they were then.
    best : (Inequalities, ndarray)
        The inequalities and prices that prove it.
    """

    def __init__(self, p: SetPartition, stopping: Stopping) -> None:
        self.n, self.stopping = p.n, stopping
        self.u, self.v, cost = p.pairs()
        used = np.count_nonzero(cost)
        possible = p.n * (p.n - 1) // 2
        self.complete = p.n <= COMPLETE_UP_TO or used >= COMPLETE_FROM * possible
        if self.complete and not p.is_dense:
            matrix = np.zeros((p.n, p.n))
            matrix[self.u, self.v] = cost
            self.u, self.v = (index.astype(np.int32) for index in np.triu_indices(p.n, 1))
            cost = matrix[self.u, self.v]
        elif not self.complete:
            kept = np.flatnonzero(cost)
            self.u, self.v, cost = self.u[kept], self.v[kept], cost[kept]
        self.keys = self.u.astype(np.int64) * p.n + self.v
        cut = cost == np.inf
        self.cost = np.where(cut, 0.0, cost)
        self.lower, self.upper = np.zeros(len(cost)), np.where(cut, 0.0, 1.0)
        self.y = np.where(self.cost < 0, 0.5, 0.0)
        self.scale = 0.3 * float(np.abs(self.cost).mean()) if len(cost) and self.cost.any() else 1.0
        self.rows, self.prices = Inequalities.none(), np.zeros(0)
        self.row_status = np.zeros(0, np.int8)
        self._write_out()
        self.bound = -np.inf
        self.best = (self.rows, self.prices)
        self.rounds = self.cuts = 0
        self.violation = np.inf

    def start(self, rows: Inequalities, prices: Floats) -> None:
        """Begin with given inequalities and prices."""
        self.rows, self.prices = rows, prices.copy()
        self.row_status = np.full(len(prices), BASIC, np.int8)
        self._write_out()
        self.offer(self.prices)

    def _write_out(self) -> None:
        starts, terms, signs, self.rhs = self.rows.terms(self.n)
        pairs = np.searchsorted(self.keys, terms)
        shape = (len(self.rows), len(self.keys))
        from scipy.sparse import csr_array  # not at the top: import graphpart loads no SciPy

        self.matrix = csr_array((signs.astype(np.float64), pairs, starts), shape=shape)
        self.transposed = self.matrix.T.tocsr()
        self._row_steps = self.scale / np.maximum(np.diff(starts), 1)
        self._pair_steps = 1.0 / (self.scale * np.maximum(np.diff(self.transposed.indptr), 1))

    def proves(self, prices: Floats) -> float:
        """The bound that prices prove, less all that rounding may have added to it."""
        reduced = self.reduced(prices)
        parts = np.where(reduced < 0, reduced * self.upper, reduced * self.lower)
        paid = float(prices @ self.rhs)
        weight = float(np.abs(self.cost).sum() + prices @ np.diff(self.matrix.indptr) + prices @ self.rhs)
        deepest = int(np.diff(self.transposed.indptr).max(initial=0)) + 64
        return float(parts.sum()) - paid - 2.0**-52 * deepest * weight

    def reduced(self, prices: Floats) -> Floats:
        """Reduced costs."""
        out: Floats = self.cost + self.transposed @ prices
        return out

    def offer(self, prices: Floats) -> float:
        """Keep prices if they prove the best bound so far; the bound they prove."""
        bound = self.proves(prices)
        if bound > self.bound:
            self.bound, self.best = bound, (self.rows, prices.copy())
        return bound

    def round(self, iterations: int = ITERATIONS) -> None:
        """Iterate and restart."""
        m, k = len(self.cost), len(self.prices)
        y, prices = np.clip(self.y, self.lower, self.upper), self.prices.copy()
        y_sum, prices_sum = np.zeros(m), np.zeros(k)
        by_row, by_pair = self.matrix, self.transposed
        done = _primal_dual.iterate(
            by_row.indptr.astype(np.int64), by_row.indices.astype(np.int64), by_row.data,
            by_pair.indptr.astype(np.int64), by_pair.indices.astype(np.int64), by_pair.data,
            self.cost, self.rhs, self.lower, self.upper, self._pair_steps, self._row_steps,
            y, prices, y_sum, prices_sum, np.empty(m), iterations, self.stopping,
        )  # fmt: skip
        self.rounds += 1
        if not done:
            return
        last, average = self.offer(prices), self.offer(prices_sum / done)
        if average >= last:
            y, prices = y_sum / done, prices_sum / done
        self.y, self.prices = y, prices

    def separate(self, tolerance: float = VIOLATED) -> int:
        """Add inequalities that y violates, and drop those that do nothing; the number added."""
        room = self.rhs - self.matrix @ self.y
        kept = (self.prices > 0) | (room < SLACK)
        found = self._dense_cuts(tolerance) if self.complete else self._cycles(tolerance)
        self.rows = self.rows.take(kept) + found
        self.prices = np.concatenate([self.prices[kept], np.zeros(len(found))])
        self.row_status = np.concatenate([self.row_status[kept], np.full(len(found), BASIC, np.int8)])
        self._write_out()
        self.cuts += len(found)
        return len(found)

    def _dense_cuts(self, tolerance: float) -> Inequalities:
        Y = np.zeros((self.n, self.n))
        Y[self.u, self.v] = Y[self.v, self.u] = self.y
        m = len(self.cost)
        triangles, amounts = _cuts.triangles(Y, tolerance, self.stopping)
        most = np.argsort(-amounts, kind="stable")[: TRIANGLES * m + 100]
        triangles = triangles[most]
        out = Inequalities.cycles(np.arange(len(triangles) + 1, dtype=np.int64) * 3, triangles.ravel())
        starts, elements, excess = _cuts.stars(Y, tolerance, self.stopping)
        count = len(excess)
        stars = Inequalities(np.full(count, TWO_PARTITION, np.uint8), starts, elements, np.ones(count, np.int32))
        self.violation = max(float(amounts.max(initial=0.0)), float(excess.max(initial=0.0)))
        return out + stars.take(np.argsort(-excess, kind="stable")[: int(STARS * m) + 100])

    def _cycles(self, tolerance: float) -> Inequalities:
        length = np.maximum(1.0 - self.y, 0.0) + 1e-7
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        graph = csr_array((length, (self.u, self.v)), shape=(self.n, self.n))
        rows: list[tuple[int, int, list[int]]] = []
        open_pairs = np.flatnonzero(1.0 - self.y > tolerance)
        starts = np.searchsorted(self.u[open_pairs], np.arange(self.n + 1))
        self.violation = 0.0
        for a in np.unique(self.u[open_pairs]).tolist():
            if self.stopping.check(np.inf):
                break
            mine = open_pairs[starts[a] : starts[a + 1]]
            distance, before = dijkstra(graph, directed=False, indices=a, return_predecessors=True, limit=1.0)
            excess = 1.0 - self.y[mine] - distance[self.v[mine]]
            for e in mine[excess > tolerance].tolist():
                nodes = [int(self.v[e])]
                while nodes[-1] != a:
                    nodes.append(int(before[nodes[-1]]))
                if len(nodes) > 2:
                    rows.append((0, 0, nodes))
                    self.violation = max(self.violation, float(1.0 - self.y[e] - distance[self.v[e]]))
        return Inequalities.of(rows)


def solve_relaxation(p: SetPartition, stopping: Stopping) -> tuple[Inequalities, Floats]:
    """Inequalities and prices that prove the bound of the relaxation, for a problem without required joins."""
    relaxation = Relaxation(p, stopping)
    relaxation.start(*pass_messages(p, stopping, rounds=2))
    idle, tolerance = 0, VIOLATED
    while not stopping.check(np.inf):
        before = relaxation.bound
        relaxation.round()
        added = relaxation.separate(tolerance)
        idle = idle + 1 if relaxation.bound - before <= LITTLE * abs(relaxation.bound) else 0
        if idle >= IDLE:
            break
        if not added:
            tolerance = max(tolerance / 4, 1e-6)
    return relaxation.best

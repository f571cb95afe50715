"""The linear relaxation of set partition, by a primal-dual first-order method with cutting planes.

    minimise    c y
    subject to  a_k y <= b_k   for inequalities that every partition satisfies (see `inequalities`)
                0 <= y <= 1    for each pair

Multipliers l_k >= 0 of any inequalities prove the bound of a `certificate`, for any y. So no solver has to be trusted,
and every iterate has a bound. The iteration is that of Chambolle & Pock 2011 with the diagonal steps of Pock &
Chambolle 2011, each step T reflected and drawn to the point z0 of the last restart: z_k+1 = (k+1)/(k+2) (2 T(z_k) -
z_k) + z0/(k+2) (Halpern 1967; Lu & Yang 2024). Each iteration is a pass over the terms of the inequalities. At each
restart, violated inequalities are added, and inequalities with multiplier 0 that are far from tight are dropped. A pair
that is in no inequality takes no part in the iteration, since the sign of its cost determines its value; a pair that is
fixed takes no part, either.

If all pairs are variables, the inequalities are triangles, then 2-partitions (Grötschel & Wakabayashi 1989, 1990),
then, when none of these is violated any more, odd wheels (Chopra & Rao 1993). 2-partitions are found by a few steps of
tabu search that starts from pairs of elements and from inequalities with a positive multiplier; they have at most 12
elements each, unless `largest` and `patience` are changed. If only pairs with a cost are variables, the inequalities
are conflicted cycles found along shortest paths. Cycles of near elements come first. If few of these are found, far
cycles follow: pairs with y = 1 connect elements to sets, and paths lead from set to set. In each round, at most a
twentieth as many far cycles as variables are added.

If subsets have to be connected, all base pairs are variables, also at cost 0, and paths of cycles lead along all of
them. Violated cuts of base pairs follow in each round (see `connecting`).

On a complete graph with heavy noise, y = 1/2 on all attractive pairs violates no triangle inequality. Triangles alone,
like message passing, therefore prove no more than half the sum of negative costs, and 2-partitions are needed, also
with several elements on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import group
from graphpart.kernels._pairs import CompressedRows
from graphpart.partition.bounds import _cuts, _kernels
from graphpart.partition.bounds._kernels import Program
from graphpart.partition.bounds.connecting import Connecting
from graphpart.partition.bounds.message_passing import pass_messages
from graphpart.partition.bounds.rows import Rows
from graphpart.partition.certificates.inequalities import TWO_PARTITION, WHEEL, Inequalities
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.derived import connected
from graphpart.stopping import Stopping

__all__ = [
    "PARAMETERS",
    "Relaxation",
    "RelaxationParameters",
    "is_best_complete",
    "most",
    "rounds_of",
    "solve_relaxation",
    "tightened",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RelaxationParameters:
    """Parameters of the relaxation; numbers "per variable" are shares of the number of variables.

    A search near 2-partitions starts from those with a positive multiplier. It is quick at first, thorough in rounds
    that find few other inequalities, and deep if `Relaxation.patience` is set.
    """

    complete_up_to: int = 40  #: largest number of elements for which all pairs are variables, for any costs
    complete_from: float = 0.2  #: share of pairs with a cost from which on all pairs are variables
    iterations: int = 50  #: iterations of a round; doubled after a round without gain, up to eight times this number
    violated: float = 0.02  #: least violation of inequalities that the first rounds add
    finest: float = 1e-4  #: limit to which rounds that find few inequalities lower the least violation
    few: float = 0.01  #: a round finds few inequalities if it adds at most this number per variable
    slack: float = 0.1  #: room (right minus left side) from which on an inequality with multiplier 0 is dropped
    tight: tuple[int, float] = (3_000, 0.02)  #: number of variables from which on the second value replaces `slack`
    triangles: float = 4.0  #: most triangle inequalities that a round adds, per variable
    others: float = 0.2  #: most inequalities of each other kind that a round adds, per variable
    far: float = 0.05  #: most far cycles that a round adds, per variable; they take longer to find
    largest: int = 12  #: most elements of a 2-partition; half as many in the first rounds, which then take less time
    quickly: tuple[int, int] = (200, 10)  #: quick search near 2-partitions: most starts; steps from each
    thoroughly: tuple[int, int] = (4000, 20)  #: thorough search near 2-partitions: most starts; steps from each
    deeply: tuple[int, float] = (4000, 3.0)  #: deep search near 2-partitions: most starts; a factor of `others`
    work: int = 100  #: pairs that one search for far cycles or for cuts looks at, per variable
    nothing: float = 1e-6  #: length below which a pair counts as of length 0 in the search for far cycles
    reach: int = 50  #: most elements that the search for near cycles reaches from one element
    scale: float = 0.2  #: ratio of multipliers to variables, in mean absolute costs
    little: float = 1e-6  #: a round is idle if it raises the bound by at most this share of the bound
    idle: int = 12  #: idle rounds after which a run ends; five times as many before `finest` is reached
    quick: int = 200_000  #: most variables for which message passing has two rounds: the relaxation soon overtakes it


PARAMETERS = RelaxationParameters()


class Relaxation:
    """The relaxation of a problem without required joins, between two rounds.

    Attributes
    ----------
    u, v, cost : ndarray, shape (m,)
        The variables and their costs; 0 for pairs that must be cut, whose upper bound is 0.
    lower, upper : ndarray of float64, shape (m,)
        Bounds of the variables; may be changed between rounds.
    rows : Rows
        The inequalities, and their multipliers now.
    y : ndarray of float64, shape (m,)
        The point now.
    bound : float
        The best bound that any multipliers have proved. It holds for the bounds of the variables at that time.
    largest, patience : int
        The largest number of elements in a 2-partition. The number of steps of the search from each 2-partition; 0
        stands for the numbers in the parameters.
    small : bool
        Whether 2-partitions are still limited to fewer elements; this ends when few violated ones are found.
    given, constant : ndarray of float64, shape (m,), float
        The given costs; after `set_squares` has changed `cost`, all partitions cost at least `cost` plus `constant`.
    """

    connecting: Connecting | None = None  # separation of cuts, if subsets have to be connected

    def __init__(self, p: SetPartition, stopping: Stopping, complete: bool = False) -> None:
        self.n, self.stopping = p.n, stopping
        self.u, self.v, cost = p.pairs()
        self.complete = complete or is_best_complete(p.n, int(np.count_nonzero(cost)))
        if self.complete and not p.is_dense:
            matrix = np.zeros((p.n, p.n))
            matrix[self.u, self.v] = cost
            self.u, self.v = (index.astype(np.int32) for index in np.triu_indices(p.n, 1))
            cost = matrix[self.u, self.v]
        elif not self.complete:
            kept = np.flatnonzero(cost if p.lifted is None else (cost != 0) | ~p.lifted)
            self.u, self.v, cost = self.u[kept], self.v[kept], cost[kept]
            self._keys = self.u.astype(np.int64) * p.n + self.v
        if p.lifted is not None:
            self.connecting = Connecting(p, self.u, self.v, self._positions)
        self._begin(cost)

    def _begin(self, cost: Floats) -> None:
        """The point and the bounds of variables with these costs, and no inequalities."""
        cut = cost == np.inf
        self.cost = np.where(cut, 0.0, cost)
        self.lower, self.upper = np.zeros(len(cost)), np.where(cut, 0.0, 1.0)
        self.y = np.where(self.cost < 0, 0.5, 0.0)
        scale = PARAMETERS.scale * float(np.abs(self.cost).mean()) if self.cost.any() else 1.0
        self.scale = max(scale, 1e-250)  # costs may be tiny here if they are huge elsewhere
        self.rows = Rows(self.n, len(cost), self._positions)
        self.given, self.constant = self.cost, 0.0
        self._squares: tuple[NDArray[np.int32], float] | None = None
        self.bound = -np.inf
        self._best: tuple[Inequalities, Floats, tuple[NDArray[np.int32], float] | None]
        self._best = (self.rows.inequalities, self.rows.multipliers, None)
        self.iterations = PARAMETERS.iterations
        self.rounds = 0
        self.violation = np.inf
        self.tolerance = PARAMETERS.violated
        self.largest, self.patience, self.small = PARAMETERS.largest, 0, True
        self.far, self._turn = False, 0.0  # whether far cycles are sought; where the next search starts, from 0 to 1

    def _positions(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The positions of the pairs ``{a, b}`` with keys ``a * n + b`` among the variables."""
        if not self.complete:
            return np.searchsorted(self._keys, keys)
        a, b = keys // self.n, keys % self.n
        return a * (2 * self.n - a - 1) // 2 + b - a - 1

    def start(self, inequalities: Inequalities, multipliers: Floats) -> None:
        """Begin with given inequalities and multipliers."""
        self.rows.add(inequalities, multipliers)
        self.offer(self.rows.multipliers)

    def start_again(self, inequalities: Inequalities, multipliers: Floats, y: Floats) -> None:
        """Begin with earlier multipliers and an earlier point. Other inequalities of now stay, with multiplier 0."""
        others = self.rows.inequalities
        self.rows.keep(np.zeros(len(self.rows), bool))
        self.rows.add(inequalities, multipliers)
        self.rows.add(others)
        self.y = y.copy()

    def proves(self, multipliers: Floats) -> float:
        """The bound that multipliers prove, less the largest possible error of rounding."""
        reduced = self.reduced(multipliers)
        parts = np.where(reduced < 0, reduced * self.upper, reduced * self.lower)
        paid = float((multipliers * self.rows.rhs).sum())  # sums of NumPy err by a few dozen roundings
        weight = float(np.abs(self.cost).sum() + (multipliers * self.rows.lengths).sum()) + paid + abs(self.constant)
        deepest = int(self.rows.counts.max(initial=0)) + 64
        return float(parts.sum()) - paid + self.constant - 2.0**-52 * deepest * weight

    def reduced(self, multipliers: Floats) -> Floats:
        """Reduced costs."""
        return self.rows.reduced(self.cost, multipliers)

    def offer(self, multipliers: Floats) -> float:
        """Keep multipliers if they prove the best bound so far; return the bound that they prove."""
        bound = self.proves(multipliers)
        if bound > self.bound:
            self.bound, self._best = bound, (self.rows.inequalities, multipliers.copy(), self._squares)
        return bound

    @property
    def value(self) -> float:
        """The cost of the point."""
        return float((self.given * self.y).sum())  # not by the BLAS, whose threads wait actively for more to do

    @property
    def best(self) -> tuple[Inequalities, Floats]:
        """The inequalities and multipliers that prove the bound."""
        inequalities, multipliers, squares = self._best
        if squares is None:
            return inequalities, multipliers
        general = Inequalities.general(squares[0])
        return inequalities + general, np.concatenate([multipliers, np.full(len(general), squares[1])])

    def set_squares(self, numbers: NDArray[np.int32], multiplier: float) -> None:
        """Add general 2-partitions, all with one multiplier, to the given costs; they replace earlier ones.

        Parameters
        ----------
        numbers : ndarray of int32, shape (k, n)
            See `inequalities`.
        multiplier : float
        """
        B = numbers.astype(np.float64)
        self._squares = (numbers, multiplier)
        self.cost = self.given - multiplier * (B.T @ B)[self.u, self.v]
        squares, sizes = float((B * B).sum()), np.abs(B).sum(axis=1)
        # The possible errors of rounding: of all pairs, k terms each, and of the constant.
        slack = 2.0**-51 * (len(B) + 16) * (float(np.abs(self.given).sum()) + multiplier * float((sizes * sizes).sum()))
        self.constant = -0.5 * multiplier * (squares - float(np.abs(B.sum(axis=1)).sum())) - slack

    def round(self, iterations: int | None = None) -> None:
        """Iterate and restart. The default of `iterations` depends on the gain of earlier rounds."""
        rows = self.rows
        # A variable in no inequality costs the iteration nothing: it stays where its cost is least.
        self.y = np.where(rows.counts > 0, self.y, np.where(self.cost < 0, self.upper, self.lower))
        self.y = np.clip(self.y, self.lower, self.upper)
        used = rows.counts > 0
        free = np.flatnonzero(used & (self.lower < self.upper))
        if not len(free):  # multipliers rise where fixed variables violate an inequality, and fall elsewhere
            free = np.flatnonzero(used)
        order, starts, middles, pairs, rhs = rows.of_free(free, self.y)
        lower, upper = self.lower[free], self.upper[free]
        y, multipliers = self.y[free], rows.multipliers[order]
        reduced = self.reduced(rows.multipliers)[free]
        program = Program(starts, middles, pairs, rhs, lower, upper)
        done = program.reflect(self.scale, y, multipliers, reduced, iterations or self.iterations, self.stopping)
        self.rounds += 1
        if not done:
            return
        rows.multipliers = np.empty(len(order))
        rows.multipliers[order] = multipliers
        self.y[free] = y
        before = self.bound
        self.offer(rows.multipliers)
        usual = PARAMETERS.iterations
        self.iterations = usual if self.bound > before else min(2 * self.iterations, 8 * usual)

    def separate(self) -> int:
        """Add inequalities that y violates, and drop inactive ones; return the number added.

        If few are added, smaller violations count from the next call on.
        """
        rows, few = self.rows, PARAMETERS.few * len(self.cost)
        large, tight = PARAMETERS.tight
        room = tight if len(self.cost) >= large else PARAMETERS.slack
        rows.keep((rows.multipliers > 0) | (rows.rhs - rows.left(self.y) < room))
        tolerance = self.tolerance
        added = rows.add(self._find(tolerance))
        if self.connecting is not None:
            added += rows.add(self._connections(tolerance))
        if added <= few and not self.complete and not self.far:
            self.far = True
        elif added <= few:
            self.tolerance, self.small = max(tolerance / 2, PARAMETERS.finest), False
            if self.complete and not added:  # odd wheels take longer to find, and add little to the others
                added += rows.add(self._odd_wheels(tolerance))
        return added

    @property
    def is_thorough(self) -> bool:
        """Whether separation examines all elements."""
        return bool(self.complete or self.far)

    def _matrix(self) -> Floats:
        Y = np.zeros((self.n, self.n))
        Y[self.u, self.v] = Y[self.v, self.u] = self.y
        return Y

    def _find(self, tolerance: float) -> Inequalities:
        return self._dense_cuts(tolerance) if self.complete else self._cycles(tolerance)

    def _dense_cuts(self, tolerance: float) -> Inequalities:
        Y, m = self._matrix(), len(self.cost)
        triangles, by_triangle = _cuts.triangles(Y, tolerance, self.stopping)
        found = Inequalities.cycles(np.arange(len(triangles) + 1, dtype=np.int64) * 3, triangles.ravel())
        out = found.take(most(by_triangle, PARAMETERS.triangles * m))
        largest = min(self.largest, PARAMETERS.largest // 2) if self.small else self.largest
        starts, splits, elements, by_sets = _cuts.two_partitions(Y, tolerance, largest, self.stopping)
        found = Inequalities(np.full(len(splits), TWO_PARTITION, np.uint8), starts, elements, splits)
        out = out + found.take(most(by_sets, PARAMETERS.others * m))
        near, by_size = self._near_cuts(Y, tolerance, thorough=len(out) <= PARAMETERS.few * m)
        out = out + near
        self.violation = max(float(by.max(initial=0.0)) for by in (by_triangle, by_sets, by_size))
        return out

    def _near_cuts(self, Y: Floats, tolerance: float, thorough: bool) -> tuple[Inequalities, Floats]:
        """2-partitions a few steps from those with a positive multiplier, and the relative violation of each.

        At first, local search from pairs finds enough 2-partitions. When it finds no more, thousands of these are left.
        """
        if tolerance >= PARAMETERS.violated:
            return Inequalities.none(), np.zeros(0)
        np.fill_diagonal(Y, 1.0)
        starts_at_most, steps = PARAMETERS.thoroughly if thorough else PARAMETERS.quickly
        share = PARAMETERS.others
        if self.patience:
            (starts_at_most, times), steps = PARAMETERS.deeply, self.patience
            share *= times
        rows = self.rows.inequalities
        some = np.flatnonzero((rows.kinds == TWO_PARTITION) & (self.rows.multipliers > 0))
        turns = max(1, -(-len(some) // starts_at_most))
        rows = rows.take(some[self.rounds % turns :: turns])
        starts, splits, elements, amounts = _cuts.near_two_partitions(
            Y, rows.starts, rows.splits, rows.elements, tolerance, self.largest, steps, self.stopping
        )
        found = Inequalities(np.full(len(splits), TWO_PARTITION, np.uint8), starts, elements, splits)
        by_size = amounts / np.diff(starts)
        return found.take(most(by_size, share * len(self.cost))), by_size

    def _odd_wheels(self, tolerance: float) -> Inequalities:
        starts, elements, amounts = _cuts.odd_wheels(self._matrix(), tolerance, self.stopping)
        ones = np.ones(len(amounts), np.int32)
        found = Inequalities(np.full(len(ones), WHEEL, np.uint8), starts, elements, ones)
        self.violation = max(self.violation, float(amounts.max(initial=0.0)))
        return found.take(most(amounts, PARAMETERS.others * len(self.cost)))

    def _cycles(self, tolerance: float) -> Inequalities:
        """Conflicted cycles: a pair that repels, or is cut, closes a path of pairs that attract, or are joined.

        If a point satisfies the inequalities of these cycles, another point of at most the same cost satisfies all
        cycle inequalities: the values of attracting pairs are raised to the largest value that a path requires (Lange,
        Karrenbauer & Andres 2018).
        """
        leads = (self.cost < 0) | (self.lower > 0)
        if self.connecting is not None:  # cuts may keep the values of base pairs that repel above 0
            leads |= self.connecting.links
        joins = np.flatnonzero(leads & (self.y > tolerance))
        cuts = np.flatnonzero(((self.cost > 0) | (self.upper < 1)) & (self.y < 1.0 - tolerance))
        length = np.maximum(1.0 - self.y, 0.0)
        if self.far:
            far, amounts = self._far_cycles(joins, cuts, length, tolerance)
            self.violation = float(amounts.max(initial=0.0))
            return far
        ends, others = np.concatenate([self.u[joins], self.v[joins]]), np.concatenate([self.v[joins], self.u[joins]])
        order, starts = group(ends, self.n)
        cuts, closing = self._closing(cuts)
        paths = CompressedRows(starts, others[order], length[np.concatenate([joins, joins])][order])
        closed = CompressedRows(closing, self.v[cuts], length[cuts])
        found = _kernels.cycles(paths, closed, tolerance, PARAMETERS.reach, self.stopping)
        self.violation = float(found[2].max(initial=0.0))
        return Inequalities.cycles(found[0], found[1])

    def _connections(self, tolerance: float) -> Inequalities:
        """Cuts of base pairs that attracting, or joined, lifted pairs violate."""
        assert self.connecting is not None
        wanted, m = (self.cost < 0) | (self.lower > 0), len(self.cost)
        limit, work = int(PARAMETERS.others * m) + 100, PARAMETERS.work * m
        found, amounts = self.connecting.cuts(self.y, wanted, tolerance, limit, work, self.stopping)
        self.violation = max(self.violation, float(amounts.max(initial=0.0)))
        return found

    def _closing(self, cuts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs that may close cycles, sorted by their first elements, and the start of the pairs of each element."""
        return cuts, group(self.u[cuts], self.n)[1]  # variables stand in this order

    def _far_cycles(
        self, joins: NDArray[np.int64], cuts: NDArray[np.int64], length: Floats, tolerance: float
    ) -> tuple[Inequalities, Floats]:
        """Cycles between the sets of elements that pairs of length 0 connect, each with its violation.

        A call examines some of the sets, beginning where the last call ended.
        """
        none = length[joins] < PARAMETERS.nothing
        inside, across = joins[none], joins[~none]
        cluster = connected(self.n, self.u[inside], self.v[inside])
        count = int(cluster.max(initial=-1)) + 1
        order, within = group(np.concatenate([self.u[inside], self.v[inside]]), self.n)
        beside = np.concatenate([self.v[inside], self.u[inside]])[order]
        across = across[cluster[self.u[across]] != cluster[self.v[across]]]
        tails = np.concatenate([self.u[across], self.v[across]])
        heads = np.concatenate([self.v[across], self.u[across]])
        arcs, starts = group(cluster[tails], count)
        tails, heads = tails[arcs], heads[arcs]
        by_cluster, closing = group(cluster[self.u[cuts]], count)
        cuts = cuts[by_cluster]
        begins, elements, amounts, self._turn = _kernels.far_cycles(
            cluster, within, beside, starts, cluster[heads], length[across][arcs % max(1, len(across))], tails, heads,
            closing, self.u[cuts], self.v[cuts], length[cuts], tolerance - PARAMETERS.nothing,
            int(self._turn * count) % max(1, count), int(PARAMETERS.far * len(self.cost)) + 100,
            PARAMETERS.work * len(self.cost), self.stopping,
        )  # fmt: skip
        self._turn /= max(1, count)
        return Inequalities.cycles(begins, elements), amounts


def is_best_complete(n: int, used: int) -> bool:
    """Whether all pairs of n elements should be variables, not only the `used` pairs with a cost."""
    return bool(n <= PARAMETERS.complete_up_to or used >= PARAMETERS.complete_from * (n * (n - 1) // 2))


def most(amounts: Floats, limit: float) -> NDArray[np.int64]:
    """Positions of the largest amounts, slightly more than a limit at most."""
    return np.sort(np.argsort(-amounts, kind="stable")[: int(limit) + 100])


def solve_relaxation(p: SetPartition, stopping: Stopping) -> tuple[Inequalities, Floats]:
    """Inequalities and multipliers that prove the bound of the relaxation, for a problem without required joins."""
    relaxation = Relaxation(p, stopping)
    few = len(relaxation.cost) <= PARAMETERS.quick
    relaxation.start(*pass_messages(p, stopping, 2 if few else math.inf))
    return tightened(relaxation, stopping)


def tightened(relaxation: Relaxation, stopping: Stopping) -> tuple[Inequalities, Floats]:
    """Rounds of a relaxation, until no inequality is violated, or the bound does not rise any more."""
    for _ in rounds_of(relaxation, stopping):
        pass
    return relaxation.best


def rounds_of(relaxation: Relaxation, stopping: Stopping) -> Iterator[float]:
    """The rounds of `tightened`: yields the bound after each."""
    idle = 0
    while not stopping.check(np.inf):
        before, tolerance = relaxation.bound, relaxation.tolerance
        all_sizes = not (relaxation.complete and relaxation.small)  # of 2-partitions are separated
        relaxation.round()
        relaxation.separate()
        if relaxation.value - relaxation.bound <= PARAMETERS.little * abs(relaxation.bound):
            exact = tolerance == PARAMETERS.finest and relaxation.violation <= PARAMETERS.finest
            if exact and all_sizes and relaxation.is_thorough:
                break  # this point violates nothing and costs no more
            relaxation.tolerance = PARAMETERS.finest
        idle = idle + 1 if relaxation.bound - before <= PARAMETERS.little * abs(relaxation.bound) else 0
        settled = tolerance == PARAMETERS.finest and relaxation.violation <= PARAMETERS.violated
        yield relaxation.bound
        if idle >= PARAMETERS.idle * (1 if settled else 5):
            break

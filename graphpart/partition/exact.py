"""Branch and cut: the best partition, with a proof that there is no better one.

1. Pairs that are joined or cut in some optimal partition are so from the start (see `persistency`). Then no partition
   needs to join elements that no path of attractive pairs connects, so each component of the attractive pairs is solved
   apart, the smallest first.
2. Local search gives a first partition; the relaxation (see `relaxation`) a lower bound, raised by cutting planes. On
   the way, points of the relaxation are rounded to partitions and these refined by local search.
3. Where the bound plus the reduced cost of a pair reaches the cost of the best partition, no better one has this pair
   the other way: it is fixed.
4. What is left is divided into two: a pair joined, or cut, with all that follows from it for other pairs. The part with
   the least bound comes first.

A part is closed once its bound shows that it holds no better partition. Bounds come from prices (see `certificate`),
less all that rounding may have added. If all costs are multiples of one number, a better partition is better by that.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption
from graphpart.partition import simplex
from graphpart.partition.brute_force import trivial_bound
from graphpart.partition.certificate import common_step, round_up
from graphpart.partition.components import Part, split
from graphpart.partition.derived import connected, in_fitting_unit
from graphpart.partition.greedy_joining import greedy_joining
from graphpart.partition.kernighan_lin import kernighan_lin
from graphpart.partition.local_search import MESSAGES, finish
from graphpart.partition.message_passing import pass_messages
from graphpart.partition.persistency import reduce
from graphpart.partition.problem import Labels, SetPartition, as_problem, canonical
from graphpart.partition.relaxation import Relaxation
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["exact"]

Floats = NDArray[np.float64]
Decisions = tuple[tuple[int, int, bool], ...]
RESOLUTION = 1e-7  # relative to the largest cost: differences that are not resolved if costs have no common step
HALF = 0.5
IDLE = 4  # rounds without progress, after which a vertex is computed, or the part is divided
PROGRESS = 0.01  # share of the remaining gap that counts as progress
VERTEX_TERMS = 20_000  # the simplex method takes on relaxations with at most so many terms
INTEGRAL = 1e-6


@interruptible
def exact(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    threads: int = 1,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Solve a problem to proven optimality by branch and cut.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    initial : Result, labels, mapping or list of sets, optional
        A partition from which local search starts; the result is not worse.
    time_limit : float, optional
        Seconds in total.
    threads : int
        Threads that HiGHS may use, where it is installed.
    target : float, optional
        Stop as soon as the cost is at most this.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    PartitionResult
        With status ``optimal`` if no partition costs less by more than 1e-7 times the largest absolute cost of a pair
        (exactly optimal if all costs are multiples of one number, see `graphpart.partition.certificate`). Else the best
        partition found and a valid lower bound. `iterations` counts the parts of the search; `info` has ``parts``,
        ``rounds``, ``cuts``, and ``bounds``, the (seconds, lower bound) pairs.

    Raises
    ------
    InvalidProblem, InvalidPartition, InvalidOption
        If an argument is not as described.

    Notes
    -----
    Exponential time at worst. Without highspy (extra ``highs``) all relaxations are solved by the first-order method.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-2.0, -3.0, 4.0])
    >>> r = exact(p)
    >>> r.partition, r.cost, str(r.status)
    ([{0}, {1, 2}], -3.0, 'optimal')
    """
    p = as_problem(problem)
    if not hasattr(threads, "__index__") or threads < 1:
        raise InvalidOption(f"threads is {threads!r}: expected a whole number of at least 1")
    search: Search | None = None

    def tell(seconds: float, cost: float) -> object:  # kernels of bounds know no cost
        return callback and callback(seconds, cost if search is None else search.cost)

    stopping = Stopping(time_limit, None, target, callback and tell)
    start = kernighan_lin(p, initial, time_limit=stopping.remaining, target=target, callback=callback)
    if start.status in (Status.INTERRUPTED, Status.TARGET):
        stopping.stop(start.status)
    small = reduce(p, time_limit=stopping.remaining)
    q, exponent = in_fitting_unit(small.problem)
    # The start need not agree with the one optimal partition that the smaller problem keeps.
    labels = kernighan_lin(q, time_limit=stopping.remaining).labels
    search = Search(q, labels, stopping, threads, small.constant, 2.0**exponent)
    search.run()
    found = finish(p, small.lift(search.labels), stopping, "exact", Status.OPTIMAL, start=(start.labels, start.cost))
    # What is proven does not depend on why the run ended.
    status = Status.OPTIMAL if search.proven else (stopping.reason or Status.FEASIBLE)
    work = f"{search.parts} parts, {search.rounds} rounds, {search.cuts} cuts"
    return replace(
        found,
        status=status,
        message=f"{MESSAGES[status]} ({work})",
        lower_bound=found.cost if search.proven else min(search.bound, found.cost),
        iterations=search.parts,
        history=tuple(entry for entry in found.history if math.isfinite(entry[1])),
        info={"parts": search.parts, "rounds": search.rounds, "cuts": search.cuts, "bounds": tuple(search.bounds)},
    )


class Search:
    """All components of a problem without required joins: the best labels, and the bound as a sum."""

    def __init__(
        self, p: SetPartition, labels: Labels, stopping: Stopping, threads: int, constant: float, unit: float
    ) -> None:
        self.p, self.labels, self.stopping, self.threads = p, labels, stopping, threads
        self.constant, self.unit = constant, unit  # what partitions cost beside p, and in which unit p is
        self.parts = self.rounds = self.cuts = 0
        self.bounds: list[tuple[float, float]] = []
        self.bound = -math.inf
        self.proven = False

    def run(self) -> None:
        """Solve one component after the other."""
        p = self.p
        parts = _attractive_parts(p)
        trees = [Tree(part, canonical(self.labels[elements]), self) for elements, part in parts]
        self._trees = trees
        self.record()
        for tree in sorted(trees, key=lambda tree: tree.p.n):
            tree.run()
            self.record()
        labels = np.arange(p.n)
        for (elements, _), tree in zip(parts, trees, strict=True):
            first = np.unique(tree.labels, return_index=True)[1]
            labels[elements] = elements[first][tree.labels]
        self.labels = canonical(labels)
        self.proven = all(tree.proven for tree in trees)

    @property
    def cost(self) -> float:
        """Of the best partition known."""
        return self.constant + self.unit * sum(tree.cost for tree in self._trees)

    def record(self) -> None:
        """Remember the bound as it is now."""
        self.bound = self.constant + self.unit * sum(tree.cost if tree.proven else tree.bound for tree in self._trees)
        self.bounds.append((self.stopping.seconds, self.bound))


def _attractive_parts(p: SetPartition) -> list[Part]:
    """The components of the pairs with a negative cost, as problems of their own."""
    u, v, cost = p.pairs()
    negative = cost < 0
    component = connected(p.n, u[negative], v[negative])
    if not p.is_dense:
        within = component[u] == component[v]
        p = SetPartition.from_pairs(p.n, (u[within], v[within]), cost[within], dense=False)
    return split(p, component)


class Tree:
    """Branch and cut on one component."""

    def __init__(self, p: SetPartition, labels: Labels, search: Search) -> None:
        self.p, self.labels, self.search, self.stopping = p, labels, search, search.stopping
        self.cost = p.evaluate_labels(labels)
        if not self.cost <= 0:  # across components, all may be cut
            self.labels, self.cost = np.arange(p.n, dtype=np.int32), 0.0
        self.step = common_step(p)
        finite = p.pairs()[2]
        largest = float(np.abs(finite[np.isfinite(finite)]).max(initial=0.0))
        self.resolution = self.step * (1 - 1e-6) if self.step else RESOLUTION * largest
        self.bound = trivial_bound(p)

    @property
    def proven(self) -> bool:
        """Whether no partition is better than the one known."""
        return self.closed(self.bound)

    def closed(self, bound: float) -> bool:
        """Whether a bound shows that."""
        return bound >= self.cost - self.resolution

    def run(self) -> None:
        """Improve partition and bound until they meet or the run is stopped."""
        if self.proven or self.stopping.check(self.search.cost):
            return
        self.relaxation = Relaxation(self.p, self.stopping)
        self.simplex = simplex.Simplex(self.search.threads) if simplex.is_available() else None
        r = self.relaxation
        r.start(*pass_messages(self.p, self.stopping, rounds=2))
        self._raise(r.bound)
        self.fixed = (r.lower.copy(), r.upper.copy())  # what holds for all better partitions
        self.open: list[tuple[float, int, Decisions]] = [(self.bound, 0, ())]
        count = 0
        while self.open and not self.stopping.check(self.search.cost):
            bound, _, decisions = heapq.heappop(self.open)
            self._raise(bound)
            if self.closed(bound):
                break  # so are all others
            children = self._solve(decisions, bound)
            self.search.parts += 1
            for value, child in children:
                count += 1
                heapq.heappush(self.open, (value, -count, child))
            self._raise(min((entry[0] for entry in self.open), default=math.inf))

    def _raise(self, bound: float) -> None:
        """A bound for all partitions that are better than the one known: for all up to the cost of that."""
        bound = min(round_up(bound, self.step) if math.isfinite(bound) else bound, self.cost)
        if bound > self.bound:
            self.bound = bound
            self.search.record()

    def _solve(self, decisions: Decisions, known: float) -> list[tuple[float, Decisions]]:
        """Work on one part: nothing if it is closed, else the two parts it is divided into, with a bound."""
        r = self.relaxation
        if not self._decide(decisions):
            return []
        r.bound = -math.inf
        r.offer(r.rows.prices)
        idle, vertex, tolerance = 0, False, 0.05
        while not self.closed(r.bound):
            if self.stopping.check(self.search.cost):
                return [(max(known, r.bound), decisions)]
            before = r.bound
            if vertex:
                assert self.simplex is not None
                vertex = self.simplex.solve(r)
            else:
                r.round()
            self.search.rounds += 1
            if not decisions:
                self._raise(r.bound)
            if r.rounds % 5 == 1 or vertex:
                self._round_point()
            if self.closed(r.bound) or not self._fix(not decisions):
                return []
            added = r.separate(tolerance if not vertex else 1e-4)
            self.search.cuts += added
            if vertex and not added:
                if self._is_partition():
                    return []
                break
            progress = r.bound - before > PROGRESS * (self.cost - r.bound)
            idle = 0 if progress else idle + 1
            if idle > IDLE:
                if self.simplex is None or vertex or len(r.rows.pairs) > VERTEX_TERMS:
                    break
                vertex, idle = True, 0
            elif not added:
                tolerance = max(tolerance / 4, 1e-4)
        if self.closed(r.bound):
            return []
        return self._divide(decisions, max(known, r.bound))

    def _decide(self, decisions: Decisions) -> bool:
        """Bounds of the variables that follow from decisions; False if they contradict each other."""
        r, n = self.relaxation, self.p.n
        r.lower, r.upper = self.fixed[0].copy(), self.fixed[1].copy()
        if decisions:
            joined = np.array([(a, b) for a, b, join in decisions if join], np.int32).reshape(-1, 2)
            cut = np.array([(a, b) for a, b, join in decisions if not join], np.int32).reshape(-1, 2)
            ones = r.lower > HALF
            ends = np.concatenate([joined[:, 0], r.u[ones]]), np.concatenate([joined[:, 1], r.v[ones]])
            block = connected(n, *ends)
            a, b = block[r.u], block[r.v]
            zeros = r.upper < HALF
            keys = np.concatenate([_keys(block[cut[:, 0]], block[cut[:, 1]], n), _keys(a[zeros], b[zeros], n)])
            apart = np.isin(_keys(a, b, n), keys)
            r.lower[a == b] = 1.0
            r.upper[apart] = 0.0
            if (block[cut[:, 0]] == block[cut[:, 1]]).any():
                return False
        return bool((r.lower <= r.upper).all())

    def _fix(self, everywhere: bool) -> bool:
        """Fix pairs that no better partition of this part has the other way; False if there is none left."""
        r = self.relaxation
        reduced = r.reduced(r.rows.prices)
        hopeless = r.proves(r.rows.prices) + np.abs(reduced) >= self.cost - self.resolution
        free = r.lower < r.upper
        r.upper[free & hopeless & (reduced > 0)] = 0.0
        r.lower[free & hopeless & (reduced < 0)] = 1.0
        if everywhere:
            self.fixed = (r.lower.copy(), r.upper.copy())
        return True

    def _round_point(self) -> None:
        """Partitions near the point of the relaxation, refined by local search."""
        r = self.relaxation
        near = SetPartition.from_pairs(self.p.n, (r.u.astype(np.int64), r.v.astype(np.int64)), HALF - r.y)
        for labels in (greedy_joining(near).labels, self._connected(0.7)):
            cost = self.p.evaluate_labels(labels)
            if not math.isfinite(cost):
                continue
            better = kernighan_lin(self.p, labels, time_limit=self.stopping.remaining)
            if better.cost < self.cost - 1e-12 * abs(self.cost):
                self.labels, self.cost = better.labels, better.cost
                self.stopping.record(self.search.cost)

    def _connected(self, threshold: float) -> Labels:
        r = self.relaxation
        joined = r.y > threshold
        ends = (r.u[joined], r.v[joined])
        return connected(self.p.n, *ends)

    def _is_partition(self) -> bool:
        """Whether the point is one, which is then the best of its part, and offered."""
        y = self.relaxation.y
        if (np.minimum(y, 1 - y) > INTEGRAL).any():
            return False
        labels = self._connected(HALF)
        cost = self.p.evaluate_labels(labels)
        if cost < self.cost:
            self.labels, self.cost = labels, cost
            self.stopping.record(self.search.cost)
        return self.closed(self.relaxation.bound)

    def _divide(self, decisions: Decisions, bound: float) -> list[tuple[float, Decisions]]:
        r = self.relaxation
        free = r.lower < r.upper
        if not free.any():
            labels = self._connected_bounds()
            cost = self.p.evaluate_labels(labels)
            if cost < self.cost:
                self.labels, self.cost = labels, cost
            return []
        undecided = np.where(free, np.minimum(r.y, 1 - r.y) * (1e-3 + np.abs(r.cost) / r.scale), -1.0)
        e = int(np.argmax(undecided))
        a, b = int(r.u[e]), int(r.v[e])
        return [(bound, (*decisions, (a, b, join))) for join in (False, True)]

    def _connected_bounds(self) -> Labels:
        r = self.relaxation
        ones = r.lower > HALF
        return connected(self.p.n, r.u[ones], r.v[ones])


def _keys(a: NDArray[Any], b: NDArray[Any], n: int) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b)
    return keys

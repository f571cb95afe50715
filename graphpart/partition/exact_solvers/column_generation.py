"""Partitions as choices among all subsets of elements: column generation, enumeration, and division in two.

For each subset S of elements, let c(S) be the sum of the costs of its pairs. A partition is a choice of subsets that
has each element once, so no partition costs less than

    the largest   sum of u[a] over all elements   with   u(S) <= c(S)   for all subsets S,

the dual of the linear program over all subsets. Its bound is at least as good as that of all inequalities which hold
for the pairs of single subsets, such as 2-partitions of all sizes and positive semidefiniteness, and on networks it is
often the optimum (du Merle, Hansen, Jaumard & Mladenovic 1999; Aloise, Cafieri, Caporossi, Hansen, Perron & Liberti
2010).

1. The linear program over some subsets gives u. A search looks for subsets with c(S) < u(S), which are added (column
   generation), at first for a u halfway to the last one, so that u does not swing.
2. When the search finds none, a branch and bound over subsets finds all of them, or proves that there is none (see
   `pricing`). Then the sum of u is a bound, for all partitions.
3. A partition that is better than the best one known has only subsets with ``c(S) - u(S)`` below the gap. If these are
   not too many, they are enumerated by the same branch and bound (Baldacci, Christofides & Mingozzi 2008), and the best
   choice among them is found by linear programs, dividing at pairs that are together in some of the chosen subsets and
   apart in others (Ryan & Foster 1981).
4. If they are too many, the problem is divided at such a pair: joined, which merges two elements, or cut. 1 to 3 follow
   for both, with the subsets that are left. Only where the linear program nearly closes the gap, bounds are proven.

Bounds are computed from u, less what rounding and the tolerance of the search for subsets may add. No solver is
trusted.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.bounds.simplex import quiet
from graphpart.partition.exact_solvers.pricing import Pricing, Subsets
from graphpart.partition.problem import Labels, canonical
from graphpart.stopping import Stopping

__all__ = ["ColumnGeneration"]

Floats = NDArray[np.float64]
LARGEST = 10  # the largest cost is below 2 to the power of that; tolerances of HiGHS are absolute
FINEST = 1e-10  # tolerance of HiGHS
HALFWAY, TRIES = 0.5, 8  # weight of the last prices at the first attempt, and attempts to find subsets
BEST, CHANGED = 150, 2.0  # subsets of least reduced cost from which the search starts; elements changed in each
KEPT = 15  # subsets for each element that a divided problem takes over
FOUND, MOST_ADDED = 50, 200  # subsets at which the exact search ends, and that are added at once
ROOM, WORK = 20_000, 400_000  # subsets that are enumerated; nodes of the search for them
NEAR, NEARER = 0.005, 0.7  # of the cost: the gap at which bounds are proven at first; factor if enumeration fails
ROUNDING, ROUNDINGS = 10, 20  # every so many linear programs, one is rounded to so many partitions
TOLERANCE = 1e-10  # reduced costs that count
USED, DECIDED = 1e-6, 1e-4  # values of subsets that count; pairs that are nearer to 0 or 1 are decided


class Unsolved(Exception):
    """The time is over, or HiGHS did not solve a linear program."""


@dataclass
class Node:
    """A part of the problem: sets of elements are merged, some of them are cut, and some subsets are known."""

    merged: Labels
    pricing: Pricing
    constant: float
    subsets: Subsets


class Master:
    """The linear program over some subsets, solved by the simplex method of HiGHS."""

    def __init__(self, n: int, stopping: Stopping) -> None:
        self._highs = quiet(1, lambda: stopping.check(np.inf))
        self._stopping = stopping
        for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self._highs.setOptionValue(option, FINEST)
        self._highs.setOptionValue("simplex_strategy", 4)  # primal: subsets are added
        for _ in range(n):
            self._highs.addRow(1.0, 1.0, 0, np.zeros(0, np.int32), np.zeros(0))

    def add(self, subsets: Subsets, costs: Floats) -> None:
        """Add subsets, one for each row."""
        columns, elements = np.nonzero(subsets)
        count, starts = len(costs), np.searchsorted(columns, np.arange(len(costs))).astype(np.int32)
        self._highs.addCols(
            count, costs, np.zeros(count), np.full(count, np.inf),
            len(elements), starts, elements.astype(np.int32), np.ones(len(elements)),
        )  # fmt: skip

    def solve(self) -> tuple[float, Floats, Floats]:
        """(cost, u, value of each subset)."""
        self._highs.run()
        if self._stopping.check(np.inf):
            raise Unsolved
        solution = self._highs.getSolution()
        if not (solution.dual_valid and solution.value_valid):
            raise Unsolved
        u = np.array(solution.row_dual)
        if not np.isfinite(u).all():
            raise Unsolved
        return float(self._highs.getInfo().objective_function_value), u, np.array(solution.col_value)

    def dive(self, values: Floats) -> Floats:
        """Values of subsets that are a partition: the largest that is below 1 becomes 1, again and again."""
        raised = []
        while True:
            left = np.where((values > USED) & (values < 1.0 - DECIDED), values, 0.0)
            k = int(np.argmax(left))
            if left[k] == 0.0:
                break
            raised.append(k)
            self._highs.changeColBounds(k, 1.0, np.inf)
            values = self.solve()[2]
        for k in raised:
            self._highs.changeColBounds(k, 0.0, np.inf)
        return values


class ColumnGeneration:
    """The proof that no partition costs less than is wanted, or partitions that do.

    Parameters
    ----------
    cost : ndarray of float64, shape (n, n)
        Symmetric, 0 on the diagonal; inf where a pair must be cut.
    weight : ndarray of float64, shape (n,)
        See `pricing`.
    labels : ndarray of int32, shape (n,)
        The best partition known.
    wanted : callable
        The cost that a partition must be below to be wanted.
    offer : callable
        Takes labels that may be better, and improves them.
    stopping : Stopping

    Attributes
    ----------
    bound : float
        No partition that is wanted costs less; inf if there is none.
    nodes : int
    """

    def __init__(
        self,
        cost: Floats,
        weight: Floats,
        labels: Labels,
        wanted: Callable[[], float],
        offer: Callable[[Labels], None],
        stopping: Stopping,
    ) -> None:
        n = len(cost)
        half = (LARGEST - int(np.frexp(float(np.abs(cost[np.isfinite(cost)]).max(initial=0.0)))[1])) // 2
        self._unit = 2 * half
        self._wanted, self._offer, self._stopping = wanted, offer, stopping
        self._rng, self._counter = np.random.default_rng(0), count()
        self._root = Node(
            np.arange(n, dtype=np.int32), Pricing(np.ldexp(cost, self._unit), np.ldexp(weight, half)), 0.0,
            with_singles(np.eye(n, dtype=np.uint8)[labels].T),
        )  # fmt: skip
        self.bound, self.nodes, self._near = -math.inf, 0, NEAR

    @property
    def wanted(self) -> float:
        """The cost that is wanted, in the unit of this computation."""
        return math.ldexp(self._wanted(), self._unit)

    def steps(self) -> Iterator[None]:
        """Go on until no partition is wanted, or a part cannot be solved, with pauses."""
        open_ = [(-math.inf, 0, self._root)]
        while open_:
            bound, _, node = heapq.heappop(open_)
            self._raise(bound)
            if bound >= self.wanted:
                break  # so are all others
            self.nodes += 1
            try:
                for child in (yield from self._solve(node, bound)):
                    heapq.heappush(open_, (child[0], -next(self._counter), child[1]))
            except Unsolved:
                return
        self.bound = math.inf

    def _raise(self, bound: float) -> None:
        self.bound = max(self.bound, math.ldexp(bound, -self._unit))

    # ------------------------------------------------------------------------------------------------------- one node

    def _solve(self, node: Node, bound: float) -> Generator[None, None, list[tuple[float, Node]]]:
        """Nodes that divide this one, each with a bound; none if it has no partition that is wanted."""
        pricing, n = node.pricing, node.pricing.n
        subsets, costs = node.subsets, pricing.costs(node.subsets)
        seen = set(map(bytes, np.packbits(subsets, axis=1)))
        master = Master(n, self._stopping)
        master.add(subsets, costs)
        centre: Floats | None = None
        proven, limit, dived = -math.inf, 0.0, False
        for turn in count(1):
            yield
            value, u, values = master.solve()
            if turn % ROUNDING == 0:
                self._round(node, subsets, values)
            found = np.zeros((0, n), np.uint8)
            for attempt in range(TRIES):
                aim = u if centre is None or attempt else HALFWAY * centre + (1 - HALFWAY) * u
                centre = aim
                near = pricing.near(-aim, self._starts(subsets, costs - subsets @ aim, attempt), self._stopping)
                found = _new(near[pricing.costs(near) - near @ u < -TOLERANCE], seen)
                if len(found):
                    break
            if not len(found):
                self._round(node, subsets, values)
                gap, most = self.wanted - value - node.constant, self._near * abs(self.wanted)
                if gap > most and not dived:
                    dived = True
                    self._round(node, subsets, master.dive(values))
                    gap = self.wanted - value - node.constant
                yield
                if node is not self._root and gap > most:
                    break
                for reach in (max(gap, 0.0), 0.0) if gap <= most else (0.0,):
                    limit = reach + 2 * n * TOLERANCE + 4 * pricing.error(u)
                    few, is_all = pricing.below(-u, limit, ROOM, -TOLERANCE, FOUND, WORK, self._stopping)
                    less = few[pricing.costs(few) - few @ u < -TOLERANCE]
                    if is_all or len(less) >= FOUND:
                        break
                    self._near *= NEARER
                found = _new(less, seen)
                if not len(found):
                    if is_all:
                        proven = proves(node, u, less)
                    elif node is self._root:
                        raise Unsolved
                    break
            subsets, more = np.concatenate([subsets, found]), pricing.costs(found)
            costs = np.concatenate([costs, more])
            master.add(found, more)
        bound = max(bound, proven)
        if node is self._root:
            self._raise(bound)
        if bound >= self.wanted:
            return []
        if self.wanted - proven + pricing.error(u) <= limit:  # so it has all subsets of such a partition
            yield from self._choose(node, few, u)
            return []
        if self._stopping.check(np.inf):
            raise Unsolved
        return self._divide(node, subsets, costs - subsets @ u, values, bound)

    def _starts(self, subsets: Subsets, reduced: Floats, attempt: int) -> Subsets:
        """Single elements, and the best subsets with a few elements changed, more in later attempts."""
        n = subsets.shape[1]
        best = subsets[np.argsort(reduced, kind="stable")[:BEST]]
        changed = self._rng.random(best.shape) < (CHANGED + attempt) / n
        return np.concatenate([np.eye(n, dtype=np.uint8), best ^ changed.astype(np.uint8)])

    def _round(self, node: Node, subsets: Subsets, values: Floats) -> None:
        """Offer partitions of subsets with large values."""
        some = np.flatnonzero(values > USED)
        labels = np.empty(node.pricing.n, np.int32)
        for _ in range(ROUNDINGS):
            labels[:] = -1
            for k in some[np.argsort(-values[some] * self._rng.random(len(some)), kind="stable")]:
                inside = subsets[k] > 0
                if (labels[inside] < 0).all():
                    labels[inside] = np.flatnonzero(inside)[0]
            single = np.flatnonzero(labels < 0)
            labels[single] = single
            self._offer(canonical(labels[node.merged]))

    # ------------------------------------------------------------------------------------------------ division in two

    def _divide(
        self, node: Node, subsets: Subsets, reduced: Floats, values: Floats, bound: float
    ) -> list[tuple[float, Node]]:
        """Two nodes: a pair cut, and joined."""
        weight, cost = node.pricing.weight, node.pricing.cost
        importance = np.where(np.isfinite(cost), np.outer(weight, weight) + np.abs(node.pricing.finite), 0.0)
        pair = fractional(subsets, values, importance)
        subsets = subsets[np.argsort(reduced, kind="stable")[: KEPT * subsets.shape[1]]]
        return [(bound, child) for child in (_cut(node, pair, subsets), _joined(node, pair, subsets)) if child]

    def _choose(self, node: Node, subsets: Subsets, prices: Floats) -> Iterator[None]:
        """Offer the best partition of some subsets, if it is wanted. With the prices, no other subset is in one."""
        n, costs = node.pricing.n, node.pricing.costs(subsets)
        # So that there is a solution; a partition with such a single element is not wanted.
        others = prices + 2.0 * max(self.wanted - math.fsum(prices) - node.constant, 0.0) + 1.0
        stack = [np.arange(len(costs))]
        while stack:
            yield
            chosen = stack.pop()
            master = Master(n, self._stopping)
            master.add(np.eye(n, dtype=np.uint8), others)
            master.add(subsets[chosen], costs[chosen])
            _, u, values = master.solve()
            reduced = costs[chosen] - subsets[chosen] @ u
            bound = proves(node, u, subsets[chosen])
            if bound >= self.wanted:
                continue
            self._round(node, subsets[chosen], values[n:])
            if bound >= self.wanted:
                continue
            a, b = fractional(subsets[chosen], values[n:], np.ones((n, n)))
            chosen = chosen[reduced < self.wanted - bound]
            with_a, with_b = subsets[chosen][:, a], subsets[chosen][:, b]
            parts = [chosen[(with_a & with_b) == 0], chosen[with_a == with_b]]
            if max(map(len, parts)) == len(values) - n:
                raise Unsolved  # what is missing is less than rounding hides
            stack += parts


def proves(node: Node, u: Floats, subsets: Subsets) -> float:
    """The bound that u proves, if all other subsets cost no less than u, up to the tolerance.

    A partition costs the sum of u, and what each of its subsets costs more or less than u. Let the elements of a subset
    share what it costs less: no element has more of it than in the subset where its share is largest.
    """
    pricing = node.pricing
    shares = (pricing.costs(subsets) - subsets @ u) / subsets.sum(axis=1)
    less = np.flatnonzero(shares < -TOLERANCE)
    least = np.where(subsets[less] > 0, shares[less, None], 0.0).min(axis=0, initial=-TOLERANCE)
    return math.fsum(u) + math.fsum(least) + node.constant - 2 * pricing.error(u)


def _new(found: Subsets, seen: set[bytes]) -> Subsets:
    """Those of some subsets that are not seen yet; they are now."""
    chosen: list[int] = []
    for k, key in enumerate(map(bytes, np.packbits(found, axis=1))):
        if key not in seen and len(chosen) < MOST_ADDED:
            seen.add(key)
            chosen.append(k)
    return found[chosen]


def _cut(node: Node, pair: tuple[int, int], subsets: Subsets) -> Node:
    """The node with a pair cut."""
    a, b = pair
    cost = node.pricing.cost.copy()
    cost[a, b] = cost[b, a] = np.inf
    kept = subsets[(subsets[:, a] & subsets[:, b]) == 0]
    return Node(node.merged, Pricing(cost, node.pricing.weight), node.constant, with_singles(kept))


def _joined(node: Node, pair: tuple[int, int], subsets: Subsets) -> Node | None:
    """The node with a pair joined, if it may be."""
    a, b = pair
    cost = node.pricing.cost.copy()
    if not np.isfinite(cost[a, b]):
        return None
    constant = node.constant + float(cost[a, b])
    cost[a] += cost[b]
    cost[:, a] = cost[a]
    cost[a, a] = 0.0
    weight = node.pricing.weight.copy()
    weight[a] += weight[b]
    others = np.delete(np.arange(len(cost)), b)
    merged = node.merged.copy()
    merged[merged == b] = a
    merged[merged > b] -= 1
    kept = np.delete(subsets[subsets[:, a] == subsets[:, b]], b, axis=1)
    cost = np.ascontiguousarray(cost[np.ix_(others, others)])
    return Node(merged, Pricing(cost, weight[others]), constant, with_singles(kept))


def with_singles(subsets: Subsets) -> Subsets:
    """Subsets, and all single elements."""
    n = subsets.shape[1]
    return np.concatenate([np.eye(n, dtype=np.uint8), subsets[subsets.sum(axis=1) > 1]])


def fractional(subsets: Subsets, values: Floats, importance: Floats) -> tuple[int, int]:
    """A pair that is together in some of the chosen subsets and apart in others; any pair, if there is none."""
    some = values > USED
    rows = subsets[some].astype(np.float64)
    together = (rows.T * values[some]) @ rows
    importance = np.triu(importance, 1)
    undecided = np.where(np.abs(together - 0.5) < 0.5 - DECIDED, np.minimum(together, 1.0 - together) * importance, 0.0)
    score = undecided if undecided.any() else importance
    if not score.any():
        raise Unsolved
    a, b = divmod(int(np.argmax(score)), len(score))
    return a, b

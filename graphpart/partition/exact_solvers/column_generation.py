"""Partitions as choices among all subsets of elements: column generation, enumeration, and division in two.

For each subset S of elements, let c(S) be the sum of the costs of its pairs. A partition is a choice of subsets that
has each element once, so no partition costs less than

    the largest   sum of u[a] over all elements   with   u(S) <= c(S)   for all subsets S,

the dual of the linear program over all subsets. Its bound is at least as good as that of all inequalities which hold
for the pairs of single subsets, such as 2-partitions of all sizes and positive semidefiniteness, and on networks it is
often the optimum (du Merle, Hansen, Jaumard & Mladenovic 1999; Aloise, Cafieri, Caporossi, Hansen, Perron & Liberti
2010).

1. The linear program over some subsets gives u. A search looks for subsets with c(S) < u(S), which are added (column
   generation). The search first uses a u halfway to the last one, so that u does not oscillate.
2. When the search finds no subset, but a gap is left, inequalities of triples are added: at most one subset of a
   partition contains two or three elements of a triple. These inequalities have penalties, which subsets pay, so that u
   may be larger (see `subset_rows`). Then step 1 is repeated. Inequalities without a penalty are removed.
3. When neither subsets nor triples are found, or inequalities hardly close the gap any more, a branch and bound over
   subsets finds all missing subsets, or proves that there are none (see `pricing`). Then the sum of u, less the sum of
   the penalties, is a lower bound for all partitions.
4. A partition that is better than the best one known has only subsets whose reduced cost is below the gap. If these are
   not too many, they are enumerated by the same branch and bound (Baldacci, Christofides & Mingozzi 2008), and the best
   choice among them is found by linear programs, dividing at pairs that are together in some of the chosen subsets and
   apart in others (Ryan & Foster 1981).
5. If they are too many, the problem is divided at such a pair: joined, which merges two elements, or cut. 1 to 4 follow
   for both, with the subsets that are left. Only where the linear program nearly closes the gap, bounds are proven.

Bounds are computed from u and the penalties, less the possible errors of rounding and the tolerance of the search for
subsets. No solver is trusted. Column generation has no certificate, since its proof is a search over all subsets.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from graphpart.highs import simplex
from graphpart.partition.exact_solvers.pricing import Pricing, Subsets
from graphpart.partition.exact_solvers.subset_rows import Prices, Triples, contained, joined_triples, violated
from graphpart.partition.problem import Labels, canonical
from graphpart.stopping import Stopping

__all__ = ["ColumnGeneration"]

Floats = NDArray[np.float64]
PROGRESS, SLOW = 0.03, 2  # rounds of inequalities end after SLOW in turn that close less than PROGRESS of the gap
TIGHTER = 20  # most times that inequalities are added in `_choose`
HALFWAY, TRIES = 0.5, 8  # weight of the last prices in the first attempt to find subsets; number of attempts
BEST, CHANGED = 150, 2.0  # the search starts from the subsets of least reduced cost, with some elements changed in each
KEPT = 15  # most subsets per element that each part of a divided problem takes over
FOUND, MOST_ADDED = 50, 200  # number of subsets with which the exact search ends; most subsets added at once
ROOM, WORK = 20_000, 1_000_000  # most enumerated subsets; most nodes of the search for them
NEAR, NEARER = 0.005, 0.7  # the gap, as a share of the cost, at which bounds are proven; its factor after a failure
ROUNDING, ROUNDINGS = 10, 20  # linear programs between two roundings; partitions that each rounding makes
TOLERANCE = 1e-10  # least absolute reduced cost that counts, also for HiGHS
USED, DECIDED = 1e-6, 1e-4  # least value of a subset that counts; pairs nearer than this to 0 or 1 are decided


class Unsolved(Exception):
    """The time is over, or HiGHS did not solve a linear program."""


@dataclass
class Node:
    """A part of the problem: sets of elements are merged, some of them are cut, and some subsets are known."""

    merged: Labels
    pricing: Pricing
    constant: float
    subsets: Subsets
    triples: Triples  #: triples whose inequalities are used from the beginning


class Master:
    """The linear program over some subsets, with inequalities of triples, solved by the simplex method of HiGHS."""

    def __init__(self, n: int, stopping: Stopping) -> None:
        self._highs = simplex(1, lambda: stopping.check(np.inf))
        self._stopping = stopping
        self.subsets, self.costs, self.triples = np.zeros((0, n), np.uint8), np.zeros(0), np.zeros((0, 3), np.int32)
        self._penalties = np.zeros(0)
        for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self._highs.setOptionValue(option, TOLERANCE)
        self._highs.setOptionValue("simplex_strategy", 4)  # the primal method: subsets are added
        for _ in range(n):
            self._highs.addRow(1.0, 1.0, 0, np.zeros(0, np.int32), np.zeros(0))

    def add(self, subsets: Subsets, costs: Floats) -> None:
        """Add subsets, one for each row."""
        self.subsets, self.costs = np.concatenate([self.subsets, subsets]), np.concatenate([self.costs, costs])
        columns, rows = np.nonzero(np.concatenate([subsets, contained(subsets, self.triples)], axis=1))
        count, starts = len(costs), np.searchsorted(columns, np.arange(len(costs))).astype(np.int32)
        self._highs.addCols(
            count, costs, np.zeros(count), np.full(count, np.inf),
            len(rows), starts, rows.astype(np.int32), np.ones(len(rows)),
        )  # fmt: skip

    def tighten(self, triples: Triples) -> None:
        """Add the inequalities of triples, in place of those without a penalty."""
        idle = np.flatnonzero(self._penalties == 0)
        if len(idle):
            self._highs.deleteRows(len(idle), (self.subsets.shape[1] + idle).astype(np.int32))
        self.triples = np.concatenate([np.delete(self.triples, idle, axis=0), triples])
        self._penalties = np.ones(len(self.triples))
        for column in contained(self.subsets, triples).T:
            members = np.flatnonzero(column).astype(np.int32)
            self._highs.addRow(-np.inf, 1.0, len(members), members, np.ones(len(members)))
        self._highs.setOptionValue("simplex_strategy", 1)  # the dual method, for once

    def solve(self) -> tuple[float, Prices, Floats]:
        """(cost, prices, value of each subset)."""
        self._highs.run()
        self._highs.setOptionValue("simplex_strategy", 4)
        if self._stopping.check(np.inf):
            raise Unsolved
        solution = self._highs.getSolution()
        if not (solution.dual_valid and solution.value_valid):
            raise Unsolved
        u = np.array(solution.row_dual)
        if not np.isfinite(u).all():
            raise Unsolved
        n = self.subsets.shape[1]
        self._penalties = np.maximum(-u[n:], 0.0)
        prices = Prices(u[:n], self.triples, self._penalties)
        return float(self._highs.getInfo().objective_function_value), prices, np.array(solution.col_value)

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
        # Costs are scaled below 2**10, because tolerances of HiGHS are absolute.
        half = (10 - int(np.frexp(float(np.abs(cost[np.isfinite(cost)]).max(initial=0.0)))[1])) // 2
        self._unit = 2 * half
        self._wanted, self._offer, self._stopping = wanted, offer, stopping
        self._rng, self._counter = np.random.default_rng(0), count()
        self._root = Node(
            np.arange(n, dtype=np.int32), Pricing(np.ldexp(cost, self._unit), np.ldexp(weight, half)), 0.0,
            with_singles(np.eye(n, dtype=np.uint8)[labels].T), np.zeros((0, 3), np.int32),
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
        seen = set(map(bytes, np.packbits(node.subsets, axis=1)))
        master = Master(n, self._stopping)
        master.add(node.subsets, pricing.costs(node.subsets))
        master.tighten(node.triples)
        centre: Prices | None = None
        proven, limit, dived, before, slow = -math.inf, 0.0, False, -math.inf, 0
        for turn in count(1):
            yield
            value, prices, values = master.solve()
            if turn % ROUNDING == 0:
                self._round(node, master.subsets, values)
            found = np.zeros((0, n), np.uint8)
            for attempt in range(TRIES):
                centre = aim = prices if centre is None or attempt else prices.towards(centre, HALFWAY)
                reduced = aim.reduced(master.subsets, master.costs)
                near = pricing.near(aim, self._starts(master.subsets, reduced, attempt), self._stopping)
                found = _new(near[prices.reduced(near, pricing.costs(near)) < -TOLERANCE], seen)
                if len(found):
                    break
            if not len(found):
                self._round(node, master.subsets, values)
                gap, most = self.wanted - value - node.constant, self._near * abs(self.wanted)
                if gap > most and not dived:
                    dived = True
                    self._round(node, master.subsets, master.dive(values))
                    gap = self.wanted - value - node.constant
                yield
                slow = 0 if value - before > PROGRESS * gap else slow + 1
                before = value
                if gap > 0 and slow < SLOW:
                    triples = violated(master.subsets, values, master.triples)
                    if len(triples):
                        master.tighten(triples)
                        centre = None
                        continue
                if node is not self._root and gap > most:
                    break
                for reach in (max(gap, 0.0), 0.0) if gap <= most else (0.0,):
                    limit = reach + 2 * n * TOLERANCE + 4 * pricing.error(prices)
                    few, is_all = pricing.below(prices, limit, ROOM, -TOLERANCE, FOUND, WORK, self._stopping)
                    less = few[prices.reduced(few, pricing.costs(few)) < -TOLERANCE]
                    if is_all or len(less) >= FOUND:
                        break
                    self._near *= NEARER
                    if len(less):
                        break
                found = _new(less, seen)
                if not len(found):
                    if is_all:
                        proven = proves(node, prices, less)
                    elif node is self._root:
                        raise Unsolved
                    break
            master.add(found, pricing.costs(found))
        bound = max(bound, proven)
        if node is self._root:
            self._raise(bound)
        if bound >= self.wanted:
            return []
        if self.wanted - proven + pricing.error(prices) <= limit:  # so it has all subsets of such a partition
            yield from self._choose(node, few, prices)
            return []
        if self._stopping.check(np.inf):
            raise Unsolved
        node.triples = prices.triples[prices.penalties > 0]
        return self._divide(node, master.subsets, prices.reduced(master.subsets, master.costs), values, bound)

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

    def _choose(self, node: Node, subsets: Subsets, prices: Prices) -> Iterator[None]:
        """Offer the best partition of some subsets, if it is wanted. With the prices, no other subset is in one."""
        n, costs = node.pricing.n, node.pricing.costs(subsets)
        # These make the program feasible. A partition with such a single element is not wanted.
        others = prices.elements + 2.0 * max(self.wanted - prices.total - node.constant, 0.0) + 1.0
        stack = [(np.arange(len(costs)), prices.triples[prices.penalties > 0])]
        while stack:
            chosen, triples = stack.pop()
            master = Master(n, self._stopping)
            master.add(np.eye(n, dtype=np.uint8), others)
            master.add(subsets[chosen], costs[chosen])
            for _ in range(TIGHTER):
                yield
                master.tighten(triples)
                _, prices, values = master.solve()
                bound = proves(node, prices, subsets[chosen])
                if bound >= self.wanted:
                    break
                self._round(node, subsets[chosen], values[n:])
                if bound >= self.wanted:
                    break
                triples = violated(master.subsets, values, master.triples)
                if not len(triples):
                    break
            if bound >= self.wanted:
                continue
            a, b = fractional(subsets[chosen], values[n:], np.ones((n, n)))
            chosen = chosen[prices.reduced(subsets[chosen], costs[chosen]) < self.wanted - bound]
            with_a, with_b = subsets[chosen][:, a], subsets[chosen][:, b]
            parts = [chosen[(with_a & with_b) == 0], chosen[with_a == with_b]]
            if max(map(len, parts)) == len(values) - n:
                raise Unsolved  # the remaining gap is smaller than the rounding error
            stack += [(part, prices.triples[prices.penalties > 0]) for part in parts]


def proves(node: Node, prices: Prices, subsets: Subsets) -> float:
    """The bound that prices prove, if no other subset has a negative reduced cost, up to the tolerance.

    A partition costs at least the total of the prices plus the sum of the reduced costs of its subsets. Let the
    elements of a subset share a negative reduced cost. No element has more than its largest share in any subset.
    """
    pricing = node.pricing
    shares = prices.reduced(subsets, pricing.costs(subsets)) / subsets.sum(axis=1)
    less = np.flatnonzero(shares < -TOLERANCE)
    least = np.where(subsets[less] > 0, shares[less, None], 0.0).min(axis=0, initial=-TOLERANCE)
    return prices.total + math.fsum(least) + node.constant - 2 * pricing.error(prices)


def _new(found: Subsets, seen: set[bytes]) -> Subsets:
    """The subsets that were not seen yet; marks them as seen."""
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
    return Node(node.merged, Pricing(cost, node.pricing.weight), node.constant, with_singles(kept), node.triples)


def _joined(node: Node, pair: tuple[int, int], subsets: Subsets) -> Node | None:
    """The node with a pair joined, if this is allowed."""
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
    return Node(merged, Pricing(cost, weight[others]), constant, with_singles(kept), joined_triples(node.triples, a, b))


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

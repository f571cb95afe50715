"""The tree of a branch and cut: relaxation, cutting planes, rounding, fixing by reduced costs, and division in two."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Generator, Iterator

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import first_of
from graphpart.common.judge import judge_of
from graphpart.common.steps import decimal_step, round_up
from graphpart.partition.bounds import simplex
from graphpart.partition.bounds.message_passing import rounds_of_messages
from graphpart.partition.bounds.relaxation import PARAMETERS, Relaxation
from graphpart.partition.bounds.semidefinite import Semidefinite
from graphpart.partition.bounds.trivial_bound import trivial_bound
from graphpart.partition.certificates.certificate import common_step, proven_bound
from graphpart.partition.certificates.inequalities import Inequalities
from graphpart.partition.certificates.kept import Kept, is_keeping
from graphpart.partition.exact_solvers.branching import PseudoCosts
from graphpart.partition.exact_solvers.column_generation import ColumnGeneration
from graphpart.partition.exact_solvers.pricing import fitting_weights
from graphpart.partition.exact_solvers.regions import Regions
from graphpart.partition.exact_solvers.rounding import linked, rounded
from graphpart.partition.exact_solvers.whole import WhatIsLeft, Whole
from graphpart.partition.inputs.arrays import keys_of_pairs
from graphpart.partition.local_search.improve import fixed_point
from graphpart.partition.local_search.kernighan_lin import improve_by_sequences
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.derived import connected
from graphpart.partition.problem.rules import Rules

__all__ = ["Tree"]

Decisions = tuple[tuple[int, bool, float], ...]  # variable; whether it is joined; distance of its value from that
Start = tuple[Inequalities, NDArray[np.float64], NDArray[np.float64]]
Children = Generator[None, None, list[tuple[float, Decisions]]]


class Tree:
    """Branch and cut on one block of a component."""

    def __init__(
        self, p: SetPartition, labels: Labels, search: Whole, share: float = 1.0, allowance: float = math.inf
    ) -> None:
        self.p, self.labels, self.search, self.stopping = p, labels, search, search.stopping
        self.parameters = search.parameters
        self.cost = p._evaluate_labels(labels)
        if not self.cost <= 0:  # across components, all may be cut
            self.labels, self.cost = np.arange(p.n, dtype=np.int32), 0.0
        self.open: list[tuple[float, int, Decisions, Start | None]] = []
        self.step = common_step(p)
        finite = p.pairs()[2]
        largest = float(np.abs(finite[np.isfinite(finite)]).max(initial=0.0))
        self.bound = trivial_bound(p)
        largest = min(largest, -self.bound)  # partitions that pay more than all attraction cost more than 0
        finest = min(self.parameters.resolution * share * largest, allowance)
        step = (self.step, 0.0) if self.step else decimal_step(finite[np.isfinite(finite)])
        self.judge = judge_of(*step, finest)
        self.allowance = 0.0 if self.step else finest  # how much less than a proven partition another one may cost
        self.value = self.cost if self.proven else self.bound
        self.rest: WhatIsLeft | None = None  # of the problem, while it is solved
        self.kept: Kept | None = None  # what the root has proven, if that is wanted

    @property
    def proven(self) -> bool:
        """Whether no partition is better than the best one known."""
        return self.closed(self.bound)

    @property
    def goal(self) -> float:
        """The bound that closes a node."""
        return self.judge.goal(self.cost)

    def closed(self, bound: float) -> bool:
        """Whether a bound shows that no partition is better than the best one known."""
        return self.judge.meets(bound, self.cost)

    def steps(self, nodes: float = math.inf) -> Iterator[None]:
        """Improve partition and bound until they meet, the run is stopped, or `nodes` further nodes are solved.

        Pauses after each round of a relaxation and each region, so that others can have their turn. `offer` takes over
        the partitions that others find meanwhile.
        """
        if self.proven or self.search.ends():
            return
        if not self.open:
            yield from self._begin()
        nodes += self.search.work.nodes
        r = self.relaxation
        while self.open and self.search.work.nodes < nodes and not self.search.ends():
            bound, _, decisions, start = heapq.heappop(self.open)
            self._raise(bound)
            if self.closed(bound):
                self.open.clear()  # so are all others
                break
            if start is not None:
                self.relaxation.start_again(*start)
            children = yield from self._solve(decisions, bound)
            self._keep(decisions, children)
            self.search.work.nodes += 1
            if decisions and len(children) != 1:
                self.pseudo_costs.note(*decisions[-1], min(children[0][0] if children else np.inf, self.cost) - bound)
            start = self._start() if children else None
            for value, child in children:
                self._count += 1
                heapq.heappush(self.open, (value, -self._count, child, start))
                start = None  # the last one is worked on at once
            self._raise(min((entry[0] for entry in self.open), default=math.inf))
        if not self.open or self.proven:
            if self.kept is None:  # proven by the first multipliers
                self.kept = self._proven_by(r)
            del self.relaxation, self.pseudo_costs, self.simplex, self.semidefinite, r  # there may be many trees

    @property
    def has_begun(self) -> bool:
        """Whether there is a relaxation, or was one."""
        return hasattr(self, "relaxation") or self.proven

    def known(self) -> Kept | None:
        """What the root has proven so far, if that is wanted."""
        return self._proven_by(self.relaxation) if self.kept is None and hasattr(self, "relaxation") else self.kept

    def _proven_by(self, r: Relaxation) -> Kept | None:
        return Kept(np.arange(self.p.n), *r.best, r.y.copy(), {}) if is_keeping() else None

    def _keep(self, decisions: Decisions, children: list[tuple[float, Decisions]]) -> None:
        """Keep what the root has proven, on which pair a node was divided, and what has closed some nodes."""
        r = self.relaxation
        if not decisions:
            self.kept = self._proven_by(r)
        if self.kept is None:
            return
        path = frozenset((int(r.u[e]), int(r.v[e]), joined) for e, joined, _ in decisions)
        if len(children) == 2:
            e = children[0][1][-1][0]
            self.kept.nodes[path] = int(r.u[e]), int(r.v[e])
        elif decisions and not children and len(self.kept.nodes) < 4 * self.parameters.remembered:
            self.kept.nodes[path] = self._proven_by(r)

    def _begin(self) -> Iterator[None]:
        """The relaxation at the root, which starts from some rounds of message passing."""
        self.relaxation = Relaxation(self.p, self.stopping)
        self.pseudo_costs = PseudoCosts(self.relaxation)
        self.fixed_before = self._count_fixed()
        self.simplex = simplex.Simplex(self.search.threads) if simplex.is_available() else None
        self.semidefinite: Semidefinite | None = None
        self.small = True  # whether nodes begin with small 2-partitions: until these are too little for one
        r = self.relaxation
        first = Inequalities.none(), np.zeros(0)
        for first in rounds_of_messages(self.p, self.stopping, rounds=1 if self._has_regions() else 2):
            self._raise(proven_bound(self.p, *first))
            yield
        r.start(*first)
        self._raise(r.bound)
        self.fixed = (r.lower.copy(), r.upper.copy())  # bounds of variables that hold for all better partitions
        self.open = [(self.bound, 0, (), None)]
        self._count = 0

    def _raise(self, bound: float) -> None:
        """Take over a bound for all better partitions. Limited to the least known cost, it holds for all partitions."""
        bound = min(round_up(bound, self.step) if math.isfinite(bound) else bound, self.cost)
        if bound > self.bound:
            self.bound = bound
            self._note(0.0)

    def _accept(self, labels: Labels, cost: float) -> None:
        """Take over a better partition."""
        gained, self.labels, self.cost = cost - self.cost, labels, cost
        self._note(gained)

    def _note(self, gained: float) -> None:
        before, self.value = self.value, self.cost if self.proven else self.bound
        self.search.note(gained, self.value - before)

    def offer(self, labels: Labels) -> None:
        """Take over a partition, if it is better."""
        cost = self.p._evaluate_labels(labels)
        if cost < self.cost:
            self._accept(labels, cost)
            if self.rest is not None:
                self.rest.offer(labels)

    def hear(self, labels: Labels, bound: float) -> None:
        """Take over a better partition, and a bound for all better ones, from the remaining problem."""
        cost = self.p._evaluate_labels(labels)
        if cost < self.cost:
            self._accept(labels, cost)
        self._raise(bound)

    def _solve(self, decisions: Decisions, known: float) -> Children:
        """Solve one node. Returns no nodes if it is closed, else the two nodes that divide it, each with a bound."""
        r, a = self.relaxation, self.parameters
        if not self._decide(decisions):
            return []
        r.bound = -math.inf
        r.offer(r.rows.multipliers)
        r.tolerance, r.small = PARAMETERS.violated, self.small
        idle, vertex, failed, slow = 0, False, False, 0
        bounds: list[float] = []
        while not self.closed(r.bound):
            if self.search.ends():
                return [(max(known, r.bound), decisions)]
            before = r.bound
            started = time.perf_counter()
            if vertex:
                assert self.simplex is not None
                vertex = self.simplex.solve(r)
                failed = not vertex  # as if no point were left: the other method continues
            elif self.semidefinite is not None:
                self.semidefinite.round()
            else:
                r.round()
            self.search.work.lp_seconds += time.perf_counter() - started
            self.search.work.rounds += 1
            if not decisions:
                self._raise(r.bound)
            if r.rounds % (25 if self._has_regions() else 5) == 1 or vertex:
                self._round_point()
            yield
            if self.closed(r.bound):
                return []
            self._fix(not decisions)
            if not (r.lower < r.upper).any():
                break
            if vertex:
                r.tolerance = PARAMETERS.finest
            added = r.separate()
            self.search.work.cuts += added
            if vertex and not added:
                if self._is_partition():
                    return []
                break
            missing = self.goal - r.bound
            progress = r.bound - before > a.progress * missing
            if not decisions and self._has_regions():  # division does not compensate for an unsolved relaxation
                progress = r.bound - before > a.converged * missing or (added > 0 and not r.is_thorough)
            idle = 0 if progress else idle + 1
            bounds.append(r.bound)
            divide = self._is_better_divided(bounds, missing)
            if divide:
                idle = a.idle + 1
            if not decisions and r.complete and r.connecting is None and slow < 2:
                slow = 0 if r.bound - before > a.slow * missing else slow + 1
                columns = self._columns() if slow == 2 else None
                if columns is not None and (yield from self._generate(columns)):
                    return []
            if idle > a.idle and r.complete and r.small and not divide:
                r.small = self.small = False
                idle = 0
                continue
            if idle > a.idle:
                far = r.complete and self.p.n >= a.semidefinite and missing > a.far * abs(self.cost)
                if far and self.semidefinite is None:
                    self.semidefinite, idle = Semidefinite(r), 0
                    continue
                if self.simplex is None or vertex or failed or len(r.rows.pairs) > a.vertex_terms:
                    break
                vertex, idle = True, 0
        if self.closed(r.bound):
            return []
        if not decisions and self._has_regions():
            known = max(known, (yield from self._solve_regions()))
            if self.closed(known):
                return []
        if not decisions and not r.complete and self._shrinks():
            return (yield from self._start_again(max(known, r.bound)))
        return self._divide(decisions, max(known, r.bound))

    def _is_better_divided(self, bounds: list[float], missing: float) -> bool:
        """Whether the gap is small, but closing it would take many more rounds at the rate of the last rounds.

        Cutting planes raise the bound more and more slowly, but after a decision it rises fast again.
        """
        a = self.parameters
        if not self.relaxation.complete or len(bounds) <= a.window or missing > a.far * abs(self.cost):
            return False
        return missing * a.window > a.most_rounds * (bounds[-1] - bounds[-1 - a.window])

    def _start(self) -> Start | None:
        """The starting point of the relaxation in a child node that is not solved next."""
        r = self.relaxation
        large = r.complete and len(r.rows.pairs) > self.parameters.vertex_terms
        if not large or self.semidefinite is not None or len(self.open) >= self.parameters.remembered:
            return None
        return (*r.best, r.y.copy())

    def _columns(self) -> ColumnGeneration | None:
        """Column generation, if the problem has few elements and its pairs repel as products of weights do."""
        least, most = self.parameters.columns
        if self.simplex is None or not least <= self.p.n <= most:
            return None
        cost, (u, v, given) = np.zeros((self.p.n, self.p.n)), self.p.pairs()
        cost[u, v] = cost[v, u] = given
        weight = fitting_weights(cost)
        if weight is None:
            return None
        stopping = self.stopping.child(plus=math.inf)

        def offer(labels: Labels) -> None:
            if math.isfinite(self.p._evaluate_labels(labels)):
                self._take(fixed_point(self.p, labels, improve_by_sequences, stopping))

        return ColumnGeneration(cost, weight, self.labels, lambda: self.goal, offer, stopping)

    def _generate(self, columns: ColumnGeneration) -> Generator[None, None, bool]:
        """Solve the problem by column generation; whether this proves that the best partition known is optimal."""
        self.search.work.columns += 1
        yield  # the search may begin
        for _ in columns.steps():
            self._raise(columns.bound)
            yield
            if self.search.ends():
                return False
        self._raise(columns.bound)
        return columns.bound == math.inf

    def _has_regions(self) -> bool:
        """Whether the problem is so large and sparse that the gap may be in a few regions."""
        return not self.relaxation.complete and self.p.n >= self.parameters.regions

    def _solve_regions(self) -> Generator[None, None, float]:
        """Raise the bound for all better partitions by regions (see `regions`), and fix pairs that follow from it."""
        self._round_point()
        r = self.relaxation
        regions = Regions(self.p, r, self.labels, self.search.solve_region, self.stopping)
        bound, effort = -math.inf, 1
        while effort <= self.parameters.effort and not self.closed(bound) and not self.search.ends():
            yield from regions.steps(effort)
            if regions.cost < self.cost:
                self._accept(regions.labels, regions.cost)
            bound = r.proves(r.rows.multipliers) + regions.gain
            self._raise(bound)
            self._fix(True)
            # Outside the regions, the other way costs at least the reduced cost more.
            reduced = r.reduced(r.rows.multipliers)
            decided = regions.outside & (r.lower < r.upper) & (bound + np.abs(reduced) >= self.goal)
            r.upper[decided & (reduced > 0)] = 0.0
            r.lower[decided & (reduced < 0)] = 1.0
            self.fixed = (r.lower.copy(), r.upper.copy())
            if self._shrinks():
                break
            effort *= 2
        return bound

    def _shrinks(self) -> bool:
        """Whether many pairs are fixed, so that a smaller problem is left."""
        fixed = self._count_fixed() - self.fixed_before
        return bool(fixed > self.parameters.shrunk * (np.count_nonzero(self.relaxation.cost) - self.fixed_before))

    def _count_fixed(self) -> int:
        """The number of pairs with a cost that are cut, or within a set that can be contracted."""
        r = self.relaxation
        fixed = (r.lower == r.upper) & (r.cost != 0)
        if r.connecting is not None:
            merged = self._connected_bounds()
            fixed &= (r.upper < 0.5) | (merged[r.u] == merged[r.v])
        return int(np.count_nonzero(fixed))

    def _start_again(self, bound: float) -> Children:
        """Solve the remaining problem with fixed pairs: contract it, reduce it, and divide it.

        All partitions better than the one known are partitions of the remaining problem, so the bound of the remaining
        problem holds for them. If subsets have to be connected, a set that only lifted pairs connect is not contracted,
        because it is undecided which base pairs link its elements.
        """
        r, p = self.relaxation, self.p
        merged = self._connected_bounds()
        if not np.isfinite(p._evaluate_labels(merged)):
            return []
        q = p._contract(merged)
        u, v, cost = q.pairs()
        zeros = r.upper < 0.5
        cut = keys_of_pairs(merged[r.u[zeros]], merged[r.v[zeros]], q.n)
        if (merged[r.u[zeros]] == merged[r.v[zeros]]).any():
            return []  # no better partition agrees with all that is fixed
        keys = u.astype(np.int64) * q.n + v
        dense = q.is_dense
        cost = np.where(np.isin(keys, cut), np.inf, cost)
        q = SetPartition._of_pairs(range(q.n), u, v, cost, rules=Rules(lifted=q.lifted), dense=dense)
        known = canonical(self.labels[first_of(merged)])
        del self.relaxation  # the smaller problem has its own
        self.rest = rest = self.search.rest_of(self, q, known, merged)
        yield from rest.steps()
        self.rest, self.relaxation = None, r
        if rest.proven or self.closed(rest.bound):
            return []
        return [(max(bound, rest.bound), ())]

    def _decide(self, decisions: Decisions) -> bool:
        """Set the bounds of variables that follow from decisions. False if decisions contradict each other."""
        r, n = self.relaxation, self.p.n
        r.lower, r.upper = self.fixed[0].copy(), self.fixed[1].copy()
        if decisions:
            joined = np.array([e for e, join, _ in decisions if join], np.int64)
            cut = np.array([e for e, join, _ in decisions if not join], np.int64)
            ones = r.lower > 0.5
            ends = np.concatenate([r.u[joined], r.u[ones]]), np.concatenate([r.v[joined], r.v[ones]])
            block = connected(n, *ends)
            a, b = block[r.u], block[r.v]
            zeros = r.upper < 0.5
            keys = np.concatenate([keys_of_pairs(a[cut], b[cut], n), keys_of_pairs(a[zeros], b[zeros], n)])
            apart = np.isin(keys_of_pairs(a, b, n), keys)
            r.lower[a == b] = 1.0
            r.upper[apart] = 0.0
            if (a[cut] == b[cut]).any():
                return False
        return bool((r.lower <= r.upper).all())

    def _fix(self, everywhere: bool) -> None:
        """Fix each pair that all better partitions of this node join, or that all of them cut."""
        r = self.relaxation
        reduced = r.reduced(r.rows.multipliers)
        decided = r.proves(r.rows.multipliers) + np.abs(reduced) >= self.goal
        free = r.lower < r.upper
        r.upper[free & decided & (reduced > 0)] = 0.0
        r.lower[free & decided & (reduced < 0)] = 1.0
        if everywhere:
            self.fixed = (r.lower.copy(), r.upper.copy())

    def _round_point(self) -> None:
        """Round the point of the relaxation to partitions, and refine these by local search."""
        apart = self.stopping.child(plus=math.inf)  # its costs are not those of the whole problem
        for labels in rounded(self.p, self.relaxation, self.labels, self._has_regions(), apart):
            self._take(labels)

    def _take(self, labels: Labels) -> None:
        """Take over a partition if it is better by more than rounding."""
        cost = self.p._evaluate_labels(labels)
        if cost < self.cost - 1e-12 * abs(self.cost):
            self._accept(labels, cost)

    def _is_partition(self) -> bool:
        """Whether the point is a partition that closes the node. This partition is then the best one of the node."""
        y = self.relaxation.y
        if (np.minimum(y, 1 - y) > 1e-6).any():  # more than the tolerance of a vertex
            return False
        labels = linked(self.relaxation, y > 0.5)
        cost = self.p._evaluate_labels(labels)
        if cost < self.cost:
            self._accept(labels, cost)
        return self.closed(self.relaxation.bound)

    def _divide(self, decisions: Decisions, bound: float) -> list[tuple[float, Decisions]]:
        """Two nodes: a pair cut, and joined. The node nearer to the point comes last, and is solved first."""
        r = self.relaxation
        free = r.lower < r.upper
        if not free.any():
            labels = self._connected_bounds()
            cost = self.p._evaluate_labels(labels)
            if cost < self.cost:
                self._accept(labels, cost)
            return []
        e = self.pseudo_costs.choose(free)
        y = min(max(float(r.y[e]), 0.0), 1.0)
        cut, joined = (bound, (*decisions, (e, False, y))), (bound, (*decisions, (e, True, 1.0 - y)))
        return [cut, joined] if y >= 0.5 else [joined, cut]

    def _connected_bounds(self) -> Labels:
        return linked(self.relaxation, self.relaxation.lower > 0.5)

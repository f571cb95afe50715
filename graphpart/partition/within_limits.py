"""The methods `auto` and `exact` for problems that limit the sizes or the number of clusters.

1. Problems with very few elements are enumerated, and those in which every element is by itself need no search.
2. For other problems, there is one race (see `graphpart.common.race`) of the search, which obeys the limits, with
   provers. It begins with a bound from sizes alone (see `graphpart.partition.bounds.size_bound`). The provers are:
   * branch and cut without the limits, or quicker bounds if there are too many pairs. Its lower bounds hold within the
     limits, too. If the optimum without the limits obeys them, it is also the optimum within them. If that proves more,
     prices of partners take the place of a largest size (see `graphpart.partition.bounds.size_prices`).
   * the integer program, which takes all limits into account, unless the problem has too many elements. It is alone
     if no partition within the limits is found to start from.
   * if the number of clusters is limited and elements are few, a semidefinite relaxation that knows this number. If it
     is small, the bound without limits is far.
   If at most two clusters are allowed and nothing else is required, the search is that of binary quadratic forms. If
   elements or pairs are few, branch and cut for two clusters takes the place of these provers, or is one more if two
   clusters are required, which it does not know.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphpart.common.race import Race, RaceParameters
from graphpart.errors import InfeasibleProblem
from graphpart.machine import processors
from graphpart.methods import ENUMERATED_ELEMENTS
from graphpart.partition.anytime_search.parameters import SearchParameters
from graphpart.partition.anytime_search.search import start_within
from graphpart.partition.anytime_search.searcher import Searcher
from graphpart.partition.anytime_search.two_sides import TwoSides
from graphpart.partition.bounds.bounding import Bounding
from graphpart.partition.bounds.cycle_packing import pack
from graphpart.partition.bounds.size_bound import size_bound
from graphpart.partition.bounds.size_prices import Priced, with_size_prices
from graphpart.partition.bounds.trivial_bound import lowered, trivial_bound
from graphpart.partition.certificates.certificate import proven_bound
from graphpart.partition.certificates.judging import judge_of_partition
from graphpart.partition.conclusion import concluded
from graphpart.partition.exact_solvers.branch_and_cut import BranchAndCut
from graphpart.partition.exact_solvers.brute_force import enumerated
from graphpart.partition.exact_solvers.few_clusters import FewClusters
from graphpart.partition.exact_solvers.ilp import ilp
from graphpart.partition.exact_solvers.two_clusters import TwoClusters, allows_all_sides
from graphpart.partition.local_search.greedy_joining import join
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.forms import as_pairs, explicit, without_limits
from graphpart.partition.races import PATIENCE, PROVING, RacesParameters
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["LARGEST_PROVEN", "solve_within_limits"]

FREE, PRICED = "the optimum without limits", "prices of sizes"
LARGEST_PROVEN = 100  # most elements of a problem that is given to the integer program
QUICK = 0.05  # most of the time for each bound before the race
PRICING = 0.2  # most of the time for prices of sizes


class _Proofs:
    """Three provers as one contestant: one without the limits, the integer program, and the bound for few clusters.

    The others have as much time as each other, where they are for the problem. The last has as much as both together,
    or nine tenths of all if its bound is above that without limits and the problem is too large for the program.
    The integer program starts anew in each of its turns, each twice as long as the last. If no later turn could be
    longer, it has all that is left.
    """

    proves = True

    def __init__(
        self,
        p: SetPartition,
        contraction: Contraction,
        labels: Labels,
        inner: BranchAndCut | Bounding,
        less: float,
        few: FewClusters | None,
    ) -> None:
        self.p, self.contraction, self.inner, self.less, self.few = p, contraction, inner, less, few
        first = 0.0 if few is None else min(1.0, 10.0 * few.needs)
        self._ahead = -first  # seconds of the bound for few clusters, after its first ones, less those of the others
        self.labels, self.cost = labels, contraction.problem._evaluate_labels(labels)
        self.bound, self.name = -math.inf, PRICED if less else FREE
        self._solved = p.n > LARGEST_PROVEN  # whether the integer program has nothing to do
        self._spent = self._last = 0.0  # seconds without the limits less those of the program; of its last turn

    @property
    def done(self) -> bool:
        return self.inner.done and self._solved and (self.few is None or self.few.done)

    @property
    def needs(self) -> float:
        if self.few is not None and self._few_is_next:
            return self.few.needs
        return self.inner.needs if self._solved or self._spent <= 0.0 else 0.0

    @property
    def inner_bound(self) -> float:
        """The bound of the prover without the limits, less what prices pay."""
        bound = self.inner.bound
        return bound if not self.less else math.nextafter(bound - self.less, -math.inf)

    @property
    def _few_is_next(self) -> bool:
        """Whether the next turn is that of the bound for few clusters."""
        others = self._ahead > 0.0 and not (self.inner.done and self._solved)
        return self.few is not None and not self.few.done and not others

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a partition: if it obeys the limits, it is also one without them."""
        self.labels, self.cost = labels, cost
        paid = cost if not self.less else self.inner.p._evaluate_labels(labels)
        if paid < self.inner.cost:
            self.inner.offer(labels, paid)

    def run(self, stopping: Stopping, until: float | None) -> None:
        """One turn of one of them; of all, if there is no time limit."""
        began = stopping.seconds
        few = self.few if self._few_is_next else None
        if few is None or until is None:
            self._run_others(stopping, until)
            leads = self._solved and self.few is not None and self.few.bound > self.inner_bound
            self._ahead -= (9.0 if leads else 1.0) * (stopping.seconds - began)
        if few is not None and self.bound < self.cost:
            few.run(stopping.child(plus=math.inf), until, self.cost)
            self._take(self.labels, self.cost, few.bound, few.name)
            if until is not None:
                self._ahead += stopping.seconds - began

    def _run_others(self, stopping: Stopping, until: float | None) -> None:
        began = stopping.seconds
        if not self.inner.done and (self._solved or self._spent <= 0.0 or until is None):
            self.inner.run(stopping.child(plus=math.inf), until)  # costs of partitions that violate limits are not told
            cost = self.contraction.problem._evaluate_labels(self.inner.labels)
            self._take(self.inner.labels, cost, self.inner_bound, PRICED if self.less else FREE)
            self._spent += stopping.seconds - began
            if until is not None or self.bound >= self.cost:
                return
        if not self._solved and not stopping.check(self.cost):
            self._solve_program(stopping, until)

    def _solve_program(self, stopping: Stopping, until: float | None) -> None:
        began, constant, left = stopping.seconds, self.contraction.constant, stopping.remaining
        if until is not None:
            length = max(until - began, 2.0 * self._last)
            left = length if left is None or 2.0 * length < left else left

        def told(_: float, cost: float) -> bool:
            if math.isfinite(cost):
                stopping.record(cost - constant)
            return stopping.check(cost - constant)

        found = ilp(self.p, initial=self.contraction.lift(self.labels), time_limit=left, callback=told)
        labels = self.contraction.project(found.labels)
        cost = self.contraction.problem._evaluate_labels(labels)
        bound = cost if found.status is Status.OPTIMAL else found.lower_bound - constant
        self._take(labels, cost, bound, "integer program")
        self._last = stopping.seconds - began
        self._spent -= self._last
        self._solved = found.status is Status.OPTIMAL or self._last < (left or math.inf) / 2

    def _take(self, labels: Labels, cost: float, bound: float, name: str) -> None:
        if cost < self.cost:
            self.labels, self.cost = labels, cost
        if bound > self.bound:
            self.bound, self.name = bound, name


def solve_within_limits(
    p: SetPartition,
    start: Labels | None,
    method: str,
    stopping: Stopping,
    seed: int = 0,
    threads: int | None = None,
    parameters: SearchParameters | None = None,
) -> PartitionResult:
    """Solve a problem with limits.

    Parameters
    ----------
    p : SetPartition
    start : ndarray of int32, shape (n,), optional
        Feasible labels.
    method : "auto" or "exact"
    stopping : Stopping
    seed, threads : int
    parameters : SearchParameters, optional
    """
    assert p._limits is not None
    least = p._limits.least
    if p._limits.max_size == 1 or least == p.n or p._limits.most == 1:  # every element by itself, or all together
        labels = np.zeros(p.n, np.int32) if p._limits.most == 1 else np.arange(p.n, dtype=np.int32)
        return concluded(p, labels, math.inf, method, stopping, f"the only partition; {p._limits}")
    p = as_pairs(p)
    contraction = Contraction(p)
    q, constant = contraction.problem, contraction.constant
    if q.n <= ENUMERATED_ELEMENTS:
        inner = stopping.child(plus=constant)
        labels = contraction.lift(enumerated(q, inner))
        if inner.reason is not None:
            stopping.stop(inner.reason)
        bound = trivial_bound(without_limits(p)) if inner.reason else math.inf
        known = None if start is None else (start, p._evaluate_labels(start))
        how, beside = ("search", {"bound": "without limits"}) if inner.reason else ("brute force", {})
        return concluded(p, labels, bound, method, stopping, f"{how}; {p._limits}", start=known, info=beside)
    seconds = PATIENCE if stopping.remaining is None and method == "auto" else stopping.remaining
    try:
        labels = start_within(p, contraction, start, stopping)
    except InfeasibleProblem:
        if p.n > LARGEST_PROVEN:
            raise
        program = ilp(p, time_limit=seconds, callback=lambda _, cost: stopping.check(cost))
        bound = math.inf if program.status is Status.OPTIMAL else program.lower_bound
        return concluded(p, program.labels, bound, method, stopping, f"integer program; {p._limits}")
    inner = stopping.child(seconds=seconds, plus=constant)
    first = contraction.project(labels)
    cost = q._evaluate_labels(first)
    inner.record(cost)
    free = without_limits(q)
    threads = threads or processors()
    if allows_all_sides(q):
        contestants: list[Any] = [TwoSides(q, first, seed, threads)]
    else:
        contestants = [Searcher(q, first, False, seed, threads, parameters=parameters)]
    turns = PROVING if method == "exact" else None
    if TwoClusters.fits(q):
        contestants.append(TwoClusters(q, first))
    few: FewClusters | None = None
    priced = Priced(free, 0.0)
    if not contestants[-1].proves or least > 1:
        left = inner.remaining
        if p.n > LARGEST_PROVEN:  # else the integer program knows the sizes
            part = inner.child(seconds=None if left is None else PRICING * left, plus=math.inf)
            # Without limits, greedy joining mostly finds clusters that are too large, if the limits matter.
            joined = join(free, np.arange(q.n, dtype=np.int32), part)
            if q._limits is not None and q._limits.violation(joined) is not None:
                priced = with_size_prices(q, part)
        prover = _prover(priced.problem, first, stopping, constant - priced.less, threads, inner.remaining)
        few = FewClusters(q) if FewClusters.fits(q) else None
        contestants.append(_Proofs(p, contraction, first, prover, priced.less, few))
        if few is not None and turns is None:
            turns = RaceParameters(hope=1.0, stuck=0.8)  # its bound is far, and rises long after the search is stuck
    provers = [one for one in contestants if one.proves]
    judge = judge_of_partition(free)
    left = inner.remaining
    quick = math.inf if left is None else QUICK * left
    sized, packed = size_bound(p, quick) - constant, trivial_bound(free)
    if few is not None:  # then all costs are listed
        # The bound for few clusters takes the first turns, and is far below that without limits in some problems.
        part = inner.child(seconds=None if left is None else quick, plus=math.inf)
        packed = max(packed, lowered(free, proven_bound(free, *pack(free, part))))
    race = Race(contestants, first, cost, max(sized, packed, judge.rounded(priced.bound)), lambda _: judge, turns)
    race.run(inner)
    bound = math.inf if race.proven else constant + race.bound
    info: dict[str, Any] = {}
    how = f"{race.prover or 'search' if bound == math.inf else 'search'}; {p._limits}"
    without = not priced.less and all(one.name == FREE or one.bound < race.bound for one in provers)
    if not race.proven and race.bound > sized and without:
        how += "; the bound is that without limits, so the gap does not say how good the clusters are"
        info = {"bound": "without limits"}
    if not race.proven and method == "auto" and stopping.remaining is None:
        how += f"; more search and proofs with time_limit={10 * PATIENCE:.0f}"
    found = contraction.lift(race.labels)
    return concluded(p, found, bound, method, stopping, how, start=(labels, p._evaluate_labels(labels)), info=info)


def _prover(
    free: SetPartition, labels: Labels, stopping: Stopping, constant: float, threads: int, limit: float | None
) -> BranchAndCut | Bounding:
    """The prover of a bound for a problem without limits."""
    found = explicit(free) or free
    races = RacesParameters()
    listed = races.with_groups_listed(found)

    def raised(bound: float) -> None:
        stopping.raise_bound(constant + bound)

    late = limit is not None and BranchAndCut.needed(listed) > races.hopeless * limit
    if listed.background is None and races.fits(listed) and not late:
        return BranchAndCut(listed, labels, threads=threads, raised=raised)
    return Bounding(found, labels, raised=raised, seconds=math.inf if limit is None else limit)

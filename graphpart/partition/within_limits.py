"""Problems that limit the sizes or the number of clusters: what `auto` and `exact` do with them.

1. Problems with very few elements are enumerated.
2. For other problems, there is a race (see `graphpart.common.race`) between the search, which obeys the limits, and a
   prover, which ignores them. The prover is branch and cut, or quicker bounds if there are too many pairs. Its lower
   bounds hold within the limits, too. If the optimum without the limits obeys them, it is also the optimum within them.
   If at most two clusters are allowed and pairs are few, odd cycles prove bounds that take this limit into account.
3. If the optimum without the limits violates them, `exact` continues with the integer program, unless the problem has
   too many elements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from graphpart.common.race import Race
from graphpart.machine import processors
from graphpart.methods import ENUMERATED_ELEMENTS
from graphpart.partition.anytime_search.parameters import SearchParameters
from graphpart.partition.anytime_search.search import start_within
from graphpart.partition.anytime_search.searcher import Searcher
from graphpart.partition.bounds.bounding import Bounding
from graphpart.partition.bounds.trivial_bound import trivial_bound
from graphpart.partition.certificates.judging import judge_of_partition
from graphpart.partition.conclusion import concluded
from graphpart.partition.exact_solvers.branch_and_cut import BranchAndCut
from graphpart.partition.exact_solvers.brute_force import enumerated
from graphpart.partition.exact_solvers.ilp import ilp
from graphpart.partition.exact_solvers.two_clusters import TwoClusters
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.derived import pairs_with_cost
from graphpart.partition.problem.forms import as_pairs, explicit, without_limits
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["LARGEST_PROVEN", "solve_within_limits"]

LARGEST_PROVEN = 100  # most elements of a problem that `exact` gives to the integer program
SPARSE = 16  # most pairs per element for which odd cycles bound partitions into two clusters
WORTH = 400_000  # most pairs with a cost for which the prover is branch and cut
PATIENCE = 5.0  # seconds for the race, if there is no time limit
EXACT_SHARE = 0.5  # share of the time for the race, where the integer program may follow


@dataclass
class _Unlimited:
    """A prover of the problem without its limits, as a contestant for the problem with them."""

    p: SetPartition
    inner: BranchAndCut | Bounding
    name: str = "the optimum without limits"
    proves: bool = True

    @property
    def labels(self) -> Labels:
        return self.inner.labels

    @property
    def cost(self) -> float:
        return self.p.evaluate_labels(self.inner.labels)

    @property
    def bound(self) -> float:
        return self.inner.bound

    @property
    def done(self) -> bool:
        return self.inner.done

    @property
    def needs(self) -> float:
        return self.inner.needs

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a partition: if it obeys the limits, it is also one without them."""
        if cost < self.inner.cost:
            self.inner.offer(labels, cost)

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Continue, without reporting costs of partitions that violate limits."""
        self.inner.run(stopping.child(plus=math.inf), until)


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
    assert p.limits is not None
    p = as_pairs(p)
    contraction = Contraction(p)
    q, constant = contraction.problem, contraction.constant
    if q.n <= ENUMERATED_ELEMENTS:
        inner = stopping.child(plus=constant)
        labels = contraction.lift(enumerated(q if q.is_dense else q.to_dense(), inner))
        if inner.reason is not None:
            stopping.stop(inner.reason)
        bound = trivial_bound(without_limits(p)) if inner.reason else math.inf
        known = None if start is None else (start, p.evaluate_labels(start))
        how = "search" if inner.reason else "brute force"
        return concluded(p, labels, bound, method, stopping, f"{how}; {p.limits}", start=known)
    labels = start_within(p, contraction, start, stopping)
    free = without_limits(q)
    limit = stopping.remaining
    exactly = method == "exact" and q.n <= LARGEST_PROVEN
    seconds = PATIENCE if limit is None else limit
    share = EXACT_SHARE * seconds if exactly else seconds
    inner = stopping.child(seconds=None if method == "exact" and limit is None else share, plus=constant)
    first = contraction.project(labels)
    cost = q.evaluate_labels(first)
    inner.record(cost)
    prover = _Unlimited(q, _prover(free, first, stopping, constant, threads or processors(), limit))
    provers: list[Any] = [prover]
    if TwoClusters.fits(q) and pairs_with_cost(q) <= SPARSE * q.n:
        provers.insert(0, TwoClusters(q, first))
    searcher = Searcher(q, first, False, seed, threads or processors(), parameters=parameters)
    judge = judge_of_partition(free)
    race = Race([searcher, *provers], first, cost, judge=lambda _: judge)
    race.run(inner, None if limit is None else share)
    bound = math.inf if race.proven else constant + race.bound
    found, how = contraction.lift(race.labels), race.prover or "search"
    if exactly and not race.proven and not stopping.check(constant + race.cost):
        last = ilp(p, initial=found, time_limit=stopping.remaining, callback=_passed_on(stopping))
        found, how = last.labels, "integer program"
        bound = math.inf if last.status == Status.OPTIMAL else max(bound, last.lower_bound)
    how = f"{how if bound == math.inf else 'search'}; {p.limits}"
    return concluded(p, found, bound, method, stopping, how, start=(labels, p.evaluate_labels(labels)))


def _prover(
    free: SetPartition, labels: Labels, stopping: Stopping, constant: float, threads: int, limit: float | None
) -> BranchAndCut | Bounding:
    """The prover of a bound for a problem without limits."""
    found = explicit(free) or free

    def raised(bound: float) -> None:
        stopping.raise_bound(constant + bound)

    worth = found.background is None and pairs_with_cost(found) <= WORTH
    if worth and (limit is None or 2 * BranchAndCut.needed(found) <= limit):
        return BranchAndCut(found, labels, threads=threads, raised=raised)
    return Bounding(found, labels, raised=raised)


def _passed_on(stopping: Stopping) -> Any:
    """A callback for a method inside that ends with the run outside, and tells it better costs."""

    def callback(seconds: float, cost: float) -> bool:
        if math.isfinite(cost):
            stopping.record(cost)
        return stopping.check(cost)

    return callback

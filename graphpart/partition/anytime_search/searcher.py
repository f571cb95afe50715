"""The anytime search as a contestant in a race with provers (see `graphpart.common.race`).

If a prover has made the problem smaller, the search goes on with the smaller problem as soon as that saves more of the
remaining time than the work of the search so far, since a new search does not know which strategies gain.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from graphpart.common.rounds import Saver
from graphpart.partition.anytime_search.parameters import SearchParameters
from graphpart.partition.anytime_search.portfolio import Portfolio
from graphpart.partition.exact_solvers.branch_and_cut import Smaller
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.forms import cut_huge
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["Searcher"]

LEAST = 1e4  # nanoseconds of work for each element and pair before a turn without a limit ends for lack of better ones


class Searcher:
    """The anytime search as a contestant of a race.

    Parameters
    ----------
    p : SetPartition
        Without required joins.
    labels : ndarray of int32, shape (n,)
        Canonical labels of the partition to start from.
    improved : bool
        Whether local search has improved the labels.
    seed, threads : int
    smaller : callable
        Returns the undecided part of the problem, or None if no prover knows it; see `BranchAndCut.smaller`.
    wanted : callable, optional
        Whether the search may begin; the search waits until this is true.
    saver : Saver, optional
        Writes labels of the problem to a checkpoint.
    parameters : SearchParameters, optional
    """

    name, proves = "search", False

    def __init__(
        self,
        p: SetPartition,
        labels: Labels,
        improved: bool,
        seed: int,
        threads: int,
        smaller: Callable[[], Smaller | None] = lambda: None,
        wanted: Callable[[], bool] = lambda: True,
        saver: Saver | None = None,
        parameters: SearchParameters | None = None,
    ) -> None:
        self.labels, self.cost, self.bound = labels, p._evaluate_labels(labels), -math.inf
        self.done, self._wanted, self.parameters = False, wanted, parameters or SearchParameters()
        self.seed, self.threads, self.saver = seed, threads, saver
        self._known, self._improved, self._rounds = smaller, improved, 0
        # The least cost in turns without a limit, the work until then, which strategy found it, and whether that has
        # had another round.
        self._least, self._found, self._finder, self._tried = math.inf, 0.0, -1, False
        self._left = Smaller(p, 0.0, labels, lambda labels: labels)
        self._portfolio: Portfolio | None = None

    @property
    def needs(self) -> float:
        """No time at all, or more than there is, until the search is wanted."""
        return 0.0 if self._wanted() else math.inf

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a better partition."""
        self.labels, self.cost, self._improved = labels, cost, True
        if self._portfolio is not None and self._fits(labels):
            self._portfolio.offer(labels)

    def _fits(self, labels: Labels) -> bool:
        """Whether labels fit the smaller problem, and join no pair that is known to be cut."""
        left = self._left.problem
        return left.n == len(labels) and bool(np.isfinite(left._evaluate_labels(labels)))

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Search until stopped, for some seconds, or until half of all work has found nothing better.

        Without a limit, this half has another round of the strategy that found the best partition, if others have left
        time for it. A turn that has found something also ends after the work of a turn, and a further one goes on.
        LEAST, but no more than that, is worked in any case.
        """
        part = stopping.child()
        part.iterations = self._rounds
        portfolio = self._begin(part)
        if until is not None:
            status = portfolio.run(until=until, improved=self._improved)
        else:
            status, begun = Status.FEASIBLE, portfolio.worked
            turn = self.parameters.turn
            least = min(turn, LEAST * (self._left.problem.n + self._left.problem.m))
            while status is Status.FEASIBLE and not stopping.check(portfolio.cost):
                if portfolio.cost < self._least:
                    self._least, self._found = portfolio.cost, portfolio.worked
                    self._finder, self._tried = portfolio.way, False
                elif portfolio.worked > self._found:
                    self._tried |= portfolio.way == self._finder
                end = (2.0 if self._tried else 4.0) * self._found
                most = begun + turn if self._found > begun else max(begun + turn, end)  # else no turn may follow
                if portfolio.worked > min(max(end, least), most):
                    break
                status, self._improved = portfolio.run(until=-math.inf, improved=self._improved), True
        self._improved, self._rounds = True, part.iterations
        if portfolio.cost < self.cost:
            self.labels, self.cost = canonical(self._left.lift(portfolio.labels)), portfolio.cost
        if status is Status.OPTIMAL:
            self.bound, self.done = self.cost, True

    def _begin(self, stopping: Stopping) -> Portfolio:
        """The portfolio, a new one if the problem has become so much smaller that it pays."""
        known = self._known()
        if known is not None and known.problem is not self._left.problem:
            size, smaller = (q.n + q.m for q in (self._left.problem, known.problem))
            seconds = math.inf if stopping.remaining is None else stopping.remaining
            lost = 0.0 if self._portfolio is None else 1e-9 * self._portfolio.worked
            if self._portfolio is None or (size > smaller and seconds * (size - smaller) > lost * smaller):
                self._left, self._portfolio = known, None
        elif known is not None and self._portfolio is not None:
            self._portfolio.offer(known.labels)
        left = self._left
        if self._portfolio is None:
            start = self.labels if self._fits(self.labels) else left.labels
            cut = cut_huge(left.problem)  # so that tolerances and temperatures ignore costs that no good partition pays
            q = cut if np.isfinite(cut._evaluate_labels(start)) else left.problem
            self._portfolio = Portfolio(q, start, left.constant, self.seed, self.threads, stopping, self.parameters)
            if (whole := self.saver) is not None:
                self._portfolio.saver = Saver(whole.path, lambda labels, path: whole.write(left.lift(labels), path))
        self._portfolio.stopping = stopping
        return self._portfolio

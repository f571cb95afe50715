"""One component of a factor graph that nothing exact fits: the best labeling, and a bound, in the time that there is.

1. Iterated conditional modes give a first labeling; message passing raises a bound and gives others by rounding, until
   bound and energy meet or the bound hardly rises (see `message_passing`).
2. As long as only forbidden labelings are known, mini-buckets look for another one (see `elimination`). Where factors
   have at most two variables, expansions improve the best labeling.
3. In turns, while there is time: search (see `anytime_search`), branch and bound (see `branch_and_bound`), and message
   passing as long as its bound rises, now with tightening. They tell each other the best labeling. Branch and bound
   gets as much time as search while it closes its gap fast enough to end in time, else a fifth.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.common.steps import round_up
from graphpart.crf.anytime_search.portfolio import Portfolio
from graphpart.crf.bounds.message_passing import Ascent
from graphpart.crf.branch_and_bound.solver import BranchAndBound
from graphpart.crf.bucket_elimination.elimination import elimination, lowered
from graphpart.crf.graph_cuts._moves import Moves
from graphpart.crf.graph_cuts.expansion import expanded
from graphpart.crf.local_search.icm import improve
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.labeling import trivial_bound
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["HardComponent"]

Labels = NDArray[np.int32]
PASSING = 0.3  # share of the time that message passing gets at first,
NEAR, TIGHTENING = 0.2, 0.1  # and then with tightening, if at most this share of the gap is left,
NEARLY, PATIENCE = 1e-3, 0.8  # or this one, where nothing else may close it
BUCKETS = 0.1  # share of what is left then for mini-buckets
BUCKETS_SPEED = 2**21  # entries of all tables, for each second that is left, up to which they are tried
MEMORY = 2**29  # bytes for them
CERTIFY = 1e-8  # seconds for each entry of all tables, to compute the bound in the end
SLICE = 0.1  # share of the time for each turn of message passing later on,
FEWEST = 5  # which is of so many iterations at least
EXPANDING = 0.2  # share of the time that is left for expansions
TURN, LONGER = 0.1, 1.5  # seconds of the first turn of search; how much longer each turn is
BRANCHING_SPEED = 2**20  # entries of all tables, for each second that is left, up to which branch and bound is tried
PREPARING = 0.1  # share of the time that is left for its preparation
FIRST = 0.15  # share of the time that is left for its first turn
RENEWING = 0.4  # share of the time that is left, in parts of which a better bound at the root is looked for
HOPELESS = 0.2  # of the time of search for branch and bound, if it would not end in time
SLOWEST = 3.0  # times the time that is left, that the gap would take to close at the present pace
NODES = 20_000  # of branch and bound in all, and
ROUNDS, IDLE = 40, 6  # rounds of search, if there is no time limit; idle ones in a row before it ends


class HardComponent:
    """The state of one component.

    Parameters
    ----------
    f : FactorGraph
        Connected, and not acyclic.
    labels : ndarray of int32, shape (n,)
        Where to start.
    stopping : Stopping
    rng : numpy.random.Generator
    seconds : float
        For this component.
    until_then : bool
        Use all of the time, unless optimality is proven before.
    others : float
        The energy of all that is not in this component, for history and callback.

    Attributes
    ----------
    labels, cost : ndarray of int32, float
        The best so far.
    bound : float
        No labeling has less energy.
    proven : bool
    how : str
        What gave the result, for a message.
    """

    def __init__(
        self,
        f: FactorGraph,
        labels: Labels,
        stopping: Stopping,
        rng: np.random.Generator,
        seconds: float,
        until_then: bool,
        others: float = 0.0,
    ) -> None:
        self.f, self.stopping, self.rng = f, stopping, rng
        self.until_then, self.others = until_then, others
        self.ends = stopping.seconds + seconds
        self.labels, self.cost, self.bound = labels.copy(), f.evaluate_labels(labels), -math.inf
        self.proven, self.how = False, "by bound and local search"
        self.ascent: Ascent | None = None
        self.rises, self.passing, self.compared = True, 0.0, math.inf
        self.search: Portfolio | None = None
        self.branching: BranchAndBound | None = None
        self._take(improve(f, labels, self._until(1.0), "sweep")[0])
        self.promising = True
        self.turn = TURN

    def begin(self) -> None:
        """Step 1."""
        self.ascent = ascent = Ascent(self.f, self._until(PASSING), self.labels, tightening=not self.until_then)
        began = self.stopping.seconds
        why = ascent.run()
        gap, before = ascent.cost - ascent.passes.bound, ascent.cost - trivial_bound(self.f)
        near, share = (NEARLY, PATIENCE) if self._too_large() else (NEAR, TIGHTENING)
        if self.until_then and gap <= near * before < math.inf and not ascent.closed() and not self._ended():
            ascent.stopping = self._until(share)
            ascent.tightening = True
            why = ascent.run()
        self.rises = why == "stopped" or not ascent.tightening
        self.passing = self.stopping.seconds - began
        self._take(ascent.labels)
        self.compared = self.cost
        if not self._closed():
            self._prove()

    def run(self) -> None:
        """Steps 2 and 3."""
        if self.proven:
            return
        self._mini_buckets()
        self._expand()
        self.go_on(self.left)

    def go_on(self, seconds: float) -> None:
        """Step 3, for so many seconds."""
        self.ends = self.stopping.seconds + seconds
        if not self.proven and not self._closed():
            self.ends -= min(CERTIFY * len(self.f.tables), seconds / 4)
            self._take_turns()
            if not self._closed():
                self._prove()

    @property
    def open_share(self) -> float:
        """The gap, as a share of what it was before anything was known."""
        return (self.cost - self.bound) / max(self.cost - trivial_bound(self.f), 1e-300)

    @property
    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.ends - self.stopping.seconds)

    def _ended(self) -> bool:
        return self.stopping.check(self.cost + self.others) or self.left <= 0

    def _until(self, share: float, iterations: int | None = None, seconds: float = math.inf) -> Stopping:
        """For a share of the time that is left; whoever stops the whole run stops this as well."""

        def callback(_: float, __: float) -> bool:  # what runs may have other units
            return self.stopping.check(min([self.cost, *(one.cost for one in self._running())]) + self.others)

        return Stopping(min(seconds, share * self.left), iterations, callback=callback)

    def _running(self) -> list[Portfolio | BranchAndBound]:
        return [one for one in (self.search, self.branching) if one is not None]

    def _take(self, labels: Labels) -> None:
        """Keep labels if they are better."""
        cost = self.f.evaluate_labels(labels)
        if cost < self.cost:
            self.labels, self.cost = labels.copy(), cost
            self.stopping.record(cost + self.others)

    def _closed(self) -> bool:
        """Whether the best labeling is proven optimal."""
        ascent = self.ascent
        if not self.proven and ascent is not None:
            ascent.offer(self.labels, self.cost)
            if ascent.closed():
                self._prove()
                if self.cost - self.bound <= ascent.tolerance:
                    self.proven, self.how = True, "by message passing"
        return self.proven

    def _prove(self) -> None:
        """Take over the bound that message passing has proven by now."""
        ascent = self.ascent
        if ascent is not None:
            self.bound = max(self.bound, round_up(ascent.passes.proven(), ascent.step))

    def _mini_buckets(self) -> None:
        if self._ended() or self.cost < math.inf or len(self.f.tables) > BUCKETS_SPEED * self.left:
            return
        inner = self._until(BUCKETS)
        r = elimination(self.f, memory_limit=MEMORY, time_limit=inner.remaining, callback=inner.callback)
        self.bound = max(self.bound, r.lower_bound)
        self._take(improve(self.f, r.labels, self._until(1.0), "sweep")[0])
        if r.status == Status.OPTIMAL:
            self.bound = lowered(self.f, r.cost, 3 * (self.f.m + self.f.n))
            self.proven, self.how = True, "by elimination"

    def _expand(self) -> None:
        if self._ended():
            return
        moves = Moves(*self.f._flat())
        if moves.measure()[1] >= 0:
            return  # a factor has more than two variables
        moves.prepare()
        self._take(expanded(self.f, moves, self.labels, self._until(EXPANDING), self.rng))

    def _take_turns(self) -> None:
        """Branch and bound, search and message passing. Without a time limit, so many nodes and rounds of them."""
        if self.search is None:
            self.search = Portfolio(self.f, self.labels, int(self.rng.integers(2**31)), prepared=True)
        passed = self.stopping.seconds
        while not self.proven and not self._ended():
            self._search()
            if self._meets() or self._ended():
                break
            if self.until_then and self._may_rise() and self.stopping.seconds >= passed:
                while self._pass() and not self._meets() and not self._ended():
                    pass
                if self._meets() or self._ended():
                    break
                passed = self.stopping.seconds + SLICE * self.left
            self._branch()
            if self.proven or self._ended() or not self.until_then:
                break
            self.turn *= LONGER

    def _search(self) -> None:
        """A turn of search, in whole rounds: what is stopped within one is lost."""
        search, until = self.search, self.stopping.seconds + self.turn
        assert search is not None
        search.offer(self.labels, self.cost)
        while True:
            inner = self._until(1.0, 1 if self.until_then else ROUNDS)
            search.run(inner, self.others, None if self.until_then else IDLE)
            inner.reraise()
            if not self.until_then or self._ended() or self.stopping.seconds >= until:
                break
        self._take(search.labels)

    def _too_large(self) -> bool:
        """Whether branch and bound would hardly get anywhere."""
        return len(self.f.tables) > BRANCHING_SPEED * self.left

    def _branch(self) -> None:
        """A turn of branch and bound."""
        if self.branching is None:
            if self._too_large():
                return
            inner = self._until(PREPARING)
            self.branching = BranchAndBound(self.f, self.labels, inner, self.others)
            inner.reraise()
            self._take(self.branching.labels)
        branching = self.branching
        branching.offer(self.labels)
        before, began = branching.bound, self.stopping.seconds
        if self.until_then:
            first = FIRST * self.left if before == -math.inf else 0.0
            inner = self._until(1.0, seconds=max(first, self.turn * (1.0 if self.promising else HOPELESS)))
            done = branching.run(inner, -1, self._until(RENEWING))
        else:
            inner = self._until(1.0)
            done = branching.run(inner, NODES)
        inner.reraise()
        self._take(branching.labels)
        self.bound = max(self.bound, branching.bound)
        if done:
            self.proven, self.how = True, "by branch and bound"
        elif before > -math.inf:
            pace = (branching.bound - before) / max(self.stopping.seconds - began, 1e-9)
            self.promising = pace * SLOWEST * self.left >= self.cost - branching.bound

    def _pass(self) -> bool:
        """A turn of message passing, of whole iterations: what is stopped within one may prove less than before.

        Whether another one is worth its time at once: at this pace, the bound would meet the energy in the time left.
        """
        ascent = self.ascent
        if ascent is None or not ascent.bounds:
            return False
        each = self.passing / len(ascent.bounds)
        count = int(SLICE * self.left / max(each, 1e-6))
        if count < FEWEST:
            return False
        began, before = self.stopping.seconds, ascent.bounds[-1][1]
        ascent.stopping, ascent.tightening = self._until(2 * SLICE, count), True
        ascent.offer(self.labels, self.f.evaluate_labels(self.labels))
        self.rises = ascent.run() == "stopped"
        self.passing += self.stopping.seconds - began
        self._prove()
        self._take(ascent.labels)
        self.compared = self.cost
        bound = ascent.bounds[-1][1]
        pace = (bound - before) / max(self.stopping.seconds - began, 1e-9)
        return self.rises and pace * self.left >= self.cost - bound

    def _may_rise(self) -> bool:
        """Whether message passing has not ended by itself, or there is a better labeling, which tightening looks at."""
        return self.rises or self.cost < self.compared

    def _meets(self) -> bool:
        """Whether message passing says that the best labeling is optimal, up to rounding."""
        return self.ascent is not None and self.ascent.closed()

"""Who takes part in the race on a hard component (see `common/race.py`): each knows how to go on where it was.

`Passing` raises a bound and rounds to labelings, `Squaring` raises a bound where pairs are dense, `Expanding` and
`Searching` improve labelings, and `Relaxing`, mini-buckets, looks for an allowed labeling where none is known;
`Branching` stands in `branch_and_bound`. None begins what cannot end in the time that is left: what its first step
takes is estimated from the sizes of the tables.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait

import numpy as np
from numpy.typing import NDArray

from graphpart.common.blas import one_thread
from graphpart.crf.anytime_search import tasks
from graphpart.crf.anytime_search.portfolio import Portfolio
from graphpart.crf.binary_quadratic.form import quadratic_form
from graphpart.crf.bounds.contestant import Contestant
from graphpart.crf.bounds.message_passing import Ascent
from graphpart.crf.bounds.passes import Passes
from graphpart.crf.bounds.semidefinite import LARGEST, Semidefinite
from graphpart.crf.bounds.tightening import CANDIDATES
from graphpart.crf.bucket_elimination.elimination import eliminated, lowered, relaxed
from graphpart.crf.bucket_elimination.order import find_order
from graphpart.crf.certificates.squares import bound_of_squares
from graphpart.crf.contestant_parameters import ContestantParameters
from graphpart.crf.graph_cuts._moves import Moves
from graphpart.crf.graph_cuts.expansion import Expansions, random_expansions
from graphpart.crf.problem import FactorGraph
from graphpart.machine import processors
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["Expanding", "Passing", "Relaxing", "Searching", "Squaring"]

Labels = NDArray[np.int32]
WAIT = 0.05  # seconds between two looks at the clock while another thread works


class Passing(Contestant):
    """Message passing in whole iterations, with tightening, if asked for, once the bound hardly rises without it."""

    name = "message passing"
    proves = True

    def __init__(
        self, f: FactorGraph, labels: Labels, cost: float, parameters: ContestantParameters, tightening: bool = True
    ) -> None:
        super().__init__(f, labels, cost)
        self.parameters, self.tightening = parameters, tightening
        self.ascent: Ascent | None = None
        self._general: bool | None = None
        self._each = parameters.iteration * len(f.tables)  # seconds for an iteration
        self._resting = math.inf  # the cost with which it ended; it goes on with a better one

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a labeling; a better one than before may let the bound, which hardly rose, rise again."""
        super().offer(labels, cost)
        if self.ascent is not None:
            self.ascent.offer(labels, cost)
            self.done = self.done and not cost < self._resting

    def run(self, stopping: Stopping, until: float | None) -> None:
        """A turn; without `until` as many iterations as the size of the tables allows."""
        tables, parameters = len(self.f.tables), self.parameters
        if self.ascent is None:
            if not self.affords(parameters.preparing * tables + self._each, stopping):
                return
            self.ascent = Ascent(self.f, stopping.child(), self.labels, self.tightening and until is None)
        if until is None:
            self._in_whole(self.ascent, stopping)
        else:
            self._in_time(self.ascent, stopping, until)
        self.take(self.ascent.labels, self.ascent.cost)
        resting = self.done
        self.know(self.ascent.passes.bound)
        if resting or self.done or self.ascent.closed():
            self._rest()

    def _in_whole(self, ascent: Ascent, stopping: Stopping) -> None:
        left, before = self.parameters.passed, -1
        while left > 0 and ascent.iterations > before and not stopping.check(self.cost):
            ascent.stopping, before = stopping.child(iterations=self.parameters.slice), ascent.iterations
            if ascent.run() != "stopped":
                break
            added = self.f.domains[ascent.passes.structure.scopes].prod(axis=1, dtype=np.float64).sum()
            left -= (ascent.iterations - before) * (len(self.f.tables) + float(added))
        self._rest()

    def _in_time(self, ascent: Ascent, stopping: Stopping, until: float) -> None:
        count = 1
        while self.affords(self._each, stopping) and not stopping.check(self.cost):
            ascent.stopping = stopping.child(iterations=count)
            began, before = stopping.seconds, ascent.iterations
            why = ascent.run()
            if ascent.iterations > before:
                self._each = (stopping.seconds - began) / (ascent.iterations - before)
            if why != "stopped":
                if ascent.tightening or not self.tightening or ascent.closed():
                    self._rest()
                    return
                cycles = self._cycles()
                if not self.affords(cycles, stopping):
                    return
                ascent.tightening = True
                if cycles > until - stopping.seconds:  # in a turn of its own
                    self._needs = cycles
                    return
            left = until - stopping.seconds
            if left <= 0:
                return
            # Triplets that are added may make iterations many times as long: look at the clock in between.
            left = min(left, self.parameters.look) if ascent.tightening else left
            count = max(1, min(2 * count, int(left / max(self._each, 1e-9))))

    def _cycles(self) -> float:
        """Seconds to look for cycles that tighten the bound, about: paths of two pairs, times labels^3."""
        degree, labels = np.diff(self.f.incidence()[0]).astype(np.float64), float(self.f.domains.mean())
        paths = min(float((degree * degree).sum()) / 2, float(CANDIDATES))
        return self.parameters.tightening * len(self.f.tables) + self.parameters.cycle * paths * labels**3

    def _rest(self) -> None:
        self.done, self._resting = True, self.cost

    @property
    def rests(self) -> bool:
        """Whether the bound hardly rises without tightening, or there is no time for more."""
        return self.done or self.needs > 0 or (self.ascent is not None and self.ascent.tightening)

    @property
    def passes(self) -> Passes | None:
        """The messages, once there are some."""
        return self.ascent.passes if self.ascent is not None and self.ascent.iterations else None

    @property
    def structured(self) -> bool:
        """Whether most tables are Potts or truncated linear, so that iterations take little time."""
        if self.ascent is not None and self._general is None:
            general, *others = self.ascent.passes.network.kinds
            self._general = general >= sum(others)
        return not self._general

    def certify(self) -> None:
        """Compute what the messages prove. O(size of all tables)"""
        if self.ascent is not None and self.ascent.iterations:
            self.certified = max(self.certified, self.judge.rounded(self.ascent.passes.proven()))


class Squaring(Contestant):
    """The semidefinite relaxation in whole rounds, for two labels and many pairs."""

    name = "semidefinite relaxation"
    proves = True

    def __init__(self, f: FactorGraph, labels: Labels, cost: float, parameters: ContestantParameters) -> None:
        super().__init__(f, labels, cost)
        dense = f.n <= LARGEST and np.count_nonzero(np.diff(f.scope_start) == 2) >= parameters.pairs * f.n
        q = quadratic_form(f) if dense else None
        self.relaxation = None if q is None else Semidefinite(q)
        self.done = self.relaxation is None
        self._each = 0.0 if q is None else parameters.rounding * float(q.n) ** 3  # seconds for a round
        self.proving = self._each  # and for the certified bound

    def begins(self, seconds: float) -> bool:
        """Whether it has begun, or has the time for a first round and the certified bound."""
        return self.relaxation is not None and (self.relaxation.rounds > 0 or self._each + self.proving <= seconds)

    def run(self, stopping: Stopping, until: float | None) -> None:
        """A turn; without `until` as many rounds as the number of variables allows."""
        with one_thread():
            self._rounds(stopping, until)

    def _rounds(self, stopping: Stopping, until: float | None) -> None:
        relaxation = self.relaxation
        assert relaxation is not None  # it takes no part otherwise
        while not stopping.check(self.cost) and self.affords(self._each + self.proving, stopping):
            began = stopping.seconds
            going = relaxation.round(self.cost)
            self._each = stopping.seconds - began
            self.proving = min(self.proving, self._each)  # the estimate is that of a slow machine
            self.know(relaxation.bound)
            self.done = self.done or not going or (relaxation.enough if until is None else relaxation.done)
            if self.done or (until is not None and stopping.seconds >= until):
                return

    def certify(self) -> None:
        """Compute what the squares prove. O(variables^3)"""
        if self.relaxation is not None and self.relaxation.rounds:
            began = time.perf_counter()
            with one_thread():
                proven = bound_of_squares(self.f, self.relaxation.proof())
            self.certified = max(self.certified, self.judge.rounded(proven))
            self.proving = time.perf_counter() - began


class Expanding(Contestant):
    """Expansions, in whole moves, until none improves; where all factors have at most two variables."""

    name = "expansion"

    def __init__(
        self, f: FactorGraph, labels: Labels, cost: float, parameters: ContestantParameters, rng: np.random.Generator
    ) -> None:
        super().__init__(f, labels, cost)
        self.parameters = parameters
        self.rng = rng
        self._moves: Expansions | None = None
        self._each = parameters.move * len(f.tables)

    def run(self, stopping: Stopping, until: float | None) -> None:
        """A turn; without `until` all moves that improve."""
        if not self.affords(self._each, stopping):
            return
        if self._moves is None:
            moves = Moves(self.f._view())
            if moves.measure()[1] >= 0:
                self.done = True
                return
            moves.prepare()
            self._moves = random_expansions(self.f, moves, self.labels, self.rng)
        while not self._moves.done and self.affords(self._each, stopping) and not stopping.check(self.cost):
            began = stopping.seconds
            self._moves.run(stopping.child(iterations=None if until is None else 1))
            self._each = max(stopping.seconds - began, self._each / 2)
            if until is not None and stopping.seconds >= until:
                break
        self.done = self._moves.done
        self.take(self._moves.labels, self.f.evaluate_labels(self._moves.labels))


class Searching(Contestant):
    """Search in whole rounds: what is stopped within one is lost for the most part.

    The first round of a large factor graph takes long, and one thread. Where there are several processors, it may run
    in a thread of its own (`begin`), while other contestants have their turns.
    """

    name = "search"

    def __init__(
        self, f: FactorGraph, labels: Labels, cost: float, parameters: ContestantParameters, seed: int
    ) -> None:
        super().__init__(f, labels, cost)
        self.parameters = parameters
        self.seed = seed
        self.portfolio: Portfolio | None = None
        self._early: tuple[Future[Portfolio], Stopping] | None = None

    @property
    def begun(self) -> bool:
        """Whether its first round was begun, in this thread or in another one."""
        return self.portfolio is not None or self._early is not None

    @property
    def works_aside(self) -> bool:
        """Whether its first round runs in another thread."""
        return self._early is not None and not self._early[0].done()

    @property
    def needs(self) -> float:
        """inf while another thread works: a turn would only be spent waiting."""
        return math.inf if self.works_aside else self._needs

    def begin(self, stopping: Stopping) -> None:
        """Begin a first annealing in another thread, if there is a processor for it."""
        if self.begun or not self._anneals_first() or processors() < 2:
            return
        inner = stopping.child(plus=math.inf)

        def first() -> Portfolio:
            portfolio = Portfolio(self.f, labels, self.seed, prepared=True)
            portfolio.run(inner.child(iterations=1))
            return portfolio

        labels = self.labels
        executor = ThreadPoolExecutor(1)
        self._early = executor.submit(first), inner
        executor.shutdown(wait=False)

    def close(self) -> None:
        """End the first round, if it still runs in another thread."""
        if self._early is not None:
            self._early[1].stop(Status.FEASIBLE)
            self._early[0].result()

    def wait(self, stopping: Stopping) -> bool:
        """Wait for the first round in another thread, or until `stopping` says so; return whether it ran."""
        ran = self.works_aside
        while self.works_aside and not stopping.check(self.cost):
            wait([self._early[0]] if self._early else [], timeout=WAIT)
        return ran

    def collect(self) -> None:
        """Take over what the first round in another thread has found; end it, if it still runs."""
        if self._early is not None:
            future, inner = self._early
            inner.stop(Status.TIME_LIMIT)  # for which what it has found so far is kept
            self.portfolio, self._early = future.result(), None
            self.take(self.portfolio.labels, self.portfolio.cost)

    def run(self, stopping: Stopping, until: float | None) -> None:
        """A turn; without `until` so many rounds, fewer if some in a row find nothing."""
        parameters = self.parameters
        if self._early is not None:
            self.wait(stopping)
            self.collect()
            return
        if self.portfolio is None:
            if not self.affords(self.first_round() / parameters.large_round, stopping):
                return
            self.portfolio = Portfolio(self.f, self.labels, self.seed, prepared=True)
        self.portfolio.offer(self.labels, self.cost)
        if until is None:
            self.portfolio.run(stopping.child(iterations=parameters.rounds), parameters.idle)
            self.done = True
        else:
            while not self.portfolio.done and not stopping.check(self.cost):
                self.portfolio.run(stopping.child(iterations=1))
                if stopping.seconds >= until:
                    break
        self.take(self.portfolio.labels, self.portfolio.cost)

    def first_round(self) -> float:
        """Seconds that preparation and the first round take, about."""
        sweeps = self.parameters.short if self._anneals_first() else self.parameters.sweeps
        return self.parameters.modelling * len(self.f.tables) + 1e-9 * sweeps * self._sweep()

    def _anneals_first(self) -> bool:
        """Whether the first round is an annealing of all variables, which takes as many sweeps as there is time for."""
        return tasks.LONG * self._sweep() > tasks.MOST

    def _sweep(self) -> float:
        """Nanoseconds of a sweep of annealing."""
        f = self.f
        arity = np.diff(f.scope_start)
        links = float((arity * (arity - 1)).sum())
        labels = float(f.domains.mean()) if f.n else 1.0
        return tasks.VISIT * f.n + tasks.LINK * links * labels


class Relaxing(Contestant):
    """Elimination, by mini-buckets if need be, once: it may find an allowed labeling where nothing else has."""

    name = "elimination"
    proves = True

    def __init__(self, f: FactorGraph, labels: Labels, cost: float, parameters: ContestantParameters) -> None:
        super().__init__(f, labels, cost)
        self.parameters = parameters

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Its only turn."""
        parameters, remaining = self.parameters, stopping.remaining
        affordable = len(self.f.tables) <= parameters.relaxed * (parameters.nominal if remaining is None else remaining)
        self.done = True
        if not affordable or self.cost < math.inf:
            return
        inner = stopping.child(None if remaining is None else parameters.relaxing * remaining)
        order = find_order(self.f, None, inner, parameters.memory)
        if order.plan is not None and order.memory <= parameters.memory:
            found = eliminated(self.f, order, inner)
            self.take(found.labels, self.f.evaluate_labels(found.labels))
            self.bound = self.certified = found.bound
            if found.proven:
                self.certified = lowered(self.f, found.bound, 3 * (self.f.m + self.f.n))
        else:
            best = relaxed(self.f, order, parameters.memory, inner)
            self.take(best.labels, best.cost)
            self.bound = self.certified = best.bound

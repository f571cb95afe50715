"""The contestants of the race on a hard component (see `common/race.py`). Each can continue where its last turn ended.

`Passing` raises a bound and rounds to labelings. `Expanding` and `Searching` improve labelings. `Relaxing` looks for an
allowed labeling by mini-buckets if none is known. Others are defined in `bounds`, `branch_and_bound` and `strips`. No
contestant begins a step that cannot end in the remaining time. The duration of the first step is estimated from the
sizes of the tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphpart.binary_quadratic.form import SPARSE
from graphpart.common.rounds import SERVE
from graphpart.crf.anytime_search import tasks
from graphpart.crf.anytime_search.portfolio import Portfolio
from graphpart.crf.bounds.contestant import HEAVY, MOST, Contestant, ContestantParameters, numbers_in
from graphpart.crf.bounds.message_passing import WINDOW, Ascent
from graphpart.crf.bounds.passes import Passes
from graphpart.crf.bounds.tightening import CANDIDATES
from graphpart.crf.bucket_elimination.elimination import eliminated, lowered, relaxed
from graphpart.crf.bucket_elimination.order import find_order
from graphpart.crf.bucket_elimination.plan import DEFAULT_MEMORY
from graphpart.crf.exact_solvers.linear_functions import NOMINAL
from graphpart.crf.graph_cuts._moves import Moves
from graphpart.crf.graph_cuts.expansion import Expansions
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.labeling import trivial_bound
from graphpart.machine import processors
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["Expanding", "Passing", "Relaxing", "Searching"]

Labels = NDArray[np.int32]
BEGIN = 1.2  # time of the preparation of message passing and of its first iteration, in estimated iterations
EARLY = 0.4  # of pairs only, without the preparation; a part of the first pass is enough for a labeling
GAIN = 0.1  # share of the gap that another bound has left, by which it must be raised at least
FAR = 0.25  # share of the first gap; a bound that would leave more of it is far


class Passing(Contestant):
    """Message passing in whole iterations. Tightening, if requested, begins once the bound hardly rises without it.

    Parameters
    ----------
    other : callable
        Returns the bound of a contestant before it. Without a time limit, message passing ends once its bound would not
        be above this one by `GAIN` of its gap at its latest pace, or would remain far from the cost, or once a gap of
        more than `GAIN` of the first one would be closed by no more than `GAIN`.
    """

    name = "message passing"
    proves = True

    def __init__(
        self,
        f: FactorGraph,
        labels: Labels,
        cost: float,
        parameters: ContestantParameters,
        tightening: bool = True,
        other: Callable[[], float] = lambda: -math.inf,
    ) -> None:
        super().__init__(f, labels, cost)
        self.parameters, self.tightening, self.other = parameters, tightening, other
        self.ascent: Ascent | None = None
        self._general: bool | None = None
        self._each = parameters.entry * numbers_in(f)  # seconds for an iteration
        self._pairs = f._layout().largest_arity <= 2
        self.pace = 1.0  # how many times as long as estimated the first turn took, if longer
        self._resting = math.inf  # the cost at which message passing ended; it continues with a lower cost

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a labeling. If message passing has ended, it continues with a labeling of lower cost."""
        super().offer(labels, cost)
        if self.ascent is not None:
            self.ascent.offer(labels, cost)
            self.done = self.done and not cost < self._resting

    def run(self, stopping: Stopping, until: float | None) -> None:
        """A turn; without `until` as many iterations as the size of the tables allows."""
        if self.ascent is None:
            early = EARLY * self._each + 2 * self.parameters.prepared * self.f.n
            if not self.affords(early if self._pairs else BEGIN * self._each, stopping):
                return
            began = stopping.seconds
            self.ascent = Ascent(self.f, stopping.child(), self.labels, self.tightening and until is None)
            if until is not None:  # at least as long as the preparation took, so that it was worth that time
                until = max(until, 2.0 * stopping.seconds - began)
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
        least, others = self.other(), math.isfinite(self.other())
        if self.cost < math.inf:
            least += GAIN * max(0.0, self.cost - least) if others else 0.0
            least = max(least, self.cost - FAR * (self.cost - trivial_bound(self.f)))
        while left > 0 and ascent.iterations > before and not stopping.check(self.cost):
            ascent.stopping, before, bound = stopping.child(iterations=WINDOW), ascent.iterations, ascent.passes.bound
            if ascent.run() != "stopped":
                break
            added = self.f.domains[ascent.passes.structure.scopes].prod(axis=1, dtype=np.float64).sum()
            read = (ascent.iterations - before) * (self._read(ascent) + float(added))
            left -= read
            rise = ascent.passes.bound - bound  # of the latest window; later ones raise the bound less
            if before and read:
                more, gap = rise * max(left, 0.0) / read, ascent.cost - ascent.passes.bound  # at this pace
                wide = others and gap > GAIN * (ascent.cost - trivial_bound(self.f))
                if ascent.passes.bound + more < least or (wide and more < GAIN * gap):
                    break
        self._rest()

    def _read(self, ascent: Ascent) -> float:
        """About how many numbers an iteration reads: entries of tables, or labels where tables are structured."""
        f, (general, *others) = self.f, ascent.passes.network.kinds
        structured = sum(others) / max(1, general + sum(others))
        return float((1.0 - structured) * f.entries + structured * f.domains[f._flat()[2]].sum())

    def _in_time(self, ascent: Ascent, stopping: Stopping, until: float) -> None:
        count = 1
        begins = not ascent.iterations and ascent.passes.ends_early
        while not stopping.check(self.cost):
            each = min(self._each, 2.0 * ascent.lasted)  # after which rounding is not always done, or is ended
            if not (begins or self.affords(each + ascent.passes.proving, stopping)):
                return
            begins = False
            ascent.stopping = stopping.child(iterations=count)
            began, before = stopping.seconds, ascent.iterations
            why = ascent.run()
            if ascent.iterations > before:
                self._each = (stopping.seconds - began) / (ascent.iterations - before)
                if before == 0:
                    took = self._each + ascent.preparing
                    self.pace = max(1.0, took / (BEGIN * self.parameters.entry * numbers_in(self.f)))
            elif stopping.remaining is not None:  # an iteration takes longer than the remaining time
                self._each = self._needs = max(self._each, stopping.remaining)
                return
            if why != "stopped":
                if ascent.tightening or not self.tightening or ascent.passes.narrow or ascent.closed():
                    self._rest()
                    return
                cycles = self._cycles()
                if not self.affords(cycles, stopping):
                    return
                ascent.tightening = True
                if cycles > until - stopping.seconds:  # the search for cycles gets a turn of its own
                    self._needs = cycles
                    return
            left = until - stopping.seconds
            if left <= 0:
                return
            # Added triplets may make iterations many times as long, so the clock is read more often.
            left = min(left, SERVE) if ascent.tightening else left
            count = max(1, min(2 * count, int(left / max(self._each, 1e-9))))

    def _cycles(self) -> float:
        """Estimated seconds to look for cycles that tighten the bound, from paths of two pairs and labels^3."""
        degree, labels = np.diff(self.f.incidence()[0]).astype(np.float64), float(self.f.domains.mean())
        paths = min(float((degree * degree).sum()) / 2, float(CANDIDATES))
        return self.parameters.entry * self.f.entries + self.parameters.operation * paths * labels**3

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
    def proving(self) -> float:
        """Estimated seconds for the proof of the bound that the messages have, or will have."""
        parameters, ascent, passes = self.parameters, self.ascent, self.passes
        seconds = parameters.entry * numbers_in(self.f)
        if ascent is not None and self._pairs:
            seconds = ascent.preparing + min(2.0 * ascent.preparing, ascent.lasted / 2)
        streams = self._pairs and not self.f.has_forbidden if passes is None else passes.streams
        return seconds + (0.0 if streams else parameters.proof * self.f.entries)

    @property
    def structured(self) -> bool:
        """Whether most tables are Potts or truncated linear, so that iterations take little time."""
        if self.ascent is not None and self._general is None:
            general, *others = self.ascent.passes.network.kinds
            self._general = general >= sum(others)
        return not self._general

    def certify(self) -> None:
        """Compute the bound that the messages prove. O(size of all tables)"""
        if self.ascent is not None and (self.ascent.iterations or self.ascent.passes.ends_early):
            self.certified = max(self.certified, self.judge.rounded(self.ascent.passes.proven()))


class Expanding(Contestant):
    """Expansions in whole moves until none improves, for factors of at most two variables.

    They begin with the labels of least unary cost, since from a labeling that was improved before they may end far
    higher, and in the order of the labels, which is quicker than a random one. If these moves would not come below the
    best labeling in the first round at the pace of the latest one, or have ended above it, moves go on from the best
    one. If the time is limited, those that have ended begin again with the labels of least unary cost, in random order.
    """

    name = "expansion"

    def __init__(
        self, f: FactorGraph, labels: Labels, cost: float, parameters: ContestantParameters, rng: np.random.Generator
    ) -> None:
        super().__init__(f, labels, cost)
        self.parameters = parameters
        self.rng = rng
        self._moves: Expansions | None = None
        self.again = False  # whether they begin with the least unary costs once more
        self._each = parameters.moved * f.n
        self._needs = self._each + parameters.prepared * f.n + parameters.proof * len(f._flat()[4])
        self._longest = self._each  # of all moves: those of a labeling that is far from the end take longer
        self._left = 0  # moves of the first round of all
        self._best = math.inf  # the cost of a labeling that moves do not improve, or from which they have begun

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Perform a turn. Without `until`, it ends when no move improves."""
        if not self.affords(self._each if self.begun else self._needs, stopping):
            return
        if self._moves is None:
            moves = Moves(self.f._view())
            if moves.measure()[1] >= 0:
                self.done = True
                return
            moves.prepare()
            self._moves = Expansions(self.f, moves, moves.best_unary())
            self._left = int(self.f.domains.max())
        while not self.done and self.affords(self._each, stopping) and not stopping.check(self.cost):
            run, began = self._moves, stopping.seconds
            before = run.cost
            run.run(stopping.child(iterations=1))
            took = stopping.seconds - began
            self._each, self._longest = max(took, self._each / 2), max(took, self._longest)
            self._left -= 1
            above = run.cost > self.cost
            if not above:
                self.take(run.labels, self.f.evaluate_labels(run.labels))
                self._best = self.cost if run.done else math.inf
            slow = self._left >= 0 and run.cost - self.cost > (before - run.cost) * self._left
            if run.done or (above and slow):
                self._go_on(run.moves, until)
            if until is not None and stopping.seconds >= until and not (above and self._left > 0):
                break

    @property
    def begun(self) -> bool:
        """Whether they had a turn, or do not apply."""
        return self._moves is not None or self.done

    def _go_on(self, moves: Moves, until: float | None) -> None:
        """Begin again, from the best labeling if moves may improve it."""
        self._left, self.again = -1, False
        if self.cost < self._best:
            self._moves, self._best = Expansions(self.f, moves, self.labels, self.rng), self.cost
        elif until is None:
            self.done = True
        else:
            self._moves, self._each = Expansions(self.f, moves, moves.best_unary(), self.rng), self._longest
            self.again = True


class Searching(Contestant):
    """Search in whole rounds, since most of the work of a round that is stopped is lost.

    The first round of a large factor graph takes long and uses one thread. If there are several processors, it may run
    in a thread of its own (`begin`) while other contestants have their turns.
    """

    name = "search"

    def __init__(
        self, f: FactorGraph, labels: Labels, cost: float, parameters: ContestantParameters, seed: int
    ) -> None:
        super().__init__(f, labels, cost)
        self.parameters = parameters
        self.seed = seed
        self.portfolio: Portfolio | None = None
        self._needs = self.first_round()
        pairs = f._layout().largest_arity <= 2 < int(f.domains.max(initial=0))
        self.done = pairs and numbers_in(f) > MOST  # it would take several times the memory of expansion
        self._early: tuple[Future[Portfolio], Stopping] | None = None
        self._within: Stopping | None = None  # of the latest turn
        self._round = 0.0  # seconds of the latest round

    @property
    def begun(self) -> bool:
        """Whether the first round was begun, in this thread or in another one."""
        return self.portfolio is not None or self._early is not None

    @property
    def works_aside(self) -> bool:
        """Whether the first round runs in another thread."""
        return self._early is not None and not self._early[0].done()

    @property
    def needs(self) -> float:
        """Seconds that the next step needs; inf while another thread works, because a turn would only wait.

        Another round takes as long as the latest one, or is ended by the time limit.
        """
        left = None if self._within is None else self._within.remaining
        needs = self._needs if left is None else min(self._round, left)
        return math.inf if self.works_aside else needs

    def begin(self, stopping: Stopping) -> None:
        """Begin a first annealing in another thread, if there is a processor for it."""
        if self.done or self.begun or not self._anneals_first() or processors() < 2:
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
        """End the first round if it still runs in another thread."""
        if self._early is not None:
            self._early[1].stop(Status.FEASIBLE)
            self._early[0].result()

    def wait(self, stopping: Stopping) -> bool:
        """Wait for the first round in another thread, or until `stopping` says so; return whether it ran."""
        ran = self.works_aside
        while self.works_aside and not stopping.check(self.cost):
            wait([self._early[0]] if self._early else [], timeout=SERVE)
        return ran

    def collect(self) -> None:
        """Take over the labeling of the first round in another thread, and end this round if it still runs."""
        if self._early is not None:
            future, inner = self._early
            inner.stop(Status.TIME_LIMIT)  # with this reason, the round keeps the best labeling found so far
            self.portfolio, self._early = future.result(), None
            self.take(self.portfolio.labels, self.portfolio.cost)

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Perform a turn. Without `until`, it ends after `idle` rounds without gain, or fewer long ones."""
        if self._early is not None:
            self.wait(stopping)
            self.collect()
            return
        if self.portfolio is None:
            if not self.affords(self.first_round(), stopping):
                return
            self.portfolio = Portfolio(self.f, self.labels, self.seed, prepared=True)
        self.portfolio.offer(self.labels, self.cost)
        if until is None:
            few = int(self.parameters.searched / max(1, self.f.entries))
            self.portfolio.run(stopping.child(), max(1, min(self.parameters.idle, few)))
            self.done = True
        else:
            self._within = stopping
            while not self.portfolio.done and not stopping.check(self.cost):
                began = stopping.seconds
                self.portfolio.run(stopping.child(iterations=1))
                self._round = stopping.seconds - began
                if stopping.seconds >= until:
                    break
        self.take(self.portfolio.labels, self.portfolio.cost)
        if numbers_in(self.f) >= HEAVY:
            self.portfolio.rest()

    def first_round(self) -> float:
        """Estimated seconds for the preparation and the first round."""
        sweeps = tasks.LONG if self._anneals_first() else self.parameters.sweeps
        if self._is_dense_form:
            return 5.0 * self.parameters.entry * numbers_in(self.f)
        return self.parameters.entry * numbers_in(self.f) + 1e-9 * sweeps * self._sweep

    @cached_property
    def _is_dense_form(self) -> bool:
        """Whether this is a quadratic form with many neighbours, whose first round is short."""
        f, arity = self.f, np.diff(self.f.scope_start)
        if f.has_forbidden or (f.domains != 2).any() or arity.max(initial=0) > 2:
            return False
        return int(np.count_nonzero(arity == 2)) > SPARSE * f.n

    def _anneals_first(self) -> bool:
        """Whether the first round is an annealing of all variables, with as many sweeps as fit into the time."""
        return tasks.LONG * self._sweep > tasks.MOST

    @cached_property
    def _sweep(self) -> float:
        """Estimated duration of a sweep of annealing in nanoseconds."""
        f = self.f
        arity = np.diff(f.scope_start)
        links = float((arity * (arity - 1)).sum())
        labels = float(f.domains.mean()) if (f.domains != 2).any() else 1.0
        return tasks.VISIT * f.n + tasks.LINK * links * labels


class Relaxing(Contestant):
    """One elimination, by mini-buckets if the width is large. It may find an allowed labeling if none is known."""

    name = "elimination"
    proves = True

    def __init__(self, f: FactorGraph, labels: Labels, cost: float, parameters: ContestantParameters) -> None:
        super().__init__(f, labels, cost)
        self.parameters = parameters

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Perform the only turn of this contestant."""
        parameters, remaining = self.parameters, stopping.remaining
        affordable = self.f.entries <= parameters.affordable * (NOMINAL if remaining is None else remaining)
        self.done = True
        if not affordable or self.cost < math.inf:
            return
        inner = stopping.child(None if remaining is None else parameters.first_round * remaining)
        order = find_order(self.f, None, inner, DEFAULT_MEMORY)
        if order.plan is not None and order.memory <= DEFAULT_MEMORY:
            found = eliminated(self.f, order, inner)
            self.take(found.labels, self.f.evaluate_labels(found.labels))
            self.bound = self.certified = found.bound
            if found.proven:
                self.certified = lowered(self.f, found.bound, 3 * (self.f.m + self.f.n))
        else:
            best = relaxed(self.f, order, DEFAULT_MEMORY, inner)
            self.take(best.labels, best.cost)
            self.bound = self.certified = best.bound

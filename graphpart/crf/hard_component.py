"""One component of a factor graph that nothing exact fits: the best labeling, and a bound, in the time that there is.

1. Iterated conditional modes give a first labeling; message passing raises a bound and gives others by rounding, until
   bound and energy meet or the bound hardly rises (see `message_passing`).
2. Mini-buckets give another bound and another labeling, the best chance of one that nothing forbids (see
   `elimination`). Where factors have at most two variables, expansions improve the best labeling.
3. While there is time: random balls of variables get labels that are best together, given the labels around them, as
   far as elimination in little memory can tell. In turns, message passing goes on as long as its bound rises.
4. What is small enough, and nearly closed, gets an integer program in between.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.common.steps import round_up
from graphpart.crf.balls import Balls
from graphpart.crf.bounds.message_passing import Ascent
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
PASSING = 0.4  # share of the time that message passing gets at first
BUCKETS = 0.3  # share of what is left then for mini-buckets
BUCKETS_SPEED = 2**21  # entries of all tables, for each second that is left, up to which they are tried
MEMORY = 2**29  # bytes for them
SMALL = 50_000  # entries of all tables of a component that the integer program gets,
NEARLY = 0.1  # if the gap is at most this share of what message passing and local search have closed,
PROGRAM = 0.4  # in this share of the time that is left,
LEAST = 1.0  # if that is so many seconds at least
BALLS = 400  # balls and restarts if there is no time limit; fewer in larger components
WIDE = 0.25  # share of the restarts that change all variables
CERTIFY = 1e-8  # seconds for each entry of all tables, to compute the bound in the end
SLICE = 0.1  # share of the time for each turn of message passing later on,
FEWEST = 5  # which is of so many iterations at least


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
        self._take(improve(f, labels, self._until(1.0), "sweep")[0])
        self.ascent: Ascent | None = None
        self.moves: Moves | None = None
        self.rises, self.passing = True, 0.0
        self.balls = Balls(f, rng)
        self.spent = [0.0, 0.0]  # seconds for balls and for restarts

    def begin(self) -> None:
        """Step 1."""
        self.ascent = ascent = Ascent(self.f, self._until(PASSING), self.labels)
        began = self.stopping.seconds
        self.rises = ascent.run() == "stopped"
        self.passing = self.stopping.seconds - began
        self._take(ascent.labels)
        if not self._closed():
            self._prove()

    def run(self) -> None:
        """Steps 2 to 4, after the first."""
        if self.proven:
            return
        self.moves = self._fusion()
        self._mini_buckets()
        self._expand()
        if not self.proven and not self._closed():
            self._search(self.left / 4)
            if not self._closed() and self._nearly():
                self._program()
        self.go_on(self.left)

    def go_on(self, seconds: float) -> None:
        """Step 3, for so many seconds."""
        self.ends = self.stopping.seconds + seconds
        if not self.proven:
            self.ends -= min(CERTIFY * len(self.f.tables), seconds / 4)
            self._search(seconds)
            if not self._closed():
                self._prove()

    @property
    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.ends - self.stopping.seconds)

    def _ended(self) -> bool:
        return self.stopping.check(self.cost + self.others) or self.left <= 0

    def _until(self, share: float, iterations: int | None = None) -> Stopping:
        """For a share of the time that is left; whoever stops the whole run stops this as well."""
        return Stopping(
            share * self.left, iterations, callback=lambda seconds, cost: self.stopping.check(self.cost + self.others)
        )

    def _take(self, labels: Labels) -> bool:
        cost = self.f.evaluate_labels(labels)
        if not cost < self.cost:
            return False
        self.labels, self.cost = labels.copy(), cost
        self.stopping.record(cost + self.others)
        return True

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

    def _nearly(self) -> bool:
        """Whether an integer program is small and promising enough."""
        least = trivial_bound(self.f)
        return (
            len(self.f.tables) <= SMALL and self.left > LEAST and self.cost - self.bound <= NEARLY * (self.cost - least)
        )

    def _fusion(self) -> Moves | None:
        """What fuses two labelings; None where factors are larger than pairs."""
        moves = Moves(*self.f._flat())
        _, what = moves.measure()
        if what >= 0:
            return None
        moves.prepare()
        return moves

    def _mini_buckets(self) -> None:
        if self._ended() or (self.cost < math.inf and len(self.f.tables) > BUCKETS_SPEED * self.left):
            return
        inner = self._until(BUCKETS)
        r = elimination(self.f, memory_limit=MEMORY, time_limit=inner.remaining, callback=inner.callback)
        self.bound = max(self.bound, r.lower_bound)
        self._take(improve(self.f, r.labels, self._until(1.0), "sweep")[0])
        if r.status == Status.OPTIMAL:
            self.bound = lowered(self.f, r.cost, 3 * (self.f.m + self.f.n))
            self.proven, self.how = True, "by elimination"

    def _expand(self) -> None:
        if self.moves is not None and not self._ended():
            self._take(expanded(self.f, self.moves, self.labels, self._until(0.5), self.rng))

    def _program(self) -> None:
        from graphpart import milp
        from graphpart.crf.exact_solvers.ilp import solve_component

        inner = self._until(PROGRAM)
        labels, bound, optimal = solve_component(self.f, self.labels, milp.pick_solver(), inner, self.cost)
        inner.reraise()
        self._take(labels)
        self.bound = max(self.bound, bound)
        if optimal:
            self.proven, self.how = True, "by integer programming"

    def _search(self, seconds: float) -> None:
        """Balls and restarts, each in half of the time, and message passing in between as long as its bound rises.

        Without a time limit balls and restarts take turns.
        """
        ends = min(self.ends, self.stopping.seconds + seconds)
        passed = self.stopping.seconds
        most = math.inf if self.until_then else BALLS * 1000 // max(self.f.n, 1000)
        k = 0
        while k < most and not self._ended() and self.stopping.seconds < ends:
            if self.rises and self.until_then and self.stopping.seconds >= passed:
                self._pass()
                if self._meets():
                    break
                passed = self.stopping.seconds + SLICE * self.left
            began = self.stopping.seconds
            restart = self.spent[1] < self.spent[0] if self.until_then else bool(k % 2)
            if restart:
                self._restart()
            else:
                self._ball()
            self.spent[restart] += self.stopping.seconds - began
            k += 1
        self.cost = self.f.evaluate_labels(self.labels)  # without the rounding of many differences
        self.stopping.record(self.cost + self.others)

    def _pass(self) -> None:
        """A turn of message passing, of whole iterations: what is stopped within one may prove less than before."""
        ascent = self.ascent
        if ascent is None or not ascent.bounds:
            return
        each = self.passing / len(ascent.bounds)
        count = int(SLICE * self.left / max(each, 1e-6))
        if count < FEWEST:
            return
        began = self.stopping.seconds
        ascent.stopping = self._until(1.0, count)
        ascent.offer(self.labels, self.f.evaluate_labels(self.labels))
        self.rises = ascent.run() == "stopped"
        self.passing += self.stopping.seconds - began
        self._prove()
        self._take(ascent.labels)

    def _meets(self) -> bool:
        """Whether message passing says that the best labeling is optimal, up to rounding."""
        return self.ascent is not None and self.ascent.closed()

    def _ball(self) -> None:
        difference = self.balls.change(self.labels, self.cost == math.inf, self._until(1.0))
        if difference == -math.inf:
            self.cost = self.f.evaluate_labels(self.labels)
        else:
            self.cost += difference

    def _restart(self) -> None:
        """Random labels for some variables, then single changes and, for pairs, an optimal fusion with the best."""
        f = self.f
        many = self.rng.random() < WIDE
        size = f.n if many else int(math.exp(self.rng.uniform(0.0, math.log(f.n)))) + 1
        inside = np.arange(f.n) if many else self.balls.around(int(self.rng.integers(f.n)), size)
        labels = self.labels.copy()
        labels[inside] = self.rng.integers(0, f.domains[inside])
        inner = self._until(1.0)
        labels, cost = improve(f, labels, inner, "sweep")
        if self.moves is not None and cost < math.inf and self.cost < math.inf:
            fused = self.labels.copy()
            if self.moves.move(self.labels, labels, fused, self.cost, inner):
                labels = fused
        self._take(labels)

"""One component of a factor graph that nothing exact fits: the best labeling, and a bound, in the time that there is.

1. Iterated conditional modes give a first labeling; message passing raises a bound and gives others by rounding, until
   bound and energy meet or the bound hardly rises (see `message_passing`).
2. Mini-buckets give another bound and another labeling, the best chance of one that nothing forbids (see
   `elimination`). Where factors have at most two variables, expansions improve the best labeling.
3. What is small enough, and still open, gets an integer program.
4. While there is time: the labels of a random ball of variables are changed, iterated conditional modes and, for pairs,
   an optimal fusion of the result with the best labeling decide what stays. Message passing gets a share of the time.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds.message_passing import Ascent
from graphpart.crf.bucket_elimination.elimination import elimination
from graphpart.crf.graph_cuts._moves import Moves
from graphpart.crf.graph_cuts.expansion import expanded
from graphpart.crf.local_search.icm import improve, random_labels
from graphpart.crf.problem import FactorGraph
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["HardComponent"]

Labels = NDArray[np.int32]
SMALL = 50_000  # entries of all tables of a component that the integer program gets
PASSING = 0.4  # share of the time that message passing gets at first
BUCKETS = 0.4  # share of what is left then for mini-buckets
MEMORY = 2**29  # bytes for them
PROGRAM = 0.5  # share of what is left then for the integer program
BALLS = 200  # balls that are changed if there is no time limit; fewer in larger components
LARGEST_BALL = 200  # variables
SLICE = 0.1  # share of the time for each turn of message passing later on


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
    ) -> None:
        self.f, self.stopping, self.rng = f, stopping, rng
        self.until_then = until_then
        self.ends = stopping.seconds + seconds
        self.labels, self.cost = improve(f, labels, stopping)
        self.bound, self.proven, self.how = -math.inf, False, "by bound and local search"
        self.moves = self._fusion()
        self.rows: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None

    def run(self) -> None:
        """Steps 1 to 4."""
        ascent = Ascent(self.f, self._until(PASSING), self.labels)
        rises = ascent.run() == "stopped"
        self._take(ascent.labels)
        if not self._closed(ascent):
            self._mini_buckets()
            self._expand()
        if not self.proven and not self._closed(ascent) and len(self.f.tables) <= SMALL:
            self._program()
        if not self.proven:
            self._balls(ascent, rises)
            certificate = ascent.certificate("auto")
            self.bound = max(self.bound, certificate.bound)
            self._closed(ascent)

    @property
    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.ends - self.stopping.seconds)

    def _until(self, share: float) -> Stopping:
        """For a share of the time that is left; whoever stops the whole run stops this as well."""
        return Stopping(share * self.left, callback=lambda seconds, cost: self.stopping.check(self.cost))

    def _take(self, labels: Labels) -> bool:
        cost = self.f.evaluate_labels(labels)
        if not cost < self.cost:
            return False
        self.labels, self.cost = labels.copy(), cost
        self.stopping.record(cost)
        return True

    def _closed(self, ascent: Ascent) -> bool:
        """Whether message passing has proven the best labeling optimal."""
        ascent.offer(self.labels, self.cost)
        if not self.proven and ascent.closed():
            certificate = ascent.certificate("auto")
            if self.cost - certificate.bound <= ascent.tolerance:
                self.bound, self.proven, self.how = self.cost, True, "by message passing"
        return self.proven

    def _fusion(self) -> Moves | None:
        """What fuses two labelings; None where factors are larger than pairs."""
        moves = Moves(*self.f._flat())
        _, what = moves.measure()
        if what >= 0:
            return None
        moves.prepare()
        return moves

    def _mini_buckets(self) -> None:
        if self.left > 0 and not self.stopping.check(self.cost):
            r = elimination(self.f, memory_limit=MEMORY, time_limit=BUCKETS * self.left)
            self.bound = max(self.bound, r.lower_bound)
            self._take(improve(self.f, r.labels.copy(), Stopping(self.left), "sweep")[0])
            if r.status == Status.OPTIMAL:
                self.bound, self.proven, self.how = self.cost, True, "by elimination"

    def _expand(self) -> None:
        if self.moves is not None and not self.stopping.check(self.cost):
            self._take(expanded(self.f, self.moves, self.labels, self._until(0.5), self.rng))

    def _program(self) -> None:
        if self.left <= 0 or self.stopping.check(self.cost):
            return
        from graphpart import milp
        from graphpart.crf.exact_solvers.ilp import solve_component

        inner = self._until(PROGRAM)
        labels, bound, optimal = solve_component(self.f, self.labels, milp.pick_solver(), inner, self.cost)
        inner.reraise()
        self._take(labels)
        self.bound = max(self.bound, bound)
        if optimal:
            self.bound, self.proven, self.how = self.cost, True, "by integer programming"

    def _balls(self, ascent: Ascent, rises: bool) -> None:
        """Change balls until the time is over, message passing in between as long as its bound rises."""
        slice_ends = 0.0
        k = 0
        most = math.inf if self.until_then else BALLS * 1000 // max(self.f.n, 1000)
        while k < most and self.left > 0 and not self.stopping.check(self.cost):
            if rises and self.until_then and self.stopping.seconds >= slice_ends:
                ascent.stopping = self._until(SLICE)
                ascent.offer(self.labels, self.cost)
                rises = ascent.run() == "stopped"
                self._take(ascent.labels)
                slice_ends = self.stopping.seconds + SLICE * self.left
                if self._closed(ascent):
                    return
            self._change_ball()
            k += 1

    def _change_ball(self) -> None:
        inside = self._ball()
        labels = self.labels.copy()
        labels[inside] = random_labels(self.f, self.rng)[inside]
        inner = Stopping(self.left)
        labels, cost = improve(self.f, labels, inner, "sweep")
        if self.moves is not None and cost < math.inf:
            fused = self.labels.copy()
            if self.moves.move(self.labels, labels, fused, self.cost, inner):
                labels = fused
        self._take(labels)

    def _ball(self) -> NDArray[np.int64]:
        """Variables around a random one, nearest first."""
        f = self.f
        start, factors, _ = f.incidence()
        size = int(self.rng.integers(1, min(LARGEST_BALL, f.n) + 1))
        inside = [int(self.rng.integers(f.n))]
        known = set(inside)
        for v in inside:
            for g in factors[start[v] : start[v + 1]].tolist():
                for u in f.scope[f.scope_start[g] : f.scope_start[g + 1]].tolist():
                    if u not in known:
                        known.add(u)
                        inside.append(u)
            if len(inside) >= size:
                break
        return np.array(inside[:size])

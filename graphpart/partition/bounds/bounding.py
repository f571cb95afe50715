"""Bounds of a problem that is too large for branch and cut: from quick ones to better ones, step by step.

1. A packing of conflicted cycles (see `cycle_packing`).
2. Rounds of message passing, which start from the packing.
3. Rounds of the relaxation, which start from the result of message passing, if the problem has few enough pairs.

No step lowers the bound. A step that is longer than the remaining time is not begun. On a matrix, the first round of
message passing makes several packings and sweeps over all of them, so its time depends on the pairs of the first one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.common.judge import Judge
from graphpart.common.steps import round_up
from graphpart.partition.bounds.background_packing import ImplicitPacking, added_pairs
from graphpart.partition.bounds.background_relaxation import ImplicitRelaxation
from graphpart.partition.bounds.cycle_packing import DENSE_UP_TO, pack
from graphpart.partition.bounds.message_passing import ORDERS, SWEEPS, rounds_of_messages
from graphpart.partition.bounds.relaxation import Relaxation, rounds_of
from graphpart.partition.certificates.certificate import common_step, proven_bound
from graphpart.partition.certificates.inequalities import Inequalities
from graphpart.partition.certificates.judging import judge_of_partition
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.derived import pairs_with_cost
from graphpart.partition.problem.forms import without_usual
from graphpart.stopping import Stopping

__all__ = ["Bounding", "BoundingParameters"]


@dataclass(frozen=True)
class BoundingParameters:
    """Which of the bounds are computed, depending on the size of the problem and the time."""

    least: float = 5e-7  #: seconds per pair of a matrix; with less time there is no packing
    packing: float = 3e-6  #: seconds per pair, roughly, for a packing and the proof of its bound
    dense: float = 2e-9  #: further seconds per triple of elements of a matrix
    relaxed: int = 500_000  #: most pairs with a cost for which the relaxation follows message passing


class Bounding:
    """A prover for the races of `graphpart.common.race`. It has no labels of its own, only those that are offered.

    Parameters
    ----------
    p : SetPartition
        Without required joins.
    labels : ndarray of int32, shape (n,)
    bound : float
        A lower bound that is already known.
    raised : callable, optional
        Called with the bound whenever it is better.
    seconds : float
        Time of the race. A packing takes a share of it, and the rounds of message passing pack what is left. With a
        background, the bound says nothing before the packing; so its share is larger, and it begins at once.
    judge : Judge, optional
        The judge of the problem, if it exists already.
    parameters : BoundingParameters
    """

    name, proves = "bounds", True

    def __init__(
        self,
        p: SetPartition,
        labels: Labels,
        bound: float = -math.inf,
        raised: Callable[[float], None] | None = None,
        seconds: float = math.inf,
        judge: Judge | None = None,
        parameters: BoundingParameters | None = None,
    ) -> None:
        seconds *= 0.14 if p.background is None else 0.5
        if p.n > DENSE_UP_TO:
            p = without_usual(p)
        self.p, self.labels, self.cost = p, labels, p._evaluate_labels(labels)
        self.parameters = parameters or BoundingParameters()
        self.bound, self.done, self.raised = bound, False, raised
        pairs = p.n * p.n // 2 if p.is_dense else p.m
        whole = self.parameters.packing * pairs + self.parameters.dense * p.n**3 * p.is_dense
        if p.background is not None:
            u, v, _ = p._listed()
            degree = np.bincount(u, minlength=p.n) + np.bincount(v, minlength=p.n)
            # a microsecond for each unlisted pair that stars use
            whole += 1e-6 * min(0.5 * float(degree @ (degree - 1)), added_pairs(p.m))
        # A quarter of the time of a packing that takes long, so that it begins early enough.
        self.needs = 0.0 if seconds == math.inf or p.background is not None else min(0.25 * seconds, whole)
        most = min(max(2.0 * whole, 0.2 * seconds), seconds)  # a busy machine takes longer
        self._packing = None if seconds == math.inf else max(most, 0.1)  # seconds: no clock without a limit
        if p.is_dense and self.parameters.least * pairs > seconds:
            self.done = True
        self.judge = judge_of_partition(p) if judge is None else judge
        self._step = common_step(p)
        self._steps: Iterator[float | None] | None = None

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a better partition."""
        self.labels, self.cost = labels, cost

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Go on step by step."""
        if self._steps is None:
            self._steps = self._ladder(stopping.child(plus=math.inf))
        began = stopping.seconds
        for expected in self._steps:
            now = stopping.seconds
            self.needs, began = expected or now - began, now  # in general, the next step takes about as long
            if self.judge.meets(self.bound, self.cost) or (until is not None and now + (expected or 0.0) >= until):
                break
        else:
            self.done = stopping.reason is None

    def _ladder(self, stopping: Stopping) -> Iterator[float | None]:
        """The steps; after each, the seconds that the next one will take, if they are known."""
        p = self.p
        rows, amounts = Inequalities.none(), np.zeros(0)
        if p.background is None:
            began = stopping.seconds
            first = pack(p, stopping.child(seconds=self._packing))
            took = stopping.seconds - began
            for k, (rows, amounts) in enumerate(rounds_of_messages(p, stopping, first=first)):
                self._prove(rows, amounts)
                if k == 0 and p.is_dense:
                    yield ORDERS * (took + 1.2e-7 * SWEEPS * float(rows.terms(p.n)[0][-1]))  # for each pair of a row
                else:
                    yield None
            used = pairs_with_cost(p)
        else:
            left = stopping.remaining
            seconds = self._packing if left is None or self._packing is None else min(self._packing, 0.55 * left)
            packing = ImplicitPacking(p, stopping.child(seconds=seconds))
            packing.pack()
            packing.stopping = stopping
            began = stopping.seconds
            self._prove(*packing.proof)  # takes nearly as long as packing
            took = stopping.seconds - began
            yield None
            for _ in packing.improve():
                if stopping.reason is not None and took > 0.1:  # the limit is over
                    return
                self._prove(*packing.proof)
                yield None
            (rows, amounts), used = packing.proof, p.m
        if used > self.parameters.relaxed:
            return
        relaxation = Relaxation(p, stopping) if p.background is None else ImplicitRelaxation(packing, stopping)
        relaxation.start(rows, amounts)
        before = relaxation.bound
        for bound in rounds_of(relaxation, stopping):
            if bound > before:
                self._prove(*relaxation.best)
                before = bound
            yield None

    def _prove(self, rows: Inequalities, multipliers: NDArray[np.float64]) -> None:
        bound = round_up(proven_bound(self.p, rows, multipliers), self._step)
        if bound > self.bound:
            self.bound = bound
            if self.raised is not None:
                self.raised(bound)

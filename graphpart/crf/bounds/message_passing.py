"""Sequential reweighted message passing: a lower bound that never falls, and labelings by rounding.

The bound of a reparametrisation (see `certificate`) is raised by block coordinate ascent. Variables are visited in
order, then in reverse. When a variable is visited, every factor of this variable sends it, for each of its labels, the
least entry of its table, less what the factor sent to its other variables. These amounts become unary costs of the
variable. The variable then sends equal shares of them to those of its factors that contain later variables (Kolmogorov
2015; for pairs this is TRW-S, Kolmogorov 2006). On a chain in order one pass gives the optimum. Tables of pairs that
are Potts or truncated linear functions are passed in time linear in the number of labels (Felzenszwalb & Huttenlocher
2006).

After a pass in reverse, labels are chosen in order: each variable gets the label of least cost given the labels of
earlier variables and the messages from later ones. Iterated conditional modes improve this labeling. Once the bound
hardly rises any more, violated cycles are added as larger factors (see `tightening`), until the gap is closed, the time
is over, or no cycle raises the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.judge import Judge
from graphpart.common.steps import round_up
from graphpart.crf.bounds.passes import Passes
from graphpart.crf.bounds.tightening import tighten
from graphpart.crf.certificates.certificate import Certificate, common_step
from graphpart.crf.certificates.judging import is_far, judge_of_labels
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem._view import least_labels
from graphpart.crf.problem.given_labels import start_of
from graphpart.crf.problem.labeling import finish
from graphpart.display import plural
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["Ascent", "message_passing"]

WINDOW = 10  # number of iterations over which the rise of the bound is measured
LITTLE = 0.01  # rise over a window, as a share of the gap, below which the bound is tightened
LEAST = 0.001  # rise over a window, as a share of the gap, below which the run ends if no cycle is left to add
CERTIFYING = 5e-8  # seconds to make the certificate, for each entry or message; at most a quarter of the time limit
BOUNDING = 1e-8  # seconds to prove the bound of pairs, for each message; at most half of the time limit
DENSE, EVERY = 16, 8  # rounding after the first 1, 2, 4, 6, ... iterations, then with this period


@interruptible
def message_passing(
    problem: Any,
    *,
    initial: Any = None,
    tightening: bool = True,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabelingResult:
    """Lower bound and labelings by sequential reweighted message passing, with tightening by cycles.

    Also known as ``srmp``, and for pairs as ``trw-s`` or ``trws``.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    initial : Result, labels or mapping from names to labels, optional
        A labeling that the result will not be worse than.
        Variables that it leaves out get the label of least cost given the others.
    tightening : bool
        Whether to add violated cycles as larger factors once the bound hardly rises any more.
    time_limit : float, optional
        Seconds. Up to half of them are for the proof of the bound.
    max_iterations : int, optional
        Iterations, each of a pass forward and one in reverse.
    target : float, optional
        Stop at this energy.
    callback : callable, optional
        ``callback(seconds, cost)``; a true return value ends the run.

    Returns
    -------
    LabelingResult
        With status ``optimal`` if bound and energy meet (up to ``2**-34`` of the absolute costs), else
        ``feasible`` with the best labeling and bound. ``info["certificate"]`` is the :class:`Certificate` of the bound,
        ``info["triplets"]`` the number of triplets added. Messages that would take 1 GiB or more are rounded to 2 or 4
        bytes, and ``optimal`` is hardly ever reached.

    Raises
    ------
    InvalidPartition
        If the initial labeling does not fit the problem.
    InfeasibleProblem
        If every labeling is forbidden, as far as the messages show.

    Notes
    -----
    An iteration takes time linear in the sizes of all tables; for pairs with Potts or truncated linear tables, linear
    in the number of labels. Memory: for each pair, one number for each label of one variable, of 8 bytes, or 2 where
    messages are rounded (4 if entries of pairs differ by more than 64 times what unary costs do), and at most 0.5 GB
    for triplets. The certificate has a number of 8 bytes for each label of both variables of each pair. Where all
    factors are pairs without forbidden entries, and each variable has one factor of its own, these numbers are made
    when the certificate is first used.

    Examples
    --------
    >>> import graphpart as gp
    >>> differ = [[0.0, 1.0], [1.0, 0.0]]
    >>> unary = ([[0], [1], [2]], [[0.0, 3.0], [1.0, 0.5], [2.0, 0.0]])
    >>> f = gp.FactorGraph.from_arrays([2, 2, 2], [unary, ([[0, 1], [1, 2]], [differ, differ])])
    >>> r = message_passing(f)
    >>> r.labels.tolist(), r.cost, r.lower_bound, str(r.status)
    ([0, 1, 1], 1.5, 1.5, 'optimal')
    >>> r.info["certificate"].verify(f)
    True
    """
    f = as_factor_graph(problem)
    start = None if initial is None else start_of(f, initial)
    stopping = Stopping(time_limit, max_iterations, target, callback)
    ascent = Ascent(f, stopping.child(iterations=stopping.max_iterations), start, tightening)
    why = ascent.run_whole(stopping)
    certificate = ascent.certificate("message-passing", last=True)
    bound = round_up(ascent.passes.certified, common_step(f))
    closed = not is_far(f, bound, ascent.cost) and ascent.judge.meets(bound, ascent.cost)
    info = {"certificate": certificate, "triplets": ascent.triplets}
    status = Status.OPTIMAL if closed else Status.FEASIBLE
    message = None if stopping.reason and not closed else f"{'proven optimal' if closed else 'ended'}: {why}"
    return finish(f, ascent.labels, stopping, "message-passing", status, message=message, lower_bound=bound, info=info)


class Ascent:
    """A run of passes, roundings and tightenings.

    Attributes
    ----------
    labels, cost : ndarray of int32, float
        The best labeling so far, and its energy.
    bounds : list of (float, float)
        Seconds and bound after each iteration, up to rounding.
    iterations, since : int
        The number of iterations in all runs, and since the bound was last tightened or found to rise.
    preparing, lasted : float
        Seconds that it took to prepare messages, and for the latest iteration without rounding; inf before the first.
    whole : bool
        Whether this is the whole problem of `stopping`, which then records better bounds; default: it is not.
    """

    def __init__(
        self, f: FactorGraph, stopping: Stopping, initial: NDArray[np.int32] | None = None, tightening: bool = True
    ) -> None:
        self.f, self.stopping, self.tightening = f, stopping, tightening
        began = stopping.seconds
        self.passes = Passes(f)
        self.preparing = stopping.seconds - began  # seconds; rounding takes less
        self.labels = least_labels(f._view(), self.passes.unary) if initial is None else initial
        self.cost = f.evaluate_labels(self.labels)
        self.bounds: list[tuple[float, float]] = []
        self.iterations = self.since = self.rounded = 0
        self.whole, self.lasted = False, math.inf
        stopping.record(self.cost)

    @property
    def triplets(self) -> int:
        """The number of triplets added."""
        return len(self.passes.structure.triplets)

    def run(self) -> str:
        """Run until the gap is closed, the bound hardly rises, or `Stopping` ends the run; return the reason."""
        stopping, passes = self.stopping, self.passes
        if not self.f.n:
            passes.bound = self.f.constant
            return "there are no variables"
        while not stopping.check(self.cost) and not self._must_prove():
            began = stopping.seconds
            if not (passes.iterate(self.cost, stopping) if self.iterations else self._first()):
                break
            self.lasted = stopping.seconds - began
            self.bounds.append((stopping.seconds, passes.bound))
            if self.whole and not passes.narrow:
                stopping.raise_bound(passes.bound)
            if passes.shows_infeasible():
                self.certificate("message-passing")  # this raises InfeasibleProblem if the certificate proves it
            self.since += 1
            self.iterations = k = self.iterations + 1
            if k in (1, 2) or k % (2 if k <= DENSE else EVERY) == 0:
                self.round(None if stopping.remaining is None else self.lasted)
                if self.whole and passes.narrow:  # the bound of the pass may be above the proven one
                    stopping.raise_bound(passes.proven())
            ended = stopping.step(self.cost)
            if self.closed():
                return self._met()
            if ended:
                break
            if self.since <= WINDOW or not self._stalls(LITTLE):
                continue
            if self.tightening and tighten(passes, self.cost, stopping):
                self.since = 0
            elif self._stalls(LEAST):
                break
            else:
                self.since = 0
        if not stopping.reason:
            if self.rounded < self.iterations:
                self.round()
            if not self.closed():
                return f"the bound hardly rises after {plural(self.iterations, 'iteration')}" + self._added()
            return self._met()
        return "stopped"

    def _first(self) -> bool:
        """The first iteration; if it cannot end in time, a labeling from the part of it that can."""
        stopping, passes, began = self.stopping, self.passes, self.stopping.seconds
        left = stopping.remaining
        if left is None or not passes.ends_early:
            return passes.iterate(self.cost, stopping)
        if passes.one_way(True, self.cost, stopping.child(max(left - self.preparing, 0.0))):
            self.lasted, left = 2 * (stopping.seconds - began), stopping.remaining
            if left is None or left >= self.lasted / 2 + self.preparing:
                return passes.one_way(False, self.cost, stopping)
        self.round()
        stopping.stop(Status.TIME_LIMIT)
        return False

    def run_whole(self, stopping: Stopping) -> str:
        """Run with the limits of a whole problem, less the time for the proof of the bound; return the reason."""
        passes, left, kept = self.passes, stopping.remaining, None
        if left is not None:
            each = BOUNDING * passes.size if passes.streams else CERTIFYING * max(self.f.entries, passes.size)
            kept = left - min(each, left / (2 if passes.streams else 4))
        self.stopping, self.whole = stopping.child(kept, iterations=stopping.max_iterations), True
        why = self.run()
        stopping.iterations = self.stopping.iterations
        if self.stopping.reason is not None and stopping.reason is None:
            stopping.stop(self.stopping.reason)
        return why

    def round(self, seconds: float | None = None) -> None:
        """A labeling by rounding, improved by iterated conditional modes for some seconds; kept if it is the best."""
        self.rounded = self.iterations
        labels, cost = self.passes.rounded(self.stopping.child(seconds), self.labels)
        if cost < self.cost:
            self.labels, self.cost = labels, cost
            self.stopping.record(cost)

    def offer(self, labels: NDArray[np.int32], cost: float) -> None:
        """Take a labeling that another method found, if it is the best."""
        if cost < self.cost:
            self.labels, self.cost = labels.copy(), cost

    @property
    def judge(self) -> Judge:
        """Of the best labeling."""
        return judge_of_labels(self.f, self.labels)

    def closed(self) -> bool:
        """Whether bound and energy meet, although the bound holds up to rounding only."""
        if is_far(self.f, self.passes.bound, self.cost):
            return False
        judge = self.judge
        return judge.meets(judge.cautious(self.passes.bound), self.cost)

    def certificate(self, method: str, last: bool = False) -> Certificate:
        """The bound so far, with its proof; after the `last` one, the run cannot go on."""
        return self.passes.certificate(method, self.cost if self.cost < math.inf else None, last)

    def _must_prove(self) -> bool:
        """End the run if another iteration would take the time for the proof of added triplets."""
        left, needed = self.stopping.remaining, self.passes.proving
        if not self.whole or left is None or not needed:
            return False
        each = self.bounds[-1][0] - self.bounds[-2][0]
        if left > needed + each:
            return False
        self.stopping.stop(Status.TIME_LIMIT)
        return True

    def _stalls(self, share: float) -> bool:
        rise = self.bounds[-1][1] - self.bounds[-1 - WINDOW][1]
        gap = max(self.cost - self.bounds[-1][1], 0.0)  # rounding may have raised the bound above the cost
        if gap == math.inf:
            gap = abs(self.bounds[-1][1])
        return not rise > share * gap

    def _met(self) -> str:
        nearly = f" up to the rounding of messages of {self.passes.narrow} bytes," if self.passes.narrow else ""
        return f"bound and energy meet{nearly} after {plural(self.iterations, 'iteration')}" + self._added()

    def _added(self) -> str:
        return f" and {plural(self.triplets, 'triplet')}" if self.triplets else ""

"""A lower bound by the two halves of a labelled partition, with multipliers between them.

Let y[ab] be 1 if a and b are in one cluster. From inequalities that every partition satisfies, with multipliers of at
least 0, follow amounts d[ab] and a constant D such that ``sum of d[ab] y[ab] + D <= 0`` for every partition (see
`partition.certificates`). So every solution costs at least

    D + min over classes of  sum of label_costs + sum over pairs of min(parted[k, l], joined[k, l] + d),

which is a constant and the energy of a factor graph. Messages between its factors prove a bound on this energy (see
`crf.certificates`). Both halves are improved in turns, and no turn lowers the bound:

1. Messages: some passes of sequential reweighted message passing (Kolmogorov 2015) from the messages so far.
2. Inequalities: with the messages, and the costs of elements shared out among their pairs, each pair has a least cost
   together and a least cost apart. Their difference is the cost of the pair in a set partition problem. Conflicted
   cycles of this problem are packed, and message passing between them improves the packing (Lange, Karrenbauer & Andres
   2018). They replace the earlier inequalities.

Abbas & Swoboda (2021) and Swoboda & Andres (2017) pass messages between such halves in a similar way. At last, cycles
of variables that raise the bound of the factor graph are added to it (Sontag et al. 2008).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.steps import round_up
from graphpart.crf.bounds.passes import Passes
from graphpart.crf.bounds.tightening import tighten
from graphpart.crf.certificates.certificate import Extra, proven_bound
from graphpart.crf.problem import FactorGraph
from graphpart.errors import InfeasibleProblem, InvalidCertificate
from graphpart.labeled.finite import Tables, tables_of, trivial_bound
from graphpart.labeled.halves import factor_graph
from graphpart.labeled.judging import step_of_costs
from graphpart.labeled.labeled_partition import LabeledPartition, as_labeled
from graphpart.partition.bounds.message_passing import pass_messages
from graphpart.partition.certificates.certificate import reduced_costs
from graphpart.partition.certificates.inequalities import Inequalities
from graphpart.partition.problem import SetPartition
from graphpart.stopping import Stopping, interruptible

__all__ = ["Bounding", "LabeledCertificate", "lower_bound"]

Floats = NDArray[np.float64]
PASSES = 12  # passes of messages in a turn, each forward and in reverse
WINDOW = 8  # turns over which the rise of the bound is measured
LITTLE = 0.01  # rise over a window, as a share of the gap, below which cycles of variables are added, or the run ends
TURNS = 150  # most turns without a time limit


@dataclass(frozen=True)
class LabeledCertificate:
    """A lower bound on the cost of a labelled partition, with its proof.

    Attributes
    ----------
    bound : float
        No solution costs less.
    inequalities : Inequalities
        Valid for all partitions of the elements.
    multipliers : ndarray of float64
        At least 0, one for each inequality.
    messages : ndarray of float64
        Amounts that the factors of the classes send to their variables, as in :class:`graphpart.crf.Certificate`.
    extra : Extra
        Factors that are added to those of the classes.

    Examples
    --------
    >>> import graphpart as gp
    >>> q = gp.LabeledPartition.from_arrays([[0.0, 2.0], [1.0, 0.0]], [(0, 1)], [[[-3.0, 1.0], [1.0, 1.0]]])
    >>> c = gp.labeled.lower_bound(q)
    >>> c.bound, c.verify(q)
    (-2.0, True)
    """

    bound: float
    inequalities: Inequalities = field(repr=False)
    multipliers: Floats = field(repr=False)
    messages: Floats = field(repr=False)
    extra: Extra = field(repr=False)

    def check(self, problem: Any) -> None:
        """Raise InvalidCertificate unless the certificate proves its bound for this problem, in directed rounding."""
        q = as_labeled(problem)
        proven = max(trivial_bound(q), proven_by(q, self.inequalities, self.multipliers, self.messages, self.extra))
        if not proven >= self.bound:
            raise InvalidCertificate(f"the multipliers prove {proven!r} only: expected at least {self.bound!r}")

    def verify(self, problem: Any) -> bool:
        """Whether the certificate proves its bound for a problem; see `check`."""
        try:
            self.check(problem)
        except InvalidCertificate:
            return False
        return True


def proven_by(
    q: LabeledPartition, inequalities: Inequalities, multipliers: Floats, messages: Floats, extra: Extra
) -> float:
    """The lower bound that multipliers and messages prove: all roundings are downwards.

    At last it is rounded up to a multiple of the step of all costs, if there is one.
    """
    amounts, constant = amounts_of(q, inequalities, multipliers)
    energy = proven_bound(_energies(q, amounts), messages, extra)
    return round_up(math.nextafter(energy + constant, -math.inf), step_of_costs(q))


def amounts_of(q: LabeledPartition, inequalities: Inequalities, multipliers: Floats) -> tuple[Floats, float]:
    """Amounts d and a constant D such that the sum of d over joined pairs, plus D, is at most 0 for every partition."""
    zero = SetPartition.from_pairs(q.n, (q.u, q.v), np.zeros(q.m), dense=False)
    return reduced_costs(zero, inequalities, multipliers)


def _energies(q: LabeledPartition, amounts: Floats) -> FactorGraph:
    """The factor graph of the classes: each pair together or apart, whatever costs less, rounded downwards."""
    together = q.joined + amounts[:, None, None]
    together = np.where(np.isinf(together), math.inf, np.nextafter(together, -math.inf))
    return factor_graph(q.label_costs, q.u, q.v, np.minimum(q.parted, together))


@interruptible
def lower_bound(
    problem: Any,
    *,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabeledCertificate:
    """A lower bound on the cost of all clusters and classes, with its proof.

    Parameters
    ----------
    problem : LabeledPartition or networkx.Graph
    time_limit : float, optional
        Seconds.
    max_iterations : int, optional
        Turns of messages and inequalities; default: until they gain little, at most 150.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value ends the work.

    Returns
    -------
    LabeledCertificate

    Raises
    ------
    InfeasibleProblem
        If every solution is forbidden, as far as the messages show.

    Notes
    -----
    A turn takes O(n L + m L^2), and the time of a packing of cycles of the pairs.

    Examples
    --------
    >>> import graphpart as gp
    >>> q = gp.LabeledPartition.from_arrays([[0.0]] * 3, [(0, 1), (1, 2), (0, 2)], [-2.0, -3.0, 4.0])
    >>> lower_bound(q).bound
    -3.0
    """
    q = as_labeled(problem)
    stopping = Stopping(time_limit, max_iterations, None, callback)
    bounding = Bounding(q, tables_of(q))
    while not bounding.done and not stopping.check(math.inf):
        bounding.turn(math.inf, stopping)
        stopping.step(math.inf)
    stopping.reraise()
    return bounding.certificate()


class Bounding:
    """Turns of messages and inequalities on one problem.

    Attributes
    ----------
    bound : float
        Proven.
    done : bool
        Whether further turns would gain little.
    """

    def __init__(self, q: LabeledPartition, tables: Tables) -> None:
        self.q, self.tables = q, tables
        self.bound, self.done, self.turns = trivial_bound(q), not q.m, 0
        self.degree = np.bincount(np.concatenate([q.u, q.v]), minlength=q.n).astype(np.float64)
        self.passes: Passes | None = None
        self._rows, self._multipliers = Inequalities.none(), np.zeros(0)
        self._messages: Floats | None = None
        self._best: tuple[Inequalities, Floats, Floats, Extra] | None = None
        self._history: list[float] = []
        self._tightened = False
        self._step = step_of_costs(q)

    def turn(self, cost: float, stopping: Stopping) -> None:
        """Passes of messages, the proof of their bound, and new inequalities; `cost` is that of the best solution."""
        inner = stopping.child(plus=math.inf)
        if self.passes is None:
            amounts, self._constant = amounts_of(self.q, self._rows, self._multipliers)
            self.passes = Passes(_energies(self.q, amounts))
            if self._messages is not None:
                self.passes.load(self._messages, np.zeros(0))
        for _ in range(PASSES):
            if not self.passes.iterate(cost, inner):
                return
        self.turns += 1
        self._prove()
        self._history.append(self.bound)
        self.done = self.turns >= TURNS and stopping.remaining is None
        if len(self._history) > WINDOW and self._stalls(cost):
            if not tighten(self.passes, cost - self._constant, inner):
                self.done = True
            self._tightened = True
            self._history.clear()
        if not self._tightened:
            self._replace_inequalities(inner)

    def _prove(self) -> None:
        assert self.passes is not None
        messages, extra = self.passes._proof()
        value = proven_bound(self.passes.f, messages, extra)
        if value == math.inf:
            raise InfeasibleProblem("every solution is forbidden: messages prove it")
        bound = round_up(math.nextafter(value + self._constant, -math.inf), self._step)
        if self.passes.shows_infeasible():
            raise InfeasibleProblem("every solution is forbidden: the bound is above all finite costs")
        if bound > self.bound:
            self.bound, self._best = bound, (self._rows, self._multipliers, messages, extra)

    def _stalls(self, cost: float) -> bool:
        gap = max(cost - self.bound, 0.0)
        gap = abs(self.bound) if gap == math.inf else gap
        return not self._history[-1] - self._history[-1 - WINDOW] > LITTLE * gap

    def _replace_inequalities(self, stopping: Stopping) -> None:
        """Inequalities for the costs of pairs that are left by the messages; the factor graph is made anew then."""
        assert self.passes is not None
        t = self.tables
        self._messages, _ = self.passes.messages()
        sent = np.ldexp(self._messages, self.passes.exponent).reshape(self.q.m, 2, self.q.n_classes)
        rest = t.own.copy()
        np.add.at(rest, t.u, sent[:, 0])
        np.add.at(rest, t.v, sent[:, 1])
        rest /= np.maximum(self.degree, 1.0)[:, None]
        shift = (rest[t.u] - sent[:, 0])[:, :, None] + (rest[t.v] - sent[:, 1])[:, None, :]
        costs = (t.joined + shift).min(axis=(1, 2)) - (t.parted + shift).min(axis=(1, 2))
        p = SetPartition.from_pairs(self.q.n, (t.u, t.v), costs, dense=False)
        self._rows, self._multipliers = pass_messages(p, stopping)
        self.passes = None

    def certificate(self) -> LabeledCertificate:
        """The best bound so far, with its proof."""
        if self._best is None:
            rows, multipliers = Inequalities.none(), np.zeros(0)
            messages = np.zeros(2 * self.q.m * self.q.n_classes)
            return LabeledCertificate(self.bound, rows, multipliers, messages, Extra.none())
        return LabeledCertificate(self.bound, *self._best)

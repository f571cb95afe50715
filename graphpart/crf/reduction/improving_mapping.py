"""Improving mappings to a test labeling: labels that need not be considered, by a lower bound of message passing.

Let y be a labeling. Let the mapping p replace some labels of each variable v, its **mapped** labels, by y_v, and leave
the others as they are. If f(p(x)) <= f(x) for all labelings x, some optimal labeling has no mapped label (Swoboda,
Savchynskyy, Kappes & Schnoerr 2014; Shekhovtsov 2014). The condition is that the factor graph g(x) = f(x) - f(p(x)),
which has the same scopes, has no negative energy, and a lower bound can prove this. At first, all labels but y_v are
mapped. As long as the bound of g is negative, the labels that make it negative are removed from the mapped ones
(Shekhovtsov, Swoboda & Savchynskyy 2015). In g, all labels of a variable that are not mapped count as one label, with
the least of their entries. An entry that f forbids is forbidden in g. A mapping must not lead from an allowed to a
forbidden entry.

1. y and the first messages come from message passing on f.
2. A few passes over g. If its bound is zero, the mapping is proven.
3. Labels of negative entries in the reparametrised tables of g are not mapped any more. Continue with 2, from the
   present messages.

The choice of labels does not affect the validity of the proof. Differences are rounded down, and so is the bound of g.
If all costs are multiples of a step, the energies of g are, too, and a bound above minus one step proves that none is
negative. Otherwise a slack is subtracted from g for each mapped label, 2^-36 of the range of all tables. A bound of at
least minus one slack then proves the same, since the energy of every labeling with a mapped label was larger by at
least one slack. So the mapping improves in exact arithmetic, without a tolerance; without a step, it must improve
strictly.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds.message_passing import Ascent
from graphpart.crf.bounds.passes import Passes
from graphpart.crf.certificates.certificate import Extra, common_step, proven_bound
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.labeling import places
from graphpart.crf.problem.shared_tables import by_table, selected
from graphpart.crf.reduction import _kernels
from graphpart.stopping import Stopping

__all__ = ["improving_mapping"]

Floats = NDArray[np.float64]
Offsets = NDArray[np.int64]
SLACK = 2.0**-36
LARGEST_SUM = 1e290  # largest sum of absolute costs
ITERATIONS = 60  # iterations of message passing on f
PASSES = 3  # iterations of message passing on g in each round
ROUNDS = 100
SHARE = 0.25  # share of the remaining time


def improving_mapping(f: FactorGraph, stopping: Stopping) -> NDArray[np.uint8] | None:
    """A flag for each label: some optimal labeling has only labels with flag 1. None if no mapping was proven.

    Raises
    ------
    InfeasibleProblem
        If message passing shows that every labeling is forbidden.

    Notes
    -----
    Takes the time of a small multiple of 60 iterations of message passing, and at most a quarter of the time that is
    left.
    """
    share = None if stopping.remaining is None else SHARE * stopping.remaining
    whole = stopping.child(share, plus=math.inf)
    step, ranges = common_step(f), _ranges(f)
    if not (step or SLACK * ranges > 0.0):  # nothing differs, too much, or too little
        return None
    half = None if share is None else share / 2
    ascent = Ascent(f, whole.child(half, ITERATIONS, math.inf), tightening=False)
    ascent.run()
    if not ascent.cost < math.inf:
        return None
    search = _Search(f, ascent, step, 0.0 if step else SLACK * ranges)
    return 1 - search.mapped if search.run(whole) else None


class _Search:
    """The mapping, and messages for its factor graph.

    Attributes
    ----------
    mapped : ndarray of uint8
        Whether each label of each variable is mapped to that of the test labeling.
    f : FactorGraph
        A factor graph with all factors that have mapped labels, and maybe others.
    touched : int
        Variables with mapped labels when `f` was made or looked at last.
    messages : ndarray of float64
        In the layout of certificates of f, less those to the test labeling; those to labels not mapped do not count.
    """

    def __init__(self, f: FactorGraph, ascent: Ascent, step: float, slack: float) -> None:
        self.f, self.labels, self.step, self.slack = f, ascent.labels, step, slack
        self.first = places(f)
        self.mapped = np.ones(self.first[-1], np.uint8)
        self.mapped[self.first[:-1] + self.labels] = 0
        self.touched = f.n
        arity = np.diff(f.scope_start)
        members = f.scope[np.repeat(arity > 1, arity)]
        sizes = f.domains[members].astype(np.int64)
        messages = _messages(ascent.passes)
        chosen = np.cumsum(sizes) - sizes + self.labels[members]
        self.messages = messages - np.repeat(messages[chosen], sizes)

    def run(self, stopping: Stopping) -> bool:
        """Map fewer and fewer labels until the mapping is proven to improve; return False if this fails."""
        for _ in range(ROUNDS):
            self._narrow()
            g, origins = self._differences()
            if g is None or stopping.check(math.inf):
                return False
            self._pass(g, origins, stopping)
            messages = self._of(origins)
            bound = proven_bound(g, messages, Extra.none())
            if bound > -self.step if self.step else bound >= -self.slack:
                return True
            # If no place is below this, the bound is above half of the required one, up to rounding.
            tolerance = (self.step or self.slack) / (2.0 * (g.n + g.m))
            first = places(g)
            leave = _kernels.negative(g._view(), messages, tolerance)
            if not leave.any():
                return False
            leave = np.delete(leave, first[:-1])  # the mapped labels remain, in order
            self.mapped[np.flatnonzero(self.mapped)[leave > 0]] = 0
        return False

    def _narrow(self) -> None:
        """Remove the factors of f without mapped labels, which g does not have, if they have most of the entries."""
        f = self.f
        touched = np.logical_or.reduceat(self.mapped, self.first[:-1]) if f.n else np.zeros(0, bool)
        count = int(np.count_nonzero(touched))
        if 2 * count > self.touched or not f.m:
            return
        self.touched = count
        stays = np.logical_or.reduceat(touched[f.scope], f.scope_start[:-1])
        if 2 * np.diff(f.table_start)[stays].sum() > f.entries:
            return
        arity = np.diff(f.scope_start)
        members = np.repeat(stays, arity)
        several = np.repeat(arity > 1, arity)
        self.messages = self.messages[np.repeat(members[several], f.domains[f.scope[several]])]
        self.f = FactorGraph.of_csr(range(f.n), f.domains, *selected(f, np.flatnonzero(stays)))

    def _differences(self) -> tuple[FactorGraph | None, Offsets]:
        """(g, positions of its messages among those of f); None if no label is mapped any more."""
        while self.mapped.any():
            stays = np.zeros_like(self.mapped)
            domains, start, scope, tables, origins, amiss = _kernels.differences(
                self.f._view(), self.labels, self.mapped, stays, self.slack
            )
            if not amiss:
                return FactorGraph.of_csr(range(len(domains)), domains, start, scope, tables), origins
            self.mapped[stays > 0] = 0
        return None, np.zeros(0, np.int64)

    def _of(self, origins: Offsets) -> Floats:
        """The messages for g: 0 to labels that are not mapped."""
        out = np.zeros(len(origins))
        known = origins >= 0
        out[known] = self.messages[origins[known]]
        return out

    def _pass(self, g: FactorGraph, origins: Offsets, stopping: Stopping) -> None:
        """Some iterations of message passing on g, from the messages so far."""
        passes = Passes(g)
        passes.load(np.ldexp(self._of(origins), -passes.exponent), np.zeros(0))
        for _ in range(PASSES):
            if not passes.iterate(math.inf, stopping):
                break
        messages = _messages(passes)
        known = origins >= 0
        zero = np.maximum.accumulate(np.where(known, 0, np.arange(len(messages))))  # of the same block
        self.messages[origins[known]] = (messages - messages[zero])[known]


def _messages(passes: Passes) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        own: Floats = np.ldexp(passes.messages()[0], passes.exponent)
    return np.clip(own, -LARGEST_SUM, LARGEST_SUM)


def _ranges(f: FactorGraph) -> float:
    """The sum over tables of the range of their finite entries; 0 if costs are too large for sums of differences."""
    if not f.m:
        return 0.0
    tables = f._flat()[4]
    finite = np.where(np.isfinite(tables), tables, -math.inf) if f.has_forbidden else tables
    low, high = by_table(f, np.minimum), by_table(f, np.maximum, finite)
    size = float(np.maximum(np.abs(low), np.abs(high)).sum())
    return float((high - low).sum()) if size < LARGEST_SUM else 0.0

"""The base of all contestants of a race on a factor graph, and the duration of their steps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.common.judge import Judge
from graphpart.crf.certificates.judging import is_far, judge_of_labels
from graphpart.crf.problem import FactorGraph
from graphpart.stopping import Stopping

__all__ = ["HEAVY", "MOST", "Contestant", "ContestantParameters", "numbers_in"]

Labels = NDArray[np.int32]
MOST = 2**27  # numbers in a factor graph (see `numbers_in`), above which some contestants would take too much memory
HEAVY = 2**20  # numbers in a factor graph (see `numbers_in`) from which on memory is given back between turns


@dataclass(frozen=True)
class ContestantParameters:
    """Estimated durations in seconds, limits, and shares of the time.

    The durations are those of a slow machine. They count until a step was measured. A step that is not begun because of
    its estimate would have been of little use.
    """

    entry: float = 2e-8  #: seconds per number (see `numbers_in`) for a step that reads all tables once
    proof: float = 3e-9  #: seconds per table entry, also of shared tables, for the bound that messages prove
    moved: float = 5e-7  #: seconds per variable for an expansion
    prepared: float = 2.5e-7  #: seconds per variable to prepare expansions, which reads all tables in addition
    operation: float = 5e-9  #: seconds per addition, for steps whose work grows with a third power
    shrinking: float = 2e-7  #: seconds per table entry to prepare branch and bound
    late: float = 0.05  #: share of the time, or of a second, that a proof may take beyond twice the remaining time
    affordable: float = 2.0**18  #: table entries, per second left, up to which expensive methods begin
    leading: float = 0.6  #: share of the time that strips may take before most others begin
    sweeps: float = 700.0  #: duration of the first round of search, in sweeps of annealing
    first_round: float = 0.1  #: share of the time above which the first round of search counts as long
    hard: float = 0.01  #: share of the first gap that has to be left by message passing before a long first round
    passed: float = 2.0**29  #: without a time limit: table entries of all iterations of message passing, about
    visited: float = 2.0**23  #: without a time limit: table entries of all nodes of branch and bound
    idle: int = 6  #: without a time limit: rounds of search without gain in a row after which it ends
    searched: float = 2.0**20  #: without a time limit: table entries of so many rounds, if these are fewer


class Contestant:
    """The base of all contestants on one factor graph; see `common/race.py` for the other attributes.

    Attributes
    ----------
    certified : float
        A bound that holds in exact arithmetic; `bound` may be larger by rounding.
    done : bool
        Whether it can do no more with any time.
    """

    name = ""
    proves = False

    def __init__(self, f: FactorGraph, labels: Labels, cost: float) -> None:
        self.f, self.labels, self.cost = f, labels, cost
        self.bound = self.certified = -math.inf
        self.done = False
        self._needs = 0.0

    @property
    def needs(self) -> float:
        """Seconds that its next step takes at least."""
        return self._needs

    @property
    def judge(self) -> Judge:
        """Of its best labeling."""
        return judge_of_labels(self.f, self.labels)

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a labeling that is better than its own."""
        if cost < self.cost:
            self.labels, self.cost = labels, cost

    def take(self, labels: Labels, cost: float) -> None:
        """The labels that a part of it has found, if they are better."""
        if cost < self.cost:
            self.labels, self.cost = labels.copy(), cost

    def affords(self, seconds: float, stopping: Stopping) -> bool:
        """Whether a step of `seconds` seconds ends in time; if not, `needs` is set to them."""
        affordable = stopping.remaining is None or seconds <= stopping.remaining
        self._needs = 0.0 if affordable else seconds
        return affordable

    def certify(self) -> None:
        """Compute the bound that is proven in exact arithmetic."""

    def know(self, bound: float) -> None:
        """Take over a bound that holds up to rounding. If it meets the cost, it is certified, which ends the work."""
        if is_far(self.f, bound, self.cost):
            self.bound = bound
            return
        judge = self.judge
        self.bound = judge.cautious(bound)
        if judge.meets(self.bound, self.cost):
            self.certify()
            self.done = judge.meets(self.certified, self.cost)
            self.bound = self.cost if self.done else self.certified


def numbers_in(f: FactorGraph) -> int:
    """About how many numbers a step reads: entries of tables, but of a table that many factors share, their labels."""
    if "numbers" not in f._cache:
        *_, variables, _, tables = f._flat()
        f._cache["numbers"] = min(f.entries, len(tables) + int(f.domains[variables].sum()))
    return int(f._cache["numbers"])

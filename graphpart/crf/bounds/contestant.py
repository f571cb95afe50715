"""The part that all contestants of a race on a factor graph share."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.common.judge import Judge
from graphpart.crf.certificates.judging import judge_of_labels
from graphpart.crf.problem import FactorGraph
from graphpart.stopping import Stopping

__all__ = ["Contestant"]

Labels = NDArray[np.int32]


class Contestant:
    """What all contestants on one factor graph have in common; for what is missing see `common/race.py`.

    Attributes
    ----------
    certified : float
        A bound that holds in exact arithmetic; `bound` may be larger by rounding.
    done : bool
        Whether it can do no more, whatever time there is.
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
        """Whether what takes so many seconds ends in time; if not, that is what it needs."""
        affordable = stopping.remaining is None or seconds <= stopping.remaining
        self._needs = 0.0 if affordable else seconds
        return affordable

    def certify(self) -> None:
        """Compute the bound that is proven in exact arithmetic."""

    def know(self, bound: float) -> None:
        """Take over a bound that holds up to rounding. If it meets the cost, it is certified, which ends the work."""
        judge = self.judge
        self.bound = judge.cautious(bound)
        if judge.meets(self.bound, self.cost):
            self.certify()
            self.done = judge.meets(self.certified, self.cost)
            self.bound = self.cost if self.done else self.certified

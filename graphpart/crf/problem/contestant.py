"""The part that all contestants of a race on a factor graph share."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem.factor_graph import FactorGraph
from graphpart.stopping import Stopping

__all__ = ["Contestant"]

Labels = NDArray[np.int32]


class Contestant:
    """What all contestants on one factor graph have in common; for what is missing see `common/race.py`.

    Attributes
    ----------
    certified : float
        A bound that holds in exact arithmetic; `bound` may be larger by rounding.
    ended : bool
        Whether it can do no more, whatever time there is.
    starved : bool
        Whether its next step would not end in the time that there was.
    waits : callable
        Whether it leaves the time to others, for now.
    """

    name = ""
    proves = False
    needs = 0.0  # seconds of the next step: `affords` tells when it is known

    def __init__(self, f: FactorGraph, labels: Labels, cost: float) -> None:
        self.f, self.labels, self.cost = f, labels, cost
        self.bound = self.certified = -math.inf
        self.ended = self.starved = False
        self.waits: Callable[[], bool] = lambda: False

    @property
    def done(self) -> bool:
        """Whether it can do no more, for now."""
        return self.ended or self.starved or self.waits()

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a labeling that is better than its own."""
        if cost < self.cost:
            self.labels, self.cost = labels, cost

    def take(self, labels: Labels, cost: float) -> None:
        """The labels that a part of it has found, if they are better."""
        if cost < self.cost:
            self.labels, self.cost = labels.copy(), cost

    def affords(self, seconds: float, stopping: Stopping) -> bool:
        """Whether what takes so many seconds ends in time; if not, it is done."""
        self.starved = self.starved or (stopping.remaining is not None and seconds > stopping.remaining)
        return not self.starved

"""The interface of strategies: a strategy plans the tasks of a round, and performs each in a thread of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.pool import Pool
from graphpart.partition.problem import Labels
from graphpart.stopping import Stopping

__all__ = ["Found", "Strategy", "Task", "Turn"]


@dataclass(frozen=True)
class Turn:
    """The information for planning a round, which depends only on the seed and the rounds before.

    Attributes
    ----------
    pool : Pool
    annealer : Annealer
    number : int
        The number of the round.
    idle : int
        Rounds in a row without improvement.
    level : int
        The level rises when rounds find no better partition; tasks are longer at higher levels.
    worked : float
        Nanoseconds of work in all rounds before.
    seeds : list of int
        A seed for each task of the round.
    rng : numpy.random.Generator
    first_work : float
        Nanoseconds of a task at level 0, for strategies that can choose them.
    """

    pool: Pool
    annealer: Annealer
    number: int
    idle: int
    level: int
    worked: float
    seeds: list[int]
    rng: np.random.Generator
    first_work: float = 2e7

    @property
    def longer(self) -> float:
        """The time of a task at this level, as a multiple of the time at level 0."""
        return float(2.0 ** (self.level / 2))

    @property
    def work(self) -> float:
        """Nanoseconds of a task, of strategies that can choose."""
        return self.first_work * self.longer


@dataclass(frozen=True)
class Task:
    """The base of tasks; strategies add further attributes."""

    start: Labels
    seed: int


class Found(NamedTuple):
    """The result of a task."""

    labels: Labels
    work: float  #: nanoseconds of work, estimated from counts: the same on every machine
    independent: bool = False  #: whether the labels are independent of the best partition
    arm: Any = None  #: data that the strategy receives back with the gain of this result


class Strategy(Protocol):
    """One way to find better partitions; see the module of each.

    Attributes
    ----------
    name : str
    share : float
        The share of the time as long as the gains of the strategies on this problem are not known; not negative.
    """

    name: str
    share: float

    def ready(self, turn: Turn) -> bool:
        """Whether it can have this round."""

    def first_work(self, turn: Turn) -> float:
        """The estimated nanoseconds of work of its first round."""

    def plan(self, turn: Turn) -> list[Any]:
        """The tasks of a round, all of about the same work, so that no thread waits long for another."""

    def perform(self, task: Any, stopping: Stopping) -> Found:
        """Do one task, in any thread. It reads the problem and the partitions of the pool, and changes nothing."""

    def learn(self, found: Found, gain: float) -> None:
        """Record the gain of a task; called in the order of the tasks, after the round."""

"""What a strategy of the search is: it plans the tasks of a round, and performs each of them in a thread of its own."""

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
    """What a strategy may plan by: all of it follows from the seed and the rounds before.

    Attributes
    ----------
    pool : Pool
    annealer : Annealer
    number : int
        Of the round.
    idle : int
        Rounds in a row without improvement.
    level : int
        Grows when rounds find nothing better.
    worked : float
        Nanoseconds of work in all rounds before.
    mature : bool
        Whether annealing alone has had its time.
    seeds : list of int
        One for each task of the round.
    rng : numpy.random.Generator
    """

    pool: Pool
    annealer: Annealer
    number: int
    idle: int
    level: int
    worked: float
    mature: bool
    seeds: list[int]
    rng: np.random.Generator


@dataclass(frozen=True)
class Task:
    """What all tasks have; strategies add to it what they need."""

    start: Labels
    seed: int


class Found(NamedTuple):
    """What a task has found."""

    labels: Labels
    work: float  #: nanoseconds that it took, estimated from counts: the same on every machine
    independent: bool = False  #: not made from the best partition, so that it may join the pool as it is
    arm: Any = None  #: what the strategy wants to know when it learns what this was worth


class Strategy(Protocol):
    """One way to find better partitions; see the module of each.

    Attributes
    ----------
    name : str
    share : float
        Of the time, as long as nothing is known about what the strategies gain on this problem; not negative.
    due : bool
        Whether it has the next round whenever it is ready.
    """

    name: str
    share: float
    due: bool

    def ready(self, turn: Turn) -> bool:
        """Whether it can have this round."""

    def first_work(self, turn: Turn) -> float:
        """About how many nanoseconds of work its first round takes."""

    def plan(self, turn: Turn) -> list[Any]:
        """The tasks of a round, each of about the same work, so that no thread waits long for another."""

    def perform(self, task: Any, stopping: Stopping) -> Found:
        """Do one task, in any thread. Reads the problem and the pool's partitions, and changes nothing."""

    def learn(self, found: Found, gain: float) -> None:
        """Take note of what a task has gained; called in the order of the tasks, after the round."""

"""The parameters of the search, one frozen class for each strategy that has any.

They were chosen on generated instances of other seeds than those that benchmarks measure. No value depends on the name
or the family of a problem. `search` and `auto` take other values by ``parameters=``; ``dataclasses.replace`` changes
some.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from graphpart.errors import unknown

__all__ = [
    "AnnealingParameters",
    "CoreParameters",
    "DriftingParameters",
    "FusionParameters",
    "RestartParameters",
    "SearchParameters",
]


@dataclass(frozen=True)
class AnnealingParameters:
    """Of rounds of annealing. A heat is the number of moves to a worse partition per element in the first sweep."""

    sweeps: tuple[int, int] = (100, 1000)  #: fewest and most sweeps of a task at first
    heats: tuple[float, ...] = (0.3, 1.0, 0.1, 5.0)  #: heats of successive tasks; the best heat depends on the costs
    cool: float = 0.05  #: heat of annealing after recombination


@dataclass(frozen=True)
class FusionParameters:
    """Of rounds of fusion."""

    noises: tuple[float, ...] = (0.1, 0.3, 0.03)  #: standard deviations of noise, in mean absolute costs
    heats: tuple[float, ...] = (0.3, 1.0)  #: heats of annealing all elements
    sweeps: int = 50  #: sweeps of this annealing; twice as many for the contracted problem of two partitions
    small_heats: tuple[float, ...] = (0.1, 0.3, 1.0)  #: heats of annealing the contracted problem
    steps: int = 8  #: most steps of a task
    region: int = 20_000  #: most elements of a task


@dataclass(frozen=True)
class CoreParameters:
    """Of rounds of annealing over cores."""

    arms: tuple[tuple[int, float], ...] = ((8, 0.1), (0, 0.0))  #: joinings, and their noise as above
    heats: tuple[float, ...] = (0.15, 0.07, 0.003)  #: at which rounds begin, in turn, and at which they end
    sweeps: int = 100  #: fewest sweeps of all elements that take as long as a task
    tasks: int = 2  #: of a round
    part: float = 0.35  #: work of the annealing of a round, as a share of all work so far
    longer: float = 2.0  #: value of `wait` for other strategies, as long as rounds find something better


@dataclass(frozen=True)
class DriftingParameters:
    """Of rounds of label propagation and of reheating."""

    shares: tuple[float, float] = (0.01, 0.3)  #: smallest and largest share of the elements that a step mutates
    sweeps: int = 20  #: most sweeps of label propagation in a step
    reheated: tuple[int, int] = (30, 300)  #: fewest and most sweeps of a step of reheating at first
    heats: tuple[float, ...] = (0.003, 0.01, 0.001, 0.03)  #: heats at which reheating begins, drawn at random


@dataclass(frozen=True)
class RestartParameters:
    """Of rounds of short annealings and their children."""

    largest: int = 2000  #: most elements of a matrix
    sparse: int = 400  #: the same of listed pairs
    work: tuple[float, float] = (5e8, 16e9)  #: nanoseconds of the annealings of a task: at first, and at most
    runs: tuple[int, int] = (4, 24)  #: fewest and most annealings of a task
    sweeps: int = 8  #: most sweeps of an annealing, per element
    hot: tuple[float, ...] = (0.08, 0.08, 0.08, 0.17)  #: heats at which annealings begin, in turn
    low: tuple[float, ...] = (0.006, 0.01, 0.02, 0.04)  #: heats at which later runs begin; all runs end at the first
    again: float = 0.2  #: sweeps of each of the runs afterwards, as a share of those of an annealing


#: Names of all strategies; which of them work on a problem depends on its form.
STRATEGIES = (
    "annealing", "core annealing", "evolution", "exchanges", "fitted", "fusion", "multilevel", "propagation",
    "reheating", "restarts",
)  # fmt: skip


@dataclass(frozen=True)
class SearchParameters:
    """All parameters of the search: how strategies share the time, and those of each."""

    without: tuple[str, ...] = ()  #: names of strategies that are not used
    tasks: int = 4  #: tasks of a round, for any number of threads, so that results do not depend on it
    work: float = 2e7  #: nanoseconds of a task at first, for strategies that can choose them
    turn: float = 1e9  #: in `auto` without a time limit, nanoseconds of work of a turn that found something
    pool: int = 12  #: most partitions in the pool
    proofs: float = math.inf  #: in `auto` without a time limit, most time of proofs as a multiple of the time before
    patience: int = 12  #: rounds without improvement after which a run without any limit ends
    slower: int = 16  #: rounds without improvement after which all strategies work longer
    gaining: int = 4  #: rounds without improvement after which a strategy that changes little at a time gives way
    few: int = 200  #: least number of elements of a problem for fusion and drifting
    large: int = 300_000  #: largest number of elements of a problem that is annealed as a whole
    wait: float = 0.5  #: work of other strategies before one begins, as a share of its first round
    longer: float = 6.0  #: value of `wait` with a background, as long as rounds find something better
    fade: float = 0.8  #: share of the recorded gain of a strategy that is kept at each of its rounds
    earned: float = 0.8  #: share of the time that is distributed by gains; the rest is distributed by fixed shares
    annealing: AnnealingParameters = field(default_factory=AnnealingParameters)
    cores: CoreParameters = field(default_factory=CoreParameters)
    fusion: FusionParameters = field(default_factory=FusionParameters)
    drifting: DriftingParameters = field(default_factory=DriftingParameters)
    restarts: RestartParameters = field(default_factory=RestartParameters)

    def __post_init__(self) -> None:
        names = (self.without,) if isinstance(self.without, str) else self.without
        for name in names:
            if name not in STRATEGIES:
                raise unknown("strategy", name, STRATEGIES)

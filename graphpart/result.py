"""What every solver returns: a labeling, its recomputed cost, and what is known about the optimum."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LabelingResult", "PartitionResult", "Result", "Status"]


class Status(StrEnum):
    """Why a solver stopped."""

    OPTIMAL = "optimal"  #: proven: no solution has a smaller cost
    LOCAL_OPTIMUM = "local_optimum"  #: no transformation that the method knows lowers the cost
    FEASIBLE = "feasible"  #: the method ended by its own rule, without either of the above
    NOT_FOUND = "not_found"  #: the method ended by its own rule, and a factor forbids the labeling that it has
    TIME_LIMIT = "time_limit"
    ITERATION_LIMIT = "iteration_limit"
    TARGET = "target"  #: the cost asked for was reached
    INTERRUPTED = "interrupted"  #: Ctrl-C


@dataclass(frozen=True)
class Result:
    """A solution with its cost and what is known about the optimum.

    Attributes
    ----------
    labels : ndarray of int32, shape (n,)
        One label for each element or variable, in the order of the problem.
    cost : float
        The cost of `labels`, recomputed from the problem.
    objective : float
        The same in the convention of the file or recipe that the problem came from.
    lower_bound : float
        No solution costs less; ``-inf`` when nothing is known.
    status : Status
        Why the solver stopped.
    message : str
        The same for people, in one line.
    iterations : int
        Transformations applied or outer iterations made, as the method states.
    seconds : float
        Wall-clock time of the solver.
    history : tuple of (float, float)
        (seconds, cost) pairs, the cost as the kernel knew it at that time.
    method : str
        The name of the method in the table of methods.
    nodes : sequence
        The names of elements or variables, aligned with `labels`.
    info : mapping
        What else the method reports, by name.
    """

    labels: NDArray[np.int32] = field(repr=False)
    cost: float
    objective: float
    lower_bound: float
    status: Status
    message: str
    iterations: int
    seconds: float
    method: str
    nodes: Sequence[Hashable] = field(repr=False)
    history: tuple[tuple[float, float], ...] = field(default=(), repr=False)
    info: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def gap(self) -> float:
        """``(cost - lower_bound) / |cost|``: 0 when proven optimal, ``inf`` when no bound is known."""
        difference = self.cost - self.lower_bound
        if difference <= 0:
            return 0.0
        return difference / abs(self.cost) if self.cost and difference < math.inf else math.inf


@dataclass(frozen=True)
class PartitionResult(Result):
    """A :class:`Result` whose labels name subsets: 0, 1, ... in order of first appearance."""

    @property
    def partition(self) -> list[set[Hashable]]:
        """The subsets as a list of sets of nodes, as networkx community functions return them."""
        subsets: list[set[Hashable]] = [set() for _ in range(self.subsets)]
        for node, label in zip(self.nodes, self.labels.tolist(), strict=True):
            subsets[label].add(node)
        return subsets

    @property
    def subsets(self) -> int:
        """The number of subsets."""
        return int(self.labels.max()) + 1 if len(self.labels) else 0


@dataclass(frozen=True)
class LabelingResult(Result):
    """A :class:`Result` whose labels are indices into the domains of variables."""

    @property
    def labeling(self) -> dict[Hashable, int]:
        """The label of each variable by its name."""
        return dict(zip(self.nodes, self.labels.tolist(), strict=True))

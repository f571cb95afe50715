"""The results of a factor graph that `auto` solves part by part. Asking changes nothing, and is possible at any time.

A factor graph is `Whole`: its leaves are eliminated, and the rest is divided into components. Of a component, either
optimal labels are `Known`; or it is `Reduced` to a smaller factor graph; or it is still `Open`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.hard_component import HardComponent
from graphpart.crf.problem import FactorGraph
from graphpart.crf.reduction.persistency import LabelingReduction

__all__ = ["Known", "Node", "Open", "Reduced", "Whole"]

Labels = NDArray[np.int32]


class Node(Protocol):
    """The results of one factor graph.

    Attributes
    ----------
    labels : ndarray of int32
        The best so far.
    cost : float
        Their energy, up to rounding.
    bound : float
        No labeling has less energy.
    roundings : int
        Number of operations in the computation of the bound that may have been rounded. If it is 0, the bound holds in
        exact arithmetic.
    """

    @property
    def labels(self) -> Labels: ...
    @property
    def cost(self) -> float: ...
    @property
    def bound(self) -> float: ...
    @property
    def roundings(self) -> int: ...


@dataclass(frozen=True)
class Known:
    """A factor graph whose labels and bound are final."""

    labels: Labels
    cost: float
    bound: float
    roundings: int


class Open:
    """A component for which no method is exact.

    Attributes
    ----------
    hard : HardComponent or None
        The race on the component, once there was time for it.
    """

    def __init__(self, part: FactorGraph, labels: Labels, bound: float, merged: int = 0) -> None:
        self.part, self.least, self.roundings = part, bound, merged
        self.first, self.first_cost = labels, part.evaluate_labels(labels)
        self.hard: HardComponent | None = None
        self.left_out = False

    @property
    def size(self) -> int:
        """Entries of all tables."""
        return self.part.entries

    @property
    def is_open(self) -> bool:
        """Whether something is left to do."""
        return self.hard is None or not self.hard.race.done

    @property
    def labels(self) -> Labels:
        return self.first if self.hard is None else self.hard.labels

    @property
    def cost(self) -> float:
        if self.left_out:
            return 0.0
        return self.first_cost if self.hard is None else self.hard.cost

    @property
    def bound(self) -> float:
        return self.least if self.hard is None else max(self.least, self.hard.bound)

    def rest_of(self, root: Node) -> float:
        """The cost of all other parts of the factor graph `root`, which contains this component."""
        self.left_out = True
        others = root.cost
        self.left_out = False
        return others


@dataclass(frozen=True)
class Reduced:
    """A component that was reduced to a smaller factor graph; `least` is another lower bound, found before."""

    small: LabelingReduction
    inner: Node
    least: float
    own: int  # roundings

    @property
    def labels(self) -> Labels:
        return self.small.lift(self.inner.labels)

    @property
    def cost(self) -> float:
        return self.inner.cost + self.small.constant

    @property
    def bound(self) -> float:
        return max(self.least, self.inner.bound + self.small.constant)

    @property
    def roundings(self) -> int:
        return self.own + self.inner.roundings


@dataclass(frozen=True)
class Whole:
    """A factor graph whose leaves are eliminated, and its components with their variables.

    `constant` is the energy outside the components; `complete` gives labels to the eliminated variables.
    """

    constant: float
    first: Labels
    parts: Sequence[tuple[NDArray[np.int64], Node]]
    complete: Callable[[Labels], object]
    own: int  # roundings

    @cached_property
    def _known(self) -> tuple[float, float]:
        """Energy and bound of the parts that are final."""
        known = [part for _, part in self.parts if isinstance(part, Known)]
        costs, bounds = (part.cost for part in known), (part.bound for part in known)
        return math.fsum([self.constant, *costs]), math.fsum([self.constant, *bounds])

    @cached_property
    def _changing(self) -> list[Node]:
        return [part for _, part in self.parts if not isinstance(part, Known)]

    @property
    def labels(self) -> Labels:
        labels = self.first.copy()
        for variables, part in self.parts:
            labels[variables] = part.labels
        self.complete(labels)
        return labels

    @property
    def cost(self) -> float:
        return math.fsum([self._known[0], *(part.cost for part in self._changing)])

    @property
    def bound(self) -> float:
        return math.fsum([self._known[1], *(part.bound for part in self._changing)])

    @property
    def roundings(self) -> int:
        return self.own + max((part.roundings for _, part in self.parts), default=0)

"""A smaller problem with the same optimum, and the way back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Reduction"]

Problem = TypeVar("Problem")


@dataclass(frozen=True)
class Reduction(ABC, Generic[Problem]):
    """A smaller problem that has the same optimum up to a constant.

    Attributes
    ----------
    problem : SetPartition or FactorGraph
    constant : float
        Cost of lifted labels minus their cost in the smaller problem.
    """

    problem: Problem
    constant: float

    @abstractmethod
    def project(self, labels: Any) -> NDArray[np.int32]:
        """Labels of the smaller problem from labels of the whole one that agree with what is known."""

    @abstractmethod
    def lift(self, labels: Any) -> NDArray[np.int32]:
        """Labels of the whole problem from labels of the smaller one, in any form."""

"""Two sides of a graph with signed weights.

For a graph with a weight w[e] for every edge, give each node a side, 0 or 1, such that

    constant + sum of w[e] over all edges e whose ends are on different sides

is least. An edge of positive weight wants its ends on one side, an edge of negative weight on different sides. An edge
that is not satisfied is called frustrated. So the sum is the constant, all negative weights, and the absolute weights
of all frustrated edges. If all weights are 1 and -1, the last part is the frustration index (Harary 1959). With weights
of the opposite sign the problem is a maximum cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.steps import step_of
from graphpart.kernels import _pairs

__all__ = ["Sides", "SignedGraph"]

Sides = NDArray[np.uint8]


@dataclass(frozen=True)
class SignedGraph:
    """A graph with signed weights.

    Attributes
    ----------
    n : int
        Number of nodes.
    u, v : ndarray of int32, shape (m,)
        The edges, each once, the smaller node first, in lexicographic order.
    weight : ndarray of float64, shape (m,)
        Paid if u and v are on different sides; finite, not 0.
    constant : float
    """

    n: int
    u: NDArray[np.int32]
    v: NDArray[np.int32]
    weight: NDArray[np.float64]
    constant: float = 0.0

    @classmethod
    def from_pairs(cls, n: int, u: Any, v: Any, weight: Any, constant: float = 0.0) -> SignedGraph:
        """From pairs of different nodes in any order; weights of equal pairs add up. O(n + m)"""
        low, high, total, *_ = _pairs.sort_pairs(n, u, v, np.ascontiguousarray(weight, np.float64))
        kept = total != 0
        return cls(n, low[kept], high[kept], total[kept], constant)

    def in_units(self, unit: float) -> SignedGraph:
        """The same graph with weights that are multiples of half a unit up to rounding, as whole and half numbers."""
        weight = np.rint(2.0 * self.weight / unit) / 2.0
        return SignedGraph.from_pairs(self.n, self.u, self.v, weight, round(2.0 * self.constant / unit) / 2.0)

    @property
    def m(self) -> int:
        """Number of edges."""
        return len(self.u)

    @cached_property
    def negative(self) -> NDArray[np.uint8]:
        """Whether an edge wants its ends on different sides."""
        return (self.weight < 0).astype(np.uint8)

    @cached_property
    def least(self) -> float:
        """The cost if no edge were frustrated."""
        return self.constant + math.fsum(self.weight[self.weight < 0].tolist())

    @cached_property
    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Compressed rows: starts, neighbours, and the number of the edge to each neighbour."""
        starts, neighbours, edges = _pairs.adjacency(self.n, self.u, self.v, np.arange(self.m, dtype=np.float64)).arrays
        return starts, neighbours, edges.astype(np.int32)

    @cached_property
    def step(self) -> float:
        """A number of which all costs differ from `constant` by multiples; 0 if there is none.

        If the sum of the weights at each node is an even multiple of the common step of all weights, so is the weight
        between any two sides. O(n + m)
        """
        step = step_of(self.weight, float(np.abs(self.weight).sum()))
        if step:
            at = np.bincount(self.u, self.weight, self.n) + np.bincount(self.v, self.weight, self.n)
            if not np.fmod(at, 2 * step).any():
                return 2 * step
        return step

    @cached_property
    def is_exact(self) -> bool:
        """Whether no sum of weights and the constant is rounded. O(m)"""
        size = float(np.abs(self.weight).sum()) + abs(self.constant)
        return self.step > 0 and step_of(np.append(self.weight, self.constant), size) > 0

    def cost(self, sides: Sides) -> float:
        """The cost of sides 0 and 1 of all nodes. O(m)"""
        return self.constant + math.fsum(self.weight[sides[self.u] != sides[self.v]].tolist())

    def frustrated(self, sides: Sides) -> NDArray[np.bool_]:
        """Whether each edge is frustrated. O(m)"""
        frustrated: NDArray[np.bool_] = (sides[self.u] ^ sides[self.v] ^ self.negative) != 0
        return frustrated

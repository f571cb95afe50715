"""Binary quadratic forms: the cost of labels 0 and 1 as linear terms and couplings of pairs.

    H(x) = constant + sum_i h_i x_i + sum_{i < j} J_ij x_i x_j    for x in {0, 1}^n.

To minimise H is known as quadratic unconstrained binary optimisation (QUBO), and, with spins ``s = 2 x - 1``, as the
Ising model. Factor graphs with two labels and factors of at most two variables are such forms
(`graphpart.crf.problem.quadratic_form`), and so are partitions into at most two clusters.
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

__all__ = ["Integers", "QuadraticForm"]

Floats = NDArray[np.float64]
ROOM = 2.0**28  # 32-bit sums of one variable stay below, and so do temperatures
SPARSE = 6  # pairs for each variable, up to which variables have few neighbours
FINE = 2.0**12  # smallest size of a typical coupling, in units, for which costs are rounded to 32-bit integers


@dataclass(frozen=True)
class Integers:
    """Linear terms and couplings as integers; an energy of 1 is `scale` units.

    They are exact if all costs are multiples of a common step. Otherwise they are rounded: to 32 bits if a typical
    coupling then has at least 4096 units, else to 64 bits.
    """

    linear: NDArray[Any]
    couplings: NDArray[Any]
    scale: float
    exact: bool


@dataclass(frozen=True)
class QuadraticForm:
    """Linear terms and couplings in compressed rows, each pair in the rows of both its variables, without zeros.

    Attributes
    ----------
    constant : float
        Energy where all labels are 0.
    linear : ndarray of float64, shape (n,)
    starts : ndarray of int64, shape (n + 1,)
    neighbours : ndarray of int32
        Those of variable i, ascending, are ``neighbours[starts[i]:starts[i + 1]]``.
    couplings : ndarray of float64
    """

    constant: float
    linear: Floats
    starts: NDArray[np.int64]
    neighbours: NDArray[np.int32]
    couplings: Floats

    @classmethod
    def from_pairs(cls, linear: Floats, u: Any, v: Any, couplings: Floats, constant: float = 0.0) -> QuadraticForm:
        """From pairs u, v, int32 or int64, of different variables; couplings of equal pairs add up. O(n + m)"""
        n = len(linear)
        low, high, sums, *_ = _pairs.sort_pairs(n, u, v, np.ascontiguousarray(couplings))
        kept = sums != 0
        if not kept.all():
            low, high, sums = low[kept], high[kept], sums[kept]
        return cls(constant, linear, *_pairs.adjacency(n, low, high, sums).arrays)

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.linear)

    @property
    def m(self) -> int:
        """Number of pairs with a coupling."""
        return len(self.neighbours) // 2

    @property
    def density(self) -> float:
        """The share of all pairs that have a coupling."""
        return self.m / max(1.0, self.n * (self.n - 1) / 2)

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """The variable whose row each entry is in."""
        return np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.starts))

    def pairs(self) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
        """Each pair once, the smaller variable first, with its coupling."""
        upper = self.rows < self.neighbours
        return self.rows[upper], self.neighbours[upper], self.couplings[upper]

    def energy(self, labels: NDArray[Any]) -> float:
        """The energy of an array of labels 0 and 1. O(n + m)"""
        one = labels != 0
        both = one[self.rows] & one[self.neighbours]
        return self.constant + float(self.linear[one].sum()) + float(self.couplings[both].sum()) / 2

    @cached_property
    def magnitudes(self) -> Floats:
        """The sum of absolute costs of each variable."""
        return np.abs(self.linear) + np.bincount(self.rows, np.abs(self.couplings), self.n)

    @cached_property
    def step(self) -> float:
        """The largest number of which all costs are multiples, if multiples of ``2**-20``; else 0."""
        total = float(self.magnitudes.sum())
        return step_of(np.concatenate([self.linear, self.couplings]), total)

    @cached_property
    def integers(self) -> Integers:
        """The form in integers, 32-bit if that is exact or fine enough."""
        largest = float(self.magnitudes.max(initial=0.0))
        step = self.step
        if step and largest / step < ROOM * 2.0**30:
            kind: type[np.signedinteger[Any]] = np.int32 if largest / step < ROOM else np.int64
            return self._integers(kind, 1.0 / step, True)
        exponent = math.frexp(largest)[1]
        costs = np.abs(self.couplings if len(self.couplings) else self.linear)
        typical = float(np.median(costs[costs > 0])) if costs.any() else largest
        if math.ldexp(typical, max(-1100, 27 - exponent)) >= FINE:
            return self._integers(np.int32, math.ldexp(1.0, min(1000, 27 - exponent)), False)
        exponent = math.frexp(float(self.magnitudes.sum()))[1]  # energies have to fit, too
        return self._integers(np.int64, math.ldexp(1.0, min(1000, 60 - exponent)), False)

    def _integers(self, kind: type[np.signedinteger[Any]], scale: float, exact: bool) -> Integers:
        linear, couplings = (np.rint(costs * scale).astype(kind) for costs in (self.linear, self.couplings))
        return Integers(linear, couplings, scale, exact)

"""Annealing on a binary quadratic form: choice of kernel, type of numbers, temperatures and length.

If more than the share DENSEST of all pairs is coupled, a matrix is faster than compressed rows, as long as it fits into
memory. Its entries have 16 bits if that is enough.

Temperatures are in units of the form: the median, over all variables, of the root of the sum of squares of its
couplings (and of its linear term, if that is all it has). In a random labeling a flip changes the energy by about as
much. In random complete graphs, a spin glass freezes at a quarter of it (Sherrington & Kirkpatrick 1975).
"""

from __future__ import annotations

import math
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.binary_quadratic import _dense, _sparse
from graphpart.binary_quadratic.form import SPARSE, QuadraticForm
from graphpart.common.variates import exponential_variates
from graphpart.kernels.elementary import geometric
from graphpart.stopping import Stopping

__all__ = ["Spins", "Walker"]

Spins = NDArray[np.int8]  # 1 for label 1, -1 for label 0

DENSEST = 0.25  # share of coupled pairs from which a matrix is faster than compressed rows
MOST = 2**20  # sweeps of a run of annealing, which takes the memory of a temperature for each
LARGEST_MATRIX = 2**30  # largest size of a matrix, in bytes
ROOM_LANES = 32_000.0, 4096.0  # largest sum of a row and largest unit of temperature, as 16-bit integers
FINE_LANES = 16.0  # smallest unit of temperature as a 16-bit integer; below it, float32 is used


class Walker:
    """The moves of one binary quadratic form; safe to use from several threads.

    Parameters
    ----------
    q : QuadraticForm
    dense : bool, optional
        Whether to use a matrix; default: where it is faster.
    """

    def __init__(self, q: QuadraticForm, dense: bool | None = None) -> None:
        integers = q.integers
        linear, couplings = integers.linear, integers.couplings
        self.q: QuadraticForm | None = q
        self.scale, self.exact = integers.scale, integers.exact
        squares = np.bincount(q.rows, couplings.astype(np.float64) ** 2, q.n).astype(np.float64, copy=False)
        entry = np.int16 if int(np.abs(couplings).max(initial=0)) < 2**15 else np.int32
        if dense is None:
            dense = q.density >= DENSEST and q.n * q.n * np.dtype(entry).itemsize <= LARGEST_MATRIX
        if dense and linear.dtype == np.int32:
            matrix = np.zeros((q.n, q.n), entry)
            matrix[q.rows, q.neighbours] = couplings
            self._use((matrix, linear), squares, q.m)
        else:
            self._use((q.starts, q.neighbours, couplings, linear), squares, q.m)

    @classmethod
    def of_matrix(cls, matrix: NDArray[Any], linear: NDArray[np.int32]) -> Walker:
        """From a matrix of integers, int16 or int32, with a zero diagonal."""
        self = cls.__new__(cls)
        self.q, self.scale, self.exact = None, 1.0, True
        wide = matrix.astype(np.float32)
        self._use((matrix, linear), np.einsum("ij,ij->i", wide, wide).astype(np.float64), matrix.size // 2)
        return self

    def _use(self, arrays: tuple[Any, ...], squares: NDArray[np.float64], m: int) -> None:
        linear = arrays[-1]
        self.n, self.m, self.arrays = len(linear), m, arrays
        self.dense = len(arrays) == 2
        self.kernel: Any = _dense if self.dense else _sparse
        sizes = np.sqrt(np.where(squares > 0, squares, linear.astype(np.float64) ** 2))
        sizes = sizes[sizes > 0]
        self.unit = float(np.median(sizes)) if len(sizes) else 1.0

    @cached_property
    def pairs(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Each pair once, with its coupling as an integer."""
        assert self.q is not None
        upper = self.q.rows < self.q.neighbours
        couplings = self.q.integers.couplings[upper].astype(np.int64)
        return self.q.rows[upper], self.q.neighbours[upper], couplings

    @cached_property
    def symmetric(self) -> bool:
        """Whether the energy stays the same if all variables flip, up to rounding."""
        assert self.q is not None
        integers = self.q.integers
        fields = 2 * integers.linear.astype(np.int64) + _row_sums(self.q, integers.couplings)
        rounding = 0 if self.exact else 2 + np.diff(self.q.starts)
        return bool((np.abs(fields) <= rounding).all())

    @property
    def few_neighbours(self) -> bool:
        """Whether variables have so few neighbours that two labelings usually differ in several regions."""
        return not self.dense and self.m <= SPARSE * self.n

    @property
    def sweep_work(self) -> float:
        """The approximate nanoseconds of a sweep of annealing."""
        n, m = self.n, self.m
        return 2.0 * n + 0.02 * n * n if self.dense else 2.0 * n + 0.6 * m

    def energy(self, spins: Spins) -> int:
        """The energy of spins, in integers, without the constant. O(n + m)"""
        return int(self.kernel.energy_and_gains(*self.arrays, spins)[0])

    def gains(self, spins: Spins) -> NDArray[np.int64]:
        """The change of energy by each flip, in integers. O(n + m)"""
        gains: NDArray[Any] = self.kernel.energy_and_gains(*self.arrays, spins)[1]
        return gains.astype(np.int64)

    def anneal(self, start: Spins, sweeps: int, hot: float, cold: float, seed: int, stopping: Stopping) -> Spins:
        """Anneal: the temperature falls geometrically from `hot` to `cold` units; return the best spins, descended."""
        spins, sweeps = start.copy(), min(sweeps, MOST)
        temperatures = geometric(hot * self.unit, cold * self.unit, sweeps) if sweeps else np.zeros(0)
        self.kernel.anneal(*self.arrays, spins, temperatures, _variates(), seed, stopping)
        return spins

    @cached_property
    def _lanes(self) -> tuple[tuple[Any, Any, Any, Any], float]:
        """The arrays for annealing many copies, and their scale: in 16 bits, or in float32 if that is too few."""
        starts, neighbours, couplings, linear = self.arrays
        assert self.q is not None
        couplings = couplings.astype(np.float64)
        fields = 2.0 * linear + np.bincount(self.q.rows, couplings, self.n)
        rows = np.abs(fields) + np.bincount(self.q.rows, np.abs(couplings), self.n)
        room = min(ROOM_LANES[0] / max(float(rows.max(initial=0.0)), 1.0), ROOM_LANES[1] / self.unit)
        scale = 2.0 ** math.floor(math.log2(room))
        if self.unit * scale < FINE_LANES:
            scale = 1.0 / self.unit
            return (
                starts,
                neighbours,
                (couplings * scale).astype(np.float32),
                (fields * scale).astype(np.float32),
            ), scale
        narrow = (np.rint(values * scale).astype(np.int16) for values in (couplings, fields))
        return (starts, neighbours, *narrow), scale

    def copies(
        self, start: Spins | None, sweeps: int, hot: float, cold: float, seed: int, stopping: Stopping
    ) -> list[Spins]:
        """Anneal copies of `start`, or of random spins, side by side; return the spins after a descent, best first.

        The temperature falls linearly from `hot` to `cold` units. There are `_sparse.LANES` copies. Not for a matrix.
        """
        arrays, scale = self._lanes
        shape, kind = (self.n, _sparse.LANES), arrays[-1].dtype
        if start is None:
            copies = np.where(np.random.default_rng(seed).random(shape) < 0.5, 1, -1).astype(kind)
        else:
            copies = np.repeat(start[:, None], _sparse.LANES, 1).astype(kind)
        heats, variates = 2.0 * scale * self.unit * np.linspace(hot, cold, min(sweeps, MOST)), _variates()
        if kind == np.int16:
            heats, variates = np.minimum(16 * heats, 2.0**15 - 1).astype(np.uint16), _narrow_variates()
        _sparse.anneal_copies(*arrays, copies, heats.astype(variates.dtype), variates, seed, stopping)
        found = [np.ascontiguousarray(one, np.int8) for one in copies.T]
        none = np.zeros(0)
        energies = [self.kernel.anneal(*self.arrays, one, none, _variates(), 0, stopping) for one in found]
        return [found[k] for k in np.argsort(energies, kind="stable")]

    def descend(self, start: Spins, stopping: Stopping) -> Spins:
        """Flip spins until no flip lowers the energy."""
        return self.anneal(start, 0, 1.0, 1.0, 0, stopping)


def _row_sums(q: QuadraticForm, values: NDArray[Any]) -> NDArray[np.int64]:
    totals = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, dtype=np.int64, out=totals[1:])
    sums: NDArray[np.int64] = totals[q.starts[1:]] - totals[q.starts[:-1]]
    return sums


def _variates() -> NDArray[np.float32]:
    return exponential_variates(kind=np.float32)


@cache
def _narrow_variates() -> NDArray[Any]:
    """The same in units of 2**-12."""
    return (_variates() * np.float32(4096)).astype(np.uint16)

"""Violated cuts of a relaxation of a problem whose subsets have to be connected.

Cuts are sought only for lifted pairs that attract or are joined. If the cycle inequalities hold, the value of any other
lifted pair can be lowered to the largest value that some path requires. This is at most the value of each pair of the
path, and a cut contains one of them, so that no cut is violated.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import group
from graphpart.kernels._pairs import adjacency
from graphpart.partition.bounds import _kernels
from graphpart.partition.certificates.inequalities import CUT, Inequalities
from graphpart.partition.problem import SetPartition
from graphpart.stopping import Stopping

__all__ = ["Connecting"]

Floats = NDArray[np.float64]
Positions = Callable[[NDArray[np.int64]], NDArray[np.int64]]


class Connecting:
    """The base pairs of a problem, among the variables of a relaxation.

    Parameters
    ----------
    p : SetPartition
        With lifted pairs, without required joins.
    u, v : ndarray of int32, shape (m,)
        The variables; all base pairs are among them.
    positions : callable
        From keys ``a * n + b``, a < b, to variables.

    Attributes
    ----------
    links : ndarray of bool, shape (m,)
        Which variables are base pairs.
    """

    def __init__(self, p: SetPartition, u: NDArray[np.int32], v: NDArray[np.int32], positions: Positions) -> None:
        self._u, self._v = u, v
        a, b = p._links()
        variables = positions(a.astype(np.int64) * p.n + b)
        self.links = np.zeros(len(u), bool)
        self.links[variables] = True
        self._starts, self._neighbours, pair = adjacency(p.n, a, b, np.arange(len(a), dtype=np.float64)).arrays
        number = pair.astype(np.int64)
        both = np.argsort(number, kind="stable").reshape(-1, 2)
        self._mate = np.empty(len(number), np.int64)
        self._mate[both[:, 0]], self._mate[both[:, 1]] = both[:, 1], both[:, 0]
        self._variables = variables[number]
        ends, others = np.concatenate([u, v]), np.concatenate([v, u])
        order, self._rows = group(ends, p.n)
        self._others, self._pairs = others[order], order % max(1, len(u))
        self._turn = 0.0  # share of the pairs that had their turn

    def cuts(
        self, y: Floats, wanted: NDArray[np.bool_], tolerance: float, limit: int, work: float, stopping: Stopping
    ) -> tuple[Inequalities, Floats]:
        """Cuts that the wanted variables violate at the point y, and the violation of each."""
        chosen = np.flatnonzero(wanted & ~self.links & (y > tolerance))
        begin = int(self._turn * len(chosen)) % max(1, len(chosen))
        starts, elements, amounts, turn = _kernels.cuts(
            self._starts, self._neighbours, self._mate, y[self._variables],
            self._rows, self._others, y[self._pairs],
            self._u[chosen], self._v[chosen], y[chosen], tolerance, begin, limit, int(min(work, 2.0**62)), stopping,
        )  # fmt: skip
        self._turn = turn / max(1, len(chosen))
        count = len(amounts)
        return Inequalities(np.full(count, CUT, np.uint8), starts, elements, np.full(count, 2, np.int32)), amounts

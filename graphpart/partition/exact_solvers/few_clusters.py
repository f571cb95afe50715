"""A bound for partitions into at most k clusters: the semidefinite relaxation that knows k.

A pair that is paid if its elements are together costs ``((k - 1) x + 1) / k`` times as much, for the product x of the
vectors of both clusters (see `graphpart.maximum_cut.semidefinite`). Whatever else is required, the bound holds.
"""

from __future__ import annotations

import math
import time

import numpy as np

from graphpart.common.blas import one_thread
from graphpart.maximum_cut.semidefinite import LARGEST, Semidefinite
from graphpart.maximum_cut.square_bounding import LONG, OPERATION
from graphpart.partition.certificates.judging import judge_of_partition
from graphpart.partition.problem import SetPartition
from graphpart.stopping import Stopping

__all__ = ["FewClusters"]


class FewClusters:
    """The relaxation of a problem for which it `fits`, in turns.

    Attributes
    ----------
    bound : float
        No partition within the limits costs less.
    done : bool
        Whether no more is to be expected.
    needs : float
        Seconds of the next round.
    """

    name = "semidefinite relaxation"

    def __init__(self, p: SetPartition) -> None:
        assert p._limits is not None and p._limits.most is not None
        self.bound, self.done, self.needs = -math.inf, False, OPERATION * float(p.n) ** 3
        u, v, costs = p._listed()
        k, C = p._limits.most, np.zeros((p.n, p.n))
        C[u, v] = C[v, u] = costs * ((k - 1) / (2 * k))
        self._relaxation = Semidefinite(C, math.fsum(costs.tolist()) / k, clusters=k)
        self._judge, self._error = judge_of_partition(p), 2.0**-44 * math.fsum(np.abs(costs).tolist())

    @staticmethod
    def fits(p: SetPartition) -> bool:
        """Whether a problem limits the number of clusters, to more than two, and lists all its costs."""
        limits = p._limits
        few = limits is not None and limits.most is not None and 2 < limits.most < p.n <= LARGEST
        return few and p.background is None and p.groups is None and p.lifted is None and not p._has_must_cut

    def run(self, stopping: Stopping, until: float | None, cost: float) -> None:
        """Rounds until the bound meets a cost; without `until`, at most some for each element.

        O(n^3 + changed multipliers * n^2) for each round
        """
        relaxation = self._relaxation
        while not (self.done or stopping.check(cost)):
            began = time.perf_counter()
            with one_thread():
                going = relaxation.round(cost)
            self.needs = time.perf_counter() - began
            size = np.abs(relaxation.best.multipliers) @ relaxation.best.sides(relaxation.clusters)
            self.bound = self._judge.rounded(relaxation.bound - self._error - 2.0**-50 * float(size))
            self.done = not going or relaxation.done or self._judge.meets(self.bound, cost)
            if relaxation.rounds >= LONG * relaxation.n if until is None else stopping.seconds >= until:
                break

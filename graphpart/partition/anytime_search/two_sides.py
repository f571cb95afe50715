"""Partitions into at most two clusters as a binary quadratic form, searched as a contestant of a race.

A pair of cost c that is paid if its elements are together costs ``c - c x_a - c x_b + 2 c x_a x_b``, where x is the
label, 0 or 1, of an element. So this search is the one of QUBO and Ising models (see `graphpart.binary_quadratic`).
"""

from __future__ import annotations

import math

import numpy as np

from graphpart.binary_quadratic.form import QuadraticForm
from graphpart.binary_quadratic.quadratic_search import BinarySearch
from graphpart.partition.exact_solvers.two_clusters import SidesContestant
from graphpart.partition.problem import Labels, SetPartition
from graphpart.stopping import Stopping

__all__ = ["TwoSides", "form_of"]

PATIENCE = 12  # rounds in a row without improvement after which a turn without a limit ends


def form_of(p: SetPartition) -> QuadraticForm:
    """The cost of listed pairs as a function of labels 0 and 1. O(n + m)

    Examples
    --------
    >>> p = SetPartition.from_pairs(3, [(0, 1), (1, 2)], [4.0, -3.0])
    >>> q = form_of(p)
    >>> [(q.energy(labels), p.evaluate(labels)) for labels in (np.array([0, 0, 0]), np.array([0, 1, 1]))]
    [(1.0, 1.0), (-3.0, -3.0)]
    """
    u, v, costs = p._listed()
    linear = np.zeros(p.n)
    linear -= np.bincount(u, costs, p.n) + np.bincount(v, costs, p.n)
    return QuadraticForm.from_pairs(linear, u, v, 2.0 * costs, float(costs.sum()))


class TwoSides(SidesContestant):
    """The search of binary quadratic forms as a contestant of a race.

    Parameters
    ----------
    p, labels
        As for `SidesContestant`.
    seed, threads : int
    """

    name, proves, bound = "search", False, -math.inf

    def __init__(self, p: SetPartition, labels: Labels, seed: int, threads: int) -> None:
        super().__init__(p, labels)
        self.search = BinarySearch(form_of(p), labels != 0, seed, threads)

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a better partition."""
        super().offer(labels, cost)
        self.search.offer(labels != 0)

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Whole rounds until that time; without it, until some rounds in a row have found nothing better."""
        if until is None:
            self.search.run(stopping.child(plus=math.inf), PATIENCE)
        while until is not None and self.search.q.n and not stopping.check(self.cost):
            self.search.run(stopping.child(iterations=1, plus=math.inf))
            if stopping.seconds >= until:
                break
        self.take(self.search.labels)
        self.done |= until is None or not self.search.q.n

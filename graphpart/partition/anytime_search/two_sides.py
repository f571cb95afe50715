"""Partitions into at most two clusters as a binary quadratic form, searched as a contestant of a race.

A pair of cost c that is paid if its elements are together costs ``c - c x_a - c x_b + 2 c x_a x_b``, where x is the
label, 0 or 1, of an element. So this search is the one of QUBO and Ising models (see `graphpart.binary_quadratic`).
"""

from __future__ import annotations

import math

import numpy as np

from graphpart.binary_quadratic.form import QuadraticForm
from graphpart.binary_quadratic.quadratic_search import BinarySearch
from graphpart.partition.exact_solvers.two_clusters import allows_all_sides
from graphpart.partition.problem import Labels, SetPartition, canonical
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


class TwoSides:
    """The search of binary quadratic forms as a contestant of a race.

    Parameters
    ----------
    p : SetPartition
        One that `fits`.
    labels : ndarray of int32, shape (n,)
        Feasible labels.
    seed, threads : int
    """

    name, proves, needs, bound = "search", False, 0.0, -math.inf

    def __init__(self, p: SetPartition, labels: Labels, seed: int, threads: int) -> None:
        self.p, self.labels, self.cost = p, labels, p._evaluate_labels(labels)
        self.search = BinarySearch(form_of(p), labels != 0, seed, threads)
        self.done = False

    @staticmethod
    def fits(p: SetPartition) -> bool:
        """Whether the only requirement is that there are at most two clusters."""
        return allows_all_sides(p)

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a better partition."""
        self.labels, self.cost = labels, cost
        self.search.offer(labels != 0)

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Whole rounds until that time; without it, until some rounds in a row have found nothing better."""
        if until is None:
            self.search.run(stopping.child(plus=math.inf), PATIENCE)
        while until is not None and self.search.q.n and not stopping.check(self.cost):
            self.search.run(stopping.child(iterations=1, plus=math.inf))
            if stopping.seconds >= until:
                break
        labels = canonical(self.search.labels)
        cost = self.p._evaluate_labels(labels)
        assert self.p._limits is not None
        if cost < self.cost and self.p._limits.violation(labels) is None:
            self.labels, self.cost = labels, cost
            stopping.record(cost)
        self.done |= until is None or not self.search.q.n

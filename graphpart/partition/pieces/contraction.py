"""A smaller problem whose elements are sets of elements of another one, and the way of labels there and back."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import first_of
from graphpart.partition.problem.labels import canonical
from graphpart.partition.problem.pair_costs import Labels
from graphpart.partition.problem.set_partition import SetPartition

__all__ = ["Contraction"]


class Contraction:
    """A problem contracted to sets of its elements: each becomes one element, costs between sets add up.

    Parameters
    ----------
    whole : SetPartition
    sets : ndarray of int32, shape (n,), optional
        Canonical labels of the sets; default: the must-join classes. If each has one element, `problem` is `whole`.

    Attributes
    ----------
    problem : SetPartition
        The smaller problem.
    sets : ndarray of int32, shape (n,)
        For each element of the whole problem its element in the smaller one.
    first : ndarray of int64
        For each element of the smaller problem the smallest of its elements in the whole one.

    Examples
    --------
    >>> p = SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [5.0, -1.0, 2.0], must_join=[(0, 1)])
    >>> c = Contraction(p)
    >>> c.problem.n, c.constant, c.first.tolist()
    (3, 5.0, [0, 2, 3])
    >>> labels = c.project(np.array([0, 0, 0, 1]))
    >>> labels.tolist(), c.lift(labels).tolist()
    ([0, 0, 1], [0, 0, 0, 1])
    """

    def __init__(self, whole: SetPartition, sets: Labels | None = None) -> None:
        self.whole = whole
        self.sets = whole._must_join_classes() if sets is None else sets
        self.problem = whole._contract(self.sets) if len(self.first) < whole.n else whole

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """See the attributes."""
        return first_of(self.sets)

    @cached_property
    def constant(self) -> float:
        """The cost within the sets: that of lifted labels minus that of labels of the smaller problem.

        Limits do not count, which the sets by themselves may violate.
        """
        return self.whole._cost_within(self.sets) if self.problem is not self.whole else 0.0

    def project(self, labels: Labels) -> Labels:
        """Canonical labels in the smaller problem, from labels that agree within each set."""
        return canonical(labels[self.first])

    def lift(self, labels: Labels) -> Labels:
        """The labels of all elements, from those of the smaller problem; canonical if these are."""
        return labels[self.sets]

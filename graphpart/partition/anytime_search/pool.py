"""The best partitions of a search, all of different costs."""

from __future__ import annotations

import numpy as np

from graphpart.partition.anytime_search.recombination import best_of_regions
from graphpart.partition.problem import Labels, SetPartition, canonical

__all__ = ["Pool"]


class Pool:
    """The best partitions of one problem without required joins.

    Parameters
    ----------
    p : SetPartition
    labels : ndarray of int32, shape (n,)
        Canonical.
    most : int
        Largest number of partitions that are kept.

    Attributes
    ----------
    independent : int
        Number of partitions so far that were found independently of the best one.
    """

    def __init__(self, p: SetPartition, labels: Labels, most: int) -> None:
        self.p, self.most = p, most
        self.members = [(p._evaluate_labels(labels), labels)]  # ascending
        self.independent = 0

    def __len__(self) -> int:
        return len(self.members)

    @property
    def cost(self) -> float:
        """The least cost."""
        return self.members[0][0]

    @property
    def labels(self) -> Labels:
        """The best partition."""
        return self.members[0][1]

    def begin(self, labels: Labels) -> None:
        """Begin with the result of local search from the only partition, if it is better."""
        cost = self.p._evaluate_labels(labels)
        if cost < self.cost:
            self.members = [(cost, labels)]

    def take(self, labels: Labels, independent: bool = False) -> float:
        """Add labels, improved by the better regions of the best partition; return the gain over the best, or 0.

        Labels that were found independently of the best partition may be added as they are.
        """
        best, labels = self.cost, canonical(labels)
        self.independent += independent
        if np.array_equal(labels, self.labels):
            return 0.0
        for each in [best_of_regions(self.p, self.labels, labels)] + [labels] * independent:
            cost = self.p._evaluate_labels(each)
            if cost < np.inf and all(abs(cost - other) > self.p._tolerance for other, _ in self.members):
                self.members.append((cost, each))
        self.members.sort(key=lambda member: member[0])
        del self.members[self.most :]
        return max(0.0, best - self.cost)

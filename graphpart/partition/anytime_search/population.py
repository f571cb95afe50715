"""A population of partitions that recombine until their children are no better than they are.

It begins with `size` partitions, made independently of each other. Then two of them, drawn at random, are recombined
(see recombination.py): annealing on what they agree on is hot, and short and cool on all elements. The child takes the
place of the worst member if it costs less, and does not cost the same as another member: many of those would be the
same partition. The end is when FAILURES times `size` children in a row found no place. By then the members have grown
alike, and another population is a better use of time than more of their children.

On random complete graphs the best of many populations is found far sooner than by annealing of any length: what good
partitions have in common is mostly right, and what is left when it is contracted is small.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.recombination import recombined
from graphpart.partition.problem import Labels
from graphpart.stopping import Stopping

__all__ = ["best_of_population"]

FAILURES = 2  # children without a place, for each member
HOT = 3.0  # annealing of what two members agree on, where hardly anything else is left to find
COOL = 0.1
SWEEPS = (300, 100)  # hot and cool


def best_of_population(
    annealer: Annealer, first: Callable[[int], Labels], size: int, seed: int, stopping: Stopping
) -> Labels:
    """The best member at the end; `first` makes the k-th of the first members."""
    p, rng = annealer.p, np.random.default_rng(seed)
    members: list[tuple[float, Labels]] = []  # ascending
    while len(members) < size and not (members and stopping.check(members[0][0])):
        labels = first(len(members))
        members.append((p.evaluate_labels(labels), labels))
        members.sort(key=lambda member: member[0])
    failures, cool = 0, annealer.temperatures(members[0][1], COOL)
    while len(members) > 1 and failures < FAILURES * size and not stopping.check(members[0][0]):
        i, j = rng.choice(len(members), 2, replace=False).tolist()
        x, y, draw = members[i][1], members[j][1], int(rng.integers(2**62))
        labels = recombined(annealer, x, y, HOT, cool, SWEEPS, draw, stopping)
        cost = p.evaluate_labels(labels)
        if cost < members[-1][0] and all(abs(cost - other) > p.tolerance for other, _ in members):
            members[-1] = (cost, labels)
            members.sort(key=lambda member: member[0])
            failures = 0
        else:
            failures += 1
    return members[0][1]

"""Multilevel moves in the search: improving partitions, and making other ones."""

from __future__ import annotations

import numpy as np

from graphpart.partition.local_search.kernighan_lin_pairs import improve_by_pairs
from graphpart.partition.local_search.multilevel import improve_by_levels
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.stopping import Stopping

__all__ = ["has_small_subsets", "iteration", "polished", "proposal_by_levels"]


def polished(p: SetPartition, labels: Labels, stopping: Stopping, thorough: bool = False) -> Labels:
    """Canonical labels after pairwise Kernighan-Lin; with a background, after an iteration of multilevel moves.

    If subsets are small, and with `thorough`, pairwise Kernighan-Lin follows.
    """
    if stopping.check(np.inf):
        return labels
    if p.background is None or (thorough and has_small_subsets(labels)):
        return canonical(improve_by_pairs(p, labels, stopping))
    return iteration(p, labels, stopping, np.random.default_rng(p.n))


def proposal_by_levels(p: SetPartition, stopping: Stopping, rng: np.random.Generator) -> Labels:
    """The result of one iteration over all levels from single elements, in random order."""
    alone = np.arange(p.n, dtype=np.int32)
    return iteration(p, alone, stopping, rng, shuffled=True)


def has_small_subsets(labels: Labels) -> bool:
    """Whether subsets have few elements on average, so that switches between pairs of them take little time."""
    # mean number of elements of a subset up to which pairs of subsets are looked at
    return len(labels) <= 30.0 * (int(labels.max(initial=0)) + 1)


def iteration(
    p: SetPartition, labels: Labels, stopping: Stopping, state: np.random.Generator, shuffled: bool = False
) -> Labels:
    """One iteration over all levels, which does not count as one of the search."""
    return improve_by_levels(p, labels, stopping.child(iterations=1), state, shuffled=shuffled)

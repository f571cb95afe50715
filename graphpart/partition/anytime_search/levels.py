"""What the search does with multilevel moves: where it starts if there is a background, and how it improves.

Where communities are large, as for modularity, multilevel moves from single elements are the better start, and pairwise
Kernighan-Lin, which looks at all elements of two subsets for each switch, takes too long. Where subsets are small, as in
cluster editing and among scored pairs, joining is tried, too, and short and cool annealing of the better one lowers the
cost more than anything else in this time. Which of the two a problem is, one iteration over all levels tells: it takes
little time, and its subsets have few elements, or many.
"""

from __future__ import annotations

import numpy as np

from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.local_search.greedy_joining import joined
from graphpart.partition.local_search.improve import repels
from graphpart.partition.local_search.kernighan_lin_pairs import improve_by_pairs
from graphpart.partition.local_search.multilevel import improve_by_levels
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["has_small_subsets", "polished", "proposal_by_levels", "start_with_background"]

SMALL_SUBSETS = 30.0  # elements of a subset on average, up to which pairs of subsets are looked at
HEAT, SWEEPS = 0.01, 100  # of annealing at the start


def start_with_background(
    p: SetPartition, labels: Labels, alone: bool, stopping: Stopping, state: np.random.Generator
) -> Labels:
    """Where the search of a problem with a background starts: from labels, which are all elements `alone` or given."""
    best = _levels(p, labels, stopping, state, 1)
    if stopping.check(p.evaluate_labels(best)):
        return best
    if not has_small_subsets(best):
        return improve_by_levels(p, best, stopping, state)
    if alone and repels(p):
        other = _levels(p, canonical(joined(p, stopping)), stopping, state, 1)
        best = min(best, other, key=p.evaluate_labels)
    annealer = Annealer(p)
    temperatures = annealer.temperatures(best, HEAT)
    found = annealer.run(best, SWEEPS, temperatures, int(state.integers(2**62)), Stopping(stopping.remaining))
    return min(best, found, key=p.evaluate_labels)


def polished(p: SetPartition, labels: Labels, stopping: Stopping, thorough: bool = False) -> Labels:
    """Canonical labels after pairwise Kernighan-Lin; with a background, after an iteration of multilevel moves.

    If subsets are small there, and it is to be thorough, pairwise Kernighan-Lin follows.
    """
    if stopping.check(np.inf):
        return labels
    if p.background is None or (thorough and has_small_subsets(labels)):
        return canonical(improve_by_pairs(p, labels, stopping))
    return _levels(p, labels, stopping, np.random.default_rng(p.n), 1)


def proposal_by_levels(p: SetPartition, stopping: Stopping, rng: np.random.Generator) -> Labels:
    """What one iteration over all levels makes of elements that are alone, in random order."""
    alone = np.arange(p.n, dtype=np.int32)
    return _levels(p, alone, stopping, rng, 1, shuffled=True)


def has_small_subsets(labels: Labels) -> bool:
    """Whether subsets have few elements on average, such that looking at pairs of them takes little time."""
    return len(labels) <= SMALL_SUBSETS * (int(labels.max(initial=0)) + 1)


def _levels(
    p: SetPartition,
    labels: Labels,
    stopping: Stopping,
    state: np.random.Generator,
    iterations: int,
    shuffled: bool = False,
) -> Labels:
    """So many iterations over all levels, which count as none."""
    part = Stopping(stopping.remaining, iterations, None, stopping.callback)
    labels = improve_by_levels(p, labels, part, state, shuffled=shuffled)
    if part.reason not in (None, Status.ITERATION_LIMIT):
        stopping.stop(part.reason)
    part.reraise()
    return labels

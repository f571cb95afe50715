"""Where the search starts: local search, and more of it if there is a background.

Where communities are large, as for modularity, multilevel moves from single elements are the better start, and some
more partitions made in this way are fused with it (fusion.py). Pairwise Kernighan-Lin, which looks at all elements of
two subsets for each switch, would take too long. Where subsets are small, as in cluster editing and among scored
pairs, joining is tried, too, and short and cool annealing of the better one lowers the cost more than anything else
in this time. Which of the two a problem is, one iteration over all levels tells: it takes little time, and its
subsets have few elements, or many.
"""

from __future__ import annotations

import numpy as np

from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.fusion import fused
from graphpart.partition.anytime_search.levels import has_small_subsets, iteration, polished, proposal_by_levels
from graphpart.partition.anytime_search.parameters import StartParameters
from graphpart.partition.anytime_search.recombination import best_of_regions
from graphpart.partition.local_search.greedy_joining import joined
from graphpart.partition.local_search.improve import repels
from graphpart.partition.local_search.kernighan_lin import improve_by_sequences
from graphpart.partition.local_search.kernighan_lin_pairs import improve_by_pairs
from graphpart.partition.local_search.multilevel import improve_by_levels
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.stopping import Stopping

__all__ = ["improved_start", "start_with_background"]

HEAT, SWEEPS = 0.01, 100  # of annealing at the start
FUSIONS, SMALL_HEAT, SMALL_SWEEPS = 3, 0.3, 200  # partitions made anew; annealing of what two of them agree on


def improved_start(
    p: SetPartition, labels: Labels, alone: bool, stopping: Stopping, seed: int, parameters: StartParameters
) -> Labels:
    """What local search makes of canonical labels, which are all elements `alone`, or given.

    Greedy joining of what is alone; then Kernighan-Lin, or its form for pairs of subsets where elements have few
    neighbours: it ends lower there. On larger matrices annealing does in one round what neither does in as much time.
    """
    if p.background is not None:
        return start_with_background(p, labels, alone, stopping, np.random.default_rng(seed))
    if alone:
        labels = canonical(joined(p, stopping))
    if stopping.check(np.inf) or (p.is_dense and p.n > parameters.dense):
        return labels
    if not p.is_dense and 2 * p.m <= parameters.chains * p.n:
        return improve_by_pairs(p, labels, stopping)
    return improve_by_sequences(p, labels, stopping.child(iterations=parameters.sequences))


def start_with_background(
    p: SetPartition, labels: Labels, alone: bool, stopping: Stopping, state: np.random.Generator
) -> Labels:
    """Where the search of a problem with a background starts: from labels, which are all elements `alone` or given."""
    best = iteration(p, labels, stopping, state)
    if stopping.check(p.evaluate_labels(best)):
        return best
    annealer = Annealer(p)
    if not has_small_subsets(best):
        best = improve_by_levels(p, best, stopping, state, 1)
        for _ in range(FUSIONS):
            if stopping.check(p.evaluate_labels(best)):
                break
            other = proposal_by_levels(p, stopping, state)
            draw = int(state.integers(2**62))
            found = fused(annealer, best, other, SMALL_HEAT, SMALL_SWEEPS, draw, stopping.child(plus=np.inf))
            best = best_of_regions(p, best, polished(p, found, stopping))
        return best
    if alone and repels(p):
        other = iteration(p, canonical(joined(p, stopping)), stopping, state)
        best = min(best, other, key=p.evaluate_labels)
    temperatures = annealer.temperatures(best, HEAT)
    found = annealer.run(best, SWEEPS, temperatures, int(state.integers(2**62)), stopping.child())
    return min(best, found, key=p.evaluate_labels)

"""The start of the search: local search, and more of it for problems with a background.

One iteration of multilevel moves from single elements, which takes little time, shows whether subsets are large or
small. If communities are large, as for modularity, the start is the result of multilevel moves, fused with some more
partitions that are made in the same way (fusion.py). Pairwise Kernighan-Lin would take too long, because each switch
examines all elements of two subsets. If subsets are small, as in cluster editing and for scored pairs, greedy joining
is tried, too, and label propagation goes on from the better result, which lowers the cost more than other methods in
the same time. If iterations after the first one gain, then pairwise Kernighan-Lin does, too, and comes last.
"""

from __future__ import annotations

import numpy as np

from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.fusion import fused
from graphpart.partition.anytime_search.levels import has_small_subsets, iteration, polished, proposal_by_levels
from graphpart.partition.anytime_search.recombination import best_of_regions
from graphpart.partition.local_search.greedy_joining import join, joined
from graphpart.partition.local_search.greedy_moving import move
from graphpart.partition.local_search.improve import repels
from graphpart.partition.local_search.kernighan_lin_pairs import improve_by_pairs
from graphpart.partition.local_search.multilevel import improve_by_levels
from graphpart.partition.local_search.sums import fits_pairwise
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.stopping import Stopping

__all__ = ["improved_start", "start_with_background"]

LARGE = 20_000  # least number of elements, with many neighbours, for multilevel moves in place of moves of one element
HUGE, SHARE = 50_000, 0.75  # least number for pairwise Kernighan-Lin in place of these, and its share of the time
FUSIONS, HEAT, SWEEPS = 3, 0.3, 100  # number of fusions; heat of annealing; sweeps of it and of label propagation


def improved_start(p: SetPartition, labels: Labels, alone: bool, stopping: Stopping, seed: int) -> Labels:
    """The result of local search from canonical labels: all elements `alone`, or given labels.

    Greedy joining if all are alone; then moves of one element. If elements have few neighbours, pairwise Kernighan-Lin
    takes the place of these moves, after one iteration of multilevel moves, which have most of its gain in little time.
    On matrices with pairs that must be cut, it also starts without this iteration: either start may end lower. In large
    problems, whose annealing takes seconds, multilevel moves take the place of moves of one element, for half of the
    time at most, or in one iteration if there is no limit; in even larger ones, pairwise Kernighan-Lin does, too.
    """
    state = np.random.default_rng(seed)
    if p.background is not None:
        return start_with_background(p, labels, alone, stopping, state)
    if alone:
        labels = canonical(join(p, p._must_join_classes(), stopping.child()))
    if stopping.check(np.inf):
        return labels
    pairwise = fits_pairwise(p)
    if not pairwise and (p.is_dense or p.n < LARGE):
        return move(p, labels, stopping)  # annealing ends lower than sequences of moves do, in less time
    left, by_levels = stopping.remaining, not pairwise and p.n < HUGE
    part = stopping.child(left / 2) if by_levels and left is not None else stopping.child(iterations=1)
    starts = [improve_by_levels(p, labels, part, state)]
    if by_levels:
        return starts[0]
    if p.is_dense:
        starts.append(labels)
    seconds = None if pairwise or left is None else SHARE * left
    starts = [improve_by_pairs(p, start, stopping.child(seconds)) for start in starts]
    return min(starts, key=p._evaluate_labels)


def start_with_background(
    p: SetPartition, labels: Labels, alone: bool, stopping: Stopping, state: np.random.Generator
) -> Labels:
    """The start of a search with a background, from labels: all elements `alone`, or given labels."""
    best = iteration(p, labels, stopping, state)
    if stopping.check(p._evaluate_labels(best)):
        return best
    annealer = Annealer(p)
    if not has_small_subsets(best):
        best = improve_by_levels(p, best, stopping, state, 1)
        for _ in range(FUSIONS):
            if stopping.check(p._evaluate_labels(best)):
                break
            other = proposal_by_levels(p, stopping, state)
            draw = int(state.integers(2**62))
            found = fused(annealer, best, other, HEAT, SWEEPS, draw, stopping.child(plus=np.inf))
            best = best_of_regions(p, best, polished(p, found, stopping))
        return best
    first, best = best, improve_by_levels(p, best, stopping.child(), state, 1)
    gained = p._evaluate_labels(best) < p._evaluate_labels(first) - p._tolerance
    if alone and repels(p):
        other = iteration(p, canonical(joined(p, stopping)), stopping, state)
        best = min(best, other, key=p._evaluate_labels)
    elements = np.arange(p.n, dtype=np.int32)
    found = annealer.propagate(best, elements, 0.0, SWEEPS, int(state.integers(2**62)), stopping.child())
    best = best_of_regions(p, best, found)
    return canonical(improve_by_pairs(p, best, stopping.child())) if gained else best

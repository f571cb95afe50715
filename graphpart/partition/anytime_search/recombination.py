"""Recombination of two partitions of one problem."""

from __future__ import annotations

import numpy as np

from graphpart.kernels import _pairs
from graphpart.partition.anytime_search.annealing import RUN, Annealer
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.derived import connected_subsets
from graphpart.partition.problem.labels import agreement
from graphpart.partition.problem.regions import changes_of_regions
from graphpart.stopping import Stopping

__all__ = ["best_of_regions", "common_sets", "recombined"]

CONTRACTION = 5.0  # nanoseconds per element and pair of one pass of NumPy over them


def recombined(
    annealer: Annealer,
    x: Labels,
    y: Labels,
    heat: float,
    cool: tuple[float, float],
    sweeps: tuple[int, int],
    seed: int,
    stopping: Stopping,
) -> Labels:
    """Recombine two partitions by annealing: first with everything they have in common contracted, then all elements.

    The first annealing starts from x, begins with `heat`, takes `sweeps[0]` sweeps and moves whole sets of
    elements; so it joins and splits subsets. The second is between the two temperatures of `cool` and takes `sweeps[1]`
    sweeps.
    """
    contraction = Contraction(annealer.p, common_sets(annealer.p, x, y))
    small, labels = Annealer(contraction.problem), contraction.project(x)
    apart = stopping.child(plus=np.inf)  # the small problem does not have the costs of required joins
    labels = contraction.lift(small.run(labels, sweeps[0], small.temperatures(labels, heat), seed, apart))
    annealer.spent += 4 * RUN + small.spent + CONTRACTION * (annealer.p.n + annealer.p.m)
    return annealer.run(labels, sweeps[1], cool, seed, stopping)


def common_sets(p: SetPartition, x: Labels, y: Labels) -> Labels:
    """Canonical labels of the largest sets that both partitions have together, connected where they have to be."""
    sets = agreement(x, y)
    return sets if p.lifted is None else connected_subsets(p, sets)


def best_of_regions(p: SetPartition, x: Labels, y: Labels) -> Labels:
    """In each region, the partition of the two that costs less there; x on ties.

    A region is a minimal set of elements that is a union of subsets in both partitions. No subset of either partition
    is partly inside and partly outside of a region. So each region can be taken from either partition, and the result
    costs no more than x or y. Both have to satisfy required cuts, groups and limits. If the result would have too many
    or too few subsets, it is the better of the two. O(n + m), or O(n^2) on a matrix.
    """
    first, last = int(x.max()) + 1, int(y.max()) + 1
    region = _pairs.connected_components(first + last, x, y + np.int32(first))[x]
    k = int(region.max()) + 1
    if k == 1:
        return y if p._evaluate_labels(y) < p._evaluate_labels(x) - p._tolerance else x
    gain = changes_of_regions(p, x, y, region, k)
    better = (gain < -p._tolerance)[region]
    best = canonical(np.where(better, y.astype(np.int64) + first, x))
    limited = p._limits is not None and p._limits.number
    if (p.background is not None or limited) and p._evaluate_labels(best) > p._evaluate_labels(x):  # or by rounding
        return y if limited and p._evaluate_labels(y) < p._evaluate_labels(x) - p._tolerance else x
    return best

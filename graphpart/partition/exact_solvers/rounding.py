"""Partitions near the point of a relaxation.

The point is rounded by greedy joining, where a pair attracts if its value is above one half, and by a threshold.
Kernighan-Lin improves both. In a large problem, the best known partition and the rounded one are each better in many
places. There elements that both join are contracted, and local search goes on from both (fusion moves; Beier, Hamprecht
& Kappes 2015).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import first_of
from graphpart.partition.bounds.relaxation import Relaxation
from graphpart.partition.local_search.greedy_joining import join
from graphpart.partition.local_search.improve import fixed_point
from graphpart.partition.local_search.kernighan_lin import improve_by_sequences
from graphpart.partition.local_search.kernighan_lin_pairs import improve_by_pairs
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.derived import connected, connected_subsets
from graphpart.partition.problem.labels import agreement
from graphpart.partition.problem.rules import Rules
from graphpart.stopping import Stopping

__all__ = ["linked", "rounded"]


def rounded(p: SetPartition, r: Relaxation, best: Labels, is_large: bool, stopping: Stopping) -> Iterator[Labels]:
    """Partitions near the point of a relaxation, or, of a large problem, between it and the best known partition."""
    lifted = None if r.connecting is None else ~r.connecting.links
    dense = None if lifted is None else False
    near = SetPartition._of_pairs(range(p.n), r.u, r.v, 0.5 - r.y, rules=Rules(lifted=lifted), dense=dense)
    joined = fixed_point(near, near._must_join_classes(), join, stopping)
    for labels in (joined,) if is_large else (joined, linked(r, r.y > 0.7)):
        if not math.isfinite(p._evaluate_labels(labels)):
            continue
        if is_large:
            yield from _fused(p, best, labels, stopping)
        else:
            yield fixed_point(p, labels, improve_by_sequences, stopping)


def _fused(p: SetPartition, best: Labels, labels: Labels, stopping: Stopping) -> Iterator[Labels]:
    other = fixed_point(p, labels, improve_by_pairs, stopping)
    agreed = agreement(best, other)
    if p.lifted is not None:  # the intersection of two connected subsets need not be connected
        agreed = connected_subsets(p, agreed)
    q = p._contract(agreed)
    first = first_of(agreed)
    for start in (best, other):
        yield canonical(fixed_point(q, canonical(start[first]), improve_by_pairs, stopping)[agreed])


def linked(r: Relaxation, joined: NDArray[np.bool_]) -> Labels:
    """The sets that joined variables connect; only base pairs connect, if subsets have to be connected."""
    if r.connecting is not None:
        joined = joined & r.connecting.links
    return connected(r.n, r.u[joined], r.v[joined])

"""Message passing: dual block-coordinate ascent over conflicted cycles, from a packing of cycles.

The amounts of a cycle packing (see `cycle_packing`) are the feasible points of a linear program: maximise the sum of
the amounts, where no pair carries more than its capacity. Its optimum is the bound of the relaxation of the set
partition problem by all cycle inequalities (with the negative costs added; Demaine, Emanuel, Fiat & Immorlica 2006
relate it to multicommodity flow). A greedy packing is a maximal point, not a maximum. From there, in turn, pairs share
their capacity among the cycles they are on (messages from pairs to cycles and back, as Swoboda & Andres 2017 and Abbas
& Swoboda 2022 pass them), which never lowers the bound, and further cycles are packed into the capacity that this
leaves over.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.partition import _message_passing
from graphpart.partition.cycle_packing import STAGES, pack, pack_pairs
from graphpart.partition.inequalities import Inequalities
from graphpart.partition.problem import SetPartition
from graphpart.stopping import Stopping

__all__ = ["pass_messages"]

Floats = NDArray[np.float64]
SWEEPS = 20  # between two packings
CRUMB = 1e-9  # share of the capacity of a pair that is not worth packing
LITTLE = 1e-4  # share of the whole gain so far; a round that gains less is the last
ROUNDS = 100


def pass_messages(p: SetPartition, stopping: Stopping, rounds: int = ROUNDS) -> tuple[Inequalities, Floats]:
    """Cycles and their amounts, for a problem without required joins.

    Notes
    -----
    One sweep is linear in the number of pairs of all cycles (times the length of the cycles).
    """
    cycles, amounts = pack(p, stopping)
    u, v, cost = p.pairs()
    keys = u.astype(np.int64) * p.n + v
    for _ in range(rounds):
        if not len(amounts) or stopping.check(np.inf):
            break
        before = float(amounts.sum())
        starts, terms, _signs, _ = cycles.terms(p.n)
        pairs = np.searchsorted(keys, terms)
        capacity = np.abs(cost)
        worth = amounts.copy()
        _message_passing.share(starts, pairs, capacity, worth, SWEEPS, stopping)
        if worth.sum() > before:
            amounts = worth
        load = np.bincount(pairs, np.repeat(amounts, np.diff(starts)), len(cost))
        rest = np.maximum(capacity - load, 0.0)
        rest[rest <= CRUMB * capacity] = 0.0
        left = np.flatnonzero(rest)
        more, more_amounts = pack_pairs(p.n, u[left], v[left], np.copysign(rest, cost)[left], stopping, STAGES)
        cycles, amounts = cycles + more, np.concatenate([amounts, more_amounts])
        if float(amounts.sum()) - before <= LITTLE * before:
            break
    return cycles, amounts

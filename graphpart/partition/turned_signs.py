"""Whether costs probably have the wrong sign: a warning where users pass data, as those of `problem.misreadings`.

Greedy joining finds a partition for the costs, and one for the negated costs. Each has a share of the sum of absolute
costs that it suits: pairs that attract are together, pairs that repel are apart. One cluster of all elements, or all
elements apart, suit a share, too. Of what is left of the sum, the partition suits some part. The same parts are
computed after the costs were shuffled among the pairs, which keeps the graph and the numbers, but no clusters. Costs
that come from clusters suit a partition better than shuffled costs do. If the negated costs do so, and the given ones
do not, then the sign is probably wrong.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import warn
from graphpart.kernels import _pairs
from graphpart.partition.local_search.greedy_joining import joined
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.pair_costs import PairCosts
from graphpart.stopping import Stopping

__all__ = ["check_sign"]

Costs = NDArray[np.float64]
Ends = NDArray[np.int32]
Part = tuple[int, Ends, Ends, Costs]
FEWEST_ELEMENTS, FEWEST_PAIRS = 6, 50  # with fewer there is too little evidence
FEWEST_ATTRACT = 0.1  # of the pairs
MOST_ELEMENTS, MOST_PAIRS = 250, 5_000  # that are looked at, of a matrix and of listed pairs
SHUFFLES = 9
CLEAR, UNCLEAR = 5.0, 0.1  # standard deviations; the share of these, or of the part itself, for the given sign, at most
LEAST, SMALLEST = 0.1, 0.002  # part that is suited; its standard deviation, of which few shuffles say little
TURN = {
    "probability": "a large probability joins a pair: for probabilities that a pair differs, give 1 - p",
    "similarity": "a large similarity joins a pair: if small values shall join, as those of distances, negate them "
    "and the threshold",
    "weight": "a positive weight joins a pair, a negative one keeps it apart: if large values keep apart, negate them, "
    "or give them as cost",
    "cost": "a negative cost joins a pair, a positive one keeps it apart: if large values shall join, negate them, or "
    "give them as similarity with a threshold (0 for values of both signs)",
}


def check_sign(p: PairCosts) -> None:
    """Warn if costs are consistent only with the opposite sign.

    Of large problems a part is looked at, always the same one. Problems with limits or lifted pairs are not looked at,
    nor communities of networks, nor costs of unlisted pairs, except those of tables of scores. If few pairs attract,
    hubs look like turned signs.
    """
    kind = "cost" if p._origin is None else p._origin.kind
    table = p._origin is not None and p._origin.left is not None
    if kind not in TURN or p.sense != 1 or (p.background is not None and not table):
        return
    if p._limits is not None or p.lifted is not None or p.n < FEWEST_ELEMENTS:
        return
    n, u, v, costs = part_of(p)
    if len(costs) < FEWEST_PAIRS or np.count_nonzero(costs < 0) < FEWEST_ATTRACT * len(costs) or costs.max() < 0:
        return
    part = near_each_other(n, u, v, costs)
    turned, rng, shuffled, others = suited(*part, -1), np.random.default_rng(0), [], []
    if turned < LEAST:
        return
    for _ in range(SHUFFLES):
        shuffled.append(near_each_other(n, u, v, rng.permutation(costs)))  # shuffled before a part is chosen by signs
        others.append(suited(*shuffled[-1], -1))
        if turned < others[-1] + CLEAR * SMALLEST:
            return  # mostly at once
    other, given = deviation(turned, others), suited(*part)
    if other < CLEAR:
        return
    same = [suited(*some) for some in shuffled]
    share = (given - math.fsum(same) / len(same)) / (turned - math.fsum(others) / len(others))
    if min(deviation(given, same) / other, share) < UNCLEAR:
        words = {"probability": "probabilities", "similarity": "similarities", "weight": "weights"}.get(kind, "costs")
        warn(
            f"the {words} suit a partition no better than {words} in random order, but with the opposite sign they do: "
            f"{TURN[kind]}"
        )


def suited(n: int, u: Ends, v: Ends, costs: Costs, sign: int = 1) -> float:
    """The part that the partition of greedy joining suits of the costs that one cluster, or none, does not suit."""
    costs = sign * costs
    positive, negative = (math.fsum(np.maximum(some, 0.0).tolist()) for some in (costs, -costs))
    alone = max(positive, negative) / (positive + negative)
    if alone == 1.0:  # one cost is so large that the others are lost in the sum
        return 0.0
    return (share_of(n, u, v, costs) - alone) / (1.0 - alone)


def share_of(n: int, u: Ends, v: Ends, costs: Costs) -> float:
    """The share of the sum of absolute costs that the partition of greedy joining suits."""
    labels = joined(SetPartition.from_pairs(n, (u, v), costs), Stopping())
    suits = (labels[u] == labels[v]) == (costs < 0)
    return math.fsum(np.abs(costs[suits]).tolist()) / math.fsum(np.abs(costs).tolist())


def deviation(value: float, others: list[float]) -> float:
    """The distance of a value above the mean of the others, in their standard deviations."""
    mean = math.fsum(others) / len(others)
    variance = math.fsum((other - mean) ** 2 for other in others) / len(others)
    return (value - mean) / max(math.sqrt(variance), SMALLEST)


def part_of(p: PairCosts) -> Part:
    """The pairs with finite costs other than 0 within all elements, or within some of a large problem.

    The signs of the costs have no influence on what is chosen.
    """
    if p.matrix is not None:
        chosen = np.arange(p.n)
        if p.n > MOST_ELEMENTS:
            chosen = np.sort(np.random.default_rng(0).permutation(p.n)[:MOST_ELEMENTS])
        u, v = (index.astype(np.int32) for index in np.triu_indices(len(chosen), 1))
        costs, n = p.matrix[np.ix_(chosen, chosen)][u, v], len(chosen)
    elif p.m <= 10 * MOST_PAIRS:
        (u, v, costs), n = p._listed(), p.n
    else:
        u, v, costs = p.pairs()
        near = _pairs.spread(_pairs.adjacency(p.n, u, v), 10 * MOST_PAIRS, False, np.arange(p.n, dtype=np.int32))
        n, low, high, at = within(p.n, u, v, near)
        costs = costs[at] if p.background is None else costs[at] + p.background.of_pairs(u[at], v[at])
        u, v = low, high
    usable = np.isfinite(costs) & (costs != 0)
    return n, u[usable], v[usable], costs[usable]


def near_each_other(n: int, u: Ends, v: Ends, costs: Costs) -> Part:
    """Some `MOST_PAIRS` of the pairs, if there are more: those within elements that pairs that repel connect.

    With the wrong sign, these pairs are those within clusters, so that whole clusters are looked at.
    """
    if len(costs) <= MOST_PAIRS:
        return n, u, v, costs
    rows = _pairs.adjacency(n, u, v, costs)
    n, low, high, at = within(n, u, v, _pairs.spread(rows, MOST_PAIRS, True, np.arange(n, dtype=np.int32)))
    return n, low, high, costs[at]


def within(n: int, u: Ends, v: Ends, chosen: Ends) -> tuple[int, Ends, Ends, NDArray[np.int64]]:
    """The pairs within some elements, which are numbered in their order, and the positions of these pairs."""
    number = np.full(n, -1, np.int32)
    number[chosen] = np.arange(len(chosen), dtype=np.int32)
    at = np.flatnonzero((number[u] >= 0) & (number[v] >= 0))
    low, high = np.minimum(number[u[at]], number[v[at]]), np.maximum(number[u[at]], number[v[at]])
    order = np.lexsort((chosen[high], low))
    return len(chosen), low[order], high[order], at[order]

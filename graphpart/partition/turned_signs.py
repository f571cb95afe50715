"""Whether costs probably have the wrong sign: a warning where users pass data, as those of `problem.misreadings`.

Greedy joining finds a partition for the costs, and one for the negated costs. Each has a share of the sum of absolute
costs that it suits: pairs that attract are together, pairs that repel are apart. The same shares are computed after
the costs were shuffled among the pairs, which keeps the graph and the numbers, but no clusters. Costs that come from
clusters suit a partition better than shuffled costs do. If the negated costs do so, and the given ones do not, then the
sign is probably wrong.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import warn
from graphpart.partition.local_search.greedy_joining import joined
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.pair_costs import PairCosts
from graphpart.stopping import Stopping

__all__ = ["check_sign"]

Costs = NDArray[np.float64]
FEWEST_ELEMENTS, FEWEST_PAIRS = 6, 50  # with fewer there is too little evidence
FEWEST_ATTRACT = 0.1  # of the pairs
MOST_ELEMENTS, MOST_PAIRS = 250, 10_000  # that are looked at, of a matrix and of listed pairs
SHUFFLES = 9
CLEAR, UNCLEAR = 5.0, 0.1  # standard deviations; the share of those for the given sign, at most
SMALLEST = 0.001  # standard deviation of shares: fewer shuffles than pairs may all have the same share


def check_sign(p: PairCosts) -> None:
    """Warn if costs are consistent only with the opposite sign.

    Of large problems a part is looked at, always the same one. Problems with groups, limits, lifted pairs or costs of
    unlisted pairs are not looked at, nor those whose constructor knows the meaning of the numbers: communities of
    networks, weights, similarities and probabilities. If few pairs attract, hubs look like turned signs.
    """
    known = p.sense != 1 or (p._origin is not None and p._origin.kind != "cost")
    if known or p.background is not None or p._limits is not None or p.lifted is not None or p.n < FEWEST_ELEMENTS:
        return
    n, u, v, costs = part_of(p)
    if len(costs) < FEWEST_PAIRS or np.count_nonzero(costs < 0) < FEWEST_ATTRACT * len(costs) or costs.max() < 0:
        return
    turned, rng, shuffled, others = share(n, u, v, -costs), np.random.default_rng(0), [], []
    for _ in range(SHUFFLES):
        shuffled.append(rng.permutation(costs))
        others.append(share(n, u, v, -shuffled[-1]))
        if turned < others[-1] + CLEAR * SMALLEST:
            return  # mostly at once
    other, given = deviation(turned, others), share(n, u, v, costs)
    if other < CLEAR:
        return
    if deviation(given, [share(n, u, v, some) for some in shuffled]) < UNCLEAR * other:
        warn(
            f"the costs suit a partition no better than costs in random order ({given:.0%} of their sum), but with the "
            f"opposite sign they do ({turned:.0%}): a negative cost joins a pair, a positive one keeps it apart; if "
            "large values shall join, negate them, or give them as weight"
        )


def share(n: int, u: NDArray[np.int32], v: NDArray[np.int32], costs: Costs) -> float:
    """The share of the sum of absolute costs that the partition of greedy joining suits."""
    labels = joined(SetPartition.from_pairs(n, (u, v), costs), Stopping())
    suits = (labels[u] == labels[v]) == (costs < 0)
    return math.fsum(np.abs(costs[suits]).tolist()) / math.fsum(np.abs(costs).tolist())


def deviation(value: float, others: list[float]) -> float:
    """The distance of a value above the mean of the others, in their standard deviations."""
    mean = math.fsum(others) / len(others)
    variance = math.fsum((other - mean) ** 2 for other in others) / len(others)
    return (value - mean) / max(math.sqrt(variance), SMALLEST)


def part_of(p: PairCosts) -> tuple[int, NDArray[np.int32], NDArray[np.int32], Costs]:
    """The pairs with finite costs other than 0 within all elements, or within some of a large problem."""
    if p.matrix is not None:
        chosen = np.arange(p.n)
        if p.n > MOST_ELEMENTS:
            chosen = np.sort(np.random.default_rng(0).permutation(p.n)[:MOST_ELEMENTS])
        u, v = (index.astype(np.int32) for index in np.triu_indices(len(chosen), 1))
        costs, n = p.matrix[np.ix_(chosen, chosen)][u, v], len(chosen)
    else:
        (u, v, costs), n = p.pairs(), p.n
        if len(costs) > MOST_PAIRS:
            chosen = np.array(near_each_other(p))
            number = np.full(p.n, -1, np.int32)
            number[chosen] = np.arange(len(chosen), dtype=np.int32)
            kept = (number[u] >= 0) & (number[v] >= 0)
            u, v, costs, n = number[u[kept]], number[v[kept]], costs[kept], len(chosen)
    usable = np.isfinite(costs) & (costs != 0)
    return n, u[usable], v[usable], costs[usable]


def near_each_other(p: PairCosts) -> list[int]:
    """Elements in breadth-first order, until they have `MOST_PAIRS` pairs, counted from both ends."""
    starts, near, _ = p._rows().arrays
    seen, order, pairs = np.zeros(p.n, bool), [], 0
    for start in range(p.n):
        if seen[start]:
            continue
        seen[start] = True
        waiting = deque([start])
        while waiting:
            element = waiting.popleft()
            order.append(element)
            row = near[starts[element] : starts[element + 1]]
            pairs += len(row)
            if pairs > 2 * MOST_PAIRS:
                return order
            new = row[~seen[row]]
            seen[new] = True
            waiting.extend(new.tolist())
    return order

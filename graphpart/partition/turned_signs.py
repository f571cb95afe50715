"""Whether costs probably have the wrong sign: a warning where users pass data, as those of `problem.misreadings`.

Of listed pairs, triangles tell at once. Pairs within clusters have common neighbours within these: with the right sign,
many pairs that attract have a common attracting neighbour, and few that repel. With the wrong sign, many pairs that
repel have a common repelling neighbour, few that attract have one, and attracting pairs have no more common attracting
neighbours than others. Beside pairs of the same places, dense parts of a table mean nothing. On 1,776 problems (tables
of several sources and of blocking rules, generated families, public instances) this never fires with the right sign. Of
few pairs, the shares have to differ by more than chance explains: else 3% of small tables without clusters are told.

Otherwise two numbers tell how well costs suit clusters, each for the given sign and for the opposite one:

1. Greedy joining finds a partition, which suits a share of the sum of absolute costs: pairs that attract are together,
   pairs that repel are apart. One cluster of all elements, or all elements apart, suit a share, too. Of what is left of
   the sum, the partition suits some part. It sees many small clusters with few wrong signs.
2. The costs, less their mean, are a symmetric matrix. Each is divided by the roots of the numbers of pairs of both
   elements. Clusters for the given sign give it an eigenvalue far below the others, clusters for the opposite sign one
   far above, as communities of a network do. It sees few large clusters with many wrong signs.

The same numbers are computed after the costs were shuffled among the pairs, which keeps the graph and the numbers, but
no clusters. Costs that come from clusters suit a partition better than shuffled costs do. If the negated costs do so,
and the given ones do not, then the sign is probably wrong. But of few pairs, a partition suits nearly all in any case:
that of the given costs must suit less than that of the negated ones. Where more signs are wrong, nothing can see
clusters: below a limit, a network is as if they were not there (Decelle, Krzakala, Moore & Zdeborová 2011). 600 people
in five camps with 5,000 relations are seen if one of five signs is wrong, and are below the limit with three of ten.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import warn
from graphpart.kernels import _pairs
from graphpart.machine import give_back
from graphpart.partition.inputs._compared import with_common
from graphpart.partition.local_search.greedy_joining import MANY, joined
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.pair_costs import PairCosts
from graphpart.stopping import Stopping

__all__ = ["check_sign"]

Costs = NDArray[np.float64]
Ends = NDArray[np.int32]
Part = tuple[int, Ends, Ends, Costs, NDArray[np.bool_]]  # the number of elements, pairs, costs, which are lifted
FEWEST_ELEMENTS, FEWEST_PAIRS = 6, 50  # with fewer there is too little evidence
FEWEST_ATTRACT = 0.1  # of the pairs
MOST_ELEMENTS, MOST_PAIRS = 250, 5_000  # that are looked at, of a matrix and of listed pairs
SHUFFLES, STEPS = 9, 25  # the latter of Lanczos' method
CLEAR, UNCLEAR = 5.0, 0.1  # standard deviations; the share of these, or of the excess itself, for the given sign
LEAST, SMALLEST = 0.1, 0.002  # part that is suited; its standard deviation, of which few shuffles say little
FAR, BESIDE = 6.0, 0.25  # the same two of eigenvalues
SAMPLE = 10_000  # pairs of each sign, of which common neighbours are looked for
COMMON, FEWER = 0.1, 0.5  # share of repelling pairs with a common neighbour beyond that of attracting ones; of both
ENOUGH = 0.25  # share of attracting pairs from which on they are compared with repelling ones
FULL = 0.9  # share of pairs with common attracting neighbours from which on these say nothing
NARROW = 0.65  # standard deviation of the largest eigenvalue of n random ones, as a share of it, times n ** (2 / 3)
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

    Of large problems a part is looked at, always the same one. Problems with a number of clusters are not looked at,
    nor communities of networks, nor costs of unlisted pairs, except those of tables of scores. If few pairs attract,
    hubs look like turned signs.
    """
    kind = "cost" if p._origin is None else p._origin.kind
    table = p._origin is not None and p._origin.left is not None
    if kind not in TURN or p.sense != 1 or (p.background is not None and not table):
        return
    if p.n < FEWEST_ELEMENTS or (p._limits is not None and p._limits.number):
        return
    if p.matrix is None and p.lifted is None and by_triangles(p):
        _warn(kind, p)
        return
    n, u, v, costs, lifted = part_of(p)
    if p.m >= MANY:
        give_back()
    if len(costs) < FEWEST_PAIRS or np.count_nonzero(costs < 0) < FEWEST_ATTRACT * len(costs) or costs.max() < 0:
        return
    rng, parts = np.random.default_rng(0), [near_each_other(n, u, v, costs, lifted)]

    def part(k: int) -> Part:  # the 0-th as it is
        while len(parts) <= k:  # shuffled before a part is chosen by signs
            shuffled = costs.copy()
            for some in (lifted, ~lifted):
                shuffled[some] = rng.permutation(costs[some])
            parts.append(near_each_other(n, u, v, shuffled, lifted))
        return parts[k]

    clear = by_partitions(part) or by_eigenvalues(part)
    if clear and suited(*part(0)[:4]) < suited(*part(0)[:4], -1):  # of few pairs, any partition suits nearly all
        _warn(kind, p)


def _warn(kind: str, p: PairCosts) -> None:
    words = {"probability": "probabilities", "similarity": "similarities", "weight": "weights"}.get(kind, "costs")
    typed = ""
    if p._origin is not None and p._origin.left is not None:
        column = f"frame[{p._origin.column!r}]"
        typed = f", such as by {column} = {'1 - ' if kind == 'probability' else '-'}{column}"
    warn(
        f"the {words} suit a partition no better than {words} in random order, but with the opposite sign they do: "
        f"{TURN[kind]}{typed}"
    )


def by_triangles(p: PairCosts) -> bool:
    """Whether listed pairs that repel have common repelling neighbours, as those within clusters have attracting ones.

    Most pairs that attract have to meet others that do: alone, as those of two records, they cannot form triangles.
    """
    u, v, costs = p._listed()
    usable = np.isfinite(costs) & (costs != 0)
    attract, repel = usable & (costs < 0), usable & (costs > 0)
    del costs, usable
    joined, parted = np.flatnonzero(attract), np.flatnonzero(repel)
    if not len(parted) or len(joined) < ENOUGH * max(FEWEST_PAIRS, len(joined) + len(parted)):
        return False
    joined, parted = (at[:: -(-len(at) // SAMPLE)] for at in (joined, parted))

    def closed(sign: NDArray[np.bool_]) -> tuple[float, float, bool]:
        """The shares of attracting and repelling pairs with a common neighbour; whether attracting ones meet others."""
        rows = _pairs.adjacency(p.n, u[sign], v[sign])
        near = [float(with_common(u[at], v[at], rows.starts, rows.neighbours).mean()) for at in (joined, parted)]
        degree = np.diff(rows.starts)
        meeting = int(np.count_nonzero(np.maximum(degree[u[joined]], degree[v[joined]]) > 1))
        return near[0], near[1], 2 * meeting > len(joined)

    few, many, _ = closed(repel)
    share = (few * len(joined) + many * len(parted)) / (len(joined) + len(parted))
    chance = math.sqrt(share * (1.0 - share) * (1.0 / len(joined) + 1.0 / len(parted)))
    if many - few < max(COMMON, CLEAR * chance) or few > FEWER * many:
        return False  # mostly at once
    same, other, meet = closed(attract)
    return meet and other < FULL and same - other < COMMON * (many - few)


def by_partitions(part: Callable[[int], Part]) -> bool:
    """Whether a partition suits the negated costs, beside shuffled ones, and none the given costs."""
    turned, others = suited(*part(0)[:4], -1), []
    if turned < LEAST:
        return False
    for k in range(1, SHUFFLES + 1):
        others.append(suited(*part(k)[:4], -1))
        if turned < others[-1] + CLEAR * SMALLEST:
            return False  # mostly at once
    other = deviation(turned, others)
    if other < CLEAR:
        return False
    given, same = suited(*part(0)[:4]), [suited(*part(k)[:4]) for k in range(1, SHUFFLES + 1)]
    share = (given - math.fsum(same) / len(same)) / (turned - math.fsum(others) / len(others))
    return min(deviation(given, same) / other, share) < UNCLEAR


def by_eigenvalues(part: Callable[[int], Part]) -> bool:
    """Whether the largest eigenvalue is beyond those of shuffled costs, and the smallest one hardly.

    Elements on the two sides of its eigenvector attract each other then. Those of two tables of records, each without
    duplicates, are such sides, too, but most of the pairs between them repel.
    """
    n, u, v, costs, lifted = part(0)
    low, high, x = extremes(n, u, v, costs, lifted)
    between = (x[u] < 0) != (x[v] < 0)
    if costs[between].sum() >= 0:
        return False
    lows, highs = [], []
    for k in range(1, SHUFFLES + 1):
        below, above, _ = extremes(*part(k))
        narrow = NARROW * part(k)[0] ** (-2 / 3) * above  # by Tracy and Widom; that of few shuffles may be too small
        if high < above + FAR / 2 * narrow:
            return False  # mostly at once
        lows.append(below)
        highs.append(above)
    excess = high - math.fsum(highs) / SHUFFLES
    return deviation(high, highs, narrow) >= FAR and math.fsum(lows) / SHUFFLES - low < BESIDE * excess


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


def extremes(n: int, u: Ends, v: Ends, costs: Costs, lifted: NDArray[np.bool_]) -> tuple[float, float, Costs]:
    """The smallest and the largest eigenvalue of the matrix of scaled costs, nearly, and the eigenvector of the latter.

    By Lanczos' method.

    Lifted pairs and others are at different distances, so each have a mean of their own.

    Examples
    --------
    >>> u, v = np.array([0, 0, 1], np.int32), np.array([1, 2, 2], np.int32)
    >>> low, high, _ = extremes(3, u, v, np.array([3.0, 0.0, 0.0]), np.zeros(3, bool))
    >>> round(low, 6), round(high, 6)  # of costs 2, -1 and -1 by their root mean square and two pairs of each
    (-0.707107, 0.965926)
    """
    w = costs / np.abs(costs).max(initial=1e-300)
    for some in (lifted, ~lifted):
        if some.any():
            w[some] -= w[some].mean()
    pairs = np.bincount(np.concatenate([u, v]), minlength=n).astype(np.float64)
    w /= np.sqrt(pairs[u] * pairs[v]) * max(math.sqrt(float((w * w).mean())), 1e-300)
    x, before, step = np.random.default_rng(1).normal(size=n), np.zeros(n), 0.0
    x /= math.sqrt(float((x * x).sum()))
    diagonal, beside, basis = [], [], []
    for _ in range(min(STEPS, n)):
        basis.append(x)
        y = np.bincount(u, w * x[v], n) + np.bincount(v, w * x[u], n) - step * before
        diagonal.append(float((x * y).sum()))
        y -= diagonal[-1] * x
        step = math.sqrt(float((y * y).sum()))
        beside.append(step)
        if step < 1e-9:
            break
        before, x = x, y / step
    found, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside[:-1], -1))  # which reads the lower triangle
    return float(found[0]), float(found[-1]), vectors[:, -1] @ np.array(basis)


def deviation(value: float, others: list[float], least: float = SMALLEST) -> float:
    """The distance of a value above the mean of the others, in their standard deviations."""
    mean = math.fsum(others) / len(others)
    variance = math.fsum((other - mean) ** 2 for other in others) / len(others)
    return (value - mean) / max(math.sqrt(variance), least)


def part_of(p: PairCosts) -> Part:
    """The pairs with finite costs other than 0 within all elements, or within some of a large problem.

    The signs of the costs have no influence on what is chosen.
    """
    if p.matrix is not None:
        chosen = np.arange(p.n)
        if p.n > MOST_ELEMENTS:
            chosen = np.sort(np.random.default_rng(0).permutation(p.n)[:MOST_ELEMENTS])
        u, v = (index.astype(np.int32) for index in np.triu_indices(len(chosen), 1))
        costs, n, lifted = p.matrix[np.ix_(chosen, chosen)][u, v], len(chosen), np.zeros(len(u), bool)
    elif p.m <= 10 * MOST_PAIRS:
        (u, v, costs), n, lifted = p._listed(), p.n, flags_of(p)
    else:
        u, v, costs = p.pairs()
        near = _pairs.spread(_pairs.adjacency(p.n, u, v), 10 * MOST_PAIRS, False, np.arange(p.n, dtype=np.int32))
        n, low, high, at = within(p.n, u, v, near)
        costs = costs[at] if p.background is None else costs[at] + p.background.of_pairs(u[at], v[at])
        u, v, lifted = low, high, flags_of(p)[at]
    usable = np.isfinite(costs) & (costs != 0)
    return n, u[usable], v[usable], costs[usable], lifted[usable]


def flags_of(p: PairCosts) -> NDArray[np.bool_]:
    """Which of the stored pairs are lifted."""
    return np.zeros(p.m, bool) if p.lifted is None else p.lifted


def near_each_other(n: int, u: Ends, v: Ends, costs: Costs, lifted: NDArray[np.bool_]) -> Part:
    """Some `MOST_PAIRS` of the pairs, if there are more: those within elements that pairs that repel connect.

    With the wrong sign, these pairs are those within clusters, so that whole clusters are looked at.
    """
    if len(costs) <= MOST_PAIRS:
        return n, u, v, costs, lifted
    rows = _pairs.adjacency(n, u, v, costs)
    n, low, high, at = within(n, u, v, _pairs.spread(rows, MOST_PAIRS, True, np.arange(n, dtype=np.int32)))
    return n, low, high, costs[at], lifted[at]


def within(n: int, u: Ends, v: Ends, chosen: Ends) -> tuple[int, Ends, Ends, NDArray[np.int64]]:
    """The pairs within some elements, which are numbered in their order, and the positions of these pairs."""
    number = np.full(n, -1, np.int32)
    number[chosen] = np.arange(len(chosen), dtype=np.int32)
    at = np.flatnonzero((number[u] >= 0) & (number[v] >= 0))
    low, high = np.minimum(number[u[at]], number[v[at]]), np.maximum(number[u[at]], number[v[at]])
    order = np.lexsort((chosen[high], low))
    return len(chosen), low[order], high[order], at[order]

"""Warnings for numbers that probably have another meaning than assumed.

Warnings are issued where users pass data (constructors, `gp.solve`, the command line, estimators with given costs),
never within algorithms, and not by readers of formats that define the meaning of their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import warn
from graphpart.partition.problem.pair_costs import PairCosts

__all__ = ["check_name", "check_requirements", "check_sign", "check_values"]

WORDS = {
    "affinities", "affinity", "confidence", "likelihood", "prob", "proba", "probabilities", "probability", "probs",
    "score", "scores", "sim", "similarities", "similarity", "sims", "weight", "weights",
}  # fmt: skip
FEWEST = 3  # pairs whose costs are worth a look: with fewer, all of one sign means nothing
FEWEST_ELEMENTS, FEWEST_TRIANGLES, FEWEST_EXPECTED = 6, 60, 10
LARGEST_COUNTED = 100  # elements up to which all triangles are counted for signs that are turned
TRIANGLES = 20_000  # that are looked at of more elements, at most
FEW = 0.7  # of as many as expected: fewer are too few to be a matter of chance
SHARE, FEWEST_INFINITE = 0.01, 10  # of the costs, from which on they are likely to be an accident


def check_name(name: Hashable, what: str) -> None:
    """Warn if an attribute that is read as a cost is called a weight, similarity, score or probability.

    Parameters
    ----------
    name : hashable
        The name of an attribute or column.
    what : str
        "attribute" or "column".
    """
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", str(name))
    if any(word.lower() in WORDS for word in words):
        other = "SetPartition.from_similarity" if what == "attribute" else "weight=, similarity= or probability="
        warn(
            f"{what} {name!r} is read as a cost, so large values keep elements apart: if large values join, say {other}"
        )


def check_values(p: PairCosts) -> None:
    """Warn if all costs are in [0, 1], as probabilities are, or have one sign, or probably the wrong sign.

    Costs of 0 do not count, nor do required pairs, nor problems with fewer than 3 costs. O(n^2) or O(m)
    """
    costs = p.cost if p.matrix is None else p.matrix
    assert costs is not None
    if p.background is not None:  # repels or attracts by itself: what is listed is rarely all of one sign with it
        costs = np.append(p._listed()[2], 1.0 if p.background.repels else -1.0)
    if not costs.size:
        return
    # The diagonal of a matrix is 0 and each cost stands there twice, which changes neither extreme.
    low, high = float(costs.min()), float(costs.max())
    if low < 0 < high:
        check_sign(p)
    if low < 0 < high and high < np.inf:
        return
    finite = costs[np.isfinite(costs) & (costs != 0)]
    m = len(finite) // (1 if p.matrix is None else 2)
    if m < FEWEST or finite.min() < 0 < finite.max():
        return
    if finite.min() > 0:
        found = f"all {m} costs other than 0 are positive"
        if finite.max() <= 1:
            found = "all costs lie in [0, 1], as similarities and probabilities do"
        warn(
            f"{found}; a positive cost keeps a pair apart, so nothing joins: if large values shall join, read them as "
            "similarity with a threshold, or as probability"
        )
    else:
        warn(
            f"all {m} costs other than 0 are negative, so all that they connect joins: what shall stay apart needs a "
            "positive cost; for similarities a threshold makes both"
        )


def check_sign(p: PairCosts) -> None:
    """Warn if costs are consistent only with the opposite sign: if neighbours of neighbours repel as a rule.

    Where a attracts b and b attracts c, a and c should attract each other as well, else no partition suits all three.
    Of triangles with exactly two attracting pairs, of which this is not true, costs that come from clusters have fewer
    than a random choice of as many attracting pairs has; costs with the wrong sign have more, and lack those with
    exactly one attracting pair. Of more than `LARGEST_COUNTED` elements at most `TRIANGLES` triangles are looked at,
    always the same ones.
    """
    if p.background is not None or p.n < FEWEST_ELEMENTS:
        return
    kinds = _all_triangles(p) if p.n <= LARGEST_COUNTED else _some_triangles(p)
    total = int(kinds.sum())
    if total < FEWEST_TRIANGLES:
        return
    share = float((kinds * np.arange(4)).sum()) / (3 * total)
    one, two = 3 * total * share * (1 - share) ** 2, 3 * total * share**2 * (1 - share)
    if min(one, two) >= FEWEST_EXPECTED and kinds[2] > two and kinds[1] < FEW * one:
        warn(
            f"of {total} triangles of pairs, {int(kinds[2])} have two pairs that attract and one that repels, and "
            f"{int(kinds[1])} the opposite, as if all signs were turned: a negative cost joins a pair, a positive one "
            "keeps it apart; if large values shall join, negate them, or give them as weight"
        )


def _all_triangles(p: PairCosts) -> NDArray[np.int64]:
    """How many triangles with three finite costs other than 0 have 0, 1, 2 and 3 pairs that attract. O(n^3)"""
    matrix = p.matrix
    if matrix is None:
        u, v, cost = p.pairs()
        matrix = np.zeros((p.n, p.n))
        matrix[u, v] = matrix[v, u] = cost
    attract = (matrix < 0).astype(np.float64)
    repel = ((matrix > 0) & (matrix < np.inf)).astype(np.float64)
    attract_twice, repel_twice = attract @ attract, repel @ repel  # paths of two pairs between each two elements
    both = [np.vdot(repel_twice, repel), np.vdot(repel_twice, attract), np.vdot(attract_twice, repel)]
    return (np.array([*both, np.vdot(attract_twice, attract)]) / (6, 2, 2, 6)).astype(np.int64)


def _some_triangles(p: PairCosts) -> NDArray[np.int64]:
    """How many of some triangles with three finite costs other than 0 have 0, 1, 2 and 3 pairs that attract."""
    rng = np.random.default_rng(0)
    if p.matrix is not None:
        a, b, c = rng.integers(0, p.n, (3, TRIANGLES))
        costs = np.stack([p.matrix[a, b], p.matrix[b, c], p.matrix[a, c]])  # 0 if two of them are the same
    else:
        starts, near, cost = p._rows().arrays
        degree = np.diff(starts)
        middle = np.flatnonzero(degree > 1)
        if not len(middle):
            return np.zeros(4, np.int64)
        ways = np.cumsum(degree[middle] * (degree[middle] - 1.0))
        middle = middle[np.searchsorted(ways, rng.random(TRIANGLES) * ways[-1], side="right").clip(max=len(middle) - 1)]
        first = (rng.random(TRIANGLES) * degree[middle]).astype(np.int64)
        second = (first + 1 + (rng.random(TRIANGLES) * (degree[middle] - 1)).astype(np.int64)) % degree[middle]
        i, j = starts[middle] + first, starts[middle] + second
        a, b, c = near[i].astype(np.int64), middle, near[j].astype(np.int64)
        keys = np.repeat(np.arange(p.n), degree) * p.n + near  # ascending
        wanted = a * p.n + c
        at = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
        closed = keys[at] == wanted
        costs = np.where(closed, np.stack([cost[i], cost[j], cost[at]]), 0.0)
    corners = np.sort(np.stack([a, b, c]), axis=0)
    _, different = np.unique((corners[0] * p.n + corners[1]).astype(np.float64) * p.n + corners[2], return_index=True)
    costs = costs[:, different]
    costs = costs[:, (np.isfinite(costs) & (costs != 0)).all(axis=0)]
    return np.bincount((costs < 0).sum(axis=0), minlength=4)


def check_requirements(p: PairCosts, costs: Any) -> None:
    """Warn if more than 1% of the given costs, and at least ten, are infinite, and the others are no whole numbers.

    Such costs are probably log-odds of probabilities that were rounded to 0 and 1.

    Parameters
    ----------
    p : PairCosts
        The problem that was made of them.
    costs : ndarray
        The costs as given, of pairs or as a matrix.
    """
    if not len(p.must_join) and not p._has_must_cut:
        return
    costs = np.asarray(costs)
    if costs.ndim == 2:
        costs = costs[~np.eye(len(costs), dtype=bool)]
    joins, cuts = int(np.count_nonzero(costs == -np.inf)), int(np.count_nonzero(costs == np.inf))
    if joins + cuts < FEWEST_INFINITE or joins + cuts <= SHARE * len(costs):
        return
    finite = costs[np.isfinite(costs)]
    if (finite == np.rint(finite)).all():
        return
    times = 2 if p.matrix is not None and len(costs) == p.n * (p.n - 1) else 1
    warn(
        f"{(joins + cuts) // times} of {len(costs) // times} costs are infinite, which requires {joins // times} pairs "
        f"together and {cuts // times} apart: if they are log-odds, costs_from_probabilities clips probabilities that "
        "were rounded to 0 and 1"
    )

"""Match weights learned once more, from the clusters that were found with them.

A match weight is a sum over columns, as if records of different people agreed in one column independently of the
others. Members of a family agree in several: surname, street, telephone. Clusters show that: their pairs of records are
decided by many pairs at once. So the parts of the weight from each column get factors, by logistic regression with the
decisions of the clusters:

1. Greedy joining finds clusters with the present weights. From better local search, factors were the same in trials.
2. The factors, and a constant, are those that say best which candidates are in one cluster. Where clusters decide as
   the weight of a candidate alone would, half of the example is the probability that this weight says, so that hard
   decisions about unsure candidates do not feed on themselves. Factors stay near 1, and near 0 for what rare values
   add, since names are rare together, and the constant near the present one, unless many candidates say otherwise.
3. The weighted parts are the new weights, and it begins again, until fewer than a thousandth of the decisions to join
   change, 40 times at most. More records take more rounds: 4 to 7 for 2,000 generated people.

With sources, at most one record of each in a cluster, the prior is known well (see `matching`). So the constant keeps
the expected number of pairs of one entity, and decisions count in full. Without, columns that depend on each other
also make the prior too large, and the constant is learned.

A round in which the number of joined candidates changes by more than `STEADY` is trusted only if the rounds end, with
enough joined candidates, and if that number falls or there are sources: columns that depend on each other join too
much. Otherwise the weights of the last steady rounds before it stay. This happens where columns say too little about
single pairs, and only requirements or many weak pairs together hold clusters. The constants below were chosen on
generated people and the tables of benchmarks/records.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from graphpart.learn import LogisticRegression
from graphpart.partition.inputs.origin import chance_otherwise
from graphpart.partition.local_search.greedy_joining import greedy_joining
from graphpart.partition.problem.derived import connected, restrict, with_costs

__all__ = ["RARITY", "factors_from_clusters"]

RARITY = "mw_tf_"  # how names of parts begin that are about the rarity of a value
STEADY = 0.05  # largest change of the number of joined candidates in a round, as a share of it
SIGMA = 0.1  # standard deviation of factors: a hundred candidates of ten bits say more
LEAST = 100  # joined candidates from which factors are learned

Floats = NDArray[np.float64]


def factors_from_clusters(
    problem: Any, u: NDArray[np.int32], v: NDArray[np.int32], weight: Floats, parts: Mapping[str, Any], sourced: bool
) -> tuple[tuple[NDArray[np.float32], Floats, Any] | None, str]:
    """The factors of the parts, the new weights and the problem with them, if there are any; and what was done.

    Parameters
    ----------
    problem : SetPartition
        In which candidates cost their negative weights.
    u, v : ndarray of int32, shape (m,)
        Candidates, by their elements.
    weight : ndarray of float64, shape (m,)
        In bits.
    parts : mapping of k names to arrays of float32, shape (m,)
        The part of each weight that comes from each column, and from the rarity of its value.
    sourced : bool
        Whether a cluster has at most one record of each source.
    """
    some = _drawn(problem.n, u, v, weight)
    p, place = restrict(problem, some), np.full(problem.n, -1, np.int32)
    place[some] = np.arange(len(some), dtype=np.int32)
    at = np.flatnonzero(place[u] >= 0)
    a, b = place[u[at]], place[v[at]]
    inside = b >= 0  # the others are cut
    rows = np.nan_to_num(np.stack([np.asarray(part)[at] for part in parts.values()], 1))
    first = weight[at]
    constant = float(np.median(first - rows.sum(axis=1))) if len(at) else 0.0  # those at a bound have another
    rows = np.column_stack([rows, np.full(len(rows), 1.0 / SIGMA, np.float32)])  # the constant is hardly bounded
    mean = np.array([*(not name.startswith(RARITY) for name in parts), SIGMA * constant])

    def decisions(p: Any) -> NDArray[np.bool_]:
        labels = greedy_joining(p).labels
        return np.asarray(inside & (labels[a] == labels[b]))

    joined, pairs, present = decisions(p), np.stack([a[inside], b[inside]], 1), first
    theta = found = None
    steady, why = True, "since clusters go on changing"
    for _ in range(40):
        count = int(joined.sum())
        if count < LEAST or count == len(joined):
            why = f"from {count} joined candidates" if found is None else why
            break
        share = joined.astype(np.float64)
        if not sourced:
            alike = joined == (present > 0)
            share[alike] = 0.5 * (share[alike] + chance_otherwise(-present[alike]))
        model = _fitted(rows, share, mean)
        found, present = np.array(model.theta_), model.decision_function(rows)
        if sourced:
            by = _as_expected(present, float(chance_otherwise(-first).sum()))
            found[-1] += by * SIGMA
            present += by
        before, joined = joined, decisions(with_costs(p, pairs, (first - present)[inside]))
        change = int(joined.sum()) / count - 1
        steady &= abs(change) <= STEADY
        if change > STEADY and not sourced:
            break
        ended = int((joined != before).sum()) * 1000 <= count
        if steady or ended:
            theta = found
        if ended:
            break
    if theta is None:
        return None, f"weights not learned again from the clusters, {why}"
    new = np.full(len(weight), theta[-1] / SIGMA)
    for part, factor in zip(parts.values(), theta, strict=False):
        new += factor * np.nan_to_num(np.asarray(part))
    learned = theta[:-1].astype(np.float32), new, with_costs(problem, np.stack([u, v], 1), weight - new)
    return learned, "weights learned again from the clusters"


def _fitted(rows: NDArray[np.float32], share: Floats, mean: Floats) -> LogisticRegression:
    """The model for which each row counts as joined by its share, and as not joined by the rest."""
    ones = np.ones(len(rows), np.int8)

    def blocks() -> Any:
        yield rows, ones, share
        yield rows, 1 - ones, 1 - share

    return LogisticRegression(SIGMA, mean=mean).fit_blocks(blocks, rows.shape[1])


def _as_expected(weight: Floats, total: float) -> float:
    """The constant that, added to weights, makes the sum of their probabilities this total."""

    def excess(by: float) -> float:
        return float(chance_otherwise(-by - weight).sum()) - total

    most = 2.0 * float(np.abs(weight).max()) + 60.0
    return float(brentq(excess, -most, most, xtol=0.01)) if excess(-most) < 0 < excess(most) else 0.0


def _drawn(n: int, u: Any, v: Any, weight: Floats) -> NDArray[np.int64]:
    """Whole components of attracting pairs, with about a million candidates; factors are hardly better from more.

    No other element joins their clusters, so that all decisions about them are as in the whole problem.
    """
    part = connected(n, u[weight > 0], v[weight > 0])
    size = np.bincount(part)
    order = np.random.default_rng(0).permutation(len(size))
    kept = np.cumsum(size[order]) - size[order] < n * 1e6 / len(weight)
    return np.flatnonzero(np.isin(part, order[kept]))

"""Match weights learned once more, from the clusters that were found with them.

A match weight is a sum over columns, as if records of different people agreed in one column independently of the
others. Members of a family agree in several: surname, street, telephone. Clusters show that: their pairs of records are
decided by many pairs at once. So the parts of the weight from each column get factors, by logistic regression with the
decisions of the clusters:

1. Greedy joining finds clusters with the present weights. From better local search, factors were the same in trials.
2. The factors, and a constant, are those that say best which candidates are in one cluster. Factors stay near one
   half, since columns are rarely independent, and the constant near the present one, unless many candidates say
   otherwise.
3. The weighted parts are the new weights, and it begins again, until fewer than a thousandth of the decisions to join
   change, 20 times at most. More records take more rounds: 3 to 5 for 2,000 generated people, 10 for 100,000.

A round in which the number of joined candidates changes by more than `STEADY` is not trusted: it is left out, and ends
the rounds. This happens where columns say too little about single pairs, and only requirements or many weak pairs
together hold clusters. The constants below were chosen on generated people and the tables of benchmarks/records.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.learn import LogisticRegression
from graphpart.partition.local_search.greedy_joining import greedy_joining
from graphpart.partition.problem.derived import connected, restrict, with_costs

__all__ = ["factors_from_clusters"]

STEADY = 0.05  # largest change of the number of joined candidates in a round, as a share of it
SIGMA = 0.1  # standard deviation of factors around one half: a hundred candidates of ten bits say more

Floats = NDArray[np.float64]


def factors_from_clusters(
    problem: Any, u: NDArray[np.int32], v: NDArray[np.int32], weight: Floats, parts: Sequence[Any]
) -> tuple[Floats, Floats, Any] | None:
    """The factors of the parts, the new weights and the problem with them, of the last trusted round, if there is one.

    Parameters
    ----------
    problem : SetPartition
        In which candidates cost their negative weights.
    u, v : ndarray of int32, shape (m,)
        Candidates, by their elements.
    weight : ndarray of float64, shape (m,)
        In bits.
    parts : sequence of k arrays of float32, shape (m,)
        The part of each weight that comes from each column.
    """
    some = _drawn(problem.n, u, v, weight)
    p, place = restrict(problem, some), np.full(problem.n, -1, np.int32)
    place[some] = np.arange(len(some), dtype=np.int32)
    at = np.flatnonzero(place[u] >= 0)
    a, b = place[u[at]], place[v[at]]
    inside = b >= 0  # the others are cut
    rows = np.nan_to_num(np.stack([np.asarray(part)[at] for part in parts], 1))
    constant = float(np.median(weight[at] - rows.sum(axis=1))) if len(at) else 0.0  # those at a bound have another
    rows = np.column_stack([rows, np.full(len(rows), 1.0 / SIGMA, np.float32)])  # the constant is hardly bounded
    present = np.append(np.full(len(parts), 0.5), SIGMA * constant)

    def decisions(p: Any) -> NDArray[np.bool_]:
        labels = greedy_joining(p).labels
        return np.asarray(inside & (labels[a] == labels[b]))

    joined, pairs, theta = decisions(p), np.stack([a[inside], b[inside]], 1), None
    for _ in range(20):
        count = int(joined.sum())
        if count < 100 or count == len(joined):  # too few to learn from
            break
        model = LogisticRegression(SIGMA, mean=present).fit(rows, joined)
        change = weight[at] - model.decision_function(rows)
        before, joined = joined, decisions(with_costs(p, pairs, change[inside]))
        if abs(int(joined.sum()) - count) > STEADY * count:
            break
        theta = model.theta_
        if int((joined != before).sum()) * 1000 <= count:
            break
    if theta is None:
        return None
    new = np.full(len(weight), theta[-1] / SIGMA)
    for part, factor in zip(parts, theta, strict=False):
        new += factor * np.nan_to_num(np.asarray(part))
    return theta[:-1].astype(np.float32), new, with_costs(problem, np.stack([u, v], 1), weight - new)


def _drawn(n: int, u: Any, v: Any, weight: Floats) -> NDArray[np.int64]:
    """Whole components of attracting pairs, with about a million candidates; factors are hardly better from more.

    No other element joins their clusters, so that all decisions about them are as in the whole problem.
    """
    part = connected(n, u[weight > 0], v[weight > 0])
    size = np.bincount(part)
    order = np.random.default_rng(0).permutation(len(size))
    kept = np.cumsum(size[order]) - size[order] < n * 1e6 / len(weight)
    return np.flatnonzero(np.isin(part, order[kept]))

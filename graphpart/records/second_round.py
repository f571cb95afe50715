"""Match weights learned once more, from the clusters that were found with them.

A match weight is a sum over columns, as if records of different people agreed in one column independently of the
others. Members of a family agree in several: surname, street, telephone. Clusters show that: their pairs of records are
decided by many pairs at once. So the parts of the weight from each column get factors, by logistic regression with the
decisions of the clusters:

1. Local search finds clusters with the present weights.
2. The factors, and a constant, are those that say best which candidates are in one cluster.
3. The weighted parts are the new weights, and it begins again, until clusters stay the same, or `ROUNDS` times.

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
from graphpart.partition.local_search.kernighan_lin import kernighan_lin
from graphpart.partition.problem.derived import with_costs

__all__ = ["factors_from_clusters"]

ROUNDS = 5
STEADY = 0.05  # largest change of the number of joined candidates in a round, as a share of it
SIGMA = 0.05  # standard deviation of factors: a hundred candidates of ten bits say more

Floats = NDArray[np.float64]


def factors_from_clusters(
    problem: Any, u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]], weight: Floats, parts: Sequence[Any]
) -> tuple[Floats, Floats, Any] | None:
    """The factors of the parts, the new weights and the problem with them, of the last trusted round, if there is one.

    Parameters
    ----------
    problem : SetPartition
        In which candidates cost their negative weights.
    u, v : ndarray of int, shape (m,)
        Candidates, by their elements.
    weight : ndarray of float64, shape (m,)
        In bits.
    parts : sequence of k arrays of float32, shape (m,)
        The part of each weight that comes from each column.
    """
    rows = np.full((len(weight), len(parts) + 1), 1.0 / SIGMA, np.float32)  # the constant, the last, is hardly bounded
    for k, part in enumerate(parts):
        rows[:, k] = part
    np.nan_to_num(rows, copy=False)
    pairs, labels, found = np.stack([u, v], 1), kernighan_lin(problem).labels, None
    some = slice(None, None, 1 + len(rows) // 2_000_000)  # factors are hardly better known from more
    for _ in range(ROUNDS):
        joined = labels[u] == labels[v]
        count = int(joined.sum())
        if count < 100 or count == len(joined):  # too few to learn from
            break
        model = LogisticRegression(SIGMA).fit(rows[some], joined[some])
        before, labels = (
            labels,
            kernighan_lin(with_costs(problem, pairs, weight - model.decision_function(rows))).labels,
        )
        if abs(int((labels[u] == labels[v]).sum()) - count) > STEADY * count:
            break
        found = model
        if np.array_equal(labels, before):
            break
    if found is None:
        return None
    new = found.decision_function(rows)
    return found.theta_[:-1].astype(np.float32), new, with_costs(problem, pairs, weight - new)

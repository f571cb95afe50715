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
    problem: Any, u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]], weight: Floats, parts: Floats
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
    parts : ndarray of float64, shape (m, k)
        The part of each weight that comes from each column.
    """
    rows = np.column_stack([parts, np.full(len(weight), 1.0 / SIGMA)])  # the constant is hardly bounded
    pairs, labels, found = np.stack([u, v], 1), kernighan_lin(problem).labels, None
    for _ in range(ROUNDS):
        joined = labels[u] == labels[v]
        count = int(joined.sum())
        if count < 100 or count == len(joined):  # too few to learn from
            break
        model = LogisticRegression(SIGMA).fit(rows, joined)
        new = model.decision_function(rows)
        changed = with_costs(problem, pairs, weight - new)
        before, labels = labels, kernighan_lin(changed).labels
        if abs(int((labels[u] == labels[v]).sum()) - count) > STEADY * count:
            break
        found = model.theta_[:-1], new, changed
        if np.array_equal(labels, before):
            break
    return found

"""Loss-augmented inference: the partition that violates the margin most, with a bound where there is one.

=================  =====================================================================================================
oracle             answer
=================  =====================================================================================================
``local-search``   a partition by Kernighan-Lin, the better one from greedy joining and from the truth; no bound
``exact``          the partition of least augmented cost by branch and cut, or the best found in the time, with a bound
``relaxed``        decisions between 0 and 1: a point of the linear relaxation, with the bound its multipliers prove
=================  =====================================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.learn.max_margin.training import TrainingProblem
from graphpart.learn.objective import Array
from graphpart.partition.bounds.lower_bound import lower_bound
from graphpart.partition.bounds.relaxation import Relaxation
from graphpart.partition.local_search.greedy_joining import joined
from graphpart.partition.local_search.kernighan_lin import improve_by_sequences
from graphpart.partition.problem import SetPartition, canonical
from graphpart.partition.proving import exact
from graphpart.stopping import Stopping

__all__ = ["ORACLES", "Answer", "certified", "infer"]

ROUNDS = 60  # largest number of rounds of the relaxation
CLOSE = 1e-3  # largest gap between the point of the relaxation and the bound, as a share of the bound


@dataclass
class Answer:
    """Decisions for the pairs, and a lower bound on the augmented cost of every partition (-inf: not known)."""

    joined: NDArray[Any]
    bound: float = -math.inf


def _local_search(training: TrainingProblem, problem: SetPartition, seconds: float | None) -> Answer:
    stopping = Stopping(seconds)
    starts = canonical(joined(problem, stopping)), canonical(training.labels.astype(np.int32))
    found = [improve_by_sequences(problem, start, stopping) for start in starts]
    stopping.reraise()
    best = int(np.argmin([problem._evaluate_labels(labels) for labels in found]))
    return Answer(training.decisions(found[best]))


def _exact(training: TrainingProblem, problem: SetPartition, seconds: float | None) -> Answer:
    result = exact(problem, time_limit=seconds)
    return Answer(training.decisions(result.labels), result.lower_bound)


def _relaxed(training: TrainingProblem, problem: SetPartition, seconds: float | None) -> Answer:
    relaxation = Relaxation(problem, Stopping(seconds, None, None, None))
    relaxation.offer(relaxation.rows.multipliers)  # a bound from the start, however soon the time is up
    for _ in range(ROUNDS):
        relaxation.round()
        close = float(relaxation.cost @ relaxation.y) - relaxation.bound <= CLOSE * abs(relaxation.bound)
        if relaxation.stopping.check(np.inf) or (not relaxation.separate() and close):
            break
    relaxation.stopping.reraise()
    n = training.n
    u, v = training.pairs.T
    place = np.full(n * n, -1, np.int64)
    place[relaxation.u.astype(np.int64) * n + relaxation.v] = np.arange(len(relaxation.u))
    at = place[u * n + v]
    joined = np.where(at >= 0, np.clip(relaxation.y, 0.0, 1.0)[np.maximum(at, 0)], 0.0)
    return Answer(joined, relaxation.bound)


ORACLES = {"local-search": _local_search, "exact": _exact, "relaxed": _relaxed}


def infer(name: str, training: TrainingProblem, costs: Array, seconds: float | None) -> Answer:
    """The answer of an oracle for given costs of the pairs."""
    if not training.n:
        return Answer(np.zeros(0, bool), 0.0)
    return ORACLES[name](training, training.problem(costs), seconds)


def certified(training: TrainingProblem, theta: Array, seconds: float | None) -> float:
    """An upper bound on the hinge, from a lower bound on the augmented cost of all partitions."""
    if not training.n:
        return 0.0
    problem = training.problem(training.augmented(theta))
    bound = lower_bound(problem, "auto", time_limit=seconds).bound
    return training.hinge(theta, bound)

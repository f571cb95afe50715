"""Problems of linear functions of many variables and unary factors: an integer program first, for part of the time."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.exact_solvers.ilp import solve_rows
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.labeling import finish
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping

__all__ = ["NOMINAL", "by_integer_program", "is_linear"]

NOMINAL = 20.0  # seconds that are assumed to be left if there is no time limit

Labels = NDArray[np.int32]


def is_linear(own: FactorGraph) -> bool:
    """Whether a factor graph has functions that are inequalities, and all its other factors are unary or functions."""
    return any(one.rows for one in own.functions) and int(np.diff(own.scope_start).max(initial=0)) <= 1


def by_integer_program(f: FactorGraph, stopping: Stopping, start: Labels | None) -> LabelingResult | None:
    """The labels that the integer program finds in half of the time; None if it finds none."""
    from graphpart.milp.solvers import pick_solver

    seconds = 0.5 * (NOMINAL if stopping.remaining is None else stopping.remaining)
    inner = stopping.child(seconds)
    labels = f.labels(np.zeros(f.owner.n, np.int32)) if start is None else start
    labels, bound, proven = solve_rows(f, labels, pick_solver(), inner)
    if f.evaluate_labels(labels) == math.inf:
        return None
    stopping.iterations += inner.iterations
    stopping.raise_bound(bound)
    status = Status.OPTIMAL if proven else Status.FEASIBLE
    text = "proven optimal: linear functions, by an integer program"
    return finish(f, labels, stopping, "auto", status, message=text if proven else None, lower_bound=bound)

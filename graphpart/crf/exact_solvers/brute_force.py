"""Brute force: enumeration of all labelings, with pruning. Other algorithms are tested against it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphpart.crf.exact_solvers import _kernels
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.labeling import Found, finish, least_entries, trivial_bound
from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.methods import ENUMERATED_BITS
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["brute_force", "enumerated", "labelings"]

FEW = 2**12  # labelings up to which enumeration takes no time, so that other methods try it first


@interruptible
def brute_force(
    problem: Any,
    *,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabelingResult:
    """Minimise the energy by enumeration.

    Also known as ``enumeration``.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
        With at most 2^22 labelings.
    time_limit : float, optional
        Seconds.
    callback : callable, optional
        ``callback(seconds, cost)``; a true return value ends the run.

    Returns
    -------
    LabelingResult
        Of all optimal labelings, the first in lexicographic order; status ``optimal`` unless stopped early.

    Raises
    ------
    InvalidProblem
        If there are more than 2^22 labelings.
    InfeasibleProblem
        If every labeling is forbidden.

    Notes
    -----
    O(number of labelings times the size of the scopes that end in one variable), at worst.

    Examples
    --------
    >>> import graphpart as gp
    >>> f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[1.0, 0.0], [-1.0, 2.0]]])])
    >>> brute_force(f).labeling
    {0: 1, 1: 0}
    """
    stopping = Stopping(time_limit, callback=callback)
    f = as_factor_graph(problem)
    count = labelings(f.owner)  # auxiliary variables have one labeling for each of them
    if count > 2**ENUMERATED_BITS:
        how_many = f"{count:.6g}" if count < math.inf else "more than 1e308"
        raise InvalidProblem(f"{how_many} labelings: expected at most {2**ENUMERATED_BITS} for brute force")
    found = enumerated(f, stopping)
    status = Status.OPTIMAL if found.proven else Status.FEASIBLE
    return finish(f, found.labels, stopping, "brute-force", status, lower_bound=found.bound)


def enumerated(f: FactorGraph, stopping: Stopping) -> Found:
    """The first of all optimal labelings; if it was stopped, the best labeling so far."""
    least, _ = least_entries(f)
    last = np.maximum.reduceat(f.scope, f.scope_start[:-1]) if f.m else np.zeros(0, np.int32)
    due = np.argsort(last, kind="stable").astype(np.int32)
    starts = np.zeros(f.n + 1, np.int64)
    np.cumsum(np.bincount(last, minlength=f.n), out=starts[1:])
    later = np.bincount(last, weights=least, minlength=f.n)
    rest = np.zeros(f.n)
    rest[:-1] = np.cumsum(later[:0:-1])[::-1]
    size = abs(f.constant) + float(np.abs(f.tables[np.isfinite(f.tables)]).sum())
    labels, _, completed = _kernels.enumerate_labelings(
        f._view(), starts, due, rest, 2.0**-50 * size, f.constant, stopping
    )
    if labels is None and completed:
        raise InfeasibleProblem("every labeling is forbidden: enumeration found none with a finite energy")
    if labels is None:
        labels = np.zeros(f.n, np.int32)
    return Found(labels, f.evaluate_labels(labels) if completed else trivial_bound(f), completed)


def labelings(f: FactorGraph) -> float:
    """The number of labelings; inf if it is too large for a float."""
    with np.errstate(over="ignore"):
        return float(np.prod(f.domains, dtype=np.float64))

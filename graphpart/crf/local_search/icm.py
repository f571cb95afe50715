"""Iterated conditional modes: repeatedly apply the best change of the label of one variable (Besag 1986).

From an initial labeling (default: all 0), repeatedly apply the change (v, y) with the smallest

    delta = H(labeling with v changed to y) - H(labeling),

while delta < 0. If several changes have the same delta, the change of the smallest variable is applied, and among its
changes the one to the smallest label. A forbidden labeling is better than another if fewer factors forbid it, or if
equally many do and the sum of the other entries is smaller. So the search reaches an allowed labeling if single changes
lead to one. A delta counts as negative if it is below ``-2**-50`` times the sum of the absolute entries that it is
computed from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.local_search import improved
from graphpart.crf.local_search import _icm
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.given_labels import start_of
from graphpart.crf.problem.labeling import finish, trivial_bound
from graphpart.errors import InvalidOption
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["icm", "improve"]

ORDERS = {"best": _icm.best_first, "sweep": _icm.sweep}


@interruptible
def icm(
    problem: Any,
    initial: Any = None,
    *,
    order: str = "best",
    restarts: int = 0,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabelingResult:
    """Change single labels greedily, as long as this lowers the energy.

    Also known as ``iterated-conditional-modes``.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    initial : Result, labels or mapping from names to labels, optional
        The labeling to start from; default: all 0.
        Variables that it leaves out get the label of least cost given the others.
    order : {"best", "sweep"}
        "best" applies the best of all changes. "sweep" goes through the variables in order and gives each its best
        label, which is faster and often a little worse.
    restarts : int
        Searches from random labelings after the first; the best of all is returned.
    seed : int or numpy.random.Generator, optional
        For restarts.
    time_limit : float, optional
        Seconds.
    max_iterations : int, optional
        Number of changes, over all restarts.
    target : float, optional
        Stop at this energy.
    callback : callable, optional
        ``callback(seconds, cost)``; a true return value ends the run.

    Returns
    -------
    LabelingResult
        With status ``local_optimum``: no single change lowers the energy; ``not_found`` if a factor forbids the
        labeling that it ends with. `iterations` counts changes. The lower bound
        is the sum of the smallest entries of all tables.

    Raises
    ------
    InvalidPartition, InvalidOption
        If the initial labeling does not fit the problem, or an option has no meaning.
    InfeasibleProblem
        If one table forbids everything.

    Notes
    -----
    To start takes O(size of scopes and tables at the labels). With the order ``best``, a heap contains every variable
    that has a better label. A change takes O(log n) for each neighbour of the variable, and reads the entries of their
    common tables.

    Examples
    --------
    >>> import graphpart as gp
    >>> differ = [[0.0, 1.0], [1.0, 0.0]]
    >>> unary = ([[0], [1], [2]], [[0.0, 3.0], [1.0, 0.5], [2.0, 0.0]])
    >>> f = gp.FactorGraph.from_arrays([2, 2, 2], [unary, ([[0, 1], [1, 2]], [differ, differ])])
    >>> r = icm(f)
    >>> r.labels.tolist(), r.cost, r.iterations
    ([0, 1, 1], 1.5, 2)
    """
    stopping = Stopping(time_limit, max_iterations, target, callback)
    f = as_factor_graph(problem)
    if order not in ORDERS:
        raise InvalidOption(f"order is {order!r}: expected one of {', '.join(ORDERS)}")
    if not isinstance(restarts, int | np.integer) or restarts < 0:
        raise InvalidOption(f"restarts is {restarts!r}: expected a whole number of at least 0")
    labels = np.zeros(f.n, np.int32) if initial is None else start_of(f, initial)
    bound = trivial_bound(f)
    best, cost = improve(f, labels, stopping, order)
    rng = np.random.default_rng(seed)
    for _ in range(restarts):
        if stopping.check(cost):
            break
        other, other_cost = improve(f, random_labels(f, rng), stopping, order)
        if other_cost < cost:
            best, cost = other, other_cost
    return finish(f, best, stopping, "icm", Status.LOCAL_OPTIMUM, lower_bound=bound)


def improve(
    f: FactorGraph, labels: NDArray[np.int32], stopping: Stopping, order: str = "best"
) -> tuple[NDArray[np.int32], float]:
    """The fixed point from these labels and its energy; the given labels if rounding made the fixed point worse."""
    view = f._view()

    def run(start: NDArray[np.int32], cost: float) -> NDArray[np.int32]:
        ORDERS[order](view, start, cost, stopping)
        return start

    return improved(labels, f.evaluate_labels, run, stopping)


def random_labels(f: FactorGraph, rng: np.random.Generator) -> NDArray[np.int32]:
    return rng.integers(0, f.domains, dtype=np.int32) if f.n else np.zeros(0, np.int32)

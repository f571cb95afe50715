"""Loopy sum-product: marginals and log Z of factor graphs of any width, approximately.

Messages of sum-product (Pearl 1988; Kschischang, Frey & Loeliger 2001) are passed along the factors until they do not
change any more. On forests the result is exact. With cycles, a fixed point is a stationary point of the Bethe free
energy (Yedidia, Freeman & Weiss 2005). Tree-reweighted messages (Wainwright, Jaakkola & Willsky 2005) weight each
factor by the share of forests that contain it: the fixed point is then unique, and the messages, converged or not,
prove an upper bound on log Z. Damping keeps a share of the old message.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphpart.crf.approximate_inference.upper_bound import Reweighted, forests_of, upper_bound
from graphpart.crf.exact_solvers import _kernels
from graphpart.crf.exact_solvers.min_sum import Marginals
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem._view import unary_sums
from graphpart.crf.problem.labeling import LabelVectors, least_entries, places
from graphpart.crf.problem.shared_tables import by_table
from graphpart.errors import InfeasibleProblem, InvalidOption
from graphpart.result import Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["ApproximateMarginals", "approximate_marginals"]

METHODS = ("sum-product", "tree-reweighted")
TIMED = 2  # first passes, whose time is measured
LATE = 0.1  # seconds that the estimate of log Z may take beyond the time limit


@dataclass(frozen=True, repr=False)
class ApproximateMarginals(Marginals):
    """Approximate probabilities of labels, with an upper bound on log Z and information about convergence.

    Attributes
    ----------
    probabilities : mapping from names of variables to ndarray of float64
    log_z : float
        An estimate of ``log Z``: the negative Bethe free energy, or its reweighted form. NaN if there was no time.
    upper_bound : float
        An upper bound on ``log Z``, up to the stated rounding; ``inf`` unless the method is tree-reweighted.
    method : str
    converged : bool
        Whether no message changed by more than the tolerance in the last pass.
    iterations : int
        Passes over all factors.
    change : float
        The largest change of a message in the last pass, in natural logarithms.
    status : Status
        ``optimal`` if the probabilities are exact, because there are no cycles and the messages have converged;
        ``feasible`` if the messages have converged on a graph with cycles; else the reason why the run was stopped.
    seconds : float
    """

    upper_bound: float
    method: str
    converged: bool
    iterations: int
    change: float
    status: Status
    seconds: float

    def _facts(self) -> dict[str, Any]:
        facts = {"method": self.method, "converged": self.converged, "passes": self.iterations}
        bound = {"upper bound on log Z": self.upper_bound} if self.upper_bound < math.inf else {}
        return {**facts, **bound, **super()._facts()}


@interruptible
def approximate_marginals(
    problem: Any,
    method: str = "sum-product",
    *,
    damping: float = 0.3,
    tol: float = 1e-6,
    max_iterations: int = 1000,
    seed: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> ApproximateMarginals:
    """Approximate the probabilities of all labels under ``P(y) = exp(-H(y)) / Z``, and ``log Z``, for any factor graph.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    method : {"sum-product", "tree-reweighted"}
        Tree-reweighted messages give probabilities that are nearer to uniform, and prove an upper bound on ``log Z``.
    damping : float
        Share of the old message that is kept in each update, from 0 to less than 1. A larger share converges more
        slowly, but also where messages would oscillate with a smaller share.
    tol : float
        Messages have converged when none changes by more in a pass, in natural logarithms.
    max_iterations : int
        Passes over all factors.
    seed : int, optional
        For the forests of tree-reweighted messages; default 0.
    time_limit : float, optional
        Seconds; the messages so far are used. `log_z` is NaN if it ends the first passes.
    callback : callable, optional
        ``callback(seconds, change)``; a true return value ends the run.

    Returns
    -------
    ApproximateMarginals
        The probabilities, the method, and whether the messages converged.

    Raises
    ------
    InvalidOption
        If an option has no meaning.
    InfeasibleProblem
        If a factor alone, or the unary factors of a variable, forbid every labeling. If all labelings are forbidden for
        another reason, this is not noticed.

    See Also
    --------
    marginals : exact, for factor graphs of small width

    Notes
    -----
    O(size of all tables) and about one exponential for each entry in a pass. Forbidden labels cost so much that their
    probability is negligible (``exp(-100)``), which keeps the upper bound valid. The bound adds ``2**-44`` of the sum
    of the absolute entries of the tables for rounding.

    Examples
    --------
    >>> import graphpart as gp
    >>> equal = [[0.0, 2.0], [2.0, 0.0]]
    >>> f = gp.FactorGraph.from_arrays([2] * 3, [([[0, 1], [1, 2], [0, 2]], [equal] * 3), ([[0]], [[0.0, 1.0]])])
    >>> gp.crf.marginals(f).probabilities[2].round(3), round(gp.crf.marginals(f).log_z, 3)
    (array([0.715, 0.285]), 0.367)
    >>> m = approximate_marginals(f, "tree-reweighted")
    >>> m.converged, m.probabilities[2].round(3), round(m.upper_bound, 3)
    (True, array([0.702, 0.298]), 0.411)
    """
    f = as_factor_graph(problem)
    if method not in METHODS:
        raise InvalidOption(f"method is {method!r}: expected {' or '.join(METHODS)}")
    for name, value, most in (("damping", damping, 1.0), ("tol", tol, math.inf)):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < most:
            limit = " and less than 1" if name == "damping" else ""
            raise InvalidOption(f"{name} is {value!r}: expected a finite number of at least 0{limit}")
    whole = Stopping(time_limit, None, None, callback)  # the bound comes after the last iteration
    most, passed = Stopping(None, max_iterations).max_iterations, 0
    stopping = whole.child(iterations=min(TIMED, most))
    least_entries(f)
    domains, scope_start, scope, _, tables = f._flat()
    first, arity = places(f), np.diff(scope_start)
    impossible = np.zeros(int(first[-1]), bool)
    if f.has_forbidden:
        impossible = np.isposinf(unary_sums(f._view(), tables))
        tables = _capped(f)
        if f.n and (none := np.flatnonzero(np.logical_and.reduceat(impossible, first[:-1]))).size:
            raise InfeasibleProblem(
                f"every labeling is forbidden: no label of variable {f.variables[none[0]]!r} is possible"
            )
    base = -unary_sums(f._view(), tables)

    larger = np.flatnonzero(arity > 1)
    weight, forests = np.ones(f.m), []
    if method == "tree-reweighted":
        forests = forests_of(f, larger, seed)
        weight[larger] = np.bincount(np.concatenate(forests), minlength=f.m)[larger] / len(forests)
    edge_first = np.zeros(len(scope) + 1, np.int64)
    np.cumsum(np.where(np.repeat(arity, arity) > 1, domains[scope], 0), out=edge_first[1:])
    passes = _kernels.LoopyMessages(f._view(), tables, weight, edge_first, base)
    began, change = whole.seconds, passes.run(float(damping), float(tol), stopping)
    if stopping.iterations == TIMED < most and change > tol:  # an estimate of log Z takes about as long as a pass
        left, more = whole.remaining, most - TIMED
        kept = None if left is None else left - min((whole.seconds - began) / TIMED, left / 2)
        stopping = whole.child(kept, iterations=more)
        passed, later = TIMED, passes.run(float(damping), float(tol), stopping)
        change = later if later < math.inf else change  # it is infinite if the first of these passes was stopped
    converged, beliefs = change <= tol, passes.beliefs
    left = whole.remaining
    log_z = passes.log_z(Stopping(None if left is None else max(left, LATE))) - f.constant
    bound = math.inf
    if method == "tree-reweighted":
        bound = upper_bound(f, tables, forests, Reweighted(weight, passes.messages, edge_first, beliefs), whole.child())
    whole.reraise()

    if f.n:
        beliefs -= np.repeat(np.maximum.reduceat(beliefs, first[:-1]), domains)
    probabilities = np.exp(beliefs)
    probabilities[impossible] = 0.0
    if f.n:
        probabilities /= np.repeat(np.add.reduceat(probabilities, first[:-1]), domains)
    status = Status.FEASIBLE if converged else stopping.reason or Status.ITERATION_LIMIT
    if converged and f.is_acyclic and not f.has_forbidden:
        status = Status.OPTIMAL
    return ApproximateMarginals(
        LabelVectors(f, probabilities), log_z, bound, method, converged, passed + stopping.iterations, change, status,
        whole.seconds,
    )  # fmt: skip


def _capped(f: FactorGraph) -> Any:
    """The tables that are kept; in place of inf, an entry with which a labeling costs more than all allowed ones."""
    _, _, _, start, tables = f._flat()
    forbidden = np.isposinf(tables)
    highest = by_table(f, np.maximum, np.where(forbidden, -np.inf, tables))
    span = float((highest - by_table(f, np.minimum, tables)).sum())
    begins, one = np.unique(start[:-1], return_index=True)  # a factor of each table
    owner = np.repeat(one, np.diff(np.append(begins, len(tables))))
    return np.where(forbidden, highest[owner] + span + 100.0, tables)

"""Min-sum message passing: the exact optimum of an acyclic factor graph (Pearl 1988; Kschischang et al. 2001).

    mu_{s->f}(y_s) = sum over f' in F(s) minus f of mu_{f'->s}(y_s)
    mu_{f->s}(y_s) = min over all y of S(f) that agree with y_s of
                         h_f(y) + sum over s' in S(f) minus s of mu_{s'->f}(y_s')

The optimum is the minimum of ``sum over f in F(s) of mu_{f->s}(y_s)`` for any s, summed over connected components. One
pass to the roots is enough to compute it. The labeling is found by tracing the minima back, so that labels of different
optima are never mixed. A second pass, from the roots back, gives the remaining messages and all min-marginals. The same
passes over (+, *) give the marginals of the distribution ``P(y) = exp(-H(y)) / Z``, and ``log Z``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.exact_solvers import _kernels, _min_sum
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.labeling import LabelVectors, finish, named, places, trivial_bound
from graphpart.crf.problem.shared_tables import rows_of
from graphpart.display import Shown, number, plural
from graphpart.errors import InfeasibleProblem
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["Marginals", "Messages", "marginals", "min_sum"]


@dataclass(frozen=True)
class Messages:
    """The messages along all edges of a factor graph.

    Attributes
    ----------
    to_variable, to_factor : ndarray of float64
        The messages mu_{f->s} and mu_{s->f}, one entry for each label.
    start : ndarray of int64
        The messages of the edge at position e of `FactorGraph.scope` are the entries ``start[e]`` to ``start[e + 1] -
        1``.
    """

    to_variable: NDArray[np.float64]
    to_factor: NDArray[np.float64]
    start: NDArray[np.int64]

    def edge(self, e: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(to the variable, to the factor) along the edge at position e of `FactorGraph.scope`."""
        here = slice(self.start[e], self.start[e + 1])
        return self.to_variable[here], self.to_factor[here]


@dataclass(frozen=True, repr=False)
class Marginals(Shown):
    """The probabilities of single labels in the distribution ``P(y) = exp(-H(y)) / Z``.

    Attributes
    ----------
    probabilities : mapping from names of variables to ndarray of float64
        The probability of each label.
    log_z : float
        The natural logarithm of ``Z``.
    """

    probabilities: LabelVectors
    log_z: float

    def _title(self) -> str:
        return f"{type(self).__name__}: {plural(len(self.probabilities), 'variable')}, log Z {number(self.log_z)}"

    def _facts(self) -> dict[str, Any]:
        sure = [float(values.max()) for values in self.probabilities.values() if len(values)]
        return {"largest probability of a variable": f"{min(sure):.4g} to {max(sure):.4g}"} if sure else {}

    def _preview(self) -> tuple[Sequence[str], Any]:
        first = islice(self.probabilities.items(), 10)
        rows = [(name, ", ".join(f"{p:.4g}" for p in values[:20].tolist())) for name, values in first]
        return ("variable", "probabilities of its labels"), [*rows, *[("...", "")] * (len(self.probabilities) > 10)]


@interruptible
def min_sum(
    problem: Any,
    *,
    messages: bool = False,
    min_marginals: bool = False,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabelingResult:
    """Minimise the energy of an acyclic factor graph exactly.

    Also known as ``max-product``, ``belief-propagation`` and, on chains, ``viterbi``.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    messages : bool
        Report all messages in ``info["messages"]``, a :class:`Messages`. Costs a second pass.
    min_marginals : bool
        Report in ``info["min_marginals"]`` the smallest energy with each label of each variable, a mapping from names
        to vectors. Costs a second pass.
    time_limit : float, optional
        Seconds; a labeling is returned in any case.
    callback : callable, optional
        ``callback(seconds, cost)``; a true return value ends the run.

    Returns
    -------
    LabelingResult
        With status ``optimal`` unless stopped early; `iterations` counts factors passed.

    Raises
    ------
    CyclicGraph
        If the factor graph has a cycle; the message names it.
    InfeasibleProblem
        If every labeling is forbidden; the message names a factor or variable at which this was found.

    Notes
    -----
    O(size of all tables), memory O(sum of domains); no recursion.

    Examples
    --------
    >>> import graphpart as gp
    >>> pair, unary = [[4.0, 1.0, 2.0], [3.0, 0.5, 5.0]], [0.0, 2.0, 1.0]
    >>> f = gp.FactorGraph.from_arrays([2, 3], [([[0, 1]], [pair]), ([[1]], [unary])])
    >>> r = min_sum(f, min_marginals=True)
    >>> r.labels.tolist(), r.cost, str(r.status)
    ([1, 1], 2.5, 'optimal')
    >>> r.info["min_marginals"][1]
    array([3. , 2.5, 3. ])
    """
    f = as_factor_graph(problem)
    f.check_acyclic()
    r = by_min_sum(f, Stopping(time_limit, callback=callback), "min-sum")
    info: dict[str, Any] = {}
    if messages:
        *_, info["messages"] = _both_ways(f, soft=False, normalise=False, keep=True)
    if min_marginals:
        values, total, _ = _both_ways(f, soft=False, normalise=True, keep=False)
        start = places(f)
        least = np.minimum.reduceat(values, start[:-1]) if f.n else values
        optimum = r.cost  # exact; if the run was stopped early, the sum of what the passes took out stands in
        if r.status != Status.OPTIMAL:
            optimum = math.fsum([f.constant, total, *least[f._scheme().roots].tolist()])
        values += optimum - np.repeat(least, f.domains)
        info["min_marginals"] = LabelVectors(f, values)
    return replace(r, info=info)


def by_min_sum(
    f: FactorGraph,
    stopping: Stopping,
    method: str,
    initial: NDArray[np.int32] | None = None,
) -> LabelingResult:
    """The two passes over an acyclic factor graph; the result is not worse than `initial`."""
    scheme, view, compact = f._scheme(), f._view(), f._layout().pairs_only
    belief, choice, _, steps, factor = _min_sum.collect(view, scheme, compact, stopping)
    if factor >= 0:
        raise _impossible(f, factor)
    stopping.iterations = steps
    done = steps == len(scheme.order)
    if not done:
        # Variables whose factors were not all passed decide for themselves.
        _, left = rows_of(f.scope_start, f.scope, scheme.order[steps:])
        roots = np.union1d(scheme.roots, left).astype(np.int32)
        scheme = replace(scheme, order=scheme.order[:steps], parent=scheme.parent[:steps], roots=roots)
    labels = np.empty(f.n, np.int32)
    _, variable = _min_sum.assign(view, scheme, compact, belief, choice, labels)
    if done and variable >= 0:
        raise _no_label(f, variable)
    if initial is not None and f.evaluate_labels(initial) < f.evaluate_labels(labels):  # by rounding, if done
        labels = initial.copy()
    if done:
        return finish(f, labels, stopping, method, Status.OPTIMAL)
    return finish(f, labels, stopping, method, Status.FEASIBLE, lower_bound=trivial_bound(f))


def marginals(problem: Any) -> Marginals:
    """The probabilities of all labels under ``P(y) = exp(-H(y)) / Z``, and ``log Z``, for an acyclic factor graph.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph

    Raises
    ------
    CyclicGraph
        If the factor graph has a cycle; the message names it.
    InfeasibleProblem
        If every labeling is forbidden.

    Notes
    -----
    Two passes in the log domain; O(sum over factors of arity times size of table).

    Examples
    --------
    >>> import graphpart as gp
    >>> f = gp.FactorGraph.from_arrays([2], [([[0]], [[0.0, 0.0]])], constant=1.0)
    >>> m = marginals(f)
    >>> m.probabilities[0], round(m.log_z, 6)
    (array([0.5, 0.5]), -0.306853)
    """
    f = as_factor_graph(problem)
    f.check_acyclic()
    return with_messages(f, keep=False)[0]


def with_messages(f: FactorGraph, keep: bool = True) -> tuple[Marginals, Messages]:
    """The marginals of an acyclic factor graph and, if they are kept, the messages, up to a constant for each."""
    values, total, messages = _both_ways(f, soft=True, normalise=True, keep=keep)
    start = places(f)
    least = np.minimum.reduceat(values, start[:-1]) if f.n else values
    probabilities = np.exp(np.repeat(least, f.domains) - values)
    sums = np.add.reduceat(probabilities, start[:-1]) if f.n else values
    probabilities /= np.repeat(sums, f.domains)
    roots = f._scheme().roots
    log_z = math.fsum([-f.constant, -total, *(np.log(sums[roots]) - least[roots]).tolist()])
    return Marginals(LabelVectors(f, probabilities), log_z), messages


def _both_ways(f: FactorGraph, soft: bool, normalise: bool, keep: bool) -> tuple[NDArray[np.float64], float, Messages]:
    """Both passes: (beliefs of all variables, the constant that normalisation subtracted, messages)."""
    domains, scope_start, scope, _, _ = f._flat()
    order, parent = f._scheme().order, f._scheme().parent
    unary = np.flatnonzero(np.diff(scope_start) == 1).astype(np.int32)
    steps = np.concatenate([unary, order])
    parents = np.concatenate([scope[scope_start[unary]], parent])
    edges = np.zeros(len(scope) + 1 if keep else 0, np.int64)
    if keep:
        np.cumsum(domains[scope], out=edges[1:])
    up = np.zeros(len(steps) + 1, np.int64)
    np.cumsum(domains[parents], out=up[1:])
    belief, total, to_variable, to_factor, factor = _kernels.both_ways(
        f._view(), steps, parents, up, edges, soft, normalise
    )
    if factor >= 0:
        raise _impossible(f, factor)
    start = places(f)
    if f.n and f.has_forbidden:
        least = np.minimum.reduceat(belief, start[:-1])
        if len(bad := np.flatnonzero(np.isposinf(least))):
            raise _no_label(f, int(bad[0]))
    return belief, total, Messages(to_variable, to_factor, edges)


def _impossible(f: FactorGraph, factor: int) -> InfeasibleProblem:
    where = named(f, factor)
    return InfeasibleProblem(f"every labeling is forbidden: {where} and the factors below it leave none")


def _no_label(f: FactorGraph, variable: int) -> InfeasibleProblem:
    return InfeasibleProblem(f"every labeling is forbidden: no label of variable {f.variables[variable]!r} is possible")

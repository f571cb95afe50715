"""Lower bounds on the energy of factor graphs: one function, a table of methods, a certificate for each bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphpart.crf.bounds.message_passing import Ascent
from graphpart.crf.bounds.passes import messages_of
from graphpart.crf.bounds.semidefinite import by_squares
from graphpart.crf.certificates.certificate import Certificate, certify, later
from graphpart.crf.graph_cuts.roof_duality import roof_dual
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.labeling import least_entries, trivial_bound
from graphpart.methods import find_method, find_name
from graphpart.stopping import Stopping, interruptible

__all__ = ["BOUNDS", "lower_bound"]


def _nothing(f: FactorGraph, stopping: Stopping) -> Certificate:
    _, scope_start, scope, _, _ = f._flat()
    alone = scope[scope_start[:-1][np.diff(scope_start) == 1]]
    if np.bincount(alone).max(initial=0) > 1:  # then the bound is above the sum of the least entries
        return certify(f, np.zeros(messages_of(f)), "negative-sum")
    messages = messages_of(f)
    return later(f, trivial_bound(f), "negative-sum", lambda: np.zeros(messages))


def _message_passing(f: FactorGraph, stopping: Stopping) -> Certificate:
    ascent = Ascent(f, stopping)
    ascent.run_whole(stopping)
    return ascent.certificate("message-passing", last=True)


def _roof_duality(f: FactorGraph, stopping: Stopping) -> Certificate:
    return certify(f, roof_dual(f, stopping, weak=False).messages, "roof-duality")


def _semidefinite(f: FactorGraph, stopping: Stopping) -> Certificate:
    return certify(f, [], "semidefinite", squares=by_squares(f, stopping))


#: Methods by name. Each takes a factor graph and a Stopping.
BOUNDS: dict[str, Callable[[FactorGraph, Stopping], Certificate]] = {
    "negative-sum": _nothing,
    "message-passing": _message_passing,
    "roof-duality": _roof_duality,
    "semidefinite": _semidefinite,
}
#: Their further names.
ALSO = {"message-passing": find_method("message-passing", "crf").also, "roof-duality": ("qpbo",)}


@interruptible
def lower_bound(
    problem: Any,
    method: str = "message-passing",
    *,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> Certificate:
    """A lower bound on the energy of all labelings, with its proof.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    method : str
        "negative-sum": the constant, the smallest sum of unary costs of each variable, and the smallest entry of each
        other table. "message-passing" (also "trw-s", "srmp"): the bound is raised by sequential reweighted message
        passing, then by violated cycles; for any factor graph. "roof-duality" (also "qpbo"): the maximum flow of
        Hammer, Hansen & Simeone (1984), for variables with two labels and factors of at most two variables.
        "semidefinite": the semidefinite relaxation of max cut with triangle inequalities, for the same problems with at
        most 600 variables and finite costs; far better than the others where most pairs have a factor.
    time_limit : float, optional
        Seconds, after which the best bound so far is returned.
    max_iterations : int, optional
        Iterations of message passing, each of a pass forward and one in reverse; rounds of the semidefinite relaxation.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value ends the work in the same way.

    Returns
    -------
    Certificate
        With the bound and the messages or squares that prove it.

    Raises
    ------
    InvalidOption
        If there is no such method.
    InvalidProblem
        If the method is not for this factor graph.
    InfeasibleProblem
        If every labeling is forbidden, as far as this was noticed.

    Examples
    --------
    >>> import graphpart as gp
    >>> pairs = ([[0, 1], [1, 2], [0, 2]], [[[1.0, 0.0], [0.0, 1.0]]] * 3)
    >>> f = gp.FactorGraph.from_arrays([2, 2, 2], [pairs])
    >>> [lower_bound(f, method).bound for method in ("negative-sum", "message-passing")]
    [0.0, 1.0]
    """
    f = as_factor_graph(problem)
    method = find_name(method, BOUNDS, ALSO)
    stopping = Stopping(time_limit, max_iterations, None, callback)
    least_entries(f)
    certificate = BOUNDS[method](f, stopping)
    stopping.reraise()
    return certificate

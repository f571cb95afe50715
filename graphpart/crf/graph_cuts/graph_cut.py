"""Graph cuts: the minimum energy by one maximum flow, if pairs are submodular in the order of the labels.

For binary variables a table is submodular if ``table[0, 0] + table[1, 1] <= table[0, 1] + table[1, 0]``. If all tables
are, the energy is the capacity of a cut (Hammer 1965; Kolmogorov & Zabih 2004). For more labels in an order, such as
levels of grey, a table is submodular if all neighbouring labels satisfy

    table[i, j] + table[i + 1, j + 1] <= table[i, j + 1] + table[i + 1, j],

which every convex function of the difference ``i - j`` does (Ishikawa 2003; Schlesinger & Flach 2006). Each variable
then has a node between every two neighbouring labels. Entries may be forbidden if the inequality, with ``inf <= inf``
counting as true, holds for the table and remains true when any rows and columns are left out.

The minimum cut gives the labels. The maximum flow proves that they are optimal: it moves amounts from tables to unary
costs such that the smallest entries of all tables add up to the energy. Capacities are integers of 64 bits, scaled by a
power of two. Costs that are multiples of a power of two, such as integers, are exact up to a sum of about 2^58 at a
variable; other costs are rounded to this precision. A table that violates the inequality by less than ``2**-50`` of its
largest entry counts as submodular.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.graph_cuts._kernels import OrderedCut
from graphpart.crf.graph_cuts.cut_bound import bound_below
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.labeling import Found, finish, named
from graphpart.crf.problem.shared_tables import absolute_costs
from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["cut_messages", "cut_network", "graph_cut", "is_cuttable", "minimum_cut"]


@interruptible
def graph_cut(
    problem: Any,
    *,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabelingResult:
    """Minimise the energy by a minimum cut: for pairs that are submodular in the order of the labels.

    Also known as ``min-cut`` or ``max-flow``.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
        Every factor has at most two variables, not counting those with a single label. If several tables have the same
        two variables, only their sum has to be submodular.
    time_limit : float, optional
        Seconds.
    callback : callable, optional
        ``callback(seconds, cost)``; a true return value ends the run. The cost is ``inf`` until the flow is complete,
        because there is no labeling before.

    Returns
    -------
    LabelingResult
        With status ``optimal``. If the run was stopped before, the labels are those that the incomplete flow suggests,
        with the lower bound that it proves.

    Raises
    ------
    InvalidProblem
        If a factor has more than two variables, or its table is not submodular; the message names it.
    InfeasibleProblem
        If every labeling is forbidden.

    See Also
    --------
    expansion : for any pairs, without a proof.
    roof_duality : for binary variables and any pairs, a bound and the labels of some.

    Notes
    -----
    The network has, for each variable, one node less than labels, and an edge for each entry of a table, except in the
    last row and column, at which the inequality above is strict. Maximum flow takes O(nodes^2 edges) at worst; on grids
    it is close to linear.

    Examples
    --------
    >>> import graphpart as gp
    >>> smooth = [[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]]
    >>> unary = ([[0], [1]], [[0.0, 3.0, 3.0], [9.0, 5.0, 0.0]])
    >>> f = gp.FactorGraph.from_arrays([3, 3], [unary, ([[0, 1]], [smooth])])
    >>> r = graph_cut(f)
    >>> r.labels.tolist(), r.cost, str(r.status)
    ([2, 2], 3.0, 'optimal')
    """
    stopping = Stopping(time_limit, callback=callback)
    f = as_factor_graph(problem)
    found = minimum_cut(f, stopping)
    status = Status.OPTIMAL if found.proven else Status.FEASIBLE
    return finish(f, found.labels, stopping, "graph-cut", status, lower_bound=found.bound)


def minimum_cut(f: FactorGraph, stopping: Stopping) -> Found:
    """The algorithm of `graph_cut`; InvalidProblem where it does not apply."""
    simple, network = cut_network(f)
    finished = not stopping.check(np.inf) and network.run(stopping)
    labels = network.labels()
    if not finished:
        bound = bound_below(f.constant, network.bound())
        if simple is not f:  # sums of tables were rounded
            bound = math.nextafter(bound - f.m * 2.0**-52 * absolute_costs(f), -math.inf)
        return Found(labels, bound, False)
    if f.has_forbidden:
        check_possible(f, labels)
    return Found(labels, f.evaluate_labels(labels), True)


def cut_network(f: FactorGraph) -> tuple[FactorGraph, OrderedCut]:
    """(factor graph, its network); tables over the same variables are merged if only their sums are submodular.

    Raises InvalidProblem or InfeasibleProblem, naming a factor.
    """
    network, factor, text = _build(f)
    if network is None and factor >= 0 and _has_parallel(f, factor):
        simple = f.simplify()
        merged, _, _ = _build(simple)
        if merged is not None:
            return simple, merged
    if network is None:
        raise InvalidProblem(text)
    return f, network


def is_cuttable(problem: Any) -> bool:
    """Whether `graph_cut` takes a problem, as far as its factors are concerned. O(size of tables)"""
    try:
        cut_network(as_factor_graph(problem))
    except InvalidProblem:
        return False
    return True


def cut_messages(
    f: FactorGraph, stopping: Stopping
) -> tuple[FactorGraph, NDArray[np.int32], NDArray[np.float64], bool]:
    """(factor graph, labels, messages, finished): the flow as a reparametrisation of the returned factor graph.

    For each factor of at least two variables, in order, and each variable of its scope, the messages have a number for
    each label: the amount that is moved from the table to the variable. The smallest sums of unary costs and messages,
    and the smallest entries that are left in the other tables, add up to the energy of the labels. The factor graph is
    `f` unless tables over the same variables had to be merged.
    """
    simple, network = cut_network(f)
    finished = bool(network.run(stopping))
    return simple, network.labels(), network.messages(), finished


def check_possible(f: FactorGraph, labels: NDArray[np.int32]) -> None:
    """Raise InfeasibleProblem if the labels of a minimum cut are forbidden, since then every labeling is."""
    from graphpart.crf.problem import _structure

    bad = _structure.first_forbidding(*f._flat(), labels)
    if bad >= 0:
        raise InfeasibleProblem(
            f"every labeling is forbidden: the labeling nearest to allowed violates {named(f, bad)}"
        )


def _build(f: FactorGraph) -> tuple[OrderedCut | None, int, str]:
    """The network; or None, the factor that is not submodular, or -1, and what is wrong."""
    network = OrderedCut(f._view())
    factor, what = network.measure()
    if what == 0:
        text = (
            f"{named(f, factor)} has more than two variables with several labels: a graph "
            "cut expects at most two; use message passing, elimination, or auto"
        )
        return None, -1, text
    if what == 1:
        raise InfeasibleProblem(f"{named(f, factor)} forbids every labeling")
    factor, i, j = network.build()
    if factor >= 0:
        return None, factor, _not_submodular(f, factor, i, j)
    return network, -1, ""


def _has_parallel(f: FactorGraph, factor: int) -> bool:
    """Whether another factor has the same variables, or more."""
    every = np.ones(f.m, bool)
    for v in f.factor(factor)[0]:
        has = np.zeros(f.m, bool)
        has[np.searchsorted(f.scope_start, np.flatnonzero(f.scope == v), side="right") - 1] = True
        every &= has
    return int(every.sum()) > 1


def _not_submodular(f: FactorGraph, factor: int, i: int, j: int) -> str:
    members, table = f.factor(factor)
    where = [k for k, v in enumerate(members) if f.domains[v] > 1]
    names = tuple(f.variables[members[k]] for k in where)
    plain = table.squeeze(tuple(k for k in range(len(members)) if k not in where))
    text = f"factor {factor} over {names!r} is not submodular: "
    if np.isfinite(plain[i : i + 2, j : j + 2]).all():
        same = f"table[{i}, {j}] + table[{i + 1}, {j + 1}] = {plain[i, j] + plain[i + 1, j + 1]:.10g}"
        other = f"table[{i}, {j + 1}] + table[{i + 1}, {j}] = {plain[i, j + 1] + plain[i + 1, j]:.10g}"
        text += f"{same}; expected at most {other}"
    else:
        text += "expected that of any two allowed pairs the smaller labels are allowed, and the larger, at no more cost"
    use = "roof duality, expansion" if f.domains.max() == 2 else "expansion, message passing"
    return f"{text}; use {use}, or auto"

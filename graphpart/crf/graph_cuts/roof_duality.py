"""Roof duality: for binary variables and pairs of any sign, a lower bound and the labels of some variables.

Each variable x is replaced by two variables, x and its complement, and twice the energy is written as a function of
both in which every pair is submodular (Hammer, Hansen & Simeone 1984; Boros & Hammer 2002; Rother, Kolmogorov,
Lempitsky & Szummer 2007). A minimum cut of the doubled network minimises this function without the constraint that the
two variables are complements. Half of the minimum is a lower bound, equal to that of linear programming over the local
polytope. For the variables whose two copies are complements,

* in every minimum cut, all optimal labelings agree with the cut: these labels are *strong*,
* in one minimum cut, some optimal labeling agrees with the cut: these labels are *weak*; they include the strong
  ones.

Statements about all optimal labelings hold up to the rounding described in `graph_cut`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.graph_cuts._kernels import DoubledCut
from graphpart.crf.graph_cuts.cut_bound import bound_below
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.labeling import named
from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.stopping import Stopping, interruptible

__all__ = ["RoofDuality", "roof_dual", "roof_duality"]


@dataclass(frozen=True)
class RoofDuality:
    """The lower bound and the labels that roof duality proves for a factor graph.

    Attributes
    ----------
    lower_bound : float
        No labeling has less energy.
    strong : ndarray of int32, shape (n,)
        Labels that all optimal labelings share; -1 where there are none.
    weak : ndarray of int32, shape (n,)
        Labels of one and the same optimal labeling; -1 where there are none.
    completed : bool
        False if it was stopped early: then the bound holds, and no label is known.
    messages : ndarray of float64
        The flow: for each factor of at least two variables, in order, and each variable of its scope, one number for
        each label: the amount that is moved from the table to the variable. The messages prove the bound, up to
        rounding.
    """

    lower_bound: float
    strong: NDArray[np.int32] = field(repr=False)
    weak: NDArray[np.int32] = field(repr=False)
    completed: bool
    _network: DoubledCut = field(repr=False)

    @cached_property
    def messages(self) -> NDArray[np.float64]:
        return self._network.messages()


@interruptible
def roof_duality(
    problem: Any,
    *,
    weak: bool = True,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> RoofDuality:
    """A lower bound and partial labels for binary variables and pairs of any sign.

    Also known as quadratic pseudo-Boolean optimisation, ``qpbo``.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
        Variables with one or two labels, factors of at most two variables that have two.
    weak : bool
        Also look for weak labels; if False, only the strong labels are reported as weak.
    time_limit : float, optional
        Seconds. If they do not suffice, there is only a bound.
    callback : callable, optional
        ``callback(seconds, cost)``, with cost ``inf``; a true return value ends the run.

    Raises
    ------
    InvalidProblem
        If a variable has more than two labels, or a factor more than two variables; the message names it.
    InfeasibleProblem
        If a table forbids everything.

    Notes
    -----
    The network is stored as a node for each variable and an edge for each pair, each of which stands for two that are
    mirror images of each other. Maximum flow takes O(n^2 pairs) at worst;
    on grids with random couplings it was close to linear. If every labeling is forbidden the labels mean nothing.

    Examples
    --------
    >>> import graphpart as gp
    >>> differ, equal = [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]
    >>> pairs = ([[0, 1], [1, 2], [0, 2]], [differ, equal, equal])
    >>> f = gp.FactorGraph.from_arrays([2, 2, 2], [([[0], [2]], [[0.0, 5.0], [0.0, 1.0]]), pairs])
    >>> r = roof_duality(f)
    >>> r.lower_bound, r.strong.tolist(), r.weak.tolist()
    (1.0, [0, -1, 0], [0, 1, 0])
    """
    stopping = Stopping(time_limit, callback=callback)
    found = roof_dual(as_factor_graph(problem), stopping, weak)
    stopping.reraise()
    return found


def roof_dual(f: FactorGraph, stopping: Stopping, weak: bool = True) -> RoofDuality:
    """The algorithm of `roof_duality`; it gives no costs to `stopping`."""
    network = doubled_network(f)
    completed = bool(not stopping.check(np.inf) and network.run(stopping))
    bound = bound_below(f.constant, network.bound(), parts=2)
    if not completed:
        unknown = np.where(f.domains == 1, 0, -1).astype(np.int32)
        return RoofDuality(bound, unknown, unknown.copy(), False, network)
    strong = network.strong()
    some = strong.copy()
    if weak and (some < 0).any():
        network.weak(some)
    return RoofDuality(bound, strong, some, True, network)


def doubled_network(f: FactorGraph) -> DoubledCut:
    """The network, ready to run; InvalidProblem or InfeasibleProblem, naming what does not fit."""
    if f.n and f.domains.max() > 2:
        v = int(np.argmax(f.domains > 2))
        raise InvalidProblem(
            f"variable {f.variables[v]!r} has {f.domains[v]} labels: roof duality expects at most two; use reduce, "
            "message passing, or auto"
        )
    network = DoubledCut(f._view())
    factor, what = network.measure()
    if what == 0:
        raise InvalidProblem(
            f"{named(f, factor)} has more than two variables with two labels: roof duality "
            "expects at most two; use reduce, message passing, or auto"
        )
    if what == 1:
        raise InfeasibleProblem(f"{named(f, factor)} forbids every labeling")
    network.build()
    return network

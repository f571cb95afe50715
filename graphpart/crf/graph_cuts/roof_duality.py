"""Roof duality: for binary variables and pairs of any sign, a lower bound and the labels of some variables.

Each variable x becomes two, x and its complement, the energy twice itself, in which every pair is submodular (Hammer,
Hansen & Simeone 1984; Boros & Hammer 2002; Rother, Kolmogorov, Lempitsky & Szummer 2007). A minimum cut of the doubled
network minimises it without the constraint that the two are complements: half of it is a lower bound, the same as that
of linear programming over the local polytope, and where they are complements,

* in every minimum cut, all optimal labelings agree with them: these labels are *strong*,
* in one minimum cut, some optimal labeling does: these are *weak*; the strong ones are among them.

More is known by **probing** (Boros, Hammer & Tavares 2006): a variable without label is fixed to 0, then to 1, and each
time the flow is continued. What is labelled alike in both cases has that label in all optimal labelings; if the bound
of one case is above the energy of a known labeling, the other case holds, with all its labels.

What is said of all optimal labelings is so up to the rounding stated in `graph_cut`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.graph_cuts._doubled import DoubledCut
from graphpart.crf.graph_cuts.cut_bound import bound_below
from graphpart.crf.local_search.icm import improve
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.derive import condition_on
from graphpart.crf.problem.labeling import forbidden_by
from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.stopping import Stopping, interruptible

__all__ = ["RoofDuality", "roof_dual", "roof_duality"]


@dataclass(frozen=True)
class RoofDuality:
    """What roof duality says of a factor graph.

    Attributes
    ----------
    lower_bound : float
        No labeling has less energy.
    strong : ndarray of int32, shape (n,)
        Labels that all optimal labelings share; -1 where there are none.
    weak : ndarray of int32, shape (n,)
        Labels that some optimal labeling has, all of them one and the same; -1 where there are none.
    completed : bool
        False if it was stopped early: then the bound holds, and no label is known.
    messages : ndarray of float64
        The flow: for each factor of at least two variables, in order, for each variable of its scope, one number for
        each label: what is moved from the table to the variable. They prove the bound, but for rounding.
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
    probing: bool = False,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> RoofDuality:
    """A lower bound and partial labels for binary variables and pairs of any sign.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
        Variables with one or two labels, factors of at most two variables that have two.
    weak : bool
        Look for weak labels too; else those reported as weak are the strong ones.
    probing : bool
        Fix one by one the variables without a label. O(n) for each at least.
    time_limit : float, optional
        Seconds. Probing ends with what it has; if the time is over before, there is only a bound.
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
    The network has two nodes for each variable and two edges for each pair. Maximum flow takes O(n^2 pairs) at worst;
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
    found = roof_dual(as_factor_graph(problem), stopping, weak, probing)
    stopping.reraise()
    return found


def roof_dual(f: FactorGraph, stopping: Stopping, weak: bool = True, probing: bool = False) -> RoofDuality:
    """What `roof_duality` does; costs tell `stopping` nothing."""
    network = doubled_network(f)
    completed = bool(not stopping.check(np.inf) and network.run(stopping))
    bound = bound_below(f.constant, *network.bound(), parts=4)
    if not completed:
        unknown = np.where(f.domains == 1, 0, -1).astype(np.int32)
        return RoofDuality(bound, unknown, unknown.copy(), False, network)
    strong = network.strong()
    some = strong.copy()
    probed = _probe(f, network, bound, strong, stopping) if probing and (strong < 0).any() else strong
    if (probed != strong).any():
        # What probing found is given; the rest is looked at anew.
        rest = roof_dual(condition_on(f, probed), stopping, weak)
        strong, some = probed.copy(), probed.copy()
        strong[probed < 0], some[probed < 0] = rest.strong, rest.weak
    elif weak and (some < 0).any():
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
    network = DoubledCut(*f._flat())
    factor, what = network.measure()
    if what == 0:
        raise InvalidProblem(
            f"factor {factor} over {forbidden_by(f, factor)} has more than two variables with two labels: roof duality "
            "expects at most two; use reduce, message passing, or auto"
        )
    if what == 1:
        raise InfeasibleProblem(f"factor {factor} over {forbidden_by(f, factor)} forbids every labeling")
    network.build()
    return network


def _probe(
    f: FactorGraph, network: DoubledCut, bound: float, strong: NDArray[np.int32], stopping: Stopping
) -> NDArray[np.int32]:
    """The strong labels and those that probing adds. The flow of the network stays as it is."""
    known, cases = strong.copy(), (strong.copy(), strong.copy())
    _, cost = improve(f, np.maximum(strong, 0), stopping.child(plus=np.inf))
    enough = cost + 2.0**-48 * (abs(cost) + abs(bound))
    unit = Fraction(network.unit())
    network.keep()
    for v in np.flatnonzero(strong < 0).tolist():
        if known[v] >= 0:
            continue
        possible = []
        for value, labels in enumerate(cases):
            finished, high, low = network.probe(v, value, labels, stopping)
            if not finished:
                network.restore()
                return known
            gain = unit * ((high << 32) + low) / 2
            possible.append(cost == np.inf or Fraction(bound) + gain <= Fraction(enough))
        found = cases[0] if possible[0] else cases[1]
        if all(possible):
            found = np.where(cases[0] == cases[1], found, -1)
        known = np.where(known >= 0, known, found).astype(np.int32)
    network.restore()
    return known

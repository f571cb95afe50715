"""Roof duality: for binary variables and pairs of any sign, a lower bound and the labels of some variables.

Each variable x is replaced by two variables, x and its complement, and twice the energy is written as a function of
both in which every pair is submodular (Hammer, Hansen & Simeone 1984; Boros & Hammer 2002; Rother, Kolmogorov,
Lempitsky & Szummer 2007). A minimum cut of the doubled network minimises this function without the constraint that the
two variables are complements. Half of the minimum is a lower bound, equal to that of linear programming over the local
polytope. For the variables whose two copies are complements,

* in every minimum cut, all optimal labelings agree with the cut: these labels are *strong*,
* in one minimum cut, some optimal labeling agrees with the cut: these labels are *weak*; they include the strong
  ones.

**Probing** finds more labels (Boros, Hammer & Tavares 2006): a variable without a label is fixed to 0, then to 1, and
the flow is continued in each case. A variable that gets the same label in both cases has that label in all optimal
labelings. If a variable gets one label in one case and the other label in the other, it is equal, or opposite, to the
variable that was fixed. If the bound of one case is above the energy of a known labeling, the other case is true, with
all its labels.

Statements about all optimal labelings hold up to the rounding described in `graph_cut`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.graph_cuts._kernels import DoubledCut
from graphpart.crf.graph_cuts.cut_bound import bound_below
from graphpart.crf.local_search.icm import improve
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.derive import condition_on
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
    pairs : ndarray of int32, shape (k, 3)
        Two variables, and 0 if they have equal labels in all optimal labelings, 1 if opposite ones; from probing.
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
    pairs: NDArray[np.int32] = field(repr=False, default_factory=lambda: np.zeros((0, 3), np.int32))

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

    Also known as quadratic pseudo-Boolean optimisation, ``qpbo``.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
        Variables with one or two labels, factors of at most two variables that have two.
    weak : bool
        Also look for weak labels; if False, only the strong labels are reported as weak.
    probing : bool
        Fix the variables without a label one by one, which takes at least O(n) for each.
    time_limit : float, optional
        Seconds. Probing returns the labels found so far; if the time is over before probing, there is only a bound.
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
    found = roof_dual(as_factor_graph(problem), stopping, weak, probing)
    stopping.reraise()
    return found


def roof_dual(f: FactorGraph, stopping: Stopping, weak: bool = True, probing: bool = False) -> RoofDuality:
    """The algorithm of `roof_duality`; it gives no costs to `stopping`."""
    network = doubled_network(f)
    completed = bool(not stopping.check(np.inf) and network.run(stopping))
    bound = bound_below(f.constant, network.bound(), parts=2)
    if not completed:
        unknown = np.where(f.domains == 1, 0, -1).astype(np.int32)
        return RoofDuality(bound, unknown, unknown.copy(), False, network)
    strong = network.strong()
    some = strong.copy()
    probed, pairs = strong, np.zeros((0, 3), np.int32)
    if probing and (strong < 0).any():
        probed, pairs = _probe(f, network, bound, strong, stopping)
    if (probed != strong).any():
        # Labels found by probing are given; the others are computed again.
        rest = roof_dual(condition_on(f, probed), stopping, weak)
        strong, some = probed.copy(), probed.copy()
        strong[probed < 0], some[probed < 0] = rest.strong, rest.weak
    elif weak and (some < 0).any():
        network.weak(some)
    return RoofDuality(bound, strong, some, True, network, pairs)


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


def _probe(
    f: FactorGraph, network: DoubledCut, bound: float, strong: NDArray[np.int32], stopping: Stopping
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The strong labels, with those that probing adds, and pairs. The flow of the network is not changed."""
    known, cases = strong.copy(), (strong.copy(), strong.copy())
    _, cost = improve(f, np.maximum(strong, 0), stopping.child(plus=np.inf))
    enough = cost + 2.0**-48 * (abs(cost) + abs(bound))
    unit = Fraction(network.unit())
    partner, opposite = np.full(f.n, -1, np.int32), np.zeros(f.n, np.int32)
    network.keep()
    for v in np.flatnonzero(strong < 0).tolist():
        if stopping.check(np.inf):
            break
        if known[v] >= 0 or partner[v] >= 0:
            continue
        possible = []
        for value, labels in enumerate(cases):
            finished, high, low = network.probe(v, value, labels, stopping)
            if not finished:
                break
            gain = unit * ((high << 32) + low) / 2
            possible.append(cost == np.inf or Fraction(bound) + gain <= Fraction(enough))
        if len(possible) < 2:
            break
        found = cases[0] if possible[0] else cases[1]
        if all(possible):
            found = np.where(cases[0] == cases[1], found, -1)
            tied = (np.minimum(*cases) == 0) & (np.maximum(*cases) == 1) & (partner < 0) & (strong < 0)
            tied[v] = False
            partner[tied], opposite[tied] = v, cases[0][tied]
        known = np.where(known >= 0, known, found).astype(np.int32)
    network.restore()
    tied = (partner >= 0) & (known < 0)
    return known, np.column_stack([partner, np.arange(f.n), opposite])[tied].astype(np.int32)

"""Partial optimality: labels that some, or all, optimal labelings have, found without solving the problem.

The following steps find labels that can be left out. They are repeated until none finds any:

* **dead ends**: another label of the same variable is better for all labels of its neighbours (Desmet, De Maeyer, Hazes
  & Lasters 1992, in the form of Goldstein 1994); for tables of any arity. A label that a table forbids is left out,
  too.
* **roof duality**: where all variables are binary and all factors pairs (see `graph_cuts/roof_duality.py`).

A variable with only one label left is known: the tables of its factors are reduced to this label. Variables whose
labels follow from each other become one (see `contraction`). The result is a smaller problem. First only labels that
no optimal labeling has are left out (strong), then labels such that some optimal labeling is left (weak), which breaks
ties.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.reduction import Reduction
from graphpart.crf.graph_cuts.roof_duality import roof_dual
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.labeling import least_entries, named, places
from graphpart.crf.reduction import _kernels
from graphpart.crf.reduction.contraction import contraction
from graphpart.crf.reduction.improving_mapping import improving_mapping
from graphpart.display import Shown, plural
from graphpart.errors import InfeasibleProblem
from graphpart.stopping import Stopping, interruptible

__all__ = ["QUICK_STEPS", "STEPS", "LabelingReduction", "Persistency", "persistency", "reduce", "reduced"]

AGAIN = 0.1  # smallest share of the labels that a mapping has to leave out for another mapping to follow


@dataclass(frozen=True, repr=False)
class Persistency(Shown):
    """The labels that are proven to be, or not to be, in optimal labelings.

    Attributes
    ----------
    strong : ndarray of int32, shape (n,)
        Labels that all optimal labelings share; -1 where there are none.
    weak : ndarray of int32, shape (n,)
        Labels of one and the same optimal labeling; -1 where there are none. They include the strong labels.
    remaining : ndarray of bool
        For each label of each variable, in order, whether it is still possible in that optimal labeling.
    """

    strong: NDArray[np.int32] = field(repr=False)
    weak: NDArray[np.int32] = field(repr=False)
    remaining: NDArray[np.bool_] = field(repr=False)

    def _title(self) -> str:
        known, n = int((self.weak >= 0).sum()), len(self.weak)
        return f"{type(self).__name__}: {known} of {plural(n, 'variable')} known in an optimal labeling"

    def _facts(self) -> dict[str, Any]:
        left, labels = int(self.remaining.sum()), len(self.remaining)
        return {"known in all": int((self.strong >= 0).sum()), "labels that remain": f"{left} of {labels}"}


@dataclass(frozen=True)
class LabelingReduction(Reduction[FactorGraph]):
    """A smaller problem that has the same optimum up to a constant.

    Attributes
    ----------
    problem : FactorGraph
        Over the variables that are not known, by their names, with the labels that remain, renumbered. Of variables
        that are contracted it has one.
    constant : float
        Energy of a lifted labeling minus its energy in the smaller problem.
    labels : ndarray of int32, shape (n,)
        Labels that are known; -1 where a variable of the smaller problem decides. If functions of many variables were
        decomposed, auxiliary variables follow, here and in `problem`; `lift` leaves them out.
    persistency : Persistency
    completed : bool
        False if the time limit or Ctrl-C stopped it before all steps were tried. All labels that were found are valid
        nevertheless.
    """

    labels: NDArray[np.int32] = field(repr=False)
    persistency: Persistency = field(repr=False)
    completed: bool
    _leader: NDArray[np.int64] = field(repr=False)  # the variable of the smaller problem, where the label is -1
    _options: NDArray[np.int32] = field(repr=False)  # for each label of that variable, the label that it stands for
    _whole: FactorGraph | None = field(default=None, repr=False)  # if it was decomposed: has auxiliary variables

    def lift(self, labels: Any) -> NDArray[np.int32]:
        """Labels of all variables from a labeling of the smaller problem."""
        inner = self.problem.labels(labels)
        out = self.labels.copy()
        sizes = self.problem.domains[self._leader].astype(np.int64)
        out[out < 0] = self._options[np.cumsum(sizes) - sizes + inner[self._leader]]
        return out if self._whole is None else out[: self._whole.owner.n]

    def project(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Labels of the smaller problem from labels of all variables: 0 where the label was left out."""
        if self._whole is not None:
            labels = self._whole.labels(labels)
        sizes = self.problem.domains[self._leader].astype(np.int64)
        at = np.flatnonzero(self._options == np.repeat(labels[self.labels < 0], sizes))
        member = np.repeat(np.arange(len(sizes)), sizes)[at]
        out = np.zeros(self.problem.n, np.int32)
        out[self._leader[member]] = at - (np.cumsum(sizes) - sizes)[member]
        return out


def persistency(problem: Any, *, time_limit: float | None = None) -> Persistency:
    """Labels that all, or some, optimal labelings have; see :func:`reduce` for the arguments.

    Examples
    --------
    >>> import graphpart as gp
    >>> differ = [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    >>> f = gp.FactorGraph.from_arrays([3, 3], [([[0], [1]], [[0.0, 4.0, 2.0], [1.0, 0.0, 0.5]]), ([[0, 1]], [differ])])
    >>> found = persistency(f)
    >>> found.strong.tolist(), found.weak.tolist(), found.remaining.tolist()
    ([0, -1], [0, 1], [True, False, False, False, True, False])
    """
    return reduce(problem, time_limit=time_limit).persistency


@interruptible
def reduce(
    problem: Any,
    *,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabelingReduction:
    """A smaller problem with the same optimum, and how to lift its labelings.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    time_limit : float, optional
        Seconds, after which the labels found so far are used.
    callback : callable, optional
        ``callback(seconds, cost)``, with cost ``inf``; a true return value has the same effect.

    Raises
    ------
    InfeasibleProblem
        If it was noticed that every labeling is forbidden. If this was not noticed, every labeling of the smaller
        problem is forbidden, too.

    Notes
    -----
    To look for the dead ends of a variable takes O(labels) times the size of its tables, at most 16 times for each
    label. A variable is examined again when a neighbour has lost a label. Then improving mappings are computed, as long
    as each leaves out a tenth of the labels. Each takes a small multiple of 60 iterations of message passing. They are
    skipped if the tables have more than ``2**25`` entries in all.

    Examples
    --------
    >>> import graphpart as gp
    >>> potts = [[0.0, 1.0], [1.0, 0.0]]
    >>> unary = ([[0], [1], [2]], [[0.0, 3.0], [0.0, 0.5], [0.4, 0.0]])
    >>> f = gp.FactorGraph.from_arrays([2, 2, 2], [unary, ([[0, 1], [1, 2]], [potts, potts])])
    >>> r = reduce(f)
    >>> r.problem.n, r.constant, r.lift([]).tolist(), r.labels.tolist()
    (0, 0.4, [0, 0, 0], [0, 0, 0])
    """
    stopping = Stopping(time_limit, callback=callback)
    f = as_factor_graph(problem)
    small = reduced(f, STEPS, stopping)
    stopping.reraise()
    if f.owner is f:
        return small
    n, labels = f.owner.n, int(places(f.owner)[-1])
    found = small.persistency
    shown = Persistency(found.strong[:n], found.weak[:n], found.remaining[:labels])
    return replace(small, persistency=shown, _whole=f)


def reduced(f: FactorGraph, steps: Sequence[Step], stopping: Stopping) -> LabelingReduction:
    """The reduction by the given steps, see `reduce`."""
    least_entries(f)
    state = State(f)
    state.exhaust(steps, False, stopping)
    strong = state.known.copy()
    state.exhaust(steps, True, stopping)
    start = places(f)
    remaining = np.zeros(start[-1], bool)
    decided = np.flatnonzero(state.known >= 0)
    remaining[start[decided] + state.known[decided]] = True
    remaining[np.repeat(start[state.members], state.g.domains[state.leader]) + state.options] = True
    proof = Persistency(strong, state.known.copy(), remaining)
    done = stopping.reason is None
    return LabelingReduction(state.g, state.constant, state.known, proof, done, state.leader, state.options)


def dead_end_step(g: FactorGraph, weak: bool, stopping: Stopping) -> NDArray[np.uint8] | None:
    """Labels that are not dead ends."""
    first = places(g)
    alive = np.ones(first[-1], np.uint8)
    if g.m == 0:  # any label is optimal
        alive[:] = not weak
        alive[first[:-1]] = 1
        return alive
    bad = _kernels.dead_ends(g._view(connected=True), alive, weak, stopping)
    if bad >= 0:
        raise InfeasibleProblem(f"every labeling is forbidden: no label of variable {g.variables[bad]!r} is possible")
    return alive


def roof_duality_step(g: FactorGraph, weak: bool, stopping: Stopping) -> NDArray[np.uint8] | None:
    """Labels that roof duality leaves; None where it does not apply."""
    if not _is_quadratic(g):
        return None
    found = roof_dual(g, stopping, weak)
    labels = found.weak if weak else found.strong
    alive = np.ones((len(labels), 2), np.uint8)  # of two labels each: a variable with one is known, and not here
    decided = np.flatnonzero(labels >= 0)
    alive[decided, 1 - labels[decided]] = 0
    return alive.ravel()


def _is_quadratic(g: FactorGraph) -> bool:
    return g.n > 0 and g.domains.max() <= 2 and np.diff(g.scope_start).max(initial=0) <= 2


def improving_mapping_step(g: FactorGraph, weak: bool, stopping: Stopping) -> NDArray[np.uint8] | None:
    """Labels that an improving mapping leaves; None where roof duality finds as much."""
    if not weak or g.n == 0 or _is_quadratic(g):
        return None
    return improving_mapping(g, stopping)


Step = Callable[[FactorGraph, bool, Stopping], NDArray[np.uint8] | None]

#: The steps in order: ``step(factor graph, weak, stopping)`` gives a flag for each label, or None. With `weak` it may
#: leave out labels as long as some optimal labeling remains, else only labels that no optimal one has. All variables of
#: the factor graph have at least two labels.
STEPS: tuple[Step, ...] = (dead_end_step, roof_duality_step, improving_mapping_step)
QUICK_STEPS = STEPS[:2]  #: those without message passing


class State:
    """The part of a problem that is left, and the labels that are known.

    Attributes
    ----------
    g, constant : FactorGraph, float
        What is left, over variables of at least two labels, and the energy that is decided beside it.
    known : ndarray of int32
        The labels that are known, else -1.
    members, leader : ndarray of int
        The variables that are not known, and for each the one of `g` that it has become.
    options : ndarray of int32
        For each label of that variable, one after the other, the label that it stands for.
    """

    def __init__(self, f: FactorGraph) -> None:
        self.f = f
        self.known = np.full(f.n, -1, np.int32)
        self.members, self.leader = np.arange(f.n), np.arange(f.n)
        first = places(f)
        self.options = (np.arange(first[-1]) - np.repeat(first[:-1], f.domains)).astype(np.int32)
        self.g, self.constant = f, 0.0
        self.mapping = True  # whether to look for improving mappings
        if (f.domains == 1).any():
            self.restrict(np.ones(first[-1], np.uint8), True)

    def exhaust(self, steps: Sequence[Step], weak: bool, stopping: Stopping) -> None:
        """Go through the steps in turn until none finds anything."""
        if not stopping.check(math.inf):
            self._contract()
        idle = 0
        for step in cycle(steps):
            if idle == len(steps) or self.g.n == 0 or stopping.check(math.inf):
                return
            if step is improving_mapping_step and not self.mapping:
                idle += 1
                continue
            alive = step(self.g, weak, stopping)
            if step is improving_mapping_step and weak:
                self.mapping = alive is not None and float(alive.mean()) <= 1.0 - AGAIN
            if alive is not None and self.restrict(alive):
                self._contract()
                idle = 0
            else:
                idle += 1

    def _contract(self) -> None:
        """Make one variable of those whose labels follow from each other, as long as there are any."""
        while (found := contraction(self.g)) is not None:
            sizes = self.g.domains[self.leader].astype(np.int64)
            begins = np.cumsum(sizes) - sizes
            self.g, before = found.problem, self.leader
            self.leader = found.leader[before]
            sizes = self.g.domains[self.leader].astype(np.int64)
            label = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            self.options = self.options[
                np.repeat(begins, sizes) + found.options[np.repeat(found.start[before], sizes) + label]
            ]
            if (self.g.domains == 1).any():
                self.restrict(np.ones(places(self.g)[-1], np.uint8), True)

    def restrict(self, alive: NDArray[np.uint8], always: bool = False) -> bool:
        """Leave out labels, and variables with only one label; return whether there were any."""
        g = self.g
        if alive.all() and not always:
            return False
        first = places(g)
        start, scope, begins, tables, constants, bad = _kernels.restrict(g._view(), alive, _alike(g, alive, first))
        if bad >= 0:
            raise InfeasibleProblem(f"every labeling is forbidden: what is left of {named(g, bad)} forbids it")
        counts = np.diff(np.concatenate([[0], np.cumsum(alive, dtype=np.int64)])[first])
        free = counts > 1
        sizes = g.domains[self.leader].astype(np.int64)
        label = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        chosen = alive.astype(bool)[np.repeat(first[self.leader], sizes) + label]
        undecided = free[self.leader]
        inside = np.repeat(undecided, sizes)
        self.known[self.members[~undecided]] = self.options[~inside & chosen]
        self.options = self.options[inside & chosen]
        self.members = self.members[undecided]
        place = (np.cumsum(free) - 1).astype(np.int32)
        self.leader = place[self.leader[undecided]].astype(np.int64)
        names = [g.variables[i] for i in np.flatnonzero(free).tolist()]
        self.constant = math.fsum([self.constant, g.constant, *constants.tolist()])
        domains = counts[free].astype(np.int32)
        table_start = np.append(begins, len(tables))
        g = FactorGraph.of_csr(names, domains, start, place[scope], tables, table_start)._in_units(g.offset, g.sense)
        self.g = g
        return True


def _alike(g: FactorGraph, alive: NDArray[np.uint8], first: NDArray[np.int64]) -> NDArray[np.int32]:
    """For each factor the first one with the same table and the same living labels at each place of its scope.

    O(n labels + m log m) if factors share tables, which is seen from the layout of the tables.
    """
    like = np.arange(g.m, dtype=np.int32)
    _, scope_start, scope, begins, tables = g._flat()
    if g.entries == len(tables):
        return like
    labels = np.zeros((g.n, int(g.domains.max())), np.uint8)
    labels[np.repeat(np.arange(g.n), g.domains), np.arange(first[-1]) - np.repeat(first[:-1], g.domains)] = 1 + alive
    rows = np.ascontiguousarray(labels).view(np.dtype((np.void, labels.shape[1]))).ravel()
    kinds, kind = np.unique(rows, return_inverse=True)
    starts, key = np.unique(begins[:-1], return_inverse=True)
    arity, largest = np.diff(scope_start), float(len(starts))
    for j in range(int(arity.max(initial=0))):
        largest *= len(kinds)
        some = np.flatnonzero(arity > j)
        key[some] = key[some] * len(kinds) + kind[scope[scope_start[some] + j]]
    if largest < 2.0**62:
        for k in np.unique(arity).tolist():
            at = np.flatnonzero(arity == k)
            _, one, which = np.unique(key[at], return_index=True, return_inverse=True)
            like[at] = at[one][which]
    return like

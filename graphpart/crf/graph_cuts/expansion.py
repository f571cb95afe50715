"""Expansion: change the labels of any set of variables to one label, by a minimum cut (Boykov, Veksler & Zabih 2001).

The initial labeling is, by default, the label of least unary cost of each variable. For one label after the other, the
best of the following moves is applied: every variable either keeps its label or takes this one. To find the best move
is a problem with binary variables. A minimum cut solves it if each pair satisfies

    table[a, b] + table[l, l] <= table[a, l] + table[l, b]

as metrics do, for example Potts costs. Otherwise roof duality solves it in part, and iterated conditional modes change
single labels after each round of labels without improvement. If all moves were solved completely, no expansion lowers
the energy in the end. For Potts costs, if no cost is negative, the energy is then at most twice the optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.graph_cuts._moves import Moves
from graphpart.crf.local_search.icm import improve
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.given_labels import start_of
from graphpart.crf.problem.labeling import finish, named, trivial_bound
from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["Expansions", "expanded", "expansion"]


@interruptible
def expansion(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabelingResult:
    """Minimise the energy by moves that each change any number of variables.

    Also known as ``alpha-expansion``.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
        Every factor has at most two variables, not counting those with a single label.
    initial : Result, labels or mapping from names to labels, optional
        The labeling to start from; default: for each variable the label of least unary cost.
        Variables that it leaves out get the label of least cost given the others.
    time_limit : float, optional
        Seconds.
    max_iterations : int, optional
        Number of moves tried.
    target : float, optional
        Stop at this energy.
    callback : callable, optional
        ``callback(seconds, cost)``; a true return value ends the run.

    Returns
    -------
    LabelingResult
        Never worse than the start. With status ``local_optimum`` if a whole round found no improvement, ``not_found``
        if a factor forbids the final labeling. `iterations` counts the moves that were tried; ``info["fusions"]``
        counts those that were not submodular. The lower bound is the sum of the smallest entries of all tables.

    Raises
    ------
    InvalidProblem
        If a factor has more than two variables; the message names it.
    InvalidPartition
        If the initial labeling does not fit the problem.
    InfeasibleProblem
        If one table forbids everything.

    Notes
    -----
    A move takes O(n + pairs) and a maximum flow. Variables whose domain lacks the label of a move do not take part in
    it.

    Examples
    --------
    >>> import graphpart as gp
    >>> potts = [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    >>> unary = ([[0], [1], [2]], [[0.0, 2.0, 2.0], [0.6, 0.5, 0.5], [0.0, 0.2, 3.0]])
    >>> f = gp.FactorGraph.from_arrays([3, 3, 3], [unary, ([[0, 1], [1, 2]], [potts, potts])])
    >>> r = expansion(f)
    >>> r.labels.tolist(), r.cost
    ([0, 0, 0], 0.6)
    """
    stopping = Stopping(time_limit, max_iterations, target, callback)
    f = as_factor_graph(problem)
    bound = trivial_bound(f)
    moves = _moves(f)
    labels = moves.best_unary() if initial is None else start_of(f, initial)
    start = labels.copy()
    run = Expansions(f, moves, labels)
    run.run(stopping)
    labels = run.labels if f.evaluate_labels(run.labels) <= f.evaluate_labels(start) else start
    info = {"fusions": moves.fusions}
    return finish(f, labels, stopping, "expansion", Status.LOCAL_OPTIMUM, lower_bound=bound, info=info)


def expanded(
    f: FactorGraph, moves: Moves, labels: NDArray[np.int32], stopping: Stopping, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Improve labels by expansions in random order, with prepared moves; the result is never worse."""
    run = Expansions(f, moves, labels, rng)
    run.run(stopping)
    return run.labels if f.evaluate_labels(run.labels) <= f.evaluate_labels(labels) else labels


class Expansions:
    """Moves, until no move of a whole round improves; a stopped run can be continued.

    Each round goes through the labels in ascending order, or in a new random order if there is a generator.

    Attributes
    ----------
    labels, cost : ndarray of int32, float
        The result so far; the energy up to rounding.
    done : bool
        Whether no move improves.
    """

    def __init__(
        self,
        f: FactorGraph,
        moves: Moves,
        labels: NDArray[np.int32],
        rng: np.random.Generator | None = None,
    ) -> None:
        self.f, self.moves, self.labels, self.rng = f, moves, labels, rng
        self.cost = f.evaluate_labels(labels)
        self.done = False
        self._left = self._round()  # labels of this round
        self._tried, self._changes = False, 0
        self._seen: dict[int, int] = {}  # for each label the number of changes after which it was tried

    def run(self, stopping: Stopping) -> None:
        """Go on until no move improves, or `stopping` says so; its iterations are moves."""
        self.stopping = stopping
        stopping.record(self.cost)
        while not self.done and not stopping.check(self.cost):
            if not self._left:
                self._next_round()
                continue
            label, *self._left = self._left
            if self._seen.get(label) == self._changes:
                continue
            changed = self.expand(label)
            if changed is None:
                self._left.insert(0, label)
                break
            self._tried = True
            self._changes += changed
            self._seen[label] = self._changes  # the best of its kind: again only after a change by another
            stopping.step(self.cost)

    def _next_round(self) -> None:
        if not self._tried:
            self.done = not self.by_single_changes() and self.stopping.reason is None
            self._changes += 1
        self._left, self._tried = self._round(), False

    def _round(self) -> list[int]:
        count = int(self.f.domains.max(initial=0))
        return list(range(count)) if self.rng is None else self.rng.permutation(count).tolist()

    def expand(self, label: int) -> bool | None:
        """Make a move if it lowers the energy; return whether it does, None if the run was stopped before."""
        one = np.where(label < self.f.domains, np.int32(label), self.labels)
        found = self.labels.copy()
        if not self.moves.move(self.labels, one, found, self.cost, self.stopping):
            return None
        high, low = self.moves.difference(self.labels, found)
        units = (high << 32) + low
        if units >= 0:
            return False
        self.labels = found
        if np.isfinite(self.cost):
            self.cost += units * self.moves.unit()
        else:
            self.cost = self.f.evaluate_labels(found)
        return True

    def by_single_changes(self) -> bool:
        """Change variables that roof duality left undecided one by one; return whether this lowered the energy."""
        if self.moves.fusions == 0:
            return False
        found, cost = improve(self.f, self.labels.copy(), self.stopping.child())
        if not cost < self.cost:
            return False
        self.labels, self.cost = found, cost
        return True


def _moves(f: FactorGraph) -> Moves:
    moves = Moves(f._view())
    factor, what = moves.measure()
    if what == 0:
        raise InvalidProblem(
            f"{named(f, factor)} has more than two variables with several labels: "
            "expansion expects at most two; use icm, message passing, or auto"
        )
    if what == 1:
        raise InfeasibleProblem(f"{named(f, factor)} forbids every labeling")
    moves.prepare()
    return moves

"""The methods `auto` and `search` for labelled partitions.

The components of the listed pairs are solved one by one, the smallest first. A component whose elements have one class
each is a set partition problem, and one in which some optimum has all pairs apart, or all together, is a factor graph:
`auto` of that kind solves it. Few elements are enumerated. On any other component, `auto` goes on as follows:

1. Starts: greedy joining, and classes first with alternating improvement; local search improves both.
2. Turns of a bound by the two halves, and of a search that changes random regions and repairs them.
3. If the program is small and nothing is proven yet: the integer program.

With a time limit, each component has a share of the time that is left, by its size, and uses it unless it is proven
before. What is left at the end is not divided again. Without a limit, the number of turns is fixed. `search` leaves out
the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.rounds import check_seed_and_threads
from graphpart.display import percent, plural
from graphpart.errors import InfeasibleProblem
from graphpart.labeled.alternating import alternated, classes_first
from graphpart.labeled.bounding import Bounding
from graphpart.labeled.brute_force import enumerated, solutions
from graphpart.labeled.finite import tables_of, trivial_bound
from graphpart.labeled.halves import only_classes, only_clusters
from graphpart.labeled.ilp import JointProgram
from graphpart.labeled.joining import joined_sets
from graphpart.labeled.judging import judge_of_solution
from graphpart.labeled.labeled_partition import LabeledPartition, as_labeled
from graphpart.labeled.moving import improved, local_search_of
from graphpart.labeled.pieces import components
from graphpart.labeled.results import LabeledResult, finish
from graphpart.labeled.solutions import alone, start_of
from graphpart.methods import find_method
from graphpart.partition.problem.labels import canonical
from graphpart.result import Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["auto", "search"]

Elements = NDArray[np.int32]
Solution = tuple[Elements, Elements]
FEW = 200_000  # solutions of a component that is enumerated
REGIONS = 400  # random regions in a turn of the search
TURNS = 10  # turns of the search without a time limit
SMALL = 3000  # variables of an integer program, at most: it takes seconds
PROGRAM = 10.0  # seconds for the integer program without a time limit


@interruptible
def auto(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    target: float | None = None,
    seed: int | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabeledResult:
    """Find clusters and classes by local search, and prove them optimal or bound the gap.

    Parameters
    ----------
    problem : LabeledPartition or networkx.Graph
    initial : LabeledResult, or pair (labels, classes), or labels, optional
        The clusters and classes to start from; the result is not worse.
    time_limit : float, optional
        Seconds, of which each component has a share; a single one uses all of them unless it is proven before. Without
        a limit, the search and the bound have a fixed number of turns, and small integer programs have 10 seconds.
    target : float, optional
        Stop as soon as the cost is at most this.
    seed : int, optional
        Of the random numbers of the search; default 0.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    LabeledResult
        With status ``optimal`` if all components are proven, else ``feasible`` or the reason why the run ended.
        ``info["components"]`` counts components by the method that solved them. `iterations` counts moves, joins and
        regions.

    Raises
    ------
    InfeasibleProblem
        If every solution is found to be forbidden.
    InvalidPartition
        If the start does not fit the problem.

    Examples
    --------
    >>> import graphpart as gp
    >>> q = gp.LabeledPartition.from_arrays([[0.0, 2.0], [1.0, 0.0]], [(0, 1)], [[[-3.0, 1.0], [1.0, 1.0]]])
    >>> r = auto(q)
    >>> r.labels.tolist(), r.classes.tolist(), r.cost, r.message
    ([0, 0], [0, 0], -2.0, 'proven optimal (1 component by enumeration)')
    """
    stopping = Stopping(time_limit, None, target, callback)
    q = as_labeled(problem)
    check_seed_and_threads(seed, None)
    start = None if initial is None else start_of(q, initial)
    labels, classes = start or alone(q.label_costs)
    found_labels, found_classes = labels.astype(np.int64), classes.copy()
    cost = q._evaluate(labels, classes)
    bounds: list[float] = []
    done: dict[str, int] = {}
    proven, first = True, q.n
    parts = list(components(q))
    left = q.n + q.m
    for elements, part in parts:
        given = None if start is None else (canonical(labels[elements]), classes[elements])
        before = part._evaluate(canonical(found_labels[elements]), found_classes[elements])
        others = cost - before if math.isfinite(cost) and math.isfinite(before) else math.inf
        share = (part.n + part.m) / max(1, left)
        seconds = None if stopping.remaining is None else stopping.remaining * share
        left -= part.n + part.m
        inner = stopping.child(seconds, plus=others if len(parts) > 1 else 0.0)
        joint = _Joint(part, given, seed or 0, inner)
        joint.whole = len(parts) == 1
        one = _component(joint)
        stopping.iterations += inner.iterations
        if inner.reason is not None and len(parts) == 1:
            stopping.stop(inner.reason)
        found_labels[elements] = first + one.solution[0]
        first += part.n
        found_classes[elements] = one.solution[1]
        bounds.append(one.bound)
        proven &= one.proven
        done[one.how] = done.get(one.how, 0) + 1
        cost = q._evaluate(canonical(found_labels), found_classes) if len(parts) < 100 else cost - before + one.cost
    stopping.check(math.inf)
    bound = math.fsum(bounds)
    ways = ", ".join(f"{plural(count, 'component')} by {how}" for how, count in done.items())
    status = Status.OPTIMAL if proven else Status.FEASIBLE
    solution = canonical(found_labels), found_classes
    message = f"proven optimal ({ways})" if proven else None
    if not proven and stopping.reason is None:
        total = q._evaluate(*solution)
        share = (total - bound) / abs(total) if total and math.isfinite(total) else math.inf
        message = f"the bound is {percent(share)} below ({ways})"
    return finish(q, solution, stopping, "auto", status, message=message, lower_bound=bound, info={"components": done})


@interruptible
def search(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = 10.0,
    max_iterations: int | None = None,
    target: float | None = None,
    seed: int | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabeledResult:
    """Change random regions and repair them by local search, for as long as there is time.

    Parameters
    ----------
    problem : LabeledPartition or networkx.Graph
    initial : LabeledResult, or pair (labels, classes), or labels, optional
        The clusters and classes to start from; the result is not worse.
    time_limit : float
        Seconds.
    max_iterations : int, optional
        Moves, joins and regions.
    target : float, optional
        Stop as soon as the cost is at most this.
    seed : int, optional
        Of the random numbers; default 0.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    LabeledResult
        With a trivial lower bound.

    Raises
    ------
    InvalidPartition
        If the start does not fit the problem.

    Examples
    --------
    >>> import graphpart as gp
    >>> q = gp.LabeledPartition.from_arrays([[0.0, 2.0], [1.0, 0.0]], [(0, 1)], [[[-3.0, 1.0], [1.0, 1.0]]])
    >>> search(q, max_iterations=100).cost
    -2.0
    """
    check_seed_and_threads(seed, None)
    q = as_labeled(problem)
    stopping = Stopping(time_limit, max_iterations, target, callback)
    joint = _Joint(q, None if initial is None else start_of(q, initial), seed or 0, stopping)
    joint.begin()
    while not stopping.check(joint.tables.known(joint.cost)) and q.n:
        joint.shake()
    return finish(q, joint.solution, stopping, "search", Status.FEASIBLE, lower_bound=trivial_bound(q))


def _component(joint: _Joint) -> _Joint:
    """Solve one component by what fits it."""
    q, seed, stopping = joint.q, joint.seed, joint.stopping
    if (half := only_clusters(q)) is not None:
        p, classes, constant = half
        r = find_method("auto", "partition").run(p, seed=seed, **_limits(stopping, constant))
        bound = r.lower_bound + constant - 2.0**-50 * (abs(r.lower_bound) + abs(constant))
        joint.conclude((r.labels, classes), bound, r.status == Status.OPTIMAL, "set partition")
    elif (other := only_classes(q)) is not None:
        f, labels = other
        r = find_method("auto", "crf").run(f, seed=seed, **_limits(stopping, 0.0))
        joint.conclude((labels, r.labels), r.lower_bound, r.status == Status.OPTIMAL, "factor graph")
    elif solutions(q) <= FEW and (found := _enumerated(q, stopping)) is not None:
        joint.conclude(found, q._evaluate(*found), True, "enumeration")
    else:
        joint.run()
    return joint


def _limits(stopping: Stopping, plus: float) -> dict[str, Any]:
    """The options of a method of another kind of problem that make it obey a `Stopping`."""
    return {"time_limit": stopping.remaining, "callback": lambda _, cost: stopping.check(cost + plus)}


def _enumerated(q: LabeledPartition, stopping: Stopping) -> Solution | None:
    inner = stopping.child(plus=math.inf)
    found = enumerated(q, inner)
    if found is None and inner.reason is None:
        raise InfeasibleProblem(
            f"every solution is forbidden for {q.nodes[0]!r} and the elements that pairs link to it"
        )
    return None if inner.reason is not None else found


class _Joint:
    """One component: the best solution, and the bound proven so far.

    Attributes
    ----------
    solution : tuple of ndarray of int32
        Clusters and classes.
    cost, bound : float
    proven : bool
    whole : bool
        Whether this is the whole problem of `stopping`, which then records better bounds.
    how : str
        What has found the solution, for messages.
    """

    def __init__(self, q: LabeledPartition, given: Solution | None, seed: int, stopping: Stopping) -> None:
        self.q, self.given, self.seed, self.stopping = q, given, seed, stopping
        self.tables = tables_of(q)
        self.state = np.random.default_rng(seed)
        self.solution = given or alone(self.tables.own)
        self.cost = self.tables.cost(*self.solution)
        self.bound, self.proven, self.how = trivial_bound(q), False, "search"
        self.whole = False
        self._judge = (self.solution, judge_of_solution(q, *self.solution))
        self._search: Any = None

    def conclude(self, solution: Solution, bound: float, proven: bool, how: str) -> None:
        """Take over the solution of another method."""
        self.take(canonical(solution[0]), solution[1])
        self.bound, self.proven, self.how = max(self.bound, bound), proven, how

    def take(self, labels: Elements, classes: Elements) -> bool:
        """Take over a solution if it is the best."""
        cost = self.tables.cost(labels, classes)
        if not cost < self.cost:
            return False
        self.solution, self.cost = (labels, classes), cost
        if math.isfinite(self.tables.known(cost)):
            self.stopping.record(cost)
        return True

    def begin(self) -> None:
        """Starts, and local search from each."""
        tables, stopping = self.tables, self.stopping
        if stopping.check(tables.known(self.cost)) or not self.q.n:
            return
        if self.given is not None:
            self.take(*improved(tables, *self.given, stopping))
        self.take(*improved(tables, *joined_sets(tables, *alone(tables.own), stopping), stopping))
        if not stopping.check(tables.known(self.cost)):
            self.take(*improved(tables, *alternated(tables, *classes_first(tables, stopping), stopping), stopping))

    def run(self) -> None:
        """Search and proof in turns."""
        self.begin()
        bounding = Bounding(self.q, self.tables)
        limited = self.stopping.remaining is not None
        turns = 0
        while not self._ended():
            if not bounding.done:
                for _ in range(4):
                    bounding.turn(self.tables.known(self.cost), self.stopping)
                    self.raise_bound(bounding.bound)
                    if bounding.done or self._ended():
                        break
            if self._ended():
                break
            variables = self.q.n * self.q.n_classes + self.q.m * (2 * self.q.n_classes**2 + 1)
            if bounding.done and self.how == "search" and variables <= SMALL:
                self._program()
            if limited or turns < TURNS:
                self.shake()
                turns += 1
            elif bounding.done:
                break
        if self.proven and self.how == "search":
            self.how = "bounds by both halves"

    def _ended(self) -> bool:
        if self._judge[0] is not self.solution:
            self._judge = (self.solution, judge_of_solution(self.q, *self.solution))
        if self._judge[1].meets(self.bound, self.cost):
            self.proven = True
        return self.proven or self.stopping.check(self.tables.known(self.cost))

    def raise_bound(self, bound: float) -> None:
        """Take over a better bound."""
        if bound > self.bound:
            self.bound = bound
            if self.whole:
                self.stopping.raise_bound(bound)

    def shake(self) -> None:
        """A turn of the search: random regions are changed and repaired."""
        if self._search is None:
            self._search = local_search_of(self.tables)
        labels, classes = (array.copy() for array in self.solution)
        self._search.begin(labels, classes, self.cost)
        self._search.shake(int(self.state.integers(2**62)), REGIONS, self.stopping)
        self.take(canonical(labels), classes)

    def _program(self) -> None:
        """The integer program, from the best solution."""
        from graphpart.milp.solvers import pick_solver

        self.how = "integer program"
        seconds = PROGRAM if self.stopping.remaining is None else None
        program = JointProgram(self.q, self.solution, self.stopping.child(seconds))
        program.bound = max(program.bound, self.bound)
        program.run(pick_solver())
        self.take(*program.solution)
        self.raise_bound(program.bound)
        self.proven |= program.proven

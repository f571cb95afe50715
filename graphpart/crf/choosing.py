"""The method `auto` of `solve`: exact methods where the structure of a factor graph allows it, else bounds and search.

If all factors are unary factors or linear functions of many variables, an integer program gets half of the time.

First, factors over the same variables are merged, and so are variables whose labels follow from each other. Then leaves
are eliminated by min-sum. This solves acyclic components. Of other components, it removes the trees without loss, and
the messages of the trees become unary costs. Each remaining connected component is minimised by the first of these
methods that applies:

1. enumeration, if there are few labelings;
2. a minimum cut, if pairs are submodular;
3. elimination, if the tables along an elimination order that is quickly found are small;
4. branch and bound with few nodes, which are enough for a small component;
5. quick reduction: some labels of an optimal labeling are fixed, other labels are removed, and the remaining factor
   graph is solved in the same way;
6. message passing, which may prove its labeling optimal;
7. reduction by the bounds of message passing; the remaining factor graph is solved in the same way;
8. branch and bound, and search (see `hard_component`).

Methods 1 to 5 are tried on every component first. The components that remain open share the remaining time. Finally,
the labels of the eliminated variables are found by tracking back.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.components import share_out
from graphpart.common.finishing import MESSAGES
from graphpart.common.rounds import Saver
from graphpart.common.steps import round_up
from graphpart.crf.bounds.contestant import ContestantParameters
from graphpart.crf.branch_and_bound.contestant import Branching
from graphpart.crf.bucket_elimination.elimination import eliminated_soon, lowered
from graphpart.crf.certificates.certificate import common_step, fingerprint
from graphpart.crf.certificates.judging import is_far, judge_of_labels
from graphpart.crf.exact_solvers import _min_sum
from graphpart.crf.exact_solvers.brute_force import FEW, enumerated, labelings
from graphpart.crf.exact_solvers.linear_functions import NOMINAL, by_integer_program, is_linear
from graphpart.crf.exact_solvers.min_sum import by_min_sum
from graphpart.crf.graph_cuts.graph_cut import minimum_cut
from graphpart.crf.hard_component import HardComponent
from graphpart.crf.local_search.icm import improve
from graphpart.crf.outcomes import Known, Node, Open, Reduced, Whole
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem._view import least_labels, unary_sums
from graphpart.crf.problem.derive import merge, split
from graphpart.crf.problem.given_labels import better_start
from graphpart.crf.problem.labeling import Found, finish, trivial_bound
from graphpart.crf.problem.shared_tables import rows_of, selected
from graphpart.crf.reduction.persistency import QUICK_STEPS, LabelingReduction, reduced
from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.files.checkpoint import saved
from graphpart.files.labels import write_labels
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["auto"]

PARAMETERS = ContestantParameters()
BRANCHED = 2**19  # largest number of table entries of a component that is first tried by branch and bound
PASSES = 20  # iterations of message passing before the first branch and bound
SHARE = 0.3  # share of a component's time for the first branch and bound, or for the begin of the race
QUICK = 0.1  # share of the remaining time for a reduction

Labels = NDArray[np.int32]


@interruptible
def auto(
    problem: Any,
    *,
    initial: Any = None,
    seed: int | None = None,
    time_limit: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabelingResult:
    """Minimise the energy by the methods that fit the factor graph; `message` of the result states which.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    initial : Result, labels or mapping from names to labels, optional
        A labeling from which local search starts on cyclic components; the result is not worse.
        Variables that it leaves out get the label of least cost given the others.
    seed : int, optional
        For restarts of local search; default 0.
    time_limit : float, optional
        Seconds. All of them are used unless optimality is proven. Without a limit, the numbers of iterations do not
        depend on the clock. They take some seconds together on most problems, up to a minute on a few. Only an integer
        program ends by the clock, after 10 seconds.
    checkpoint : str or path-like, optional
        A file of labels. The best labels are written to it about once a second, and at the end. If it exists, the run
        starts from it, unless `initial` is better. ``checkpoint.bound`` beside it has the best lower bound of all runs.
    callback : callable, optional
        ``callback(seconds, cost)``; a true return value ends the run.

    Returns
    -------
    LabelingResult
        With status ``optimal`` if every component was solved to proven optimality; else with a valid lower bound.

    Raises
    ------
    InfeasibleProblem
        If every labeling is found to be forbidden.
    InvalidPartition
        If the initial labeling does not fit the problem.
    FormatError
        If the checkpoint cannot be read, or has other variables.

    Examples
    --------
    >>> import graphpart as gp
    >>> differ = [[0.0, 1.0], [1.0, 0.0]]
    >>> f = gp.FactorGraph.from_arrays([2] * 3, [([[0]], [[1.0, 0.0]]), ([[0, 1], [1, 2], [0, 2]], [differ] * 3)])
    >>> r = auto(f)
    >>> r.cost, str(r.status), r.message
    (0.0, 'optimal', 'proven optimal: 1 cyclic component by enumeration')
    """
    f = as_factor_graph(problem)
    own, seal = f.owner, lambda _: fingerprint(f)
    start = better_start(f, initial, checkpoint)
    stopping = Stopping(time_limit, callback=callback)
    if f.is_acyclic:
        r = by_min_sum(f, stopping, "auto", start)
        how = "acyclic, by min-sum"
        r = replace(r, message=f"{r.message}: {how}" if r.status == Status.OPTIMAL else r.message)
        return saved(own, seal, r, checkpoint)
    trivial_bound(f)  # which notices tables that forbid everything
    if is_linear(own):
        found = by_integer_program(f, stopping, start)
        if found is not None and found.status == Status.OPTIMAL:
            return saved(own, seal, found, checkpoint)
        start = start if found is None else f.labels(found)
    solver = _Solver(f, stopping, np.random.default_rng(0 if seed is None else seed))
    if checkpoint is not None:
        solver.saver = Saver(checkpoint, lambda labels, path: write_labels(labels[: own.n], path, own))
    stopping.raise_bound(trivial_bound(f))
    stopping.record(f.evaluate_labels(_best_unary(f) if start is None else start))
    solver.solve(start)
    labels, status, bound = solver.root.labels, Status.OPTIMAL, -math.inf
    if start is not None and f.evaluate_labels(labels) > f.evaluate_labels(start):
        labels = start
    if not solver.proven:
        status = Status.FEASIBLE
        stopping.check(math.inf)
        bound = max(trivial_bound(f), solver.bound)
        cost = f.evaluate_labels(labels)
        if not is_far(f, bound, cost) and judge_of_labels(f, labels).meets(bound, cost):
            status, solver.proven = Status.OPTIMAL, True
    info = {"components": dict(solver.done)}
    r = finish(f, labels, stopping, "auto", status, message=solver.message(), lower_bound=bound, info=info)
    return saved(own, seal, r, checkpoint)


class _Solver:
    """Solves a factor graph part by part, and counts the methods that solved the parts.

    `whole` and `component` solve easy parts, put the other parts on the list `open`, and return what is known. `share`
    divides the remaining time among the parts on the list.

    Attributes
    ----------
    root : Node
        The results for the factor graph.
    done : Counter of str
        The number of components that were solved in each way.
    proven : bool
        Whether all of them were solved to optimality.
    """

    def __init__(self, f: FactorGraph, stopping: Stopping, rng: np.random.Generator) -> None:
        self.f, self.stopping, self.rng = f, stopping, rng
        self.done: Counter[str] = Counter()
        self.open: list[Open] = []
        self.proven = True
        self.short = False  # whether the next step of some part would have taken longer than the remaining time
        self.saver: Saver | None = None
        self._saved = math.inf
        self._step: float | None = None

    def solve(self, start: Labels | None) -> None:
        """Solve the easy parts, then the open ones."""
        self.root = self.whole(self.f, start)
        self._tell()
        if self.open:
            try:
                self.share()
            finally:  # no thread continues after an exception
                for one in self.open:
                    if one.hard is not None:
                        one.hard.close()

    @property
    def bound(self) -> float:
        """No labeling of the whole factor graph has less energy."""
        bound, roundings = self.root.bound, self.root.roundings
        if self._step is None:
            self._step = common_step(self.f)
        return round_up(lowered(self.f, bound, roundings) if roundings else bound, self._step)

    def whole(self, f: FactorGraph, start: Labels | None, smaller: bool = False) -> Node:
        """Minimise any factor graph, as far as its parts are easy."""
        simple = merge(f)
        merged = 0
        if simple.m < f.m:
            merged = int(np.diff(f.incidence()[0]).max(initial=0)) * f._layout().largest_arity
        if simple.has_forbidden:
            small = reduced(simple, (), self.stopping.child(plus=math.inf))
            if small.problem is not simple:  # variables were contracted
                own = merged + simple.m - small.problem.m + 1
                return Reduced(small, self.whole(small.problem, _projected(small, start), smaller), -math.inf, own)
        scheme, view = simple._scheme(), simple._view()
        order = scheme.order
        if f.n and not len(order) and not len(scheme.roots) and not simple.components().any():
            return self.component(simple, start, smaller, merged)  # connected, without leaves
        belief, choice, taken, steps, factor = _min_sum.collect(view, scheme, False, self.stopping.child(plus=math.inf))
        if factor >= 0:
            raise InfeasibleProblem("every labeling is forbidden: min-sum over its acyclic part leaves none")
        labels = np.zeros(f.n, np.int32) if start is None else start.copy()
        if steps < len(order):
            self.proven = False
            return Known(labels, f.evaluate_labels(labels), trivial_bound(f), 0)

        def complete(labels: Labels) -> float:
            roots, variable = _min_sum.assign(view, scheme, False, belief, choice, labels)
            if variable >= 0:
                name = f.variables[variable]
                raise InfeasibleProblem(f"every labeling is forbidden: no label of variable {name!r} is possible")
            return float(roots)

        roots = complete(labels)
        members, core = _core(simple, order, belief, simple._layout())
        parts = [
            (members[variables], self.component(part, None if start is None else start[members[variables]], smaller))
            for variables, part in _connected(core)
        ]
        own = merged + int(np.diff(simple.scope_start)[order].sum()) + 3 * len(order) + 1
        return Whole(math.fsum([simple.constant, taken, roots]), labels, parts, complete, own)

    def component(self, part: FactorGraph, start: Labels | None, smaller: bool, merged: int = 0) -> Node:
        """Minimise one cyclic component, or put it on the list `open`."""
        first, bound = _best_unary(part) if start is None else start, -math.inf
        roundings = merged + 3 * (part.m + part.n)
        if not self.stopping.check(math.inf):
            for way in (self._by_enumeration, self._by_graph_cut, self._by_elimination, self._by_branch_and_bound):
                found = way(part)
                if found is None:
                    continue
                cost = part.evaluate_labels(found.labels)
                if found.proven:
                    self.done[way.__name__[1:].replace("_", " ").replace("graph", "a graph")] += 1
                    return Known(found.labels, cost, cost, roundings)
                bound = max(bound, found.bound)
                first = found.labels if cost < part.evaluate_labels(first) else first
        if not smaller and self._affordable(part, PARAMETERS.affordable) and not self.stopping.check(math.inf):
            seconds = QUICK * self._seconds if self._limited else None
            small = reduced(part, QUICK_STEPS, self.stopping.child(seconds, plus=math.inf))
            if small.problem.n < part.n or small.problem.entries < part.entries:
                return self._of_reduced(small, start, bound, merged)
        one = Open(part, first, max(bound, trivial_bound(part)), merged)
        self.open.append(one)
        return one

    def share(self) -> None:
        """Divide the remaining time among the open components."""
        share_out(self.open, self._work_on, self.stopping, lambda: math.inf, self._limited)
        for one in self.open:
            hard = one.hard
            self.done["without time" if hard is None else hard.how] += 1
            if hard is None or not hard.proven:
                self.proven = False
                self.short |= self._limited and hard is not None and hard.needs_more_time
        if self.short:
            self.stopping.stop(Status.TIME_LIMIT)

    def _work_on(self, one: Open, seconds: float | None) -> bool:
        """Continue with a component; return whether anything could be done."""
        if seconds is not None and seconds <= 0:
            return False
        within = self.stopping.child(seconds, plus=one.rest_of(self.root))
        if one.hard is None:
            one.hard = hard = HardComponent(one.part, one.labels, within, self.rng, lambda *_: self._tell())
            if self._affordable(one.part, PARAMETERS.affordable):
                hard.begin(within.child(None if seconds is None else SHARE * seconds))
        turns = one.hard.run(within)
        self._tell()
        return turns

    def _tell(self) -> None:
        """Report the cost and the bound of the whole factor graph, and save the labels if a checkpoint is due."""
        cost = self.root.cost
        self.stopping.record(cost)
        self.stopping.raise_bound(self.bound)
        if self.saver is not None and cost < self._saved and self.saver.due:
            self.saver.save(self.root.labels)
            self._saved = cost

    @property
    def _limited(self) -> bool:
        return self.stopping.remaining is not None

    @property
    def _seconds(self) -> float:
        """The remaining seconds; NOMINAL without a time limit."""
        remaining = self.stopping.remaining
        return NOMINAL if remaining is None else remaining

    def _affordable(self, part: FactorGraph, each: float) -> bool:
        return part.entries < each * self._seconds

    def _of_reduced(self, small: LabelingReduction, start: Labels | None, bound: float, merged: int) -> Node:
        if small.problem.n == 0:
            self.done["by reduction"] += 1
        inner = self.whole(small.problem, _projected(small, start), True)
        return Reduced(small, inner, bound, merged + 1)

    def _by_enumeration(self, part: FactorGraph) -> Found | None:
        return enumerated(part, self.stopping.child(plus=math.inf)) if labelings(part) <= FEW else None

    def _by_elimination(self, part: FactorGraph) -> Found | None:
        return eliminated_soon(part, self._seconds, self.stopping)

    def _by_graph_cut(self, part: FactorGraph) -> Found | None:
        try:
            return minimum_cut(part, self.stopping.child(plus=math.inf))
        except InvalidProblem:
            return None

    def _by_branch_and_bound(self, part: FactorGraph) -> Found | None:
        """A few nodes, which are enough for most small components."""
        if part.entries > BRANCHED or not (self._limited or Branching.suits(part, PARAMETERS)):
            return None
        labels, cost = improve(part, _best_unary(part), self.stopping.child(plus=math.inf), "sweep")
        branching = Branching(part, labels, cost, PARAMETERS, PASSES)
        seconds = SHARE * self._seconds if self._limited else None
        branching.run(self.stopping.child(seconds, plus=math.inf), None)
        if branching.done:
            return Found(branching.labels, branching.cost, True)
        return Found(branching.labels, branching.certified, False)

    def message(self) -> str:
        """The message of the result: the methods that solved the components."""
        ways = ", ".join(f"{count} cyclic component{'s' * (count > 1)} {how}" for how, count in self.done.items())
        if self.proven:
            return f"proven optimal: {ways or 'acyclic, by min-sum'}"
        text = "ended: the next step takes longer than the time limit" if self.short else ""
        text = text or MESSAGES[self.stopping.reason or Status.FEASIBLE]
        return f"{text}: {ways}" if ways else text


def _projected(small: LabelingReduction, start: Labels | None) -> Labels | None:
    return None if start is None else small.project(start)


def _core(
    f: FactorGraph, order: NDArray[np.int32], belief: NDArray[np.float64], layout: Any
) -> tuple[NDArray[np.int64], FactorGraph]:
    """The variables and the factor graph that elimination leaves, messages as unary factors."""
    domains, scope_start, _, _, _ = f._flat()
    stays = np.diff(scope_start) > 1
    stays[order] = False
    factors = np.flatnonzero(stays)
    start, inner, kept, table_start = selected(f, factors)
    place = np.full(f.n, -1, np.int64)
    place[inner] = 0
    members = np.flatnonzero(place == 0)
    place[members] = np.arange(len(members))
    first = np.arange(f.n + 1) * layout.width if layout.width else layout.first
    _, unary = rows_of(first, belief, members)
    all_start = np.concatenate([np.arange(len(members)), len(members) + start])
    all_scope = np.concatenate([np.arange(len(members)), place[inner]]).astype(np.int32)
    plain = isinstance(f.variables, range) and len(members) == f.n
    names = range(f.n) if plain else [f.variables[i] for i in members.tolist()]
    if table_start is not None:
        table_start = np.concatenate([np.cumsum(domains[members]) - domains[members], len(unary) + table_start])
    all_tables = np.concatenate([unary, kept])
    return members, FactorGraph.of_csr(names, domains[members], all_start, all_scope, all_tables, table_start)


def _connected(core: FactorGraph) -> list[tuple[NDArray[np.int64], FactorGraph]]:
    """The connected components as (variables, factor graph), the smallest first."""
    labels = core.components()
    if core.n and not labels.any():
        return [(np.arange(core.n), core)]
    return sorted(split(core, labels), key=lambda one: one[1].entries)


def _best_unary(f: FactorGraph) -> Labels:
    """For each variable the label of the least sum of its own factors; the first of several."""
    if "best unary" in f._cache:
        return f._cache["best unary"].copy()  # type: ignore[no-any-return]
    labels: Labels = least_labels(f._view(), unary_sums(f._view(), f._flat()[4]))
    f._cache["best unary"] = labels
    return labels.copy()

"""Branch and bound: the best labeling of any factor graph, with a proof that there is no better one.

1. Factors over the same variables are merged, and variables whose labels follow from each other. Cyclic components
   are minimised apart, acyclic ones together, the smallest first: by elimination where the sums of tables are small,
   else as follows. Each component has a share of the time (see `common/components.py`). Without a time limit, all have
   turns of some nodes.
2. Costs become whole numbers of a small unit: exactly where all are multiples of one number, else rounded down. So no
   sum in the search is ever rounded, and its proofs hold for the energies. 3. Variables that can be eliminated without
   larger tables are eliminated (see `shrinking`). A set of labels of which at most one can be chosen gets a variable
   that says which one is (see `cliques`). Message passing gives a first labeling and a reparametrisation (see
   `message_passing`), with which the search starts. If the search is long, it begins anew from a better one, if there
   is one: with the triplets that message passing adds (Sontag et al. 2008), where they close enough of the gap to be
   worth their time at each node, or from the multipliers of the linear relaxation (Cooper, de Givry & Schiex 2007).
4. A node is made consistent: costs move between factors and labels until the bound rises no more, labels that cost too
   much are left out, variables with two neighbours are eliminated (see `_consistency`). A node whose bound reaches the
   best energy known is closed; else it is divided into two: a variable has a certain label, or another one; or, if it
   has more than ten labels, one of the lower half of them, or of the upper half.
5. The search goes depth first for a while, then on from the open node with the least bound (see `_search`).
6. Components of two labels also have branch and cut (see `graphpart.maximum_cut`), whose bound is above that of
   messages, and the search of binary quadratic forms, whose labelings are better. While branch and cut is at work, it
   has every turn, and the search above every other one. With a time limit, either search may take a tenth of the
   time of branch and cut.

4 and 5 follow the solver toulbar2 in outline (Cooper, de Givry, Sanchez, Schiex, Zytnicki & Werner 2010; Hurley et al.
2016). 1 stands here, 2 and 3 in `solver`. After a turn of a component, a line goes to the logger
``graphpart.crf.exact``, at level INFO, at most one per second.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.binary_quadratic.quadratic_search import BinarySearch
from graphpart.common.components import share_out
from graphpart.common.finishing import MESSAGES
from graphpart.common.steps import round_up
from graphpart.crf.bounds.contestant import ContestantParameters
from graphpart.crf.bounds.cutting import Cutting
from graphpart.crf.branch_and_bound.contestant import Branching
from graphpart.crf.branch_and_bound.solver import BranchAndBound
from graphpart.crf.bucket_elimination.elimination import eliminated_soon, lowered
from graphpart.crf.certificates.certificate import common_step
from graphpart.crf.exact_solvers.linear_functions import NOMINAL
from graphpart.crf.local_search.icm import improve
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.derive import merge, split
from graphpart.crf.problem.given_labels import start_of
from graphpart.crf.problem.labeling import finish, trivial_bound
from graphpart.crf.problem.quadratic_form import quadratic_form
from graphpart.crf.reduction.persistency import reduced
from graphpart.display import plural
from graphpart.maximum_cut.branch_and_cut import WORK
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["exact"]

LOGGER = logging.getLogger("graphpart.crf.exact")
FIRST = 1000  # number of nodes of a component in its first turn; the number doubles in each further turn
ROUNDS = 4  # rounds of the search of quadratic forms in a turn: six of them take three times as long as the six before
BESIDE = 0.1  # most time of either search with a time limit, as a share of that of branch and cut at work

Labels = NDArray[np.int32]


@interruptible
def exact(
    problem: Any,
    *,
    initial: Any = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabelingResult:
    """Minimise the energy to proven optimality by branch and bound.

    Also known as ``branch-and-bound``.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    initial : Result, labels or mapping from names to labels, optional
        A labeling from which local search starts; the result is not worse.
    time_limit : float, optional
        Seconds in total.
    max_iterations : int, optional
        Nodes of the search, about.
    target : float, optional
        Stop as soon as the energy is at most this.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    LabelingResult
        With status ``optimal`` if no labeling costs less: exactly if the constant and all costs are multiples of one
        number (see `graphpart.crf.Certificate`), else by more than ``(64 + m) * 2**-43`` of the sum of the largest
        absolute entries of the m tables. Otherwise the best labeling found and a valid lower bound. `iterations`
        counts the nodes of the search; `info` has ``nodes``, ``dives`` and ``open`` (nodes left).

    Raises
    ------
    InfeasibleProblem
        If every labeling is forbidden.
    InvalidPartition, InvalidOption
        If the initial labeling or an option is not as described.

    Notes
    -----
    Exponential time at worst. One thread. Beside the tables, about three more of their size, and what open nodes take:
    64 MB or twice the tables; when that is used up, the search goes depth first.

    Examples
    --------
    >>> import graphpart as gp
    >>> differ = [[0.0, 1.0], [1.0, 0.0]]
    >>> unary = ([[0], [1], [2]], [[0.0, 3.0], [1.0, 0.5], [2.0, 0.0]])
    >>> f = gp.FactorGraph.from_arrays([2] * 3, [unary, ([[0, 1], [1, 2], [0, 2]], [differ] * 3)])
    >>> r = exact(f)
    >>> r.labels.tolist(), r.cost, str(r.status)
    ([0, 1, 1], 2.5, 'optimal')
    """
    f = as_factor_graph(problem)
    stopping = Stopping(time_limit, max_iterations, target, callback)
    start = np.zeros(f.n, np.int32) if initial is None else start_of(f, initial)
    small = reduced(f, (), stopping.child(plus=math.inf)) if f.has_forbidden else None
    inner = f if small is None or small.problem is f else _with_constant(small.problem, small.constant)
    start = start if small is None else small.project(start)
    labels, cost = improve(inner, start, stopping.child(), "best")
    run = _Run(inner, labels, cost, stopping)
    run.solve()
    bound = run.lower_bound()
    bound = round_up(bound if inner is f else lowered(f, bound, f.m), common_step(f))
    info = run.info()
    # A proof does not depend on the reason why the run ended.
    status = Status.OPTIMAL if run.proven else (stopping.reason or Status.FEASIBLE)
    message = f"{MESSAGES[status]} ({plural(info['nodes'], 'node')}, {info['open']} open)"
    stopping.iterations = info["nodes"]
    labels = run.labels if small is None else small.lift(run.labels)
    return finish(f, labels, stopping, "exact", status, message=message, lower_bound=bound, info=info)


def _with_constant(f: FactorGraph, constant: float) -> FactorGraph:
    domains, start, scope, table_start, tables = f._flat()
    return FactorGraph.of_csr(f.variables, domains, start, scope, tables, table_start, f.constant + constant)


class _Part:
    """A component: its variables, its labels and bound, and its search once there is one."""

    def __init__(self, variables: NDArray[np.int64], f: FactorGraph, labels: Labels) -> None:
        self.variables, self.f, self.labels, self.size = variables, f, labels, f.entries
        self.cost, self.bound, self.proven = f.evaluate_labels(labels), trivial_bound(f), False
        self.cutting: Cutting | None = None
        self.search: Branching | None = None
        self.form_search: BinarySearch | None = None
        self.turns = 0
        self.seconds = {"cutting": 0.0, "form search": 0.0, "search": 0.0}

    @property
    def too_long(self) -> bool:
        """Whether the next step of the search takes longer than the remaining time."""
        return self.search is not None and self.search.needs > 0

    @property
    def is_open(self) -> bool:
        """Whether something is left to do."""
        return not self.proven and not self.too_long

    def take(self, found: Branching | Cutting, proven: bool) -> None:
        """Take over the bound of a turn, and its labels if they are better."""
        self.proven = proven
        if found.cost < self.cost:
            self.labels, self.cost = found.labels, found.cost
        self.bound = max(self.bound, found.certified)  # the cost of a complete tree is no bound: parts add up


class _Run:
    """All components of a factor graph, and cost and bound as sums."""

    def __init__(self, f: FactorGraph, labels: Labels, cost: float, stopping: Stopping) -> None:
        self.f, self.labels, self.cost, self.stopping = f, labels, cost, stopping
        self.proven = False
        self.parts: list[_Part] = []
        self.bound = trivial_bound(f)
        stopping.raise_bound(self.bound)
        self._logged = 0

    def solve(self) -> None:
        """Each component in turn, until all are proven or there is no time left."""
        stopping = self.stopping
        if stopping.check(self.cost):
            return
        simple = merge(self.f)
        self.parts = [
            _Part(variables, part, self.labels[variables]) for variables, part in split(simple, _pieces(simple))
        ]
        limited, moved = stopping.remaining is not None, True
        while moved and not stopping.check(self.cost):
            share_out(self.parts, self._work_on, stopping, lambda: self.cost, limited)
            moved = any(part.is_open for part in self.parts)
        self.note()
        self.proven = all(part.proven for part in self.parts)
        if any(part.too_long for part in self.parts):
            stopping.stop(Status.TIME_LIMIT)

    @property
    def nodes(self) -> int:
        """Of all searches so far."""
        return sum(tree.nodes for tree in self._trees)

    @property
    def _trees(self) -> list[BranchAndBound]:
        return [part.search.tree for part in self.parts if part.search is not None and part.search.tree is not None]

    def _work_on(self, part: _Part, seconds: float | None) -> bool:
        """Elimination, or turns for some seconds; without a time limit one turn."""
        others = math.inf if math.isinf(self.cost) or math.isinf(part.cost) else self.cost - part.cost
        within = self.stopping.child(seconds, plus=others)
        if not part.turns and self._eliminate(part):
            return True
        self._turn(part, within)
        while seconds is not None and part.is_open and not within.check(part.cost):
            self._turn(part, within)
        return True

    def _turn(self, part: _Part, stopping: Stopping) -> None:
        """A turn of branch and cut for two labels, and of branch and bound: each twice as long as the one before."""
        part.turns += 1
        if part.cutting is None:
            part.cutting = Cutting(part.f, part.labels, part.cost)
        cutting = part.cutting
        if not cutting.done and not part.proven:
            if part.turns > 1:
                self._search_form(part, stopping)
            began = stopping.seconds
            cutting.offer(part.labels, part.cost)
            cutting.go_on(stopping, None, WORK / 8 * 2 ** (part.turns - 1))
            part.take(cutting, cutting.proven)
            part.seconds["cutting"] += stopping.seconds - began
        if not part.proven and (cutting.done or (part.turns % 2 == 0 and self._has_time(part, "search"))):
            began = stopping.seconds
            if part.search is None:
                part.search = Branching(part.f, part.labels, part.cost, ContestantParameters())
            part.search.offer(part.labels, part.cost)
            part.search.nodes = min(FIRST << part.turns - 1, self.stopping.max_iterations - self.nodes)
            beside = stopping.remaining is not None and not cutting.done
            part.search.run(stopping, began + BESIDE * part.seconds["cutting"] if beside else None)
            part.take(part.search, part.search.done)
            part.seconds["search"] += stopping.seconds - began
            self.stopping.iterations = self.nodes
        self.note()
        self.log()

    def _has_time(self, part: _Part, kind: str) -> bool:
        """Whether a search beside branch and cut may have a turn: without a time limit, it always may."""
        return self.stopping.remaining is None or part.seconds[kind] <= BESIDE * part.seconds["cutting"]

    def _search_form(self, part: _Part, stopping: Stopping) -> None:
        """A turn of the search of binary quadratic forms."""
        if not self._has_time(part, "form search"):
            return
        began = stopping.seconds
        if part.form_search is None:
            form = quadratic_form(part.f)
            if form is None:
                return
            part.form_search = BinarySearch(form, part.labels, threads=1, evaluate=part.f.evaluate_labels)
        search = part.form_search
        search.offer(part.labels)
        search.run(stopping.child(iterations=ROUNDS))
        if search.cost < part.cost:
            part.labels, part.cost = search.labels, search.cost
        part.seconds["form search"] += stopping.seconds - began

    def _eliminate(self, part: _Part) -> bool:
        """Whether a component was minimised by elimination."""
        remaining = self.stopping.remaining
        found = eliminated_soon(part.f, NOMINAL if remaining is None else remaining, self.stopping)
        if found is None:
            return False
        cost, part.proven = part.f.evaluate_labels(found.labels), found.proven
        if part.proven or cost < part.cost:
            part.labels, part.cost = found.labels, cost
        least = lowered(part.f, found.bound, 3 * (part.f.m + part.f.n)) if part.proven else found.bound
        part.bound = max(part.bound, least)
        return part.proven

    def note(self) -> None:
        """Cost and bound from those of the components."""
        for part in self.parts:
            self.labels[part.variables] = part.labels
        before, self.cost = self.cost, self.f.evaluate_labels(self.labels)
        if self.cost < before:
            self.stopping.record(self.cost)
        self.bound = self.lower_bound()
        self.stopping.raise_bound(self.bound)

    def lower_bound(self) -> float:
        """The sum of the bounds of the components, rounded down."""
        if not self.parts:
            return self.bound
        value = math.fsum([self.f.constant, *(part.bound for part in self.parts)])
        return max(self.bound, min(self.cost, lowered(self.f, value, 4)))

    def info(self) -> dict[str, Any]:
        trees = self._trees
        return {
            "nodes": sum(tree.nodes for tree in trees),
            "dives": sum(tree.dives for tree in trees),
            "open": sum(tree.open_nodes for tree in trees),
        }

    def log(self) -> None:
        """A line, if none was written in this second."""
        second = int(self.stopping.seconds)
        if second > self._logged and LOGGER.isEnabledFor(logging.INFO):
            self._logged = second
            bound = self.bound
            gap = 100 * (self.cost - bound) / abs(self.cost or math.nan)
            work = self.info()
            LOGGER.info(
                "%d s  cost %.10g  lower bound %.10g  gap %.3g%%  %d nodes, %d open",
                second, self.cost, bound, gap, work["nodes"], work["open"],
            )  # fmt: skip


def _pieces(f: FactorGraph) -> NDArray[np.int32]:
    """A number for the component of each variable, the same one for all that are acyclic."""
    component = f.components()
    if not f.n:
        return component
    cyclic = np.zeros(int(component.max()) + 1, bool)
    cyclic[component[f._scheme().cyclic]] = True
    number = np.where(cyclic, np.cumsum(cyclic) - cyclic, cyclic.sum()).astype(np.int32)
    pieces: NDArray[np.int32] = number[component]
    return pieces

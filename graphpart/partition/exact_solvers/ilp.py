"""The integer program of the set partition problem (Grötschel & Wakabayashi 1989), by a solver behind PuLP.

    minimise    sum of c[a,b] y[a,b]
    subject to  y[a,b] + y[b,c] - 1 <= y[a,c]   for all distinct a, b, c
                y in {0, 1}

Required joins are contracted, and required cuts fix y = 0. The connected components of the non-zero pairs are solved
separately, each starting from the partition that local search finds.

* ``full`` states all 3 C(n, 3) inequalities at once.
* ``cutting-plane`` starts with none and adds violated ones round by round: first for solutions of the relaxation
  0 <= y <= 1, until none is violated or the bound hardly rises; then for integer solutions, until one violates none.
  The multipliers of the inequalities in a relaxation prove a lower bound. If the bound plus the multiplier of a pair
  exceeds the cost of the best partition known, all better partitions agree on this pair, and it is fixed.
  If few pairs of a component have a cost, only these pairs are variables, with the inequalities of their cycles.

Where sizes are limited, all pairs are variables, and for each element a the sum of y[a,b] is at most the largest size
less one. Where the number of subsets is limited, r[a] = 1 says that a is the first element of its subset: r[a] >= 1 -
sum of y[a,b] over b < a, and r[a] <= 1 - y[a,b] for each b < a. The sum of r is the number of subsets.

Where subsets have to be connected, components are those of base pairs, which are variables at any cost. Besides cycles,
each round adds violated cuts: ``y[a,b] <= sum of y over S`` for a lifted pair {a, b} and pairs S without which no base
pairs lead from a to b (see `inequalities`). The cycles have the path inequalities of the lifted multicut among them. As
there are exponentially many cuts, ``full`` cannot state them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.finishing import MESSAGES
from graphpart.common.groups import first_of
from graphpart.common.local_search import improved
from graphpart.display import plural
from graphpart.errors import InfeasibleProblem, InvalidOption, InvalidProblem
from graphpart.kernels._pairs import connected_components
from graphpart.milp.search import EXACT, UNPROVEN, Search
from graphpart.partition.bounds.connecting import Connecting
from graphpart.partition.bounds.relaxation import PARAMETERS
from graphpart.partition.bounds.trivial_bound import lowered, trivial_bound
from graphpart.partition.certificates.judging import judge_of_partition
from graphpart.partition.local_search.greedy_joining import join, joined
from graphpart.partition.local_search.improve import fixed_point
from graphpart.partition.local_search.kernighan_lin import improve_by_sequences
from graphpart.partition.local_search.limited import has_room, packed
from graphpart.partition.pieces.components import split
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition, as_problem, canonical
from graphpart.partition.problem.forms import cut_huge, matrix_of, without_background
from graphpart.partition.results.finish import finish
from graphpart.partition.results.starts import start_of
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping, interruptible

if TYPE_CHECKING:
    from graphpart.partition.exact_solvers.separation import Rows

__all__ = ["ilp"]

Floats = NDArray[np.float64]

FORMULATIONS = ("cutting-plane", "full")
LARGEST_FULL = 60  # most elements of a component with all triangle inequalities: 102660 of them
STALLED = 8  # successive rounds with little gain after which integer rounds begin
LITTLE = 0.01  # share of the remaining gap below which the gain of a round is little


@interruptible
def ilp(
    problem: Any,
    *,
    formulation: str = "cutting-plane",
    solver: Any = "cbc",
    solver_options: dict[str, Any] | None = None,
    initial: Any = None,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Solve a problem to proven optimality by integer programming.

    If clusters have to be connected, violated cuts of base pairs are added round by round. Also
    known as ``integer-program`` or ``mip``.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    formulation : "cutting-plane" or "full"
    solver : str or pulp.LpSolver
        "cbc" (default), "highs", another solver that PuLP knows by name, or a PuLP solver.
    solver_options : dict, optional
        Keyword arguments for the PuLP solver of that name, such as ``{"threads": 2}``.
    initial : Result, labels, mapping or list of sets, optional
        A partition from which local search starts; the result is not worse. Elements that it leaves out start alone.
    time_limit : float, optional
        Seconds in total, local search and all rounds included.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    PartitionResult
        With status ``optimal`` if, in each component, no partition costs less by more than 1e-7 times the absolute
        cost (exactly optimal if all costs are multiples of one number at least 1e-6 times the largest), else the best
        partition found and a valid lower bound. `iterations` counts rounds; `info` has ``rounds``, ``inequalities``
        and ``components``.

    Raises
    ------
    InvalidOption
        If there is no such formulation, solver or option of the solver.
    InvalidProblem
        If a component is too large for the full formulation, or this is asked for with connected clusters.
    InfeasibleProblem
        If no partition satisfies what is required.
    SolverError, MissingDependency
        If the solver is not installed, or failed.

    Notes
    -----
    Meant as a reference: exponential time at worst. CBC is started as a process for each round. Solvers do not tell
    costs apart that differ by less than 1e-8 times the largest. Where that matters, pairs with large costs are fixed as
    in the partition found, the others are solved for, and another round looks for other values of the former.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-2.0, -3.0, 4.0])
    >>> r = ilp(p)
    >>> r.partition, r.cost, str(r.status)
    ([{0}, {1, 2}], -3.0, 'optimal')
    """
    from graphpart.milp.solvers import pick_solver

    p = without_background(as_problem(problem), "ilp")
    stopping = Stopping(time_limit, None, None, callback)
    if formulation not in FORMULATIONS:
        raise InvalidOption(f"formulation is {formulation!r}: expected one of {', '.join(FORMULATIONS)}")
    chosen = pick_solver(solver, solver_options)
    contraction = Contraction(p)
    q = cut_huge(contraction.problem)
    parts = split(q, q._components())
    if formulation == "full" and p.lifted is not None:
        raise InvalidProblem(
            "clusters have to be connected: the full formulation would need a number of cuts that is exponential; use "
            "cutting-plane"
        )
    if formulation == "full" and (largest := max((part.n for _, part in parts), default=0)) > LARGEST_FULL:
        raise InvalidProblem(
            f"a component has {largest} elements: the full formulation takes at most {LARGEST_FULL}; use cutting-plane"
        )
    try:
        first = joined(p, stopping) if initial is None else start_of(p, initial)
        first = first if has_room(p, first) else packed(p)  # without time, nothing was joined
    except InfeasibleProblem:
        first = contraction.sets
    start, known = first, p._evaluate_labels(first)
    if math.isfinite(known) or p._limits is None:
        start, known = improved(
            first,
            p._evaluate_labels,
            lambda labels, _: fixed_point(p, labels, improve_by_sequences, stopping),
            stopping,
        )
    inner_start = contraction.project(start)
    if p._limits is None and not math.isfinite(q._evaluate_labels(inner_start)):
        inner = stopping.child(plus=math.inf)
        inner_start = fixed_point(q, join(q, q._must_join_classes(), inner), improve_by_sequences, inner)
    cost, done = contraction.constant + q._evaluate_labels(inner_start), []
    labels = inner_start.astype(np.int64)
    for elements, part in sorted(parts, key=lambda one: one[1].n):  # small components are proven even in little time
        component = Component(part, canonical(inner_start[elements]), chosen, stopping, formulation == "full")
        others = cost - component.cost if math.isfinite(cost) else 0.0  # without a start there is one component only
        try:
            component.run(others)
        except KeyboardInterrupt:  # while a program was written, not while a solver ran
            stopping.stop(Status.INTERRUPTED)
        cost = others + component.cost
        stopping.record(cost)
        # Labels that no other component has: the first element of each subset, shifted.
        labels[elements] = q.n + elements[first_of(component.labels)][component.labels]
        done.append(component)
    if not math.isfinite(cost) and p._limits is not None:
        why = "satisfies" if all(component.infeasible for component in done) else "was found that satisfies"
        raise InfeasibleProblem(f"no partition {why} what is required: {p._limits}")
    found = contraction.lift(canonical(labels))
    return _result(p, found, contraction.constant, (start, known), stopping, done, chosen.name)


def _result(
    p: SetPartition,
    labels: Labels,
    constant: float,
    start: tuple[Labels, float],
    stopping: Stopping,
    components: list[Component],
    solver: str,
) -> PartitionResult:
    proven = all(component.proven for component in components)
    rounds, inequalities = (sum(getattr(c, what) for c in components) for what in ("rounds", "inequalities"))
    bound = lowered(p, constant + sum(component.bound for component in components))
    found = finish(
        p,
        labels,
        stopping,
        "ilp",
        Status.OPTIMAL if proven else Status.FEASIBLE,
        lower_bound=math.inf if proven else bound,
        start=start,
        info={"rounds": rounds, "inequalities": inequalities, "components": len(components), "solver": solver},
    )
    work = f"{plural(rounds, 'round')}, {plural(inequalities, 'inequality', 'inequalities')}, "
    work += f"{plural(len(components), 'component')}, {solver}"
    ended = UNPROVEN if found.status == Status.FEASIBLE else MESSAGES[found.status]
    return replace(found, iterations=rounds, message=f"{ended} ({work})")


class Component(Search):
    """One connected component: the program, the best partition known, and the bound proven so far."""

    def __init__(self, p: SetPartition, labels: Labels, solver: Any, stopping: Stopping, full: bool) -> None:
        from graphpart.milp.program import Program

        self.p, self.judge = p, judge_of_partition(p)
        self.labels = labels
        self.cost = p._evaluate_labels(labels)
        self.full = full
        self.stopping = stopping
        self.rounds = self.inequalities = 0
        self.u, self.v, cost = p.pairs()
        used = cost != 0 if p.lifted is None else (cost != 0) | ~p.lifted
        enough = np.count_nonzero(used) >= PARAMETERS.complete_from * (p.n * (p.n - 1) // 2)
        complete = p._limits is not None or (p.lifted is None and (full or bool(enough)))
        self.infeasible = False
        if complete and not p.is_dense:
            matrix = matrix_of(p)
            self.u, self.v = (index.astype(np.int32) for index in np.triu_indices(p.n, 1))
            cost = matrix[self.u, self.v]
        elif not complete:
            self.u, self.v, cost = self.u[used], self.v[used], cost[used]
        self.connecting: Connecting | None = None
        if p.lifted is not None:
            self._keys = self.u.astype(np.int64) * p.n + self.v
            self.connecting = Connecting(p, self.u, self.v, lambda keys: np.searchsorted(self._keys, keys))
        cut = np.flatnonzero(cost == np.inf)
        cost = np.where(np.isinf(cost), 0.0, cost)
        firsts = p.n if p._limits is not None and p._limits.number else 0
        self.program = Program(np.concatenate([cost, np.zeros(firsts)]), solver)
        self.program.upper[cut] = 0.0
        if p._limits is not None:
            self.program.add_rows(*limit_rows(p, self.u, self.v), always=True)
        self.bound = self.least = trivial_bound(p)
        self._cut_unpayable()

    @property
    def proven(self) -> bool:
        """Whether the bound shows that no partition is better than the one known."""
        return super().proven or self.judge.meets(lowered(self.p, self.bound), self.cost)

    def _cut_unpayable(self) -> None:
        """Fix pairs that cost more than a better partition can pay."""
        if self.p._limits is not None and math.isfinite(self.cost):
            slack = EXACT * (abs(self.cost) + abs(self.least))
            self.program.upper[self.program.costs > self.cost - self.least + slack] = 0.0

    def run(self, others: float) -> None:
        """Improve partition and bound until they meet or the run is stopped; `others` is the cost elsewhere."""
        self.others = others
        if self.proven or self.stopping.check(others + self.cost):
            return
        if self.full:
            from graphpart.partition.exact_solvers.separation import all_triangles, rows_of

            self._add(rows_of(all_triangles(self.p.n), self.u, self.v, self.p.n, len(self.program.costs)))
        self.settle()

    def solve_rounds(self) -> Floats | None:
        if self.full:
            for relaxed in (True, False):  # the relaxation for its bound and to fix pairs
                solution = None if self.proven else self._solve(relaxed)
                if solution is None:
                    break
            return solution
        y = np.where(self.program.costs < 0, self.program.upper, self.program.lower)
        relaxed, stalled = True, 0
        while not self.proven and not self.stopping.check(self.others + self.cost):
            rows = self._violated(y)
            if not self._add(rows):
                if not relaxed:
                    return y  # a partition, the best up to the gap of the solver
                relaxed = False
            relaxed = relaxed and stalled < STALLED
            gap = self.cost - self.bound
            solution = self._solve(relaxed)
            if solution is None:
                return None
            y = solution
            if relaxed:
                stalled = stalled + 1 if gap - (self.cost - self.bound) < LITTLE * gap else 0
                self.program.keep_rows(self.program.slack(y) < PARAMETERS.slack)
        return None

    def _violated(self, y: Floats) -> Rows:
        from graphpart.partition.exact_solvers.separation import rows_of, violated

        u, v, n = self.u, self.v, self.p.n
        pairs = y[: len(u)]
        found = violated(pairs, u, v, n)
        if self.connecting is not None:
            every, limit = np.ones(len(u), bool), int(PARAMETERS.triangles * len(u)) + 100
            found = found + self.connecting.cuts(pairs, every, PARAMETERS.finest, limit, math.inf, self.stopping)[0]
        return rows_of(found, u, v, n, len(y))

    def _add(self, rows: Rows) -> bool:
        matrix, rhs = rows
        if len(rhs):
            self.program.add_rows(matrix, rhs)
            self.inequalities += len(rhs)
        return len(rhs) > 0

    def _solve(self, relaxed: bool) -> Floats | None:
        """One round; None if it gave no solution to go on with."""
        known = (self.labels[self.u] == self.labels[self.v]).astype(np.float64)
        if len(self.program.costs) > len(known):
            firsts = np.zeros(self.p.n)
            firsts[first_of(self.labels)] = 1.0
            known = np.concatenate([known, firsts])
        start = None if relaxed or not math.isfinite(self.cost) else known
        answer = self.program.solve(self.stopping, self.others + self.cost, relaxed, start)
        self.infeasible |= answer.status == "infeasible"
        self.rounds += 1
        bound = max(answer.bound, self.program.proven()) if relaxed else answer.bound
        # Pairs were fixed as in all partitions that are better than the known one. So the bound is valid for better
        # partitions only; if there are none, the known one is optimal.
        self.bound = max(self.bound, min(self.cost, self.program.lift(bound)))
        if answer.values is None:
            return None
        values = np.clip(answer.values, self.program.lower, self.program.upper) if relaxed else np.round(answer.values)
        self._offer(values)
        if relaxed:
            self.fix()
        return values if answer.status == "optimal" else None

    def _offer(self, y: Floats) -> None:
        """Improve the partition into the sets that pairs with y > 1/2 connect; keep it if it is better."""
        joined = y[: len(self.u)] > 0.5
        if self.connecting is not None:
            joined &= self.connecting.links
        labels = connected_components(self.p.n, self.u[joined], self.v[joined])
        if math.isfinite(self.p._evaluate_labels(labels)):
            better = fixed_point(self.p, labels, improve_by_sequences, self.stopping.child(plus=math.inf))
            cost = self.p._evaluate_labels(better)
            if cost < self.cost:
                self.labels, self.cost = better, cost
                self._cut_unpayable()


def limit_rows(p: SetPartition, u: NDArray[np.int32], v: NDArray[np.int32]) -> Rows:
    """The rows of limits: see above. Variables are all pairs ``u < v`` and, if numbers are limited, first elements."""
    from scipy.sparse import csr_array

    limits, n, m = p._limits, p.n, len(u)
    assert limits is not None
    size = np.ones(n) if p._sizes is None else p._sizes.astype(np.float64)
    pair, element = np.arange(m), np.arange(n)
    blocks: list[tuple[Any, Any, Any, Any]] = []  # rows, columns, coefficients, right-hand sides
    if limits.max_size is not None:
        blocks.append(
            (np.concatenate([u, v]), np.tile(pair, 2), np.concatenate([size[v], size[u]]), limits.max_size - size)
        )
    if limits.number:
        rows = np.concatenate([v, element])
        columns = np.concatenate([pair, m + element])
        blocks.append((rows, columns, -np.ones(m + n), -np.ones(n)))
        blocks.append((np.tile(pair, 2), np.concatenate([pair, m + v]), np.ones(2 * m), np.ones(m)))
        most = n if limits.most is None else limits.most
        signs = np.repeat([1.0, -1.0], n)
        blocks.append((np.repeat([0, 1], n), m + np.tile(element, 2), signs, np.array([most, -limits.least], float)))
    shift, rows_, columns_, values, rhs = 0, [], [], [], []
    for a, b, c, d in blocks:
        rows_.append(a + shift)
        columns_.append(b)
        values.append(c)
        rhs.append(d)
        shift += len(d)
    entries = (np.concatenate(values), (np.concatenate(rows_), np.concatenate(columns_)))
    return csr_array(entries, shape=(shift, m + (n if limits.number else 0))), np.concatenate(rhs)

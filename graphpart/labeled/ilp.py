"""The integer program of a labelled partition, by a solver behind PuLP.

    minimise    sum of label_costs[a, k] x[a, k]  +  sum of joined[ab, k, l] z[ab, k, l] + parted[ab, k, l] w[ab, k, l]
    subject to  sum over k of x[a, k] = 1                                   for every element a
                sum over l of z[ab, k, l] + w[ab, k, l] = x[a, k]           for every pair ab and class k of a
                sum over k of z[ab, k, l] + w[ab, k, l] = x[b, l]           for every pair ab and class l of b
                sum over k, l of z[ab, k, l] = y[ab]                        for every pair ab
                1 - y[e] <= sum over f in P of (1 - y[f])                 for every pair e and path P between its ends
                x, y in {0, 1},  z, w in [0, 1]

So z and w are the products of the indicators of classes with y and 1 - y. Forbidden entries are fixed to 0. The last
rows, which say that being together is transitive (Chopra & Rao 1993), are separated: violated ones are added after each
solution, first of the relaxation, whose multipliers prove a bound, then of the integer program.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InfeasibleProblem
from graphpart.kernels._pairs import connected_components
from graphpart.labeled.finite import tables_of, trivial_bound
from graphpart.labeled.joining import joined_sets
from graphpart.labeled.judging import judge_of_solution
from graphpart.labeled.labeled_partition import LabeledPartition, as_labeled
from graphpart.labeled.moving import improved
from graphpart.labeled.results import LabeledResult, finish
from graphpart.labeled.solutions import alone, start_of
from graphpart.milp.search import EXACT, UNPROVEN, Search
from graphpart.partition.problem.labels import canonical
from graphpart.result import Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["JointProgram", "ilp"]

Elements = NDArray[np.int32]
Floats = NDArray[np.float64]


@interruptible
def ilp(
    problem: Any,
    *,
    solver: Any = "cbc",
    solver_options: dict[str, Any] | None = None,
    initial: Any = None,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabeledResult:
    """Find clusters and classes of least cost by integer programming, with separated inequalities of cycles.

    Also known as ``integer-program`` or ``mip``.

    Parameters
    ----------
    problem : LabeledPartition or networkx.Graph
    solver : str or pulp.LpSolver
        "cbc" (default), "highs", another solver that PuLP knows by name, or a PuLP solver.
    solver_options : dict, optional
        Keyword arguments for the PuLP solver of that name, such as ``{"threads": 2}``.
    initial : LabeledResult, or pair (labels, classes), or labels, optional
        The solution from which local search starts; the result is not worse.
    time_limit : float, optional
        Seconds in total.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    LabeledResult
        With status ``optimal`` if no solution costs less by more than 1e-7 times the absolute cost, else the best
        solution found and a valid lower bound. `iterations` counts programs solved.

    Raises
    ------
    InfeasibleProblem
        If every solution is forbidden.
    InvalidOption, InvalidPartition
        If there is no such solver or option of it, or the start does not fit.
    SolverError, MissingDependency
        If the solver is not installed, or failed.

    Notes
    -----
    Meant as a reference: exponential time at worst. The program has n L + m (2 L^2 + 1) variables.

    Examples
    --------
    >>> import graphpart as gp
    >>> q = gp.LabeledPartition.from_arrays([[0.0, 2.0], [1.0, 0.0]], [(0, 1)], [[[-3.0, 1.0], [1.0, 1.0]]])
    >>> r = ilp(q)
    >>> r.labels.tolist(), r.classes.tolist(), r.cost, str(r.status)
    ([0, 0], [0, 0], -2.0, 'optimal')
    """
    from graphpart.milp.solvers import pick_solver

    q = as_labeled(problem)
    stopping = Stopping(time_limit, None, None, callback)
    chosen = pick_solver(solver, solver_options)
    tables = tables_of(q)
    start = joined_sets(tables, *alone(tables.own), stopping.child()) if initial is None else start_of(q, initial)
    start = improved(tables, *start, stopping.child())
    program = JointProgram(q, start, stopping)
    program.run(chosen)
    status = Status.OPTIMAL if program.proven else Status.FEASIBLE
    message = None if program.proven or stopping.reason else UNPROVEN
    return finish(q, program.solution, stopping, "ilp", status, message=message, lower_bound=program.bound)


class JointProgram(Search):
    """The integer program, the best solution known, and the bound proven so far.

    Columns are y (m), x (n L), z and w (m L^2 each).

    Attributes
    ----------
    solution : tuple of ndarray of int32
        Clusters and classes.
    """

    def __init__(self, q: LabeledPartition, solution: tuple[Elements, Elements], stopping: Stopping) -> None:
        self.q, self.solution, self.stopping = q, solution, stopping
        self.cost = q._evaluate(*solution)
        self.bound = self.least = trivial_bound(q)
        self.base = self.others = 0.0

    def run(self, solver: Any) -> None:
        """Improve solution and bound until they meet or the run is stopped.

        Raises
        ------
        InfeasibleProblem
            If every solution is forbidden.
        """
        from graphpart.milp.program import Program

        q = self.q
        if self.proven or not q.n or self.stopping.check(self.cost):
            return
        costs = np.concatenate([np.zeros(q.m), q.label_costs.ravel(), q.joined.ravel(), q.parted.ravel()])
        forbidden = np.isinf(costs)
        columns = q.m + q.n * q.n_classes
        self.program = Program(np.where(forbidden, 0.0, costs), solver, np.arange(len(costs)) < columns)
        self.program.upper[forbidden] = 0.0
        self.program.add_rows(*self._rows(), equal=True, always=True)
        self.settle()
        if self.cost == self.bound == math.inf:
            raise InfeasibleProblem("every solution is forbidden: the integer program has none")
        rounding = EXACT * float(np.abs(self.program.costs).sum())
        self.bound = min(self.bound - rounding, self.cost)

    @property
    def proven(self) -> bool:
        """Whether the bound shows that no solution is better than the one known."""
        if self.bound == math.inf:
            return True
        judge = judge_of_solution(self.q, *self.solution)
        return judge.meets(self.bound, self.cost) or (hasattr(self, "program") and super().proven)

    def _rows(self) -> tuple[Any, Floats]:
        """The rows of all pairs and elements, which are equations."""
        from scipy.sparse import csr_array

        q, n, m, classes = self.q, self.q.n, self.q.m, self.q.n_classes
        x, z, w = m, m + n * classes, m + n * classes + m * classes**2
        pair = np.repeat(np.arange(m), classes**2)
        k, at = np.tile(np.repeat(np.arange(classes), classes), m), np.arange(m * classes**2)
        l = np.tile(np.arange(classes), m * classes)  # noqa: E741 - the name in the formulas
        left, right = n + pair * classes + k, n + m * classes + pair * classes + l
        last = n + 2 * m * classes
        ends = np.repeat(np.arange(m), classes), np.tile(np.arange(classes), m)
        parts = [
            (np.repeat(np.arange(n), classes), x + np.arange(n * classes), 1.0),
            *((row, first + at, 1.0) for row in (left, right) for first in (z, w)),
            (n + np.arange(m * classes), x + q.u[ends[0]].astype(np.int64) * classes + ends[1], -1.0),
            (n + m * classes + np.arange(m * classes), x + q.v[ends[0]].astype(np.int64) * classes + ends[1], -1.0),
            (last + pair, z + at, 1.0),
            (last + np.arange(m), np.arange(m), -1.0),
        ]
        rows, columns = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        data = np.concatenate([np.full(len(part[0]), part[2]) for part in parts])
        count = last + m
        rhs = np.zeros(count)
        rhs[:n] = 1.0
        return csr_array((data, (rows, columns)), shape=(count, z + 2 * m * classes**2)), rhs

    def solve_rounds(self) -> Floats | None:
        """Solve relaxations, then integer programs, until no inequality of a cycle is violated."""
        relaxed = True
        while not self.proven and not self.stopping.check(self.cost):
            start = None if relaxed or not math.isfinite(self.cost) else self._values()
            answer = self.program.solve(self.stopping, self.cost, relaxed, start)
            self.stopping.iterations += 1
            if answer.status == "infeasible":
                self.bound = self.cost
                return None
            bound = answer.bound
            if relaxed and answer.status == "optimal":
                bound = self.program.proven()
            self.bound = max(self.bound, self.program.lift(bound))
            if answer.values is None:
                return None
            self._read(answer.values)
            if answer.status != "optimal":
                return None
            if relaxed:
                self.fix()
            if not self._separate(answer.values):
                if not relaxed:
                    return answer.values
                relaxed = False
        return None

    def _separate(self, values: Floats) -> bool:
        """Add violated inequalities of cycles; False if there are none."""
        from graphpart.partition.exact_solvers.separation import rows_of, violated

        q = self.q
        found = violated(values[: q.m], q.u, q.v, q.n)
        if len(found):
            self.program.add_rows(*rows_of(found, q.u, q.v, q.n, len(values)))
        return len(found) > 0

    def _read(self, values: Floats) -> None:
        """The solution that the joined pairs and the largest indicators make, if it is the best."""
        q = self.q
        classes = values[q.m : q.m + q.n * q.n_classes].reshape(q.n, q.n_classes).argmax(axis=1).astype(np.int32)
        joined = values[: q.m] > 0.5
        labels = canonical(connected_components(q.n, q.u[joined], q.v[joined]))
        if (cost := q._evaluate(labels, classes)) < self.cost:
            self.solution, self.cost = (labels, classes), cost
            self.stopping.record(cost)

    def _values(self) -> Floats:
        """The solution of the program that corresponds to the best solution known."""
        q, (labels, classes) = self.q, self.solution
        y = (labels[q.u] == labels[q.v]).astype(np.float64)
        x = np.zeros((q.n, q.n_classes))
        x[np.arange(q.n), classes] = 1.0
        product = np.zeros((q.m, q.n_classes, q.n_classes))
        product[np.arange(q.m), classes[q.u], classes[q.v]] = 1.0
        z, w = product * y[:, None, None], product * (1.0 - y)[:, None, None]
        return np.concatenate([y, x.ravel(), z.ravel(), w.ravel()])

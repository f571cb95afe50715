"""Branch and cut with a search beside it: the method `graphpart.partition.exact`.

The components of the problem are solved by races (see races.py), in which branch and cut has most of the time. For
components with at least 300 elements, the search takes turns with the proof. It starts from the best partition known,
on the reduced problem, and the proof takes over better partitions. Without a time limit, the search has one turn,
before the proof begins. With a time limit, components with at least 60 elements have a search, too, if columns are
generated or if there is too little time for the proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from graphpart.common.groups import first_of
from graphpart.display import plural
from graphpart.errors import InvalidOption
from graphpart.partition.anytime_search.start import start_with_background
from graphpart.partition.beforehand import Beforehand, fit_for_auto, has_groups
from graphpart.partition.bounds.cycle_packing import DENSE_UP_TO
from graphpart.partition.certificates.kept import keep
from graphpart.partition.conclusion import concluded
from graphpart.partition.exact_solvers.whole import Work
from graphpart.partition.problem import as_problem, canonical
from graphpart.partition.problem.forms import without_background
from graphpart.partition.races import PROVING, Races, RacesParameters
from graphpart.partition.reduction.persistency import reduced
from graphpart.partition.results.starts import start_of
from graphpart.partition.within_limits import solve_within_limits
from graphpart.result import PartitionResult
from graphpart.stopping import Stopping, interruptible

__all__ = ["exact"]

PARAMETERS = RacesParameters(
    enumerated=0,
    searched=300,
    helped=60,
    pairs=math.inf,
    sparse=math.inf,
    race=PROVING,
)


@interruptible
def exact(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    threads: int = 1,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Solve a problem to proven optimality by branch and cut.

    If clusters have to be connected, violated cuts of base pairs are among the cutting planes.
    Also known as ``branch-and-cut``.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    initial : Result, labels, mapping or list of sets, optional
        A partition from which local search starts; the result is not worse. Elements that it leaves out start alone.
    time_limit : float, optional
        Seconds in total.
    threads : int
        Threads that the search beside the proof may use, and HiGHS, where it is installed.
    target : float, optional
        Stop as soon as the cost is at most this.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.

    Returns
    -------
    PartitionResult
        With status ``optimal`` if, in each component of attractive pairs, none costs less by more than 1e-7 times the
        largest cost that may be paid (exactly optimal if all costs are multiples of one number, see
        `graphpart.partition.certificates`); then the lower bound is the cost, up to this difference. Else the best
        partition found and a valid lower bound. `iterations` counts the nodes of the search; `info` has ``nodes``,
        ``rounds``, ``cuts``, ``lp_seconds``, ``columns`` (blocks that column generation took over), and ``allowance``,
        by how much less a partition may cost where the status is ``optimal``.

    Raises
    ------
    InvalidProblem, InvalidPartition, InvalidOption
        If an argument is not as described.

    Notes
    -----
    Exponential time at worst. Without highspy 1.8 or newer (extra ``highs``), the first-order method solves all
    relaxations.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-2.0, -3.0, 4.0])
    >>> r = exact(p)
    >>> r.partition, r.cost, str(r.status)
    ([{0}, {1, 2}], -3.0, 'optimal')
    """
    p = given = as_problem(problem)
    if not hasattr(threads, "__index__") or threads < 1:
        raise InvalidOption(f"threads is {threads!r}: expected a whole number of at least 1")
    stopping = Stopping(time_limit, None, target, callback)
    if p._limits is not None:
        known = None if initial is None else start_of(p, initial)
        return solve_within_limits(p, known, "exact", stopping, threads=threads)
    if has_groups(p) or p._has_must_cut or p.lifted is not None:
        p = fit_for_auto(p)
    if p.background is not None and not (p.background.repels and (has_groups(p) or p.n > DENSE_UP_TO)):
        p = without_background(p, "exact")
    start = p._must_join_classes() if initial is None else start_of(p, initial)
    cost = p._evaluate_labels(start)
    stopping.record(cost)
    contraction = Beforehand(p, stopping)
    q, constant, assigned = contraction.problem, contraction.constant, contraction.assigned
    lift = contraction.lift(np.arange(q.n, dtype=np.int32))
    labels = contraction.project(start)
    improved = q.background is not None
    if improved and has_groups(q):
        if assigned is None or not assigned.is_all:
            labels = start_with_background(
                q, labels, initial is None, stopping.child(plus=constant), np.random.default_rng(0)
            )
    elif improved:  # joins of some optimum, before pairs are listed
        inner = stopping.child(plus=constant)
        labels = start_with_background(q, labels, initial is None, inner, np.random.default_rng(0))
        small = reduced(q, inner)
        labels = small.project(labels)
        q, constant, lift = small.problem, constant + small.constant, small.persistency.labels[lift]
        labels = start_with_background(q, labels, False, stopping.child(plus=constant), np.random.default_rng(0))
    races = Races(q, labels, stopping, PARAMETERS, constant, improved=improved, assigned=assigned, threads=threads)
    races.whole = first_of(lift)
    races.run(stopping.remaining is not None)
    bound = math.inf if races.proven else constant + races.bound
    work = {field.name: sum(getattr(one.work, field.name) for one in races.provers) for field in fields(Work)}
    stopping.iterations = work["nodes"]
    keep(races.known())
    found = canonical(races.labels[lift])
    how = ", ".join(plural(work[what], what.removesuffix("s")) for what in ("nodes", "rounds", "cuts"))
    info = {**work, "allowance": races.allowance}
    result = concluded(p, found, bound, "exact", stopping, how, start=(start, cost), info=info)
    return replace(result, problem=given)  # not of the form that was solved

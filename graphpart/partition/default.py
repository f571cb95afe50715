"""The default method for set partition problems: local search, then search and proof in turn where there is time.

0. Components in which two groups at price inf have all elements are matchings, which need nothing else. If other
   groups are too large to list their pairs, elements that some optimum joins are contracted; see beforehand.py.
   Problems that limit sizes or the number of clusters go another way, see within_limits.py.
1. Local search: greedy joining, then moves of one element, since annealing follows; where elements have few neighbours,
   an iteration of multilevel moves, then pairwise Kernighan-Lin; with a background, multilevel moves, and pairwise
   Kernighan-Lin if few pairs were given; see anytime_search/start.py.
2. With a background and several components, a packing of stars and cycles in all of them: a first bound. Then the
   components of the problem, each by enumeration, or by a race of search and proof; see races.py. With a time
   limit, all of it is used until all is proven. Without, search goes on until half of its work has found nothing
   better, and proofs as long as they are near, in turns, 5 seconds in all, or up to eight times as many where other
   threads of the process work, too. So the results of components that are open by then depend on the speed of the
   machine.
3. A subset in which no non-zero pair connects one part with the rest is divided, which costs nothing. If a move or a
   join then lowers the cost, local search goes on from there (as in all methods, see problem/finish.py).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from graphpart.common.groups import first_of
from graphpart.common.rounds import Saver, check_seed_and_threads
from graphpart.display import percent
from graphpart.files.labels import write_labels
from graphpart.partition.anytime_search.checkpoint import saved
from graphpart.partition.anytime_search.parameters import SearchParameters
from graphpart.partition.anytime_search.search import better_start
from graphpart.partition.anytime_search.start import improved_start
from graphpart.partition.beforehand import Beforehand, fit_for_auto
from graphpart.partition.bounds.background_packing import pack_implicit
from graphpart.partition.bounds.trivial_bound import trivial_bound
from graphpart.partition.certificates.certificate import proven_bound
from graphpart.partition.certificates.kept import keep
from graphpart.partition.conclusion import concluded
from graphpart.partition.local_search.attracting import is_native
from graphpart.partition.local_search.greedy_moving import move
from graphpart.partition.local_search.improve import fixed_point, problems_with_huge_costs_cut
from graphpart.partition.local_search.kernighan_lin_pairs import improve_by_pairs
from graphpart.partition.local_search.sums import fits_pairwise
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition, as_problem, canonical
from graphpart.partition.problem.derived import connected_subsets
from graphpart.partition.problem.forms import without_usual
from graphpart.partition.races import PATIENCE, Races, RacesParameters
from graphpart.partition.results.finish import finish, settled
from graphpart.partition.within_limits import solve_within_limits
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["auto"]

BOUND = 0.1  # share of the time for a first bound of all components together
OPENING = 0.5  # share of the time for the local search of a problem with a background, before any bound


@interruptible
def auto(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    target: float | None = None,
    seed: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Callable[[float, float], object] | None = None,
    parameters: SearchParameters | None = None,
) -> PartitionResult:
    """Solve a problem by local search, and prove the result optimal if that is within reach.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    initial : Result, labels, mapping or list of sets, optional
        The partition to start from; the result is not worse. Elements that it leaves out start alone.
    time_limit : float, optional
        Seconds, all of which are used unless the result is proven before. Without a limit, local search runs to its
        end, and search and proofs have at most about 5 seconds in all, less if these gain little, and more if other
        threads of the process work, too. Where a proof is not complete, two runs may differ.
    target : float, optional
        Stop as soon as the cost is at most this.
    seed : int, optional
        Of the random numbers of the search; default 0.
    checkpoint : str or path-like, optional
        A file of labels that the search keeps up to date, see :func:`~graphpart.partition.search`. If it exists, the
        result is not worse than it. At the end it holds the result, and ``checkpoint.bound`` beside it the best lower
        bound of all runs.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value stops the run.
    parameters : SearchParameters, optional
        Those of the search, see :func:`~graphpart.partition.search`.

    Returns
    -------
    PartitionResult
        With status ``optimal`` if all components are proven, else ``local_optimum``; the lower bound is the sum over
        the components. `message` says what was done and, if that is not all, how far the bound is away and what would
        help; `iterations` counts the iterations of local search.

    Raises
    ------
    InvalidProblem, InvalidPartition, InvalidOption
        If an argument is not as described.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(5, [(0, 1), (1, 2), (0, 2), (3, 4)], [-2.0, -3.0, 4.0, -1.0])
    >>> r = auto(p)
    >>> r.partition, r.cost, r.message
    ([{0}, {1, 2}, {3, 4}], -4.0, 'proven optimal (2 components: 1 by negative costs, 1 by brute force)')
    """
    given = as_problem(problem)
    stopping = Stopping(time_limit, None, target, callback)
    check_seed_and_threads(seed, None)
    parameters = parameters or SearchParameters()
    if given._limits is not None:
        known = better_start(given, initial, checkpoint)
        result = solve_within_limits(given, known, "auto", stopping, seed or 0, parameters=parameters)
        return saved(given, result, checkpoint)
    p = fit_for_auto(given)
    start = better_start(p, initial, checkpoint)
    start = p._must_join_classes() if start is None else start
    stopping.record(p._evaluate_labels(start))
    contraction = Beforehand(p, stopping)
    labels, cost = start, p._evaluate_labels(start)
    matched = contraction.assigned is not None and contraction.assigned.is_all  # even if that took all of the time
    if matched or not stopping.check(cost):
        found = _improved(contraction, start, stopping, seed or 0)
        if not fits_pairwise(p):
            found = _improved_by_pairs(given, found, stopping)
        if (reached := p._evaluate_labels(found)) <= cost:
            labels, cost = found, reached
    if stopping.reason is not None and not matched:
        bound = max(trivial_bound(p), contraction.bound)
        result = finish(p, labels, stopping, "auto", Status.LOCAL_OPTIMUM, lower_bound=bound)
        return saved(given, replace(result, problem=given), checkpoint)
    first = _first_bound(given, stopping)
    patience = stopping if stopping.remaining is not None else stopping.patient(PATIENCE)
    saver = None
    if checkpoint is not None:
        saver = Saver(
            checkpoint,
            lambda labels, path: write_labels(connected_subsets(given, contraction.lift(labels)), path, given),
        )
    races = Races(
        contraction.problem, contraction.project(labels), patience, RacesParameters(search=parameters),
        contraction.constant, assigned=contraction.assigned, seed=seed or 0, saver=saver,
    )  # fmt: skip
    races.whole = first_of(contraction.lift(np.arange(contraction.problem.n, dtype=np.int32)))
    races.run(stopping.remaining is not None)
    keep(races.known())
    found = settled(
        p,
        contraction.lift(races.labels),
        lambda labels: _improved(contraction, labels, stopping, seed or 0),
        stopping,
    )
    # Races end by the clock, and know components and joined elements only.
    if not races.proven and stopping.reason is None and is_native(p):
        found = fixed_point(p, _improved_by_pairs(given, found, stopping), move, stopping)
    bound = math.inf if races.proven else max(first, contraction.bound, contraction.constant + races.bound)
    result = concluded(p, found, bound, "auto", stopping, races.report(), start=(labels, cost))
    if not races.proven:
        result = replace(result, message=f"{result.message}; {_advice(result, races, time_limit)}")
    return saved(given, replace(result, problem=given), checkpoint)  # not of the form that was solved


def _improved(contraction: Beforehand, labels: Labels, stopping: Stopping, seed: int) -> Labels:
    """The result of local search from labels; see `local_search/improve.py` for huge costs."""
    p, assigned = contraction.problem, contraction.assigned
    if assigned is not None and assigned.is_all:
        return contraction.lift(assigned.labels)
    if p.n >= SearchParameters.few:  # as the search does: elements of such matrices have few neighbours
        p = without_usual(p)
    labels = first = contraction.project(labels)
    alone = int(labels.max(initial=-1)) + 1 == p.n
    left = stopping.remaining
    seconds = None if left is None or p.background is None else OPENING * left  # bounds need the other half
    inner = stopping.child(seconds, plus=contraction.constant)
    for q in problems_with_huge_costs_cut(p, labels):
        if labels is not first and (inner.reason is not None or not np.isfinite(q._evaluate_labels(labels))):
            break
        labels = canonical(improved_start(q, labels, alone, inner, seed))
    stopping.iterations += inner.iterations
    return contraction.lift(labels)


def _first_bound(given: SetPartition, stopping: Stopping) -> float:
    """A bound of all components together, if pairs that are not listed have costs: it takes far less than races.

    Races bound one component after the other, and many of them only by the sum of their attracting costs.
    """
    if given.background is None or given.lifted is not None or not given.background.repels:
        return -math.inf
    if not given._components().any():
        return -math.inf
    contraction, left = Contraction(given), stopping.remaining
    inner = stopping.child(seconds=None if left is None else BOUND * left, plus=math.inf)
    bound = contraction.constant + proven_bound(contraction.problem, *pack_implicit(contraction.problem, inner))
    bound = math.nextafter(bound, -math.inf) if contraction.constant else bound
    stopping.raise_bound(bound)
    return bound


def _improved_by_pairs(given: SetPartition, labels: Labels, stopping: Stopping) -> Labels:
    """The result of pairwise Kernighan-Lin where elements have few neighbours; `auto` may have listed all pairs."""
    if stopping.reason is not None or not fits_pairwise(given) or not is_native(given):
        return labels
    return fixed_point(given, labels, improve_by_pairs, stopping)


def _advice(result: PartitionResult, races: Races, time_limit: float | None) -> str:
    """The distance to the bound, how the time was spent, and what would help."""
    share = (result.cost - result.lower_bound) / abs(result.cost) if result.cost else math.inf
    away = f"the bound is {percent(share)} below" if math.isfinite(share) else "the bound says little"
    if 0.5 < share < math.inf:
        away += ", too far to say how good the clusters are,"
    proving = races.proving()
    searching = max(result.seconds - proving, 0.0)
    more = max(10 * max(1.0, PATIENCE if time_limit is None else time_limit), 2 * result.seconds)
    return (
        f"{away} after {searching:.1f} s of search, {proving:.1f} s of proofs; more of both with time_limit={more:.0f}"
    )

"""Branch and cut with a search beside it: what `graphpart.partition.exact` is.

The proof is in `exact_solvers`. On problems with at least 300 elements whose pairs are listed, `search` takes its turn
every now and then, from the best partition known, on the problem that the reduction has left: what it finds, the proof
takes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from graphpart.errors import InvalidOption
from graphpart.partition.anytime_search.search import search
from graphpart.partition.exact_solvers.exact import solve_exactly
from graphpart.partition.exact_solvers.tree import REGIONS
from graphpart.partition.problem import Labels, SetPartition, as_problem
from graphpart.result import PartitionResult
from graphpart.stopping import Stopping, interruptible

__all__ = ["Searcher", "Told", "exact"]

TURN, LONGER, LONGEST = 0.5, 1.5, 8.0  # seconds of search, the first time; later so many times longer, up to this
OFTEN, RARELY = 2.0, 8.0  # turns without, after one that found something, and after one that did not


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
        ``rounds``, ``cuts``, ``lp_seconds``, ``allowance``, by how much less a partition may cost where the status is
        ``optimal``, and ``bounds``, the (seconds, lower bound) pairs.

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
    p = as_problem(problem, background=True)
    if not hasattr(threads, "__index__") or threads < 1:
        raise InvalidOption(f"threads is {threads!r}: expected a whole number of at least 1")
    told = callback and Told(callback)
    partner = Searcher(time_limit, threads, told) if p.n >= REGIONS else None
    return solve_exactly(p, initial, time_limit, threads, target, told, partner)


class Told:
    """A callback that branch and cut and its partner share: after one true answer it is not asked again."""

    def __init__(self, callback: Callable[[float, float], object]) -> None:
        self.callback, self.cost, self.ended = callback, math.inf, False

    def __call__(self, seconds: float, cost: float) -> bool:
        self.cost = cost  # of the whole: the partner knows that of a part only
        self.ended = self.ended or bool(self.callback(seconds, cost))
        return self.ended


class Searcher:
    """A partner of branch and cut (see `branch_and_cut`) that searches when it is its turn."""

    def __init__(self, time_limit: float | None, threads: int, told: Told | None) -> None:
        self.stopping, self.threads, self.told = Stopping(time_limit), threads, told
        self.turn, self.last, self.pause, self.turns = TURN, -2 * TURN, OFTEN, 0

    def __call__(self, p: SetPartition, labels: Labels) -> Labels | None:
        """Better labels, or None."""
        now = self.stopping.seconds
        if p.n < REGIONS or p.is_dense or now < self.last + self.pause * self.turn:
            return None
        left = self.stopping.remaining
        limit = self.turn if left is None else min(self.turn, left)
        told = self.told
        found = search(
            p, labels, time_limit=limit, seed=self.turns, threads=self.threads,
            callback=told and (lambda *_: told(self.stopping.seconds, told.cost)),
        )  # fmt: skip
        is_better = found.cost < p.evaluate_labels(labels)
        self.turns, self.last, self.pause = self.turns + 1, self.stopping.seconds, OFTEN if is_better else RARELY
        self.turn = min(LONGER * self.turn, LONGEST)
        return found.labels if is_better else None

"""Bucket elimination: the exact minimum of factor graphs of small width, and bounds by mini-buckets for others.

Variables are eliminated one after the other. To eliminate a variable, all tables that contain it are summed, and the
sum is minimised over its labels. The result is a table over the other variables of the sum, which replaces the tables
that were summed (Bertele & Brioschi 1972; Dechter 1999). When all variables are eliminated, the optimum is left. The
labeling is found by tracing the minima back, so that labels of different optima are never mixed. Time and memory are
exponential in the width of the order only, for any number of variables; see `order`.

If the tables do not fit into memory, each sum of tables is divided into several smaller sums, the mini-buckets, and
each is minimised over the variable separately. This can only lower the result, so the optimum of this relaxation is a
lower bound. A labeling is found by going through the variables against the order and choosing the best label according
to the tables (Dechter & Rish 2003).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.steps import LARGEST_WHOLE
from graphpart.crf.bucket_elimination import _kernels
from graphpart.crf.bucket_elimination.order import EliminationOrder, find_order, order_of
from graphpart.crf.bucket_elimination.plan import (
    Messages,
    Plan,
    collect,
    magnitude,
    make_plan,
    memory_of,
    placed,
    text_of,
)
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.labeling import Found, finish, least_entries, trivial_bound
from graphpart.machine import memory
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["eliminated", "eliminated_soon", "elimination", "lowered", "relaxed"]

FIRST = 2**10  # largest number of entries of a message of the first mini-buckets
SPEED = 2**26  # entries of all tables that elimination may have for each second, a small part of what it can do
ORDERING = 0.05  # largest share of the time for an elimination order
ORDERED = 2e-7  # seconds for each factor that an elimination order takes at least


@interruptible
def elimination(
    problem: Any,
    *,
    memory_limit: int | float | str | None = None,
    order: Any = None,
    seed: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabelingResult:
    """Minimise the energy by elimination of variables: exactly where the tables fit the memory, else with a bound.

    Also known as ``bucket-elimination`` or ``variable-elimination``.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    memory_limit : int, float or str, optional
        Bytes for tables, or text such as ``"4GB"`` or ``"512MiB"``. Default 1 GiB. The result is exact only if the
        tables fit, which is known before any table is allocated. Tables never take more memory than the limit.
    order : EliminationOrder or sequence of names of all variables, optional
        The order of elimination. Default: :func:`elimination_order`.
    seed : int, optional
        For the search for an order; default 0.
    time_limit : float, optional
        Seconds; a labeling is returned in any case.
    callback : callable, optional
        ``callback(seconds, cost)``; a true return value ends the run.

    Returns
    -------
    LabelingResult
        With status ``optimal`` if the tables fit; else ``feasible``, with a valid lower bound, and `message` states the
        width, the memory and the limit. `iterations` counts sums of tables; `info` has `order`, an
        :class:`EliminationOrder`, and `memory`, the bytes allocated for tables.

    Raises
    ------
    InfeasibleProblem
        If every labeling is forbidden, as far as this was noticed; the message names a variable.
    InvalidOption
        If the memory limit or the order is wrong.

    Notes
    -----
    Time: about a nanosecond for each entry of the sums of tables, of which there are at most ``n * labels^(width +
    1)``. Memory: for each entry of each message an eighth of a byte if the variable is binary, a byte if it has up to
    256 labels; and eight bytes for each entry of the messages that are needed at the same time.

    Examples
    --------
    >>> import graphpart as gp
    >>> differ = [[0.0, 1.0], [1.0, 0.0]]
    >>> ring = [[0, 1], [1, 2], [2, 3], [3, 0]]
    >>> f = gp.FactorGraph.from_arrays([2] * 4, [([[0], [2]], [[0.0, 3.0], [3.0, 0.0]]), (ring, [differ] * 4)])
    >>> r = elimination(f)
    >>> r.cost, r.labels.tolist(), r.message
    (2.0, [0, 0, 1, 0], 'proven optimal: elimination, width 2')
    """
    f = as_factor_graph(problem)
    limit = memory_of(memory_limit)
    stopping = Stopping(time_limit, callback=callback)
    least_entries(f)
    found = order_of(f, order, seed, stopping, limit)
    if found.plan is not None and found.memory <= limit:
        r = eliminated(f, found, stopping)
        status = Status.OPTIMAL if r.proven else Status.FEASIBLE
        message = f"proven optimal: elimination, width {found.width}" if r.proven else None
        info = {"order": found, "memory": found.memory}
        return finish(f, r.labels, stopping, "elimination", status, message=message, lower_bound=r.bound, info=info)
    best = relaxed(f, found, limit, stopping)
    more = "" if found.exact else "at least "
    message = (
        f"elimination along an order of width {more}{found.width} needs {more}{text_of(found.memory)} of memory, the "
        f"limit is {text_of(limit)}: bound and labeling by mini-buckets of width {best.width}"
    )
    info = {"order": found, "memory": best.memory}
    return finish(
        f, best.labels, stopping, "elimination", Status.FEASIBLE, message=message, lower_bound=best.bound, info=info
    )


@dataclass
class Incumbent:
    """The best labeling and the best bound so far, and the memory that their mini-buckets took."""

    labels: NDArray[np.int32]
    bound: float
    cost: float = math.inf
    memory: int = 0
    width: int = 0

    def improve(self, f: FactorGraph, plan: Plan, stopping: Stopping) -> bool:
        """Improve labeling and bound by the mini-buckets of a plan; return whether the run was completed."""
        messages = collect(f, plan, stopping, keep=True)
        stopping.iterations += messages.done
        complete = messages.done == len(plan.variable)
        self.memory, self.width = max(self.memory, plan.bytes_to_keep), plan.width
        self.offer(f, _greedy(f, plan, messages))
        if complete:
            value = math.fsum([f.constant, *messages.taken.tolist()])
            self.bound = max(self.bound, lowered(f, value, len(plan.uses) + 3 * len(plan.variable)))
        return complete

    def offer(self, f: FactorGraph, labels: NDArray[np.int32]) -> None:
        cost = f.evaluate_labels(labels)
        if cost < self.cost or self.cost == math.inf:
            self.labels, self.cost = labels, cost


def _nothing_yet(f: FactorGraph) -> Incumbent:
    return Incumbent(np.zeros(f.n, np.int32), lowered(f, trivial_bound(f), f.m))


def eliminated_soon(f: FactorGraph, seconds: float, stopping: Stopping) -> Found | None:
    """The minimum, if elimination takes a small share of some seconds, and at most a quarter of the memory."""
    if ORDERED * f.m > ORDERING * seconds:
        return None
    most = SPEED * max(seconds, 1.0)
    share = None if stopping.remaining is None else ORDERING * seconds
    order = find_order(f, None, stopping.child(share, plus=math.inf), entries=most)
    if order.plan is None or order.memory > memory() // 4 or order.entries > most:
        return None
    return eliminated(f, order, stopping.child(plus=math.inf))


def eliminated(f: FactorGraph, found: EliminationOrder, stopping: Stopping) -> Found:
    """The minimum along an order whose tables have less than 2^62 entries; if it was stopped, the results so far."""
    plan = found.plan
    assert plan is not None
    best = _nothing_yet(f)
    if stopping.remaining is not None and found.entries > SPEED * stopping.remaining:
        # Should the time not suffice, small mini-buckets have a bound and a labeling.
        small = make_plan(f, found.indices, FIRST)
        if isinstance(small, Plan) and small.bytes_to_keep <= found.memory:
            best.improve(f, small, stopping)
    messages = collect(f, plan, stopping, keep=False)
    stopping.iterations += messages.done
    labels = np.zeros(f.n, np.int32)
    done = np.zeros(len(plan.variable), bool)
    done[plan.scheduled[0][: messages.done]] = True
    # A node has choices from its end on, and a message until it is used.
    there = 2 * done.astype(np.uint8)
    used = plan.parent >= 0
    used[used] = done[plan.parent[used]]
    there |= done & ~used
    _kernels.descend(
        f._view(), placed(plan, messages), messages.values, there, plan.choice_start, messages.choices, labels
    )
    if messages.done == len(plan.variable):
        return Found(labels, f.evaluate_labels(labels), True)
    best.offer(f, labels)
    return Found(best.labels, best.bound, False)


def relaxed(f: FactorGraph, found: EliminationOrder, limit: int, stopping: Stopping) -> Incumbent:
    """Run small mini-buckets first, which give a labeling and a bound quickly, then the largest that fit."""
    best = _nothing_yet(f)
    for plan in _relaxations(f, found.indices, limit, stopping):
        if not best.improve(f, plan, stopping) or stopping.check(best.cost):
            break
    return best


def _relaxations(f: FactorGraph, order: NDArray[np.int32], limit: int, stopping: Stopping) -> list[Plan]:
    """Plans of small mini-buckets and of the largest that fit the limit: all, one, or none.

    Once time is over, the plans so far have to do.
    """

    def fits(size: int) -> Plan | None:
        plan = make_plan(f, order, size)
        assert isinstance(plan, Plan)  # a plan that may divide buckets always is complete
        return plan if plan.countable and plan.bytes_to_keep <= limit else None

    first = fits(FIRST)
    low, high = (10, 62) if first is not None else (0, 10)
    best = first
    while high - low > 1 and not stopping.check(math.inf):  # a message of 2^low entries fits, one of 2^high does not
        middle = (low + high) // 2
        plan = fits(2**middle)
        if plan is None:
            high = middle
        else:
            low, best = middle, plan
    if best is None:
        best = fits(1)
    return [plan for plan in dict.fromkeys([first, best]) if plan is not None]


def _greedy(f: FactorGraph, plan: Plan, messages: Messages) -> NDArray[np.int32]:
    """Choose labels one by one against the order, each by the available tables."""
    there = (np.arange(len(plan.variable)) < messages.done).astype(np.uint8)
    labels = np.zeros(f.n, np.int32)
    none = np.zeros(1, np.int64)
    _kernels.descend(f._view(), plan, messages.values, there, none, messages.choices, labels)
    return labels


def lowered(f: FactorGraph, value: float, operations: int) -> float:
    """The bound less the largest possible error of `operations` roundings, so that it holds in exact arithmetic.

    No sum or difference of partial energies, nor of what was taken out of messages, exceeds four times the sum A of the
    largest absolute entries. So each of the `operations` operations that lead to one value has an error of at most
    ``2^-53 * 4 A``; minima have none. If all entries are whole and A is below 2^50, all results are exact.
    """
    size = magnitude(f)
    if size < LARGEST_WHOLE and _whole(f):
        return value
    return math.nextafter(value - (operations + 4) * size * 2.0**-50, -math.inf)


def _whole(f: FactorGraph) -> bool:
    kept = f._cache.get("whole")
    if kept is None:
        with np.errstate(invalid="ignore"):
            kept = f._cache["whole"] = bool((f._flat()[4] == np.floor(f._flat()[4])).all())
    return bool(kept) and f.constant == math.floor(f.constant)

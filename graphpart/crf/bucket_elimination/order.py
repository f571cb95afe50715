"""Orders of elimination: in which order to eliminate variables so that tables stay small.

Eliminating a variable makes a table over all variables that share a table with it. The largest number of variables in
such a table is the width of the order. The order is found greedily: the next variable is the one whose elimination
links the fewest pairs of variables that were not linked before (min-fill; Rose 1972, Kjaerulff 1990). Ties are broken
by the size of the table, then by index. If this order has large tables, other orders are tried: with random ties, with
noise on the criterion, by other criteria, and by a sweep through the graph. The order with the fewest entries and the
least memory is kept (Kask, Gelfand, Otten & Dechter 2011). The search for orders ends when it takes a noticeable part
of the time of the elimination itself. Finding the order with the least width is NP-hard (Arnborg, Corneil &
Proskurowski 1987).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bucket_elimination import _kernels
from graphpart.crf.bucket_elimination.plan import Plan, make_plan, text_of
from graphpart.crf.problem import FactorGraph, _structure, as_factor_graph
from graphpart.crf.problem._view import View
from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.stopping import Stopping, interruptible

__all__ = ["EliminationOrder", "elimination_order", "find_order"]

BUDGET = 400_000_000  # operations until fill is not counted any more: some seconds
SMALL = 2.0**16  # entries of tables up to which the first order is good enough
IMPROVE = 50_000_000  # operations for better orders, at most
SHARE = 64  # entries of tables for each operation that looks for better orders
MEMORY_WEIGHT = 0.5  # nanoseconds for a byte
REACH = 2**12  # times too much memory or too many entries, up to which a better order may help
PATIENCE = 0.2  # of the time limit, for better orders if the tables do not fit
LARGE = 2**20  # variables from which on the connected view is not kept
TRIES = (
    (0, 11),
    (0, 8),
    (2, 10),
    (0, 12),
    (0, 0),
)  # criterion of `_order`, and noise: keys grow by up to 2^noise / 2^10


@dataclass(frozen=True, eq=False)
class EliminationOrder:
    """An order in which to eliminate variables, and the memory and time that elimination in this order takes.

    Attributes
    ----------
    indices : ndarray of int32, shape (n,)
        The variables, first eliminated first.
    width : int
        The largest number of variables of a table after its own variable is eliminated. If `exact` is False, a lower
        bound.
    exact : bool
        Whether all tables have less than 2^62 entries; if not, the width and the following numbers are lower bounds.
    largest : int
        Entries of the largest table.
    entries : float
        Entries of all tables: elimination takes about a nanosecond for each.
    memory : int
        Bytes that the tables of :func:`elimination` take at the same time, with choices for tracing back.
    memory_kept : int
        Bytes that all tables take together, as :func:`marginals`, :func:`min_marginals`, :func:`samples` and
        :func:`m_best` need them.
    """

    indices: NDArray[np.int32]
    width: int
    exact: bool
    largest: int
    entries: float
    memory: int
    memory_kept: int
    plan: Plan | None

    def __repr__(self) -> str:
        more = "" if self.exact else "at least "
        return f"EliminationOrder(width={more}{self.width}, memory={more}{text_of(self.memory)})"


@interruptible
def elimination_order(problem: Any, *, seed: int | None = None, time_limit: float | None = None) -> EliminationOrder:
    """An order of elimination of small width, and the memory that elimination in this order takes.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    seed : int, optional
        For random ties; default 0.
    time_limit : float, optional
        Seconds. The order is complete in any case.

    Notes
    -----
    Nothing of the size of the tables is allocated. O((n + new pairs) * width * log n) for each order tried.

    Examples
    --------
    >>> import numpy as np
    >>> import graphpart as gp
    >>> ring = [[0, 1], [1, 2], [2, 3], [3, 0]]
    >>> f = gp.FactorGraph.from_arrays([2] * 4, [(ring, np.zeros((4, 2, 2)))])
    >>> order = elimination_order(f)
    >>> order.width, order.largest
    (2, 8)
    """
    f = as_factor_graph(problem)
    return find_order(f, seed, Stopping(time_limit))


def _connected(f: FactorGraph) -> View:
    """The connected view; that of a large factor graph is not kept, since it takes some 50 bytes for each variable."""
    if f.n < LARGE:
        return f._view(connected=True)
    view = View(f._flat(), f._layout(), f.has_forbidden)
    view.connect(_structure.incidence(f.n, *f._flat()[1:3]))
    return view


def find_order(
    f: FactorGraph, seed: int | None, stopping: Stopping, limit: int | None = None, entries: float = math.inf
) -> EliminationOrder:
    """The order of least estimated time among those tried; the first one is tried even if the time is over.

    The search takes longer if the order needs more memory than a limit, but not so much that the limit is out of reach.
    It ends at once if the first order shows that the number of entries of all tables is out of reach.
    """
    began = stopping.seconds
    logs = np.rint(np.log2(f.domains) * 65536).astype(np.int64)
    start, neighbour = _kernels.interactions(_connected(f))
    graph = _kernels.VariableGraph(f.domains, start, neighbour, logs)
    rank, noise = np.arange(f.n, dtype=np.int32), np.zeros(f.n, np.int64)
    order, _, width, first, _, work = graph.greedy(noise, rank, 0, BUDGET, math.inf, stopping)
    best = measured(f, order, width)
    if first < SMALL or best.entries > REACH * entries:
        return best
    best = min(best, measured(f, graph.sweep(), width), key=_effort)
    rng = np.random.default_rng(0 if seed is None else seed)
    spent = 0
    for k in itertools.count():
        allowed = min(IMPROVE, int(best.entries / SHARE)) if best.exact else IMPROVE // 10
        if limit is not None and limit < best.memory < REACH * limit:
            took = stopping.seconds - began
            enough = took > PATIENCE * (took + (stopping.remaining or 0.0))
            allowed = spent + work if stopping.remaining is not None and not enough else IMPROVE
        if spent + work > allowed or stopping.check(math.inf):
            break
        criterion, loudness = TRIES[k % len(TRIES)]
        rank = rng.permutation(f.n).astype(np.int32)
        noise = rng.integers(0, 1 << loudness, f.n)
        abort = _effort(best)
        order, known, width, _, _, work = graph.greedy(noise, rank, criterion, BUDGET, abort, stopping)
        spent += work
        if len(order) == f.n and (known == f.n or not best.exact):
            best = min(best, measured(f, order, width), key=_effort)
    return best


def _effort(found: EliminationOrder) -> float:
    """The estimated nanoseconds of elimination, including the time to allocate new memory."""
    return found.entries + MEMORY_WEIGHT * found.memory if found.exact else math.inf


def measured(f: FactorGraph, order: NDArray[np.int32], width: int = 0) -> EliminationOrder:
    """An order with the memory and time that elimination in this order takes."""
    plan = make_plan(f, order)
    if isinstance(plan, Plan):
        size, kept = plan.bytes_to_minimise, plan.bytes_both_ways
        return EliminationOrder(order, plan.width, True, plan.largest, plan.entries, size, kept, plan)
    return EliminationOrder(order, width, False, 2**62, 2.0**62, 2**65, 2**65, None)


def order_of(f: FactorGraph, order: Any, seed: int | None, stopping: Stopping, limit: int) -> EliminationOrder:
    """The order that a caller gives, or else one that is found.

    Raises
    ------
    InvalidOption
        If a variable is unknown, missing or named twice.
    """
    if order is None:
        return find_order(f, seed, stopping, limit)
    if isinstance(order, EliminationOrder):
        return measured(f, _indices(f, order.indices.tolist(), by_name=False))
    if isinstance(order, str) or not isinstance(order, Iterable):
        raise InvalidOption(f"order is {order!r}: expected all variables in the order of elimination")
    return measured(f, _indices(f, list(order), by_name=True))


def _indices(f: FactorGraph, given: list[Hashable], by_name: bool) -> NDArray[np.int32]:
    try:
        indices = [f.index(name) for name in given] if by_name else given
    except InvalidProblem as error:
        raise InvalidOption(f"order: {error}") from None
    array = np.array(indices, np.int32).reshape(-1)
    if len(array) and array.max() >= f.n:
        raise InvalidOption(f"order has variable {array.max()}: the factor graph has {f.n} variables")
    seen = np.bincount(array, minlength=f.n)
    for wrong, what in ((seen > 1, "names variable {!r} twice"), (seen == 0, "lacks variable {!r}")):
        if wrong.any():
            name = f.variables[int(np.flatnonzero(wrong)[0])]
            raise InvalidOption(f"order {what.format(name)}: expected each variable once")
    return array

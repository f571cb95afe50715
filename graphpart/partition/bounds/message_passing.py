"""Message passing: dual block-coordinate ascent over stars and conflicted cycles, from a packing of them.

The amounts of a packing (see `cycle_packing`) are the feasible points of a linear program. It maximises the sum of
amounts times worths, where the worth of an inequality is the rise of the bound by an amount of 1, and where the amounts
of all inequalities that contain a pair add up to at most the capacity of the pair. Over all conflicted cycles, its
optimum plus the negative costs is the bound of the relaxation of set partition by all cycle inequalities (Demaine,
Emanuel, Fiat & Immorlica 2006 relate it to multicommodity flow). Stars improve this bound. A greedy packing is a
maximal point of the linear program, but not a maximum. From there, two steps take turns. First, each pair redistributes
its capacity among the inequalities that contain it, by messages from pairs to inequalities and back (Swoboda & Andres
2017; Abbas & Swoboda 2022), which never lowers the bound. Second, further inequalities are packed into the capacity
that is left.

A packing with integer amounts leaves no capacity to redistribute. For a matrix, the start is therefore the mean of
several packings, made with the elements in different orders. The result is the better one of the first packing and
message passing from the mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphpart.common.steps import ROUNDING
from graphpart.partition.bounds import _kernels
from graphpart.partition.bounds.cycle_packing import DENSE_UP_TO, STAGES, pack, pack_matrix, pack_pairs
from graphpart.partition.certificates.inequalities import Inequalities
from graphpart.partition.problem import SetPartition
from graphpart.stopping import Stopping

__all__ = ["LITTLE", "ORDERS", "SWEEPS", "pass_messages", "rounds_of_messages"]

Floats = NDArray[np.float64]
SWEEPS = 20  # most sweeps of one call of a coordinate ascent
LITTLE = 1e-4  # a round or sweep is the last if it gains at most this share of the gain so far
ORDERS = 6


def pass_messages(p: SetPartition, stopping: Stopping, rounds: float = math.inf) -> tuple[Inequalities, Floats]:
    """Cycles and their amounts, for a problem without required joins.

    Notes
    -----
    One sweep is linear in the number of pairs of all cycles (times the length of the cycles).
    """
    *_, last = rounds_of_messages(p, stopping, rounds)
    return last


def rounds_of_messages(
    p: SetPartition, stopping: Stopping, rounds: float = math.inf, first: tuple[Inequalities, Floats] | None = None
) -> Iterator[tuple[Inequalities, Floats]]:
    """The same after each step: first a packing, if it is not given, then rounds, each with a better bound."""
    first = pack(p, stopping) if first is None else first
    yield first
    rows, amounts = first
    averaged = False
    if p.matrix is not None and p.n <= DENSE_UP_TO and not stopping.check(np.inf):
        rows, amounts = _mean_of_packings(p.matrix, first, stopping)
        averaged = True
    u, v, cost = p.pairs()
    keys = u.astype(np.int64) * p.n + v
    while rounds > 0 and len(amounts) and not stopping.check(np.inf):
        rounds -= 1
        starts, terms, signs, rhs = rows.terms(p.n)
        worth = _worth(starts, signs, rhs)
        before = float(amounts @ worth)
        pairs = np.searchsorted(keys, terms)
        capacity = np.abs(cost)
        shared = amounts.copy()
        _kernels.share(starts, pairs, capacity, worth, shared, SWEEPS, stopping)
        if shared @ worth > before:
            amounts = shared
        load = np.bincount(pairs, np.repeat(amounts, np.diff(starts)), len(cost))
        rest = np.maximum(capacity - load, 0.0)
        rest[rest <= ROUNDING * capacity] = 0.0
        more, more_amounts = _pack_rest(p, u, v, np.copysign(rest, cost), stopping)
        rows, amounts = rows + more, np.concatenate([amounts, more_amounts])
        gained = float(more_amounts.sum()) + float(amounts[: len(worth)] @ worth) - before
        yield rows, amounts
        if gained <= LITTLE * before:
            break
    if averaged and _value(p.n, rows, amounts) < _value(p.n, *first):
        yield first


def _worth(starts: NDArray[np.int64], signs: NDArray[np.int8], rhs: Floats) -> Floats:
    """The rise of the bound by an amount of 1 of each inequality: its attractive pairs less its right-hand side."""
    worth: Floats = np.add.reduceat(signs > 0, starts[:-1], dtype=np.int64) - rhs if len(rhs) else np.zeros(0)
    return worth


def _value(n: int, rows: Inequalities, amounts: Floats) -> float:
    starts, _, signs, rhs = rows.terms(n)
    return float(amounts @ _worth(starts, signs, rhs))


def _mean_of_packings(
    matrix: Floats, first: tuple[Inequalities, Floats], stopping: Stopping
) -> tuple[Inequalities, Floats]:
    """The mean of a packing and others, made with the elements in random orders."""
    rng = np.random.default_rng(0)
    packings = [first]
    while len(packings) < ORDERS and not stopping.check(np.inf):
        order = rng.permutation(len(matrix))
        rows, amounts = pack_matrix(np.ascontiguousarray(matrix[np.ix_(order, order)]), stopping)
        packings.append((rows.renamed(order), amounts))
    rows = packings[0][0]
    for others, _ in packings[1:]:
        rows = rows + others
    return rows, np.concatenate([amounts for _, amounts in packings]) / len(packings)


def _pack_rest(
    p: SetPartition, u: NDArray[np.int32], v: NDArray[np.int32], rest: Floats, stopping: Stopping
) -> tuple[Inequalities, Floats]:
    if p.is_dense:
        matrix = np.zeros((p.n, p.n))
        matrix[u, v] = matrix[v, u] = rest
        return pack_matrix(matrix, stopping)
    left = np.flatnonzero(rest)
    return pack_pairs(p.n, u[left], v[left], rest[left], stopping, STAGES)

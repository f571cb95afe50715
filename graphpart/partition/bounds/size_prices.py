"""A Lagrangian relaxation of the largest size of clusters: prices of partners take the place of the limit.

In a cluster of size at most S, the partners of an element a of size s_a have the size S - s_a together, or less. So for
all prices l_a >= 0 of a unit of this size, every partition x within the limit costs at least

    sum over pairs ab of (c_ab + l_a s_b + l_b s_a) x_ab  -  sum over elements a of l_a (S - s_a)

and a lower bound on the first sum, over all partitions, is one within the limit once the second sum is subtracted. The
first sum is the cost in a problem without limits, so all bounds of such problems apply, and see both that attraction is
in conflict and that clusters are small. If every cluster must have the size S, prices may be negative, too.

If an element had only the partners that cost it least, each for half of the cost of the pair, one more unit of size
would save it l_a. These prices give the bound from sizes alone (`size_bound`). As attraction is in conflict, a unit is
worth less. So the bounds of several multiples of these prices are compared, each a packing of cycles, and the best
multiple is taken: from one on, as long as the next one is better, then halfway to both sides; 0 is one of them if there
is time. Subgradient steps (Held & Karp 1971) from there gained some per cent of the gap for several times the work.

Prices are multiples of a power of two, so that few sums are rounded; those that are, are rounded downwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.bounds.background_packing import pack_implicit
from graphpart.partition.bounds.cycle_packing import pack
from graphpart.partition.certificates.certificate import proven_bound
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.forms import without_limits
from graphpart.stopping import Stopping

__all__ = ["Priced", "with_prices", "with_size_prices"]

Floats = NDArray[np.float64]
FIRST, STEP, LARGEST = 0.75, 0.25, 3.0  # multiples of the first prices
FREE = 3  # a packing without prices, which leave less attraction, takes as many times as long
PAIR, TRIPLE = 2.5e-6, 1.5e-9  # seconds of a packing for each pair, and for three elements if all pairs are listed
GRID = 20  # bits of the largest price


@dataclass(frozen=True)
class Priced:
    """A problem without limits with the prices, and what is subtracted from its costs.

    Attributes
    ----------
    problem : SetPartition
    less : float
        Every partition within the limits costs at least as much as in `problem`, less this.
    bound : float
        A lower bound of the cost within the limits.
    """

    problem: SetPartition
    less: float
    bound: float = -math.inf


def with_size_prices(p: SetPartition, stopping: Stopping) -> Priced:
    """The problem with the prices that prove most, without any if these prove nothing more.

    Parameters
    ----------
    p : SetPartition
        With limits, without required joins.
    stopping : Stopping
        If its time is too short to compare two packings, by an estimate, there are no prices.

    Notes
    -----
    O(m log m), and some packings of cycles.

    Examples
    --------
    >>> from itertools import combinations
    >>> p = SetPartition.from_pairs(6, list(combinations(range(6), 2)), [-1.0] * 15, max_size=2)
    >>> round(with_size_prices(p, Stopping()).bound, 9)  # three clusters of two
    -3.0
    """
    limits = p._limits
    free = Priced(without_limits(p), 0.0)
    whole = PAIR * p.m + TRIPLE * p.n**3 * (4 * p.m > p.n * p.n)
    if limits is None or limits.max_size is None or p.lifted is not None or p.m == 0:
        return free
    if stopping.remaining is not None and 2.0 * whole > stopping.remaining:
        return free
    first = _first_prices(p)
    if not first.any():
        return free
    began, best, at, tried = stopping.seconds, Priced(free.problem, 0.0), 0.0, set[float]()

    def better(multiple: float) -> bool:
        """Whether the bound of this multiple is the best one."""
        nonlocal best, at
        left = stopping.remaining
        if multiple in tried or not 0.0 <= multiple <= LARGEST:
            return False
        if left is not None and left < took * (1 if multiple else FREE):
            return False
        tried.add(multiple)
        priced = _packed(with_prices(p, multiple * first), stopping)
        if priced.bound > best.bound:
            best, at = priced, multiple
            return True
        return False

    took = 0.0
    better(FIRST)
    took = stopping.seconds - began
    better(0.0)
    if not at:
        better(FIRST / 3)
    for step in (STEP, -STEP):
        while at and better(at + step):
            pass
    for step in (STEP / 2, -STEP / 2):
        if at:
            better(at + step)
    return best


def _packed(priced: Priced, stopping: Stopping) -> Priced:
    """With the bound of a packing of cycles."""
    packing = pack if priced.problem.background is None else pack_implicit
    bound = proven_bound(priced.problem, *packing(priced.problem, stopping.child(plus=math.inf)))
    return replace(priced, bound=bound if not priced.less else math.nextafter(bound - priced.less, -math.inf))


def with_prices(p: SetPartition, prices: Floats) -> Priced:
    """The problem without limits with prices of partners, one for each element; see above. O(m)

    The prices are rounded to a grid. Negative ones are for problems all of whose clusters have the largest size, and
    whose pairs are all listed.
    """
    limits = p._limits
    assert limits is not None and limits.max_size is not None
    sizes = _sizes(p)
    u, v, cost = p.pairs()
    finite = np.abs(cost[np.isfinite(cost)])
    largest = max(float(finite.max(initial=0.0)), float(np.abs(prices).max(initial=0.0)))
    grid = math.ldexp(1.0, max(-1000, math.frexp(largest)[1] - GRID))
    prices = np.rint(prices / grid) * grid
    added = prices[u] * sizes[v] + prices[v] * sizes[u]
    priced = cost + added
    # What was lost in the sum (Knuth's two-sum); sums that are too large are rounded downwards.
    with np.errstate(invalid="ignore"):
        other = priced - cost
        lost = (cost - (priced - other)) + (added - other)
    priced = np.where(lost < 0, np.nextafter(priced, -np.inf), priced)
    less = math.fsum((prices * (limits.max_size - sizes)).tolist())
    if less:
        less = math.nextafter(less, math.inf)
    free = without_limits(p)
    return Priced(free._of_pairs(p.nodes, u, v, priced, p.background, free._rules), less)


def _sizes(p: SetPartition) -> Floats:
    return np.ones(p.n) if p._sizes is None else p._sizes.astype(np.float64)


def _first_prices(p: SetPartition) -> Floats:
    """For each element, what one more unit of size would save it if others agreed; see above."""
    limits = p._limits
    assert limits is not None and limits.max_size is not None
    sizes = _sizes(p)
    u, v, cost = p._listed()
    row, other, half = np.concatenate([u, v]), np.concatenate([v, u]), np.tile(cost / 2, 2)
    value = half / sizes[other]
    order = np.lexsort((value, row))
    row, other, value = row[order], other[order], value[order]
    begins = np.searchsorted(row, np.arange(p.n + 1))
    load = np.cumsum(sizes[other])
    load -= (load - sizes[other])[np.minimum(begins[row], len(row) - 1)]  # of the partners of this row so far
    fits = load <= limits.max_size - sizes[row]
    count = np.bincount(row[fits], minlength=p.n)
    last = np.minimum(begins[:-1] + count, len(row) - 1)  # the first one that does not fit
    prices = np.where(begins[:-1] + count < begins[1:], -value[last], 0.0)
    full = limits.is_full(p.n) and p.background is None and p.m == p.n * (p.n - 1) // 2
    prices[~np.isfinite(prices)] = 0.0
    return prices if full else np.maximum(prices, 0.0)

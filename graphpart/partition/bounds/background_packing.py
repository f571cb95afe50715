"""Packing of stars and cycles, and message passing between them, for problems with a background.

The algorithms are those of `cycle_packing` and `message_passing`. But most pairs that close stars and cycles are not
listed. The capacity of such a pair is its background, and the pair is added when an inequality first uses it. Only
listed pairs attract. (If the background attracts, all of its negative terms are part of the bound, in the certificate.)
A pair of a group at price inf has unlimited capacity and is not added.

0. Where a subset has at most one member of a group, group stars are packed first, and again after each round (see
   `group_stars`). The packing uses the attraction that group stars leave.
1. For each element, the star of this element and the elements that it attracts is packed. Each of the two stars at the
   ends of a pair gets half of the capacity of the pair. Where all pairs attract equally, the star of an element gets
   the whole capacity, half of it, or none. The two shares of a pair then add up to at least one. The sum of the shares
   over all elements is as small as possible, because the star of each element leaves one pair unused. So the shares are
   a minimum fractional vertex cover (Nemhauser & Trotter 1975). If no two neighbours of an element are neighbours of
   each other, this is the best bound that stars prove.
2. Stars and cycles are packed into the remaining capacity: large stars first, then conflicted triangles, then longer
   cycles along shortest paths.
3. Message passing redistributes capacities. Steps 2 and 3 take turns.

Memory is in proportion to the number of listed pairs, because the number of added pairs is limited to a multiple of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.steps import ROUNDING
from graphpart.kernels import _pairs
from graphpart.partition.bounds import _kernels
from graphpart.partition.bounds._kernels import ImplicitPairs
from graphpart.partition.bounds.cycle_packing import STAGES, pack_pairs
from graphpart.partition.bounds.group_stars import GroupStars
from graphpart.partition.bounds.message_passing import LITTLE, SWEEPS
from graphpart.partition.bounds.relaxation import PARAMETERS
from graphpart.partition.certificates.inequalities import TWO_PARTITION, Inequalities
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.background import Background
from graphpart.stopping import Stopping

__all__ = ["ImplicitPacking", "added_pairs", "memberships", "pack_implicit", "pass_messages_implicit"]

Floats = NDArray[np.float64]
LARGEST_STAR = 64  # most leaves of a star
SHARES = (1.0, 0.25, 0.05, 0.0)  # least amounts of stars in successive stages, as shares of the mean attraction


class ImplicitPacking:
    """A packing of a problem with a background and without required joins.

    Attributes
    ----------
    rows : Inequalities
        Stars and cycles.
    amounts : ndarray of float64, shape (k,)
    group_stars : GroupStars or None
    pairs : ImplicitPairs
        The numbers of pairs: the listed pairs, in their order, then the added pairs.
    u, v, cost : ndarray, shape (m,)
        The listed pairs with their whole costs.
    most : int
        Largest number of pairs that are added, so that memory stays in proportion to the number of listed pairs.
    """

    def __init__(self, p: SetPartition, stopping: Stopping) -> None:
        assert p.background is not None
        self.n, self.stopping = p.n, stopping
        self.u, self.v, self.cost = p._listed()
        m = len(self.cost)
        self.most = added_pairs(m)
        starts, neighbours, numbers = _pairs.adjacency(p.n, self.u, self.v, np.arange(m, dtype=np.float64)).arrays
        terms = p.background.vectors
        x, y = (np.array([term[side] for term in terms]).reshape(len(terms), p.n).T.copy() for side in (0, 1))
        single = np.array([term[0] is term[1] for term in terms], np.uint8)
        self.pairs = ImplicitPairs(
            starts, neighbours, numbers.astype(np.int64), m, p.background.beta, x, y, single,
            *memberships(p.background), self.most,
        )  # fmt: skip
        self.group_stars: GroupStars | None = None
        groups = p.background.groups
        if groups is not None and groups.is_hard:
            self.group_stars = GroupStars(self.u, self.v, self.cost, groups)
        finite = np.abs(self.cost[self.cost < 0])
        self._mean = float(finite.mean()) if len(finite) else 0.0
        self.rows = Inequalities.none()
        self.amounts = np.zeros(0)
        self._ends, self._terms = np.zeros(1, np.int64), np.zeros(0, np.int64)

    @property
    def value(self) -> float:
        """The rise of the bound by the packing."""
        packed = float((self.amounts * self._worth()).sum())
        return packed if self.group_stars is None else packed + self.group_stars.value(np.maximum(-self.cost, 0.0))

    @property
    def proof(self) -> tuple[Inequalities, Floats]:
        """All inequalities, and their multipliers."""
        if self.group_stars is None:
            return self.rows, self.amounts
        rows, multipliers = self.group_stars.found()
        return self.rows + rows, np.concatenate([self.amounts, multipliers])

    def _capacity(self) -> Floats:
        """The capacity of each pair for stars and cycles."""
        capacity: Floats = np.abs(np.concatenate([self.cost, self.pairs.costs()]))
        if self.group_stars is not None:
            attracts = np.flatnonzero(self.cost < 0)
            capacity[attracts] = np.maximum(capacity[attracts] - self.group_stars.load[attracts], 0.0)
        return capacity

    def _load(self) -> Floats:
        """The capacity of each pair that stars and cycles use."""
        amounts = np.repeat(self.amounts, np.diff(self._ends))
        return np.bincount(self._terms, amounts, len(self.cost) + self.pairs.size()).astype(np.float64)

    def _pack_group_stars(self) -> None:
        if self.group_stars is not None and len(self.group_stars):
            left = np.maximum(-self.cost - self._load()[: len(self.cost)], 0.0)
            self.group_stars.improve(left, self.stopping)

    def pack(self) -> float:
        """Pack stars and cycles into the capacity that is left; return the value gained."""
        if self.stopping.check(np.inf):
            return 0.0
        before = self.value
        self._pack_group_stars()
        capacity = self._capacity()
        left = np.maximum(capacity - self._load(), 0.0)
        left[left <= ROUNDING * capacity] = 0.0
        m = len(self.cost)
        self.pairs.begin(left[m:])
        rest = np.copysign(left[:m], self.cost)
        order = np.arange(self.n, dtype=np.int32)
        stages = [self._mean * share for share in SHARES]
        if not len(self.amounts):
            wanted = rest < 0
            if wanted.any() and np.ptp(rest[wanted]) == 0:
                whole, halves = centres(self.n, self.u[wanted], self.v[wanted], self.stopping)
            else:
                whole, halves = order[:0], order
            half = 0.5 * capacity[:m]
            for least in stages:
                self.pairs.stars(rest, capacity[:m], whole, least, 3, LARGEST_STAR, True, self.stopping)
                self.pairs.stars(rest, half, halves, 0.5 * least, 3, LARGEST_STAR, True, self.stopping)
        for least in stages:
            self.pairs.stars(rest, capacity[:m], order, least, 3, LARGEST_STAR, False, self.stopping)
        self.pairs.stars(rest, capacity[:m], order, 0.0, 2, 2, False, self.stopping)
        self.pairs.cycles(rest, PARAMETERS.reach, self.stopping)
        starts, elements, term_ends, terms, amounts, stars = self.pairs.end()
        found = Inequalities(
            np.where(stars, TWO_PARTITION, 0).astype(np.uint8), starts, elements, stars.astype(np.int32)
        )
        self._add(found, amounts, term_ends, terms)
        used = np.flatnonzero(rest)
        if (rest > 0).any() and (rest < 0).any():  # long cycles that listed pairs close
            attractive = rest[used]
            longer, more = pack_pairs(self.n, self.u[used], self.v[used], attractive, self.stopping, STAGES)
            lengths, keys, _, _ = longer.terms(self.n)
            listed = np.searchsorted(self.u[used].astype(np.int64) * self.n + self.v[used], keys)
            self._add(longer, more, lengths[1:], used[listed])
        return self.value - before

    def share(self) -> None:
        """Redistribute capacities, if this raises the value."""
        worth, shared = self._worth(), self.amounts.copy()
        _kernels.share(self._ends, self._terms, self._capacity(), worth, shared, SWEEPS, self.stopping)
        if float((shared * worth).sum()) > float((self.amounts * worth).sum()):
            self.amounts = shared

    def improve(self) -> Iterator[float]:
        """Message passing: redistribute and pack in turn, until this gains little; yields the gain of each round."""
        while len(self.proof[1]) and not self.stopping.check(np.inf):
            before = self.value
            if len(self.amounts):
                self.share()
            self.pack()
            gained = self.value - before
            yield gained
            if gained <= LITTLE * before:
                break

    def _add(
        self, found: Inequalities, amounts: Floats, term_ends: NDArray[np.int64], terms: NDArray[np.int64]
    ) -> None:
        self.rows = self.rows + found
        self.amounts = np.concatenate([self.amounts, amounts])
        self._ends = np.concatenate([self._ends, term_ends + self._ends[-1]])
        self._terms = np.concatenate([self._terms, terms])

    def _worth(self) -> Floats:
        """The rise of the bound by an amount of 1 of each: for a star, its leaves less one; for a cycle, one."""
        return np.where(self.rows.kinds == TWO_PARTITION, np.diff(self.rows.starts) - 2, 1).astype(np.float64)


def centres(
    n: int, u: NDArray[np.int32], v: NDArray[np.int32], stopping: Stopping
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The elements whose share in a least fractional vertex cover of pairs is one, and those whose share is a half.

    The former come in descending order of their degrees. O(m sqrt(n)); all shares are a half if it is stopped.
    """
    starts, neighbours, _ = _pairs.adjacency(n, u, v).arrays
    twice = _kernels.cover(starts, neighbours, stopping)
    if twice is None:
        return np.zeros(0, np.int32), np.arange(n, dtype=np.int32)
    degree = np.diff(starts)
    whole = np.flatnonzero(twice == 2)
    whole = whole[np.argsort(-degree[whole], kind="stable")]
    return whole.astype(np.int32), np.flatnonzero((twice == 1) & (degree > 0)).astype(np.int32)


def added_pairs(m: int) -> int:
    """The largest number of unlisted pairs that a packing of a problem with m listed pairs adds."""
    return 16 * m + 100_000


def memberships(background: Background) -> tuple[Any, Any, Any, Any]:
    """The arrays of the groups of a background, for kernels; empty without groups."""
    groups = background.groups
    if groups is None:
        return np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0)
    return groups.starts, groups.group, groups.count, groups.price


def pack_implicit(p: SetPartition, stopping: Stopping) -> tuple[Inequalities, Floats]:
    """The form of `cycle_packing.pack` for problems with a background."""
    packing = ImplicitPacking(p, stopping)
    packing.pack()
    return packing.proof


def pass_messages_implicit(p: SetPartition, stopping: Stopping) -> tuple[Inequalities, Floats]:
    """The form of `message_passing.pass_messages` for problems with a background."""
    packing = ImplicitPacking(p, stopping)
    packing.pack()
    for _ in packing.improve():
        pass
    return packing.proof

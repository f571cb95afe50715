"""The current inequalities of a relaxation, without duplicates, as rows over its variables, with multipliers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.bounds import _kernels
from graphpart.partition.certificates.inequalities import Inequalities

__all__ = ["Rows"]

Floats = NDArray[np.float64]


class Rows:
    """Inequalities ``a_k y <= rhs[k]`` with multipliers.

    Parameters
    ----------
    n, m : int
        Elements and variables.
    positions : callable
        From an array of keys ``a * n + b``, a < b, to the variables of these pairs.

    Attributes
    ----------
    inequalities : Inequalities
    starts : ndarray of int64, shape (k + 1,)
    middles : ndarray of int64, shape (k,)
    pairs : ndarray of int32
        Row k has the variables ``pairs[starts[k]:middles[k]]`` with sign +, those up to ``starts[k + 1]`` with sign -.
    rhs, multipliers : ndarray of float64, shape (k,)
    status : ndarray of int8, shape (k,)
        The status of each row in the last basis of the simplex method.
    counts : ndarray of int64, shape (m,)
        The number of rows that contain each variable.
    """

    def __init__(self, n: int, m: int, positions: Callable[[NDArray[np.int64]], NDArray[np.int64]]) -> None:
        self.n, self.m, self._positions = n, m, positions
        # Two rows are the same if these words, added up with their signs, are; 64 bits make a mistake unlikely,
        # and its multiplier is an inequality that is not added.
        self._words = np.random.default_rng(0).integers(0, 2**64, m, np.uint64)
        self.inequalities = Inequalities.none()
        self.starts, self.middles, self.pairs = np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32)
        self.rhs, self.multipliers, self.status = np.zeros(0), np.zeros(0), np.zeros(0, np.int8)
        self._hashes = np.zeros(0, np.uint64)
        self.counts = np.zeros(m, np.int64)

    def __len__(self) -> int:
        return len(self.rhs)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of terms of each row."""
        return np.diff(self.starts)

    def grow(self, m: int) -> None:
        """Increase the number of variables to m."""
        more = np.random.default_rng([0, self.m]).integers(0, 2**64, m - self.m, np.uint64)
        self._words = np.concatenate([self._words, more])
        self.counts = np.concatenate([self.counts, np.zeros(m - self.m, np.int64)])
        self.m = m

    def add(self, found: Inequalities, multipliers: Floats | None = None) -> int:
        """Add new inequalities, with multipliers or 0; return their number. Multipliers of the same one add up."""
        starts, keys, signs, rhs = found.terms(self.n)
        pairs = self._positions(keys).astype(np.int32)  # which may make variables, and grow
        middles, pairs, hashes = _kernels.arrange(starts, pairs, signs, self._words)
        _, at, same = np.unique(hashes, return_index=True, return_inverse=True)
        given = np.zeros(len(found))
        if multipliers is not None:
            given[at] = np.bincount(same.ravel(), multipliers)
        first = np.zeros(len(found), bool)
        first[at] = True
        if len(self):
            known = np.sort(self._hashes)
            first &= known[np.minimum(np.searchsorted(known, hashes), len(known) - 1)] != hashes
        if not first.all():
            lengths = np.diff(starts)
            pairs = pairs[np.repeat(first, lengths)]
            pluses = (middles - starts[:-1])[first]
            starts = np.concatenate([[0], np.cumsum(lengths[first])])
            middles = starts[:-1] + pluses
            found, rhs, hashes, given = found.take(first), rhs[first], hashes[first], given[first]
        self.inequalities = self.inequalities + found
        self.middles = np.concatenate([self.middles, middles + self.starts[-1]])
        self.starts = np.concatenate([self.starts, starts[1:] + self.starts[-1]])
        self.pairs = np.concatenate([self.pairs, pairs])
        self.rhs = np.concatenate([self.rhs, rhs])
        self.multipliers = np.concatenate([self.multipliers, given])
        basic = np.ones(len(rhs), np.int8)  # the status that HiGHS gives to an inequality that is not tight
        self.status = np.concatenate([self.status, basic])
        self._hashes = np.concatenate([self._hashes, hashes])
        self.counts += np.bincount(pairs, minlength=self.m)
        return len(rhs)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop all other rows."""
        if kept.all():
            return
        lengths = self.lengths
        self.inequalities = self.inequalities.take(kept)
        pluses = (self.middles - self.starts[:-1])[kept]
        self.pairs = self.pairs[np.repeat(kept, lengths)]
        self.starts = np.concatenate([[0], np.cumsum(lengths[kept])])
        self.middles = self.starts[:-1] + pluses
        self.rhs, self.multipliers, self.status = self.rhs[kept], self.multipliers[kept], self.status[kept]
        self._hashes = self._hashes[kept]
        self.counts = np.bincount(self.pairs, minlength=self.m)

    def by_length(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """The rows sorted by length, for which kernels are faster: order, starts, middles, pairs.

        Rows with multiplier 0 come last.
        """
        return self._sorted(self.starts, self.middles, self.pairs)

    def of_free(
        self, free: NDArray[np.int64], y: Floats
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], Floats]:
        """The rows with right-hand sides, over the variables `free`, numbered from 0; the others have the values y."""
        if len(free) == self.m:
            order, starts, middles, pairs = self.by_length()
            return order, starts, middles, pairs, self.rhs[order]
        place = np.full(self.m, -1, np.int32)
        place[free] = np.arange(len(free), dtype=np.int32)
        starts, middles, pairs, taken = _kernels.compressed(self.starts, self.middles, self.pairs, place, y)
        order, starts, middles, pairs = self._sorted(starts, middles, pairs)
        return order, starts, middles, pairs, (self.rhs - taken)[order]

    def _sorted(
        self, starts: NDArray[np.int64], middles: NDArray[np.int64], pairs: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        lengths, pluses = np.minimum(np.diff(starts), 127), np.minimum(middles - starts[:-1], 127)
        kinds = (lengths * 128 + pluses + (self.multipliers == 0) * 16384).astype(np.uint16)
        order = np.argsort(kinds, kind="stable")
        return order, *_kernels.reordered(order, starts, middles, pairs)

    def signs(self) -> Floats:
        """1 or -1 for each term."""
        parts = np.stack([self.middles - self.starts[:-1], self.starts[1:] - self.middles], 1).ravel()
        return np.repeat(np.tile([1.0, -1.0], len(self)), parts)

    def left(self, y: Floats) -> Floats:
        """The left-hand sides at a point."""
        return _kernels.left(self.starts, self.middles, self.pairs, y) if len(self.pairs) else np.zeros(len(self))

    def reduced(self, cost: Floats, multipliers: Floats) -> Floats:
        """Reduced costs: costs plus the terms that multipliers add to them."""
        out = cost.copy()
        if len(self.pairs):
            _kernels.add_rows(self.starts, self.middles, self.pairs, multipliers, out)
        return out

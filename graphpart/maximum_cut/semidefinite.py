"""A semidefinite relaxation of two sides with hypermetric inequalities: if edges are dense, other bounds are weak.

With a spin s in {-1, 1} for each node, the cost is a constant plus ``s' C s``. For each row v of whole numbers with an
odd sum, ``(v s)^2 >= 1``. A row of one number 1 holds with equality; rows of three numbers 1 or -1 are the triangle
inequalities of max cut, those of five and seven the pentagonal and heptagonal ones. With multipliers m, at least 0 but
for rows of one number, all sides cost at least

    constant + sum_r m_r    if    Z = C - sum_r m_r v_r v_r'    is positive semidefinite

(the dual of the relaxation of Goemans & Williamson 1995 with the inequalities of Helmberg & Rendl 1998). With a
barrier, ``sum_r m_r + mu log det Z`` is maximised over one multiplier at a time, by a formula, and the inverse of Z
changes by a matrix of rank one (see `_odd_squares`; coordinate ascent with this barrier: Buchheim, Montenegro & Wiegele
2019). All Z on the way are positive definite, so there is a bound at any time. mu falls slowly. Its product with the
inverse is near the optimum of the primal relaxation, and those inequalities that it violates most are added after every
few sweeps: triangles by enumeration, longer rows by local search from random ones. Once mu is small, it is raised
again, and falls more slowly. Coordinate ascent comes near the optimum soon, but not to it. There, an interior point
method is better (see `interior_point`), unless there are too many rows: each of its iterations solves a linear system.

If two spins are equal, or opposite, one of them replaces the other: Z becomes ``P' Z P`` and stays positive definite,
and rows stay rows of whole numbers with an odd sum. So the relaxation of these sides starts from the multipliers and
the bound of all sides.

The same holds for at most k clusters. They have unit vectors with the product ``-1 / (k - 1)`` of each two (Frieze &
Jerrum 1997), which take the place of spins, and a row whose numbers add up to r modulo k has a square of at least
``r (k - r) / (k - 1)``: the numbers that the clusters have are whole, so they differ. A row of two numbers 1 says that
k + 1 elements are not all apart, in a weak form; four numbers 1 say it for three clusters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpart.maximum_cut import _kernels
from graphpart.maximum_cut.signed_graph import SignedGraph

if TYPE_CHECKING:
    from graphpart.maximum_cut.interior_point import InteriorPoint

__all__ = ["LARGEST", "OddRows", "Semidefinite", "half_of", "joined_costs", "joined_spins", "spin_costs"]

Floats = NDArray[np.float64]
LARGEST = 600  # largest number of nodes, which is the order of the matrices
FALL = 0.9  # factor for mu after each sweep; its square root is taken each time mu was raised
RAISED, LOW = 0.3, 0.03  # mu times the number of spins, as a share of the gap: after it was raised, and when it is
UNCHANGED = 0.06  # relative change of a multiplier below which it is not updated
VIOLATED, MORE = 0.04, 2  # added inequalities: least violation, and most for each spin
LONGER = 5, 7  # lengths of the rows that are found by local search
SLOWEST, IDLE = 0.9985, 1e-5  # the slowest fall; a rise from one fall of mu to the next that is too little for more
SHORT = 0.95  # the fall of mu for spins that were joined
MOST_ROWS, ITERATIONS = 4000, 100  # of the interior point method
BETWEEN, SLACK = 3, 0.25  # its iterations between two separations; the slack above which rows are left out then
OPEN, SHORTEST = 1.0, 0.01  # it ends with a gap between both solutions of this share of the whole, or with such steps


@dataclass(frozen=True)
class OddRows:
    """Rows of whole numbers with an odd sum, the members of each ascending, and their multipliers.

    For k clusters, the sum is no multiple of k. The first n rows are those of one number 1, one for each spin.
    """

    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    numbers: NDArray[np.int8]
    multipliers: Floats

    @classmethod
    def single(cls, multipliers: Floats) -> OddRows:
        """The rows of one number."""
        n = len(multipliers)
        return cls(np.arange(n + 1), np.arange(n, dtype=np.int32), np.ones(n, np.int8), multipliers)

    def copy(self) -> OddRows:
        """The same with other arrays for the multipliers."""
        return OddRows(self.starts, self.members, self.numbers, self.multipliers.copy())

    def part(self, kept: NDArray[np.bool_]) -> OddRows:
        """Some of the rows."""
        sizes = np.diff(self.starts)
        entries = np.repeat(kept, sizes)
        ends = np.concatenate([[0], np.cumsum(sizes[kept])])
        return OddRows(ends, self.members[entries], self.numbers[entries], self.multipliers[kept])

    def with_rows(self, members: NDArray[np.int32], numbers: NDArray[np.int8]) -> OddRows:
        """These rows, then others of one length with multipliers 0."""
        count, size = members.shape
        return OddRows(
            np.concatenate([self.starts, self.starts[-1] + size * np.arange(1, count + 1)]),
            np.concatenate([self.members, members.ravel()]),
            np.concatenate([self.numbers, numbers.ravel()]),
            np.concatenate([self.multipliers, np.zeros(count)]),
        )

    def joined(self, to: NDArray[np.int64], turned: NDArray[np.int8]) -> OddRows:
        """Rows for fewer spins, of which each of all spins is one, or its opposite."""
        n, k = int(to.max()) + 1, len(self.multipliers)
        row = np.repeat(np.arange(k), np.diff(self.starts))
        sums = np.bincount(row * n + to[self.members], turned[self.members] * self.numbers, k * n)
        at = np.flatnonzero(sums)
        row, member = np.divmod(at, n)
        numbers, sizes = sums[at], np.bincount(row, minlength=k)
        alone = sizes[row] == 1
        single = np.bincount(member[alone], numbers[alone] ** 2 * self.multipliers[row[alone]], n)
        longer = ~alone
        return OddRows(
            np.concatenate([np.arange(n + 1), n + np.cumsum(sizes[sizes > 1])]),
            np.concatenate([np.arange(n), member[longer]]).astype(np.int32),
            np.concatenate([np.ones(n), numbers[longer]]).astype(np.int8),
            np.concatenate([single, self.multipliers[sizes > 1]]),
        )

    def sides(self, clusters: int) -> Floats:
        """The least square of each row; 0 if its sum is a multiple of this number of clusters."""
        rest = np.add.reduceat(self.numbers.astype(np.int64), self.starts[:-1]) % clusters
        return np.asarray(rest * (clusters - rest) / (clusters - 1))

    def keys(self) -> NDArray[np.uint64]:
        """A number for each row, equal for equal rows, up to the sign of all numbers."""
        if not len(self.members):
            return np.zeros(0, np.uint64)
        of_spin = np.random.default_rng(0).integers(0, 2**63, int(self.members.max()) + 1, np.uint64)
        first = np.repeat(np.sign(self.numbers[self.starts[:-1]]), np.diff(self.starts))
        numbers = (first * self.numbers).astype(np.int64).view(np.uint64)
        return np.asarray(np.add.reduceat(numbers * of_spin[self.members], self.starts[:-1]))


def spin_costs(g: SignedGraph) -> tuple[Floats, float]:
    """The matrix C with a diagonal of zeros, and the constant. O(n^2)"""
    C = np.zeros((g.n, g.n))
    C[g.u, g.v] = C[g.v, g.u] = -g.weight / 4
    return C, g.constant + float(g.weight.sum()) / 2


class Semidefinite:
    """The relaxation between two rounds.

    Parameters
    ----------
    C : ndarray of float64, shape (n, n)
        Symmetric, with a diagonal of zeros.
    constant : float
    rows : OddRows, optional
        Rows and multipliers to start from.
    clusters : int
        2 for spins; with more, vectors of so many clusters take their place.

    Attributes
    ----------
    bound : float
        The best so far, up to rounding in `spin_costs`.
    products : ndarray of float32, shape (n, n)
        The latest solution of the primal relaxation: the products of two spins, from -1 to 1.
    """

    def __init__(self, C: Floats, constant: float, rows: OddRows | None = None, clusters: int = 2) -> None:
        n = self.n = len(C)
        self.C, self.constant, self.clusters = C, constant, clusters
        self.fall = FALL if rows is None else SHORT
        if rows is None:
            size = np.abs(C).sum(axis=1)
            least = 0.1 * float(size.mean())  # with less for elements without costs, mu would begin far too small
            rows = OddRows.single(-1.01 * np.maximum(size, least) - 1e-300)
        self.rows, self.best = rows, rows.copy()
        self.bound = self._value() if self._is_definite() else -math.inf
        self.products: NDArray[np.float32] = np.zeros((n, n), np.float32)
        self.mu, self.rounds, self.falls = 0.0, 0, 0
        self._before, self._idle = -math.inf, False  # the bound when mu was raised; whether it hardly rose since
        self.rise = math.inf  # of the bound while mu fell the last time
        self._generator = np.random.default_rng(n)
        self.fell = False  # whether mu fell to the end in the last round: the point is nearest to the optimum then
        self.inside: InteriorPoint | None = None
        self.iterations = 0  # of the interior point method

    @property
    def done(self) -> bool:
        """Whether no more is to be expected."""
        return self.fall > SLOWEST or self._idle

    def _value(self) -> float:
        return math.fsum([self.constant, *(self.rows.multipliers * self.rows.sides(self.clusters)).tolist()])

    def _gap(self, cost: float) -> float:
        return max(cost - self.bound, 1e-9 * abs(self.bound)) if cost < math.inf else abs(self.bound)

    def rest(self, rows: OddRows) -> Floats:
        """Z"""
        Z = np.zeros((self.n, self.n))
        _kernels.add_squares(rows.starts, rows.members, rows.numbers, rows.multipliers, Z)
        return np.asarray(self.C - Z)

    def round(self, cost: float) -> bool:
        """Some sweeps, then other inequalities; False if rounding errors leave no way on. Within `one_thread`.

        O(n^3 + changed multipliers * n^2)
        """
        rows, n = self.rows, self.n
        if self.bound == -math.inf:
            return False
        try:
            Z = self.rest(rows)
            np.linalg.cholesky(Z)
            inverse = np.linalg.inv(Z)
        except np.linalg.LinAlgError:
            return False
        if self.rounds == 0:
            self.mu = 1.0 / float(np.mean(np.diag(inverse))) if self.fall == FALL else RAISED * self._gap(cost) / n
        unit = float(np.diag(inverse).max())
        W = np.ascontiguousarray(inverse / unit, np.float32)  # Z is exact again in the next round
        each, sides = (rows.starts, rows.members, rows.numbers, rows.multipliers), rows.sides(self.clusters)
        for _ in range(12):  # sweeps between two separations, which take as long as some ten sweeps
            _kernels.ascend(W, unit, *each, self.mu / sides, UNCHANGED)
            self.mu *= self.fall
        self.rounds += 1
        value = self._value()
        if value > self.bound and self._is_definite():
            self.bound, self.best = value, rows.copy()
        gap = self._gap(cost)
        self.fell = n * self.mu < LOW * gap
        if self.fell:
            self.mu, self.fall, self.falls = RAISED * gap / n, math.sqrt(self.fall), self.falls + 1
            self.rise, self._before = self.bound - self._before, self.bound
            self._idle = self.rise <= IDLE * gap
        if not (np.isfinite(W).all() and (np.diag(W) > 0).all()):
            self.rows = self.best.copy()
            return bool(np.isfinite(self.mu))
        self._take_products(W)
        self._separate(self.rows.multipliers > 0)
        return True

    @property
    def fits_inside(self) -> bool:
        """Whether the interior point method takes a fraction of a second for an iteration."""
        return len(self.rows.multipliers) <= MOST_ROWS

    def round_inside(self, cost: float) -> bool:
        """An iteration of the interior point method; False if it has no more to give. Within `one_thread`.

        Rows are added after every few iterations, far from the end of the central path: from there, the method would
        take many iterations to come to points that satisfy new rows. It ends where the gap between the primal and the
        dual solution shows that these rows do not prove the cost. O(rows^3 + n^3)
        """
        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                return self._iterate(cost)
        except (np.linalg.LinAlgError, FloatingPointError):
            return False

    def _iterate(self, cost: float) -> bool:
        from graphpart.maximum_cut.interior_point import InteriorPoint

        inside = self.inside
        if inside is None:
            linear, shift = self._linear(), self._gap(cost) / self.n
            inside = self.inside = InteriorPoint(self.C, *linear, self.rows.multipliers, shift)
        inside.iterate()
        self.iterations += 1
        self.rows = replace(self.rows, multipliers=inside.multipliers)
        value = self._value()
        if value > self.bound and self._is_definite():
            self.bound, self.best = value, self.rows.copy()
        self._take_products(inside.X)
        if inside.length <= SHORTEST or inside.mu * len(inside.slack) <= OPEN * self._gap(cost):
            return False
        if self.iterations % BETWEEN == 0:
            kept = inside.slack < SLACK
            self._separate(kept)
            inside.change(*self._linear(), kept)
        return self.iterations < ITERATIONS and self.fits_inside

    def leave_inside(self, cost: float) -> None:
        """Go on with sweeps from the best multipliers."""
        self.inside, self.rows, self.mu = None, self.best.copy(), RAISED * self._gap(cost) / self.n

    def _linear(self) -> tuple[Any, Floats]:
        """The rows as a matrix, and the least square of each."""
        from scipy.sparse import csr_array

        rows = self.rows
        entries = rows.numbers.astype(np.float64), rows.members, rows.starts
        return csr_array(entries, shape=(len(rows.multipliers), self.n)), rows.sides(self.clusters)

    def _take_products(self, W: NDArray[Any]) -> None:
        """The products of unit vectors, from those of vectors; their upper half is used."""
        scale = 1.0 / np.sqrt(np.diag(W))
        X = np.triu(W, 1) * np.outer(scale, scale)
        self.products = np.asarray(X + X.T, np.float32)

    def _is_definite(self) -> bool:
        """Whether Z is positive semidefinite, also with all rounding errors.

        The largest possible errors of its entries, and of a factorisation that ends (Rump 2006), are subtracted first.
        """
        rows, n = self.rows, self.n
        sums = np.add.reduceat(np.abs(rows.numbers).astype(np.float64), rows.starts[:-1])
        each = np.repeat(np.abs(rows.multipliers) * sums, np.diff(rows.starts)) * np.abs(rows.numbers)
        largest = float((np.abs(self.C).sum(axis=1) + np.bincount(rows.members, each, n)).max())
        Z = self.rest(rows)
        Z[np.diag_indices(n)] -= 2.0**-52 * n * (n + len(rows.multipliers)) * largest
        try:
            np.linalg.cholesky(Z)
        except np.linalg.LinAlgError:
            return False
        return True

    def _separate(self, kept: NDArray[np.bool_]) -> None:
        """Leave out the other inequalities, and add those that the products violate most; `kept` is changed."""
        n, X = self.n, self.products
        kept[:n] = True
        rows = self.rows.part(kept)
        triples, signs, sums = _kernels.triangles(X, -1.0 - VIOLATED / 2)
        found = [(triples, signs, 3.0 + 2.0 * sums)]
        if self.clusters > 2:
            pairs = np.argwhere(np.triu((1 - self.clusters) * X > 1.0, 1)).astype(np.int32)
            found.append((pairs, np.ones(pairs.shape, np.int8), 2.0 + 2.0 * X[pairs[:, 0], pairs[:, 1]]))
        for length in LONGER if self.clusters == 2 else (4, *LONGER):
            if length <= n:
                found.append(self._longer(X, length))
        all_rows = [OddRows.single(np.zeros(0)).with_rows(members, numbers) for members, numbers, _ in found]
        excess = [sums - fresh.sides(self.clusters) for fresh, (*_, sums) in zip(all_rows, found, strict=True)]
        least = np.concatenate(excess)
        most = np.partition(least, MORE * n)[MORE * n] if len(least) > MORE * n else math.inf
        known = rows.keys()
        for fresh, above, (members, numbers, _) in zip(all_rows, excess, found, strict=True):
            new = (above < min(most, -VIOLATED)) & ~np.isin(fresh.keys(), known)
            rows = rows.with_rows(members[new], numbers[new])
        self.rows = rows

    def _longer(self, X: NDArray[np.float32], length: int) -> tuple[NDArray[np.int32], NDArray[np.int8], Floats]:
        """Rows of this many numbers 1 and -1 whose squares the products make small: members, numbers, squares."""
        count = self.n // 2 + 1  # searches
        members = np.argsort(self._generator.random((count, self.n), np.float32), axis=1)[:, :length].astype(np.int32)
        numbers = self._generator.choice(np.array([-1, 1], np.int8), (count, length))
        sums = _kernels.descend_squares(X, members, numbers)
        order = np.argsort(members, axis=1)
        members, numbers = np.take_along_axis(members, order, 1), np.take_along_axis(numbers, order, 1)
        numbers *= numbers[:, :1]
        _, first = np.unique(np.concatenate([members, numbers], axis=1), axis=0, return_index=True)
        return members[first], numbers[first], sums[first]


def half_of(C: Floats, constant: float, rows: OddRows, i: int, j: int, sign: int) -> Semidefinite:
    """The relaxation of the sides whose spin j is `sign` times spin i, for ``i < j``; later spins move up.

    Z becomes ``P' Z P``, and the bound of the rows remains. O(n^3 + rows * n)
    """
    to, turned = joined_spins(np.arange(len(C)), np.ones(len(C), np.int8), i, j, sign)
    joined = rows.joined(to, turned)
    joined.multipliers[i] -= 2 * sign * C[i, j]  # now in the constant
    return Semidefinite(*joined_costs(C, constant, to, turned), joined)


def joined_costs(C: Floats, constant: float, to: NDArray[np.int64], turned: NDArray[np.int8]) -> tuple[Floats, float]:
    """Matrix and constant for fewer spins, of which each of all spins is one, or its opposite. O(n^2)"""
    n = int(to.max()) + 1
    at = to[:, None] * n + to
    products = (C * np.outer(turned, turned)).ravel()
    D: Floats = np.bincount(at.ravel(), products, n * n).astype(np.float64).reshape(n, n)
    fixed = np.diag(D).copy()
    np.fill_diagonal(D, 0.0)
    return D, math.fsum([constant, *fixed.tolist()])


def joined_spins(
    to: NDArray[np.int64], turned: NDArray[np.int8], i: int, j: int, sign: int
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """The spins that represent others, and whether with the same sign, after spin j became `sign` times spin i < j."""
    turned = np.where(to == j, sign * turned, turned).astype(np.int8)
    to = np.where(to == j, i, to - (to > j))
    return to, turned

"""Simulated annealing on a set partition problem: choice of kernel, type of numbers, and temperatures.

The temperature falls geometrically. At the first temperature, `heat` moves to a worse partition per element and sweep
would be accepted, estimated from the initial partition. At the last temperature, COLD moves, or a tenth of `heat`,
would be accepted. Where many moves change nothing, as in cluster editing, COLDEST takes the place of COLD: only after
many sweeps without moves to worse partitions is a partition near a local optimum. In this estimate, a move that changes
the cost by less than a unit counts in proportion to the change. Otherwise many moves that change the cost very little
would make both temperatures very small. The unit is the weighted median of the absolute costs: half of their sum is due
to larger ones. The largest hundredth of them is left out.

A dense problem is annealed in 32-bit integers. If a pair costs more than the sum of all attraction of one of its
elements, no join of this pair lowers the cost, for any other elements in the subset. Its cost is therefore lowered to
the smaller of the sums of its two elements, plus one unit. A required cut gets the same cost: as long as it is
violated, one of its elements gains by being alone. In the same way, a pair that attracts more than the sum of all other
absolute costs of one of its elements is limited. Integer costs stay exact; other costs are rounded to multiples of
about 2**-28 of the largest sum. If all of them are multiples of some number and the sums of costs small enough, as they
are for whole numbers up to 100 and 1000 elements, annealing goes the same way in 16-bit integers, in 0.6 to 0.8 of the
time.
"""

from __future__ import annotations

import copy
import math
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.variates import exponential_variates
from graphpart.kernels.elementary import exp, geometric, log
from graphpart.partition.anytime_search import _dense_annealing, _kernels
from graphpart.partition.local_search.sums import Terms, terms_of
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.groups import Groups
from graphpart.stopping import Stopping

__all__ = ["RUN", "Annealer", "as_integers"]

RUN = 150_000.0  # nanoseconds that every run takes beside its sweeps
STEP = 8.0  # nanoseconds of a step of evolution
COLD = 0.01  # moves to a worse partition per element that the last sweep accepts
COLDEST = 1e-6  # the value of COLD where many moves change nothing
MULTIPLE = 4.0  # largest cost of an attracting pair where many moves change nothing, in multiples of the background
SAMPLES = 10_000  # number of costs from which the unit is chosen
MOVES = 600  # number of moves from which temperatures are chosen; annealing of few elements takes not much longer
SHARE = 0.05  # largest share of all worsening moves that the first sweep accepts
TEMPERATURES = geometric(1e-3, 1e3, 31)  # in units of cost; other temperatures are interpolated


class Annealer:
    """Simulated annealing on one problem without required joins; each thread needs a copy.

    Parameters
    ----------
    p : SetPartition

    Attributes
    ----------
    spent : float
        The estimated nanoseconds of all runs so far, which do not depend on the clock.
    plateaus : bool
        Whether many moves change nothing; see `has_plateaus`.
    """

    def __init__(self, p: SetPartition) -> None:
        self.p = p
        self.spent = 0.0
        self.scale = 1.0
        self.terms: Terms = terms_of(p)
        if p.matrix is not None:
            self.matrix, self.scale = as_integers(p.matrix)
            self.narrow, self.parts = narrowed(self.matrix)
            self.variates = exponential_variates(max(2**16, 2 ** (2 * p.n).bit_length()), np.float32)
            costs = self.matrix[:: max(1, p.n * p.n // SAMPLES)].ravel() / self.scale
        else:
            every = max(1, p.m // SAMPLES)
            u, v, costs = p.pairs()
            u, v, costs = u[::every], v[::every], costs[::every]
            if p.background is not None:
                costs = costs + p.background.of_pairs(u, v)
        self.plateaus = has_plateaus(p)
        self.unit = _unit(costs[np.isfinite(costs)])

    def copy(self) -> Annealer:
        """A copy with its counts of work at 0; the arrays are shared."""
        other = copy.copy(self)
        other.spent = 0.0
        return other

    def work(self, labels: Labels) -> float:
        """The estimated nanoseconds of a sweep."""
        n = self.p.n
        if self.p.matrix is not None:
            return 0.3 * n * (int(labels.max()) + 1) + 0.1 * n * n
        return 4.0 * (n + 2 * self.p.m) + 4.0 * n * len(self.terms.partner)

    def integers(self, hottest: float) -> tuple[NDArray[Any], float]:
        """The matrix in the smallest integers that suffice for temperatures up to `hot`, and the integer of a cost of
        1."""
        if self.narrow is not None and hottest * self.scale <= self.parts * _dense_annealing.NARROW_HOTTEST:
            return self.narrow, self.scale / self.parts
        return self.matrix, self.scale

    def run(
        self, start: Labels, sweeps: int, temperatures: tuple[float, float], seed: int, stopping: Stopping
    ) -> Labels:
        """Canonical labels after annealing from one temperature to another."""
        p = self.p
        if p.n < 2 or sweeps == 0:
            return start
        start = canonical(start)  # the kernels take each label below the largest for a subset in use
        (hot, cold), cost = temperatures, p._evaluate_labels(start)
        self.spent += RUN + (1 if p.is_dense else 2) * sweeps * self.work(start)  # hot sweeps take longer
        if p.matrix is not None:
            matrix, scale = self.integers(hot)
            dense = _dense_annealing.Annealing(matrix, self.variates)
            out, _ = dense.run(start, sweeps, hot * scale, cold * scale, seed, cost, scale, stopping)
            if p._has_must_cut and p._evaluate_labels(out) == np.inf:  # integers too coarse for pairs that attract less
                return start
        else:
            sparse = _kernels.Annealing(*p._rows().arrays, p._tolerance, self.terms)
            out, _ = sparse.run(start, sweeps, hot, cold, exponential_variates(), seed, cost, stopping)
        return canonical(out)

    def evolve(self, start: Labels, elements: NDArray[np.int32], work: float, seed: int, stopping: Stopping) -> Labels:
        """Canonical labels after `work` nanoseconds of localised evolution near some elements; they cost no more."""
        p, start = self.p, canonical(start)
        self.spent += RUN + work
        sparse = _kernels.Annealing(*p._rows().arrays, p._tolerance, self.terms)
        out, _ = sparse.evolve(start, elements, int(work / STEP), seed, p._evaluate_labels(start), stopping)
        return canonical(out)

    def propagate(
        self, start: Labels, elements: NDArray[np.int32], share: float, sweeps: int, seed: int, stopping: Stopping
    ) -> Labels:
        """Canonical labels after a share of some elements is mutated, and all of them propagate labels in sweeps."""
        p, start = self.p, canonical(start)
        sparse = _kernels.Annealing(*p._rows().arrays, p._tolerance, self.terms)
        out, steps = sparse.propagate(start, elements, share, sweeps, seed, p._evaluate_labels(start), stopping)
        self.spent += RUN + STEP * steps
        return canonical(out)

    def temperatures(self, labels: Labels, heat: float) -> tuple[float, float]:
        """The first and last temperature for labels like these. O(MOVES + n)

        `heat` is the number of moves to a worse partition that are accepted per element in the first sweep; of all such
        moves, no more than SHARE.
        """
        deltas, elements = self._deltas(canonical(labels))
        with np.errstate(over="ignore"):  # a ratio that overflows counts as inf
            deltas = deltas[(deltas > 0) & (deltas < np.inf)] / self.unit
        most = np.minimum(1.0, deltas)
        known: dict[int, float] = {}

        def accepted(k: int) -> float:
            if k not in known:  # added up in the same order everywhere
                known[k] = float(np.cumsum(np.append(0.0, most * exp(deltas / -TEMPERATURES[k])))[-1])
            return known[k]

        cold = COLDEST if self.plateaus else COLD
        wanted = [min(rate * elements, SHARE * len(deltas)) for rate in (heat, min(cold, heat / 10))]
        return self._temperature(accepted, wanted[0]), self._temperature(accepted, wanted[1])

    def _temperature(self, accepted: Callable[[int], float], wanted: float) -> float:
        """The temperature at which `wanted` moves are accepted, from the numbers `accepted` at TEMPERATURES."""
        k = bisect_left(range(len(TEMPERATURES)), wanted, key=accepted)
        if k == 0 or k == len(TEMPERATURES):
            return self.unit * float(TEMPERATURES[min(k, len(TEMPERATURES) - 1)])
        share = (wanted - accepted(k - 1)) / (accepted(k) - accepted(k - 1))
        ratio = TEMPERATURES[k] / TEMPERATURES[k - 1]
        return self.unit * float(TEMPERATURES[k - 1] * exp(share * log(ratio)))

    def _deltas(self, labels: Labels) -> tuple[NDArray[np.float64], int]:
        """Changes of cost by moves of some elements to linked subsets or to new ones, and the number of moves."""
        p, k = self.p, int(labels.max()) + 1
        size = np.bincount(labels)
        if p.matrix is not None:
            a = np.unique(np.linspace(0, p.n - 1, min(p.n, max(16, MOVES // (k + 1)))).astype(np.int64))
            order = np.argsort(labels, kind="stable")
            sums = np.add.reduceat(self.matrix[a][:, order], np.cumsum(size) - size, axis=1, dtype=np.int64)
            own = sums[np.arange(len(a)), labels[a]]
            alone = np.where(size[labels[a]] > 1, -own, 0)
            return np.append(sums - own[:, None], alone) / self.scale, len(a)
        starts, neighbours, costs = p._rows().arrays
        degree = 1 + 2 * p.m / p.n
        a = np.unique(np.linspace(0, p.n - 1, min(p.n, 16 + int(MOVES / degree))).astype(np.int64))
        degrees = starts[a + 1] - starts[a]
        row = np.repeat(np.arange(len(a)), degrees)
        at = np.arange(len(row)) + np.repeat(starts[a] - np.cumsum(degrees) + degrees, degrees)
        keys, place = np.unique(row * np.int64(k) + labels[neighbours[at]], return_inverse=True)
        sums = np.bincount(place, costs[at], len(keys))
        mine = keys % k == labels[a][keys // k]
        own = np.zeros(len(a))
        own[keys[mine] // k] = sums[mine]
        if p.background is not None:
            for beta, (x, y) in zip(p.background.beta.tolist(), p.background.vectors, strict=True):
                for one, other in [(x, y)] if x is y else [(x, y), (y, x)]:
                    total = np.bincount(labels, other, k)
                    own += beta * one[a] * (total[labels[a]] - other[a])
                    sums = sums + beta * one[a][keys // k] * total[keys % k]
            if p.background.groups is not None:
                own += prices_with(p.background.groups, labels, a, labels[a])
                with np.errstate(invalid="ignore"):
                    sums = sums + prices_with(p.background.groups, labels, a[keys // k], keys % k)
        alone = np.where(size[labels[a]] > 1, -own, 0.0)
        return np.append((sums - own[keys // k])[~mine], alone), len(a)


def has_plateaus(p: SetPartition) -> bool:
    """Whether many moves change nothing: unlisted pairs repel equally, others attract by few whole multiples of that.

    This is cluster editing, also after elements have been contracted. It is not modularity, where pairs of few
    neighbours attract far more than the background repels. O(n + m)
    """
    background = p.background
    if p.matrix is not None or background is None or background.groups is not None or len(background.vectors) != 1:
        return False
    beta, (x, y) = float(background.beta[0]), background.vectors[0]
    if x is not y or beta <= 0 or not (x == np.rint(x)).all():
        return False
    u, v, costs = p.pairs()
    attracting = costs < 0
    with np.errstate(over="ignore", invalid="ignore"):  # infinitely stronger attraction is no small multiple
        ratio = -costs[attracting] / beta
        near = np.abs(ratio - np.rint(ratio)) <= 1e-9 * ratio
    return bool((near & (ratio <= MULTIPLE * np.abs(x[u] * x[v])[attracting])).all())


def prices_with(groups: Groups, labels: Labels, a: NDArray[np.int64], U: NDArray[Any]) -> NDArray[np.float64]:
    """The costs of groups of some elements in some subsets, without the elements themselves."""
    degrees = groups.starts[a + 1] - groups.starts[a]
    row = np.repeat(np.arange(len(a)), degrees)
    at = np.arange(len(row)) + np.repeat(groups.starts[a] - np.cumsum(degrees) + degrees, degrees)
    wanted = U[row].astype(np.int64) * len(groups) + groups.group[at]
    known = np.unique(wanted)
    keys = labels[groups.element].astype(np.int64) * len(groups) + groups.group
    place = np.minimum(np.searchsorted(known, keys), max(0, len(known) - 1))
    met = np.flatnonzero(known[place] == keys) if len(known) else np.zeros(0, np.int64)
    members = np.bincount(place[met], groups.count[met], len(known))[np.searchsorted(known, wanted)]
    members -= np.where(labels[a[row]] == U[row], groups.count[at], 0)
    price = np.where(members > 0, groups.price[groups.group[at]], 0.0)
    total: NDArray[Any] = np.bincount(row, price * np.maximum(members, 1) * groups.count[at], len(a))
    return total


def _unit(costs: NDArray[np.float64]) -> float:
    """The weighted median of the attracting costs, or of the repelling ones if none attracts; see above."""
    return _weighted_median(-costs if (costs < 0).any() else costs)


def _weighted_median(values: NDArray[np.float64]) -> float:
    """The value below which half of the sum lies, the largest hundredth left out; 1 if there are no values."""
    values = np.sort(values[values > 0])
    values = values[: max(1, len(values) - 1 - len(values) // 100)]
    scaled = np.cumsum(values / values[-1]) if len(values) else values
    return float(values[np.searchsorted(scaled, scaled[-1] / 2)]) if len(scaled) else 1.0


def as_integers(matrix: NDArray[np.float64]) -> tuple[NDArray[np.int32], float]:
    """The matrix in 32-bit integers as described above, and the number of units in a cost of 1."""
    n = len(matrix)
    attraction = np.empty(n)
    for rows_at in _slices(n):
        attraction[rows_at] = -np.minimum(matrix[rows_at], 0.0).sum(axis=1)
    some = slice(0, n, max(1, n * n // SAMPLES))
    rows = np.abs(_limited(matrix, attraction, some, 0.0))
    if n:  # without pairs that outweigh all others of an element, which are joined
        largest_at, each = rows.argmax(axis=1), np.arange(len(rows))
        rows[each, largest_at] *= 2 * rows[each, largest_at] <= rows.sum(axis=1)
    more = _weighted_median(rows.ravel() if rows.any() else matrix[np.isfinite(matrix) & (matrix > 0)])
    sums, nearest = np.zeros(n), np.zeros(n, np.int64)
    for rows_at in _slices(n):
        rows = _limited(matrix, attraction, rows_at, more)
        sums[rows_at], nearest[rows_at] = np.abs(rows).sum(axis=1), rows.argmin(axis=1)
    joined = {}  # pairs, at most one for each element, that attract more than all other pairs of one end together
    for a in np.flatnonzero(-2.0 * matrix[np.arange(n), nearest] > sums).tolist():
        pair = min(a, int(nearest[a])), max(a, int(nearest[a]))
        others = np.abs(_limited(matrix, attraction, np.array(pair), more))
        others[[0, 1], pair[::-1]] = 0.0
        lowered = float(others.sum(axis=1).min()) + more
        if -matrix[pair] > lowered:
            joined[pair] = -lowered
    lowered_at = np.array([(a, b, cost) for (a, b), cost in joined.items()]).reshape(-1, 3)
    ends = lowered_at[:, :2].astype(np.int64)
    for rows_at in _slices(n) if joined else ():
        mine = np.unique(ends[(ends >= rows_at.start) & (ends < rows_at.stop)])
        rows = _limited(matrix, attraction, mine, more)
        for one, other in ((0, 1), (1, 0)):
            here = np.isin(ends[:, one], mine)
            rows[np.searchsorted(mine, ends[here, one]), ends[here, other]] = lowered_at[here, 2]
        sums[mine] = np.abs(rows).sum(axis=1)
    largest = float(sums.max(initial=0.0))
    room = _dense_annealing.LARGEST_ROW - n  # every cost may be rounded up by a half
    exponent = math.frexp(room)[1] - math.frexp(largest)[1] - 1 if largest > 0 else 0
    scale = math.ldexp(1.0, max(-1000, min(1000, exponent)))
    integers = np.empty((n, n), np.int32)
    for rows_at in _slices(n):
        rows = _limited(matrix, attraction, rows_at, more)
        rows *= scale
        np.clip(rows, -room, room, out=rows)  # only pairs that are joined exceed this
        integers[rows_at] = np.rint(rows, out=rows)
    for (a, b), cost in joined.items():
        integers[a, b] = integers[b, a] = round(cost * scale)
    np.fill_diagonal(integers, 0)
    return integers, scale


def _slices(n: int) -> list[slice]:
    """The rows of a matrix, 256 at a time."""
    return [slice(top, top + 256) for top in range(0, n, 256)]


def narrowed(matrix: NDArray[np.int32]) -> tuple[NDArray[np.int16] | None, int]:
    """The matrix divided by the largest power of two that divides all of it, and the power; None if sums are large."""
    bits = int(np.bitwise_or.reduce(matrix, axis=None))
    parts = max(1, bits & -bits)
    sums = np.abs(matrix).sum(axis=1, dtype=np.int64)
    total = matrix.sum(axis=1, dtype=np.int64)
    if not len(matrix) or (sums + np.abs(total)).max() // 2 >= parts * _dense_annealing.NARROW_ROW:
        return None, 1
    return (matrix // parts).astype(np.int16), parts


def _limited(
    matrix: NDArray[np.float64], attraction: NDArray[np.float64], rows: slice | NDArray[np.int64], more: float
) -> NDArray[np.float64]:
    """Some rows of a matrix, with costs lowered to slightly more than the attraction of one of the two elements."""
    limit = np.minimum(attraction[rows, None], attraction[None, :])
    limit += more
    return np.minimum(matrix[rows], limit, out=limit)

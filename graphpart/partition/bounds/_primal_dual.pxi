"""Kernels over the inequalities of a relaxation, row by row on flat arrays: sums, the primal-dual method, projection.

Row k has the variables ``pairs[starts[k]:middles[k]]`` with sign +, those up to ``starts[k + 1]`` with sign -.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport uint64_t

from graphpart.kernels._arrays cimport (
    empty_float64, empty_int32, empty_int64, empty_uint64, zeros_float64, zeros_int64, zeros_uint8,
)
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping


cdef double ROOM = -0.05   # a row with multiplier 0 rests if its left side minus its right side is below this
cdef int REST = 4          # number of steps or sweeps in which a resting row is skipped


def arrange(const offset_t[::1] starts, const element_t[::1] pairs, const signed char[::1] signs, const uint64_t[::1] words):
    """Rows with their + terms first: (middles, pairs, hash of each row from a random word for each variable)."""
    cdef Py_ssize_t rows = starts.shape[0] - 1, k
    cdef offset_t i, at
    cdef uint64_t total
    middles_array, out_array, hashes_array = empty_int64(rows), empty_int32(pairs.shape[0]), empty_uint64(rows)
    cdef offset_t[::1] middles = middles_array
    cdef element_t[::1] out = out_array
    cdef uint64_t[::1] hashes = hashes_array
    with nogil:
        for k in range(rows):
            at = starts[k]
            total = 0
            for i in range(starts[k], starts[k + 1]):
                if signs[i] > 0:
                    out[at] = pairs[i]
                    total += words[pairs[i]]
                    at += 1
            middles[k] = at
            for i in range(starts[k], starts[k + 1]):
                if signs[i] < 0:
                    out[at] = pairs[i]
                    total -= words[pairs[i]]
                    at += 1
            hashes[k] = total
    return middles_array, out_array, hashes_array


def reordered(const offset_t[::1] order, const offset_t[::1] starts, const offset_t[::1] middles, const element_t[::1] pairs):
    """Rows in another order: (starts, middles, pairs)."""
    cdef Py_ssize_t rows = order.shape[0], k
    cdef offset_t i, at = 0, shift
    starts_array, middles_array = zeros_int64(rows + 1), empty_int64(rows)
    out_array = empty_int32(pairs.shape[0])
    cdef offset_t[::1] new_starts = starts_array, new_middles = middles_array
    cdef element_t[::1] out = out_array
    with nogil:
        for k in range(rows):
            shift = at - starts[order[k]]
            new_middles[k] = middles[order[k]] + shift
            for i in range(starts[order[k]], starts[order[k] + 1]):
                out[i + shift] = pairs[i]
            at = starts[order[k] + 1] + shift
            new_starts[k + 1] = at
    return starts_array, middles_array, out_array


def left(const offset_t[::1] starts, const offset_t[::1] middles, const element_t[::1] pairs, const double[::1] y):
    """The left-hand side of each row at a point."""
    cdef Py_ssize_t k
    out_array = empty_float64(middles.shape[0])
    cdef double[::1] out = out_array
    with nogil:
        for k in range(middles.shape[0]):
            out[k] = product(starts[k], middles[k], starts[k + 1], &pairs[0], &y[0])
    return out_array


cdef inline double product(offset_t start, offset_t middle, offset_t end, const element_t* pairs, const double* y) noexcept nogil:
    cdef double plus = 0.0, more = 0.0, minus = 0.0      # three independent sums
    cdef offset_t i = start
    while i + 1 < middle:
        plus += y[pairs[i]]
        more += y[pairs[i + 1]]
        i += 2
    if i < middle:
        plus += y[pairs[i]]
    i = middle
    while i + 1 < end:
        minus += y[pairs[i]]
        plus -= y[pairs[i + 1]]
        i += 2
    if i < end:
        minus += y[pairs[i]]
    return plus + more - minus


cdef inline void add(double amount, offset_t start, offset_t middle, offset_t end, const element_t* pairs, double* out) noexcept nogil:
    cdef offset_t i
    for i in range(start, middle):
        out[pairs[i]] += amount
    for i in range(middle, end):
        out[pairs[i]] -= amount


def add_rows(const offset_t[::1] starts, const offset_t[::1] middles, const element_t[::1] pairs,
             const double[::1] multipliers, double[::1] out):
    """Adds to each variable the sum of its signs times the multipliers of the rows."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(middles.shape[0]):
            if multipliers[k] != 0:
                add(multipliers[k], starts[k], middles[k], starts[k + 1], &pairs[0], &out[0])


def compressed(const offset_t[::1] starts, const offset_t[::1] middles, const element_t[::1] pairs,
               const element_t[::1] place, const double[::1] y):
    """Rows over the variables that have a place: (starts, middles, places, sums of the other terms at y)."""
    cdef Py_ssize_t rows = middles.shape[0], k
    cdef offset_t i, at = 0
    cdef double sum
    starts_array, middles_array, taken_array = zeros_int64(rows + 1), empty_int64(rows), empty_float64(rows)
    out_array = empty_int32(pairs.shape[0])
    cdef offset_t[::1] new_starts = starts_array, new_middles = middles_array
    cdef element_t[::1] out = out_array
    cdef double[::1] taken = taken_array
    with nogil:
        for k in range(rows):
            sum = 0.0
            for i in range(starts[k], middles[k]):
                if place[pairs[i]] >= 0:
                    out[at] = place[pairs[i]]
                    at += 1
                else:
                    sum += y[pairs[i]]
            new_middles[k] = at
            for i in range(middles[k], starts[k + 1]):
                if place[pairs[i]] >= 0:
                    out[at] = place[pairs[i]]
                    at += 1
                else:
                    sum -= y[pairs[i]]
            new_starts[k + 1] = at
            taken[k] = sum
    return starts_array, middles_array, out_array[:at], taken_array


cdef inline double clipped(double value, double low, double high) noexcept nogil:
    value = low if value < low else value
    return high if value > high else value


cdef class Program:
    """Rows with right-hand sides, over variables with bounds.

    Parameters
    ----------
    starts, middles, pairs : ndarray of int64, int64, int32
        The rows.
    rhs : ndarray of float64
    lower, upper : ndarray of float64
        Of the variables.
    """

    cdef const offset_t[::1] starts, middles
    cdef const element_t[::1] pairs
    cdef const double[::1] rhs, lower, upper

    def __init__(self, const offset_t[::1] starts, const offset_t[::1] middles, const element_t[::1] pairs,
                 const double[::1] rhs, const double[::1] lower, const double[::1] upper):
        self.starts, self.middles, self.pairs = starts, middles, pairs
        self.rhs, self.lower, self.upper = rhs, lower, upper

    def reflect(self, double scale, double[::1] y, double[::1] multipliers, double[::1] reduced, int iterations,
                Stopping stopping):
        """`iterations` reflected steps with anchoring (Halpern) from (y, multipliers) and the reduced costs.

        All arrays change in place. A step from z = (y, multipliers) leads to T(z): y moves against its reduced costs
        and is clipped to its bounds. Then the multipliers move along the violation at the extrapolated point ``2 y_new
        - y`` and are clipped at 0. The next step begins at ``w (2 T(z) - z) + (1 - w) z0``, where z0 is the first point
        and w is 1/2, 2/3, 3/4, ... The last step ends at T(z), where multipliers are not negative. The step of a
        variable is 1 over `scale` times the number of its rows, that of a row is `scale` over the number of its terms.
        Rows with multiplier 0 and much room are skipped in some steps. Returns the number of steps made.
        """
        cdef const offset_t[::1] starts = self.starts, middles = self.middles
        cdef const element_t[::1] pairs = self.pairs
        cdef const double[::1] rhs = self.rhs, lower = self.lower, upper = self.upper
        cdef Py_ssize_t m = y.shape[0], rows = rhs.shape[0], e, k
        cdef offset_t i
        cdef double value, change, w
        cdef double[::1] ahead = empty_float64(m), before = empty_float64(m)
        cdef double[::1] first_y = np.array(y), first_multipliers = np.array(multipliers), first_reduced = np.array(reduced)
        cdef unsigned char[::1] rest = zeros_uint8(rows)
        cdef int done = 0, step
        cdef bint last
        cdef double[::1] pair_steps = zeros_float64(m), row_steps = empty_float64(rows)
        if not m:
            return 0
        with nogil:
            for i in range(starts[rows]):
                pair_steps[pairs[i]] += 1.0
            for e in range(m):
                pair_steps[e] = 1.0 / (scale * max(pair_steps[e], 1.0))
            for k in range(rows):
                row_steps[k] = scale / max(starts[k + 1] - starts[k], 1)
            for step in range(iterations):
                last = step == iterations - 1 or stopping.look(INFINITY) != 0
                w = (step + 1.0) / (step + 2.0)
                for e in range(m):
                    value = y[e] - pair_steps[e] * reduced[e]
                    value = lower[e] if value < lower[e] else value
                    value = upper[e] if value > upper[e] else value
                    ahead[e] = 2 * value - y[e]
                    y[e] = value if last else w * ahead[e] + (1 - w) * first_y[e]
                    before[e] = reduced[e]
                for k in range(rows):
                    if rest[k]:
                        rest[k] -= 1
                        continue
                    value = product(starts[k], middles[k], starts[k + 1], &pairs[0], &ahead[0]) - rhs[k]
                    if multipliers[k] == 0 and value < ROOM and first_multipliers[k] == 0:
                        rest[k] = REST
                        continue
                    value = multipliers[k] + row_steps[k] * value
                    value = value if value > 0 else 0.0
                    change = value - multipliers[k]
                    if change != 0:
                        add(change, starts[k], middles[k], starts[k + 1], &pairs[0], &reduced[0])
                    multipliers[k] = value if last else w * (value + change) + (1 - w) * first_multipliers[k]
                done += 1
                if last:
                    break
                for e in range(m):
                    reduced[e] = w * (2 * reduced[e] - before[e]) + (1 - w) * first_reduced[e]
        return done

    def project(self, double step, double[::1] point, double[::1] multipliers, unsigned char[::1] rest):
        """One pass over the rows, in place.

        `point` is the point to project, less ``step * multipliers`` times the rows. Clipped to its bounds, it is the
        projection once no multiplier changes. No row is empty.
        """
        cdef const offset_t[::1] starts = self.starts, middles = self.middles
        cdef const element_t[::1] pairs = self.pairs
        cdef const double[::1] rhs = self.rhs, lower = self.lower, upper = self.upper
        cdef Py_ssize_t k, e
        cdef offset_t i
        cdef double value, change
        with nogil:
            for k in range(rhs.shape[0]):
                if rest[k]:
                    rest[k] -= 1
                    continue
                value = -rhs[k]
                for i in range(starts[k], middles[k]):
                    e = pairs[i]
                    value += clipped(point[e], lower[e], upper[e])
                for i in range(middles[k], starts[k + 1]):
                    e = pairs[i]
                    value -= clipped(point[e], lower[e], upper[e])
                if multipliers[k] == 0 and value < ROOM:
                    rest[k] = REST
                    continue
                change = 1.0 / (starts[k + 1] - starts[k]) / step * value
                change = change if multipliers[k] + change > 0 else -multipliers[k]
                if change != 0:
                    multipliers[k] += change
                    change *= step
                    for i in range(starts[k], middles[k]):
                        point[pairs[i]] -= change
                    for i in range(middles[k], starts[k + 1]):
                        point[pairs[i]] += change

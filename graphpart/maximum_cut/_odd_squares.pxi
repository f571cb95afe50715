"""Kernel of the semidefinite bound: coordinate ascent over squares of sums of spins, and the squares to add.

W times a unit, read and changed on and above its diagonal, is the inverse of ``Z = C - sum_r m_r v_r v_r'``, with a
multiplier m_r for each row v_r of whole numbers whose square is at least b_r. The value ``sum_r m_r b_r + mu log det Z``
is concave, and its maximum over one multiplier is known: 1 / q - mu / b more than now, for ``q = v' inv(Z) v``. The
inverse then changes by a matrix of rank one.
"""

import numpy as np

from graphpart.kernels._arrays cimport zeros_float32, zeros_float64, zeros_int8
from graphpart.kernels.clones cimport GP_CLONED  # and its macros
from graphpart.kernels.types cimport element_t, offset_t


cdef extern from *:
    """
    GP_CLONES
    static void gp_rank_one(float *GP_RESTRICT w, const float *GP_RESTRICT y, float factor, ptrdiff_t n) {
        for (ptrdiff_t i = 0; i < n; i++) {
            float x = factor * y[i];
            float *row = w + i * n;
            for (ptrdiff_t j = i; j < n; j++) row[j] += x * y[j];
        }
    }
    static float gp_absolute(float x) { return x < 0 ? -x : x; }
    /* the least of a - |x + y| and -a - |x - y|, eight side by side */
    GP_CLONES
    static float gp_least_sum(float a, const float *x, const float *y, ptrdiff_t count) {
        float plus[8], minus[8], low = 4;
        ptrdiff_t i = 0;
        int k;
        for (k = 0; k < 8; k++) plus[k] = minus[k] = 0;
        for (; i + 8 <= count; i += 8)
            for (k = 0; k < 8; k++) {
                float p = x[i + k] + y[i + k], m = x[i + k] - y[i + k];
                p = p < -p ? -p : p;
                m = m < -m ? -m : m;
                plus[k] = plus[k] < p ? p : plus[k];
                minus[k] = minus[k] < m ? m : minus[k];
            }
        for (; i < count; i++) {
            float p = gp_absolute(x[i] + y[i]), m = gp_absolute(x[i] - y[i]);
            plus[0] = plus[0] < p ? p : plus[0];
            minus[0] = minus[0] < m ? m : minus[0];
        }
        for (k = 0; k < 8; k++) {
            low = a - plus[k] < low ? a - plus[k] : low;
            low = -a - minus[k] < low ? -a - minus[k] : low;
        }
        return low;
    }
    GP_CLONES
    static void gp_add_row(float *GP_RESTRICT y, const float *GP_RESTRICT x, float factor, ptrdiff_t n) {
        for (ptrdiff_t i = 0; i < n; i++) y[i] += factor * x[i];
    }
    """
    float absolute "gp_absolute" (float x) noexcept nogil
    float least_sum "gp_least_sum" (float a, const float* x, const float* y, Py_ssize_t count) noexcept nogil
    void add_row "gp_add_row" (float* y, const float* x, float factor, Py_ssize_t n) noexcept nogil
    void rank_one "gp_rank_one" (float* w, const float* y, float factor, Py_ssize_t n) noexcept nogil


def ascend(float[:, ::1] W, double unit, const offset_t[::1] starts, const element_t[::1] members,
           const signed char[::1] numbers, double[::1] multipliers, const double[::1] mus, double least):
    """Optimise the multipliers one after the other, in place; `mus` are mu / b of each row.

    The first n multipliers may have any sign, the others stay at least 0. A multiplier that would change by less
    than ``least / q`` is left as it is. O(n^2) for each multiplier that changes.
    """
    cdef Py_ssize_t n = W.shape[0], r
    cdef offset_t i, j, begin, end
    cdef double q, t, x
    cdef const float* row
    cdef float[::1] y = zeros_float32(n)
    cdef float number
    with nogil:
        for r in range(multipliers.shape[0]):
            begin, end = starts[r], starts[r + 1]
            q = 0.0
            for i in range(begin, end):     # members ascend
                row = &W[members[i], 0]
                x = 0.0
                for j in range(i + 1, end):
                    x += numbers[j] * row[members[j]]
                q += numbers[i] * (numbers[i] * row[members[i]] + 2.0 * x)
            q *= unit
            if not q > 0:               # only by rounding
                continue
            t = 1.0 / q - mus[r]
            if r >= n and t < -multipliers[r]:
                t = -multipliers[r]
            x = t * q if t > 0 else -t * q
            if x <= least and (multipliers[r] + t != 0.0 or t == 0.0):
                continue
            multipliers[r] += t
            y[:] = 0.0
            for i in range(begin, end):
                row = &W[members[i], 0]
                number = numbers[i]
                for j in range(members[i]):
                    y[j] += number * W[j, members[i]]
                for j in range(members[i], n):
                    y[j] += number * row[j]
            rank_one(&W[0, 0], &y[0], <float>(unit * t / (1.0 - t * q)), n)


def add_squares(const offset_t[::1] starts, const element_t[::1] members, const signed char[::1] numbers,
                const double[::1] multipliers, double[:, ::1] out):
    """Add ``m_r v_r v_r'`` of all rows to a matrix."""
    cdef Py_ssize_t r
    cdef offset_t i, j
    with nogil:
        for r in range(multipliers.shape[0]):
            for i in range(starts[r], starts[r + 1]):
                for j in range(starts[r], starts[r + 1]):
                    out[members[i], members[j]] += numbers[i] * numbers[j] * multipliers[r]


def triangles(const float[:, ::1] X, float most):
    """For each i < j, the k > j and the signs of the least sum of products, if that sum is at most `most`.

    The sum is ``s X[i, j] + t X[i, k] + s t X[j, k]``, which is at least -1 for spins. Rows (i, j, k), rows (1, s, t),
    and the sums. O(n^3)
    """
    cdef Py_ssize_t n = X.shape[0], i, j, k, count = 0
    cdef float a, b, low
    members_array, signs_array = np.zeros((n * n // 2, 3), np.int32), np.ones((n * n // 2, 3), np.int8)
    sums_array = zeros_float32(n * n // 2)
    cdef element_t[:, ::1] members = members_array
    cdef signed char[:, ::1] signs = signs_array
    cdef float[::1] sums = sums_array
    with nogil:
        for i in range(n):
            for j in range(i + 1, n - 1):
                a = X[i, j]
                low = least_sum(a, &X[i, j + 1], &X[j, j + 1], n - j - 1)
                if low > most:
                    continue
                k = j + 1
                for k in range(j + 1, n):
                    b = X[i, k] + X[j, k]
                    if a - absolute(b) == low:
                        signs[count, 2] = -1 if b > 0 else 1
                        break
                    b = X[i, k] - X[j, k]
                    if -a - absolute(b) == low:
                        signs[count, 1] = -1
                        signs[count, 2] = -1 if b > 0 else 1
                        break
                members[count, 0], members[count, 1], members[count, 2] = <element_t>i, <element_t>j, <element_t>k
                sums[count] = low
                count += 1
    return members_array[:count], signs_array[:count], sums_array[:count]


def descend_squares(const float[:, ::1] X, element_t[:, ::1] members, signed char[:, ::1] numbers):
    """Make squares of sums of some spins, each with the number 1 or -1, small in the products X; the squares that result.

    Each row of `members` has different spins. One member after the other is replaced by the spin, with a sign, that
    makes the square least, until no replacement lowers it. Both arrays are changed. O(n) for each replacement
    """
    cdef Py_ssize_t n = X.shape[0], count = members.shape[0], size = members.shape[1], r, k, i, still
    cdef element_t best
    cdef float x, most
    cdef double total
    sums_array = zeros_float64(count)
    cdef double[::1] sums = sums_array
    cdef float[::1] y = zeros_float32(n)     # X times the row
    cdef signed char[::1] inside = zeros_int8(n)
    with nogil:
        for r in range(count):
            y[:] = 0.0
            for k in range(size):
                inside[members[r, k]] = 1
                add_row(&y[0], &X[members[r, k], 0], numbers[r, k], n)
            still, k = 0, 0
            while still < size:
                add_row(&y[0], &X[members[r, k], 0], -numbers[r, k], n)
                inside[members[r, k]] = 0
                best, most = members[r, k], absolute(y[members[r, k]]) + <float>1e-4
                for i in range(n):
                    x = absolute(y[i])
                    if x > most and not inside[i]:
                        best, most = <element_t>i, x
                still = 0 if best != members[r, k] else still + 1
                members[r, k], numbers[r, k] = best, -1 if y[best] > 0 else 1
                inside[best] = 1
                add_row(&y[0], &X[best, 0], numbers[r, k], n)
                k = k + 1 if k + 1 < size else 0
            total = size
            for k in range(size):
                total += numbers[r, k] * y[members[r, k]]
                inside[members[r, k]] = 0
            sums[r] = total
    return sums_array

"""Kernel of the semidefinite bound: coordinate ascent over squares of sums of spins, and the triangles to add.

W, read and changed on and above its diagonal, is the inverse of ``Z = C - sum_r m_r v_r v_r'``, with a multiplier m_r
for each row v_r of numbers 1 and -1. The value ``sum_r m_r + mu log det Z`` is concave, and its maximum over one
multiplier is known: 1 / q - mu more than now, for ``q = v' W v``. The inverse then changes by a matrix of rank one.
"""

import numpy as np

from graphpart.kernels.types cimport element_t, offset_t


cdef extern from *:
    """
    static void gp_rank_one(double *w, const double *y, double factor, ptrdiff_t n) {
        for (ptrdiff_t i = 0; i < n; i++) {
            double x = factor * y[i];
            double *row = w + i * n;
            for (ptrdiff_t j = i; j < n; j++) row[j] += x * y[j];
        }
    }
    static float gp_absolute(float x) { return x < 0 ? -x : x; }
    /* the least of a - |x + y| and -a - |x - y|, eight side by side */
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
    """
    float absolute "gp_absolute" (float x) noexcept nogil
    float least_sum "gp_least_sum" (float a, const float* x, const float* y, Py_ssize_t count) noexcept nogil
    void rank_one "gp_rank_one" (double* w, const double* y, double factor, Py_ssize_t n) noexcept nogil


def ascend(double[:, ::1] W, const offset_t[::1] starts, const element_t[::1] members, const signed char[::1] signs,
           double[::1] multipliers, Py_ssize_t free, double mu, double least):
    """Optimise the multipliers one after the other, in place; (how many changed, the largest relative change).

    The first `free` multipliers may have any sign, the others stay at least 0. A multiplier that would change by less
    than ``least / q`` is left as it is. O(n^2) for each multiplier that changes.
    """
    cdef Py_ssize_t n = W.shape[0], r, changed = 0
    cdef offset_t i, j, begin, end
    cdef double q, t, x, most = 0.0
    cdef const double* row
    cdef double[::1] y = np.zeros(n)
    with nogil:
        for r in range(multipliers.shape[0]):
            begin, end = starts[r], starts[r + 1]
            q = 0.0
            for i in range(begin, end):     # members ascend
                row = &W[members[i], 0]
                x = 0.0
                for j in range(i + 1, end):
                    x += signs[j] * row[members[j]]
                q += row[members[i]] + 2.0 * signs[i] * x
            if not q > 0:               # only by rounding
                continue
            t = 1.0 / q - mu
            if r >= free and t < -multipliers[r]:
                t = -multipliers[r]
            x = t * q if t > 0 else -t * q
            if x <= least and (multipliers[r] + t != 0.0 or t == 0.0):
                continue
            most = x if x > most else most
            changed += 1
            multipliers[r] += t
            y[:] = 0.0
            for i in range(begin, end):
                row = &W[members[i], 0]
                x = signs[i]
                for j in range(members[i]):
                    y[j] += x * W[j, members[i]]
                for j in range(members[i], n):
                    y[j] += x * row[j]
            rank_one(&W[0, 0], &y[0], t / (1.0 - t * q), n)
    return changed, most


def add_squares(const offset_t[::1] starts, const element_t[::1] members, const signed char[::1] signs,
                const double[::1] multipliers, double[:, ::1] out):
    """Add ``m_r v_r v_r'`` of all rows to a matrix."""
    cdef Py_ssize_t r
    cdef offset_t i, j
    with nogil:
        for r in range(multipliers.shape[0]):
            for i in range(starts[r], starts[r + 1]):
                for j in range(starts[r], starts[r + 1]):
                    out[members[i], members[j]] += signs[i] * signs[j] * multipliers[r]


def triangles(const float[:, ::1] X, float most):
    """For each i < j, the k > j and the signs of the least sum of products, if that sum is at most `most`.

    The sum is ``s X[i, j] + t X[i, k] + s t X[j, k]``, which is at least -1 for spins. Rows (i, j, k), rows (1, s, t),
    and the sums. O(n^3)
    """
    cdef Py_ssize_t n = X.shape[0], i, j, k, count = 0
    cdef float a, b, low
    members_array, signs_array = np.zeros((n * n // 2, 3), np.int32), np.ones((n * n // 2, 3), np.int8)
    sums_array = np.zeros(n * n // 2, np.float32)
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

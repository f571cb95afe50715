"""Kernel of the primal-dual method for linear programs over pairs: many iterations on flat arrays, no allocation."""

from libc.math cimport INFINITY

from graphpart.kernels.types cimport offset_t
from graphpart.stopping cimport Stopping


def iterate(const offset_t[::1] row_starts, const offset_t[::1] row_pairs, const double[::1] row_signs,
            const offset_t[::1] pair_starts, const offset_t[::1] pair_rows, const double[::1] pair_signs,
            const double[::1] cost, const double[::1] rhs, const double[::1] lower, const double[::1] upper,
            const double[::1] pair_steps, const double[::1] row_steps,
            double[::1] y, double[::1] prices, double[::1] y_sum, double[::1] prices_sum, double[::1] ahead,
            int iterations, Stopping stopping):
    """`iterations` steps from (y, prices), in place; adds each iterate to the sums. Returns the number of steps made.

    A step: y moves against its reduced costs and is clipped to its bounds, then the prices move along the violation at
    the extrapolated point ``2 y_new - y`` and are clipped at 0.
    """
    cdef Py_ssize_t m = cost.shape[0], rows = rhs.shape[0], e, k
    cdef offset_t i
    cdef double reduced, value, violation
    cdef int done = 0, step
    with nogil:
        for step in range(iterations):
            if stopping.poll(INFINITY):
                break
            for e in range(m):
                reduced = cost[e]
                for i in range(pair_starts[e], pair_starts[e + 1]):
                    reduced += pair_signs[i] * prices[pair_rows[i]]
                value = y[e] - pair_steps[e] * reduced
                if value < lower[e]:
                    value = lower[e]
                if value > upper[e]:
                    value = upper[e]
                ahead[e] = 2 * value - y[e]
                y[e] = value
                y_sum[e] += value
            for k in range(rows):
                violation = -rhs[k]
                for i in range(row_starts[k], row_starts[k + 1]):
                    violation += row_signs[i] * ahead[row_pairs[i]]
                value = prices[k] + row_steps[k] * violation
                if value < 0:
                    value = 0
                prices[k] = value
                prices_sum[k] += value
            done += 1
    return done

"""Kernel of persistency: for each pair, how much the rest of the problem could say against joining it, or cutting it."""

import numpy as np

from libc.math cimport INFINITY, fabs

from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping


def against(const offset_t[::1] starts, const element_t[::1] neighbours, const double[::1] costs,
            const element_t[::1] u, const element_t[::1] v, const double[::1] cost, Stopping stopping):
    """For each pair {a, b}: the sums over other elements x, for negative costs of

    ``|c[a, x]|``, ``|c[b, x]|`` and ``|c[a, x] - c[b, x]| / 2``, for positive ones of ``max(0, -c[a, x])`` and
    ``max(0, -c[b, x])`` (and inf). Rows are sorted by neighbour. Shape (m, 3).
    """
    cdef Py_ssize_t m = u.shape[0], e
    cdef offset_t i, j, end_i, end_j
    cdef element_t a, b
    cdef double first, second, both, x, y
    out_array = np.full((m, 3), np.inf)
    cdef double[:, ::1] out = out_array
    with nogil:
        for e in range(m):
            if stopping.poll(INFINITY):
                break
            a, b = u[e], v[e]
            first = second = both = 0.0
            i, end_i, j, end_j = starts[a], starts[a + 1], starts[b], starts[b + 1]
            if cost[e] < 0:
                while i < end_i or j < end_j:
                    if j >= end_j or (i < end_i and neighbours[i] < neighbours[j]):
                        if neighbours[i] != b:
                            x = fabs(costs[i])
                            first += x
                            both += x / 2
                        i += 1
                    elif i >= end_i or neighbours[j] < neighbours[i]:
                        if neighbours[j] != a:
                            y = fabs(costs[j])
                            second += y
                            both += y / 2
                        j += 1
                    else:
                        x, y = costs[i], costs[j]
                        first += fabs(x)
                        second += fabs(y)
                        if x != INFINITY or y != INFINITY:
                            both += fabs(x - y) / 2
                        i += 1
                        j += 1
                out[e, 0], out[e, 1], out[e, 2] = first, second, both
            elif 0 < cost[e] < INFINITY:
                while i < end_i:
                    if costs[i] < 0:
                        first -= costs[i]
                    i += 1
                while j < end_j:
                    if costs[j] < 0:
                        second -= costs[j]
                    j += 1
                out[e, 0], out[e, 1] = first, second
    return out_array

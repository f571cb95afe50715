"""Kernels that find violated inequalities for a matrix of pair variables in [0, 1]: triangles and 2-partitions."""

import numpy as np

from graphpart.kernels.types cimport element_t
from graphpart.stopping cimport Stopping
from libc.math cimport INFINITY


def triangles(const double[:, ::1] y, double tolerance, Stopping stopping):
    """For each pair {b, c} the element a with the largest ``y[a, b] + y[a, c] - y[b, c] - 1``, if more than `tolerance`.

    Returns (triangles as rows b, a, c; violations). O(n^3)
    """
    cdef Py_ssize_t n = y.shape[0], a, b, c, best, found = 0
    cdef double most, s
    cdef const double* row_b
    cdef const double* row_c
    rows_array, amounts_array = np.empty((n * (n - 1) // 2, 3), np.int32), np.empty(n * (n - 1) // 2)
    cdef element_t[:, ::1] rows = rows_array
    cdef double[::1] amounts = amounts_array
    with nogil:
        for b in range(n):
            if stopping.poll(INFINITY):
                break
            row_b = &y[b, 0]
            for c in range(b + 1, n):
                if row_b[c] >= 1.0 - tolerance:
                    continue
                row_c = &y[c, 0]
                most = 1.0 + tolerance + row_b[c]
                best = -1
                for a in range(n):
                    s = row_b[a] + row_c[a]
                    if s > most and a != b and a != c:
                        most = s
                        best = a
                if best >= 0:
                    rows[found, 0], rows[found, 1], rows[found, 2] = <element_t>b, <element_t>best, <element_t>c
                    amounts[found] = most - 1.0 - row_b[c]
                    found += 1
    return rows_array[:found], amounts_array[:found]


def stars(const double[:, ::1] y, double tolerance, Stopping stopping):
    """2-partition inequalities of one element s and a set T, grown greedily (after Grötschel & Wakabayashi 1989).

    For each s and each first element of T, the element with the largest ``y[s, t] - sum of y[t, T]`` joins T while that
    is positive; the most violated set for each s is kept, and its disjoint second.
    Returns (starts, elements with s first, violations).
    """
    cdef Py_ssize_t n = y.shape[0], s, i, j, k, count, size, chosen, best_size, first
    cdef double value, gain
    elements, starts, amounts = [], [0], []
    cdef element_t[::1] near = np.empty(n + 1, np.int32)
    cdef double[::1] room = np.empty(n + 1)
    cdef element_t[::1] grown = np.empty(n + 1, np.int32)
    cdef element_t[::1] kept = np.empty(n + 1, np.int32)
    cdef unsigned char[::1] inside = np.zeros(n + 1, np.uint8)
    cdef unsigned char[::1] covered = np.zeros(n + 1, np.uint8)
    cdef double best
    cdef const double* row
    for s in range(n):
        if stopping.poll(INFINITY):
            break
        count = 0
        for i in range(n):
            if i != s and y[s, i] > tolerance and y[s, i] < 1.0 - tolerance:
                near[count] = <element_t>i
                covered[count] = 0
                count += 1
        if count < 3:
            continue
        for first in range(count):
            if covered[first]:
                continue
            with nogil:
                for i in range(count):
                    room[i] = y[s, near[i]]
                    inside[i] = 0
                size, chosen, value = 0, first, 0.0
                while True:
                    value += room[chosen]
                    grown[size] = near[chosen]
                    size += 1
                    inside[chosen] = 1
                    row = &y[near[chosen], 0]
                    gain = tolerance
                    k = -1
                    for i in range(count):
                        if not inside[i]:
                            room[i] -= row[near[i]]
                            if room[i] > gain:
                                gain = room[i]
                                k = i
                    if k < 0:
                        break
                    chosen = k
            if size >= 3 and value > 1.0 + tolerance:
                for i in range(count):
                    if inside[i]:
                        covered[i] = 1
                elements.append(s)
                elements.extend(np.sort(np.asarray(grown[:size])).tolist())
                starts.append(len(elements))
                amounts.append(value - 1.0)
            else:
                covered[first] = 1
    return np.array(starts, np.int64), np.array(elements, np.int32), np.array(amounts, np.float64)

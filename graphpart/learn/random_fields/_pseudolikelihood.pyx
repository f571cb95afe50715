"""The pseudolikelihood of a labeling: each variable given its neighbours, and the gradient by the scores (Besag 1975).

For a variable v with label y_v, the scores of its labels given those of its neighbours are

    s[l] = scores[v, l] + sum over its pairs of the number that the labels l and y_u of the pair select,

and its loss is ``log sum exp s - s[y_v]``. The derivative by s is the probabilities of the labels less 1 for y_v; it goes
to the scores of v and to the numbers of its pairs. Two passes over the pairs of a variable, none over all labelings.
"""

import numpy as np

from libc.math cimport INFINITY, exp, log

from graphpart.kernels.types cimport element_t, offset_t


def incidence(Py_ssize_t n, const element_t[:, ::1] pairs):
    """Compressed rows (starts, pairs at each variable); ``~e`` where the variable is the second one of pair e."""
    cdef Py_ssize_t m = pairs.shape[0], i, v
    cdef offset_t at
    start_array, row_array = np.zeros(n + 1, np.int64), np.empty(2 * m, np.int32)
    cdef offset_t[::1] start = start_array
    cdef element_t[::1] row = row_array
    with nogil:
        for i in range(m):
            start[pairs[i, 0]] += 1
            start[pairs[i, 1]] += 1
        at = 0
        for v in range(n + 1):  # the end of each row, then its begin once the row is filled backwards
            at += start[v]
            start[v] = at
        for i in range(m - 1, -1, -1):
            start[pairs[i, 1]] -= 1
            row[start[pairs[i, 1]]] = <element_t>~i
            start[pairs[i, 0]] -= 1
            row[start[pairs[i, 0]]] = <element_t>i
    return start_array, row_array


def losses(
    double[:, ::1] scores,
    const double[:, ::1] pair_scores,
    const element_t[:, ::1] tie,
    const element_t[:, ::1] pairs,
    const offset_t[::1] start,
    const element_t[::1] row,
    const element_t[::1] labels,
    double[:, ::1] derivative,
):
    """The sum of the losses. `scores` become its derivatives by the scores, `derivative` those by the pairs' numbers."""
    cdef Py_ssize_t n = scores.shape[0], L = scores.shape[1], v, l, y
    cdef offset_t i
    cdef element_t e, u
    cdef bint shared = pair_scores.shape[0] == 1
    cdef const double* numbers
    cdef double* out
    cdef double total = 0.0, part = 0.0, high, z, mine
    cdef double[::1] s = np.empty(L)
    derivative[:, :] = 0.0
    with nogil:
        for v in range(n):
            for l in range(L):
                s[l] = scores[v, l]
            for i in range(start[v], start[v + 1]):
                e = row[i]
                if e >= 0:
                    numbers = &pair_scores[0 if shared else e, 0]
                    u = labels[pairs[e, 1]]
                    for l in range(L):
                        s[l] += numbers[tie[l, u]]
                else:
                    numbers = &pair_scores[0 if shared else ~e, 0]
                    u = labels[pairs[~e, 0]]
                    for l in range(L):
                        s[l] += numbers[tie[u, l]]
            y = labels[v]
            high = -INFINITY
            for l in range(L):
                high = s[l] if s[l] > high else high
            z = 0.0
            mine = s[y]
            for l in range(L):
                s[l] = exp(s[l] - high)
                z += s[l]
            part += high - mine + log(z)
            if v % 256 == 255:  # partial sums: the error of a long sum does not grow with its length
                total += part
                part = 0.0
            z = 1.0 / z
            for l in range(L):
                s[l] *= z
            s[y] -= 1.0
            for l in range(L):
                scores[v, l] = s[l]
            for i in range(start[v], start[v + 1]):
                e = row[i]
                if e >= 0:
                    out = &derivative[0 if shared else e, 0]
                    u = labels[pairs[e, 1]]
                    for l in range(L):
                        out[tie[l, u]] += s[l]
                else:
                    out = &derivative[0 if shared else ~e, 0]
                    u = labels[pairs[~e, 0]]
                    for l in range(L):
                        out[tie[u, l]] += s[l]
    return total + part

"""Kernel of greedy joining on a matrix of costs, from singletons.

Each row keeps a lower bound on its smallest cost to the right of the diagonal, and the column where it was found. A bound
that has become loose is tightened by a scan only when its row comes first (Müllner 2011). Rows stay in order of their
subsets' smallest elements; dead ones are dropped once they are a quarter.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from graphpart.kernels.types cimport cost_t, element_t
from graphpart.stopping cimport Stopping


cdef struct Rows:
    cost_t* costs           # alive rows and columns, in order of their subsets' smallest elements
    Py_ssize_t n            # number of rows, dead ones included until the next compaction
    Py_ssize_t alive
    element_t* subset       # subset of each row
    cost_t* low             # lower bound on the costs in columns > row
    element_t* nearest      # the column of that cost, if not loose
    char* loose
    cost_t* dead            # 0 for alive columns, inf for dead ones
    element_t* place        # room for compaction


cdef void scan(Rows* r, Py_ssize_t row) noexcept nogil:
    """Tighten the bound of a row: its first smallest cost in alive columns to the right of the diagonal."""
    cdef cost_t* costs = r.costs + row * r.n
    cdef cost_t* dead = r.dead
    cdef Py_ssize_t k = row + 1, n = r.n
    cdef cost_t x, a = INFINITY, b = INFINITY, c = INFINITY, d = INFINITY
    while k + 4 <= n:     # four chains of comparisons run at the speed of memory, one does not
        x = costs[k] + dead[k]
        a = x if x < a else a
        x = costs[k + 1] + dead[k + 1]
        b = x if x < b else b
        x = costs[k + 2] + dead[k + 2]
        c = x if x < c else c
        x = costs[k + 3] + dead[k + 3]
        d = x if x < d else d
        k += 4
    while k < n:
        x = costs[k] + dead[k]
        a = x if x < a else a
        k += 1
    a = min(min(a, b), min(c, d))
    r.low[row] = a
    r.loose[row] = False
    r.nearest[row] = -1
    if a < INFINITY:
        k = row + 1
        while costs[k] + dead[k] != a:
            k += 1
        r.nearest[row] = <element_t>k


cdef Py_ssize_t first_smallest(const cost_t* x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k = 0
    cdef cost_t a = INFINITY, b = INFINITY, c = INFINITY, d = INFINITY
    while k + 4 <= n:
        a = x[k] if x[k] < a else a
        b = x[k + 1] if x[k + 1] < b else b
        c = x[k + 2] if x[k + 2] < c else c
        d = x[k + 3] if x[k + 3] < d else d
        k += 4
    while k < n:
        a = x[k] if x[k] < a else a
        k += 1
    a = min(min(a, b), min(c, d))
    k = 0
    while k < n and x[k] != a:
        k += 1
    return k


cdef void join_rows(Rows* r, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Join the subsets of rows i < j: row and column i receive the sums, row and column j die."""
    cdef Py_ssize_t n = r.n, k
    cdef cost_t* into = r.costs + i * n
    cdef cost_t* away = r.costs + j * n
    cdef cost_t* column = r.costs + i
    cdef cost_t x
    for k in range(n):
        into[k] += away[k]
    into[i] = 0.0
    r.dead[j] = INFINITY
    r.low[j] = INFINITY
    r.loose[j] = False
    for k in range(i):
        if r.dead[k] != 0.0:
            continue
        x = into[k]
        column[k * n] = x
        if x <= r.low[k]:
            if x < r.low[k]:
                r.low[k] = x
                r.nearest[k] = <element_t>i
                r.loose[k] = False
            elif not r.loose[k] and (i < r.nearest[k] or r.nearest[k] == j):
                r.nearest[k] = <element_t>i
        elif r.nearest[k] == i or r.nearest[k] == j:
            r.loose[k] = True
    for k in range(i + 1, n):
        column[k * n] = into[k]
        if k < j and r.nearest[k] == j:
            r.loose[k] = True
    scan(r, i)


cdef void compact(Rows* r) noexcept nogil:
    """Drop dead rows and columns, in place and in order."""
    cdef Py_ssize_t n = r.n, m = r.alive, i, j, row = 0, column
    cdef element_t* place = r.place
    cdef cost_t* source
    cdef cost_t* sink
    for i in range(n):
        if r.dead[i] == 0.0:
            place[i] = <element_t>row
            row += 1
        else:
            place[i] = -1
    row = 0
    for i in range(n):
        if place[i] < 0:
            continue
        source = r.costs + i * n
        sink = r.costs + row * m
        column = 0
        for j in range(n):
            if place[j] >= 0:
                sink[column] = source[j]
                column += 1
        r.subset[row] = r.subset[i]
        r.low[row] = r.low[i]
        r.loose[row] = r.loose[i]
        # A loose bound may remember a column that died.
        r.nearest[row] = place[r.nearest[i]] if r.nearest[i] >= 0 else -1
        row += 1
    for i in range(m):
        r.dead[i] = 0.0
    r.n = m


def join_dense(const cost_t[:, ::1] matrix, double tolerance, double cost, Stopping stopping):
    """Labels of the fixed point. O(n^2) expected time; a copy of the matrix and O(n)."""
    cdef Py_ssize_t n = matrix.shape[0], k, i, j
    cdef Rows r
    labels_array = np.arange(n, dtype=np.int32)
    if n < 2:
        return labels_array
    cdef element_t[::1] labels = labels_array
    cdef element_t[::1] subset = np.arange(n, dtype=np.int32)
    cdef element_t[::1] nearest = np.empty(n, np.int32), place = np.empty(n, np.int32)
    cdef cost_t[::1] low = np.empty(n), dead = np.zeros(n)
    cdef char[::1] loose = np.zeros(n, np.int8)
    r.costs = <cost_t*>malloc(n * n * sizeof(cost_t))
    if r.costs == NULL:
        raise MemoryError()
    r.n = r.alive = n
    r.subset = &subset[0]
    r.nearest = &nearest[0]
    r.low = &low[0]
    r.dead = &dead[0]
    r.loose = &loose[0]
    r.place = &place[0]
    with nogil:
        memcpy(r.costs, &matrix[0, 0], n * n * sizeof(cost_t))
        for k in range(n):
            scan(&r, k)
        while True:
            i = first_smallest(r.low, r.n)
            if i >= r.n or not r.low[i] < -tolerance:
                break
            if r.loose[i]:
                scan(&r, i)
                continue
            j = r.nearest[i]
            cost += r.low[i]
            labels[r.subset[j]] = r.subset[i]
            r.alive -= 1
            join_rows(&r, i, j)
            if r.alive < 0.75 * r.n:
                compact(&r)
            if stopping.tick(cost):
                break
        free(r.costs)
        for k in range(n):      # an element's representative is smaller than itself, hence final already
            labels[k] = labels[labels[k]]
    return labels_array



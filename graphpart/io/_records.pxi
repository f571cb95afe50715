"""Records in an array of numbers: the start of each, and cost functions listed by tuples.

The readers of factor graphs parse a file into one array of numbers. The meaning of each number depends on the numbers
before it. A number that does not fit is reported by its position in the array.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from graphpart.kernels._arrays cimport empty_int64


cdef inline int64_t whole(double x) noexcept nogil:
    """A number as a count; -1 if it is not one."""
    return <int64_t>x if 0.0 <= x < 4503599627370496.0 and x == <double><int64_t>x else -1


def counted_records(const double[::1] values, Py_ssize_t at, Py_ssize_t count) -> tuple[NDArray[np.int64], int]:
    """Records ``k x1 ... xk``, one after the other: (starts with the end appended, position of the first fault or -1).

    Starts are filled up to the faulty record. If `values` ends too early, the position is its end.
    """
    cdef Py_ssize_t size = values.shape[0], i = 0
    cdef int64_t k
    # Memory follows the numbers that exist: the file may announce a wrong count.
    out = empty_int64(min(count, size - at if size > at else 0) + 1)
    cdef int64_t[::1] starts = out
    cdef Py_ssize_t bad = -1
    with nogil:
        while i < count:
            if at >= size:
                bad = size
                break
            k = whole(values[at])
            if k < 0:
                bad = at
                break
            if k > size - at - 1:
                bad = size
                break
            starts[i] = at
            at += k + 1
            i += 1
        if bad < 0:
            starts[i] = at
    return out, bad


def listed_functions(const double[::1] values, Py_ssize_t at, Py_ssize_t count, Py_ssize_t n):
    """Records ``k v1 ... vk default t`` and t times ``l1 ... lk cost``; returns the same as `counted_records`.

    A negative number of tuples is a fault, too: it marks a global function.
    """
    cdef Py_ssize_t size = values.shape[0], i = 0
    cdef int64_t k, t
    out = empty_int64(min(count, size - at if size > at else 0) + 1)
    cdef int64_t[::1] starts = out
    cdef Py_ssize_t bad = -1
    with nogil:
        while i < count:
            if at >= size:
                bad = size
                break
            k = whole(values[at])
            if k < 0 or k > n:
                bad = at
                break
            if k + 2 > size - at - 1:
                bad = size
                break
            t = whole(values[at + k + 2])
            if t < 0:
                bad = at + k + 2
                break
            if t > (size - at - k - 3) // (k + 1):
                bad = size
                break
            starts[i] = at
            at += k + 3 + t * (k + 1)
            i += 1
        if bad < 0:
            starts[i] = at
    return out, bad


def fill_tables(
    const double[::1] values,
    const int64_t[::1] starts,
    const int32_t[::1] domains,
    const int64_t[::1] table_start,
    double[::1] tables,
    double top,
):
    """Write the functions at `starts` into tables, costs of at least `top` as inf; position of the first fault or -1.

    The position is that of a label outside its domain, or of a cost that is not finite or below 0. Of two equal tuples
    the later one counts.
    """
    cdef Py_ssize_t m = table_start.shape[0] - 1, f, i, bad = -1
    cdef int64_t k, t, at, place, j, label
    cdef double cost
    with nogil:
        for f in range(m):
            at = starts[f]
            k = <int64_t>values[at]
            cost = values[at + k + 1]
            if not 0.0 <= cost < INFINITY:
                bad = at + k + 1
                break
            for i in range(table_start[f], table_start[f + 1]):
                tables[i] = INFINITY if cost >= top else cost
            t = <int64_t>values[at + k + 2]
            for j in range(t):
                place = 0
                for i in range(k):
                    label = whole(values[at + k + 3 + j * (k + 1) + i])
                    if label < 0 or label >= domains[<int64_t>values[at + 1 + i]]:
                        bad = at + k + 3 + j * (k + 1) + i
                        break
                    place = place * domains[<int64_t>values[at + 1 + i]] + label
                if bad >= 0:
                    break
                cost = values[at + k + 3 + j * (k + 1) + k]
                if not 0.0 <= cost < INFINITY:
                    bad = at + k + 3 + j * (k + 1) + k
                    break
                tables[table_start[f] + place] = INFINITY if cost >= top else cost
            if bad >= 0:
                break
    return bad

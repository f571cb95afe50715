# The minimum cut of a complete graph with nonnegative weights (Stoer & Wagner 1997). O(k**3)
from libc.math cimport INFINITY


cdef inline double minimum_cut(double* m, Py_ssize_t k, double* key) noexcept nogil:
    """Of the k x k matrix m, which is overwritten; `key` has room for k numbers. inf if k < 2."""
    cdef Py_ssize_t i, j, left = k, last, before
    cdef double least = INFINITY, best
    while left > 1:
        # a maximum adjacency order of the rows 0 .. left - 1; its last element is a cut
        for i in range(left):
            key[i] = m[i]
        key[0] = -1.0
        last = before = 0
        best = 0.0
        for j in range(1, left):
            before = last
            best = -1.0
            for i in range(1, left):
                if key[i] > best:
                    best = key[i]
                    last = i
            key[last] = -2.0 - best     # done
            for i in range(1, left):
                if key[i] >= 0:
                    key[i] += m[last * k + i]
        least = min(least, best)
        # contract the last two, and move the last row to the free place
        for i in range(left):
            m[before * k + i] += m[last * k + i]
            m[i * k + before] = m[before * k + i]
        m[before * k + before] = 0.0
        left -= 1
        for i in range(left + 1):
            m[last * k + i] = m[left * k + i]
            m[i * k + last] = m[last * k + i]
        m[last * k + last] = 0.0
    return least

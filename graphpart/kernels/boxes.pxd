# Sums of weights of subsets in a tree of boxes, to find the subset whose background attracts an element most.
#
# A leaf holds the k sums of a subset. Each other node holds the least and the largest value of each sum below it, which
# make a box. The background of an element with a subset is linear in the sums, so its least value over a box is in a
# corner of the box. Branch and bound finds the best subset, or proves that there is none below a value. If k is 1, the
# number of steps is about the logarithm of the number of subsets.
from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from graphpart.kernels.types cimport element_t

cdef enum:
    DEPTH = 80

cdef struct Boxes:
    Py_ssize_t leaves           # a power of two
    Py_ssize_t k
    double* low                 # k numbers for each node; node 1 is the root; the first is inf without subsets
    double* high


cdef inline bint boxes_make(Boxes* t, Py_ssize_t subsets, Py_ssize_t k) noexcept nogil:
    """Make an empty tree for subsets 0..subsets-1. False if there is no memory."""
    cdef Py_ssize_t i
    t.leaves = 1
    t.k = k
    while t.leaves < subsets:
        t.leaves *= 2
    t.low = <double*>malloc(2 * t.leaves * k * sizeof(double))
    t.high = <double*>malloc(2 * t.leaves * k * sizeof(double))
    if t.low == NULL or t.high == NULL:
        return False
    for i in range(2 * t.leaves * k):
        t.low[i] = INFINITY
        t.high[i] = -INFINITY
    return True


cdef inline void boxes_free(Boxes* t) noexcept nogil:
    free(t.low)
    free(t.high)


cdef inline void boxes_put(Boxes* t, Py_ssize_t U, const int64_t* sums, bint there) noexcept nogil:
    """Set the sums of a leaf; `boxes_climb` or `boxes_build` updates the nodes above it."""
    cdef Py_ssize_t i, at = (t.leaves + U) * t.k
    for i in range(t.k):
        t.low[at + i] = <double>sums[i] if there else INFINITY
        t.high[at + i] = <double>sums[i] if there else -INFINITY


cdef inline void boxes_join(Boxes* t, Py_ssize_t node) noexcept nogil:
    cdef Py_ssize_t i, k = t.k, a = 2 * node * k, b = a + k
    for i in range(k):
        t.low[node * k + i] = min(t.low[a + i], t.low[b + i])
        t.high[node * k + i] = max(t.high[a + i], t.high[b + i])


cdef inline void boxes_climb(Boxes* t, Py_ssize_t U) noexcept nogil:
    cdef Py_ssize_t node = (t.leaves + U) >> 1
    while node:
        boxes_join(t, node)
        node >>= 1


cdef inline void boxes_build(Boxes* t) noexcept nogil:
    cdef Py_ssize_t node
    for node in range(t.leaves - 1, 0, -1):
        boxes_join(t, node)


cdef inline double boxes_bound(Boxes* t, Py_ssize_t node, const double* factor) noexcept nogil:
    cdef Py_ssize_t i
    cdef double total = 0.0
    if t.low[node * t.k] == INFINITY:
        return INFINITY
    for i in range(t.k):
        total += factor[i] * (t.low if factor[i] >= 0 else t.high)[node * t.k + i]
    return total


cdef inline element_t boxes_best(
    Boxes* t, const double* factor, const int64_t* stamp, int64_t look, Py_ssize_t mine, double* value
) noexcept nogil:
    """The subset with the least sum(factor * sums), if below `value`, which is set to it; -1 if there is none.

    Left out are `mine` and the subsets whose stamp is `look`.
    """
    cdef Py_ssize_t stack[DEPTH]
    cdef Py_ssize_t top = 1, node, first, second
    cdef element_t found = -1
    cdef double x, y
    stack[0] = 1
    while top:
        top -= 1
        node = stack[top]
        if not boxes_bound(t, node, factor) < value[0]:
            continue
        if node >= t.leaves:
            if node - t.leaves != mine and stamp[node - t.leaves] != look:
                value[0] = boxes_bound(t, node, factor)
                found = <element_t>(node - t.leaves)
            continue
        first, second = 2 * node, 2 * node + 1
        x, y = boxes_bound(t, first, factor), boxes_bound(t, second, factor)
        if y < x:
            first, second = second, first
        stack[top] = second         # the better one is looked at first
        stack[top + 1] = first
        top += 2
    return found

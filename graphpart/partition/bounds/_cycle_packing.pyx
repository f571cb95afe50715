"""Kernels of cycle packing: triangles of a matrix, then cycles of any length along adjacency lists.

Each pair has a capacity, the absolute value of its cost. A cycle of one repulsive and otherwise attractive pairs is
packed with the least capacity on it, which is then taken from all its pairs.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc, realloc

from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping


# ------------------------------------------------------------------------------------------- a growing list of cycles

cdef struct Cycles:
    offset_t* starts
    double* amounts
    element_t* elements
    Py_ssize_t count, count_capacity, size, size_capacity
    bint failed


cdef bint cycles_make(Cycles* c) noexcept nogil:
    c.count = c.size = 0
    c.count_capacity = c.size_capacity = 1024
    c.starts = <offset_t*>malloc((c.count_capacity + 1) * sizeof(offset_t))
    c.amounts = <double*>malloc(c.count_capacity * sizeof(double))
    c.elements = <element_t*>malloc(c.size_capacity * sizeof(element_t))
    c.failed = c.starts == NULL or c.amounts == NULL or c.elements == NULL
    if not c.failed:
        c.starts[0] = 0
    return not c.failed


cdef void cycles_free(Cycles* c) noexcept nogil:
    free(c.starts)
    free(c.amounts)
    free(c.elements)


cdef inline void cycles_add(Cycles* c, element_t a) noexcept nogil:
    cdef void* larger
    if c.size == c.size_capacity:
        larger = realloc(c.elements, c.size_capacity * 3 // 2 * sizeof(element_t))
        if larger == NULL:
            c.failed = True
            return
        c.elements = <element_t*>larger
        c.size_capacity = c.size_capacity * 3 // 2
    c.elements[c.size] = a
    c.size += 1


cdef inline void cycles_close(Cycles* c, double amount) noexcept nogil:
    cdef void* larger
    if c.count == c.count_capacity:
        larger = realloc(c.starts, (c.count_capacity * 3 // 2 + 1) * sizeof(offset_t))
        if larger == NULL:
            c.failed = True
            return
        c.starts = <offset_t*>larger
        larger = realloc(c.amounts, c.count_capacity * 3 // 2 * sizeof(double))
        if larger == NULL:
            c.failed = True
            return
        c.amounts = <double*>larger
        c.count_capacity = c.count_capacity * 3 // 2
    c.amounts[c.count] = amount
    c.count += 1
    c.starts[c.count] = c.size


cdef tuple cycles_arrays(Cycles* c):
    cdef Py_ssize_t k
    if c.failed:
        raise MemoryError()
    starts, elements, amounts = np.empty(c.count + 1, np.int64), np.empty(c.size, np.int32), np.empty(c.count)
    cdef offset_t[::1] s = starts
    cdef element_t[::1] e = elements
    cdef double[::1] a = amounts
    for k in range(c.count + 1):
        s[k] = c.starts[k]
    for k in range(c.size):
        e[k] = c.elements[k]
    for k in range(c.count):
        a[k] = c.amounts[k]
    return starts, elements, amounts


# ----------------------------------------------------------------------------------------------------------- matrices

def pack_triangles(double[:, ::1] rest, Stopping stopping, double bound):
    """Pack triangles of a matrix of costs, which is reduced to what remains; (starts, elements, amounts).

    For each repulsive pair, the triangle with the largest amount first.
    """
    cdef Py_ssize_t n = rest.shape[0], u, v, w, best
    cdef double amount, x
    cdef double* row_u
    cdef double* row_v
    cdef Cycles out
    if not cycles_make(&out):
        cycles_free(&out)
        raise MemoryError()
    try:
        with nogil:
            for u in range(n):
                if stopping.look(INFINITY):
                    break
                row_u = &rest[u, 0]
                for v in range(u + 1, n):
                    if stopping.poll(INFINITY):
                        break
                    row_v = &rest[v, 0]
                    while row_u[v] > 0:
                        best = -1
                        amount = 0.0
                        for w in range(n):
                            x = row_u[w] if row_u[w] > row_v[w] else row_v[w]
                            if x < amount:
                                amount = x
                                best = w
                        if best < 0:
                            break
                        amount = min(-amount, row_u[v])
                        w = best
                        row_u[v] -= amount
                        row_v[u] = row_u[v]
                        row_u[w] += amount
                        rest[w, u] = row_u[w]
                        row_v[w] += amount
                        rest[w, v] = row_v[w]
                        cycles_add(&out, <element_t>u)
                        cycles_add(&out, <element_t>w)
                        cycles_add(&out, <element_t>v)
                        cycles_close(&out, amount)
                    if out.failed:
                        break
        return cycles_arrays(&out)
    finally:
        cycles_free(&out)


# -------------------------------------------------------------------------------------------------------------- lists

cdef struct Search:
    # Breadth first from both ends of a repulsive pair, level by level, through attractive pairs with capacity left.
    offset_t* starts
    offset_t* ends              # of the part of a list that still has capacity
    element_t* neighbours
    offset_t* edges
    double* capacity
    int64_t* mark               # 2 * stamp + side, for elements that the search has reached
    element_t* before
    offset_t* edge_before
    element_t* queue[2]
    Py_ssize_t first[2]
    Py_ssize_t last[2]


cdef int search(Search* s, element_t u, element_t v, int64_t stamp, Py_ssize_t limit, element_t* meet,
                offset_t* meet_edge) noexcept nogil:
    """1 if a path of at most `limit` pairs joins u and v, 0 if all of them are longer, -1 if there is none."""
    cdef int side
    cdef Py_ssize_t depth, i, level_end
    cdef offset_t k
    cdef element_t a, b
    s.mark[u] = 2 * stamp
    s.mark[v] = 2 * stamp + 1
    s.queue[0][0] = u
    s.queue[1][0] = v
    s.first[0] = s.first[1] = 0
    s.last[0] = s.last[1] = 1
    for depth in range(limit):
        side = 0 if s.last[0] - s.first[0] <= s.last[1] - s.first[1] else 1
        level_end = s.last[side]
        for i in range(s.first[side], level_end):
            a = s.queue[side][i]
            k = s.starts[a]
            while k < s.ends[a]:
                if s.capacity[s.edges[k]] <= 0:
                    # swap what is used up out of sight
                    s.ends[a] -= 1
                    s.neighbours[k] = s.neighbours[s.ends[a]]
                    s.edges[k] = s.edges[s.ends[a]]
                    continue
                b = s.neighbours[k]
                if s.mark[b] == 2 * stamp + 1 - side:
                    meet[side] = a
                    meet[1 - side] = b
                    meet_edge[0] = s.edges[k]
                    return 1
                if s.mark[b] != 2 * stamp + side:
                    s.mark[b] = 2 * stamp + side
                    s.before[b] = a
                    s.edge_before[b] = s.edges[k]
                    s.queue[side][s.last[side]] = b
                    s.last[side] += 1
                k += 1
        s.first[side] = level_end
        if s.first[side] == s.last[side]:
            return -1
    return 0


def pack_cycles(Py_ssize_t n, const element_t[::1] u, const element_t[::1] v, const uint8_t[::1] attractive,
                double[::1] capacity, const offset_t[::1] lengths, Stopping stopping):
    """Pack cycles, short ones first; (starts, elements, amounts).

    `lengths` are the numbers of pairs up to which cycles are looked for, ascending, in stages. `capacity` is reduced to
    what remains.
    """
    cdef Py_ssize_t m = u.shape[0], e, i, count, stage, kept, total = 0, limit
    cdef int found
    cdef int64_t stamp = 0
    cdef element_t a, x
    cdef offset_t at
    cdef offset_t meet_edge
    cdef element_t meet[2]
    cdef double amount
    starts_array = np.zeros(n + 1, np.int64)
    cdef offset_t[::1] starts = starts_array
    with nogil:
        for e in range(m):
            if attractive[e] and capacity[e] > 0:
                starts[u[e]] += 1
                starts[v[e]] += 1
                total += 2
        at = 0
        for i in range(n + 1):
            at += starts[i]
            starts[i] = at          # the end of list i; filled downwards below
    cdef element_t[::1] neighbours = np.empty(total + 1, np.int32)
    cdef offset_t[::1] edges = np.empty(total + 1, np.int64)
    cdef offset_t[::1] ends = starts_array[:n + 1].copy()
    cdef int64_t[::1] mark = np.full(n + 1, -1, np.int64)
    cdef element_t[::1] before = np.empty(n + 1, np.int32)
    cdef offset_t[::1] edge_before = np.empty(n + 1, np.int64)
    cdef element_t[::1] queue_u = np.empty(n + 1, np.int32)
    cdef element_t[::1] queue_v = np.empty(n + 1, np.int32)
    waiting_array = np.flatnonzero((np.asarray(attractive) == 0) & (np.asarray(capacity) > 0))
    cdef offset_t[::1] waiting = waiting_array
    cdef element_t[::1] path = np.empty(n + 1, np.int32)
    cdef offset_t[::1] path_edges = np.empty(n + 1, np.int64)
    cdef Search s
    cdef Cycles out
    if not cycles_make(&out):
        cycles_free(&out)
        raise MemoryError()
    try:
        with nogil:
            for e in range(m - 1, -1, -1):
                if attractive[e] and capacity[e] > 0:
                    starts[u[e]] -= 1
                    neighbours[starts[u[e]]] = v[e]
                    edges[starts[u[e]]] = e
                    starts[v[e]] -= 1
                    neighbours[starts[v[e]]] = u[e]
                    edges[starts[v[e]]] = e
            s.starts, s.ends, s.neighbours, s.edges = &starts[0], &ends[0], &neighbours[0], &edges[0]
            s.capacity = &capacity[0] if m else NULL
            s.mark, s.before, s.edge_before = &mark[0], &before[0], &edge_before[0]
            s.queue[0], s.queue[1] = &queue_u[0], &queue_v[0]
            kept = waiting.shape[0]
            for stage in range(lengths.shape[0]):
                limit = lengths[stage] - 1
                count, kept = kept, 0
                for i in range(count):
                    e = waiting[i]
                    if out.failed or stopping.poll(INFINITY):
                        kept = 0
                        break
                    found = 1
                    while found > 0 and capacity[e] > 0:
                        stamp += 1
                        found = search(&s, u[e], v[e], stamp, limit, meet, &meet_edge)
                        if found > 0:
                            amount = take_path(&s, u[e], v[e], meet, meet_edge, capacity[e], &path[0], &path_edges[0],
                                               &out)
                            capacity[e] -= amount
                            cycles_close(&out, amount)
                    if found == 0:      # only longer paths; with found < 0 there will never be one
                        waiting[kept] = e
                        kept += 1
                if kept == 0:
                    break
        return cycles_arrays(&out)
    finally:
        cycles_free(&out)


cdef double take_path(Search* s, element_t u, element_t v, element_t* meet, offset_t meet_edge, double amount,
                      element_t* path, offset_t* path_edges, Cycles* out) noexcept nogil:
    """Write the path that was found, from u to v, and take the least capacity on the cycle from its pairs."""
    cdef Py_ssize_t count = 0, i, j
    cdef element_t a
    a = meet[0]
    while a != u:               # backwards to u
        path[count] = a
        path_edges[count] = s.edge_before[a]
        count += 1
        a = s.before[a]
    cycles_add(out, u)
    for i in range(count - 1, -1, -1):
        cycles_add(out, path[i])
    path_edges[count] = meet_edge
    count += 1
    a = meet[1]
    while a != v:
        cycles_add(out, a)
        path_edges[count] = s.edge_before[a]
        count += 1
        a = s.before[a]
    cycles_add(out, v)
    for i in range(count):
        if s.capacity[path_edges[i]] < amount:
            amount = s.capacity[path_edges[i]]
    for i in range(count):
        s.capacity[path_edges[i]] -= amount
    return amount

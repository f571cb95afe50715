"""Kernel: the part of a factor graph with whole costs that remains if all variables outside a region keep their labels.

A factor with one variable inside becomes costs of labels, a factor with several inside becomes a smaller table.
"""

import numpy as np

from libc.stdint cimport int64_t

from graphpart.kernels.types cimport element_t, offset_t

cdef int64_t FORBIDDEN = <int64_t>1 << 60    # an entry from half of this on forbids


def part(
    const element_t[::1] domains, const offset_t[::1] first, const int64_t[::1] unary,
    const offset_t[::1] scope_start, const element_t[::1] scope, const offset_t[::1] table_start,
    const int64_t[::1] tables, const offset_t[::1] rows, const element_t[::1] factors, const element_t[::1] labels,
    const element_t[::1] inside, element_t[::1] place, offset_t most,
):
    """(scope_start, scope, table_start, tables, unary, value, entries), or None if tables had more than `most` entries.

    Parameters
    ----------
    domains, first, unary, scope_start, scope, table_start, tables
        See `Flat`.
    rows, factors
        The factors of each variable, in compressed rows.
    labels, inside : ndarray of int32
        Labels of all variables; the variables of the region, which have the numbers 0, 1, ... in it.
    place : ndarray of int32, shape (n,)
        -1 for all variables, before and after.

    Returns
    -------
    value : int
        The cost of the given labels in the region; 2**60 if they are forbidden.
    entries : int
        Entries that were read.
    """
    cdef Py_ssize_t count = inside.shape[0], k, f, kept = 0
    cdef offset_t i, j, members = 0, size, wide, base, read = 0, sizes = 0, at, own
    cdef int64_t entries = 0, value = 0
    cdef int a, v, arity, widest = 0
    for k in range(count):
        place[inside[k]] = <element_t>k
        sizes += domains[inside[k]]
    with nogil:
        for k in range(count):
            for i in range(rows[inside[k]], rows[inside[k] + 1]):
                f = factors[i]
                arity, wide = 0, 1
                for j in range(scope_start[f], scope_start[f + 1]):
                    v = scope[j]
                    if place[v] >= 0:
                        if arity == 0 and place[v] != k:
                            break
                        arity += 1
                        wide *= domains[v]
                if arity > 1:
                    kept += 1
                    members += arity
                    entries += wide
                widest = max(widest, arity)
    if entries > most:
        for k in range(count):
            place[inside[k]] = -1
        return None
    start_array, scope_array = np.zeros(kept + 1, np.int64), np.empty(members, np.int32)
    begin_array, tables_array = np.zeros(kept + 1, np.int64), np.empty(entries, np.int64)
    unary_array, first_array = np.empty(sizes, np.int64), np.zeros(count + 1, np.int64)
    counter_array, stride_array = np.zeros(widest + 1, np.int64), np.zeros(widest + 1, np.int64)
    cdef offset_t[::1] start = start_array, begin = begin_array, counter = counter_array, stride = stride_array
    cdef offset_t[::1] starts = first_array
    cdef element_t[::1] rest = scope_array
    cdef int64_t[::1] out = tables_array, costs = unary_array
    with nogil:
        for k in range(count):
            v = inside[k]
            starts[k + 1] = starts[k] + domains[v]
            for a in range(domains[v]):
                costs[starts[k] + a] = unary[first[v] + a]
        kept, members, entries = 0, 0, 0
        for k in range(count):
            for i in range(rows[inside[k]], rows[inside[k] + 1]):
                f = factors[i]
                arity, size, own, base = 0, 1, 0, table_start[f]
                for j in range(scope_start[f + 1] - 1, scope_start[f] - 1, -1):  # the last axis first
                    v = scope[j]
                    if place[v] >= 0:
                        stride[arity] = size
                        counter[arity] = j
                        own += size * labels[v]
                        arity += 1
                    else:
                        base += size * labels[v]
                    size *= domains[v]
                if place[scope[counter[arity - 1]]] != k:
                    continue
                if arity == 1:
                    v = inside[k]
                    for a in range(domains[v]):
                        add(&costs[starts[k] + a], tables[base + stride[0] * a])
                    read += domains[v]
                    continue
                add(&value, tables[base + own])
                for j in range(arity - 1, -1, -1):
                    rest[members] = place[scope[counter[j]]]
                    members += 1
                kept += 1
                start[kept] = members
                size = entries
                for j in range(arity):
                    counter[j] = 0
                at = base
                while True:
                    out[entries] = tables[at]
                    entries += 1
                    for j in range(arity):
                        v = inside[rest[members - 1 - j]]
                        counter[j] += 1
                        at += stride[j]
                        if counter[j] < domains[v]:
                            break
                        at -= stride[j] * domains[v]
                        counter[j] = 0
                    else:
                        break
                begin[kept] = entries
                read += entries - size
        for k in range(count):
            v = inside[k]
            add(&value, costs[starts[k] + labels[v]])
            place[v] = -1
    return start_array, scope_array, begin_array, tables_array, unary_array, value, read


cdef inline void add(int64_t* total, int64_t cost) noexcept nogil:
    if total[0] >= FORBIDDEN // 2 or cost >= FORBIDDEN // 2:
        total[0] = FORBIDDEN
    else:
        total[0] += cost

"""Kernels of the improving mapping: the costs of labels less those of their images, and labels with a negative one.

The mapped labels of a variable are numbered from 1. All other labels share the number 0 and the minimum of their
entries. Variables without a mapped label are left out.
"""

import numpy as np

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, isfinite, nextafter
from libc.stdint cimport uint8_t

from graphpart.crf.problem._view cimport Factors, View, entries_of, labels_of, place
from graphpart.kernels._arrays cimport (
    empty_int32, empty_int64, full_float64, full_int32, full_int64, zeros_float64, zeros_int32, zeros_int64, zeros_uint8,
)
from graphpart.kernels.types cimport cost_t, element_t, offset_t


cdef inline double difference_down(double x, double y) noexcept nogil:
    """A double not above x - y, for finite numbers: -inf only if that is far below zero."""
    cdef double total = x - y, back, error
    if not isfinite(total):
        return DBL_MAX if total > 0 else -INFINITY
    back = total - x
    error = (x - (total - back)) - (y + back)       # exactly x - y - total (Knuth 1969)
    return nextafter(total, -INFINITY) if error < 0 or not isfinite(error) else total


def differences(
    View view,
    const element_t[::1] labels,
    const uint8_t[::1] mapped,
    uint8_t[::1] stays,
    double slack,
):
    """(domains, scope_start, scope, tables, origins, amiss): the costs of labels less those of their images.

    `labels` is the test labeling; `mapped` has a flag for each label of each variable that says whether the label is
    mapped to that of the labeling. Every difference is rounded down; forbidden entries stay forbidden. If `slack` is
    positive, the cost of each mapped label is lower by `slack`, in unary tables that come first. For each message of
    the result in the layout of certificates, `origins` has its place in the given messages, -1 for labels 0. If
    `amiss`, some allowed entries are mapped to forbidden entries. Their mapped labels are marked in `stays`, and the
    tables are not valid.
    """
    cdef const Factors* g = &view.g
    cdef Py_ssize_t n = g.n, m = g.m, f, v, kept = 0
    cdef offset_t i, k, arity, members = 0, entries = 0, size, several, message = 0, carried = 0, largest = 1
    cdef offset_t stride, step, at, image, target, last, own, other, j, labels_of_scope, most = 1
    cdef element_t d, x
    cdef double value, against
    cdef bint amiss = False
    number_array = zeros_int32(mapped.shape[0])
    cdef element_t[::1] number_of = number_array                 # the numbers of labels
    cdef element_t[::1] count = np.ones(n, np.int32), index = full_int32(n, -1)
    cdef element_t variables = 0
    with nogil:
        for v in range(n):
            for i in range(place(g, v), place(g, v) + labels_of(g, v)):
                if mapped[i]:
                    number_of[i] = count[v]
                    count[v] += 1
            if count[v] > 1:
                index[v] = variables
                variables += 1
                if slack > 0:
                    kept += 1
                    members += 1
                    entries += count[v]
        for f in range(m):
            size, several, labels_of_scope = 1, 0, 0
            for i in range(g.scope_start[f], g.scope_start[f + 1]):
                v = g.scope[i]
                size *= count[v]
                several += count[v] > 1
                labels_of_scope += g.domains[v]
            largest = max(largest, labels_of_scope)
            most = max(most, g.scope_start[f + 1] - g.scope_start[f])
            if several:
                kept += 1
                members += several
                entries += size
            if several > 1:
                for i in range(g.scope_start[f], g.scope_start[f + 1]):
                    if count[g.scope[i]] > 1:
                        carried += count[g.scope[i]]
    domains_array, start_array = empty_int32(variables), zeros_int64(kept + 1)
    scope_array, tables_array = empty_int32(members), full_float64(entries, INFINITY)
    origins_array = full_int64(carried, -1)
    cdef element_t[::1] new_domains = domains_array, rest = scope_array
    cdef offset_t[::1] start = start_array, origins = origins_array
    cdef cost_t[::1] out = tables_array
    cdef offset_t[::1] to_image = empty_int64(largest), to_target = empty_int64(largest)
    cdef offset_t[::1] begin = empty_int64(most + 1)
    cdef element_t[::1] counter = zeros_int32(most)
    kept = members = entries = carried = 0
    with nogil:
        for v in range(n):
            if count[v] == 1:
                continue
            new_domains[index[v]] = count[v]
            if slack > 0:
                rest[members] = index[v]
                members += 1
                kept += 1
                start[kept] = members
                for x in range(count[v]):
                    out[entries + x] = -slack if x else 0.0
                entries += count[v]
        for f in range(m):
            arity = g.scope_start[f + 1] - g.scope_start[f]
            several = 0
            for k in range(arity):
                several += count[g.scope[g.scope_start[f] + k]] > 1
            # offsets of each label: to its image in this table, and in the new table
            stride = step = 1
            at = 0
            for k in range(arity):
                begin[k] = at
                at += g.domains[g.scope[g.scope_start[f] + k]]
            begin[arity] = at
            for k in range(arity - 1, -1, -1):
                v = g.scope[g.scope_start[f] + k]
                for x in range(g.domains[v]):
                    i = place(g, v) + x
                    to_image[begin[k] + x] = stride * (labels[v] if mapped[i] else x)
                    to_target[begin[k] + x] = step * number_of[i]
                stride *= g.domains[v]
                step *= count[v]
            for k in range(arity):
                v = g.scope[g.scope_start[f] + k]
                if several and count[v] > 1:
                    rest[members] = index[v]
                    members += 1
                if several > 1 and count[v] > 1:
                    for x in range(g.domains[v]):
                        if number_of[place(g, v) + x]:
                            origins[carried + number_of[place(g, v) + x]] = message + x
                    carried += count[v]
                if arity > 1:
                    message += g.domains[v]
            if not several:
                continue
            kept += 1
            start[kept] = members
            own = g.table_start[f]
            d = g.domains[g.scope[g.scope_start[f] + arity - 1]]
            for k in range(arity):
                counter[k] = 0
            at = own
            while at < g.table_start[f] + entries_of(g, f):
                image, target = own, entries
                for k in range(arity - 1):
                    image += to_image[begin[k] + counter[k]]
                    target += to_target[begin[k] + counter[k]]
                last = begin[arity - 1]
                for x in range(d):
                    value = g.tables[at + x]
                    if value == INFINITY:
                        continue
                    other = image + to_image[last + x]
                    j = target + to_target[last + x]
                    if other == at + x:
                        value = 0.0
                    else:
                        against = g.tables[other]
                        value = difference_down(value, against) if against < INFINITY else -INFINITY
                    if value == -INFINITY:
                        amiss = True
                        counter[arity - 1] = x
                        for k in range(arity):
                            i = place(g, g.scope[g.scope_start[f] + k]) + counter[k]
                            if mapped[i]:
                                stays[i] = True
                    if value < out[j]:
                        out[j] = value
                at += d
                for k in range(arity - 2, -1, -1):
                    counter[k] += 1
                    if counter[k] < g.domains[g.scope[g.scope_start[f] + k]]:
                        break
                    counter[k] = 0
            entries += step
    return domains_array, start_array, scope_array, tables_array, origins_array, amiss


def negative(
    View view,
    const double[::1] messages,
    double tolerance,
):
    """Flag the labels of each table's least entry, if it is below that of all labels 0 by more than the tolerance.

    This is done for the tables less the messages, in the layout of certificates, and for the unary costs plus messages.
    """
    cdef const Factors* g = &view.g
    cdef Py_ssize_t n = g.n, m = g.m, f, v
    cdef offset_t i, k, arity, at, message = 0, best, most = g.largest_arity
    cdef element_t x, d
    cdef double value, rest, least, zero
    found = zeros_uint8(g.size)
    cdef uint8_t[::1] out = found
    cdef double[::1] cost = zeros_float64(max(1, g.size))
    cdef element_t[::1] counter = zeros_int32(most), winner = zeros_int32(most)
    cdef offset_t[::1] begin = zeros_int64(most)
    with nogil:
        for f in range(m):
            arity = g.scope_start[f + 1] - g.scope_start[f]
            if arity == 1:
                v = g.scope[g.scope_start[f]]
                for x in range(g.domains[v]):
                    cost[place(g, v) + x] += g.tables[g.table_start[f] + x]
                continue
            for k in range(arity):
                v = g.scope[g.scope_start[f] + k]
                begin[k] = message
                for x in range(g.domains[v]):
                    cost[place(g, v) + x] += messages[message + x]
                message += g.domains[v]
                counter[k] = winner[k] = 0
            d = g.domains[g.scope[g.scope_start[f] + arity - 1]]
            least = zero = g.tables[g.table_start[f]]
            for k in range(arity):
                zero -= messages[begin[k]]
            least = zero
            at = g.table_start[f]
            while at < g.table_start[f] + entries_of(g, f):
                rest = 0.0
                for k in range(arity - 1):
                    rest += messages[begin[k] + counter[k]]
                for x in range(d):
                    value = g.tables[at + x] - rest - messages[begin[arity - 1] + x]
                    if value < least:
                        least = value
                        counter[arity - 1] = x
                        for k in range(arity):
                            winner[k] = counter[k]
                at += d
                for k in range(arity - 2, -1, -1):
                    counter[k] += 1
                    if counter[k] < g.domains[g.scope[g.scope_start[f] + k]]:
                        break
                    counter[k] = 0
            if least < zero - tolerance:
                for k in range(arity):
                    out[place(g, g.scope[g.scope_start[f] + k]) + winner[k]] = True
        for v in range(n):
            best = place(g, v)
            for i in range(place(g, v), place(g, v) + labels_of(g, v)):
                if cost[i] < cost[best]:
                    best = i
            if cost[best] < cost[place(g, v)] - tolerance:
                out[best] = True
            out[place(g, v)] = False
    return found

"""Code that the kernels of elimination share: a plan as C pointers, and the memory for going through a node."""

import numpy as np

from graphpart.kernels.types cimport cost_t, element_t, offset_t

cdef element_t[1] NOTHING


cdef const element_t* integers(object array):
    cdef const element_t[::1] a = array
    return &a[0] if a.shape[0] else NOTHING


cdef const offset_t* offsets(object array):
    cdef const offset_t[::1] a = array
    return &a[0] if a.shape[0] else <const offset_t*>NOTHING


cdef Forest view(object problem, object plan):
    """Pointers into the arrays of both, which have to stay alive."""
    cdef Forest f
    cdef const cost_t[::1] tables
    domains, scope_start, scope, table_start, all_tables = problem
    tables = all_tables
    f.n = domains.shape[0]
    f.nodes = plan.variable.shape[0]
    f.domains, f.scope_start, f.scope = integers(domains), offsets(scope_start), integers(scope)
    f.table_start = offsets(table_start)
    f.tables = &tables[0] if tables.shape[0] else <const cost_t*>NOTHING
    f.variable, f.axes_start, f.axes = integers(plan.variable), offsets(plan.axes_start), integers(plan.axes)
    f.uses_start, f.uses, f.size = offsets(plan.uses_start), integers(plan.uses), offsets(plan.size)
    f.parent, f.place = integers(plan.parent), offsets(plan.place)
    f.most_tables, f.most_axes, f.most_strides = plan.most_tables, plan.most_axes, plan.most_strides
    return f


cdef object workspace(Walk* w, Forest* f, object plan):
    """Memory for walking over any node; what is returned has to stay alive."""
    axis, order = np.empty(f.n + 1, np.int32), np.empty((2, f.most_tables + 1), np.int32)
    cdef element_t[::1] a = axis
    cdef element_t[:, ::1] o = order
    at, segments = np.empty(f.most_tables + 1, np.uintp), np.empty(f.most_tables + 1, np.intc)
    cdef size_t[::1] p = at
    cdef int[::1] s = segments
    strides = np.empty((3, f.most_strides + 1), np.int64)
    cdef offset_t[:, ::1] t = strides
    sums = np.empty(plan.workspace)
    cdef cost_t[::1] b = sums
    w.f = f
    w.axis, w.sorted, w.level = &a[0], &o[0, 0], &o[1, 0]
    w.at, w.segments = <const cost_t**>&p[0], &s[0]
    w.stride, w.segment_size, w.segment_stride = &t[0, 0], &t[1, 0], &t[2, 0]
    w.sums = &b[0]
    return axis, order, at, segments, strides, sums


def measure(const element_t[::1] domains, const element_t[::1] variable, const offset_t[::1] axes_start,
            const element_t[::1] axes, const offset_t[::1] uses_start):
    """(most tables, most axes, most tables times axes, most entries of all levels) of a node."""
    cdef offset_t tables, count, block, i, t, inner, most_tables = 0, most_axes = 1, strides = 1, entries = 1
    cdef offset_t d
    with nogil:
        for t in range(variable.shape[0]):
            tables = uses_start[t + 1] - uses_start[t]
            count = axes_start[t + 1] - axes_start[t] + 1
            block = domains[variable[t]]
            inner = 1
            for i in range(axes_start[t + 1] - 1, axes_start[t] - 1, -1):
                d = domains[axes[i]]
                if block * d > BLOCK and not (block < SHORT and block * d <= LONG):
                    break
                block *= d
                inner += 1
            most_tables = max(most_tables, tables)
            most_axes = max(most_axes, count)
            strides = max(strides, tables * count)
            entries = max(entries, block * (1 + min(count - inner, tables)))
    return most_tables, most_axes, strides, entries

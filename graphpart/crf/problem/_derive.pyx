"""Kernels that make new flat tables from old ones: conditioning on evidence, absorbing unary factors."""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels.types cimport cost_t, element_t, offset_t


def condition(
    const element_t[::1] domains,
    const offset_t[::1] scope_start,
    const element_t[::1] scope,
    const offset_t[::1] table_start,
    const cost_t[::1] tables,
    const element_t[::1] given,
):
    """Fix the variables with ``given[v] >= 0``: (scope_start, scope, tables, constant, first forbidden factor or -1).

    Factors without a free variable leave; the sum of their entries is the constant. O(size of scopes and tables).
    """
    cdef Py_ssize_t m = scope_start.shape[0] - 1, f, kept = 0
    cdef offset_t i, j, size, at, entries = 0, members = 0, begin, arity
    cdef double constant = 0.0, x
    cdef Py_ssize_t bad = -1
    # First what remains is counted, then it is written.
    for f in range(m):
        size = 1
        arity = 0
        for i in range(scope_start[f], scope_start[f + 1]):
            if given[scope[i]] < 0:
                size *= domains[scope[i]]
                arity += 1
        if arity:
            kept += 1
            entries += size
            members += arity
    start_array, scope_array, tables_array = np.zeros(kept + 1, np.int64), np.empty(members, np.int32), np.empty(entries)
    cdef offset_t[::1] start = start_array
    cdef element_t[::1] rest = scope_array
    cdef cost_t[::1] out = tables_array
    kept = members = entries = 0
    with nogil:
        for f in range(m):
            begin = members
            for i in range(scope_start[f], scope_start[f + 1]):
                if given[scope[i]] < 0:
                    rest[members] = scope[i]
                    members += 1
            if members == begin:
                at = 0
                for i in range(scope_start[f], scope_start[f + 1]):
                    at = at * domains[scope[i]] + given[scope[i]]
                x = tables[table_start[f] + at]
                if x == INFINITY and bad < 0:
                    bad = f
                constant += x
                continue
            kept += 1
            start[kept] = members
            size = 1
            for i in range(begin, members):
                size *= domains[rest[i]]
            for j in range(size):
                out[entries] = tables[table_start[f] + place_of(
                    &domains[0], &scope[scope_start[f]], scope_start[f + 1] - scope_start[f], &given[0], j)]
                entries += 1
    return start_array, scope_array, tables_array, constant, bad


cdef inline offset_t place_of(
    const element_t* domains, const element_t* scope, offset_t arity, const element_t* given, offset_t j,
) noexcept nogil:
    """Where the j-th entry of the table over the free variables stands in the whole table."""
    cdef offset_t at = 0, stride = 1, i, d
    for i in range(arity - 1, -1, -1):
        d = domains[scope[i]]
        if given[scope[i]] >= 0:
            at += given[scope[i]] * stride
        else:
            at += (j % d) * stride
            j //= d
        stride *= d
    return at


def absorb_unary(
    const element_t[::1] domains,
    const offset_t[::1] scope_start,
    const element_t[::1] scope,
    const offset_t[::1] table_start,
    const cost_t[::1] tables,
):
    """Add each unary factor to the first larger factor of its variable: (scope_start, scope, tables)."""
    cdef Py_ssize_t n = domains.shape[0], m = scope_start.shape[0] - 1, f, g
    cdef offset_t i, j, d, stride, kept = 0, members = 0, entries = 0
    cdef element_t v
    cdef element_t[::1] host = np.full(n, -1, np.int32)
    tables_array = np.array(tables)
    cdef cost_t[::1] out = tables_array
    start_array, scope_array = np.empty(m + 1, np.int64), np.empty(scope.shape[0], np.int32)
    cdef offset_t[::1] start = start_array
    cdef element_t[::1] rest = scope_array
    with nogil:
        for f in range(m - 1, -1, -1):
            if scope_start[f + 1] - scope_start[f] > 1:
                for i in range(scope_start[f], scope_start[f + 1]):
                    host[scope[i]] = <element_t>f
        for f in range(m):
            if scope_start[f + 1] - scope_start[f] != 1 or host[scope[scope_start[f]]] < 0:
                continue
            v = scope[scope_start[f]]
            g = host[v]
            stride = 1
            i = scope_start[g + 1] - 1
            while scope[i] != v:
                stride *= domains[scope[i]]
                i -= 1
            d = domains[v]
            for j in range(table_start[g + 1] - table_start[g]):
                out[table_start[g] + j] += tables[table_start[f] + (j // stride) % d]
        start[0] = 0
        for f in range(m):
            if scope_start[f + 1] - scope_start[f] == 1 and host[scope[scope_start[f]]] >= 0:
                continue
            for i in range(scope_start[f], scope_start[f + 1]):
                rest[members] = scope[i]
                members += 1
            for j in range(table_start[f], table_start[f + 1]):
                out[entries] = out[j]
                entries += 1
            kept += 1
            start[kept] = members
    return start_array[:kept + 1].copy(), scope_array[:members].copy(), tables_array[:entries].copy()

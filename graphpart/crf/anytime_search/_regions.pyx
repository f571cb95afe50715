"""Kernel of regions: where two labelings differ, the better one of each connected component of the difference.

Two variables with different labels in both labelings are connected if they share a factor. So each factor has variables
of at most one component, and the better labeling of a component does not depend on the other components.
"""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels.types cimport cost_t, element_t, offset_t


cdef inline double selected(
    const element_t[::1] domains, const offset_t[::1] scope_start, const element_t[::1] scope,
    const offset_t[::1] table_start, const cost_t[::1] tables, Py_ssize_t f, const element_t* label, double penalty,
    Py_ssize_t* forbidden,
) noexcept nogil:
    cdef offset_t i, at = 0, step = 1
    cdef double x
    for i in range(scope_start[f + 1] - 1, scope_start[f] - 1, -1):
        at += step * label[scope[i]]
        step *= domains[scope[i]]
    x = tables[table_start[f] + at]
    if x == INFINITY:
        forbidden[0] += 1
        return penalty
    return x


def energy(
    const element_t[::1] domains, const offset_t[::1] first, const cost_t[::1] unary, const offset_t[::1] scope_start,
    const element_t[::1] scope, const offset_t[::1] table_start, const cost_t[::1] tables, double penalty,
    const element_t[::1] labels,
):
    """(energy without the constant, forbidden entries): each of these costs the penalty."""
    cdef Py_ssize_t v, f, forbidden = 0
    cdef double total = 0.0
    if labels.shape[0] == 0:
        return 0.0, 0
    with nogil:
        for v in range(domains.shape[0]):
            total += unary[first[v] + labels[v]]
            forbidden += unary[first[v] + labels[v]] >= penalty
        for f in range(scope_start.shape[0] - 1):
            if scope_start[f + 1] - scope_start[f] > 1:
                total += selected(
                    domains, scope_start, scope, table_start, tables, f, &labels[0], penalty, &forbidden
                )
    return total, forbidden


def best_of_regions(
    const element_t[::1] domains, const offset_t[::1] first, const cost_t[::1] unary, const offset_t[::1] scope_start,
    const element_t[::1] scope, const offset_t[::1] table_start, const cost_t[::1] tables, const offset_t[::1] rows,
    const element_t[::1] factors, const offset_t[::1] near_start, const element_t[::1] near, double penalty,
    const element_t[::1] one, const element_t[::1] other,
):
    """Labels of `one`, with those of `other` in the regions where these are better; and by how much in all."""
    cdef Py_ssize_t n = domains.shape[0], v, at, end, begin, forbidden = 0
    cdef offset_t i, f
    cdef element_t u
    cdef double delta, total = 0.0
    out = np.array(one)
    if n == 0:
        return out, 0.0
    cdef element_t[::1] label = out
    cdef element_t[::1] region = np.empty(n, np.int32)
    cdef char[::1] seen = np.zeros(n, np.int8)
    cdef char[::1] counted = np.zeros(scope_start.shape[0], np.int8)
    with nogil:
        for v in range(n):
            if seen[v] or one[v] == other[v]:
                continue
            region[0] = <element_t>v
            seen[v] = True
            at, end = 0, 1
            delta = 0.0
            while at < end:
                u = region[at]
                at += 1
                delta += unary[first[u] + other[u]] - unary[first[u] + one[u]]
                for i in range(rows[u], rows[u + 1]):
                    f = factors[i]
                    if not counted[f]:
                        counted[f] = True
                        delta += selected(
                            domains, scope_start, scope, table_start, tables, f, &other[0], penalty, &forbidden
                        ) - selected(
                            domains, scope_start, scope, table_start, tables, f, &one[0], penalty, &forbidden
                        )
                for i in range(near_start[u], near_start[u + 1]):
                    if not seen[near[i]] and one[near[i]] != other[near[i]]:
                        seen[near[i]] = True
                        region[end] = near[i]
                        end += 1
            if delta < 0.0:
                total += delta
                for at in range(end):
                    label[region[at]] = other[region[at]]
    return out, total

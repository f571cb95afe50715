# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rows of labels that move between clusters, one after another, each to the cluster in which it costs least."""

from libc.stdint cimport int64_t
from graphpart.kernels._arrays cimport empty_float64


def move_rows(
    const int64_t[:, ::1] keys, const double[::1] size, const double[::1] weights, const int64_t[::1] order,
    int64_t[::1] labels, double[:, ::1] counts, double[::1] total,
):
    """One pass over the rows in this order, in place; O(n m clusters).

    Parameters
    ----------
    keys : shape (n, m)
        The number of each label of a row.
    counts : shape (labels, clusters)
        The number of elements of each cluster with each label; `total` is the size of each cluster.

    Returns
    -------
    (moved, seen)
        The number of rows that have moved, and of rows that were examined: fewer than all if no cluster is empty any
        more.
    """
    cdef Py_ssize_t n = order.shape[0], m = keys.shape[1], clusters = total.shape[0], at, a, k, c, old, best
    cdef Py_ssize_t empty = 0, moved = 0
    cdef double weight = 0.0, s, w, tolerance
    cdef double[::1] costs = empty_float64(clusters)
    cdef const double* row
    with nogil:
        for k in range(m):
            weight += weights[k]
        for c in range(clusters):
            empty += total[c] == 0.0
        tolerance = 1e-9 * weight
        at = 0
        while at < n and empty > 0:
            a = order[at]
            at += 1
            s = size[a]
            old = labels[a]
            for c in range(clusters):
                costs[c] = weight * total[c]
            for k in range(m):
                w = 2.0 * weights[k]
                row = &counts[keys[a, k], 0]
                for c in range(clusters):
                    costs[c] -= w * row[c]
            costs[old] += weight * s  # without itself
            best = old
            for c in range(clusters):
                if costs[c] < costs[best] - tolerance:
                    best = c
            if best == old:
                continue
            moved += 1
            empty -= total[best] == 0.0
            for k in range(m):
                counts[keys[a, k], old] -= s
                counts[keys[a, k], best] += s
            total[old] -= s
            total[best] += s
            empty += total[old] == 0.0
            labels[a] = best
    return moved, at

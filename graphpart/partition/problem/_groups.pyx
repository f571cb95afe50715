"""Kernel of groups: pairs of members that are together, and the costs of pairs of elements that share groups.

Members are stored by element, and by group; see `graphpart.partition.problem.groups` for these arrays.
"""

import numpy as np

from graphpart.kernels._arrays cimport zeros_float64, zeros_int64
from graphpart.kernels.types cimport element_t, offset_t


def pairs_together(
    const offset_t[::1] first, const element_t[::1] member, const offset_t[::1] count, const element_t[::1] labels
):
    """For each group, the number of pairs of its members that have one label, without pairs within an element. O(nnz)

    Members of group g are ``member[first[g]:first[g + 1]]``; each stands for `count` members. Labels are in ``0..n-1``.
    """
    cdef Py_ssize_t groups = first.shape[0] - 1, g, i
    cdef offset_t[::1] seen = zeros_int64(labels.shape[0])
    found = zeros_int64(groups)
    cdef offset_t[::1] pairs = found
    with nogil:
        for g in range(groups):
            for i in range(first[g], first[g + 1]):
                pairs[g] += count[i] * seen[labels[member[i]]]
                seen[labels[member[i]]] += count[i]
            for i in range(first[g], first[g + 1]):
                seen[labels[member[i]]] = 0
    return found


def prices_of_pairs(
    const offset_t[::1] starts,
    const element_t[::1] group,
    const offset_t[::1] count,
    const double[::1] price,
    const element_t[::1] u,
    const element_t[::1] v,
) -> NDArray[np.float64]:
    """For each pair, the sum of ``price[g] * count * count`` over the groups that it shares, by merging two rows."""
    cdef Py_ssize_t m = u.shape[0], e, i, j
    found = zeros_float64(m)
    cdef double[::1] sums = found
    with nogil:
        for e in range(m):
            i, j = starts[u[e]], starts[v[e]]
            while i < starts[u[e] + 1] and j < starts[v[e] + 1]:
                if group[i] < group[j]:
                    i += 1
                elif group[i] > group[j]:
                    j += 1
                else:
                    sums[e] += price[group[i]] * <double>(count[i] * count[j])
                    i += 1
                    j += 1
    return found

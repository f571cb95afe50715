# Common neighbours: of pairs that probably belong together, see unlisted.py, and of given pairs, see turned_signs.py.
from functools import partial

import numpy as np

from libc.stdint cimport uint8_t

from graphpart.kernels._arrays cimport empty_int32, full_int32, zeros_int32, zeros_uint8
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.kernels.union_find cimport root, unite
from graphpart.machine import side_by_side

cdef enum:
    MANY = 1 << 18  # attracting neighbours from which two threads work
    LONGER = 16     # times another row: such a row is searched by bisection


def compared_near(
    const offset_t[::1] first, const element_t[::1] v, const offset_t[::1] starts, const element_t[::1] neighbours,
    Py_ssize_t crowd
):
    """Which pairs have common attracting neighbours, and how many of these pairs are listed.

    The pairs are sorted: the larger elements of those of a stand from ``v[first[a]]`` to ``v[first[a + 1]]``. Compressed
    rows (`starts`, `neighbours`) have the attracting ones. An element with more than `crowd` attracting neighbours is no
    common neighbour.

    Returns ``(counts, groups)``. ``counts[k - 1]`` are the pairs with at least k common neighbours, k = 1 and 2: of
    these the listed ones, and all. ``groups[a]`` is the least element of the group of a: attracting pairs with a common
    neighbour connect groups. O(sum of squared numbers of attracting neighbours)
    """
    cdef Py_ssize_t n = starts.shape[0] - 1, a
    parents = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32)
    cdef element_t[::1] parent = parents[0], other = parents[1]
    half = int(np.searchsorted(starts, starts[n] * 2 // 5))     # elements of small numbers have more larger ones
    parts = (0, half, parents[0]), (half, n, parents[1])
    calls = [partial(_compare, *part, first, v, starts, neighbours, crowd) for part in parts]
    counts = sum(side_by_side(*calls, worth=starts[n] >= MANY))
    with nogil:
        for a in range(n):
            unite(&parent[0], <element_t>a, other[a])
        for a in range(n):
            parent[a] = root(&parent[0], <element_t>a)
    return counts, parents[0]


def _compare(
    Py_ssize_t begin, Py_ssize_t end, element_t[::1] parent, const offset_t[::1] first, const element_t[::1] v,
    const offset_t[::1] starts, const element_t[::1] neighbours, Py_ssize_t crowd,
):
    """The counts of the pairs whose smaller element is from `begin` to before `end`; their groups are united."""
    cdef Py_ssize_t n = starts.shape[0] - 1, a, k
    cdef offset_t i, j
    cdef element_t b, c
    counts_array = np.zeros((2, 2), np.int64)
    cdef offset_t[:, ::1] counts = counts_array
    cdef element_t[::1] listed = full_int32(n, -1)    # the last element whose row lists a larger one
    cdef element_t[::1] common = zeros_int32(n)
    cdef element_t[::1] found = empty_int32(n)
    cdef element_t size
    cdef bint known
    with nogil:
        for a in range(begin, end):
            if starts[a + 1] == starts[a]:
                continue
            size = 0
            for i in range(first[a], first[a + 1]):
                listed[v[i]] = <element_t>a
            for i in range(starts[a], starts[a + 1]):
                b = neighbours[i]
                if starts[b + 1] - starts[b] > crowd:
                    continue
                for j in range(starts[b], starts[b + 1]):
                    c = neighbours[j]
                    if c > a:
                        if common[c] == 0:
                            found[size] = c
                            size += 1
                        common[c] += 1
            for k in range(size):
                c = found[k]
                known = listed[c] == a
                counts[0, 0] += known
                counts[0, 1] += 1
                if common[c] > 1:
                    counts[1, 0] += known
                    counts[1, 1] += 1
            for i in range(starts[a], starts[a + 1]):
                c = neighbours[i]
                if c > a and common[c] > 0:
                    unite(&parent[0], <element_t>a, c)
            for k in range(size):
                common[found[k]] = 0
    return counts_array


def with_common(
    const element_t[::1] u, const element_t[::1] v, const offset_t[::1] starts, const element_t[::1] neighbours
):
    """1 for each pair whose elements have a common neighbour in the compressed rows, else 0. O(the rows of all pairs)

    If one row is much longer, as that of a hub, the entries of the other are searched for in it by bisection.
    """
    cdef Py_ssize_t k
    cdef offset_t i, j, last, end, low, high
    out = zeros_uint8(u.shape[0])
    cdef uint8_t[::1] common = out
    with nogil:
        for k in range(u.shape[0]):
            i, last = starts[u[k]], starts[u[k] + 1]
            j, end = starts[v[k]], starts[v[k] + 1]
            if last - i > end - j:
                i, last, j, end = j, end, i, last
            while i < last and j < end and neighbours[i] != neighbours[j]:     # neighbours ascend in each row
                if neighbours[i] < neighbours[j]:
                    i += 1
                elif end - j < LONGER * (last - i):
                    j += 1
                else:
                    low, high = j + 1, end          # the first entry that is not smaller
                    while low < high:
                        j = (low + high) // 2
                        if neighbours[j] < neighbours[i]:
                            low = j + 1
                        else:
                            high = j
                    j = low
            common[k] = i < last and j < end
    return out

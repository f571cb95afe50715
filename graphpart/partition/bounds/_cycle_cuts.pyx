"""Kernel that finds violated cycle inequalities where only some pairs are variables, along shortest paths.

A pair has the length ``1 - y``. The inequality of a cycle, closed by a pair e, is violated iff the path of the others is
shorter than e. From each element, Dijkstra's algorithm goes no further than the longest pair that closes a cycle there,
and ends once all these pairs are decided; work is in proportion to what is reached, not to n.
"""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels.heap cimport Keyed, Nearest, nearest_offer, nearest_pop
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping

cdef double HOP = 1e-7      # added to every length: of paths of the same length, one with few pairs is found


def cycles(const offset_t[::1] starts, const element_t[::1] neighbours, const double[::1] lengths,
           const offset_t[::1] closing, const element_t[::1] other, const double[::1] longest, double tolerance,
           Py_ssize_t reach, Stopping stopping):
    """Cycles that are violated by more than `tolerance`.

    The neighbours of a along which paths may go are ``neighbours[starts[a]:starts[a + 1]]``, with lengths. Pairs
    ``{a, other[i]}`` of length ``longest[i]`` for i from ``closing[a]`` to ``closing[a + 1]`` close cycles. From an element,
    at most the `reach` nearest ones are looked at.
    Returns (starts, elements from one end of the closing pair to the other, violations, all violated closing pairs): a
    pair that two elements have a shorter one beside is violated, but closes no cycle.
    """
    cdef Py_ssize_t n = starts.shape[0] - 1, a, i, reached, targets, size, left
    cdef element_t x, z
    cdef double limit, key
    cdef Nearest h
    cdef unsigned char[::1] heap = np.empty((n + 1) * sizeof(Keyed), np.uint8)
    cdef element_t[::1] place = np.full(n + 1, -1, np.int32)
    cdef double[::1] distance = np.full(n + 1, INFINITY)
    cdef element_t[::1] before = np.empty(n + 1, np.int32), touched = np.empty(n + 1, np.int32)
    cdef unsigned char[::1] wanted = np.zeros(n + 1, np.uint8), settled = np.zeros(n + 1, np.uint8)
    path = np.empty(n + 1, np.int32)
    cdef element_t[::1] path_view = path
    begins, elements, amounts, violated = [0], [], [], []
    h.first, h.place, h.size = <Keyed*>&heap[0], &place[0], 0
    size = 0
    for a in range(n):
        if closing[a] == closing[a + 1] or starts[a] == starts[a + 1]:
            continue
        if stopping.poll(INFINITY):
            break
        with nogil:
            limit, targets, reached, left = 0.0, 0, 1, reach
            for i in range(closing[a], closing[a + 1]):
                if longest[i] - tolerance > limit:
                    limit = longest[i] - tolerance
                targets += not wanted[other[i]]
                wanted[other[i]] = 1
            distance[a] = 0.0
            touched[0] = <element_t>a
            nearest_offer(&h, 0.0, <element_t>a)
            while h.size and targets and left:
                left -= 1
                key = h.first.key
                if key >= limit:
                    break
                x = nearest_pop(&h)
                settled[x] = 1
                if wanted[x]:
                    wanted[x] = 0
                    targets -= 1
                for i in range(starts[x], starts[x + 1]):
                    z = neighbours[i]
                    if settled[z]:
                        continue
                    key = distance[x] + lengths[i] + HOP
                    if key < distance[z] and key < limit:
                        if distance[z] == INFINITY:
                            touched[reached] = z
                            reached += 1
                        distance[z], before[z] = key, x
                        nearest_offer(&h, key, z)
        for i in range(closing[a], closing[a + 1]):
            wanted[other[i]] = 0
            x = other[i]
            if settled[x] and distance[x] < longest[i] - tolerance:
                z = x
                size = 0
                while True:
                    path_view[size] = z
                    size += 1
                    if z == a:
                        break
                    z = before[z]
                violated.append(i)
                if size > 2:
                    elements.append(path[:size].copy())
                    begins.append(begins[len(begins) - 1] + size)
                    amounts.append(longest[i] - distance[x])
        with nogil:
            for i in range(reached):
                x = touched[i]
                distance[x], settled[x], place[x] = INFINITY, 0, -1
            h.size = 0
    joined = np.concatenate(elements) if elements else np.zeros(0, np.int32)
    return np.array(begins, np.int64), joined, np.array(amounts, np.float64), np.array(violated, np.int64)

"""Kernels that find violated cycle inequalities where only some pairs are variables, along shortest paths.

A pair has the length ``1 - y``. The inequality of a cycle that is closed by a pair e is violated if and only if the
path of its other pairs is shorter than e. From each element, `cycles` runs Dijkstra's algorithm up to the length of the
longest pair that closes a cycle there. It ends when all these pairs are decided. The work is in proportion to the
number of reached elements, not to n.

`far_cycles` finds long cycles. Pairs of length 0 connect elements to clusters, and Dijkstra's algorithm goes from
cluster to cluster, once for all pairs that close cycles at a cluster. Within a cluster every path has length 0, and
breadth-first search finds a path with the fewest pairs. So long paths take little time, also in large clusters.
"""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels._arrays cimport (
    empty_int32, empty_int64, full_float64, full_int32, zeros_int32, zeros_int64, zeros_uint8,
)
from graphpart.kernels._pairs cimport CompressedRows
from graphpart.kernels.heap cimport Keyed, Nearest, nearest_offer, nearest_pop
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping


cdef double HOP = 1e-7      # added to every length, so that fewer pairs or clusters decide ties


def cycles(CompressedRows paths not None, CompressedRows closed not None, double tolerance, Py_ssize_t reach,
           Stopping stopping):
    """Cycles that are violated by more than `tolerance`.

    `paths` has the pairs of paths, `closed` the pairs that close cycles, each in the row of one of its elements. Their
    costs are lengths. From an element, at most the `reach` nearest elements are examined. Returns (starts, elements
    from one end of the closing pair to the other, violations, all violated closing pairs). A closing pair is also
    violated if a shorter path is one pair between the same two elements, which is no cycle.
    """
    cdef Py_ssize_t n = paths.view.n, a, i, reached, targets, size, left
    cdef const offset_t* starts = paths.view.starts
    cdef const element_t* neighbours = paths.view.neighbours
    cdef const double* lengths = paths.view.costs
    cdef const offset_t* closing = closed.view.starts
    cdef const element_t* other = closed.view.neighbours
    cdef const double* longest = closed.view.costs
    cdef element_t x, z
    cdef double limit, key
    cdef Nearest h
    cdef unsigned char[::1] heap = np.empty((n + 1) * sizeof(Keyed), np.uint8)
    cdef element_t[::1] place = full_int32(n + 1, -1)
    cdef double[::1] distance = full_float64(n + 1, INFINITY)
    cdef element_t[::1] before = empty_int32(n + 1), touched = empty_int32(n + 1)
    cdef unsigned char[::1] wanted = zeros_uint8(n + 1), settled = zeros_uint8(n + 1)
    path = empty_int32(n + 1)
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
    return np.array(begins, np.int64), _joined(elements), np.array(amounts, np.float64), np.array(violated, np.int64)


cdef struct Within:
    const offset_t* starts
    const element_t* neighbours
    element_t* before
    element_t* queue
    offset_t* seen              # when an element was last reached
    offset_t now, work


cdef Py_ssize_t trace(Within* w, element_t first, element_t last, element_t* path, Py_ssize_t size) noexcept nogil:
    """Append a shortest path within a cluster, from the first to the last element; the new size."""
    cdef Py_ssize_t head = 0, tail = 1, i
    cdef element_t x = last, z
    w.now += 1
    w.queue[0] = last
    w.seen[last] = w.now
    while x != first and head < tail:
        x = w.queue[head]
        head += 1
        w.work += w.starts[x + 1] - w.starts[x] + 1
        for i in range(w.starts[x], w.starts[x + 1]):
            z = w.neighbours[i]
            if w.seen[z] != w.now:
                w.seen[z] = w.now
                w.before[z] = x
                w.queue[tail] = z
                tail += 1
                if z == first:
                    x = z
                    break
    while True:
        path[size] = x
        size += 1
        if x == last:
            return size
        x = w.before[x]


def far_cycles(const element_t[::1] cluster, const offset_t[::1] within, const element_t[::1] beside,
               const offset_t[::1] starts, const element_t[::1] neighbours, const double[::1] lengths,
               const element_t[::1] tails, const element_t[::1] heads,
               const offset_t[::1] closing, const element_t[::1] near, const element_t[::1] far,
               const double[::1] longest, double tolerance, Py_ssize_t begin, Py_ssize_t limit, offset_t work,
               Stopping stopping):
    """Cycles that are violated by more than `tolerance`: at most one for each closing pair, within limits.

    Pairs of length 0 connect the elements of a cluster; element a has pairs with ``beside[within[a]:within[a + 1]]``.
    The arcs of cluster k to other clusters are ``starts[k]`` to ``starts[k + 1]``; arc i leads from element
    ``tails[i]`` to element ``heads[i]`` in cluster ``neighbours[i]``. Closing pairs are ``{near[i], far[i]}`` of length
    ``longest[i]``; ``near[i]`` is in cluster k for i from ``closing[k]`` to ``closing[k + 1]``, and ``far[i]`` may be,
    too. Clusters are processed in order from `begin` on. The search ends after all clusters, `limit` cycles, or `work`
    examined pairs. Returns (starts, elements from one end of the closing pair to the other, violations, the next
    cluster).
    """
    cdef Py_ssize_t count = starts.shape[0] - 1, n = cluster.shape[0], turn, i, reached, targets, size, arc, at
    cdef element_t a, x, z, c
    cdef double bound, key
    cdef Nearest h
    cdef Within w
    cdef unsigned char[::1] heap = np.empty((count + 1) * sizeof(Keyed), np.uint8)
    cdef element_t[::1] place = full_int32(count + 1, -1)
    cdef double[::1] distance = full_float64(count + 1, INFINITY)
    cdef offset_t[::1] before = empty_int64(count + 1)
    cdef element_t[::1] origin = empty_int32(count + 1), touched = empty_int32(count + 1)
    cdef offset_t[::1] wanted = zeros_int64(count + 1)
    cdef unsigned char[::1] settled = zeros_uint8(count + 1)
    cdef element_t[::1] parent = empty_int32(n + 1), queue = empty_int32(n + 1)
    cdef offset_t[::1] seen = zeros_int64(n + 1)
    path = empty_int32(n + 1)
    cdef element_t[::1] path_view = path
    begins, elements, amounts = [0], [], []
    h.first, h.place, h.size = <Keyed*>&heap[0], &place[0], 0
    w.starts, w.before, w.queue, w.seen = &within[0], &parent[0], &queue[0], &seen[0]
    w.neighbours = &beside[0] if beside.shape[0] else NULL
    w.now, w.work = 0, 0
    a = 0
    for turn in range(count):
        a = <element_t>((begin + turn) % count)
        if closing[a] == closing[a + 1]:
            continue
        if len(amounts) >= limit or w.work > work or stopping.poll(INFINITY):
            return np.array(begins, np.int64), _joined(elements), np.array(amounts, np.float64), a
        with nogil:
            bound, targets, reached = 0.0, 0, 1
            for i in range(closing[a], closing[a + 1]):
                c = cluster[far[i]]
                if c != a:
                    if longest[i] - tolerance > bound:
                        bound = longest[i] - tolerance
                    targets += not wanted[c]
                    wanted[c] = 1
            distance[a] = 0.0
            touched[0] = a
            nearest_offer(&h, 0.0, a)
            while h.size and targets:
                key = h.first.key
                if key >= bound:
                    break
                x = nearest_pop(&h)
                settled[x] = 1
                if wanted[x]:
                    wanted[x] = 0
                    targets -= 1
                w.work += starts[x + 1] - starts[x] + 1
                for i in range(starts[x], starts[x + 1]):
                    z = neighbours[i]
                    if settled[z]:
                        continue
                    key = distance[x] + lengths[i] + HOP
                    if key < distance[z] and key < bound:
                        if distance[z] == INFINITY:
                            touched[reached] = z
                            reached += 1
                        distance[z], before[z], origin[z] = key, i, x
                        nearest_offer(&h, key, z)
        settled[a] = 1  # also if no other cluster was wanted
        for at in range(closing[a], closing[a + 1]):
            c = cluster[far[at]]
            wanted[c] = 0
            if not settled[c] or distance[c] >= longest[at] - tolerance:
                continue
            with nogil:
                size, x = 0, far[at]
                while c != a:
                    arc = before[c]
                    size = trace(&w, x, heads[arc], &path_view[0], size)
                    x, c = tails[arc], origin[c]
                size = trace(&w, x, near[at], &path_view[0], size)
            if size > 2:
                elements.append(path[:size].copy())
                begins.append(begins[len(begins) - 1] + size)
                amounts.append(longest[at] - distance[cluster[far[at]]])
        with nogil:
            for i in range(reached):
                x = touched[i]
                distance[x], settled[x], place[x] = INFINITY, 0, -1
            h.size = 0
    return np.array(begins, np.int64), _joined(elements), np.array(amounts, np.float64), (begin + count) % max(count, 1)


def _joined(elements):
    return np.concatenate(elements) if elements else zeros_int32(0)

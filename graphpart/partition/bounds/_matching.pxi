"""Kernels of bipartite matching: of greatest weight, with dual prices, and of most pairs, with a vertex cover.

Weights, distances and prices are whole numbers in float64, far below 2**53, so that all sums are exact.
"""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels._arrays cimport (
    empty_float64, empty_int32, empty_int64, full_float64, full_int32, zeros_float64, zeros_int8, zeros_uint8,
)
from graphpart.kernels.heap cimport Keyed, Nearest, nearest_offer, nearest_pop
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.partition.bounds._packed cimport poll_after
from graphpart.stopping cimport Stopping

cdef enum:
    TURNS = 2                   # number of rounds of bids
    BIDS = 20                   # most bids per left element, in all rounds


def matching(const offset_t[::1] starts, const element_t[::1] to, const double[::1] weights, Py_ssize_t right,
             Stopping stopping):
    """(mate of each left element or -1, prices of left elements, prices of right elements), or None if stopped.

    Left element i has the pairs from ``starts[i]`` to ``starts[i + 1]``, with right elements ``to`` and positive
    weights. Prices are at least 0. The sum of the prices of a pair is at least its weight, and equals it if the pair is
    matched. An unmatched element has the price 0.
    """
    cdef Py_ssize_t left = starts.shape[0] - 1, bids = BIDS * left
    cdef Py_ssize_t i, at, free_count, reached, left_reached, turn
    cdef offset_t e
    cdef element_t a, b, c, best, end_right, end_left
    cdef double first, second, gain, far, base, x
    mate_array, u_array, v_array = full_int32(left, -1), zeros_float64(left), zeros_float64(right)
    cdef element_t[::1] mate = mate_array                       # of left elements
    cdef element_t[::1] owner = full_int32(right + 1, -1)     # of right ones
    cdef double[::1] u = u_array, v = v_array
    cdef element_t[::1] queue = np.arange(left + 1, dtype=np.int32), later = empty_int32(left + 1)
    cdef double[::1] distance = full_float64(right + 1, INFINITY)
    cdef element_t[::1] parent = empty_int32(right + 1)       # the left element from which it was reached
    cdef element_t[::1] seen = empty_int32(right + 1), tree = empty_int32(left + 1)
    cdef double[::1] depth = empty_float64(left + 1)                      # distance of the left elements of the tree
    cdef unsigned char[::1] settled = zeros_uint8(right + 1)
    records = np.empty(right + 1, np.dtype([("key", "f8"), ("element", "i4"), ("pad", "i4")]))
    cdef unsigned char[::1] room = records.view(np.uint8)
    cdef element_t[::1] place = full_int32(right + 1, -1)
    cdef Nearest heap = Nearest(<Keyed*>&room[0], &place[0], 0)
    with nogil:
        # 1. Each left element in turn bids for the right element with the largest gain. The bid makes this gain equal
        #    to the second best. An element that is outbid bids again, if the price has risen.
        free_count = left
        for turn in range(TURNS):
            at = 0
            i = 0
            while i < free_count:
                if stopping.poll(INFINITY):
                    break
                a = queue[i]
                i += 1
                best, first, second = -1, 0.0, 0.0
                for e in range(starts[a], starts[a + 1]):
                    gain = weights[e] - v[to[e]]
                    if gain > first:
                        second, first, best = first, gain, to[e]
                    elif gain > second:
                        second = gain
                u[a] = second
                if best < 0:
                    continue
                c = owner[best]
                bids -= 1
                if c >= 0 and (first == second or bids < 0):    # a tie, which paths must break, or too many bids
                    u[a] = first
                    later[at] = a
                    at += 1
                    continue
                v[best] += first - second
                owner[best], mate[a] = a, best
                if c >= 0:
                    mate[c] = -1
                    i -= 1
                    queue[i] = c
            if stopping.poll(INFINITY):
                break
            for i in range(at):
                queue[i] = later[i]
            free_count = at
        # 2. From each remaining left element, a shortest path to a free right element, or to a left element that should
        #    become free (Dijkstra 1959, with prices as potentials).
        for i in range(free_count):
            if stopping.poll(INFINITY):
                break
            a = queue[i]
            if mate[a] >= 0:
                continue
            u[a] = 0.0
            for e in range(starts[a], starts[a + 1]):
                u[a] = max(u[a], weights[e] - v[to[e]])
            if u[a] == 0.0:
                continue
            reached = 0
            tree[0], depth[0], left_reached = a, 0.0, 1
            far, end_left, end_right = u[a], a, -1
            c, base = a, 0.0
            while True:
                for e in range(starts[c], starts[c + 1]):
                    b = to[e]
                    if settled[b]:
                        continue
                    x = base + (u[c] + v[b] - weights[e])
                    if x < distance[b] and x < far:
                        if distance[b] == INFINITY:
                            seen[reached] = b
                            reached += 1
                        distance[b], parent[b] = x, c
                        if owner[b] < 0:
                            far, end_right, end_left = x, b, -1
                        else:
                            nearest_offer(&heap, x, b)
                while heap.size and heap.first.key >= far:      # no shorter path leads through these
                    nearest_pop(&heap)
                if not heap.size:
                    break
                b = nearest_pop(&heap)
                settled[b] = 1
                c, base = owner[b], distance[b]
                tree[left_reached], depth[left_reached] = c, base
                left_reached += 1
                if base + u[c] < far:
                    far, end_left, end_right = base + u[c], c, -1
            for at in range(left_reached):
                if depth[at] < far:
                    u[tree[at]] -= far - depth[at]
            for at in range(reached):
                b = seen[at]
                if settled[b] and distance[b] < far:
                    v[b] += far - distance[b]
            if end_right < 0 and end_left != a:       # `end_left` gives its partner to the element before it
                end_right = mate[end_left]
                mate[end_left] = -1
            while end_right >= 0:
                c = parent[end_right]
                b = mate[c]
                mate[c], owner[end_right] = end_right, c
                end_right = b if c != a else -1
            for at in range(reached):
                b = seen[at]
                distance[b], settled[b], place[b] = INFINITY, 0, -1
    if stopping.reason is not None:
        return None
    return mate_array, u_array, v_array


def cover(const offset_t[::1] starts, const element_t[::1] to, Stopping stopping):
    """A least fractional vertex cover of pairs: twice the share of each element, 0, 1 or 2; None if stopped.

    The neighbours of element a are ``to[starts[a]:starts[a + 1]]``. Each element has a left and a right copy. A maximum
    matching of copies is found by phases of disjoint shortest augmenting paths (Hopcroft & Karp 1973). By Koenig's
    theorem, a least cover of the copies has the left copies that no alternating path reaches, and the right copies that
    one reaches. O(m sqrt(n))
    """
    cdef Py_ssize_t n = starts.shape[0] - 1, first, last, size, i
    cdef offset_t e
    cdef element_t a, b, c
    cdef element_t free_depth
    share_array = zeros_int8(n)
    cdef signed char[::1] share = share_array
    cdef element_t[::1] mate = full_int32(n + 1, -1), owner = full_int32(n + 1, -1)
    cdef element_t[::1] depth = empty_int32(n + 1), queue = empty_int32(n + 1)
    cdef offset_t[::1] at = empty_int64(n + 1)
    cdef bint ended = False
    with nogil:
        for a in range(n):          # a greedy matching first
            for e in range(starts[a], starts[a + 1]):
                if owner[to[e]] < 0:
                    mate[a], owner[to[e]] = to[e], a
                    break
        while not ended:
            # The layers of left copies that alternating paths reach, up to the first from which a free copy is reached.
            first = last = 0
            free_depth = -1
            for a in range(n):
                depth[a], at[a] = -1, starts[a]
                if mate[a] < 0:
                    depth[a], queue[last] = 0, a
                    last += 1
            while first < last:
                a = queue[first]
                first += 1
                if free_depth >= 0 and depth[a] > free_depth:
                    break
                ended = ended or poll_after(stopping, starts[a + 1] - starts[a])
                for e in range(starts[a], starts[a + 1]):
                    c = owner[to[e]]
                    if c < 0:
                        free_depth = depth[a]
                    elif depth[c] < 0:
                        depth[c], queue[last] = depth[a] + 1, c
                        last += 1
            if ended or free_depth < 0:
                break
            # Paths from free left copies, layer by layer, that share no copy.
            for i in range(n):
                if mate[i] >= 0:
                    continue
                queue[0], size = <element_t>i, 1
                while size:
                    a = queue[size - 1]
                    if at[a] == starts[a + 1]:          # a dead end
                        depth[a] = -1
                        size -= 1
                        continue
                    ended = ended or poll_after(stopping, 1)
                    b = to[at[a]]
                    at[a] += 1
                    c = owner[b]
                    if c < 0:
                        while size:                     # the pairs along the path change
                            size -= 1
                            a = queue[size]
                            c = mate[a]
                            mate[a], owner[b] = b, a
                            b = c
                    elif depth[c] == depth[a] + 1:
                        queue[size] = c
                        size += 1
        if not ended:               # the last layers are all copies that alternating paths reach
            for a in range(n):
                if depth[a] < 0:
                    share[a] += 1
                else:
                    for e in range(starts[a], starts[a + 1]):
                        at[to[e]] = -1
            for a in range(n):
                share[a] += at[a] < 0
    return None if ended else share_array

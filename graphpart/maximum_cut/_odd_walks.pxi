"""Kernel of odd cycles: shortest odd closed walks for given values of edges, and sides of nodes from such values.

Every edge has a value f in [0, 1], its distance from being satisfied. The doubled graph has two copies (v, 0) and (v,
1) of every node. The edge {a, b} connects copies according to its sign at length f, and the opposite copies at length 1
- f. A path from (a, 0) to (a, 1) is an odd closed walk through a. If it is shorter than 1, its inequality is violated.
By the symmetry of the two copies, the distances of (v, 0) and (v, 1) from (a, 0) add up to the length of such a walk
through v. So Dijkstra's algorithm from (a, 0) ends at half of the least sum found.
"""

import numpy as np

from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free, malloc

from graphpart.kernels._arrays cimport empty_int32, empty_uint8, full_int32, zeros_int32, zeros_uint8
from graphpart.kernels.growing cimport grow
from graphpart.kernels.heap cimport Keyed, Nearest, nearest_offer, nearest_pop
from graphpart.kernels.ring cimport Ring, pop, push
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping

cdef double FAR = 1e300


cdef struct Walks:
    # The inequalities found: their edges, and which of these count as broken.
    int32_t* edges
    Py_ssize_t size, room
    uint8_t* broken
    Py_ssize_t broken_room


def find_odd_walks(
    const offset_t[::1] starts, const element_t[::1] neighbours, const element_t[::1] edges,
    const uint8_t[::1] negative, const double[::1] values, const element_t[::1] sources,
    double violation, double hop, double spread, Py_ssize_t most, Stopping stopping,
):
    """Shortest odd closed walks through given nodes, if they are shorter than 1 by more than a violation.

    Parameters
    ----------
    starts, neighbours, edges
        Compressed rows of the graph: the neighbours of each node, and the number of the edge to each.
    negative : uint8, for each edge
        Whether the edge is satisfied if its ends are on different sides.
    values : float64 in [0, 1], for each edge
        The distance of the edge from being satisfied.
    sources : int32
        Nodes. A walk that repeats an edge is shortened, or left out.
    violation : float
    hop : float
        Added to the length of each edge, so that walks of few edges come first. A search then ends sooner, and walks of
        more than ``1 / hop`` edges are not found.
    spread : float
        Added to the length of an edge for each found inequality that contains it, so that further inequalities differ.
    most : int
        The number of nearest nodes after which the search from one node ends.
    stopping : Stopping
        Polled after each source.

    Returns
    -------
    ends : int64, one for each inequality
    edges : int32
        The edges of inequality i end at ``ends[i]``.
    broken : uint8
        Whether the edge counts as broken, with 1 - f in place of its value f.
    """
    cdef Py_ssize_t n = starts.shape[0] - 1, m = values.shape[0], k, touched = 0, at, steps
    cdef offset_t i
    cdef element_t x, y, a, e, meeting, c
    cdef int flag, kind
    cdef double d, longer, best, length
    cdef double[::1] distance = np.full(2 * n, FAR)
    cdef element_t[::1] before = full_int32(2 * n, -1)
    cdef element_t[::1] step = full_int32(2 * n, -1)
    cdef element_t[::1] list_of_touched = empty_int32(2 * n)
    cdef element_t[::1] place = full_int32(2 * n + 1, -1)
    cdef uint8_t[::1] used = zeros_uint8(m)
    cdef double[::1] longer_by = np.full(m, hop)
    cdef Nearest heap = Nearest(<Keyed*>malloc((2 * n + 1) * sizeof(Keyed)), &place[0], 0)
    cdef Walks found = Walks(NULL, 0, 0, NULL, 0)
    cdef Py_ssize_t first
    ends = []
    if heap.first == NULL:
        raise MemoryError
    try:
        for k in range(sources.shape[0]):
            if k % 64 == 0 and stopping.check(FAR):
                break
            a = sources[k]
            with nogil:
                best, meeting, steps = 1.0 - violation, -1, 0
                distance[2 * a] = 0.0
                list_of_touched[0], touched = 2 * a, 1
                nearest_offer(&heap, 0.0, 2 * a)
                while heap.size:
                    d = heap.first.key
                    if 2.0 * d >= best or steps == most:
                        break
                    steps += 1
                    x = nearest_pop(&heap)
                    for i in range(starts[x >> 1], starts[(x >> 1) + 1]):
                        e = edges[i]
                        for flag in range(2):
                            longer = d + longer_by[e] + (1.0 - values[e] if flag else values[e])
                            if longer >= best:
                                continue
                            y = 2 * neighbours[i] + ((x & 1) ^ negative[e] ^ flag)
                            if longer >= distance[y]:
                                continue
                            if distance[y] == FAR:
                                list_of_touched[touched] = y
                                touched += 1
                            distance[y], before[y], step[y] = longer, x, 2 * e + flag
                            if 2.0 * longer < best:  # no other is ever the nearest
                                nearest_offer(&heap, longer, y)
                            if longer + distance[y ^ 1] < best:
                                best, meeting = longer + distance[y ^ 1], y
                while heap.size:
                    heap.size -= 1
                    place[heap.first[heap.size].element] = -1
            if meeting >= 0:
                first = found.size
                for c in (meeting, meeting ^ 1):
                    x = c
                    while x != 2 * a:
                        e, flag = step[x] >> 1, step[x] & 1
                        if not grow(<void**>&found.edges, &found.room, found.size + 1, sizeof(int32_t)):
                            raise MemoryError
                        if not grow(<void**>&found.broken, &found.broken_room, found.size + 1, 1):
                            raise MemoryError
                        found.edges[found.size], found.broken[found.size] = e, flag
                        found.size += 1
                        used[e] += 5 if flag else 1
                        x = before[x]
                # An edge that the walk uses twice in the same way (2 or 10) is left out. All degrees remain even and
                # the set of edges remains odd, as the inequality requires. An edge that the walk uses in both ways adds
                # 1 to its length, so no such walk is short enough.
                at, length, kind = first, 0.0, 0
                for i in range(first, found.size):
                    e, flag = found.edges[i], found.broken[i]
                    if used[e] == 1 or used[e] == 5:
                        found.edges[at], found.broken[at] = e, flag
                        length += 1.0 - values[e] if flag else values[e]
                        at += 1
                    elif used[e] != 2 and used[e] != 10:
                        kind = 1
                for c in (meeting, meeting ^ 1):
                    x = c
                    while x != 2 * a:
                        used[step[x] >> 1] = 0
                        x = before[x]
                if kind == 0 and length < 1.0 - violation and at > first:
                    for i in range(first, at):
                        longer_by[found.edges[i]] += spread
                    found.size = at
                    ends.append(at)
                else:
                    found.size = first
            for at in range(touched):
                distance[list_of_touched[at]] = FAR
        walk_edges, walk_broken = empty_int32(found.size), empty_uint8(found.size)
        fill(found, walk_edges, walk_broken)
        return np.array(ends, np.int64), walk_edges, walk_broken
    finally:
        free(heap.first)
        free(found.edges)
        free(found.broken)


cdef void fill(Walks found, int32_t[::1] edges, uint8_t[::1] broken) noexcept:
    cdef Py_ssize_t k
    for k in range(found.size):
        edges[k], broken[k] = found.edges[k], found.broken[k]


def spanning_sides(
    Py_ssize_t n, const element_t[::1] u, const element_t[::1] v, const uint8_t[::1] apart, const element_t[::1] order
):
    """Sides that agree with the signs of a spanning forest; its edges are taken in the given order.

    Returns
    -------
    sides : uint8, shape (n,)
    roots : int32, shape (n,)
        The root of the tree of each node.
    """
    cdef Py_ssize_t k
    cdef element_t a, b, e
    cdef uint8_t across
    cdef element_t[::1] parent = np.arange(n, dtype=np.int32)
    cdef uint8_t[::1] parity = zeros_uint8(n)  # of a node and its parent
    cdef int32_t[::1] rank = np.ones(n, np.int32)
    sides, roots = zeros_uint8(n), zeros_int32(n)
    cdef uint8_t[::1] side = sides
    cdef element_t[::1] tree = roots
    with nogil:
        for k in range(order.shape[0]):
            e = order[k]
            a, b = u[e], v[e]
            across = apart[e]
            while parent[a] != a:
                across ^= parity[a]
                a = parent[a]
            while parent[b] != b:
                across ^= parity[b]
                b = parent[b]
            if a == b:
                continue
            if rank[a] < rank[b]:
                a, b = b, a
            parent[b], parity[b] = a, across
            rank[a] += rank[b]
        for k in range(n):  # trees are at most log2(n) deep
            a, across = <element_t>k, 0
            while parent[a] != a:
                across ^= parity[a]
                a = parent[a]
            side[k], tree[k] = across, a
    return sides, roots


def descend(
    const offset_t[::1] starts, const element_t[::1] neighbours, const double[::1] weights, uint8_t[::1] sides, double least
):
    """Move single nodes to the other side, while this lowers the weight between the sides by more than `least`.

    Changes `sides` in place. Nodes wait in a queue, at first all in order.
    """
    cdef Py_ssize_t n = starts.shape[0] - 1, k
    cdef offset_t i
    cdef element_t a
    cdef double gain
    cdef element_t[::1] queue = empty_int32(n)
    cdef uint8_t[::1] queued = zeros_uint8(n)
    if n == 0:
        return
    cdef Ring waiting = Ring(&queue[0], &queued[0], 0, 0, n)
    with nogil:
        for k in range(n):
            push(&waiting, <element_t>k)
        while waiting.size:
            a = pop(&waiting)
            gain = 0.0
            for i in range(starts[a], starts[a + 1]):
                gain += weights[i] if sides[neighbours[i]] != sides[a] else -weights[i]
            if gain > least:
                sides[a] ^= 1
                for i in range(starts[a], starts[a + 1]):
                    push(&waiting, neighbours[i])

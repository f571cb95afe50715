"""Kernels that eliminate spins with few neighbours or one strong one, and set them again afterwards.

The energy is ``sum J_ij s_i s_j + sum f_i s_i`` with spins of 1 and -1. A field is a coupling to one more spin, the
ghost, which is always 1. Minimised over a spin i with neighbours a, b, c, the energy is ``-|J_a s_a + J_b s_b + J_c s_c|``.
This stays the same if the three spins flip together, so that it has four values, and equals a constant and a coupling
of each of the three pairs: the star becomes a triangle. With fewer neighbours, one or two couplings are zero.

Let the absolute couplings be ``a >= b >= c``, and ``m = max(0, b + c - a) / 2``. The couplings of the triangle are then
``b - m``, ``c - m`` and ``m``, the last one opposite to a, and the constant is ``-a - m``. Computed this way, each
number loses no more digits than by its own rounding, and nothing overflows. So costs may differ by any factor.

If a coupling of a spin is at least as large as all others together, in absolute values, it decides the spin: the other
couplings then belong to the neighbour that it leads to.

Spins are eliminated as long as one has at most three neighbours, the ghost included, or is decided. The spin with the
fewest neighbours comes first. Each half of an edge is in the linked list of its spin. The edges of a triangle, and of
the neighbour of a decided spin, reuse the places of the edges of the spin.
"""

from libc.math cimport fabs, ldexp
from libc.stdint cimport int8_t, int32_t

import numpy as np

from graphpart.kernels._arrays cimport empty_int32, full_int32, zeros_int32, zeros_int8
from graphpart.kernels.types cimport element_t

cdef extern from *:
    """
    #define GP_LONGEST 512  /* edges of a spin that are searched for one of them */
    """
    enum:
        GP_LONGEST


cdef struct Graph:
    element_t* ends  # of edge e: 2 e and 2 e + 1
    element_t* following  # half of an edge in the list of the same spin; -1 at its end
    element_t* heads
    element_t* degrees
    int8_t* alive  # edges
    double* couplings
    double* fields
    double rounded  # 2^53 times what the energy may have changed by, without that of triangles


cdef struct Stack:
    element_t* items
    int8_t* inside
    Py_ssize_t size


cdef inline int32_t neighbours(const Graph* g, element_t i) noexcept nogil:
    """The number of neighbours of a spin, the ghost included."""
    return g.degrees[i] + (g.fields[i] != 0)


cdef inline void put_on(Stack* stacks, const Graph* g, element_t i) noexcept nogil:
    """Put a spin on the stack of those with fewer than three neighbours, with three, or with more."""
    cdef int32_t count = neighbours(g, i)
    cdef Stack* stack = stacks + (0 if count < 3 else 1 if count == 3 else 2)
    if not stack.inside[i]:
        stack.inside[i] = 1
        stack.items[stack.size] = i
        stack.size += 1


cdef inline element_t take_off(Stack* stack) noexcept nogil:
    cdef element_t i
    stack.size -= 1
    i = stack.items[stack.size]
    stack.inside[i] = 0
    return i


cdef inline element_t next_alive(Graph* g, element_t i, element_t half) noexcept nogil:
    """The next half edge in the list of spin i; the first one after -1. Removes dead edges from the list."""
    cdef element_t* place = &g.heads[i] if half < 0 else &g.following[half]
    while place[0] >= 0 and not g.alive[place[0] >> 1]:
        place[0] = g.following[place[0]]
    return place[0]


cdef element_t find(Graph* g, element_t a, element_t b) noexcept nogil:
    """The edge between two spins; -1 if there is none, -2 if both have too many neighbours."""
    cdef element_t half
    if g.degrees[a] > g.degrees[b]:
        a, b = b, a
    if g.degrees[a] > GP_LONGEST:
        return -2
    half = next_alive(g, a, -1)
    while half >= 0:
        if g.ends[half ^ 1] == b:
            return half >> 1
        half = next_alive(g, a, half)
    return -1


cdef inline void couple(Graph* g, element_t half, element_t b, element_t edge, double J) noexcept nogil:
    """Couple the spin of `half` with b, by the edge between them or else by `edge`, whose other end is gone."""
    cdef element_t a = g.ends[half], other = half ^ 1
    g.alive[half >> 1] = 0
    if edge >= 0:
        g.couplings[edge] += J
        g.rounded += fabs(g.couplings[edge])
        if g.couplings[edge] == 0:
            g.alive[edge] = 0
            g.degrees[a] -= 1
            g.degrees[b] -= 1
    elif J != 0:
        g.alive[half >> 1] = 1
        g.couplings[half >> 1] = J
        g.ends[other] = b
        g.following[other] = g.heads[b]
        g.heads[b] = other
        g.degrees[a] += 1
        g.degrees[b] += 1


cdef inline void add_field(Graph* g, element_t i, double f) noexcept nogil:
    g.fields[i] += f
    g.rounded += fabs(g.fields[i])


cdef inline element_t largest(const double* strength) noexcept nogil:
    cdef element_t top = 1 if fabs(strength[1]) > fabs(strength[0]) else 0
    return 2 if fabs(strength[2]) > fabs(strength[top]) else top


cdef inline void to_triangle(const double* strength, double* triangle) noexcept nogil:
    """The couplings of neighbours 0 and 1, 1 and 2, 2 and 0 that a spin leaves behind."""
    cdef element_t top = largest(strength), i, j
    cdef double b = fabs(strength[(top + 1) % 3]), c = fabs(strength[(top + 2) % 3]), m, J
    m = max(0.0, (max(b, c) - fabs(strength[top])) + min(b, c)) / 2
    for i in range(3):
        j = (i + 1) % 3
        if i == top:
            J = fabs(strength[j]) - m
        elif j == top:
            J = fabs(strength[i]) - m
        else:
            J = m
        triangle[i] = J if (strength[i] < 0) != (strength[j] < 0) else -J


cdef bint eliminated(
    Graph* g, Stack* stacks, element_t i, element_t ghost, element_t* near, double* strength
) noexcept nogil:
    """Eliminate a spin of at most three neighbours; False if it has to stay. Writes its neighbours (at most three, then -1) and its couplings."""
    cdef element_t halves[3]
    cdef element_t edges[3]
    cdef element_t half = next_alive(g, i, -1), k = 0, count
    cdef double triangle[3]
    while half >= 0:
        halves[k] = half ^ 1
        near[k] = g.ends[half ^ 1]
        strength[k] = g.couplings[half >> 1]
        k += 1
        half = next_alive(g, i, half)
    count = k
    if g.fields[i] != 0:
        near[k] = ghost
        strength[k] = g.fields[i]
        k += 1
    while k < 3:
        near[k] = -1
        strength[k] = 0
        k += 1
    edges[0] = edges[1] = edges[2] = -1
    if count >= 2:
        edges[0] = find(g, near[0], near[1])
    if count == 3:
        edges[1] = find(g, near[1], near[2])
        edges[2] = find(g, near[2], near[0])
    if edges[0] == -2 or edges[1] == -2 or edges[2] == -2:
        return False
    to_triangle(strength, triangle)
    for k in range(count):
        g.degrees[near[k]] -= 1
        g.alive[halves[k] >> 1] = 0
    if count == 1 and near[1] == ghost:
        add_field(g, near[0], triangle[0])
    if count >= 2:
        couple(g, halves[0], near[1], edges[0], triangle[0])
    if count == 2 and near[2] == ghost:
        add_field(g, near[0], triangle[2])
        add_field(g, near[1], triangle[1])
    if count == 3:
        couple(g, halves[1], near[2], edges[1], triangle[1])
        couple(g, halves[2], near[0], edges[2], triangle[2])
    for k in range(count):
        put_on(stacks, g, near[k])
    return True


cdef bint decided(
    Graph* g, Stack* stacks, element_t i, element_t ghost, element_t* near, double* strength
) noexcept nogil:
    """Eliminate a spin that its strongest neighbour decides; False if there is none, or both have too many neighbours."""
    cdef element_t half = next_alive(g, i, -1), top = -1, b = ghost, c, edge, following
    cdef double most = fabs(g.fields[i]), total = most, sums = 0, J
    while half >= 0:
        J = fabs(g.couplings[half >> 1])
        total += J
        sums += total
        if J > most:
            most, top = J, half
        half = next_alive(g, i, half)
    if 2 * most < total:
        return False
    sums -= ldexp(2 * most - total, 53)  # 2^53 times what the others exceed the largest one by, in exact arithmetic
    if top >= 0:
        b = g.ends[top ^ 1]
        half = next_alive(g, i, -1)
        while half >= 0:
            if g.degrees[g.ends[half ^ 1]] > GP_LONGEST and g.degrees[b] + g.degrees[i] > GP_LONGEST:
                return False
            half = next_alive(g, i, half)
    g.rounded += 2 * max(0.0, sums)
    near[0], near[1], near[2] = b, -1, -1
    strength[0], strength[1], strength[2] = g.fields[i] if top < 0 else g.couplings[top >> 1], 0, 0
    half = next_alive(g, i, -1)
    while half >= 0:
        following = next_alive(g, i, half)  # as the place of this edge may be used again
        c, J = g.ends[half ^ 1], g.couplings[half >> 1]
        if strength[0] > 0:
            J = -J
        edge = -1 if top < 0 or half == top else find(g, b, c)  # while this edge is in the list of c
        g.alive[half >> 1] = 0
        g.degrees[c] -= 1
        if top < 0:
            add_field(g, c, J)
        elif half != top:
            couple(g, half ^ 1, b, edge, J)
        put_on(stacks, g, c)
        half = following
    if top >= 0:
        add_field(g, b, -g.fields[i] if strength[0] > 0 else g.fields[i])
        put_on(stacks, g, b)
    return True


def eliminate(element_t[:, ::1] ends, double[::1] couplings, double[::1] fields):
    """Eliminate spins with at most three neighbours, and those that one of their couplings decides.

    Parameters
    ----------
    ends : ndarray of int32, shape (m, 2)
        The spins of each edge, at most one edge for each pair; overwritten.
    couplings, fields : ndarray of float64, shapes (m,) and (n,)
        Couplings are not zero. Overwritten with those of the remaining spins.

    Returns
    -------
    order : ndarray of int32, shape (k,)
        The spins in the order of elimination.
    near : ndarray of int32, shape (k, 3)
        The neighbours on which each eliminated spin depends; n is the ghost, -1 none.
    strengths : ndarray of float64, shape (k, 3)
        The couplings with these neighbours.
    alive : ndarray of bool, shape (m,)
        Whether an edge is left.
    rounded : float
        The energy of no spins has changed by more than ``2**-53`` times this and 8 times the absolute strengths.
    """
    cdef Py_ssize_t n = fields.shape[0], m = couplings.shape[0], e, count = 0
    cdef element_t i
    cdef int32_t k
    cdef bint done
    order, near, strengths = empty_int32(n), np.empty((n, 3), np.int32), np.empty((n, 3))
    alive = np.ones(m, np.int8)
    cdef element_t[::1] order_ = order
    cdef element_t[:, ::1] near_ = near
    cdef double[:, ::1] strengths_ = strengths
    cdef int8_t[::1] alive_ = alive, gone = zeros_int8(n), inside = zeros_int8(3 * n)
    cdef element_t[::1] following = empty_int32(2 * m), heads = full_int32(n, -1)
    cdef element_t[::1] degrees = zeros_int32(n), items = empty_int32(3 * n)
    cdef Stack[3] stacks
    cdef Graph g
    g.rounded = 0
    for k in range(3):
        stacks[k].size = 0
        if n:
            stacks[k].items, stacks[k].inside = &items[k * n], &inside[k * n]
    if n:
        g.heads, g.degrees, g.fields = &heads[0], &degrees[0], &fields[0]
    if m:
        g.ends, g.following, g.alive, g.couplings = &ends[0, 0], &following[0], &alive_[0], &couplings[0]
    with nogil:
        for e in range(2 * m):
            i = g.ends[e]
            following[e] = heads[i]
            heads[i] = <element_t>e
            degrees[i] += 1
        for e in range(n - 1, -1, -1):
            put_on(stacks, &g, <element_t>e)
        while stacks[0].size or stacks[1].size or stacks[2].size:
            k = 0 if stacks[0].size else 1 if stacks[1].size else 2
            i = take_off(&stacks[k])
            if gone[i]:
                continue
            if neighbours(&g, i) <= 3:
                done = eliminated(&g, stacks, i, <element_t>n, &near_[count, 0], &strengths_[count, 0])
            else:
                done = g.degrees[i] <= GP_LONGEST and decided(
                    &g, stacks, i, <element_t>n, &near_[count, 0], &strengths_[count, 0]
                )
            if done:
                gone[i] = 1
                order_[count] = i
                count += 1
    return order[:count], near[:count], strengths[:count], alive.view(bool), g.rounded


def set_again(const element_t[::1] order, const element_t[:, ::1] near, const double[:, ::1] strengths, int8_t[::1] spins):
    """Set eliminated spins to what is best given the others; the ghost is the last of `spins`."""
    cdef Py_ssize_t e, k
    cdef element_t top
    cdef double parts[3]
    cdef double b, c
    with nogil:
        for e in range(order.shape[0] - 1, -1, -1):
            for k in range(3):
                parts[k] = strengths[e, k] * spins[near[e, k]] if near[e, k] >= 0 else 0.0
            # The sign of a sum of three is exact if the smallest is added last.
            top = largest(parts)
            b, c = parts[(top + 1) % 3], parts[(top + 2) % 3]
            if fabs(b) < fabs(c):
                b, c = c, b
            spins[order[e]] = 1 if (parts[top] + b) + c < 0 else -1

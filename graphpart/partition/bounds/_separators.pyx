"""Kernels that find violated cuts and separators of base pairs, by maximum flows, where subsets have to be connected.

Elements a and b are together only if base pairs within their subset link them. So y[a, b] is at most the sum of y over
any base pairs without which nothing leads from a to b, and at most the sum of y[a, w] over any elements w without which
nothing does. By the theorem of Ford & Fulkerson (1956), the least of these sums is a maximum flow. It need not be known
where it is at least y[a, b]: most flows end after one path. Paths are found breadth first from both ends in turns; if
there is no further one, the side that is exhausted gives the cut. So the time is in proportion to the smaller side.
"""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping

cdef double NONE = 1e-9     # less is no room for a flow


cdef struct Flow:
    const offset_t* starts
    const element_t* neighbours
    const offset_t* mate            # of each arc, the arc in the other direction
    double* room                    # of each arc: how much more can flow
    offset_t* came[2]               # the arc by which an element was reached, from either side
    offset_t* seen[2]               # when an element was reached
    element_t* queue[2]
    offset_t now, work


cdef element_t meet(Flow* f, element_t a, element_t b, offset_t* size, int* exhausted) noexcept nogil:
    """Look for a path with room from a to b: an element where both sides meet; or -1, and the side that is exhausted."""
    cdef int side = 0
    cdef offset_t head[2]
    cdef offset_t i
    cdef element_t x, z
    f.now += 1
    f.queue[0][0], f.queue[1][0] = a, b
    f.seen[0][a] = f.seen[1][b] = f.now
    head[0] = head[1] = 0
    size[0] = size[1] = 1
    while True:
        if head[side] == size[side]:
            exhausted[0] = side
            return -1
        x = f.queue[side][head[side]]
        head[side] += 1
        f.work += f.starts[x + 1] - f.starts[x]
        for i in range(f.starts[x], f.starts[x + 1]):
            if f.room[i if side == 0 else f.mate[i]] <= NONE:
                continue
            z = f.neighbours[i]
            if f.seen[side][z] == f.now:
                continue
            f.seen[side][z] = f.now
            f.came[side][z] = i
            if f.seen[1 - side][z] == f.now:
                return z
            f.queue[side][size[side]] = z
            size[side] += 1
        side = 1 - side


def cuts(const offset_t[::1] starts, const element_t[::1] neighbours, const offset_t[::1] mate,
         const double[::1] capacity, const element_t[::1] near, const element_t[::1] far, const double[::1] wanted,
         double tolerance, offset_t begin, offset_t limit, offset_t work, Stopping stopping):
    """Cuts whose capacity is less than what is wanted of a pair, by more than `tolerance`.

    Arcs of a lead to ``neighbours[starts[a]:starts[a + 1]]``; ``mate`` is the arc back, and both have one capacity.
    Pairs ``{near[i], far[i]}`` take their turn from `begin` on, until all had it, `limit` cuts are found, or so many
    arcs are looked at.
    Returns (starts, elements as of a cut in `inequalities`, violations, whose turn it would be).
    """
    cdef Py_ssize_t n = starts.shape[0] - 1, count = near.shape[0], turn, i, k
    cdef offset_t arcs = neighbours.shape[0], e, size[2], changed = 0
    cdef int side, exhausted = 0
    cdef element_t a, b, x
    cdef double flow, most, total
    cdef Flow f
    cdef double[::1] room = np.array(capacity, np.float64)
    cdef offset_t[:, ::1] came = np.empty((2, n + 1), np.int64), seen = np.zeros((2, n + 1), np.int64)
    cdef element_t[:, ::1] queue = np.empty((2, n + 1), np.int32)
    cdef offset_t[::1] touched = np.empty(arcs + 1, np.int64)
    cdef unsigned char[::1] marked = np.zeros(arcs + 1, np.uint8)
    begins, elements, amounts = [0], [], []
    if not count or not arcs:
        room = np.zeros(arcs + 1)
    f.starts, f.neighbours, f.mate = &starts[0], &neighbours[0] if arcs else NULL, &mate[0] if arcs else NULL
    f.room = &room[0]
    for side in range(2):
        f.came[side], f.seen[side], f.queue[side] = &came[side, 0], &seen[side, 0], &queue[side, 0]
    f.now, f.work = 0, 0
    for turn in range(count):
        k = (begin + turn) % count
        if len(amounts) >= limit or f.work > work or stopping.poll(INFINITY):
            return np.array(begins, np.int64), _joined(elements), np.array(amounts, np.float64), k
        with nogil:
            a, b, flow, changed = near[k], far[k], 0.0, 0
            while True:
                x = meet(&f, a, b, size, &exhausted)
                if x < 0:
                    break
                most = trace(&f, a, b, x, wanted[k] - flow, touched, marked, &changed)
                flow += most
                if flow >= wanted[k] - tolerance:
                    break
        if x < 0:
            side = exhausted
            found = [a, b]
            total = 0.0
            for i in range(size[side]):
                x = f.queue[side][i]
                for e in range(starts[x], starts[x + 1]):
                    if f.seen[side][neighbours[e]] != f.now:
                        found.append(x)
                        found.append(neighbours[e])
                        total += capacity[e]
            if wanted[k] - total > tolerance:
                elements.append(np.array(found, np.int32))
                begins.append(begins[len(begins) - 1] + len(found))
                amounts.append(wanted[k] - total)
        with nogil:
            for i in range(changed):
                room[touched[i]] = capacity[touched[i]]
                marked[touched[i]] = 0
    return np.array(begins, np.int64), _joined(elements), np.array(amounts, np.float64), begin


cdef double trace(Flow* f, element_t a, element_t b, element_t x, double most, offset_t[::1] touched,
                  unsigned char[::1] marked, offset_t* changed) noexcept nogil:
    """Send as much as there is room for along the path through x, but no more than `most`; how much."""
    cdef element_t z
    cdef offset_t e
    cdef int step
    for step in range(2):       # how much room there is, then the flow
        z = x
        while z != a:
            e = f.came[0][z]
            if step == 0:
                most = min(most, f.room[e])
            else:
                send(f, e, most, touched, marked, changed)
            z = f.neighbours[f.mate[e]]
        z = x
        while z != b:
            e = f.mate[f.came[1][z]]
            if step == 0:
                most = min(most, f.room[e])
            else:
                send(f, e, most, touched, marked, changed)
            z = f.neighbours[e]
    return most


cdef void send(Flow* f, offset_t e, double amount, offset_t[::1] touched, unsigned char[::1] marked,
               offset_t* changed) noexcept nogil:
    cdef offset_t back = f.mate[e]
    if not marked[e]:
        marked[e] = 1
        touched[changed[0]] = e
        changed[0] += 1
    if not marked[back]:
        marked[back] = 1
        touched[changed[0]] = back
        changed[0] += 1
    f.room[e] -= amount
    f.room[back] += amount


def _joined(elements):
    return np.concatenate(elements) if elements else np.zeros(0, np.int32)

"""Kernel that finds violated cuts of base pairs and elements, by maximum flows, where subsets have to be connected.

Elements a and b are together only if base pairs within their subset link them. Let some base pairs e and some elements
w cut all paths from a to b. If a and b are together, one of the pairs e is together, or one of the elements w is with a
and b. So y[a, b] is at most the sum of ``y[e]`` and of ``min(y[a, w], y[b, w])`` over the cut. By the theorem of Ford &
Fulkerson (1956), the least of these sums is a maximum flow, in a graph in which each element is an arc from its entry
to its exit. The flow can stop at y[a, b], so most flows end after one path. Paths are found by breadth-first search
from both ends in turns. If there is no further path, the side that is exhausted gives the cut. So the time is in
proportion to the smaller side.
"""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels._arrays cimport empty_int32, empty_int64, full_float64, zeros_float64, zeros_int32
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping

cdef double NONE = 1e-9     # smaller residual capacities count as 0


cdef struct Flow:
    const offset_t* starts
    const element_t* neighbours
    const offset_t* mate            # of each arc, the arc in the other direction
    const double* capacity          # of each arc,
    double* inner                   # and of each element
    double* flow                    # in each arc,
    double* through                 # and through each element
    offset_t* came[2]               # number of the step by which a place was reached from either side, see `meet`
    offset_t* seen[2]               # stamp of the search that reached a place (entry of x: 2 x, exit: 2 x + 1)
    offset_t* queue[2]
    offset_t size[2]
    offset_t now, work
    offset_t* changed               # arcs, and elements as -1 - x, with a flow other than 0; some more than once
    offset_t changes, room          # their number, and the room for them


cdef inline bint reach(Flow* f, int side, offset_t place, offset_t came) noexcept nogil:
    """Add a place to a side; return whether the other side has it."""
    if f.seen[side][place] == f.now:
        return False
    f.seen[side][place] = f.now
    f.came[side][place] = came
    f.queue[side][f.size[side]] = place
    f.size[side] += 1
    return f.seen[1 - side][place] == f.now


cdef offset_t meet(Flow* f, element_t a, element_t b, int* exhausted) noexcept nogil:
    """Search a path with residual capacity from the exit of a to the entry of b; the place where it meets, or -1.

    A step through element x is numbered -1 - x; a step along arc i, or against the flow in it, i.
    """
    cdef int side = 0
    cdef offset_t head[2]
    cdef offset_t i, place, x, z
    f.now += 1
    head[0] = head[1] = f.size[0] = f.size[1] = 0
    reach(f, 0, 2 * <offset_t>a + 1, 0)
    reach(f, 1, 2 * <offset_t>b, 0)
    while head[side] < f.size[side]:
        place = f.queue[side][head[side]]
        head[side] += 1
        x = place // 2
        # The arc through x itself: forwards from its entry with residual capacity, backwards if there is a flow.
        if (f.inner[x] - f.through[x] if place % 2 == side else f.through[x]) > NONE:
            if reach(f, side, place ^ 1, -1 - x):
                return place ^ 1
        f.work += f.starts[x + 1] - f.starts[x]
        for i in range(f.starts[x], f.starts[x + 1]):
            z = f.neighbours[i]
            if place % 2 != side:       # along arcs: forwards from exits, backwards from entries
                if side == 0 and f.capacity[i] - f.flow[i] > NONE:
                    if reach(f, 0, 2 * z, i):
                        return 2 * z
                elif side == 1 and f.capacity[i] - f.flow[f.mate[i]] > NONE:
                    if reach(f, 1, 2 * z + 1, f.mate[i]):
                        return 2 * z + 1
            elif side == 0:             # against the flow that enters x
                if f.flow[f.mate[i]] > NONE and reach(f, 0, 2 * z + 1, f.mate[i]):
                    return 2 * z + 1
            elif f.flow[i] > NONE and reach(f, 1, 2 * z, i):
                return 2 * z
        side = 1 - side
    exhausted[0] = side
    return -1


cdef inline offset_t before(Flow* f, int side, offset_t place) noexcept nogil:
    """The place from which a place was reached."""
    cdef offset_t came = f.came[side][place]
    if came < 0:
        return place ^ 1
    # Arc i leads from the exit of its tail to the entry of its head.
    if place % 2:
        return 2 * <offset_t>f.neighbours[came]
    return 2 * <offset_t>f.neighbours[f.mate[came]] + 1


cdef inline void note(Flow* f, offset_t came) noexcept nogil:
    """Record an arc or element whose flow changes from 0."""
    if (f.through[-1 - came] if came < 0 else f.flow[came]) == 0.0:
        if f.changes < f.room:
            f.changed[f.changes] = came
        f.changes += 1


cdef double send(Flow* f, offset_t source, offset_t sink, offset_t at, double most) noexcept nogil:
    """Send as much flow as possible, at most `most`, along the path through a place; return the amount."""
    cdef offset_t place, came, end
    cdef int turn, side
    cdef bint backwards
    for turn in range(2):       # first find the residual capacity, then send the flow
        for side in range(2):
            place = at
            end = sink if side else source
            while place != end:
                came = f.came[side][place]
                # In the direction of the path, a step ends at `place` (side 0) or begins there (side 1).
                if came < 0:
                    backwards = place % 2 == side           # through x against its arc: it ends at the entry
                    if turn == 0:
                        most = min(most, f.through[-1 - came] if backwards else f.inner[-1 - came] - f.through[-1 - came])
                    else:
                        note(f, came)
                        f.through[-1 - came] += -most if backwards else most
                else:
                    backwards = place % 2 != side           # against the flow: it ends at an exit
                    if turn == 0:
                        most = min(most, f.flow[came] if backwards else f.capacity[came] - f.flow[came])
                    else:
                        note(f, came)
                        f.flow[came] += -most if backwards else most
                place = before(f, side, place)
    return most


def cuts(const offset_t[::1] starts, const element_t[::1] neighbours, const offset_t[::1] mate,
         const double[::1] capacity, const offset_t[::1] rows, const element_t[::1] others, const double[::1] values,
         const element_t[::1] near, const element_t[::1] far, const double[::1] wanted,
         double tolerance, offset_t begin, offset_t limit, offset_t work, Stopping stopping):
    """Cuts whose sum is less than the value of their lifted pair by more than `tolerance`.

    Arcs of a lead to ``neighbours[starts[a]:starts[a + 1]]``. ``mate`` is the arc in the other direction; both have one
    capacity. The value of ``{a, others[i]}`` is ``values[i]`` for i from ``rows[a]`` to ``rows[a + 1]``. An element
    that has no value with a or b is not in a cut. Lifted pairs ``{near[i], far[i]}`` are processed in order from
    `begin` on. The search ends after all pairs, `limit` cuts, or `work` examined arcs. Returns (starts, elements as of
    a cut in `inequalities`, violations, the next pair).
    """
    cdef Py_ssize_t n = starts.shape[0] - 1, count = near.shape[0], turn, i, k, size
    cdef offset_t arcs = neighbours.shape[0], e, x, z, place, at
    cdef int side, exhausted = 0
    cdef element_t a, b
    cdef double flow, total
    cdef Flow f
    cdef double[::1] flows = zeros_float64(arcs + 1), through = zeros_float64(n + 1)
    cdef double[::1] inner = full_float64(n + 1, INFINITY)
    cdef double[::1] capacities = np.append(capacity, 0.0)
    cdef double[:, ::1] value = np.full((2, n + 1), INFINITY)
    cdef offset_t[:, ::1] came = np.empty((2, 2 * n + 2), np.int64), seen = np.zeros((2, 2 * n + 2), np.int64)
    cdef offset_t[:, ::1] queue = np.empty((2, 2 * n + 2), np.int64)
    cdef offset_t[::1] changed = empty_int64(arcs + n + 1)
    cdef element_t[::1] ends = np.append(neighbours, 0).astype(np.int32)
    cdef offset_t[::1] back = np.append(mate, 0)
    found = empty_int32(2 * (arcs + n) + 2)
    cdef element_t[::1] cut = found
    begins, elements, amounts = [0], [], []
    f.starts, f.neighbours, f.mate, f.capacity = &starts[0], &ends[0], &back[0], &capacities[0]
    f.inner, f.flow, f.through, f.changed = &inner[0], &flows[0], &through[0], &changed[0]
    for side in range(2):
        f.came[side], f.seen[side], f.queue[side] = &came[side, 0], &seen[side, 0], &queue[side, 0]
    f.now, f.work, f.room = 0, 0, changed.shape[0]
    for turn in range(count):
        k = (begin + turn) % count
        if len(amounts) >= limit or f.work > work or stopping.poll(INFINITY):
            return np.array(begins, np.int64), _joined(elements), np.array(amounts, np.float64), k
        with nogil:
            a, b, flow, total, size, f.changes = near[k], far[k], 0.0, INFINITY, 2, 0
            for side in range(2):
                x = b if side else a
                for i in range(rows[x], rows[x + 1]):
                    value[side, others[i]] = values[i]
                    inner[others[i]] = min(inner[others[i]], values[i])
            inner[a] = inner[b] = 0.0       # no flow goes through the ends
            while flow < wanted[k] - tolerance:
                at = meet(&f, a, b, &exhausted)
                if at < 0:
                    break
                flow += send(&f, 2 * <offset_t>a + 1, 2 * <offset_t>b, at, wanted[k] - flow)
            else:
                at = 0
            if at < 0:
                side = exhausted
                cut[0], cut[1], total = a, b, 0.0
                for i in range(f.size[side]):
                    place = f.queue[side][i]
                    x = place // 2
                    if place % 2 == side:       # the arc through x leads out of the side
                        if f.seen[side][place ^ 1] != f.now and x != a and x != b:
                            cut[size] = a if value[0, x] <= value[1, x] else b
                            cut[size + 1] = <element_t>x
                            total += inner[x]
                            size += 2
                        continue
                    for e in range(starts[x], starts[x + 1]):
                        z = neighbours[e]
                        if f.seen[side][2 * z + side] != f.now:
                            cut[size], cut[size + 1] = <element_t>x, <element_t>z
                            total += capacity[e]
                            size += 2
            if f.changes > f.room:
                flows[:] = 0.0
                through[:] = 0.0
            for i in range(min(f.changes, f.room)):
                if changed[i] < 0:
                    through[-1 - changed[i]] = 0.0
                else:
                    flows[changed[i]] = 0.0
            for side in range(2):
                x = b if side else a
                for i in range(rows[x], rows[x + 1]):
                    value[side, others[i]] = inner[others[i]] = INFINITY
            inner[a] = inner[b] = INFINITY
        if wanted[k] - total > tolerance:
            elements.append(found[:size].copy())
            begins.append(begins[len(begins) - 1] + size)
            amounts.append(wanted[k] - total)
    return np.array(begins, np.int64), _joined(elements), np.array(amounts, np.float64), begin

"""Kernel of changes of one label, each followed by a local search that may not take it back."""

from libc.math cimport INFINITY, fabs

from graphpart.crf.problem._view cimport Factors, View, place
from graphpart.kernels._arrays cimport empty_float64, empty_int32, zeros_uint8
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping

cdef double ROUNDING = 2.0**-50     # relative to the sum of absolute entries of a variable


cdef double label_sums(
    const Factors* g, const element_t* labels, element_t v, double* sums, element_t* forbidding, element_t* near, const unsigned char* settled
) noexcept nogil:
    """For each label of v, the sum of the finite entries of its factors, and the number of infinite ones.

    `near` becomes the number of infinite entries in factors that have another settled variable. Returns the tolerance
    of these sums: smaller differences count as zero.
    """
    cdef offset_t i, j, f, stride, own, at
    cdef element_t d = g.domains[v], y, u
    cdef double x, magnitude = 0.0
    cdef bint is_near
    for y in range(d):
        sums[y] = 0.0
        forbidding[y] = near[y] = 0
    for i in range(g.rows[v], g.rows[v + 1]):
        f = g.factors[i]
        at = g.table_start[f]
        stride = 1
        own = 1
        is_near = False
        for j in range(g.scope_start[f + 1] - 1, g.scope_start[f] - 1, -1):
            u = g.scope[j]
            if u == v:
                own = stride
            else:
                at += stride * labels[u]
                is_near |= settled[u]
            stride *= g.domains[u]
        for y in range(d):
            x = g.tables[at + y * own]
            if x == INFINITY:
                forbidding[y] += 1
                near[y] += is_near
            else:
                sums[y] += x
                magnitude += fabs(x)
    return ROUNDING * magnitude


cdef struct Queue:
    element_t* waiting
    unsigned char* queued
    Py_ssize_t begin, end, size     # a ring


cdef inline void ask_neighbours(const Factors* g, element_t v, element_t held, Queue* q) noexcept nogil:
    """Queue all variables that share a factor with v, except the one that is held."""
    cdef offset_t i, j
    cdef element_t u
    for i in range(g.rows[v], g.rows[v + 1]):
        for j in range(g.scope_start[g.factors[i]], g.scope_start[g.factors[i] + 1]):
            u = g.scope[j]
            if u != v and u != held and not q.queued[u]:
                q.queued[u] = True
                q.waiting[q.end] = u
                q.end = q.end + 1 if q.end + 1 < q.size else 0


def rises(
    View view,
    element_t[::1] labels,
    const unsigned char[::1] wanted,
    double[::1] found,
    Py_ssize_t looks,
    Stopping stopping,
):
    """Write an upper bound on the rise of the energy to `found`, for each label of each wanted variable.

    The variable gets the label and keeps it. Then its neighbours, and the neighbours of all variables that change, get
    their best labels. These variables wait in a queue, and at most `looks` of them are visited. The best label has the
    fewest forbidding factors with a variable that has changed, then the fewest forbidding factors, then the least sum.
    So the consequences of a hard factor spread first, and the energy falls afterwards. The rise is that of the least
    energy among the allowed labelings on the way, inf if there is none. Then all changes are undone. The given labels
    must be allowed. Returns the number of visited variables.
    """
    cdef const Factors* g = &view.g
    cdef Py_ssize_t n = g.n, k, left, done = 0
    cdef element_t v, u, y, best, now, d, old, count
    cdef double delta, tolerance, least
    cdef offset_t largest = g.largest_domain
    cdef double[::1] sums = empty_float64(largest)
    cdef element_t[::1] forbidding = empty_int32(largest), near = empty_int32(largest)
    cdef unsigned char[::1] settled = zeros_uint8(n + 1)
    cdef element_t[::1] waiting = empty_int32(n + 1)
    cdef unsigned char[::1] queued = zeros_uint8(n + 1)
    cdef element_t[::1] changed = empty_int32(looks + 1), before = empty_int32(looks + 1)
    cdef Py_ssize_t changes
    cdef Queue q
    if n == 0:
        return 0
    q.waiting, q.queued, q.size = &waiting[0], &queued[0], n + 1
    q.begin = q.end = 0
    with nogil:
        for v in range(n):
            if wanted[v] and stopping.tick(INFINITY):
                break
            done = v + 1
            if not wanted[v]:
                continue
            d = g.domains[v]
            old = labels[v]
            for y in range(d):
                if y == old:
                    found[place(g, v) + y] = 0.0
                    continue
                label_sums(g, &labels[0], v, &sums[0], &forbidding[0], &near[0], &settled[0])
                delta = sums[y] - sums[old]
                count = forbidding[y] - forbidding[old]
                least = INFINITY if count > 0 else delta
                labels[v] = y
                settled[v] = True
                changes = 0
                left = looks
                ask_neighbours(g, v, v, &q)
                while q.begin != q.end:
                    u = q.waiting[q.begin]
                    q.begin = q.begin + 1 if q.begin + 1 < q.size else 0
                    queued[u] = False
                    if left == 0:
                        continue    # only empties the queue
                    left -= 1
                    tolerance = label_sums(g, &labels[0], u, &sums[0], &forbidding[0], &near[0], &settled[0])
                    now = best = labels[u]
                    for k in range(g.domains[u]):
                        if near[k] != near[best]:
                            if near[k] < near[best]:
                                best = <element_t>k
                        elif forbidding[k] != forbidding[best]:
                            if forbidding[k] < forbidding[best]:
                                best = <element_t>k
                        elif sums[k] < sums[best]:
                            best = <element_t>k
                    if near[best] == near[now] and forbidding[best] == forbidding[now]:
                        if not sums[best] < sums[now] - tolerance:
                            continue
                    delta += sums[best] - sums[now]
                    count += forbidding[best] - forbidding[now]
                    if count <= 0 and delta < least:
                        least = delta
                    changed[changes] = u
                    before[changes] = now
                    changes += 1
                    labels[u] = best
                    settled[u] = True
                    ask_neighbours(g, u, v, &q)
                found[place(g, v) + y] = least
                for k in range(changes - 1, -1, -1):
                    labels[changed[k]] = before[k]
                    settled[changed[k]] = False
                labels[v] = old
                settled[v] = False
    return done

"""Kernel of greedy moving with a background that repels, on compressed rows of stored pairs.

All elements wait in a heap, keyed by the change of cost that their best move makes, or by a bound below it. Only
subsets that a stored pair links to an element, and the empty set, can be worth a move. When element a moves from subset
U to W,

* the best moves of its neighbours change by the cost of their pair with it,
* those of the members of W, and those of all elements linked to U, fall by their background with a, at most twice;
* others rise, at most: an element whose own or target subset has changed since it was looked at is looked at again.

So bounds are lowered at once and an element is looked at again only when its bound comes first. Stored pairs are added
up in fixed point, and so are the weights of subsets; the background is a product of such sums, the same each time.
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport INT64_MAX, int64_t

from graphpart.kernels.fixed cimport fixed, fixed_t, scale_for
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef fixed_t NONE = INT64_MAX       # the cost of what cannot be done

cdef enum:
    EMPTY = -1      # target: the empty set


cdef struct State:
    Py_ssize_t n, k
    const offset_t* starts
    const element_t* neighbours
    const cost_t* costs
    double scale
    const int64_t* weights      # k for each element
    const element_t* partner
    const double* factor
    element_t* label
    element_t* size
    int64_t* total              # k sums of weights for each subset
    element_t* first            # of the members of each subset, in a ring
    element_t* after
    element_t* ahead
    int64_t* changed            # the move that changed a subset last
    int64_t* looked             # the move after which an element was looked at
    int64_t moves
    char* loose                 # the key of an element is a bound only
    element_t* target
    double* key
    element_t* place            # of each element in the heap
    element_t* heap
    fixed_t* sums
    int64_t* stamp
    int64_t look
    element_t* linked
    int64_t* seen               # the move at which the bound of an element was lowered


cdef inline bint before(State* s, element_t a, element_t b) noexcept nogil:
    return s.key[a] < s.key[b] or (s.key[a] == s.key[b] and a < b)


cdef void up(State* s, element_t a) noexcept nogil:
    cdef Py_ssize_t at = s.place[a], parent
    while at > 0:
        parent = (at - 1) >> 2
        if not before(s, a, s.heap[parent]):
            break
        s.heap[at] = s.heap[parent]
        s.place[s.heap[at]] = <element_t>at
        at = parent
    s.heap[at] = a
    s.place[a] = <element_t>at


cdef void down(State* s, element_t a) noexcept nogil:
    cdef Py_ssize_t at = s.place[a], child, best, k
    while True:
        child = 4 * at + 1
        if child >= s.n:
            break
        best = child
        for k in range(child + 1, min(child + 4, s.n)):
            if before(s, s.heap[k], s.heap[best]):
                best = k
        if not before(s, s.heap[best], a):
            break
        s.heap[at] = s.heap[best]
        s.place[s.heap[at]] = <element_t>at
        at = best
    s.heap[at] = a
    s.place[a] = <element_t>at


cdef inline double background(State* s, element_t a, const int64_t* total) noexcept nogil:
    """What an element pays for some sums of weights."""
    cdef Py_ssize_t t
    cdef double sum = 0.0
    for t in range(s.k):
        sum += s.factor[t] * <double>s.weights[a * s.k + s.partner[t]] * <double>total[t]
    return sum


cdef double look_at(State* s, element_t a) noexcept nogil:
    """Find the best move of an element, and the change of cost it makes; 0 if none lowers it. O(degree)"""
    cdef element_t U, mine = s.label[a]
    cdef offset_t j
    cdef cost_t c
    cdef Py_ssize_t i, links = 0, t
    cdef double own = 0.0, low = INFINITY, value
    s.look += 1
    for j in range(s.starts[a], s.starts[a + 1]):
        U = s.label[s.neighbours[j]]
        c = s.costs[j]
        if s.stamp[U] != s.look:
            s.stamp[U] = s.look
            s.sums[U] = 0
            s.linked[links] = U
            links += 1
        if c == INFINITY:
            s.sums[U] = NONE
        elif s.sums[U] != NONE:
            s.sums[U] += fixed(c, s.scale)
    for t in range(s.k):
        own += s.factor[t] * <double>s.weights[a * s.k + s.partner[t]] * <double>(
            s.total[mine * s.k + t] - s.weights[a * s.k + t])
    if s.stamp[mine] == s.look:
        own += s.sums[mine] / s.scale
    s.target[a] = EMPTY
    for i in range(links):
        U = s.linked[i]
        if U == mine or s.sums[U] == NONE:
            continue
        value = s.sums[U] / s.scale + background(s, a, &s.total[U * s.k])
        if value < low or (value == low and U < s.target[a]):
            low = value
            s.target[a] = U
    if s.size[mine] > 1 and 0.0 < low:
        low = 0.0
        s.target[a] = EMPTY
    s.loose[a] = False
    s.looked[a] = s.moves
    return min(low - own, 0.0)


cdef inline bint fresh(State* s, element_t a) noexcept nogil:
    """Whether the key of an element is exact."""
    return not s.loose[a] and s.changed[s.label[a]] <= s.looked[a] and (
        s.target[a] == EMPTY or s.changed[s.target[a]] <= s.looked[a])


cdef inline void loosen(State* s, element_t b, double most) noexcept nogil:
    """The best move of b may have changed, its key have fallen by at most this."""
    s.loose[b] = True
    if most > 0.0:
        s.key[b] -= most * (1.0 + 2.0**-40)     # so that rounding does not lift it above what it bounds
        up(s, b)


cdef void apply(State* s, element_t a, element_t W) noexcept nogil:
    """Move element a to subset W, and lower the bounds that depend on it."""
    cdef element_t U = s.label[a], b, d
    cdef offset_t j
    cdef Py_ssize_t t
    cdef double c
    s.moves += 1
    # Out of the ring of U, into that of W.
    if s.first[U] == a:
        s.first[U] = s.after[a]
    s.after[s.ahead[a]] = s.after[a]
    s.ahead[s.after[a]] = s.ahead[a]
    if s.size[W] == 0:
        s.first[W] = s.after[a] = s.ahead[a] = a
    else:
        b = s.first[W]
        s.after[a] = b
        s.ahead[a] = s.ahead[b]
        s.after[s.ahead[b]] = a
        s.ahead[b] = a
    s.label[a] = W
    s.size[U] -= 1
    s.size[W] += 1
    for t in range(s.k):
        s.total[U * s.k + t] -= s.weights[a * s.k + t]
        s.total[W * s.k + t] += s.weights[a * s.k + t]
    s.changed[U] = s.changed[W] = s.moves
    for j in range(s.starts[a], s.starts[a + 1]):
        b = s.neighbours[j]
        c = s.costs[j]
        if c == INFINITY:
            loosen(s, b, INFINITY)      # U may be open to b now, whatever it costs
        elif s.label[b] == U:
            loosen(s, b, max(0.0, -2.0 * c))
        elif s.label[b] == W:
            loosen(s, b, max(0.0, 2.0 * c))
        else:
            loosen(s, b, fabs(c))
    # Members of W pay for a now.
    b = s.after[a]
    while b != a:
        loosen(s, b, fabs(background(s, b, &s.weights[a * s.k])))
        b = s.after[b]
    # For those linked to U, it has become cheaper.
    if s.size[U]:
        b = s.first[U]
        for t in range(s.size[U]):
            for j in range(s.starts[b], s.starts[b + 1]):
                d = s.neighbours[j]
                if s.label[d] != U and s.seen[d] != s.moves:
                    s.seen[d] = s.moves
                    loosen(s, d, fabs(background(s, d, &s.weights[a * s.k])))
            b = s.after[b]


def greedy_moving(
    const offset_t[::1] starts,
    const element_t[::1] neighbours,
    const cost_t[::1] costs,
    labels,
    const int64_t[:, ::1] weights,
    const element_t[::1] partner,
    const double[::1] factor,
    double magnitude,
    double tolerance,
    double cost,
    Stopping stopping,
):
    """Labels of the fixed point from canonical labels; `magnitude` is at least that of the stored pairs."""
    cdef Py_ssize_t n = starts.shape[0] - 1, k = weights.shape[1], i, t
    cdef element_t a, U
    cdef double delta
    if n == 0:
        return labels
    out = np.array(labels, np.int32)
    cdef element_t[::1] label = out, size = np.zeros(n + 1, np.int32), first = np.full(n + 1, -1, np.int32)
    cdef element_t[::1] after = np.zeros(n, np.int32), ahead = np.zeros(n, np.int32), target = np.zeros(n, np.int32)
    cdef element_t[::1] place = np.arange(n, dtype=np.int32), heap = np.arange(n, dtype=np.int32)
    cdef element_t[::1] linked = np.zeros(n + 1, np.int32), free_subsets = np.zeros(n + 1, np.int32)
    cdef int64_t[::1] total = np.zeros((n + 1) * k + 1, np.int64), changed = np.zeros(n + 1, np.int64)
    cdef int64_t[::1] looked = np.zeros(n, np.int64), sums = np.zeros(n + 1, np.int64)
    cdef int64_t[::1] stamp = np.zeros(n + 1, np.int64), seen = np.zeros(n, np.int64)
    cdef char[::1] loose = np.zeros(n, np.int8)
    cdef double[::1] key = np.zeros(n)
    cdef State s
    cdef Py_ssize_t free_count = 0
    s.n, s.k = n, k
    s.starts = &starts[0]
    s.neighbours = &neighbours[0] if neighbours.shape[0] else NULL
    s.costs = &costs[0] if costs.shape[0] else NULL
    s.scale = scale_for(magnitude)
    s.weights, s.partner, s.factor = &weights[0, 0], &partner[0], &factor[0]
    s.label, s.size, s.first, s.after, s.ahead = &label[0], &size[0], &first[0], &after[0], &ahead[0]
    s.target, s.place, s.heap, s.linked = &target[0], &place[0], &heap[0], &linked[0]
    s.total, s.changed, s.looked, s.sums = &total[0], &changed[0], &looked[0], &sums[0]
    s.stamp, s.seen, s.loose, s.key = &stamp[0], &seen[0], &loose[0], &key[0]
    s.moves = s.look = 0
    with nogil:
        for a in range(n):
            U = label[a]
            if first[U] < 0:
                first[U] = after[a] = ahead[a] = a
            else:
                after[a] = first[U]
                ahead[a] = ahead[first[U]]
                after[ahead[a]] = a
                ahead[first[U]] = a
            size[U] += 1
            for t in range(k):
                total[U * k + t] += weights[a, t]
        for i in range(n, -1, -1):
            if size[i] == 0:
                free_subsets[free_count] = <element_t>i
                free_count += 1
        for a in range(n):
            key[a] = look_at(&s, a)
        for i in range((n - 2) >> 2, -1, -1):
            down(&s, heap[i])
        while True:
            a = heap[0]
            if not fresh(&s, a):
                key[a] = look_at(&s, a)
                down(&s, a)
                if stopping.poll(cost):
                    break
                continue
            delta = key[a]
            if not delta < -tolerance:
                break
            U = label[a]
            if target[a] == EMPTY:
                free_count -= 1
                apply(&s, a, free_subsets[free_count])
            else:
                apply(&s, a, target[a])
            if size[U] == 0:
                free_subsets[free_count] = U
                free_count += 1
            key[a] = look_at(&s, a)
            down(&s, a)
            cost += delta
            if stopping.tick(cost):
                break
    return out

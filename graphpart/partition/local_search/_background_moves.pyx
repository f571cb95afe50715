"""Kernel of greedy moving and of its Kernighan-Lin form with a background that repels, on compressed rows of stored pairs.

All elements wait in a heap, keyed by the change of cost that their best move makes, or by a bound below it. Only
subsets that a stored pair links to an element, and the empty set, can be worth a move. When element a moves from subset
U to W,

* the best moves of its neighbours change by the cost of their pair with it,
* those of the members of W, and those of all elements linked to U, fall by their background with a, at most twice;
* others rise, at most: an element whose own or target subset has changed since it was looked at is looked at again.

So bounds are lowered at once and an element is looked at again only when its bound comes first. Stored pairs are added
up in fixed point, and so are the weights of subsets; the background is a product of such sums, the same each time.

A sequence of Kernighan and Lin also makes moves that do not help. There an element that is alone may go to a subset
that no stored pair links to it, which no other element would prefer to the empty set. The least such cost is the least
product of weights and sums, which two trees of boxes find (kernels/boxes.pxd): one holds the sums of the subsets, the
other the weights of the elements that are alone and have not moved.
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport INT64_MAX, int64_t

from graphpart.kernels.boxes cimport (
    Boxes, boxes_best, boxes_build, boxes_climb, boxes_free, boxes_make, boxes_put,
)
from graphpart.kernels.fixed cimport fixed, fixed_t, scale_for
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef fixed_t NONE = INT64_MAX       # the cost of what cannot be done

cdef enum:
    EMPTY = -1      # target: the empty set
    TERMS = 16      # more terms of a background than anybody has


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
    Py_ssize_t waiting          # elements in the heap; the place of others is -1
    fixed_t* sums
    int64_t* stamp
    int64_t look
    element_t* linked
    int64_t* seen               # the move at which the bound of an element was lowered
    element_t* free_subsets
    Py_ssize_t free_count
    bint sequences              # elements move once each, and the following is in use:
    Boxes subsets               # sums of all subsets in use
    Boxes alone                 # weights of the elements that wait and are alone, each as its partner takes them
    int64_t* asked              # the search for a far move in which an element was looked at
    int64_t asks


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
        if child >= s.waiting:
            break
        best = child
        for k in range(child + 1, min(child + 4, s.waiting)):
            if before(s, s.heap[k], s.heap[best]):
                best = k
        if not before(s, s.heap[best], a):
            break
        s.heap[at] = s.heap[best]
        s.place[s.heap[at]] = <element_t>at
        at = best
    s.heap[at] = a
    s.place[a] = <element_t>at


cdef inline fixed_t background(State* s, element_t a, const int64_t* total) noexcept nogil:
    """What an element pays for some sums of weights; the same for a and the weights of b as for b and those of a."""
    cdef Py_ssize_t t
    cdef fixed_t sum = 0
    for t in range(s.k):
        sum += fixed(s.factor[t] * (<double>s.weights[a * s.k + s.partner[t]] * <double>total[t]), s.scale)
    return sum


cdef double look_at(State* s, element_t a) noexcept nogil:
    """Find the best move of an element to a linked or the empty set, and the change of cost it makes. O(degree)"""
    cdef element_t U, mine = s.label[a]
    cdef offset_t j
    cdef cost_t c
    cdef Py_ssize_t i, links = 0, t
    cdef fixed_t own, low = NONE, value
    cdef int64_t others[TERMS]
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
        others[t] = s.total[mine * s.k + t] - s.weights[a * s.k + t]
    own = background(s, a, others)
    if s.stamp[mine] == s.look:
        own += s.sums[mine]
    s.target[a] = EMPTY
    for i in range(links):
        U = s.linked[i]
        if U == mine or s.sums[U] == NONE:
            continue
        value = s.sums[U] + background(s, a, &s.total[U * s.k])
        if value < low or (value == low and U < s.target[a]):
            low = value
            s.target[a] = U
    if s.size[mine] > 1 and 0 < low:
        low = 0
        s.target[a] = EMPTY
    s.loose[a] = False
    s.looked[a] = s.moves
    return INFINITY if low == NONE else (low - own) / s.scale


cdef inline bint fresh(State* s, element_t a) noexcept nogil:
    """Whether the key of an element is exact."""
    return not s.loose[a] and s.changed[s.label[a]] <= s.looked[a] and (
        s.target[a] == EMPTY or s.changed[s.target[a]] <= s.looked[a])


cdef inline void loosen(State* s, element_t b, double most) noexcept nogil:
    """The best move of b may have changed, its key have fallen by at most this."""
    if s.place[b] < 0:
        return
    s.loose[b] = True
    if s.key[b] == INFINITY or most == INFINITY:
        s.key[b] = -INFINITY        # no bound is known: it comes first, and is looked at
        up(s, b)
    elif most > 0.0:
        s.key[b] -= most * (1.0 + 2.0**-40)     # so that rounding does not lift it above what it bounds
        up(s, b)


cdef void keep_alone(State* s, element_t a) noexcept nogil:
    """Put an element into the tree of those that are alone, or out of it."""
    cdef Py_ssize_t t
    cdef int64_t mine[TERMS]
    for t in range(s.k):
        mine[t] = s.weights[a * s.k + s.partner[t]]
    boxes_put(&s.alone, a, mine, s.place[a] >= 0 and s.size[s.label[a]] == 1)
    boxes_climb(&s.alone, a)


cdef element_t far_move(State* s, double low, element_t* target, double* delta) noexcept nogil:
    """The element that is alone whose best move to a subset not linked to it costs least, if less than low; else -1."""
    cdef Py_ssize_t t
    cdef element_t a, U, found = -1
    cdef double scaled[TERMS]
    cdef double slope[TERMS]
    cdef double bound, value
    s.asks += 1
    for t in range(s.k):
        # Weights of a term have one sign, so the sums nearest to 0 give the least product.
        value = s.subsets.low[s.k + t]
        scaled[t] = s.factor[t] * (value if value >= 0 else s.subsets.high[s.k + t])
    while True:
        bound = low
        a = boxes_best(&s.alone, scaled, s.asked, s.asks, -1, &bound)
        if a < 0:
            break
        s.asked[a] = s.asks
        s.key[a] = look_at(s, a)        # for its stamps
        down(s, a)
        for t in range(s.k):
            slope[t] = s.factor[t] * <double>s.weights[a * s.k + s.partner[t]]
        bound = low
        U = boxes_best(&s.subsets, slope, s.stamp, s.look, s.label[a], &bound)
        if U < 0:
            continue
        value = background(s, a, &s.total[U * s.k]) / s.scale
        if value < low:
            low = value
            found = a
            target[0] = U
    delta[0] = low
    if found >= 0 and s.size[target[0]] == 1:
        a = s.first[target[0]]
        if a < found and s.place[a] >= 0:       # the same set, made by the smaller element
            target[0] = s.label[found]
            found = a
    return found


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
    if s.size[U] == 0:
        s.free_subsets[s.free_count] = U
        s.free_count += 1
    if s.size[W] == 2 and s.place[s.after[a]] >= 0:      # it can leave for the empty set now
        s.key[s.after[a]] = min(s.key[s.after[a]], 0.0)
        s.loose[s.after[a]] = True
        up(s, s.after[a])
    if s.sequences:
        boxes_put(&s.subsets, U, &s.total[U * s.k], s.size[U] > 0)
        boxes_put(&s.subsets, W, &s.total[W * s.k], True)
        boxes_climb(&s.subsets, U)
        boxes_climb(&s.subsets, W)
        keep_alone(s, a)
        if s.size[U] == 1:
            keep_alone(s, s.first[U])
        if s.size[W] == 2:
            keep_alone(s, s.after[a])
    for j in range(s.starts[a], s.starts[a + 1]):
        b = s.neighbours[j]
        c = s.costs[j]
        if s.place[b] >= 0 and s.size[s.label[b]] == 1:
            s.key[b] = min(s.key[b], 0.0)       # W may be linked to b now, which had no other way to cost nothing
            up(s, b)
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
        loosen(s, b, background(s, b, &s.weights[a * s.k]) / s.scale)
        b = s.after[b]
    # For those linked to U, it has become cheaper.
    if s.size[U]:
        b = s.first[U]
        for t in range(s.size[U]):
            for j in range(s.starts[b], s.starts[b + 1]):
                d = s.neighbours[j]
                if s.label[d] != U and s.seen[d] != s.moves:
                    s.seen[d] = s.moves
                    loosen(s, d, background(s, d, &s.weights[a * s.k]) / s.scale)
            b = s.after[b]


cdef element_t best(State* s, double limit, double* delta, Stopping stopping, double cost) noexcept nogil:
    """The first element of the heap, looked at; -1 if its best move changes the cost by the limit or more."""
    cdef element_t a
    while s.waiting:
        a = s.heap[0]
        if not s.key[a] < limit:
            break
        if fresh(s, a):
            delta[0] = s.key[a]
            return a
        s.key[a] = look_at(s, a)
        down(s, a)
        if stopping.poll(cost):
            break
    return -1


cdef inline element_t number_of(State* s, element_t target) noexcept nogil:
    """A free number for the empty set."""
    if target != EMPTY:
        return target
    s.free_count -= 1
    return s.free_subsets[s.free_count]


cdef class _Arrays:
    """The memory of a State."""
    cdef State s
    cdef list kept
    cdef object labels

    def __cinit__(
        self,
        const offset_t[::1] starts,
        const element_t[::1] neighbours,
        const cost_t[::1] costs,
        labels,
        const int64_t[:, ::1] weights,
        const element_t[::1] partner,
        const double[::1] factor,
        double magnitude,
        bint sequences,
    ):
        cdef Py_ssize_t n = starts.shape[0] - 1, k = weights.shape[1], i, t
        cdef element_t a, U
        cdef State* s = &self.s
        self.labels = np.array(labels, np.int32)
        cdef element_t[::1] label = self.labels
        cdef element_t[:, ::1] room = np.zeros((9, n + 1), np.int32)
        cdef int64_t[:, ::1] wide = np.zeros((6, n + 1), np.int64)
        cdef int64_t[::1] total = np.zeros((n + 1) * k + 1, np.int64)
        cdef char[::1] loose = np.zeros(n + 1, np.int8)
        cdef double[::1] key = np.zeros(n + 1)
        self.kept = [starts, neighbours, costs, weights, partner, factor, label, room, wide, total, loose, key]
        s.n, s.k, s.waiting = n, k, n
        s.starts = &starts[0]
        s.neighbours = &neighbours[0] if neighbours.shape[0] else NULL
        s.costs = &costs[0] if costs.shape[0] else NULL
        s.scale = scale_for(magnitude)
        s.weights, s.partner, s.factor = &weights[0, 0], &partner[0], &factor[0]
        s.label, s.loose, s.key, s.total = &label[0], &loose[0], &key[0], &total[0]
        s.size, s.first, s.after, s.ahead = &room[0, 0], &room[1, 0], &room[2, 0], &room[3, 0]
        s.target, s.place, s.heap, s.linked = &room[4, 0], &room[5, 0], &room[6, 0], &room[7, 0]
        s.free_subsets = &room[8, 0]
        s.changed, s.looked, s.stamp, s.seen = &wide[0, 0], &wide[1, 0], &wide[2, 0], &wide[3, 0]
        s.asked, s.sums = &wide[4, 0], <fixed_t*>&wide[5, 0]
        s.moves = s.look = s.asks = 0
        s.free_count = 0
        s.sequences = sequences
        if sequences and not (boxes_make(&s.subsets, n + 1, k) and boxes_make(&s.alone, n, k)):
            raise MemoryError()
        with nogil:
            for a in range(<element_t>n):
                s.first[a] = -1
            s.first[n] = -1
            for a in range(<element_t>n):
                U = s.label[a]
                if s.first[U] < 0:
                    s.first[U] = s.after[a] = s.ahead[a] = a
                else:
                    s.after[a] = s.first[U]
                    s.ahead[a] = s.ahead[s.first[U]]
                    s.after[s.ahead[a]] = a
                    s.ahead[s.first[U]] = a
                s.size[U] += 1
                for t in range(k):
                    s.total[U * k + t] += s.weights[a * k + t]
            for i in range(n, -1, -1):
                if s.size[i] == 0:
                    s.free_subsets[s.free_count] = <element_t>i
                    s.free_count += 1
            for a in range(<element_t>n):
                s.heap[a] = s.place[a] = a
                s.key[a] = look_at(s, a)
            for i in range((n - 2) >> 2, -1, -1):
                down(s, s.heap[i])
            if sequences:
                for i in range(n + 1):
                    boxes_put(&s.subsets, i, &s.total[i * k], s.size[i] > 0)
                boxes_build(&s.subsets)
                for a in range(<element_t>n):
                    keep_alone(s, a)

    def __dealloc__(self):
        if self.s.sequences:
            boxes_free(&self.s.subsets)
            boxes_free(&self.s.alone)


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
    cdef element_t a
    cdef double delta = 0.0
    if starts.shape[0] == 1:
        return labels
    cdef _Arrays arrays = _Arrays(starts, neighbours, costs, labels, weights, partner, factor, magnitude, False)
    cdef State* s = &arrays.s
    with nogil:
        while True:
            a = best(s, -tolerance, &delta, stopping, cost)
            if a < 0:
                break
            apply(s, a, number_of(s, s.target[a]))
            s.key[a] = look_at(s, a)
            down(s, a)
            cost += delta
            if stopping.tick(cost):
                break
    return arrays.labels


def kernighan_lin_sequence(
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
    """Labels of the best prefix of one sequence from canonical labels; those themselves if none lowers the cost."""
    cdef Py_ssize_t n = starts.shape[0] - 1, length = 0, kept = 0
    cdef element_t a, b, W = 0, last
    cdef double delta = 0.0, far = 0.0, sum = 0.0, smallest = 0.0
    if n == 0:
        return labels
    cdef _Arrays arrays = _Arrays(starts, neighbours, costs, labels, weights, partner, factor, magnitude, True)
    cdef State* s = &arrays.s
    cdef element_t[::1] moved = np.empty(n, np.int32), origin = np.empty(n, np.int32)
    with nogil:
        while s.waiting:
            delta = INFINITY
            a = best(s, INFINITY, &delta, stopping, cost + smallest)
            if stopping.poll(cost + smallest):
                break
            b = far_move(s, delta, &W, &far)
            if b >= 0:
                a, delta = b, far
            elif a < 0:
                break
            else:
                W = number_of(s, s.target[a])
            sum += delta
            moved[length] = a
            origin[length] = s.label[a]
            length += 1
            s.waiting -= 1
            last = s.heap[s.waiting]
            if last != a:
                s.heap[s.place[a]] = last
                s.place[last] = s.place[a]
                s.place[a] = -1
                down(s, last)
                up(s, last)
            s.place[a] = -1
            apply(s, a, W)
            if sum < smallest - tolerance:
                smallest = sum
                kept = length
        while length > kept:
            length -= 1
            s.label[moved[length]] = origin[length]
    return arrays.labels

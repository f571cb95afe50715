"""Kernel of greedy joining: repeatedly the join of two sets, with a choice for each, that lowers the cost most.

Elements have K choices; the last one of a joined set is "as its two parts are", the others make all of its elements the
same. For each set C and choice x, ``field[C, x]`` is the cost of C and of its pairs with all other sets, which are apart
and have the choices that they have. A pair of sets C, D has the key

    min over x, y of  field[C, x] - parted[x, d] + field[D, y] - parted[c, y] + joined[x, y]
                      - (field[C, c] + field[D, d] - parted[c, d])

for their present choices c and d. A heap holds the pairs with a negative key. Tables of parallel pairs are added up.
"""

import numpy as np

from libc.stdlib cimport free, malloc

from graphpart.kernels._arrays cimport empty_int8, full_int32
from graphpart.kernels.heap cimport Heap, heap_settle
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef struct Key:
    double delta
    element_t pair

cdef struct Join:               # D becomes a part of C, with these choices of both
    element_t into, gone, x, y

cdef struct Joining:
    element_t n, m, K
    double tolerance
    cost_t* own                 # (n, K)
    cost_t* field               # (n, K)
    cost_t* joined              # (m, K, K), rows are choices of end[2 p]
    cost_t* parted
    element_t* end              # (m, 2): the sets of each pair; -1 if it was added to another one
    element_t* first            # of each set: its first half-pair 2 p or 2 p + 1, or -1
    element_t* next             # of each half-pair
    element_t* choice           # of each set
    element_t* place            # of each pair in the heap, or -1
    element_t* mark             # of each set: the half-pair that links it to the set at hand, or -1
    Key* heap
    element_t size


cdef inline bint comes_first(void* context, const void* one, const void* other) noexcept nogil:
    cdef const Key* a = <const Key*>one
    cdef const Key* b = <const Key*>other
    return a.delta < b.delta or (a.delta == b.delta and a.pair < b.pair)


cdef inline void note_place(void* context, const void* key, Py_ssize_t at) noexcept nogil:
    (<Joining*>context).place[(<const Key*>key).pair] = <element_t>at


cdef inline Heap heap_of(Joining* s) noexcept nogil:
    return Heap(s.heap, s.size, sizeof(Key), comes_first, note_place, s)


cdef void take_out(Joining* s, element_t p) noexcept nogil:
    cdef element_t i = s.place[p]
    cdef Key last
    if i < 0:
        return
    s.place[p] = -1
    s.size -= 1
    if i < s.size:
        last = s.heap[s.size]
        heap_settle(heap_of(s), i, &last)


cdef inline double entry(const cost_t* table, Joining* s, element_t half, element_t x, element_t y) noexcept nogil:
    """The entry of the pair of a half-pair, whose set has the choice x and whose other set y."""
    cdef Py_ssize_t begin = <Py_ssize_t>(half >> 1) * s.K * s.K
    return table[begin + x * s.K + y] if not half & 1 else table[begin + y * s.K + x]


cdef double best_join(Joining* s, element_t p, element_t* best_x, element_t* best_y) noexcept nogil:
    cdef element_t C = s.end[2 * p], D = s.end[2 * p + 1], c = s.choice[C], d = s.choice[D], x, y, K = s.K
    cdef const cost_t* parted = s.parted + <Py_ssize_t>p * K * K
    cdef const cost_t* joined = s.joined + <Py_ssize_t>p * K * K
    cdef const cost_t* left = s.field + <Py_ssize_t>C * K
    cdef const cost_t* right = s.field + <Py_ssize_t>D * K
    cdef double now = left[c] + right[d] - parted[c * K + d], row, delta, best = joined[c * K + d] - parted[c * K + d]
    best_x[0], best_y[0] = c, d
    for x in range(K):
        row = left[x] - parted[x * K + d] - now
        for y in range(K):
            delta = row + right[y] - parted[c * K + y] + joined[x * K + y]
            if delta < best - s.tolerance:
                best = delta
                best_x[0], best_y[0] = x, y
    return best


cdef void enter(Joining* s, element_t p) noexcept nogil:
    """Bring the heap in line with the key of a pair."""
    cdef element_t x, y, i
    cdef Key key
    key.delta, key.pair = best_join(s, p, &x, &y), p
    if not key.delta < -s.tolerance:
        take_out(s, p)
        return
    i = s.place[p]
    if i < 0:
        i = s.size
        s.size += 1
    heap_settle(heap_of(s), i, &key)


cdef void merge_tables(Joining* s, cost_t* tables, element_t into, element_t half) noexcept nogil:
    """Add the table of one half-pair to that of another, of the same two sets."""
    cdef Py_ssize_t a = <Py_ssize_t>(into >> 1) * s.K * s.K, b = <Py_ssize_t>(half >> 1) * s.K * s.K
    cdef element_t x, y, K = s.K
    for x in range(K):
        for y in range(K):
            if (into ^ half) & 1:
                tables[a + x * K + y] += tables[b + y * K + x]
            else:
                tables[a + x * K + y] += tables[b + x * K + y]


cdef void set_last(Joining* s, cost_t* tables, element_t half, element_t x) noexcept nogil:
    """Make the row of the last choice of a set that of choice x, in the table of a half-pair of this set."""
    cdef Py_ssize_t begin = <Py_ssize_t>(half >> 1) * s.K * s.K
    cdef element_t y, K = s.K
    for y in range(K):
        if half & 1:
            tables[begin + y * K + K - 1] = tables[begin + y * K + x]
        else:
            tables[begin + (K - 1) * K + y] = tables[begin + x * K + y]


cdef void apply_join(Joining* s, element_t p, Join* done) noexcept nogil:
    """Join the two sets of a pair by its best choices."""
    cdef element_t C = s.end[2 * p], D = s.end[2 * p + 1], x, y, half, following, other, kept, part, old, z
    cdef element_t K = s.K
    cdef Py_ssize_t at = <Py_ssize_t>p * K * K
    cdef bint same
    cdef double whole
    cdef cost_t* field
    best_join(s, p, &x, &y)
    done.into, done.gone, done.x, done.y = C, D, x, y
    take_out(s, p)
    whole = s.own[<Py_ssize_t>C * K + x] + s.own[<Py_ssize_t>D * K + y] + s.joined[at + x * K + y]
    for z in range(K - 1):
        s.own[<Py_ssize_t>C * K + z] += s.own[<Py_ssize_t>D * K + z] + s.joined[at + z * K + z]
    s.own[<Py_ssize_t>C * K + K - 1] = whole
    s.end[2 * p] = s.end[2 * p + 1] = -1
    # Other sets no longer see the choices that C and D had; rows of the last choice become those of x and y.
    for part in range(2):
        old = s.choice[D if part else C]
        half = s.first[D if part else C]
        while half >= 0:
            if s.end[half] >= 0:
                other = s.end[half ^ 1]
                field = s.field + <Py_ssize_t>other * K
                for z in range(K):
                    field[z] -= entry(s.parted, s, half, old, z)
                set_last(s, s.joined, half, y if part else x)
                set_last(s, s.parted, half, y if part else x)
            half = s.next[half]
    # The half-pairs of D become those of C, or are added to them.
    half = s.first[C]
    s.first[C] = -1
    while half >= 0:
        following = s.next[half]
        if s.end[half] >= 0:
            s.mark[s.end[half ^ 1]] = half
            s.next[half] = s.first[C]
            s.first[C] = half
        half = following
    half = s.first[D]
    while half >= 0:
        following = s.next[half]
        if s.end[half] >= 0:
            kept = s.mark[s.end[half ^ 1]]
            if kept >= 0:
                merge_tables(s, s.joined, kept, half)
                merge_tables(s, s.parted, kept, half)
                take_out(s, half >> 1)
                s.end[half] = s.end[half ^ 1] = -1
            else:
                s.end[half] = C
                s.next[half] = s.first[C]
                s.first[C] = half
        half = following
    s.first[D] = -1
    same = x == s.choice[C] and y == s.choice[D]
    s.choice[C] = x if x == y else K - 1
    field = s.field + <Py_ssize_t>C * K
    for z in range(K):
        field[z] = s.own[<Py_ssize_t>C * K + z]
    half = s.first[C]
    while half >= 0:
        other = s.end[half ^ 1]
        s.mark[other] = -1
        for z in range(K):
            field[z] += entry(s.parted, s, half, z, s.choice[other])
            s.field[<Py_ssize_t>other * K + z] += entry(s.parted, s, half, s.choice[C], z)
        half = s.next[half]
    half = s.first[C]
    while half >= 0:
        if same:
            enter(s, half >> 1)
        else:
            enter_all(s, s.end[half ^ 1])
        half = s.next[half]


cdef void enter_all(Joining* s, element_t C) noexcept nogil:
    cdef element_t half = s.first[C]
    while half >= 0:
        if s.end[half] >= 0:
            enter(s, half >> 1)
        half = s.next[half]


def join_sets(
    cost_t[:, ::1] own,
    const element_t[::1] u,
    const element_t[::1] v,
    cost_t[:, :, ::1] joined,
    cost_t[:, :, ::1] parted,
    double tolerance,
    double cost,
    Stopping stopping,
):
    """Join elements, all apart and with their last choice; the tables are used up.

    Returns the set of each element, numbered by one of its elements, and the choice of each element: the last one if it
    is as it was.
    """
    cdef Joining s
    cdef Py_ssize_t k, z, count = 0
    cdef element_t half
    cdef element_t n = <element_t>own.shape[0], m = <element_t>u.shape[0]
    cdef Join* done = NULL
    labels, choices = np.arange(n, dtype=np.int32), full_int32(n, own.shape[1] - 1)
    if n == 0 or m == 0:
        return labels, choices
    ends, following = np.stack([u, v], 1).ravel(), full_int32(2 * m, -1)
    first, place, mark = full_int32(n, -1), full_int32(m, -1), full_int32(n, -1)
    field, now = np.array(own), choices.copy()
    cdef element_t[::1] end_view = ends, next_view = following, first_view = first, place_view = place
    cdef element_t[::1] mark_view = mark, label = labels, choice = choices, now_view = now
    cdef cost_t[:, ::1] field_view = field
    cdef char[::1] heap = empty_int8(m * sizeof(Key))
    s.n, s.m, s.K, s.tolerance, s.size = n, m, <element_t>own.shape[1], tolerance, 0
    s.own, s.field, s.joined, s.parted = &own[0, 0], &field_view[0, 0], &joined[0, 0, 0], &parted[0, 0, 0]
    s.end, s.next, s.first, s.place, s.mark = &end_view[0], &next_view[0], &first_view[0], &place_view[0], &mark_view[0]
    s.choice, s.heap = &now_view[0], <Key*>&heap[0]
    done = <Join*>malloc(n * sizeof(Join))
    if done == NULL:
        raise MemoryError
    with nogil:
        for half in range(2 * m):
            s.next[half] = s.first[s.end[half]]
            s.first[s.end[half]] = half
            for z in range(s.K):
                s.field[<Py_ssize_t>s.end[half] * s.K + z] += entry(s.parted, &s, half, <element_t>z, s.K - 1)
        for k in range(m):
            enter(&s, <element_t>k)
        while s.size > 0:
            cost += s.heap[0].delta
            apply_join(&s, s.heap[0].pair, &done[count])
            count += 1
            if stopping.tick(cost):
                break
        # From the last join to the first: a set whose choice is the last one gives its parts those that they had.
        for k in range(n):
            choice[k] = s.choice[k]
        for k in range(count - 1, -1, -1):
            if choice[done[k].into] == s.K - 1:
                choice[done[k].into], choice[done[k].gone] = done[k].x, done[k].y
            else:
                choice[done[k].gone] = choice[done[k].into]
        for k in range(count):          # a set that is gone stays so, and later joins are those of its new set
            label[done[k].gone] = done[k].into
        for k in range(n):
            while label[label[k]] != label[k]:
                label[k] = label[label[k]]
    free(done)
    return labels, choices

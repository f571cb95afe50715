"""Kernel of greedy joining with a background that repels, on sorted pairs, from singletons.

Only subsets that a stored pair links can be worth a join. The pair of smallest number stands for all stored pairs
between two subsets and holds the sum of their costs; the background between them follows from their sums of weights. A
heap has, for each pair whose join lowers the cost, an entry that is not above the change: a join only raises the
changes of other pairs by its background, so that an entry is corrected when it comes first; where two pairs become one,
their sum is entered anew. Pairs are found by a hash table over the numbers of their subsets, and stand in a list for
each subset.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from graphpart.kernels.types cimport cost_t, element_t
from graphpart.stopping cimport Stopping


cdef struct Queued:
    double cost
    element_t pair


cdef struct Queue:
    Queued* heap
    Py_ssize_t size, capacity
    bint failed


cdef inline bint before(Queued x, Queued y) noexcept nogil:
    return x.cost < y.cost or (x.cost == y.cost and x.pair < y.pair)


cdef void push(Queue* q, double cost, element_t pair) noexcept nogil:
    cdef Queued item = Queued(cost, pair)
    cdef Queued* larger
    cdef Py_ssize_t at = q.size, parent
    if q.size == q.capacity:
        larger = <Queued*>malloc(2 * q.capacity * sizeof(Queued))
        if larger == NULL:
            q.failed = True
            return
        memcpy(larger, q.heap, q.size * sizeof(Queued))
        free(q.heap)
        q.heap = larger
        q.capacity *= 2
    q.size += 1
    while at > 0:
        parent = (at - 1) >> 2
        if not before(item, q.heap[parent]):
            break
        q.heap[at] = q.heap[parent]
        at = parent
    q.heap[at] = item


cdef void sink(Queue* q, Py_ssize_t at, Queued item) noexcept nogil:
    """Put an item at a place, or below it."""
    cdef Py_ssize_t child, best, k
    while True:
        child = 4 * at + 1
        if child >= q.size:
            break
        best = child
        for k in range(child + 1, min(child + 4, q.size)):
            if before(q.heap[k], q.heap[best]):
                best = k
        if not before(q.heap[best], item):
            break
        q.heap[at] = q.heap[best]
        at = best
    q.heap[at] = item


# ------------------------------------------------------------------------------------------------------------ pairs

cdef struct Slot:
    int64_t key             # -1 if free
    element_t pair


cdef struct Pair:
    cost_t cost
    element_t ends[2]       # the first is -1 once the pair is gone


cdef struct State:
    Py_ssize_t n, k
    Pair* pairs
    element_t* link         # 2 * pair + side of the next pair in the list of the subset at that side; -1 at the end
    element_t* head         # of the list of each subset
    element_t* tail
    element_t* count        # pairs of each subset that are not gone
    Slot* slots
    int64_t mask
    int shift


cdef inline int64_t key_of(State* s, element_t a, element_t b) noexcept nogil:
    return <int64_t>min(a, b) * s.n + max(a, b)


cdef inline int64_t home_of(State* s, int64_t key) noexcept nogil:
    # Multiplicative hashing (Knuth 1973): the high bits of the product.
    return <int64_t>((<uint64_t>key * <uint64_t>0x9E3779B97F4A7C15) >> s.shift)


cdef Slot* lookup(State* s, int64_t key) noexcept nogil:
    """The slot of a key, or the free one where it belongs."""
    cdef int64_t at = home_of(s, key)
    while s.slots[at].key != key and s.slots[at].key >= 0:
        at = (at + 1) & s.mask
    return s.slots + at


cdef void remove(State* s, int64_t key) noexcept nogil:
    """Free a slot, and pull back those behind it that may not be found across it (Knuth 1973, algorithm R)."""
    cdef int64_t hole = lookup(s, key) - s.slots, at = hole, home
    while True:
        at = (at + 1) & s.mask
        if s.slots[at].key < 0:
            break
        home = home_of(s, s.slots[at].key)
        if ((at - home) & s.mask) >= ((at - hole) & s.mask):
            s.slots[hole] = s.slots[at]
            hole = at
    s.slots[hole].key = -1


cdef inline void append(State* s, element_t U, element_t entry) noexcept nogil:
    s.link[entry] = -1
    if s.head[U] < 0:
        s.head[U] = entry
    else:
        s.link[s.tail[U]] = entry
    s.tail[U] = entry


def join_with_background(
    Py_ssize_t n,
    const element_t[::1] u,
    const element_t[::1] v,
    const cost_t[::1] cost,
    const int64_t[:, ::1] weights,
    const element_t[::1] partner,
    const double[::1] factor,
    double tolerance,
    double cost_at_start,
    Stopping stopping,
):
    """Labels of the fixed point. About 80 bytes for each pair."""
    cdef Py_ssize_t m = u.shape[0], k = weights.shape[1], t, i
    cdef element_t a, b, x, pair, other, entry, following, side
    cdef double total = cost_at_start, delta
    cdef State s
    cdef Queue queue
    cdef Queued item
    cdef Slot* slot
    if m >= 2**30:
        raise MemoryError(f"{m} pairs: expected fewer than 2**30")
    parent_array = np.arange(n, dtype=np.int32)
    if m == 0:
        return parent_array
    cdef element_t[::1] parent = parent_array
    cdef element_t[::1] link = np.empty(2 * m, np.int32), head = np.full(n, -1, np.int32)
    cdef element_t[::1] tail = np.full(n, -1, np.int32), count = np.zeros(n, np.int32)
    sums_array = np.array(weights, np.int64, order="C")
    cdef int64_t[:, ::1] sums = sums_array
    s.n, s.k = n, k
    s.link, s.head, s.tail, s.count = &link[0], &head[0], &tail[0], &count[0]
    s.mask, s.shift = 1, 63
    while s.mask + 1 < 2 * m:
        s.mask = 2 * s.mask + 1
        s.shift -= 1
    s.pairs = <Pair*>malloc(m * sizeof(Pair))
    s.slots = <Slot*>malloc((s.mask + 1) * sizeof(Slot))
    queue.capacity, queue.size, queue.failed = max(m, 16), 0, False
    queue.heap = <Queued*>malloc(queue.capacity * sizeof(Queued))
    if s.pairs == NULL or s.slots == NULL or queue.heap == NULL:
        free(s.pairs)
        free(s.slots)
        free(queue.heap)
        raise MemoryError()
    with nogil:
        for i in range(s.mask + 1):
            s.slots[i].key = -1
        for pair in range(<element_t>m):
            s.pairs[pair].cost = cost[pair]
            s.pairs[pair].ends[0] = u[pair]
            s.pairs[pair].ends[1] = v[pair]
            slot = lookup(&s, key_of(&s, u[pair], v[pair]))
            slot.key, slot.pair = key_of(&s, u[pair], v[pair]), pair
            append(&s, u[pair], 2 * pair)
            append(&s, v[pair], 2 * pair + 1)
            count[u[pair]] += 1
            count[v[pair]] += 1
            delta = cost[pair]
            for t in range(k):
                delta += factor[t] * <double>sums[u[pair], partner[t]] * <double>sums[v[pair], t]
            if delta < -tolerance:
                queue.heap[queue.size] = Queued(delta, pair)
                queue.size += 1
        for i in range((queue.size - 2) >> 2, -1, -1):
            sink(&queue, i, queue.heap[i])
        while queue.size and not queue.failed:
            item = queue.heap[0]
            pair = item.pair
            a, b = s.pairs[pair].ends[0], s.pairs[pair].ends[1]
            delta = INFINITY
            if a >= 0:
                delta = s.pairs[pair].cost
                for t in range(k):
                    delta += factor[t] * <double>sums[a, partner[t]] * <double>sums[b, t]
            if delta > item.cost:
                if delta < -tolerance:
                    item.cost = delta
                    sink(&queue, 0, item)
                else:
                    queue.size -= 1
                    if queue.size:
                        sink(&queue, 0, queue.heap[queue.size])
                continue
            queue.size -= 1
            if queue.size:
                sink(&queue, 0, queue.heap[queue.size])
            if count[a] < count[b]:
                a, b = b, a
            total += delta
            parent[b] = a
            for t in range(k):
                sums[a, t] += sums[b, t]
            entry = head[b]
            while entry >= 0:
                following = link[entry]
                pair, side = entry >> 1, entry & 1
                if s.pairs[pair].ends[0] < 0 or s.pairs[pair].ends[side] != b:
                    entry = following
                    continue
                x = s.pairs[pair].ends[1 - side]
                remove(&s, key_of(&s, b, x))
                if x == a:
                    s.pairs[pair].ends[0] = -1
                    count[a] -= 1
                    entry = following
                    continue
                slot = lookup(&s, key_of(&s, a, x))
                if slot.key < 0:
                    slot.key, slot.pair = key_of(&s, a, x), pair
                    s.pairs[pair].ends[side] = a
                    append(&s, a, entry)
                    count[a] += 1
                    entry = following
                    continue
                other = slot.pair
                count[x] -= 1
                if pair < other:
                    s.pairs[pair].cost += s.pairs[other].cost
                    s.pairs[other].ends[0] = -1
                    s.pairs[pair].ends[side] = a
                    append(&s, a, entry)
                    slot.pair = pair
                else:
                    s.pairs[other].cost += s.pairs[pair].cost
                    s.pairs[pair].ends[0] = -1
                    pair = other
                delta = s.pairs[pair].cost
                for t in range(k):
                    delta += factor[t] * <double>sums[a, partner[t]] * <double>sums[x, t]
                if delta < -tolerance:
                    push(&queue, delta, pair)
                entry = following
            head[b] = -1
            if stopping.tick(total):
                break
        for i in range(n):
            a = <element_t>i
            while parent[a] != a:
                parent[a] = parent[parent[a]]
                a = parent[a]
            parent[i] = a
        free(s.pairs)
        free(s.slots)
        free(queue.heap)
    if queue.failed:
        raise MemoryError()
    return parent_array

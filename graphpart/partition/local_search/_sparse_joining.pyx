"""Kernel of greedy joining on sorted pairs, from singletons.

Each subset has a table of its neighbour subsets. An entry has the pair that stands for all pairs between the two; its
cost is their sum. When two subsets are joined, the smaller table is folded into the larger one. If both have the same
neighbour, two pairs become one. A short table is a plain list, a long one is hashed. Pairs with a negative cost wait in
a queue; outdated entries are corrected only when they come first. The key for ties grows with the subsets, so it may be
outdated in the same way. The costs at the start are sorted once, by digits; costs that fall later wait in a heap.

A background that repels, as k > 0 terms (see kernels/terms.pxd), is added to the cost between two subsets. Then only
subsets that a stored pair links are worth a join. The background never falls when subsets grow. So a value in the queue
is never above the cost, and is corrected when it comes first. If two pairs become one, the cost falls only if the
stored sum falls. The same holds for prices of groups and a largest size (kernels/groups.pxd), which forbid a join for
good.

If subsets have to be connected, the costs of lifted pairs are in the tables, but these pairs do not wait in the queue.
A pair that stands for several is a base pair if at least one of them is.

Latency of memory takes most of the time. So the kernel prefetches, step by step, the memory that the next joins in the
sorted list will read: the pair, its elements, the subsets that contain them, their tables, and the tables of their
neighbours; and the first entries of the heap. All tables stand in few large pages. The memory of a removed table is
still in the cache, and is used for the next table.
"""

from functools import partial

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from graphpart.kernels._arrays cimport empty_float64, empty_int32
from graphpart.kernels.bits cimport leading_zeros, lowest_bit
from graphpart.kernels.fixed cimport fixed_t
from graphpart.kernels.groups cimport groups_between, groups_join, groups_of_pair, take_lists
from graphpart.kernels.memory cimport large_pages, prefetch
from graphpart.kernels.ranking cimport Ranked, sort_ranked
from graphpart.kernels.terms cimport Terms, take_terms, terms_between
from graphpart.kernels.ties cimport pack_sizes, scramble_pair
from graphpart.kernels.types cimport cost_t, element_t
from graphpart.machine import side_by_side
from graphpart.stopping cimport Stopping


# ------------------------------------------------------------------------------------------------------------ queue

cdef struct Queued:
    cost_t cost
    uint64_t sizes          # decides ties, the smallest first: numbers of elements of both subsets, packed
    uint64_t hash           # decides further ties: hash of their smallest elements
    element_t edge


cdef inline bint before(const Queued* a, const Queued* b) noexcept nogil:
    if a.cost != b.cost:
        return a.cost < b.cost
    return a.sizes < b.sizes or (a.sizes == b.sizes and a.hash < b.hash)


cdef struct Queue:
    # The costs at the start, sorted once, and costs that fell later, in a 4-ary heap. It is not the heap of
    # kernels/heap.pxd, because its pop also prefetches memory for the next joins.
    Queued* heap
    Py_ssize_t size, capacity
    bint failed


cdef void push(Queue* q, Queued item) noexcept nogil:
    cdef Queued* larger
    cdef Py_ssize_t at, parent
    if q.size == q.capacity:
        larger = <Queued*>realloc(q.heap, 2 * q.capacity * sizeof(Queued))
        if larger == NULL:
            q.failed = True
            return
        q.heap = larger
        q.capacity *= 2
    at = q.size
    q.size += 1
    while at > 0:
        parent = (at - 1) >> 2
        if not before(&item, q.heap + parent):
            break
        q.heap[at] = q.heap[parent]
        at = parent
    q.heap[at] = item


# ------------------------------------------------------------------------------------------------- neighbour tables

cdef enum:
    LIST = 32       # most neighbours in a table that is not hashed
    PARTS = 8       # of all longer lists, which are hashed one part after the other


cdef struct Entry:
    element_t key           # the neighbour subset; -1 in a free slot of a hashed table
    element_t edge          # the pair that stands for all pairs between the two


cdef struct Table:
    # Not a set of kernels/hash_set.pxd: an entry also names a pair, entries are removed, and most tables are short
    # lists that reuse the memory of others.
    Entry* entries
    element_t size
    element_t capacity      # of a list; minus the number of slots, a power of two, of a hashed table
    element_t parent        # the subset that this one is now part of; itself if it still exists
    element_t smallest      # the smallest element of the subset
    element_t elements      # number of elements


cdef struct Pair:
    cost_t cost             # inf once the pair is gone
    element_t u, v


cdef struct Room:
    Room* next              # the next free piece, or the next block


cdef struct Tables:
    Pair* pairs
    Table* of
    Entry* base             # the initial tables, one after the other
    Entry* batch            # the entries that a fold works through
    element_t* merging      # for each entry, the existing pair to the same neighbour, or -1
    Py_ssize_t batch_capacity
    Room* pieces[32]        # free ones with 2**k entries
    Room* blocks            # all memory that pieces come from
    char* fresh             # the unused rest of the last block
    size_t left
    Terms terms             # with the sums of the existing subsets
    char* lifted            # whether each pair is lifted; NULL if subsets need not be connected
    bint failed             # out of memory


# Pieces of 2**k entries; all pieces are freed together at the end.

cdef enum:
    SMALLEST = 2            # binary logarithm of the number of entries of the smallest piece
    BLOCK = 1 << 22         # bytes of one allocation


cdef Entry* take_piece(Tables* s, int k) noexcept nogil:
    cdef Room* piece = s.pieces[k]
    cdef size_t bytes = sizeof(Entry) << k, block
    cdef Room* more
    if piece != NULL:
        s.pieces[k] = piece.next
        return <Entry*>piece
    if bytes > s.left:
        block = max(<size_t>BLOCK, bytes + 64)
        more = <Room*>malloc(block)
        if more == NULL:
            s.failed = True
            return NULL
        large_pages(more, block)
        more.next = s.blocks
        s.blocks = more
        s.fresh = <char*>more + 64
        s.left = block - 64
    piece = <Room*>s.fresh
    s.fresh += bytes
    s.left -= bytes
    return <Entry*>piece


cdef inline void give_back(Tables* s, Entry* entries, Py_ssize_t capacity) noexcept nogil:
    """Take back the memory of `capacity` entries, which need not be a power of two."""
    cdef int k
    if capacity >= (1 << SMALLEST):
        k = 63 - leading_zeros(<uint64_t>capacity)
        (<Room*>entries).next = s.pieces[k]
        s.pieces[k] = <Room*>entries


cdef inline uint32_t slot_of(element_t key, uint32_t slots) noexcept nogil:
    # Multiplicative hashing (Knuth 1973): the high bits of the product, scaled to the number of slots.
    return (<uint32_t>key * <uint32_t>2654435769) >> (32 - lowest_bit(slots))


cdef Entry* lookup(Table* t, element_t key) noexcept nogil:
    cdef element_t k
    cdef uint32_t at, mask
    if t.capacity >= 0:
        for k in range(t.size):
            if t.entries[k].key == key:
                return t.entries + k
        return NULL
    mask = <uint32_t>(-t.capacity) - 1
    at = slot_of(key, mask + 1)
    while t.entries[at].key != key:
        if t.entries[at].key < 0:
            return NULL
        at = (at + 1) & mask
    return t.entries + at


cdef inline void place(Entry* slots, uint32_t mask, Entry entry) noexcept nogil:
    cdef uint32_t at = slot_of(entry.key, mask + 1)
    while slots[at].key >= 0:
        at = (at + 1) & mask
    slots[at] = entry


cdef inline void release(Tables* s, Table* t) noexcept nogil:
    give_back(s, t.entries, t.capacity if t.capacity >= 0 else -<Py_ssize_t>t.capacity)
    t.entries = NULL


cdef void make_slots(Tables* s, Table* t, Py_ssize_t size) noexcept nogil:
    """Give a table free slots for some entries, at most five eighths of the slots, in place of the memory it has."""
    cdef Entry* slots
    cdef int bits = lowest_bit(2 * LIST)
    cdef Py_ssize_t k
    while 5 * (<Py_ssize_t>1 << bits) < 8 * size:
        bits += 1
    if bits > 30:
        s.failed = True
        return
    slots = take_piece(s, bits)
    if slots == NULL:
        return
    for k in range(<Py_ssize_t>1 << bits):
        slots[k].key = -1
    t.entries, t.capacity = slots, -(1 << bits)


cdef void grow(Tables* s, Table* t) noexcept nogil:
    """Make room for at least one more entry."""
    cdef Entry* larger
    cdef Entry* old
    cdef element_t slots
    cdef element_t k
    cdef int bits
    if t.capacity >= 0 and t.size < LIST:
        bits = SMALLEST
        while (1 << bits) <= t.size:
            bits += 1
        larger = take_piece(s, bits)
        if larger == NULL:
            return
        if t.size:
            memcpy(larger, t.entries, t.size * sizeof(Entry))
        release(s, t)
        t.entries = larger
        t.capacity = 1 << bits
        return
    old, slots = t.entries, t.capacity
    make_slots(s, t, t.size + 1)
    if s.failed:
        return
    for k in range(slots if slots < 0 else -t.size, 0):
        # Counts up to zero: the slots of a hashed table, or the entries of a list.
        if old[-k - 1].key >= 0:
            place(t.entries, <uint32_t>(-t.capacity) - 1, old[-k - 1])
    give_back(s, old, slots if slots >= 0 else -<Py_ssize_t>slots)


cdef void insert(Tables* s, Table* t, Entry entry) noexcept nogil:
    if t.capacity >= 0:
        if t.size == t.capacity:
            grow(s, t)
    elif 4 * (<Py_ssize_t>t.size + 1) > -3 * <Py_ssize_t>t.capacity:
        grow(s, t)
    if s.failed:
        return
    if t.capacity >= 0:
        t.entries[t.size] = entry
    else:
        place(t.entries, <uint32_t>(-t.capacity) - 1, entry)
    t.size += 1


cdef void remove(Table* t, element_t key) noexcept nogil:
    cdef Entry* entry = lookup(t, key)
    cdef uint32_t hole, at, home, mask
    t.size -= 1
    if t.capacity >= 0:
        entry[0] = t.entries[t.size]
        return
    # Pull back the entries behind the hole that may not be found across it (Knuth 1973, algorithm R).
    mask = <uint32_t>(-t.capacity) - 1
    hole = <uint32_t>(entry - t.entries)
    at = hole
    while True:
        at = (at + 1) & mask
        if t.entries[at].key < 0:
            break
        home = slot_of(t.entries[at].key, mask + 1)
        if ((at - home) & mask) >= ((at - hole) & mask):
            t.entries[hole] = t.entries[at]
            hole = at
    t.entries[hole].key = -1


cdef void rename(Tables* s, Table* t, element_t key, element_t new_key) noexcept nogil:
    cdef Entry* entry = lookup(t, key)
    cdef Entry renamed = entry[0]
    renamed.key = new_key
    if t.capacity >= 0:
        entry[0] = renamed
    else:
        remove(t, key)
        insert(s, t, renamed)


cdef void* in_large_pages(size_t bytes) noexcept nogil:
    cdef void* p = malloc(bytes)
    if p != NULL:
        large_pages(p, bytes)
    return p


cdef bint make_tables(
    Tables* s, Py_ssize_t n, const element_t* u, const element_t* v, const cost_t* cost, Py_ssize_t m
) noexcept nogil:
    cdef Py_ssize_t k, i, total = 0, room = 0, largest = 0, used, begin, end = 0
    cdef Table* t
    cdef Entry* old
    cdef Entry* long_lists      # of some elements at a time, until they are hashed
    for k in range(32):
        s.pieces[k] = NULL
    s.blocks = NULL
    s.left = 0
    s.failed = False
    s.pairs = <Pair*>in_large_pages(m * sizeof(Pair))
    s.of = <Table*>in_large_pages(n * sizeof(Table))
    s.batch_capacity = 64
    s.batch = <Entry*>malloc(s.batch_capacity * sizeof(Entry))
    s.merging = <element_t*>malloc(s.batch_capacity * sizeof(element_t))
    s.base = NULL
    if s.pairs == NULL or s.of == NULL or s.batch == NULL or s.merging == NULL:
        s.failed = True
        return False
    for k in range(n):
        s.of[k] = Table(NULL, 0, 0, <element_t>k, <element_t>k, 1)
    for k in range(m):
        s.pairs[k] = Pair(cost[k], u[k], v[k])
        s.of[u[k]].size += 1
        s.of[v[k]].size += 1
    for k in range(n):
        if s.of[k].size <= LIST:
            total += s.of[k].size
        else:
            largest = max(largest, s.of[k].size)
            room += s.of[k].size
    room = max(largest, room // PARTS)
    s.base = <Entry*>in_large_pages(total * sizeof(Entry) + 1)
    long_lists = <Entry*>in_large_pages(room * sizeof(Entry) + 1)
    s.failed = s.base == NULL or long_lists == NULL
    total = 0
    while end < n and not s.failed:
        begin, used = end, 0
        while end < n:
            t = &s.of[end]
            if t.size <= LIST:
                t.entries = s.base + total
                total += t.size
            elif used + t.size > room:
                break
            else:
                t.entries = long_lists + used
                used += t.size
            t.capacity, t.size = t.size, 0
            end += 1
        for k in range(m):
            if u[k] >= end:
                break
            if begin <= u[k]:
                t = &s.of[u[k]]
                t.entries[t.size] = Entry(v[k], <element_t>k)
                t.size += 1
            if begin <= v[k] < end:
                t = &s.of[v[k]]
                t.entries[t.size] = Entry(u[k], <element_t>k)
                t.size += 1
        for k in range(begin, end):
            t = &s.of[k]
            if t.size > LIST:
                old = t.entries
                make_slots(s, t, t.size)
                if s.failed:
                    break
                for i in range(t.size):
                    place(t.entries, <uint32_t>(-t.capacity) - 1, old[i])
    free(long_lists)
    return not s.failed


cdef void free_tables(Tables* s) noexcept nogil:
    cdef Room* block
    while s.blocks != NULL:
        block = s.blocks
        s.blocks = block.next
        free(block)
    free(s.pairs)
    free(s.of)
    free(s.base)
    free(s.batch)
    free(s.merging)


cdef Py_ssize_t take_out(Tables* s, Table* t, element_t but) noexcept nogil:
    """Copy the entries of a table, except one key, into the batch, and release the table."""
    cdef Py_ssize_t count = 0, k, slots = t.capacity if t.capacity >= 0 else -<Py_ssize_t>t.capacity
    if t.capacity >= 0:
        slots = t.size
    if t.size > s.batch_capacity:
        free(s.batch)
        free(s.merging)
        s.batch_capacity = 2 * <Py_ssize_t>t.size
        s.batch = <Entry*>malloc(s.batch_capacity * sizeof(Entry))
        s.merging = <element_t*>malloc(s.batch_capacity * sizeof(element_t))
        if s.batch == NULL or s.merging == NULL:
            s.failed = True
            return 0
    for k in range(slots):
        if t.entries[k].key >= 0 and t.entries[k].key != but:
            prefetch(&s.of[t.entries[k].key])
            s.batch[count] = t.entries[k]
            count += 1
    release(s, t)
    t.size = t.capacity = 0
    return count


cdef inline Queued queued(Tables* s, cost_t cost, element_t edge, element_t a, element_t b) noexcept nogil:
    """The entry of the pair that stands for all pairs between two subsets."""
    cdef Table* x = &s.of[a]
    cdef Table* y = &s.of[b]
    return Queued(cost, pack_sizes(x.elements, y.elements), scramble_pair(x.smallest, y.smallest), edge)


cdef inline element_t find(Table* of, element_t a) noexcept nogil:
    while of[a].parent != a:
        of[a].parent = of[of[a].parent].parent
        a = of[a].parent
    return a


cdef inline double background(Tables* s, const Pair* pair) noexcept nogil:
    """The cost that terms add to a pair; inf if groups or the largest size forbid the join.

    Terms are added in the same order each time, so that their sum never falls.
    """
    cdef Py_ssize_t k = s.terms.k
    cdef element_t U = find(s.of, pair.u), V = find(s.of, pair.v)
    cdef double sum = terms_between(&s.terms, s.terms.total + U * k, s.terms.total + V * k)
    return sum + groups_between(&s.terms.groups, U, V) if s.terms.groups.any else sum


cdef void fold(Tables* s, element_t a, element_t b, Queue* queue, double tolerance) noexcept nogil:
    """Join subset b into subset a, which has at least as many neighbours; queue the costs that fall below zero."""
    cdef Table* into = &s.of[a]
    cdef Table* from_table = &s.of[b]
    cdef Table* other
    cdef Entry entry
    cdef Entry* found
    cdef Pair* kept
    cdef cost_t sum, delta
    cdef Py_ssize_t k, count
    for k in range(s.terms.k):
        s.terms.total[a * s.terms.k + k] += s.terms.total[b * s.terms.k + k]
    if s.terms.groups.any:
        groups_join(&s.terms.groups, a, b)
    remove(into, b)
    count = take_out(s, from_table, a)
    from_table.parent = a
    into.elements += from_table.elements
    into.smallest = min(into.smallest, from_table.smallest)
    for k in range(count):
        other = &s.of[s.batch[k].key]
        prefetch(other.entries)
        prefetch(other.entries + 8)
        prefetch(&s.pairs[s.batch[k].edge])
        if into.capacity < 0:
            prefetch(into.entries + slot_of(s.batch[k].key, <uint32_t>(-into.capacity)))
    for k in range(count):
        found = lookup(into, s.batch[k].key)
        s.merging[k] = -1
        if found != NULL:
            s.merging[k] = found.edge
            prefetch(&s.pairs[found.edge])
    for k in range(count):
        entry = s.batch[k]
        other = &s.of[entry.key]
        if s.merging[k] < 0:
            insert(s, into, entry)
            rename(s, other, b, a)
            if s.failed:
                return
            continue
        remove(other, b)
        kept = &s.pairs[s.merging[k]]
        sum = delta = kept.cost + s.pairs[entry.edge].cost
        if s.terms.any and sum < kept.cost:
            delta += background(s, kept)
        if s.lifted != NULL and s.lifted[s.merging[k]]:
            if not s.lifted[entry.edge]:
                s.lifted[s.merging[k]] = False
                if delta < -tolerance:
                    push(queue, queued(s, delta, s.merging[k], a, entry.key))
        elif sum < kept.cost and delta < -tolerance:
            push(queue, queued(s, delta, s.merging[k], a, entry.key))
        kept.cost = sum
        s.pairs[entry.edge].cost = INFINITY


cdef inline void near(Tables* s, element_t edge) noexcept nogil:
    """Prefetch the subsets of a pair."""
    prefetch(&s.of[s.pairs[edge].u])
    prefetch(&s.of[s.pairs[edge].v])


cdef void pop(Queue* q, Tables* s) noexcept nogil:
    cdef Queued item
    cdef Py_ssize_t at = 0, child, best, k
    q.size -= 1
    if q.size == 0:
        return
    item = q.heap[q.size]
    while True:
        child = 4 * at + 1
        if child >= q.size:
            break
        best = child
        for k in range(child + 1, min(child + 4, q.size)):
            if before(q.heap + k, q.heap + best):
                best = k
        if not before(q.heap + best, &item):
            break
        q.heap[at] = q.heap[best]
        if 0 < at < 5:          # it may soon be first
            near(s, q.heap[at].edge)
        elif 5 <= at < 21:
            prefetch(s.pairs + q.heap[at].edge)
        at = best
    q.heap[at] = item


# ---------------------------------------------------------------------------------------------------------- joining

cdef inline Table* smaller_table(Tables* s, const Pair* pair) noexcept nogil:
    """Of the two tables that a join of the pair merges, the one that is folded into the other."""
    cdef Table* t = &s.of[find(s.of, pair.u)]
    cdef Table* other = &s.of[find(s.of, pair.v)]
    return other if t.size > other.size else t


cdef enum:
    AHEAD = 8               # number of joins between two steps of prefetching


cdef inline void look_ahead(
    Tables* s, const element_t* edges, const cost_t* costs, Py_ssize_t at, Py_ssize_t end
) noexcept nogil:
    """Prefetch, step by step, the memory that the next joins will read."""
    cdef Pair* pair
    cdef Table* t
    cdef element_t k
    at += 5 * AHEAD
    if at < end:
        prefetch(&s.pairs[edges[at]])
    at -= AHEAD
    if at < end:
        pair = &s.pairs[edges[at]]
        if pair.cost == costs[at]:
            prefetch(&s.of[pair.u])
            prefetch(&s.of[pair.v])
    at -= AHEAD
    if at < end:
        pair = &s.pairs[edges[at]]
        if pair.cost == costs[at]:
            prefetch(&s.of[s.of[pair.u].parent])
            prefetch(&s.of[s.of[pair.v].parent])
    at -= AHEAD
    if at < end:
        pair = &s.pairs[edges[at]]
        if pair.cost == costs[at]:
            prefetch(s.of[find(s.of, pair.u)].entries)
            prefetch(s.of[find(s.of, pair.v)].entries)
    at -= AHEAD
    if at < end:
        pair = &s.pairs[edges[at]]
        if pair.cost == costs[at]:
            t = smaller_table(s, pair)
            if 0 <= t.capacity:
                for k in range(t.size):
                    prefetch(&s.of[t.entries[k].key])
                    prefetch(&s.pairs[t.entries[k].edge])
    at -= AHEAD // 2
    if at < end:
        pair = &s.pairs[edges[at]]
        if pair.cost == costs[at]:
            t = smaller_table(s, pair)
            if 0 <= t.capacity:
                for k in range(t.size):
                    prefetch(s.of[t.entries[k].key].entries)


# --------------------------------------------------------------------------------------------------------- first order

cdef inline uint64_t bits_of(cost_t cost) noexcept nogil:
    cdef uint64_t bits
    memcpy(&bits, &cost, sizeof(bits))
    return bits


cdef bint rank(
    const element_t* u, const element_t* v, const cost_t* cost, Py_ssize_t m, double tolerance, Py_ssize_t count,
    element_t* edges, cost_t* costs,
) noexcept nogil:
    """The `count` attractive pairs and their costs; the most attractive pair first, on ties the smallest hash."""
    cdef Ranked* x = <Ranked*>in_large_pages(2 * count * sizeof(Ranked))
    cdef Ranked* sorted
    cdef Ranked* run
    cdef Ranked* room
    cdef Py_ssize_t k, i, end, at = 0
    cdef uint64_t bits
    if x == NULL:
        return False
    for k in range(m):
        if cost[k] < -tolerance:
            # Numbers of one sign have the same order as their bits.
            x[at] = Ranked(~bits_of(cost[k]), <element_t>k)
            at += 1
    sorted = sort_ranked(x, x + count, count)
    room = x + count if sorted == x else x
    at = 0
    while at < count:
        end = at + 1
        while end < count and sorted[end].key == sorted[at].key:
            end += 1
        bits = ~sorted[at].key
        for k in range(at, end):
            memcpy(&costs[k], &bits, sizeof(bits))
        run = sorted + at
        if end - at > 1:
            for k in range(end - at):
                i = run[k].edge
                run[k].key = scramble_pair(<uint64_t>u[i], <uint64_t>v[i])
            run = sort_ranked(run, room + at, end - at)
        for k in range(end - at):
            edges[at + k] = run[k].edge
        at = end
    free(x)
    return True


def _rank(
    const element_t[::1] u, const element_t[::1] v, const cost_t[::1] between,
    double tolerance, element_t[::1] edges, cost_t[::1] first,
) -> bool:
    cdef bint made
    with nogil:
        made = rank(&u[0], &v[0], &between[0], u.shape[0], tolerance, edges.shape[0], &edges[0], &first[0])
    return made


def _make_tables(
    size_t tables, Py_ssize_t n, const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost
) -> bool:
    """Make the tables at an address."""
    cdef Tables* s = <Tables*>tables
    cdef Py_ssize_t k
    cdef bint made
    with nogil:
        made = make_tables(s, n, &u[0], &v[0], &cost[0], u.shape[0])
    return made


def join_sparse(
    Py_ssize_t n,
    const element_t[::1] u,
    const element_t[::1] v,
    const cost_t[::1] cost,
    terms,
    double tolerance,
    double cost_at_start,
    Stopping stopping,
    element_t[:, ::1] merges=None,
    cost_t[::1] merge_costs=None,
    Py_ssize_t fewest=0,
):
    """Labels of the fixed point. O(m log^2 m) time; about 48 bytes for each pair.

    `terms` is `Terms` of sums.py, or None. At least `fewest` subsets remain, and at least the least number in `terms`.
    `merges`, of shape (n, 2), becomes the joins in order: the subset that stays and the subset that is folded into it,
    each named by one of its elements, which stays the same. `merge_costs` becomes the costs between them. There is one
    join for each element that is not the first of its label.
    """
    cdef Py_ssize_t m = u.shape[0], next = 0, attractive = 0, k, made_joins = 0
    cdef fixed_t exact = 0
    cdef bint keep = merges is not None, from_list
    cdef element_t a, b, swap
    cdef Pair* pair
    cdef double total = cost_at_start, delta
    cdef const cost_t[::1] between = cost       # the elements of each pair
    cdef cost_t[::1] raised
    cdef char[::1] lifted
    cdef Queued item, current
    cdef Queue queue
    cdef Tables tables
    cdef bint made
    if m >= 2**31 - 1:
        raise MemoryError(f"{m} pairs: expected fewer than 2**31")
    labels_array = np.arange(n, dtype=np.int32)
    cdef element_t[::1] labels = labels_array
    kept = take_terms(&tables.terms, terms, n)
    if tables.terms.any:
        for a in range(n):
            for k in range(tables.terms.k):
                tables.terms.total[a * tables.terms.k + k] = tables.terms.weights[a * tables.terms.k + k]
        kept += take_lists(&tables.terms.groups, n)
        raised = np.array(cost)
        for k in range(m):
            raised[k] += terms_between(
                &tables.terms, tables.terms.total + u[k] * tables.terms.k, tables.terms.total + v[k] * tables.terms.k)
            if tables.terms.groups.any:
                raised[k] += groups_of_pair(&tables.terms.groups, u[k], v[k], &exact, 1.0)
        between = raised
    tables.lifted = NULL
    if terms is not None and terms.lifted is not None and m:
        lifted = terms.lifted.astype(np.int8)
        tables.lifted = &lifted[0]
        between = np.where(terms.lifted, INFINITY, between)     # lifted pairs are not queued
    with nogil:
        for k in range(m):
            attractive += between[k] < -tolerance
    fewest = max(fewest, tables.terms.groups.least)
    if attractive == 0 or n <= fewest:
        return labels_array
    cdef element_t[::1] edges = empty_int32(attractive)
    cdef cost_t[::1] first = empty_float64(attractive)
    ranked, made = side_by_side(
        partial(_rank, u, v, between, tolerance, edges, first),
        partial(_make_tables, <size_t>&tables, n, u, v, cost),
        worth=m >= 2**18,
    )
    if not ranked:
        free_tables(&tables)
        raise MemoryError()
    queue.capacity = 1024
    queue.size = 0
    queue.heap = <Queued*>malloc(queue.capacity * sizeof(Queued))
    queue.failed = queue.heap == NULL
    with nogil:
        while made and not queue.failed and not tables.failed:
            # The first of the two sources.
            if next < attractive:
                from_list = not (queue.size and queue.heap[0].cost <= first[next])
                if not from_list and queue.heap[0].cost == first[next]:
                    item.cost = first[next]
                    item.edge = edges[next]
                    item.sizes = pack_sizes(1, 1)
                    item.hash = scramble_pair(u[item.edge], v[item.edge])
                    from_list = not before(&queue.heap[0], &item)
                if from_list:
                    item.cost = first[next]
                    item.edge = edges[next]
                    look_ahead(&tables, &edges[0], &first[0], next, attractive)
                    next += 1
                else:
                    item = queue.heap[0]
                    pop(&queue, &tables)
            elif queue.size:
                from_list = False
                item = queue.heap[0]
                pop(&queue, &tables)
            else:
                break
            pair = &tables.pairs[item.edge]
            delta = pair.cost
            if tables.terms.any and delta < INFINITY:
                delta += background(&tables, pair)
            if delta != item.cost and not (delta < -tolerance and (item.cost < delta or tables.terms.groups.any)):
                # The pair is gone (inf), or attracts no more. If its cost had fallen, it would be queued again. Costs
                # of groups are added in any order, so they may have fallen by rounding.
                continue
            a = find(tables.of, pair.u)
            b = find(tables.of, pair.v)
            if delta != item.cost:
                push(&queue, queued(&tables, delta, item.edge, a, b))
                continue
            if (queue.size and queue.heap[0].cost == item.cost) or (next < attractive and first[next] == item.cost):
                # For ties: one of the two subsets may have grown since this was queued.
                current = queued(&tables, item.cost, item.edge, a, b)
                if current.sizes != (pack_sizes(1, 1) if from_list else item.sizes):
                    push(&queue, current)
                    continue
            for k in range(min(5, queue.size)):      # the first entries of the queue: candidates for the next joins
                prefetch(&tables.pairs[queue.heap[k].edge])
            if tables.of[a].size < tables.of[b].size:
                swap = a
                a = b
                b = swap
            total += item.cost
            if keep:
                merges[made_joins, 0] = a
                merges[made_joins, 1] = b
                merge_costs[made_joins] = item.cost
            made_joins += 1
            pair.cost = INFINITY
            fold(&tables, a, b, &queue, tolerance)
            if stopping.tick(total) or n - made_joins <= fewest:
                break
        if made:
            for k in range(n):
                labels[k] = find(tables.of, <element_t>k)
        free(queue.heap)
        free_tables(&tables)
    if queue.failed or tables.failed:
        raise MemoryError()
    return labels_array

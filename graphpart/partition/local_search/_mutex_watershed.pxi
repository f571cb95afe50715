"""Kernel of the mutex watershed: one pass over pairs sorted by the size of their cost, with mutual exclusions.

Pairs are sorted by a radix sort of the bits of abs(cost), 11 bits in each pass. Passes in which all pairs have the same
digit are left out, such as the lower half for costs in single precision. The sort is stable, so pairs with equal
absolute costs stay in their order. Subsets are disjoint sets. A mutual exclusion of two subsets is a number in one hash
set, made of their two representatives, and an entry in a list of each subset. If two subsets are joined, the one with
the shorter list gives up its representative, and its exclusions are put into the hash set anew: O(log n) times each at
most.
"""

import numpy as np

from libc.math cimport fabs
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from graphpart.kernels._arrays cimport empty_int64, zeros_int32
from graphpart.kernels.growing cimport grow
from graphpart.kernels.hash_set cimport HashSet, hash_set_add, hash_set_has
from graphpart.kernels.memory cimport prefetch
from graphpart.kernels.types cimport cost_t, element_t
from graphpart.stopping cimport Stopping

cdef enum:
    DIGIT = 11
    VALUES = 2048
    PASSES = 6
    AHEAD = 16      # pairs whose elements are fetched before they are looked at


cdef struct Key:
    uint64_t bits               # of abs(cost), inverted, so that the largest cost comes first
    int64_t pair


cdef struct Exclusion:
    element_t other             # an element of the other subset
    int64_t next                # -1 at the end of a list


cdef struct Subsets:
    element_t* parent
    element_t* length           # of the list of a representative
    int64_t* first
    int64_t* last
    Exclusion* exclusions
    Py_ssize_t room, size
    HashSet known


cdef bint sort_pairs(Key** keys, Key** other, Py_ssize_t m, int64_t* counts) noexcept nogil:
    """Sort by bits; `keys` and `other` may change places."""
    cdef Py_ssize_t i, place
    cdef int digit, value
    cdef int64_t sum, count
    cdef Key* swapped
    memset(counts, 0, PASSES * VALUES * sizeof(int64_t))
    for i in range(m):
        for digit in range(PASSES):
            counts[digit * VALUES + ((keys[0][i].bits >> (digit * DIGIT)) & (VALUES - 1))] += 1
    for digit in range(PASSES):
        if counts[digit * VALUES + ((keys[0][0].bits >> (digit * DIGIT)) & (VALUES - 1))] == m:
            continue
        sum = 0
        for value in range(VALUES):
            count = counts[digit * VALUES + value]
            counts[digit * VALUES + value] = sum
            sum += count
        for i in range(m):
            value = <int>((keys[0][i].bits >> (digit * DIGIT)) & (VALUES - 1))
            place = counts[digit * VALUES + value]
            counts[digit * VALUES + value] = place + 1
            other[0][place] = keys[0][i]
        swapped = keys[0]
        keys[0] = other[0]
        other[0] = swapped
    return True


cdef inline element_t find(element_t* parent, element_t a) noexcept nogil:
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    return a


cdef inline uint64_t key_of(element_t a, element_t b) noexcept nogil:
    return (<uint64_t>(min(a, b) + 1) << 32) | <uint64_t>(max(a, b) + 1)


cdef inline bint excluded(Subsets* s, element_t a, element_t b) noexcept nogil:
    return s.length[a] > 0 and s.length[b] > 0 and hash_set_has(&s.known, key_of(a, b))


cdef inline void append(Subsets* s, element_t a, int64_t entry) noexcept nogil:
    s.exclusions[entry].next = -1
    if s.length[a] == 0:
        s.first[a] = entry
    else:
        s.exclusions[s.last[a]].next = entry
    s.last[a] = entry
    s.length[a] += 1


cdef bint exclude(Subsets* s, element_t a, element_t b) noexcept nogil:
    """Record that two subsets stay apart; False if there is no memory."""
    if not (grow(<void**>&s.exclusions, &s.room, s.size + 2, sizeof(Exclusion))
            and hash_set_add(&s.known, key_of(a, b))):
        return False
    s.exclusions[s.size].other = b
    s.exclusions[s.size + 1].other = a
    append(s, a, s.size)
    append(s, b, s.size + 1)
    s.size += 2
    return True


cdef bint join(Subsets* s, element_t a, element_t b) noexcept nogil:
    """Join two subsets, given by their representatives; False if there is no memory."""
    cdef int64_t entry, next
    cdef element_t c
    cdef uint64_t key
    if s.length[a] > s.length[b]:
        a, b = b, a
    s.parent[a] = b
    if s.length[a] == 0:
        return True
    entry = s.first[a]
    while entry >= 0:
        next = s.exclusions[entry].next
        c = find(s.parent, s.exclusions[entry].other)
        key = key_of(b, c)
        if not hash_set_has(&s.known, key):
            if not hash_set_add(&s.known, key):
                return False
            append(s, b, entry)
        entry = next
    return True


def mutex_watershed(Py_ssize_t n, const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost,
                    Stopping stopping):
    """Representatives of the subsets, and the number of pairs that were looked at.

    Parameters
    ----------
    n : int
    u, v : ndarray of int32, shape (m,)
    cost : ndarray of float64, shape (m,)
        ``inf`` for required cuts. Pairs that cost 0 do nothing.
    stopping : Stopping

    Returns
    -------
    ndarray of int32, int
    """
    cdef Py_ssize_t m = cost.shape[0], i, k, used = 0, looked = 0
    cdef element_t[::1] parent = np.arange(n, dtype=np.int32)
    cdef element_t[::1] length = zeros_int32(n)
    cdef int64_t[::1] first = empty_int64(n), last = empty_int64(n)
    cdef int64_t[::1] counts = empty_int64(PASSES * VALUES)
    cdef Key* keys = NULL
    cdef Key* other = NULL
    cdef Subsets s
    cdef element_t a, b
    cdef double size
    cdef uint64_t bits
    cdef bint fine = True
    if n == 0 or m == 0:
        return np.asarray(parent), 0
    memset(&s, 0, sizeof(Subsets))
    s.parent, s.length, s.first, s.last = &parent[0], &length[0], &first[0], &last[0]
    with nogil:
        keys = <Key*>malloc(m * sizeof(Key))
        other = <Key*>malloc(m * sizeof(Key))
        fine = keys != NULL and other != NULL and hash_set_add(&s.known, 1)
        if fine:
            for i in range(m):
                if cost[i] != 0:
                    size = fabs(cost[i])
                    memcpy(&bits, &size, 8)
                    keys[used].bits, keys[used].pair = ~bits, i
                    used += 1
        if fine and used:
            sort_pairs(&keys, &other, used, &counts[0])
            for k in range(used):
                if k + AHEAD < used:
                    i = keys[k + AHEAD].pair
                    prefetch(&cost[i])
                    prefetch(&u[i])
                    prefetch(&v[i])
                if k + AHEAD // 2 < used:
                    i = keys[k + AHEAD // 2].pair
                    prefetch(&parent[u[i]])
                    prefetch(&parent[v[i]])
                i = keys[k].pair
                a, b = find(s.parent, u[i]), find(s.parent, v[i])
                if a != b and not excluded(&s, a, b):
                    fine = join(&s, a, b) if cost[i] < 0 else exclude(&s, a, b)
                    if not fine:
                        break
                looked += 1
                if stopping.poll(0.0):
                    break
            for i in range(n):
                parent[i] = find(s.parent, <element_t>i)
        free(keys)
        free(other)
        free(s.exclusions)
        free(s.known.slots)
    if not fine:
        raise MemoryError()
    return np.asarray(parent), looked

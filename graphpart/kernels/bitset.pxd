# A set of integers 0..n-1 with "the smallest member from x on" in O(log n / 6): words of bits, and over every 64 words
# one word that tells which of these words are not empty.
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free

from graphpart.kernels.bits cimport lowest_bit

cdef struct Bitset:
    uint64_t* words[6]          # 64**6 is more than any number of elements
    int levels


cdef inline bint bitset_make(Bitset* s, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t size = n
    s.levels = 0
    while True:
        size = (size + 63) // 64
        s.words[s.levels] = <uint64_t*>calloc(size + 1, sizeof(uint64_t))
        s.levels += 1
        if s.words[s.levels - 1] == NULL:
            return False
        if size <= 1:
            return True


cdef inline void bitset_free(Bitset* s) noexcept nogil:
    cdef int level
    for level in range(s.levels):
        free(s.words[level])
    s.levels = 0


cdef inline void bitset_add(Bitset* s, Py_ssize_t x) noexcept nogil:
    cdef int level
    for level in range(s.levels):
        s.words[level][x >> 6] |= (<uint64_t>1) << (x & 63)
        x >>= 6


cdef inline void bitset_remove(Bitset* s, Py_ssize_t x) noexcept nogil:
    cdef int level
    for level in range(s.levels):
        s.words[level][x >> 6] &= ~((<uint64_t>1) << (x & 63))
        if s.words[level][x >> 6]:
            break
        x >>= 6


cdef inline Py_ssize_t bitset_next(const Bitset* s, Py_ssize_t x, Py_ssize_t n) noexcept nogil:
    """The smallest member that is at least x; -1 if there is none."""
    cdef int level = 0
    cdef uint64_t word
    cdef Py_ssize_t at = x
    if x >= n:
        return -1
    while True:
        word = s.words[level][at >> 6] >> (at & 63)
        if word:
            at += lowest_bit(word)
            break
        level += 1
        if level == s.levels:
            return -1
        at = (at >> 6) + 1
        if (at >> 6) > (((n - 1) >> (6 * level)) >> 6):
            return -1
    while level:
        level -= 1
        at = (at << 6) + lowest_bit(s.words[level][at])
    return at

# Sort numbers of elements by keys of 64 bits: in linear time if a few digits decide.

from libc.stdint cimport uint64_t

from graphpart.kernels.bits cimport leading_zeros
from graphpart.kernels.types cimport element_t


cdef struct Ranked:
    uint64_t key            # the smallest first
    element_t edge


cdef enum:
    DIGIT = 11              # bits that are sorted by at a time
    DIGITS = 3              # digits that are sorted by first, from the first bit that differs
    SHORT = 16              # largest number of items that are sorted by insertion only


cdef inline Ranked* sort_by_digits(Ranked* x, Ranked* room, Py_ssize_t n, uint64_t least, int shift, int bits) noexcept nogil:
    """Sort by the bits from `shift` to `bits` - 1 of the key minus `least`; return the array with the result."""
    cdef Py_ssize_t[1 << DIGIT] begin
    cdef Py_ssize_t k, total, count
    cdef Py_ssize_t d
    cdef uint64_t mask = (<uint64_t>1 << DIGIT) - 1
    while shift < bits:
        for d in range(1 << DIGIT):
            begin[d] = 0
        for k in range(n):
            begin[((x[k].key - least) >> shift) & mask] += 1
        total = 0
        for d in range(1 << DIGIT):
            count = begin[d]
            begin[d] = total
            total += count
        for k in range(n):
            d = <Py_ssize_t>(((x[k].key - least) >> shift) & mask)
            room[begin[d]] = x[k]
            begin[d] += 1
        x, room = room, x
        shift += DIGIT
    return x


cdef inline bint sort_by_insertion(Ranked* x, Py_ssize_t n, Py_ssize_t most) noexcept nogil:
    """Sort nearly sorted items; False if this takes more than `most` steps, and the items are then only permuted."""
    cdef Ranked item
    cdef Py_ssize_t k, at
    for k in range(1, n):
        item = x[k]
        at = k
        while at > 0 and item.key < x[at - 1].key:
            x[at] = x[at - 1]
            at -= 1
        x[at] = item
        most -= k - at
        if most < 0:
            return False
    return True


cdef inline Ranked* sort_ranked(Ranked* x, Ranked* room, Py_ssize_t n) noexcept nogil:
    """Sort by keys: by the first bits that differ, then by insertion; return the array with the result, x or room."""
    cdef uint64_t least, most
    cdef Py_ssize_t k
    cdef int bits, shift
    cdef Ranked* sorted
    if n <= SHORT:
        sort_by_insertion(x, n, n * n)
        return x
    least = most = x[0].key
    for k in range(1, n):
        least = min(least, x[k].key)
        most = max(most, x[k].key)
    if least == most:
        return x
    bits = 64 - leading_zeros(most - least)
    shift = max(0, bits - DIGITS * DIGIT)
    sorted = sort_by_digits(x, room, n, least, shift, bits)
    if shift and not sort_by_insertion(sorted, n, 8 * n):
        sorted = sort_by_digits(sorted, room if sorted == x else x, n, least, 0, bits)
    return sorted

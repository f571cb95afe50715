# A set of numbers from 1 to 2**64 - 1 by open addressing: linear probing, at most half of the slots in use.
#
# `hash_set_has` and `hash_set_add` take O(1) steps on average. Numbers need not be random: their product with a constant
# is what decides on a slot (Knuth 1973). Nothing is ever taken out.
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free

cdef struct HashSet:
    uint64_t* slots             # 0 where there is no number
    uint64_t mask               # number of slots, a power of two, minus one
    int shift
    Py_ssize_t size


cdef inline uint64_t hash_set_slot(const HashSet* s, uint64_t key) noexcept nogil:
    """Where a number is, or else the free slot where it would be."""
    cdef uint64_t at = (key * <uint64_t>0x9E3779B97F4A7C15) >> s.shift
    while s.slots[at] != 0 and s.slots[at] != key:
        at = (at + 1) & s.mask
    return at


cdef inline bint hash_set_has(const HashSet* s, uint64_t key) noexcept nogil:
    return s.slots[hash_set_slot(s, key)] != 0


cdef inline bint hash_set_reserve(HashSet* s, Py_ssize_t size) noexcept nogil:
    """Room for so many numbers in all, in a set that has slots or whose fields are all 0; False if there is no memory."""
    cdef HashSet larger
    cdef uint64_t slots = 16, i
    larger.size, larger.shift = s.size, 60
    while slots < 2 * <uint64_t>size:
        slots *= 2
        larger.shift -= 1
    larger.mask = slots - 1
    larger.slots = <uint64_t*>calloc(slots, sizeof(uint64_t))
    if larger.slots == NULL:
        return False
    if s.slots != NULL:
        for i in range(s.mask + 1):
            if s.slots[i] != 0:
                larger.slots[hash_set_slot(&larger, s.slots[i])] = s.slots[i]
        free(s.slots)
    s[0] = larger
    return True


cdef inline bint hash_set_add(HashSet* s, uint64_t key) noexcept nogil:
    """Put a number in that is not yet there; False if there is no memory."""
    if 2 * <uint64_t>(s.size + 1) > s.mask and not hash_set_reserve(s, 2 * s.size + 8):
        return False
    s.slots[hash_set_slot(s, key)] = key
    s.size += 1
    return True

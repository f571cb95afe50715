# A set of numbers from 1 to 2**64 - 1 by open addressing: linear probing, at most half of the slots in use.
#
# `hash_set_has` and `hash_set_add` take O(1) steps on average. Numbers need not be random: their product with a
# constant gives the slot (Knuth 1973). A set that counts (`hash_set_counts`) keeps a count with each number; a number
# is removed when its count becomes 0.
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

cdef struct HashSet:
    uint64_t* slots             # 0 where there is no number
    uint64_t mask               # number of slots, a power of two, minus one
    int shift
    Py_ssize_t size
    int64_t* counts             # of the number in each slot; NULL in a set that does not count


cdef inline uint64_t hash_set_slot(const HashSet* s, uint64_t key) noexcept nogil:
    """The slot of a number, or the free slot that it would take."""
    cdef uint64_t at = (key * <uint64_t>0x9E3779B97F4A7C15) >> s.shift
    while s.slots[at] != 0 and s.slots[at] != key:
        at = (at + 1) & s.mask
    return at


cdef inline bint hash_set_has(const HashSet* s, uint64_t key) noexcept nogil:
    return s.slots[hash_set_slot(s, key)] != 0


cdef inline bint hash_set_reserve(HashSet* s, Py_ssize_t size) noexcept nogil:
    """Make room for `size` numbers in all; False if there is no memory. The set has slots, or all its fields are 0."""
    cdef HashSet larger
    cdef uint64_t slots = 16, i
    larger.size, larger.shift, larger.counts = s.size, 60, NULL
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
    """Add a number that the set does not have; False if there is no memory."""
    if 2 * <uint64_t>(s.size + 1) > s.mask and not hash_set_reserve(s, 2 * s.size + 8):
        return False
    s.slots[hash_set_slot(s, key)] = key
    s.size += 1
    return True


# --------------------------------------------------------------------------------------------------- sets that count

cdef inline void hash_set_counts(HashSet* s, uint64_t* slots, int64_t* counts, int bits) noexcept nogil:
    """Make a set that counts, in two arrays of 2**bits zeros. At most half of the slots may be in use at a time."""
    s.slots, s.counts = slots, counts
    s.size, s.shift = 0, 64 - bits
    s.mask = (<uint64_t>1 << bits) - 1


cdef inline int64_t hash_set_count(const HashSet* s, uint64_t key) noexcept nogil:
    """The count of a number; 0 if the set does not have it."""
    cdef uint64_t at = hash_set_slot(s, key)
    return s.counts[at] if s.slots[at] != 0 else 0


cdef inline int64_t hash_set_raise(HashSet* s, uint64_t key, int64_t by) noexcept nogil:
    """Add to the count of a number and return the new count. A number with the count 0 is removed."""
    cdef uint64_t at = hash_set_slot(s, key), hole, home
    if s.slots[at] == 0:
        s.slots[at] = key
        s.counts[at] = by
        s.size += 1
        return by
    s.counts[at] += by
    if s.counts[at] != 0:
        return s.counts[at]
    s.size -= 1
    # Pull back the numbers behind the hole that may not be found across it (Knuth 1973, algorithm R).
    hole = at
    while True:
        at = (at + 1) & s.mask
        if s.slots[at] == 0:
            break
        home = (s.slots[at] * <uint64_t>0x9E3779B97F4A7C15) >> s.shift
        if ((at - home) & s.mask) >= ((at - hole) & s.mask):
            s.slots[hole] = s.slots[at]
            s.counts[hole] = s.counts[at]
            hole = at
    s.slots[hole] = 0
    s.counts[hole] = 0
    return 0


cdef inline void hash_set_clear(HashSet* s) noexcept nogil:
    """Remove all numbers of a set that counts."""
    memset(s.slots, 0, (s.mask + 1) * sizeof(uint64_t))
    memset(s.counts, 0, (s.mask + 1) * sizeof(int64_t))
    s.size = 0


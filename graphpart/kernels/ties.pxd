# An order for ties that does not follow the numbering of elements and is the same on every machine.
from libc.stdint cimport uint64_t


cdef inline uint64_t scramble(uint64_t z) noexcept nogil:
    # The output function of SplitMix64 (Steele, Lea & Flood 2014): a permutation of the numbers of 64 bits.
    z += <uint64_t>0x9E3779B97F4A7C15
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline uint64_t scramble_pair(uint64_t a, uint64_t b) noexcept nogil:
    # Of two numbers below 2**32; different pairs give different numbers.
    return scramble(a << 32 | b if a < b else b << 32 | a)


cdef inline uint64_t pack_sizes(uint64_t a, uint64_t b) noexcept nogil:
    # A key of two numbers below 2**32: ordered by the smaller one, then by the larger one; increasing in both.
    return a << 32 | b if a < b else b << 32 | a

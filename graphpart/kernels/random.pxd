# A small generator of pseudo-random numbers (SplitMix64, Steele, Lea & Flood 2014): one word of state, any seed.
from libc.stdint cimport uint64_t


cdef inline uint64_t random_bits(uint64_t* state) noexcept nogil:
    cdef uint64_t z
    state[0] += <uint64_t>0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline uint64_t random_below(uint64_t* state, uint64_t bound) noexcept nogil:
    # The bounds are far below 2**32, so the bias of this is below 2**-32.
    return ((random_bits(state) >> 32) * bound) >> 32

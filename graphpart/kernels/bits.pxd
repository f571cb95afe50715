# Instructions on 64 bits that C has no name for: by built-in functions of the compiler, or by arithmetic.
# GRAPHPART_PORTABLE selects arithmetic, so that it can be tested anywhere (.ci/compile_checks).
from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #define GP_HELPER CYTHON_UNUSED static CYTHON_INLINE

    #if defined(__GNUC__) && !defined(GRAPHPART_PORTABLE)

    GP_HELPER int gp_lowest_bit(uint64_t x) { return __builtin_ctzll(x); }
    GP_HELPER int gp_leading_zeros(uint64_t x) { return __builtin_clzll(x); }

    #elif defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64)) && !defined(GRAPHPART_PORTABLE)

    #include <intrin.h>
    GP_HELPER int gp_lowest_bit(uint64_t x) { unsigned long at; _BitScanForward64(&at, x); return (int)at; }
    GP_HELPER int gp_leading_zeros(uint64_t x) { unsigned long at; _BitScanReverse64(&at, x); return 63 - (int)at; }

    #else  /* by bisection */

    GP_HELPER int gp_leading_zeros(uint64_t x) {
        int zeros = 0, step;
        for (step = 32; step; step >>= 1)
            if (!(x >> (64 - step))) { x <<= step; zeros += step; }
        return zeros;
    }
    GP_HELPER int gp_lowest_bit(uint64_t x) { return 63 - gp_leading_zeros(x & (~x + 1)); }

    #endif

    #if defined(__SIZEOF_INT128__) && !defined(GRAPHPART_PORTABLE)

    GP_HELPER uint64_t gp_multiply(uint64_t a, uint64_t b, uint64_t *high) {
        __extension__ typedef unsigned __int128 wide;
        const wide product = (wide)a * b;
        *high = (uint64_t)(product >> 64);
        return (uint64_t)product;
    }

    #elif defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64)) && !defined(GRAPHPART_PORTABLE)

    GP_HELPER uint64_t gp_multiply(uint64_t a, uint64_t b, uint64_t *high) { *high = __umulh(a, b); return a * b; }

    #else  /* by halves; the sum of the middle products is below 3 * 2**32, none of the others can carry */

    GP_HELPER uint64_t gp_multiply(uint64_t a, uint64_t b, uint64_t *high) {
        const uint64_t low_a = (uint32_t)a, high_a = a >> 32, low_b = (uint32_t)b, high_b = b >> 32;
        const uint64_t low = low_a * low_b, one = high_a * low_b, other = low_a * high_b;
        const uint64_t middle = (low >> 32) + (uint32_t)one + (uint32_t)other;
        *high = high_a * high_b + (one >> 32) + (other >> 32) + (middle >> 32);
        return (middle << 32) | (uint32_t)low;
    }

    #endif
    """
    int lowest_bit "gp_lowest_bit" (uint64_t) noexcept nogil            # its position; of 0 undefined
    int leading_zeros "gp_leading_zeros" (uint64_t) noexcept nogil      # of 0 undefined
    # The lower 64 bits of the product; the upper ones are written to the last argument.
    uint64_t multiply "gp_multiply" (uint64_t, uint64_t, uint64_t*) noexcept nogil

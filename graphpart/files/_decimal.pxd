from libc.stdint cimport uint8_t

# What may be wrong with a token or line.
cdef enum Fault:
    NONE, SHORT, INTEGER, NUMBER, TOO_LARGE, IS_NAN, EXTRA, LOOP, SURPLUS, LONG

cdef Fault number(const uint8_t* start, const uint8_t* end, double* out) noexcept nogil

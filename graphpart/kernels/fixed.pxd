# Costs as 64-bit fixed-point numbers, for kernels that add and subtract the same costs many times.
#
# Sums of integers are exact in any order: a table that is updated a million times equals one that is computed anew, and
# two moves with the same effect tie exactly instead of by chance of rounding. The scale is a power of two that lets
# every sum of an element's costs stay below 2**61; costs are then rounded at 2**-61 times that sum, which is finer
# than a float64 sum would be. Integer costs are exact.
from libc.math cimport frexp, ldexp
from libc.stdint cimport int64_t

from graphpart.kernels.types cimport cost_t

cdef extern from "<math.h>" nogil:
    long long llrint(double) noexcept

ctypedef int64_t fixed_t

cdef enum:
    FIXED_BITS = 61


cdef inline fixed_t fixed(cost_t cost, double scale) noexcept nogil:
    return llrint(cost * scale)


cdef inline double scale_for(double magnitude) noexcept nogil:
    # `magnitude` is the largest sum of absolute costs over the pairs of one element.
    cdef int exponent = 0
    if magnitude == 0.0:
        return 1.0
    frexp(magnitude, &exponent)
    return ldexp(1.0, min(FIXED_BITS - exponent, 1000))

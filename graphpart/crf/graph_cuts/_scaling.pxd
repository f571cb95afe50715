# How floating-point tables become fixed-point numbers in all networks of this room, and how sums come back.
#
# A cost is multiplied by `before`, a power of two that brings huge and tiny costs near 1. Then it is multiplied by
# `scale`, a power of two such that no sum in the network reaches 2^61, and rounded. The smallest entry of a table is
# subtracted first: it is a constant. A forbidden entry costs `forbidden`, which is more than twice the largest
# difference of sums of finite entries. So a labeling without forbidden entries is better than any other.
from libc.stdint cimport int64_t

from graphpart.crf.problem._view cimport Factors
from graphpart.kernels.fixed cimport fixed
from graphpart.kernels.types cimport element_t, offset_t


cdef struct Scale:
    double before
    double scale
    int64_t forbidden
    double slack            # upper bound on all rounding errors together, in units of the network

cdef struct Wide:           # a sum of many 64-bit numbers: high * 2^32 + low
    int64_t high
    int64_t low


cdef inline void wide_add(Wide* w, int64_t x) noexcept nogil:
    w.high += x >> 32
    w.low += x & <int64_t>0xFFFFFFFF


cdef inline int sides(
    const Factors* p, Py_ssize_t f, element_t* u, element_t* v, offset_t* rows, offset_t* columns
) noexcept nogil:
    """The variables of a factor that have several labels: how many, and the first two of them."""
    cdef int count = 0
    cdef offset_t i, d
    u[0] = v[0] = -1
    rows[0] = columns[0] = 1
    for i in range(p.scope_start[f], p.scope_start[f + 1]):
        d = p.domains[p.scope[i]]
        if d > 1:
            if count == 0:
                u[0], rows[0] = p.scope[i], d
            elif count == 1:
                v[0], columns[0] = p.scope[i], d
            count += 1
    return count


cdef inline int64_t rounded(double x, const Scale* s, double* lost) noexcept nogil:
    """A difference of costs in units; the possible error of rounding is added to `lost`."""
    cdef double scaled = x * s.before * s.scale, most
    cdef int64_t units = fixed(scaled, 1.0)
    if <double>units != scaled:
        most = 0.5 + scaled * 2.0**-52
        lost[0] = most if most > lost[0] else lost[0]
    return units
